"""The risk of the regressogram bin by bin, exactly, from E(1/N; N >= 1) for a binomial N."""

from __future__ import annotations

import functools
from decimal import ROUND_CEILING, Context
from fractions import Fraction

import sympy

from theoryck.quantities.base import QuantityError
from theoryck.quantities.exact import ExactQuantity, as_exact, closed_form
from theoryck.records import Enclosure
from theoryck.records.arguments import integer

FIXED_POINT = 2**256
"""Unit of the integers in which E(1/N; N >= 1) is summed: each of the n steps rounds by one unit."""

MOST_SAMPLES = 2 * 10**7
"""E(1/N; N >= 1) is a sum over as many terms, 0.3 microseconds each."""


def inverse_count(samples: int, bins: int) -> ExactQuantity:
    """Return E(1/N; N >= 1) for N ~ Bin(samples, 1/bins) as an exact quantity, proved.

    With q = 1 - 1/bins it is sum_{j<=n} (q^(n-j) - q^n)/j, summed by a_j = q a_{j-1} + 1/j.

    >>> float(inverse_count(2, 2).exact({}, 20))  # 1/2 * 1 + 1/4 * 1/2
    0.625
    """
    samples = integer(samples, "samples", 1, MOST_SAMPLES, QuantityError)
    bins = integer(bins, "bins", 1, error=QuantityError)
    value = _inverse_count(samples, bins)
    parameters = {"quantity": "inverse_count", "n": samples, "bins": bins}
    return ExactQuantity(f"E(1/N; N ~ Bin({samples}, 1/{bins}))", lambda digits: value, parameters)


@functools.lru_cache(maxsize=256)
def _inverse_count(samples: int, bins: int) -> Enclosure:
    if bins == 1:
        return as_exact(Fraction(1, samples)).exact({}, 30)
    total, harmonic, left = 0, 0, FIXED_POINT
    for j in range(1, samples + 1):
        step = FIXED_POINT // j
        total = total - (total // bins) + step
        harmonic += step
        left -= left // bins
    # Every quotient is rounded down by less than a unit.  In total and left an error shrinks by the factor q in each later step, so
    # that they are off by less than 2 bins units; harmonic by less than n, and it is at most 1 + log n <= 1 + bit_length.
    value = Fraction(total, FIXED_POINT) - Fraction(harmonic, FIXED_POINT) * Fraction(left, FIXED_POINT)
    units = 2 * bins + 2 * bins * (samples.bit_length() + 1) + 2 * samples
    middle = as_exact(value).exact({}, 60)
    up = Context(prec=4, rounding=ROUND_CEILING)
    return Enclosure(middle.midpoint, up.add(middle.radius, up.divide(units, FIXED_POINT)), True)


def risk(samples: int, bins: int, variance: ExactQuantity, mean_square: ExactQuantity) -> ExactQuantity:
    """Return V + (V + 1) E(1/N; N >= 1) + (1 - h)^n M^2: the risk where every bin has the variance V and the mean square M^2."""
    empty = as_exact(1 - Fraction(1, bins)) ** samples
    return variance + (variance + 1) * inverse_count(samples, bins) + empty * mean_square


def power(bins: int, alpha: Fraction) -> ExactQuantity:
    """Return h^(2 alpha)."""
    return closed_form(sympy.Rational(1, bins) ** (2 * sympy.Rational(alpha.numerator, alpha.denominator)))
