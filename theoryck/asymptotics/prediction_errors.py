"""Prediction error of two-layer students from the second moments of their local fields.

Student sum_k v^k g(lambda^k), teacher sum_m v~^m g~(nu^m); Gaussian fields with Q = E lambda lambda^T, R = E lambda nu^T and
T = E nu nu^T.
    pmse = E (sum_k v^k g(lambda^k) - sum_m v~^m g~(nu^m))^2 = v^T I(Q) v + v~^T I(T) v~ - 2 v^T I(R) v~,   I = E g(u) h(w).
Online learning mostly writes half of it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.asymptotics.projections import kinks_of, panels
from theoryck.models import Activation

Array = NDArray[np.float64]

ERF = Activation("erf_scaled")
"""erf(x/sqrt(2)), whose kernel is an arcsine."""

REACH = 10.0
"""Half the range of a quadrature in standard deviations: exp(-10^2/2) = 2e-22 of the Gaussian weight."""

PANEL = 0.7

SCALES = (0, 1, 2, 4, 8)
"""Where a kink of h is smoothed over a width s, panels end at these multiples of s on both sides of it."""


def erf_kernel(a: ArrayLike, c: ArrayLike, b: ArrayLike) -> Array:
    """Return E erf(u/sqrt 2) erf(w/sqrt 2) = (2/pi) asin(c/sqrt((1+a)(1+b))) for variances a, b and covariance c; any shapes.

    >>> round(float(erf_kernel(1, 1, 1)), 12) == round(1 / 3, 12)  # erf(Z/sqrt 2) is uniform on (-1, 1)
    True
    """
    a, c, b = np.asarray(a, dtype=float), np.asarray(c, dtype=float), np.asarray(b, dtype=float)
    result: Array = 2 / math.pi * np.arcsin(c / np.sqrt((1 + a) * (1 + b)))
    return result


def gaussian_kernel(g: Activation, h: Activation, a: float, c: float, b: float) -> float:
    """Return E g(u) h(w) for Gaussian (u, w) with variances a, b and covariance c, to about 1e-12 relative to its size.

    Two-dimensional Gauss-Legendre quadrature in u and w - E(w | u), with panels that end at kinks.  Raises ValueError unless
    a, b >= 0 and c^2 <= a b.

    >>> relu = Activation("relu")
    >>> round(gaussian_kernel(relu, relu, 1, 0.5, 1) - (0.75**0.5 + math.pi / 3) / (2 * math.pi), 12)
    0.0
    """
    if not (a >= 0 and b >= 0 and c * c <= a * b * (1 + 1e-12)):
        raise ValueError(f"a, c, b must be two variances around a covariance with c^2 <= a b, got {a!r}, {c!r}, {b!r}")
    if g == ERF and h == ERF:
        return float(erf_kernel(a, c, b))
    return _quadrature(g, h, float(a), float(c), float(b))


@functools.lru_cache(maxsize=4096)
def _quadrature(g: Activation, h: Activation, a: float, c: float, b: float) -> float:
    if a == 0:
        return float(g(np.zeros(1))[0]) * _mean(h, b)
    slope = c / math.sqrt(a)
    # c^2 = a b up to rounding: w is then a multiple of u.
    spread = math.sqrt(b - slope * slope) if b - slope * slope > 1e-15 * b else 0.0
    breaks = [kink / math.sqrt(a) for kink in kinks_of(g)]
    if slope:
        breaks += [(kink + sign * k * spread) / slope for kink in kinks_of(h) for k in SCALES for sign in (-1, 1)]
    z, weights = _gauss(breaks)
    inner = h(slope * z) if spread == 0 else _smoothed(h, slope * z, spread)
    return float(weights @ (g(math.sqrt(a) * z) * inner))


def _gauss(breaks: Sequence[float]) -> tuple[Array, Array]:
    z, weights = panels(breaks, -REACH, REACH, PANEL)
    return z, weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _mean(h: Activation, variance: float) -> float:
    if variance == 0:
        return float(h(np.zeros(1))[0])
    z, weights = _gauss([kink / math.sqrt(variance) for kink in kinks_of(h)])
    return float(weights @ h(math.sqrt(variance) * z))


def _smoothed(h: Activation, centres: Array, spread: float) -> Array:
    """E h(centre + spread Z) at every centre, its own panels ending where the kinks of h are seen from there."""
    kinks = sorted(kinks_of(h))
    inside = [np.minimum(np.maximum((kink - centres) / spread, -REACH), REACH) for kink in kinks]
    ends = np.stack([np.full_like(centres, -REACH), *inside, np.full_like(centres, REACH)], axis=1)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros_like(centres)
    count = math.ceil(2 * REACH / PANEL)
    for piece in range(ends.shape[1] - 1):
        width = (ends[:, piece + 1] - ends[:, piece])[:, None] / count
        for panel in range(count):
            z = ends[:, piece, None] + width * (panel + (1 + nodes) / 2)
            total += (h(centres[:, None] + spread * z) * np.exp(-z * z / 2)) @ weights * width[:, 0] / 2
    result: Array = total / math.sqrt(2 * math.pi)
    return result


def prediction_error(
    Q: ArrayLike,
    R: ArrayLike,
    T: ArrayLike,
    v: ArrayLike,
    v_teacher: ArrayLike,
    student: Activation | str = ERF,
    teacher: Activation | str | None = None,
    half: bool = False,
) -> float:
    """Return E (sum_k v^k g(lambda^k) - sum_m v~^m g~(nu^m))^2 of Gaussian fields, or half of it with ``half``.

    ``Q`` (K, K), ``R`` (K, M) and ``T`` (M, M) are their second moments, ``v`` (K,) and ``v_teacher`` (M,) the second layers;
    numbers do for K = M = 1.  ``student`` is g, ``teacher`` g~ (g if not given).  For g = g~ = erf(x/sqrt 2) an arcsine
    formula, else two-dimensional quadrature.  Raises ValueError unless [[Q, R], [R^T, T]] is symmetric and positive semidefinite.
    Source: Saad and Solla (1995), Biehl and Schwarze (1995) for the formula.

    >>> round(prediction_error(1, 0.5, 1, 1, 1), 12)  # 2/3 - (4/pi) asin(1/4)
    0.344944173646
    >>> prediction_error([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 0], [0, 1]], [1, 2], [1, 2], half=True)
    0.0
    >>> prediction_error(1, 2, 1, 1, 1)
    Traceback (most recent call last):
        ...
    ValueError: [[Q, R], [R^T, T]] must be positive semidefinite, its least eigenvalue is -1: no fields have these second moments
    """
    g = _read(student, "student")
    h = g if teacher is None else _read(teacher, "teacher")
    q, t = _matrix(Q, "Q"), _matrix(T, "T")
    first, second = _vector(v, len(q), "v", "Q"), _vector(v_teacher, len(t), "v_teacher", "T")
    r = np.array(R, dtype=float, ndmin=2)
    if r.shape != (len(q), len(t)) or not np.isfinite(r).all():
        raise ValueError(f"R must hold {len(q)} x {len(t)} finite numbers, one for every student and teacher unit, got {R!r}")
    check_covariance(q, r, t)
    if g == ERF and h == ERF:
        value = float(erf_prediction_error(q, r, t, first, second))
    else:
        value = _by_pairs(g, h, q, r, t, first, second)
    return value / 2 if half else value


def erf_prediction_error(q: Array, r: Array, t: Array, v: Array, v_teacher: Array) -> Array:
    """The arcsine formula for g = g~ = erf(x/sqrt 2), unchecked, over leading axes of (..., K, K), (..., K, M), (..., M, M)."""
    own, other = np.einsum("...kk->...k", q), np.einsum("...mm->...m", t)
    students = erf_kernel(own[..., :, None], q, own[..., None, :])
    teachers = erf_kernel(other[..., :, None], t, other[..., None, :])
    both = erf_kernel(own[..., :, None], r, other[..., None, :])
    result: Array = (students @ v) @ v + (teachers @ v_teacher) @ v_teacher - 2 * (both @ v_teacher) @ v
    return result


def _by_pairs(g: Activation, h: Activation, q: Array, r: Array, t: Array, v: Array, v_teacher: Array) -> float:
    def quadratic(one: Activation, moments: Array, weights: Array) -> float:
        size = range(len(moments))
        return sum(
            weights[i] * weights[j] * gaussian_kernel(one, one, moments[i, i], moments[i, j], moments[j, j])
            for i in size
            for j in size
        )

    cross = sum(
        v[k] * v_teacher[m] * gaussian_kernel(g, h, q[k, k], r[k, m], t[m, m]) for k in range(len(q)) for m in range(len(t))
    )
    return float(quadratic(g, q, v) + quadratic(h, t, v_teacher) - 2 * cross)


def check_covariance(q: Array, r: Array, t: Array) -> None:
    """Raise ValueError unless Q and T are symmetric and [[Q, R], [R^T, T]] is positive semidefinite, up to rounding."""
    for name, matrix in (("Q", q), ("T", t)):
        if np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
            raise ValueError(f"{name} must be symmetric, a matrix of second moments, got {matrix.tolist()!r}")
    whole = np.block([[q, r], [r.T, t]])
    least = float(np.linalg.eigvalsh(whole)[0])
    # Eigenvalues of exact zeros come out at rounding of the largest entries, and entries may have been rounded themselves.
    if least < -1e-12 * len(whole) * max(float(np.abs(whole).max()), 1e-300):
        raise ValueError(
            f"[[Q, R], [R^T, T]] must be positive semidefinite, its least eigenvalue is {least:.6g}: no fields have these "
            "second moments"
        )


def _read(activation: Any, name: str) -> Activation:
    try:
        return activation if isinstance(activation, Activation) else Activation(activation)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an activation or its text: {error}") from None


def _matrix(value: Any, name: str) -> Array:
    matrix = np.array(value, dtype=float, ndmin=2)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be a square matrix of finite numbers, got {value!r}")
    return matrix


def _vector(value: Any, length: int, name: str, of: str) -> Array:
    vector = np.array(value, dtype=float, ndmin=1)
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must hold {length} finite numbers, one for every row of {of}, got {value!r}")
    return vector
