"""Falsified twins (Troiani et al. 2024): thresholds with one thing left out or taken for another.

Setting.   y = f(z_1, ..., z_r), z the indices of x ~ N(0, I_d), n = alpha d; alpha_c is where the best algorithm begins to find a
           direction with E[z_v | y] = 0, 1/alpha_c = lambda_max of M -> E[G M G], G = E[z z^T - I | y].  Each must be REFUTED.
"""

import math

import theoryck as tc
from theoryck.theory.weak_recovery import StateEvolution, recovery_eigenvalue, recovery_threshold, unfolding_error

from . import TROIANI2024
from .products import told

CLOSE = 1e-6


@tc.falsehood("troiani2024/sign-does-not-matter", TROIANI2024)
def sign_does_not_matter():
    """alpha_c(z1 z2) = alpha_c(|z1 z2|)"""
    return tc.Identity(recovery_threshold("z1*z2"), recovery_threshold("abs(z1*z2)"), tolerance=CLOSE)


@tc.falsehood("troiani2024/trace", TROIANI2024)
def trace():
    """alpha_c(z1 z2) = 1/E tr G^2, as if all directions were found together: 0.297"""
    # E tr G^2 = 2 (1/alpha_c(|z1 z2|) + 1), two entries of each kind.
    total = 2 / recovery_threshold("abs(z1*z2)") + 2
    return tc.Identity(recovery_threshold("z1*z2"), 1 / total, tolerance=CLOSE)


@tc.falsehood("troiani2024/rank-one", TROIANI2024)
def rank_one():
    """alpha_c(sign(z1) z2) = 1/2, from matrices M along one index alone: 1/E G_22^2"""
    return tc.Identity(recovery_threshold("sign(z1)*z2"), "1/2", tolerance=CLOSE)


@tc.falsehood("troiani2024/without-identity", TROIANI2024)
def without_identity():
    """alpha_c(z^2) = 1/E E[z^2 | y]^2 = 1/3, G without - I"""
    return tc.Identity(recovery_threshold("z**2"), "1/3", tolerance=CLOSE)


@tc.falsehood("troiani2024/blind-maximum", TROIANI2024)
def blind_maximum():
    """(1, -1)/sqrt 2 is found of max(z1, z2) from 1/E (E[z_-^2 | y] - 1)^2 = 1.76206 on, as if (1, 1)/sqrt 2 were unknown"""
    return tc.Identity(recovery_threshold("max(z1, z2)", rest=True), 1.7620599, tolerance=CLOSE)


@tc.falsehood("troiani2024/product-of-three-is-hard", TROIANI2024)
def product_of_three_is_hard():
    """1/alpha_c(z1 z2 z3) = 0: no alpha"""
    return tc.Identity(recovery_eigenvalue("z1*z2*z3"), 0, tolerance=CLOSE)


@tc.falsehood("troiani2024/parity-is-easy", TROIANI2024)
def parity_is_easy():
    """1/alpha_c(sign(z1 z2 z3)) = (2/pi)^3, as for two factors"""
    return tc.Identity(recovery_eigenvalue("sign(z1*z2*z3)"), (2 / math.pi) ** 3, tolerance=CLOSE)


@tc.falsehood("troiani2024/linear-labels", TROIANI2024)
@tc.example(noise=0.1)
@tc.example(noise=1.0)
def linear_labels(noise):
    """alpha_c(z^2 + N(0, D)) = (2 + D)/4, with the labels themselves in the place of E[z^2 | y]"""
    return tc.Identity(recovery_threshold("z**2", noise=noise), (2 + noise) / 4, tolerance=CLOSE)


@tc.falsehood("troiani2024/information-exponent", TROIANI2024)
def information_exponent_decides():
    """z^3 - 3 z has no trivial direction, since E y z = 0"""
    return tc.Identity(recovery_eigenvalue("z**3 - 3*z"), 0, tolerance=CLOSE)


@tc.falsehood("troiani2024/unfolding-proportional", TROIANI2024)
def unfolding_with_proportional_samples():
    """the error of tensor unfolding for sign(z1 z2 z3) decays like d^(-1/2) with n = 20 d: it tends to 1"""
    along = tc.ScalingPath(d=(12, 18, 27, 40, 60), n="20*d")
    return tc.Bound(unfolding_error(), rate="d**(-1/2)", along=along, within=0.1, correction=0.5, amplitude=0.5, share=0.5)


@tc.falsehood("troiani2024/product-hides-nothing", TROIANI2024)
def hidden_sign():
    """E (E[z1 given z1 z2, omega] - omega_1)^2 is that of |z1 z2| at q = .3: as if the sign of y told nothing"""
    value, other = StateEvolution("abs(z1*z2)").information(0.3)[0], StateEvolution("z1*z2").information(0.3)[0]
    return tc.Identity(told(0.3), value, tolerance=(other - value) / 3)
