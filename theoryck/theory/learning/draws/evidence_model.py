"""Networks with linear readout: data sets, the Gaussian base measure N(Y; 0, C_B), and what depends on the inputs alone.

C_B = w h(X) + B is the covariance of Y given X that an infinitely wide network has: exact at depth 1, for any width.  Here h is the
kernel of :mod:`theoryck.numerics.gaussian.kernels` applied L times, and (w, B) are as in
:mod:`theoryck.theory.learning.draws.evidence_target`. C_0 = eta_0^2 X^T X + (gamma_0 + Delta) 1 belongs to the generalised linear
model.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import DeepKernel, LayerKernel, describe
from theoryck.theory.learning.draws.evidence_target import NetworkTarget, last_layer, tilt

Array = NDArray[np.float64]

RADIAL_POINTS = 2001
WEIGHTS_PER_INPUT = 8
"""Draws of the hidden weights, at depth >= 2, over which the trace term of one X is averaged."""


@dataclass(frozen=True)
class Setting:
    """Plain data: widths (d_0, ..., d_L), n, Delta > 0, phi, eta_0, gamma_0, and where on the path: tau = 0 is the network."""

    activation: Activation
    widths: tuple[int, ...]
    samples: int
    noise: float
    eta0: float
    gamma0: float
    tau: float = 0.0

    def __post_init__(self) -> None:
        if len(self.widths) < 2 or min(self.widths) < 1 or self.samples < 1:
            raise ValueError(
                f"widths must be (d_0, ..., d_L) with L >= 1 and samples >= 1, got {self.widths!r} and {self.samples!r}"
            )
        if not self.noise > 0:
            raise ValueError(f"noise must be > 0, got {self.noise!r}: without noise the evidence has no density to compare")
        if not 0 <= self.tau <= 1:
            raise ValueError(f"tau must be between 0 (the network) and 1 (the generalised linear model), got {self.tau!r}")
        if not self.gamma0 >= 0:
            raise ValueError(f"gamma0 is a variance: it must be >= 0, got {self.gamma0!r}")

    @property
    def depth(self) -> int:
        """L."""
        return len(self.widths) - 1

    def grams(self, rng: np.random.Generator, count: int) -> Array:
        """Return X^T X (count, n, n) for fresh inputs."""
        inputs = self.inputs(rng, count)
        result: Array = np.swapaxes(inputs, -1, -2) @ inputs
        return result

    def inputs(self, rng: np.random.Generator, count: int) -> Array:
        """Return X (count, d_0, n) with entries N(0, 1/d_0)."""
        return rng.standard_normal((count, self.widths[0], self.samples)) / math.sqrt(self.widths[0])

    def rest(self, grams: Array) -> Array:
        """Return B = tau (eta_0^2 X^T X + gamma_0) + Delta."""
        return self.tau * self.eta0**2 * grams + (self.tau * self.gamma0 + self.noise) * np.eye(self.samples)

    def base(self, grams: Array) -> Array:
        """Return C_B (count, n, n)."""
        return (1.0 - self.tau) * DeepKernel(self.activation, self.depth)(grams) + self.rest(grams)

    def linear(self, grams: Array) -> Array:
        """Return C_0 (count, n, n)."""
        return self.eta0**2 * grams + (self.gamma0 + self.noise) * np.eye(self.samples)


def pilot_key(setting: Setting) -> dict[str, Any]:
    """Return a setting as JSON-able data, from which pilots derive their seed: equal settings, equal draws."""
    return {
        "activation": setting.activation.text,
        "widths": list(setting.widths),
        "samples": setting.samples,
        "reals": [float(value).hex() for value in (setting.noise, setting.eta0, setting.gamma0, setting.tau)],
    }


def fit_controls(values: Array, controls: Array) -> tuple[tuple[float, ...], float]:
    """Return the coefficients of control variates (draws, controls) of mean 0, and the variance they leave in ``values`` (draws,).

    Controls may be linearly dependent (d_0 = 1, n = 1): least squares takes the shortest solution.
    """
    design = np.column_stack([np.ones(len(values)), controls])
    solution = np.linalg.lstsq(design, values, rcond=1e-10)[0]
    return tuple(float(entry) for entry in solution[1:]), float((values - design @ solution).var())


def input_nanoseconds(setting: Setting) -> float:
    """Return about how many nanoseconds one X takes in T: kernels and two Cholesky factors."""
    n, d = setting.samples, setting.widths[0]
    one = 3000.0 + 8.0 * n * d + 100.0 * n * n + 0.6 * n**3 + (0.0 if describe(setting.activation)["closed form"] else 1.5e4)
    return one * (1.0 if setting.depth == 1 else 4.0 * setting.depth)


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


def draw_data(setting: Setting, rng: np.random.Generator, sets: int) -> DataSets:
    """Draw ``sets`` data sets from teachers."""
    widths, n = setting.widths, setting.samples
    inputs = setting.inputs(rng, sets)
    grams = np.swapaxes(inputs, -1, -2) @ inputs
    weights = [rng.standard_normal((sets, rows, columns)) for rows, columns in zip(widths[1:], widths[:-1])]
    signal = np.einsum("sin,si->sn", last_layer(setting.activation, inputs, weights), rng.standard_normal((sets, widths[-1])))
    noise = rng.standard_normal((sets, n))
    if setting.tau:
        noise = np.einsum("sij,sj->si", np.linalg.cholesky(setting.rest(grams)), noise)
    else:
        noise = math.sqrt(setting.noise) * noise
    kernel = (1.0 - setting.tau) * DeepKernel(setting.activation, setting.depth)(grams)
    return DataSets(grams, kernel, inputs, math.sqrt(1.0 - setting.tau) * signal + noise, weights)


def root_of_rest(setting: Setting, grams: Array) -> Array:
    """Return R (sets, n, n) with R R^T = B^(-1)."""
    if setting.tau:
        return np.swapaxes(np.linalg.inv(np.linalg.cholesky(setting.rest(grams))), -1, -2)
    return np.broadcast_to(np.eye(setting.samples) / math.sqrt(setting.noise), grams.shape)


def posterior(setting: Setting, rng: np.random.Generator, sets: int, tilted: bool) -> Posterior:
    """Draw ``sets`` data sets from teachers, as a target; see :func:`as_target`."""
    return as_target(setting, draw_data(setting, rng, sets), tilted)


def as_target(setting: Setting, data: DataSets, tilted: bool) -> Posterior:
    """Return the target of ``data``; l is relative to N(Y; 0, C_B), so that Z is P(Y | X) / N(Y; 0, C_B)."""
    widths, n = setting.widths, setting.samples
    rest = setting.rest(data.grams)
    log_base, square = log_normal(data.outputs, data.kernel + rest)
    proposal = None
    if tilted:
        linear = (1.0 - setting.tau) * setting.eta0**2
        fixed = rest + (1.0 - setting.tau) * setting.gamma0 * np.eye(n)
        proposal = tilt(data.inputs, data.outputs, fixed, linear, widths[1])
    whitening = root_of_rest(setting, data.grams) if setting.tau else None
    scale = math.sqrt(1.0 - setting.tau)
    target = NetworkTarget(
        setting.activation, widths, data.inputs, data.outputs, setting.noise, log_base, proposal, whitening, scale
    )
    return Posterior(target, target.coordinates(data.weights), log_base, 0.5 * (square - n), data.outputs)


def log_normal(outputs: Array, covariance: Array) -> tuple[Array, Array]:
    """Return log N(Y; 0, C) and Y^T C^(-1) Y (sets,) for outputs (sets, n) and covariances (sets, n, n)."""
    factor = np.linalg.cholesky(covariance)
    half = np.linalg.solve(factor, outputs[..., None])[..., 0]
    log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    square = np.einsum("sn,sn->s", half, half)
    return -0.5 * square - log_root - 0.5 * outputs.shape[-1] * math.log(2.0 * math.pi), square


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

    setting: Setting
    against_noise: bool

    def values(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Return T (count,) and the control variates (count, controls), each of mean 0."""
        setting, n, d = self.setting, self.setting.samples, self.setting.widths[0]
        grams = setting.grams(rng, count)
        base = setting.base(grams)
        squares = np.diagonal(grams, axis1=-2, axis2=-1)
        alone = np.diagonal(base, axis1=-2, axis2=-1)
        values = half_log_determinant(base)
        if self.against_noise:
            values = values - 0.5 * n * math.log(setting.noise)
            single = 0.5 * np.log(alone / setting.noise).sum(axis=-1)
        else:
            linear = setting.linear(grams)
            values = values - half_log_determinant(linear)
            single = 0.5 * np.log(alone / np.diagonal(linear, axis1=-2, axis2=-1)).sum(axis=-1)
        controls = [
            # |x|^2 is chi^2_d / d: mean 1, second moment 1 + 2/d; an overlap has second moment 1/d.
            squares.sum(axis=-1) - n,
            np.square(squares).sum(axis=-1) - n * (1.0 + 2.0 / d),
            np.square(grams).sum(axis=(-2, -1)) - n * (1.0 + 2.0 / d) - n * (n - 1.0) / d,
            single - n * _single(setting, self.against_noise),
        ]
        if setting.depth > 1 and setting.tau < 1:
            trace, differences = self._trace(rng, grams, base)
            return values + trace, np.stack([*controls, *differences], axis=1)
        return values, np.stack(controls, axis=1)

    def _trace(self, rng: np.random.Generator, grams: Array, base: Array) -> tuple[Array, list[Array]]:
        """Return t(X) from weights of the layers below the last, and differences of mean zero given X that follow it.

        The last layer is averaged exactly: E[K_L | K_(L-1)] = h(K_(L-1)).  K_l - h(K_(l-1)) has mean zero given the layers below.
        """
        setting = self.setting
        layer = LayerKernel(setting.activation)
        inverse = np.linalg.inv(base)
        diagonal = np.diagonal(inverse, axis1=-2, axis2=-1)
        count, n = len(grams), setting.samples
        mean = np.zeros(count)
        differences = [np.zeros(count) for _ in range(2 * (setting.depth - 1))]
        for _ in range(WEIGHTS_PER_INPUT):
            gram = grams
            for index, rows in enumerate(setting.widths[1:-1]):
                expected = layer(gram)
                # Rows of W x are iid N(0, gram) given the layer below.
                rows_of_u = rng.standard_normal((count, rows, n)) @ _root(gram)
                setting.activation.into(rows_of_u)
                gram = np.swapaxes(rows_of_u, -1, -2) @ rows_of_u / rows
                change = gram - expected
                differences[2 * index] += np.einsum("sij,sij->s", inverse, change)
                differences[2 * index + 1] += np.einsum("si,sii->s", diagonal, change)
            mean += np.einsum("sij,sij->s", inverse, layer(gram))
        expected = DeepKernel(setting.activation, setting.depth)(grams)
        trace = mean / WEIGHTS_PER_INPUT - np.einsum("sij,sij->s", inverse, expected)
        return 0.5 * (1.0 - setting.tau) * trace, [difference / WEIGHTS_PER_INPUT for difference in differences]


def _root(grams: Array) -> Array:
    """Return R with R^T R = gram, also where it is singular (n > d)."""
    values, vectors = np.linalg.eigh(grams)
    # Eigenvalues of a Gram matrix are >= 0; rounding puts those that vanish on either side of 0.
    result: Array = np.sqrt(np.maximum(values, 0.0))[..., :, None] * np.swapaxes(vectors, -1, -2)
    return result


@functools.lru_cache(maxsize=256)
def _single(setting: Setting, against_noise: bool) -> float:
    """Return E (1/2) log (C_B / C_0) for one sample, or (C_B / Delta), by the trapezoidal rule in log |x|^2."""
    d = setting.widths[0]
    # The density of u = log |x|^2 is exp((d/2) (u - e^u)): outside this window it is below e^-40 of its maximum, and it is
    # analytic and decays on both sides, so that the trapezoidal rule converges geometrically.
    u = np.linspace(-80.0 / d - 3.0, math.log1p(80.0 / d + 4.0 * math.sqrt(10.0 / d)) + 0.5, RADIAL_POINTS)
    log_density = 0.5 * d * (u - np.exp(u))
    density = np.exp(log_density - log_density.max())
    s = np.exp(u)
    kernel = s
    for _ in range(setting.depth):
        kernel = LayerKernel(setting.activation).variance(kernel)
    linear = setting.eta0**2 * s + setting.gamma0
    base = (1.0 - setting.tau) * kernel + setting.tau * linear + setting.noise
    against = setting.noise if against_noise else linear + setting.noise
    return float((density * 0.5 * np.log(base / against)).sum() / density.sum())
