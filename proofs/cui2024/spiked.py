"""Ridge regression with features that have a spike (Cui et al. 2024).

Setting.   phi_j(x) = s(<w_j, x> + r <v, x>), w_j ~ N(0, I/d), j = 1..p; y = g(gamma <v, x> + (1 - gamma^2)^(1/2) h); n = alpha d
           samples, p = beta d; (1/p^(1/2)) a . phi fitted with the penalty lambda |a|^2 beside the sum of squares.
Claim.     Test and training error tend to the solution of the system for V_1, V_2, q_1, q_2, zeta, psi, m (Cui, Pesce, Dandi,
           Krzakala, Lu, Zdeborova, Loureiro 2024; derived anew, see the folder).  With r = 0 they are plain random features, whose
           errors are those of the Gaussian covariate model.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import CovariateModel, covariate_limit
from theoryck.theory.giant_step import SpikedFeatures, spiked_error, spiked_limit

from . import CUI2024

SHARE = 4  # a draw is a whole regression, of 10 ms and more

CASES = {
    "tanh on tanh": (SpikedFeatures("tanh", "tanh", beta=1.5, spike=1.0, gamma=0.6), 1, 0.1),
    "tanh on sign": (SpikedFeatures("tanh", "sign(x)", beta=1.0, spike=1.0, gamma=0.8), 2, 0.1),
    "relu on tanh": (SpikedFeatures("relu", "tanh", beta=1.0, spike=0.8, gamma=0.7), 3, 0.5),
    "linear on tanh": (SpikedFeatures("x", "tanh", beta=1.5, spike=0.8, gamma=0.6), 2, 0.01),
}


def path(features, alpha, *sizes):
    return tc.ScalingPath(d=sizes or (16, 32, 64, 96), p=f"{features.beta}*d", n=f"{alpha}*d")


def plain(features):
    """The same without a spike."""
    return SpikedFeatures(features.student, features.target, features.beta, 0.0, features.gamma, features.bulk)


@tc.theorem("cui2024/test-error", CUI2024)
@tc.for_all(case=sampled_from(sorted(CASES)))
def test_error(case):
    """E test error -> the system of equations, features with a spike"""
    features, alpha, penalty = CASES[case]
    value = spiked_limit(features, alpha, penalty).test_error
    measured = spiked_error("test_error", penalty, features)
    without = spiked_limit(plain(features), alpha, penalty).test_error
    rivals = [0.8 * value, 1.2 * value] + ([without] if abs(without / value - 1) > 0.2 else [])
    return tc.Limit(measured, path(features, alpha), value=value, rivals=rivals, tolerance=value / 10, correction=1, share=SHARE)


@tc.theorem("cui2024/train-error", CUI2024)
@tc.for_all(case=sampled_from(sorted(CASES)))
def train_error(case):
    """E training error -> the system of equations, features with a spike"""
    features, alpha, penalty = CASES[case]
    value = spiked_limit(features, alpha, penalty).train_error
    measured = spiked_error("train_error", penalty, features)
    return tc.Limit(
        measured,
        path(features, alpha),
        value=value,
        rivals=[0.7 * value, 1.3 * value],
        tolerance=value / 7,
        correction=1,
        share=SHARE,
    )


@tc.theorem("cui2024/without-spike", CUI2024)
@tc.for_all(student=sampled_from(["tanh", "erf", "x"]), gamma=sampled_from([0.0, 0.6]))
def without_spike(student, gamma):
    """With r = 0 the test error is that of the covariate model with kappa_1 = E s z, kappa_*^2 = E s^2 - kappa_1^2, y = tanh"""
    features = SpikedFeatures(student, "tanh", beta=1.5, spike=0.0, gamma=gamma)
    _, slope, noise = tc.dynamics.generator_coefficients(student)
    _, signal, rest = tc.dynamics.generator_coefficients("tanh")
    # The part of y that is not linear is noise for such features; units in which the linear part is 1.
    model = CovariateModel.random_features(slope, max(noise, 1e-9), gamma=1 / 1.5)
    limit = covariate_limit(model, 2 / 1.5, 0.1, "ridge", noise=(rest / signal) ** 2)
    value = signal**2 * limit.test_error
    measured = tc.quantities.formula(
        lambda: spiked_limit(features, 2, 0.1).test_error, name="spiked features, r = 0", sizes=(), relative_error=1e-10
    )
    return tc.Identity(measured, value, tolerance=1e-7, rivals=[value - rest**2, 1.01 * value])
