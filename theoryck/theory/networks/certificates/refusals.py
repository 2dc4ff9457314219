"""Why a bound has no certificate: the size at which the exact value exceeds it, or the size from which the method would do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sympy import Pow, exp, log

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.strips import FLOATS, NoBound, strip_size
from theoryck.quantities.base import NoCertificate, Quantity, apart
from theoryck.records import Bracket, Certificate, Enclosure
from theoryck.theory.networks.certificates.decimals import ball
from theoryck.theory.networks.certificates.envelopes import Bounded, Growing
from theoryck.theory.networks.certificates.ranges import envelope, largest_square

LARGEST_SIZE = 2**30
LARGEST_START = 10**30
LARGEST_POWER = 8
LARGEST_DEPTH = 8
LARGEST_EXPONENT = 16
"""Of a whole power in phi that the format of certificates has."""
_STRIP = 1 / 64
_DIGITS = 10
_BITS = 64

Find = Callable[[int], Certificate]
"""The certificate from a size on."""


class NothingBelow(NoCertificate):
    """From a first size on no bound from below is proved; from a larger one there may be one."""


def outside(quantity: Any) -> str | None:
    """Return why no method proves bounds of a quantity of a network such as this one, None where one may."""
    network, power = quantity.network, quantity.power
    centre = getattr(quantity, "centre", None)
    if centre is not None:
        return f"its centre is {centre}, and proofs for every size are of deviations from sigma_L"
    if not network.activation.expression.free_symbols:
        exact = "0 at every size, so that there is nothing to prove" if network.depth else "that of the input: take any other phi"
        return f"phi(x) = {network.activation.text} is constant, and at depth {network.depth} the value is {exact}"
    powers = [int(abs(each.exp)) for each in network.activation.expression.atoms(Pow) if each.exp.is_Integer]
    if max(powers, default=1) > LARGEST_EXPONENT:
        return f"phi has the exponent {max(powers)}, and proofs for every size are of exponents up to {LARGEST_EXPONENT} in phi"
    if not isinstance(power, int) or not 1 <= power <= LARGEST_POWER:
        return f"proofs for every size are of whole powers from 1 to {LARGEST_POWER}, got {power}"
    if network.depth > LARGEST_DEPTH:
        return f"proofs for every size are of depths up to {LARGEST_DEPTH}, got {network.depth}"
    fixed = [width for width in network.widths if isinstance(width, int)]
    if fixed:
        return f"the width {fixed[0]} does not grow, and proofs for every size are of networks whose widths all do"
    return None


def unproved(activation: Activation, *, growing: bool = False) -> str | None:
    """Return why the inequalities of a phi are not proved by series on cells, None where it is bounded on a strip.

    With ``growing`` it may grow at most linearly.
    """
    if activation.kinks:
        return f"phi has a kink at {activation.kinks[0]}, and proofs for every size need an analytic phi"
    try:
        found = envelope(activation.expression) if growing else Bounded(largest_square(activation.expression))
        if isinstance(found, Growing) and activation.expression.has(exp, log):
            return f"phi(x) = {activation.text} grows, and how fast exp and log do at infinity is not verified"
        strip_size(activation.expression, _STRIP, FLOATS)
    except NoCertificate as reason:
        return str(reason)
    except NoBound as reason:
        return f"no strip around the real line is found on which phi is bounded ({reason}): its means would take minutes"
    return None


def answer(
    quantity: Quantity,
    reason: str | None,
    find: Find,
    rate: Fraction | None,
    constant: Decimal | None,
    start: int,
    own: Fraction | None = None,
) -> Certificate:
    """Return the certificate from ``start`` on if it proves ``quantity <= constant d**rate``; NoCertificate, with the reason, else.

    ``reason`` says why the quantity is outside what the method proves, None where it is inside.
    ``find`` gives certificates at the rate ``own`` at which the quantity decays, by default -k/2.  They prove slower rates too:
    C d^own is at most C N^(own - rate) d^rate for d >= N.
    """
    if reason is None and start > LARGEST_START:
        reason = f"proofs are verified for first sizes up to 1e30, got {Decimal(start):.3e}"
    if reason is not None:
        raise NoCertificate(f"{quantity.name} has no proof for every size: {reason}")
    own = Fraction(-quantity.parameters["power"], 2) if own is None else own
    asked = own if rate is None else Fraction(rate)
    if asked < own:
        raise _too_fast(quantity, own, asked, constant, start)
    try:
        found = find(start)
    except NoCertificate as error:
        if error.start is not None:  # from there on it has one
            raise
        raise NoCertificate(f"{quantity.name} has no proof for every size: {error}") from error
    if constant is None or _reached(found, asked - own) <= constant:
        return found
    larger = _first_above(quantity, asked, constant, start)
    if larger is not None:
        raise _exceeded(quantity, asked, constant, larger)
    raise _too_small(quantity, find, asked, constant, found, asked - own)


def _reached(found: Certificate, slower: Fraction) -> Decimal:
    """The constant at the slower rate, rounded up."""
    own = Decimal(found.constant)
    if slower == 0:
        return own
    with precision(_BITS):
        scaled = ball(own) / ball(found.start) ** ball(slower)
        return own if scaled >= ball(own) else Decimal(repr(float(scaled.upper()))) * (1 + Decimal(2) ** -50)


def sizes_from(start: int) -> Iterator[int]:
    """Yield sizes, doubling from ``start``."""
    size = start
    while size <= LARGEST_SIZE:
        yield size
        size *= 2


def _value(quantity: Quantity, size: int) -> Enclosure | Bracket | None:
    """The exact value where every named size is ``size``, or None."""
    try:
        return quantity.exact(dict.fromkeys(quantity.size_names or (), size), _DIGITS)
    except (ExactError, ValueError, ArithmeticError):
        return None


def _ratio(quantity: Quantity, rate: Fraction, size: int) -> Decimal | None:
    """A lower bound of the exact value over d^rate, or None."""
    value = _value(quantity, size)
    if value is None:
        return None
    low: Any = value.low if isinstance(value, Enclosure) else Decimal(value.low)
    with precision(_BITS):
        ratio = ball(low) / ball(size) ** ball(rate)
        return Decimal(repr(float(ratio.lower()))) * (1 - Decimal(2) ** -50)


def _first_above(quantity: Quantity, rate: Fraction, constant: Decimal, start: int) -> tuple[int, Decimal] | None:
    """Return the first size, doubling from ``start``, at which the exact value exceeds ``constant`` d^rate, with the ratio."""
    for size in sizes_from(start):
        ratio = _ratio(quantity, rate, size)
        if ratio is not None and ratio > constant:
            return size, ratio
    return None


def _exceeded(quantity: Quantity, rate: Fraction, constant: Decimal, larger: tuple[int, Decimal]) -> NoCertificate:
    size, ratio = larger
    most, value = apart(constant, ratio)
    return NoCertificate(
        f"{quantity.name} exceeds {most} d**({rate}) at d = {size}, where it is {value} d**({rate}): take a larger constant",
        breaks=size,
    )


def _too_fast(quantity: Quantity, own: Fraction, rate: Fraction, constant: Decimal | None, start: int) -> NoCertificate:
    if constant is None:
        first = next((pair for pair in ((size, _ratio(quantity, rate, size)) for size in sizes_from(start)) if pair[1]), None)
        larger = None if first is None or first[1] is None else _first_above(quantity, rate, 2 * first[1], first[0])
        seen = "" if larger is None or first is None else f": it is {float(first[1] or 0):.4g} d**({rate}) at d = {first[0]}"
        seen += "" if larger is None else f" and {float(larger[1]):.4g} d**({rate}) at d = {larger[0]}"
    else:
        larger = _first_above(quantity, rate, constant, start)
        seen = "" if larger is None else f": it exceeds {float(constant):.10g} d**({rate}) at d = {larger[0]}"
    said = f"is proved to decay like d**({own}), not like d**({rate})" if larger is None else f"decays like d**({own}), no faster"
    text = f"{quantity.name} {said}{seen}; take the rate d**({own})"
    return NoCertificate(text, breaks=larger[0] if larger else None, rate=own)


def _too_small(
    quantity: Quantity, find: Find, rate: Fraction, constant: Decimal, found: Certificate, slower: Fraction
) -> NoCertificate:
    """The constant is not refuted, and not reached from this start."""
    reached = _reached(found, slower)
    later = next((size for size in sizes_from(2 * found.start) if _reached(find(size), slower) <= constant), None)
    advice = "take a larger one" if later is None else f"from d = {later} on {float(constant):.10g} is proved"
    return NoCertificate(
        f"{quantity.name} <= {float(constant):.10g} d**({rate}) is not proved from d = {found.start} on, where "
        f"{float(reached):.7g} is the least constant that is: {advice}",
        start=later,
    )
