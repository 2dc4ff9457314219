"""Hermite expansions of a feature map: coefficients, and how correlated two random directions are, degree by degree.

h_k are the normalised Hermite polynomials, E h_j(Z) h_k(Z) = [j = k].  For unit vectors w, w' with m = w . w' and x ~ N(0, I_d),
    phi(w . x) = sum_k c_k h_k(w . x),   c_k = E phi(Z) h_k(Z),      E_x h_k(w . x) h_k(w' . x) = m^k,
and for independent w, w' on the sphere E m^(2k) = prod_{j<k} (2j + 1)/(d + 2j), so that m^k is of size sqrt((2k-1)!!) d^(-k/2).
A term of the expansion is of size 1 itself: it is its correlation between two directions that is small.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.quantities.base import MIN_COMPARED_DRAWS, Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity, closed_form, gaussian_mean
from theoryck.records import Enclosure

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]

LARGEST_DEGREE = 32

LARGE_DIMENSION = 1000
"""From here on E |w . w'|^q, q odd, is a ball and no closed form, whose factors are as many as d."""

NUMBERS_AT_ONCE = 2**17
"""Gaussian numbers held at once by a sampler that draws whole vectors."""


def hermite_polynomial(degree: int) -> sympy.Expr:
    """Return the normalised Hermite polynomial h_degree as an expression in ``theoryck.numerics.functions.x``: E h_j(Z) h_k(Z) =
    [j = k].

    >>> hermite_polynomial(2)
    sqrt(2)*(x**2 - 1)/2
    """
    from theoryck.numerics.functions.expression import x

    before, current = sympy.Integer(0), sympy.Integer(1)
    for k in range(_degree(degree)):
        before, current = current, sympy.expand(x * current - k * before)
    return current / sympy.sqrt(sympy.factorial(degree))


def hermite_coefficient(activation: Activation | str, degree: int) -> ExactQuantity:
    """Return c_k = E phi(Z) h_k(Z), Z ~ N(0, 1), k = ``degree``, as an exact quantity.

    >>> round(float(hermite_coefficient("erf", 1).exact({}, 20)), 12), round(float(hermite_coefficient("erf", 3).exact({}, 20)), 4)
    (0.651470015871, -0.1773)
    """
    phi = _activation(activation)
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
    phi = _activation(activation)
    return gaussian_mean(phi.expression**2) - feature_mean(phi) ** 2 - feature_slope(phi) ** 2


class DirectionQuantity(Quantity):
    """What depends on independent directions w, w' on the unit sphere of R^d (and inputs) for one degree k; size ``d``."""

    can_draw = True
    can_exact = True
    kind = ""

    def __init__(self, degree: int, power: int = 1) -> None:
        self.degree, self.power = _degree(degree, least=1), _degree(power, least=1, name="power")

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.kind}(degree={self.degree}, power={self.power})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self.kind, "degree": self.degree, "power": self.power}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The dimension."""
        return ("d",)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes: two vectors."""
        return 2.0 * sizes["d"]

    def _gaussian_power(self) -> int:
        """Return j where a draw is in law near |N|^j up to a factor."""
        return self.degree * self.power

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 1.5 times the squared skewness of |N|^j, N ~ N(0, 1), at least 4096: then the mean is near enough to Gaussian."""
        first, second, third = (_log_gaussian_moment(i * self._gaussian_power()) for i in (1, 2, 3))
        if third - 1.5 * second > 300:
            return math.inf
        # Both moments are divided by those of the root mean square, which would overflow from power 100 on.
        mean, cube = math.exp(first - second / 2), math.exp(third - 1.5 * second)
        skewness = (cube - 3 * mean + 2 * mean**3) / (1 - mean**2) ** 1.5
        return max(MIN_COMPARED_DRAWS, 1.5 * skewness**2)


class HermiteOverlap(DirectionQuantity):
    """What :func:`hermite_overlap` returns."""

    kind = "hermite_overlap"

    def sampler(self, sizes: Sizes) -> OverlapSampler:
        """Return the sampler, which draws w and w'."""
        need_sizes(self.name, self.size_names, sizes)
        return OverlapSampler(int(sizes["d"]), self.degree * self.power)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return E |w . w'|^(degree * power) by its product formula, rational or a rational over pi."""
        need_sizes(self.name, self.size_names, sizes)
        return sphere_moment(int(sizes["d"]), self.degree * self.power).exact({}, digits)


class HermiteEntry(DirectionQuantity):
    """What :func:`hermite_entry` returns."""

    kind = "hermite_entry"

    def __init__(self, degree: int) -> None:
        super().__init__(degree, 2)

    def sampler(self, sizes: Sizes) -> EntrySampler:
        """Return the sampler, which draws w and x."""
        need_sizes(self.name, self.size_names, sizes)
        return EntrySampler(int(sizes["d"]), self.degree)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return 1: w . x ~ N(0, 1) for every unit w, and h_k is normalised."""
        need_sizes(self.name, self.size_names, sizes)
        return closed_form(1).exact({}, digits)


class HermiteRms(Quantity):
    """What :func:`hermite_rms` returns."""

    can_exact = True

    def __init__(self, degree: int) -> None:
        self.degree = _degree(degree, least=1)

    @property
    def name(self) -> str:
        """What people read."""
        return f"hermite_rms(degree={self.degree})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": "hermite_rms", "degree": self.degree}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The dimension."""
        return ("d",)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the square root of the product."""
        need_sizes(self.name, self.size_names, sizes)
        square = _even_moment(int(sizes["d"]), 2 * self.degree)
        return closed_form(sympy.sqrt(sympy.Rational(square.numerator, square.denominator))).exact({}, digits)


def hermite_overlap(degree: int, power: int = 1) -> HermiteOverlap:
    """Return E |E_x h_k(w . x) h_k(w' . x)|^power = E |w . w'|^(k power), k = ``degree``, with both routes; size ``d``.

    w, w' are independent and uniform on the unit sphere of R^d, x ~ N(0, I).  Power 2 gives prod_{j<k} (2j + 1)/(d + 2j).  Degree
    and power are integers from 1 to 32, else QuantityError.

    >>> hermite_overlap(2, power=2).exact({"d": 4}).to_json()["value"]  # 1/4 * 3/6
    '0.125'
    """
    return HermiteOverlap(degree, power)


def hermite_rms(degree: int) -> HermiteRms:
    """Return sqrt(E (w . w')^(2k)) = sqrt(prod_{j<k} (2j + 1)/(d + 2j)), k = ``degree``, exact only; size ``d``.

    >>> hermite_rms(1).exact({"d": 16}).to_json()["value"]
    '0.25'
    """
    return HermiteRms(degree)


def hermite_entry(degree: int) -> HermiteEntry:
    """Return E h_k(w . x)^2, the mean square of an entry of the k-th term of the expansion, k = ``degree``: 1; size ``d``.

    >>> draws = hermite_entry(1).draw(np.random.default_rng(0), 10_000, {"d": 4})
    >>> bool(abs(draws.mean() - 1) < 5 * draws.std() / 100)
    True
    """
    return HermiteEntry(degree)


@dataclass(frozen=True, slots=True)
class OverlapSampler:
    """Draws |w . w'|^power for independent w, w' on the unit sphere of R^d."""

    dimension: int
    power: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return np.abs(inner_products(rng, draws, self.dimension, normalise=True)) ** self.power


@dataclass(frozen=True, slots=True)
class EntrySampler:
    """Draws h_degree(w . x)^2 for w on the unit sphere and x ~ N(0, I)."""

    dimension: int
    degree: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return normalised_hermite(inner_products(rng, draws, self.dimension, normalise=False), self.degree) ** 2


def inner_products(rng: np.random.Generator, draws: int, dimension: int, normalise: bool) -> Array:
    """Return w . v (draws,) for w uniform on the unit sphere and v ~ N(0, I), divided by its length if ``normalise``."""
    step = max(NUMBERS_AT_ONCE // (2 * dimension), 1)
    pieces = []
    for start in range(0, draws, step):
        w, v = rng.standard_normal((2, min(step, draws - start), dimension))
        scale = np.linalg.norm(w, axis=1) * (np.linalg.norm(v, axis=1) if normalise else 1.0)
        pieces.append(np.einsum("bi,bi->b", w, v) / scale)
    return np.concatenate(pieces)


def normalised_hermite(z: Array, degree: int) -> Array:
    """Return h_degree at every entry by the recurrence sqrt(k + 1) h_{k+1} = z h_k - sqrt(k) h_{k-1}."""
    before, current = np.zeros_like(z), np.ones_like(z)
    for k in range(degree):
        before, current = current, (z * current - math.sqrt(k) * before) / math.sqrt(k + 1)
    return current


def sphere_moment(dimension: int, power: int) -> ExactQuantity:
    """Return E |w . w'|^power for independent w, w' on the unit sphere of R^dimension, as an exact quantity.

    It is Gamma(d/2) Gamma((q + 1)/2) / (sqrt(pi) Gamma((d + q)/2)), q = ``power``: rational for even q, and for odd q rational
    where d is odd and a rational over pi where d is even; from d = 1000 on those are long, and the Gamma functions are evaluated.

    >>> sphere_moment(3, 1).name, sphere_moment(2, 1).name
    ('1/2', '2/pi')
    """
    if power % 2 == 0:
        return closed_form(_rational(_even_moment(dimension, power)))
    if dimension >= LARGE_DIMENSION:
        parameters = {"quantity": "sphere_moment", "d": dimension, "power": power}
        return ExactQuantity(f"E|m|^{power} at d = {dimension}", functools.partial(_gammas, dimension, power), parameters)
    # E|m| is 1 at d = 1 and 2/pi at d = 2, and E|m| at d + 2 is d/(d + 1) of that at d.
    value = Fraction(1)
    for d in range(2 - dimension % 2, dimension, 2):
        value *= Fraction(d, d + 1)
    for q in range(3, power + 1, 2):
        value *= Fraction(q - 1, dimension + q - 2)
    return closed_form(_rational(value) if dimension % 2 else 2 * _rational(value) / sympy.pi)


def _gammas(dimension: int, power: int, digits: int) -> Enclosure:
    from theoryck.theory.hermite.proved import sphere_overlap

    return sphere_overlap(dimension, power, digits)


def _even_moment(dimension: int, power: int) -> Fraction:
    value = Fraction(1)
    for j in range(power // 2):
        value *= Fraction(2 * j + 1, dimension + 2 * j)
    return value


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _log_gaussian_moment(power: int) -> float:
    """log E |N|^power, N ~ N(0, 1)."""
    return power / 2 * math.log(2) + math.lgamma((power + 1) / 2) - math.log(math.pi) / 2


def _degree(value: Any, least: int = 0, name: str = "degree") -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= LARGEST_DEGREE:
        raise QuantityError(f"{name} must be an integer from {least} to {LARGEST_DEGREE}, got {value!r}")
    return int(value.__index__())


def _activation(activation: Any) -> Activation:
    from theoryck.numerics.functions.activation import Activation

    return activation if isinstance(activation, Activation) else Activation(activation)
