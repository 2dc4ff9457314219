"""The overlap with w* after one giant step (Dandi et al. 2023).

Setting.   y = g(<w*, x>), v = X^T y/n with n = alpha d samples in d dimensions; A = E y z, B = E y^2, R = B/alpha, q = A^2 + R.
Claim.     cos^2(v, w*) -> A^2/q (Dandi, Krzakala, Loureiro, Pesce, Stephan 2023: one step learns C_1 = E y z).
Truth.     With a difference c_1/d, c_1 in closed form; n/(n + d - 1) at every size for linear links; E y^2 z^2/(B d) without A.
           |v|^2 -> A^2 + B/alpha, so that the spike mu_1 1 v^T of p = d neurons has a norm of order d^(1/2).
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.numerics.functions import x
from theoryck.quantities import formula, gaussian_mean
from theoryck.theory.giant_step import (
    hard_link_limit,
    neuron_gradient,
    one_step_correction,
    one_step_limit,
    one_step_norm,
    one_step_overlap,
)

from . import DANDI2023

easy = sampled_from(["tanh(x)", "sign(x)", "x", "x + (x**2 - 1)/sqrt(2)", "x + 1"])
hard = sampled_from(["cos(2*x) - exp(-2)", "sin(2*x) - 2*exp(-3/2)*sin(x)"])
ratios = sampled_from([0.5, 2])


def path(alpha, *sizes):
    return tc.ScalingPath(d=sizes or (10, 20, 40, 80), n=f"{alpha}*d")


def gap(link, alpha):
    """E cos^2 - its limit, where the mean is known at every size."""
    overlap, limit = one_step_overlap(link), one_step_limit(link, alpha)
    return formula(
        lambda d, n: float(overlap.exact({"d": d, "n": n})) - limit,
        name=f"overlap gap, {link}",
        sizes=("d", "n"),
        relative_error=1e-6,
    )


@tc.theorem("dandi2024/overlap", DANDI2023)
@tc.for_all(link=easy, alpha=ratios)
def overlap(link, alpha):
    """E cos^2(X^T y, w*) -> A^2 alpha/(A^2 alpha + B), with a difference O(1/d)"""
    value = one_step_limit(link, alpha)
    rivals = [one_step_limit(link, 2 * alpha), 1 - value, 0]
    if abs(1 - 2 * value) < 0.1:
        rivals.remove(1 - value)  # it is the value itself
    return tc.Limit(one_step_overlap(link), path(alpha), value=value, rate="1/d", rivals=rivals, tolerance=0.02, correction=1)


@tc.theorem("dandi2024/overlap-correction", DANDI2023)
@tc.for_all(link=sampled_from(["x", "sign(x)"]), alpha=ratios)
def correction(link, alpha):
    """d (E cos^2 - limit) -> c_1, exact values"""
    value = one_step_correction(link, alpha)
    return tc.Scaling(
        gap(link, alpha),
        path(alpha, 16, 32, 64, 128, 256),
        exponent=-1,
        constant=value,
        tolerance=value / 100,
        rivals=["-1/2", -2],
        correction=1,
        within=0.02,
    )


@tc.theorem("dandi2024/overlap-correction-drawn", DANDI2023)
@tc.for_all(link=sampled_from(["tanh(x)", "x + (x**2 - 1)/sqrt(2)"]))
def correction_drawn(link):
    """E cos^2 - limit = O(1/d) at n = d/2, and not faster: drawn"""
    limit, sampled = one_step_limit(link, 0.5), one_step_overlap(link)

    @tc.quantity(cost=lambda sizes: 3 * sizes["n"] + 20, name=f"overlap gap, {link}")
    def drawn(rng, draws, *, d, n):
        return sampled.draw(rng, draws, {"d": d, "n": n}) - limit

    return tc.Bound(drawn, rate="1/d", along=path(0.5, 4, 8, 16, 32), rivals=["d**(-2)"], correction=1)


@tc.theorem("dandi2024/hard-link", DANDI2023)
@tc.for_all(link=hard, alpha=ratios)
def hard_link(link, alpha):
    """d E cos^2(X^T y, w*) -> E y^2 z^2/E y^2 where E y z = 0 (information exponents 2 and 3): nothing is learnt at n = alpha d"""
    value = hard_link_limit(link)
    measured = one_step_overlap(link, times_dimension=True)
    along = path(alpha, 16, 32, 64, 128)
    return tc.Limit(measured, along, value=value, rivals=[0, 1.5 * value], tolerance=value / 10, correction=1)


@tc.theorem("dandi2024/spike-length", DANDI2023)
@tc.for_all(link=easy, alpha=ratios)
def spike_length(link, alpha):
    """E |v|^2 = A^2 (1 - 1/n) + E y^2 z^2/n + (d - 1) B/n, drawn and exact, -> A^2 + B/alpha"""
    exact = one_step_norm(link)
    value = float(exact.exact({"d": 10**9, "n": int(alpha * 10**9)}))
    without_signal = value * (1 - one_step_limit(link, alpha))
    return tc.Limit(exact, path(alpha), value=value, rate="1/d", rivals=[without_signal], tolerance=value / 20, correction=1)


@tc.theorem("dandi2024/spike-norm", DANDI2023)
@tc.for_all(link=sampled_from(["tanh(x)", "sign(x)"]))
def spike_norm(link):
    """|mu_1 1 v^T| = mu_1 (p |v|^2)^(1/2) ~ d^(1/2) for p = n = d, s = tanh: its mean square ~ d"""
    slope = float(tc.networks.rho("tanh", 1).exact({}, 20))
    length = one_step_norm(link)

    @tc.quantity(cost=lambda sizes: 3 * sizes["d"] + 20, name=f"squared norm of the spike, {link}")
    def norm(rng, draws, *, d):
        return slope**2 * d * length.draw(rng, draws, {"d": d, "n": d})

    return tc.Scaling(norm, tc.ScalingPath(d=tc.doubling(8, 128)), exponent=1, rivals=[0, "1/2"], correction=1)


@tc.theorem("dandi2024/neuron-gradient", DANDI2023)
@tc.for_all(student=sampled_from(["tanh(x)", "erf(x)", "relu(x)"]))
def neuron(student):
    """E |X^T y s'(X w)/n|^2 of one neuron orthogonal to w*, y = tanh: drawn and exact, -> B E s'^2/alpha + (A E s')^2"""
    gradient = neuron_gradient("tanh(x)", student)
    value = float(gradient.exact({"d": 10**9, "n": 10**9}))
    spike_alone = float(tc.giant_step.one_step_limit("tanh(x)", 1)) * value
    return tc.Limit(gradient, path(1), value=value, rate="1/d", rivals=[spike_alone], tolerance=value / 20, correction=1)


@tc.theorem("dandi2024/mean-gradient", DANDI2023)
@tc.for_all(link=sampled_from(["tanh(x)", "sign(x)", "x + x**3/6"]))
def mean_gradient(link):
    """E <w*, y s'(<w, x>) x> over w uniform on the sphere -> E s'(z) E y z: s = tanh

    By Hermite coefficients it is sum_k E s' h_k E y z h_k E m^k, m = <w, w*>, E m^2 = 1/d, E m^4 = 3/(d (d + 2)), ...
    """
    g, slope = tc.Activation(link), tc.activations.tanh.derivative()
    tilt = float(gaussian_mean(g.expression * x, 1).exact({}, 20))
    value = float(tc.networks.rho("tanh", 1).exact({}, 20)) * tilt

    @tc.quantity(cost=20, name=f"gradient of one neuron along w*, {link}")
    def drawn(rng, draws, *, d):
        star, other, one = rng.standard_normal((3, draws))
        m = one / np.sqrt(one**2 + rng.chisquare(d - 1, draws))
        return g(star) * star * (slope(m * star + np.sqrt(1 - m**2) * other) - slope(other)) + value

    along = tc.ScalingPath(d=(3, 6, 12, 24))
    rivals = [0, tilt, value * value / tilt]
    return tc.Limit(drawn, along, value=value, rivals=rivals, tolerance=abs(value) / 20, correction=1)
