"""Activations by name: ``tc.activations.tanh``, ``catalogue["he2"]``, and ``smooth_odd`` for the main theorem.

>>> [phi.name for phi in smooth_odd][:3]
['identity', 'tanh', 'tanh2']
>>> catalogue["relu"].text
'relu(x)'
"""

from __future__ import annotations

import difflib
from typing import Any

from theoryck.numerics.functions.activation import ENTRIES, Activation

catalogue: dict[str, Activation] = {name: Activation(text) for name, text in ENTRIES.items()}
"""Every named activation; each is a name of this module too."""

SMOOTH_ODD = "identity tanh tanh2 erf erf_scaled sin sin2 arctan asinh x_gauss x_over_sqrt"
smooth_odd: tuple[Activation, ...] = tuple(catalogue[name] for name in SMOOTH_ODD.split())
"""The activations that are odd and C^2 with bounded phi' and phi'': the hypotheses of the main theorem."""


def __getattr__(name: str) -> Any:
    if name in catalogue:
        return catalogue[name]
    close = difflib.get_close_matches(name.lower(), catalogue, n=2) or difflib.get_close_matches(name, __dir__(), n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"activations: {', '.join(catalogue)}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}")


def __dir__() -> list[str]:
    return sorted([*catalogue, "catalogue", "smooth_odd"])
