"""Bounds of norm deviations that are asked for: by which method, at which rate, from one side or from both."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.certificates.polynomials import coefficients, polynomial_certificate, too_long
from theoryck.theory.networks.certificates.products import product_certificate, slopes
from theoryck.theory.networks.certificates.refusals import answer, outside, unproved
from theoryck.theory.networks.certificates.two_sided import two_sided_certificate


def why_not(quantity: Any) -> str | None:
    """Return why a norm deviation is outside what is proved, None where it is inside."""
    network = quantity.network
    reason = outside(quantity)
    if reason is not None or slopes(network.activation.expression) is not None:
        return reason
    squared = coefficients(network.activation.expression)
    return unproved(network.activation, growing=True) if squared is None else too_long(squared, network.depth, quantity.power)


def norm_bound(quantity: Any, rate: Fraction | None, constant: Decimal | None, start: int, *, both: bool) -> Certificate:
    """Return the certificate of ``quantity <= constant d**rate`` for every d >= ``start``; NoCertificate, with the reason, else.

    With ``both`` it is one from both sides.
    """
    network, power = quantity.network, quantity.power

    def find(size: int) -> Certificate:
        expression = network.activation.expression
        make: Callable[[Activation, int, int, int], Certificate] = norm_certificate
        if slopes(expression) is not None:
            make = product_certificate
        elif coefficients(expression) is not None:
            make = polynomial_certificate
        elif both:
            make = two_sided_certificate
        found = make(network.activation, network.depth, power, size)
        if both and found.least is None:
            raise NoCertificate("no bound from below is proved: claim a Bound")
        return found

    return answer(quantity, why_not(quantity), find, rate, constant, start)
