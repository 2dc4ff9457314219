"""Networks with linear readout: data sets, the Gaussian base measure N(Y; 0, C_B), what depends on the inputs alone, and which
data sets the paths of the evidence are spent on.

Base.  C_B = w h(X) + B is the covariance of Y given X that an infinitely wide network has: exact at depth 1, for any width.  Here h
is the kernel of :mod:`theoryck.numerics.gaussian.kernels` applied L times, and (w, B) are as in
:mod:`theoryck.theory.learning.draws.network_target`.  C_0 = eta_0^2 X^T X + (gamma_0 + Delta) 1 belongs to the linear model.

Scalar mode.  Given the readout vector a the covariance of Y is t A + B with t = |a|^2 / d_L and C_B = A + B (depth 1), and for
linear phi that is all there is: P(Y | X) is then the mixture of N(0, t A + B) over a product t of independent chi^2_(d_l) / d_l.
So
    q(Y) = E_t N(Y; 0, t A + B) / N(Y; 0, A + B)
follows r = P(Y | X) / N(Y; 0, C_B) closely where the network has learned nothing but its scale.  Here the law of t is a Gamma law
with mean 1 and the variance of that product, by Gauss-Laguerre; q is a guess that costs no path, and nothing rests on how good it
is.

Selection.  The divergence log r + 1/r - 1 of one data set is of second order in r - 1: three sets in a thousand, those with large
|Y|, make four fifths of its variance (erf, n = d = 4; its skewness is 28).  Candidates are cheap, paths are not.  So m candidates
are drawn, and one of them, i, is chosen with probability
    p_i = FLOOR / m + (1 - FLOOR) (f_i / sum f + g_i / sum g) / 2
and gets the weight w = 1/(m p_i).  Given the candidates E[w F_i] = sum_i p_i F_i / (m p_i) = (1/m) sum_i F_i for any F, so that
E[w F] = E F exactly, E w = 1, and inequalities between means stay.  p depends on X and Y alone: given these the teacher of the
chosen set is still an exact sample of the posterior.  Two guesses of the divergence are used: f = log q + 1/q - 1 of the scalar
mode q, and g = e^4 for e = (Y^T C_B^(-1) Y - n)/2 > 0, because for small fluctuations of K_W log r is quadratic in e, whatever mode
fluctuates.  Because of the floor no weight exceeds 1/FLOOR: where both guesses are bad the tail is at most twice as long as before;
where one is good a set counts about 1/m, as in a mean of m sets.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernel_forms import closed_form
from theoryck.numerics.gaussian.kernels import DeepKernel, LayerKernel
from theoryck.theory.learning.draws.network_target import NetworkTarget, last_layer, tilt
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

RADIAL_POINTS = 2001
WEIGHTS_PER_INPUT = 8
"""Draws of the hidden weights, at depth >= 2, over which the trace term of one X is averaged."""


def rest_covariance(problem: Problem, grams: Array) -> Array:
    """Return B = t (eta_0^2 X^T X + gamma_0) + Delta for X^T X (count, n, n)."""
    return problem.time * problem.eta0**2 * grams + (problem.time * problem.gamma0 + problem.noise) * np.eye(problem.n)


def base_covariance(problem: Problem, grams: Array) -> Array:
    """Return C_B (count, n, n)."""
    return (1.0 - problem.time) * DeepKernel(problem.activation, problem.depth)(grams) + rest_covariance(problem, grams)


def linear_covariance(problem: Problem, grams: Array) -> Array:
    """Return C_0 (count, n, n)."""
    return problem.eta0**2 * grams + (problem.gamma0 + problem.noise) * np.eye(problem.n)


def pilot_key(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON-able data, from which pilots derive their seed: equal settings, equal draws."""
    return {
        "activation": problem.activation.text,
        "widths": list(problem.widths),
        "samples": problem.n,
        "reals": [float(value).hex() for value in (problem.noise, problem.eta0, problem.gamma0, problem.time)],
    }


def fit_controls(values: Array, controls: Array) -> tuple[tuple[float, ...], float]:
    """Return the coefficients of control variates (draws, controls) of mean 0, and the variance they leave in ``values`` (draws,).

    Controls may be linearly dependent (d_0 = 1, n = 1): least squares takes the shortest solution.
    """
    design = np.column_stack([np.ones(len(values)), controls])
    solution = np.linalg.lstsq(design, values, rcond=1e-10)[0]
    return tuple(float(entry) for entry in solution[1:]), float((values - design @ solution).var())


def input_nanoseconds(problem: Problem) -> float:
    """Return about how many nanoseconds one X takes in T: kernels and two Cholesky factors."""
    n, d = problem.n, problem.widths[0]
    one = 3000.0 + 8.0 * n * d + 100.0 * n * n + 0.6 * n**3 + (0.0 if closed_form(problem.activation) else 1.5e4)
    return one * (1.0 if problem.depth == 1 else 4.0 * problem.depth)


# Data sets ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Posterior:
    """Data sets as a target of the annealing engine.

    With the teachers' states (sets, dim), ``log_base`` = log N(Y; 0, C_B), ``energy`` = (Y^T C_B^(-1) Y - n)/2 and Y (sets, n).
    """

    target: NetworkTarget
    teachers: Array
    log_base: Array
    energy: Array
    outputs: Array


@dataclass
class DataSets:
    """Data of teachers: X^T X and A = C_B - B (sets, n, n), X (sets, d_0, n), Y (sets, n), and W_l (sets, d_l, d_(l-1))."""

    grams: Array
    kernel: Array
    inputs: Array
    outputs: Array
    weights: list[Array]

    def __getitem__(self, chosen: Any) -> DataSets:
        weights = [matrix[chosen] for matrix in self.weights]
        return DataSets(self.grams[chosen], self.kernel[chosen], self.inputs[chosen], self.outputs[chosen], weights)


def draw_data(problem: Problem, rng: np.random.Generator, sets: int) -> DataSets:
    """Draw ``sets`` data sets from teachers."""
    widths, n = problem.widths, problem.n
    inputs = problem.inputs(rng, sets)
    grams = np.swapaxes(inputs, -1, -2) @ inputs
    weights = [rng.standard_normal((sets, rows, columns)) for rows, columns in zip(widths[1:], widths[:-1])]
    signal = np.einsum("sin,si->sn", last_layer(problem.activation, inputs, weights), rng.standard_normal((sets, widths[-1])))
    noise = rng.standard_normal((sets, n))
    if problem.time:
        noise = np.einsum("sij,sj->si", np.linalg.cholesky(rest_covariance(problem, grams)), noise)
    else:
        noise = math.sqrt(problem.noise) * noise
    kernel = (1.0 - problem.time) * DeepKernel(problem.activation, problem.depth)(grams)
    return DataSets(grams, kernel, inputs, math.sqrt(1.0 - problem.time) * signal + noise, weights)


def root_of_rest(problem: Problem, grams: Array) -> Array:
    """Return R (sets, n, n) with R R^T = B^(-1)."""
    if problem.time:
        return np.swapaxes(np.linalg.inv(np.linalg.cholesky(rest_covariance(problem, grams))), -1, -2)
    return np.broadcast_to(np.eye(problem.n) / math.sqrt(problem.noise), grams.shape)


def posterior(problem: Problem, rng: np.random.Generator, sets: int, tilted: bool) -> Posterior:
    """Draw ``sets`` data sets from teachers, as a target; see :func:`as_target`."""
    return as_target(problem, draw_data(problem, rng, sets), tilted)


def as_target(problem: Problem, data: DataSets, tilted: bool) -> Posterior:
    """Return the target of ``data``; l is relative to N(Y; 0, C_B), so that Z is P(Y | X) / N(Y; 0, C_B)."""
    widths, n = problem.widths, problem.n
    rest = rest_covariance(problem, data.grams)
    log_base, square = log_normal(data.outputs, data.kernel + rest)
    proposal = None
    if tilted:
        linear = (1.0 - problem.time) * problem.eta0**2
        fixed = rest + (1.0 - problem.time) * problem.gamma0 * np.eye(n)
        proposal = tilt(data.inputs, data.outputs, fixed, linear, widths[1])
    whitening = root_of_rest(problem, data.grams) if problem.time else None
    scale = math.sqrt(1.0 - problem.time)
    target = NetworkTarget(
        problem.activation, widths, data.inputs, data.outputs, problem.noise, log_base, proposal, whitening, scale
    )
    return Posterior(target, target.coordinates(data.weights), log_base, 0.5 * (square - n), data.outputs)


def log_normal(outputs: Array, covariance: Array) -> tuple[Array, Array]:
    """Return log N(Y; 0, C) and Y^T C^(-1) Y (sets,) for outputs (sets, n) and covariances (sets, n, n)."""
    factor = np.linalg.cholesky(covariance)
    half = np.linalg.solve(factor, outputs[..., None])[..., 0]
    log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    square = np.einsum("sn,sn->s", half, half)
    return -0.5 * square - log_root - 0.5 * outputs.shape[-1] * math.log(2.0 * math.pi), square


# What depends on the inputs alone -----------------------------------------------------------------------------------------------


def half_log_determinant(matrices: Array) -> Array:
    """Return (1/2) log det (count,) of symmetric positive definite matrices (count, n, n)."""
    result: Array = np.log(np.diagonal(np.linalg.cholesky(matrices), axis1=-2, axis2=-1)).sum(axis=-1)
    return result


@dataclass(frozen=True)
class InputTerm:
    """The part of a quantity that needs X only, with control variates of known mean.

    T(X) = (1/2) log det (C_B C_0^(-1)) + t(X), or with ``against_noise`` (1/2) log det (C_B / Delta) + t(X), where
    t(X) = (1/2) tr C_B^(-1) (E[w K_W + B | X] - C_B) vanishes at depth 1.
    """

    problem: Problem
    against_noise: bool

    def values(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Return T (count,) and the control variates (count, controls), each of mean 0."""
        problem, n, d = self.problem, self.problem.n, self.problem.widths[0]
        inputs = problem.inputs(rng, count)
        grams = np.swapaxes(inputs, -1, -2) @ inputs
        base = base_covariance(problem, grams)
        squares = np.diagonal(grams, axis1=-2, axis2=-1)
        alone = np.diagonal(base, axis1=-2, axis2=-1)
        values = half_log_determinant(base)
        if self.against_noise:
            values = values - 0.5 * n * math.log(problem.noise)
            single = 0.5 * np.log(alone / problem.noise).sum(axis=-1)
        else:
            linear = linear_covariance(problem, grams)
            values = values - half_log_determinant(linear)
            single = 0.5 * np.log(alone / np.diagonal(linear, axis1=-2, axis2=-1)).sum(axis=-1)
        controls = [
            # |x|^2 is chi^2_d / d: mean 1, second moment 1 + 2/d; an overlap has second moment 1/d.
            squares.sum(axis=-1) - n,
            np.square(squares).sum(axis=-1) - n * (1.0 + 2.0 / d),
            np.square(grams).sum(axis=(-2, -1)) - n * (1.0 + 2.0 / d) - n * (n - 1.0) / d,
            single - n * _single(problem, self.against_noise),
        ]
        if problem.depth > 1 and problem.time < 1:
            trace, differences = self._trace(rng, grams, base)
            return values + trace, np.stack([*controls, *differences], axis=1)
        return values, np.stack(controls, axis=1)

    def _trace(self, rng: np.random.Generator, grams: Array, base: Array) -> tuple[Array, list[Array]]:
        """Return t(X) from weights of the layers below the last, and differences of mean zero given X that follow it.

        The last layer is averaged exactly: E[K_L | K_(L-1)] = h(K_(L-1)).  K_l - h(K_(l-1)) has mean zero given the layers below.
        """
        problem = self.problem
        layer = LayerKernel(problem.activation)
        inverse = np.linalg.inv(base)
        diagonal = np.diagonal(inverse, axis1=-2, axis2=-1)
        count, n = len(grams), problem.n
        mean = np.zeros(count)
        differences = [np.zeros(count) for _ in range(2 * (problem.depth - 1))]
        for _ in range(WEIGHTS_PER_INPUT):
            gram = grams
            for index, rows in enumerate(problem.widths[1:-1]):
                expected = layer(gram)
                # Rows of W x are iid N(0, gram) given the layer below.
                rows_of_u = rng.standard_normal((count, rows, n)) @ _root(gram)
                problem.activation.into(rows_of_u)
                gram = np.swapaxes(rows_of_u, -1, -2) @ rows_of_u / rows
                change = gram - expected
                differences[2 * index] += np.einsum("sij,sij->s", inverse, change)
                differences[2 * index + 1] += np.einsum("si,sii->s", diagonal, change)
            mean += np.einsum("sij,sij->s", inverse, layer(gram))
        expected = DeepKernel(problem.activation, problem.depth)(grams)
        trace = mean / WEIGHTS_PER_INPUT - np.einsum("sij,sij->s", inverse, expected)
        return 0.5 * (1.0 - problem.time) * trace, [difference / WEIGHTS_PER_INPUT for difference in differences]


def _root(grams: Array) -> Array:
    """Return R with R^T R = gram, also where it is singular (n > d)."""
    values, vectors = np.linalg.eigh(grams)
    # Eigenvalues of a Gram matrix are >= 0; rounding puts those that vanish on either side of 0.
    result: Array = np.sqrt(np.maximum(values, 0.0))[..., :, None] * np.swapaxes(vectors, -1, -2)
    return result


@functools.lru_cache(maxsize=256)
def _single(problem: Problem, against_noise: bool) -> float:
    """Return E (1/2) log (C_B / C_0) for one sample, or (C_B / Delta), by the trapezoidal rule in log |x|^2."""
    d = problem.widths[0]
    # The density of u = log |x|^2 is exp((d/2) (u - e^u)): outside this window it is below e^-40 of its maximum, and it is
    # analytic and decays on both sides, so that the trapezoidal rule converges geometrically.
    u = np.linspace(-80.0 / d - 3.0, math.log1p(80.0 / d + 4.0 * math.sqrt(10.0 / d)) + 0.5, RADIAL_POINTS)
    log_density = 0.5 * d * (u - np.exp(u))
    density = np.exp(log_density - log_density.max())
    s = np.exp(u)
    kernel = s
    for _ in range(problem.depth):
        kernel = LayerKernel(problem.activation).variance(kernel)
    linear = problem.eta0**2 * s + problem.gamma0
    base = (1.0 - problem.time) * kernel + problem.time * linear + problem.noise
    against = problem.noise if against_noise else linear + problem.noise
    return float((density * 0.5 * np.log(base / against)).sum() / density.sum())


# Selection ----------------------------------------------------------------------------------------------------------------------

MODE_NODES = 11


@functools.lru_cache(maxsize=256)
def _gamma_nodes(shape: float) -> tuple[Array, Array]:
    """Return nodes and weights, of sum 1, for t with density ~ t^(shape - 1) e^(-shape t): eigenvalues of the Jacobi matrix."""
    i = np.arange(1, MODE_NODES)
    jacobi = np.diag(2.0 * np.arange(MODE_NODES) + shape)
    jacobi[i, i - 1] = jacobi[i - 1, i] = np.sqrt(i * (i + shape - 1.0))
    values, vectors = np.linalg.eigh(jacobi)
    return values / shape, np.square(vectors[0])


class ScalarMode:
    """q for data sets with C_t = t A + B: ``kernel`` A (sets, n, n), ``root`` R (sets, n, n), R R^T = B^(-1), and the widths."""

    def __init__(self, kernel: Array, root: Array, widths: tuple[int, ...]) -> None:
        transposed = np.swapaxes(root, -1, -2)
        values, vectors = np.linalg.eigh(transposed @ kernel @ root)
        self.root = root @ vectors
        variance = math.prod(1.0 + 2.0 / width for width in widths[1:]) - 1.0
        scales, weights = _gamma_nodes(1.0 / variance)
        self.log_weights = np.log(weights)
        # In the basis that makes B = 1 and A diagonal, coordinate i has variance t a_i + 1.
        variances = scales[:, None] * values[:, None, :] + 1.0
        self.ones = ones = values + 1.0
        self.log_ratios = -0.5 * np.log(variances / ones[:, None, :]).sum(axis=-1)
        self.forms = -0.5 * (1.0 / variances - 1.0 / ones[:, None, :])

    def log_ratio(self, outputs: Array) -> Array:
        """Return log q (sets,) at outputs Y (sets, n)."""
        squares = np.square(np.matmul(outputs[:, None, :], self.root))
        exponents = np.matmul(squares, np.swapaxes(self.forms, -1, -2)) + (self.log_ratios + self.log_weights)[:, None, :]
        top = exponents.max(axis=-1, keepdims=True)
        result: Array = top[:, 0, 0] + np.log(np.exp(exponents - top).sum(axis=-1))[:, 0]
        return result

    def energy(self, outputs: Array) -> Array:
        """Return (Y^T C_B^(-1) Y - n)/2 (sets,)."""
        squares = np.square(np.matmul(outputs[:, None, :], self.root))[:, 0]
        result: Array = 0.5 * ((squares / self.ones).sum(axis=-1) - outputs.shape[-1])
        return result


FLOOR = 0.5
MOST, ENOUGH = 64, 16

CHEAP, DEAR = 4e5, 1e7
"""Nanoseconds that the candidates of one data set may take even where its paths take less: for up to MOST, for up to ENOUGH."""

MOST_NUMBERS = 1 << 22
"""Numbers in the largest array of all candidates of one data set, 32 MiB."""


def candidate_nanoseconds(problem: Problem) -> float:
    """Return about how many nanoseconds one candidate takes: weights, kernel and its eigenvalues; fitted to measurements."""
    n = problem.n
    numbers = n * (problem.widths[0] + 2) + sum(rows * (columns + n) for rows, columns in zip(problem.widths[1:], problem.widths))
    kernel = 1000.0 + 60.0 * n * n + (0.0 if closed_form(problem.activation) else 8.0e3)
    return 2000.0 + problem.depth * kernel + 10.0 * numbers + 2.0 * n**3


def candidates(problem: Problem, nanoseconds: float) -> int:
    """Return m, the number of candidates for a data set whose paths take ``nanoseconds``: they may take half as long.

    >>> from theoryck.numerics.functions.activation import Activation
    >>> [candidates(Problem((d, d), d, 0.5, Activation("erf(x)"), Activation("x"), 0.65, 0.04), 1e5) for d in (4, 32, 128)]
    [64, 16, 1]
    """
    n, one = problem.n, candidate_nanoseconds(problem)
    pairs = zip(problem.widths[1:], problem.widths[:-1])
    largest = max(n * n, n * max(problem.widths), *(rows * columns for rows, columns in pairs))
    wanted = max(max(CHEAP, 0.5 * nanoseconds) / one, min(float(ENOUGH), DEAR / one))
    return max(min(MOST, int(wanted), MOST_NUMBERS // largest), 1)


def select(problem: Problem, rng: np.random.Generator, sets: int, count: int) -> tuple[DataSets, Array]:
    """Return ``sets`` data sets, each one of ``count``, and their weights (sets,): E[w F(data)] = E F(data of a teacher)."""
    data = draw_data(problem, rng, sets * count)
    if count == 1:
        return data, np.ones(sets)
    mode = ScalarMode(data.kernel, root_of_rest(problem, data.grams), problem.widths)
    log_q, energy = mode.log_ratio(data.outputs), mode.energy(data.outputs)
    shares = [_shares(guess.reshape(sets, count)) for guess in (log_q + np.expm1(-log_q), np.maximum(energy, 0.0) ** 4)]
    chance = FLOOR / count + 0.5 * (1.0 - FLOOR) * (shares[0] + shares[1])
    steps = np.cumsum(chance, axis=1)
    # The last step is 1 up to rounding, and numbers drawn are below it.
    chosen = (steps[:, :-1] <= rng.random((sets, 1)) * steps[:, -1:]).sum(axis=1)
    rows = np.arange(sets)
    return data[rows * count + chosen], 1.0 / (count * chance[rows, chosen])


def _shares(guesses: Array) -> Array:
    """Return guesses (sets, m) >= 0 divided by their sums; where these are 0 all candidates are alike."""
    total = guesses.sum(axis=1, keepdims=True)
    return np.divide(guesses, total, out=np.full_like(guesses, 1.0 / guesses.shape[1]), where=total > 0)
