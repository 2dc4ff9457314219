"""Moments of the inner product of two independent unit vectors, through Gamma functions as balls."""

from __future__ import annotations

from flint import arb

from theoryck.numerics.balls import bits_for, from_ball, precision
from theoryck.records import Enclosure


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
