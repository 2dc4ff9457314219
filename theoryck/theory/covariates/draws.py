"""Draws of the Gaussian covariate model and of the random features it stands for: data in stacks, estimators, their errors.

A stack of B data sets: features v/sqrt(p) as ``inputs`` (B, n, p), the teacher's field nu = theta.x'/sqrt(k) with its noise as
``field`` (B, n), and what errors are computed from: cov(v) and cov(v, nu), and the variance of nu.  A teacher theta ~ N(0, I)
enters through b = sqrt(p/k) Omega^-1 Phi^T theta, nu = b.v/sqrt(p) + residual, whose entries in the eigenbasis of Omega are
independent N(0, t_i/(gamma omega_i^2)).

Given the features of ridge regression everything else is Gaussian, so that means over teacher and noise, and variances, are traces.
With M = Z^T Z = U diag(d) U^T, R = (M + lambda)^-1, b ~ N(0, diag(s)), residual r: the test error is r plus (1/p) g.Omega.g with
g = R Z^T e - lambda R b ~ N(0, C), C = lambda^2 R S R + r R M R; the training error is (lambda^2/n) y.Q^2.y with
Q = (Z Z^T + lambda)^-1, y ~ N(0, Z S Z^T + r).  A quadratic form x.A.x of x ~ N(0, C) has mean tr A C and variance 2 tr (A C)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

from theoryck.quantities.base import QuantityError
from theoryck.theory.covariates.model import CovariateModel

Array = NDArray[np.float64]

MAX_STEPS = 60
TOLERANCE = 1e-10
"""Of the last Newton step, relative to the weights: the error after it is its square."""

WORKING = 2**19
"""Entries of a stack of inputs."""

GROUP = 8
"""Data sets of one draw of a variance: all 28 pairs are used, 1.75 times as many draws of two would be needed."""


@dataclass(frozen=True, slots=True)
class Stack:
    """B data sets; ``covariance`` is (p,) where it is diagonal and else (B, p, p), ``cross`` (B, p) is cov(v, nu)."""

    inputs: Array
    field: Array
    covariance: Array
    cross: Array
    variance: Array

    def orders(self, weights: Array) -> tuple[Array, Array]:
        """Return q = w.Omega.w/p and m = w.cov(v, nu)/sqrt(p) of estimates w (B, p), each (B,)."""
        p = weights.shape[1]
        if self.covariance.ndim == 1:
            q = (weights**2) @ self.covariance / p
        else:
            q = np.einsum("bi,bij,bj->b", weights, self.covariance, weights) / p
        return q, (weights * self.cross).sum(axis=1) / math.sqrt(p)


@dataclass(frozen=True)
class GaussianSource:
    """Draws v = Omega^(1/2) z in the eigenbasis of Omega, and the teacher; ``noise`` is added to nu."""

    model: CovariateModel
    noise: float
    n: int
    p: int

    @property
    def numbers(self) -> float:
        """Random numbers of a data set."""
        return self.n * (self.p + 1) + self.p

    def spectrum(self) -> tuple[Array, Array, float]:
        """Return the p eigenvalues, the p variances t/(gamma omega^2) of b, and the variance of the residual with its noise."""
        counts = np.array(self.model.weights) * self.p
        whole = np.rint(counts)
        if abs(counts - whole).max() > 1e-9 * self.p or whole.sum() != self.p:
            raise QuantityError(
                f"p = {self.p} features cannot have the model's spectrum of {len(counts)} eigenvalues: take p such that p times "
                "each weight is an integer (a multiple of their number where all weights are equal)"
            )
        omega = np.repeat(np.array(self.model.omega), whole.astype(int))
        diagonal = np.repeat(np.array(self.model.diagonal), whole.astype(int))
        spread = np.divide(diagonal, self.model.gamma * omega**2, out=np.zeros_like(omega), where=omega > 0)
        return omega, spread, self.model.residual + self.noise

    def inputs(self, rng: np.random.Generator, count: int, omega: Array) -> Array:
        """Draw features (count, n, p), divided by sqrt(p)."""
        inputs = rng.standard_normal((count, self.n, self.p))
        inputs *= np.sqrt(omega / self.p)
        return inputs

    def __call__(self, rng: np.random.Generator, count: int) -> Stack:
        omega, spread, residual = self.spectrum()
        teacher = rng.standard_normal((count, self.p)) * np.sqrt(spread)
        inputs = self.inputs(rng, count, omega)
        field = (inputs @ teacher[:, :, None])[:, :, 0]
        if residual:
            field += math.sqrt(residual) * rng.standard_normal(field.shape)
        return Stack(inputs, field, omega, omega * teacher / math.sqrt(self.p), teacher**2 @ omega / self.p + residual)


@dataclass(frozen=True)
class ErfFeatures:
    """Draws v = erf(F x), x ~ N(0, I_d), F (p, d) with entries N(0, 1/d) drawn afresh, and nu = theta.x/sqrt(d), theta ~ N(0, I).

    Errors are exact given F and the estimate: cov(v) = (2/pi) asin(2 f.f'/sqrt((1 + 2 f.f)(1 + 2 f'.f'))),
    cov(v, x) = (2/sqrt(pi)) F/sqrt(1 + 2 f.f).
    """

    noise: float
    n: int
    p: int
    d: int

    @property
    def numbers(self) -> float:
        """Random numbers of a data set; an error function takes about as long as one."""
        return self.n * (self.d + 2 * self.p + 1) + self.p * (self.d + self.p) + self.d

    def __call__(self, rng: np.random.Generator, count: int) -> Stack:
        weights = rng.standard_normal((count, self.p, self.d)) / math.sqrt(self.d)
        teacher = rng.standard_normal((count, self.d)) / math.sqrt(self.d)
        x = rng.standard_normal((count, self.n, self.d))
        inputs = erf(x @ weights.transpose(0, 2, 1)) / math.sqrt(self.p)
        field = (x @ teacher[:, :, None])[:, :, 0]
        if self.noise:
            field += math.sqrt(self.noise) * rng.standard_normal(field.shape)
        gram = 2 * weights @ weights.transpose(0, 2, 1)
        scale = 1 / np.sqrt(1 + np.einsum("bii->bi", gram))
        covariance = 2 / math.pi * np.arcsin(gram * scale[:, :, None] * scale[:, None, :])
        cross = 2 / math.sqrt(math.pi) * scale * (weights @ teacher[:, :, None])[:, :, 0]
        return Stack(inputs, field, covariance, cross, (teacher**2).sum(axis=1) + self.noise)


Source = GaussianSource | ErfFeatures


# Estimators


def fit_square(inputs: Array, labels: Array, penalty: float) -> Array:
    """Return w = (Z^T Z + penalty)^-1 Z^T y = Z^T (Z Z^T + penalty)^-1 y for Z (B, n, p), y (B, n): the smaller matrix is solved.

    >>> w = fit_square(np.array([[[1.0], [2.0]]]), np.array([[1.0, 0.0]]), 1.0)
    >>> print(w)
    [[0.16666667]]
    """
    n, p = inputs.shape[1:]
    transposed = inputs.transpose(0, 2, 1)
    ridge = penalty * np.eye(min(n, p), dtype=float)
    solved: Any
    if n < p:
        solved = transposed @ np.linalg.solve(inputs @ transposed + ridge, labels[:, :, None])
    else:
        solved = np.linalg.solve(transposed @ inputs + ridge, transposed @ labels[:, :, None])
    weights: Array = solved[:, :, 0]
    return weights


def fit_logistic(inputs: Array, labels: Array, penalty: float) -> Array:
    """Return the minimiser for log(1 + exp(-y z.w)), labels +-1, by Newton's method with halved steps where the loss would rise.

    Raises QuantityError where it has not arrived after 60 steps (penalty > 0 makes the loss strongly convex: too small a penalty).

    >>> w = fit_logistic(np.array([[[1.0], [2.0]]]), np.array([[1.0, 1.0]]), 1.0)
    >>> bool(abs(w[0, 0] - expit(-w[0, 0]) - 2 * expit(-2 * w[0, 0])) < 1e-12)
    True
    """
    n, p = inputs.shape[1:]
    if n < p:
        # w lies in the span of the samples: in an orthonormal basis of it, Z = L V^T, the problem has n unknowns and inputs L.
        lower: Any = np.linalg.cholesky(inputs @ inputs.transpose(0, 2, 1))
        small = fit_logistic(lower, labels, penalty)
        solved: Array = inputs.transpose(0, 2, 1) @ np.linalg.solve(lower.transpose(0, 2, 1), small[:, :, None])
        return solved[:, :, 0]
    signed = inputs * labels[:, :, None]
    transposed = signed.transpose(0, 2, 1)
    ridge = penalty * np.eye(p)
    weights = np.zeros((len(inputs), p, 1))
    margins = signed @ weights
    loss = _objective(margins, weights, penalty)
    for _ in range(MAX_STEPS):
        wrong = expit(-margins)
        gradient = penalty * weights - transposed @ wrong
        step = np.linalg.solve(transposed @ (signed * (wrong * (1 - wrong))) + ridge, gradient)
        moved = abs(step).max(axis=1) <= TOLERANCE * abs(weights).max(axis=1)
        weights, margins, loss = _descend(signed, weights, step, loss, penalty)
        if moved.all():
            return weights[:, :, 0]
    raise QuantityError(
        f"logistic regression was not solved in {MAX_STEPS} Newton steps at penalty = {penalty:g}: take a larger one"
    )


def _objective(margins: Array, weights: Array, penalty: float) -> Array:
    values: Array = np.logaddexp(0.0, -margins).sum(axis=(1, 2)) + penalty / 2 * (weights**2).sum(axis=(1, 2))
    return values


def _descend(signed: Array, weights: Array, step: Array, loss: Array, penalty: float) -> tuple[Array, Array, Array]:
    """Go along the Newton steps, each halved until its loss does not rise by more than rounding."""
    factor = np.ones((len(weights), 1, 1))
    for _ in range(30):
        trial = weights - factor * step
        margins = signed @ trial
        reached = _objective(margins, trial, penalty)
        risen = reached > loss + 1e-12 * abs(loss)
        if not risen.any():
            break
        factor[risen] /= 2
    return trial, margins, reached


def conditional_moments(what: str, inputs: Array, omega: Array, spread: Array, residual: float, penalty: float) -> Array:
    """Return mean and variance given the features of "test_error" or "train_loss", (B, 2), for inputs Z (B, n, p).

    >>> z = np.array([[[1.0], [1.0]]])
    >>> print(conditional_moments("train_loss", z, np.ones(1), np.zeros(1), 3.0, 1.0))  # r tr Q^2/n, 2 r^2 tr Q^4/n^2
    [[1.66666667 4.55555556]]
    """
    n, p = inputs.shape[1:]
    values, basis = np.linalg.eigh(inputs.transpose(0, 2, 1) @ inputs)
    # The rank is at most n, and eigenvalues are not negative: the rest is rounding, which a small penalty would take for signal.
    values[:, : max(p - n, 0)] = 0.0
    values = np.maximum(values, 0.0)
    lost = penalty / (values + penalty)
    if what == "test_error":
        return _test(values, basis, lost, omega, spread, residual, penalty)
    powers = basis**2
    # lambda Q has the eigenvalues ``lost`` of the min(n, p) largest values, and 1 for samples beyond p.
    seen = lost[:, max(p - n, 0) :]
    trace2, trace4 = (seen**2).sum(axis=1) + max(n - p, 0), (seen**4).sum(axis=1) + max(n - p, 0)
    mean = (powers @ (values * lost**2)[:, :, None])[:, :, 0] @ spread + residual * trace2
    signal = (basis * (values * lost**2)[:, None, :]) @ basis.transpose(0, 2, 1)
    variance = np.einsum("i,bij,bij,j->b", spread, signal, signal, spread)
    cross = (powers @ (values * lost**4)[:, :, None])[:, :, 0] @ spread
    variance += 2 * residual * cross + residual**2 * trace4
    return np.stack([mean / n, 2 * variance / n**2], axis=1)


def _test(values: Array, basis: Array, lost: Array, omega: Array, spread: Array, residual: float, penalty: float) -> Array:
    p = basis.shape[1]
    shrunk = (basis * lost[:, None, :]) @ basis.transpose(0, 2, 1)
    covariance = (shrunk * spread) @ shrunk
    covariance += residual * (basis * (lost * (values / (values + penalty)) / penalty)[:, None, :]) @ basis.transpose(0, 2, 1)
    weighted = covariance * np.sqrt(omega)[:, None] * np.sqrt(omega)
    mean = residual + np.einsum("bii->b", weighted) / p
    return np.stack([mean, 2 * np.einsum("bij,bij->b", weighted, weighted) / p**2], axis=1)


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
