"""The posterior of a network's weights given its data, readout vector integrated out, as a target of the annealing engine.

Given W_1, ..., W_L, Y ~ N(0, w K_W + B) with K_W = x_L^T x_L; w = 1 and B = Delta I for the network itself, and w = 1 - tau,
B = tau (eta_0^2 X^T X + gamma_0) + Delta on the path to the generalised linear model.  With B = R^(-T) R^(-1) everything is a unit
noise problem for F = sqrt(w) x_L R and R^T Y, and then
    log N(Y; 0, F^T F + 1)   needs a Cholesky factor of size min(n, d_L), by Woodbury's identity.
States are standard Gaussian coordinates of the weights.  The first layer may be drawn from a Gaussian that is tilted towards the
data; its density ratio is then part of l.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg.lapack
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]

PIECE_NUMBERS = 1 << 14
"""Entries of the largest array of a piece: 128 KiB, so that the handful of arrays in use stays in a second-level cache."""

LOOP_FROM = 12
"""From this size on one call of LAPACK per matrix is faster than numpy's batched inverse."""

TILT_ROUNDS = 6
SMALLEST_PRECISION = 0.2


def last_layer(activation: Activation, inputs: Array, weights: list[Array]) -> Array:
    """Return x_L (..., d_L, n), x_l = phi(W_l x_(l-1)) / sqrt(d_l)."""
    hidden = inputs
    for matrix in weights:
        hidden = np.matmul(matrix, hidden)
        activation.into(hidden)
        hidden *= 1.0 / math.sqrt(matrix.shape[-2])
    return hidden


@dataclass
class Tilt:
    """A Gaussian N(0, Sigma) for the rows of W_1: W_1 = z ``factor``^T, Sigma = factor factor^T (sets, d_0, d_0)."""

    factor: Array
    excess: Array = field(init=False)
    log_determinant: Array = field(init=False)

    def __post_init__(self) -> None:
        # log N(w; 0, I) - log N(w; 0, Sigma) = (1/2) z^T (I - factor^T factor) z + (1/2) log det Sigma for w = factor z.
        self.excess = np.eye(self.factor.shape[-1]) - np.swapaxes(self.factor, -1, -2) @ self.factor
        self.log_determinant = 2.0 * np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(axis=-1)


def tilt(inputs: Array, outputs: Array, fixed: Array, slope: float, width: int) -> Tilt:
    """Return the Gaussian of the rows of W_1 that a self-consistent linear response to the data gives.

    To first order log N(Y; 0, C + dK) = tr(S dK) + const with S = (a a^T - C^(-1))/2, a = C^(-1) Y, and a row w of W_1 adds
    about (slope/width) X^T w w^T X to dK; so its posterior is about N(0, Sigma), Sigma^(-1) = I - (2 slope/width) X S X^T, where
    C = slope X^T Sigma X + ``fixed``.  Any Sigma gives exact results: it is only a proposal, and depends on the data alone.
    """
    d = inputs.shape[-2]
    transposed = np.swapaxes(inputs, -1, -2)
    sigma = np.broadcast_to(np.eye(d), (len(inputs), d, d))
    for step in range(TILT_ROUNDS):
        inverse = np.linalg.inv(slope * (transposed @ sigma @ inputs) + fixed)
        a = inverse @ outputs[..., None]
        response = inputs @ (a @ np.swapaxes(a, -1, -2) - inverse) @ transposed
        values, vectors = np.linalg.eigh(response)
        # A floor under the precision keeps the proposal proper where the linear response is too strong.
        precision = np.maximum(1.0 - (slope / width) * values, SMALLEST_PRECISION)
        new = (vectors / precision[:, None, :]) @ np.swapaxes(vectors, -1, -2)
        sigma = new if step == 0 else 0.5 * (sigma + new)
    return Tilt(np.asarray(np.linalg.cholesky(sigma), dtype=np.float64))


def piece_of(widths: tuple[int, ...], samples: int) -> int:
    """Return how many states fill a piece."""
    largest = max(*(rows * max(columns, samples) for rows, columns in zip(widths[1:], widths[:-1])), min(samples, widths[-1]) ** 2)
    return max(PIECE_NUMBERS // largest, 1)


def costs(widths: tuple[int, ...], samples: int) -> tuple[float, float]:
    """Return about how many nanoseconds one value of l and one with its gradient take, normals included; fitted to measurements."""
    pairs = list(zip(widths[1:], widths[:-1]))
    normals = sum(rows * columns for rows, columns in pairs)
    entries = sum(rows * samples for rows, _ in pairs)
    small, large = sorted((samples, widths[-1]))
    products = sum(rows * columns * samples for rows, columns in pairs)
    gram = small * small * large
    value = 300.0 + 8.0 * normals + 8.0 * entries + 0.06 * products + 0.1 * gram + 0.12 * small**3
    return value, 1500.0 + 14.0 * normals + 22.0 * entries + 0.2 * products + 0.25 * gram + 0.4 * small**3


class HiddenLayers:
    """x_1, ..., x_L as functions of standard Gaussian coordinates of W_1, ..., W_L, the first perhaps drawn from a tilted law.

    ``shapes`` are those of the matrices, ``inputs`` X (sets, d_0, n); x_L is scaled by ``last_scale``.
    """

    def __init__(
        self, activation: Activation, shapes: list[tuple[int, int]], inputs: Array, proposal: Tilt | None, last_scale: float
    ) -> None:
        self.activation, self.slope, self.shapes = activation, activation.derivative(), shapes
        self.proposal, self.last_scale = proposal, last_scale
        self.inputs = inputs if proposal is None else np.swapaxes(proposal.factor, -1, -2) @ inputs

    def _matrices(self, states: Array) -> list[Array]:
        """Return views (sets, chains, rows, columns) into ``states``, layer by layer."""
        start, views = 0, []
        for rows, columns in self.shapes:
            stop = start + rows * columns
            views.append(states[..., start:stop].reshape(*states.shape[:-1], rows, columns))
            start = stop
        return views

    def _untilted(self, weights: list[Array]) -> list[Array]:
        """Return the coordinates (sets, rows, columns) of weights W_l (sets, d_l, d_(l-1))."""
        if self.proposal is None:
            return weights
        first = np.linalg.solve(self.proposal.factor, np.swapaxes(weights[0], -1, -2))
        return [np.swapaxes(first, -1, -2), *weights[1:]]

    def _features(self, weights: list[Array], slopes: list[Array] | None = None, inputs: Array | None = None) -> list[Array]:
        """Return x_1, ..., x_L (sets, chains, d_l, n), and append phi' of every layer to ``slopes``."""
        inputs = self.inputs if inputs is None else inputs
        hidden: list[Array] = []
        for layer, matrix in enumerate(weights):
            if layer:
                u = np.matmul(matrix, hidden[-1])
            else:
                sets, chains, rows, columns = matrix.shape
                # One product for all chains of a data set: the inputs are shared.
                u = np.matmul(matrix.reshape(sets, chains * rows, columns), inputs).reshape(sets, chains, rows, -1)
            if slopes is not None:
                slopes.append(self.slope(u))
            self.activation.into(u)
            u *= self.last_scale if layer == len(weights) - 1 else 1.0 / math.sqrt(u.shape[-2])
            hidden.append(u)
        return hidden

    def _backwards(self, gradient: Array, weights: list[Array], hidden: list[Array], slopes: list[Array], back: Array) -> None:
        """Write dl/dW_l into ``gradient`` from ``back`` = dl/dx_L."""
        parts = self._matrices(gradient)
        for layer in range(len(weights) - 1, -1, -1):
            back *= slopes[layer]
            back *= self.last_scale if layer == len(weights) - 1 else 1.0 / math.sqrt(self.shapes[layer][0])
            below = hidden[layer - 1] if layer else self.inputs[:, None]
            parts[layer][...] = np.matmul(back, np.swapaxes(below, -1, -2))
            if layer:
                back = np.matmul(np.swapaxes(weights[layer], -1, -2), back)

    def _tilt_ratio(self, first: Array) -> tuple[Array, Array]:
        """Return the log density ratio of the tilt (sets, chains) and its gradient."""
        assert self.proposal is not None
        sets, chains, rows, columns = first.shape
        along = np.matmul(first.reshape(sets, chains * rows, columns), self.proposal.excess).reshape(first.shape)
        return 0.5 * np.einsum("scij,scij->sc", first, along), along


class NetworkTarget(HiddenLayers):
    """l(z) = log N(Y; 0, w K_W + B) - ``offset`` (+ the density ratio of the tilt), W the weights that z stands for.

    ``whitening`` is R (sets, n, n) with R R^T = B^(-1), times sqrt(w) in ``scale``; None stands for B = ``noise`` I.
    """

    def __init__(
        self,
        activation: Activation,
        widths: tuple[int, ...],
        inputs: Array,
        outputs: Array,
        noise: float,
        offset: Array,
        proposal: Tilt | None = None,
        whitening: Array | None = None,
        scale: float = 1.0,
    ) -> None:
        last_scale = scale / math.sqrt(widths[-1] * noise if whitening is None else widths[-1])
        super().__init__(activation, list(zip(widths[1:], widths[:-1])), inputs, proposal, last_scale)
        self.widths, self.samples, self.last = widths, inputs.shape[-1], whitening
        if whitening is None:
            self.outputs = outputs / math.sqrt(noise)
            log_root = np.full(len(inputs), -0.5 * self.samples * math.log(noise))
        else:
            self.outputs = np.matmul(outputs[:, None, :], whitening)[:, 0]
            log_root = np.log(np.diagonal(whitening, axis1=-2, axis2=-1)).sum(axis=-1)
        self.square = np.einsum("sn,sn->s", self.outputs, self.outputs)
        self.constant = log_root - 0.5 * self.samples * math.log(2.0 * math.pi) - offset
        if proposal is not None:
            self.constant = self.constant + 0.5 * widths[1] * proposal.log_determinant
        self.dim = sum(rows * columns for rows, columns in self.shapes)
        self.sets = len(inputs)
        self.piece = piece_of(widths, self.samples)
        self.costs = costs(widths, self.samples)

    def coordinates(self, weights: list[Array]) -> Array:
        """Return the states (sets, dim) of weights W_l (sets, d_l, d_(l-1))."""
        return np.concatenate([matrix.reshape(self.sets, -1) for matrix in self._untilted(weights)], axis=1)

    def log_ratio(self, states: Array) -> Array:
        """Return l (sets, chains) at ``states`` (sets, chains, dim)."""
        weights = self._matrices(states)
        values = self._log_density(self._whitened(self._features(weights)[-1]))
        if self.proposal is not None:
            values += self._tilt_ratio(weights[0])[0]
        return values

    def log_ratio_and_gradient(self, states: Array) -> tuple[Array, Array]:
        """Return l (sets, chains) and its gradient (sets, chains, dim)."""
        weights = self._matrices(states)
        slopes: list[Array] = []
        hidden = self._features(weights, slopes)
        values, back = self._log_density_and_gradient(self._whitened(hidden[-1]))
        gradient = np.empty_like(states)
        if self.last is not None:
            back = np.matmul(back, np.swapaxes(self.last, -1, -2)[:, None])
        self._backwards(gradient, weights, hidden, slopes, back)
        if self.proposal is not None:
            ratio, along = self._tilt_ratio(weights[0])
            values += ratio
            self._matrices(gradient)[0][...] += along
        return values, gradient

    def _whitened(self, features: Array) -> Array:
        return features if self.last is None else np.matmul(features, self.last[:, None])

    def _gram(self, features: Array) -> tuple[Array, Array]:
        """Return the smaller of F^T F + 1 and F F^T + 1, and Y or F Y with it (sets, chains, m, 1)."""
        transposed = np.swapaxes(features, -1, -2)
        if features.shape[-1] <= features.shape[-2]:
            gram = np.matmul(transposed, features)
            right = np.broadcast_to(self.outputs[:, None, :, None], (*gram.shape[:-1], 1))
        else:
            gram = np.matmul(features, transposed)
            right = np.matmul(features, self.outputs[:, None, :, None])
        index = np.arange(gram.shape[-1])
        gram[..., index, index] += 1.0
        return gram, right

    def _log_density(self, features: Array) -> Array:
        gram, right = self._gram(features)
        m = gram.shape[-1]
        bordered = np.empty((*gram.shape[:-2], m + 1, m + 1))
        bordered[..., :m, :m] = gram
        bordered[..., m, :m] = right[..., 0]
        # The last row of the Cholesky factor of the bordered matrix is L^(-1) right; |Y|^2 + 1 exceeds its square in both cases,
        # since F F^T + 1 >= F F^T and F^T F + 1 >= 1.
        bordered[..., m, m] = self.square[:, None] + 1.0
        factor = np.linalg.cholesky(bordered)
        half = factor[..., m, :m]
        square = np.einsum("scm,scm->sc", half, half)
        log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)[..., :m]).sum(axis=-1)
        return self._assemble(features, square, log_root)

    def _assemble(self, features: Array, square: Array, log_root: Array) -> Array:
        if features.shape[-1] > features.shape[-2]:
            square = self.square[:, None] - square
        result: Array = self.constant[:, None] - 0.5 * square - log_root
        return result

    def _log_density_and_gradient(self, features: Array) -> tuple[Array, Array]:
        """Return log N and its gradient in F, F (a a^T - A^(-1)) with A = F^T F + 1 and a = A^(-1) Y."""
        gram, right = self._gram(features)
        inverse, log_root = inverse_and_log_root(gram)
        solved = np.matmul(inverse, right)
        square = np.einsum("scij,scij->sc", right, solved)
        values = self._assemble(features, square, log_root)
        if features.shape[-1] <= features.shape[-2]:
            # F (a a^T - A^(-1)), the outer product taken on the small side.
            inverse -= np.matmul(solved, np.swapaxes(solved, -1, -2))
            return values, -np.matmul(features, inverse)
        # F A^(-1) = (F F^T + 1)^(-1) F, so that F a = solved and a = Y - F^T solved.
        a = self.outputs[:, None, :, None] - np.matmul(np.swapaxes(features, -1, -2), solved)
        return values, np.matmul(solved, np.swapaxes(a, -1, -2)) - np.matmul(inverse, features)


class SingularError(np.linalg.LinAlgError):
    """A covariance that float64 cannot tell from a singular one; the message says what to do."""

    @classmethod
    def of(cls, matrices: Array) -> SingularError:
        """Return the error for matrices (..., m, m)."""
        largest = float(np.max(np.abs(matrices)))
        return cls(
            f"a covariance of the outputs, with entries up to {largest:.3g}, is not positive definite in float64: take more noise, "
            "or an activation and a readout that grow less fast"
        )


def inverse_and_log_root(matrices: Array) -> tuple[Array, Array]:
    """Return the inverses (..., m, m) of symmetric positive definite matrices and half their log determinants (...,).

    Raises SingularError for a matrix that is not positive definite, or not finite.
    """
    m = matrices.shape[-1]
    if m < LOOP_FROM:
        try:
            factor = np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:
            raise SingularError.of(matrices) from None
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64), np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    flat = matrices.reshape(-1, m, m)
    inverse, diagonal = np.empty_like(flat), np.empty((len(flat), m))
    for index, matrix in enumerate(flat):
        # A symmetric matrix in C order is itself in Fortran order: .T spares a copy.
        factor, info = scipy.linalg.lapack.dpotrf(matrix.T, lower=1)
        if info:
            raise SingularError.of(matrix)
        diagonal[index] = factor.diagonal()
        inverse[index] = scipy.linalg.lapack.dpotri(factor, lower=1)[0].T
    # Only one triangle is filled.
    upper = np.triu(inverse)
    full: Array = np.asarray(upper + np.swapaxes(np.triu(inverse, 1), -1, -2), dtype=np.float64)
    return full.reshape(matrices.shape), np.log(diagonal).sum(axis=-1).reshape(matrices.shape[:-2])
