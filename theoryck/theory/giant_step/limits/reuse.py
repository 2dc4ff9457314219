"""Two full-batch steps on the same batch, n = alpha d.

w_0 is a unit vector orthogonal to w*, g_0 = X^T u/n, u = y s'(X w_0); w_1 = w_0 + eta g_0; g_1 = X^T v/n, v = y s'(X w_1); w_2 =
w_1 + eta g_1; s'(x) = e^(-x^2/2), the slope of an erf, unless said.  With z, z*, zeta independent N(0, 1), y = g(z*), u = y s'(z),
v = y s'(h),
    h = z + eta [z E u z + z* E u z* + u/alpha + (E u^2/alpha)^(1/2) zeta],
the components of g_1 along w*, w_0 and what is new in g_0 tend to M = E v z*, A_0 = E v z, A_t = E u v/(alpha E u^2)^(1/2) + E v
zeta, and the square of the rest to (E v^2 - (E u v)^2/E u^2)/alpha.  The term u/alpha, the memory of the batch, is what makes M !=
0 for links of information exponent 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.growth import Growth, growth
from theoryck.numerics.gaussian.means import image, kinks_of, nodes_of, panel_edges
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import QuantityError
from theoryck.theory.giant_step.model import BUMP, read_slope, read_target

Array = NDArray[np.float64]

REACH, PANEL = 12.0, 0.75
"""Panels of 24 nodes: e^(-72) times a polynomial is nothing, and most links vary on a scale of 1 or more."""

LARGEST_REACH = 36.0
"""e^(36^2/2) = 1e281: beyond, squares that their weights keep small are no float64 themselves."""

HALVINGS = 4
"""Of panels, for links and steps that vary faster: 6000 nodes an axis, about 4 s."""

AGREED = 1e-11
"""Panels and those twice as long must agree to this: by then the shorter ones know twice the digits."""

AT_ONCE = 2**20
"""Pairs of nodes held at once."""

SPACING, GRADED = 30, 20.0
"""Places a panel at which means over zeta are tabulated, farther apart beyond |m| = GRADED; a spline of order 5 between them."""


@dataclass(frozen=True)
class ReuseLimit:
    """Limits of cos(g_1, w*) and cos(w_2, w*), and M = lim <g_1, w*>."""

    gradient: float
    weights: float
    M: float


def batch_reuse_limit(link: Any, alpha: float, rate: float, slope: Any = BUMP) -> ReuseLimit:
    """Return what two steps of size ``rate`` on the same n = ``alpha`` d samples learn of w*, d -> infinity.

    ``slope`` is s', smooth.  z and z* are integrated by quadrature, zeta analytically for e^(-x^2/2), by a table of means for
    others.  Raises QuantityError for a bad argument, a link or slope without mean square and where E v^2 is infinite, as the slope
    grows with labels that grow; NotConverged for those that vary too fast, or whose v are too large for the quadrature.

    >>> found = batch_reuse_limit("sin(2*x) - 2*exp(-3/2)*sin(x)", alpha=2, rate=4)  # information exponent 3
    >>> round(found.gradient, 9), round(found.weights, 9)
    (0.140817235, 0.05379436)
    >>> round(batch_reuse_limit("x**2 + x", alpha=2, rate=1, slope="1 + x").M, 9)  # a polynomial in three normal variables
    7.0
    """
    g, alpha, eta, s = read_target(link), positive(alpha, "alpha"), positive(rate, "rate"), read_slope(slope)
    weight = _weight(g, s)
    if math.isinf(weight):
        raise QuantityError(
            f"slope must leave v = y s'(h) of the second step a finite mean square, got {s.text!r} for the link {g.text!r}: E v^2 "
            "is infinite, since h holds eta y s'(z)/alpha; take a bounded slope, or a slope and a link that grow like powers"
        )
    reach = REACH / math.sqrt(1 - 2 * weight) if weight < 0.5 else math.inf
    if reach > LARGEST_REACH:
        raise NotConverged(
            f"the limits of {g.text} with the slope {s.text} have means of e^({weight:.4g} z*^2), carried by values of z* too rare "
            "for the quadrature: take a link that grows more slowly, or a slope that does"
        )
    before = _limit(g, s, alpha, eta, 2 * PANEL, [], reach)
    for halving in range(HALVINGS):
        resolved = image(g, 1.0, "link").edges.tolist() if halving else []
        now = _limit(g, s, alpha, eta, PANEL / 2**halving, resolved, reach)
        gaps = np.abs(np.array(astuple(now)) - astuple(before))
        if (gaps <= AGREED * np.array([1.0, 1.0, max(1.0, abs(now.M))])).all():
            return now
        before = now
    raise NotConverged(
        f"the limits of {g.text} at the rate {eta:g} were not resolved: the link or the slope {s.text} varies too fast, or the "
        "rate is too large"
    )


def _weight(g: Activation, s: Activation) -> float:
    """Return the largest q of the means of e^(q z*^2) and e^(q z^2) that E y^2 s'(h)^2 has, by the growth of g and s'; inf where it
    is infinite.  h = eta y s'(z)/alpha + what grows linearly, and z, z*, zeta are independent, so that a sign of y and one of s'(z)
    are met together."""
    # Growth to infinity, of a sign that is known.
    found = [[(side, growth(phi.expression, side)) for side in (-1, 1)] for phi in (g, s)]
    links, slopes = ([(side, rate) for side, rate in rates if rate and rate.exact and rate.order > 0] for rates in found)
    places = np.linspace(-REACH / 2, REACH / 2, 2001)
    with np.errstate(all="ignore"):
        values = [np.asarray(phi(places)) for phi in (g, s)]
    largest = 0.0

    def heavier(rate: Growth, times: Fraction) -> float:
        """Of f^times, f growing like that: e^(q x^2) x^p against e^(-x^2/2)."""
        power, q = rate.exponential[0] if rate.exponential else (0, 0.0)
        if power != 2:
            return largest
        q *= float(times)
        infinite = q > 0.5 + 1e-12 or (q > 0.5 - 1e-12 and times * rate.p >= -1)
        return math.inf if infinite else max(largest, q)

    for _, rate in links:
        largest = heavier(rate, Fraction(2))
    for side, slope in slopes:  # h -> side oo
        for mine, growing in enumerate((links, slopes)):
            for _, rate in growing:
                exploding = any(q > 0 for _, q in rate.exponential[:1])
                # One of y and s'(z) grows, the other is where their product has the sign of this side.
                if not exploding or not (values[1 - mine] * rate.c * side > 0).any():
                    continue
                if any(q > 0 for _, q in slope.exponential[:1]):  # an exponential of an exponential
                    return math.inf
                largest = heavier(rate, 2 * slope.p + (2 if mine == 0 else 0))
    return largest


def _smoothed(s: Activation, spread: float, low: float, high: float, panel: float) -> Callable[[Array], tuple[Array, ...]]:
    """Return E s'(h), E zeta s'(h) and E s'(h)^2 over zeta as functions of m, low <= m <= high, h = m + sqrt(spread) zeta."""
    if s == BUMP:

        def closed(m: Array) -> tuple[Array, ...]:
            bump = np.exp(-(m**2) / (2 * (1 + spread))) / math.sqrt(1 + spread)
            double = np.exp(-(m**2) / (1 + 2 * spread)) / math.sqrt(1 + 2 * spread)
            return bump, -math.sqrt(spread) / (1 + spread) * m * bump, double

        return closed
    # Both steps follow the panels: what one length resolves, half of it agrees with.
    first, last = (GRADED * math.asinh(end / GRADED) for end in (low, high))
    places = GRADED * np.sinh(np.linspace(first, last, math.ceil((last - first) * SPACING / panel) + 12) / GRADED)
    zeta = np.arange(-round(REACH / panel * 2), round(REACH / panel * 2) + 1) * panel / 2
    table = np.zeros((len(places), 3))
    for node, mass in zip(zeta, np.exp(-(zeta**2) / 2) / math.sqrt(2 * math.pi) * panel / 2):
        with np.errstate(over="ignore", invalid="ignore"):
            value = s(places + math.sqrt(spread) * node)
            table += mass * np.stack([value, node * value, value**2], axis=1)
    if not np.isfinite(table).all():
        raise NotConverged(
            f"slope {s.text} is too large for the quadrature where the second step asks for it, at h from {low:.3g} to {high:.3g}: "
            "E v^2 is infinite, or carried by values that are very rare; take a slope that is bounded, or a smaller rate"
        )
    spline = make_interp_spline(places, table, k=5)
    return lambda m: tuple(np.moveaxis(spline(m), -1, 0))


def _limit(g: Activation, s: Activation, alpha: float, eta: float, panel: float, resolved: list[float], reach: float) -> ReuseLimit:
    """The limits by panels of at most that length, those in z* ending at the kinks of g, where it is ``resolved``, and at the
    ``reach``."""
    reach = max(reach, *map(abs, resolved)) if resolved else reach
    z, z_weights = nodes_of(panel_edges([0.0], -REACH, REACH, panel))
    star, star_weights = nodes_of(panel_edges(sorted({*kinks_of(g), *resolved}), -reach, reach, panel))
    density = np.exp(-z * z / 2) * z_weights / math.sqrt(2 * math.pi)
    star_density = np.exp(-star * star / 2) * star_weights / math.sqrt(2 * math.pi)
    y = g(star)
    slope = s(z)
    mean_y, square_y, tilt = float(y @ star_density), float(y * y @ star_density), float(y * star @ star_density)
    along, toward = mean_y * float(density @ (slope * z)), tilt * float(density @ slope)  # E u z, E u z*
    square = square_y * float(density @ slope**2)  # E u^2
    spread = eta**2 * square / alpha
    # E v z*, E v z, E v u, E v zeta and E v^2, over z (rows) and z* (columns)
    signal = own = mixed = tilted = squared = 0.0
    rows = max(AT_ONCE // len(star), 1)

    def middle_of(z: Array, u: Array) -> Array:
        return z[:, None] * (1 + eta * along) + eta * (star * toward + u / alpha)

    low, high = -math.inf, math.inf
    if s != BUMP:
        # Beyond a disc the weights are nothing, however large the fields are there.
        ends = []
        for node, own_slope in zip(z, slope):
            seen = node**2 + star**2 <= reach**2
            ends.append(middle_of(np.array([node]), own_slope * y[None])[0, seen])
        low, high = (float(pick(pick(each) for each in ends if each.size)) for pick in (min, max))
    smoothed = _smoothed(s, spread, low, high, panel)
    for first in range(0, len(z), rows):
        some = slice(first, first + rows)
        u = slope[some, None] * y
        bump, turned, double = smoothed(np.clip(middle_of(z[some], u), low, high))
        signal += float(density[some] @ (bump * y * star) @ star_density)
        own += float(density[some] @ (bump * y * z[some, None]) @ star_density)
        mixed += float(density[some] @ (bump * y * u) @ star_density)
        tilted += float(density[some] @ (turned * y) @ star_density)
        squared += float(density[some] @ (double * y * y) @ star_density)
    new = mixed / math.sqrt(alpha * square) + tilted
    rest = max(squared - mixed**2 / square, 0.0) / alpha
    gradient = signal / math.sqrt(signal**2 + own**2 + new**2 + rest)
    moved = np.array([eta * (toward + signal), 1 + eta * (along + own), eta * (math.sqrt(square / alpha) + new)])
    weights = moved[0] / math.sqrt(float(moved @ moved) + eta**2 * rest)
    return ReuseLimit(float(gradient), float(weights), signal)
