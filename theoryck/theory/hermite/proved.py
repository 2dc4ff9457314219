"""Moments of the inner product of two independent unit vectors."""

from __future__ import annotations

import functools
from fractions import Fraction

import sympy
from flint import arb

from theoryck.numerics.balls import bits_for, from_ball, precision
from theoryck.quantities.exact import ExactQuantity, closed_form
from theoryck.records import Enclosure

LARGE_DIMENSION = 1000
"""From here on E |w . w'|^q, q odd, is a ball and no closed form, whose factors are as many as d."""


def sphere_overlap(dimension: int, power: int, digits: int = 20) -> Enclosure:
    """Return E |w . w'|^power = Gamma(d/2) Gamma((q + 1)/2)/(sqrt(pi) Gamma((d + q)/2)), w, w' uniform on the unit sphere of R^d.

    >>> float(sphere_overlap(3, 1))
    0.5
    """
    # The logarithms, of size d log d, cancel down to q log d.
    with precision(bits_for(digits) + 2 * dimension.bit_length() + 16):
        d, q = arb(dimension), arb(power)
        value = ((d / 2).lgamma() - ((d + q) / 2).lgamma()).exp() * ((q + 1) / 2).gamma() / arb.pi().sqrt()
        return from_ball(value, digits)


def sphere_moment(dimension: int, power: int) -> ExactQuantity:
    """Return E |w . w'|^power for independent w, w' on the unit sphere of R^dimension, as an exact quantity.

    It is Gamma(d/2) Gamma((q + 1)/2) / (sqrt(pi) Gamma((d + q)/2)), q = ``power``: rational for even q, and for odd q rational
    where d is odd and a rational over pi where d is even; from d = 1000 on those are long, and the Gamma functions are evaluated.

    >>> sphere_moment(3, 1).name, sphere_moment(2, 1).name
    ('1/2', '2/pi')
    """
    if power % 2 == 0:
        return closed_form(_rational(even_moment(dimension, power)))
    if dimension >= LARGE_DIMENSION:
        parameters = {"quantity": "sphere_moment", "d": dimension, "power": power}
        return ExactQuantity(f"E|m|^{power} at d = {dimension}", functools.partial(sphere_overlap, dimension, power), parameters)
    # E|m| is 1 at d = 1 and 2/pi at d = 2, and E|m| at d + 2 is d/(d + 1) of that at d.
    value = Fraction(1)
    for d in range(2 - dimension % 2, dimension, 2):
        value *= Fraction(d, d + 1)
    for q in range(3, power + 1, 2):
        value *= Fraction(q - 1, dimension + q - 2)
    return closed_form(_rational(value) if dimension % 2 else 2 * _rational(value) / sympy.pi)


def even_moment(dimension: int, power: int) -> Fraction:
    """Return prod_{j<k} (2j + 1)/(d + 2j), ``power`` = 2k."""
    value = Fraction(1)
    for j in range(power // 2):
        value *= Fraction(2 * j + 1, dimension + 2 * j)
    return value


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)
