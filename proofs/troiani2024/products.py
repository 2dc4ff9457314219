"""Products of indices beyond their thresholds (Troiani et al. 2024): how much of all directions the best algorithm finds.

Setting.   y = z1 z2, its absolute value or sign, or z1 z2 z3, without noise, n = alpha d;  Q = q I, V = 1 - q, omega_j ~ N(0, q)
           what is known of z_j.
Claim.     q <- q^/(1 + q^), q^ = alpha E (E[z1 given y, omega] - omega_1)^2/V^2: fixed points lie on alpha(q), which begins at
           alpha_c.  z1 z2 is found entirely from alpha = 2 on, the number of indices; |z1 z2|, whose alpha(q) rises above that,
           from 2.754 on.
Truth.     alpha(q) of z1 z2 z3 falls below alpha_c at first: there the overlap jumps.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.weak_recovery import StateEvolution, fixed_point, full_recovery_threshold, weak_recovery_threshold

from . import TROIANI2024


def told(q):
    """(E[z1 given z1 z2, omega] - omega_1)^2 of drawn z and omega, along the curve z1 = +-e^t."""

    @tc.quantity(cost=4000)
    def square(rng, draws):
        omega = np.sqrt(q) * rng.standard_normal((2, draws))
        z = omega + np.sqrt(1 - q) * rng.standard_normal((2, draws))
        t = np.linspace(-14, 2.4, 600)[:, None]
        found = np.empty(draws)
        for start in range(0, draws, 256):
            here = slice(start, start + 256)
            first = np.concatenate([np.exp(t), -np.exp(t)])
            second = z[0, here] * z[1, here] / first
            weight = np.exp(-((first - omega[0, here]) ** 2 + (second - omega[1, here]) ** 2) / (2 * (1 - q)))
            found[here] = ((weight * (first - omega[0, here])).sum(axis=0) / weight.sum(axis=0)) ** 2
        return found

    return square


@tc.theorem("troiani2024/product-information", TROIANI2024)
@tc.for_all(q=sampled_from([0.3, 0.6]))
def information(q):
    """E (E[z1 given z1 z2, omega] - omega_1)^2 by transforms along log |y|, against drawn posteriors"""
    value = StateEvolution("z1*z2").information(q)[0]
    # had the sign of y been hidden
    hidden = StateEvolution("abs(z1*z2)").information(q)[0]
    return tc.Identity(told(q), value, rivals=[hidden, (1 - q) / 2], tolerance=min(value - hidden, (1 - q) / 2 - value) / 3)


@tc.theorem("troiani2024/product-overlap", TROIANI2024)
@tc.for_all(case=sampled_from([("z1*z2", 1.0, "0.21570877"), ("z1*z2", 1.5, "0.6076782"), ("sign(z1*z2)", 3.0, "0.2427062")]))
def overlap(case):
    """q*(alpha) in both directions, for z1 z2 and its sign above their thresholds"""
    link, alpha, value = case
    return tc.Identity(fixed_point(link, alpha), value, tolerance=1e-5, rivals=[0, 1])


@tc.theorem("troiani2024/product-onset", TROIANI2024)
@tc.for_all(link=sampled_from(["z1*z2", "abs(z1*z2)", "sign(z1*z2)"]))
def onset(link):
    """alpha(1/n) -> alpha_c as n -> infinity: the threshold by Mellin transforms is where the curve of fixed points begins"""
    curve = StateEvolution(link).curve
    begun = tc.quantities.formula(lambda n: curve(1 / n), name=f"alpha(1/n) of {link}", sizes=("n",), relative_error=1e-6)
    value = float(weak_recovery_threshold(link))
    along = tc.ScalingPath(n=tc.doubling(64, 2048))
    return tc.Limit(begun, along, value=value, rivals=[0.98 * value, 1.02 * value], tolerance=value / 200, correction=1)


@tc.theorem("troiani2024/product-full", TROIANI2024)
@tc.for_all(case=sampled_from([("z1*z2", "2"), ("abs(z1*z2)", "2.75382")]))
def full(case):
    """z1 z2 is found entirely from alpha = 2 on, |z1 z2| from 2.75382 on, where alpha(q) has its maximum"""
    link, value = case
    return tc.Identity(full_recovery_threshold(link), value, tolerance=1e-5, rivals=[1, 1.128471406672, 3])
