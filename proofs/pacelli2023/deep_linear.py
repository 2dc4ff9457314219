"""Deep linear units: how fast the action with one order parameter a layer approaches the exact posterior (Pacelli et al. 2023).

Setting.   phi(z) = z, T = 1/10, L = 2 or 3 hidden layers of widths m_l N, P = alpha N inputs with X X^T/(lambda_0 N_0) diagonal,
           eigenvalues 1 and 1/4 in turn, labels 3/2 and 1/2; the new input is the sum of all axes.
Claim.     log Z and predictor are those of the saddle of sum_l N_l (Q_l - log Q_l) + F(prod_l Q_l) (Pacelli et al. 2023).
Truth.     To leading order: log Z/P, E t, the predictor (relative to its size) and the training loss are at 1/N from the saddle, no
           nearer.  The 1/N of log Z/P is -log(prod Q_l (1 - c' sum_l 1/(N_l Q_l)))/(2 alpha), the fluctuations of all layers'
           Q_l; with them log Z itself is at 1/N.  Exact values are enclosures.  For homogeneous units, h(q K) = q h(K),
           renormalising every layer's kernel inside the next is the same as the product; for others it is not.
"""

import functools
import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import bayesian_network, linear_posterior

from . import PACELLI2023

HEAT = 0.1
SIZES = (16, 32, 64, 128)
cases = sampled_from([((1, 1), 1), ((1, 1), 0.5), ((2, 1), 1), ((1, 1, 1), 1), ((1, 2, 1), 0.5)])
"""(m_1, ..., m_L), alpha."""


def layers(case, N, shift=0):
    """(m_1 N, ..., m_L N), the first ``shift`` infinite: a layer without its order parameter."""
    return [math.inf if k < shift else multiple * N for k, multiple in enumerate(case[0])]


def data(count):
    """Inputs (P, P), labels (P,), the new input; with lambda_0 = 4/P the kernel has no P."""
    return np.diag([2, 1] * (count // 2)).tolist(), [1.5, 0.5] * (count // 2), [[1] * count]


def kernel(count):
    """What the action sees of the data: eigenvalues 1 and 1/4, and the new input's covariances."""
    inputs, labels, new = (np.array(part) for part in data(count))
    rows = np.vstack([inputs, new]) / 2
    return rows @ rows.T, labels


@functools.lru_cache(maxsize=256)
def exact(case, N):
    count = round(case[1] * N)
    inputs, labels, new = data(count)
    precisions = [repr(4 / count)] + [1] * len(case[0])
    return linear_posterior(
        inputs, labels, widths=layers(case, N), temperature="1/10", precisions=precisions, new_inputs=new, digits=18
    )


@functools.lru_cache(maxsize=256)
def saddle(case, N, shift=0):
    """The action's; with ``shift`` that many layers have no order parameter."""
    gram, labels = kernel(round(case[1] * N))
    return bayesian_network(gram, labels, widths=layers(case, N, shift), temperature=HEAT)


VALUES = {
    "log Z": lambda case, N, shift: float(exact(case, N).log_evidence) - saddle(case, N, shift).log_evidence,
    "log Z with fluctuations": lambda case, N, shift: float(exact(case, N).log_evidence) - saddle(case, N, shift).one_loop,
    "E t": lambda case, N, shift: float(exact(case, N).scale) - saddle(case, N, shift).scale,
    "predictor": lambda case, N, shift: float(exact(case, N).mean[0]) / float(saddle(case, N, shift).mean[0]) - 1,
    "training loss": lambda case, N, shift: float(exact(case, N).train_loss) - saddle(case, N, shift).train_loss,
}


def gap(what, case, shift=0, per_sample=False):
    """Exact less saddle, the predictor relative to the saddle's."""
    return formula(
        # log Z is of order N: its rounding is 1e-8 of the gap and below
        lambda N: VALUES[what](case, N, shift) / (round(case[1] * N) if per_sample else 1),
        name=f"{what}, exact less saddle, widths {case[0]} N, P = {case[1]} N",
        sizes=("N",),
        relative_error=1e-8,
    )


path = tc.ScalingPath(N=SIZES)


@tc.theorem("pacelli2023/deep-linear-order", PACELLI2023)
@tc.for_all(case=cases)
def order_parameters(case):
    """E t -> prod_l Q_l at the saddle, one order parameter a layer"""
    measured = formula(lambda N: float(exact(case, N).scale), name=f"E t, {case}", sizes=("N",), relative_error=1e-14)
    value = saddle(case, 16).scale
    # no order parameter, and one layer without its own
    rivals = [1, saddle(case, 16, 1).scale]
    tolerance = min(abs(value - rival) for rival in rivals) / 20
    return tc.Limit(measured, path, value=value, rate="1/N", rivals=rivals, tolerance=tolerance, correction=1)


@tc.theorem("pacelli2023/deep-linear-rate", PACELLI2023)
@tc.for_all(what=sampled_from(["log Z with fluctuations", "E t", "predictor", "training loss"]), case=cases)
def rate(what, case):
    """log Z with fluctuations, E t, predictor and training loss less those of the saddle ~ 1/N at P = alpha N, and not faster"""
    return tc.Scaling(gap(what, case), path, exponent=-1, rivals=[0, "-1/2", -2], correction=1, within=0.01)


@tc.theorem("pacelli2023/deep-linear-density", PACELLI2023)
@tc.for_all(case=cases)
def evidence_per_sample(case):
    """(log Z - log Z of the saddle)/P ~ -log(prod Q_l (1 - c' sum 1/(N_l Q_l)))/(2 alpha N)"""
    multiples, alpha = case
    t = saddle(case, 16).scale
    # P/2 of each eigenvalue s: x = t s/(T + t s), w = y^2/(T + t s); c = sum (w x - x), with N = 1 below
    slope = bend = 0.0
    for eigenvalue, label in ((1.0, 1.5), (0.25, 0.5)):
        share, power = t * eigenvalue / (HEAT + t * eigenvalue), label**2 / (HEAT + t * eigenvalue)
        slope += alpha / 2 * (power * share - share)
        bend += alpha / 2 * (power * share * (1 - 2 * share) - share * (1 - share))

    def constant(of):
        orders = [1 + slope / multiple for multiple in of]
        inverse = sum(1 / (multiple * order) for multiple, order in zip(of, orders))
        return -math.log(math.prod(orders) * (1 - bend * inverse)) / (2 * alpha)

    value, last = constant(multiples), constant(multiples[1:])
    # The fluctuations of one layer less are another constant: a tolerance of a tenth of the distance tells them apart.
    return tc.Scaling(
        gap("log Z", case, per_sample=True),
        path,
        exponent=-1,
        constant=value,
        tolerance=abs(value - last) / 10,
        rivals=["-1/2", -2],
        correction=1,
        within=0.01,
    )


POINTS, TARGETS = [[1.0, 0.5, -0.8], [0.4, -1.1, 0.7], [-0.3, 0.6, 1.1]], [1.2, -0.7, 0.9]


def forms(phi, widths, recursion):
    """One of the two actions on three points."""
    return bayesian_network(phi, TARGETS, POINTS, widths=widths, temperature=HEAT, recursion=recursion)


@tc.theorem("pacelli2023/deep-homogeneous", PACELLI2023)
@tc.for_all(phi=sampled_from(["x", "relu"]), widths=sampled_from([(6, 9), (5, 8, 4)]))
def homogeneous(phi, widths):
    """prod_l Q_l of the recursion is that of the product for linear units and ReLU: h(q K) = q h(K)"""
    found, product = forms(phi, widths, True), forms(phi, widths, False)
    measured = formula(lambda: found.scale, name=f"prod Q, recursion, {phi}, {widths}", sizes=(), relative_error=1e-8)
    other = forms(phi, widths[:-1], False).scale
    # a saddle of the recursion counts as reached at a slope of 1e-8 P, and N_l (Q_l - 1) has slopes of order N_l
    return tc.Identity(measured, product.scale, tolerance=1e-7, rivals=[other, 1])
