"""Data sets of networks and linear models with any readout, drawn together from the same inputs, normals and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.evidence_target import Tilt, tilt
from theoryck.quantities.nonlinear_readout_model import ReadoutModel
from theoryck.quantities.nonlinear_readout_sites import Sites, gaussian_sites
from theoryck.quantities.nonlinear_readout_target import LinearTarget, NetworkTarget

Array = NDArray[np.float64]


@dataclass
class Normals:
    """What the data sets of several models share: X (sets, d_0, n) and standard normals u, zeta (sets, n) of z and of the noise.

    Then z = K^(1/2) u for the covariance K of z given the hidden weights, with the symmetric root, and Y = f(z) + sqrt(Delta) zeta.
    """

    inputs: Array
    u: Array
    zeta: Array


def draw_normals(model: ReadoutModel, rng: np.random.Generator, sets: int) -> Normals:
    """Draw inputs with entries N(0, 1/d_0) and the normals of ``sets`` data sets."""
    inputs = rng.standard_normal((sets, model.widths[0], model.n)) / math.sqrt(model.widths[0])
    return Normals(inputs, rng.standard_normal((sets, model.n)), rng.standard_normal((sets, model.n)))


@dataclass
class Posterior:
    """Data sets as a target of the annealing engine, the teachers' states, and what was drawn: z (sets, n), Y (sets, n),
    hidden Gram matrices K_l (sets, n, n), l = 1..L, and the covariance of z given the hidden weights."""

    target: LinearTarget | NetworkTarget
    teachers: Array
    z: Array
    outputs: Array
    grams: list[Array]
    covariance: Array


def draw_posterior(model: ReadoutModel, normals: Normals, rng: np.random.Generator, tilted: bool = True) -> Posterior:
    """Draw teachers and outputs for given normals.  The teacher's state is an exact sample of the posterior.

    Given hidden weights, z = sqrt(1-t) x_L^T a + sqrt(t) B s = F w with w = (a, s) ~ N(0, I), F = U S V^T.  Writing
    w = V U^T u + (1 - V V^T) g with independent u and g keeps w ~ N(0, I) and makes z = U S U^T u, which is (F F^T)^(1/2) u.
    """
    inputs = normals.inputs
    sets = len(inputs)
    scales = model.scales
    columns: list[Array] = []
    weights: list[Array] = []
    grams: list[Array] = []
    if model.has_network:
        hidden = inputs
        for rows, width in model.shapes:
            weights.append(rng.standard_normal((sets, rows, width)))
            hidden = np.matmul(weights[-1], hidden)
            model.activation.into(hidden)
            hidden *= 1.0 / math.sqrt(rows)
            grams.append(np.swapaxes(hidden, -1, -2) @ hidden)
        columns.append(scales[0] * np.swapaxes(hidden, -1, -2))
    root = _root(model, inputs) if model.has_gaussian else None
    if root is not None:
        columns.append(scales[1] * root)
    factor = np.concatenate(columns, axis=-1)
    left, _, right = np.linalg.svd(factor, full_matrices=False)
    free = rng.standard_normal((sets, factor.shape[-1]))
    along = np.matmul(np.swapaxes(left, -1, -2), normals.u[..., None]) - np.matmul(right, free[..., None])
    w = free + np.matmul(np.swapaxes(right, -1, -2), along)[..., 0]
    z = np.matmul(factor, w[..., None])[..., 0]
    outputs = model.readout(z) + math.sqrt(model.noise) * normals.zeta
    sites = gaussian_sites(model, model.covariance(inputs), outputs)
    target: LinearTarget | NetworkTarget
    if model.has_network:
        target = NetworkTarget(model, inputs, root, outputs, sites, _proposal(model, inputs, sites) if tilted else None)
        teachers = target.coordinates(weights, z, rng)
    else:
        assert root is not None
        target = LinearTarget(model, root, outputs, sites)
        teachers = target.coordinates(w)
    return Posterior(target, teachers, z, outputs, grams, factor @ np.swapaxes(factor, -1, -2))


def _root(model: ReadoutModel, inputs: Array) -> Array:
    """Return B (sets, n, m) with B B^T = C."""
    eta, gamma = model.slope_and_rest
    if gamma == 0 and model.n >= model.widths[0]:
        return eta * np.swapaxes(inputs, -1, -2)
    factor: Array = np.linalg.cholesky(model.covariance(inputs))
    return factor


def _proposal(model: ReadoutModel, inputs: Array, sites: Sites) -> Tilt:
    """Return the tilt of the first layer that the sites, taken for data of variance T, ask for in linear response."""
    eta, gamma = model.slope_and_rest
    gram = np.swapaxes(inputs, -1, -2) @ inputs
    fixed = (model.time * eta**2) * gram + (gamma + sites.variance)[:, :, None] * np.eye(model.n)
    return tilt(inputs, sites.mean, fixed, (1.0 - model.time) * eta**2, model.widths[1])
