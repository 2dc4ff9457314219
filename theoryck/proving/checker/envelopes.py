"""How large an activation is: phi^2 <= R (2.1 of the format), or at most linear growth on both half-lines (section 7)."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.expectations import FAR, Activation, infinity, tail
from theoryck.proving.checker.fields import TIGHT, bounds, exact, hull, items, need, number, number_or_zero, show

EDGE = 1024  # beyond, phi^2 is known by its behaviour at infinity


class Range:
    """phi(x)^2 <= top for every x."""

    steep = lean = arb(0)

    def __init__(self, top: arb) -> None:
        self.top = top

    def outside(self, s0: arb, start: arb) -> tuple[arb, arb]:
        """For s <= s0, over |Z| >= 11: a ball with E phi^2, and the most that E (phi^2 - start)^2 is."""
        square = hull(0, self.top)
        return square * tail(0, 11), ((square - start) ** 2).upper() * tail(0, 11)

    def mean(self, s: arb) -> arb:
        """At least f(s), and with the slope ``steep`` where it grows."""
        return self.top + 0 * s

    def deviation(self, s: arb) -> arb:
        """At least nu(s), and with the slope ``lean`` where it grows."""
        return self.top / 2 + 0 * s

    def part(self, a: int, least: arb, two: arb_poly) -> arb_poly:
        """At least |mu_a(S_l)| as a polynomial in |X_l|, of a bound ``two`` of mu_2."""
        return self.top ** (a - 2) * two


class Growth:
    """phi(x)^2 <= A + B x^2 for x >= 0, <= A' + B' x^2 for x <= 0: ``pairs`` are (A, B), (A', B')."""

    def __init__(self, pairs: list[tuple[arb, arb]]) -> None:
        self.pairs = pairs
        self.steep = (pairs[0][1] + pairs[1][1]) / 2
        self.lean = (arb(3) / 2).sqrt() * self.norm(1, 2)

    def norm(self, which: int, a: int) -> arb:
        """|A|_a or |B|_a."""
        return (self.pairs[0][which] ** a + self.pairs[1][which] ** a).root(a)

    def outside(self, s0: arb, start: arb) -> tuple[arb, arb]:
        """As for a range, by phi^2 <= a + b s0 Z^2, a = A + A', b = B + B', and (u - v)^2 <= u^2 + v^2 for u, v >= 0."""
        a, b = (self.pairs[0][i] + self.pairs[1][i] for i in (0, 1))
        b = b * s0
        square = a**2 * tail(0, 11) + 2 * a * b * tail(2, 11) + b**2 * tail(4, 11)
        return hull(0, a * tail(0, 11) + b * tail(2, 11)), (square + start**2 * tail(0, 11)).upper()

    def mean(self, s: arb) -> arb:
        """A_+ + B_+ s."""
        return (self.pairs[0][0] + self.pairs[1][0]) / 2 + self.steep * s

    def deviation(self, s: arb) -> arb:
        """(|A|_2 + z_2 s |B|_2)/sqrt(2)."""
        return self.norm(0, 2) / arb(2).sqrt() + self.lean * s

    def part(self, a: int, least: arb, two: arb_poly) -> arb_poly:
        """(n_a + delta_a y)^a, but for a = 2; least is sigma+."""
        if a == 2:
            return two
        steep = arb(math.prod(range(1, 2 * a, 2))).root(a) * self.norm(1, a)
        return arb_poly([self.norm(0, a) + least * steep, steep]) ** a

    def mean_powers(self, order: int, root: arb, least: arb, noise: arb, growth: arb) -> list[arb_poly]:
        """The sums over pi of c(pi) N^(m - i/2) prod (n_a + delta_a y)^a, i = 0, ..., order, by the part of the last element."""
        steps = [self.part(a, least, arb_poly([noise, growth]) ** 2) for a in range(2, order + 1)]
        found = [arb_poly([1])]
        for i in range(1, order + 1):
            terms = (math.comb(i - 1, a - 1) * root ** (a - 2) * steps[a - 2] * found[i - a] for a in range(2, i + 1))
            found.append(sum(terms, arb_poly([0])))
        return found

    def next_moments(self, count: int, root: arb, least: arb, layer: list[arb], gamma: list[arb], h: list[arb]) -> list[arb]:
        """H_(l+1,j), j = 2, 4, ..., 2 count: the step of section 7, least being sigma+."""
        powers, found = self.mean_powers(2 * count, root, least, *layer[3:]), []
        for j in range(2, 2 * count + 1, 2):
            found.append(gamma[j])
            for i in range(2, j + 1):
                for u, e in enumerate(powers[i].coeffs()):
                    p = j - i
                    mean = (gamma[p + u] ** p * h[p + u] ** u).root(p + u) if u else gamma[p]
                    found[-1] += math.comb(j, i) * e * root**u * mean
        return found


def read_growth(phi: Activation, value: Any, field: str) -> Growth:
    """A, B, A', B' after a proof of their inequalities."""
    found = []
    for i, pair in enumerate(items(2, items(2, lambda each, _: each))(value, field)):
        name, sign = f"{field}[{i}]", 1 - 2 * i
        top, steep = number(pair[0], f"{name}[0]"), number_or_zero(pair[1], f"{name}[1]")
        bounds(top, largest_excess(phi, sign, top, steep, name), f"{name}[0]", TIGHT, arb(1))
        found.append((top, steep))
    return Growth(found)


def largest_excess(phi: Activation, sign: int, top: arb, steep: arb, field: str) -> arb:
    """The largest phi(sign x)^2 - steep x^2 that is seen for x >= 0; refused unless it is at most top everywhere."""
    n, size = infinity(phi.tree, sign, EDGE)
    edge = arb(EDGE)
    there = (size.abs_upper() * edge ** exact(n)) ** 2  # at the most x^(2n) for x >= EDGE, times its value there
    fits = there <= top + steep * edge**2
    if n > 0:  # beyond, x^(2n) grows at the rate 2n x^(2n-1), the bound at 2 B x, which is as fast, as n <= 1
        fits = fits and (size.abs_upper() ** 2 <= steep if n == 1 else exact(2 * n) * there / edge <= 2 * steep * edge)
    need(fits, field, "phi is not seen to be below it far out")
    ends = [*range(FAR), *(FAR * 2**i for i in range(12) if FAR * 2**i < EDGE), EDGE]
    seen, todo = arb(0), [(arb(low), arb(high), 20) for low, high in itertools.pairwise(ends)]
    while todo:
        low, high, depth = todo.pop()
        middle = (low + high) / 2
        seen = seen.max(phi(sign * middle).abs_lower() ** 2 - steep * middle**2)
        if not phi(sign * hull(low, high)).abs_upper() ** 2 <= top + steep * low**2:
            need(depth > 0 and not seen > top, field, f"phi² is not seen to be below it at x = {show(sign * middle)}")
            todo += [(low, middle, depth - 1), (middle, high, depth - 1)]
    return functools.reduce(arb.max, [seen, phi(arb(0)).abs_lower() ** 2]).lower()
