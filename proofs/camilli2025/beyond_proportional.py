"""Beyond n ~ d: n = d^gamma samples, gamma from 0 to 2 (Camilli et al. 2025).

Claim.     |I^(L) - I^(0)| / n  =  O((1 + sqrt(n/d) + n/d) / sqrt(d)):  a statement that is empty from n ~ d^(3/2) on.
Truth.     The bound holds and is loose.  A network that is linear in its input never leaves its linear model: with
           x = n m_2 sum_l 1/d_l the total difference is (x - log(1 + x))/2 in the end, so per sample 1/d^2 at n = 1 and at n = d^2,
           1/d at n = d, d^(-3/2) at n = d^(3/2).  A nonlinear network leaves it at n ~ d^2, where the student begins to learn the
           weights: with sin(2x) the difference per sample does not vanish there.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import learned_share, scalar_mode_divergence

from . import CAMILLI2025

REDUCTION = "(1 + sqrt(n/d) + n/d) / sqrt(d)"
depths = sampled_from([1, 3])
powers = sampled_from(["1", "d**(1/2)", "d", "d**(3/2)", "d**2"])


def setting(phi, depth, noise="1/2"):
    network = tc.DeepNetwork(phi, depth=depth, widths=(1,) * (depth + 1) * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


def path(n):
    return tc.ScalingPath(d=tc.doubling(16, 256), n=n)


def gap(depth, noise="1/2"):
    return tc.learning.mutual_information_gap(setting("x", depth, noise), per_sample=True)


@tc.theorem("camilli2025/beyond-proportional", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 2, 3]), samples=powers, noise=sampled_from(["1/2", "1/5", "2"]))
def beyond_proportional(depth, samples, noise):
    """|I^(L) - I^(0)|/n = O((1 + sqrt(n/d) + n/d)/sqrt(d)) at n = d^gamma, linear phi"""
    return tc.Bound(gap(depth, noise), rate=REDUCTION, along=path(samples), rivals=["d**(-5/2)"])


@tc.conjecture("camilli2025/linear-one-sample", CAMILLI2025)
@tc.for_all(depth=depths)
def linear_at_one_sample(depth):
    """|I^(L) - I^(0)| ~ d^-2 at n = 1, linear phi"""
    return tc.Scaling(gap(depth), path(1), exponent=-2, rivals=["-1", "-3/2"], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/linear-proportional", CAMILLI2025)
@tc.for_all(depth=depths)
def linear_at_proportional_n(depth):
    """|I^(L) - I^(0)|/n ~ 1/d at n = d, linear phi"""
    return tc.Scaling(gap(depth), path("d"), exponent=-1, rivals=["-1/2", "-3/2"], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/linear-quadratic", CAMILLI2025)
@tc.for_all(depth=depths)
def linear_at_quadratic_n(depth):
    """|I^(L) - I^(0)|/n ~ d^-2 at n = d^2, linear phi"""
    return tc.Scaling(gap(depth), path("d**2"), exponent=-2, rivals=["-3/2", "-1/2", "1/2"], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/scalar-mode", CAMILLI2025)
@tc.for_all(depth=depths, samples=sampled_from([1, 2]))
def scalar_mode(depth, samples):
    """I^(L) - I^(0) -> -(x - log(1 + x))/2, x = samples L m_2, at n = samples * d and Delta = 1/2, linear phi"""
    strength = samples * depth * learned_share(samples, "1/2")
    value = -scalar_mode_divergence(strength)
    total = tc.learning.mutual_information_gap(setting("x", depth))
    rivals = [0, -strength / 2]
    return tc.Limit(total, path(f"{samples}*d"), value=value, tolerance=-0.08 * value, rivals=rivals, correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/proportional-samples-network", CAMILLI2025)
def network_at_proportional_n():
    """|I^(1) - I^(0)|/n = O(1/d) at n = d with phi = sin(2x); the same at n = d^2 is the falsehood reduction-any-samples"""
    difference = tc.learning.mutual_information_gap(setting("sin(2*x)", 1), per_sample=True)
    along = tc.ScalingPath(d=(4, 8, 16, 32), n="d")
    return tc.Bound(difference, rate="1/d", along=along, rivals=["d**(-5/2)"], correction=1, amplitude=0.5, within=0.3)
