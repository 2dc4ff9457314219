"""What can be measured: each quantity offers a sampler, exact values, or both.

arguments     numbers as people write them: read exactly, held to the numeric domain, refused by name
base          what a quantity is: a number that depends on sizes, and the routes by which it can be had
exact         Gaussian means and closed forms as exact quantities, and arithmetic between them
fingerprints  what drew a number, as text: so that numbers on a disk are never taken for those of another sampler
formulas      a prediction as a quantity: a deterministic function of the sizes, with the error it is known to
pilots        what is found out before samplers can be made, such as schedules and coefficients: once, here or in another process
user          ``@quantity``: a user's own sampler as a quantity
"""

from theoryck._lazy import unknown
from theoryck.quantities.base import NoCertificate, Quantity, QuantityError
from theoryck.quantities.exact import ExactQuantity, closed_form, gaussian_mean, kernel
from theoryck.quantities.formulas import formula
from theoryck.quantities.user import UserQuantity, quantity

__all__ = [
    "ExactQuantity",
    "NoCertificate",
    "Quantity",
    "QuantityError",
    "UserQuantity",
    "closed_form",
    "formula",
    "gaussian_mean",
    "kernel",
    "quantity",
]


def __getattr__(name: str) -> object:
    raise unknown(__name__, name, __all__)
