"""Linear units: how fast the action approaches the exact posterior (Pacelli et al. 2023).

Setting.   As in the folder, phi(z) = z; either P = 3 fixed inputs, or P = alpha N orthonormal ones with labels 3/2.
Claim.     The saddle gives log Z, predictor and losses as N -> infinity (Pacelli et al. 2023).
Truth.     At fixed P everything is at 1/N from the saddle, log Z with fluctuations at N^-2.  At P = alpha N log Z less that of
           the saddle tends to -log(Q + s)/2, s from the curvature; with it, and in the losses, 1/N is left.  Exact values are
           enclosures.
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import bayesian_network, linear_posterior, spectrum_posterior

from . import PACELLI2023

INPUTS, LABELS = [[1, 0.5], [0.25, -1], [-0.5, 2]], [1, -2, 0.5]
NEW, NEW_LABELS, HEAT = [[0.5, 0.75]], [0.25], 0.3
WIDE = (64, 128, 256, 512, 1024)
PRECISIONS = (1, 2)
"""lambda_0, lambda_1: a prior precision that is left out is a twin."""


def exact(N):
    return linear_posterior(
        INPUTS, LABELS, widths=N, temperature=HEAT, precisions=PRECISIONS, new_inputs=NEW, new_labels=NEW_LABELS, digits=20
    )


def saddle(N, precisions=PRECISIONS):
    settings = {"temperature": HEAT, "precisions": precisions, "new_inputs": NEW, "new_labels": NEW_LABELS}
    return bayesian_network("x", LABELS, INPUTS, widths=N, **settings)


FIXED = {
    "log Z": lambda N: float(exact(N).log_evidence) - saddle(N).log_evidence,
    "predictor": lambda N: float(exact(N).mean[0]) - float(saddle(N).mean[0]),
    "training loss": lambda N: float(exact(N).train_loss) - saddle(N).train_loss,
    "test loss": lambda N: float(exact(N).test_loss) - saddle(N).test_loss,
}


def fixed(what):
    """Exact less saddle at P = 3."""
    return formula(FIXED[what], name=f"{what}, exact less saddle, P = 3", sizes=("N",), relative_error=1e-8)


@tc.theorem("pacelli2023/linear-fixed", PACELLI2023)
@tc.for_all(what=sampled_from(sorted(FIXED)))
def fixed_samples(what):
    """log Z, predictor and losses less those of the saddle ~ 1/N at P = 3, and not faster"""
    return tc.Scaling(fixed(what), tc.ScalingPath(N=WIDE), exponent=-1, rivals=["-1/2", -2], correction=1, within=0.03)


@tc.theorem("pacelli2023/linear-one-loop", PACELLI2023)
def one_loop():
    """log Z less that of the saddle with its fluctuations ~ N^-2 at P = 3"""
    measured = formula(
        lambda N: float(exact(N).log_evidence) - saddle(N).one_loop,
        name="log Z - one loop",
        sizes=("N",),
        relative_error=1e-6,
    )
    return tc.Scaling(measured, tc.ScalingPath(N=(16, 32, 64, 128, 256)), exponent=-2, rivals=[-1, -3], correction=1, within=0.05)


@tc.theorem("pacelli2023/linear-process", PACELLI2023)
@tc.for_all(what=sampled_from(["log Z", "predictor", "training loss"]))
def gaussian_process(what):
    """log Z, predictor and training loss less those of the Gaussian process ~ 1/N at P = 3"""
    values = {
        "log Z": lambda N: float(exact(N).log_evidence) - saddle(math.inf).log_evidence,
        "predictor": lambda N: float(exact(N).mean[0]) - float(saddle(math.inf).mean[0]),
        "training loss": lambda N: float(exact(N).train_loss) - saddle(math.inf).train_loss,
    }
    measured = formula(values[what], name=f"{what}, exact less Gaussian process", sizes=("N",), relative_error=1e-8)
    return tc.Scaling(measured, tc.ScalingPath(N=WIDE), exponent=-1, rivals=["-1/2", -2], correction=1, within=0.03)


# P = alpha N -------------------------------------------------------------------------------------------------------------------

SIZES = (16, 32, 64, 128)


def proportional(alpha, N):
    """(exact posterior, saddle) of P = alpha N orthonormal inputs, y = 3/2, T = 1/10."""
    count = round(alpha * N)
    posterior = spectrum_posterior([1], ["9/4" if count == 1 else 9 * count / 4], [count], widths=N, temperature="1/10", digits=15)
    return posterior, bayesian_network(np.eye(count), np.full(count, 1.5), widths=N, temperature=0.1)


def gap(what, alpha):
    """Exact less saddle at P = alpha N."""

    def value(N):
        posterior, found = proportional(alpha, N)
        return {
            "log Z": float(posterior.log_evidence) - found.log_evidence,
            "one loop": float(posterior.log_evidence) - found.one_loop,
            "scale": float(posterior.scale) - found.scale,
            "training loss": float(posterior.train_loss) - found.train_loss,
        }[what]

    return formula(value, name=f"{what}, exact less saddle, P = {alpha} N", sizes=("N",), relative_error=1e-7)


alphas = sampled_from([0.5, 1, 2])


@tc.theorem("pacelli2023/linear-proportional", PACELLI2023)
@tc.for_all(what=sampled_from(["one loop", "scale", "training loss"]), alpha=alphas)
def proportional_samples(what, alpha):
    """log Z with fluctuations, E Q and training loss less those of the saddle ~ 1/N at P = alpha N, and not faster"""
    return tc.Scaling(gap(what, alpha), tc.ScalingPath(N=SIZES), exponent=-1, rivals=[0, "-1/2", -2], correction=1, within=0.04)


@tc.theorem("pacelli2023/linear-density", PACELLI2023)
@tc.for_all(alpha=alphas)
def evidence_per_unit(alpha):
    """(log Z - log Z of the saddle)/N ~ 1/N at P = alpha N: right to leading order"""
    difference = gap("log Z", alpha)
    measured = formula(
        lambda N: difference.function(N=N) / N, name=f"log Z/N, exact less saddle, P = {alpha} N", sizes=("N",), relative_error=1e-7
    )
    return tc.Scaling(measured, tc.ScalingPath(N=SIZES), exponent=-1, rivals=["-1/2", -2], correction=1, within=0.04)


@tc.theorem("pacelli2023/linear-order-one", PACELLI2023)
@tc.for_all(alpha=alphas)
def evidence_at_order_one(alpha):
    """log Z - log Z of the saddle -> -log(Q (1 - c'/(N Q)))/2 at P = alpha N, not 0"""
    # At the saddle c = alpha (w x - x) per unit, x = Q/(T + Q), w = y^2/(T + Q): both sides by the formula, at N = 1
    found = bayesian_network(np.eye(2), np.full(2, 1.5), widths=round(2 / alpha), temperature=0.1)
    q = found.orders[0]
    share, power = q / (0.1 + q), 2.25 / (0.1 + q)
    bend = alpha * (power * share * (1 - 2 * share) - share * (1 - share))
    value = -math.log(q - bend) / 2
    return tc.Limit(
        gap("log Z", alpha), tc.ScalingPath(N=SIZES), value=value, rate="1/N", rivals=[0], tolerance=abs(value) / 20, correction=1
    )


@tc.theorem("pacelli2023/training-loss", PACELLI2023)
@tc.for_all(alpha=alphas)
def training_loss(alpha):
    """E |y - f|^2/P -> (T^2 y^T A^-2 y + T (P - T tr A^-1))/P, A = T + Q K, at the saddle"""
    q = bayesian_network(np.eye(2), np.full(2, 1.5), widths=round(2 / alpha), temperature=0.1).orders[0]

    def at(order):
        return 0.01 * 2.25 / (0.1 + order) ** 2 + 0.1 * (1 - 0.1 / (0.1 + order))

    measured = formula(
        lambda N: float(proportional(alpha, N)[0].train_loss),
        name=f"training loss, P = {alpha} N",
        sizes=("N",),
        relative_error=1e-12,
    )
    return tc.Limit(measured, tc.ScalingPath(N=SIZES), value=at(q), rate="1/N", rivals=[at(1), 0.1], tolerance=5e-4, correction=1)
