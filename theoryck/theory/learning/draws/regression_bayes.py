"""E (m_L - m_B)^2: how far the Bayes predictor of a network is from its base linear predictor, from both sides.

Given the weights, Y is Gaussian, and so m_L(D) = E[f_W(D) | D] with f_W = k_W^T (K_W + Delta)^(-1) Y under the posterior of W,
whose density with respect to the prior is r(W) = N(Y; 0, K_W + Delta) / P(Y).  Let p = sum r f / sum r over M prior draws of W, and
p* the same sums with the teacher's W* among them.  Given D, W* is an exact posterior sample, independent of the prior draws, so
    E[p* | D] = m_L exactly        (choosing one of W*, W_1, ..., W_M with probability ~ r leaves the posterior as it is),
    E (p* - m_B)^2 >= E (m_L - m_B)^2                                                                                  (Jensen),
    E [2 t (p_1 - m_B)(p*_2 - m_B) - t^2 (p_1 - m_B)^2] = E (m_L - m_B)^2 - E (m_B + t (p_1 - m_B) - m_L)^2 <= E (m_L - m_B)^2
for every constant t, where p_1 and p_2 belong to halves of the prior draws.  t comes from a pilot of its own; the best t makes the
lower end at least 0.  The best value is (p*_1 - m_B)(q_2 - m_B), q_2 being p_2 corrected to first
order for the bias of a ratio: its bias is O(1/M^2), and noise does not enter squared.  Prior draws are shared by several data sets
with the same X.

Source of the setting: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, generalisation error.
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
from theoryck.theory.learning.draws.evidence_model import Setting, pilot_key
from theoryck.theory.learning.draws.evidence_target import last_layer
from theoryck.theory.learning.draws.regression import (
    NUMBERS_PER_SECOND,
    LinearTerm,
    base_predictor,
    draw_points,
    linear_nanoseconds,
)

Array = NDArray[np.float64]

PRIOR_DRAWS = 2048
"""Prior draws M of the weights: relative variances of the weights up to about 10 leave a bias of 1%."""

DATA_SETS = 32
"""Data sets with the same X, for which the prior draws are shared."""

PILOT_DRAWS = 4

PIECE_NUMBERS = 1 << 14
"""Entries of the largest array of a piece of prior draws: 128 KiB."""


@dataclass(frozen=True)
class Predictions:
    """log N(Y; 0, K_W + Delta) (weights, sets) and f_W at the new inputs (weights, m, sets)."""

    log: Array
    mean: Array


def predictions(setting: Setting, inputs: Array, new: Array, outputs: Array, weights: list[Array]) -> Predictions:
    """Return log N(Y; 0, K_W + Delta), up to a constant, and f_W for ``outputs`` (n, sets) and weights (count, d_l, d_(l-1))."""
    n = inputs.shape[-1]
    features = last_layer(setting.activation, np.concatenate([inputs, new], axis=-1), weights)
    x, fresh = features[..., :n], features[..., n:]
    transposed = np.swapaxes(x, -1, -2)
    dual = n <= setting.widths[-1]
    # Of x^T x + Delta (n, n) and x x^T + Delta (d_L, d_L) the smaller one; the readout's posterior mean is
    # x (x^T x + Delta)^(-1) Y = (x x^T + Delta)^(-1) x Y.
    gram = transposed @ x if dual else x @ transposed
    right = np.broadcast_to(outputs, (len(x), *outputs.shape)) if dual else x @ outputs
    size = gram.shape[-1]
    index = np.arange(size)
    gram[..., index, index] += setting.noise
    solved = np.linalg.solve(gram, right)
    log_root = np.log(np.diagonal(np.linalg.cholesky(gram), axis1=-2, axis2=-1)).sum(axis=-1)
    square = np.einsum("wis,wis->ws", right, solved)
    readout = x @ solved if dual else solved
    if not dual:
        # Y^T (x^T x + Delta)^(-1) Y = (|Y|^2 - (x Y)^T (x x^T + Delta)^(-1) x Y) / Delta.
        square = (np.square(outputs).sum(axis=0) - square) / setting.noise
    return Predictions(-0.5 * square - log_root[:, None], np.swapaxes(fresh, -1, -2) @ readout)


def prior_weights(setting: Setting, rng: np.random.Generator, count: int) -> list[Array]:
    """Return ``count`` draws W_l (count, d_l, d_(l-1)) from the prior, one after the other in the stream of random numbers."""
    sizes = [rows * columns for rows, columns in zip(setting.widths[1:], setting.widths[:-1])]
    flat = rng.standard_normal((count, sum(sizes)))
    parts = np.split(flat, np.cumsum(sizes)[:-1], axis=1)
    shapes = zip(setting.widths[1:], setting.widths[:-1])
    return [part.reshape(count, rows, columns) for part, (rows, columns) in zip(parts, shapes)]


def pool(setting: Setting, inputs: Array, new: Array, outputs: Array, draws: int, rng: np.random.Generator) -> Predictions:
    """Return the predictions of ``draws`` prior draws, made piece by piece."""
    logs, means = [], []
    step = max(PIECE_NUMBERS // (setting.widths[-1] * max(inputs.shape[-1] + new.shape[-1], setting.widths[-2])), 1)
    for start in range(0, draws, step):
        found = predictions(setting, inputs, new, outputs, prior_weights(setting, rng, min(step, draws - start)))
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


def draw_data(setting: Setting, inputs: Array, new: Array, sets: int, rng: np.random.Generator) -> DataSets:
    """Draw ``sets`` teachers and their outputs at ``inputs`` (d_0, n)."""
    weights = prior_weights(setting, rng, sets)
    features = last_layer(setting.activation, inputs, weights)
    readout, noise = rng.standard_normal((sets, setting.widths[-1])), rng.standard_normal((sets, setting.samples))
    outputs = (np.einsum("sin,si->sn", features, readout) + math.sqrt(setting.noise) * noise).T
    own = predictions(setting, inputs, new, outputs, weights)
    index = np.arange(sets)
    return DataSets(outputs, Predictions(own.log[index, index], own.mean[index, :, index].T))


@dataclass(frozen=True)
class BayesGap:
    """Two-sided draws (draws, 3) of E (m_L - m_B)^2; a draw is one X with ``sets`` data sets and ``new`` new inputs."""

    setting: Setting
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
        return bayes_nanoseconds(self.setting, self.new, self.sets, self.prior_draws) * NUMBERS_PER_SECOND / 1e9

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows low, high, best (draws, 3)."""
        t, result = self.shrinkage, np.empty((draws, 3))
        for index in range(draws):
            product, square, high, best = self.moments(rng)
            result[index] = 2.0 * t * product - t * t * square, high, best
        return result

    def moments(self, rng: np.random.Generator) -> Array:
        """Return the moments (4,) of one draw; see :func:`moments`."""
        points = draw_points(self.setting, rng, 1, self.new)
        base = base_predictor(self.setting, points)
        inputs, new = points.inputs[0], points.new[0]
        data = draw_data(self.setting, inputs, new, self.sets, rng)
        found = pool(self.setting, inputs, new, data.outputs, self.prior_draws, rng)
        return moments(found, data.teacher, base.weights[0].T @ data.outputs)


@functools.lru_cache(maxsize=256)
def shrinkage(setting: Setting, new: int, sets: int, prior_draws: int) -> float:
    """Return t = product / square from a pilot with its own generator: equal settings, equal draws."""
    sampler = BayesGap(setting, new, 1.0, sets, prior_draws)
    rng = block_generator(0, "bayes gap pilot", pilot_key(setting) | {"new": new, "sets": sets, "prior draws": prior_draws}, {}, 0)
    product, square, *_ = np.mean([sampler.moments(rng) for _ in range(PILOT_DRAWS)], axis=0)
    return float(min(max(product / square, 0.0), 1.0)) if square > 0 else 0.0


def bayes_nanoseconds(setting: Setting, new: int, sets: int, prior_draws: int) -> float:
    """Return about how many nanoseconds one X with ``sets`` data sets and ``prior_draws`` prior draws takes."""
    n, together = setting.samples, setting.samples + new
    small = min(n, setting.widths[-1])
    layers = sum(rows * (8.0 * below + 8.0 * together) for rows, below in zip(setting.widths[1:], setting.widths[:-1]))
    one = 4500.0 + layers + 0.6 * small**3 + sets * (6.0 * new + 0.8 * small**2)
    return linear_nanoseconds(setting, new) + prior_draws * one


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


Widths = tuple[int, ...]


def bayes_gap(
    activation: Activation, widths: Widths, samples: int, noise: float, eta0: float, gamma0: float, prior_draws: int = PRIOR_DRAWS
) -> BayesGap:
    """Return the sampler of E (m_L - m_B)^2, Bayes predictor against the base linear one, two-sided.

    Useful while log r varies by a few units under the prior: n up to about 24 at n = d, Delta = 1/2.  Beyond, it stays honest and
    becomes wide.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("tanh")
    >>> sampler = bayes_gap(phi, (4, 4), 4, 0.5, *constants(phi, 1), prior_draws=64)
    >>> low, high, best = sampler(np.random.default_rng(0), 20).mean(axis=0)
    >>> bool(low < best < high)
    True
    """
    setting = Setting(activation, tuple(widths), samples, noise, eta0, gamma0)
    return BayesGap(setting, samples, shrinkage(setting, samples, DATA_SETS, prior_draws), DATA_SETS, prior_draws)


def generalisation_gap(
    activation: Activation, widths: Widths, samples: int, noise: float, eta0: float, gamma0: float, prior_draws: int = PRIOR_DRAWS
) -> Combined:
    """Return the sampler of E^(L) - E^(0) = (E_B - E^(0)) - E (m_L - m_B)^2, two-sided.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("tanh")
    >>> sampler = generalisation_gap(phi, (4, 4), 4, 0.5, *constants(phi, 1), prior_draws=64)
    >>> low, high, best = sampler(np.random.default_rng(0), 20).mean(axis=0)
    >>> bool(-0.08 < low < high < 0)
    True
    """
    gap = bayes_gap(activation, widths, samples, noise, eta0, gamma0, prior_draws)
    return _combined(gap, against_glm=True)


def generalisation_error(
    activation: Activation, widths: Widths, samples: int, noise: float, eta0: float, gamma0: float, prior_draws: int = PRIOR_DRAWS
) -> Combined:
    """Return the sampler of the Bayes error E^(L) = E_B - E (m_L - m_B)^2 of the network, noise included, two-sided.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("tanh")
    >>> sampler = generalisation_error(phi, (4, 4), 4, 0.5, *constants(phi, 1), prior_draws=64)
    >>> low, high, best = sampler(np.random.default_rng(0), 20).mean(axis=0)
    >>> bool(0.5 < low < high < 1)
    True
    """
    gap = bayes_gap(activation, widths, samples, noise, eta0, gamma0, prior_draws)
    return _combined(gap, against_glm=False)


def gibbs_error(
    activation: Activation, widths: Widths, samples: int, noise: float, eta0: float, gamma0: float, prior_draws: int = PRIOR_DRAWS
) -> Combined:
    """Return the sampler of E (Y_new - a . x_L(x_new))^2 with (a, W) drawn from the posterior: 2 E^(L) - Delta, two-sided.

    Teacher and sample are independent and alike given the data, so that their signals differ by twice the posterior variance,
    E^(L) - Delta, in mean square.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("tanh")
    >>> sampler = gibbs_error(phi, (4, 4), 4, 0.5, *constants(phi, 1), prior_draws=64)
    >>> low, high, best = sampler(np.random.default_rng(0), 20).mean(axis=0)
    >>> bool(0.7 < low < high < 1.5)
    True
    """
    gap = bayes_gap(activation, widths, samples, noise, eta0, gamma0, prior_draws)
    return _combined(gap, against_glm=False, scale=2.0, shift=-noise)


def _combined(gap: BayesGap, against_glm: bool, scale: float = 1.0, shift: float = 0.0) -> Combined:
    linear = LinearTerm(gap.setting, gap.new, against_glm)
    # About a tenth of the time goes into the linear term.
    repeats = int(min(max(0.1 * gap.cost / linear.cost, 1.0), 256.0))
    return Combined(linear, gap, repeats, scale, shift)
