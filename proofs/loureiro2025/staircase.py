"""What kernels and random features learn on the sphere: one degree after the other, whatever the target (Loureiro 2025).

Setting.   x uniform on the sphere of radius sqrt(d), kernel h(<x, x'>/d) with h = exp unless said, no ridge unless said; F_k is the
           power of the target in the spherical harmonics of degree k, of dimension B(d, k) ~ d^k/k!.
Claim.     With n, p = Theta(d^kappa) one learns at best a polynomial of degree kappa: E |f* - f|^2 = |P_{>kappa} f*|^2 + o(1).
Words changed.  Degree floor(kappa), for kappa that is no integer.  At n = c B(d, k) degree k is partly learnt, and as B(d, k) is
           d^k/k!, log n/log d misleads at moderate d: at d = 16 degree 3 is learnt from n = 800 = d^2.4 on.
Truth.     At n = d^kappa, k = floor(kappa), the difference is made of what is not learnt acting as noise, d^k/(k! n), and of the
           beginning of the next degree, (k + 1)! n/d^(k+1): at kappa = k + 1/2 both decay like d^(-1/2).
"""

import math
from fractions import Fraction

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.ridge import EXPONENTIAL, drawn_sphere_risk, sphere_features_risk, sphere_risk, threshold_limit

from . import LOUREIRO2025, MEI2022

POWERS = (0.0, 1.0, 1.0, 1.0, 1.0)
"""A target with parts of unit power in the degrees 1 to 4."""


def degree(k):
    """A target of unit power in degree k alone."""
    return (0.0,) * k + (1.0,)


def dimensions(*exponents, **sizes):
    return tc.ScalingPath(d=tuple(2**e for e in exponents), **sizes)


@tc.theorem("loureiro2025/staircase", MEI2022)
@tc.for_all(kappa=sampled_from(["3/2", "5/2"]))
def staircase(kappa):
    """n = d^kappa: excess risk = |P_{> floor(kappa)} f*|^2 + O(d^(-1/2))"""
    left = sum(POWERS[math.floor(Fraction(kappa)) + 1 :])
    along = dimensions(12, 14, 16, 18, 20, n=f"d**({kappa})")
    return tc.Limit(
        sphere_risk(EXPONENTIAL, POWERS), along, value=left, rate="d**(-1/2)", tolerance=0.01, rivals=[left - 1, left + 1]
    )


@tc.theorem("loureiro2025/threshold", MEI2022)
@tc.for_all(k=sampled_from([1, 2, 3]), samples=sampled_from(["1", "4"]))
def threshold(k, samples):
    """n = c d^k/k!: degree k is left with (s/(1+s))^2/(1-gamma), s = zeta/c + s/(c(1+s)), zeta = sum_{m>k} a_m/a_k, up to O(1/d)"""
    value = threshold_limit(EXPONENTIAL, k, float(samples)).residual
    # With n = c d^k, without k!, another number would be left.
    rivals = [value / 2, threshold_limit(EXPONENTIAL, k, float(samples) / math.factorial(max(k, 2))).residual]
    along = dimensions(8, 10, 12, 14, 16, n=f"{samples}*d**{k}/{math.factorial(k)}")
    return tc.Limit(sphere_risk(EXPONENTIAL, degree(k)), along, value=value, rate="1/d", tolerance=1e-3, rivals=rivals)


@tc.theorem("loureiro2025/fewer-decide", MEI2022)
@tc.for_all(powers=sampled_from([("5/2", "3/2"), ("3/2", "5/2"), ("7/2", "5/2")]))
def fewer_decide(powers):
    """n = d^a samples and p = d^b features: excess risk = |P_{> floor(min(a, b))} f*|^2 + O(d^(-1/2))"""
    left = sum(POWERS[math.floor(min(map(Fraction, powers))) + 1 :])
    n, p = powers
    along = dimensions(8, 10, 12, 14, 16, n=f"d**({n})", p=f"d**({p})")
    quantity = sphere_features_risk(EXPONENTIAL, POWERS, ridge=1e-15)
    return tc.Limit(quantity, along, value=left, rate="d**(-1/2)", tolerance=0.02, rivals=[left - 1, left + 1])


@tc.theorem("loureiro2025/no-adaptivity", MEI2022)
def no_adaptivity():
    """a target of degree 2 is not learnt with n = 5 d, whatever its structure: excess risk -> 1/(1 - gamma), drawn"""
    value = threshold_limit(EXPONENTIAL, 1, 5.0).inflation
    along = tc.ScalingPath(d=(8, 12, 16, 24, 32, 48), n="5*d")
    quantity = drawn_sphere_risk(EXPONENTIAL, degree(2), ridge=0.0)
    return tc.Limit(quantity, along, value=value, rate="1/d", tolerance=0.03, rivals=[value / 4, value / 2], correction=1)


@tc.theorem("loureiro2025/staircase-drawn", MEI2022)
@tc.for_all(samples=sampled_from(["2*d", "d**2/2"]))
def staircase_drawn(samples):
    """drawn excess risk / its equivalent -> 1 on the sphere, lambda = 1e-6"""
    ratio = drawn_sphere_risk(EXPONENTIAL, POWERS, ridge=1e-6, relative=True)
    along = tc.ScalingPath(d=(4, 6, 8, 12, 16), n=samples)
    return tc.Limit(ratio, along, value=1, tolerance=0.05, rivals=[0.8, 1.2], correction=1)


@tc.theorem("loureiro2025/third-degree", LOUREIRO2025)
def third_degree():
    """sign(z1 z2 z3) is not out of reach until n = O(e^d): at n = d^(7/2) its part of degree 3 is learnt, by formula"""
    along = dimensions(6, 8, 10, 12, 14, n="d**(7/2)")
    quantity = sphere_risk(EXPONENTIAL, degree(3))
    return tc.Bound(quantity, rate="d**(-1)", along=along, rivals=["d**(-2)"])
