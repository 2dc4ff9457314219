"""From the numbers of the layers to bounds of moments: E X_l^j <= H_(l,j) d^(-j/2) for every d >= N and all widths >= d.

The recursion and its lemmas are those of :mod:`theoryck.records.certificates`, section 2.3.  It is evaluated in balls from the
numbers as they are written, and what is written of a moment is rounded up: each line follows from the lines before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from itertools import pairwise
from math import comb, factorial

from flint import arb, arb_poly

from theoryck.numerics.balls import maximum
from theoryck.theory.networks.certificates.decimals import above, ball, rounded_up
from theoryck.theory.networks.certificates.envelopes import Bounded, Envelope, Growing
from theoryck.theory.networks.certificates.layers import LayerBounds

Moments = list[Decimal]
"""Bounds H_2, H_4, ..."""


@cache
def partition_count(size: int, parts: int) -> int:
    """Return the partitions of a set of ``size`` elements into ``parts`` blocks of at least two: sum of c(pi) over pi.

    The last element joins a block of a partition of the others, or makes a block with one of them.

    >>> [partition_count(6, parts) for parts in (1, 2, 3)]
    [1, 25, 15]
    """
    if size == 0 or parts == 0:
        return int(size == parts)
    return 0 if size < 2 * parts else parts * partition_count(size - 1, parts) + (size - 1) * partition_count(size - 2, parts - 1)


def input_moments(start: int, top: int) -> Moments:
    """Return H_(0,j), j = 2, 4, ..., top: d^(j/2) E(chi^2_d/d - 1)^j at d = ``start``, from the cumulants 2^(a-1) (a-1)! d^(1-a).

    It decreases in d: a sum of c(pi) d^(m - j/2) prod 2^(a-1)(a-1)! with m <= j/2.  A value that is a short decimal is written
    one digit higher unless its ball is a point: a reader who takes roots of d could not see that what is written suffices.

    >>> input_moments(4, 4), input_moments(32, 4)
    ([Decimal('2'), Decimal('24')], [Decimal('2'), Decimal('13.50001')])
    """
    return [written(value) for value in central(input_cumulants(top), 1 / arb(start).sqrt())[2::2]]


def input_cumulants(top: int) -> list[arb]:
    """Return 0, 0, kappa_2, ..., kappa_top of chi-square variables: 2^(a-1) (a-1)!."""
    return [arb(2 ** (a - 1) * factorial(a - 1)) if a > 1 else arb(0) for a in range(top + 1)]


def central(cumulants: Sequence[arb], small: arb) -> list[arb]:
    """Return y_0, y_1, ...: sum over partitions of c(pi) N^(m-j/2) prod |kappa|, as moments of the cumulants |kappa_a| N^(1-a/2).

    m - j/2 is the sum of 1 - a/2 over the parts a; ``small`` is 1/sqrt(N), or 0 for N = oo.
    """
    scaled = [abs(kappa) * small ** max(a - 2, 0) for a, kappa in enumerate(cumulants)]
    found = [arb(1)]
    for j in range(1, len(cumulants)):
        found.append(sum((comb(j - 1, a - 1) * scaled[a] * found[j - a] for a in range(2, j + 1)), arb(0)))
    return found


def written(value: arb) -> Decimal:
    """Return a derived number as it is written: rounded up to 7 digits."""
    return rounded_up(value, 7)


def absolute(moments: Sequence[Decimal]) -> list[arb]:
    """Return h_0, ..., h_K: even moments as they are, odd ones by Cauchy-Schwarz from their neighbours."""
    even = [arb(1), *(ball(number) for number in moments)]
    found = [even[0]]
    for left, right in pairwise(even):
        found += [(left * right).sqrt(), right]
    return found


def next_moments(layer: LayerBounds, before: Sequence[Decimal], start: int, envelope: Envelope, top: int) -> Moments:
    """Return the moments of orders 2, 4, ..., ``top`` after a layer from those of orders up to K before it."""
    h = absolute(before)
    small = 1 / arb(start).sqrt()
    gamma = _mapped(layer, h, small)
    noise: _Noise | _GrowingNoise
    if isinstance(envelope, Bounded):
        noise = _Noise(layer, h, gamma, small, ball(envelope.largest))
    else:
        noise = _GrowingNoise(layer, h, gamma, small, envelope)
    return [written(noise.moment(j, start)) for j in range(2, top + 1, 2)]


def _mapped(layer: LayerBounds, h: Sequence[arb], small: arb) -> list[arb]:
    """Return gamma_r, E|g(X)|^r <= gamma_r d^(-r/2)."""
    chord, slope, curvature = ball(layer.chord), ball(layer.slope), ball(layer.curvature)
    gamma = [arb(1)]
    for r in range(1, len(h)):
        bound = chord**r * h[r]
        if 2 * r < len(h):
            bound = bound.min((slope * h[r].root(r) + curvature * h[2 * r].root(r) * small) ** r)
        gamma.append(bound)
    return gamma


class _Noise:
    """The mean of independent terms that a layer adds."""

    def __init__(self, layer: LayerBounds, h: Sequence[arb], gamma: Sequence[arb], small: arb, largest: arb) -> None:
        self.h, self.gamma, self.largest = h, gamma, largest
        self.deviation, self.growth = ball(layer.deviation), ball(layer.growth) * small
        self._mixed: dict[tuple[int, int], arb] = {}

    def moment(self, j: int, start: int) -> arb:
        """Return the bound of d^(j/2) E X^j."""
        total = self.gamma[j]
        for i in range(2, j + 1):
            for m in range(1, i // 2 + 1):
                weight = comb(j, i) * partition_count(i, m) * arb(start) ** m / arb(start).sqrt() ** i
                total += weight * self.largest ** (i - 2 * m) * self.mixed(j - i, m)
        return total

    def mixed(self, p: int, m: int) -> arb:
        """Return w_(p,m), E |g|^p nu^(2m) <= w_(p,m) d^(-p/2)."""
        if (p, m) not in self._mixed:
            near = arb(0)
            for u in range(2 * m + 1):
                weight = comb(2 * m, u) * self.deviation ** (2 * m - u) * self.growth**u
                near += weight * product(self.gamma, self.h, p, u)
            self._mixed[p, m] = near.min((self.largest / 2) ** (2 * m) * self.gamma[p])
        return self._mixed[p, m]


class _GrowingNoise:
    """The same for a phi that grows at most linearly: |mu_a| <= (n_a + delta_a |X|)^a, as polynomials in |X| sqrt(d)."""

    def __init__(self, layer: LayerBounds, h: Sequence[arb], gamma: Sequence[arb], small: arb, envelope: Growing) -> None:
        self.h, self.gamma = h, gamma
        top = len(h) - 1
        cumulants = [arb_poly([0]), arb_poly([0])]
        for a in range(2, top + 1):
            n, delta = central_line(layer, envelope, a)
            cumulants.append(arb_poly([n, delta * small]) ** a * small ** (a - 2))
        # The sum over partitions of c(pi) times a product over their parts: the moments that belong to these cumulants.
        self.moments = [arb_poly([1])]
        for i in range(1, top + 1):
            terms = (comb(i - 1, a - 1) * cumulants[a] * self.moments[i - a] for a in range(2, i + 1))
            self.moments.append(sum(terms, arb_poly([0])))

    def moment(self, j: int, start: int) -> arb:
        """Return the bound of d^(j/2) E X^j."""
        total = self.gamma[j]
        for i in range(2, j + 1):
            for u, weight in enumerate(self.moments[i].coeffs()):
                total += comb(j, i) * weight * product(self.gamma, self.h, j - i, u)
        return total


def central_line(layer: LayerBounds, envelope: Growing, a: int) -> tuple[arb, arb]:
    """Return n_a and delta_a, |mu_a| <= (n_a + delta_a |X|)^a."""
    if a == 2:
        return ball(layer.deviation), ball(layer.growth)
    constant, slope = envelope.norms(a)
    return constant + ball(above(layer.centre)) * slope, slope


def central_lines(layer: LayerBounds, envelope: Envelope, top: int, spread: arb_poly) -> list[arb_poly]:
    """Return bounds of |mu_a|, a = 0 to ``top``, as polynomials of |X|: R^(a-2) ``spread``, which bounds mu_2, or as above."""
    found = [arb_poly([0]), arb_poly([0])]
    for a in range(2, top + 1):
        if isinstance(envelope, Bounded):
            found.append(ball(envelope.largest) ** (a - 2) * spread)
        else:
            found.append(arb_poly([*central_line(layer, envelope, a)]) ** a)
    return found


def product(gamma: Sequence[arb], h: Sequence[arb], p: int, u: int) -> arb:
    """Return the bound of E |g|^p |X|^u by Hoelder's inequality."""
    if u == 0:
        return gamma[p]
    if p == 0:
        return h[u]
    whole = p + u
    return gamma[whole].root(whole) ** p * h[whole].root(whole) ** u


def bound_of_power(moments: Sequence[Decimal], power: int) -> arb:
    """Return the bound of d^(k/2) E|X|^k for any k >= 1 up to the order of the last moment (rounded up to even)."""
    return maximum(absolute(moments)[power])
