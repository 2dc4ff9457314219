"""log Z and the predictor of nonlinear networks from below and from above, beside those of the action (Pacelli et al. 2023).

Setting.   As in the folder: P = 8 inputs in 4 dimensions (or one, of preactivation variance 1), T = 1/10; labels of the network
           itself, so that the layer that made them is an exact sample of the posterior.
Claim.     log Z and the predictor are those of the action (Pacelli et al. 2023).
Truth.     Paths that are walked backwards from the exact sample bound log Z from above, those from the prior from below; chains
           from it bound the best loss from below, any predictor's from above.  With psi = (T + K)^(-1/2) phi, S = E psi psi^T and
           s_k = tr S^k, N^2 (KL(network || Gaussian process) - KL(network || action)) -> (3 E (psi^T S psi)^2 - 2 s_2^2 - 4
           s_4)/4: the fourth cumulants of outputs are 3 E psi^4 - sum S S, those of the action 2 sum S S, and a divergence is
           |difference|^2/48.  As E (psi^T S psi)^2 >= s_2^2, the action is nearer wherever s_4 < s_2^2/4; on
           one input it is further where the kurtosis of phi is below 2.  The Gaussian process's
           predictor is linear, and its loss that of K; what it loses beyond the best one is E (m - m_GP)^2.  The action's loses
           less than a tenth of that loss more than the best.  For given labels, P = 2: the quadrature of ``nonlinear``.
           One bounded unit has skewed ratios of densities: quick may leave erf and tanh of ``evidence-bracketed`` open by a factor
           of two in draws, which the budget of standard has.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import Quantity, formula
from theoryck.theory.renormalisation import NetworkTask, action_divergence, predictor_loss

from . import PACELLI2023
from .nonlinear import chi_squares
from .nonlinear import divergence as quadrature

HEAT, COUNT, WIDTH = 0.1, 8, 8
POINTS = 3.4 * ((np.outer(np.arange(1, COUNT + 3), np.sqrt([2, 3, 5, 7])) % 1) - 0.5)
"""Points of a lattice in a cube; the last two are new."""

activations = sampled_from(["erf", "relu", "tanh"])


def task(phi, points=POINTS[:COUNT]):
    return NetworkTask(phi, [0.0] * len(points), points, temperature=HEAT)


def divergence(phi, process=False):
    return action_divergence(task(phi), 4, others=19, moves=150, process=process)


def loss(phi, what, chains=8):
    return predictor_loss(task(phi), WIDTH, POINTS[COUNT:], what, chains=chains)


# log Z -------------------------------------------------------------------------------------------------------------------------


@tc.theorem("pacelli2023/evidence-bracketed", PACELLI2023)
@tc.for_all(case=sampled_from([("relu", 1), ("relu", 2), ("tanh", 1), ("erf", 1)]), process=sampled_from([False, True]))
def evidence(case, process):
    """E log Z - E log Z of the action, or of the Gaussian process, P = 1: by paths from both sides, and by quadrature"""
    phi, width = case
    bracket = action_divergence(task(phi, [[1.0]]), width, others=19, moves=20, process=process)
    values = [quadrature(phi, width, process=each) for each in (process, not process)]
    return tc.Identity(bracket, values[0], rivals=[0, values[1]], tolerance=min(values[0], abs(values[1] - values[0])) / 2)


@functools.cache
def shares(phi):
    """K, E (psi^T S psi)^2, s_1, s_2 and s_4: in 4 dimensions 20^4 Gaussian nodes, 1e-5 of it apart from 16^4."""
    setting = task(phi)
    kernel = setting.kernel
    inverse = np.linalg.inv(HEAT * np.eye(COUNT) + kernel)
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    grid = np.stack(np.meshgrid(*[nodes] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    mass = functools.reduce(np.multiply.outer, [weights / weights.sum()] * 4).ravel()
    features = setting.activation(grid @ POINTS[:COUNT].T / 2)
    bent = ((features @ (inverse @ kernel @ inverse)) * features).sum(axis=1)
    values = np.linalg.eigvals(inverse @ kernel).real
    return kernel, float(mass @ bent**2), *((values**k).sum() for k in (1, 2, 4))


def gain(phi):
    """N^2 E log p_action/p_GP over labels of the network, both densities known.

    Its first order g/N, g = l'(1)^2 + l''(1), has the mean (3 E (psi^T S psi)^2 - s_2^2 - 2 s_4)/(4 N), and g^2 on labels of the
    Gaussian process, made of the same normal variables, (s_2^2 + 2 s_4)/2: both take noise.
    """
    kernel, fourth, one, two, four = shares(phi)
    known = (3 * fourth - two**2 - 2 * four) / 4 - (two**2 + 2 * four) / 4
    values, vectors = np.linalg.eigh(kernel)
    activation = tc.Activation(phi)

    def first(turned):
        share = values / (HEAT + values)
        power = turned**2 / (HEAT + values)
        return ((power @ share - one) / 2) ** 2 - power @ share**2 + two / 2

    @tc.quantity(cost=lambda sizes: 6 * sizes["N"] + 100, name=f"N^2 (KL of the Gaussian process - KL of the action), {phi}")
    def drawn(rng, draws, *, N):
        scale, weights = chi_squares(N)
        whole = HEAT + scale[:, None] * values
        constant = weights / np.sqrt(whole / (HEAT + values)).prod(axis=1)
        found = []
        for start in range(0, draws, 1024):
            count = min(1024, draws - start)
            features = activation(rng.standard_normal((count, N, 4)) @ POINTS[:COUNT].T / 2) @ vectors
            normal = rng.standard_normal((count, COUNT))
            covariance = np.swapaxes(features, 1, 2) @ features / N + HEAT * np.eye(COUNT)
            turned = (np.linalg.cholesky(covariance) @ normal[..., None])[..., 0]
            power = turned**2
            log = np.log(np.exp(-power @ (1 / whole - 1 / (HEAT + values)).T / 2) @ constant)
            process = first(normal * np.sqrt(HEAT + values))
            found.append(N**2 * log - N * first(turned) + process**2 / 2 + known)
        return np.concatenate(found)

    return drawn


@tc.theorem("pacelli2023/action-nearer", PACELLI2023)
@tc.for_all(phi=activations)
def nearer(phi):
    """N^2 (KL(network || Gaussian process) - KL(network || action)) -> (3 E (psi^T S psi)^2 - 2 s_2^2 - 4 s_4)/4 > 0"""
    _, fourth, _, two, four = shares(phi)
    value, gaussian = (3 * fourth - 2 * two**2 - 4 * four) / 4, (two**2 + 2 * four) / 4
    # Gaussian features, of which the action misses nothing, are a rival.
    tolerance = min(value, abs(value - gaussian)) / 3
    return tc.Limit(
        gain(phi), tc.ScalingPath(N=(4, 8, 16, 32, 64)), value=value, rivals=[0, gaussian], tolerance=tolerance, correction=1
    )


def one_point(phi):
    """N^2 (KL of the Gaussian process - KL of the action) on one input, and its limit s_2^2 (3 kurtosis - 6)/4."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    second, fourth = (weights / weights.sum() @ tc.Activation(phi)(nodes) ** k for k in (2, 4))
    share, kurtosis = second / (HEAT + second), fourth / second**2
    measured = formula(
        lambda N: N**2 * (quadrature(phi, N, process=True) - quadrature(phi, N)),
        name=f"N^2 (KL of the Gaussian process - KL of the action), {phi}, P = 1",
        sizes=("N",),
        relative_error=1e-4,
    )
    return measured, float(share**4 * (3 * kurtosis - 6) / 4), float(share**4 * 3 / 4)


@tc.theorem("pacelli2023/action-nearer-one-point", PACELLI2023)
@tc.for_all(phi=sampled_from(["erf", "tanh", "sin"]))
def nearer_one_point(phi):
    """N^2 (KL(network || Gaussian process) - KL(network || action)) -> s_2^2 (3 kurtosis - 6)/4 on one input: < 0 for these"""
    measured, value, gaussian = one_point(phi)
    path = tc.ScalingPath(N=tc.doubling(16, 512))
    return tc.Limit(measured, path, value=value, rate="1/N", rivals=[0, gaussian], tolerance=abs(value) / 20, correction=1)


# The predictor -----------------------------------------------------------------------------------------------------------------


def process_loss(phi):
    """E (f - m_GP)^2 at the new inputs, K** - k^T (T + K)^-1 k: the predictor is linear, the covariances are those of K."""
    whole = task(phi, POINTS).kernel
    cross = whole[:COUNT, COUNT:]
    solved = np.linalg.solve(HEAT * np.eye(COUNT) + whole[:COUNT, :COUNT], cross)
    return float(np.mean(np.diagonal(whole)[COUNT:] - (cross * solved).sum(axis=0)))


@dataclass(frozen=True, repr=False)
class summed_loss(Quantity):
    """E (f - m)^2 + E (m - m_GP)^2, both from both sides, by chains of their own: with 24 the ends are 6% apart for relu."""

    title = "E (f - m)^2 + E (m - m_GP)^2, {phi}"
    can_draw = two_sided = True
    phi: Any

    def sampler(self, sizes):
        best, excess = (loss(self.phi, what, 24).sampler(sizes) for what in ("best", "process"))
        return lambda rng, draws: best(rng, draws) + excess(rng, draws)

    def cost(self, sizes):
        return 2 * loss(self.phi, "best", 24).cost(sizes)

    def block_draws(self, sizes):
        return loss(self.phi, "best", 24).block_draws(sizes)


@tc.theorem("pacelli2023/loss-bracketed", PACELLI2023)
@tc.for_all(phi=activations)
def best_loss(phi):
    """E (f - m)^2 + E (m - m_GP)^2 = K** - k^T (T + K)^-1 k, m and m_GP the best predictor and the Gaussian process's, N = 8"""
    value, prior = process_loss(phi), float(np.mean(np.diagonal(task(phi, POINTS[COUNT:]).kernel)))
    # Two quantities are walked at once.
    return tc.Identity(summed_loss(phi), value, rivals=[prior, 0], tolerance=value / 10, share=2)


@tc.theorem("pacelli2023/predictor-bracketed", PACELLI2023)
@tc.for_all(phi=activations)
def predictor(phi):
    """E (m - m_action)^2, both sides, N = 8: less than a tenth of the Gaussian process's loss"""
    value = process_loss(phi)
    return tc.Identity(loss(phi, "action"), 0, rivals=[value / 4], tolerance=value / 10, share=2)
