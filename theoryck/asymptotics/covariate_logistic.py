"""Logistic regression in the Gaussian covariate model: a fixed point in three unknowns, by Newton's method in their logarithms.

For y = sign(nu), omega = sqrt(q) xi, V* = rho - m^2/q the channel needs means over xi ~ N(0, 1) of functions of the proximal point
x = prox_{V log(1 + e^-x)}(omega) for y = 1; the other label is its mirror image.  With f = (x - omega)/V = 1/(1 + e^x):
    q_hat = alpha E[2 Phi(s xi) f^2],   V_hat = alpha E[2 Phi(s xi) f(1-f)/(1 + V f(1-f))],   s = m/sqrt(rho q - m^2),
    m_hat = (alpha/sqrt(gamma)) sqrt(2/(pi rho)) E f(omega = sqrt((rho q - m^2)/rho) xi),
the last by doing the integral over the teacher's field first.

Quadrature.  f is analytic in omega for |Im omega| < pi, whatever V: its branch points, where 1 + V f(1-f) = 0, have x = i pi plus a
real number.  Hence the trapezoidal rule with step h errs by about exp(-2 pi^2/(h sqrt(q))) from f and exp(-2 pi^2/(h^2 (1 + s^2)))
from Phi(s xi), and a fixed number of Gauss-Hermite nodes would lose all digits for large q or s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, ndtr

from theoryck.asymptotics.covariate_model import Array, CovariateModel
from theoryck.asymptotics.covariate_square import alignment_gap, solve_square
from theoryck.asymptotics.numbers import NotConverged

TOLERANCE = 1e-12
"""Of the last Newton step, in the logarithms of the three unknowns: the digits of the quadrature allow no less at large q."""

MAX_STEPS = 100
PROX_STEPS = 200
REACH = 8.6
"""Where the density of N(0, 1) falls below the rounding of its maximum."""

NATS = 38.0
"""-log of the error that the steps of the quadrature are made for, 3e-17."""

MOST_NODES = 2**16
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


def _grid(step: float) -> tuple[Array, Array]:
    count = math.ceil(REACH / step)
    if count > MOST_NODES:
        raise NotConverged(
            f"{2 * count + 1} nodes of quadrature were needed: the weights have grown too large or the labels too certain; "
            "take a larger penalty, or a smaller alpha"
        )
    nodes = step * np.arange(-count, count + 1, dtype=float)
    return nodes, np.exp(-(nodes**2) / 2) * (step / math.sqrt(2 * math.pi))


def analytic_step(spread: float, slope: float) -> float:
    """Return the step of the trapezoidal rule for f(spread xi) Phi(slope xi) under N(0, 1), for errors of about e^-38.

    Moving the line of integration up by y costs e^{-2 pi y/h} and gains at most e^{(1 + slope^2) y^2/2}; y < pi/spread.
    """
    growth = 1 + slope * slope
    y = math.pi / spread
    free = math.sqrt(2 * math.pi**2 / (NATS * growth))  # at its best y = 2 pi/(h growth)
    return free if 2 * math.pi / (free * growth) < y else 2 * math.pi * y / (NATS + growth * y * y / 2)


def channel(orders: Orders, rho: float, alpha: float, gamma: float) -> tuple[Point, float]:
    """Return (V_hat, q_hat, m_hat) and the training loss E[2 Phi(s xi) log(1 + e^-x)]."""
    V, spread, slope = orders.V, math.sqrt(orders.q), orders.m / math.sqrt(orders.gap)
    xi, weights = _grid(analytic_step(spread, slope))
    x = proximal(spread * xi, V)
    f = expit(-x)
    mass = 2 * weights * ndtr(slope * xi)
    curvature = f * (1 - f)
    q_hat = alpha * float(mass @ f**2)
    V_hat = alpha * float(mass @ (curvature / (1 + V * curvature)))
    width = math.sqrt(orders.gap / rho)
    eta, weights = _grid(analytic_step(width, 0.0))
    mean = float(weights @ expit(-proximal(width * eta, V)))
    m_hat = alpha * math.sqrt(2 / (math.pi * rho * gamma)) * mean
    return (V_hat, q_hat, m_hat), float(mass @ np.logaddexp(0.0, -x))


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

    >>> from theoryck.asymptotics.covariate_model import CovariateModel
    >>> round(separability_threshold(CovariateModel([1.0], [0.0], rho=1, gamma=1)), 8)  # labels at random: Cover's 2
    2.0
    """
    residual = model.residual + noise
    if residual == 0:
        return math.inf
    slope = math.sqrt(model.explained / residual)

    def mean(log_t: float) -> float:
        t = math.exp(log_t)
        u, weights = _grid(0.5 / (1 + slope + t))
        a = -t * u
        square = (1 + a * a) * ndtr(a) + a * np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        return float(2 * weights * ndtr(slope * u) @ square)

    # Convex in t, with its minimum at 0 where there is no signal and near 1/sqrt(residual) where there is little noise.
    found = minimize_scalar(mean, bounds=(-20.0, math.log(4 * (1 + slope))), method="bounded", options={"xatol": 1e-9})
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
        raise NotConverged(
            f"logistic regression without penalty has no minimum at alpha = {alpha:g}: up to alpha = {threshold:.6g} the data are "
            "separable and the weights grow without bound; take a larger alpha or penalty > 0"
        )

    def iterate(point: Array) -> tuple[Array, float]:
        orders = moments(model, penalty, _hats(point), residual)
        if not orders.V < LARGEST_V:
            raise NotConverged(_told(orders, "V has grown beyond 1e12"))
        hats, loss = channel(orders, rho, alpha, model.gamma)
        if min(hats) <= 0:
            raise NotConverged(_told(orders, "the labels have become certain to all digits"))
        return np.log(hats) - point, loss

    point = np.log(start if start is not None else _cold(model, alpha, penalty, noise))
    excess, loss = iterate(point)
    steps, moved, matrix = 0, math.inf, None
    while moved >= TOLERANCE:
        if steps == MAX_STEPS:
            orders = moments(model, penalty, _hats(point), residual)
            raise NotConverged(_told(orders, f"step {steps} was {moved:.3g} long in log V_hat, log q_hat, log m_hat"))
        trial, excess, loss, matrix = _advance(iterate, point, excess, matrix)
        moved, point, steps = abs(trial - point).max(), trial, steps + 1
    orders = moments(model, penalty, _hats(point), residual)
    again = moments(model, penalty, _hats(point + excess), residual)
    pairs = [(getattr(again, name), getattr(orders, name)) for name in ("V", "q", "m")]
    # m is exactly 0 where the features know nothing of the teacher.
    drift = max(abs(new - old) / old if old else abs(new) for new, old in pairs)
    return LogisticSolution(orders, _hats(point), loss, drift, steps)


def _hats(point: Array) -> Point:
    a, b, c = np.exp(point).tolist()
    return a, b, c


def _told(orders: Orders, why: str) -> str:
    return (
        f"logistic regression was not solved: it stopped at V = {orders.V:.6g}, q = {orders.q:.6g}, m = {orders.m:.6g}, "
        f"where {why}; take a larger penalty, or come nearer by covariate_path"
    )


def _cold(model: CovariateModel, alpha: float, penalty: float, noise: float) -> Point:
    """Hatted parameters where log(1 + e^-z) is replaced by its parabola at 0, (z - 2 y)^2/8 + c: square loss, 4 * penalty."""
    square = solve_square(model, alpha, 4 * max(penalty, 1e-3), noise, signs=True)
    return square.V_hat / 4, square.q_hat / 4, square.m_hat / 2


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
