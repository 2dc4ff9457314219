"""The law of the output f = a.x_L of a wide random network on one random input, a ~ N(0, I): how far it is from N(0, sigma_L).

Given S_L = |x_L|^2 the output is N(0, S_L), so that all follows from the law of S_L:
    Var f = E S_L,   the fourth cumulant is 3 Var S_L,   the distribution function is G(y) = E Phi(y / sqrt(S_L)).
With d_min E(S_L - sigma_L) -> b_L and d_min Var S_L -> v_L, s = sigma_(l-1), g(s) = E phi(sqrt(s) Z)^2, r_l = d_min/d_l,
    v_l = r_l Var phi(sqrt(s) Z)^2 + g'(s)^2 v_(l-1),   v_0 = 2 r_0,       b_l = g'(s) b_(l-1) + g''(s) v_(l-1)/2,   b_0 = 0.
Sources: Lee, Bahri, Novak, Schoenholz, Pennington, Sohl-Dickstein (2018), arXiv:1711.00165, for the limit; the
corrections are those of the chain of squared norms (Camilli, Tieplova, Bergamin, Barbier 2025, arXiv:2505.03577).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, fmpq

from theoryck.numerics.balls import bits_for, check_digits, from_ball, precision, to_ball
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.growth import growth
from theoryck.numerics.functions.pieces import polynomial_pieces
from theoryck.numerics.proved.agreement import SAFETY
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.quantities.exact import as_activation
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.one_sample import norm_transform
from theoryck.theory.networks.limits import check_ratios, norm_moment_limit
from theoryck.theory.networks.proved.closed_forms import linear_slope, rational_norm_moment
from theoryck.theory.networks.proved.constants import network_constants
from theoryck.theory.networks.proved.moments import GUARD_BITS, check_widths, norm_moment, rational_enclosure
from theoryck.theory.networks.proved.series import evaluate, norm_expansion

LEVELS = (1.0, 1.37)
"""Two resolutions with no common nodes."""
NEGLIGIBLE = 1e-12
"""Frequencies where the characteristic function is below this are left out."""
REACHES, LARGEST_REACH = 12, 150
"""Frequencies tried first and last, in units of sigma_L^(-1/2): a small S_L, as of narrow layers or dead relus, has large ones."""
LARGEST_RATE = 0.5
"""Growth exp(q |x|), at unit variance, up to which (34 q)^64/sqrt(64!) = 2^113 leaves some of the 2^128 of the guard digits."""
FLOOR = 1e-12
"""The least error of a distribution function: rounding of some hundred float64 terms."""


def norm_bias(activation: Any, widths: Sequence[int], digits: int = 20) -> Enclosure:
    """Return E |x_L|^2 - sigma_L at widths (d_0, ..., d_L), the bias of the output's variance.

    Exact where |phi|^2 is polynomial (0 for linear phi and relu), otherwise the series in 1/d_min, whose radius is not proved.
    Raises ExactError for bad arguments, NotConverged where the series says nothing.

    >>> float(norm_bias("erf", (1024, 1024))) * 1024, norm_bias("relu", (8, 8)).exact
    (-0.2024..., True)
    """
    sizes, digits, phi = check_widths(widths), check_digits(digits), as_activation(activation)
    if len(sizes) == 1 or linear_slope(phi) is not None:
        return rational_enclosure(Fraction(0), digits)
    rational = rational_norm_moment(phi, sizes, 1)
    if rational is not None:
        return rational_enclosure(rational, digits)
    _check_growth(phi, len(sizes) - 1)
    bits, least = bits_for(digits) + GUARD_BITS, min(sizes)
    with precision(bits):
        value = evaluate(norm_expansion(phi, tuple(Fraction(d, least) for d in sizes), 1, bits), least)
        return from_ball(value, digits, rigorous=False)


def output_cumulant(activation: Any, widths: Sequence[int], digits: int = 20) -> Enclosure:
    """Return the fourth cumulant 3 Var |x_L|^2 of the output at widths (d_0, ..., d_L); arguments as for :func:`norm_bias`.

    >>> float(output_cumulant("x", (8, 8)))  # 3 ((1 + 2/8)^2 - 1)
    1.6875
    """
    square, bias = _moments(activation, widths, digits)
    with precision(bits_for(digits) + 32):
        return from_ball(3 * (to_ball(square) - to_ball(bias) ** 2), digits, square.rigorous and bias.rigorous)


def output_kurtosis(activation: Any, widths: Sequence[int], digits: int = 20) -> Enclosure:
    """Return the excess kurtosis 3 Var |x_L|^2/(E |x_L|^2)^2 of the output; arguments as for :func:`norm_bias`.

    >>> float(output_kurtosis("erf", (512, 512))) * 512
    2.68...
    """
    square, bias = _moments(activation, widths, digits)
    sigma = network_constants(as_activation(activation), len(widths) - 1, digits + 5).sigma[-1]
    with precision(bits_for(digits) + 32):
        mean = to_ball(sigma) + to_ball(bias)
        value = 3 * (to_ball(square) - to_ball(bias) ** 2) / mean**2
        return from_ball(value, digits, square.rigorous and bias.rigorous and sigma.rigorous)


def _check_growth(phi: Activation, depth: int) -> None:
    """Refuse early what the series in 1/d cannot sum: it needs E phi^34 He_64, of size (34 q)^64 against sqrt(64!) for e^(q x).

    The moments themselves may exist, as they do for exp(x), but the two rules that find those tables lose all digits.
    """
    for variance in network_constants(phi, max(depth - 1, 0), 10).sigma:
        for side in (1, -1):
            rate = growth(phi.expression, side)
            power, q = rate.exponential[0] if rate is not None and rate.exponential else (Fraction(0), 0.0)
            if power >= 1 and q * float(variance) ** (float(power) / 2) > LARGEST_RATE:
                raise NotConverged(
                    f"the moments of the network may exist, but {phi} grows too fast for their series in 1/d (rate {q:.3g} at the "
                    f"variance {float(variance):.3g} of a layer): take one that grows as exp({LARGEST_RATE:g} |x|) or slower"
                )


def _moments(activation: Any, widths: Sequence[int], digits: int) -> tuple[Enclosure, Enclosure]:
    sizes, phi = check_widths(widths), as_activation(activation)
    if len(sizes) > 1 and linear_slope(phi) is None and polynomial_pieces(phi.expression) is None:
        _check_growth(phi, len(sizes) - 1)
    square = norm_moment(activation, widths, 2, digits + 5)
    assert isinstance(square, Enclosure)  # an even power
    return square, norm_bias(activation, widths, digits + 5)


@lru_cache(maxsize=256)
def _bias_limit(phi: Activation, ratios: tuple[Fraction, ...], digits: int) -> Enclosure:
    if len(ratios) == 1:
        return Enclosure(Decimal(0), Decimal(0))
    below, spread = _bias_limit(phi, ratios[:-1], digits), norm_moment_limit(phi, ratios[:-1], 2, digits + 10)
    before = network_constants(phi, len(ratios) - 2, digits + 10).sigma[-1]
    square = phi.expression**2
    means = [gaussian_expectation(e, before, digits + 10) for e in (square, x**2 * square, x**4 * square)]
    with precision(bits_for(digits) + 64):
        s, (zeroth, second, fourth) = to_ball(before), [to_ball(value) for value in means]
        # d/ds E F(sqrt(s) Z) = E F''/2, so that g' = E F He_2(Z)/(2 s) and g'' = E F He_4(Z)/(4 s^2).
        gain = (second / s - zeroth) / (2 * s)
        curvature = (fourth / s**2 - 6 * second / s + 3 * zeroth) / (4 * s * s)
        # The least width may lie above: norm_moment_limit counts in the least of the layers it is given.
        unit = min(ratios[:-1])
        value = gain * to_ball(below) + curvature * to_ball(spread) / (2 * arb(fmpq(unit.numerator, unit.denominator)))
        return from_ball(value, digits + 5, all(value.rigorous for value in (below, spread, before, *means)))


def norm_bias_limit(activation: Any, ratios: Sequence[Any], digits: int = 20) -> Enclosure:
    """Return b_L = lim d_min E(|x_L|^2 - sigma_L) for widths d_l = ratios[l] d_min.

    >>> float(norm_bias_limit("erf", (1, 1, 1, 1)))
    -0.135852...
    """
    return _bias_limit(as_activation(activation), check_ratios(ratios), check_digits(digits))


def output_kurtosis_limit(activation: Any, ratios: Sequence[Any], digits: int = 20) -> Enclosure:
    """Return lim d_min times the excess kurtosis of the output, 3 v_L/sigma_L^2.

    >>> float(output_kurtosis_limit("erf", (1, 1))), float(output_kurtosis_limit("x", (1, 1)))
    (2.68..., 12.0)
    """
    _, spread, sigma = _limits(activation, ratios, digits)
    with precision(bits_for(digits) + 32):
        return from_ball(3 * to_ball(spread) / to_ball(sigma) ** 2, digits, spread.rigorous and sigma.rigorous)


def output_distance_limit(activation: Any, ratios: Sequence[Any], digits: int = 20) -> Enclosure:
    """Return lim d_min^2 int (G - F)^2 dF, G the law of the output and F = N(0, sigma_L).

    To leading order G - F is (b d/ds + (v/2) d^2/ds^2) Phi(y/sqrt(s))/d_min at s = sigma, and for Y ~ N(0, sigma)
        E Phi(Y/sqrt(s)) Phi(Y/sqrt(t)) = 1/4 + asin(sigma/sqrt((s + sigma)(t + sigma)))/(2 pi).
    With B = b/sigma and V = v/sigma^2 the limit is sqrt(3)/(72 pi) (B^2 - B V + 7 V^2/24).

    >>> float(output_distance_limit("erf", (1, 1)))
    0.00622...
    """
    bias, spread, sigma = _limits(activation, ratios, digits)
    with precision(bits_for(digits) + 32):
        s = to_ball(sigma)
        b, v = to_ball(bias) / s, to_ball(spread) / s**2
        value = arb(3).sqrt() / (72 * arb.pi()) * (b * b - b * v + 7 * v * v / 24)
        return from_ball(value, digits, all(limit.rigorous for limit in (bias, spread, sigma)))


def _limits(activation: Any, ratios: Sequence[Any], digits: int) -> tuple[Enclosure, Enclosure, Enclosure]:
    phi, shape, digits = as_activation(activation), check_ratios(ratios), check_digits(digits)
    sigma = network_constants(phi, len(shape) - 1, digits + 5).sigma[-1]
    return norm_bias_limit(phi, shape, digits + 5), norm_moment_limit(phi, shape, 2, digits + 5), sigma


@lru_cache(maxsize=256)
def output_distance(activation: Any, widths: tuple[int, ...]) -> Enclosure:
    """Return int (G - F)^2 dF, G the law of the output at widths (d_0, ..., d_L) and F = N(0, sigma_L).

    G - F is the sine transform of E exp(-w^2 S_L/2) - exp(-w^2 sigma_L/2), by trapezoidal rules in w and y.  Not proved: the
    radius is ten times the difference of two resolutions.  Raises ExactError for bad arguments, NotConverged where the
    resolutions disagree by more than 1% and where narrow layers would need too many frequencies.

    >>> float(output_distance("erf", (4096, 4096))) * 4096**2
    0.006223...
    """
    phi, sizes = as_activation(activation), check_widths(widths)
    sigma = float(network_constants(phi, len(sizes) - 1, 25).sigma[-1])
    if not sigma > 0:
        raise ExactError(f"{phi} is 0 almost everywhere: its output has no law to compare with")
    first, value = (_distance(phi, sizes, sigma, level) for level in LEVELS)
    # An error e of G - F, on average over F, changes the distance by at most 2 e sqrt(distance) + e^2.
    error = SAFETY * abs(first - value) + 2 * FLOOR * math.sqrt(abs(value)) + FLOOR**2
    if not error < abs(value) / 100:
        raise NotConverged(
            f"two resolutions of the distance at widths {sizes} differ too much: {first:.6g} and {value:.6g}; take larger widths"
        )
    return Enclosure(Decimal(value), Decimal(f"{error:.3g}"), rigorous=False)


def _distance(phi: Activation, widths: tuple[int, ...], sigma: float, level: float) -> float:
    size = math.sqrt(sigma)
    top = REACHES * level / size
    while norm_transform(phi, widths, [top**2 / 2], level)[0] > NEGLIGIBLE:
        top *= 1.5
        if top * size > LARGEST_REACH * level:
            raise NotConverged(f"the characteristic function of an output at widths {widths} decays too slowly; take larger widths")
    # The sum has period 40 sigma^(1/2) in y: G - F beyond 31 standard deviations is folded back where F has mass.
    step = 2 * math.pi / (40 * level * size)
    w = np.arange(1, math.ceil(top / step) + 1) * step
    difference = norm_transform(phi, widths, w * w / 2, level) - np.exp(-w * w * sigma / 2)
    spacing = 0.1 * size / level
    y = np.arange(1, math.ceil(9 * size / spacing) + 1) * spacing
    gap = np.sin(np.outer(y, w)) @ (difference / w) * (step / math.pi)
    density = np.exp(-y * y / (2 * sigma)) / math.sqrt(2 * math.pi * sigma)
    return float(2 * spacing * (gap * gap) @ density)
