"""Coefficients of an expansion, how correlated two random directions are degree by degree, means over a Gaussian pair."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from theoryck.quantities.arguments import rational
from theoryck.quantities.base import MIN_COMPARED_DRAWS, Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity, as_activation, closed_form, gaussian_mean
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.hermite.draws import EntrySampler, OverlapSampler, PairSampler
from theoryck.theory.hermite.proved import even_moment, sphere_moment

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

LARGEST_DEGREE = 32


def hermite_polynomial(degree: int) -> sympy.Expr:
    """Return the normalised Hermite polynomial h_degree as an expression in ``theoryck.numerics.functions.x``: E h_j(Z) h_k(Z) =
    [j = k].

    >>> hermite_polynomial(2)
    sqrt(2)*(x**2 - 1)/2
    """
    from theoryck.numerics.functions.expression import x

    before, current = sympy.Integer(0), sympy.Integer(1)
    for k in range(integer(degree, "degree", 0, LARGEST_DEGREE, QuantityError)):
        before, current = current, sympy.expand(x * current - k * before)
    return current / sympy.sqrt(sympy.factorial(degree))


def hermite_coefficient(activation: Activation | str, degree: int) -> ExactQuantity:
    """Return c_k = E phi(Z) h_k(Z), Z ~ N(0, 1), k = ``degree``, as an exact quantity.

    >>> round(float(hermite_coefficient("erf", 1).exact({}, 20)), 12), round(float(hermite_coefficient("erf", 3).exact({}, 20)), 4)
    (0.651470015871, -0.1773)
    """
    phi = as_activation(activation)
    mean = gaussian_mean(phi.expression * hermite_polynomial(degree))
    parameters = {"quantity": "hermite_coefficient", "activation": phi.text, "degree": degree}
    return ExactQuantity(f"c_{degree}[{phi.name}]", lambda digits: mean.exact({}, digits), parameters)


def feature_mean(activation: Activation | str) -> ExactQuantity:
    """Return mu_0 = E phi(Z), Z ~ N(0, 1), as an exact quantity.

    >>> round(float(feature_mean("relu").exact()), 12)  # 1/sqrt(2 pi)
    0.398942280401
    """
    return hermite_coefficient(activation, 0)


def feature_slope(activation: Activation | str) -> ExactQuantity:
    """Return mu_1 = E Z phi(Z), Z ~ N(0, 1), as an exact quantity.

    >>> round(float(feature_slope("relu").exact()), 12), float(feature_slope("x").exact())
    (0.5, 1.0)
    """
    return hermite_coefficient(activation, 1)


def feature_noise(activation: Activation | str) -> ExactQuantity:
    """Return mu_*^2 = E phi(Z)^2 - mu_0^2 - mu_1^2, Z ~ N(0, 1), as an exact quantity.

    >>> round(float(feature_noise("erf").exact({}, 20)), 10)
    0.0401458728
    """
    phi = as_activation(activation)
    return gaussian_mean(phi.expression**2) - feature_mean(phi) ** 2 - feature_slope(phi) ** 2


@dataclass(frozen=True, repr=False)
class Direction(Quantity):
    """What depends on independent directions w, w' on the unit sphere of R^d for one ``degree`` k from 1 to 32; size ``d``."""

    needs = ("d",)
    can_exact = True
    degree: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", integer(self.degree, "degree", 1, LARGEST_DEGREE, QuantityError))

    def _dimension(self, sizes: Sizes) -> int:
        need_sizes(self.name, self.needs, sizes)
        return int(sizes["d"])


@dataclass(frozen=True, repr=False)
class DrawnDirection(Direction):
    """A mean over directions that is drawn; a draw is in law near |N|^(degree power) up to a factor."""

    can_draw = True
    power: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "power", integer(self.power, "power", 1, LARGEST_DEGREE, QuantityError))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes: two vectors."""
        return 2.0 * sizes["d"]

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 1.5 times the squared skewness of |N|^j, N ~ N(0, 1), at least 4096: then the mean is near enough to Gaussian."""
        first, second, third = (_log_gaussian_moment(i * self.degree * self.power) for i in (1, 2, 3))
        if third - 1.5 * second > 300:
            return math.inf
        # Both moments are divided by those of the root mean square, which would overflow from power 100 on.
        mean, cube = math.exp(first - second / 2), math.exp(third - 1.5 * second)
        skewness = (cube - 3 * mean + 2 * mean**3) / (1 - mean**2) ** 1.5
        return max(MIN_COMPARED_DRAWS, 1.5 * skewness**2)


class hermite_overlap(DrawnDirection):
    """E |E_x h_k(w . x) h_k(w' . x)|^power = E |w . w'|^(k power), k = ``degree``, with both routes; size ``d``.

    w, w' are independent and uniform on the unit sphere of R^d, x ~ N(0, I).  Power 2 gives prod_{j<k} (2j + 1)/(d + 2j).  Degree
    and power are integers from 1 to 32, else QuantityError.

    >>> hermite_overlap(2, power=2).exact({"d": 4}).to_json()["value"]  # 1/4 * 3/6
    '0.125'
    """

    def sampler(self, sizes: Sizes) -> OverlapSampler:
        return OverlapSampler(self._dimension(sizes), self.degree * self.power)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the product formula, rational or a rational over pi."""
        return sphere_moment(self._dimension(sizes), self.degree * self.power).exact({}, digits)


@dataclass(frozen=True, repr=False)
class hermite_entry(DrawnDirection):
    """E h_k(w . x)^2, the mean square of an entry of the k-th term of the expansion, k = ``degree``: 1; size ``d``.

    >>> import numpy as np
    >>> draws = hermite_entry(1).draw(np.random.default_rng(0), 10_000, {"d": 4})
    >>> bool(abs(draws.mean() - 1) < 5 * draws.std() / 100)
    True
    """

    power: int = field(default=2, init=False)

    def sampler(self, sizes: Sizes) -> EntrySampler:
        return EntrySampler(self._dimension(sizes), self.degree)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return 1: w . x ~ N(0, 1) for every unit w, and h_k is normalised."""
        self._dimension(sizes)
        return closed_form(1).exact({}, digits)


class hermite_rms(Direction):
    """sqrt(E (w . w')^(2k)) = sqrt(prod_{j<k} (2j + 1)/(d + 2j)), k = ``degree``, exact only; size ``d``.

    >>> hermite_rms(1).exact({"d": 16}).to_json()["value"]
    '0.25'
    """

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        square = even_moment(self._dimension(sizes), 2 * self.degree)
        return closed_form(sympy.sqrt(sympy.Rational(square.numerator, square.denominator))).exact({}, digits)


@dataclass(frozen=True, repr=False)
class pair_mean(Quantity):
    """E sum_i f_i(u) g_i(v), (u, v) standard Gaussian with the given correlation m, with both routes.

    ``terms`` are pairs (f, g) of expressions in ``theoryck.numerics.functions.x``, activations or texts; one factor of each must
    be a polynomial of degree at most 32.  ``correlation`` is a rational number, |m| <= 1.  Raises QuantityError.

    >>> float(pair_mean([("x**2", "x**2")], Fraction(1, 2)).exact({}, 20))  # 1 + 2 m^2
    1.5
    """

    can_draw = can_exact = True
    terms: Any
    correlation: Any

    def __post_init__(self) -> None:
        given = self.terms
        if isinstance(given, str) or not all(isinstance(term, tuple | list) and len(term) == 2 for term in given):
            raise QuantityError(f"terms must be pairs (f, g) of expressions in x, got {given!r}")
        terms = tuple((_expression(f), _expression(g)) for f, g in given)
        if not terms:
            raise QuantityError("pair_mean needs at least one pair (f, g) of expressions in x")
        for f, g in terms:
            _last_degree(f, g)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "correlation", _correlation(self.correlation))

    @property
    def name(self) -> str:
        total = " + ".join(f"({f})(u) ({g})(v)" for f, g in self.terms)
        return f"E[{total}; correlation {self.correlation}]"

    def sampler(self, sizes: Sizes) -> PairSampler:
        terms = tuple((as_activation(f), as_activation(g)) for f, g in self.terms)
        return PairSampler(terms, float(self.correlation))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds: two functions a term take more than two random numbers."""
        return 2.0 + 20.0 * len(self.terms)

    def exact(self, sizes: Sizes | None = None, digits: int = 20) -> Enclosure:
        return self.sum_of_coefficients().exact({}, digits)

    def sum_of_coefficients(self) -> ExactQuantity:
        """Return sum_k f_k g_k m^k over the terms as an exact quantity."""
        summands = [(f, g, k, self.correlation**k) for f, g in self.terms for k in range(_last_degree(f, g) + 1)]
        return ExactQuantity(self.name, functools.partial(_sum, tuple(summands)), self.parameters)


def spherical_gradient(target: Any, feature: Any, correlation: Any) -> pair_mean:
    """Return E g(u) s'(v) (u - m v), u = z_* and v = z of correlation m: the mean step on the sphere.

    It equals (1 - m^2) phi'(m), phi(m) = E g(u) s(v) = sum_k g_k s_k m^k (Stein's identity; Ben Arous, Gheissari, Jagannath 2021).
    ``target`` and ``feature`` are expressions in ``theoryck.numerics.functions.x``, one of them a polynomial.

    >>> float(spherical_gradient("x", "x", Fraction(1, 2)).exact({}, 20))  # 1 - m^2
    0.75
    """
    from theoryck.numerics.functions.expression import x

    g, s, m = _expression(target), _expression(feature), _correlation(correlation)
    slope = sympy.diff(s, x)
    return pair_mean([(x * g, slope), (-sympy.Rational(m.numerator, m.denominator) * g, x * slope)], m)


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


@dataclass(frozen=True, repr=False)
class gradient_at_start(Quantity):
    """The spherical gradient E g(u) s'(v) (u - m v) at m = d^(-1/2), where a random start is, with both routes; size ``d``.

    It is l g_l s_l m^(l-1) + ..., l = min{k >= 1: g_k s_k != 0}, so its exponent is -(l - 1)/2.  d must be a square.

    >>> float(gradient_at_start("x**2 - 1", "x**2").exact({"d": 16}))  # (1 - m^2) 4 m at m = 1/4
    0.9375
    """

    title = "gradient_at_start({target}, {feature})"
    needs = ("d",)
    can_draw = can_exact = True
    target: Any
    feature: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _expression(self.target))
        object.__setattr__(self, "feature", _expression(self.feature))

    def _at(self, sizes: Sizes) -> pair_mean:
        need_sizes(self.name, self.needs, sizes)
        root = math.isqrt(int(sizes["d"]))
        if root**2 != sizes["d"]:
            raise QuantityError(f"d must be a square so that m = d^(-1/2) is rational, got {sizes['d']!r}: use 16, 64, 256, ...")
        return spherical_gradient(self.target, self.feature, Fraction(1, root))

    def sampler(self, sizes: Sizes) -> PairSampler:
        return self._at(sizes).sampler({})

    def cost(self, sizes: Sizes) -> float:
        return 42.0

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        return self._at(sizes).exact({}, digits)


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
    number = rational(value, "correlation")
    if not -1 <= number <= 1:
        raise QuantityError(f"correlation must be a rational number from -1 to 1 such as Fraction(1, 4), got {value!r}")
    return number


def _log_gaussian_moment(power: int) -> float:
    """log E |N|^power, N ~ N(0, 1)."""
    return power / 2 * math.log(2) + math.lgamma((power + 1) / 2) - math.log(math.pi) / 2
