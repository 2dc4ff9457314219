"""Limit predictions: what the quantities of the other rooms tend to when all sizes grow in fixed proportions.

:func:`glm_limit` is the replica formula of the generalised linear model, :func:`teacher_limit` the same for the model that is
equivalent to a teacher-student setting; the ``..._limit`` functions of the linear readout say by how much a network differs from
it.  Each returns a float (or a record of them), and with ``digits`` an Enclosure.

Gaussian covariates: :func:`covariate_limit`, :func:`covariate_path` and :func:`separability_threshold` of a
:class:`CovariateModel`.  Ridge regression: :func:`kernel_ridge_equivalent` and :func:`random_features_equivalent` of a
:class:`FiniteSpectrum` or a :class:`PowerLaw` (exponents: :func:`risk_exponent` and its like), and of kernels on the sphere
(:func:`sphere_spectrum`).  Conjugate kernels: :func:`marchenko_pastur`, :func:`conjugate_kernel`, :func:`pennington_worah`,
:func:`resolvent_equivalent`.  Wide networks: :func:`wide_kernels` (NNGP and NTK), :func:`gaussian_process`.  Generated data:
:func:`prediction_error`, :func:`projection_kurtosis_limit`.  A fixed point that is not reached raises :class:`NotConverged`, which
says where it stopped.  Names are loaded on first use.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

_HOME = {
    "ConjugateKernel": "conjugate",
    "CovariateLimit": "covariate",
    "CovariateModel": "covariate_model",
    "DeepKernel": "kernels",
    "FiniteSpectrum": "kernel_spectrum",
    "GlmLimit": "glm",
    "KernelRidge": "kernel_ridge",
    "LayerKernel": "kernels",
    "MarchenkoPastur": "conjugate",
    "NotConverged": "numbers",
    "PowerLaw": "power_law",
    "RandomFeaturesRidge": "random_features_ridge",
    "ResolventEquivalent": "equivalents",
    "SpectralLaw": "conjugate_law",
    "Spectrum": "kernel_spectrum",
    "bias_exponent": "power_law",
    "conjugate_kernel": "conjugate",
    "covariance_gap_limit": "nonlinear_limits",
    "covariate_limit": "covariate",
    "covariate_path": "covariate",
    "deep_linear_error_limit": "linear_limits",
    "deep_linear_gap_limit": "linear_limits",
    "degree_residual": "sphere",
    "error_gap_limit": "projections",
    "error_variance_limit": "covariate_fluctuations",
    "feature_exponents": "power_law",
    "free_entropy_variance_limit": "linear_limits",
    "gaussian_process": "infinite_width",
    "glm_limit": "glm",
    "kernel_equivalent": "equivalents",
    "kernel_ridge_equivalent": "kernel_ridge",
    "layer_kernel": "kernels",
    "learned_share": "linear_limits",
    "linear_error": "linear_limits",
    "linear_information": "linear_limits",
    "localised_error_gap": "projections",
    "marchenko_pastur": "conjugate",
    "mean_resolvent": "spectrum",
    "multiplicity": "sphere",
    "one_layer_error_limit": "nonlinear_limits",
    "one_layer_gap_limit": "nonlinear_limits",
    "one_layer_linear_error_limit": "nonlinear_limits",
    "one_sample_gap_limit": "nonlinear_limits",
    "optimal_ridge": "power_law",
    "optimal_ridge_exponent": "power_law",
    "overlap_deficit": "spectrum",
    "pennington_worah": "conjugate_quartic",
    "prediction_error": "prediction_errors",
    "projection_kurtosis_limit": "projections",
    "projection_skewness_limit": "projections",
    "quartic_roots": "conjugate_quartic",
    "quartic_transform": "conjugate_quartic",
    "random_features_equivalent": "random_features_ridge",
    "resolvent_equivalent": "equivalents",
    "ridge_error": "linear_limits",
    "risk_exponent": "power_law",
    "scalar_mode_divergence": "linear_limits",
    "separability_threshold": "covariate_logistic",
    "sphere_eigenvalues": "sphere",
    "sphere_spectrum": "sphere",
    "surrogate_covariance": "equivalents",
    "teacher_limit": "teacher",
    "threshold_limit": "sphere",
    "variance_exponent": "power_law",
    "wide_kernels": "infinite_width",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        close = difflib.get_close_matches(name, __all__, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(__all__)}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
