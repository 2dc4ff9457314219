"""Moments of the Gram chain as truncated series in 1/d_min, computed once per (activation, ratios of widths, power).

``norm_expansion`` and ``overlap_expansion`` run the backward recursion of :mod:`theoryck.theory.networks.proved.series` from the
top layer to the input; :func:`evaluate` sums a series at one d_min.  The coefficients are exact up to their balls, the truncation
is estimated: the series is asymptotic, so the sum stops at its smallest term and that term is the radius.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, fmpq

from theoryck.numerics.balls import maximum, plus_minus, precision
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.hermite import expression_of, hermite_table
from theoryck.theory.networks.proved.series import (
    Grading,
    HermiteTable,
    Index,
    Vector,
    conditional_expectation,
    derivative_table,
    grading,
    gram_cumulants,
    input_cumulants,
    monomial,
    norm_cumulants,
    orders_needed,
)

NORM_WEIGHT = 32  # even powers up to 8 keep at least 12 corrections; costs about 0.3 s a layer
BALL_CORRECTIONS = 2  # corrections of an overlap moment kept as balls; further ones in float64
FLOAT_CORRECTIONS = 6
MAX_OVERLAP_WEIGHT = 20
# Against closed forms and quadratures of one layer (9 activations, widths 2..256, powers 2..8) the error was at most 1.7 e_n for
# bounded phi (see :func:`evaluate`) and 4.6 e_n for polynomials.
BOUNDED_SAFETY, UNBOUNDED_SAFETY = 3, 10
MAX_OVERLAP_POWER = 16
MAX_MEHLER_TERMS = 400

Ratios = tuple[Fraction, ...]


@dataclass(frozen=True)
class Expansion:
    """``E = sum_i coefficients[i] eps^(first + i)`` with eps = 1/d_min, asymptotic as d_min grows at fixed ratios.

    A sum must reach the index ``least`` (around a non-zero limit the first terms do not see the fluctuations); ``bounded``: phi is.
    """

    first: int
    coefficients: tuple[arb, ...]
    bounded: bool
    least: int = 1


@lru_cache(maxsize=256)
def limits(activation: Any, layer: int, bits: int) -> tuple[arb, arb]:
    """Return the deterministic limits (sigma_l, q_l) of |x_l|^2 and of x_mu . x_nu; q_l is exactly 0 when every mean is 0."""
    with precision(bits + 32):
        if layer == 0:
            return arb(1), arb(0)
        below, overlap = limits(activation, layer - 1, bits)
        orders = mehler_terms(overlap / below, bits)
        table = _finite_part(hermite_table(activation, below, 2, orders, bits, proved=False), 0)
        mean = table[1][0]
        if overlap.is_zero():
            return table[2][0], arb(0) if vanishes(mean, bits) else mean * mean
        return table[2][0], _mehler(table[1], overlap / below, table[2][0])


def mehler_terms(correlation: arb, bits: int) -> int:
    """Return how many powers of the correlation are kept: its decay to 2^-bits, half as many again for derivatives, at most 400."""
    if correlation.is_zero():
        return 0
    decay = bits * math.log(2) / -math.log(abs(float(correlation)))
    return min(math.ceil(1.5 * decay) + 30, MAX_MEHLER_TERMS)


def _finite_part(table: HermiteTable, needed: int) -> HermiteTable:
    """Cut all rows before the first order with no finite bound: a shorter Mehler sum only has a larger tail estimate."""
    length = min(next((m for m, value in enumerate(row) if not value.is_finite()), len(row)) for row in table)
    if length <= needed:
        raise ExactError(f"E[phi^j He_m] is not bounded from m = {length} on, and orders up to {needed} are needed")
    return [row[:length] for row in table]


def vanishes(mean: arb, bits: int) -> bool:
    """Whether a mean is zero as far as ``bits`` can tell (a parity gives an exact zero, He_2 at variance 1 a tiny ball)."""
    return bool(mean.contains(0) and mean.rad() < arb(2) ** (-bits // 2))


def _mehler(row: Sequence[arb], correlation: arb, second: arb) -> arb:
    """Return E[f(u) f(v)] = sum_m c^m/m! (E f He_m)^2, the tail bounded with ``second`` = E f^2."""
    total, scale = arb(0), arb(1)
    for m, value in enumerate(row):
        if m:
            scale = scale * correlation / m
        total += scale * value * value
    # sum_{m>=M} c^m a_m^2 <= c^M E f^2, because sum a_m^2 <= E f^2 (Bessel).
    return total + plus_minus(correlation ** len(row) * second)


@lru_cache(maxsize=64)
def _norm_layer(activation: Any, layer: int, weight: int, bits: int) -> dict[Index, Vector]:
    powers, orders = orders_needed(weight)
    with precision(bits + 32):
        variance = limits(activation, layer - 1, bits)[0]
        table = derivative_table(hermite_table(activation, variance, powers, orders, bits, proved=False), variance)
        return norm_cumulants(grading(1, weight), table)


@lru_cache(maxsize=64)
def _gram_layer(activation: Any, layer: int, weight: int, bits: int, floating: bool) -> dict[Index, Vector]:
    powers, orders = orders_needed(weight)
    with precision(bits + 32):
        variance, overlap = limits(activation, layer - 1, bits)
        mehler = mehler_terms(overlap / variance, bits)
        hermite = _finite_part(
            hermite_table(activation, variance, powers, orders + mehler, bits, proved=False), orders + min(mehler, 8)
        )
        table: Any = derivative_table(hermite, variance)
        if vanishes(table[1][0], bits):
            table[1][0] = arb(0)
        if floating and not mehler:
            table = [[float(value) for value in row] for row in table]
        cumulants = gram_cumulants(grading(3, weight), table, variance, overlap if mehler else None)
        return {beta: np.array([float(v) for v in series]) for beta, series in cumulants.items()} if floating else cumulants


@lru_cache(maxsize=16)
def _input_layer(variables: int, weight: int, floating: bool) -> dict[Index, Vector]:
    cumulants = input_cumulants(grading(variables, weight))
    return {beta: series.astype(np.float64) for beta, series in cumulants.items()} if floating else cumulants


def _ratio(value: Fraction, floating: bool) -> Any:
    return float(value) if floating else arb(fmpq(value.numerator, value.denominator))


def _constants(space: Grading, poly: Vector) -> list[Any]:
    zero = [0] * space.variables
    return [poly[space.index([[*zero, a]])[0]] for a in range(space.weight // 2 + 1)]


@lru_cache(maxsize=512)
def norm_expansion(activation: Any, ratios: Ratios, power: int, bits: int) -> Expansion:
    """Return the series of E(|x_L|^2 - sigma_L)^power; ``ratios`` are d_l / d_min for l = 0..L, ``power`` is even."""
    weight = _norm_weight(activation, len(ratios) - 1, power, bits)
    space = grading(1, weight)
    with precision(bits + 32):
        poly = monomial(space, (power,))
        for layer in range(len(ratios) - 1, 0, -1):
            cumulants = _norm_layer(activation, layer, weight, bits)
            poly = conditional_expectation(space, poly, cumulants, _ratio(1 / ratios[layer], False))
        poly = conditional_expectation(space, poly, _input_layer(1, weight, False), _ratio(1 / ratios[0], False))
    return _expansion(_constants(space, poly), power // 2, activation)


@lru_cache(maxsize=256)
def _norm_weight(activation: Any, depth: int, power: int, bits: int) -> int:
    """Return the largest weight whose Hermite coefficients all have finite bounds, in steps of 4 from NORM_WEIGHT down."""
    weight = max(NORM_WEIGHT, power + 12)
    while weight > power + 4:
        layers = (_norm_layer(activation, layer, weight, bits) for layer in range(1, depth + 1))
        if all(value.is_finite() for layer in layers for series in layer.values() for value in series):
            return weight
        weight -= 4
    return weight


@lru_cache(maxsize=512)
def overlap_expansion(activation: Any, ratios: Ratios, power: int, bits: int) -> Expansion:
    """Return the series of E(x_mu . x_nu)^power; leading terms as balls, further ones in float64 with a measured relative error."""
    if power > MAX_OVERLAP_POWER:
        raise ExactError(f"power must be at most {MAX_OVERLAP_POWER} for overlaps above the input layer, got {power}")
    centred = limits(activation, len(ratios) - 1, bits)[1].is_zero()
    first = power // 2 if centred else 0
    least = 1 if centred else power // 2 + 1
    sharp_weight = 2 * (first + BALL_CORRECTIONS)
    sharp = _overlap_constants(activation, ratios, power, bits, sharp_weight, False)
    # Without parities a weight costs four times as much: two corrections fewer around a non-zero limit.
    corrections = FLOAT_CORRECTIONS if centred else FLOAT_CORRECTIONS - 2
    weight = min(2 * (max(first, least) + corrections), MAX_OVERLAP_WEIGHT)
    if weight <= sharp_weight:
        return _expansion(sharp, first, activation, least)
    rough = _overlap_constants(activation, ratios, power, bits, weight, True)
    known = [(abs(r - float(s)), abs(float(s))) for r, s in zip(rough, sharp) if float(s)]
    # float64 loses what the sharp coefficients show it to lose; a factor 1000 leaves room for the higher orders.
    error = 1e3 * max([2.0**-53, *(gap / size for gap, size in known)])
    tail = [arb(value, abs(value) * error) for value in rough[len(sharp) :]]
    return _expansion([*sharp, *tail], first, activation, least)


def _overlap_constants(activation: Any, ratios: Ratios, power: int, bits: int, weight: int, floating: bool) -> list[Any]:
    space = grading(3, weight)
    with precision(bits + 32):
        poly = _overlap_power(space, limits(activation, len(ratios) - 1, bits)[1], power, floating)
        for layer in range(len(ratios) - 1, 0, -1):
            cumulants = _gram_layer(activation, layer, weight, bits, floating)
            poly = conditional_expectation(space, poly, cumulants, _ratio(1 / ratios[layer], floating))
        poly = conditional_expectation(space, poly, _input_layer(3, weight, floating), _ratio(1 / ratios[0], floating))
    return _constants(space, poly)


def _overlap_power(space: Grading, limit: arb, power: int, floating: bool) -> Vector:
    """Return (q + Delta_Q)^power, truncated at the weight of the grading."""
    dtype: Any = np.float64 if floating else object
    if limit.is_zero():
        return monomial(space, (0, 0, power), dtype)
    poly = np.zeros(len(space.exponents), dtype=dtype)
    coefficient = limit**power
    for j in range(min(power, space.weight) + 1):
        poly += monomial(space, (0, 0, j), dtype) * (float(coefficient) if floating else coefficient)
        coefficient = coefficient * (power - j) / (j + 1) / limit
    return poly


def _expansion(constants: Sequence[Any], first: int, activation: Any, least: int = 1) -> Expansion:
    balls = tuple(value if isinstance(value, arb) else arb(value) for value in constants[first:])
    return Expansion(first, balls, is_bounded(activation), least)


def evaluate(expansion: Expansion, d_min: int) -> arb:
    """Return the sum of the series at ``d_min`` as a ball: truncation estimate (not proved) plus the balls of the coefficients.

    Bounded phi: the sum through term n is charged with e_n = max(|t_n|, |t_(n+1)|, sqrt|t_n t_(n-1)|), which one accidentally small
    term cannot make small, and n is chosen where e_n is least (asymptotic series, smallest-term rule).  Unbounded phi: rare large
    values may dominate a high moment, and only the late terms know of it, so e_n is the largest of ALL terms from n on, and terms
    that grow again at the end (the larger ones may all lie beyond what was kept) raise NotConverged.
    """
    eps = arb(1) / d_min
    terms = [c * eps ** (expansion.first + i) for i, c in enumerate(expansion.coefficients)]
    sizes = [abs(term) for term in terms]
    if not expansion.bounded and grows_at_the_end([float(size.mid()) for size in sizes]):
        raise NotConverged(f"the expansion in 1/d does not converge at d_min = {d_min}: its last terms grow; take larger widths")
    best: tuple[arb, int] | None = None
    for n in range(expansion.least, len(terms)):
        late = sizes[n + 1 :] if not expansion.bounded else sizes[n + 1 : n + 2]
        error = maximum(sizes[n], (sizes[n] * sizes[n - 1]).sqrt(), *late)
        if best is None or error.mid() < best[0].mid():
            best = (error, n)
    if best is None:
        raise ExactError("the series has no correction term left: its truncation cannot be estimated")
    return sum(terms[: best[1] + 1], arb(0)) + plus_minus(best[0] * (BOUNDED_SAFETY if expansion.bounded else UNBOUNDED_SAFETY))


def grows_at_the_end(sizes: Sequence[float]) -> bool:
    """Whether the last two terms are still felt (above 1e-4 of the largest) and not clearly below the two before (a tenth).

    Pairs, because one term may be small by accident.  Fewer than four terms say nothing either way: their radius has to.  Of 320
    moments of polynomials and relu that their radius alone would have let pass one was wrong, with last terms of 2e-2; the last
    terms of asinh, below 1e-7, grow as those of any asymptotic series do, and are harmless.

    >>> grows_at_the_end([1.0, 0.1, 0.02, 1e-3, 2e-3]), grows_at_the_end([1.0, 0.1, 0.05, 0.06, 0.08])
    (False, True)
    """
    last = max(sizes[-2:], default=0.0)
    return len(sizes) >= 4 and last > 1e-4 * max(sizes) and last > max(sizes[-4:-2]) / 10


def is_bounded(activation: Any) -> bool:
    """Whether phi stays within twice its range on [-30, 30] at 1e3, 1e6 and 1e9: a guess that only chooses a truncation rule."""
    phi = activation if isinstance(activation, Activation) else Activation(expression_of(activation))
    near = np.abs(phi(np.linspace(-30.0, 30.0, 601))).max()
    far = np.abs(phi(np.array([s * v for s in (-1.0, 1.0) for v in (1e3, 1e6, 1e9)])))
    return bool(np.isfinite(far).all() and far.max() <= 2 * near)
