"""Gaussian means E f(sqrt(s) Z): exact where the mean has a closed form, and by quadrature in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.compiled import values_of
from theoryck.numerics.functions.expression import x


def exact_mean(expression: Any, variance: Any) -> Any:
    """Return E f(sqrt(s) Z), Z ~ N(0, 1), as a sympy number, or None where no rule applies.

    Rules: odd f (0), polynomials (Gaussian moments), exp, sin, cos and erf of a linear argument, x erf(b x) by Stein's
    identity, polynomials times exp(a x^2), relu and |x|, and linear combinations of these.

    >>> exact_mean(x**4, sympy.Integer(2)), exact_mean(sympy.Max(0, x), sympy.Integer(1)), exact_mean(sympy.cos(2*x), sympy.S.Half)
    (12, sqrt(2)/(2*sqrt(pi)), exp(-1))
    """
    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand_mul(expression)):
        number, factor = term.as_independent(x, as_Add=False)
        mean = _term(factor, variance)
        if mean is None:
            return None
        total += number * mean
    return total


def _term(f: Any, s: Any) -> Any:
    if f == 1:
        return sympy.S.One
    if parity(f) == -1:
        return sympy.S.Zero
    if f.is_polynomial(x):
        return sum((c * _moment(k, s) for (k,), c in sympy.Poly(f, x).terms()), sympy.S.Zero)
    if isinstance(f, sympy.Mul):
        return _product(f, s)
    if isinstance(f, sympy.Max | sympy.Min) and len(f.args) == 2 and 0 in f.args:
        slope = _linear(next(argument for argument in f.args if argument != 0))
        if slope is not None and slope[1] == 0:
            return (1 if isinstance(f, sympy.Max) else -1) * abs(slope[0]) * sympy.sqrt(s / (2 * sympy.pi))
        return None
    if len(f.args) != 1 and not isinstance(f, sympy.Heaviside):
        return None
    if isinstance(f, sympy.exp) and _linear(f.args[0]) is None:
        return _gaussian(sympy.S.One, f.args[0], s)
    line = _linear(f.args[0])
    return None if line is None else _of_line(f, *line, s)


def _moment(k: int, s: Any) -> Any:
    return sympy.S.Zero if k % 2 else sympy.factorial2(k - 1) * s ** sympy.Rational(k, 2)


def _linear(inner: Any) -> tuple[Any, Any] | None:
    """Return (b, c) when inner = b x + c."""
    if not inner.is_polynomial(x):
        return None
    polynomial = sympy.Poly(inner, x)
    return (polynomial.coeff_monomial(x), polynomial.coeff_monomial(1)) if polynomial.degree() <= 1 else None


def _of_line(f: Any, b: Any, c: Any, s: Any) -> Any:
    if isinstance(f, sympy.exp):
        return sympy.exp(c + b**2 * s / 2)
    if isinstance(f, sympy.cosh) and c == 0:
        return sympy.exp(b**2 * s / 2)
    if isinstance(f, sympy.sin | sympy.cos):
        return f.func(c) * sympy.exp(-(b**2) * s / 2)
    if isinstance(f, sympy.erf | sympy.erfc):
        return f.func(c / sympy.sqrt(1 + 2 * b**2 * s))
    if isinstance(f, sympy.Abs) and c == 0:
        return abs(b) * sympy.sqrt(2 * s / sympy.pi)
    if isinstance(f, sympy.Heaviside) and c == 0:
        return sympy.S.Half
    return None


def _product(f: Any, s: Any) -> Any:
    bells = [factor for factor in f.args if isinstance(factor, sympy.exp)]
    if len(bells) == 1 and (f / bells[0]).is_polynomial(x):
        return _gaussian(f / bells[0], bells[0].args[0], s)
    if len(f.args) == 2 and x in f.args:
        other = f / x
        line = _linear(other.args[0]) if isinstance(other, sympy.erf) else None
        if line is not None and line[1] == 0:
            # Stein: E X erf(bX) = s E (2b/sqrt(pi)) exp(-b^2 X^2).
            return s * 2 * line[0] / sympy.sqrt(sympy.pi) / sympy.sqrt(1 + 2 * line[0] ** 2 * s)
    return None


def _gaussian(factor: Any, inner: Any, s: Any) -> Any:
    """E q(X) exp(-a X^2 + c) = e^c (1 + 2 a s)^{-1/2} E q(X'), X' ~ N(0, s/(1 + 2 a s)), when 1 + 2 a s > 0."""
    if not inner.is_polynomial(x) or sympy.Poly(inner, x).degree() > 2:
        return None
    polynomial = sympy.Poly(inner, x)
    a = -polynomial.coeff_monomial(x**2)
    scale = 1 + 2 * a * s
    if polynomial.coeff_monomial(x) != 0 or not scale.is_positive:
        return None
    terms = sympy.Poly(factor, x).terms()
    return sympy.exp(polynomial.coeff_monomial(1)) / sympy.sqrt(scale) * sum(c * _moment(k, s / scale) for (k,), c in terms)


def quadrature_mean(expression: Any, variance: float, kinks: tuple[Any, ...] = ()) -> tuple[float, float]:
    """Return (E f, sqrt(E f^2)) for f(sqrt(s) Z), by Gauss-Legendre panels within 12 sqrt(s), cut at kinks.

    >>> mean, rms = quadrature_mean(sympy.cosh(x), 1.0)
    >>> abs(mean - 1.6487212707001282) < 1e-13
    True
    """
    scale = float(np.sqrt(variance))
    edges = np.unique([*np.linspace(-12, 12, 97), *(float(point) / scale for point in kinks if abs(float(point)) < 12 * scale)])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1] + edges[1:])[:, None] / 2 + half * nodes
    density = half * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    values = values_of(expression, scale * z)
    return float(np.sum(density * values)), float(np.sqrt(np.sum(density * values**2)))
