"""Falsified twins of one giant step, of the staircase and of the reuse of batches (Dandi et al. 2023, 2024).  Each must be
REFUTED."""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import one_step_norm, one_step_overlap, reuse_overlap, staircase_overlap

from . import DANDI2023, DANDI2024
from .one_step import gap, path
from .reuse import CUBIC, EVEN, SINE

# One step --------------------------------------------------------------------------------------------------------------------


@tc.falsehood("dandi2024/overlap-root-rate", DANDI2023)
@tc.for_all(link=sampled_from(["x", "sign(x)"]))
def rate_of_the_root(link):
    """E cos^2 - limit ~ d^(-1/2) at n = d/2"""
    return tc.Scaling(gap(link, 0.5), path(0.5, 16, 32, 64, 128, 256), exponent="-1/2", correction=1)


@tc.falsehood("dandi2024/overlap-linear-identity", DANDI2023)
@tc.for_all(alpha=sampled_from([0.5, 2.0]))
def limit_as_identity(alpha):
    """E cos^2 = alpha/(1 + alpha) at d = 20 for y = z, as if the limit held at finite d"""
    overlap = one_step_overlap("x")

    @tc.quantity(cost=lambda sizes: 100, name="overlap at d = 20")
    def drawn(rng, draws):
        return overlap.draw(rng, draws, {"d": 20, "n": int(20 * alpha)})

    return tc.Identity(drawn, alpha / (1 + alpha), tolerance=0.001)


@tc.falsehood("dandi2024/overlap-variance", DANDI2023)
def variance_for_square():
    """E cos^2 -> A^2 alpha/(A^2 alpha + Var y) for y = z + 1, with the variance in place of E y^2"""
    return tc.Limit(one_step_overlap("x + 1"), path(2), value=2 / 3, tolerance=0.02, correction=1)


@tc.falsehood("dandi2024/overlap-he2", DANDI2023)
@tc.for_all(link=sampled_from(["x**2 - 1", "cos(2*x) - exp(-2)"]))
def even_links_are_learnt(link):
    """cos^2(X^T y, w*) does not vanish for y of information exponent 2 at n = 2 d"""
    return tc.Scaling(one_step_overlap(link), path(2, 16, 32, 64, 128), exponent=0, correction=1)


@tc.falsehood("dandi2024/spike-norm-bounded", DANDI2023)
def bounded_spike():
    """E p |v|^2 = O(1) for p = n = d: the spike of one step has a norm of order 1, y = tanh"""
    length = one_step_norm("tanh(x)")

    @tc.quantity(cost=lambda sizes: 3 * sizes["d"] + 20, name="squared norm of the spike over mu_1^2")
    def norm(rng, draws, *, d):
        return d * length.draw(rng, draws, {"d": d, "n": d})

    return tc.Bound(norm, rate="1", along=tc.ScalingPath(d=tc.doubling(8, 64)), correction=1)


@tc.falsehood("dandi2024/overlap-without-noise", DANDI2023)
def without_noise():
    """E cos^2 -> 1 at n = 2 d: the gradient is its mean"""
    return tc.Limit(one_step_overlap("tanh(x)"), path(2), value=1, tolerance=0.1, correction=1)


# Staircase -------------------------------------------------------------------------------------------------------------------


@tc.falsehood("dandi2024/staircase-at-once", DANDI2023)
def both_directions_at_once():
    """cos^2(v, w_2) does not vanish for y = z_1 + z_1 z_2 at n = 2 d: one step learns both directions"""
    return tc.Scaling(staircase_overlap("second"), path(2, 16, 32, 64, 128), exponent=1, correction=1)


# Reuse -----------------------------------------------------------------------------------------------------------------------


@tc.falsehood("dandi2024/fresh-learns", DANDI2024)
def fresh_batches_learn():
    """cos^2(g_1, w*) does not vanish with a fresh second batch for information exponent 3, n = 2 d"""
    return tc.Scaling(reuse_overlap(SINE, 4, "square", fresh=True), path(2, 32, 64, 128, 256), exponent=1, correction=1)


@tc.falsehood("dandi2024/reuse-learns-even", DANDI2024)
def reuse_learns_even_links():
    """cos^2(g_1, w*) does not vanish on the same batch for y = cos(2 z) - e^(-2), as for z^2, n = 2 d"""
    return tc.Scaling(reuse_overlap(EVEN, 2, "square"), path(2, 32, 64, 128, 256), exponent=1, correction=1)


@tc.falsehood("dandi2024/reuse-needs-exponent-one", DANDI2024)
@tc.for_all(case=sampled_from([(SINE, 2, 4, 0.05), (CUBIC, 2, 2, 0.1)]))
def only_exponent_one(case):
    """cos(g_1, w*) -> 0 on the same batch unless the information exponent is 1"""
    link, alpha, rate, tolerance = case
    return tc.Limit(reuse_overlap(link, rate), path(alpha, 64, 128, 256), value=0, tolerance=tolerance, correction=0.5)
