"""The numbers of a layer: inequalities between f, mu_2, r and powers of s - sigma that hold for every s (2.2 and 2.4)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.envelopes import Envelope
from theoryck.proving.checker.expectations import REACH, Activation, nonnegative
from theoryck.proving.checker.fields import TIGHT, bounds, exact, hull, need, number, show, unit

# An interval [low, high] of t, where s = c (1 + t); the sign of s - sigma there; whether c is sigma, so that low or high is 0.
Cell = tuple[arb, arb, arb, int, bool]


def cells_of(sigma: arb, first: int, last: int) -> list[Cell]:
    """The cells i = first, ..., last, that of sigma itself in two."""
    reach, found = exact(REACH), []
    for i in range(first, last + 1):
        ends = [(-reach, reach, 1 if i > 0 else -1)] if i else [(-reach, arb(0), -1), (arb(0), reach, 1)]
        found += [(sigma * arb(2) ** i, low, high, sign, i == 0) for low, high, sign in ends]
    return found


class Layer:
    """The layer after sigma, with the numbers that a record states of it.

    ``after``, ``slope``, ``second`` are f, f', f'' at sigma; ``spread``, ``lean`` mu_2, mu_2'; ``noise`` is nu, ``factor`` r^2.
    """

    def __init__(self, phi: Activation, size: Envelope, sigma: arb, stated: dict[str, Any], field: str) -> None:
        self.phi, self.size, self.sigma, self.stated, self.field = phi, size, sigma, stated, field
        centre, last = number(stated["centre"], f"{field}.centre"), exact(unit(stated["centre"]))
        self.plus, self.minus = centre + last, centre - last  # sigma+, 1/tau
        close = abs(sigma - centre) <= last.min(sigma / 1000)
        need(close, f"{field}.centre", f"{stated['centre']} is not {show(sigma)}, or has too few digits")
        first, end = stated["cells"]
        need(first <= 0 <= end, f"{field}.cells", "0 does not lie between them")
        self.cells = cells_of(sigma, first, end)
        f, mu, r = phi.expand(sigma)
        self.after, self.slope, self.second = f[0], f[1] / sigma, 2 * f[2] / sigma**2
        self.spread, self.lean, self.noise, self.factor = mu[0], mu[1] / sigma, mu[0].sqrt(), r[0] ** 2
        self.natural = self.after / sigma  # the size of alpha, Lambda, delta
        # The cells begin at s0, and end at sigma + x, where |f - f(sigma)| is at most ``most``; beyond see 2.4 and section 7.
        self.s0, self.x = sigma * arb(2) ** first * (1 - exact(REACH)), sigma * (arb(2) ** end * (1 + exact(REACH)) - 1)
        self.over = (size.mean(sigma) - self.after).max(arb(0))
        self.most = self.after.max(self.over + size.steep * self.x)

    @functools.cached_property
    def near(self) -> tuple[arb, arb, arb, arb]:
        """Balls with f(s), mu_2(s), r(s) (not known) and s - sigma for 0 <= s <= s0, by the values where k <= |Z| < k + 1."""
        chance = [((k + 1) / arb(2).sqrt()).erf() - (k / arb(2).sqrt()).erf() for k in range(11)]
        squares = [v * v for v in (self.phi(arb(0, (k * self.s0.sqrt()).upper())) for k in range(1, 12))]
        start = self.phi(arb(0)) ** 2
        f, spread = self.size.outside(self.s0, start)  # mu_2 <= E (phi^2 - start)^2
        spread = sum((p * (w - start) * (w - start) for p, w in zip(chance, squares)), spread)
        f, x = sum(map(operator.mul, chance, squares), f), hull(self.s0 - self.sigma, -self.sigma)
        return f, hull(0, spread.upper()), arb("nan"), x

    def bound(self, key: str, true: arb, size: arb) -> None:
        """Refuse a number that bounds another one, unless it does and is tight."""
        bounds(self.stated[key], true, f"{self.field}.{key}", TIGHT, size)

    def prove(
        self,
        key: str,
        size: arb,
        n: int,
        over: Callable[..., Any],
        ends: Sequence[arb],
        under: Callable[..., Any] | None = None,
        signs: tuple[int, ...] = (1, -1),
        near: bool = True,
        cells: list[Cell] | None = None,
    ) -> None:
        """Refuse a number unless sign over(f, mu, r, x) <= number under(|x|, s) for every s, under being |x|^n if not given.

        It is to be as large as ``ends``, which stand for s beyond the cells, and before them unless that is seen ``near`` to 0 by
        balls.  Where c = sigma both sides are divided by |t|^n.
        """
        stated, field, under = self.stated[key], f"{self.field}.{key}", under or (lambda y, s: y**n)
        if near:
            whole = over(*self.near) / under(-self.near[3], self.near[3] + self.sigma)
            ends = [*ends, *(sign * whole for sign in signs)]
        seen = functools.reduce(arb.max, [end.upper() for end in ends])
        fits = stated >= seen
        for c, low, high, side, central in self.cells if cells is None else cells:
            f, mu, r = self.phi.expand(c)
            x = arb_poly([c - self.sigma, c])
            above, below = over(f, mu, r, x), under(side * x, arb_poly([c, c]))
            if central:
                above, below = (side**n * arb_poly(curve.coeffs()[n:]) for curve in (above, below))
            fits = fits and all(nonnegative(stated * below - sign * above, low, high) for sign in signs)
            for t in (low + (high - low) * j / 24 for j in range(25)):
                seen = seen.max(functools.reduce(arb.max, [sign * above(t) for sign in signs]).lower() / below(t))
        need(fits, field, f"{show(stated)} is not seen to be large enough")
        bounds(stated, seen, field, TIGHT, size)
