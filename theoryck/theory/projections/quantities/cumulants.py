"""How Gaussian the projections of generated data are: cumulants of the local fields lambda and nu, averaged over generators.

x_i = sigma(a_i . c), a_i uniform on the unit sphere of R^D, c ~ N(0, I_D); lambda = w . x/sqrt(N), |w|^2 = N; nu = w~ . c/sqrt(D),
|w~|^2 = D.  Cumulants kappa are those of the law of c at a given generator a; E averages over a, and over w where that is random.
The scale is that of E kappa_2(lambda | a): Var sigma(Z), Z ~ N(0, 1), unless weights are aligned and sigma is not odd.

Weights: "aligned" (1, ..., 1), "signs" (independent, +1 or -1), "localised" sqrt(N) (1, 0, ..., 0).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.theory.projections.draws import STATISTICS, ProjectionDraws, named
from theoryck.theory.projections.limits.projections import coordinate, read_activation
from theoryck.theory.projections.proved import radial as radial_route
from theoryck.theory.projections.proved import series

WEIGHTS = ("aligned", "signs", "localised")

LEAST_DIMENSION = 8
"""Below, the moments of the inner products beyond the Hermite coefficients that are kept would be seen."""

DRAWS_TO_COMPARE = 64
"""1.5 times the squared skewness of a draw, at least: with 256 latent vectors k_4 of Gaussians has skewness 0.9, and a squared
mean, a chi-squared of one degree of freedom at its widest, has 2.8; up to 6.5 is allowed for."""


class Projection(Quantity):
    """A cumulant of projections at the sizes N (coordinates) and D (latent dimension), by both routes."""

    can_exact = True

    def __init__(
        self,
        kind: str,
        activation: Activation | str,
        weights: str,
        statistic: str,
        power: float,
        exact: Callable[..., series.Known],
        *,
        teacher: str = "fixed",
        latents: int = 256,
        exact_only: bool = False,
    ) -> None:
        self.kind, self.weights, self.statistic, self.power = kind, weights, statistic, power
        self.activation = _activation(activation)
        self._exact, self.teacher, self.latents = exact, teacher, latents
        self.can_draw = not exact_only

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.kind}({self.activation.text}, {self.weights})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self.kind, "activation": self.activation.text, "weights": self.weights}

    @property
    def size_names(self) -> tuple[str, ...]:
        """N coordinates from D latent variables."""
        return ("N", "D")

    def _sizes(self, sizes: Sizes) -> tuple[int, int]:
        need_sizes(self.name, self.size_names, sizes)
        n, dimension = int(sizes["N"]), int(sizes["D"])
        if n < 2:
            raise QuantityError(f"the size 'N' of {self.name} must be at least 2, got {n}: one coordinate is the localised student")
        if dimension < LEAST_DIMENSION:
            raise QuantityError(f"the size 'D' of {self.name} must be at least {LEAST_DIMENSION}, got {dimension}")
        return n, dimension

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the value with a bound of its error: double precision, hence not rigorous; QuantityError where it is infinite."""
        found = self._sizes(sizes)
        with named(self.name):
            with np.errstate(over="ignore", invalid="ignore"):
                known = self._exact(self.activation, self.weights, *found)
            if not (math.isfinite(known.value) and math.isfinite(known.error)):
                raise QuantityError(
                    f"{self.name} leaves the range of floating-point numbers at {dict(sizes)}: sigma grows too fast"
                )
        return Enclosure(Decimal(known.value), Decimal(known.error), rigorous=False)

    def sampler(self, sizes: Sizes) -> ProjectionDraws:
        """Return the sampler at ``sizes``; QuantityError when only the exact route was asked for."""
        if not self.can_draw:
            raise QuantityError(f"{self.name} was made with exact_only=True: leave it out to draw")
        n, dimension = self._sizes(sizes)
        with named(self.name):
            _drawn_moments(self.activation, self._degree)
            mean, variance, slope = _constants(self.activation)
            latent = coordinate(self.activation, 2)
        scale = 1.0
        if self.weights == "aligned" and not self.activation.properties.odd.value:
            # By Mehler's formula, where the exact route of aligned weights conditions on |c|.
            scale += (n - 1) * series.covariance_mean(latent, dimension).value / variance
        return ProjectionDraws(
            self.statistic,
            self.activation,
            1 if self.weights == "localised" else n,
            dimension,
            self.latents,
            self.weights == "signs",
            self.teacher,
            mean,
            math.sqrt(variance),
            slope / math.sqrt(variance),
            scale**self.power,
        )

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw, in random numbers."""
        return self.sampler(sizes).cost

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return the draws from which their mean is near enough to Gaussian: more where one coordinate has heavy tails."""
        degree = self._degree
        second, third = _drawn_moments(self.activation, degree)
        n = 1 if self.weights == "localised" else int(sizes.get("N", 1))
        # lambda^degree is that of a Gaussian, of variance 1 at least, and of single large coordinates, each over N^(degree/2).
        skewness = third * n ** (1 - 1.5 * degree) / (1 + second * n ** (1.0 - degree)) ** 1.5
        seen = skewness**2 / self.latents
        # Of the products of two different entries, L^2/2 in number, the skewness is the square.
        return DRAWS_TO_COMPARE + (3 * seen**2 if self._squared else 1.5 * seen)

    @property
    def _squared(self) -> bool:
        return self.statistic.startswith("squared")

    @property
    def _degree(self) -> int:
        """The power of lambda that is averaged over latent vectors."""
        return STATISTICS[self.statistic][1] // (2 if self._squared else 1)


def _activation(activation: object) -> Activation:
    try:
        return read_activation(activation)
    except (TypeError, ValueError) as error:
        raise QuantityError(f"activation: {error}") from None


def _choose(weights: object, allowed: tuple[str, ...], why: str = "") -> str:
    if weights not in allowed:
        raise QuantityError(f"weights must be one of {', '.join(map(repr, allowed))}, got {weights!r}{why}")
    return str(weights)


@functools.lru_cache(maxsize=64)
def _constants(phi: Activation) -> tuple[float, float, float]:
    """E sigma, Var sigma and E sigma Z by enclosures of Gaussian expectations: not the quadrature the exact route is made of."""
    from theoryck.numerics.proved.gaussian import gaussian_expectation

    integrands = (phi.expression, phi.expression**2, phi.expression * x)
    mean, square, slope = (float(gaussian_expectation(integrand, 1, 20)) for integrand in integrands)
    return mean, square - mean**2, slope


@functools.lru_cache(maxsize=256)
def _drawn_moments(phi: Activation, degree: int) -> tuple[float, float]:
    """E |y|^(2 degree) and E |y|^(3 degree) of one standardised coordinate, oo where infinite.

    QuantityError where the first is, so that draws have no variance.  Of an odd power the next even one bounds
    it, by Lyapunov's inequality.
    """
    from sympy import Rational

    from theoryck.numerics.errors import NotIntegrable
    from theoryck.numerics.proved.gaussian import gaussian_expectation

    mean, variance, _ = _constants(phi)

    def moment(power: int) -> float:
        even = power + power % 2
        try:
            raw = gaussian_expectation((phi.expression - Rational(mean)) ** even, 1, 6).midpoint
        except NotIntegrable:
            return math.inf
        logs = float(raw.ln()) - even / 2 * math.log(variance)
        return math.exp(min(logs * power / even, 300.0))

    second = moment(2 * degree)
    if second == math.inf:
        raise QuantityError(
            f"activation {phi.text!r} cannot be drawn: E sigma(Z)^{2 * degree} is infinite, and with it the variance of a draw, so "
            "that no number of draws tells its mean; make the quantity with exact_only=True"
        )
    return second, moment(3 * degree)


def _radial(
    top: Callable[[radial_route.Radial], float], power: float, phi: Activation, n: int, dimension: int, taken: float = 0.0
) -> series.Known:
    """(top - taken)/(E kappa_2)^power by two quadratures; their difference, and rounding of terms that cancel, is the error."""
    tables = [radial_route.radial(phi, dimension, count) for count in (24, 12)]
    scales = [radial_route.second(table, n) ** power for table in tables]
    values = [(top(table) - taken) / scale for table, scale in zip(tables, scales)]
    size = (top(radial_route.sizes(tables[0])) + abs(taken)) / scales[0]
    return series.Known(values[0], 4 * abs(values[0] - values[1]) + series.ROUNDING * size)


def _skewness(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    if weights == "localised":
        one = coordinate(phi, 3)
        return series.Known(one.third / one.variance**1.5, series.ROUNDING * abs(one.third) / one.variance**1.5)
    if phi.properties.odd.value:
        return series.Known(0.0, 0.0)  # c -> -c
    return _radial(lambda table: radial_route.third(table, n), 1.5, phi, n, dimension)


def _kurtosis(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    one = coordinate(phi)
    if weights == "localised":
        return series.Known(one.fourth / one.variance**2, series.ROUNDING * abs(one.fourth) / one.variance**2)
    # a_i -> -a_i is a symmetry, and takes the signs into an odd sigma.
    if weights == "signs" or phi.properties.odd.value:
        return series.signs_kurtosis(phi, n, dimension)
    mean, square = series.covariance_mean(one, dimension), series.covariance_mean_square(one, dimension)
    others = (n - 1) * (n * n * (n - 1) - 2 * n) / n  # pairs of pairs of coordinates that are not the same pair, over N^2
    # (E lambda^2)^2: inner products of different pairs are independent.
    squared = one.variance**2 + (2 * (n - 1) * one.variance + others / n * mean.value) * mean.value
    squared += 2 * (n - 1) / n * square.value
    error = (2 * (n - 1) * one.variance + 2 * others / n * mean.value) * mean.error + 2 * square.error + series.ROUNDING * squared

    known = _radial(lambda table: radial_route.fourth_moment(table, n), 2, phi, n, dimension, taken=3 * squared)
    second = one.variance + (n - 1) * mean.value
    return series.Known(known.value, known.error + 3 * error / second**2)


def _squared_skewness(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    return series.squared_skewness(phi, n, dimension)


def _joint_kurtosis(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    one = coordinate(phi, 3)
    if weights != "aligned" or phi.properties.odd.value:
        return series.joint_kurtosis(phi, dimension)
    return _radial(
        lambda table: radial_route.fixed_teacher(table, n), 1, phi, n, dimension, taken=2 * float(one.linear[1]) ** 2 / dimension
    )


def _joint_skewness(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    if weights == "localised":
        one = coordinate(phi, 3)
        return series.Known(float(one.square[1]) / one.variance, series.ROUNDING * abs(float(one.square[1])) / one.variance)
    if phi.properties.odd.value or phi.properties.even.value:
        return series.Known(0.0, 0.0)  # c -> -c
    return _radial(lambda table: radial_route.mean_teacher(table, n), 1, phi, n, dimension)


def _squared_joint_skewness(phi: Activation, weights: str, n: int, dimension: int) -> series.Known:
    return series.squared_joint_skewness(phi, n, dimension)


def projection_skewness(activation: Activation | str, weights: str = "aligned", exact_only: bool = False) -> Projection:
    """Return E kappa_3(lambda | a)/(E kappa_2(lambda | a))^(3/2) for "aligned" or "localised" weights, a quantity at sizes N and D.

    Exact: given |c| the coordinates are independent, so it is a double integral.  Drawn: Fisher's k_3 over latent vectors.  For
    random signs it is zero by symmetry: see :func:`projection_squared_skewness`.  Raises QuantityError.
    Source: Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova (2021), for the setting.

    >>> he2 = projection_skewness("he2")
    >>> n = 64  # sqrt(8) E tr(rho^3)/(E tr(rho^2))^(3/2) with rho = A A^T, by counting
    >>> expected = 8**0.5 * (1 + 3 * (n - 1) / n + (n - 1) * (n - 2) / n**2) / (1 + (n - 1) / n) ** 1.5 / n**0.5
    >>> abs(float(he2.exact({"N": n, "D": n})) - expected) < 1e-12
    True
    """
    reason = ": with random signs it is 0 by symmetry, take projection_squared_skewness" if weights == "signs" else ""
    weights = _choose(weights, ("aligned", "localised"), reason)
    return Projection("projection_skewness", activation, weights, "third_cumulant", 1.5, _skewness, exact_only=exact_only)


def projection_kurtosis(activation: Activation | str, weights: str = "signs", exact_only: bool = False) -> Projection:
    """Return E kappa_4(lambda | a, w)/(E kappa_2(lambda | a, w))^2 for any weights, a quantity at sizes N and D.

    Random signs: N^-1 [kappa_4(sigma) + 3 (N-1) (E x_i^2 x_j^2 - Var^2 - 2 E Cov(x_i, x_j)^2)]/Var^2, by Mehler's formula and the
    moments of a_i . a_j; the same for aligned weights and odd sigma.  Drawn: Fisher's k_4 over latent vectors.
    Raises QuantityError.

    >>> erf = projection_kurtosis("erf")
    >>> round(1e6 * float(erf.exact({"N": 10**6, "D": 10**6})), 4)
    -5.4464
    """
    weights = _choose(weights, WEIGHTS)
    return Projection("projection_kurtosis", activation, weights, "fourth_cumulant", 2, _kurtosis, exact_only=exact_only)


def projection_squared_skewness(activation: Activation | str, exact_only: bool = False) -> Projection:
    """Return E kappa_3(lambda | a, w)^2/Var(sigma)^3 for random signs, the squared typical skewness, a quantity at sizes N and D.

    The sign of the skewness is random with w, so its mean over w says nothing.  QuantityError for odd sigma, which has none, and at
    D < 8, where the series in overlaps a_i . a_j is not short.

    >>> relu = projection_squared_skewness("relu")
    >>> round(10**4 * float(relu.exact({"N": 10**4, "D": 10**4})) ** 0.5, 3)  # of order 1/N where aligned weights have 1/sqrt(N)
    5.214
    """
    phi = _not_odd(activation, "its squared skewness")
    return Projection(
        "projection_squared_skewness",
        phi,
        "signs",
        "squared_third_cumulant",
        3,
        _squared_skewness,
        latents=1024,
        exact_only=exact_only,
    )


def joint_kurtosis(activation: Activation | str, weights: str = "signs", exact_only: bool = False) -> Projection:
    """Return E kappa(lambda, lambda, nu, nu | a)/E kappa_2(lambda | a) with nu = w~ . c/sqrt(D), a quantity at sizes N and D.

    For random signs (E sigma^2 He_2 - 2 (E sigma Z)^2)/(D Var sigma) of the centred sigma, at every N: nu is Gaussian, the pair is
    not.  Drawn: an unbiased estimate over latent vectors.  Raises QuantityError.

    >>> round(100 * float(joint_kurtosis("erf").exact({"N": 50, "D": 100})), 6)
    -1.010032
    """
    weights = _choose(weights, WEIGHTS)
    return Projection("joint_kurtosis", activation, weights, "latent_kurtosis", 1, _joint_kurtosis, exact_only=exact_only)


def joint_skewness(activation: Activation | str, weights: str = "aligned", exact_only: bool = False) -> Projection:
    """Return E kappa(lambda, lambda, nu | a)/E kappa_2(lambda | a) for the teacher that knows the generator, at sizes N and D.

    nu = sum_i w_i a_i . c/sqrt(N), that is w~ = sqrt(D/N) A^T w, for "aligned" or "localised" weights; E nu^2 = 1.  Drawn: the mean
    of (lambda^2 - 1) nu over latent vectors.  Raises QuantityError.

    >>> round(100 * float(joint_skewness("relu").exact({"N": 10**4, "D": 10**4})), 3)
    1.898
    """
    weights = _choose(weights, ("aligned", "localised"))
    return Projection(
        "joint_skewness", activation, weights, "latent_skewness", 1, _joint_skewness, teacher="mean", exact_only=exact_only
    )


def squared_joint_skewness(activation: Activation | str, exact_only: bool = False) -> Projection:
    """Return E kappa(lambda, lambda, nu | a, w)^2/Var(sigma)^2 for random signs and nu = w~ . c/sqrt(D), at sizes N and D.

    The sign of this cumulant is random with a, so its mean says nothing.  Odd sigma has none: QuantityError.

    >>> round(10**4 * float(squared_joint_skewness("relu").exact({"N": 10**4, "D": 10**4})) ** 0.5, 3)
    1.655
    """
    phi = _not_odd(activation, "its squared joint skewness")
    return Projection(
        "squared_joint_skewness",
        phi,
        "signs",
        "squared_latent_skewness",
        2,
        _squared_joint_skewness,
        latents=1024,
        exact_only=exact_only,
    )


def _not_odd(activation: Activation | str, what: str) -> Activation:
    phi = _activation(activation)
    if phi.properties.odd.value:
        raise QuantityError(f"activation must not be odd: {what} is 0 for {phi.text!r}, as c -> -c shows")
    return phi
