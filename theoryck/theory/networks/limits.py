"""Limits of scaled moments as all widths grow in fixed proportions: the constants of the d_min^(-k/2) laws.

Both chains become Gaussian around their deterministic limits, with variances that obey linear recursions over the layers.  The
recursions are evaluated from Gaussian expectations of phi and phi' and share nothing with the series in 1/d_min.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, fmpq

from theoryck.numerics.balls import bits_for, check_digits, from_ball, precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.quantities.exact import as_activation
from theoryck.records import Enclosure
from theoryck.theory.networks.proved.moments import check_power

Ratios = tuple[Fraction, ...]


def check_ratios(ratios: Any) -> Ratios:
    """Return d_l/d_min, l = 0..L, as exact rationals of least value 1; only the proportions of ``ratios`` matter.

    >>> check_ratios((2, 1, 3.0))
    (Fraction(2, 1), Fraction(1, 1), Fraction(3, 1))
    """
    if isinstance(ratios, str | bytes) or not isinstance(ratios, Sequence) or len(ratios) == 0:
        raise ExactError(f"ratios must be a non-empty sequence (d_0/d_min, ..., d_L/d_min), got {ratios!r}")
    for i, ratio in enumerate(ratios):
        if isinstance(ratio, bool) or not isinstance(ratio, int | float | Fraction) or not (0 < ratio < math.inf):
            raise ExactError(f"ratios[{i}] must be a finite number > 0, got {ratio!r}")
    exact = [Fraction(ratio) for ratio in ratios]
    return tuple(ratio / min(exact) for ratio in exact)


def norm_moment_limit(activation: Any, ratios: Sequence[Any], power: Any, digits: int = 20) -> Enclosure:
    """Return lim d_min^(k/2) E| |x_L|^2 - sigma_L |^k = v_L^(k/2) E|Z|^k for widths d_l = ratios[l] d_min, any power k > 0.

    v_0 = 2 d_min/d_0 and v_l = (d_min/d_l) Var phi(sqrt(s) Z)^2 + g'(s)^2 v_(l-1), s = sigma_(l-1), g(s) = E phi(sqrt(s) Z)^2.
    ``activation`` is an Activation (or an expression in x), ``ratios`` has L + 1 entries.  Raises ExactError (a ValueError) for
    bad arguments and where phi has no fourth moment.

    >>> float(norm_moment_limit(x, (1, 1, 2), 2)), float(norm_moment_limit(Activation("erf"), (1, 2, 1, 3), 2))
    (5.0, 0.04909154928...)
    """
    k, shape, digits = check_power(power), check_ratios(ratios), check_digits(digits)
    return _moment(_variances(as_activation(activation), shape, digits)[0], k, digits)


def overlap_moment_limit(activation: Any, ratios: Sequence[Any], power: Any, digits: int = 20) -> Enclosure:
    """Return lim d_min^(k/2) E|x_mu . x_nu|^k = w_L^(k/2) E|Z|^k, mu != nu, for widths d_l = ratios[l] d_min, any power k > 0.

    w_0 = d_min/d_0 and w_l = rho_l^4 w_(l-1) + sigma_l^2 d_min/d_l, rho_l = E phi'(sqrt(sigma_(l-1)) Z).  Raises ExactError (a
    ValueError) where E phi(sqrt(sigma_l) Z) != 0 at some layer: the overlap has a non-zero limit and the scaled moment diverges.

    >>> float(overlap_moment_limit(Activation("erf"), (1, 1, 1, 1), 2))
    0.23079529...
    >>> overlap_moment_limit(Activation("relu"), (1, 1), 2)
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: the limit is infinite: E phi = 0.3989... at layer 1, so overlaps do not concentrate
    at 0
    """
    k, shape, digits = check_power(power), check_ratios(ratios), check_digits(digits)
    phi = as_activation(activation)
    for layer, mean in enumerate(_means(phi, len(shape) - 1, digits), 1):
        if not (mean.low <= 0 <= mean.high):
            found = f"E phi = {float(mean):.6g} at layer {layer}"
            raise ExactError(f"the limit is infinite: {found}, so overlaps do not concentrate at 0")
    return _moment(_variances(phi, shape, digits)[1], k, digits)


def _moment(variance: Enclosure, power: Fraction, digits: int) -> Enclosure:
    """Return variance^(k/2) E|Z|^k = (2 variance)^(k/2) Gamma((k+1)/2)/sqrt(pi)."""
    if variance.midpoint == 0 and variance.radius == 0:
        return variance
    with precision(bits_for(digits) + 32):
        k = arb(fmpq(power.numerator, power.denominator))
        value = (2 * to_ball(variance)) ** (k / 2) * ((k + 1) / 2).gamma() / arb.pi().sqrt()
        return from_ball(value, digits, variance.rigorous)


@lru_cache(maxsize=64)
def _sigmas(phi: Activation, depth: int, digits: int) -> tuple[Enclosure, ...]:
    """Return sigma_0..sigma_depth."""
    if depth == 0:
        return (from_ball(arb(1), digits),)
    below = _sigmas(phi, depth - 1, digits)
    return (*below, gaussian_expectation(phi.expression**2, below[-1], digits + 10))


@lru_cache(maxsize=64)
def _means(phi: Activation, depth: int, digits: int) -> tuple[Enclosure, ...]:
    """Return E phi(sqrt(sigma_(l-1)) Z) for l = 1..depth."""
    return tuple(gaussian_expectation(phi.expression, s, digits) for s in _sigmas(phi, depth, digits)[:depth])


@lru_cache(maxsize=256)
def _variances(phi: Activation, ratios: Ratios, digits: int) -> tuple[Enclosure, Enclosure]:
    """Return v_L and w_L."""
    share = fmpq(ratios[-1].denominator, ratios[-1].numerator)
    if len(ratios) == 1:
        with precision(bits_for(digits) + 32):
            return from_ball(2 * arb(share), digits + 10), from_ball(arb(share), digits + 10)
    # The least width may lie in any layer: the ratios of the layers below keep the same unit.
    below = _variances(phi, ratios[:-1], digits)
    *_, before, sigma = _sigmas(phi, len(ratios) - 1, digits)
    f, slope = phi.expression, phi.derivative().expression
    fourth, cross, rho = (gaussian_expectation(e, before, digits + 10) for e in (f**4, x * f * slope, slope))
    with precision(bits_for(digits) + 64):
        s, square, r = to_ball(before), to_ball(sigma) ** 2, arb(share)
        growth = to_ball(cross) / s  # g'(s) = E[X phi(X) phi'(X)]/s for X = sqrt(s) Z
        v = r * (to_ball(fourth) - square) + growth**2 * to_ball(below[0])
        w = to_ball(rho) ** 4 * to_ball(below[1]) + square * r
        proved = all(e.rigorous for e in (*below, sigma, fourth, cross, rho))
        return from_ball(v, digits + 10, proved), from_ball(w, digits + 10, proved)
