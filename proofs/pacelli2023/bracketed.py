"""log Z and the predictor of nonlinear networks from below and from above, beside those of the action (Pacelli et al. 2023).

Setting.   As in the folder: N = 4 or 8 units, P = 8 inputs in 4 dimensions, T = 1/10; labels of the network itself, so that the
           layer that made them is an exact sample of the posterior.
Claim.     log Z and the predictor are those of the action (Pacelli et al. 2023).
Truth.     E log Z - E log Z_action = KL(network || action) is .03, .04, .2 (tanh, erf, relu) at N = 4, that of the Gaussian
           process .10, .10, .37; the action's predictor loses less than a tenth more than the best one at N = 8.  Paths that are
           walked backwards from the exact sample bound log Z from above, those from the prior from below; chains from it bound the
           best loss from below, any predictor's from above.  For given labels, P = 2: the quadrature of ``nonlinear``.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.renormalisation import NetworkTask, action_divergence, predictor_loss

from . import PACELLI2023

HEAT, COUNT, WIDTH = 0.1, 8, 8
POINTS = 3.4 * ((np.outer(np.arange(1, COUNT + 3), np.sqrt([2, 3, 5, 7])) % 1) - 0.5)
"""Points of a lattice in a cube; the last two are new."""

DIVERGENCES = {"tanh": (0.028, 0.101), "erf": (0.042, 0.095), "relu": (0.2, 0.367)}
"""KL(network || action) and KL(network || Gaussian process) at N = 4, from both sides, to a tenth."""

LOSS = {"tanh": 0.0760, "erf": 0.0880, "relu": 0.1330}
"""The best loss at the new inputs, to a fiftieth."""

activations = sampled_from(sorted(LOSS))


def task(phi):
    return NetworkTask(phi, [0.0] * COUNT, POINTS[:COUNT], temperature=HEAT)


def divergence(phi, process=False):
    return action_divergence(task(phi), 4, others=19, moves=150, process=process)


def loss(phi, what):
    return predictor_loss(task(phi), WIDTH, POINTS[COUNT:], what)


@tc.theorem("pacelli2023/evidence-bracketed", PACELLI2023)
@tc.for_all(phi=activations)
def evidence(phi):
    """E log Z - E log Z_action, both sides: not 0 at N = 4, and not what a Gaussian process misses"""
    value, process = DIVERGENCES[phi]
    return tc.Identity(divergence(phi), value, rivals=[process], tolerance=(process - value) / 2, share=2)


@tc.theorem("pacelli2023/loss-bracketed", PACELLI2023)
@tc.for_all(phi=activations)
def best_loss(phi):
    """E (f - m)^2 of the posterior mean at two new inputs, both sides: not the variance of f, and not 0"""
    kernel = NetworkTask(phi, [0.0] * 2, POINTS[COUNT:], temperature=HEAT).kernel
    rivals = [float(np.mean(np.diagonal(kernel))), 0]
    return tc.Identity(loss(phi, "best"), LOSS[phi], rivals=rivals, tolerance=LOSS[phi] / 10, share=2)


@tc.theorem("pacelli2023/predictor-bracketed", PACELLI2023)
@tc.for_all(phi=activations)
def predictor(phi):
    """E (m - m_action)^2, both sides: less than a tenth of the best loss"""
    return tc.Identity(loss(phi, "action"), 0, rivals=[LOSS[phi] / 4], tolerance=LOSS[phi] / 10, share=2)
