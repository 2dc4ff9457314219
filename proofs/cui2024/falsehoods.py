"""Falsified twins of the errors after one giant step (Cui et al. 2024): no spike, and terms of the equations left out.  Each must
be REFUTED."""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import SpikedFeatures, after_one_step, giant_step_error, spiked_error, spiked_limit

from . import CUI2024
from .giant_step import CURVED, best_linear
from .giant_step import path as step_path
from .spiked import CASES, SHARE, path, plain

FEATURES, ALPHA, PENALTY = CASES["tanh on tanh"]


def solved(*, psi=True, noise=True, zeta=True, noise_in_labels=True):
    """Test and training error of FEATURES by damped iteration of the printed structure, with a term left out: psi, the mu_2^2 V_2
    of V, zeta."""
    r, gamma, beta, ratio = FEATURES.spike, FEATURES.gamma, FEATURES.beta, ALPHA / FEATURES.beta
    grid = np.linspace(-9, 9, 181)
    weights = np.exp(-grid * grid / 2)
    weights /= weights.sum()
    fields = FEATURES.student(r * grid[:, None] + grid)
    mu0, mu1 = fields @ weights, fields @ (weights * grid)
    mu2 = fields**2 @ weights - mu0**2 - mu1**2
    labels = FEATURES.target(gamma * grid[:, None] + np.sqrt(1 - gamma**2) * grid)
    y, hy, yy = labels @ weights, labels @ (weights * grid), labels**2 @ weights
    # Eigenvalues of W W^T, Marchenko and Pastur of ratio beta: nodes in the angle, and the part at 0.
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    rho = 1 + beta + 2 * np.sqrt(beta) * np.cos(angle)
    shares = 2 / np.pi * np.sin(angle) ** 2 / rho * np.pi / 4000
    rho, shares = np.append(rho, 0.0), np.append(shares, max(1 - 1 / beta, 0.0))
    v1 = v2 = 1.0
    for _ in range(400):
        grown = 1 + mu1**2 * v1 + (mu2 * v2 if noise else 0.0)
        h1, h2 = ratio * weights @ (mu1**2 / grown), ratio * weights @ (mu2 / grown)
        R = 1 / (PENALTY + h1 * rho + h2)
        v1, v2 = (v1 + shares @ (rho * R)) / 2, (v2 + shares @ R) / 2
    z = m = q1 = q2 = 0.0
    p_hat = ratio * weights @ (mu1 * hy / grown) if psi else 0.0
    p = beta * p_hat * v1
    for _ in range(400):
        fitted = mu0 * m + mu1 * grid * z
        z_hat = ratio * weights @ (mu1 * grid * (y - fitted) / grown) if zeta else 0.0
        z = (z + beta * z_hat * v2) / 2
        m = (weights @ (mu0 * (y - mu1 * grid * z) / grown)) / (weights @ (mu0**2 / grown))
        error = yy - 2 * fitted * y + fitted**2 - 2 * mu1 * p * hy + mu1**2 * q1 + mu2 * q2
        g1, g2 = (ratio * weights @ (square * error / grown**2) for square in (mu1**2, mu2))
        extra = [beta * (z_hat**2 * shares @ (rho**k * R**2) + p_hat**2 * shares @ (rho ** (k + 1) * R**2)) for k in (1, 0)]
        q1 = (q1 + shares @ (rho * R**2 * (g1 * rho + g2)) + extra[0]) / 2
        q2 = (q2 + shares @ (R**2 * (g1 * rho + g2)) + extra[1]) / 2
    return {"test_error": float(weights @ error), "train_error": float(weights @ (error / grown**2))}


def against(what, value, rivals=()):
    measured = spiked_error(what, PENALTY, FEATURES)
    return tc.Limit(measured, path(FEATURES, ALPHA), value=value, rivals=rivals, tolerance=value / 7, correction=1, share=SHARE)


@tc.theorem("cui2024/by-iteration", CUI2024)
@tc.for_all(what=sampled_from(["test_error", "train_error"]))
def by_iteration(what):
    """The errors by damped iteration with nothing left out: what the falsehoods change is the term alone"""
    return against(what, solved()[what], rivals=[2 * solved()[what]])


@tc.falsehood("cui2024/no-spike", CUI2024)
@tc.for_all(case=sampled_from(["tanh on sign", "tanh on tanh"]))
def no_spike(case):
    """The test error with a spike is that of plain random features, r = 0"""
    features, alpha, penalty = CASES[case]
    value = spiked_limit(plain(features), alpha, penalty).test_error
    measured = spiked_error("test_error", penalty, features)
    return tc.Limit(measured, path(features, alpha), value=value, tolerance=value / 10, correction=1)


@tc.falsehood("cui2024/without-psi", CUI2024)
def without_psi():
    """psi = 0: what the features see of h, the part of the target off the spike, left out"""
    return against("test_error", solved(psi=False)["test_error"])


@tc.falsehood("cui2024/without-mu2", CUI2024)
def without_noise_of_features():
    """V(kappa) = mu_1^2 V_1, without mu_2^2 V_2"""
    return against("train_error", solved(noise=False)["train_error"])


@tc.falsehood("cui2024/best-linear", CUI2024)
def best_linear_after_a_step():
    """The test error after one step is at best that of linear predictors: y = z/2 + sin(2 z), alpha = 8"""
    value = best_linear(CURVED)
    measured = giant_step_error("test_error", 0.1, "tanh", CURVED, 3.0)
    return tc.Limit(measured, step_path(8, 8), value=value, tolerance=value / 10, correction=1)


@tc.falsehood("cui2024/aligned-spike", CUI2024)
def aligned_spike():
    """The spike is w* itself, whatever the batch: gamma = 1 at alpha_0 = 1/2"""
    step = after_one_step("tanh", "tanh", 0.5, 3.0)
    features = SpikedFeatures("tanh", "tanh", 1.0, step.spike, 0.9999, step.bulk)
    value = spiked_limit(features, 2, 0.1).test_error
    measured = giant_step_error("test_error", 0.1, "tanh", "tanh", 3.0)
    return tc.Limit(measured, step_path(0.5, 2), value=value, tolerance=value / 10, correction=1)
