"""What one giant step is worth: errors of ridge regression with the features that it makes (Cui et al. 2024).

Setting.   w^1_j = w_j + (eta/b) sum_i y_i s'(<w_j, x_i>) x_i, b = alpha_0 d, then ridge regression with s(<w^1_j, x>) on n = alpha
           d fresh samples, p = d; s = g = tanh.
Claim.     The test error tends to that of spiked features with r, c and gamma of the step (Cui, Pesce, Dandi, Krzakala, Lu,
           Zdeborova, Loureiro 2024), which is below that of the best linear predictor, E y^2 - (E y z)^2, for enough samples: plain
           random features are not.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import SpikedFeatures, after_one_step, giant_step_error, spiked_error, spiked_limit

from . import CUI2024
from .spiked import SHARE

CURVED = "x/2 + sin(2*x)"


def path(batch, alpha):
    return tc.ScalingPath(d=(16, 32, 64, 96), p="d", n=f"{alpha}*d", b=f"{batch}*d")


def best_linear(target):
    """E y^2 - (E y z)^2 of an odd target."""
    _, _, rest = tc.dynamics.generator_coefficients(target)
    return rest**2


@tc.theorem("cui2024/after-one-step", CUI2024)
@tc.for_all(case=sampled_from([(0.5, 1.0, 0.1, 2), (2, 1.0, 0.1, 1), (2, 2.0, 0.5, 3)]))
def after(case):
    """E test error after one giant step -> the system of equations with r, c, gamma of the step: batch alpha_0, rate, penalty,
    alpha"""
    batch, rate, penalty, alpha = case
    features = after_one_step("tanh", "tanh", batch, rate)
    value = spiked_limit(features, alpha, penalty).test_error
    no_step = spiked_limit(SpikedFeatures("tanh", "tanh", 1.0, 0.0, features.gamma), alpha, penalty).test_error
    measured = giant_step_error("test_error", penalty, "tanh", "tanh", rate)
    rivals = [1.3 * value, 0.7 * value] + ([no_step] if no_step > 1.3 * value else [])
    return tc.Limit(measured, path(batch, alpha), value=value, rivals=rivals, tolerance=0.15 * value, correction=1, share=SHARE)


@tc.theorem("cui2024/better-than-linear", CUI2024)
@tc.for_all(alpha=sampled_from([4, 8]))
def better_than_linear(alpha):
    """Test error with the spiked features of one step, y = z/2 + sin(2 z), alpha_0 = 8, eta = 3 -> below E y^2 - (E y z)^2"""
    features = after_one_step("tanh", CURVED, 8, 3.0)
    value = spiked_limit(features, alpha, 0.1).test_error
    measured = spiked_error("test_error", 0.1, features)  # the step itself is at d = 192 where this is at d = 24
    linear, no_step = best_linear(CURVED), spiked_limit(SpikedFeatures("tanh", CURVED, 1.0, 0.0, 0.0), alpha, 0.1).test_error
    rivals = [linear, no_step]
    return tc.Limit(measured, path(8, alpha), value=value, rivals=rivals, tolerance=(linear - value) / 3, correction=1, share=SHARE)


@tc.theorem("cui2024/plain-features-linear", CUI2024)
def plain_features_do_not():
    """Plain random features end at E y^2 - (E y z)^2 as beta grows and alpha = beta^2: y = z/2 + sin(2 z), limits in d"""
    plain = tc.quantities.formula(
        lambda a: spiked_limit(SpikedFeatures("tanh", CURVED, a, 0.0, 0.0), a * a, 0.01).test_error,
        name="error of plain features, limit in d",
        sizes=("a",),
        relative_error=1e-9,
    )
    value = best_linear(CURVED)
    along = tc.ScalingPath(a=tc.doubling(4, 128))
    return tc.Limit(plain, along, value=value, rivals=[0, value / 2], tolerance=value / 20, correction=1)
