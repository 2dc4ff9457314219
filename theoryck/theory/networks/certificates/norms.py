"""Certificates of norm deviations: E| |x_L|^2 - sigma_L |^k <= C d^(-k/2) for every d >= N and all widths >= d."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.strips import FLOATS, NoBound, strip_size
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS
from theoryck.theory.networks.certificates.decimals import plain_text, rounded_up
from theoryck.theory.networks.certificates.layers import Layer, LayerBounds, layer_bounds
from theoryck.theory.networks.certificates.moments import Moments, bound_of_power, input_moments, next_moments
from theoryck.theory.networks.certificates.ranges import largest_square
from theoryck.theory.networks.certificates.refusals import answer

LARGEST_POWER = 8
LARGEST_DEPTH = 8
_TOPS = (1, 2, 4)
"""The largest moments tried, as multiples of the power."""

_STRIP = 1 / 64
_WORTH = 1.005
"""Moments up to twice the order are stated where they lower the constant by this factor."""


@lru_cache(maxsize=128)
def layers(activation: Activation, depth: int) -> tuple[LayerBounds, ...]:
    """Return the proved numbers of the layers after sigma_0, ..., sigma_(depth-1); NoCertificate where one has none."""
    largest = largest_square(activation.expression)
    found, centre = [], arb(1)
    with precision(BITS):
        for _ in range(depth):
            layer = Layer(activation.expression, centre, largest)
            found.append(layer_bounds(layer))
            centre = layer.image
    return tuple(found)


def norm_certificate(activation: Activation, depth: int, power: int, start: int = 1, *, least_top: int = 2) -> Certificate:
    """Return the certificate of method "comparison" with the least constant that it finds, for a bounded phi.

    Moments up to the order ``least_top`` at least are stated.

    >>> found = norm_certificate(Activation("tanh"), depth=2, power=2, start=4096)
    >>> found.constant, found.proof["layers"][0]["slope"]  # the limit of d E X^2 is 0.07748
    ('0.0800...', '0.181797689')
    """
    largest = largest_square(activation.expression)
    bounds = layers(activation, depth)
    even = power + power % 2
    best: tuple[list[Moments], Decimal] | None = None
    with precision(BITS):
        for top in (factor * even for factor in _TOPS if factor * even >= least_top):
            moments = _moments(bounds, even, start, largest, top)
            constant = rounded_up(bound_of_power(moments[-1], power), 7)
            if best is None or constant * Decimal(_WORTH) < best[1]:
                best = moments, constant
    assert best is not None
    moments, constant = best
    proof = {
        "range": plain_text(largest),
        "top": 2 * len(moments[0]),
        "layers": [bound.to_json() for bound in bounds],
        "moments": [[plain_text(number) for number in row] for row in moments],
    }
    return Certificate(
        quantity="norm-deviation",
        activation=activation.text,
        depth=depth,
        power=power,
        start=start,
        constant=plain_text(constant),
        method="comparison",
        proof=proof,
    )


def why_not(quantity: Any) -> str | None:
    """Return why the quantity is outside what this method proves, None where it is inside."""
    network, power = quantity.network, quantity.power
    centre = getattr(quantity, "centre", None)
    if centre is not None:
        return f"its centre is {centre}, and proofs for every size are of deviations from sigma_L"
    if not isinstance(power, int) or not 1 <= power <= LARGEST_POWER:
        return f"proofs for every size are of whole powers from 1 to {LARGEST_POWER}, got {power}"
    if network.depth > LARGEST_DEPTH:
        return f"proofs for every size are of depths up to {LARGEST_DEPTH}, got {network.depth}"
    fixed = [width for width in network.widths if isinstance(width, int)]
    if fixed:
        return f"the width {fixed[0]} does not grow, and proofs for every size are of networks whose widths all do"
    if network.activation.kinks:
        return f"phi has a kink at {network.activation.kinks[0]}, and proofs for every size need an analytic phi"
    try:
        largest_square(network.activation.expression)
        strip_size(network.activation.expression, _STRIP, FLOATS)
    except NoCertificate as reason:
        return str(reason)
    except NoBound as reason:
        return f"no strip around the real line is found on which phi is bounded ({reason}): its means would take minutes"
    return None


def norm_bound(quantity: Any, rate: Fraction | None, constant: Decimal | None, start: int) -> Certificate:
    """Return the certificate of ``quantity <= constant d**rate`` for every d >= ``start``; NoCertificate, with the reason, else."""
    network = quantity.network

    def find(size: int) -> Certificate:
        return norm_certificate(network.activation, network.depth, quantity.power, size)

    return answer(quantity, why_not(quantity), find, rate, constant, start)


def _moments(bounds: Sequence[LayerBounds], even: int, start: int, largest: Decimal, top: int) -> list[Moments]:
    """Return the moments of every layer, of the last one only those that are needed."""
    found = [input_moments(start, top if bounds else even)]
    for index, bound in enumerate(bounds):
        found.append(next_moments(bound, found[-1], start, largest, even if index == len(bounds) - 1 else top))
    return found
