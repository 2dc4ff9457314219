"""Exact moments of the Gram chain of a deep random network: norms and overlaps at finite widths.

Setting: x_0 ~ N(0, I/d_0), x_l = phi(W_l x_(l-1))/sqrt(d_l), W_l iid N(0, 1).

| what                                              | how                                             | rigorous |
|---------------------------------------------------|-------------------------------------------------|----------|
| depth 0, any power; phi(x) = a x, even powers     | closed forms, rational recursions               | yes      |
| one layer of sin(b x), power 2                    | closed form                                     | yes      |
| polynomial, relu, abs: norms, even powers         | finite rational recursion, any widths           | yes      |
| polynomial: overlaps, even powers (low degree)    | finite rational recursion, any widths           | yes      |
| one layer, norms, small widths                    | exact conditional moments, trapezoidal rule     | no       |
| everything else, even powers                      | series in 1/d_min, summed to its smallest term  | no       |
| the same where the series says nothing            | refused (NotConverged): larger widths           |          |
| odd and fractional powers                         | bracket from the even moments (Lyapunov)        | as these |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from flint import arb, fmpq

from theoryck.numerics.balls import bits_for, check_digits, from_ball, plus_minus, precision, to_ball
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.proved.hermite import hermite_table
from theoryck.records import Bracket, Enclosure
from theoryck.theory.networks.proved.closed_forms import (
    input_norm_moment,
    input_overlap_moment,
    linear_norm_moment,
    linear_overlap_moment,
    linear_slope,
    rational_norm_moment,
    rational_overlap_moment,
    sine_frequency,
    sine_norm_variance,
    sine_overlap_variance,
)
from theoryck.theory.networks.proved.series import evaluate, norm_expansion, overlap_expansion

Widths = tuple[int, ...]
GUARD_BITS = 64
SHALLOW_BITS = 60
SHALLOW_WIDTH = 4096
MAX_EXTRAPOLATED = 8  # even moments above this one are dear and add little to a lower bound


def check_widths(widths: Any) -> Widths:
    """Return ``widths`` as a tuple of positive integers (d_0, ..., d_L); anything else is an error that shows it.

    >>> check_widths([8, 0])
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: widths[1] must be a positive integer, got 0
    """
    if isinstance(widths, str | bytes) or not isinstance(widths, Sequence) or len(widths) == 0:
        raise ExactError(f"widths must be a non-empty sequence (d_0, ..., d_L) of positive integers, got {widths!r}")
    for i, d in enumerate(widths):
        if isinstance(d, bool) or not hasattr(d, "__index__") or d.__index__() < 1:
            raise ExactError(f"widths[{i}] must be a positive integer, got {d!r}")
    return tuple(d.__index__() for d in widths)


def check_power(power: Any) -> Fraction:
    """Return ``power`` as an exact rational > 0; anything else is an error that shows it.

    >>> check_power(2.5), check_power(4)
    (Fraction(5, 2), Fraction(4, 1))
    >>> check_power(0)
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: power must be a finite real number > 0, got 0
    """
    good = isinstance(power, int | float | Fraction | Decimal) and not isinstance(power, bool)
    if not good and hasattr(power, "__index__") and not isinstance(power, bool):
        power, good = power.__index__(), True
    if not good or not math.isfinite(power) or power <= 0:
        raise ExactError(f"power must be a finite real number > 0, got {power!r}")
    return Fraction(power)


def norm_moment(activation: Any, widths: Sequence[int], power: Any, digits: int = 20) -> Enclosure | Bracket:
    """Return E | |x_L|^2 - sigma_L |^power at widths (d_0, ..., d_L), L = len(widths) - 1 >= 0.

    ``activation`` is a theoryck.numerics.functions.Activation (or an expression in x).  Even powers (and every power at depth 0)
    give an Enclosure, the others a Bracket.  ``rigorous`` says whether the radius is proved; where it is not, it is the smallest
    term of the series in 1/d_min or the difference of two quadratures.  Raises ExactError (a ValueError) for bad arguments and
    where phi has no such moment, and its subclass NotConverged where the series says nothing at these widths.

    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> norm_moment(x, (8,), 2).to_json()
    {'value': '0.25', 'radius': '0', 'rigorous': True}
    >>> float(norm_moment(sympy.erf(x), (2**40,) * 4, 2)) * 2**40
    0.0941659780...
    """
    k, sizes = check_power(power), check_widths(widths)
    return _moment(activation, sizes, k, check_digits(digits), _norm_even, _norm_real)


def overlap_moment(activation: Any, widths: Sequence[int], power: Any, digits: int = 20) -> Enclosure | Bracket:
    """Return E |x_mu . x_nu|^power, mu != nu, after L = len(widths) - 1 >= 0 layers; arguments as for :func:`norm_moment`.

    A phi with non-zero mean is expanded around the non-zero limit q_L of the overlap.  Above the input layer the power is at most
    16 (a nonlinear phi), and the radius grows with the power.

    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> overlap_moment(x, (8, 8), 2).to_json()["value"]
    '0.265625'
    >>> overlap_moment(sympy.sin(x), (8, 8), 2).rigorous
    True
    """
    k, sizes = check_power(power), check_widths(widths)
    return _moment(activation, sizes, k, check_digits(digits), _overlap_even, _overlap_real)


Even = Callable[[Any, Widths, int, int], Enclosure]
Real = Callable[[Widths, Fraction, int], arb]


def _moment(activation: Any, widths: Widths, power: Fraction, digits: int, even: Even, real: Real) -> Enclosure | Bracket:
    if power % 2 == 0:
        return even(activation, widths, int(power), digits)
    if len(widths) == 1:
        return from_ball(real(widths, power, bits_for(digits)), digits)
    return lyapunov_bracket(power, lambda k: even(activation, widths, k, digits))


# -- even powers -------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _norm_even(activation: Any, widths: Widths, power: int, digits: int) -> Enclosure:
    bits = bits_for(digits) + GUARD_BITS
    if len(widths) == 1:
        return rational_enclosure(linear_norm_moment(widths, power), digits)
    slope = linear_slope(activation)
    if slope is not None:
        # |x_L|^2 - sigma_L = a^(2L) (S_L - 1) for the identity's S_L.
        return _scaled(linear_norm_moment(widths, power), slope, 2 * (len(widths) - 1) * power, digits)
    if len(widths) == 2 and power == 2 and (frequency := sine_frequency(activation)) is not None:
        with precision(bits + max(widths).bit_length() * 2):
            return from_ball(sine_norm_variance(*widths, frequency), digits)
    rational = rational_norm_moment(activation, widths, power)
    if rational is not None:
        return rational_enclosure(rational, digits)
    with precision(bits):
        value = _norm_series(activation, widths, power, bits)
    return _informative(value, widths, power, digits)


def _norm_series(activation: Any, widths: Widths, power: int, bits: int) -> arb:
    """Return the series, or for one layer the quadrature where that is sharper or the only one."""
    shallow = len(widths) == 2 and widths[0] <= SHALLOW_WIDTH
    try:
        value = evaluate(norm_expansion(activation, _ratios(widths), power, bits), min(widths))
    except NotConverged:
        if not shallow:
            raise
        value = arb(0, "inf")
    if not shallow or _sharp(value):
        return value
    other = shallow_norm_moment(activation, (widths[0], widths[1]), power, SHALLOW_BITS)
    return other if other.is_finite() and not other.rad() >= value.rad() else value


def _informative(value: arb, widths: Widths, power: int, digits: int) -> Enclosure:
    """Return the record of an even moment whose radius is below half its value; a wider ball is no information, and an alarm."""
    if not value.rad() < abs(value.mid()) / 2:
        found = f"at widths {widths} the radius would be {float(value.rad()):.2g} around {float(value.mid()):.2g}"
        raise NotConverged(f"the expansion in 1/d of the moment of power {power} does not converge: {found}; take larger widths")
    return from_ball(value, digits, rigorous=False)


@lru_cache(maxsize=4096)
def _overlap_even(activation: Any, widths: Widths, power: int, digits: int) -> Enclosure:
    bits = bits_for(digits) + GUARD_BITS
    if len(widths) == 1:
        return rational_enclosure(linear_overlap_moment(widths, power), digits)
    slope = linear_slope(activation)
    if slope is not None:
        return _scaled(linear_overlap_moment(widths, power), slope, 2 * (len(widths) - 1) * power, digits)
    if len(widths) == 2 and power == 2 and (frequency := sine_frequency(activation)) is not None:
        with precision(bits + max(widths).bit_length() * 2):
            return from_ball(sine_overlap_variance(*widths, frequency), digits)
    rational = rational_overlap_moment(activation, widths, power)
    if rational is not None:
        return rational_enclosure(rational, digits)
    with precision(bits):
        value = evaluate(overlap_expansion(activation, _ratios(widths), power, bits), min(widths))
    return _informative(value, widths, power, digits)


def _sharp(value: arb) -> bool:
    return bool(value.rad() < abs(value.mid()) * arb(2) ** (-SHALLOW_BITS + 14))


def _ratios(widths: Widths) -> tuple[Fraction, ...]:
    return tuple(Fraction(d, min(widths)) for d in widths)


def _scaled(value: Fraction, slope: Any, power: int, digits: int) -> Enclosure:
    if slope.is_Rational:
        return rational_enclosure(value * Fraction(int(slope.p), int(slope.q)) ** power, digits)
    with precision(bits_for(digits)):
        return from_ball(arb(fmpq(value.numerator, value.denominator)) * to_ball(slope) ** power, digits)


def rational_enclosure(value: Fraction, digits: int) -> Enclosure:
    """Return a rigorous record of a rational: exact (radius 0) when it has at most ``digits`` + 3 decimals, else rounded outward.

    >>> rational_enclosure(Fraction(1, 8), 20).radius, rational_enclosure(Fraction(1, 3), 5).to_json()["value"]
    (Decimal('0'), '0.3333333333333')
    """
    with precision(bits_for(digits + 3)):
        ball = arb(fmpq(value.numerator, value.denominator))
        return from_ball(ball, digits)


# -- other powers ------------------------------------------------------------------------------------------------------------------


def _norm_real(widths: Widths, power: Fraction, bits: int) -> arb:
    return input_norm_moment(widths[0], power, bits)


def _overlap_real(widths: Widths, power: Fraction, bits: int) -> arb:
    return input_overlap_moment(widths[0], power, bits)


def lyapunov_bracket(power: Fraction, even: Callable[[int], Enclosure]) -> Bracket:
    """Return bounds of E|X|^power from even moments m_k = even(k): k -> log E|X|^k is convex (Lyapunov), and m_0 = 1.

    Upper bound: interpolation between the even neighbours a < power < b.  Lower bound: the larger of two extrapolations, from
    (a - 2, a) and, for b < 8, from (b, b + 2).  The ends of the enclosures are used, rounded outward: proved if these are.  Where
    the series for b + 2 or a - 2 has not converged (NotConverged), the lower bound does without; m_a and m_b are needed.

    >>> normal = {2: 1, 4: 3, 6: 15}
    >>> bracket = lyapunov_bracket(Fraction(1), lambda k: Enclosure(Decimal(normal[k]), Decimal(0)))
    >>> bracket.low < math.sqrt(2 / math.pi) < bracket.high
    True
    """
    below = int(power // 2) * 2
    above = below + 2
    with precision(160):
        ends = {0: (arb(0), arb(0))}
        beyond = above + 2 if above < MAX_EXTRAPOLATED or below == 0 else above
        for k in sorted({max(below - 2, 0), below, above, beyond} - {0}):
            try:
                ends[k] = _log_ends(even(k))
            except NotConverged:
                if k in (below, above):
                    raise
        k = arb(fmpq(power.numerator, power.denominator))
        low_below, high_below = ends[below]
        low_above, high_above = ends[above]
        high = high_below + (high_above - high_below) * (k - below) / 2
        candidates = [arb("-1e18")]
        if beyond > above and beyond in ends:
            candidates.append(low_above - (ends[beyond][1] - low_above) * (above - k) / 2)
        if below >= 2 and below - 2 in ends:
            candidates.append(low_below + (low_below - ends[below - 2][1]) * (k - below) / 2)
        low = max(float(c.exp().lower()) for c in candidates)
        return Bracket(math.nextafter(low, 0.0), math.nextafter(float(high.exp().upper()), math.inf))


def _log_ends(moment: Enclosure) -> tuple[arb, arb]:
    """Return the logarithms of both ends; an end that is not positive says nothing (log 0)."""
    high = to_ball(moment.high).log()
    low = to_ball(moment.low).log() if moment.low > 0 else arb("-1e18")
    return low, high


# -- one layer at any width: exact conditional moments, one integral over the input norm -------------------------------------------
#
# Given S_0 = s the moments of S_1 are exact (cumulants d_1^(1-j) kappa_j[phi(sqrt(s) Z)^2]); S_0 = chi2_d/d is integrated in t =
# log s by the trapezoidal rule, which converges geometrically there.  No expansion in 1/d is made: this route is independent of
# the series and serves where that series is poor.


def conditional_moments(raw: Sequence[arb], centre: arb, d: int) -> list[arb]:
    """Return E (mean of d copies of Y - centre)^n, n = 0..N, from the raw moments of Y: cumulants scale as d^(1-j).

    >>> [float(m) for m in conditional_moments([arb(1), arb(0), arb(1), arb(0), arb(1)], arb(0), 2)]
    [1.0, 0.0, 0.5, 0.0, 0.5]
    """
    count = len(raw)
    shifted = [sum((comb(n, j) * raw[j] * (-centre) ** (n - j) for j in range(n + 1)), arb(0)) for n in range(count)]
    cumulants, moments = [arb(0)] * count, [arb(1)]
    for n in range(1, count):
        cumulants[n] = shifted[n] - sum((comb(n - 1, j - 1) * cumulants[j] * shifted[n - j] for j in range(1, n)), arb(0))
        scaled = (comb(n - 1, j - 1) * cumulants[j] / arb(d) ** (j - 1) * moments[n - j] for j in range(1, n + 1))
        moments.append(sum(scaled, arb(0)))
    return moments


def log_nodes(d: int, bits: int, refine: int = 1) -> list[tuple[arb, arb]]:
    """Return nodes s and weights for E f(chi2_d/d) by the trapezoidal rule in t = log s, of relative accuracy about 2^-bits.

    The law of t has density a^a e^(a t - a e^t)/Gamma(a), a = d/2, analytic for |Im t| < pi/2 where it grows like (1/cos Im t)^a.
    The step is 1/refine of the one that gives about half of the bits: doubling the number of nodes squares the error.
    """
    a = float(d) / 2
    drop = bits * 0.6931 + 5.0
    # Below: a (e^t - 1 - t) >= a (|t| - 1) and >= a t^2/4 on [-2, 0]; above: >= a t^2/2.
    low = -max((4 * drop / a) ** 0.5, drop / a + 1)
    high = (2 * drop / a) ** 0.5
    # e^(-2 pi y/h) (cos y)^(-a) is least near y = min(1.4, 2 pi/(h a)): h ~ min(1.4 * 2 pi/drop, 2 pi/sqrt(2 a drop)), half bits.
    step = min(6.28 * 1.4 / (drop / 2 + a * 1.8 if a < 4 else drop), 6.28 / (a * drop) ** 0.5)
    h = arb(step) / refine
    count_low, count_high = int(-low / step * refine) + 1, int(high / step * refine) + 1
    with precision(bits + 64 + 2 * d.bit_length()):
        half = arb(d) / 2
        logarithm = half * half.log() - half.lgamma()
        out = []
        for i in range(-count_low, count_high + 1):
            t = h * i
            out.append((t.exp(), h * (logarithm + half * t - half * t.exp()).exp()))
    return out


def shallow_norm_moment(activation: Any, widths: tuple[int, int], power: int, bits: int = 80) -> arb:
    """Return E(|x_1|^2 - sigma_1)^power, even power, as a ball whose radius is the difference of two step sizes (not proved).

    >>> import sympy
    >>> float(shallow_norm_moment(sympy.erf(sympy.Symbol("x", real=True)), (8, 8), 2))
    0.0239545919874...
    """
    work = bits + power * widths[0].bit_length() + 32
    with precision(work):
        centre = hermite_table(activation, arb(1), 2, 0, work, proved=False)[2][0]
        values = []
        for s, weight in log_nodes(widths[0], bits, refine=2):
            table = hermite_table(activation, s, 2 * power, 0, work, proved=False)
            raw = [table[2 * j][0] for j in range(power + 1)]
            values.append(weight * conditional_moments(raw, centre, widths[1])[power])
        fine, coarse = sum(values, arb(0)), 2 * sum(values[::2], arb(0))
        # Both sums stop at the same two nodes: what grows faster than the density decays shows there, not in their difference.
        cut = sum((abs(v) for v in (values[0], values[-1])), arb(0)) * len(values)
        return fine + plus_minus(fine - coarse) + plus_minus(cut)
