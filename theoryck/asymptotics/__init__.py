"""Limit predictions: what information, errors and variances tend to when all sizes grow together.

Linear readout: :mod:`linear_limits` (closed forms, proved), :mod:`nonlinear_limits` (one nonlinear layer).  Any readout:
:mod:`glm`, the replica formula of the generalised linear model.
"""

from theoryck.asymptotics.glm import GlmLimit, glm_limit
from theoryck.asymptotics.linear_limits import (
    deep_linear_error_limit,
    deep_linear_gap_limit,
    free_entropy_variance_limit,
    learned_share,
    linear_error,
    linear_information,
    ridge_error,
    scalar_mode_divergence,
)
from theoryck.asymptotics.nonlinear_limits import (
    covariance_gap_limit,
    one_layer_error_limit,
    one_layer_gap_limit,
    one_layer_linear_error_limit,
    one_sample_gap_limit,
)

__all__ = [
    "GlmLimit",
    "covariance_gap_limit",
    "deep_linear_error_limit",
    "deep_linear_gap_limit",
    "free_entropy_variance_limit",
    "glm_limit",
    "learned_share",
    "linear_error",
    "linear_information",
    "one_layer_error_limit",
    "one_layer_gap_limit",
    "one_layer_linear_error_limit",
    "one_sample_gap_limit",
    "ridge_error",
    "scalar_mode_divergence",
]
