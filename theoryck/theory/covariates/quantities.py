"""Errors of empirical risk minimisation in the Gaussian covariate model at finite n and p, and how much they fluctuate.

The estimator, the losses and the two errors are those of :mod:`theoryck.theory.covariates.limits.errors`, which has their limits.
Every draw is a data set: features, teacher and noise; the test error is exact given the estimate, from its second moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import ExactError
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.theory.covariates.draws.data import ErfFeatures, GaussianSource, Source
from theoryck.theory.covariates.draws.fit import fit_logistic, fit_square
from theoryck.theory.covariates.draws.traces import conditional_moments
from theoryck.theory.covariates.limits.errors import TASKS
from theoryck.theory.covariates.model import CovariateModel, positive
from theoryck.theory.covariates.proved import isotropic_ridge

Array = NDArray[np.float64]

WHATS = ("test_error", "train_loss")
TEACHERS = ("drawn", "given features", "averaged")
WORKING = 2**19
"""Entries of a stack of inputs."""

GROUP = 8
"""Data sets of one draw of a variance: all 28 pairs are used, 1.75 times as many draws of two would be needed."""

DECADES = 1e12
"""How far the penalty may be from the variance of the features, up and down: weights are solved for in floats."""

EXACT_LARGEST = 128
"""Features up to which the exact route of isotropic ridge takes less than about a second."""


@dataclass(frozen=True)
class CovariateSampler:
    """Draws the error of one data set (mean), or the sample variance of eight (variance): both unbiased."""

    source: Source
    task: str
    penalty: float
    what: str
    moment: str
    teacher: str

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds, measured: numbers, matrix products and factorisations in stacks."""
        n, p = self.source.n, self.source.p
        small = min(n, p)
        one = 1.1 * self.source.numbers + 40
        if self.teacher == "drawn" and self.task == "logistic":
            one += 9 * (n * small * small / 140 + small**3 / 120 + 8 * n + 12 * small)
        elif self.teacher == "drawn":
            one += n * p * small / 110 + small**3 / 120 + 12 * small
        else:
            one += (n * p * p + 9 * p**3) / 90 + 60 * p
        return one * (GROUP if self.moment == "variance" else 1)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        group = GROUP if self.moment == "variance" else 1
        step = max(WORKING // (group * self.source.n * self.source.p), 1)
        pieces = [self._piece(rng, min(step, draws - start)) for start in range(0, draws, step)]
        return np.concatenate(pieces)

    def _piece(self, rng: np.random.Generator, count: int) -> Array:
        if self.moment == "mean":
            return self._errors(rng, count) if self.teacher == "drawn" else self._given(rng, count)[:, 0]
        if self.teacher == "drawn":
            spread: Array = self._errors(rng, count * GROUP).reshape(count, GROUP).var(axis=1, ddof=1)
            return spread
        given = self._given(rng, count * GROUP).reshape(count, GROUP, 2)
        between: Array = given[:, :, 0].var(axis=1, ddof=1)
        # The law of total variance: the variance of the conditional mean plus the mean of the conditional variance.
        return between if self.teacher == "averaged" else between + given[:, :, 1].mean(axis=1)

    def _errors(self, rng: np.random.Generator, count: int) -> Array:
        """The error of ``count`` data sets, each with its own teacher."""
        stack = self.source(rng, count)
        labels = stack.field if self.task == "ridge" else np.where(stack.field >= 0, 1.0, -1.0)
        weights = self._fit(stack.inputs, labels)
        if self.what == "train_loss":
            outputs = (stack.inputs @ weights[:, :, None])[:, :, 0]
            if self.task == "logistic":
                return np.logaddexp(0.0, -labels * outputs).mean(axis=1)
            return ((labels - outputs) ** 2).mean(axis=1) / (1 if self.task == "ridge" else 4)
        q, m = stack.orders(weights)
        if self.task == "ridge":
            return stack.variance + q - 2 * m
        angles: Array = np.arccos(m / np.sqrt(stack.variance * q)) / math.pi
        return angles

    def _fit(self, inputs: Array, labels: Array) -> Array:
        fit = fit_logistic if self.task == "logistic" else fit_square
        # A feature without variance has no weight; with it the samples would seem to span more than they do.
        seen = inputs.any(axis=(0, 1))
        weights = np.zeros((len(inputs), inputs.shape[2]))
        try:
            weights[:, seen] = fit(inputs if seen.all() else inputs[:, :, seen], labels, self.penalty)
        except np.linalg.LinAlgError as error:
            raise QuantityError(
                f"the features span too few directions in floats at penalty = {self.penalty:g} ({error}): take a larger penalty, "
                "or eigenvalues of omega that are nearer to each other"
            ) from None
        return weights

    def _given(self, rng: np.random.Generator, count: int) -> Array:
        """Mean and variance over teacher and noise of ``count`` draws of the features, (count, 2)."""
        assert isinstance(self.source, GaussianSource)
        omega, spread, residual = self.source.spectrum()
        inputs = self.source.inputs(rng, count, omega)
        return conditional_moments(self.what, inputs, omega, spread, residual, self.penalty)


class CovariateQuantity(Quantity):
    """An error of the Gaussian covariate model at sizes n and p (and d for random features), or its variance."""

    can_draw = True

    def __init__(
        self, model: CovariateModel | None, penalty: float, task: str, noise: float, what: str, moment: str, teacher: str
    ) -> None:
        self.model, self.penalty, self.task, self.noise = model, penalty, task, noise
        self.what, self.moment, self.teacher = what, moment, teacher
        self.can_exact = self._isotropic() and moment == "mean"

    def _isotropic(self) -> bool:
        model = self.model
        return model is not None and self.task == "ridge" and len({*zip(model.omega, model.diagonal)}) == 1

    @property
    def name(self) -> str:
        """What people read in tables and messages."""
        what = self.what.replace("_", " ")
        features = "erf features" if self.model is None else "Gaussian features"
        averaged = {"drawn": "", "given features": "", "averaged": ", averaged over teacher and noise"}[self.teacher]
        return f"{'variance of the ' if self.moment == 'variance' else ''}{what} of {self.task}, {features}{averaged}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        model = self.model
        numbers: dict[str, Any] = {"features": "erf"}
        if model is not None:
            spectrum: dict[str, Sequence[float] | None] = {
                "omega": model.omega,
                "diagonal": model.diagonal,
                "weights": model.weights,
            }
            numbers = {name: list(values or ()) for name, values in spectrum.items()} | {"rho": model.rho, "gamma": model.gamma}
        options = {"task": self.task, "penalty": self.penalty, "noise": self.noise, "teacher": self.teacher}
        return {"quantity": f"{self.moment} of {self.what}", **options, **numbers}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes it needs."""
        return ("n", "p") if self.model is not None else ("n", "p", "d")

    def sampler(self, sizes: Sizes) -> CovariateSampler:
        """Return the sampler; QuantityError where p features cannot have the spectrum."""
        need_sizes(self.name, self.size_names, sizes)
        n, p = int(sizes["n"]), int(sizes["p"])
        source: Source
        if self.model is None:
            source = ErfFeatures(self.noise, n, p, int(sizes["d"]))
        else:
            source = GaussianSource(self.model, self.noise, n, p)
            source.spectrum()
        return CovariateSampler(source, self.task, self.penalty, self.what, self.moment, self.teacher)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds."""
        return self.sampler(sizes).cost

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: errors are nearly normal, with variance about 1/n."""
        root = math.sqrt(sizes["n"])
        if self.moment == "mean":
            return (1.0 if self.teacher == "drawn" else 0.3) / root
        return 0.7 / root if self.teacher == "given features" else math.sqrt(2 / (GROUP - 1))

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the mean for isotropic ridge regression with at most 128 samples or features, proved; else None."""
        need_sizes(self.name, self.size_names, sizes)
        n, p = int(sizes["n"]), int(sizes["p"])
        if not self.can_exact or min(n, p) > EXACT_LARGEST or self.model is None:
            return None
        omega, diagonal = Fraction(repr(self.model.omega[0])), Fraction(repr(self.model.diagonal[0]))
        gamma, rho = Fraction(repr(self.model.gamma)), Fraction(repr(self.model.rho))
        residual = rho - diagonal / (gamma * omega) if self.model.residual else Fraction(0)
        signal = diagonal / (gamma * omega**2)
        penalty, noise = Fraction(repr(self.penalty)), Fraction(repr(self.noise))
        try:
            return isotropic_ridge(self.what, n, p, omega, signal, residual + noise, penalty, digits)
        except ExactError:  # for extreme penalties the series needs more digits than it may take
            return None

    def exact_cost(self, sizes: Sizes) -> float:
        """Return roughly the seconds that ``exact`` takes."""
        return 0.005 + 3e-6 * min(sizes["n"], sizes["p"]) ** 2


def covariate_error(
    model: CovariateModel,
    penalty: float,
    task: str = "ridge",
    *,
    noise: float = 0.0,
    what: str = "test_error",
    teacher: str = "drawn",
) -> CovariateQuantity:
    """Return the mean "test_error" or "train_loss" (``what``) of one of the three tasks at sizes n and p, as a quantity.

    ``teacher``: "drawn" with every data set; or, for ridge, "given features", which averages over teacher and noise analytically
    (the same mean, with less noise).  Isotropic ridge has an exact route.  The loss and the penalty are those of
    :func:`~theoryck.theory.covariates.limits.errors.covariate_limit`.  p must hold every eigenvalue of the model equally often (or
    by its weight): the spectrum does not change along a path.  Raises QuantityError for bad arguments.

    >>> model = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(float(covariate_error(model, 1.0).exact({"n": 1, "p": 1})), 8)
    0.5
    """
    return _quantity(model, penalty, task, noise, what, "mean", teacher)


def covariate_variance(
    model: CovariateModel,
    penalty: float,
    task: str = "ridge",
    *,
    noise: float = 0.0,
    what: str = "test_error",
    teacher: str = "drawn",
) -> CovariateQuantity:
    """Return the variance of the "test_error" or "train_loss" over data sets, E (E_1 - E_2)^2/2 for two independent ones.

    ``teacher``: "drawn" with every data set; for ridge also "given features", the same variance as the variance of the mean given
    the features plus the mean of the variance given them, and "averaged", the first of these two alone: the variance of errors that
    have been averaged over teacher and noise.  Raises QuantityError for bad arguments.

    >>> model = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> quantity = covariate_variance(model, 0.1, teacher="given features")
    >>> bool(quantity.draw(np.random.default_rng(0), 3, {"n": 8, "p": 4}).min() > 0)
    True
    """
    return _quantity(model, penalty, task, noise, what, "variance", teacher)


def erf_features_error(
    penalty: float, task: str = "ridge", *, noise: float = 0.0, what: str = "test_error", moment: str = "mean"
) -> CovariateQuantity:
    """Return an error (or, with ``moment``="variance", its variance) for the random features erf(F x) themselves, sizes n, p, d.

    x ~ N(0, I_d), F (p, d) with entries N(0, 1/d), nu = theta.x/sqrt(d), theta ~ N(0, I), all drawn with every data set.  Raises
    QuantityError for bad arguments.

    >>> erf_features_error(0.1, "logistic").draw(np.random.default_rng(0), 2, {"n": 8, "p": 4, "d": 4}).shape
    (2,)
    """
    if not isinstance(moment, str) or moment not in ("mean", "variance"):
        raise QuantityError(f"moment must be 'mean' or 'variance', got {moment!r}")
    return _quantity(None, penalty, task, noise, what, moment, "drawn")


def _quantity(model: Any, penalty: float, task: str, noise: float, what: str, moment: str, teacher: str) -> CovariateQuantity:
    if model is not None and not isinstance(model, CovariateModel):
        raise QuantityError(f"model must be a theoryck.theory.covariates.CovariateModel, got {model!r}")
    teachers = TEACHERS if moment == "variance" else TEACHERS[:2]
    for name, value, allowed in (("task", task, TASKS), ("what", what, WHATS), ("teacher", teacher, teachers)):
        if not isinstance(value, str) or value not in allowed:
            raise QuantityError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    if teacher != "drawn" and task != "ridge":
        raise QuantityError(f"teacher must be 'drawn' for {task}, got {teacher!r}: only ridge is linear in its labels")
    try:
        penalty, noise = positive(penalty, "penalty"), positive(noise, "noise", zero=True)
    except ValueError as error:
        raise QuantityError(str(error)) from None
    largest, variance = (max(model.omega), model.rho + noise) if model is not None else (1.0, 1.0 + noise)
    for name, size in (("the largest eigenvalue of omega", largest), ("rho + noise", variance)):
        if not 1e-50 <= size <= 1e50:
            raise QuantityError(f"{name} must lie between 1e-50 and 1e50 for draws, got {size:g}: change its unit")
    if not 1 / DECADES <= penalty / largest <= DECADES:
        raise QuantityError(
            f"penalty must lie between {1 / DECADES:g} and {DECADES:g} times the largest variance of a feature, {largest:g}, "
            f"got {penalty:g}: beyond that floats cannot solve for the weights; see covariate_limit"
        )
    return CovariateQuantity(model, penalty, task, noise, what, moment, teacher)
