"""The kernels of an infinitely wide network between two inputs, as enclosures.

The recursions of :mod:`theoryck.theory.wide.limits` (Lee et al. 2018, arXiv:1711.00165; Jacot et al. 2018,
arXiv:1806.07572), evaluated with balls: closed forms at any correlation for linear, erf, sin, cos, relu and |x|, otherwise
the routes of :mod:`theoryck.numerics.proved.kernel`.  Rigorous unless one of those was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, NamedTuple

import sympy
from flint import arb
from sympy import Expr

from theoryck.numerics.balls import bits_for, check_digits, from_ball, precision, proved_digits, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.numerics.proved.kernel import gaussian_kernel
from theoryck.records import Enclosure
from theoryck.records.arguments import integer

ATTEMPTS = 4
MAX_LAYERS = 100
LARGEST = Decimal("1e30")

Form = Callable[[arb, arb, arb, arb], arb]
"""(b, s1, s2, c) -> E phi(u) phi(v) for an activation phi(b x)."""


class WidePair(NamedTuple):
    """The NNGP and the neural tangent kernel between two inputs."""

    nngp: Enclosure
    ntk: Enclosure


def wide_pair(
    activation: Any, inputs: Sequence[Sequence[Any]], hidden_layers: int, weight_std: Any = 1, bias_std: Any = 0, digits: int = 30
) -> WidePair:
    """Return enclosures of K^(L+1)(x, x') and T^(L+1)(x, x') for ``inputs`` = (x, x'), L = ``hidden_layers``.

    ``inputs`` are two vectors of the same length d_0 of rational numbers or floats, taken as they are, as are ``weight_std`` and
    ``bias_std``, which are >= 0; texts such as "1/3" are read.  Raises :class:`~theoryck.numerics.errors.ExactError` for bad
    arguments, where phi jumps (the NTK is infinite) and for kernels above 1e30.

    >>> pair = wide_pair("relu", ((1, 0), (0, 1)), 1, digits=15)
    >>> str(pair.nngp.midpoint)[:16], pair.ntk.rigorous  # 1/(4 pi)
    ('0.07957747154594', True)
    """
    digits, layers = check_digits(digits), integer(hidden_layers, "hidden_layers", 0, MAX_LAYERS, ExactError)
    gram = _gram(inputs)
    scales = tuple(_scale(value, name) for value, name in ((weight_std, "weight_std"), (bias_std, "bias_std")))
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if layers and phi.properties.jump_order == 0:
        raise ExactError(f"{phi} has a jump: its derivative is no function, and the NTK is infinite; take a continuous activation")
    return _sharpened(phi, gram, layers, scales, digits)


def _exact(value: Any, name: str) -> Expr:
    if isinstance(value, Expr) and value.is_real:
        return value
    if isinstance(value, Rational) and not isinstance(value, bool):
        return sympy.Rational(int(value.numerator), int(value.denominator))
    try:
        if isinstance(value, str | Decimal | float):
            return sympy.Rational(*Fraction(value).as_integer_ratio())
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise ExactError(f"{name} must be a finite real number, got {value!r}")


def _scale(value: Any, name: str) -> Expr:
    scale = _exact(value, name)
    if scale < 0:
        raise ExactError(f"{name} must be >= 0, a standard deviation, got {value!r}")
    return scale


def _gram(inputs: Any) -> tuple[Expr, Expr, Expr]:
    vectors = isinstance(inputs, Sequence) and all(hasattr(vector, "__len__") for vector in inputs)
    if not vectors or len(inputs) != 2 or not len(inputs[0]) == len(inputs[1]) >= 1:
        raise ExactError(f"inputs must be two vectors of the same length >= 1, got {inputs!r}")
    first, second = ([_exact(entry, "an entry of inputs") for entry in vector] for vector in inputs)
    pairs = ((first, first), (second, second), (first, second))
    s1, s2, c = (sum((a * b for a, b in zip(*pair)), sympy.Integer(0)) / len(first) for pair in pairs)
    return s1, s2, c


@lru_cache(maxsize=1024)
def _sharpened(phi: Activation, gram: tuple[Expr, ...], layers: int, scales: tuple[Expr, ...], digits: int) -> WidePair:
    """Raise the working digits until ``digits`` are proved of both kernels, or no more can be had."""
    working = digits + 6 + 2 * layers
    for _ in range(ATTEMPTS):
        nngp, ntk = _recursion(phi, gram, layers, scales, working)
        with precision(bits_for(working)):
            balls = [to_ball(value) for value in (nngp, ntk)]
            missing = digits - min(
                digits if ball.contains(0) and ball.rad() < 10.0**-digits else proved_digits(ball) for ball in balls
            )
        if missing <= 0 or not ntk.rigorous:
            break
        working += 8 + math.ceil(missing)
    if max(abs(nngp.midpoint), abs(ntk.midpoint)) > LARGEST:
        raise ExactError(f"the kernels of {phi} with {layers} hidden layers exceed {LARGEST:.0e}: take a smaller weight_std")
    return WidePair(nngp, ntk)


def _recursion(phi: Activation, gram: tuple[Expr, ...], layers: int, scales: tuple[Expr, ...], digits: int) -> WidePair:
    """Run both recursions with about ``digits`` working digits."""
    w, b = (scale**2 for scale in scales)
    same = gram[0] == gram[1] == gram[2]
    pair: tuple[Any, ...] = tuple(b + w * entry for entry in gram)
    ntk: Any = pair[2]
    for _ in range(layers):
        layer = tuple(_entry(phi, pair, row, column, same, digits) for row, column in ((0, 0), (1, 1), (0, 1)))
        slope = _entry(phi.derivative(), pair, 0, 1, same, digits)
        with precision(bits_for(digits, 24)):
            gain = to_ball(w) * to_ball(slope) * to_ball(ntk)
            pair = tuple(_affine(value, w, b, digits) for value in layer)
            proved = all(getattr(value, "rigorous", True) for value in (*pair, slope, ntk))
            ntk = from_ball(to_ball(pair[2]) + gain, digits, proved)
    with precision(bits_for(digits, 24)):
        nngp = pair[2] if isinstance(pair[2], Enclosure) else from_ball(to_ball(pair[2]), digits)
        return WidePair(nngp, ntk if isinstance(ntk, Enclosure) else nngp)


def _affine(value: Enclosure, w: Expr, b: Expr, digits: int) -> Enclosure:
    return from_ball(to_ball(b) + to_ball(w) * to_ball(value), digits, value.rigorous)


def _entry(phi: Activation, pair: tuple[Any, ...], row: int, column: int, same: bool, digits: int) -> Enclosure:
    """Return E phi(u) phi(v) for the entry of the pair's Gram matrix; where u = v it is an integral over a line."""
    if row == column or same:
        return gaussian_expectation(phi.expression**2, pair[row], digits)
    if _is_zero(pair[0]) or _is_zero(pair[1]):
        # One of the pair is the constant 0: the series in c/sqrt(s1 s2) does not exist.
        at_zero = phi.expression.xreplace({x: sympy.Integer(0)})
        return gaussian_expectation(phi.expression * at_zero, pair[1 if _is_zero(pair[0]) else 0], digits)
    form = closed_form(phi.expression)
    if form is None:
        return gaussian_kernel(phi, pair[0], pair[1], pair[2], digits)
    scale, b, function = form
    with precision(bits_for(digits, 32)):
        return from_ball(to_ball(scale) ** 2 * function(to_ball(b), *(to_ball(entry) for entry in pair)), digits)


def _is_zero(variance: Any) -> bool:
    return bool(variance.midpoint == 0 and variance.radius == 0) if isinstance(variance, Enclosure) else bool(variance == 0)


# Closed forms at any correlation: a series in the correlation would be slow for the second group, whose phi has a kink.


def _constant(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return arb(1)


def _linear(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return c


def _erf(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    q = 2 * b * b
    return 2 / arb.pi() * (q * c / ((1 + q * s1) * (1 + q * s2)).sqrt()).asin()


def _gauss(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    q = 2 * b
    return ((1 + q * s1) * (1 + q * s2) - (q * c) ** 2).rsqrt()


def _sin(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return (-b * b * (s1 + s2) / 2).exp() * (b * b * c).sinh()


def _cos(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return (-b * b * (s1 + s2) / 2).exp() * (b * b * c).cosh()


def _angle(s1: arb, s2: arb, c: arb) -> tuple[arb, arb]:
    """Return sqrt(s1 s2 - c^2), which is real for every Gaussian pair, and asin(c / sqrt(s1 s2))."""
    height = (s1 * s2 - c * c).nonnegative_part().sqrt()
    return height, arb.atan2(c, height)


def _sign(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return 2 / arb.pi() * _angle(s1, s2, c)[1]


def _heaviside(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return (1 + _sign(b, s1, s2, c)) / 4


def _abs(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    height, angle = _angle(s1, s2, c)
    return 2 / arb.pi() * (height + c * angle)


def _relu(b: arb, s1: arb, s2: arb, c: arb) -> arb:
    return (c + _abs(b, s1, s2, c)) / 4


@lru_cache(maxsize=64)
def closed_form(phi: Expr) -> tuple[Expr, Expr, Form] | None:
    """Return (a, b, form) where phi is a times a function that ``form`` knows, at b x; else None.

    >>> scale, b, form = closed_form(3 * sympy.erf(x / 2))
    >>> scale, b, form.__name__
    (3, 1/2, '_erf')
    """
    one = sympy.Integer(1)
    if not phi.has(x):
        return phi, one, _constant
    a, b = sympy.Wild("a", exclude=[x]), sympy.Wild("b", exclude=[x])
    known: list[tuple[Expr, Form]] = [
        (a * x, _linear),
        (a * sympy.erf(b * x), _erf),
        (a * sympy.exp(-b * x**2), _gauss),
        (a * sympy.sin(b * x), _sin),
        (a * sympy.cos(b * x), _cos),
        (a * sympy.Abs(x), _abs),
        (a * sympy.Max(0, x), _relu),
        (a * sympy.sign(x), _sign),
        (a * sympy.Heaviside(x), _heaviside),
    ]
    for pattern, form in known:
        found = phi.match(pattern)
        if found and found[a] != 0 and found.get(b, one) != 0 and not (form is _gauss and not found[b] > 0):
            return found[a], found.get(b, one), form
    return None
