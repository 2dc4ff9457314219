"""The effective action, its saddle and what a finite number of channels does to the kernel, to leading order.

With Q = Q(theta) and A = T + sum_ij Q_ij K_ij/N_p the evidence of a network of N_c channels is, exactly for linear units,
    Z = int dQ |Q|^(-(N_p + 1)/2) e^(-N_c S(Q)/2) up to a number,  S(Q) = tr Q - log det Q + (1/N_c) [y.A^(-1) y + log det A],
for "cnn"; for "lcn" the integral is over the diagonal, for "fc" and "pooled" over one number q, S(q) = q - log q + ....
Its saddle solves Q^(-1) = I + G(Q)/N_c, G_ij = dF/dQ_ij, F the bracket.  Then log Z ~ -N_c (S(Q*) - S_0)/2 - (P/2) log 2 pi, S_0 =
tr I; the determinant of the fluctuations makes the error of log Z O(1/N_c^2) at fixed P ("one loop").
Uniqueness.  Along Q + t H the second derivative of tr Q - log det Q is |E|^2, E = Q^(-1/2) H Q^(-1/2), and that of log det A is
-|Psi(E)|^2 with a completely positive Psi(E) = A^(-1/2) Phi(Q^(1/2) E Q^(1/2)) A^(-1/2), Psi(I) <= I.  Kadison: Psi(E)^2 <=
Psi(E^2), so |Psi(E)|^2 <= tr Psi'(I) E^2 <= tr Psi(I) |E|^2 < r |E|^2, r the rank of the kernels; y.A^(-1) y is convex.  So S is
strictly convex, and its saddle is the only one, where N_c >= r: r <= P.
Sources: Aiudi, Pacelli, Baglioni, Vezzani, Burioni, Rotondo (2025), arXiv:2307.11807; Pacelli, Ariosto, Pastore, Ginelli, Gherardi,
Rotondo (2023), arXiv:2209.04882.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.proved.formulas import real_array
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import LARGEST, integer
from theoryck.theory.convolutions.model import PatchRegression
from theoryck.theory.convolutions.regression import KernelRegression, Values

Array = NDArray[np.float64]

REACHED = 1e-9
"""Residual |Q^(1/2) grad S Q^(1/2)| below which a saddle counts as reached; rounding leaves 1e-15 times the condition of A."""

ROUNDING = 1e-14
"""Residual below which nothing is gained any more."""

SMALL = 64
"""Order parameters and inputs together, up to which second derivatives are cheap."""

DISTANT = 1e-6
"""Two ends whose |Q^(-1/2) Q' Q^(-1/2) - I| is larger are two saddles."""

ON_THE_RAY = 200
"""Multiples of Q = I, evenly spaced in the logarithm, among which starts are sought where the saddle need not be the only one."""


@dataclass(frozen=True, eq=False)
class Saddle:
    """The saddle of an effective action: order parameters theta (n,), Q (N_p, N_p), and what follows from them.

    ``log_evidence`` and, with the determinant of fluctuations, ``one_loop``; predictor ``mean`` (M,) and ``variance`` (M,);
    ``train_loss``; ``reached``: ``residual`` is small; ``unique``: True where it is proved, False where ``others`` has the actions
    of further minima, None where every start came to the same.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> found = saddle_point(PatchRegression(PatchNetwork("x", 3, "fc"), [[[1.0]]], [0.0], 1.0))
    >>> bool(abs(found.order[0] - 1 + found.order[0] / (1 + found.order[0]) / 3) < 1e-14)
    True
    """

    problem: PatchRegression
    order: Array
    matrix: Array
    action: float
    log_evidence: float
    mean: Array
    variance: Array
    train_loss: float
    residual: float
    iterations: int
    reached: bool
    unique: bool | None
    others: tuple[float, ...]

    @functools.cached_property
    def one_loop(self) -> float:
        """log Z with the determinant of the fluctuations, log Z_S - log det(S''/S_0'')/2: the second derivatives are made here."""
        fit = KernelRegression.of(self.problem).slopes(self.order)
        curvature = Prior(self.problem.network.architecture, self.problem.shape[1]).slopes(self.order)[1]
        whole = curvature + (fit.convex - fit.concave) / self.problem.network.channels
        return self.log_evidence - float(np.linalg.slogdet(whole)[1] - np.linalg.slogdet(curvature)[1]) / 2


class Prior:
    """tr Q - log det Q in the order parameters of an architecture: value, gradient and Hessian."""

    def __init__(self, architecture: str, patches: int) -> None:
        self.architecture, self.patches = architecture, patches
        self.rows, self.columns = np.triu_indices(patches)
        self.twice = np.where(self.rows == self.columns, 1.0, 2.0)

    def matrix(self, theta: Array) -> Array:
        found = np.zeros((self.patches, self.patches))
        found[self.rows, self.columns] = found[self.columns, self.rows] = theta
        return found

    def value(self, theta: Array) -> float:
        """Return tr Q - log det Q, infinite where Q is not positive definite."""
        if self.architecture != "cnn":
            return float(np.sum(theta - np.log(theta))) if np.all(theta > 0) else math.inf
        try:
            factor = np.linalg.cholesky(self.matrix(theta))
        except np.linalg.LinAlgError:
            return math.inf
        return float(np.sum(theta[self.rows == self.columns]) - 2 * np.sum(np.log(np.diag(factor))))

    def excess(self, theta: Array) -> float:
        """Return the value less that at Q = I (pooled: I in its one number), of second order in what they differ by."""
        change = theta - 1 if self.architecture != "cnn" else np.linalg.eigvalsh(self.matrix(theta) - np.eye(self.patches))
        return float(np.sum(change - np.log1p(change)))

    def slopes(self, theta: Array) -> tuple[Array, Array]:
        if self.architecture != "cnn":
            return 1 - 1 / theta, np.diag(theta**-2.0)
        inverse = np.linalg.inv(self.matrix(theta))
        inverse = (inverse + inverse.T) / 2
        i, j = self.rows, self.columns
        gradient = self.twice * ((i == j) - inverse[i, j])
        # tr Q^-1 D_a Q^-1 D_b with D_a the symmetric unit matrix of the pair (i, j)
        straight = inverse[np.ix_(i, i)] * inverse[np.ix_(j, j)]
        crossed = inverse[np.ix_(i, j)] * inverse[np.ix_(j, i)]
        return gradient, (straight + crossed) * np.outer(self.twice, self.twice) / 2


def _minima_on_the_ray(regression: KernelRegression, prior: Prior, channels: int, identity: Array) -> list[float]:
    """Return factors s near which S(s I) has its minima, from below the least Q that log det A allows to above what y allows."""
    values, vectors = np.linalg.eigh(np.tensordot(identity, regression.train, 1))
    seen, noise = (vectors.T @ regression.targets) ** 2, regression.temperature
    lowest = 0.1 / (1 + float(np.sum(np.abs(values))) / (noise * channels))
    highest = 10 * (1 + float(np.sum(seen)) / (noise * channels))
    factors = np.geomspace(lowest, highest, ON_THE_RAY)
    a = noise + factors[:, None] * values
    # tr s I - log det s I has as many terms as Q has eigenvalues
    terms = prior.value(np.ones(len(identity))) if prior.architecture != "cnn" else prior.patches
    s = terms * (factors - np.log(factors)) + np.sum(seen / a + np.log(a), axis=1) / channels
    return [float(factors[k]) for k in range(1, ON_THE_RAY - 1) if s[k] < min(s[k - 1], s[k + 1])]


class _End(NamedTuple):
    theta: Array
    action: float
    residual: float
    iterations: int
    metric: Array


def saddle_point(problem: PatchRegression, *, iterations: int = 100) -> Saddle:
    """Return the :class:`Saddle` of the effective action of a network of finitely many channels: a descent in theta.

    Small problems are solved by Newton's method; where the Hessian is not positive definite the concave part of log det A is
    replaced by its tangent.  In large ones second derivatives cost more than they save: they are built up from gradients,
    beginning with those of tr Q - log det Q (BFGS).  A step is shortened until S falls.  What is not reached in ``iterations``
    steps is returned as such.  Raises QuantityError for infinitely many channels.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> data = np.random.default_rng(0).standard_normal((6, 2, 3))
    >>> found = saddle_point(PatchRegression(PatchNetwork("erf", 12), data, data.sum(axis=(1, 2)), 0.2))
    >>> found.reached, found.unique, found.matrix.shape
    (True, True, (2, 2))
    """
    network, (_, patches, _) = problem.network, problem.shape
    if network.channels == math.inf:
        raise QuantityError("channels must be finite for a saddle, got inf: infinite_width(problem) is its limit")
    integer(iterations, "iterations", 1, error=QuantityError)
    regression, prior = KernelRegression.of(problem), Prior(network.architecture, patches)
    identity = network.infinite_order(patches)
    proved = network.channels >= len(regression.targets)
    factors = [1.0] if proved else [1.0, *_minima_on_the_ray(regression, prior, network.channels, identity)]
    ends = [_descend(regression, prior, network.channels, factor * identity, iterations) for factor in factors]
    best = min(ends, key=lambda end: end.action)
    others = list[float]()
    for end in ends:
        step = end.theta - best.theta
        apart = math.sqrt(step @ best.metric @ step) > DISTANT
        if apart and end.residual < REACHED and not any(abs(end.action - other) < 1e-9 * abs(other) for other in others):
            others.append(end.action)
    values = regression.values(best.theta[None])
    fit = -2 * float(values.log_likelihood[0])
    evidence = -(network.channels * prior.excess(best.theta) + fit) / 2
    # what is not in the range of the kernels adds a number to the action
    beside = (regression.constant() - len(problem.targets) * math.log(2 * math.pi)) / network.channels
    reached = best.residual < REACHED
    return Saddle(
        problem=problem,
        order=best.theta,
        matrix=network.matrix(best.theta, patches),
        action=best.action + beside,
        log_evidence=evidence,
        mean=values.mean[0],
        variance=values.variance[0],
        train_loss=float(values.train_loss[0]),
        residual=best.residual,
        iterations=best.iterations,
        reached=reached,
        unique=False if others else (True if proved and reached else None),
        others=tuple(other + beside for other in others),
    )


def _descend(regression: KernelRegression, prior: Prior, channels: int, theta: Array, iterations: int) -> _End:
    share, newton = 1.0 / channels, len(theta) + len(regression.targets) <= SMALL
    inverse: Any = None
    before = (theta, theta)
    for count in range(iterations + 1):
        fit, (slope, curvature) = regression.slopes(theta, newton), prior.slopes(theta)
        action, gradient = prior.value(theta) + share * fit.value, slope + share * fit.gradient
        metric = scipy.linalg.cho_factor(curvature, lower=True)
        residual = math.sqrt(max(float(gradient @ scipy.linalg.cho_solve(metric, gradient)), 0.0))
        if residual < ROUNDING or count == iterations:
            break
        if newton:
            step = _newton_step(curvature, share * fit.convex, share * fit.concave, gradient)
        else:
            inverse = _updated(inverse, theta - before[0], gradient - before[1]) if count else np.linalg.inv(curvature)
            before, step = (theta, gradient), -inverse @ gradient
        decrement = -float(gradient @ step)
        if decrement < 1e-13 * max(abs(action), 1.0):
            # The action cannot see the step any more; the gradient still can.
            if not math.isfinite(prior.value(theta + step)):
                break
            new = prior.slopes(theta + step)[0] + share * regression.slopes(theta + step, False).gradient
            if not float(new @ scipy.linalg.cho_solve(metric, new)) < residual**2 / 4:
                break
            theta = theta + step
            continue
        length = 1.0
        while length > 1e-12:
            trial = theta + length * step
            value = prior.value(trial)
            if math.isfinite(value) and value + share * regression.value(trial) <= action - 1e-4 * length * decrement:
                break
            length /= 2
        else:
            break
        theta = trial
    return _End(theta, action, residual, count, curvature)


def _newton_step(curvature: Array, convex: Array, concave: Array, gradient: Array) -> Array:
    try:
        factor = scipy.linalg.cho_factor(curvature + convex - concave, lower=True)
    except np.linalg.LinAlgError:
        factor = scipy.linalg.cho_factor(curvature + convex, lower=True)
    return -scipy.linalg.cho_solve(factor, gradient)


def _updated(inverse: Array, step: Array, change: Array) -> Array:
    """Return the inverse Hessian of Broyden, Fletcher, Goldfarb and Shanno; as it was where S is not convex along the step."""
    along = float(step @ change)
    if along <= 1e-10 * math.sqrt(float(step @ step) * float(change @ change)):
        return inverse
    turned = inverse @ change
    both = np.outer(turned, step) / along
    return inverse - both - both.T + np.outer(step, step) * ((1 + float(change @ turned) / along) / along)


class Wide(NamedTuple):
    """Bayesian regression with infinitely many channels, for "cnn" and "lcn" alike: a Gaussian process."""

    log_evidence: float
    mean: Array
    variance: Array
    train_loss: float


def infinite_width(problem: PatchRegression) -> Wide:
    """Return log Z, predictor mean (M,) and variance (M,) and training loss of infinitely many channels: Q = I.

    Source: Novak, Xiao, Lee, Bahri, Yang, Hron, Abolafia, Pennington, Sohl-Dickstein (2019), arXiv:1810.05148.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> round(infinite_width(PatchRegression(PatchNetwork("x", 4), [[[1.0]]], [2.0], 3.0)).log_evidence, 6)  # N(2; 0, 1 + 3)
    -2.112086
    """
    found = _at(problem, problem.network.infinite_order(problem.shape[1]))
    return Wide(float(found.log_likelihood[0]), found.mean[0], found.variance[0], float(found.train_loss[0]))


def _at(problem: PatchRegression, theta: Array) -> Values:
    return KernelRegression.of(problem).values(theta[None])


class Corrections(NamedTuple):
    """Coefficients of 1/N_c at fixed data: of log Z, its one-dimensional parts, and of Q - I (N_p, N_p)."""

    log_evidence: float
    saddle_log_evidence: float
    order: Array


def channel_corrections(problem: PatchRegression) -> Corrections:
    """Return the coefficients of 1/N_c of log Z - log Z_inf (linear units), of the same of the saddle alone, and of E Q - I.

    With l(Q) = log N(y; 0, A) and C_ab = N_c Cov(theta_a, theta_b): l_a C_ab l_b/2 + l_ab C_ab/2, the first term alone, C_ab l_b.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> found = channel_corrections(PatchRegression(PatchNetwork("x", 4, "fc"), [[[1.0]]], [2.0], 3.0))
    >>> round(float(found.order[0, 0]), 6)  # 2 l' = y^2/A^2 - 1/A = 4/16 - 1/4
    0.0
    """
    network, (_, patches, _) = problem.network, problem.shape
    theta = network.infinite_order(patches)
    fit = KernelRegression.of(problem).slopes(theta)
    covariance = 2 * np.linalg.inv(Prior(network.architecture, patches).slopes(theta)[1])
    slope, curvature = -fit.gradient / 2, -(fit.convex - fit.concave) / 2
    moved = covariance @ slope
    saddle = float(slope @ moved) / 2
    return Corrections(saddle + float(np.sum(covariance * curvature)) / 2, saddle, network.matrix(moved, patches))


# Feature learning ------------------------------------------------------------------------------------------------------------


def alignment(kernel: ArrayLike, targets: ArrayLike) -> float:
    """Return y.K y/(|y|^2 |K|_F) of a kernel (P, P) and targets (P,): the cosine of K and y y^T, not changed by factors.

    Raises QuantityError for arrays that do not fit and for zeros.

    >>> round(alignment([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]), 6)
    0.707107
    """
    k, y = real_array(kernel, "kernel"), real_array(targets, "targets")
    for name, values in (("kernel", k), ("targets", y)):
        wrong = values[~(np.abs(values) <= LARGEST)]
        if len(wrong):
            raise QuantityError(f"{name} must hold numbers of size at most {LARGEST:g}, got {float(wrong[0])!r}")
    if k.ndim != 2 or y.ndim != 1 or k.shape != (len(y), len(y)):
        raise QuantityError(f"kernel must be (P, P) for targets (P,), got {k.shape} and {y.shape}")
    size = float(y @ y) * float(np.linalg.norm(k))
    if not size > 0:
        name = "targets" if np.any(k) else "kernel"
        raise QuantityError(f"{name} must have an entry other than 0, got {name} = 0: nothing is aligned with it")
    return float(y @ k @ y) / size


def alignment_gain(problem: PatchRegression, order: ArrayLike) -> float:
    """Return the alignment of the kernel at order parameters theta (n,) minus that of infinite width; QuantityError for another n.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> data = np.random.default_rng(0).standard_normal((6, 2, 3))
    >>> problem = PatchRegression(PatchNetwork("erf", 12, "fc"), data, data.sum(axis=(1, 2)), 0.2)
    >>> abs(alignment_gain(problem, [0.7])) < 1e-15  # a factor aligns nothing
    True
    """
    kernels, theta = problem.kernels.train, np.asarray(order, dtype=float)
    wide = problem.network.infinite_order(problem.shape[1])
    if theta.shape != wide.shape or not np.all(np.isfinite(theta)):
        raise QuantityError(f"order must be {len(wide)} order parameters, finite numbers, got {theta.tolist()!r}")
    one, other = (alignment(np.tensordot(values, kernels, 1), problem.targets) for values in (theta, wide))
    return one - other


def alignment_slope(problem: PatchRegression) -> float:
    """Return the coefficient of 1/N_c of :func:`alignment_gain` at the saddle, and at E Q: its derivative along E Q - I.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> data = np.random.default_rng(0).standard_normal((6, 2, 3))
    >>> abs(alignment_slope(PatchRegression(PatchNetwork("erf", 12, "fc"), data, data.sum(axis=(1, 2)), 0.2))) < 1e-14
    True
    """
    y, step = problem.targets, _entries(channel_corrections(problem).order, problem.network.architecture)
    kernel, change = problem.infinite_kernel, np.tensordot(step, problem.kernels.train, 1)
    turned = change - kernel * float(np.sum(kernel * change) / np.sum(kernel * kernel))
    return float(y @ turned @ y) / (float(y @ y) * float(np.linalg.norm(kernel)))


def _entries(matrix: Array, architecture: str) -> Array:
    if architecture == "cnn":
        return matrix[np.triu_indices(len(matrix))]
    return np.diag(matrix) if architecture == "lcn" else matrix[0, :1]
