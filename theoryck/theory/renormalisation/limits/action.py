"""The effective action of a Bayesian network of finite widths: one order parameter a layer, saddle, predictor, losses.

With A = T + t K/lambda_L the sum of the squared readout weights, and what corresponds to it in every layer, is kept exactly, the
rest is taken for Gaussian: the weight of (Q_1, ..., Q_L) is prod_l dQ_l/Q_l exp(-S/2),
    S = sum_l N_l (Q_l - log Q_l) + F(prod Q_l),   F(t) = y^T A^(-1) y + log det A        ("product"),
and F(Q_L h(Q_(L-1)/lambda h(...))) for ``recursion``.  Exact in law for linear units (Q_l = chi^2_(N_l)/N_l), at leading order in N
for one nonlinear hidden layer at P ~ N; the two actions for several nonlinear layers are heuristic, and differ.

Saddle.  dS/dQ_l = 0 reads N_l (Q_l - 1) = c(t) = -t F'(t) for all l at once, so that u = log t is a root of u - sum_l
log(1 + c(e^u)/N_l), at each end of which the sign is known.  F and its derivatives cost one eigendecomposition of K and O(P) a
value; c is a sum of terms that are analytic in |Im u| < pi, so that a scan in steps of STEP sees all roots.

Sources: Li, Sompolinsky, Phys. Rev. X 11, 031059 (2021); Pacelli, Ariosto, Pastore, Ginelli, Gherardi, Rotondo, Nature Machine
Intelligence 5, 1497 (2023), arXiv:2209.04882.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from theoryck.theory.renormalisation.model import Regression, regression

Array = NDArray[np.float64]

STEP = 0.05
"""Of the scan in log t, in which nothing varies faster than over 1."""

ROUNDING = 4 * np.finfo(np.float64).eps
"""Of an eigenvalue of a P x P matrix that is not diagonal, in units of P times the largest one."""

SINGULAR = 1e-13
"""At T = 0 eigenvalues below this times the largest one are rounding."""

REACHED = 1e-8
"""The largest N_l |dS/dQ_l|/P at which a saddle of the recursion counts as reached."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K in its eigenbasis: eigenvalues (P,), labels (P,) and covariances with new inputs (P, m) along the eigenvectors."""

    values: Array
    labels: Array
    cross: Array
    new: Array
    temperature: float

    @classmethod
    def of(cls, kernel: Array, cross: Array, new: Array, labels: Array, temperature: float) -> Spectrum:
        """Decompose; ValueError where the kernel is not positive semidefinite, or singular at T = 0."""
        values, vectors = scipy.linalg.eigh(kernel, check_finite=False, driver="evd")
        top = float(values[-1])
        if values[0] < -1e-9 * max(top, 1e-300):
            raise ValueError(
                f"kernel must be positive semidefinite: its least eigenvalue is {values[0]:.6g}, the largest {top:.6g}"
            )
        # Eigenvalues that are nothing but rounding would be signal at temperatures below them.
        diagonal = not np.any(kernel - np.diag(np.diagonal(kernel)))
        values = np.where(values > (0.0 if diagonal else ROUNDING * len(labels) * top), values, 0.0)
        if temperature == 0 and values[0] <= SINGULAR * top:
            raise ValueError(
                f"temperature = 0 needs a kernel of full rank, but its least eigenvalue is {values[0]:.3g} (largest {top:.3g}): "
                "labels have no density then; take a temperature > 0"
            )
        return cls(values, vectors.T @ labels, vectors.T @ cross, new, temperature)

    def at(self, scales: Array) -> tuple[Array, Array, Array]:
        """Return F, c = -dF/du and dc/du at t = e^u = ``scales`` (n,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            part = scales[:, None] * self.values
            whole = self.temperature + part
            power, share = self.labels**2 / whole, part / whole
            product = power * share
            value = power.sum(axis=1) + np.log(whole).sum(axis=1)
            # du power = -power share, du share = share (1 - share)
            slope = product.sum(axis=1) - share.sum(axis=1)
            bend = (product * (1 - 2 * share)).sum(axis=1) - (share * (1 - share)).sum(axis=1)
        return value, slope, bend


@dataclass(frozen=True, slots=True)
class Minimum:
    """A local minimum of the action: order parameters, their product t, S there and log Z with the fluctuations around it."""

    orders: tuple[float, ...]
    scale: float
    action: float
    log_evidence: float
    one_loop: float


@dataclass(frozen=True, eq=False)
class RenormalisedNetwork:
    """What the effective action says of a Bayesian network; made by :func:`bayesian_network`.

    ``orders`` Q_1, ..., Q_L and ``scale``, their product; ``action`` S, ``log_evidence`` log N(y; ...) - (sum N_l (Q_l - 1 - log
    Q_l))/2 at the saddle and ``one_loop`` with the fluctuations of Q (nan for a recursion of several layers); ``mean`` and
    ``variance`` (m,) of f at new inputs; ``train_loss`` E |y - f|^2/P; ``bias2`` mean (mean - y)^2, ``test_variance`` and their sum
    ``test_loss`` at new inputs, None without labels; ``minima`` all local minima found, the one with the largest ``one_loop``
    first; ``unique`` whether it is the only one; ``residual`` by how much max |N_l (Q_l - 1) - c| is beyond the rounding of its
    terms, over P max(1, Q_l), for a recursion of several layers max |dS/d log Q_l|/P, and ``reached`` whether it is at most 1e-8.

    >>> print(bayesian_network([[1.0]], [3.0], widths=4, temperature=1))
    Q = 1.40094; log Z = -3.35873 at the saddle, -3.57883 with its fluctuations; training loss 2.14477
    """

    orders: tuple[float, ...]
    scale: float
    action: float
    log_evidence: float
    one_loop: float
    mean: Array
    variance: Array
    train_loss: float
    bias2: float | None
    test_variance: float | None
    test_loss: float | None
    minima: tuple[Minimum, ...]
    residual: float
    reached: bool

    @property
    def unique(self) -> bool:
        """Whether the action has one local minimum, as far as was looked."""
        return len(self.minima) == 1

    def __str__(self) -> str:
        parts = [f"Q = {', '.join(f'{order:.6g}' for order in self.orders)}", f"log Z = {self.log_evidence:.6g} at the saddle"]
        parts[1] += "" if math.isnan(self.one_loop) else f", {self.one_loop:.6g} with its fluctuations"
        parts += [f"training loss {self.train_loss:.6g}"]
        parts += [] if self.test_loss is None else [f"test loss {self.test_loss:.6g}"]
        parts += [] if self.unique else [f"{len(self.minima)} minima, t = {', '.join(f'{each.scale:.4g}' for each in self.minima)}"]
        parts += [] if self.reached else [f"NOT REACHED, residual {self.residual:.2g}"]
        return "; ".join(parts)


def bayesian_network(
    kernel: Any,
    labels: ArrayLike,
    inputs: ArrayLike | None = None,
    *,
    widths: Any,
    temperature: Any,
    precisions: Any = 1,
    new_inputs: ArrayLike | None = None,
    new_labels: ArrayLike | None = None,
    recursion: bool = False,
) -> RenormalisedNetwork:
    """Return saddle, predictor and losses of the effective action S = sum_l N_l (Q_l - log Q_l) + F of a Bayesian network.

    ``kernel`` is an activation with ``inputs`` (P, N_0) and ``new_inputs`` (m, N_0), or an array (P + m, P + m) of the last hidden
    layer's kernel; ``labels`` (P,), ``new_labels`` (m,) for the test loss.  ``widths`` N_1 or (N_1, ..., N_L), inf for a Gaussian
    process; ``temperature`` T >= 0; ``precisions`` one number or (lambda_0, ..., lambda_L), the inverse variances of the priors.
    ``recursion`` renormalises every layer's kernel inside the next, otherwise only the product of the order parameters counts.
    Raises ValueError for arguments that do not fit, a kernel that is not positive semidefinite, and T = 0 with a singular one.
    Sources: see the module.

    >>> X = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]]
    >>> found = bayesian_network("erf", [1.2, -0.7], X, widths=8, temperature=0.1, new_inputs=[[0.8, -0.2, -0.3, 1.2]])
    >>> round(found.orders[0], 6), found.mean.round(6).tolist(), found.unique
    (1.15444, [0.327182], True)
    >>> bayesian_network([[1.0]], [3.0], widths=4, temperature=0).orders  # t^2 - (1 - 1/4) t - 9/4 = 0
    (1.921...,)
    """
    task = regression(kernel, labels, inputs, new_inputs, new_labels, widths, temperature, precisions)
    # Infinite layers have no order parameter to renormalise the next kernel by.
    if recursion and any(width < math.inf for width in task.widths[:-1]):
        return _recursion(task)
    spectrum = Spectrum.of(task.kernel, task.cross, task.new, task.labels, task.temperature)
    minima = _minima(spectrum, task.widths)
    residual = _residual(spectrum, task.widths, minima[0])
    return _report(task, spectrum, minima[0].scale, minima, residual)


def _minima(spectrum: Spectrum, widths: tuple[float, ...]) -> tuple[Minimum, ...]:
    finite = np.array([width for width in widths if width < math.inf])
    roots = _roots(spectrum, finite) if len(finite) else [0.0]
    found = [_minimum(spectrum, widths, u) for u in roots]
    return tuple(sorted(found, key=lambda each: -each.one_loop))


def _minimum(spectrum: Spectrum, widths: tuple[float, ...], u: float) -> Minimum:
    value, slope, bend = (float(part[0]) for part in spectrum.at(np.array([math.exp(u)])))
    # One layer's Q is t: 1 + c/N cancels where it is small.
    alone = sum(width < math.inf for width in widths) == 1
    orders = tuple(1.0 if width == math.inf else math.exp(u) if alone else 1 + slope / width for width in widths)
    finite = [(width, order) for width, order in zip(widths, orders) if width < math.inf]
    # N (Q - 1 - log Q) from c/N = Q - 1, not from Q, which rounds c/N away at large widths.
    excess = sum(
        slope - width * (math.log1p(slope / width) if abs(slope) < width / 2 else math.log(order)) for width, order in finite
    )
    constant = len(spectrum.values) * math.log(2 * math.pi)
    action, level = sum(width for width, _ in finite) + excess + value, -(excess + value + constant) / 2
    # In log Q_l the Hessian of S is N_l Q_l on the diagonal and -dc/du everywhere; the prior's own is N_l, to 1/(6 N_l).
    hessian = math.prod(order for _, order in finite) * (1 - bend * sum(1 / (width * order) for width, order in finite))
    loop = level - math.log(hessian) / 2 if hessian > 0 else -math.inf
    return Minimum(orders, math.exp(u), action, level, loop)


def _roots(spectrum: Spectrum, widths: Array) -> list[float]:
    """Return the roots of g(u) = u - sum_l log(1 + c(e^u)/N_l) at which it rises: g < 0 below the least, g > 0 above the last."""

    def both(u: Array) -> tuple[Array, Array]:
        _, slope, bend = spectrum.at(np.exp(u))
        inside = slope > -widths.min()
        share = np.where(inside, slope, 0.0)[:, None] / widths
        with np.errstate(over="ignore"):
            value = np.where(inside, u - np.log1p(share).sum(axis=1), np.inf)
            return value, np.where(inside, 1 - (bend[:, None] / widths / (1 + share)).sum(axis=1), np.nan)

    def value(u: float) -> float:
        return float(both(np.array([u]))[0][0])

    low, high = _ends(spectrum, widths, value)
    grid = np.linspace(low, high, max(math.ceil((high - low) / STEP), 8) + 1)
    level, rise = both(grid)
    # Where g turns between two points of one sign it may touch 0 twice in between.
    turns = np.flatnonzero((np.sign(rise[:-1]) != np.sign(rise[1:])) & (np.sign(level[:-1]) == np.sign(level[1:])))
    for k in turns[np.isfinite(rise[turns]) & np.isfinite(rise[turns + 1])].tolist():
        place = brentq(lambda u: float(both(np.array([u]))[1][0]), grid[k], grid[k + 1])
        grid, level = np.append(grid, place), np.append(level, value(place))
    order = np.argsort(grid)
    grid, level = grid[order], level[order]
    found = []
    for k in np.flatnonzero((level[:-1] < 0) & (level[1:] >= 0)).tolist():
        left, right = float(grid[k]), float(grid[k + 1])
        while not math.isfinite(value(right)):
            middle = (left + right) / 2
            left, right = (middle, right) if value(middle) < 0 else (left, middle)
        found.append(float(brentq(value, left, right, xtol=1e-15, rtol=1e-15)))
    return found


def _ends(spectrum: Spectrum, widths: Array, value: Callable[[float], float]) -> tuple[float, float]:
    """Return points below and above all roots; where t is outside float64 there is nothing, which labels of its range prevent."""
    heat, rank = spectrum.temperature, int(np.count_nonzero(spectrum.values))
    square = float(spectrum.labels @ spectrum.labels)
    if heat == 0:
        # c = A/t - P falls: one root.
        low = high = 0.0
    else:
        # c <= |y|^2/(4T), c >= -rank and c >= -t tr K/T.
        high = float(np.log1p(square / (4 * heat) / widths).sum()) + STEP
        least = widths.min()
        trace = max(float(spectrum.values.sum()), heat * least * np.finfo(np.float64).tiny)
        slow = min(math.log(heat * least / (2 * trace)), -len(widths) * math.log(2))
        low = max(slow, float(np.log1p(-rank / widths).sum()) if rank < least else -math.inf) - STEP
    while not value(low) < 0:
        low -= 1.0
    while not value(high) > 0:
        high += 1.0
    return low, high


def _residual(spectrum: Spectrum, widths: tuple[float, ...], at: Minimum) -> float:
    slope = float(spectrum.at(np.array([math.prod(at.orders)]))[1][0])
    # Q and c, a sum over eigenvalues, have a rounding of their own.
    gaps = [
        abs(width * (order - 1) - slope) - ROUNDING * len(spectrum.values) * width * max(order, 1.0)
        for width, order in zip(widths, at.orders)
        if width < math.inf
    ]
    return max(0.0, *gaps) / (len(spectrum.values) * max(1.0, *at.orders)) if gaps else 0.0


def _report(
    task: Regression, spectrum: Spectrum, scale: float, minima: tuple[Minimum, ...], residual: float
) -> RenormalisedNetwork:
    heat, count = task.temperature, len(task.labels)
    whole = heat + scale * spectrum.values
    mean = scale * spectrum.cross.T @ (spectrum.labels / whole)
    variance = scale * spectrum.new - scale**2 * (spectrum.cross**2 / whole[:, None]).sum(axis=0)
    share = scale * spectrum.values / whole
    # Of f at the training inputs: bias^2 sum (T y/(T + t lambda))^2, variance sum T t lambda/(T + t lambda).
    train = float(((heat * spectrum.labels / whole) ** 2).sum() + heat * share.sum()) / count
    bias2 = spread = loss = None
    if task.new_labels is not None:
        bias2, spread = float(np.mean((mean - task.new_labels) ** 2)), float(np.mean(variance))
        loss = bias2 + spread
    best = minima[0]
    return RenormalisedNetwork(
        best.orders,
        math.prod(best.orders),
        best.action,
        best.log_evidence,
        best.one_loop,
        mean,
        variance,
        train,
        bias2,
        spread,
        loss,
        minima,
        residual,
        residual <= REACHED,
    )


def _recursion(task: Regression) -> RenormalisedNetwork:
    """The action in which every layer's kernel is renormalised inside the next: given Q_1, ..., Q_(L-1), Q_L is a root as above."""
    from scipy.optimize import minimize, root

    free = [index for index, width in enumerate(task.widths[:-1]) if width < math.inf]

    def inner(logs: Array) -> tuple[float, Spectrum, Minimum, tuple[float, ...]]:
        orders = [1.0] * len(task.widths)
        for index, log in zip(free, logs.tolist()):
            orders[index] = math.exp(log)
        spectrum = Spectrum.of(*task.output_kernel(orders), task.labels, task.temperature)
        last = min(_minima(spectrum, task.widths[-1:]), key=lambda each: each.action)
        outer = sum(task.widths[index] * (math.exp(log) - log) for index, log in zip(free, logs.tolist()))
        return outer + last.action, spectrum, last, (*orders[:-1], last.orders[0])

    def slopes(logs: Array) -> Array:
        """dS/d log Q_l by central differences of fourth order, of error (0.01)^4/30 of a fifth derivative of order S."""
        step, result = 0.01, np.empty(len(free))
        for k in range(len(free)):
            unit = np.eye(len(free))[k] * step
            near, far = (inner(logs + j * unit)[0] - inner(logs - j * unit)[0] for j in (1, 2))
            result[k] = (8 * near - far) / (12 * step)
        return result

    found = minimize(lambda logs: inner(logs)[0], np.zeros(len(free)), jac=slopes, method="BFGS", options={"gtol": 1e-9})
    # Where the action cannot see a step any more its slopes still can.
    ends = found.x, root(slopes, found.x, tol=1e-13).x
    steepest, logs = min(((float(np.max(np.abs(slopes(end)))), end) for end in ends), key=lambda each: each[0])
    action, spectrum, last, orders = inner(logs)
    level = last.log_evidence - sum(task.widths[k] * (math.expm1(log) - log) for k, log in zip(free, logs.tolist())) / 2
    best = Minimum(orders, math.prod(orders), action, level, math.nan)
    return _report(task, spectrum, last.scale, (best,), steepest / len(task.labels))
