"""Posteriors of networks and linear models with any readout f, as targets of the annealing engine.

Given the weights, Y_mu ~ N(f(z_mu), Delta) independently, with preactivations z = F^T w of covariance K = F^T F given F, where
    F^T = (sqrt(1 - t) x_L^T, sqrt(t) B),     w = (a, s) ~ N(0, I),     B B^T = C = eta_0^2 X^T X + gamma_0 1:
at t = 0 the network, at t = 1 the generalised linear model, whose unknowns v and xi act through z ~ N(0, C) alone.

Paths start where z follows its law given W and Gaussian sites N(m; z, T) in place of the likelihoods.  With A = K + T, e ~ N(0, I),
    z = F^T w + K A^(-1) (m - F^T w - T^(1/2) e)        has that law (Matheron), so that
    E_(W,w) prod N(Y; f(z), Delta) = E_(W,w,e) N(m; 0, A) prod N(Y; f(z), Delta) / N(m; z, T):
the evidence is that of the sites for linear f, corrected, and a is integrated out up to the correction.  The first layer is drawn
from a Gaussian that is tilted towards the sites; its density ratio is then part of l.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.learning.draws.network_target import HiddenLayers, Tilt, inverse_and_log_root
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

PIECE_NUMBERS = 1 << 14
"""Entries of the largest array of a piece: 128 KiB, so that the handful of arrays in use stays in a second-level cache."""


@dataclass
class Sites:
    """N(m_mu; z_mu, T_mu), m and T (sets, n)."""

    mean: Array
    variance: Array


def gaussian_dim(problem: Problem) -> int:
    """Return the coordinates of s: min(n, d_0) where gamma_0 = 0, else n; 0 without a Gaussian part."""
    if not problem.has_gaussian:
        return 0
    return problem.n if problem.slope_and_rest[1] > 0 else min(problem.n, problem.widths[0])


def state_dim(problem: Problem) -> int:
    """Return the coordinates of a state: (W, a, s, e) of a network with its n auxiliary ones, or s."""
    network = 0
    if problem.has_network:
        network = sum(rows * columns for rows, columns in problem.shapes) + problem.widths[-1] + problem.n
    return network + gaussian_dim(problem)


def costs(problem: Problem) -> tuple[float, float]:
    """Return about how many nanoseconds one l takes and one l with its gradient, normals included; fitted to measurements."""
    n = problem.n
    if not problem.has_network:
        gradient = 100.0 + 12.0 * n + 0.2 * n**2
    else:
        entries = sum(problem.widths[1:]) * n
        gradient = 1000.0 + 16.0 * state_dim(problem) + 21.0 * entries + 31.0 * n**2
    return 0.5 * gradient, gradient


class LinearTarget:
    """The linear model: states s' (m,) with z = shift + s' root^T, s = mean + G s', whose law is that of s given the sites.

    ``root`` B (sets, n, m); l = log N(m; 0, C + T) + sum_mu log (N(Y_mu; f(z_mu), Delta) / N(m_mu; z_mu, T_mu)).
    """

    def __init__(self, problem: Problem, root: Array, outputs: Array, sites: Sites) -> None:
        self.problem, self.outputs = problem, outputs
        self.dim, self.sets, self.costs = root.shape[-1], len(root), costs(problem)
        self.readout_slope = problem.readout.derivative()
        self.site_mean, self.site_precision = sites.mean, 1.0 / sites.variance
        weighted = root * self.site_precision[..., None]
        precision = np.eye(self.dim) + np.swapaxes(root, -1, -2) @ weighted
        # precision = H H^T; s = precision^(-1) B^T T^(-1) m + H^(-T) s'.
        factor = np.linalg.cholesky(precision)
        self.inverse_factor = np.linalg.inv(factor)
        right = np.einsum("snm,sn->sm", weighted, sites.mean)
        half = np.einsum("sij,sj->si", self.inverse_factor, right)
        self.mean = np.einsum("sji,sj->si", self.inverse_factor, half)
        self.factor = factor
        self.root = np.ascontiguousarray(np.matmul(self.inverse_factor, np.swapaxes(root, -1, -2)))
        self.shift = np.einsum("snm,sm->sn", root, self.mean)
        # log N(m; 0, C + T) by Sylvester's and Woodbury's identities; the 2 pi of the sites cancels that of N(m; 0, C + T).
        log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        square = np.einsum("sn,sn->s", sites.mean**2, self.site_precision) - np.einsum("sm,sm->s", half, half)
        self.constant = -log_root - 0.5 * square - 0.5 * problem.n * math.log(2.0 * math.pi * problem.noise)
        self.piece = max(PIECE_NUMBERS // max(problem.n, self.dim), 1)

    def coordinates(self, s: Array) -> Array:
        """Return the states (sets, m) of s (sets, m)."""
        result: Array = np.einsum("sji,sj->si", self.factor, s - self.mean)
        return result

    def preactivations(self, states: Array) -> Array:
        """Return z (sets, chains, n)."""
        z: Array = np.matmul(states, self.root)
        z += self.shift[:, None]
        return z

    def log_ratio(self, states: Array) -> Array:
        """Return l (sets, chains) at ``states`` (sets, chains, dim)."""
        z = self.preactivations(states)
        rest = self.problem.readout(z)
        rest -= self.outputs[:, None]
        z -= self.site_mean[:, None]
        return self._value(rest, z)

    def log_ratio_and_gradient(self, states: Array) -> tuple[Array, Array]:
        """Return l (sets, chains) and its gradient (sets, chains, dim)."""
        z = self.preactivations(states)
        along = self.readout_slope(z)
        rest = self.problem.readout(z)
        rest -= self.outputs[:, None]
        z -= self.site_mean[:, None]
        values = self._value(rest, z)
        along *= rest
        along *= -1.0 / self.problem.noise
        z *= self.site_precision[:, None]
        along += z
        return values, np.matmul(along, np.swapaxes(self.root, -1, -2))

    def _value(self, rest: Array, distance: Array) -> Array:
        values: Array = np.einsum("scn,scn->sc", rest, rest)
        values *= -0.5 / self.problem.noise
        values += 0.5 * np.einsum("scn,scn,sn->sc", distance, distance, self.site_precision)
        values += self.constant[:, None]
        return values


class NetworkTarget(HiddenLayers):
    """A network, or the path from it to the linear model: states (W_1, ..., W_L, w, e) with w = (a, s).

    ``inputs`` X (sets, d_0, n), ``root`` B (sets, n, m), None at t = 0; W_1 = z ``factor``^T with the factor of ``proposal``.
    """

    def __init__(
        self, problem: Problem, inputs: Array, root: Array | None, outputs: Array, sites: Sites, proposal: Tilt | None = None
    ) -> None:
        super().__init__(problem.activation, problem.shapes, inputs, proposal, 1.0 / math.sqrt(problem.widths[-1]))
        self.problem, self.outputs, self.sites = problem, outputs, sites
        self.network_scale, scale = problem.scales
        self.rest = np.zeros((len(inputs), problem.n, problem.n))
        self.root = None
        if root is not None:
            self.root = np.ascontiguousarray(np.swapaxes(scale * root, -1, -2))
            self.rest = np.swapaxes(self.root, -1, -2) @ self.root
        index = np.arange(problem.n)
        self.rest[:, index, index] += sites.variance
        self.site_root = np.sqrt(sites.variance)
        self.readout_slope = problem.readout.derivative()
        self.dim, self.sets, self.costs = state_dim(problem), len(inputs), costs(problem)
        self.readout_start = sum(rows * columns for rows, columns in self.shapes)
        self.rest_start = self.readout_start + problem.widths[-1]
        self.site_start = self.dim - problem.n
        self.constant = 0.5 * np.log(sites.variance).sum(axis=-1) - 0.5 * problem.n * math.log(2.0 * math.pi * problem.noise)
        if proposal is not None:
            self.constant += 0.5 * problem.widths[1] * proposal.log_determinant
        largest = max([problem.n**2, *(rows * max(columns, problem.n) for rows, columns in self.shapes)])
        self.piece = max(PIECE_NUMBERS // largest, 1)

    def coordinates(self, weights: list[Array], z: Array, rng: np.random.Generator) -> Array:
        """Return states (sets, dim) for W_l (sets, d_l, d_(l-1)) and z (sets, n); (w, e) is drawn given them.

        z = K A^(-1) m + M (w, e) with M = (T A^(-1) F^T, -K A^(-1) T^(1/2)), so that g + M^+ (z - K A^(-1) m - M g), g ~ N(0, I),
        is a draw of (w, e) given W and z: exactly what a posterior sample of (W, z) lacks.
        """
        problem = self.problem
        weights = self._untilted(weights)
        hidden = self.network_scale * self._features([matrix[:, None] for matrix in weights])[-1][:, 0]
        features = hidden if self.root is None else np.concatenate([hidden, self.root], axis=-2)
        transposed = np.swapaxes(features, -1, -2)
        kernel = transposed @ features
        total = kernel + self.sites.variance[:, :, None] * np.eye(problem.n)
        inverse = np.linalg.inv(total)
        gain = kernel @ inverse
        left = self.sites.variance[:, :, None] * (inverse @ transposed)
        matrix = np.concatenate([left, -gain * self.site_root[:, None, :]], axis=-1)
        free = rng.standard_normal((self.sets, matrix.shape[-1]))
        wanted = z - np.einsum("sij,sj->si", gain, self.sites.mean) - np.einsum("sij,sj->si", matrix, free)
        # Where n exceeds the number of features M is singular, and ``wanted`` lies in its range up to rounding.
        free += np.einsum("sij,sj->si", np.linalg.pinv(matrix, rcond=1e-11), wanted)
        return np.concatenate([*(block.reshape(self.sets, -1) for block in weights), free], axis=1)

    def preactivations(self, states: Array) -> Array:
        """Return z (sets, chains, n)."""
        weights = self._matrices(states)
        features = self._features(weights)[-1]
        features *= self.network_scale
        return self._solve(states, features)[0]

    def log_ratio(self, states: Array) -> Array:
        """Return l (sets, chains) at ``states`` (sets, chains, dim)."""
        weights = self._matrices(states)
        features = self._features(weights)[-1]
        features *= self.network_scale
        z, _, _, _, base = self._solve(states, features)
        if self.proposal is not None:
            base += self._tilt_ratio(weights[0])[0]
        rest = self.problem.readout(z)
        rest -= self.outputs[:, None]
        z -= self.sites.mean[:, None]
        return base + self._correction(rest, z)

    def log_ratio_and_gradient(self, states: Array) -> tuple[Array, Array]:
        """Return l (sets, chains) and its gradient (sets, chains, dim)."""
        weights = self._matrices(states)
        slopes: list[Array] = []
        hidden = self._features(weights, slopes)
        features = self.network_scale * hidden[-1]
        z, q, alpha, inverse, values = self._solve(states, features)
        along = self.readout_slope(z)
        rest = self.problem.readout(z)
        rest -= self.outputs[:, None]
        z -= self.sites.mean[:, None]
        values += self._correction(rest, z)
        along *= rest
        along *= -1.0 / self.problem.noise
        along += z / self.sites.variance[:, None]
        # h = A^(-1) T dl/dz carries the gradient through the solve: dz = ... + h . (d(F^T w) + dK q).
        h = np.matmul(inverse, (along * self.sites.variance[:, None])[..., None])[..., 0]
        gradient = np.empty_like(states)
        gradient[..., self.site_start :] = self.site_root[:, None] * (h - along)
        gradient[..., self.readout_start : self.rest_start] = np.matmul(features, h[..., None])[..., 0]
        if self.root is not None:
            gradient[..., self.rest_start : self.site_start] = np.matmul(h, np.swapaxes(self.root, -1, -2))
        # dl/dF = w h^T + F (q h^T + h q^T + alpha alpha^T - A^(-1)).
        inner = h[..., :, None] * q[..., None, :]
        inner += np.swapaxes(inner, -1, -2).copy()
        inner += alpha[..., :, None] * alpha[..., None, :]
        inner -= inverse
        back = np.matmul(features, inner)
        back += states[..., self.readout_start : self.rest_start, None] * h[..., None, :]
        back *= self.network_scale
        self._backwards(gradient, weights, hidden, slopes, back)
        if self.proposal is not None:
            ratio, toward = self._tilt_ratio(weights[0])
            values += ratio
            self._matrices(gradient)[0][...] += toward
        return values, gradient

    def new_preactivations(self, states: Array, new: Array) -> Array:
        """Return a . x_L (sets, chains, new) at new inputs (sets, d_0, new), which the tilt has met already; t = 0.

        The posterior's (a, s) is w + F q: with it z = F^T w + K q.
        """
        weights = self._matrices(states)
        features = self._features(weights)[-1]
        features *= self.network_scale
        q = self._solve(states, features)[1]
        a = states[..., self.readout_start : self.rest_start] + np.matmul(features, q[..., None])[..., 0]
        hidden = self._features(weights, inputs=new)[-1]
        return np.asarray(np.matmul(a[..., None, :], hidden)[..., 0, :])

    def _solve(self, states: Array, features: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return z, q = A^(-1) (m - F^T w - T^(1/2) e), alpha = A^(-1) m (sets, chains, n), A^(-1), and log N(m; 0, A).

        The last without -(n/2) log (2 pi), which the sites cancel.
        """
        kernel = np.matmul(np.swapaxes(features, -1, -2), features)
        kernel += self.rest[:, None]
        inverse, log_root = inverse_and_log_root(kernel)
        prior = np.matmul(states[..., None, self.readout_start : self.rest_start], features)[..., 0, :]
        if self.root is not None:
            prior += np.matmul(states[..., self.rest_start : self.site_start], self.root)
        z = self.sites.mean[:, None] - self.site_root[:, None] * states[..., self.site_start :]
        right = np.stack([z - prior, np.broadcast_to(self.sites.mean[:, None], z.shape)], axis=-1)
        solved = np.matmul(inverse, right)
        q, alpha = solved[..., 0], solved[..., 1]
        z -= self.sites.variance[:, None] * q
        return z, q, alpha, inverse, -0.5 * np.einsum("scn,sn->sc", alpha, self.sites.mean) - log_root

    def _correction(self, rest: Array, distance: Array) -> Array:
        values: Array = np.einsum("scn,scn->sc", rest, rest)
        values *= -0.5 / self.problem.noise
        values += 0.5 * np.einsum("scn,scn,sn->sc", distance, distance, 1.0 / self.sites.variance)
        values += self.constant[:, None]
        return values
