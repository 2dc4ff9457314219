"""theoryck: a symbolic-numeric verifier for high-dimensional learning theory.

A theorem says "this quantity is at most C times that rate".  theoryck measures the quantity by rigorous high-precision values
and by vectorised Monte Carlo, fits an empirical exponent with an honest error bar and gives a verdict with declared error rates.

>>> import theoryck as tc
>>> tc.Rate.parse("d**(-k/2)", k=4).exponent(tc.ScalingPath(d=tc.doubling(16, 4096)))
Fraction(-2, 1)

Every public name is loaded on first use, so that ``import theoryck`` and the pytest plugin cost nothing where no claim is made.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Activation": "theoryck.models",
    "Bound": "theoryck.claims",
    "DeepNetwork": "theoryck.models",
    "Enclosure": "theoryck.records",
    "Identity": "theoryck.claims",
    "Law": "theoryck.claims",
    "Limit": "theoryck.claims",
    "Rate": "theoryck.rates",
    "Reference": "theoryck.claims",
    "Report": "theoryck.records",
    "Result": "theoryck.records",
    "Scaling": "theoryck.claims",
    "ScalingPath": "theoryck.rates",
    "TeacherStudent": "theoryck.models",
    "Verdict": "theoryck.records",
    "audit": "theoryck.auditing",
    "check_claims": "theoryck.check",
    "conjecture": "theoryck.claims",
    "doubling": "theoryck.rates",
    "example": "theoryck.claims",
    "falsehood": "theoryck.claims",
    "for_all": "theoryck.claims",
    "norm_deviation": "theoryck.quantities",
    "overlap_moment": "theoryck.quantities",
    "quantity": "theoryck.quantities",
    "size": "theoryck.models",
    "theorem": "theoryck.claims",
}
_MODULES = {
    "activations": "theoryck.models.catalogue",
    "quantities": "theoryck.quantities",
    "strategies": "theoryck.models.strategies",
}

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        import difflib

        close = difflib.get_close_matches(name, __all__, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(__all__)}"
        raise AttributeError(f"module 'theoryck' has no attribute {name!r}; {hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
