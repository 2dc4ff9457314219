"""Limit predictions: what the quantities of the other rooms tend to when all sizes grow in fixed proportions.

:func:`glm_limit` is the replica formula of the generalised linear model, :func:`teacher_limit` the same for the model that is
equivalent to a teacher-student setting; the ``..._limit`` functions of the linear readout say by how much a network differs from
it.  Each returns a float (or a record of them), and with ``digits`` an Enclosure.  Names are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "DeepKernel": "kernels",
    "GlmLimit": "glm",
    "LayerKernel": "kernels",
    "NotConverged": "numbers",
    "covariance_gap_limit": "nonlinear_limits",
    "deep_linear_error_limit": "linear_limits",
    "deep_linear_gap_limit": "linear_limits",
    "free_entropy_variance_limit": "linear_limits",
    "gaussian_process": "infinite_width",
    "glm_limit": "glm",
    "layer_kernel": "kernels",
    "learned_share": "linear_limits",
    "linear_error": "linear_limits",
    "linear_information": "linear_limits",
    "mean_resolvent": "spectrum",
    "one_layer_error_limit": "nonlinear_limits",
    "one_layer_gap_limit": "nonlinear_limits",
    "one_layer_linear_error_limit": "nonlinear_limits",
    "one_sample_gap_limit": "nonlinear_limits",
    "overlap_deficit": "spectrum",
    "ridge_error": "linear_limits",
    "scalar_mode_divergence": "linear_limits",
    "teacher_limit": "teacher",
    "wide_kernels": "infinite_width",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public names: {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
