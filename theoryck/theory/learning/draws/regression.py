"""Generalisation of networks with linear readout: the base linear predictor, against the equivalent generalised linear model.

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

Source of the setting: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, generalisation error.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.seeds import block_generator
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import DeepKernel, LayerKernel, describe
from theoryck.theory.learning.draws.evidence_model import Setting, fit_controls, pilot_key

Array = NDArray[np.float64]

PIECE_NUMBERS = 1 << 17
"""Normals of one piece of draws: 1 MiB, so that memory is flat in the number of draws."""

PILOT_DRAWS = 512
HIDDEN_DRAWS = 4
"""Draws of the hidden weights, at depth >= 2, over which the error at one X is averaged."""

NUMBERS_PER_SECOND = 7e7


@dataclass(frozen=True)
class Points:
    """Training inputs (p, d_0, n) and new ones (p, d_0, m) with their Gram matrix, overlaps and squares."""

    inputs: Array
    new: Array
    gram: Array
    cross: Array
    squares: Array


def draw_points(setting: Setting, rng: np.random.Generator, count: int, new: int) -> Points:
    """Draw ``count`` sets of n training and ``new`` new inputs with entries N(0, 1/d_0)."""
    n, d = setting.samples, setting.widths[0]
    together = rng.standard_normal((count, d, n + new)) / math.sqrt(d)
    inputs, fresh = together[..., :n], together[..., n:]
    transposed = np.swapaxes(inputs, -1, -2)
    return Points(inputs, fresh, transposed @ inputs, transposed @ fresh, np.square(fresh).sum(axis=1))


@dataclass(frozen=True)
class Base:
    """The base linear predictor: m_B = Y . ``weights`` (p, n, m), and C_B (p, n, n)."""

    weights: Array
    covariance: Array


def base_predictor(setting: Setting, points: Points) -> Base:
    """Return the linear predictor of an infinitely wide network; exact at depth 1, where it is the best linear one."""
    gram, cross, _ = DeepKernel(setting.activation, setting.depth).cross(points.gram, points.cross, points.squares)
    covariance = gram + setting.noise * np.eye(setting.samples)
    return Base(np.asarray(np.linalg.solve(covariance, cross), dtype=np.float64), covariance)


def _quadratic(weights: Array, gram: Array, cross: Array, squares: Array) -> Array:
    """Return (1, -w)^T K (1, -w) (p, m) for K with the blocks squares (p, m), cross (p, n, m), gram (p, n, n)."""
    result: Array = squares + np.einsum("pim,pim->pm", weights, gram @ weights - 2.0 * cross)
    return result


def base_error(setting: Setting, points: Points, base: Base, rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """Return E_B (p, m) and arrays (p, m) of mean zero given the inputs that follow its fluctuations (none at depth 1)."""
    layer, w = LayerKernel(setting.activation), base.weights
    noise = setting.noise * (1.0 + np.square(w).sum(axis=1))
    if setting.depth == 1:
        kernel = layer(points.gram), layer.cross(points.gram, points.cross, points.squares), layer.variance(points.squares)
        return noise + _quadratic(w, *kernel), []
    total = np.zeros_like(points.squares)
    changes = [np.zeros_like(total) for _ in range(2 * (setting.depth - 1))]
    for _ in range(HIDDEN_DRAWS):
        x, fresh = points.inputs, points.new
        gram, cross, squares = points.gram, points.cross, points.squares
        for index, rows in enumerate(setting.widths[1:-1]):
            expected = layer(gram), layer.cross(gram, cross, squares), layer.variance(squares)
            x, fresh = _layer(setting.activation, rng, rows, x, fresh)
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


def glm_error(setting: Setting, points: Points) -> Array:
    """Return E_0 (p, m), the error of the equivalent generalised linear model's posterior mean given X and x_new."""
    eta2 = setting.eta0**2
    explained = np.einsum("pim,pim->pm", points.cross, np.linalg.solve(setting.linear(points.gram), points.cross))
    result: Array = setting.noise + setting.gamma0 + eta2 * points.squares - eta2**2 * explained
    return result


def linear_terms(setting: Setting, points: Points, rng: np.random.Generator, against_glm: bool) -> tuple[Array, Array]:
    """Return E_B (or E_B - E_0) averaged over the new inputs (p,), and control variates (p, controls) of mean 0."""
    n, d = setting.samples, setting.widths[0]
    errors, changes = base_error(setting, points, base_predictor(setting, points), rng)
    if against_glm:
        errors = errors - glm_error(setting, points)
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
def coefficients(setting: Setting, new: int, against_glm: bool) -> tuple[float, ...]:
    """Return the coefficients of the control variates, fitted to a pilot with its own generator: equal settings, equal draws."""
    rng = block_generator(0, f"regression pilot: {against_glm}", pilot_key(setting) | {"new": new}, {}, 0)
    values, controls = [], []
    for size in pieces(PILOT_DRAWS, setting.widths[0] * (setting.samples + new)):
        value, control = linear_terms(setting, draw_points(setting, rng, size, new), rng, against_glm)
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

    setting: Setting
    new: int
    against_glm: bool
    version: int = 1

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: a formula for nanoseconds, fitted to tanh and erf at n, d = 8, 16, 32, times 0.07."""
        return linear_nanoseconds(self.setting, self.new) * NUMBERS_PER_SECOND / 1e9

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        coefficient = np.array(coefficients(self.setting, self.new, self.against_glm))
        result, start = np.empty(draws), 0
        for size in pieces(draws, self.setting.widths[0] * (self.setting.samples + self.new)):
            values, controls = linear_terms(self.setting, draw_points(self.setting, rng, size, self.new), rng, self.against_glm)
            result[start : start + size] = values - controls @ coefficient
            start += size
        return result


def linear_nanoseconds(setting: Setting, new: int) -> float:
    """Return about how many nanoseconds one X with ``new`` new inputs takes."""
    n, d = setting.samples, setting.widths[0]
    entry = 75.0 if describe(setting.activation)["closed form"] else 150.0 + 4000.0 / d
    one = 3000.0 + entry * n * (n + new)
    if setting.depth == 1:
        return one
    hidden = sum(rows * (12.0 * below + 10.0 * (n + new)) for rows, below in zip(setting.widths[1:], setting.widths[:-1]))
    return one * (1.0 + 0.6 * HIDDEN_DRAWS * (setting.depth - 1)) + HIDDEN_DRAWS * hidden


def linear_gap(
    activation: Activation, widths: tuple[int, ...], samples: int, noise: float, eta0: float, gamma0: float, new: int | None = None
) -> LinearTerm:
    """Return the sampler of E_B - E^(0), error of the base linear predictor less Bayes error of the equivalent linear model.

    ``new`` new inputs per draw, n if not given.  At depth 1, n (E_B - E^(0)) tends to a constant as n, d grow together.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("sin(x)")
    >>> sampler = linear_gap(phi, (16, 16), 16, 0.5, *constants(phi, 1))
    >>> bool(-0.26 < 16 * sampler(np.random.default_rng(0), 200).mean() < -0.19)
    True
    """
    setting = Setting(activation, tuple(widths), samples, noise, eta0, gamma0)
    return LinearTerm(setting, samples if new is None else new, True)


def linear_error(
    activation: Activation, widths: tuple[int, ...], samples: int, noise: float, eta0: float, gamma0: float, new: int | None = None
) -> LinearTerm:
    """Return the sampler of E_B, the error of the base linear predictor (the best linear one at depth 1), noise included.

    >>> from theoryck.theory.learning import constants
    >>> phi = Activation("tanh")
    >>> sampler = linear_error(phi, (8, 8), 8, 0.5, *constants(phi, 1))
    >>> bool(0.5 < sampler(np.random.default_rng(0), 100).mean() < 0.9)
    True
    """
    setting = Setting(activation, tuple(widths), samples, noise, eta0, gamma0)
    return LinearTerm(setting, samples if new is None else new, False)
