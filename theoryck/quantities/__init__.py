"""What can be measured: each quantity offers a sampler, exact values, or both.

Networks: :func:`norm_deviation`, :func:`overlap_moment`.  Constants, exact only: :func:`sigma`, :func:`rho`, :func:`epsilon`,
:func:`eta0`, :func:`gamma0`, :func:`gaussian_mean`, :func:`kernel`, :func:`closed_form`, and arithmetic between them.  Learning:
:func:`free_entropy`, :func:`free_entropy_variance`, :func:`mutual_information`, :func:`mutual_information_gap`,
:func:`generalisation_error`, :func:`generalisation_gap`, :func:`interpolation`.  A prediction: :func:`formula`.
Your own: :func:`quantity`.

Loaded on first use, by what they are about.  Hermite expansions, equivalence: ``hermite_...``, ``feature_...``, ``gradient_...``,
``ridge_gap``, ``..._readout_gain``.  Gaussian covariates: ``covariate_...``.  Ridge risks: ``..._risk``.  Spectra: ``eigenvalue``,
``resolvent_...``, ``spectral_distance``, ``equivalent_gap``.  Generated data: ``projection_...``, ``joint_...``,
``student_...``.  Wide networks: ``nngp``, ``ntk``, ``kernel_deviation``, ``output_...``.  Regression on an interval:
``regressogram_...``, ``bump_bayes_risk``.
"""

import difflib
import importlib
from typing import Any

from theoryck.quantities.base import Quantity, QuantityError
from theoryck.quantities.constants import (
    ExactQuantity,
    closed_form,
    epsilon,
    eta0,
    gamma0,
    gaussian_mean,
    kernel,
    rho,
    sigma,
)
from theoryck.quantities.formulas import Formula, formula
from theoryck.quantities.information import (
    LearningQuantity,
    covariance_gap,
    free_entropy,
    free_entropy_variance,
    generalisation_error,
    generalisation_gap,
    gibbs_error,
    interpolation,
    linear_predictor_gap,
    mutual_information,
    mutual_information_gap,
    nishimori_defect,
)
from theoryck.quantities.norms import NormDeviation, norm_deviation
from theoryck.quantities.overlaps import OverlapMoment, overlap_moment
from theoryck.quantities.user import UserQuantity, quantity

_HOME = {
    "best_product_gain": "equivalence_readout",
    "best_readout_gain": "equivalence_readout",
    "bump_bayes_risk": "regressogram",
    "correlation_derivative": "hermite_pairs",
    "correlation_series": "hermite_pairs",
    "covariate_error": "covariate",
    "covariate_variance": "covariate",
    "drawn_features_risk": "kernel_ridge_design",
    "drawn_ridge_risk": "kernel_ridge_design",
    "drawn_sphere_risk": "sphere_ridge",
    "eigenvalue": "spectra",
    "equivalent_gap": "spectra",
    "erf_features_error": "covariate",
    "feature_covariance_gap": "equivalence",
    "feature_mean": "hermite",
    "feature_noise": "hermite",
    "feature_slope": "hermite",
    "features_risk": "kernel_ridge",
    "gaussian_equivalent": "equivalence",
    "gradient_at_start": "hermite_pairs",
    "gradient_series": "hermite_pairs",
    "hermite_coefficient": "hermite",
    "hermite_entry": "hermite",
    "hermite_overlap": "hermite",
    "hermite_polynomial": "hermite",
    "hermite_rms": "hermite",
    "joint_kurtosis": "projections",
    "joint_skewness": "projections",
    "kernel_deviation": "infinite_width",
    "nngp": "infinite_width",
    "ntk": "infinite_width",
    "optimal_ridge_risk": "kernel_ridge",
    "optimal_ridge_size": "kernel_ridge",
    "output": "output_law",
    "output_bias": "output_law",
    "output_cumulant": "output_law",
    "output_distance": "output_law",
    "output_kurtosis": "output_law",
    "pair_mean": "hermite_pairs",
    "projection_kurtosis": "projections",
    "projection_skewness": "projections",
    "projection_squared_skewness": "projections",
    "regressogram_guarantee": "regressogram",
    "regressogram_precision": "regressogram",
    "regressogram_risk": "regressogram",
    "resolvent_trace": "spectra",
    "resolvent_variance": "spectra",
    "ridge_gap": "equivalence",
    "ridge_risk": "kernel_ridge",
    "sign_readout_gain": "equivalence_readout",
    "signs_error_gap": "projections_annealed",
    "spectral_distance": "spectra_distance",
    "sphere_features_risk": "kernel_ridge",
    "sphere_risk": "kernel_ridge",
    "spherical_gradient": "hermite_pairs",
    "squared_joint_skewness": "projections",
    "student_error": "projections_errors",
    "student_error_gap": "projections_errors",
}

__all__ = [
    "ExactQuantity",
    "Formula",
    "LearningQuantity",
    "NormDeviation",
    "OverlapMoment",
    "Quantity",
    "QuantityError",
    "UserQuantity",
    "closed_form",
    "covariance_gap",
    "epsilon",
    "eta0",
    "formula",
    "free_entropy",
    "free_entropy_variance",
    "gamma0",
    "gaussian_mean",
    "generalisation_error",
    "generalisation_gap",
    "gibbs_error",
    "interpolation",
    "kernel",
    "linear_predictor_gap",
    "mutual_information",
    "mutual_information_gap",
    "nishimori_defect",
    "norm_deviation",
    "overlap_moment",
    "quantity",
    "rho",
    "sigma",
    *_HOME,
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        close = difflib.get_close_matches(name, __all__, n=3, cutoff=0.65)
        hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(__all__)}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
