"""Data sets of networks and linear models with any readout, drawn together from the same inputs, normals and noise; their sites.

Sites: for every sample a Gaussian in z that stands in for N(Y; f(z), Delta), from expectation propagation.  Nothing depends on
their quality but the width of brackets: they only say where the annealed paths start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.learning.draws.network_target import Tilt, tilt
from theoryck.theory.learning.draws.readout_target import LinearTarget, NetworkTarget, Sites
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

ROUNDS = 10
DAMPING = 0.7
NODES = np.linspace(-6.0, 6.0, 73)
LOG_WEIGHTS = -0.5 * NODES**2
LEAST_PRECISION = 1e-3
"""Of a site, relative to the precision of the prior: where the tilted law is wider than the cavity no Gaussian factor exists."""


@dataclass
class Normals:
    """What the data sets of several models share: X (sets, d_0, n) and standard normals u, zeta (sets, n) of z and of the noise.

    Then z = K^(1/2) u for the covariance K of z given the hidden weights, with the symmetric root, and Y = f(z) + sqrt(Delta) zeta.
    """

    inputs: Array
    u: Array
    zeta: Array


def draw_normals(problem: Problem, rng: np.random.Generator, sets: int) -> Normals:
    """Draw inputs with entries N(0, 1/d_0) and the normals of ``sets`` data sets."""
    inputs = problem.inputs(rng, sets)
    return Normals(inputs, rng.standard_normal((sets, problem.n)), rng.standard_normal((sets, problem.n)))


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


def draw_teacher(problem: Problem, normals: Normals, rng: np.random.Generator) -> Teacher:
    """Draw weights and outputs for given normals.

    Given hidden weights, z = sqrt(1-t) x_L^T a + sqrt(t) B s = F^T w with w = (a, s) ~ N(0, I), F^T = U S V^T.  Writing
    w = V U^T u + (1 - V V^T) g with independent u and g keeps w ~ N(0, I) and makes z = U S U^T u, which is K^(1/2) u.
    """
    inputs, scales = normals.inputs, problem.scales
    columns: list[Array] = []
    weights: list[Array] = []
    if problem.has_network:
        hidden = inputs
        for rows, width in problem.shapes:
            weights.append(rng.standard_normal((len(inputs), rows, width)))
            hidden = np.matmul(weights[-1], hidden)
            problem.activation.into(hidden)
            hidden *= 1.0 / math.sqrt(rows)
        columns.append(scales[0] * np.swapaxes(hidden, -1, -2))
    root = linear_root(problem, inputs) if problem.has_gaussian else None
    if root is not None:
        columns.append(scales[1] * root)
    factor = np.concatenate(columns, axis=-1)
    left, _, right = np.linalg.svd(factor, full_matrices=False)
    w = rng.standard_normal((len(inputs), factor.shape[-1]))
    along = np.einsum("sni,sn->si", left, normals.u) - np.einsum("sij,sj->si", right, w)
    w += np.einsum("sij,si->sj", right, along)
    z = np.einsum("snj,sj->sn", factor, w)
    outputs = problem.readout(z) + math.sqrt(problem.noise) * normals.zeta
    return Teacher(inputs, weights, w, z, outputs, factor @ np.swapaxes(factor, -1, -2), root)


@dataclass
class Posterior:
    """Data sets as a target of the annealing engine, the teachers' states (sets, dim), exact samples of it, and the sites."""

    target: LinearTarget | NetworkTarget
    teachers: Array
    sites: Sites


def posterior(problem: Problem, teacher: Teacher, rng: np.random.Generator, tilted: bool = True) -> Posterior:
    """Return what the student has to sample: the sites and the tilt depend on the data alone."""
    inputs, outputs = teacher.inputs, teacher.outputs
    sites = gaussian_sites(problem, problem.covariance(inputs), outputs)
    if problem.has_network:
        proposal = _proposal(problem, inputs, sites) if tilted else None
        network = NetworkTarget(problem, inputs, teacher.root, outputs, sites, proposal)
        return Posterior(network, network.coordinates(teacher.weights, teacher.z, rng), sites)
    if teacher.root is None:
        raise ValueError("the teacher was drawn from another model: it has no Gaussian part")
    linear = LinearTarget(problem, teacher.root, outputs, sites)
    return Posterior(linear, linear.coordinates(teacher.readout), sites)


def linear_root(problem: Problem, inputs: Array) -> Array:
    """Return B (sets, n, m) with B B^T = C: eta_0 X^T where that is the shorter one, else the Cholesky factor."""
    eta, gamma = problem.slope_and_rest
    if gamma == 0 and problem.n >= problem.widths[0]:
        return eta * np.swapaxes(inputs, -1, -2)
    return np.asarray(np.linalg.cholesky(problem.covariance(inputs)))


def _proposal(problem: Problem, inputs: Array, sites: Sites) -> Tilt:
    """Return the tilt of the first layer that the sites, taken for data of variance T, ask for in linear response."""
    eta, gamma = problem.slope_and_rest
    gram = np.swapaxes(inputs, -1, -2) @ inputs
    fixed = (problem.time * eta**2) * gram + (gamma + sites.variance)[:, :, None] * np.eye(problem.n)
    return tilt(inputs, sites.mean, fixed, (1.0 - problem.time) * eta**2, problem.widths[1])


def precision_of_outputs(problem: Problem, inputs: Array) -> Array:
    """Return S = Cov(Y | X)^(-1) (sets, n, n) of the linear model: (h_f(C) + Delta)^(-1), h_f the kernel of f."""
    return np.asarray(np.linalg.inv(_output_covariance(problem, problem.covariance(inputs))))


def quadratic_form(problem: Problem, teacher: Teacher, precision: Array) -> Array:
    """Return Y^T S Y - E[Y^T S Y | X, W] (sets,), a control variate: log Z is roughly -1/2 of it plus a constant."""
    expected = np.einsum("sij,sij->s", precision, _output_covariance(problem, teacher.covariance))
    result: Array = np.einsum("si,sij,sj->s", teacher.outputs, precision, teacher.outputs) - expected
    return result


def _output_covariance(problem: Problem, covariance: Array) -> Array:
    result = LayerKernel(problem.readout)(covariance)
    index = np.arange(problem.n)
    result[:, index, index] += problem.noise
    return result


def set_cost(problem: Problem) -> float:
    """Return about how many nanoseconds it takes to draw a data set and to fit the sites and the tilt; fitted to measurements."""
    network = 30e3 + 950.0 * problem.widths[0] ** 2 if problem.has_network else 0.0
    return 25e3 + 9e3 * problem.n + 330.0 * problem.n**2 + network


# Sites --------------------------------------------------------------------------------------------------------------------------


def gaussian_sites(problem: Problem, covariance: Array, outputs: Array) -> Sites:
    """Return sites for outputs Y (sets, n) and z ~ N(0, ``covariance``) (sets, n, n), by expectation propagation.

    Every round replaces each site by the Gaussian that gives cavity x site the mean and variance of cavity x N(Y; f(z), Delta),
    a one-dimensional sum over ``NODES``; sites are damped and of positive precision.
    """
    index = np.arange(problem.n)
    floor = LEAST_PRECISION / covariance[:, index, index]
    precision = floor.copy()
    shift = np.zeros_like(floor)
    for _ in range(ROUNDS):
        mean, variance = _marginals(covariance, precision, shift)
        # 1/Sigma_ii exceeds the site's precision, which is one of its non-negative parts.
        cavity_variance = 1.0 / (1.0 / variance - precision)
        cavity_mean = cavity_variance * (mean / variance - shift)
        _, tilted_mean, tilted_variance = _tilted(problem, cavity_mean, cavity_variance, outputs)
        wanted = np.maximum(1.0 / tilted_variance - 1.0 / cavity_variance, floor)
        # With this mean the product has the tilted mean, also where the precision was raised to the floor.
        wanted_shift = tilted_mean * (wanted + 1.0 / cavity_variance) - cavity_mean / cavity_variance
        precision = DAMPING * wanted + (1.0 - DAMPING) * precision
        shift = DAMPING * wanted_shift + (1.0 - DAMPING) * shift
    return Sites(shift / precision, 1.0 / precision)


def _marginals(covariance: Array, precision: Array, shift: Array) -> tuple[Array, Array]:
    """Return mean and variances (sets, n) of N(0, C) times the sites."""
    n = covariance.shape[-1]
    gain = np.asarray(np.linalg.solve(covariance * precision[:, None, :] + np.eye(n), covariance))
    return np.matmul(gain, shift[..., None])[..., 0], gain[:, np.arange(n), np.arange(n)]


def sites_evidence(problem: Problem, covariance: Array, outputs: Array, sites: Sites) -> Array:
    """Return what expectation propagation says of log E prod N(Y; f(z), Delta), z ~ N(0, ``covariance``), up to a constant (sets,).

    log N(m; 0, C + T) + sum_mu log of the ratio of cavity x likelihood to cavity x site.  It is close to log Z of the linear model;
    used as a function of the data alone, its errors cost nothing but variance.
    """
    precision = 1.0 / sites.variance
    mean, variance = _marginals(covariance, precision, sites.mean * precision)
    cavity_variance = 1.0 / (1.0 / variance - precision)
    cavity_mean = cavity_variance * (mean / variance - sites.mean * precision)
    log_total, _, _ = _tilted(problem, cavity_mean, cavity_variance, outputs)
    spread = cavity_variance + sites.variance
    log_total += 0.5 * (np.square(sites.mean - cavity_mean) / spread + np.log(spread))
    factor = np.linalg.cholesky(covariance + sites.variance[:, :, None] * np.eye(problem.n))
    half = np.linalg.solve(factor, sites.mean[..., None])[..., 0]
    log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    result: Array = log_total.sum(axis=-1) - 0.5 * np.einsum("sn,sn->s", half, half) - log_root
    return result


def _tilted(problem: Problem, mean: Array, variance: Array, outputs: Array) -> tuple[Array, Array, Array]:
    """Return log of the mass (up to a constant), mean and variance of N(z; mean, variance) N(Y; f(z), Delta)."""
    deviation = np.sqrt(variance)
    values = mean[..., None] + deviation[..., None] * NODES
    problem.readout.into(values)
    values -= outputs[..., None]
    np.square(values, out=values)
    values *= -0.5 / problem.noise
    values += LOG_WEIGHTS
    top = values.max(axis=-1, keepdims=True)
    values -= top
    np.exp(values, out=values)
    total = values.sum(axis=-1)
    first = values @ NODES / total
    second = np.maximum(values @ np.square(NODES) / total - first**2, np.finfo(float).eps)
    # Between nodes nothing is known: a spacing keeps very narrow likelihoods from giving a variance of 0.
    second = np.maximum(second, (NODES[1] - NODES[0]) ** 2 / 12.0)
    return top[..., 0] + np.log(total), mean + deviation * first, variance * second
