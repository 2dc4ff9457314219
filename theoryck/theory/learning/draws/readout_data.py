"""Data sets of networks and linear models with any readout, drawn together from the same inputs, normals and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.learning.draws.evidence_target import Tilt, tilt
from theoryck.theory.learning.draws.readout_model import ReadoutModel
from theoryck.theory.learning.draws.readout_sites import Sites, gaussian_sites
from theoryck.theory.learning.draws.readout_target import LinearTarget, NetworkTarget

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
class Teacher:
    """What was drawn: W_1, ..., W_L, w = (a, s), z and Y (sets, n), K = Cov(z | W) (sets, n, n), and B (sets, n, m) or None."""

    inputs: Array
    weights: list[Array]
    readout: Array
    z: Array
    outputs: Array
    covariance: Array
    root: Array | None


def draw_teacher(model: ReadoutModel, normals: Normals, rng: np.random.Generator) -> Teacher:
    """Draw weights and outputs for given normals.

    Given hidden weights, z = sqrt(1-t) x_L^T a + sqrt(t) B s = F^T w with w = (a, s) ~ N(0, I), F^T = U S V^T.  Writing
    w = V U^T u + (1 - V V^T) g with independent u and g keeps w ~ N(0, I) and makes z = U S U^T u, which is K^(1/2) u.
    """
    inputs, scales = normals.inputs, model.scales
    columns: list[Array] = []
    weights: list[Array] = []
    if model.has_network:
        hidden = inputs
        for rows, width in model.shapes:
            weights.append(rng.standard_normal((len(inputs), rows, width)))
            hidden = np.matmul(weights[-1], hidden)
            model.activation.into(hidden)
            hidden *= 1.0 / math.sqrt(rows)
        columns.append(scales[0] * np.swapaxes(hidden, -1, -2))
    root = linear_root(model, inputs) if model.has_gaussian else None
    if root is not None:
        columns.append(scales[1] * root)
    factor = np.concatenate(columns, axis=-1)
    left, _, right = np.linalg.svd(factor, full_matrices=False)
    w = rng.standard_normal((len(inputs), factor.shape[-1]))
    along = np.einsum("sni,sn->si", left, normals.u) - np.einsum("sij,sj->si", right, w)
    w += np.einsum("sij,si->sj", right, along)
    z = np.einsum("snj,sj->sn", factor, w)
    outputs = model.readout(z) + math.sqrt(model.noise) * normals.zeta
    return Teacher(inputs, weights, w, z, outputs, factor @ np.swapaxes(factor, -1, -2), root)


@dataclass
class Posterior:
    """Data sets as a target of the annealing engine, the teachers' states (sets, dim), exact samples of it, and the sites."""

    target: LinearTarget | NetworkTarget
    teachers: Array
    sites: Sites


def posterior(model: ReadoutModel, teacher: Teacher, rng: np.random.Generator, tilted: bool = True) -> Posterior:
    """Return what the student has to sample: the sites and the tilt depend on the data alone."""
    inputs, outputs = teacher.inputs, teacher.outputs
    sites = gaussian_sites(model, model.covariance(inputs), outputs)
    if model.has_network:
        proposal = _proposal(model, inputs, sites) if tilted else None
        network = NetworkTarget(model, inputs, teacher.root, outputs, sites, proposal)
        return Posterior(network, network.coordinates(teacher.weights, teacher.z, rng), sites)
    if teacher.root is None:
        raise ValueError("the teacher was drawn from another model: it has no Gaussian part")
    linear = LinearTarget(model, teacher.root, outputs, sites)
    return Posterior(linear, linear.coordinates(teacher.readout), sites)


def linear_root(model: ReadoutModel, inputs: Array) -> Array:
    """Return B (sets, n, m) with B B^T = C: eta_0 X^T where that is the shorter one, else the Cholesky factor."""
    eta, gamma = model.slope_and_rest
    if gamma == 0 and model.n >= model.widths[0]:
        return eta * np.swapaxes(inputs, -1, -2)
    return np.asarray(np.linalg.cholesky(model.covariance(inputs)))


def _proposal(model: ReadoutModel, inputs: Array, sites: Sites) -> Tilt:
    """Return the tilt of the first layer that the sites, taken for data of variance T, ask for in linear response."""
    eta, gamma = model.slope_and_rest
    gram = np.swapaxes(inputs, -1, -2) @ inputs
    fixed = (model.time * eta**2) * gram + (gamma + sites.variance)[:, :, None] * np.eye(model.n)
    return tilt(inputs, sites.mean, fixed, (1.0 - model.time) * eta**2, model.widths[1])


def precision_of_outputs(model: ReadoutModel, inputs: Array) -> Array:
    """Return S = Cov(Y | X)^(-1) (sets, n, n) of the linear model: (h_f(C) + Delta)^(-1), h_f the kernel of f."""
    return np.asarray(np.linalg.inv(_output_covariance(model, model.covariance(inputs))))


def quadratic_form(model: ReadoutModel, teacher: Teacher, precision: Array) -> Array:
    """Return Y^T S Y - E[Y^T S Y | X, W] (sets,), a control variate: log Z is roughly -1/2 of it plus a constant."""
    expected = np.einsum("sij,sij->s", precision, _output_covariance(model, teacher.covariance))
    result: Array = np.einsum("si,sij,sj->s", teacher.outputs, precision, teacher.outputs) - expected
    return result


def _output_covariance(model: ReadoutModel, covariance: Array) -> Array:
    result = LayerKernel(model.readout)(covariance)
    index = np.arange(model.n)
    result[:, index, index] += model.noise
    return result
