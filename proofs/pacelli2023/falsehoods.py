"""Falsified twins of the effective action (Pacelli et al. 2023).  Each must be REFUTED."""

import math

import numpy as np
from scipy.optimize import brentq

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import NetworkTask, evidence_ratio, linear_posterior, orthogonal_ratio

from . import PACELLI2023, deep_linear, deep_nonlinear
from .bracketed import COUNT, POINTS, loss, one_point
from .fixed_dimension import circle, growth
from .linear import HEAT as LINEAR_HEAT
from .linear import INPUTS, NEW, PRECISIONS, SIZES, WIDE, fixed, gap, proportional
from .linear import LABELS as LINEAR_LABELS
from .linear import saddle as linear_saddle
from .nonlinear import HEAT, LABELS, WIDTHS, X, exact, limits, missing, mixture, saddle

# Linear units ------------------------------------------------------------------------------------------------------------------


@tc.falsehood("pacelli2023/no-renormalisation", PACELLI2023)
def no_renormalisation():
    """(log Z - log Z_GP)/N -> 0 at P = N: Q = 1"""

    def value(N):
        posterior, _ = proportional(1, N)
        process = -N / 2 * (2.25 / 1.1 + math.log(1.1) + math.log(2 * math.pi))
        return (float(posterior.log_evidence) - process) / N

    measured = formula(value, name="(log Z - log Z_GP)/N, P = N", sizes=("N",), relative_error=1e-9)
    return tc.Limit(measured, tc.ScalingPath(N=SIZES), value=0, rate="1/N", tolerance=0.01, correction=1)


@tc.falsehood("pacelli2023/plus-log", PACELLI2023)
def plus_log():
    """E Q -> the stationary point of Q + log Q + F/N at P = N"""

    def slope(q):
        return q + 1 - (2.25 * q / (0.1 + q) ** 2 - q / (0.1 + q))

    value = brentq(slope, 0.2, 10)
    measured = formula(lambda N: float(proportional(1, N)[0].scale), name="E Q, P = N", sizes=("N",), relative_error=1e-12)
    return tc.Limit(measured, tc.ScalingPath(N=SIZES), value=value, rate="1/N", tolerance=0.05, correction=1)


@tc.falsehood("pacelli2023/saddle-at-order-one", PACELLI2023)
def saddle_at_order_one():
    """log Z - log Z of the saddle -> 0 at P = N, linear units"""
    return tc.Limit(gap("log Z", 1), tc.ScalingPath(N=SIZES), value=0, rate="1/N", tolerance=0.01, correction=1)


@tc.falsehood("pacelli2023/saddle-to-second-order", PACELLI2023)
def saddle_to_second_order():
    """the test loss is that of the saddle up to O(N^-2), P = 3, linear units"""
    return tc.Bound(fixed("test loss"), rate="N**(-2)", along=tc.ScalingPath(N=WIDE), correction=1)


@tc.falsehood("pacelli2023/precision-ignored", PACELLI2023)
def precision_ignored():
    """E f -> that of the saddle with lambda_1 = 1, where lambda_1 = 2"""
    value = float(linear_saddle(math.inf, (PRECISIONS[0], 1)).mean[0])

    def mean(N):
        settings = {"temperature": LINEAR_HEAT, "precisions": PRECISIONS, "new_inputs": NEW, "digits": 20}
        return float(linear_posterior(INPUTS, LINEAR_LABELS, widths=N, **settings).mean[0])

    measured = formula(mean, name="E f, lambda_1 = 2", sizes=("N",), relative_error=1e-12)
    return tc.Limit(measured, tc.ScalingPath(N=WIDE), value=value, rate="1/N", tolerance=0.002, correction=1)


# Nonlinear units ---------------------------------------------------------------------------------------------------------------


@tc.falsehood("pacelli2023/scalar-first-order", PACELLI2023)
def scalar_first_order():
    """N (log Z - log Z_GP) -> W/4 = -1.263 on two points, erf: the 1/N of the action"""
    base = saddle("erf", math.inf).log_evidence
    measured = formula(
        lambda N: N * (float(exact("erf", N).log_evidence) - base),
        name="N (log Z - log Z_GP), erf",
        sizes=("N",),
        relative_error=1e-7,
    )
    value = limits("erf")[1]
    return tc.Limit(measured, tc.ScalingPath(N=WIDTHS), value=value, rate="1/N", tolerance=0.1, correction=1)


@tc.falsehood("pacelli2023/action-to-second-order", PACELLI2023)
def action_to_second_order():
    """log Z less that of the action's integral = O(N^-2) on two points, erf"""
    measured = formula(
        lambda N: float(exact("erf", N).log_evidence) - mixture("erf", N).log_evidence,
        name="log Z - log Z of the action, erf",
        sizes=("N",),
        relative_error=1e-6,
    )
    return tc.Bound(measured, rate="N**(-2)", along=tc.ScalingPath(N=WIDTHS), correction=1)


@tc.falsehood("pacelli2023/explicit-at-order-one", PACELLI2023)
def explicit_at_order_one():
    """Z/Z_action -> 1 on P = N orthogonal inputs, erf: explicit at P ~ N, at order 1"""
    ratio = orthogonal_ratio("erf", alpha=1, temperature=HEAT, label=1.5)
    return tc.Limit(ratio, tc.ScalingPath(N=(16, 32, 64)), value=1, tolerance=0.2, correction=1)


@tc.falsehood("pacelli2023/missing-vanishes", PACELLI2023)
def missing_vanishes():
    """the missing part of N log Z is O(P^2/N_0): O(1/N_0) at P = 4, erf, labels 0"""
    path = tc.ScalingPath(N0=(8, 16, 32, 64, 128), P=4)
    return tc.Bound(missing("erf"), rate="1/N0", along=path, correction=1)


@tc.falsehood("pacelli2023/vanilla-depth", PACELLI2023)
def vanilla_depth():
    """N (Z/Z_GP - 1) -> 2 (l'^2 + l'') for two hidden layers of tanh on two points: one order parameter a layer, their product"""
    task = NetworkTask("tanh", LABELS, X[:2], temperature=HEAT, depth=2)
    kernel, y = task.kernel, np.array(LABELS)
    inverse = np.linalg.inv(kernel + HEAT * np.eye(2))
    v, share = inverse @ y, inverse @ kernel
    slope = (v @ kernel @ v - np.trace(share)) / 2
    value = 2 * float(slope**2 - v @ kernel @ share @ v + np.trace(share @ share) / 2)
    measured = evidence_ratio(task, times_width=True)
    return tc.Limit(measured, tc.ScalingPath(N=(4, 8, 16, 32)), value=value, tolerance=0.1, correction=1)


# Two and three hidden layers -----------------------------------------------------------------------------------------------------


@tc.falsehood("pacelli2023/deep-linear-second-order", PACELLI2023)
def deep_predictor_to_second_order():
    """the predictor is that of the saddle up to O(N^-2), two linear layers, P = N"""
    measured = deep_linear.gap("predictor", ((1, 1), 1))
    return tc.Bound(measured, rate="N**(-2)", along=deep_linear.path, correction=1)


@tc.falsehood("pacelli2023/deep-layer-ignored", PACELLI2023)
def order_parameter_of_a_layer_ignored():
    """(log Z - log Z of the saddle)/P -> 0, the first of two linear layers without its order parameter, P = N"""
    case = ((1, 1), 1)
    # the two saddles differ by this, at every N; half of it is not 0
    lost = abs(deep_linear.saddle(case, 16).log_evidence - deep_linear.saddle(case, 16, 1).log_evidence) / 16
    measured = deep_linear.gap("log Z", case, shift=1, per_sample=True)
    return tc.Limit(measured, deep_linear.path, value=0, rate="1/N", tolerance=lost / 2, correction=1)


@tc.falsehood("pacelli2023/deep-forms-agree", PACELLI2023)
def forms_agree():
    """prod_l Q_l of the recursion is that of the product, tanh: as for homogeneous units"""
    found, product = (deep_linear.forms("tanh", (6, 9), recursion) for recursion in (True, False))
    measured = formula(lambda: found.scale, name="prod Q, recursion, tanh", sizes=(), relative_error=1e-8)
    return tc.Identity(measured, product.scale, tolerance=1e-2)


@tc.falsehood("pacelli2023/deep-product-to-second-order", PACELLI2023)
def product_to_second_order():
    """log Z less that of the product's integral = O(N^-2) for two layers of sin on one input"""
    measured = formula(
        lambda N: math.log(deep_nonlinear.evidence("sin", N) / deep_nonlinear.action("sin", N, "product")),
        name="log Z - log Z of the product, sin",
        sizes=("N",),
        relative_error=1e-6,
    )
    return tc.Bound(measured, rate="N**(-2)", along=tc.ScalingPath(N=deep_nonlinear.WIDTHS), correction=1)


@tc.falsehood("pacelli2023/deep-recursion-first-order", PACELLI2023)
def recursion_to_first_order():
    """N (log Z - log Z_GP) -> .486, the recursion's, for two layers of tanh on one input"""
    base = deep_nonlinear.process("tanh")
    measured = formula(
        lambda N: N * math.log(deep_nonlinear.evidence("tanh", N) / base),
        name="N (log Z - log Z_GP), two layers, tanh",
        sizes=("N",),
        relative_error=1e-8,
    )
    _, _, value = deep_nonlinear.first_order("tanh")
    return tc.Limit(measured, tc.ScalingPath(N=deep_nonlinear.WIDTHS), value=value, rate="1/N", tolerance=0.05, correction=1)


# Fixed dimension, both sides ----------------------------------------------------------------------------------------------------


@tc.falsehood("pacelli2023/missing-as-pairs", PACELLI2023)
def missing_as_pairs():
    """the missing part of N log Z grows as P^2 at N_0 = 2: O(P^2/(N N_0)) would be tight"""
    return tc.Scaling(growth(), circle, exponent=2, correction=0.25)


@tc.falsehood("pacelli2023/missing-as-rank", PACELLI2023)
def missing_as_rank():
    """the missing part of N log Z grows as tr S, P^(1/4), at N_0 = 2"""
    return tc.Scaling(growth(), circle, exponent="1/4", correction=0.25)


@tc.falsehood("pacelli2023/best-loss-is-the-prior", PACELLI2023)
def best_loss_is_the_prior():
    """E (f - m)^2 is the variance of f, tanh: nothing is learnt from eight points"""
    kernel = NetworkTask("tanh", [0.0] * 2, POINTS[COUNT:], temperature=HEAT).kernel
    return tc.Identity(loss("tanh", "best"), float(np.mean(np.diagonal(kernel))), tolerance=0.02)


@tc.falsehood("pacelli2023/action-always-nearer", PACELLI2023)
def action_always_nearer():
    """N^2 (KL(network || Gaussian process) - KL(network || action)) on one input is what it is for Gaussian features, erf"""
    measured, _, gaussian = one_point("erf")
    path = tc.ScalingPath(N=tc.doubling(16, 512))
    return tc.Limit(measured, path, value=gaussian, rate="1/N", tolerance=gaussian / 20, correction=1)
