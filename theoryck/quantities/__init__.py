"""What can be measured: each quantity offers a sampler, exact values, or both.

Networks: :func:`norm_deviation`, :func:`overlap_moment`.  Constants, exact only: :func:`sigma`, :func:`rho`, :func:`epsilon`,
:func:`eta0`, :func:`gamma0`, :func:`gaussian_mean`, :func:`kernel`, :func:`closed_form`, and arithmetic between them.  Your own:
:func:`quantity`.
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
from theoryck.quantities.norms import NormDeviation, norm_deviation
from theoryck.quantities.overlaps import OverlapMoment, overlap_moment
from theoryck.quantities.user import UserQuantity, quantity

__all__ = [
    "ExactQuantity",
    "NormDeviation",
    "OverlapMoment",
    "Quantity",
    "QuantityError",
    "UserQuantity",
    "closed_form",
    "epsilon",
    "eta0",
    "gamma0",
    "gaussian_mean",
    "kernel",
    "norm_deviation",
    "overlap_moment",
    "quantity",
    "rho",
    "sigma",
]
