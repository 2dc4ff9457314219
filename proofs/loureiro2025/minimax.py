"""The minimax rate of Hoelder functions, and why dimension matters (Loureiro 2025).

Setting.   x_i uniform on [0, 1], y_i = f(x_i) + Z_i, i = 1..n;  f in F_alpha: |f(x) - f(y)| <= |x - y|^alpha, 0 <= f <= 1.
Claim.     inf over estimators, sup over F_alpha of E (f^(x) - f(x))^2  ~  n^(-2 alpha/(2 alpha + d)), here at d = 1.
Words changed.
           The slide has n^(-alpha/(2 alpha + d)): that is the rate of the root of the squared error.  As a lower bound for the
           squared error it is false, since the regressogram is better on all of F_alpha (see falsehoods).

From above: the regressogram with n^(1/(2 alpha + 1)) bins; its risk is exact at any f and bounded over all of F_alpha.  From
below: the Bayes risk of a prior on F_alpha, which no estimator's largest risk can be below.
"""

from fractions import Fraction

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.regressogram import bump_bayes_risk, regressogram_guarantee, regressogram_risk

from . import LOUREIRO2025

smoothness = sampled_from([Fraction(1), Fraction(1, 2)])


def path(alpha, first, last):
    """Sizes at which n^(1/(2 alpha + 1)) is a power of two."""
    step = 2 * alpha + 1
    powers = [j for j in range(first, last + 1) if (step * j).denominator == 1]
    return tc.ScalingPath(n=tuple(2 ** int(step * j) for j in powers), bins=f"n**({1 / step})")


@tc.theorem("loureiro2025/minimax-upper", LOUREIRO2025)
@tc.for_all(alpha=smoothness)
def regressogram_over_the_class(alpha):
    """sup over F_alpha of the regressogram's risk = O(n^(-2 alpha/(2 alpha + 1)))

    E(1/N) is (bins/n)(1 + bins/n + ...) and bins/n = n^(-2 alpha/(2 alpha + 1)).
    """
    along = path(alpha, 4, 9) if alpha == Fraction(1, 2) else path(alpha, 3, 6)
    rivals = ["n**(-alpha/(2*alpha + 1) - 1/2)"] if alpha == Fraction(1, 2) else ["n**(-5/6)"]
    return tc.Bound(
        regressogram_guarantee(alpha),
        rate="n**(-2*alpha/(2*alpha + 1))",
        along=along,
        rivals=rivals,
        correction=float(2 * alpha / (2 * alpha + 1)),
    )


@tc.theorem("loureiro2025/minimax-attained", LOUREIRO2025)
@tc.for_all(alpha=smoothness)
def regressogram_at_a_wave(alpha):
    """The regressogram's risk at f(x) = dist(x, 2 h Z)^alpha ~ n^(-2 alpha/(2 alpha + 1)), h = 1/bins"""
    along = path(alpha, 4, 9) if alpha == Fraction(1, 2) else path(alpha, 3, 6)
    return tc.Scaling(
        regressogram_risk(alpha),
        along,
        exponent="-2*alpha/(2*alpha + 1)",
        rivals=["-alpha/(2*alpha + 1)", "-1"],
        correction=float(2 * alpha / (2 * alpha + 1)),
    )


@tc.theorem("loureiro2025/minimax-lower", LOUREIRO2025)
@tc.for_all(alpha=sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4)]))
def bayes_risk_of_bumps(alpha):
    """The Bayes risk of random signs on n^(1/(2 alpha + 1)) bumps ~ n^(-2 alpha/(2 alpha + 1)): no estimator is faster"""
    first, last = {Fraction(1): (2, 5), Fraction(1, 2): (2, 7), Fraction(1, 4): (4, 10)}[alpha]
    return tc.Scaling(
        bump_bayes_risk(alpha),
        path(alpha, first, last),
        exponent="-2*alpha/(2*alpha + 1)",
        rivals=["-alpha/(2*alpha + 1)", "-1"],
        correction=1,
    )
