"""Bounds of norm deviations that are asked for: by which method, at which rate, from one side or from both."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.expansions import expansion_certificate
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.certificates.polynomials import coefficients, polynomial_certificate, too_long
from theoryck.theory.networks.certificates.products import product_certificate, slopes
from theoryck.theory.networks.certificates.refusals import NothingBelow, answer, outside, sizes_from, unproved
from theoryck.theory.networks.certificates.two_sided import two_sided_certificate


def why_not(quantity: Any) -> str | None:
    """Return why a norm deviation is outside what is proved, None where it is inside."""
    network = quantity.network
    reason = outside(quantity)
    if reason is not None or slopes(network.activation.expression) is not None:
        return reason
    squared = coefficients(network.activation.expression)
    return unproved(network.activation, growing=True) if squared is None else too_long(squared, network.depth, quantity.power)


def least_constant(activation: Activation, depth: int, power: int, start: int) -> Certificate:
    """Return the certificate with the least constant and, of those, the one with the largest bound from below, if one has any.

    >>> [least_constant(Activation("tanh"), 2, 2, start).method for start in (1, 8, 4096)]
    ['comparison', 'two-sided', 'expansion']
    """
    found = [norm_certificate(activation, depth, power, start)]
    for make in (two_sided_certificate, expansion_certificate):
        try:
            found.append(make(activation, depth, power, start))
        except NoCertificate:
            continue
    return min(found, key=lambda each: (Decimal(each.constant), -Decimal(each.least or 0)))


def both_sides(activation: Activation, depth: int, power: int, start: int) -> Certificate:
    """Return the certificate with the larger bound from below of methods "two-sided" and, of even powers, "expansion".

    NothingBelow, with the first size, doubling from ``start``, from which one of them has such a bound, where neither has.
    """
    try:
        return _both_sides(activation, depth, power, start)
    except NothingBelow as error:
        for size in sizes_from(2 * start):
            try:
                _both_sides(activation, depth, power, size)
            except NothingBelow:
                continue
            raise NothingBelow(str(error), start=size) from error
        raise


def _both_sides(activation: Activation, depth: int, power: int, start: int) -> Certificate:
    found, refused = [], None
    for make in (expansion_certificate, two_sided_certificate)[power % 2 :]:
        try:
            found.append(make(activation, depth, power, start))
        except NoCertificate as error:
            refused = error
    if not found and refused is not None:
        raise refused
    return max(found, key=lambda each: Decimal(each.least or 0))


def norm_bound(quantity: Any, rate: Fraction | None, constant: Decimal | None, start: int, *, both: bool) -> Certificate:
    """Return the certificate of ``quantity <= constant d**rate`` for every d >= ``start``; NoCertificate, with the reason, else.

    With ``both`` it is one from both sides.
    """
    network, power = quantity.network, quantity.power

    def find(size: int) -> Certificate:
        expression = network.activation.expression
        make: Callable[[Activation, int, int, int], Certificate] = both_sides if both else least_constant
        if slopes(expression) is not None:
            make = product_certificate
        elif coefficients(expression) is not None:
            make = polynomial_certificate
        found = make(network.activation, network.depth, power, size)
        if both and found.least is None:
            raise NoCertificate("no bound from below is proved: claim a Bound")
        return found

    return answer(quantity, why_not(quantity), find, rate, constant, start)
