"""How Gaussian the projections of generated data are, and what that does to the errors of students.

Weights: "aligned" (1, ..., 1), "signs" (independent, +1 or -1), "localised" sqrt(N) (1, 0, ..., 0).

Students: "signs" (w^k independent signs, without regard to the teacher), "informed" (w^k_i = sign(a_i . w~^k), as a student that
has learned its teacher's directions), "localised" (w^k = sqrt(N) e_k).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.pilots import Pilot
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.projections import proved
from theoryck.theory.projections.draws import STATISTICS, AnnealedDraws, ErrorDraws, ProjectionDraws, with_controls
from theoryck.theory.projections.model import coordinate, read_activation

WEIGHTS = ("aligned", "signs", "localised")
STUDENTS = ("signs", "informed", "localised")

LEAST_DIMENSION = 8
"""Below, the moments of the inner products beyond the Hermite coefficients that are kept would be seen."""

DRAWS_TO_COMPARE = 64
"""1.5 times the squared skewness of a draw, at least: with 256 latent vectors k_4 of Gaussians has skewness 0.9, and a squared
mean, a chi-squared of one degree of freedom at its widest, has 2.8; up to 6.5 is allowed for."""


@contextmanager
def named(name: str) -> Iterator[None]:
    """Let what a quantity cannot give be said in its name: a ValueError of the rooms below becomes a QuantityError."""
    try:
        yield
    except QuantityError:
        raise
    except ValueError as error:
        raise QuantityError(f"{name}: {error}") from None


@dataclass(frozen=True, repr=False)
class GeneratedData(Quantity):
    """What depends on the activation sigma of the generator, at the sizes N (coordinates) and D (latent variables)."""

    needs = ("N", "D")
    activation: Activation

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "activation", read_activation(self.activation))
        except (TypeError, ValueError) as error:
            raise QuantityError(f"activation: {error}") from None

    def _at_least_eight(self, sizes: Sizes) -> tuple[int, int]:
        need_sizes(self.name, self.needs, sizes)
        n, dimension = int(sizes["N"]), int(sizes["D"])
        if min(n, dimension) < 8:
            raise QuantityError(f"the sizes 'N' and 'D' of {self.name} must be at least 8, got N={n} and D={dimension}")
        return n, dimension


class Projection(GeneratedData):
    """A cumulant of projections, by both routes; with ``exact_only`` by the exact one, where draws have no variance."""

    title = "{self.__class__.__name__}({activation.text}, {self.weights})"
    can_exact = True
    allowed: ClassVar[tuple[str, ...]] = WEIGHTS
    statistic: ClassVar[str]
    power: ClassVar[float]
    teacher: ClassVar[str] = "fixed"
    latents: ClassVar[int] = 256
    weights: str
    exact_only: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights not in self.allowed:
            why = ": with random signs it is 0 by symmetry, take projection_squared_skewness"
            hint = why if self.weights == "signs" and self.statistic == "third_cumulant" else ""
            raise QuantityError(f"weights must be one of {', '.join(map(repr, self.allowed))}, got {self.weights!r}{hint}")
        if self._squared and self.activation.properties.odd.value:
            raise QuantityError(f"activation must not be odd: {self.name} is 0, as c -> -c shows")

    @property
    def can_draw(self) -> bool:  # type: ignore[override]
        """Whether draws were not ruled out."""
        return not self.exact_only

    def _known(self, n: int, dimension: int) -> proved.Known:
        raise NotImplementedError

    def _sizes(self, sizes: Sizes) -> tuple[int, int]:
        need_sizes(self.name, self.needs, sizes)
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
                known = self._known(*found)
            if not (math.isfinite(known.value) and math.isfinite(known.error)):
                raise QuantityError(
                    f"{self.name} leaves the range of floating-point numbers at {dict(sizes)}: sigma grows too fast"
                )
        return Enclosure(Decimal(known.value), Decimal(known.error), rigorous=False)

    def sampler(self, sizes: Sizes) -> ProjectionDraws:
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
            scale += (n - 1) * proved.covariance_mean(latent, dimension).value / variance
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
    top: Callable[[proved.Radial], float], power: float, phi: Activation, n: int, dimension: int, taken: float = 0.0
) -> proved.Known:
    """(top - taken)/(E kappa_2)^power by two quadratures; their difference, and rounding of terms that cancel, is the error."""
    tables = [proved.radial(phi, dimension, count) for count in (24, 12)]
    scales = [proved.second(table, n) ** power for table in tables]
    values = [(top(table) - taken) / scale for table, scale in zip(tables, scales)]
    size = (top(proved.sizes(tables[0])) + abs(taken)) / scales[0]
    return proved.Known(values[0], 4 * abs(values[0] - values[1]) + proved.ROUNDING * size)


@dataclass(frozen=True, repr=False)
class projection_skewness(Projection):
    """E kappa_3(lambda | a)/(E kappa_2(lambda | a))^(3/2) for "aligned" or "localised" weights; sizes N and D.

    Exact: given |c| the coordinates are independent, so it is a double integral.  Drawn: Fisher's k_3 over latent vectors.  For
    random signs it is zero by symmetry: see :func:`projection_squared_skewness`.  Raises QuantityError.

    >>> he2 = projection_skewness("he2")
    >>> n = 64  # sqrt(8) E tr(rho^3)/(E tr(rho^2))^(3/2) with rho = A A^T, by counting
    >>> expected = 8**0.5 * (1 + 3 * (n - 1) / n + (n - 1) * (n - 2) / n**2) / (1 + (n - 1) / n) ** 1.5 / n**0.5
    >>> abs(float(he2.exact({"N": n, "D": n})) - expected) < 1e-12
    True
    """

    statistic, power = "third_cumulant", 1.5
    allowed = ("aligned", "localised")
    weights: str = "aligned"
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        phi = self.activation
        if self.weights == "localised":
            one = coordinate(phi, 3)
            return proved.Known(one.third / one.variance**1.5, proved.ROUNDING * abs(one.third) / one.variance**1.5)
        if phi.properties.odd.value:
            return proved.Known(0.0, 0.0)  # c -> -c
        return _radial(lambda table: proved.third(table, n), 1.5, phi, n, dimension)


@dataclass(frozen=True, repr=False)
class projection_kurtosis(Projection):
    """E kappa_4(lambda | a, w)/(E kappa_2(lambda | a, w))^2 for any weights; sizes N and D.

    Random signs: N^-1 [kappa_4(sigma) + 3 (N-1) (E x_i^2 x_j^2 - Var^2 - 2 E Cov(x_i, x_j)^2)]/Var^2, by Mehler's formula and the
    moments of a_i . a_j; the same for aligned weights and odd sigma.  Drawn: Fisher's k_4 over latent vectors.
    Raises QuantityError.

    >>> erf = projection_kurtosis("erf")
    >>> round(1e6 * float(erf.exact({"N": 10**6, "D": 10**6})), 4)
    -5.4464
    """

    statistic, power = "fourth_cumulant", 2
    weights: str = "signs"
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        phi = self.activation
        one = coordinate(phi)
        if self.weights == "localised":
            return proved.Known(one.fourth / one.variance**2, proved.ROUNDING * abs(one.fourth) / one.variance**2)
        # a_i -> -a_i is a symmetry, and takes the signs into an odd sigma.
        if self.weights == "signs" or phi.properties.odd.value:
            return proved.signs_kurtosis(phi, n, dimension)
        mean, square = proved.covariance_mean(one, dimension), proved.covariance_mean_square(one, dimension)
        others = (n - 1) * (n * n * (n - 1) - 2 * n) / n  # pairs of pairs of coordinates that are not the same pair, over N^2
        # (E lambda^2)^2: inner products of different pairs are independent.
        squared = one.variance**2 + (2 * (n - 1) * one.variance + others / n * mean.value) * mean.value
        squared += 2 * (n - 1) / n * square.value
        error = (
            (2 * (n - 1) * one.variance + 2 * others / n * mean.value) * mean.error + 2 * square.error + proved.ROUNDING * squared
        )

        known = _radial(lambda table: proved.fourth_moment(table, n), 2, phi, n, dimension, taken=3 * squared)
        second = one.variance + (n - 1) * mean.value
        return proved.Known(known.value, known.error + 3 * error / second**2)


@dataclass(frozen=True, repr=False)
class projection_squared_skewness(Projection):
    """E kappa_3(lambda | a, w)^2/Var(sigma)^3 for random signs, the squared typical skewness; sizes N and D.

    The sign of the skewness is random with w, so its mean over w says nothing.  QuantityError for odd sigma, which has none, and at
    D < 8, where the series in overlaps a_i . a_j is not short.

    >>> relu = projection_squared_skewness("relu")
    >>> round(10**4 * float(relu.exact({"N": 10**4, "D": 10**4})) ** 0.5, 3)  # of order 1/N where aligned weights have 1/sqrt(N)
    5.214
    """

    statistic, power, weights, latents = "squared_third_cumulant", 3, "signs", 1024
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        return proved.squared_skewness(self.activation, n, dimension)


@dataclass(frozen=True, repr=False)
class joint_kurtosis(Projection):
    """E kappa(lambda, lambda, nu, nu | a)/E kappa_2(lambda | a) with nu = w~ . c/sqrt(D); sizes N and D.

    For random signs (E sigma^2 He_2 - 2 (E sigma Z)^2)/(D Var sigma) of the centred sigma, at every N: nu is Gaussian, the pair is
    not.  Drawn: an unbiased estimate over latent vectors.  Raises QuantityError.

    >>> round(100 * float(joint_kurtosis("erf").exact({"N": 50, "D": 100})), 6)
    -1.010032
    """

    statistic, power = "latent_kurtosis", 1
    weights: str = "signs"
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        phi = self.activation
        one = coordinate(phi, 3)
        if self.weights != "aligned" or phi.properties.odd.value:
            return proved.joint_kurtosis(phi, dimension)
        return _radial(
            lambda table: proved.fixed_teacher(table, n), 1, phi, n, dimension, taken=2 * float(one.linear[1]) ** 2 / dimension
        )


@dataclass(frozen=True, repr=False)
class joint_skewness(Projection):
    """E kappa(lambda, lambda, nu | a)/E kappa_2(lambda | a) for the teacher that knows the generator, at sizes N and D.

    nu = sum_i w_i a_i . c/sqrt(N), that is w~ = sqrt(D/N) A^T w, for "aligned" or "localised" weights; E nu^2 = 1.  Drawn: the mean
    of (lambda^2 - 1) nu over latent vectors.  Raises QuantityError.

    >>> round(100 * float(joint_skewness("relu").exact({"N": 10**4, "D": 10**4})), 3)
    1.898
    """

    statistic, power, teacher = "latent_skewness", 1, "mean"
    allowed = ("aligned", "localised")
    weights: str = "aligned"
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        phi = self.activation
        if self.weights == "localised":
            one = coordinate(phi, 3)
            return proved.Known(float(one.square[1]) / one.variance, proved.ROUNDING * abs(float(one.square[1])) / one.variance)
        if phi.properties.odd.value or phi.properties.even.value:
            return proved.Known(0.0, 0.0)  # c -> -c
        return _radial(lambda table: proved.mean_teacher(table, n), 1, phi, n, dimension)


@dataclass(frozen=True, repr=False)
class squared_joint_skewness(Projection):
    """E kappa(lambda, lambda, nu | a, w)^2/Var(sigma)^2 for random signs and nu = w~ . c/sqrt(D), at sizes N and D.

    The sign of this cumulant is random with a, so its mean says nothing.  Odd sigma has none: QuantityError.

    >>> round(10**4 * float(squared_joint_skewness("relu").exact({"N": 10**4, "D": 10**4})) ** 0.5, 3)
    1.655
    """

    statistic, power, weights, latents = "squared_latent_skewness", 2, "signs", 1024
    exact_only: bool = False

    def _known(self, n: int, dimension: int) -> proved.Known:
        return proved.squared_joint_skewness(self.activation, n, dimension)


# Errors of students ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class student_error(GeneratedData):
    """E (sum_k erf(lambda^k/sqrt 2) - sum_m erf(nu^m/sqrt 2))^2 over generators and data; sizes N and D.

    Inputs x_i = sigma(a_i . c) - E sigma(Z); ``student`` fields lambda^k = w^k . x/sqrt(N), teacher fields nu^m = w~^m . c/sqrt(D),
    as many ``units``, w~^m orthogonal.  Monte Carlo with control variates.  Raises QuantityError.

    >>> import numpy as np
    >>> error = student_error("tanh", "signs")
    >>> draws = error.draw(np.random.default_rng(0), 64, {"N": 16, "D": 16})
    >>> bool(0.4 < draws.mean() < 0.6)
    True
    """

    title = "student_error({activation.text}, {student}, units={units})"
    can_draw = True
    gap: ClassVar[bool] = False
    student: str = "informed"
    units: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.student not in STUDENTS:
            raise QuantityError(f"student must be one of {', '.join(map(repr, STUDENTS))}, got {self.student!r}")
        integer(self.units, "units", 1, 8, QuantityError)

    def _draws(self, n: int, dimension: int) -> ErrorDraws:
        return ErrorDraws(self.activation, self.student, self.units, n, dimension, self.gap)

    def sampler(self, sizes: Sizes) -> ErrorDraws:
        """Return the sampler at ``sizes``, with the coefficients of its control variates."""
        n, dimension = self._at_least_eight(sizes)
        with named(self.name):
            return with_controls(self._draws(n, dimension))

    def pilots(self, sizes: Sequence[Sizes]) -> Sequence[Pilot]:
        """Return the pilots to which coefficients are still to be fitted."""
        drawn = [self._draws(*self._at_least_eight(entry)) for entry in sizes[::-1]]
        return [pilot for entry in drawn for pilot in with_controls.missing(entry)]

    def cost(self, sizes: Sizes) -> float:
        return self._draws(int(sizes["N"]), int(sizes["D"])).cost

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 64: a draw averages bounded errors over 128 latent vectors."""
        return 64


class student_error_gap(student_error):
    """E [pmse(a) - formula(Q(a), R(a), T)] over generators a: what the Gaussian equivalence misses at sizes N and D.

    Q(a) = w Omega(a) w^T/N with Omega_ij = Cov(sigma(a_i . c), sigma(a_j . c)) by Mehler's formula, R(a) = E sigma(Z) Z w A w~^T/
    sqrt(N D), T = I.  Monte Carlo with control variates.  Raises QuantityError for bad arguments and at N or D < 8.

    >>> import numpy as np
    >>> gap = student_error_gap("x")  # a linear generator has Gaussian fields
    >>> draws = gap.draw(np.random.default_rng(0), 256, {"N": 8, "D": 8})
    >>> bool(abs(draws.mean()) < 5 * draws.std() / 16)
    True
    """

    title = "student_error_gap({activation.text}, {student}, units={units})"
    gap = True


@dataclass(frozen=True, repr=False)
class signs_error_gap(GeneratedData):
    """E [pmse(a) - formula(Q(a), R(a), T)] for random signs and one erf unit, at sizes N and D >= 8, with little noise.

    The same number as ``student_error_gap(activation, "signs")`` by another way: its first term is an integral, its second is drawn
    with control variates.  Raises QuantityError for a bad activation, N or D < 8, or E sigma(Z)^2 infinite.

    >>> import numpy as np
    >>> gap = signs_error_gap("2*erf(x)")
    >>> draws = gap.draw(np.random.default_rng(0), 1000, {"N": 64, "D": 64})
    >>> bool(0.17 < 64 * draws.mean() < 0.19)  # in the limit .1806
    True

    w -> -w takes the overlap with the teacher away from both sides, so that E g(lambda)^2 - E I(Q(a)) is left, g = erf(x/sqrt 2),
    I(Q) = (2/pi) asin(Q/(1 + Q)).  Given |c| = r, lambda is a sum of N independent terms: its characteristic function is
    E_r phi_r(t)^N, phi_r(t) = E cos(t x/sqrt(N)), and 1 - g^2 has a Fourier transform.  Only I(Q(a)) is drawn, less its expansion
    to second order around Var sigma, whose mean is known.
    """

    title = "signs_error_gap({activation.text})"
    can_draw = True

    def sampler(self, sizes: Sizes) -> AnnealedDraws:
        """Return the sampler at ``sizes``, with the integral done."""
        return self._at(sizes, with_output=True)

    def pilots(self, sizes: Sequence[Sizes]) -> Sequence[Pilot]:
        """Return the integrals that are still to be done."""
        pairs = [self._at_least_eight(entry) for entry in sizes[::-1]]
        return [pilot for pair in pairs for pilot in proved.mean_square_output.missing(self.activation, *pair)]

    def _at(self, sizes: Sizes, with_output: bool) -> AnnealedDraws:
        n, dimension = self._at_least_eight(sizes)
        with named(self.name):
            spread = 2 * (n - 1) / n * proved.covariance_mean_square(coordinate(self.activation, 2), dimension).value
            output = proved.mean_square_output(self.activation, n, dimension) if with_output else 0.0
        return AnnealedDraws(self.activation, n, dimension, output, spread)

    def cost(self, sizes: Sizes) -> float:
        return self._at(sizes, with_output=False).cost

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 64: what is left of Q(a) is bounded, and its square has the skewness of a chi-squared at most."""
        return 64
