"""Risks of ridge regression as quantities along n: deterministic equivalents, and what they are equivalent to, drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from theoryck.quantities.arguments import nonnegative_array, positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.formulas import formula
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.ridge.draws import FeaturesDesign, KernelDesign, SphereDesign
from theoryck.theory.ridge.limits import (
    LEAST_RIDGE,
    KernelRidge,
    exact_exponent,
    kernel_ridge_equivalent,
    optimal_ridge,
    random_features_equivalent,
)
from theoryck.theory.ridge.model import FiniteSpectrum, PowerLaw, sphere_eigenvalues, sphere_spectrum

PARTS = ("excess_risk", "bias", "variance")


class Equivalent(Quantity):
    """A deterministic equivalent: ``value`` at the sizes it ``needs``, known to a relative ``error``."""

    can_exact = True
    value: ClassVar[Callable[..., float]]
    error: ClassVar[float] = 1e-10
    """Ten times what the sums of a power law are known to: risks are quotients of a few of them."""

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        return formula(self.value, name=self.name, sizes=self.needs, relative_error=self.error).exact(sizes, digits)


# Power laws --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class PowerLawQuantity(Quantity):
    """What belongs to eta_k = k^(-alpha), f_k = k^(-alpha r - 1/2): ``capacity`` alpha > 1 and ``source`` r > 0, kept exactly."""

    capacity: Any
    source: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "capacity", self.spectrum.capacity)
        object.__setattr__(self, "source", self.spectrum.source)

    @property
    def spectrum(self) -> PowerLaw:
        """The spectrum."""
        return PowerLaw(self.capacity, self.source)


@dataclass(frozen=True, repr=False)
class PowerLawRisk(PowerLawQuantity):
    """And to lambda = n^(-l) of (1/n) sum (y - f)^2 + lambda |f|^2: ``ridge`` is l > 0, ``noise`` the variance of the labels'."""

    ridge: Any
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ridge", exact_exponent(self.ridge, "ridge"))
        object.__setattr__(self, "noise", positive(self.noise, "noise", zero=True))


@dataclass(frozen=True, repr=False)
class PartOfRisk(PowerLawRisk, Equivalent):
    """A ``part`` of it: "excess_risk", "bias" or "variance"."""

    part: str = "excess_risk"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part not in PARTS:
            raise QuantityError(f"part must be one of {', '.join(PARTS)}, got {self.part!r}")


class ridge_risk(PartOfRisk):
    """The equivalent risk of kernel ridge regression with eta_k = k^(-alpha), f_k = k^(-alpha r - 1/2), lambda = n^(-l).

    ``capacity`` is alpha > 1, ``source`` r > 0, ``ridge`` l > 0 (of (1/n) sum (y - f)^2 + lambda |f|^2), ``noise`` the variance of
    the labels' noise, ``part`` "excess_risk", "bias" or "variance"; size ``n``.  Raises QuantityError.

    >>> risk = ridge_risk(2, "1/2", 1)
    >>> values = [float(risk.exact({"n": n})) for n in (2**30, 2**31)]
    >>> round(values[0] / values[1], 4)  # 2 l r = 1
    2.0
    """

    title = "ridge_risk[{part}]"
    needs = ("n",)

    def value(self, n: int) -> float:
        """Return the risk with n samples."""
        ridge = positive(positive(n, "n") ** -float(self.ridge), "n**(-ridge)", least=LEAST_RIDGE)
        return float(getattr(kernel_ridge_equivalent(self.spectrum, n, ridge, self.noise), self.part))


class features_risk(PartOfRisk):
    """The equivalent risk of ridge regression with p random features, the spectrum and lambda those of :class:`ridge_risk`.

    Sizes ``n`` and ``p``: a path gives p as a power of n.  Lambda belongs to the mean over samples; that of
    :func:`~theoryck.theory.ridge.random_features_equivalent` belongs to their sum and is n times this one.

    >>> few, many = (float(features_risk(2, "1/2", 2).exact({"n": 2**20, "p": p})) for p in (2**10, 2**30))
    >>> few / many > 10**6  # few features cannot use the samples
    True
    """

    title = "features_risk[{part}]"
    needs = ("n", "p")

    def value(self, n: int, p: int) -> float:
        """Return the risk with n samples and p features."""
        ridge = positive(positive(n, "n") ** (1 - float(self.ridge)), "n**(1 - ridge)", least=LEAST_RIDGE)
        return float(getattr(random_features_equivalent(self.spectrum, n, p, ridge, self.noise), self.part))


@dataclass(frozen=True, repr=False)
class OptimalRidge(PowerLawQuantity, Equivalent):
    """The optimum over lambda, for noise > 0; size ``n``."""

    needs = ("n",)
    noise: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "noise", positive(self.noise, "noise", zero=True))
        if self.noise == 0:
            raise QuantityError("noise must be > 0: without noise the least risk is at ridge 0, got 0")


class optimal_ridge_risk(OptimalRidge):
    """The least equivalent excess risk over lambda, for noise > 0; size ``n``.

    >>> round(float(optimal_ridge_risk(2, "1/2").exact({"n": 2**20})), 8)
    0.00012325
    """

    title = "optimal_ridge_risk"

    def value(self, n: int) -> float:
        """Return the least risk."""
        return _best(self.spectrum, self.noise, n)[1].excess_risk


class optimal_ridge_size(OptimalRidge):
    """The lambda that attains :class:`optimal_ridge_risk`; size ``n``.

    >>> size = optimal_ridge_size(2, "1/2")
    >>> float(size.exact({"n": 2**20})) > float(size.exact({"n": 2**22})) > 0
    True
    """

    title = "optimal_ridge_size"
    error = 1e-6
    """A minimum is flat: its place is known to the root of the rounding of its value."""

    def value(self, n: int) -> float:
        """Return the place of the least risk."""
        return _best(self.spectrum, self.noise, n)[0]


@functools.lru_cache(maxsize=256)
def _best(spectrum: PowerLaw, noise: float, n: int) -> tuple[float, KernelRidge]:
    """The minimum and its place: claims about the one and about the other are made along the same sizes."""
    return optimal_ridge(spectrum, n, noise)


@dataclass(frozen=True, repr=False)
class DrawnRisk(PowerLawRisk):
    """A risk on a Gaussian design of ``modes`` eigenfunctions; with ``relative`` divided by its deterministic equivalent."""

    can_draw = True
    relative: bool = field(default=False, kw_only=True)

    @property
    def suffix(self) -> str:
        """What the name says of the unit."""
        return "[relative]" if self.relative else ""

    def design(self, sizes: Sizes) -> tuple[FiniteSpectrum, int, float]:
        """Return the beginning of the spectrum, n and lambda."""
        need_sizes(self.name, self.needs, sizes)
        k = np.arange(1, int(sizes["modes"]) + 1, dtype=float)
        alpha, r, n = float(self.capacity), float(self.source), int(sizes["n"])
        return FiniteSpectrum(k**-alpha, k ** (-2 * alpha * r - 1)), n, float(n) ** -float(self.ridge)

    def cost(self, sizes: Sizes) -> float:
        return float(self.sampler(sizes).cost)


class drawn_ridge_risk(DrawnRisk):
    """The excess risk of kernel ridge regression on a Gaussian design with eta_k = k^(-alpha), f_k = k^(-alpha r - 1/2) for
    k = 1..modes and lambda = n^(-l), drawn; sizes ``n`` and ``modes``.

    With ``relative`` it is divided by its deterministic equivalent for the same spectrum, so that it tends to 1.  Raises
    QuantityError.

    >>> ratio = drawn_ridge_risk("3/2", "1/2", 1, relative=True)
    >>> values = ratio.draw(np.random.default_rng(0), 50, {"n": 40, "modes": 200})
    >>> bool(abs(values.mean() - 1) < 0.1)
    True
    """

    title = "drawn_ridge_risk{self.suffix}"
    needs = ("n", "modes")

    def sampler(self, sizes: Sizes) -> KernelDesign:
        spectrum, n, ridge = self.design(sizes)
        unit = kernel_ridge_equivalent(spectrum, n, ridge, self.noise).excess_risk if self.relative else 1.0
        return KernelDesign(spectrum.eigenvalues, spectrum.signal, n, ridge, self.noise, unit)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: seen between 2 and 5 over n."""
        return 4.0 / int(sizes["n"])


class drawn_features_risk(DrawnRisk):
    """The same as :class:`drawn_ridge_risk` with p Gaussian random features of the kernel; sizes ``n``, ``p``, ``modes``.

    >>> ratio = drawn_features_risk("3/2", "1/2", 1, relative=True)
    >>> values = ratio.draw(np.random.default_rng(0), 50, {"n": 40, "p": 30, "modes": 200})
    >>> bool(abs(values.mean() - 1) < 0.15)
    True
    """

    title = "drawn_features_risk{self.suffix}"
    needs = ("n", "p", "modes")

    def sampler(self, sizes: Sizes) -> FeaturesDesign:
        spectrum, n, ridge = self.design(sizes)
        p = int(sizes["p"])
        unit = random_features_equivalent(spectrum, n, p, n * ridge, self.noise).excess_risk if self.relative else 1.0
        return FeaturesDesign(spectrum.eigenvalues, spectrum.signal, n, p, ridge, self.noise, unit)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: twice that with kernels."""
        return 8.0 / int(sizes["n"])


# The sphere --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SphereQuantity(Quantity):
    """What belongs to the kernel sum_m a_m <x, x'/d>^m on the sphere and a target of power ``target[k]`` in degree k."""

    coefficients: Sequence[float]
    target: Sequence[float]

    def __post_init__(self) -> None:
        for name in ("coefficients", "target"):
            object.__setattr__(self, name, tuple(nonnegative_array(getattr(self, name), name).tolist()))
        self.spectrum(3)  # what is bad is refused now rather than when it is measured

    def spectrum(self, d: int) -> FiniteSpectrum:
        """Return the spectrum in d dimensions."""
        return sphere_spectrum(self.coefficients, d, self.target)


@dataclass(frozen=True, repr=False)
class sphere_risk(SphereQuantity, Equivalent):
    """The equivalent excess risk of the kernel sum_m a_m <x, x'/d>^m on the sphere, for a target of power ``target[k]`` in
    degree k, at a fixed lambda = ``ridge``; sizes ``d`` and ``n``.

    >>> risk = sphere_risk([1, 1, 0.5, 1 / 6], [0, 0, 1], ridge=1e-3)
    >>> float(risk.exact({"d": 64, "n": 64})) > 0.9  # degree 2 needs n ~ d^2/2
    True
    """

    title = "sphere_risk"
    needs = ("d", "n")
    ridge: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ridge", "noise"):
            object.__setattr__(self, name, positive(getattr(self, name), name, zero=True))

    def value(self, d: int, n: int) -> float:
        """Return the excess risk."""
        return kernel_ridge_equivalent(self.spectrum(d), n, self.ridge, self.noise).excess_risk


@dataclass(frozen=True, repr=False)
class sphere_features_risk(SphereQuantity, Equivalent):
    """The equivalent excess risk of p random features whose kernel is that of :class:`sphere_risk`, at lambda = ``ridge`` > 0
    of the mean over samples; sizes ``d``, ``n`` and ``p``.

    >>> risk = sphere_features_risk([1, 1, 0.5, 1 / 6], [0, 1], ridge=1e-3)
    >>> float(risk.exact({"d": 64, "n": 4096, "p": 16})) > 0.5 > float(risk.exact({"d": 64, "n": 4096, "p": 4096}))
    True
    """

    title = "sphere_features_risk"
    needs = ("d", "n", "p")
    ridge: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ridge", positive(self.ridge, "ridge"))

    def value(self, d: int, n: int, p: int) -> float:
        """Return the excess risk."""
        return random_features_equivalent(self.spectrum(d), n, p, n * self.ridge).excess_risk


@dataclass(frozen=True, repr=False)
class drawn_sphere_risk(SphereQuantity):
    """The excess risk of ridge regression with the kernel sum_m a_m <x, x'/d>^m on the sphere, drawn; sizes ``d`` and ``n``.

    ``target[k]`` is the power of the target in degree k, ``ridge`` lambda of (1/n) sum (y - f)^2 + lambda |f|^2.  With ``degree``
    it is the error in that degree only, with ``relative`` divided by the deterministic equivalent, so that it tends to 1.  Raises
    ValueError for bad arguments.

    >>> import numpy as np
    >>> from theoryck.theory.ridge import EXPONENTIAL
    >>> risk = drawn_sphere_risk(EXPONENTIAL, [0, 1, 1, 1], ridge=1e-6)
    >>> bool(abs(risk.draw(np.random.default_rng(0), 20, {"d": 16, "n": 40}).mean() - 2.61) < 0.05)
    True
    """

    title = "drawn_sphere_risk{self.suffix}"
    needs = ("d", "n")
    can_draw = True
    ridge: float
    noise: float = 0.0
    degree: int | None = field(default=None, kw_only=True)
    relative: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ridge", "noise"):
            object.__setattr__(self, name, positive(getattr(self, name), name, zero=True))
        degree, degrees = self.degree, len(self.target)
        if degree is not None:
            integer(degree, "degree", 0, degrees - 1, QuantityError)
        if degree is not None and (self.relative or self.noise):
            raise QuantityError("degree cannot be combined with relative or noise: leave it out for the error of all degrees")

    @property
    def suffix(self) -> str:
        """What the name says of the unit."""
        return "[relative]" if self.relative else ""

    def sampler(self, sizes: Sizes) -> SphereDesign:
        need_sizes(self.name, self.needs, sizes)
        d, n = int(sizes["d"]), int(sizes["n"])
        unit = kernel_ridge_equivalent(self.spectrum(d), n, self.ridge, self.noise).excess_risk if self.relative else 1.0
        values, target = sphere_eigenvalues(self.coefficients, d), np.array(self.target)
        return SphereDesign(values, target, d, n, self.ridge, self.noise, self.degree, unit)

    def cost(self, sizes: Sizes) -> float:
        return self.sampler(sizes).cost

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: seen between 0.2 and 2 over n."""
        return 1.0 / int(sizes["n"])
