"""Ridge regression with spiked random features, the complete system of equations.

f(x) = p^(-1/2) sum_j a_j phi_j(x), min sum_i (y_i - f(x_i))^2 + lambda |a|^2, n = alpha d, p = beta d; kappa = <v, x>, y = g(gamma
kappa + (1 - gamma^2)^(1/2) h), h ~ N(0, 1).  Given kappa a feature acts like mu_0 + mu_1 <w_j, x> + mu_2 xi_j,
    mu_0 = E s(r kappa + c z),  mu_1 = E z s(r kappa + c z)/c,  mu_2^2 = E s(r kappa + c z)^2 - mu_0^2 - c^2 mu_1^2,
and with the law of the eigenvalues rho of W W^T (c^2 times Marchenko and Pastur), R = 1/(lambda + V^_1 rho + V^_2),
    V_1 = <rho R>,  V_2 = <R>,  V(kappa) = mu_1^2 V_1 + mu_2^2 V_2,  V^_i = (alpha/beta) E mu_i^2/(1 + V):
two equations for two numbers.  What is left is linear, b = y - mu_0 m - mu_1 kappa zeta - mu_1 psi h:
    zeta^ = (alpha/beta) E mu_1 kappa b/(1 + V),  psi^ = (alpha/beta) E mu_1 h y/(1 + V),
    zeta = beta c^2 zeta^ V_2,  psi = beta psi^ V_1,  m = E mu_0 (y - mu_1 kappa zeta)/(1 + V)/E mu_0^2/(1 + V),
    q^_i = (alpha/beta) E mu_i^2 (E_h b^2 + q - mu_1^2 psi^2)/(1 + V)^2,  q(kappa) = mu_1^2 q_1 + mu_2^2 q_2,
    q_1 = <rho R^2 (q^_1 rho + q^_2)> + beta (c zeta^)^2 <rho R^2> + beta psi^^2 <rho^2 R^2>,
    q_2 = <R^2 (q^_1 rho + q^_2)> + beta (c zeta^)^2 <R^2> + beta psi^^2 <rho R^2>,
    test error = E b^2 + E (q - mu_1^2 psi^2),   training error = E (E_h b^2 + q - mu_1^2 psi^2)/(1 + V)^2.
(psi^ is what E [mu_1 h b + mu_1^2 psi]/(1 + V) comes to, as E h^2 = 1.)

The two equations are solved by Newton's method in the logarithms of V_1 and V_2, from the solution at a larger lambda where it does
not arrive.  kappa is on a lattice, whose errors fall like exp(-c/h) or exp(-c/h^2) in its step h for analytic functions: one on
which every second point does as well to 1e-6 is good to 1e-12.  s and g are integrated on panels that end at their kinks and
resolve them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import image, kinks_of, nodes_of, panel_edges
from theoryck.quantities.arguments import positive
from theoryck.theory.giant_step.model import SpikedFeatures

Array = NDArray[np.float64]

REACH = 9.0
"""Standard deviations: e^(-81/2) = 3e-18."""

STEP, PANEL = 0.1, 0.5
"""Of the lattice in kappa, and the longest panel of 24 nodes, in standard deviations of what is integrated."""

HALVINGS = 9
AGREED = 1e-6
"""Of the step of the lattice, at most; and what it and every second point of it may differ by, relative."""

STEEPEST = 2000.0
"""Means given kappa vary over spread/shift: below 1/2000 the lattice and the panels are too long."""

AT_ONCE = 2**21
"""Pairs of kappa and a node that are held at once."""

RESIDUAL = 1e-13
"""Of the equations for V_1 and V_2, relative."""


@dataclass(frozen=True)
class SpikedLimit:
    """The solution: ``V1``, ``V2``, ``q1``, ``q2``, ``zeta``, ``psi``, ``m``, ``test_error``, ``train_error``; ``residual`` of V1,
    V2."""

    V1: float
    V2: float
    q1: float
    q2: float
    zeta: float
    psi: float
    m: float
    test_error: float
    train_error: float
    residual: float

    def agrees(self, other: SpikedLimit) -> bool:
        """Whether both have the same V, q and errors, to AGREED: zeta, psi and m enter the errors as far as they matter."""
        names = ("V1", "V2", "q1", "q2", "test_error", "train_error")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        return all(abs(a - b) <= AGREED * max(abs(a), 1e-6 * self.test_error) for a, b in pairs)


@dataclass(frozen=True)
class _Orders:
    """Everything as a function of kappa: weights, mu_0, mu_1, mu_2^2, and E_h y, E_h h y, E_h y^2."""

    weights: Array
    kappa: Array
    mu0: Array
    mu1: Array
    mu2: Array
    y: Array
    hy: Array
    yy: Array

    def mean(self, values: Array) -> float:
        return float(self.weights @ values)

    @property
    def coarser(self) -> _Orders:
        """Every second point, that of kappa = 0 among them."""
        every = slice(len(self.kappa) // 2 % 2, None, 2)
        parts = [values[every] for values in astuple(self)]
        return _Orders(parts[0] / parts[0].sum(), *parts[1:])


def _images(function: Activation, kappa: Array, shift: float, spread: float) -> tuple[Array, Array, Array]:
    """E f(shift kappa + spread z) times 1, z and f, at every kappa: panels in the argument that end at the kinks of f."""
    reach, root = REACH * (abs(shift) + spread), math.hypot(shift, spread)
    # Panels on which f of the whole field is resolved, cut to what the density of z asks for.
    breaks = [*kinks_of(function), *(root * image(function, root**2).edges)]
    t, weights = nodes_of(panel_edges(sorted(set(breaks)), -reach, reach, PANEL * min(spread, max(1.0, root / 30))))
    values = function(t)
    weights = weights / spread / math.sqrt(2 * math.pi)

    def means(some: Array, nodes: slice) -> Array:
        z = (t[nodes] - shift * some[:, None]) / spread
        density = np.exp(-z * z / 2) * weights[nodes]
        return np.stack([density @ values[nodes], (z * density) @ values[nodes], density @ values[nodes] ** 2])

    if len(kappa) * len(t) <= AT_ONCE:
        parts = [means(kappa, slice(None))]
    else:  # what is within reach of a few kappa at a time
        few = max(min(math.ceil(REACH * spread / (abs(shift) * (kappa[1] - kappa[0]))), AT_ONCE // len(t)), 1)
        parts = []
        for some in np.split(kappa, range(few, len(kappa), few)):
            ends = np.sort(shift * some[[0, -1]]) + REACH * spread * np.array([-1, 1])
            parts.append(means(some, slice(*np.searchsorted(t, ends))))
    one, tilted, square = np.concatenate(parts, axis=1)
    return one, tilted, square


@functools.lru_cache(maxsize=16)
def _orders(student: Activation, target: Activation, spike: float, bulk: float, gamma: float, halving: int = 0) -> _Orders:
    step = STEP / 2**halving
    count = math.ceil(REACH / step)
    kappa: Array = np.linspace(-count * step, count * step, 2 * count + 1)
    weights = np.exp(-kappa * kappa / 2)
    rest = math.sqrt(1 - gamma * gamma)
    first, tilted, square = _images(student, kappa, spike, bulk)
    y, hy, yy = _images(target, kappa, gamma, rest)
    noise = np.maximum(square - first**2 - tilted**2, 0.0)
    # A linear feature has none of it: what is left is rounding.
    noise = np.where(noise > 1e-13 * square, noise, 0.0)
    return _Orders(weights / weights.sum(), kappa, first, tilted / bulk, noise, y, hy, yy)


@dataclass(frozen=True)
class _Spectrum:
    """<R>, <rho R>, and <R^2>, <rho R^2>, <rho^2 R^2>."""

    r: float
    rho_r: float
    rr: float
    rho_rr: float
    rho2_rr: float


def _spectrum(penalty: float, first: float, second: float, beta: float, bulk: float) -> _Spectrum:
    """Means of R = 1/(lambda + V^_1 rho + V^_2) over c^2 times the law of Marchenko and Pastur of ratio beta, in closed form.

    With x = (lambda + V^_2)/(c^2 V^_1) the transform G = <1/(x + rho)> solves beta x G^2 + (x + 1 - beta) G = 1, and 1 - x G =
    G/(1 + beta G).
    """
    scale, base = first * bulk**2, penalty + second
    if scale < 1e-14 * base:  # no linear part: R is a constant, rho has the moments 1 and 1 + beta
        return _Spectrum(1 / base, bulk**2 / base, base**-2, bulk**2 / base**2, bulk**4 * (1 + beta) / base**2)
    x = base / scale
    t = x + 1 - beta
    root = math.sqrt(t * t + 4 * beta * x)
    g = 2 / (t + root) if t > 0 else (root - t) / (2 * beta * x)
    share = g / (1 + beta * g)
    square = (beta * g * g + g) / root  # <1/(x + rho)^2> = -dG/dx
    # <rho/(x + rho)^2> = -d(1 - x G)/dx, whose derivative in G is 1/(1 + beta G)^2
    mixed = square / (1 + beta * g) ** 2
    # <rho^2/(x + rho)^2> = <rho/(x + rho)> - x <rho/(x + rho)^2>
    both = share - x * mixed
    return _Spectrum(g / scale, share / first, square / scale**2, mixed * bulk**2 / scale**2, both / first**2)


def _hats(orders: _Orders, ratio: float, v1: float, v2: float) -> tuple[float, float, Array]:
    """V^_1, V^_2 and 1 + V(kappa)."""
    grown = 1 + orders.mu1**2 * v1 + orders.mu2 * v2
    return ratio * orders.mean(orders.mu1**2 / grown), ratio * orders.mean(orders.mu2 / grown), grown


def _solved(orders: _Orders, features: SpikedFeatures, alpha: float, penalty: float, start: Array) -> tuple[Array, float] | None:
    """Newton's method in (log V_1, log V_2), steps of at most 2 and halved until the residual falls; None where it stops."""
    ratio = alpha / features.beta

    def gap(logs: Array) -> Array:
        first, second, _ = _hats(orders, ratio, *np.exp(logs))
        found = _spectrum(penalty, first, second, features.beta, features.bulk)
        return np.log([found.rho_r, found.r]) - logs

    logs, now = start, gap(start)
    for _ in range(100):
        size = float(np.abs(now).max())
        if size < RESIDUAL:
            return np.exp(logs), size
        columns = [(gap(logs + shift) - gap(logs - shift)) / 2e-5 for shift in (np.array([1e-5, 0.0]), np.array([0.0, 1e-5]))]
        step = -np.linalg.solve(np.stack(columns, axis=1), now)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        for _ in range(30):
            moved = gap(logs + step)
            if float(np.abs(moved).max()) < size:
                break
            step = step / 2
        else:
            # Rounding: near the solution nothing is gained any more.
            return (np.exp(logs), size) if size < 1e-11 else None
        logs, now = logs + step, moved
    return None


def spiked_limit(features: SpikedFeatures, alpha: float, penalty: float) -> SpikedLimit:
    """Return the errors of ridge regression with spiked random features at n = ``alpha`` d and lambda = ``penalty``, d -> infinity.

    Raises QuantityError for a bad argument, NotConverged where the equations are not solved to 1e-11, or not resolved: with a spike
    of thousands of times the bulk, or gamma within 1e-7 of 1.

    >>> features = SpikedFeatures("tanh", "sign(x)", beta=1.0, spike=1.0, gamma=0.6)
    >>> found = spiked_limit(features, alpha=2.0, penalty=0.1)
    >>> found.train_error < found.test_error < 1, found.residual < 1e-11
    (True, True)
    """
    if not isinstance(features, SpikedFeatures):
        raise TypeError(f"features must be a SpikedFeatures, got {features!r}")
    alpha, penalty = positive(alpha, "alpha"), positive(penalty, "penalty")
    rest = math.sqrt(1 - features.gamma**2)
    steepest = max(abs(features.spike) / features.bulk, features.gamma / rest)
    if steepest > STEEPEST:
        raise NotConverged(
            f"features and labels given <v, x> must vary over 1/{STEEPEST:g} of it at least, got spike/bulk = "
            f"{abs(features.spike) / features.bulk:.6g} and gamma/(1 - gamma^2)^(1/2) = {features.gamma / rest:.6g}: beyond, s and "
            "g are functions of <v, x> alone; take a smaller spike, a larger bulk or a smaller gamma"
        )
    start, first = None, math.ceil(math.log2(max(steepest / 8, 1.0)))
    for halving in range(first, HALVINGS + 1):
        orders = _orders(features.student, features.target, features.spike, features.bulk, features.gamma, halving)
        now = _at(orders, features, alpha, penalty, start)
        before = now and _at(orders.coarser, features, alpha, penalty, np.log([now.V1, now.V2]))
        if now and before and now.agrees(before):
            return now
        if now is None and halving > first:  # Newton's method stops on two lattices: the next has nothing to tell
            break
        start = np.log([now.V1, now.V2]) if now else None
    raise NotConverged(
        f"the equations of {features} were not solved at alpha = {alpha:g}, penalty = {penalty:g}: take a larger penalty, a "
        "smaller spike, or functions that vary less"
    )


def _at(orders: _Orders, features: SpikedFeatures, alpha: float, penalty: float, near: Array | None) -> SpikedLimit | None:
    """The solution on one lattice, from one that is ``near`` if that leads to it; None where there is none."""
    found = None if near is None else _solved(orders, features, alpha, penalty, near)
    # At a large penalty V_1 = c^2/lambda and V_2 = 1/lambda; from there down, further at a time where Newton's method follows.
    for path in (
        (penalty,),
        np.geomspace(max(penalty, 1.0) * 1e3, penalty, 12),
        np.geomspace(max(penalty, 1.0) * 1e4, penalty, 120),
    ):
        if found is not None:
            break
        start = np.log([features.bulk**2 / path[0], 1 / path[0]])
        for value in path:
            found = _solved(orders, features, alpha, float(value), start)
            if found is None:
                break
            start = np.log(found[0])
    if found is None:
        return None
    (v1, v2), residual = found
    return _rest(orders, features, alpha / features.beta, penalty, (float(v1), float(v2)), residual)


def _rest(
    orders: _Orders, features: SpikedFeatures, ratio: float, penalty: float, v: tuple[float, float], residual: float
) -> SpikedLimit:
    """What follows from V_1 and V_2 linearly."""
    first, second, grown = _hats(orders, ratio, *v)
    s, beta, mean = _spectrum(penalty, first, second, features.beta, features.bulk), features.beta, orders.mean
    mu0, mu1, kappa = orders.mu0, orders.mu1, orders.kappa
    psi_hat = ratio * mean(mu1 * orders.hy / grown)
    psi = beta * psi_hat * s.rho_r
    weight = beta * features.bulk**2 * ratio * s.r
    cross = mean(mu0 * mu1 * kappa / grown)
    own = mean(mu0**2 / grown)
    left, right = 1 + weight * mean((mu1 * kappa) ** 2 / grown), weight * mean(mu1 * kappa * orders.y / grown)
    if own > 0:
        target = mean(mu0 * orders.y / grown)
        zeta = (right - weight * cross * target / own) / (left - weight * cross**2 / own)
        m = (target - cross * zeta) / own
    else:  # mu_0 = 0: no feature has a mean
        zeta, m = right / left, 0.0
    zeta_hat = zeta / (beta * features.bulk * s.r)  # times c
    fitted, tilt = mu0 * m + mu1 * kappa * zeta, mu1 * psi
    # E_h b^2 - mu_1^2 psi^2, to which q is added
    error = orders.yy - 2 * fitted * orders.y + fitted**2 - 2 * tilt * orders.hy
    squares = np.stack([mu1**2, orders.mu2])
    hats = ratio * np.array([mean(square * error / grown**2) for square in squares])
    feedback = ratio * np.array([[mean(a * b / grown**2) for b in squares] for a in squares])
    spread = np.array([[s.rho2_rr, s.rho_rr], [s.rho_rr, s.rr]])
    source = beta * np.array([zeta_hat**2 * s.rho_rr + psi_hat**2 * s.rho2_rr, zeta_hat**2 * s.rr + psi_hat**2 * s.rho_rr])
    q1, q2 = np.linalg.solve(np.eye(2) - spread @ feedback, spread @ hats + source)
    total = error + mu1**2 * q1 + orders.mu2 * q2
    return SpikedLimit(*v, float(q1), float(q2), float(zeta), float(psi), float(m), mean(total), mean(total / grown**2), residual)
