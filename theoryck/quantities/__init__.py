"""What can be measured: each quantity offers a sampler, exact values, or both.

Networks: :func:`norm_deviation`, :func:`overlap_moment`.  Constants, exact only: :func:`sigma`, :func:`rho`, :func:`epsilon`, :func:`eta0`,
:func:`gamma0`, :func:`gaussian_mean`, :func:`kernel`, :func:`closed_form`, and arithmetic between them.  Your own: :func:`quantity`.
"""

from theoryck.quantities.base import Quantity, QuantityError
from theoryck.quantities.norms import NormDeviation, norm_deviation
from theoryck.quantities.overlaps import OverlapMoment, overlap_moment
from theoryck.quantities.user import UserQuantity, quantity

__all__ = [
    "NormDeviation",
    "OverlapMoment",
    "Quantity",
    "QuantityError",
    "UserQuantity",
    "norm_deviation",
    "overlap_moment",
    "quantity",
]
