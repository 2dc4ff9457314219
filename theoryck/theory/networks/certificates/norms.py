"""Certificates of norm deviations: E| |x_L|^2 - sigma_L |^k <= C d^(-k/2) for every d >= N and all widths >= d."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.activation import Activation
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS
from theoryck.theory.networks.certificates.decimals import certificate, rounded_up, rows
from theoryck.theory.networks.certificates.envelopes import Envelope
from theoryck.theory.networks.certificates.layers import LayerBounds, bounds_of
from theoryck.theory.networks.certificates.moments import Moments, bound_of_power, input_moments, next_moments
from theoryck.theory.networks.certificates.ranges import envelope

_TOPS = (1, 2, 4)
"""The largest moments tried, as multiples of the power; the least constant is taken, so that it falls with the start."""


def layers(activation: Activation, depth: int) -> tuple[LayerBounds, ...]:
    """Return the proved numbers of the layers after sigma_0, ..., sigma_(depth-1); NoCertificate where one has none."""
    return tuple(bounds_of(activation, index) for index in range(depth))


def norm_certificate(activation: Activation, depth: int, power: int, start: int = 1, *, least_top: int = 2) -> Certificate:
    """Return the certificate of method "comparison" with the least constant that it finds, for a phi that grows at most linearly.

    Moments up to the order ``least_top`` at least are stated.

    >>> found = norm_certificate(Activation("tanh"), depth=2, power=2, start=4096)
    >>> found.constant, found.proof["layers"][0]["slope"]  # the limit of d E X^2 is 0.07748
    ('0.0800...', '0.181797689')
    """
    growth = envelope(activation.expression)
    bounds = layers(activation, depth)
    even = power + power % 2
    with precision(BITS):
        tops = (factor * even for factor in _TOPS if factor * even >= least_top)
        made = (_moments(bounds, even, start, growth, top) for top in tops)
        constant, moments = min(((rounded_up(bound_of_power(each[-1], power), 7), each) for each in made), key=itemgetter(0))
    proof = {
        **growth.entry,
        "top": max(2 * len(moments[0]), least_top),
        "layers": [bound.to_json() for bound in bounds],
        "moments": rows(moments),
    }
    return certificate("norm-deviation", "comparison", activation, (depth, power, start), constant, proof)


def _moments(bounds: Sequence[LayerBounds], even: int, start: int, growth: Envelope, top: int) -> list[Moments]:
    """Return the moments of every layer, of the last one only those that are needed."""
    found = [input_moments(start, top if bounds else even)]
    for index, bound in enumerate(bounds):
        found.append(next_moments(bound, found[-1], start, growth, even if index == len(bounds) - 1 else top))
    return found
