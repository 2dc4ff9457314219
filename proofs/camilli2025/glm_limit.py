"""The generalised linear model at finite size tends to its replica formula, at rate 1/d (Camilli et al. 2025).

Setting.   Y = eta_0 v . x_0 + sqrt(gamma_0) xi + sqrt(Delta) Z at n = alpha d; finite sizes exactly, through the law of a Wishart
           matrix; the limit in closed form (linear readout), or as a replica fixed point (any readout).
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import linear_error, linear_information

from . import CAMILLI2025

ratios = sampled_from([1, 2])
noises = sampled_from(["1/5", "1/2", "2"])


def setting(noise):
    return tc.TeacherStudent(tc.DeepNetwork("x", depth=0, widths=("d",)), samples="n", noise=noise)


def path(ratio):
    return tc.ScalingPath(d=(4, 8, 16, 32, 64), n=f"{ratio}*d")


@tc.theorem("camilli2025/glm-information", CAMILLI2025)
@tc.for_all(ratio=ratios, noise=noises)
def information(ratio, noise):
    """I^(0)/n -> its closed form with a difference O(1/d), linear readout"""
    measured = tc.learning.mutual_information(setting(noise), per_sample=True)
    limit = linear_information(ratio, noise)
    rivals = [1.05 * limit]
    return tc.Limit(
        measured, path(ratio), value=limit, rate="1/d", tolerance=0.01 * limit, rivals=rivals, correction=1, amplitude=0.5
    )


@tc.theorem("camilli2025/glm-error", CAMILLI2025)
@tc.for_all(ratio=ratios, noise=noises)
def error(ratio, noise):
    """E^(0) -> Delta + tau in closed form with a difference O(1/d), linear readout"""
    measured = tc.learning.generalisation_error(setting(noise))
    limit = linear_error(ratio, noise)
    rivals = [1.05 * limit]
    return tc.Limit(
        measured, path(ratio), value=limit, rate="1/d", tolerance=0.01 * limit, rivals=rivals, correction=1, amplitude=0.5
    )
