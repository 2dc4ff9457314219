"""The Gaussian covariate model in the limit: errors of ridge, square-loss and logistic regression for any spectra.

Setting.   n = alpha p samples, labels of nu = theta.x'/sqrt(k), features v in R^p, all jointly Gaussian
           (:class:`~theoryck.theory.covariates.model.CovariateModel`); w minimises  sum_mu loss(y_mu, w.v_mu/sqrt(p)) +
           (lambda/2) |w|^2,  lambda the penalty,  with the losses
               "ridge"           (y - z)^2/2,       y = nu + noise
               "classification"  (y - z)^2/2,       y = sign(nu + noise)
               "logistic"        log(1 + e^-yz),    y = sign(nu + noise)
           Below rho is the variance of nu + noise: what the model calls rho, and the variance of the noise.
Order parameters.  V = <omega/(lambda + V_hat omega)>,  q = <(q_hat omega + m_hat^2 t) omega/(lambda + V_hat omega)^2>,
                   m = (m_hat/sqrt(gamma)) <t/(lambda + V_hat omega)>: q = w.Omega.w/p is the second moment of the
                   prediction z = w.v/sqrt(p), m its covariance with nu.

Square loss.  With kappa = lambda/V_hat and df_j = <(omega/(kappa + omega))^j> the equations V = <omega/(lambda + V_hat omega)>,
V_hat = alpha/(1 + V) become  kappa (alpha - df_1(kappa)) = lambda.  Its left side is convex in kappa, zero at 0, so the root is
unique and Newton's iteration from above decreases to it.  What remains is linear in q:
    m = (c/gamma) <t/(kappa + omega)>,   E = E_0/(1 - df_2/alpha),   q = (E/alpha) df_2 + (c^2/gamma) <t omega/(kappa + omega)^2>,
    E_0 = E y^2 - (c^2/gamma) <t (2 kappa + omega)/(kappa + omega)^2>,
E the mean of (y - z)^2 for a new label.  For ridge regression c = 1 and E y^2 = rho; for signs c = sqrt(2/(pi rho)) and E y^2 = 1.
All differences of near numbers are written as sums of positive terms, so that small errors keep their digits.

Logistic loss.  Newton's method in the logarithms of three unknowns.  Given z = sqrt(q) xi the field with its noise has the variance
rho - m^2/q, and the channel needs means over xi ~ N(0, 1) of functions of the proximal point x = prox_{V log(1 + e^-x)}(omega),
omega = sqrt(q) xi, for y = 1; the other label is its mirror image.  With f = (x - omega)/V = 1/(1 + e^x):
    q_hat = alpha E[2 Phi(s xi) f^2],   V_hat = alpha E[2 Phi(s xi) f(1-f)/(1 + V f(1-f))],   s = m/sqrt(rho q - m^2),
    m_hat = (alpha/sqrt(gamma)) sqrt(2/(pi rho)) E f(omega = sqrt((rho q - m^2)/rho) xi),
the last by doing the integral over the teacher's field first.

Quadrature.  f is analytic in omega for |Im omega| < pi, whatever V: its branch points, where 1 + V f(1-f) = 0, have x = i pi plus a
real number.  Hence the trapezoidal rule with step h errs by about exp(-2 pi^2/(h sqrt(q))) from f and exp(-2 pi^2/(h^2 (1 + s^2)))
from Phi(s xi), and a fixed number of Gauss-Hermite nodes would lose all digits for large q or s.  Where V is small and q or s large
all is decided near xi = 0, and a grid that is even in asinh(c xi) needs fewer nodes.

Fluctuations.  Given the features the errors of ridge regression are quadratic forms of Gaussians (teacher and noise), whose
variances are traces; the means given the features fluctuate by O(1/n) only, so the limit is that of the traces alone, an integral
over the Marchenko-Pastur law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, ndtr

from theoryck.numerics.errors import NotConverged
from theoryck.quantities.arguments import positive
from theoryck.theory.covariates.model import Array, CovariateModel, marchenko_pastur_nodes

TASKS = ("ridge", "classification", "logistic")

KAPPA_STEPS = 400
"""A step at least halves the distance in scale: more would be needed only beyond the range of floats."""

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
class CovariateLimit:
    """The limit at one point.

    ``test_error`` is the mean-square error E (y - z)^2 of a new label for ridge, label noise included, and the error rate
    P(sign(z) != y) = arccos(m/sqrt((rho + noise) q))/pi for the two classifications, noise the variance of what is added to nu.
    ``train_loss`` is the mean over the samples, without the penalty: of (y - z)^2 for ridge (no 1/2), of (y - z)^2/4 for
    square-loss classification, of log(1 + e^-yz) for logistic.  ``residual`` is the largest relative change of V, q, m under one
    more iteration of the fixed-point equations.

    >>> limit = covariate_limit(CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1), alpha=0.5, penalty=0.1)
    >>> limit.task, round(limit.test_error, 6), limit.residual < 1e-12
    ('ridge', 0.517261, True)
    """

    task: str
    alpha: float
    penalty: float
    V: float
    q: float
    m: float
    V_hat: float
    q_hat: float
    m_hat: float
    test_error: float
    train_loss: float
    residual: float


def covariate_limit(
    model: CovariateModel,
    alpha: float,
    penalty: float,
    task: str = "ridge",
    *,
    noise: float = 0.0,
) -> CovariateLimit:
    """Return errors and order parameters at n = ``alpha`` p with ``penalty`` lambda, for one of the three tasks.

    What is minimised is sum_mu loss(y_mu, w.v_mu/sqrt(p)) + (lambda/2) |w|^2: (y - z)^2/2 for y = nu + noise ("ridge") or y =
    sign(nu + noise) ("classification"), log(1 + e^(-y z)) for y = sign(nu + noise) ("logistic").
    ``noise`` is the variance of Gaussian noise added to nu before the label is made.  For the square losses penalty 0 is the limit
    of small penalties (V is then infinite for alpha below the rank of Omega over p, where the data are interpolated).  Raises
    ValueError for bad arguments and :class:`~theoryck.numerics.errors.NotConverged`, saying where it stopped, where there is no
    finite solution: square loss without penalty at alpha equal to that rank, logistic loss without penalty where the data are
    separable (:func:`separability_threshold`).

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(covariate_limit(isotropic, 0.5, 0.1).test_error, 12)
    0.517261241912
    >>> round(covariate_limit(isotropic, 2.0, 0.1, "logistic").test_error, 4)
    0.1797
    """
    alpha, penalty, noise = _arguments(model, alpha, penalty, noise)
    if not isinstance(task, str) or task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    if task == "logistic":
        return solve_logistic(model, alpha, penalty, noise)
    return solve_square(model, alpha, penalty, noise, task)


def _arguments(model: Any, alpha: Any, penalty: Any, noise: Any) -> tuple[float, float, float]:
    if not isinstance(model, CovariateModel):
        raise ValueError(f"model must be a CovariateModel, got {model!r}")
    return positive(alpha, "alpha"), positive(penalty, "penalty", zero=True), positive(noise, "noise", zero=True)


# Square loss -------------------------------------------------------------------------------------------------------------------


def solve_kappa(model: CovariateModel, alpha: float, penalty: float) -> float:
    """Return the root kappa of kappa (alpha - df_1(kappa)) = penalty; 0 where the penalty is 0 and alpha exceeds the rank.

    Raises NotConverged, which says where it stopped.
    """
    omega, _, weights = model.arrays
    # alpha - df_1 = excess + <kappa/(kappa + omega)>: for alpha near the rank no digits cancel; for small alpha as it stands.
    excess, small = alpha - model.rank, alpha < model.rank / 2
    if penalty == 0 and excess >= 0:
        return 0.0
    above = (penalty + float(weights @ omega)) / alpha
    if excess > 0:
        above = min(above, penalty / excess)
    kappa, last = above, math.inf
    for step in range(1, KAPPA_STEPS + 1):
        share, kept = kappa / (kappa + omega), omega / (kappa + omega)
        value = kappa * (alpha - float(weights @ kept) if small else excess + float(weights @ share)) - penalty
        slope = alpha - float(weights @ kept**2) if small else excess + float(weights @ (share * (1 + kept)))
        if not slope > 0:  # left of the minimum of the convex left side: start again from the bound
            kappa, last = above, math.inf
            continue
        change = value / slope
        # From the second step on the iteration decreases; when it no longer does, rounding is all that is left.
        if abs(change) <= 4e-16 * kappa or (step > 2 and value <= 0) or change >= last:
            return kappa - change
        last = change if change > 0 else math.inf
        kappa = kappa - change if kappa > change else kappa / 2
    raise NotConverged(
        f"kappa was not reached in {KAPPA_STEPS} steps: it stopped at {kappa:.6g} with a residual {value:.3g}: "
        "take a larger penalty"
    )


def solve_square(model: CovariateModel, alpha: float, penalty: float, noise: float, task: str) -> CovariateLimit:
    """Return the limit for labels y = nu + noise, or their signs; NotConverged at alpha = rank without penalty."""
    signs = task == "classification"
    omega, diagonal, weights = model.arrays
    kappa = solve_kappa(model, alpha, penalty)
    rho, residual, gamma = model.rho + noise, model.residual + noise, model.gamma
    c = math.sqrt(2 / (math.pi * rho)) if signs else 1.0
    kept = omega / (kappa + omega)
    lost = kappa / (kappa + omega)
    df1, df2 = float(weights @ kept), float(weights @ kept**2)
    # 1 - df_2/alpha with alpha - df_2 = (alpha - rank) + <1 - kept^2>
    small = alpha < model.rank / 2
    fraction = (alpha - df2 if small else (alpha - model.rank) + float(weights @ (lost * (1 + kept)))) / alpha
    if not fraction > 0:
        raise NotConverged(
            f"the error is infinite at alpha = {alpha:g}, the rank of Omega over p, without penalty: take penalty > 0, or another "
            "alpha"
        )
    signal = diagonal / omega
    unexplained = (1 - 2 / math.pi if signs else 0.0) + c * c * (residual + float(weights @ (signal * lost**2)) / gamma)
    error = unexplained / fraction
    m = c / gamma * float(weights @ (signal * kept))
    q = error / alpha * df2 + c * c / gamma * float(weights @ (signal * kept**2))
    V_hat = penalty / kappa if penalty > 0 else alpha - df1 if kappa == 0 else 0.0
    shrink = V_hat / alpha
    V, m_hat = df1 / V_hat if V_hat > 0 else math.inf, c * V_hat / math.sqrt(gamma)
    gap = rho * error / alpha * df2 + c * c * alignment_gap(model, kept, residual)
    train = error * shrink**2
    drift = 0.0
    if penalty > 0:
        again_V_hat = alpha / (1 + V)
        hats = (again_V_hat, alpha * error / (1 + V) ** 2, m_hat * again_V_hat / V_hat)
        drift = _drift(moments(model, penalty, hats, residual), Orders(V, q, m, gap))
    return CovariateLimit(
        task=task,
        alpha=alpha,
        penalty=penalty,
        V=V,
        q=q,
        m=m,
        V_hat=V_hat,
        q_hat=error * shrink * shrink * alpha,
        m_hat=m_hat,
        test_error=_angle(m, gap) if signs else error,
        train_loss=train / 4 if signs else train,
        residual=drift,
    )


def alignment_gap(model: CovariateModel, kept: Array, residual: float) -> float:
    """Return (1/gamma) [rho <(t/omega) x^2> - (1/gamma) <(t/omega) x>^2], x = ``kept``, rho = residual + (1/gamma) <t/omega>.

    It is what the coherent part of w adds to rho q - m^2; Cauchy-Schwarz is an identity for the variance of x.
    """
    omega, diagonal, weights = model.arrays
    mass = weights * diagonal / omega
    total = float(mass.sum())
    if total == 0:
        return 0.0
    centre = float(mass @ kept) / total
    spread = float(mass @ (kept - centre) ** 2)
    return (residual * float(mass @ kept**2) + total * spread / model.gamma) / model.gamma


@dataclass(frozen=True, slots=True)
class Orders:
    """V, q, m and rho q - m^2, computed without a difference."""

    V: float
    q: float
    m: float
    gap: float


def _drift(again: Orders, orders: Orders) -> float:
    """The largest relative change of V, q, m; m is exactly 0 where the features know nothing of the teacher."""
    pairs = [(getattr(again, name), getattr(orders, name)) for name in ("V", "q", "m")]
    return max(abs(new - old) / old if old else abs(new) for new, old in pairs)


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


def _angle(m: float, gap: float) -> float:
    """arccos(m/sqrt(rho q))/pi with gap = rho q - m^2, to all digits also where it is small."""
    return math.atan2(math.sqrt(gap), m) / math.pi


# Logistic loss -----------------------------------------------------------------------------------------------------------------


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


def separability_threshold(model: CovariateModel, noise: float = 0.0) -> float:
    """Return the alpha = n/p below which a hyperplane separates the labels sign(nu + noise): rank/min_t E (Z - t U)_+^2.

    Z ~ N(0, 1), U = y V with V ~ N(0, 1) the part of nu/sqrt(rho) that the features explain: density 2 phi(u) Phi(s u), s^2 =
    explained/residual.  Infinite for a teacher without residual.  Below it the logistic loss has no minimum without penalty.

    Source: Candes, Sur (2018), arXiv:1804.09753.

    >>> from theoryck.theory.covariates import CovariateModel
    >>> round(separability_threshold(CovariateModel([1.0], [0.0], rho=1, gamma=1)), 8)  # labels at random: Cover's 2
    2.0
    """
    _, _, noise = _arguments(model, 1, 0, noise)
    residual = model.residual + noise
    if residual == 0:
        return math.inf
    slope = math.sqrt(model.explained / residual)
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


def solve_logistic(model: CovariateModel, alpha: float, penalty: float, noise: float) -> CovariateLimit:
    """Return the limit for labels sign(nu + noise); NotConverged, which says where it stopped."""
    rho, residual = model.rho + noise, model.residual + noise
    threshold = separability_threshold(model, noise) if penalty == 0 else 0.0
    if alpha <= threshold:
        larger = "" if math.isinf(threshold) else "a larger alpha or "
        raise NotConverged(
            f"logistic regression without penalty has no minimum at alpha = {alpha:g}: up to alpha = {threshold:.6g} the data are "
            f"separable and the weights grow without bound; take {larger}penalty > 0"
        )

    fixed = _FixedPoint(model, alpha, rho, residual)
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

    def solve(self, penalty: float, point: Array) -> CovariateLimit:
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
        V_hat, q_hat, m_hat = _hats(point)
        return CovariateLimit(
            task="logistic",
            alpha=self.alpha,
            penalty=penalty,
            V=orders.V,
            q=orders.q,
            m=orders.m,
            V_hat=V_hat,
            q_hat=q_hat,
            m_hat=m_hat,
            test_error=_angle(orders.m, orders.gap),
            train_loss=loss,
            residual=_drift(again, orders),
        )


def _descending(fixed: _FixedPoint, penalty: float, noise: float) -> CovariateLimit:
    """Solve from a large penalty down, each from the line through the last two in the logarithms; penalty 0 comes after 1e-8."""
    at = fixed.alpha * float(fixed.model.arrays[0].max())
    if not penalty < at:
        at = 100 * penalty
    last = penalty or 1e-8 * at
    found = fixed.solve(at, _cold(fixed.model, fixed.alpha, at, noise))
    points, factor = [(math.log(at), _logs(found))], 0.1
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
        at = target
        points = [points[-1], (math.log(at), _logs(found))] if at > 0 else points
    return found


def _logs(limit: CovariateLimit) -> Array:
    return np.log([limit.V_hat, limit.q_hat, limit.m_hat])


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
    largest = max(model.omega)
    least = 1e-3 * (1.0 if 1e-8 <= largest <= 1e8 else largest)
    square = solve_square(model, alpha, 4 * max(penalty, least), noise, "classification")
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


# Fluctuations ------------------------------------------------------------------------------------------------------------------


def error_variance_limit(
    model: CovariateModel, alpha: float, penalty: float, *, noise: float = 0.0, what: str = "test_error"
) -> float:
    """Return lim n Var of the "test_error" or "train_loss" of ridge regression with one eigenvalue omega, teacher and noise drawn.

    With x the eigenvalues of V^T V/p for the n x p features V, <> their mean, s = t/(gamma omega^2), r the residual variance
    with the noise, lambda the penalty:
        test    2 alpha omega^2 <(lambda^2 s + r x)^2/(x + lambda)^4>
        train   2 lambda^4 <(s x + r)^2/(x + lambda)^4>  over the eigenvalues of V V^T/p.
    Raises ValueError for a model of several eigenvalues and for bad arguments.

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(error_variance_limit(isotropic, 1e-6, 1.0, what="test_error") / 2e-6, 4)  # w = 0: the error is |theta|^2/p
    1.0
    """
    alpha, penalty, noise = _arguments(model, alpha, penalty, noise)
    positive(penalty, "penalty")
    if not model.isotropic:
        raise ValueError(f"model must be isotropic, one eigenvalue, got {len(model.omega)}: draw the variance instead")
    if not isinstance(what, str) or what not in ("test_error", "train_loss"):
        raise ValueError(f"what must be 'test_error' or 'train_loss', got {what!r}")
    omega, residual = model.omega[0], model.residual + noise
    signal = model.diagonal[0] / (model.gamma * omega**2)
    test = what == "test_error"
    # V^T V/(p alpha omega) has the law of F F^T with p/d = 1/alpha, V V^T/(p omega) that with alpha; both hold their zeros.
    scale = alpha * omega if test else omega
    points, weights = marchenko_pastur_nodes(1 / alpha if test else alpha, penalty / scale)
    x = scale * points
    factor = omega * (signal + residual / penalty * (x / penalty)) if test else signal * x + residual
    return 2 * (alpha if test else 1) * float(weights @ (factor / (1 + x / penalty) ** 2) ** 2)
