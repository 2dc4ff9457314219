"""Kernels h(s1, s2, c) = E phi(u) phi(v) in closed form, in float64: the activations that have one, and their derivatives.

With q = 2 b^2 (erf), q = 2 b (Gaussians) or q = b^2 (sin, cos) and r = c / sqrt(s1 s2):

    x                c                                  1                  1
    erf(b x)         (2/pi) asin(q c / sqrt((1 + q s1)(1 + q s2)))
    exp(-b x^2)      ((1 + q s1)(1 + q s2) - q^2 c^2)^(-1/2)        finite where I + q K is positive definite
    x exp(-b x^2)    c ((1 + q s1)(1 + q s2) - q^2 c^2)^(-3/2)      (q < 0 for growing phi)
    exp(b x)         exp(b^2 (s1 + s2)/2 + b^2 c)       sinh(b x), cosh(b x)  exp(b^2 (s1 + s2)/2) times sinh(b^2 c), cosh(b^2 c)
    sin(b x)         exp(-q (s1 + s2)/2) sinh(q c)      cos(b x)           the same with cosh
    |x|              (2/pi) sqrt(s1 s2) (sqrt(1 - r^2) + r asin r)
    relu(x)          (c + that of |x|)/4                heaviside(x)       1/4 + asin(r)/(2 pi)
    sign(x)          (2/pi) asin r
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x

Array = NDArray[np.float64]

CORRELATION_ROUNDING = 1e-9
"""|c|/sqrt(s1 s2) may pass 1 by rounding of the Gram matrix it comes from; beyond this it is no Gram matrix."""


Closed = Callable[[Array, Array, Array], Array]


def _linear(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    return scale**2 * c + 0 * (s1 + s2)


def _erf(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    q = 2 * b * b
    # asin of a number close to 1 would lose half the digits: its sine is the other leg.
    return scale**2 * (2 / math.pi) * np.arctan2(q * c, np.sqrt(_determinant(q, s1, s2, c)))


def _determinant(q: float, s1: Array, s2: Array, c: Array) -> Array:
    """Return det(I + q K) = 1 + q (s1 + s2) + q^2 (s1 s2 - c^2), without cancellation in the last term where s1 = s2 = c."""
    size = np.sqrt(s1 * s2)
    return 1 + q * (s1 + s2) + q * (size - c) * (q * (size + c))


def _positive_determinant(q: float, s1: Array, s2: Array, c: Array) -> Array:
    determinant = _determinant(q, s1, s2, c)
    bad = (determinant <= 0) | (1 + q * s1 <= 0) | (1 + q * s2 <= 0)
    if np.any(bad):
        worst = float(np.max(np.maximum(s1, s2)))
        raise ValueError(
            f"the kernel is infinite: with phi ~ exp({-q / 2:.6g} x^2), E phi(u)^2 exists for variances below {-1 / (2 * q):.6g} "
            f"only, and the largest here is {worst:.6g}"
        )
    return determinant


def _sin(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    # exp(-b^2 (s1+s2)/2) sinh(b^2 c) as a difference of exponentials of numbers <= 0.
    mean, q = (s1 + s2) / 2, b * b
    return scale**2 * (np.exp(-q * (mean - c)) - np.exp(-q * (mean + c))) / 2


def _cos(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    mean, q = (s1 + s2) / 2, b * b
    return scale**2 * (np.exp(-q * (mean - c)) + np.exp(-q * (mean + c))) / 2


def _x_gauss(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    # x exp(-b x^2): scaling x by sqrt(2b) brings the form x exp(-x^2/2), whose kernel is c ((1+s1)(1+s2) - c^2)^(-3/2).
    return scale**2 * c * _positive_determinant(2 * b, s1, s2, c) ** -1.5


def _abs(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    size = np.sqrt(s1 * s2)
    r = correlation(c, size)
    return scale**2 * (2 / math.pi) * size * (np.sqrt(1 - r * r) + r * np.arcsin(r))


def _relu(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    # relu(x) = (x + |x|)/2, and E u |v| = 0.
    return scale**2 * (c + _abs(1.0, 1.0, s1, s2, c)) / 4


def _constant(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    return scale**2 + 0 * (s1 + s2 + c)


def _gauss(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    return scale**2 / np.sqrt(_positive_determinant(2 * b, s1, s2, c))


def _exp(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    with np.errstate(over="ignore"):
        return scale**2 * np.exp(b * b * ((s1 + s2) / 2 + c))


def _sinh(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    with np.errstate(over="ignore"):
        return scale**2 * np.exp(b * b * (s1 + s2) / 2) * np.sinh(b * b * c)


def _cosh(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    with np.errstate(over="ignore"):
        return scale**2 * np.exp(b * b * (s1 + s2) / 2) * np.cosh(b * b * c)


def _sign(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    return scale**2 * (2 / math.pi) * np.arcsin(correlation(c, np.sqrt(s1 * s2)))


def _heaviside(scale: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    # heaviside(x) = (1 + sign(x))/2, and E sign(u) = 0.
    return (scale**2 + _sign(scale, 1.0, s1, s2, c)) / 4


def correlation(c: Array, size: Array) -> Array:
    """Return c / size with 0/0 = 0; what passes +-1 by rounding is put back there, more raises ValueError."""
    r = np.divide(c, size, out=np.zeros(np.broadcast_shapes(c.shape, size.shape)), where=size > 0)
    largest = float(np.max(np.abs(r), initial=0.0))
    if not largest <= 1 + CORRELATION_ROUNDING:
        raise ValueError(f"a covariance exceeds sqrt(s1 s2) by the factor {largest!r}: this is no Gram matrix of real vectors")
    return np.minimum(np.maximum(r, -1.0), 1.0) if largest > 1 else r


@functools.lru_cache(maxsize=64)
def closed_form(activation: Activation) -> Closed | None:
    """Return h as a function of arrays (s1, s2, c) where phi is one of these times a number, else None."""
    if not activation.expression.has(x):
        return functools.partial(_constant, float(activation.expression), 1.0)
    a, b = sympy.Wild("a", exclude=[x]), sympy.Wild("b", exclude=[x])
    forms = {
        a * x: _linear,
        a * sympy.erf(b * x): _erf,
        a * sympy.sin(b * x): _sin,
        a * sympy.cos(b * x): _cos,
        a * x * sympy.exp(-b * x**2): _x_gauss,
        a * sympy.Abs(x): _abs,
        a * sympy.Max(0, x): _relu,
        a * sympy.exp(-b * x**2): _gauss,
        a * sympy.exp(b * x): _exp,
        a * sympy.sinh(b * x): _sinh,
        a * sympy.cosh(b * x): _cosh,
        a * sympy.sign(x): _sign,
        a * sympy.Heaviside(x): _heaviside,
    }
    for form, function in forms.items():
        found = activation.expression.match(form)
        if found and found.get(a, 1) != 0 and found.get(b, 1) != 0:
            return functools.partial(function, float(found.get(a, 1)), float(found.get(b, 1)))
    return None
