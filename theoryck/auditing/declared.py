"""What is declared before the data are looked at: error rates, tolerances, corrections; what no decision could keep is refused."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from theoryck.auditing.orders import ORDER, ORDER_WITHIN

DEFAULT_WITHIN = 0.05
LEAST_RATE = 1e-12  # beyond it quantiles end with the digits of a float, and Gaussian tails long before
MOST_RATE = 0.5
LEAST_CORRECTION, MOST_CORRECTION = 0.05, 16.0  # below, a correction is a power law of its own on any window; above, it is none
MOST_AMPLITUDE = 1e3
MOST_WITHIN = 1.0  # a wider tolerance would not tell a rate from the next integer power


def check_contract(false_refute_rate: Any, false_support_rate: Any, within: Any, level: Any) -> None:
    """Raise ValueError, naming the argument, for error rates, a tolerance or a level that no decision can keep.

    >>> check_contract(1e-300, 0.025, 0.05, 0.95)
    Traceback (most recent call last):
    ValueError: false_refute_rate must lie between 1e-12 and 0.5, got 1e-300
    """
    for name, rate in (("false_refute_rate", false_refute_rate), ("false_support_rate", false_support_rate)):
        _between(name, rate, "must lie strictly between 0 and 1", LEAST_RATE, MOST_RATE)
    _between("within", within, "must be a positive exponent", 0.0, MOST_WITHIN)
    _between("level", level, "must lie strictly between 0 and 1", 0.0, 1 - LEAST_RATE)


def check_corrections(correction: Any, amplitude: Any) -> None:
    """Raise ValueError, naming the argument, for a relative power or an amplitude of corrections beyond use; None is neither."""
    if correction is not None:
        _between("correction", correction, "must be a positive number", LEAST_CORRECTION, MOST_CORRECTION)
    if amplitude is not None:
        _between("amplitude", amplitude, "must be a positive number", 0.0, MOST_AMPLITUDE)


def check_floor(floor: Any) -> None:
    """Raise ValueError for a floor that is no height; None is none that is known, 0 is that there is none."""
    if floor is not None and (isinstance(floor, bool) or not isinstance(floor, Real) or not 0 <= float(floor) < math.inf):
        raise ValueError(f"floor must be a height >= 0, got {floor!r}")


def default_within(kind: str) -> float:
    """Return the discrepancy of an exponent that is tolerated unless another is declared."""
    return ORDER_WITHIN if kind == ORDER else DEFAULT_WITHIN


def check_constant(constant: Any) -> None:
    """Raise ValueError for a constant that is no positive number; None is none."""
    if constant is not None:
        _between("constant", constant, "must be positive", 0.0, math.inf)


def _between(name: str, value: Any, positive: str, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not (number > 0 and math.isfinite(number)) or (number >= 1 and most < 1):
        raise ValueError(f"{name} {positive}, got {value!r}")
    if not least <= number <= most:
        limits = f"at most {most:.12g}" if least == 0 else f"between {least:g} and {most:g}"
        raise ValueError(f"{name} must {'lie ' if least else 'be '}{limits}, got {value!r}")
