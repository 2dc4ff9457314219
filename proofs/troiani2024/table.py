"""The table of slide 23 of Loureiro's talk, a claim a row, a column an instance; its best algorithm is that of Troiani et al. 2024.

Source.    Loureiro, "Statistical physics of learning with two-layer neural networks" (10 April 2025), pirsa.org/25040093: how many
           samples kernels, one-pass SGD and the best algorithm ("AMP") need.  Each row is a target f of that slide; its column
           "SGD" is the exponent of Ben Arous et al. (2021) and the leap of Abbe et al. (2023), "best" the threshold of Troiani et
           al. (2024), "kernels" the degree (Mei, Misiakiewicz, Montanari 2022).
Setting.   y = f(z_1, ..., z_r); weak recovery: an overlap that does not tend to 0 (SGD: min_k |m_k| reaches 1/2 for one index,
           0.35 for several, in the median), for kernels that part of f of the degree of its first Hermite tensor.
Columns.   "kernels": n = 4 d^k/k! leaves the part of degree k with a limit below its power, so that d^k is right (see
           loureiro2025). "SGD": n over d, d log d or d^2 is flat.
           "best": the threshold alpha_c, n = alpha d; 1/alpha_c = 0 where there is none, and E E[z | y]^2 where every alpha will
           do.
Words changed.
           "AMP: n = O(d)" is: every alpha (z, z^3 - 3 z), alpha > alpha_c (z^2, z1 z2, z1 z2 z3), no alpha (sign(z1 z2 z3)).
           Kernels learn sign(z1 z2 z3) at d^3, not e^d: its part of degree 3, a share (2/pi)^3 of it.  The "???" is d^(3/2), by
           tensor unfolding.
"""

import math

import theoryck as tc
from theoryck.theory.one_pass import OnePass, hitting_time
from theoryck.theory.ridge import EXPONENTIAL, sphere_risk, threshold_limit
from theoryck.theory.weak_recovery import recovery_eigenvalue, recovery_threshold

from . import TROIANI2024

SECOND, THIRD = "sqrt(2)*z", "(3*z**2 - 3)/sqrt(6)"


def kernels(degree):
    value = threshold_limit(EXPONENTIAL, degree, 4.0).residual
    along = tc.ScalingPath(d=tuple(2**e for e in (8, 10, 12, 14, 16)), n=f"4*d**{degree}/{math.factorial(degree)}")
    risk = sphere_risk(EXPONENTIAL, (0.0,) * degree + (1.0,))
    return tc.Limit(risk, along, value=value, rate="1/d", tolerance=1e-3, rivals=[value / 2, 1])


def sgd(target, slope, step, rate, constant, sizes, amplitude=0.15, share=0.35):
    one = "z1" not in target
    options = {"level": 0.5, "start": "positive"} if one else {}
    quantity = hitting_time(OnePass(target, slope, step, **options), f"{constant}*{rate}")
    rivals = {"d": ["d**(1/2)", "d**2"], "d*log(d)": ["d**(1/2)", "d**2"], "d**2": ["d", "d**3"]}[rate]
    options = {"rivals": rivals, "within": 0.3, "correction": 0.5, "amplitude": amplitude, "share": share}
    return tc.Scaling(quantity, tc.ScalingPath(d=sizes), rate=rate, **options)  # logarithms are told in benarous2021 and abbe2023


def best(link, threshold=None, eigenvalue=None):
    if threshold:
        return tc.Identity(recovery_threshold(link), threshold, tolerance=1e-11, rivals=[0])
    return tc.Identity(recovery_eigenvalue(link), eigenvalue, tolerance=1e-11, rivals=[0.5])


LARGE, SMALL = (32, 64, 128, 256, 512), (12, 16, 22, 32, 45)


@tc.theorem("troiani2024/row-z", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_z(column):
    """z: kernels d, SGD d, best algorithm every alpha"""
    if column == "kernels":
        return kernels(1)
    return sgd("z", "1", "0.2/d", "d", 2.8, LARGE) if column == "SGD" else best("z", eigenvalue=1)


@tc.theorem("troiani2024/row-square", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_square(column):
    """z^2: kernels d^2, SGD d log d, best algorithm alpha > 1/2"""
    if column == "kernels":
        return kernels(2)
    if column == "SGD":
        return sgd("(z**2 - 1)/sqrt(2)", SECOND, "0.05/d", "d*log(d)", 5, LARGE)
    return best("z**2", "1/2")


@tc.theorem("troiani2024/row-third-hermite", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_third_hermite(column):
    """z^3 - 3 z: kernels d^3, SGD d^2, best algorithm every alpha"""
    if column == "kernels":
        return kernels(3)
    if column == "SGD":
        return sgd("(z**3 - 3*z)/sqrt(6)", THIRD, "0.15*d**(-3/2)", "d**2", 2.9, SMALL)
    return best("z**3 - 3*z", eigenvalue="0.667831671561186961")


@tc.theorem("troiani2024/row-product", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_product(column):
    """z1 z2: kernels d^2, SGD d log d, best algorithm alpha > 0.59375109822"""
    if column == "kernels":
        return kernels(2)
    if column == "SGD":
        return sgd("z1*z2", SECOND, "0.2/d", "d*log(d)", 2, LARGE)
    return best("z1*z2", "0.59375109822225719955")


@tc.theorem("troiani2024/row-product-of-three", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_product_of_three(column):
    """z1 z2 z3: kernels d^3, SGD d^2, best algorithm alpha > 2.5651804019"""
    if column == "kernels":
        return kernels(3)
    if column == "SGD":
        return sgd("z1*z2*z3", THIRD, "0.3*d**(-3/2)", "d**2", 2.4, SMALL)
    return best("z1*z2*z3", "2.5651804019229009549")


@tc.theorem("troiani2024/row-sign", TROIANI2024)
@tc.example(column="kernels")
@tc.example(column="SGD")
@tc.example(column="best")
def row_sign(column):
    """sign(z1 z2 z3): kernels d^3 (its part of degree 3), SGD d^2, best algorithm no alpha"""
    if column == "kernels":
        return kernels(3)
    if column == "SGD":
        # n/d^2 is a fifth below its limit at d = 16, a tenth at 36
        return sgd("sign(z1*z2*z3)", THIRD, "0.3*d**(-3/2)", "d**2", 5.4, (24, 34, 48, 68, 96), amplitude=0.2, share=0.8)
    return best("sign(z1*z2*z3)", eigenvalue=0)
