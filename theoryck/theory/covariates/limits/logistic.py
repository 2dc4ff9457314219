"""Logistic regression in the Gaussian covariate model: a fixed point in three unknowns, by Newton's method in their logarithms.

For y = sign(nu), omega = sqrt(q) xi, V* = rho - m^2/q the channel needs means over xi ~ N(0, 1) of functions of the proximal point
x = prox_{V log(1 + e^-x)}(omega) for y = 1; the other label is its mirror image.  With f = (x - omega)/V = 1/(1 + e^x):
    q_hat = alpha E[2 Phi(s xi) f^2],   V_hat = alpha E[2 Phi(s xi) f(1-f)/(1 + V f(1-f))],   s = m/sqrt(rho q - m^2),
    m_hat = (alpha/sqrt(gamma)) sqrt(2/(pi rho)) E f(omega = sqrt((rho q - m^2)/rho) xi),
the last by doing the integral over the teacher's field first.

Quadrature.  f is analytic in omega for |Im omega| < pi, whatever V: its branch points, where 1 + V f(1-f) = 0, have x = i pi plus a
real number.  Hence the trapezoidal rule with step h errs by about exp(-2 pi^2/(h sqrt(q))) from f and exp(-2 pi^2/(h^2 (1 + s^2)))
from Phi(s xi), and a fixed number of Gauss-Hermite nodes would lose all digits for large q or s.  Where V is small and q or s large
all is decided near xi = 0, and a grid that is even in asinh(c xi) needs fewer nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, ndtr

from theoryck.numerics.errors import NotConverged
from theoryck.theory.covariates.limits.square import alignment_gap, solve_square
from theoryck.theory.covariates.model import Array, CovariateModel, point_in_units

TOLERANCE = 1e-12
"""Of the last Newton step, in the logarithms of the three unknowns: the digits of the quadrature allow no less at large q."""

MAX_STEPS = 100
PROX_STEPS = 200
REACH = 8.6
"""Where the density of N(0, 1) falls below the rounding of its maximum."""

NATS = 38.0
"""-log of the error that the steps of the quadrature are made for, 3e-17."""

MOST_NODES = 2**16
MOST_WORK = 4e7
"""Newton steps of proximal points at all nodes of all quadratures together: about two seconds."""

LONGEST = 3.0
LARGEST_V = 1e12

Point = tuple[float, float, float]
Iteration = Callable[[Array], tuple[Array, float]]


@dataclass(frozen=True, slots=True)
class Orders:
    """V, q, m and rho q - m^2, computed without a difference."""

    V: float
    q: float
    m: float
    gap: float


@dataclass(frozen=True, slots=True)
class LogisticSolution:
    """The fixed point; ``residual`` is the largest relative change of V, q, m under one more iteration."""

    orders: Orders
    hats: Point
    train_loss: float
    residual: float
    steps: int


def proximal(omega: Array, V: float) -> Array:
    """Return x with x - V/(1 + e^x) = omega, elementwise: the proximal point of V log(1 + e^-x).

    The left side is increasing, convex for x < 0 and concave for x > 0, so Newton's iteration from 0 approaches the root from one
    side.  Raises NotConverged where it has not arrived after 200 steps.

    >>> x = proximal(np.array([-3.0, 0.0, 2.0]), 4.0)
    >>> bool(abs(x - 4 / (1 + np.exp(x)) - [-3, 0, 2]).max() < 1e-14)
    True
    """
    x = np.zeros_like(omega)
    for _ in range(PROX_STEPS):
        f = expit(-x)
        step = (x - V * f - omega) / (1 + V * f * (1 - f))
        x -= step
        if not abs(step).max() > 1e-15 * (1 + abs(x).max()) + 4e-16 * V:
            return x
    raise NotConverged(f"the proximal point of the logistic loss was not reached at V = {V:.6g}: take a larger penalty")


def _count(reach: float, step: float) -> int:
    count = math.ceil(reach / step)
    if count > MOST_NODES:
        raise NotConverged(
            f"{2 * count + 1} nodes of quadrature were needed: the weights have grown too large or the labels too certain; "
            "take a larger penalty, or a smaller alpha"
        )
    return count


def gaussian_nodes(spread: float, slope: float, V: float) -> tuple[Array, Array]:
    """Return points and weights for means over xi ~ N(0, 1) of functions of f(spread xi) and Phi(slope xi): the fewer of two rules.

    Even steps, or even steps in u with c xi = sinh u, c = max(spread, slope, 1): Phi and the density are bounded for |Im u| < pi/4,
    and f is analytic between the hyperbolas that pass its branch points, at +-i pi and real parts within ``far``.
    """
    step = analytic_step(spread, slope)
    c, a = max(spread, slope, 1.0), 2 * math.asinh(math.sqrt(V) / 2)
    far = a - V / math.expm1(-a)
    # 0.8: on that hyperbola the branch points keep a distance.
    shorter = 2 * math.pi * min(0.7, 0.8 * math.atan(math.pi / far)) / NATS
    longest = math.asinh(REACH * c)
    if longest / shorter > REACH / step:
        count = _count(REACH, step)
        xi = step * np.arange(-count, count + 1, dtype=float)
        return xi, np.exp(-(xi**2) / 2) * (step / math.sqrt(2 * math.pi))
    count = _count(longest, shorter)
    u = shorter * np.arange(-count, count + 1, dtype=float)
    xi = np.sinh(u) / c
    return xi, np.exp(-(xi**2) / 2) * np.cosh(u) * (shorter / c / math.sqrt(2 * math.pi))


def analytic_step(spread: float, slope: float) -> float:
    """Return the step of the trapezoidal rule for f(spread xi) Phi(slope xi) under N(0, 1), for errors of about e^-38.

    Moving the line of integration up by y costs e^{-2 pi y/h} and gains at most e^{(1 + slope^2) y^2/2}; y < pi/spread.
    """
    growth = 1 + slope * slope
    y = math.pi / spread
    free = math.sqrt(2 * math.pi**2 / (NATS * growth))  # at its best y = 2 pi/(h growth)
    return free if 2 * math.pi / (free * growth) < y else 2 * math.pi * y / (NATS + growth * y * y / 2)


def channel(orders: Orders, rho: float, alpha: float, gamma: float) -> tuple[Point, float, int]:
    """Return (V_hat, q_hat, m_hat), the training loss E[2 Phi(s xi) log(1 + e^-x)], and how many nodes it took."""
    V, spread, slope = orders.V, math.sqrt(orders.q), orders.m / math.sqrt(orders.gap)
    xi, weights = gaussian_nodes(spread, slope, V)
    x = proximal(spread * xi, V)
    f = expit(-x)
    mass = 2 * weights * ndtr(slope * xi)
    curvature = f * (1 - f)
    q_hat = alpha * float(mass @ f**2)
    V_hat = alpha * float(mass @ (curvature / (1 + V * curvature)))
    width = math.sqrt(orders.gap / rho)
    eta, weights = gaussian_nodes(width, 0.0, V)
    mean = float(weights @ expit(-proximal(width * eta, V)))
    m_hat = alpha * math.sqrt(2 / (math.pi * rho * gamma)) * mean
    return (V_hat, q_hat, m_hat), float(mass @ np.logaddexp(0.0, -x)), len(xi) + len(eta)


def moments(model: CovariateModel, penalty: float, hats: Point, residual: float) -> Orders:
    """Return V, q, m of hatted parameters: sums over the spectrum.  |m| < sqrt(rho q) holds for all of them (Cauchy-Schwarz)."""
    omega, diagonal, weights = model.arrays
    V_hat, q_hat, m_hat = hats
    resolvent = omega / (penalty + V_hat * omega)
    signal = weights * diagonal / omega
    noise = q_hat * float(weights @ resolvent**2)
    coherent = m_hat * m_hat * alignment_gap(model, resolvent, residual) * model.gamma
    return Orders(
        V=float(weights @ resolvent),
        q=noise + m_hat * m_hat * float(signal @ resolvent**2),
        m=m_hat / math.sqrt(model.gamma) * float(signal @ resolvent),
        gap=(model.explained + residual) * noise + coherent,
    )


def separability_threshold(model: CovariateModel, noise: float = 0.0) -> float:
    """Return the alpha = n/p below which a hyperplane separates the labels sign(nu + noise): rank/min_t E (Z - t U)_+^2.

    Z ~ N(0, 1), U = y V with V ~ N(0, 1) the part of nu/sqrt(rho) that the features explain: density 2 phi(u) Phi(s u), s^2 =
    explained/residual.  Infinite for a teacher without residual.  Below it the logistic loss has no minimum without penalty.

    Source: Candes, Sur (2018), arXiv:1804.09753.

    >>> from theoryck.theory.covariates import CovariateModel
    >>> round(separability_threshold(CovariateModel([1.0], [0.0], rho=1, gamma=1)), 8)  # labels at random: Cover's 2
    2.0
    """
    at = point_in_units(model, 1, 0, noise)
    residual = at.model.residual + at.noise
    if residual == 0:
        return math.inf
    slope = math.sqrt(at.model.explained / residual)
    if slope < 1e-8:  # a signal changes Cover's 2 by the square of the slope
        return 2 * model.rank

    def mean(log_ratio: float) -> float:
        # u = w/slope, t = ratio slope: all factors but the density of u change at w of order 1, however certain the labels.
        ratio = math.exp(log_ratio)
        step = 0.5 / (1 + 1 / slope + ratio)
        low, high = min(9.5, REACH * slope), min(9.5 / ratio, REACH * slope)
        w = step * np.arange(-math.ceil(low / step), math.ceil(high / step) + 1, dtype=float)
        a = -ratio * w
        square = (1 + a * a) * ndtr(a) + a * np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        return float(2 * step / slope / math.sqrt(2 * math.pi) * (np.exp(-((w / slope) ** 2) / 2) * ndtr(w)) @ square)

    # Convex in t; the ratio at the minimum rises with the slope, from sqrt(pi/8) = 0.627 to 1/sqrt(2) = 0.707.
    found = minimize_scalar(mean, bounds=(math.log(0.5), 0.0), method="bounded", options={"xatol": 1e-9})
    return model.rank / min(float(found.fun), 0.5)


def solve_logistic(
    model: CovariateModel, alpha: float, penalty: float, noise: float, start: Point | None = None
) -> LogisticSolution:
    """Return the fixed point for labels sign(nu + noise); ``start`` are hatted parameters of a point nearby.

    Raises NotConverged, which says where it stopped.
    """
    rho, residual = model.rho + noise, model.residual + noise
    threshold = separability_threshold(model, noise) if penalty == 0 else 0.0
    if alpha <= threshold:
        larger = "" if math.isinf(threshold) else "a larger alpha or "
        raise NotConverged(
            f"logistic regression without penalty has no minimum at alpha = {alpha:g}: up to alpha = {threshold:.6g} the data are "
            f"separable and the weights grow without bound; take {larger}penalty > 0"
        )

    fixed = _FixedPoint(model, alpha, rho, residual)
    if start is not None and min(start) > 0:
        try:
            return fixed.solve(penalty, np.log(start))
        except NotConverged:
            pass  # the other point was too far away
    try:
        return fixed.solve(penalty, _cold(model, alpha, penalty, noise))
    except NotConverged:
        if fixed.work > MOST_WORK:
            raise
        return _descending(fixed, penalty, noise)


@dataclass(slots=True)
class _FixedPoint:
    """The equations of one model and alpha, with the ``work`` done on them so far."""

    model: CovariateModel
    alpha: float
    rho: float
    residual: float
    work: float = 0.0

    def iterate(self, penalty: float, point: Array) -> tuple[Array, float]:
        """Return what one iteration adds to the logarithms of the hatted parameters, and the training loss."""
        orders = self.orders(penalty, point)
        if not orders.V < LARGEST_V:
            raise NotConverged(_told(orders, "V has grown beyond 1e12"))
        if not orders.gap > 0:
            raise NotConverged(_told(orders, "the labels have become certain to all digits"))
        if self.work > MOST_WORK:
            raise NotConverged(_told(orders, f"the nodes of quadrature became too many: {MOST_WORK:g} steps were spent on them"))
        hats, loss, nodes = channel(orders, self.rho, self.alpha, self.model.gamma)
        self.work += nodes * (2 + math.log1p(orders.V))
        if min(hats) <= 0:
            raise NotConverged(_told(orders, "the labels have become certain to all digits"))
        return np.log(hats) - point, loss

    def orders(self, penalty: float, point: Array) -> Orders:
        """Return V, q, m of the logarithms of hatted parameters."""
        return moments(self.model, penalty, _hats(point), self.residual)

    def solve(self, penalty: float, point: Array) -> LogisticSolution:
        """Return the fixed point by Newton's method from the logarithms ``point``."""

        def iterate(point: Array) -> tuple[Array, float]:
            return self.iterate(penalty, point)

        excess, loss = iterate(point)
        steps, moved, matrix = 0, math.inf, None
        while moved >= TOLERANCE:
            if steps == MAX_STEPS:
                why = f"step {steps} was {moved:.3g} long in log V_hat, log q_hat, log m_hat"
                raise NotConverged(_told(self.orders(penalty, point), why))
            trial, excess, loss, matrix = _advance(iterate, point, excess, matrix)
            moved, point, steps = abs(trial - point).max(), trial, steps + 1
        orders, again = self.orders(penalty, point), self.orders(penalty, point + excess)
        pairs = [(getattr(again, name), getattr(orders, name)) for name in ("V", "q", "m")]
        # m is exactly 0 where the features know nothing of the teacher.
        drift = max(abs(new - old) / old if old else abs(new) for new, old in pairs)
        return LogisticSolution(orders, _hats(point), loss, drift, steps)


def _descending(fixed: _FixedPoint, penalty: float, noise: float) -> LogisticSolution:
    """Solve from a large penalty down, each from the line through the last two in the logarithms; penalty 0 comes after 1e-8."""
    at = fixed.alpha * float(fixed.model.arrays[0].max())
    if not penalty < at:
        at = 100 * penalty
    last = penalty or 1e-8 * at
    found = fixed.solve(at, _cold(fixed.model, fixed.alpha, at, noise))
    points, steps, factor = [(math.log(at), np.log(found.hats))], found.steps, 0.1
    while at > penalty:
        target = penalty if at <= last else max(at * factor, last)
        (x, y), (x0, y0) = points[-1], points[max(len(points) - 2, 0)]
        slope = (y - y0) / (x - x0) if x != x0 else np.zeros(3)
        guess = y + slope * (math.log(target) - x) if target > 0 else y
        try:
            found = fixed.solve(target, guess)
        except NotConverged:
            if factor > 0.5 or target == 0 or fixed.work > MOST_WORK:
                raise
            factor = math.sqrt(factor)
            continue
        at, steps = target, steps + found.steps
        points = [points[-1], (math.log(at), np.log(found.hats))] if at > 0 else points
    return replace(found, steps=steps)


def _hats(point: Array) -> Point:
    a, b, c = np.exp(point).tolist()
    return a, b, c


def _told(orders: Orders, why: str) -> str:
    return (
        f"logistic regression was not solved: it stopped at V = {orders.V:.6g}, q = {orders.q:.6g}, m = {orders.m:.6g}, "
        f"where {why}; take a larger penalty, or an alpha that is farther from the threshold of separability"
    )


def _cold(model: CovariateModel, alpha: float, penalty: float, noise: float) -> Array:
    """Logarithms of hatted parameters where log(1 + e^-z) is replaced by its parabola at 0, (z - 2 y)^2/8 + c: 4 * penalty."""
    square = solve_square(model, alpha, 4 * max(penalty, 1e-3), noise, signs=True)
    return np.log([square.V_hat / 4, square.q_hat / 4, square.m_hat / 2])


def _jacobian(iterate: Iteration, point: Array, excess: Array) -> Array:
    """The derivatives of the excess, from differences."""
    h = 1e-6
    matrix = np.empty((3, 3))
    for i in range(3):
        shifted = point.copy()
        shifted[i] += h
        matrix[:, i] = (iterate(shifted)[0] - excess) / h
    return matrix


def _advance(iterate: Iteration, point: Array, excess: Array, matrix: Array | None) -> tuple[Array, Array, float, Array | None]:
    """Take a Newton step, or a part of it, after which the next step would be shorter; else one step of the plain iteration.

    Returns the new point, its excess and loss, and the matrix of derivatives for the next step: the last one with Broyden's
    correction while it serves well, None where it is to be computed anew.  Steps are compared, not residuals: along the direction
    in which the plain iteration is slow, residuals are small far from the solution, and a test on them would creep along it.
    """
    for known in (matrix, None) if matrix is not None else (None,):
        current = known if known is not None else _jacobian(iterate, point, excess)
        if np.linalg.matrix_rank(current, tol=1e-12) < 3:
            continue
        change = np.linalg.solve(current, -excess)
        length = abs(change).max()
        for factor in (1.0,) if known is not None else (1.0, 0.5, 0.25, 0.125):
            step = change * (factor if length <= LONGEST else factor * LONGEST / length)
            try:
                found, loss = iterate(point + step)
            except NotConverged:
                continue
            shorter = abs(np.linalg.solve(current, found)).max()
            # Below the tolerance the length of the next step is rounding.
            if length < TOLERANCE or shorter < (length if known is None else length / 4):
                serves = 0 < shorter < length / 4
                corrected = current + np.outer(found - excess - current @ step, step) / (step @ step) if serves else None
                return point + step, found, loss, corrected
    trial = point + excess
    return (trial, *iterate(trial), None)
