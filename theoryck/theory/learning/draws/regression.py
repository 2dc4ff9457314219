"""Generalisation of networks with linear readout: the base linear predictor, and how far the Bayes predictor is from it.

For every predictor m_B(D, x_new),
    E (Y_new - m_B)^2 = E^(L) + E (m_L - m_B)^2,        m_L = E[Y_new | D, x_new], E^(L) the Bayes error,
because m_L is the orthogonal projection of Y_new.  The base predictor is m_B = w . Y, w = C_B^(-1) k_B, with the covariances
C_B = h(X) + Delta and k_B of an infinitely wide network (:class:`~theoryck.numerics.gaussian.kernels.DeepKernel`).  At depth 1
they are the exact covariances at any width, and m_B is the best linear predictor; at depth L >= 2 those have no closed form and
m_B is slightly worse than the best linear one, which only moves a little from one term to the other.  Its error given X and x_new
is
    E_B = Delta + (1, -w)^T K (1, -w) + Delta |w|^2,    K = E[Gram matrix of x_L at (x_new, X)],
exact at depth 1, else an average over hidden weights below the last layer (which itself is averaged exactly, by h).  The GLM has
    E_0 = Delta + gamma_0 + eta_0^2 |x|^2 - eta_0^4 c^T C_0^(-1) c,   c = X^T x_new,  C_0 = eta_0^2 X^T X + gamma_0 + Delta.
Both at the same X and x_new: the difference is what is averaged, less control variates of known mean 0.

Bayes.  E (m_L - m_B)^2 is had from both sides.  Given the weights, Y is Gaussian, and so m_L(D) = E[f_W(D) | D] with f_W = k_W^T
(K_W + Delta)^(-1) Y under the posterior of W, whose density with respect to the prior is r(W) = N(Y; 0, K_W + Delta) / P(Y).  Let p
= sum r f / sum r over M prior draws of W, and p* the same sums with the teacher's W* among them.  Given D, W* is an exact posterior
sample, independent of the prior draws, so
    E[p* | D] = m_L exactly        (choosing one of W*, W_1, ..., W_M with probability ~ r leaves the posterior as it is),
    E (p* - m_B)^2 >= E (m_L - m_B)^2                                                                                  (Jensen),
    E [2 t (p_1 - m_B)(p*_2 - m_B) - t^2 (p_1 - m_B)^2] = E (m_L - m_B)^2 - E (m_B + t (p_1 - m_B) - m_L)^2 <= E (m_L - m_B)^2
for every constant t, where p_1 and p_2 belong to halves of the prior draws.  t comes from a pilot of its own; the best t makes the
lower end at least 0.  The best value is (p*_1 - m_B)(q_2 - m_B), q_2 being p_2 corrected to first
order for the bias of a ratio: its bias is O(1/M^2), and noise does not enter squared.  Prior draws are shared by several data sets
with the same X.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.montecarlo.seeds import block_generator
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernel_forms import closed_form
from theoryck.numerics.gaussian.kernels import DeepKernel, LayerKernel
from theoryck.theory.learning.draws.network_data import fit_controls, linear_covariance, pilot_key
from theoryck.theory.learning.draws.network_target import last_layer
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

PIECE_NUMBERS = 1 << 17
"""Normals of one piece of draws: 1 MiB, so that memory is flat in the number of draws."""

PILOT_DRAWS = 512
HIDDEN_DRAWS = 4
"""Draws of the hidden weights, at depth >= 2, over which the error at one X is averaged."""

NUMBERS_PER_SECOND = 7e7

PRIOR_DRAWS = 2048
"""Prior draws M of the weights: relative variances of the weights up to about 10 leave a bias of 1%."""

DATA_SETS = 32
"""Data sets with the same X, for which the prior draws are shared."""

BAYES_PILOT_DRAWS = 4

POOL_NUMBERS = 1 << 14
"""Entries of the largest array of a piece of prior draws: 128 KiB."""


@dataclass(frozen=True)
class Points:
    """Training inputs (p, d_0, n) and new ones (p, d_0, m) with their Gram matrix, overlaps and squares."""

    inputs: Array
    new: Array
    gram: Array
    cross: Array
    squares: Array


def draw_points(problem: Problem, rng: np.random.Generator, count: int, new: int) -> Points:
    """Draw ``count`` sets of n training and ``new`` new inputs with entries N(0, 1/d_0)."""
    n, d = problem.n, problem.widths[0]
    together = rng.standard_normal((count, d, n + new)) / math.sqrt(d)
    inputs, fresh = together[..., :n], together[..., n:]
    transposed = np.swapaxes(inputs, -1, -2)
    return Points(inputs, fresh, transposed @ inputs, transposed @ fresh, np.square(fresh).sum(axis=1))


@dataclass(frozen=True)
class Base:
    """The base linear predictor: m_B = Y . ``weights`` (p, n, m), and C_B (p, n, n)."""

    weights: Array
    covariance: Array


def base_predictor(problem: Problem, points: Points) -> Base:
    """Return the linear predictor of an infinitely wide network; exact at depth 1, where it is the best linear one."""
    gram, cross, _ = DeepKernel(problem.activation, problem.depth).cross(points.gram, points.cross, points.squares)
    covariance = gram + problem.noise * np.eye(problem.n)
    return Base(np.asarray(np.linalg.solve(covariance, cross), dtype=np.float64), covariance)


def _quadratic(weights: Array, gram: Array, cross: Array, squares: Array) -> Array:
    """Return (1, -w)^T K (1, -w) (p, m) for K with the blocks squares (p, m), cross (p, n, m), gram (p, n, n)."""
    result: Array = squares + np.einsum("pim,pim->pm", weights, gram @ weights - 2.0 * cross)
    return result


def base_error(problem: Problem, points: Points, base: Base, rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """Return E_B (p, m) and arrays (p, m) of mean zero given the inputs that follow its fluctuations (none at depth 1)."""
    layer, w = LayerKernel(problem.activation), base.weights
    noise = problem.noise * (1.0 + np.square(w).sum(axis=1))
    if problem.depth == 1:
        kernel = layer(points.gram), layer.cross(points.gram, points.cross, points.squares), layer.variance(points.squares)
        return noise + _quadratic(w, *kernel), []
    total = np.zeros_like(points.squares)
    changes = [np.zeros_like(total) for _ in range(2 * (problem.depth - 1))]
    for _ in range(HIDDEN_DRAWS):
        x, fresh = points.inputs, points.new
        gram, cross, squares = points.gram, points.cross, points.squares
        for index, rows in enumerate(problem.widths[1:-1]):
            expected = layer(gram), layer.cross(gram, cross, squares), layer.variance(squares)
            x, fresh = _layer(problem.activation, rng, rows, x, fresh)
            transposed = np.swapaxes(x, -1, -2)
            gram, cross, squares = transposed @ x, transposed @ fresh, np.square(fresh).sum(axis=1)
            # Given the layer below, Gram matrices have the mean h: these differences have mean 0.
            changes[2 * index] += _quadratic(w, gram, cross, squares) - _quadratic(w, *expected)
            changes[2 * index + 1] += squares - expected[2]
        total += _quadratic(w, layer(gram), layer.cross(gram, cross, squares), layer.variance(squares))
    return noise + total / HIDDEN_DRAWS, [change / HIDDEN_DRAWS for change in changes]


def _layer(activation: Activation, rng: np.random.Generator, rows: int, x: Array, fresh: Array) -> tuple[Array, Array]:
    together = rng.standard_normal((len(x), rows, x.shape[1])) @ np.concatenate([x, fresh], axis=-1)
    activation.into(together)
    together *= 1.0 / math.sqrt(rows)
    return together[..., : x.shape[-1]], together[..., x.shape[-1] :]


def glm_error(problem: Problem, points: Points) -> Array:
    """Return E_0 (p, m), the error of the equivalent generalised linear model's posterior mean given X and x_new."""
    eta2 = problem.eta0**2
    explained = np.einsum("pim,pim->pm", points.cross, np.linalg.solve(linear_covariance(problem, points.gram), points.cross))
    result: Array = problem.noise + problem.gamma0 + eta2 * points.squares - eta2**2 * explained
    return result


def linear_terms(problem: Problem, points: Points, rng: np.random.Generator, against_glm: bool) -> tuple[Array, Array]:
    """Return E_B (or E_B - E_0) averaged over the new inputs (p,), and control variates (p, controls) of mean 0."""
    n, d = problem.n, problem.widths[0]
    errors, changes = base_error(problem, points, base_predictor(problem, points), rng)
    if against_glm:
        errors = errors - glm_error(problem, points)
    squares, trained = points.squares, np.diagonal(points.gram, axis1=-2, axis2=-1)
    overlaps = np.square(points.cross).sum(axis=1)
    # |x|^2 is chi^2_d / d: mean 1, second moment 1 + 2/d; the overlap of two inputs has second moment 1/d.
    controls = [
        squares.mean(axis=1) - 1.0,
        np.square(squares).mean(axis=1) - (1.0 + 2.0 / d),
        overlaps.mean(axis=1) - n / d,
        # Given X, E |X^T x|^2 = tr(X^T X)/d, and E |x|^2 |X^T x|^2 = (1 + 2/d) tr(X^T X)/d.
        overlaps.mean(axis=1) - trained.sum(axis=1) / d,
        (overlaps * squares).mean(axis=1) - (1.0 + 2.0 / d) * n / d,
        np.square(trained).sum(axis=1) - n * (1.0 + 2.0 / d),
        np.square(points.gram).sum(axis=(-2, -1)) - n * (1.0 + 2.0 / d) - n * (n - 1.0) / d,
        *(change.mean(axis=1) for change in changes),
    ]
    return errors.mean(axis=1), np.stack(controls, axis=1)


@functools.lru_cache(maxsize=256)
def coefficients(problem: Problem, new: int, against_glm: bool) -> tuple[float, ...]:
    """Return the coefficients of the control variates, fitted to a pilot with its own generator: equal settings, equal draws."""
    rng = block_generator(0, f"regression pilot: {against_glm}", pilot_key(problem) | {"new": new}, {}, 0)
    values, controls = [], []
    for size in pieces(PILOT_DRAWS, problem.widths[0] * (problem.n + new)):
        value, control = linear_terms(problem, draw_points(problem, rng, size, new), rng, against_glm)
        values.append(value)
        controls.append(control)
    return fit_controls(np.concatenate(values), np.concatenate(controls))[0]


def pieces(draws: int, numbers: int) -> list[int]:
    """Return sizes of pieces that add up to ``draws``, each of about PIECE_NUMBERS random numbers."""
    step = max(PIECE_NUMBERS // numbers, 1)
    return [min(step, draws - start) for start in range(0, draws, step)]


@dataclass(frozen=True)
class LinearTerm:
    """One-sided draws (draws,) of E_B, or with ``against_glm`` of E_B - E^(0); a draw is one X with ``new`` new inputs."""

    problem: Problem
    new: int
    against_glm: bool
    version: int = 1

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: a formula for nanoseconds, fitted to tanh and erf at n, d = 8, 16, 32, times 0.07."""
        return linear_nanoseconds(self.problem, self.new) * NUMBERS_PER_SECOND / 1e9

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        coefficient = np.array(coefficients(self.problem, self.new, self.against_glm))
        result, start = np.empty(draws), 0
        for size in pieces(draws, self.problem.widths[0] * (self.problem.n + self.new)):
            values, controls = linear_terms(self.problem, draw_points(self.problem, rng, size, self.new), rng, self.against_glm)
            result[start : start + size] = values - controls @ coefficient
            start += size
        return result


def linear_nanoseconds(problem: Problem, new: int) -> float:
    """Return about how many nanoseconds one X with ``new`` new inputs takes."""
    n, d = problem.n, problem.widths[0]
    entry = 75.0 if closed_form(problem.activation) else 150.0 + 4000.0 / d
    one = 3000.0 + entry * n * (n + new)
    if problem.depth == 1:
        return one
    hidden = sum(rows * (12.0 * below + 10.0 * (n + new)) for rows, below in zip(problem.widths[1:], problem.widths[:-1]))
    return one * (1.0 + 0.6 * HIDDEN_DRAWS * (problem.depth - 1)) + HIDDEN_DRAWS * hidden


# The Bayes predictor ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Predictions:
    """log N(Y; 0, K_W + Delta) (weights, sets) and f_W at the new inputs (weights, m, sets)."""

    log: Array
    mean: Array


def predictions(problem: Problem, inputs: Array, new: Array, outputs: Array, weights: list[Array]) -> Predictions:
    """Return log N(Y; 0, K_W + Delta), up to a constant, and f_W for ``outputs`` (n, sets) and weights (count, d_l, d_(l-1))."""
    n = inputs.shape[-1]
    features = last_layer(problem.activation, np.concatenate([inputs, new], axis=-1), weights)
    x, fresh = features[..., :n], features[..., n:]
    transposed = np.swapaxes(x, -1, -2)
    dual = n <= problem.widths[-1]
    # Of x^T x + Delta (n, n) and x x^T + Delta (d_L, d_L) the smaller one; the readout's posterior mean is
    # x (x^T x + Delta)^(-1) Y = (x x^T + Delta)^(-1) x Y.
    gram = transposed @ x if dual else x @ transposed
    right = np.broadcast_to(outputs, (len(x), *outputs.shape)) if dual else x @ outputs
    size = gram.shape[-1]
    index = np.arange(size)
    gram[..., index, index] += problem.noise
    solved = np.linalg.solve(gram, right)
    log_root = np.log(np.diagonal(np.linalg.cholesky(gram), axis1=-2, axis2=-1)).sum(axis=-1)
    square = np.einsum("wis,wis->ws", right, solved)
    readout = x @ solved if dual else solved
    if not dual:
        # Y^T (x^T x + Delta)^(-1) Y = (|Y|^2 - (x Y)^T (x x^T + Delta)^(-1) x Y) / Delta.
        square = (np.square(outputs).sum(axis=0) - square) / problem.noise
    return Predictions(-0.5 * square - log_root[:, None], np.swapaxes(fresh, -1, -2) @ readout)


def prior_weights(problem: Problem, rng: np.random.Generator, count: int) -> list[Array]:
    """Return ``count`` draws W_l (count, d_l, d_(l-1)) from the prior, one after the other in the stream of random numbers."""
    sizes = [rows * columns for rows, columns in zip(problem.widths[1:], problem.widths[:-1])]
    flat = rng.standard_normal((count, sum(sizes)))
    parts = np.split(flat, np.cumsum(sizes)[:-1], axis=1)
    shapes = zip(problem.widths[1:], problem.widths[:-1])
    return [part.reshape(count, rows, columns) for part, (rows, columns) in zip(parts, shapes)]


def pool(problem: Problem, inputs: Array, new: Array, outputs: Array, draws: int, rng: np.random.Generator) -> Predictions:
    """Return the predictions of ``draws`` prior draws, made piece by piece."""
    logs, means = [], []
    step = max(POOL_NUMBERS // (problem.widths[-1] * max(inputs.shape[-1] + new.shape[-1], problem.widths[-2])), 1)
    for start in range(0, draws, step):
        found = predictions(problem, inputs, new, outputs, prior_weights(problem, rng, min(step, draws - start)))
        logs.append(found.log)
        means.append(found.mean)
    return Predictions(np.concatenate(logs), np.concatenate(means))


@dataclass(frozen=True)
class Mixed:
    """Weighted means (m, sets) over part of the pool: p, q (p corrected for the bias of a ratio) and p* (with the teacher)."""

    plain: Array
    corrected: Array
    with_teacher: Array


def mix(found: Predictions, teacher: Predictions, part: slice) -> Mixed:
    """Return the self-normalised means of f over ``part`` of the pool; ``teacher`` holds log (sets,) and mean (m, sets)."""
    log, mean = found.log[part], found.mean[part]
    top = log.max(axis=0)
    share = np.exp(log - top)
    total = share.sum(axis=0)
    share /= total
    plain = np.einsum("ws,wms->ms", share, mean)
    # E[sum w f / sum w] = m - M E[w^2 (f - m)] / (M E w)^2 + O(1/M^2), and share^2 estimates w^2 / (M E w)^2.
    corrected = plain * (1.0 - np.square(share).sum(axis=0)) + np.einsum("ws,wms->ms", share**2, mean)
    # The teacher's share is 1 / (1 + total exp(top - log)), without overflow on either side.
    own = scipy.special.expit(teacher.log - top - np.log(total))
    return Mixed(plain, corrected, plain + own * (teacher.mean - plain))


def moments(found: Predictions, teacher: Predictions, base: Array) -> Array:
    """Return the means over new inputs and data sets of
    (p_1 - m_B)(p*_2 - m_B), (p_1 - m_B)^2, (p* - m_B)^2, (q_1 - m_B)(p*_2 - m_B) (4,), averaged over the two roles of the halves.
    """
    half = len(found.log) // 2
    whole = mix(found, teacher, slice(None))
    halves = [mix(found, teacher, part) for part in (slice(0, half), slice(half, None))]
    product = square = best = 0.0
    for one, two in (halves, halves[::-1]):
        away, unbiased = one.plain - base, two.with_teacher - base
        product += 0.5 * float(np.mean(away * unbiased))
        square += 0.5 * float(np.mean(away**2))
        best += 0.5 * float(np.mean((one.corrected - base) * unbiased))
    return np.array([product, square, np.mean((whole.with_teacher - base) ** 2), best])


@dataclass(frozen=True)
class DataSets:
    """Y (n, sets) at one X from teachers of their own, and the teachers' predictions."""

    outputs: Array
    teacher: Predictions


def draw_data(problem: Problem, inputs: Array, new: Array, sets: int, rng: np.random.Generator) -> DataSets:
    """Draw ``sets`` teachers and their outputs at ``inputs`` (d_0, n)."""
    weights = prior_weights(problem, rng, sets)
    features = last_layer(problem.activation, inputs, weights)
    readout, noise = rng.standard_normal((sets, problem.widths[-1])), rng.standard_normal((sets, problem.n))
    outputs = (np.einsum("sin,si->sn", features, readout) + math.sqrt(problem.noise) * noise).T
    own = predictions(problem, inputs, new, outputs, weights)
    index = np.arange(sets)
    return DataSets(outputs, Predictions(own.log[index, index], own.mean[index, :, index].T))


@dataclass(frozen=True)
class BayesGap:
    """Two-sided draws (draws, 3) of E (m_L - m_B)^2; a draw is one X with ``sets`` data sets and ``new`` new inputs."""

    problem: Problem
    new: int
    shrinkage: float = 1.0
    sets: int = DATA_SETS
    prior_draws: int = PRIOR_DRAWS
    version: int = 1

    def __post_init__(self) -> None:
        if self.prior_draws < 4 or self.sets < 1 or self.new < 1:
            raise ValueError(
                f"prior_draws must be at least 4, sets and new at least 1, got {self.prior_draws}, {self.sets} and {self.new}"
            )

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: nanoseconds by a formula fitted to n = d = 8, 16, 24, times 0.07."""
        return bayes_nanoseconds(self.problem, self.new, self.sets, self.prior_draws) * NUMBERS_PER_SECOND / 1e9

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows low, high, best (draws, 3)."""
        t, result = self.shrinkage, np.empty((draws, 3))
        for index in range(draws):
            product, square, high, best = self.moments(rng)
            result[index] = 2.0 * t * product - t * t * square, high, best
        return result

    def moments(self, rng: np.random.Generator) -> Array:
        """Return the moments (4,) of one draw; see :func:`moments`."""
        points = draw_points(self.problem, rng, 1, self.new)
        base = base_predictor(self.problem, points)
        inputs, new = points.inputs[0], points.new[0]
        data = draw_data(self.problem, inputs, new, self.sets, rng)
        found = pool(self.problem, inputs, new, data.outputs, self.prior_draws, rng)
        return moments(found, data.teacher, base.weights[0].T @ data.outputs)


@functools.lru_cache(maxsize=256)
def shrinkage(problem: Problem, new: int, sets: int, prior_draws: int) -> float:
    """Return t = product / square from a pilot with its own generator: equal settings, equal draws."""
    sampler = BayesGap(problem, new, 1.0, sets, prior_draws)
    rng = block_generator(0, "bayes gap pilot", pilot_key(problem) | {"new": new, "sets": sets, "prior draws": prior_draws}, {}, 0)
    product, square, *_ = np.mean([sampler.moments(rng) for _ in range(BAYES_PILOT_DRAWS)], axis=0)
    return float(min(max(product / square, 0.0), 1.0)) if square > 0 else 0.0


def bayes_nanoseconds(problem: Problem, new: int, sets: int, prior_draws: int) -> float:
    """Return about how many nanoseconds one X with ``sets`` data sets and ``prior_draws`` prior draws takes."""
    n, together = problem.n, problem.n + new
    small = min(n, problem.widths[-1])
    layers = sum(rows * (8.0 * below + 8.0 * together) for rows, below in zip(problem.widths[1:], problem.widths[:-1]))
    one = 4500.0 + layers + 0.6 * small**3 + sets * (6.0 * new + 0.8 * small**2)
    return linear_nanoseconds(problem, new) + prior_draws * one


@dataclass(frozen=True)
class Combined:
    """scale * (E_B-term - E (m_L - m_B)^2) + shift, two-sided (draws, 3): the errors of the Bayes and the Gibbs predictor.

    The two terms are averaged over inputs of their own: the first has little variance and costs little.
    """

    linear: LinearTerm
    gap: BayesGap
    repeats: int
    scale: float = 1.0
    shift: float = 0.0
    version: int = 1

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw."""
        return self.gap.cost + self.repeats * self.linear.cost

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows low, high, best (draws, 3)."""
        base = self.linear(rng, draws * self.repeats).reshape(draws, self.repeats).mean(axis=1)
        gap = self.gap(rng, draws)
        # A lower end of what is subtracted makes an upper end of the difference.
        return self.scale * (base[:, None] - gap[:, [1, 0, 2]]) + self.shift


def linear_gap(problem: Problem) -> LinearTerm:
    """Return the sampler of E_B - E^(0), error of the base linear predictor less Bayes error of the equivalent linear model.

    n new inputs per draw.  At depth 1, n (E_B - E^(0)) tends to a constant as n, d grow together.
    """
    return LinearTerm(problem, problem.n, True)


def bayes_gap(problem: Problem, prior_draws: int = PRIOR_DRAWS) -> BayesGap:
    """Return the sampler of E (m_L - m_B)^2, Bayes predictor against the base linear one, two-sided.

    Useful while log r varies by a few units under the prior: n up to about 24 at n = d, Delta = 1/2.  Beyond, it stays honest and
    becomes wide.
    """
    return BayesGap(problem, problem.n, shrinkage(problem, problem.n, DATA_SETS, prior_draws), DATA_SETS, prior_draws)


def generalisation_gap(problem: Problem, prior_draws: int = PRIOR_DRAWS) -> Combined:
    """Return the sampler of E^(L) - E^(0) = (E_B - E^(0)) - E (m_L - m_B)^2, two-sided.

    >>> from theoryck.numerics.functions import Activation
    >>> problem = Problem((4, 4), 4, 0.5, Activation("erf"), Activation("x"), 0.651470015870560, 0.0401458728192)
    >>> low, high, best = generalisation_gap(problem, prior_draws=64)(np.random.default_rng(0), 20).mean(axis=0)
    >>> bool(-0.08 < low < high < 0)
    True
    """
    return _combined(bayes_gap(problem, prior_draws), against_glm=True)


def generalisation_error(problem: Problem, prior_draws: int = PRIOR_DRAWS) -> Combined:
    """Return the sampler of the Bayes error E^(L) = E_B - E (m_L - m_B)^2 of the network, noise included, two-sided."""
    return _combined(bayes_gap(problem, prior_draws), against_glm=False)


def gibbs_error(problem: Problem, prior_draws: int = PRIOR_DRAWS) -> Combined:
    """Return the sampler of E (Y_new - a . x_L(x_new))^2 with (a, W) drawn from the posterior: 2 E^(L) - Delta, two-sided.

    Teacher and sample are independent and alike given the data, so that their signals differ by twice the posterior variance,
    E^(L) - Delta, in mean square.
    """
    return _combined(bayes_gap(problem, prior_draws), against_glm=False, scale=2.0, shift=-problem.noise)


def _combined(gap: BayesGap, against_glm: bool, scale: float = 1.0, shift: float = 0.0) -> Combined:
    linear = LinearTerm(gap.problem, gap.new, against_glm)
    # About a tenth of the time goes into the linear term.
    repeats = int(min(max(0.1 * gap.cost / linear.cost, 1.0), 256.0))
    return Combined(linear, gap, repeats, scale, shift)
