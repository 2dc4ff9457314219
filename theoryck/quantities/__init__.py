"""What can be measured: each quantity offers a sampler, exact values, or both.

Networks: :func:`norm_deviation`, :func:`overlap_moment`.  Constants, exact only: :func:`sigma`, :func:`rho`, :func:`epsilon`,
:func:`eta0`, :func:`gamma0`, :func:`gaussian_mean`, :func:`kernel`, :func:`closed_form`, and arithmetic between them.  Learning:
:func:`free_entropy`, :func:`free_entropy_variance`, :func:`mutual_information`, :func:`mutual_information_gap`,
:func:`generalisation_error`, :func:`generalisation_gap`, :func:`interpolation`.  A prediction: :func:`formula`.
Your own: :func:`quantity`.
"""

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
]
