"""Two steps on the same batch learn what one-pass descent takes d^2 samples for (Dandi et al. 2024).

Setting.   w_0 a unit vector orthogonal to w*, w_{t+1} = w_t + eta g_t, g_t = X^T (y s'(X w_t))/n, the same X and y, n = alpha d;
           here s'(x) = e^(-x^2/2), or that of another neuron.  y = sin(2 z) - 2 e^(-3/2) sin(z) has information exponent 3 and no
           heavy tails; (z^3 - 3 z)/sqrt(6) has them.
Claim.     cos(g_1, w*) and cos(w_2, w*) tend to numbers other than 0 (Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala 2024):
           the memory of the batch makes the second gradient see a transform of y, so that the generative exponent counts, which is
           1 here.
Truth.     With M = E v z*, A_0, A_t and B as in theoryck.theory.giant_step.limits.reuse: M/(M^2 + A_0^2 + A_t^2 + B/alpha)^(1/2).
           Even links have E[z given y] = 0 and are not learnt in two steps; nor is anything by a fresh second batch.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import batch_reuse_limit, hard_link_limit, reuse_overlap

from . import DANDI2024

TANH = "sech(x)**2"  # the slope of a tanh
SINE, CUBIC, EVEN = "sin(2*x) - 2*exp(-3/2)*sin(x)", "(x**3 - 3*x)/sqrt(6)", "cos(2*x) - exp(-2)"


def path(alpha, *sizes):
    return tc.ScalingPath(d=sizes or (64, 128, 256, 512), n=f"{alpha}*d")


@tc.theorem("dandi2024/reuse-gradient", DANDI2024)
@tc.for_all(case=sampled_from([(SINE, 2, 4), (SINE, 1, 2), (CUBIC, 2, 2)]))
def gradient(case):
    """cos(g_1, w*) -> its limit on the same batch, information exponent 3"""
    link, alpha, rate = case
    value = batch_reuse_limit(link, alpha, rate).gradient
    other = batch_reuse_limit(link, 4 * alpha, rate).gradient
    return tc.Limit(
        reuse_overlap(link, rate),
        path(alpha),
        value=value,
        rivals=[0, -value, other],
        tolerance=abs(value - other) / 3,
        correction=0.5,
    )


@tc.theorem("dandi2024/reuse-weights", DANDI2024)
@tc.for_all(case=sampled_from([(SINE, 2, 4), (CUBIC, 2, 2)]))
def weights(case):
    """cos(w_2, w*) -> its limit on the same batch, information exponent 3"""
    link, alpha, rate = case
    value = batch_reuse_limit(link, alpha, rate).weights
    return tc.Limit(
        reuse_overlap(link, rate, "weights"), path(alpha), value=value, rivals=[0, -value], tolerance=abs(value) / 5, correction=0.5
    )


@tc.theorem("dandi2024/reuse-tanh", DANDI2024)
@tc.for_all(case=sampled_from([(SINE, 2, 4), (SINE, 1, 2), (CUBIC, 2, 1)]))
def gradient_of_tanh(case):
    """cos(g_1, w*) -> its limit on the same batch for a neuron tanh, s' = sech^2, information exponent 3"""
    link, alpha, rate = case
    value = batch_reuse_limit(link, alpha, rate, TANH).gradient
    other = batch_reuse_limit(link, 4 * alpha, rate, TANH).gradient
    measured = reuse_overlap(link, rate, slope=TANH)
    rivals = [0, -value, other]
    return tc.Limit(measured, path(alpha), value=value, rivals=rivals, tolerance=abs(value - other) / 3, correction=0.5)


@tc.theorem("dandi2024/fresh-batch", DANDI2024)
@tc.for_all(alpha=sampled_from([1, 2]))
def fresh(alpha):
    """d E cos^2(g_1, w*) -> E y^2 z^2/E y^2 with a fresh second batch: exponent 3 is not learnt at n = alpha d"""
    value = hard_link_limit(SINE)
    measured = reuse_overlap(SINE, 4, "square", fresh=True)
    return tc.Limit(measured, path(alpha, 32, 64, 128, 256), value=value, rivals=[0, 2 * value], tolerance=value / 4, correction=1)


@tc.theorem("dandi2024/reuse-even", DANDI2024)
@tc.for_all(alpha=sampled_from([1, 2]))
def even(alpha):
    """E cos^2(g_1, w*) = O(1/d) on the same batch for an even link: E[z given y] = 0"""
    measured = reuse_overlap(EVEN, 2, "square")
    return tc.Bound(measured, rate="1", along=path(alpha, 32, 64, 128, 256), rivals=["d**(-1/2)"], correction=1)
