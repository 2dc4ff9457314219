"""Nonlinear units: where the action is right, and what it misses (Pacelli et al. 2023).

Setting.   As in the folder.  Two training points and a new one in 4 dimensions, T = 1/10; or P = alpha N orthogonal inputs with
           |y| = 3/2; or inputs N(0, 1) in N_0 dimensions and labels 0.
Claim.     The action, a scalar Q for each layer (Pacelli et al. 2023).
Truth.     Exact by quadrature on two points: log Z, predictor and losses are at 1/N from the action, the rate of the Gaussian
           process; N (log Z - log Z_GP) -> (E H - W)/8, of which the action has W/4.  Orthogonal inputs: Z/Z_action -> exp(alpha
           kappa_4 Q^2/(8 V^2) mean He_4).  The missing part (E H - 3 W)/8 of N log Z grows as d at P = N_0 = d, and tends to 3 P
           kappa_4/(8 (T + sigma)^2) as N_0 -> infinity: it is not O(P^2/N_0).
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import (
    NetworkTask,
    action_divergence,
    bayesian_network,
    evidence_ratio,
    few_points_posterior,
    first_order,
    missing_part,
    orthogonal_limit,
    orthogonal_ratio,
    scale_mixture,
)

from . import PACELLI2023

X = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9], [0.8, -0.2, -0.3, 1.2]]
LABELS, NEW_LABEL, HEAT = [1.2, -0.7], 0.2, 0.1
WIDTHS = (32, 64, 128, 256, 512)
NODES = np.arange(-8.5, 8.51, 0.05)
"""Of a standard Gaussian, whose trapezoidal rule is exact to rounding for analytic activations."""
MASS = np.exp(-NODES * NODES / 2) / np.exp(-NODES * NODES / 2).sum()
activations = sampled_from(["erf", "sin", "tanh", "gelu"])


def exact(phi, N):
    """The quadrature, of error 1e-10 and below."""
    return few_points_posterior(phi, LABELS, X[:2], width=N, temperature=HEAT, new_inputs=X[2:], new_labels=[NEW_LABEL])


def saddle(phi, N):
    return bayesian_network(phi, LABELS, X[:2], widths=N, temperature=HEAT, new_inputs=X[2:], new_labels=[NEW_LABEL])


def mixture(phi, N):
    return scale_mixture(phi, LABELS, X[:2], widths=N, temperature=HEAT, new_inputs=X[2:], new_labels=[NEW_LABEL])


def chi_squares(N):
    """Nodes and weights of chi^2_N/N, by the trapezoidal rule in its logarithm."""
    u = np.arange(-400, 401) * 0.35 / math.sqrt(N / 2 + 1)
    level = N / 2 * (u - np.expm1(u))
    weights = np.exp(level[level > -60])
    return np.exp(u[level > -60]), weights / weights.sum()


def limits(phi):
    """(E H - W)/8 and W/4."""
    return first_order(phi, LABELS, X[:2], temperature=HEAT)


# Two points --------------------------------------------------------------------------------------------------------------------


@tc.theorem("pacelli2023/first-order", PACELLI2023)
@tc.for_all(phi=activations)
def first_order_in_width(phi):
    """N (log Z - log Z_GP) -> (E H - W)/8, exact values on two points"""
    base = saddle(phi, math.inf).log_evidence
    measured = formula(
        lambda N: N * (float(exact(phi, N).log_evidence) - base),
        name=f"N (log Z - log Z_GP), {phi}",
        sizes=("N",),
        relative_error=1e-7,
    )
    value, scalar = limits(phi)
    path = tc.ScalingPath(N=WIDTHS)
    return tc.Limit(measured, path, value=value, rate="1/N", rivals=[scalar, 0], tolerance=abs(value) / 50, correction=1)


@tc.theorem("pacelli2023/first-order-drawn", PACELLI2023)
@tc.for_all(phi=sampled_from(["erf", "relu", "tanh"]))
def first_order_drawn(phi):
    """Z/Z_GP of 8 units on two points: by networks of the prior, and by quadrature"""
    ratio = evidence_ratio(NetworkTask(phi, LABELS, X[:2], temperature=HEAT))
    value = float(ratio.exact({"N": 8}))
    action = math.exp(mixture(phi, 8).log_evidence - saddle(phi, math.inf).log_evidence)

    @tc.quantity(cost=200, name=f"Z/Z_GP, {phi}, N = 8")
    def drawn(rng, draws):
        return ratio.draw(rng, draws, {"N": 8})

    return tc.Identity(drawn, value, rivals=[action], tolerance=abs(value - action) / 3)


@tc.theorem("pacelli2023/two-points", PACELLI2023)
@tc.for_all(phi=activations, what=sampled_from(["log Z", "predictor", "training loss", "test loss"]))
def two_points(phi, what):
    """log Z, predictor and losses less those of the action's integral ~ 1/N at fixed P: as the Gaussian process's"""

    def value(N):
        found, action = exact(phi, N), mixture(phi, N)
        return {
            "log Z": float(found.log_evidence) - action.log_evidence,
            "predictor": float(found.mean[0]) - float(action.mean[0]),
            "training loss": float(found.train_loss) - action.train_loss,
            "test loss": float(found.test_loss) - action.test_loss,
        }[what]

    measured = formula(value, name=f"{what}, exact less action, {phi}", sizes=("N",), relative_error=1e-6)
    return tc.Scaling(measured, tc.ScalingPath(N=WIDTHS), exponent=-1, rivals=["-1/2", -2], correction=1, within=0.05)


@tc.theorem("pacelli2023/missing-constant", PACELLI2023)
@tc.for_all(phi=activations)
def missing_constant(phi):
    """N (log Z - log Z of the action's integral) -> (E H - 3 W)/8: .74484 for erf"""
    measured = formula(
        lambda N: float(exact(phi, N).log_evidence) - mixture(phi, N).log_evidence,
        name=f"log Z - log Z of the action, {phi}",
        sizes=("N",),
        relative_error=1e-6,
    )
    value = limits(phi)[0] - limits(phi)[1]
    return tc.Scaling(
        measured,
        tc.ScalingPath(N=WIDTHS),
        exponent=-1,
        constant=value,
        tolerance=abs(value) / 20,
        rivals=["-1/2", -2],
        correction=1,
        within=0.05,
    )


@tc.theorem("pacelli2023/predictor-first-order", PACELLI2023)
@tc.for_all(case=sampled_from([("erf", 0.09202320, 0.008894), ("sin", 0.09210219, 0.021971)]))
def predictor(case):
    """N (E f - E_GP f) -> the number of an independent program, of which the action has a tenth or a quarter"""
    phi, value, scalar = case
    base = float(saddle(phi, math.inf).mean[0])
    measured = formula(
        lambda N: N * (float(exact(phi, N).mean[0]) - base), name=f"N (E f - E_GP f), {phi}", sizes=("N",), relative_error=1e-7
    )
    path = tc.ScalingPath(N=WIDTHS)
    return tc.Limit(measured, path, value=value, rate="1/N", rivals=[scalar, 0], tolerance=0.002, correction=1)


# P ~ N -------------------------------------------------------------------------------------------------------------------------


@tc.theorem("pacelli2023/orthogonal", PACELLI2023)
@tc.for_all(case=sampled_from([("erf", 1), ("erf", 0.5), ("tanh", 1)]))
def orthogonal(case):
    """Z/Z_action -> exp(alpha kappa_4 Q^2/(8 V^2) mean He_4) on P = alpha N orthogonal inputs: 2.17 for erf, alpha = 1, not 1"""
    phi, alpha = case
    value = math.exp(orthogonal_limit(phi, alpha=alpha, temperature=HEAT, labels=[1.5]).gap)
    ratio = orthogonal_ratio(phi, alpha=alpha, temperature=HEAT, label=1.5)
    path = tc.ScalingPath(N=(16, 32, 64))
    return tc.Limit(ratio, path, value=value, rivals=[1], tolerance=(value - 1) / 4, correction=1)


def divergence(phi, N, process=False):
    """int p log(p/p_action) dy for one input of preactivation variance 1, by the trapezoidal rule in y, in frequencies and in u;
    ``process``: of the Gaussian process.
    """
    features = tc.Activation(phi)(NODES)
    w, y = np.arange(0, 120) * 0.25, np.arange(-12, 12.01, 0.05)
    psi = np.array([MASS @ np.exp(-((s * features) ** 2) / (2 * N)) for s in w])
    rule = np.where(w == 0, 0.5, 1.0) * 0.25 / math.pi
    p = np.cos(np.outer(y, w)) @ (rule * psi**N * np.exp(-HEAT * w * w / 2))
    scale, weights = (np.ones(1), np.ones(1)) if process else chi_squares(N)
    spread = HEAT + scale * (MASS @ features**2)
    action = np.exp(-(y[:, None] ** 2) / (2 * spread)) / np.sqrt(2 * math.pi * spread) @ weights
    inside = p > 1e-12
    # With action - p, of mean 0, every term is of second order in their difference.
    return float(0.05 * (p[inside] * np.log(p[inside] / action[inside]) + action[inside] - p[inside]).sum())


@tc.theorem("pacelli2023/own-labels", PACELLI2023)
@tc.for_all(phi=sampled_from(["erf", "tanh", "sin"]))
def own_labels(phi):
    """KL(network || action) ~ N^-2 for labels of the network itself, P = 1"""
    measured = formula(lambda N: divergence(phi, N), name=f"KL(network || action), {phi}", sizes=("N",), relative_error=1e-5)
    return tc.Scaling(measured, tc.ScalingPath(N=tc.doubling(16, 512)), exponent=-2, rivals=[-1, -3], correction=1, within=0.01)


@tc.theorem("pacelli2023/own-labels-drawn", PACELLI2023)
@tc.for_all(case=sampled_from([("relu", 1), ("relu", 2), ("tanh", 1), ("erf", 1)]))
def own_labels_drawn(case):
    """KL(network || action) at one input of preactivation variance 1: log Z from both sides, and by quadrature"""
    phi, width = case
    bracket = action_divergence(NetworkTask(phi, [0.0], [[1.0]], temperature=HEAT), width, others=200)
    value = divergence(phi, width)
    return tc.Identity(bracket, value, rivals=[0], tolerance=value / 2)


# What is missing ---------------------------------------------------------------------------------------------------------------


def missing(phi="erf", sign=-1):
    """-(E H - 3 W)/8 at labels 0."""
    part = missing_part(phi, temperature=HEAT, label=0.0, inner=2000)

    @tc.quantity(cost=lambda sizes: part.cost(sizes), name=f"log Z_action - log Z, times N, {phi}")
    def drawn(rng, draws, *, P, N0):
        return sign * part.draw(rng, draws, {"P": P, "N0": N0})

    return drawn


@tc.theorem("pacelli2023/missing-together", PACELLI2023)
@tc.for_all(phi=sampled_from(["erf", "tanh"]))
def missing_together(phi):
    """N (log Z_action - log Z) ~ d at P = N_0 = d, labels 0: of order 1 at P ~ N_0 ~ N"""
    path = tc.ScalingPath(d=(4, 8, 16, 32, 64), P="d", N0="d")
    return tc.Scaling(missing(phi), path, exponent=1, rivals=[0, 2], correction=1, within=0.05)


@tc.theorem("pacelli2023/missing-orthogonal", PACELLI2023)
@tc.for_all(phi=sampled_from(["erf", "tanh"]))
def missing_orthogonal(phi):
    """N (log Z_action - log Z) -> -3 P kappa_4/(8 (T + sigma)^2) as N_0 -> infinity, P = 4, labels 0: not 0"""
    found = orthogonal_limit(phi, alpha=1, temperature=HEAT, labels=[1.0])
    value = -3 * 4 * found.kappa4 / (8 * (HEAT + found.sigma) ** 2)
    path = tc.ScalingPath(N0=(8, 16, 32, 64, 128), P=4)
    return tc.Limit(missing(phi), path, value=value, rivals=[0], tolerance=value / 10, correction=1)
