"""Activations by name: ``tc.activations.tanh``, ``catalogue["he2"]``, and ``smooth_odd`` for the main theorem.

>>> [phi.name for phi in smooth_odd][:3]
['identity', 'tanh', 'tanh2']
>>> relu.text
'relu(x)'
"""

from __future__ import annotations

import difflib
from fractions import Fraction
from typing import Any

import sympy

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.entries import ENTRIES, SMOOTH_ODD
from theoryck.numerics.functions.expression import x

catalogue: dict[str, Activation] = {name: Activation(text) for name, text in ENTRIES.items()}
"""Every named activation."""

identity = catalogue["identity"]
tanh = catalogue["tanh"]
tanh2 = catalogue["tanh2"]
erf = catalogue["erf"]
erf_scaled = catalogue["erf_scaled"]
sin = catalogue["sin"]
sin2 = catalogue["sin2"]
arctan = catalogue["arctan"]
asinh = catalogue["asinh"]
x_gauss = catalogue["x_gauss"]
x_over_sqrt = catalogue["x_over_sqrt"]
relu = catalogue["relu"]
softsign = catalogue["softsign"]
hardtanh = catalogue["hardtanh"]
he2 = catalogue["he2"]
he3 = catalogue["he3"]
he3_mix = catalogue["he3_mix"]
gelu = catalogue["gelu"]
softplus = catalogue["softplus"]
cos = catalogue["cos"]
erf_shifted = catalogue["erf_shifted"]
relu_centred = catalogue["relu_centred"]

smooth_odd: tuple[Activation, ...] = tuple(catalogue[name] for name in SMOOTH_ODD)
"""The activations that are odd and C^2 with bounded phi' and phi'': the hypotheses of the main theorem."""


def lookup(name: str) -> Activation:
    """Return the catalogue activation called ``name``; an unknown name raises KeyError with the closest ones.

    >>> lookup("arctan").text
    'atan(x)'
    """
    if name in catalogue:
        return catalogue[name]
    close = difflib.get_close_matches(str(name).lower(), catalogue, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known: {', '.join(catalogue)}"
    raise KeyError(f"no activation is called {name!r}: {hint}")


def hermite_mix(a: Fraction | int | str, b: Fraction | int | str) -> Activation:
    """Return a x + b (x^3 - 3x), whose g and r are polynomials (phi' is unbounded unless b = 0).

    >>> hermite_mix("1/2", "1/10") == catalogue["he3_mix"]
    True
    """
    first, second = (sympy.Rational(Fraction(value).numerator, Fraction(value).denominator) for value in (a, b))
    return Activation(first * x + second * (x**3 - 3 * x))


def __getattr__(name: str) -> Any:
    if name in catalogue:
        return catalogue[name]
    close = difflib.get_close_matches(name.lower(), catalogue, n=2) or difflib.get_close_matches(name, __dir__(), n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"activations: {', '.join(catalogue)}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}")


def __dir__() -> list[str]:
    return sorted([*catalogue, "catalogue", "hermite_mix", "lookup", "smooth_odd"])
