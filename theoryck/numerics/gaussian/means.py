"""Means under a Gaussian law whose accuracy is known: proved enclosures, and quadrature that adapts to the integrand.

An activation of a Gaussian field is an :class:`Image`: where phi(sqrt(s) t)^2 exp(-t^2/2) is not negligible, and panels on which
Gauss-Legendre quadrature resolves it.  Both are found, not assumed: phi may grow like exp(a x^2), or have scales below any panel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged, NotIntegrable
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.growth import growth
from theoryck.numerics.proved.gaussian import gaussian_expectation

Array = NDArray[np.float64]

NEGLIGIBLE = 43.0
"""Decades in e: what falls below exp(-43) = 2e-19 of the largest value of an integrand is left out."""

TAIL = math.sqrt(2 * NEGLIGIBLE)
"""Where the Gaussian weight itself is negligible."""

SCAN = 75.0
"""Integrands that are not negligible beyond 75 standard deviations are given up: exp(-75^2/8) and its inverse end there."""

NODES = 24
"""Gauss-Legendre nodes of a panel."""

MOST_PANELS = 2**13
LEVELS = 60


def enclosed(expression: Any, variance: Any, what: str, digits: int = 18, lost: int = 0) -> Fraction:
    """Return E f(sqrt(variance) Z) by :func:`theoryck.numerics.proved.gaussian_expectation`, as near as doubles need it.

    ``what`` names the mean in errors; ``lost`` digits will cancel and are known besides.  Raises ValueError where it is infinite,
    NotConverged where fewer than 10 digits are left.

    >>> from theoryck.numerics.functions import x
    >>> enclosed(x**4, 1, "x^4")
    Fraction(3, 1)
    """
    value, radius = enclosure(expression, variance, what, digits + lost)
    # A zero has no significant digits: its radius is absolute then.
    if radius * 10 ** (10 + lost) > max(abs(value), Fraction(1, 10**6)):
        shown, error = (Decimal(number.numerator) / number.denominator for number in (value, radius))
        raise NotConverged(
            f"E {what} is known to {error:.1g} only, around {shown:.6g}: no number is returned, rescale the activation or its field"
        )
    return value


def enclosure(expression: Any, variance: Any, what: str, digits: int) -> tuple[Fraction, Fraction]:
    """Return E f(sqrt(variance) Z) and the radius around it; raises as :func:`enclosed`, whatever the radius."""
    found = _attempt(expression, variance, digits)
    if isinstance(found, str):
        if _is_integrable(expression, variance):
            raise NotConverged(f"E {what} is finite, but was not enclosed: {found}")
        raise ValueError(f"E {what} is infinite or has no value: {found}")
    return found


def check_mean_square(expression: Any, what: str, name: str, text: str, error: type[ValueError] = ValueError) -> None:
    """Raise ``error``, naming the argument and its text, where E f(Z)^2 = E ``what`` is infinite, f(x) the expression.

    >>> check_mean_square(Activation("exp(x**2/4)").expression, "g(z)^2", "link", "exp(x**2/4)")
    Traceback (most recent call last):
        ...
    ValueError: link must have a finite mean square, got 'exp(x**2/4)': E g(z)^2 is infinite or has no value: ...
    """
    try:
        enclosure(Activation(expression).expression ** 2, Fraction(1), what, 10)
    except NotConverged:
        pass  # finite, as its growth shows, though it is not enclosed
    except ValueError as found:
        raise error(f"{name} must have a finite mean square, got {text!r}: {found}") from None


@functools.lru_cache(maxsize=2048)
def _attempt(expression: Any, variance: Any, digits: int) -> tuple[Fraction, Fraction] | str:
    """The enclosure, or why there is none: that may take seconds to find out, and is kept as well."""
    try:
        found = gaussian_expectation(expression, variance, digits)
    except NotIntegrable as error:
        return str(error)
    return Fraction(found.midpoint), Fraction(found.radius)


def _is_integrable(expression: Any, variance: Any) -> bool:
    """Whether the growth of the expression shows that its Gaussian mean is finite."""
    for side in (-1, 1):
        found = growth(expression, side)
        if found is None:
            return False
        power, rate = next(iter(found.exponential), (0, 0.0))
        if rate > 0 and (power > 2 or (power == 2 and rate * float(variance) > 0.5 - 1e-6)):
            return False
    return True


def panel_edges(breaks: Iterable[float], low: float, high: float, longest: float) -> Array:
    """Return the ends of panels on [low, high] that end at the ``breaks`` and are no longer than ``longest``."""
    ends = [low, *sorted(point for point in breaks if low < point < high), high]
    pieces = [np.linspace(a, b, max(math.ceil((b - a) / longest), 1), endpoint=False) for a, b in pairwise(ends)]
    return np.concatenate([*pieces, [high]])


@functools.lru_cache(maxsize=64)
def gauss_legendre(count: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre quadrature on [-1, 1], made once: they take the eigenvalues of a full matrix.

    >>> [values.tolist() for values in gauss_legendre(1)]
    [[0.0], [2.0]]
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def nodes_of(edges: Array, count: int = NODES) -> tuple[Array, Array]:
    """Return nodes and weights (..., panels * count) of Gauss-Legendre quadrature on panels with these ends, (..., panels + 1)."""
    nodes, weights = gauss_legendre(count)
    half = np.diff(edges)[..., None] / 2
    shape = (*edges.shape[:-1], (edges.shape[-1] - 1) * count)
    return (edges[..., :-1, None] + half * (1 + nodes)).reshape(shape), (half * weights).reshape(shape)


@dataclass(frozen=True)
class Integral:
    """Integrals of several functions, of their absolute values, bounds of the errors, and the ends of the panels that were used."""

    values: Array
    sizes: Array
    errors: Array
    edges: Array


def adaptive(function: Callable[[Array], Array], edges: Array, what: str, tolerance: float = 1e-14) -> Integral:
    """Integrate ``function``, nodes (n,) -> values (functions, n), halving panels until halves agree with the whole.

    A panel is done when its halves change no integral by more than ``tolerance`` of the integral of the absolute value; the sum of
    the changes, an error of the coarser rule, is the bound.  Raises NotConverged, naming ``what``.
    """
    low, high = edges[:-1], edges[1:]
    whole, _ = _on_panels(function, low, high, what)
    values = errors = sizes = np.zeros(len(whole))
    done: list[Array] = []
    for _ in range(LEVELS):
        middle = (low + high) / 2
        halves, absolute = _on_panels(function, np.concatenate([low, middle]), np.concatenate([middle, high]), what)
        count = len(low)
        both = halves[:, :count] + halves[:, count:]
        change = np.abs(both - whole)
        pending = absolute.sum(axis=1)
        fine = (change <= tolerance * (sizes + pending)[:, None]).all(axis=0)
        values, errors = values + both[:, fine].sum(axis=1), errors + change[:, fine].sum(axis=1)
        sizes = sizes + (absolute[:, :count] + absolute[:, count:])[:, fine].sum(axis=1)
        done.append(low[fine])
        if fine.all():
            return Integral(values, sizes, errors, np.append(np.sort(np.concatenate(done)), edges[-1]))
        keep = np.concatenate([~fine, ~fine])
        low, high = np.concatenate([low, middle])[keep], np.concatenate([middle, high])[keep]
        whole = halves[:, keep]
        if len(low) > MOST_PANELS:
            break
    raise NotConverged(
        f"{what} was not resolved by {MOST_PANELS} panels, near {float(low[0]):.6g} for one: the integrand varies too fast"
    )


def _on_panels(function: Callable[[Array], Array], low: Array, high: Array, what: str) -> tuple[Array, Array]:
    nodes, weights = gauss_legendre(NODES)
    half = (high - low)[:, None] / 2
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = np.atleast_2d(function((low[:, None] + half * (1 + nodes)).ravel()))
    if not np.isfinite(found).all():
        raise NotConverged(f"{what} leaves the range of floating-point numbers: rescale the activation, or its field")
    found = found.reshape(len(found), len(low), NODES)
    sums: Array = np.einsum("fpn,n->fp", found, weights) * half[:, 0]
    absolute: Array = np.einsum("fpn,n->fp", np.abs(found), weights) * half[:, 0]
    return sums, absolute


def window(size: Callable[[Array], Array], what: str, breaks: Iterable[float] = ()) -> tuple[float, float]:
    """Return the ends of where ``size``, the logarithm of an integrand known to be integrable, is within NEGLIGIBLE of its top.

    ``breaks`` are looked at from both sides.  Raises NotConverged for an integrand that leaves the range of floating-point numbers
    before it is negligible, or is not negligible at SCAN.
    """
    step = 1 / 8
    near = [point + side for point in breaks if abs(point) < SCAN for side in (-1e-3, 1e-3)]
    z = np.sort(np.concatenate([np.arange(-SCAN, SCAN + step, step), near]))
    with np.errstate(all="ignore"):
        logs = size(z)
    # +oo and nan come where phi overflows.  Next to that it must be negligible,
    # and beside another factor too: from there it falls.
    beyond = ~(logs < math.inf)
    logs = np.where(beyond, -math.inf, logs)
    top = float(logs.max())
    kept = np.flatnonzero(logs > top - NEGLIGIBLE)
    if top == -math.inf:
        raise NotConverged(f"{what} is 0, or not a number, wherever it was looked at: rescale the activation, or its field")
    first, last = int(kept[0]), int(kept[-1])
    beside = beyond.copy()
    beside[:-1] |= beyond[1:]
    beside[1:] |= beyond[:-1]
    if first == 0 or last == len(z) - 1 or beyond[first - 1 : last + 2].any() or (logs[beside] > top - 2 * NEGLIGIBLE).any():
        raise NotConverged(
            f"{what} has too heavy tails for floating-point numbers: it is not negligible at {float(z[last]):.4g} or "
            f"{float(z[first]):.4g} standard deviations, where it must be cut"
        )
    return float(z[first - 1]), float(z[last + 1])


def log_size(phi: Activation, points: Array) -> Array:
    """log |phi|, -oo at zeros and not finite where phi overflows."""
    with np.errstate(all="ignore"):
        result: Array = np.log(np.abs(phi(points)))
    return result


def kinks_of(phi: Activation) -> list[float]:
    """Return the points where phi may fail to be analytic, as floats."""
    return [float(point) for point in phi.kinks]


@dataclass(frozen=True)
class Image:
    """phi(sqrt(variance) t), t ~ N(0, 1): E phi^2, the window of phi^2 in t and panels there that resolve it."""

    square: float
    low: float
    high: float
    edges: Array


@functools.lru_cache(maxsize=512)
def image(phi: Activation, variance: float, name: str = "activation") -> Image:
    """Return phi of a field of this ``variance``, E phi^2 being confirmed by an enclosure, which no narrow feature escapes.

    Raises ValueError where E phi^2 is infinite, NotConverged where it is out of reach.

    >>> found = image(Activation("exp(x)"), 1.0)
    >>> round(found.square / math.exp(2), 12), found.high > 11 > -found.low
    (1.0, True)
    """
    what = f"{name}(field)^2, {name} {phi.text} and a field of variance {variance:.6g},"
    # Few digits: they confirm the quadrature, which has more of its own, and are quick to get.
    exact, radius = (float_of(number, f"E {what}") for number in enclosure(phi.expression**2, Fraction(variance), what, 10))
    if variance == 0:
        return Image(exact, -TAIL, TAIL, np.array([-TAIL, TAIL]))
    root = math.sqrt(variance)
    breaks = [kink / root for kink in kinks_of(phi)]
    low, high = window(lambda t: 2 * log_size(phi, root * t) - t * t / 2, what, breaks)

    def integrand(t: Array) -> Array:
        values = phi(root * t) * np.exp(-t * t / 4)
        # phi itself beside its square: near a zero of phi the square alone would not show a kink.
        return np.stack([values * values, values * np.exp(-t * t / 4)]) / math.sqrt(2 * math.pi)

    # The numbers of an activation are mostly of order one: a large field shows them near 0.
    for steepest in (1.0, max(root, 16.0), 1e6 * max(root, 1.0)):
        graded = panel_edges([*breaks, *graded_breaks(steepest)], low, high, 2.0)
        found = adaptive(integrand, graded, f"E {what}")
        if abs(found.values[0] - exact) <= 1e-9 * exact + min(radius, 1e-4 * exact):
            return Image(float(found.values[0]), low, high, found.edges)
    raise NotConverged(
        f"E {what} is {exact:.10g}, but {found.values[0]:.10g} by quadrature: {name} varies on a scale that it did not see"
    )


def graded_breaks(steepest: float) -> list[float]:
    """Return 0 and +-4^-k down to 1/steepest, or 1e-18: panels that shrink towards 0; none for a steepest of 1."""
    if steepest <= 1:
        return []
    steps = [4.0**-k for k in range(min(math.ceil(math.log(steepest, 4)), 30) + 1)]
    return [0.0, *steps, *(-step for step in steps)]


def float_of(value: Fraction, what: str) -> float:
    """Return a double; NotConverged for a number out of their range."""
    try:
        return float(value)
    except OverflowError:
        raise NotConverged(f"{what} is beyond the range of floating-point numbers (1.8e308)") from None
