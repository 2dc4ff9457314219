"""Errors of empirical risk minimisation in the Gaussian covariate model at finite n and p, and how much they fluctuate.

Every draw is a data set: features, teacher and noise; the test error is exact given the estimate, from its second moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from theoryck.numerics.errors import ExactError
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.theory.covariates.draws import GROUP, CovariateSampler, ErfFeatures, GaussianSource, Source
from theoryck.theory.covariates.limits import TASKS
from theoryck.theory.covariates.model import CovariateModel
from theoryck.theory.covariates.proved import isotropic_ridge

WHATS = ("test_error", "train_loss")
AVERAGED = {"drawn": "", "given features": "", "averaged": ", averaged over teacher and noise"}

DECADES = 1e12
"""How far the penalty may be from the variance of the features, up and down: weights are solved for in floats."""

EXACT_LARGEST = 128
"""Features up to which the exact route of isotropic ridge takes less than about a second."""


class CovariateQuantity(Quantity):
    """An error at sizes n and p (and d for random features), or its variance over data sets."""

    title = "{self.prefix}{self.shown} of {task}, {self.features}{self.averaged}"
    can_draw = True
    features: ClassVar[str] = "Gaussian features"
    teachers: ClassVar[tuple[str, ...]] = ("drawn",)
    penalty: float
    task: str
    noise: float
    what: str
    moment: str
    teacher: str = "drawn"

    def __post_init__(self) -> None:
        for name, allowed in (("task", TASKS), ("what", WHATS), ("moment", ("mean", "variance")), ("teacher", self.teachers)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise QuantityError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
        if self.teacher != "drawn" and self.task != "ridge":
            raise QuantityError(
                f"teacher must be 'drawn' for {self.task}, got {self.teacher!r}: only ridge is linear in its labels"
            )
        object.__setattr__(self, "penalty", positive(self.penalty, "penalty"))
        object.__setattr__(self, "noise", positive(self.noise, "noise", zero=True))
        largest = self._largest()
        if not 1 / DECADES <= self.penalty / largest <= DECADES:
            raise QuantityError(
                f"penalty must lie between {1 / DECADES:g} and {DECADES:g} times the largest variance of a feature, {largest:g}, "
                f"got {self.penalty:g}: beyond that floats cannot solve for the weights; see covariate_limit"
            )

    def _largest(self) -> float:
        return 1.0

    def _source(self, sizes: Sizes) -> Source:
        raise NotImplementedError

    @property
    def prefix(self) -> str:
        """How the name begins."""
        return "variance of the " if self.moment == "variance" else ""

    @property
    def shown(self) -> str:
        """The error in words."""
        return self.what.replace("_", " ")

    @property
    def averaged(self) -> str:
        """How the name ends."""
        return AVERAGED[self.teacher]

    def sampler(self, sizes: Sizes) -> CovariateSampler:
        """Return the sampler; QuantityError where p features cannot have the spectrum."""
        need_sizes(self.name, self.needs, sizes)
        return CovariateSampler(self._source(sizes), self.task, self.penalty, self.what, self.moment, self.teacher)

    def cost(self, sizes: Sizes) -> float:
        return self.sampler(sizes).cost

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: errors are nearly normal, with variance about 1/n."""
        root = math.sqrt(sizes["n"])
        if self.moment == "mean":
            return (1.0 if self.teacher == "drawn" else 0.3) / root
        return 0.7 / root if self.teacher == "given features" else math.sqrt(2 / (GROUP - 1))


@dataclass(frozen=True, repr=False)
class covariate_error(CovariateQuantity):
    """The mean "test_error" or "train_loss" (``what``) of one of the three tasks at sizes n and p.

    ``teacher``: "drawn" with every data set; or, for ridge, "given features", which averages over teacher and noise analytically
    (the same mean, with less noise).  Isotropic ridge has an exact route.  The loss and the penalty are those of
    :func:`~theoryck.theory.covariates.covariate_limit`.  p must hold every eigenvalue of the model equally often (or by its
    weight): the spectrum does not change along a path.  Raises QuantityError for bad arguments.

    >>> model = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(float(covariate_error(model, 1.0).exact({"n": 1, "p": 1})), 8)
    0.5
    """

    needs = ("n", "p")
    moment = "mean"
    teachers: ClassVar[tuple[str, ...]] = ("drawn", "given features")
    model: CovariateModel
    penalty: float
    task: str = "ridge"
    noise: float = field(default=0.0, kw_only=True)
    what: str = field(default="test_error", kw_only=True)
    teacher: str = field(default="drawn", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.model, CovariateModel):
            raise QuantityError(f"model must be a theoryck.theory.covariates.CovariateModel, got {self.model!r}")
        super().__post_init__()

    def _largest(self) -> float:
        return max(self.model.omega)

    def _source(self, sizes: Sizes) -> Source:
        source = GaussianSource(self.model, self.noise, int(sizes["n"]), int(sizes["p"]))
        source.spectrum()
        return source

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route: the mean of isotropic ridge regression."""
        return self.moment == "mean" and self.task == "ridge" and self.model.isotropic

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the mean for isotropic ridge regression with at most 128 samples or features, proved; else None."""
        need_sizes(self.name, self.needs, sizes)
        n, p = int(sizes["n"]), int(sizes["p"])
        if not self.can_exact or min(n, p) > EXACT_LARGEST:
            return None
        model = self.model
        omega, diagonal = Fraction(repr(model.omega[0])), Fraction(repr(model.diagonal[0]))
        gamma, rho = Fraction(repr(model.gamma)), Fraction(repr(model.rho))
        residual = rho - diagonal / (gamma * omega) if model.residual else Fraction(0)
        signal = diagonal / (gamma * omega**2)
        penalty, noise = Fraction(repr(self.penalty)), Fraction(repr(self.noise))
        try:
            return isotropic_ridge(self.what, n, p, omega, signal, residual + noise, penalty, digits)
        except ExactError:  # for extreme penalties the series needs more digits than it may take
            return None

    def exact_cost(self, sizes: Sizes) -> float:
        """Return roughly the seconds that ``exact`` takes."""
        return 0.005 + 3e-6 * min(sizes["n"], sizes["p"]) ** 2


@dataclass(frozen=True, repr=False)
class covariate_variance(covariate_error):
    """The variance of the "test_error" or "train_loss" over data sets, E (E_1 - E_2)^2/2 for two independent ones.

    ``teacher``: "drawn" with every data set; for ridge also "given features", the same variance as the variance of the mean given
    the features plus the mean of the variance given them, and "averaged", the first of these two alone: the variance of errors that
    have been averaged over teacher and noise.  Raises QuantityError for bad arguments.

    >>> import numpy as np
    >>> model = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> quantity = covariate_variance(model, 0.1, teacher="given features")
    >>> bool(quantity.draw(np.random.default_rng(0), 3, {"n": 8, "p": 4}).min() > 0)
    True
    """

    moment = "variance"
    teachers = ("drawn", "given features", "averaged")


@dataclass(frozen=True, repr=False)
class erf_features_error(CovariateQuantity):
    """An error (or, with ``moment``="variance", its variance) for the random features erf(F x) themselves, sizes n, p, d.

    x ~ N(0, I_d), F (p, d) with entries N(0, 1/d), nu = theta.x/sqrt(d), theta ~ N(0, I), all drawn with every data set.  Raises
    QuantityError for bad arguments.

    >>> import numpy as np
    >>> erf_features_error(0.1, "logistic").draw(np.random.default_rng(0), 2, {"n": 8, "p": 4, "d": 4}).shape
    (2,)
    """

    needs = ("n", "p", "d")
    features = "erf features"
    penalty: float
    task: str = "ridge"
    noise: float = field(default=0.0, kw_only=True)
    what: str = field(default="test_error", kw_only=True)
    moment: str = field(default="mean", kw_only=True)

    def _source(self, sizes: Sizes) -> Source:
        return ErfFeatures(self.noise, int(sizes["n"]), int(sizes["p"]), int(sizes["d"]))
