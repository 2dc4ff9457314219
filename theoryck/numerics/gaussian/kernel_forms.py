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
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x

Array = NDArray[np.float64]

CORRELATION_ROUNDING = 1e-9
"""|c|/sqrt(s1 s2) may pass 1 by rounding of the Gram matrix it comes from; beyond this it is no Gram matrix."""


Closed = Callable[[Array, Array, Array], Array]


@functools.lru_cache(maxsize=64)
def closed_form(activation: Activation) -> Closed | None:
    """Return h as a function of arrays (s1, s2, c) where phi is one of these times a number, else None."""
    if not activation.expression.has(x):
        return _kernel(lambda k, b, s1, s2, c: k + 0 * (s1 + s2 + c), float(activation.expression), 1.0)
    a, b = sympy.Wild("a", exclude=[x]), sympy.Wild("b", exclude=[x])
    forms: dict[Any, _Form] = {
        a * x: lambda k, b, s1, s2, c: k * c + 0 * (s1 + s2),
        # asin of a number close to 1 would lose half the digits: its sine is the other leg.
        a * sympy.erf(b * x): lambda k, b, s1, s2, c: (
            k * (2 / math.pi) * np.arctan2(2 * b * b * c, np.sqrt(_determinant(2 * b * b, s1, s2, c)))
        ),
        # exp(-b^2 (s1+s2)/2) times sinh or cosh(b^2 c), from exponentials of numbers <= 0.
        a * sympy.sin(b * x): lambda k, b, s1, s2, c: (
            k * (np.exp(-b * b * ((s1 + s2) / 2 - c)) - np.exp(-b * b * ((s1 + s2) / 2 + c))) / 2
        ),
        a * sympy.cos(b * x): lambda k, b, s1, s2, c: (
            k * (np.exp(-b * b * ((s1 + s2) / 2 - c)) + np.exp(-b * b * ((s1 + s2) / 2 + c))) / 2
        ),
        # Scaling x by sqrt(2b) brings the form x exp(-x^2/2), whose kernel is c ((1+s1)(1+s2) - c^2)^(-3/2).
        a * x * sympy.exp(-b * x**2): lambda k, b, s1, s2, c: k * c * _positive_determinant(2 * b, s1, s2, c) ** -1.5,
        a * sympy.Abs(x): _abs,
        # relu(x) = (x + |x|)/2, and E u |v| = 0.
        a * sympy.Max(0, x): lambda k, b, s1, s2, c: k * (c + _abs(1.0, 1.0, s1, s2, c)) / 4,
        a * sympy.exp(-b * x**2): lambda k, b, s1, s2, c: k / np.sqrt(_positive_determinant(2 * b, s1, s2, c)),
        a * sympy.exp(b * x): lambda k, b, s1, s2, c: k * np.exp(b * b * ((s1 + s2) / 2 + c)),
        a * sympy.sinh(b * x): lambda k, b, s1, s2, c: k * np.exp(b * b * (s1 + s2) / 2) * np.sinh(b * b * c),
        a * sympy.cosh(b * x): lambda k, b, s1, s2, c: k * np.exp(b * b * (s1 + s2) / 2) * np.cosh(b * b * c),
        a * sympy.sign(x): _sign,
        # heaviside(x) = (1 + sign(x))/2, and E sign(u) = 0.
        a * sympy.Heaviside(x): lambda k, b, s1, s2, c: (k + _sign(k, 1.0, s1, s2, c)) / 4,
    }
    for pattern, form in forms.items():
        found = activation.expression.match(pattern)
        if found and found.get(a, 1) != 0 and found.get(b, 1) != 0:
            return _kernel(form, float(found.get(a, 1)), float(found.get(b, 1)))
    return None


_Form = Callable[[float, float, Array, Array, Array], Array]
"""(scale^2, b, s1, s2, c) -> h."""


def _kernel(form: _Form, scale: float, b: float) -> Closed:
    def kernel(s1: Array, s2: Array, c: Array) -> Array:
        with np.errstate(over="ignore"):
            return form(scale**2, b, s1, s2, c)

    return kernel


def _abs(k: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    size = np.sqrt(s1 * s2)
    r = correlation(c, size)
    return k * (2 / math.pi) * size * (np.sqrt(1 - r * r) + r * np.arcsin(r))


def _sign(k: float, b: float, s1: Array, s2: Array, c: Array) -> Array:
    return k * (2 / math.pi) * np.arcsin(correlation(c, np.sqrt(s1 * s2)))


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


def correlation(c: Array, size: Array) -> Array:
    """Return c / size with 0/0 = 0; what passes +-1 by rounding is put back there, more raises ValueError."""
    r = np.divide(c, size, out=np.zeros(np.broadcast_shapes(c.shape, size.shape)), where=size > 0)
    largest = float(np.max(np.abs(r), initial=0.0))
    if not largest <= 1 + CORRELATION_ROUNDING:
        raise ValueError(f"a covariance exceeds sqrt(s1 s2) by the factor {largest!r}: this is no Gram matrix of real vectors")
    return np.minimum(np.maximum(r, -1.0), 1.0) if largest > 1 else r
