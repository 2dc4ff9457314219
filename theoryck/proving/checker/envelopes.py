"""How large an activation is: phi^2 <= R (2.1 of the format), or at most linear growth on both half-lines (section 7)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.expectations import FAR, infinity, tail, value
from theoryck.proving.checker.fields import TIGHT, bounds, exact, hull, items, need, number, number_or_zero, show

EDGE = 1024  # beyond, phi^2 is known by its behaviour at infinity


class Envelope:
    """phi(x)^2 <= A + B x^2 for x >= 0, <= A' + B' x^2 for x <= 0: ``pairs`` are (A, B), (A', B'), twice (R, 0) if bounded."""

    def __init__(self, pairs: list[tuple[arb, arb]], bounded: bool = False) -> None:
        self.pairs, self.bounded, self.top = pairs, bounded, pairs[0][0]
        self.flat, self.rise = (pairs[0][i] + pairs[1][i] for i in (0, 1))
        self.steep, self.lean = self.rise / 2, (arb(3) / 2).sqrt() * self.norm(1, 2)

    def norm(self, which: int, a: int) -> arb:
        """|A|_a or |B|_a."""
        return (self.pairs[0][which] ** a + self.pairs[1][which] ** a).root(a)

    def mean(self, s: arb) -> arb:
        """A_+ + B_+ s >= f(s), with the slope ``steep``."""
        return self.flat / 2 + self.steep * s

    def deviation(self, s: arb) -> arb:
        """R/2, or (|A|_2 + z_2 s |B|_2)/sqrt(2), at least nu(s), with the slope ``lean``."""
        return self.top / 2 if self.bounded else self.norm(0, 2) / arb(2).sqrt() + self.lean * s

    def outside(self, s0: arb, start: arb) -> tuple[arb, arb]:
        """For s <= s0, over |Z| >= 11: a ball with E phi^2, and the most that E (phi^2 - start)^2 <= E (phi^4 + start^2) is."""
        a, b = self.flat, self.rise * s0
        square = a**2 * tail(0, 11) + 2 * a * b * tail(2, 11) + b**2 * tail(4, 11)
        return hull(0, a * tail(0, 11) + b * tail(2, 11)), (square + start**2 * tail(0, 11)).upper()

    def parts(self, order: int, plus: arb, two: arb_poly) -> list[arb_poly]:
        """At least |mu_a(S_l)|, a <= order, as polynomials of |X_l|: R^(a-2) two, or (n_a + delta_a y)^a but two for a = 2."""
        found = [arb_poly([0]), arb_poly([0]), two]
        for a in range(3, order + 1):
            if self.bounded:
                found.append(self.top ** (a - 2) * two)
            else:
                steep = arb(math.prod(range(1, 2 * a, 2))).root(a) * self.norm(1, a)
                found.append(arb_poly([self.norm(0, a) + plus * steep, steep]) ** a)
        return found


def read_range(tree: Any, stated: Any, field: str) -> Envelope:
    """R after a proof of its inequality (2.1)."""
    top = number(stated, field)
    seen = [largest_excess(tree, sign, top, arb(0), field) for sign in (1, -1)]
    return Envelope([(bounds(top, seen[0].max(seen[1]), field, TIGHT), arb(0))] * 2, bounded=True)


def read_growth(tree: Any, stated: Any, field: str) -> Envelope:
    """A, B, A', B' after a proof of their inequalities (section 7)."""
    found = []
    for i, pair in enumerate(items(2, items(2, lambda each, _: each))(stated, field)):
        name, sign = f"{field}[{i}]", 1 - 2 * i
        top, steep = number(pair[0], f"{name}[0]"), number_or_zero(pair[1], f"{name}[1]")
        bounds(top, largest_excess(tree, sign, top, steep, name), f"{name}[0]", TIGHT, arb(1))
        found.append((top, steep))
    return Envelope(found)


def largest_excess(tree: Any, sign: int, top: arb, steep: arb, field: str) -> arb:
    """The largest phi(sign x)^2 - steep x^2 that is seen for x >= 0, or proved at infinity where steep is 0.

    Refused unless it is at most top everywhere.
    """
    n, size = infinity(tree, sign, EDGE)
    edge = arb(EDGE)
    there = (size.abs_upper() * edge ** exact(n)) ** 2  # at the most x^(2n) for x >= EDGE, times its value there
    fits = there <= top + steep * edge**2
    if n > 0:  # beyond, x^(2n) grows at the rate 2n x^(2n-1), the bound at 2 B x, which is as fast, as n <= 1
        fits = fits and (size.abs_upper() ** 2 <= steep if n == 1 else exact(2 * n) * there / edge <= 2 * steep * edge)
    need(fits, field, "phi² is not seen to be below it far out")
    ends = [*range(FAR), *(FAR * 2**i for i in range(12) if FAR * 2**i < EDGE), EDGE]
    seen = (value(tree, arb(0)).abs_lower() ** 2).max(there.lower() if steep.is_zero() else arb(0))
    todo = [(arb(low), arb(high), 20) for low, high in itertools.pairwise(ends)]
    while todo:
        low, high, depth = todo.pop()
        middle = (low + high) / 2
        seen = seen.max(value(tree, sign * middle).abs_lower() ** 2 - steep * middle**2)
        most = value(tree, sign * hull(low, high)).abs_upper() ** 2 - steep * low**2
        if not most <= top or (depth > 10 and not most <= arb("1.002") * seen):  # a larger value may be seen inside
            need(
                most <= top or (depth > 0 and not seen > top),
                field,
                f"phi² is not seen to be below it at x = {show(sign * middle)}",
            )
            todo += [(low, middle, depth - 1), (middle, high, depth - 1)]
    return seen.lower()
