"""The Gaussian covariate model as data: two covariances and a teacher, down to a spectrum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.arguments import LARGEST, nonnegative_array, positive

Array = NDArray[np.float64]

ROUNDING = 2e-15
"""Relative to rho: a residual variance that is smaller than this is the rounding of the numbers that it is computed from."""

EXCESS = 1e-12
"""Relative to rho: how much more than rho the features may seem to explain, by the rounding of eigenvalues."""

STEP = 0.22
TAIL = 39.0
_WIDE = Context(prec=60)


@dataclass(frozen=True)
class CovariateModel:
    """Teacher u = theta.x'/sqrt(k) and student v in R^p, jointly Gaussian: cov(v) = Omega, cov(x', v) = Phi, cov(x') = Psi.

    ``omega`` are the eigenvalues of Omega (p of them, or fewer with ``weights``, their multiplicities in any unit), ``diagonal``
    the t_i = (U^T Phi^T theta theta^T Phi U)_ii in its eigenbasis U, ``rho`` = theta^T Psi theta / k, ``gamma`` = k/p.  For a
    teacher theta ~ N(0, I) of which only the law is known, t_i and rho are averages over it.  Raises ValueError for lengths that
    differ, for values that are negative or beyond the numeric domain, and where the teacher would explain more than its own
    variance: (1/gamma) <t/omega> <= rho must hold.  A residual variance below 2e-15 rho counts as none.

    >>> model = CovariateModel(omega=[1.0, 2.0], diagonal=[0.5, 0.5], rho=1, gamma=0.5)
    >>> round(model.residual, 12)
    0.25
    """

    omega: Sequence[float]
    diagonal: Sequence[float]
    rho: float
    gamma: float
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        omega = nonnegative_array(self.omega, "omega", most=LARGEST)
        diagonal = nonnegative_array(self.diagonal, "diagonal", length=len(omega), most=LARGEST)
        given = np.ones(len(omega)) if self.weights is None else self.weights
        weights = nonnegative_array(given, "weights", length=len(omega), most=LARGEST)
        weights = weights / (weights.max() or 1.0)
        if not (omega[weights > 0] > 0).any():
            raise ValueError("omega must have a positive eigenvalue of positive weight, got none: a student that sees nothing")
        if (diagonal[omega == 0] > 0).any():
            at = int(np.flatnonzero((omega == 0) & (diagonal > 0))[0])
            raise ValueError(
                f"diagonal must be 0 where omega is 0, got {diagonal[at]:g} at position {at}: a direction without variance is "
                "correlated with nothing"
            )
        positive(omega.max(), "the largest of omega")
        for name in ("rho", "gamma"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        for name, values in (("omega", omega), ("diagonal", diagonal), ("weights", weights / weights.sum())):
            object.__setattr__(self, name, tuple(values.tolist()))
        if self.explained - self.rho > EXCESS * self.rho:
            raise ValueError(
                f"rho = {self.rho:g} is less than the {self.explained:g} = (1/gamma) <t/omega> that the features explain of it, by "
                f"{self.explained - self.rho:.3g}: no joint law has these covariances; check gamma = k/p and that diagonal is not "
                "divided by p or k"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The model as JSON-able data."""
        lists = {name: list(getattr(self, name)) for name in ("omega", "diagonal", "weights")}
        return lists | {"rho": self.rho, "gamma": self.gamma}

    @property
    def isotropic(self) -> bool:
        """Whether there is one eigenvalue and one t."""
        return len({*zip(self.omega, self.diagonal)}) == 1

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The distinct positive eigenvalues, their t_i and their weights (which add up to the rank over p)."""
        omega, diagonal, weights = (np.array(values) for values in (self.omega, self.diagonal, self.weights))
        kept = (omega > 0) & (weights > 0)
        return omega[kept], diagonal[kept], weights[kept]

    @cached_property
    def rank(self) -> float:
        """The share of directions that have variance: the rank of Omega over p."""
        omega, _, weights = self.arrays
        return 1.0 if len(omega) == len(self.omega) else float(weights.sum())

    @cached_property
    def explained(self) -> float:
        """(1/gamma) <t/omega>: the variance of the teacher's field that the best linear student explains."""
        omega, diagonal, weights = self.arrays
        return float(weights @ (diagonal / omega)) / self.gamma

    @cached_property
    def residual(self) -> float:
        """rho - (1/gamma) <t/omega>: the variance that no linear student explains."""
        found = self.rho - self.explained
        if abs(found) < 1e-3 * self.rho:
            found = self._difference()
        return found if found > ROUNDING * self.rho else 0.0

    def _difference(self) -> float:
        """The residual from the decimals of all numbers, without cancellation."""
        decimals = [[Decimal(repr(x)) for x in values.tolist()] for values in self.arrays]
        total, rest = Decimal(0), Decimal(0)
        for omega, diagonal, weight in zip(*decimals):
            total = _WIDE.add(total, _WIDE.multiply(weight, _WIDE.divide(diagonal, omega)))
        # Weights of directions without variance count in the mean; the floats of all of them need not add up to 1.
        for weight in self.weights or ():
            rest = _WIDE.add(rest, Decimal(repr(weight)))
        mean = _WIDE.divide(_WIDE.divide(total, rest), Decimal(repr(self.gamma)))
        return float(_WIDE.subtract(Decimal(repr(self.rho)), mean))

    def _knowing(self, residual: float) -> CovariateModel:
        """This model with a residual variance that is known better than as a difference."""
        self.__dict__["residual"] = float(residual)
        return self

    @classmethod
    def from_matrices(cls, psi: Any, phi: Any, omega: Any, theta: Any = None) -> CovariateModel:
        """Return the model of covariances ``psi`` (k, k), ``phi`` (k, p), ``omega`` (p, p) and teacher ``theta`` (k,).

        Without ``theta`` the teacher is averaged over N(0, I).  Raises ValueError for shapes that do not fit and for matrices that
        are not covariances.

        >>> model = CovariateModel.from_matrices([[1.0]], [[0.5, 0.0]], [[1.0, 0.0], [0.0, 2.0]])
        >>> model.omega, model.diagonal, model.rho, model.gamma
        ((1.0, 2.0), (0.25, 0.0), 1.0, 0.5)
        """
        psi, phi, omega = (_matrix(matrix, name) for matrix, name in ((psi, "psi"), (phi, "phi"), (omega, "omega")))
        if phi.ndim != 2 or not phi.size or psi.shape != (phi.shape[0],) * 2 or omega.shape != (phi.shape[1],) * 2:
            raise ValueError(
                f"psi, phi and omega must have shapes (k, k), (k, p), (p, p), got {psi.shape}, {phi.shape}, {omega.shape}"
            )
        for name, matrix in (("psi", psi), ("phi", phi), ("omega", omega)):
            if name != "phi" and abs(matrix - matrix.T).max() > 1e-10 * abs(matrix).max():
                raise ValueError(f"{name} must be symmetric, got an asymmetry of {abs(matrix - matrix.T).max():.3g}")
        k, p = phi.shape
        values, basis = np.linalg.eigh((omega + omega.T) / 2)
        if values[0] < -1e-10 * values[-1]:
            raise ValueError(f"omega must be positive semi-definite, got an eigenvalue {values[0]:.3g}")
        # Eigenvalues below p eps times the largest are rounding: they are zeros of a matrix that is not of full rank.
        zero = values <= p * np.finfo(float).eps * values[-1]
        rotated = phi @ basis
        if theta is None:
            diagonal, rho = (rotated**2).sum(axis=0), np.trace(psi) / k
        else:
            theta = _matrix(theta, "theta")
            if theta.shape != (k,):
                raise ValueError(f"theta must have shape ({k},), one entry a row of phi, got {theta.shape}")
            diagonal, rho = (theta @ rotated) ** 2, theta @ psi @ theta / k
        if diagonal[zero].sum() > 1e-10 * diagonal.sum():
            share = diagonal[zero].sum() / diagonal.sum()
            raise ValueError(
                f"phi must vanish where omega does, got the share {share:.3g} of its square in the kernel of omega: a direction "
                "without variance is correlated with nothing"
            )
        model = cls(np.where(zero, 0.0, values).tolist(), np.where(zero, 0.0, diagonal).tolist(), float(rho), k / p)
        # Eigenvalues carry more rounding than numbers that were given.
        return model if model.residual > EXCESS * model.rho else model._knowing(0.0)

    @classmethod
    def random_features(cls, kappa1: float, kappa_star: float, gamma: float) -> CovariateModel:
        """Return the equivalent of phi(F x): Omega = kappa1^2 F F^T + kappa_star^2, Phi = kappa1 F^T, Psi = I, theta ~ N(0, I).

        kappa1 = E z phi(z), kappa_star^2 = E phi(z)^2 - kappa1^2, phi of Gaussian mean 0; gamma = d/p.  The entries of F, (p, d),
        are N(0, 1/d) and the spectrum is the limiting one (Marchenko-Pastur), as points of a quadrature: as many as errors of
        1e-15 need.  Of a given F :meth:`from_matrices` makes a model.  Raises ValueError for bad arguments.

        >>> model = CovariateModel.random_features(0.8, 0.2, gamma=0.5)
        >>> round(sum(w * t for w, t in zip(model.weights, model.diagonal)), 12)  # kappa1^2 tr F F^T / p
        0.64
        """
        named = ((kappa1, "kappa1"), (kappa_star, "kappa_star"), (gamma, "gamma"))
        kappa1, kappa_star, gamma = (positive(value, name) for value, name in named)
        values, weights = marchenko_pastur_nodes(1 / gamma, (kappa_star / kappa1) ** 2)
        absent = max((gamma - 1) / gamma, 0.0)
        linear, mean = kappa1**2 * values, weights / weights.sum()
        omega = linear + kappa_star**2
        # 1 - (1/gamma) <t/omega> as a sum of positive terms: ``absent`` is the share of inputs that no feature sees.
        missed = float(mean[values > 0] @ (kappa_star**2 / omega[values > 0])) / gamma
        model = cls(omega.tolist(), linear.tolist(), 1.0, gamma, weights.tolist())
        return model._knowing(absent + missed)


def marchenko_pastur_nodes(ratio: float, pole: float) -> tuple[Array, Array]:
    """Return points and weights for means over the eigenvalues of F F^T, F (p, d) with entries N(0, 1/d), ``ratio`` = p/d, of
    rational functions with poles at -``pole`` and below; for ratio > 1 a share 1 - 1/ratio sits at 0.

    With x = (1 - r)^2 + 4 r s^2/(1 + s^2), r^2 = ratio, the mean is an integral of a rational function of s^2 over s > 0 with all
    poles on the imaginary axis.  With s = e^u they lie at Im u = pi/2, wherever the edges and ``pole`` are: the trapezoidal rule
    with step h errs by e^(-pi^2/h), and its range grows with the logarithm of the smallest scale.

    >>> points, weights = marchenko_pastur_nodes(0.5, 1.0)
    >>> print(round(weights.sum(), 12), round(weights @ points, 12), round(weights @ points**2, 12))
    1.0 1.0 1.5
    """
    root = math.sqrt(ratio)
    edge = ((1 - ratio) / (1 + root)) ** 2
    width = 4 * root
    # In s the weight is about s^2/(s^2 + a^2) up to 1 and then s^-4; functions are constant below the nearest pole.
    a, nearest = math.sqrt(edge / (edge + width)), math.sqrt((edge + pole) / (edge + pole + width))
    low = math.log(nearest) - TAIL
    if a > 0:
        low = max(low, math.log(a) - TAIL / 3)
    high = TAIL / 3
    u, step = np.linspace(low, high, math.ceil((high - low) / STEP) + 1, retstep=True)
    square = np.exp(2 * u)
    share = square / (1 + square)
    points = edge + width * share
    # (2/pi) sin^2(t)/x dt for x = edge + width sin^2(t/2), s = tan(t/2)
    weights = 16 / math.pi * step * share / points * np.exp(u) / (1 + square) ** 2
    if ratio > 1:
        points, weights = np.append(points, 0.0), np.append(weights, 1 - 1 / ratio)
    return points, weights


def _matrix(values: Any, name: str) -> Array:
    try:
        matrix = np.asarray(values)
        if matrix.dtype.kind not in "fiuO":
            raise TypeError
        matrix = matrix.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers, got {type(values).__name__}: {str(values)[:60]}") from None
    wrong = int((~(abs(matrix) <= LARGEST)).sum())
    if wrong:
        raise ValueError(f"{name} must have finite entries of at most {LARGEST:g}, got {wrong} that are not")
    return matrix
