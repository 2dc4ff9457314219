"""Thresholds of weak recovery: which share of the samples per dimension the best algorithm needs (Troiani et al. 2024).

Setting.   y = f(z_1, ..., z_r), z ~ N(0, I_r) the indices of x ~ N(0, I_d), n = alpha d;  G(y) = E[z z^T - I | y], F(M) = E[G M G].
Claim.     With E[z | y] = 0 there is an overlap from alpha_c = 1/lambda_max(F) on; a direction with E[z_v | y] != 0 is found at
           every alpha > 0, with cos^2 -> alpha lambda_1/(1 + alpha lambda_1) after one step, lambda_1 = E E[z_v | y]^2.
Truth.     For y = z_1 ... z_r, E[z_j^2 - 1 | y] is the score of log|z_1| + ... + log|z_r|, so that lambda = J_r, its Fisher
           information of location, for r >= 3; for r = 2 the product z1 z2 itself is another E y^2 = 1.
"""

import math
from fractions import Fraction

import sympy
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import closed_form
from theoryck.theory.weak_recovery import Link, bessel_eigenvalue, first_step_cos2, recovery_eigenvalue, recovery_threshold

from . import MONDELLI2018, TROIANI2024

CLOSE = 1e-11
"""Thresholds are known to 1e-12 of themselves."""


@tc.theorem("troiani2024/square", MONDELLI2018)
@tc.for_all(link=sampled_from(["z**2", "abs(z)", "z**4", "cosh(z)", "exp(-z**2/2)"]))
def square(link):
    """alpha_c = 1/2 for every injective function of |z|"""
    return tc.Identity(recovery_threshold(link), "1/2", tolerance=CLOSE, rivals=["1/3", 1])


@tc.theorem("troiani2024/length", TROIANI2024)
@tc.for_all(r=sampled_from([2, 3, 4]))
def length(r):
    """alpha_c = r/2 for z_1^2 + ... + z_r^2"""
    link = " + ".join(f"z{j}**2" for j in range(1, r + 1))
    return tc.Identity(recovery_threshold(link), f"{r}/2", tolerance=CLOSE, rivals=[0.5, r])


@tc.theorem("troiani2024/product", TROIANI2024)
@tc.for_all(link=sampled_from(["z1*z2", "z1**2 - z2**2", "tanh(z1*z2)"]))
def product(link):
    """alpha_c = 0.59375109822225719955 for z1 z2, and for what is as much: z1^2 - z2^2 is twice a product of rotated indices"""
    return tc.Identity(recovery_threshold(link), "0.59375109822225719955", tolerance=CLOSE, rivals=["1.4615451158735590", 0.297])


@tc.theorem("troiani2024/product-of-absolute-values", TROIANI2024)
def product_of_absolute_values():
    """alpha_c = 1.461545115873559023 for |z1 z2|: the sign of a product is worth more than half of the samples"""
    return tc.Identity(recovery_threshold("abs(z1*z2)"), "1.461545115873559023", tolerance=CLOSE, rivals=["0.59375109822225720"])


@tc.theorem("troiani2024/product-of-three", TROIANI2024)
@tc.for_all(link=sampled_from(["z1*z2*z3", "abs(z1*z2*z3)"]))
def product_of_three(link):
    """alpha_c = 2.5651804019229009549 for z1 z2 z3, with or without its sign"""
    return tc.Identity(recovery_threshold(link), "2.5651804019229009549", tolerance=CLOSE, rivals=[1.5, 3.7])


@tc.theorem("troiani2024/bessel", TROIANI2024)
def by_bessel_functions():
    """1/alpha_c = (2/pi) int u^2 K_1(u)^2/K_0(u) du for z1 z2: E[z_1^2 | y] = |y| K_1(|y|)/K_0(|y|), against Mellin transforms"""
    return tc.Identity(recovery_eigenvalue("z1*z2"), bessel_eigenvalue(), tolerance=CLOSE, rivals=[bessel_eigenvalue() - 1])


@tc.theorem("troiani2024/sign-is-worth-one", TROIANI2024)
def sign_is_worth_one():
    """1/alpha_c(z1 z2) - 1/alpha_c(|z1 z2|) = E y^2 = 1"""
    difference = 1 / recovery_threshold("z1*z2") - 1 / recovery_threshold("abs(z1*z2)")
    return tc.Identity(difference, 1, tolerance=CLOSE, rivals=[0.5])


@tc.theorem("troiani2024/product-at-least", TROIANI2024)
@tc.for_all(r=sampled_from([2, 3, 4, 5, 6]))
def product_at_least(r):
    """alpha_c(|z_1 ... z_r|) >= r/2, Stam's inequality for the Fisher information of a sum"""
    return tc.Bound(1 / recovery_threshold(absolute(r)), at_most=closed_form(sympy.Rational(2, r)), rivals=[Fraction(4, 5 * r)])


@tc.theorem("troiani2024/product-at-most", TROIANI2024)
@tc.for_all(r=sampled_from([2, 3, 4, 5, 6]))
def product_at_most(r):
    """alpha_c(|z_1 ... z_r|) <= r pi^2/8, the variance of log|z_1| + ... + log|z_r|: Cramer-Rao"""
    return tc.Bound(recovery_threshold(absolute(r)), at_most=closed_form(r * sympy.pi**2 / 8), rivals=[Fraction(r, 2)])


@tc.theorem("troiani2024/sign-of-product", TROIANI2024)
@tc.for_all(flips=sampled_from(["0", "1/10", "1/4"]))
def sign_of_product(flips):
    """alpha_c = (pi^2/4)/(1 - 2 e)^2 for sign(z1 z2) of which a share e is flipped"""
    quantity = recovery_threshold("sign(z1*z2)", flips=float(Fraction(flips)))
    value = f"pi**2/4/(1 - 2*{flips})**2"
    return tc.Identity(quantity, value, tolerance=CLOSE, rivals=[f"pi/2/(1 - 2*{flips})**2", "2*pi**2"])


@tc.theorem("troiani2024/sign-times-index", TROIANI2024)
def sign_times_index():
    """alpha_c = 1/(1 + sqrt(1 + 4/pi^2)) for sign(z1) z2: the best matrix M is diag(M_11, M_22), of rank two"""
    return tc.Identity(recovery_threshold("sign(z1)*z2"), "1/(1 + sqrt(1 + 4/pi**2))", tolerance=CLOSE, rivals=[0.5])


@tc.theorem("troiani2024/door", TROIANI2024)
@tc.for_all(edge=sampled_from([0.5, 0.674489750196, 1.0]))
def door(edge):
    """alpha_c = P (1 - P)/(2 K phi(K))^2 for sign(|z| - K), P = P(|z| > K); 1.36 where both labels are equally likely"""
    share = math.erfc(edge / math.sqrt(2))
    value = share * (1 - share) * 2 * math.pi * math.exp(edge**2) / (2 * edge) ** 2
    return tc.Identity(recovery_threshold(f"sign(abs(z) - {edge})"), value, tolerance=CLOSE, rivals=[0.5, 2 * value])


@tc.theorem("troiani2024/noisy-square", MONDELLI2018)
@tc.for_all(
    case=sampled_from([("0.1", "0.51806581211429621629"), ("0.5", "0.57798706141901926474"), ("4", "1.0550171762517746921")])
)
def noisy_square(case):
    """alpha_c of z^2 + N(0, D): E[z^2 | y] = (sqrt D/2) D_(-3/2)(b)/D_(-1/2)(b), b = sqrt D (1/2 - y/D)"""
    noise, value = case
    linear = (2 + float(noise)) / 4
    return tc.Identity(recovery_threshold("z**2", noise=float(noise)), value, tolerance=CLOSE, rivals=[0.5, linear])


@tc.theorem("troiani2024/noisy-square-at-most", MONDELLI2018)
@tc.for_all(noise=sampled_from(["1/10", "1/2", "1", "4"]))
def noisy_square_at_most(noise):
    """alpha_c of z^2 + N(0, D) <= (2 + D)/4, which the labels themselves reach in the place of E[z^2 | y]"""
    return tc.Bound(
        recovery_threshold("z**2", noise=float(Fraction(noise))), at_most=(2 + Fraction(noise)) / 4, rivals=[Fraction(1, 2)]
    )


# Trivial directions ----------------------------------------------------------------------------------------------------------


@tc.theorem("troiani2024/third-hermite", TROIANI2024)
def third_hermite():
    """z^3 - 3 z: E[z | y] != 0 although E y z = 0, lambda_1 = 0.667831671561186961: found at every alpha"""
    return tc.Identity(recovery_eigenvalue("z**3 - 3*z"), "0.667831671561186961", tolerance=CLOSE, rivals=[0, 1])


@tc.theorem("troiani2024/maximum", TROIANI2024)
def maximum():
    """max(z1, z2): (1, 1)/sqrt 2 is trivial, lambda_1 = 0.740268979037455166"""
    return tc.Identity(recovery_eigenvalue("max(z1, z2)"), "0.740268979037455166", tolerance=CLOSE, rivals=[0.5, 1])


@tc.theorem("troiani2024/first-step", TROIANI2024)
@tc.for_all(case=sampled_from([("z**3 - 3*z", 1.0), ("z**3 - 3*z", 0.25), ("max(z1, z2)", 1.0)]))
def first_step(case):
    """cos^2 of sum_i E[z_v | y_i] x_i with a trivial direction v tends to alpha lambda_1/(1 + alpha lambda_1)"""
    link, alpha = case
    strength = alpha * float(recovery_eigenvalue(link).exact({}))
    value = strength / (1 + strength)
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    return tc.Limit(first_step_cos2(link, alpha), along, value=value, tolerance=0.02, rivals=[0, alpha / (1 + alpha)], correction=1)


@tc.theorem("troiani2024/maximum-second", TROIANI2024)
def second_direction_of_the_maximum():
    """max(z1, z2): (1, -1)/sqrt 2 is found from alpha = 0.99715931701 on, given what is known of (1, 1) by then"""
    value = recovery_threshold("max(z1, z2)", rest=True)
    return tc.Identity(value, "0.997159317013759", tolerance=CLOSE, rivals=[1.7620599])


# Two routes ------------------------------------------------------------------------------------------------------------------


@tc.theorem("troiani2024/told", TROIANI2024)
@tc.for_all(
    case=sampled_from(
        [
            ("z", 1.0, 0.5),
            ("z**2", 2.0, 3.0),
            ("abs(z)", 2.0, 1.0),
            ("z1*z2", 1.684207411142628, 0.684207411142628),
            ("abs(z1*z2)", 0.684207411142628, 1.0),
            ("sign(z1*z2)", 4 / math.pi**2, 2 / math.pi),
            ("z1**2 + z2**2 + z3**2", 2 / 3, 2.0),
            ("z**3 - 3*z", 0.667831671561187, 0.5),
            ("max(z1, z2)", 0.740268979037455, 0.5),
        ]
    )
)
def told(case):
    """E (z_v^2 - 1) G(y) = E G(y)^2 (trivial: E z_v E[z_v | y]), drawn with G in closed form against its law by quadrature"""
    link, value, rival = case
    return tc.Identity(recovery_eigenvalue(Link(link)), value, tolerance=CLOSE, rivals=[rival])


def absolute(r):
    return f"abs({'*'.join(f'z{j}' for j in range(1, r + 1))})"
