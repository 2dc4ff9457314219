"""The average over Wishart matrices, which is exact for linear units: log Z, predictor, training loss and mean Q.

Bartlett: N_c Q = L L^T with independent L_ij ~ N(0, 1), i > j, and L_ii^2 ~ chi^2_{N_c - i + 1} (i = 1, ...); with N_c < N_p the
last columns of L are missing.  A chi variable is a monotone function of a normal one, so that Q is a function of g ~ N(0, I) in n
dimensions, and so are the diagonal ("lcn") and the single number of "fc" and "pooled".  Then Z = E N(y; 0, A(Q(g))): the integrand
falls at least as fast as the normal density, since A >= T.
In up to three dimensions the integral is a sum over a grid turned and scaled to the peak of the integrand (trapezoidal rule in
every direction, which converges geometrically), on two grids shifted by half a step; in some more it is the product of Gauss-
Hermite rules of that peak, at two orders.  The difference of the two is the error stated.  Where that is large, or the dimensions
are many, it is a mean over scrambled Sobol points of the normal law of the peak and of the prior, so that no weight is unbounded;
its error is that of independent scramblings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import qmc

from theoryck.numerics.errors import NotConverged
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import integer
from theoryck.theory.convolutions.model import PatchNetwork, PatchRegression
from theoryck.theory.convolutions.regression import KernelRegression

Array = NDArray[np.float64]

MOST_DIMENSIONS = 40
"""Above, the weights of points of a normal law say nothing."""

POINTS = 200_000
"""Evaluations of the integrand in more than three dimensions: orders 6 and 7 in six."""

GRIDS = (60_000, 200_000, 800_000)
"""Those of grids, tried until the two differ by less than GRID_ERROR: 31, 46 and 74 points a direction in three dimensions."""

GRID_ERROR = 1e-11
"""In log Z."""

LEAST_ORDER = 4
"""Of Gauss-Hermite rules: of less, the difference of two orders says too little."""

ENOUGH = 3e-4
"""Error of log Z above which Sobol points are tried after Gauss-Hermite rules."""

SCRAMBLINGS = 16

PRIOR_SHARE = 1 / 8
"""Of the Sobol points."""


@dataclass(frozen=True, eq=False)
class WishartAverage:
    """The exact average over Q: log Z, predictor ``mean`` (M,) and ``variance`` (M,), ``train_loss``, E Q (N_p, N_p).

    ``error`` is what log Z is known to: the difference of two rules, or the standard error of independent scramblings; ``route``
    says which.  ``errors`` has the same for all by name, the largest entry of each.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> found = wishart_average(PatchRegression(PatchNetwork("x", 6, "lcn"), [[[1.0], [2.0]]], [0.5], 1.0))
    >>> found.route, found.matrix.shape, found.errors["matrix"] < 1e-11
    ('two grids', (2, 2), True)
    """

    log_evidence: float
    mean: Array
    variance: Array
    train_loss: float
    matrix: Array
    error: float
    errors: dict[str, float]
    route: str


class GaussianOrder:
    """Order parameters as functions of normal variables g (B, n)."""

    def __init__(self, network: PatchNetwork, patches: int) -> None:
        if network.channels == math.inf:
            raise QuantityError("channels must be finite for an average over Q, got inf: infinite_width(problem) is its limit")
        self.architecture, self.channels, self.patches = network.architecture, int(network.channels), patches
        columns = min(patches, self.channels)
        self.rows, self.columns = np.tril_indices(patches, m=columns)
        # np.tril_indices lists (row, column), row >= column
        self.size = len(self.rows) if self.architecture == "cnn" else network.order_parameters(patches)

    def __call__(self, g: Array) -> Array:
        """Return theta (B, n')."""
        if self.architecture != "cnn":
            return _chi_square(g, self.channels) / self.channels
        lower = np.zeros((len(g), self.patches, min(self.patches, self.channels)))
        entries = g.copy()
        for place in np.flatnonzero(self.rows == self.columns):
            entries[:, place] = np.sqrt(_chi_square(g[:, place], self.channels - int(self.rows[place])))
        lower[:, self.rows, self.columns] = entries
        whole = lower @ lower.transpose(0, 2, 1) / self.channels
        i, j = np.triu_indices(self.patches)
        return whole[:, i, j]


def _chi_square(g: Array, degrees: int) -> Array:
    """The chi^2 variable of the same probability: by the smaller tail, so that both ends keep their digits."""
    half, tail = degrees / 2, special.ndtr(-np.abs(g))
    tail = np.maximum(tail, 1e-300)
    return 2 * np.where(g < 0, special.gammaincinv(half, tail), special.gammainccinv(half, tail))


@np.errstate(over="ignore", invalid="ignore")
def wishart_average(problem: PatchRegression, *, points: int | None = None, seed: int = 0) -> WishartAverage:
    """Return the :class:`WishartAverage` of a network of finitely many channels; exact for linear units.

    For other units it is the theory with Gaussian features, of which :func:`saddle_point` is the leading order.  ``points`` are the
    evaluations of the integrand (default: as many as 11 digits take in up to three dimensions, else 200000), ``seed`` that of the
    scramblings.  Raises QuantityError for infinitely many channels and for more than 40 normal variables.

    >>> from theoryck.theory.convolutions import PatchNetwork
    >>> found = wishart_average(PatchRegression(PatchNetwork("x", 2, "fc"), [[[1.0]]], [0.0], 1.0))
    >>> density = special.erfc(1.0) * math.e / 2**0.5  # int_0^inf e^(-q) (2 pi (1 + q))^(-1/2) dq
    >>> abs(found.log_evidence - math.log(density)) < 1e-12
    True
    """
    order = GaussianOrder(problem.network, problem.shape[1])
    if order.size > MOST_DIMENSIONS:
        raise QuantityError(
            f"patches must be such that Q takes at most {MOST_DIMENSIONS} normal variables, got {order.size} "
            f"for {order.patches} patches: take fewer patches, or saddle_point(problem)"
        )
    if points is not None:
        integer(points, "points", 1024, error=QuantityError)
    integer(seed, "seed", error=QuantityError)
    integrand = _Integrand(KernelRegression.of(problem), order)
    peak, spread = integrand.peak()
    if order.size <= 3:
        for allowed in GRIDS if points is None else (points,):
            found = _reduced(problem, _grid(integrand, peak, spread, allowed // 2), "two grids")
            if found.error < GRID_ERROR:
                break
        return found
    allowed = POINTS if points is None else points
    most = int((allowed / 1.4) ** (1 / order.size) + 1e-9)
    product = None
    if most >= LEAST_ORDER:
        sums = [_product(integrand, peak, spread, each) for each in (most - 1, most)]
        product = _reduced(problem, sums, "two orders")
        if product.error < ENOUGH:
            return product
    other = _reduced(problem, _sobol(integrand, peak, spread, allowed, seed), f"{SCRAMBLINGS} scramblings")
    return product if product is not None and product.error < other.error else other


class _Integrand:
    """log of the density of g times the likelihood, and what is averaged with it."""

    def __init__(self, regression: KernelRegression, order: GaussianOrder) -> None:
        self.regression, self.order = regression, order

    def log(self, g: Array) -> Array:
        return self.regression.values(self.order(g)).log_likelihood - np.sum(g * g, axis=1) / 2

    def columns(self, g: Array) -> tuple[Array, Array]:
        """Return the log-likelihood (B,) and 1, theta, mean, second moment of the predictor, training loss (B, k)."""
        theta = self.order(g)
        found = self.regression.values(theta)
        second = found.variance + found.mean**2
        return found.log_likelihood, np.column_stack([np.ones(len(g)), theta, found.mean, second, found.train_loss])

    def peak(self) -> tuple[Array, Array]:
        """Return the largest point (n,) and a matrix (n, n) of standard deviations: Newton with differences, damped."""
        n = self.order.size
        g, value = np.zeros(n), float(self.log(np.zeros((1, n)))[0])
        for _ in range(60):
            slope, hessian = self._differences(g)
            values, vectors = np.linalg.eigh(-hessian)
            step = vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 0.2))
            trials = g + step * 0.5 ** np.arange(12)[:, None]
            found = self.log(trials)
            best = int(np.argmax(found))
            if found[best] <= value + 1e-10:
                break
            g, value = trials[best], float(found[best])
        values, vectors = np.linalg.eigh(-self._differences(g)[1])
        return g, vectors / np.sqrt(np.maximum(values, 0.2))

    def _differences(self, g: Array, h: float = 1e-3) -> tuple[Array, Array]:
        n = len(g)
        unit = h * np.eye(n)
        i, j = np.triu_indices(n, 1)
        ends = np.concatenate([g[None], g + unit, g - unit, g + unit[i] + unit[j], g - unit[i] - unit[j]])
        f = self.log(ends)
        up, down, both, neither = np.split(f[1:], [n, 2 * n, 2 * n + len(i)])
        slope = (up - down) / (2 * h)
        hessian = np.diag((up + down - 2 * f[0]) / h**2)
        mixed = (both + neither + 2 * f[0] - up[i] - down[i] - up[j] - down[j]) / (2 * h * h)
        hessian[i, j] = hessian[j, i] = mixed
        return slope, hessian


def _grid(integrand: _Integrand, peak: Array, spread: Array, points: int) -> list[Array]:
    """Return the sums over two grids of g = peak + spread z, as rows (k,): a logarithm, and what its exponential multiplies."""
    n = len(peak)
    reach = 8.5
    while True:  # until nothing is left on the faces
        faces = np.concatenate([peak + side * reach * column for column in spread.T for side in (1, -1)]).reshape(-1, n)
        top, edge = integrand.log(peak[None])[0], np.max(integrand.log(faces))
        if edge < top - 33 or reach > 30:
            break
        reach *= 1.25
    step = max(2 * reach / max(points ** (1 / n) - 1, 2), 0.12 if n == 1 else 0.35)
    half = math.ceil(reach / step)
    axis = step * np.arange(-half, half + 1)
    volume = step**n * abs(float(np.linalg.det(spread)))
    rows = []
    for shift in (0.0, step / 2):
        total = np.zeros(1)
        for first in axis + shift:  # a slice at a time
            rest = (
                np.stack(np.meshgrid(*[axis + shift] * (n - 1), indexing="ij"), axis=-1).reshape(-1, n - 1)
                if n > 1
                else np.zeros((1, 0))
            )
            g = peak + np.column_stack([np.full(len(rest), first), rest]) @ spread.T
            likelihood, columns = integrand.columns(g)
            weight = np.exp(likelihood - np.sum(g * g, axis=1) / 2 - top)
            total = total + weight @ columns
        rows.append(np.concatenate([[top], total * volume / (2 * math.pi) ** (n / 2)]))
    return rows


def _product(integrand: _Integrand, peak: Array, spread: Array, order: int) -> Array:
    """Return a row as in :func:`_grid` for the product of Gauss-Hermite rules of ``order`` points."""
    n, (nodes, weights) = len(peak), np.polynomial.hermite_e.hermegauss(order)
    logs, top = np.log(weights), float(integrand.log(peak[None])[0])
    rest = np.stack(np.meshgrid(*[nodes] * (n - 1), indexing="ij"), axis=-1).reshape(-1, n - 1)
    shares = np.sum(np.stack(np.meshgrid(*[logs] * (n - 1), indexing="ij"), axis=-1).reshape(-1, n - 1), axis=1)
    total = np.zeros(1)
    for first, log in zip(nodes, logs):
        z = np.column_stack([np.full(len(rest), first), rest])
        g = peak + z @ spread.T
        likelihood, columns = integrand.columns(g)
        weight = np.exp(likelihood - np.sum(g * g, axis=1) / 2 - top + np.sum(z * z, axis=1) / 2 + log + shares)
        total = total + weight @ columns
    return np.concatenate([[top], total * abs(float(np.linalg.det(spread))) / (2 * math.pi) ** (n / 2)])


def _sobol(integrand: _Integrand, peak: Array, spread: Array, points: int, seed: int) -> list[Array]:
    """Return a row as in :func:`_grid` for each scrambling, each point weighted by the mixture that all are drawn from."""
    n = len(peak)
    power = max(int(math.log2(points / SCRAMBLINGS)), 6)
    counts = (2**power, max(int(2**power * PRIOR_SHARE), 1))
    own, prior_share = (math.log(count / sum(counts)) for count in counts)
    wide, top = 1.1 * spread, float(integrand.log(peak[None])[0])
    inverse, logdet = np.linalg.inv(wide), math.log(abs(float(np.linalg.det(wide))))
    rows = []
    for scrambling in range(SCRAMBLINGS):
        rng = np.random.default_rng([seed, scrambling])
        near, far = (
            special.ndtri(np.clip(qmc.Sobol(n, seed=rng).random_base2(each), 1e-15, 1 - 1e-15))
            for each in (power, counts[1].bit_length() - 1)
        )
        g = np.concatenate([peak + near @ wide.T, far])
        likelihood, columns = integrand.columns(g)
        w = (g - peak) @ inverse.T
        prior = -np.sum(g * g, axis=1) / 2
        mixture = np.logaddexp(own - np.sum(w * w, axis=1) / 2 - logdet, prior_share + prior)
        weight = np.exp(likelihood + prior - mixture - top)
        rows.append(np.concatenate([[top], weight @ columns / len(g)]))
    return rows


def _reduced(problem: PatchRegression, rows: list[Array], route: str) -> WishartAverage:
    patches, new = problem.shape[1], problem.test.shape[0]
    n = problem.network.order_parameters(patches)

    def read(row: Array) -> dict[str, Any]:
        total, theta, mean, second, loss = np.split(row[1:], [1, 1 + n, 1 + n + new, 1 + n + 2 * new])
        mean = mean / total
        return {
            "log_evidence": float(row[0] + math.log(total[0])),
            "mean": mean,
            "variance": second / total - mean**2,
            "train_loss": float(loss[0] / total[0]),
            "matrix": problem.network.matrix(theta / total, patches),
        }

    if not np.all(np.isfinite(rows)) or not all(row[1] > 0 for row in rows):
        raise NotConverged("the integral over Q is out of the range of float64: take labels of the size that the kernel allows")
    found = read(rows[-1] if route == "two orders" else np.mean(rows, axis=0))
    if len(rows) == 2:
        parts = [read(row) for row in rows]
        errors = {name: float(np.max(np.abs(np.subtract(parts[0][name], parts[1][name])), initial=0.0)) for name in found}
    else:
        # jackknife: each scrambling left out in turn
        whole, count = np.sum(rows, axis=0), len(rows)
        left = [read((whole - row) / (count - 1)) for row in rows]
        errors = {
            name: float(np.max(np.std([each[name] for each in left], axis=0) * math.sqrt(count - 1), initial=0.0)) for name in found
        }
    return WishartAverage(**found, error=errors["log_evidence"], errors=errors, route=route)
