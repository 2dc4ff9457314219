"""How fast the square of an activation grows: bounds by a constant, or by A + B x^2 on each side, and what follows from them.

The lemmas are those of :mod:`theoryck.records.certificates`, sections 2.4 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from math import prod
from typing import Any

from flint import arb

from theoryck.theory.networks.certificates.decimals import ball, plain_text


@dataclass(frozen=True, slots=True)
class Bounded:
    """phi(x)^2 <= R for every real x."""

    largest: Decimal

    @property
    def entry(self) -> dict[str, Any]:
        """What the proof of a certificate says of it."""
        return {"range": plain_text(self.largest)}

    def times(self, exponent: int) -> Bounded:
        """Return that of 10^``exponent`` phi^2."""
        return Bounded(self.largest.scaleb(exponent))

    @property
    def mean(self) -> tuple[arb, arb]:
        """Return (a, b), f(s) <= a + b s."""
        return ball(self.largest), arb(0)

    @property
    def spread(self) -> tuple[arb, arb]:
        """Return (a, b), nu(s) <= a + b s: R/2, by Popoviciu's inequality."""
        return ball(self.largest) / 2, arb(0)

    def scale(self, centre: arb) -> arb:
        """Return r such that series on the cell err by at most r |t|^m of f and 3 r^2 |t|^m of G - f^2."""
        return ball(self.largest)

    def near_zero(self, edge: arb) -> tuple[arb, arb]:
        """Return by how much f and nu may exceed what values within 12 sqrt(edge) give, for s <= edge."""
        return ball(self.largest) * arb("1e-32"), ball(self.largest) * arb("1e-16")


@dataclass(frozen=True, slots=True)
class Growing:
    """phi(x)^2 <= A + B x^2 for x >= 0 (``right`` = (A, B)) and for x <= 0 (``left``)."""

    right: tuple[Decimal, Decimal]
    left: tuple[Decimal, Decimal]

    @property
    def entry(self) -> dict[str, Any]:
        """What the proof of a certificate says of it."""
        return {"growth": [[plain_text(number) for number in side] for side in (self.right, self.left)]}

    def times(self, exponent: int) -> Growing:
        """Return that of 10^``exponent`` phi^2."""
        (a, b), (c, d) = ((first.scaleb(exponent), second.scaleb(exponent)) for first, second in (self.right, self.left))
        return Growing((a, b), (c, d))

    def norms(self, a: int) -> tuple[arb, arb]:
        """Return |A|_a and z_a |B|_a."""
        constants, slopes = (sum((ball(side[place]) ** a for side in (self.right, self.left)), arb(0)) for place in (0, 1))
        return constants.root(a), gaussian_root(a) * slopes.root(a) if slopes > 0 else arb(0)

    @property
    def mean(self) -> tuple[arb, arb]:
        """Return (a, b), f(s) <= a + b s."""
        constant, slope = ((ball(self.right[place]) + ball(self.left[place])) / 2 for place in (0, 1))
        return constant, slope

    @property
    def spread(self) -> tuple[arb, arb]:
        """Return (a, b), nu(s) <= a + b s: nu^2 <= E Y^2."""
        constant, slope = self.norms(2)
        return constant / arb(2).sqrt(), slope / arb(2).sqrt()

    def scale(self, centre: arb) -> arb:
        """Return r such that series on the cell err by at most r |t|^m of f and 3 r^2 |t|^m of G - f^2.

        With |f_n| <= p for f and |f_n| <= q^2 for G the tails are at most (3/2) p |t|^m and (3/2) q^2 |t|^m, |t| <= 1/3, and that
        of f^2 at most (3/2) p (2 f + (3/2) p) |t|^m, f <= a + (4/3) b c: r is the largest of 3p, 2q and 2f.
        """
        (a2, b2), (a4, b4), (a, b) = self.norms(2), self.norms(4), self.mean
        p, q = (a2 + b2 * centre) / arb(2).sqrt(), (a4 + b4 * centre) / arb(2).root(4)
        return (3 * p).max(2 * q).max(2 * (a + b * centre * 4 / 3))

    def near_zero(self, edge: arb) -> tuple[arb, arb]:
        """Return by how much f and nu may exceed what values within 12 sqrt(edge) give, for s <= edge."""
        a, b = self.mean
        size = 2 * (a + b * edge)
        return size * arb("1e-28"), size * arb("1e-12")


Envelope = Bounded | Growing


@cache
def _double_factorial(a: int) -> int:
    return prod(range(1, 2 * a, 2))


def gaussian_root(a: int) -> arb:
    """Return z_a, E Z^(2a) = z_a^a.

    >>> gaussian_root(2).contains(arb(3).sqrt())
    True
    """
    return arb(_double_factorial(a)).root(a)
