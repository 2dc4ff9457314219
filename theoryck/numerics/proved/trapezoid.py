"""The infinite trapezoidal rule for Gaussian expectations, with a proved error.

Let F be analytic on |Im z| <= y with mean |F(X + iy')| exp(y'^2/2) <= M for |y'| <= y and X ~ N(0,1).  Then the rule with step h,
T_h = h sum_k F(kh) exp(-(kh)^2/2)/sqrt(2 pi), differs from E F(Z) by at most 2 M/(exp(2 pi y/h) - 1)  (Trefethen and Weideman
2014, theorem 5.1).  Cutting the sum at |k| <= N costs at most the tail of a majorant of |F| on the real line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import flint
from flint import arb
from sympy import Expr

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.proved.strips import BALLS, FLOATS, Majorant, NoBound, line_size, strip_size

MAX_NODES = 200_000
BOUND_BITS = 64  # bounds need few digits


def mean_bound(majorant: Majorant, variance: Any, numbers: Any = BALLS) -> Any:
    """Return an upper bound of E majorant(|X|), X ~ N(0, variance); raises :class:`NoBound` where it is infinite.

    A factor exp(q t^2) changes the variance to s' = s/(1 - 2qs); a factor exp(b t) is split off by Cauchy-Schwarz,
    E t^j e^{bt} <= sqrt(E t^2j) sqrt(2 e^{2 b^2 s'}).
    """
    room = 1 - 2 * majorant.square * variance
    if not room > 0:
        raise NoBound("the majorant grows faster than the Gaussian weight decays")
    spread = variance / room
    moments = absolute_moments(2 * len(majorant.coefficients), numbers)
    root = numbers.sqrt(spread)
    total = numbers.number(0)
    scale = numbers.number(1)
    for j, coefficient in enumerate(majorant.coefficients):
        moment = moments[j] if majorant.rate == 0 else numbers.sqrt(moments[2 * j])
        total = total + coefficient * moment * scale
        scale = scale * root
    if majorant.rate != 0:
        total = total * numbers.sqrt(numbers.number(2)) * numbers.exp(majorant.rate * majorant.rate * spread)
    return total / numbers.sqrt(numbers.number(room))


def absolute_moments(count: int, numbers: Any = BALLS) -> list[Any]:
    """Return E |Z|^j for j < count: 1, sqrt(2/pi), then (j - 1) times the last but one."""
    moments = [numbers.number(1), numbers.sqrt(2 / numbers.number(numbers.pi))]
    for j in range(2, count):
        moments.append((j - 1) * moments[j - 2])
    return moments[:count] if count else []


def tail_bound(majorant: Majorant, variance: Any, cut: Any, degree: int = 0, numbers: Any = BALLS) -> Any:
    """Return an upper bound of E majorant(|X|) Z^degree 1(Z > cut), X = sqrt(variance) Z, also of the trapezoidal sum beyond it.

    Each z^j exp(bz + qz^2 - z^2/2) is log-concave; where its logarithm falls at rate k > 0 the rest is at most value/k, and a
    right-hand sum is below the integral.  Raises :class:`NoBound` if some term still rises at ``cut``.
    """
    root = numbers.sqrt(variance)
    room = 1 - 2 * majorant.square * variance
    shape = numbers.exp(majorant.rate * root * cut - room * cut * cut / 2) / numbers.sqrt(2 * numbers.number(numbers.pi))
    total = numbers.number(0)
    scale = cut**degree
    for j, coefficient in enumerate(majorant.coefficients):
        fall = room * cut - majorant.rate * root - (j + degree) / cut
        if not fall > 0:
            raise NoBound("the majorant still rises where the sum is cut")
        total = total + coefficient * scale * shape / fall
        scale = scale * root * cut
    return total


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes k h, 0 <= k <= count, of a rule for an analytic integrand on the strip of half-width v of the expression."""

    v: arb
    step: arb
    count: int


def choose_grid(expression: Expr, variance: arb, bits: float, degree: int = 0, power: int = 1, also: tuple[Expr, ...] = ()) -> Grid:
    """Return the coarsest grid whose proved error for E e(sqrt(s) Z)^power He_degree(Z)/sqrt(degree!) is near 2^-bits.

    Expressions in ``also`` (power 1, no Hermite factor) must fit the same grid.  Only a choice: the error is proved afterwards by
    :func:`grid_error` and :func:`tail_bound`.  Raises :class:`NoBound`.
    """
    s = float(variance.mid())
    if not 1e-200 < s < 1e200:
        raise ExactError(f"variances must lie between 1e-200 and 1e200 where there is no closed form, got {s:.3g}")
    target = bits * math.log(2)
    v = _best_strip(expression, s, target, degree, power)
    y = v / math.sqrt(s)
    h = min([_step(expression, s, target, degree, power, y), *(_step(other, s, target, 0, 1, y) for other in also)])
    if not h > 0:
        raise NoBound("no strip gives a usable step")
    exponent = 5 - math.frexp(h)[1]
    step = math.floor(math.ldexp(h, exponent))
    cut = max(
        [
            cut_for(line_majorant(expression, power), s, target, degree),
            *(cut_for(line_majorant(other), s, target, 0) for other in also),
        ]
    )
    count = math.ceil(cut / math.ldexp(step, -exponent)) + 1
    if count > MAX_NODES:
        raise NoBound(f"the strip is so narrow that {count} nodes would be needed")
    return Grid(arb(v), arb(step) * arb(2) ** (-exponent), count)


def _step(expression: Expr, s: float, target: float, degree: int, power: int, y: float) -> float:
    """The step 2 pi y / log(1 + 2M/tolerance), or 0 where there is no majorant."""
    try:
        majorant = strip_size(expression, math.sqrt(s) * y, FLOATS)
        size = mean_bound(majorant.power(power * (2 if degree else 1)), s, FLOATS)
        loss = math.log(max(size, 1e-300)) * (0.5 if degree else 1) + y * y / 2
        loss += y * math.sqrt(degree)
    except (NoBound, OverflowError, ZeroDivisionError, ValueError):
        return 0.0
    return 2 * math.pi * y / max(target + 0.7 + loss, 1.0)


@lru_cache(maxsize=4096)
def _best_strip(expression: Expr, s: float, target: float, degree: int, power: int) -> float:
    """Maximise the step over the half-width: a geometric scan down from where the weight alone forbids more, then a finer one.

    Kept for equal arguments only: shared by neighbours it would make an enclosure's radius depend on what was asked before it.
    """
    top = math.sqrt(2 * max(target, 1.0)) + 2
    best, width = 0.0, 0.0
    ratio = 1.5
    y = top
    while y * math.sqrt(s) > 1e-3 or y > 1e-3 * top:
        h = _step(expression, s, target, degree, power, y)
        if h > best:
            best, width = h, y
        elif best > 0:
            break
        y /= ratio
    if best == 0:
        raise NoBound(f"no strip majorant for {expression}")
    for _ in range(6):
        ratio = math.sqrt(ratio)
        for candidate in (width * ratio, width / ratio):
            h = _step(expression, s, target, degree, power, candidate)
            if h > best:
                best, width = h, candidate
                break
    return width * math.sqrt(s)


def cut_for(majorant: Majorant, s: float, target: float, degree: int) -> float:
    """The least cut (near enough) at which the tail of the majorant times x^degree/sqrt(degree!) is below the tolerance."""
    as_floats = Majorant(tuple(float(a) for a in majorant.coefficients), float(majorant.rate), float(majorant.square))
    room = 1 - 2 * as_floats.square * s
    if not room > 0:
        raise NoBound("the majorant grows faster than the Gaussian weight decays")
    cut = math.sqrt(2 * max(target, 1.0) / room) * 0.8 + 1
    for _ in range(400):
        if _log_tail(as_floats, s, cut, degree) <= -target:
            return cut
        cut *= 1.03
    raise NoBound("the tail of the majorant is too heavy")


def _log_tail(majorant: Majorant, s: float, cut: float, degree: int) -> float:
    room = 1 - 2 * majorant.square * s
    root = math.sqrt(s)
    worst = -math.inf
    for j, a in enumerate(majorant.coefficients):
        fall = room * cut - majorant.rate * root - (j + degree) / cut
        if fall <= 0:
            return math.inf
        if a > 0:
            value = math.log(a) + j * math.log(root) + (j + degree) * math.log(cut) - math.log(fall)
            worst = max(worst, value + math.log(len(majorant.coefficients)))
    extra = degree * degree / (2 * cut * cut) - math.lgamma(degree + 1) / 2 if degree else 0.0
    return worst + extra + majorant.rate * root * cut - room * cut * cut / 2


@lru_cache(maxsize=1024)
def _line_majorant(expression: Expr, power: int) -> Majorant:
    return line_size(expression).power(power)


def line_majorant(expression: Expr, power: int = 1) -> Majorant:
    """Return the (cached) majorant of |e|^power on the real line; raises :class:`NoBound`."""
    with precision(BOUND_BITS):
        return _line_majorant(expression, power)


@lru_cache(maxsize=64)
def _nodes(step: tuple[int, int], count: int, bits: int) -> tuple[list[arb], list[arb]]:
    h = arb(step[0]) * arb(2) ** step[1]
    points = [k * h for k in range(count + 1)]
    # w_k = w_{k-1} r_k with r_k = r_{k-1} q^2, q = exp(-h^2/2): the radius grows like k^2 2^-bits, hence the guard bits.
    q = (-h * h / 2).exp()
    square = q * q
    ratio, weight = q, h / (2 * arb.pi()).sqrt()
    weights = [weight]
    for _ in range(count):
        weight = weight * ratio
        ratio = ratio * square
        weights.append(weight)
    return points, weights


def nodes(grid: Grid) -> tuple[list[arb], list[arb]]:
    """Return the nodes k h >= 0 and their weights h exp(-(kh)^2/2)/sqrt(2 pi) at the current precision."""
    mantissa, exponent = grid.step.man_exp()
    return _nodes((int(mantissa), int(exponent)), grid.count, flint.ctx.prec)


def grid_error(grid: Grid, mean: arb, y: arb) -> arb:
    """Return 2 M/(exp(2 pi y/h) - 1) for M = exp(y^2/2) ``mean``."""
    return 2 * mean * (y * y / 2).exp() / ((2 * arb.pi() * y / grid.step).expm1())
