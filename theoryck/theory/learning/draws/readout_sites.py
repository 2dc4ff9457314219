"""Gaussian sites: for every sample a Gaussian in z that stands in for N(Y; f(z), Delta), from expectation propagation.

Nothing depends on their quality but the width of brackets: they only say where the annealed paths start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.learning.draws.readout_model import ReadoutModel

Array = NDArray[np.float64]

ROUNDS = 10
DAMPING = 0.7
NODES = np.linspace(-6.0, 6.0, 73)
LOG_WEIGHTS = -0.5 * NODES**2
LEAST_PRECISION = 1e-3
"""Of a site, relative to the precision of the prior: where the tilted law is wider than the cavity no Gaussian factor exists."""


@dataclass
class Sites:
    """N(m_mu; z_mu, T_mu), m and T (sets, n)."""

    mean: Array
    variance: Array


def gaussian_sites(model: ReadoutModel, covariance: Array, outputs: Array) -> Sites:
    """Return sites for outputs Y (sets, n) and z ~ N(0, ``covariance``) (sets, n, n), by expectation propagation.

    Every round replaces each site by the Gaussian that gives cavity x site the mean and variance of cavity x N(Y; f(z), Delta),
    a one-dimensional sum over ``NODES``; sites are damped and of positive precision.
    """
    index = np.arange(model.n)
    floor = LEAST_PRECISION / covariance[:, index, index]
    precision = floor.copy()
    shift = np.zeros_like(floor)
    for _ in range(ROUNDS):
        mean, variance = _marginals(covariance, precision, shift)
        # 1/Sigma_ii exceeds the site's precision, which is one of its non-negative parts.
        cavity_variance = 1.0 / (1.0 / variance - precision)
        cavity_mean = cavity_variance * (mean / variance - shift)
        _, tilted_mean, tilted_variance = _tilted(model, cavity_mean, cavity_variance, outputs)
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


def sites_evidence(model: ReadoutModel, covariance: Array, outputs: Array, sites: Sites) -> Array:
    """Return what expectation propagation says of log E prod N(Y; f(z), Delta), z ~ N(0, ``covariance``), up to a constant (sets,).

    log N(m; 0, C + T) + sum_mu log of the ratio of cavity x likelihood to cavity x site.  It is close to log Z of the linear model;
    used as a function of the data alone, its errors cost nothing but variance.
    """
    precision = 1.0 / sites.variance
    mean, variance = _marginals(covariance, precision, sites.mean * precision)
    cavity_variance = 1.0 / (1.0 / variance - precision)
    cavity_mean = cavity_variance * (mean / variance - sites.mean * precision)
    log_total, _, _ = _tilted(model, cavity_mean, cavity_variance, outputs)
    spread = cavity_variance + sites.variance
    log_total += 0.5 * (np.square(sites.mean - cavity_mean) / spread + np.log(spread))
    factor = np.linalg.cholesky(covariance + sites.variance[:, :, None] * np.eye(model.n))
    half = np.linalg.solve(factor, sites.mean[..., None])[..., 0]
    log_root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    result: Array = log_total.sum(axis=-1) - 0.5 * np.einsum("sn,sn->s", half, half) - log_root
    return result


def _tilted(model: ReadoutModel, mean: Array, variance: Array, outputs: Array) -> tuple[Array, Array, Array]:
    """Return log of the mass (up to a constant), mean and variance of N(z; mean, variance) N(Y; f(z), Delta)."""
    deviation = np.sqrt(variance)
    values = mean[..., None] + deviation[..., None] * NODES
    model.readout.into(values)
    values -= outputs[..., None]
    np.square(values, out=values)
    values *= -0.5 / model.noise
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
