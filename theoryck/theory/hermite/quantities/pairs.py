"""Means of products f(u) g(v) over a Gaussian pair with correlation m, by Hermite coefficients and by drawing the pair.

    E f(u) g(v) = sum_k f_k g_k m^k,   f_k = E f(Z) h_k(Z),
a finite sum where one of the factors is a polynomial.  With u = z_* and v = z this is what one gradient step sees of a target g
through a feature s: phi(m) = E g(u) s(v), and along the sphere E g(u) s'(v) (u - m v) = (1 - m^2) phi'(m).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity
from theoryck.records import Enclosure
from theoryck.theory.hermite.quantities.expansions import LARGEST_DEGREE, hermite_polynomial

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]


class PairMean(Quantity):
    """What :func:`pair_mean` returns."""

    can_draw = True
    can_exact = True

    def __init__(self, terms: Sequence[tuple[Any, Any]], correlation: Fraction) -> None:
        if isinstance(terms, str) or not all(isinstance(term, tuple | list) and len(term) == 2 for term in terms):
            raise QuantityError(f"terms must be pairs (f, g) of expressions in x, got {terms!r}")
        self.terms = tuple((_expression(f), _expression(g)) for f, g in terms)
        self.correlation = correlation
        if not self.terms:
            raise QuantityError("pair_mean needs at least one pair (f, g) of expressions in x")
        for f, g in self.terms:
            _last_degree(f, g)

    @property
    def name(self) -> str:
        """What people read."""
        total = " + ".join(f"({f})(u) ({g})(v)" for f, g in self.terms)
        return f"E[{total}; correlation {self.correlation}]"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": "pair_mean",
            "terms": [[str(f), str(g)] for f, g in self.terms],
            "correlation": str(self.correlation),
        }

    def sampler(self, sizes: Sizes) -> PairSampler:
        """Return the sampler, which draws the pair."""
        from theoryck.numerics.functions.activation import Activation

        return PairSampler(tuple((Activation(f), Activation(g)) for f, g in self.terms), float(self.correlation))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds: two functions a term take more than two random numbers."""
        return 2.0 + 20.0 * len(self.terms)

    def exact(self, sizes: Sizes | None = None, digits: int = 20) -> Enclosure:
        """Return the finite sum of products of Hermite coefficients."""
        return self.sum_of_coefficients().exact({}, digits)

    def sum_of_coefficients(self) -> ExactQuantity:
        """Return sum_k f_k g_k m^k over the terms as an exact quantity."""
        summands = [(f, g, k, self.correlation**k) for f, g in self.terms for k in range(_last_degree(f, g) + 1)]
        return ExactQuantity(self.name, functools.partial(_sum, tuple(summands)), self.parameters)


@dataclass(frozen=True, slots=True)
class PairSampler:
    """Draws sum f(u) g(v) for a Gaussian pair."""

    terms: tuple[tuple[Activation, Activation], ...]
    correlation: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        u, v = rng.standard_normal((2, draws))
        v = self.correlation * u + math.sqrt((1 - self.correlation) * (1 + self.correlation)) * v
        total = np.zeros(draws)
        for f, g in self.terms:
            total += f(u) * g(v)
        return total


def pair_mean(terms: Sequence[tuple[Any, Any]], correlation: Any) -> PairMean:
    """Return E sum_i f_i(u) g_i(v), (u, v) standard Gaussian with the given correlation m, with both routes.

    ``terms`` are pairs (f, g) of expressions in ``theoryck.numerics.functions.x``, activations or texts; one factor of each must
    be a polynomial of degree at most 32.  ``correlation`` is a rational number, |m| <= 1.  Raises QuantityError.

    >>> float(pair_mean([("x**2", "x**2")], Fraction(1, 2)).exact({}, 20))  # 1 + 2 m^2
    1.5
    """
    return PairMean(terms, _correlation(correlation))


def spherical_gradient(target: Any, feature: Any, correlation: Any) -> PairMean:
    """Return E g(u) s'(v) (u - m v), u = z_* and v = z of correlation m: the mean step on the sphere.

    It equals (1 - m^2) phi'(m), phi(m) = E g(u) s(v) = sum_k g_k s_k m^k (Stein's identity; Ben Arous, Gheissari, Jagannath 2021).
    ``target`` and ``feature`` are expressions in ``theoryck.numerics.functions.x``, one of them a polynomial.

    >>> float(spherical_gradient("x", "x", Fraction(1, 2)).exact({}, 20))  # 1 - m^2
    0.75
    """
    from theoryck.numerics.functions.expression import x

    g, s, m = _expression(target), _expression(feature), _correlation(correlation)
    slope = sympy.diff(s, x)
    return PairMean([(x * g, slope), (-sympy.Rational(m.numerator, m.denominator) * g, x * slope)], m)


def gradient_series(target: Any, feature: Any, correlation: Any) -> ExactQuantity:
    """Return (1 - m^2) sum_{k>=1} k g_k s_k m^(k-1) as an exact quantity; g or s must be a polynomial.

    >>> float(gradient_series("x**2", "x**2", Fraction(1, 2)).exact())  # (1 - m^2) 4 m
    1.5
    """
    return (1 - _correlation(correlation) ** 2) * correlation_derivative(target, feature, correlation)


def correlation_derivative(target: Any, feature: Any, correlation: Any) -> ExactQuantity:
    """Return phi'(m) = sum_{k>=1} k g_k s_k m^(k-1) of phi(m) = E g(u) s(v) as an exact quantity; g or s must be a polynomial.

    >>> float(correlation_derivative("x**2", "x**2", Fraction(1, 2)).exact({}, 20))  # phi = 1 + 2 m^2
    2.0
    """
    g, s, m = _expression(target), _expression(feature), _correlation(correlation)
    summands = tuple((g, s, k, k * m ** (k - 1)) for k in range(1, _last_degree(g, s) + 1))
    parameters = {"quantity": "correlation_derivative", "target": str(g), "feature": str(s), "correlation": str(m)}
    return ExactQuantity(f"d/dm E[({g})(u) ({s})(v); correlation {m}]", functools.partial(_sum, summands), parameters)


def correlation_series(target: Any, feature: Any, correlation: Any, least: int = 0) -> ExactQuantity:
    """Return sum_{k>=least} g_k s_k m^k as an exact quantity: E g(u) s(v) from least = 0; g or s must be a polynomial.

    >>> float(correlation_series("x**2", "x**2", Fraction(1, 2), least=1).exact({}, 20))  # 2 m^2
    0.5
    """
    g, s, m = _expression(target), _expression(feature), _correlation(correlation)
    summands = tuple((g, s, k, m**k) for k in range(least, _last_degree(g, s) + 1))
    parameters = {"quantity": "correlation_series", "target": str(g), "feature": str(s), "correlation": str(m), "least": least}
    return ExactQuantity(f"sum_(k>={least}) g_k s_k m^k[{g}, {s}, {m}]", functools.partial(_sum, summands), parameters)


class GradientAtStart(Quantity):
    """What :func:`gradient_at_start` returns."""

    can_draw = True
    can_exact = True

    def __init__(self, target: Any, feature: Any) -> None:
        self.target, self.feature = _expression(target), _expression(feature)

    @property
    def name(self) -> str:
        """What people read."""
        return f"gradient_at_start({self.target}, {self.feature})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": "gradient_at_start", "target": str(self.target), "feature": str(self.feature)}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The dimension."""
        return ("d",)

    def _at(self, sizes: Sizes) -> PairMean:
        need_sizes(self.name, self.size_names, sizes)
        root = math.isqrt(int(sizes["d"]))
        if root**2 != sizes["d"]:
            raise QuantityError(f"d must be a square so that m = d^(-1/2) is rational, got {sizes['d']!r}: use 16, 64, 256, ...")
        return spherical_gradient(self.target, self.feature, Fraction(1, root))

    def sampler(self, sizes: Sizes) -> PairSampler:
        """Return the sampler, which draws the pair."""
        return self._at(sizes).sampler({})

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds."""
        return 42.0

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the finite sum of products of Hermite coefficients."""
        return self._at(sizes).exact({}, digits)


def gradient_at_start(target: Any, feature: Any) -> GradientAtStart:
    """Return the spherical gradient E g(u) s'(v) (u - m v) at m = d^(-1/2), where a random start is, with both routes; size ``d``.

    It is l g_l s_l m^(l-1) + ..., l = min{k >= 1: g_k s_k != 0}, so its exponent is -(l - 1)/2.  d must be a square.

    >>> float(gradient_at_start("x**2 - 1", "x**2").exact({"d": 16}))  # (1 - m^2) 4 m at m = 1/4
    0.9375
    """
    return GradientAtStart(target, feature)


Summand = tuple[sympy.Expr, sympy.Expr, int, Fraction]


def _sum(summands: tuple[Summand, ...], digits: int) -> Enclosure:
    """Return sum of factor * f_k g_k over (f, g, k, factor), f_k g_k = E f He_k E g He_k / k!: no root of k! is needed."""
    from theoryck.numerics.proved import arithmetic

    working = digits + 10
    total = arithmetic.enclose(0)
    for f, g, k, factor in summands:
        means = arithmetic.multiply(_moment(f, k, working), _moment(g, k, working), working)
        scaled = arithmetic.multiply(means, arithmetic.enclose(factor / math.factorial(k), working), working)
        total = arithmetic.add(total, scaled, working)
    return total


@functools.lru_cache(maxsize=1024)
def _moment(f: sympy.Expr, k: int, digits: int) -> Enclosure:
    """Return E f(Z) He_k(Z), He_k = sqrt(k!) h_k."""
    from theoryck.numerics.proved.gaussian import gaussian_expectation

    polynomial = sympy.expand(hermite_polynomial(k) * sympy.sqrt(sympy.factorial(k)))
    return gaussian_expectation(sympy.expand(f * polynomial) if f.is_polynomial() else f * polynomial, 1, digits=digits)


def _last_degree(f: sympy.Expr, g: sympy.Expr) -> int:
    """Return the degree of the polynomial among f and g, the lower one of two."""
    degrees = [degree for degree in (_polynomial_degree(f), _polynomial_degree(g)) if degree is not None]
    if not degrees:
        raise QuantityError(f"one of the factors must be a polynomial in x of degree <= {LARGEST_DEGREE}: {f}, {g}")
    return min(degrees)


def _polynomial_degree(f: sympy.Expr) -> int | None:
    from theoryck.numerics.functions.expression import x

    if not f.is_polynomial(x):
        return None
    degree = max(int(sympy.degree(f, x)), 0) if f.has(x) else 0
    return degree if degree <= LARGEST_DEGREE else None


def _expression(value: Any) -> sympy.Expr:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.numerics.functions.domain import parse_expression

    if isinstance(value, Activation):
        return value.expression
    return parse_expression(value) if isinstance(value, str) else sympy.sympify(value, strict=True)


def _correlation(value: Any) -> Fraction:
    try:
        number = exact_number(value, "correlation")
        if isinstance(number, Fraction) and -1 <= number <= 1:
            return number
    except ValueError:
        pass
    raise QuantityError(f"correlation must be a rational number from -1 to 1 such as Fraction(1, 4), got {value!r}")
