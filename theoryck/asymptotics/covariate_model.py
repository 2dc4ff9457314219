"""The Gaussian covariate model as data: what the fixed points of :mod:`theoryck.asymptotics.covariate` depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUNDING = 1e-12
"""Relative to rho: a residual variance that is smaller than this, of either sign, is the rounding of its sum."""


@dataclass(frozen=True)
class CovariateModel:
    """Teacher u = theta.x'/sqrt(k) and student v in R^p, jointly Gaussian: cov(v) = Omega, cov(x', v) = Phi, cov(x') = Psi.

    ``omega`` are the eigenvalues of Omega (p of them, or fewer with ``weights``, their multiplicities in any unit), ``diagonal``
    the t_i = (U^T Phi^T theta theta^T Phi U)_ii in its eigenbasis U, ``rho`` = theta^T Psi theta / k, ``gamma`` = k/p.  For a
    teacher theta ~ N(0, I) of which only the law is known, t_i and rho are averages over it.  Raises ValueError for lengths that
    differ, for values that are negative or not finite, and where the teacher would explain more than its own variance:
    (1/gamma) <t/omega> <= rho must hold.

    Source: Loureiro, Gerbelot, Cui, Goldt, Krzakala, Mezard, Zdeborova (2021), arXiv:2102.08127.

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
        omega = _vector(self.omega, "omega")
        diagonal = _vector(self.diagonal, "diagonal")
        weights = np.ones(len(omega)) if self.weights is None else _vector(self.weights, "weights")
        for name, values in (("diagonal", diagonal), ("weights", weights)):
            if len(values) != len(omega):
                raise ValueError(f"{name} must have one entry for each of the {len(omega)} eigenvalues, got {len(values)}")
        if not weights.sum() > 0 or not (omega * weights).sum() > 0:
            raise ValueError("omega must have a positive eigenvalue of positive weight, got none: a student that sees nothing")
        if (diagonal[omega == 0] > 0).any():
            raise ValueError("diagonal must be 0 where omega is 0: a direction without variance is correlated with nothing")
        for name in ("rho", "gamma"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        for name, values in (("omega", omega), ("diagonal", diagonal), ("weights", weights / weights.sum())):
            object.__setattr__(self, name, tuple(values.tolist()))
        if self._unexplained < -ROUNDING * self.rho:
            raise ValueError(
                f"rho = {self.rho:g} is less than the {self.explained:g} = (1/gamma) <t/omega> that the features explain of it: "
                "no joint law has these covariances; check gamma = k/p and that diagonal is not divided by p or k"
            )

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

    @property
    def _unexplained(self) -> float:
        return self.rho - self.explained

    @cached_property
    def residual(self) -> float:
        """rho - (1/gamma) <t/omega>: the variance that no linear student explains."""
        # Below the rounding of the sum the difference has no digits: the model is taken for well specified.
        return self._unexplained if self._unexplained > ROUNDING * self.rho else 0.0

    @classmethod
    def from_matrices(cls, psi: Any, phi: Any, omega: Any, theta: Any = None) -> CovariateModel:
        """Return the model of covariances ``psi`` (k, k), ``phi`` (k, p), ``omega`` (p, p) and teacher ``theta`` (k,).

        Without ``theta`` the teacher is averaged over N(0, I).  Raises ValueError for shapes that do not fit and for matrices that
        are not covariances.

        >>> model = CovariateModel.from_matrices([[1.0]], [[0.5, 0.0]], [[1.0, 0.0], [0.0, 2.0]])
        >>> model.omega, model.diagonal, model.rho, model.gamma
        ((1.0, 2.0), (0.25, 0.0), 1.0, 0.5)
        """
        psi, phi, omega = (np.asarray(matrix, dtype=float) for matrix in (psi, phi, omega))
        if phi.ndim != 2 or psi.shape != (phi.shape[0],) * 2 or omega.shape != (phi.shape[1],) * 2:
            raise ValueError(
                f"psi, phi and omega must have shapes (k, k), (k, p), (p, p), got {psi.shape}, {phi.shape}, {omega.shape}"
            )
        for name, matrix in (("psi", psi), ("phi", phi), ("omega", omega)):
            if not np.isfinite(matrix).all():
                raise ValueError(f"{name} must have finite entries, got {int((~np.isfinite(matrix)).sum())} that are not")
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
            theta = np.asarray(theta, dtype=float)
            if theta.shape != (k,):
                raise ValueError(f"theta must have shape ({k},), one entry a row of phi, got {theta.shape}")
            diagonal, rho = (theta @ rotated) ** 2, theta @ psi @ theta / k
        if diagonal[zero].sum() > 1e-10 * diagonal.sum():
            raise ValueError("phi must vanish where omega does: a direction without variance is correlated with nothing")
        return cls(np.where(zero, 0.0, values).tolist(), np.where(zero, 0.0, diagonal).tolist(), float(rho), k / p)

    @classmethod
    def random_features(
        cls, kappa1: float, kappa_star: float, gamma: float, features: Any = None, *, nodes: int | None = None
    ) -> CovariateModel:
        """Return the equivalent of phi(F x): Omega = kappa1^2 F F^T + kappa_star^2, Phi = kappa1 F^T, Psi = I, theta ~ N(0, I).

        kappa1 = E z phi(z), kappa_star^2 = E phi(z)^2 - kappa1^2, phi of Gaussian mean 0; gamma = d/p.  ``features`` is F, (p, d)
        with rows of norm near 1; without it the entries of F are N(0, 1/d) and the spectrum is the limiting one
        (Marchenko-Pastur), as ``nodes`` points of a quadrature: 256 by default, more for gamma near 1.  Raises ValueError for bad
        arguments.

        >>> model = CovariateModel.random_features(0.8, 0.2, gamma=0.5)
        >>> sum(w * t for w, t in zip(model.weights, model.diagonal))  # kappa1^2 tr F F^T / p
        0.64000000000...
        """
        kappa1, kappa_star, gamma = (positive(v, n) for v, n in ((kappa1, "kappa1"), (kappa_star, "kappa_star"), (gamma, "gamma")))
        if features is not None:
            matrix = np.asarray(features, dtype=float)
            if matrix.ndim != 2 or abs(matrix.shape[1] / matrix.shape[0] - gamma) > 1e-12 * gamma:
                raise ValueError(f"features must have shape (p, d) with d/p = gamma = {gamma:g}, got {matrix.shape}")
            values, weights = np.linalg.eigvalsh(matrix @ matrix.T), np.ones(len(matrix))
            # F F^T has rank at most d: what is left of its other eigenvalues is rounding.
            values[: max(len(matrix) - matrix.shape[1], 0)] = 0.0
        else:
            # The error decays like min(gamma, 1/gamma)^nodes, and at gamma = 1 without that limit; 4096 is for gamma within 1%.
            near = abs(math.log(gamma))
            values, weights = marchenko_pastur_nodes(
                1 / gamma, nodes or (256 if near == 0 else min(max(256, math.ceil(40 / near)), 4096))
            )
        linear = kappa1**2 * values
        return cls((linear + kappa_star**2).tolist(), linear.tolist(), 1.0, gamma, weights.tolist())


def marchenko_pastur_nodes(ratio: float, nodes: int) -> tuple[Array, Array]:
    """Return points and weights for means over the eigenvalues of F F^T, F (p, d) with entries N(0, 1/d), ``ratio`` = p/d.

    With x = 1 + ratio + 2 sqrt(ratio) cos(t) the density is sin(t)^2/x, periodic in t: the trapezoidal rule gains a constant
    factor a node for functions that are analytic around the spectrum.  For ratio > 1 a share 1 - 1/ratio sits at 0.

    >>> points, weights = marchenko_pastur_nodes(0.5, 64)
    >>> print(round(weights.sum(), 12), round(weights @ points, 12), round(weights @ points**2, 12))
    1.0 1.0 1.5
    """
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 2:
        raise ValueError(f"nodes must be an integer of at least 2, got {nodes!r}")
    # Midpoints: at ratio = 1 the density has its singularity at t = pi, which they avoid.
    t = np.pi * (np.arange(nodes) + 0.5) / nodes
    root = math.sqrt(ratio)
    # (1 - root)^2 + 2 root (1 + cos t): at ratio 1 no digits are lost near 0.
    points = (1 - root) ** 2 + 4 * root * np.cos(t / 2) ** 2
    weights = 2 * np.sin(t) ** 2 / points / nodes
    if ratio > 1:
        points, weights = np.append(points, 0.0), np.append(weights, 1 - 1 / ratio)
    return points, weights


def positive(value: Any, name: str, *, zero: bool = False) -> float:
    """Return a finite float > 0 (>= 0 with ``zero``); ValueError names the argument."""
    sign = ">= 0" if zero else "> 0"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number {sign}, got {value!r}") from None
    if isinstance(value, bool) or not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {sign}, got {value!r}")
    return number


def _vector(values: Any, name: str) -> Array:
    vector = np.asarray(values, dtype=float)
    if vector.ndim != 1 or not len(vector):
        raise ValueError(f"{name} must be a list of numbers, got an array of shape {vector.shape}")
    wrong = np.flatnonzero(~(np.isfinite(vector) & (vector >= 0)))
    if len(wrong):
        raise ValueError(f"{name} must be finite and not negative, got {vector[wrong[0]]} at position {wrong[0]}")
    return vector
