"""Certificates of linear networks that learn: their information gap and the variance of their free entropy, for every size.

They are functionals of products of chi-square variables, bounded in closed form: section 3 of the format, which is that of
:mod:`theoryck.records.certificates`, has the formulas and their lemmas.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from flint import arb

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.decimals import ball, rounded_up
from theoryck.theory.networks.certificates.ranges import largest_square

BITS = 96
DIGITS = 8  # of a constant, rounded up: far within the millionth that the format allows
LEAST_START = 17
"""Of the variance: E (chi^2_N)^-8 is infinite up to N = 16."""


def information_gap(activation: Activation, depth: int, noise: Fraction, start: int = 1) -> Certificate:
    """Return the certificate of |I_n^(L) - I_n^(0)|/n <= C/d for every n and all widths >= d >= ``start``; phi linear, depth >= 1.

    >>> information_gap(Activation("x"), 1, Fraction(1, 2), start=16).constant  # (1/2) (1 + 1/48) (2/3)
    '0.34027778'
    """
    g = _gain(activation, depth)
    constant = Fraction(depth, 2) * (1 + Fraction(1, 3 * start)) * g / (g + noise)
    return _certificate("information-gap", "digamma", "all widths >= d", activation, depth, noise, start, ball(constant))


def free_entropy_variance(activation: Activation, depth: int, noise: Fraction, start: int = LEAST_START) -> Certificate:
    """Return the certificate of Var((1/n) log Z) <= C/d for n and all widths >= d >= ``start``; phi linear, depth >= 1.

    NoCertificate below 17, where the method has no moments.

    >>> found = free_entropy_variance(Activation("x"), 1, Fraction(1, 2), start=10**6)
    >>> found.constant, found.widths  # 1 + L in the limit
    ('2.0070...', 'samples and all widths >= d')
    """
    if start < LEAST_START:
        raise NoCertificate(
            f"E (d/chi^2_d)^8 is infinite at d = {start}, and the method needs it: take d >= {LEAST_START}", start=LEAST_START
        )
    g = _gain(activation, depth)
    with precision(BITS):
        up = {j: ball(math.prod((1 + Fraction(2 * i, start) for i in range(j)), start=Fraction(1)) ** depth) for j in (4, 8)}
        inverse = {j: math.prod((1 / (1 - Fraction(2 * i, start)) for i in range(1, j + 1)), start=Fraction(1)) for j in (2, 4, 8)}
        down = {j: ball(inverse[j] ** depth) for j in (4, 8)}
        spread = up[8] - 2 * up[4] + 1
        above = 1 + (up[4] - 1 + spread.sqrt()) / 2
        below = 1 + (down[4] - 1 + (down[8] - 2 * down[4] + 1).sqrt()) / 2
        scaled = ball(inverse[2]) + (ball(inverse[4]) * spread).sqrt()
        two, four, six = (1 + ball(Fraction(i, start)) for i in (2, 4, 6))
        rest = (ball(g / (4 * noise)).sqrt() + ball(Fraction(depth, 4) * (1 + Fraction(1, 3 * start)))) ** 2 / start
        constant = (above * below * two).sqrt() + depth * (scaled * below * two * four * six).sqrt() + rest
    sizes = "samples and all widths >= d"
    return _certificate("free-entropy-variance", "poincare", sizes, activation, depth, noise, start, constant)


def linear_model_variance(activation: Activation, depth: int, noise: Fraction, start: int = 1) -> Certificate:
    """Return the certificate of 1/(2n) <= Var((1/n) log Z^(0)) <= C/n for every n >= ``start``; phi linear or bounded.

    >>> linear_model_variance(Activation("x"), 1, Fraction(1, 2), start=8).constant  # 1/2 + 1/16
    '0.5625'
    """
    extra = {}
    if _slope(activation) is None:
        largest = largest_square(activation.expression)
        g, extra = Fraction(largest), {"range": str(largest)}
    else:
        g = _gain(activation, depth)
    constant = Fraction(1, 2) + g / (4 * noise * start)
    kind, sizes = "linear-model-variance", "samples >= d"
    return _certificate(kind, "poincare", sizes, activation, depth, noise, start, ball(constant), least="0.5", **extra)


def _slope(activation: Activation) -> Fraction | None:
    """Return b where phi(x) = b x with b rational, else None."""
    quotient = activation.expression / x
    return Fraction(int(quotient.p), int(quotient.q)) if quotient.is_Rational else None


def _gain(activation: Activation, depth: int) -> Fraction:
    """Return g = b^(2L) for phi(x) = b x; NoCertificate for another phi or depth 0."""
    slope = _slope(activation)
    if slope is None or slope == 0 or depth == 0:
        raise NoCertificate(
            f"a certificate of what a network learns needs a linear phi, such as 'x', and depth >= 1, got {activation.text} at "
            f"depth {depth}: theoryck check measures it"
        )
    return slope ** (2 * depth)


def _certificate(
    kind: str,
    method: str,
    sizes: str,
    activation: Activation,
    depth: int,
    noise: Fraction,
    start: int,
    constant: arb,
    least: str | None = None,
    **extra: str,
) -> Certificate:
    with precision(BITS):
        shown: Decimal = rounded_up(constant, DIGITS)
    return Certificate(
        quantity=kind,
        activation=activation.text,
        depth=depth,
        power=2,
        start=start,
        constant=f"{shown.normalize():f}",
        method=method,
        proof={"noise": str(noise), **extra},
        widths=sizes,
        least=least,
    )
