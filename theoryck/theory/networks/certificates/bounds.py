"""Bounds of norm deviations that are asked for: by which method, at which rate, from one side or from both."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.certificates.products import product_certificate, slopes
from theoryck.theory.networks.certificates.refusals import answer, outside, unproved
from theoryck.theory.networks.certificates.two_sided import two_sided_certificate


def why_not(quantity: Any) -> str | None:
    """Return why a norm deviation is outside what is proved, None where it is inside."""
    activation = quantity.network.activation
    return outside(quantity) or (None if slopes(activation.expression) is not None else unproved(activation))


def norm_bound(quantity: Any, rate: Fraction | None, constant: Decimal | None, start: int, *, both: bool) -> Certificate:
    """Return the certificate of ``quantity <= constant d**rate`` for every d >= ``start``; NoCertificate, with the reason, else.

    With ``both`` it is one from both sides.
    """
    network, power = quantity.network, quantity.power

    def find(size: int) -> Certificate:
        if slopes(network.activation.expression) is None:
            make = two_sided_certificate if both else norm_certificate
            return make(network.activation, network.depth, power, size)
        found = product_certificate(network.activation, network.depth, power, size)
        if both and found.least is None:
            raise NoCertificate(f"no bound of {quantity.name} from below is proved")
        return found

    return answer(quantity, why_not(quantity), find, rate, constant, start)
