"""Prediction error of two-layer students from the second moments of their local fields.

Student sum_k v^k g(lambda^k), teacher sum_m v~^m g~(nu^m); Gaussian fields with Q = E lambda lambda^T, R = E lambda nu^T and
T = E nu nu^T.
    pmse = E (sum_k v^k g(lambda^k) - sum_m v~^m g~(nu^m))^2 = v^T I(Q) v + v~^T I(T) v~ - 2 v^T I(R) v~,   I = E g(u) h(w).
Online learning mostly writes half of it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import TAIL, adaptive, enclosed, float_of, image, kinks_of, nodes_of, panel_edges
from theoryck.numerics.proved.formulas import exact_number

Array = NDArray[np.float64]

ERF = Activation("erf_scaled")
"""erf(x/sqrt(2)), whose kernel is an arcsine."""

CANCELLED = 1e-3
"""Below this part of its terms a sum of arcsines is evaluated with more digits."""

STEEP = 0.99
"""Above this ratio too: the slope of the arcsine is 7 there."""

LOST = 1e-6
"""Largest error, relative to the value, of a prediction error that is returned."""

MOST_VALUES = 8e7
"""Nodes of a double integral, two seconds, after which it is given up."""

SCALES = (0, 1, 2, 4, 8)
"""Where a kink of h is smoothed over a width s, panels end at these multiples of s on both sides of it."""

INNER = 2.0
"""Longest panel in the inner integral, in standard deviations; those on which the activation was resolved cut it further."""


def erf_kernel(a: ArrayLike, c: ArrayLike, b: ArrayLike) -> Array:
    """Return E erf(u/sqrt 2) erf(w/sqrt 2) = (2/pi) asin(c/sqrt((1+a)(1+b))) for variances a, b and covariance c; any shapes.

    >>> round(float(erf_kernel(1, 1, 1)), 12) == round(1 / 3, 12)  # erf(Z/sqrt 2) is uniform on (-1, 1)
    True
    """
    a, c, b = np.asarray(a, dtype=float), np.asarray(c, dtype=float), np.asarray(b, dtype=float)
    ratio = c / np.sqrt(1 + a) / np.sqrt(1 + b)
    # Variances beyond 1e15 are 1 more than themselves, and roots of them are rounded.
    result: Array = 2 / math.pi * np.arcsin(np.where(np.abs(ratio) <= 1 + 1e-15, np.sign(ratio) * np.fmin(np.abs(ratio), 1), ratio))
    return result


def gaussian_kernel(g: Activation, h: Activation, a: float, c: float, b: float) -> float:
    """Return E g(u) h(w) for Gaussian (u, w) with variances a, b and covariance c, to about 1e-12 relative to its size.

    Two-dimensional Gauss-Legendre quadrature in u and w - E(w | u), on windows and panels that g and h ask for.  Raises ValueError
    unless a, b >= 0 and c^2 <= a b and E g(u)^2 and E h(w)^2 are finite, NotConverged where the activations are not resolved.

    >>> relu = Activation("relu")
    >>> round(gaussian_kernel(relu, relu, 1, 0.5, 1) - (0.75**0.5 + math.pi / 3) / (2 * math.pi), 12)
    0.0
    """
    if not (a >= 0 and b >= 0 and c * c <= a * b * (1 + 1e-12)):
        raise ValueError(f"a, c, b must be two variances around a covariance with c^2 <= a b, got {a!r}, {c!r}, {b!r}")
    if g == ERF and h == ERF:
        return float(erf_kernel(a, c, b))
    return _product(g, h, float(a), float(c), float(b))[0]


class _Pair:
    """g(u) and h(w) of a Gaussian pair with Var u = a > 0, as functions of u = sqrt(a) z and w = slope z + spread y."""

    def __init__(self, g: Activation, h: Activation, a: float, c: float, b: float) -> None:
        self.g, self.h, self.what = g, h, f"E of {g.text} and {h.text} at ({a:.6g}, {c:.6g}, {b:.6g})"
        self.left, self.right = image(g, a), image(h, b)
        self.root, self.other, self.slope, self.spent = math.sqrt(a), math.sqrt(b), c / math.sqrt(a), 0
        # Exactly: b - c^2/a is what tells nearly equal fields apart.
        rest = Fraction(b) - Fraction(c) ** 2 / Fraction(a)
        self.spread = math.sqrt(rest) if rest > 0 else 0.0
        if rest <= 0:
            self.slope = math.copysign(self.other, c)
        # In z and y the window of h(w)^2 is a strip across, TAIL wide along; that of g(u)^2 is one along y.
        along, across = (self.slope / self.other, self.spread / self.other) if b else (0.0, 1.0)
        ends = [along * end + sign * across * TAIL for end in (self.right.low, self.right.high) for sign in (-1, 1)]
        self.low, self.high = min(self.left.low, -TAIL, *ends), max(self.left.high, TAIL, *ends)
        ends = [across * end + sign * along * TAIL for end in (self.right.low, self.right.high) for sign in (-1, 1)]
        self.inner = max(TAIL, *map(abs, ends))

    def outer_edges(self) -> Array:
        """Panels that resolve g(u), and h(w) smoothed over the spread of w given u."""
        breaks = [*(kink / self.root for kink in kinks_of(self.g)), *self.left.edges]
        if self.slope:
            breaks += [*(self.other * self.right.edges / self.slope)]
            sides = [sign * k * self.spread for k in SCALES for sign in (-1, 1)]
            breaks += [(kink + side) / self.slope for kink in kinks_of(self.h) for side in sides]
        return panel_edges(sorted(set(breaks)), self.low, self.high, 2.0)

    def rules(self, z: Array) -> tuple[Array, Array, Array]:
        """Nodes y, (len(z), nodes) or (1, nodes), their weights without the Gaussian, and w there."""
        if not self.spread:
            return np.zeros((1, 1)), np.full((1, 1), math.sqrt(2 * math.pi)), self.slope * z[:, None]
        base = panel_edges([], -self.inner, self.inner, INNER)
        seen = (self.other * self.right.edges - self.slope * z[:, None]) / self.spread
        # Panels that are out of reach have no width, so that every z has the same number of nodes.
        seen = np.minimum(np.maximum(seen, -self.inner), self.inner)
        edges = np.sort(np.concatenate([np.broadcast_to(base, (len(z), len(base))), seen], axis=1), axis=1)
        y, weights = nodes_of(edges)
        self.spent += y.size
        if self.spent > MOST_VALUES:
            raise NotConverged(f"{self.what} takes more than {MOST_VALUES:.0g} values of them: they vary too fast")
        return y, weights, self.slope * z[:, None] + self.spread * y

    def chunks(self, z: Array) -> list[Array]:
        """Nodes of the outer integral whose inner integrals fit the cache."""
        return np.array_split(z, max(len(z) * (len(self.right.edges) + 12) * 24 // 2**19, 1))


def _finite(phi: Activation, fields: Array) -> Array:
    """phi, and 0 where it overflows: far outside its window, where it is negligible beside any other output."""
    values = phi(fields)
    result: Array = np.where(np.isfinite(values), values, 0.0)
    return result


@functools.lru_cache(maxsize=4096)
def _product(g: Activation, h: Activation, a: float, c: float, b: float) -> tuple[float, float]:
    """E g(u) h(w) and a bound of its error."""
    if a == 0 or b == 0 or c == 0:
        values = [_mean(phi, variance) for phi, variance in ((g, a), (h, b))]
        return values[0] * values[1], 1e-14 * abs(values[0] * values[1])
    pair = _Pair(g, h, a, c, b)

    def integrand(z: Array) -> Array:
        parts = []
        for part in pair.chunks(z):
            y, weights, w = pair.rules(part)
            inner = _finite(h, w) * np.exp(-(part[:, None] ** 2 + 2 * y * y) / 4)
            parts.append(_finite(g, pair.root * part) * np.exp(-part * part / 4) * (inner * weights).sum(axis=1))
        return np.concatenate(parts) / (2 * math.pi)

    found = adaptive(integrand, pair.outer_edges(), pair.what)
    return float(found.values[0]), float(found.errors[0] + 1e-14 * found.sizes[0])


def _mean(phi: Activation, variance: float) -> float:
    return float_of(enclosed(phi.expression, Fraction(variance), f"of {phi.text}"), f"E of {phi.text}")


@functools.lru_cache(maxsize=4096)
def _difference(g: Activation, h: Activation, a: float, c: float, b: float, v: float, w: float) -> tuple[float, float]:
    """E (v g(u) + w h(u'))^2, a > 0, and a bound of its error: one square, so that nothing cancels but the two outputs."""
    pair = _Pair(g, h, a, c, b)

    def integrand(z: Array) -> Array:
        parts = []
        for part in pair.chunks(z):
            y, weights, fields = pair.rules(part)
            both = v * _finite(g, pair.root * part)[:, None] + w * _finite(h, fields)
            parts.append(((both * np.exp(-(part[:, None] ** 2 + y * y) / 4)) ** 2 * weights).sum(axis=1))
        return np.concatenate(parts) / (2 * math.pi)

    size = v * v * pair.left.square + w * w * pair.right.square
    edges = pair.outer_edges()
    rough = float(adaptive(integrand, edges, pair.what, tolerance=1e-2).values[0])
    if rough <= 0:
        return 0.0, 0.0
    # Outputs are rounded: their difference, of the order of sqrt(rough), is known relative to sqrt(size) only.
    tolerance = 1e-14 + 1e-15 * math.sqrt(size / rough)
    found = adaptive(integrand, edges, pair.what, tolerance=tolerance)
    return float(found.values[0]), float(found.errors[0] + tolerance * found.sizes[0])


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
    r = _numbers(R, "R", 2)
    if r.shape != (len(q), len(t)) or not np.isfinite(r).all():
        raise ValueError(f"R must hold {len(q)} x {len(t)} finite numbers, one for every student and teacher unit, got {R!r}")
    check_covariance(q, r, t)
    outputs = _distinct(g, h, q, r, t, first, second)
    # A power of two: outputs of 1e200 square to nothing that a double holds.
    scale = 2.0 ** math.frexp(max((abs(output.weight) for output in outputs), default=1.0))[1]
    outputs = [replace(output, weight=output.weight / scale) for output in outputs]
    value = (_arcsines if g == ERF and h == ERF else _quadratures)(outputs)
    with np.errstate(over="ignore"):
        value = float(np.float64(value) * scale * scale) / (2 if half else 1)
    if not math.isfinite(value):
        raise NotConverged("the prediction error is beyond the range of floating-point numbers: take smaller v and v_teacher")
    return value


@dataclass(frozen=True)
class _Output:
    """weight * phi(field), with the covariances of the field and all distinct fields before and with it."""

    phi: Activation
    weight: float
    row: tuple[float, ...]


def _distinct(g: Activation, h: Activation, q: Array, r: Array, t: Array, v: Array, v_teacher: Array) -> list[_Output]:
    """Outputs of different fields, v - v_teacher as one sum: units with the same function and the same row of moments are one."""
    whole = np.block([[q, r], [r.T, t]])
    whole = (whole + whole.T) / 2
    functions, weights = [g] * len(v) + [h] * len(v_teacher), [*map(float, v), *(-float(w) for w in v_teacher)]
    found: dict[tuple[Activation, tuple[float, ...]], int] = {}
    kept: list[int] = []
    for k, phi in enumerate(functions):
        first = found.setdefault((phi, tuple(whole[k])), k)
        if first == k:
            kept.append(k)
        else:
            weights[first] += weights[k]
    kept = [k for k in kept if weights[k]]
    return [_Output(functions[k], weights[k], tuple(float(whole[k, m]) for m in kept[: i + 1])) for i, k in enumerate(kept)]


def _arcsines(outputs: list[_Output]) -> float:
    """The arcsine formula, with more digits where its terms cancel."""
    pairs = [(i, j) for i in range(len(outputs)) for j in range(i + 1)]
    for digits in (15, 120, 400):
        exact = digits > 15
        with mpmath.workdps(digits):
            number, sine, root = (mpmath.mpf, mpmath.asin, mpmath.sqrt) if exact else (float, math.asin, math.sqrt)
            weights, own = [number(output.weight) for output in outputs], [root(1 + number(output.row[-1])) for output in outputs]
            ratios = [number(outputs[i].row[j]) / own[i] / own[j] for i, j in pairs]
            if max(map(abs, ratios), default=0) > (1 if exact else STEEP):
                continue  # to more digits: the arcsine magnifies rounding near 1
            terms = [weights[i] * weights[j] * (1 if i == j else 2) * sine(x) for (i, j), x in zip(pairs, ratios)]
            total, size = sum(terms), sum(map(abs, terms))
            # Rounding next to 1 costs half the digits.
            if total > size * (number(10) ** (15 - digits // 2) if exact else CANCELLED):
                return float(total * 2 / mpmath.pi) if exact else total * 2 / math.pi
            if total == size == 0:
                return 0.0
    return _nothing(float(total), float(size))


def _quadratures(outputs: list[_Output]) -> float:
    """One or two outputs as one square; more of them by pairs, as far as their sum does not cancel."""
    value, error = _square(outputs)
    if error <= LOST * value:
        return value
    squares = sum(output.weight**2 * image(output.phi, output.row[-1]).square for output in outputs)
    return _nothing(value, squares, error)


def _square(outputs: list[_Output]) -> tuple[float, float]:
    """E of the squared sum, and a bound of its error."""
    if len(outputs) > 2:
        return _by_groups(outputs)
    if len(outputs) < 2:
        value = sum(output.weight**2 * image(output.phi, output.row[-1]).square for output in outputs)
        return value, 1e-14 * value
    first, second = sorted(outputs, key=lambda output: -output.row[-1])
    a, c, b = first.row[-1], outputs[1].row[0], second.row[-1]
    if a:
        return _difference(first.phi, second.phi, a, c, b, first.weight, second.weight)
    value = float((first.weight * first.phi(0.0) + second.weight * second.phi(0.0)) ** 2)
    return value, 1e-14 * value


def _by_groups(outputs: list[_Output]) -> tuple[float, float]:
    """The square of a sum of three outputs or more, and its error.  Independent groups of one or two are squares of their own."""
    groups = _groups(outputs)
    if len(groups) > 1:
        means = [sum((Fraction(outputs[k].weight) * _exact_mean(outputs[k]) for k in group), Fraction(0)) for group in groups]
        squares = [_square(_part(outputs, group)) for group in groups]
        both = float_of(sum(means, Fraction(0)) ** 2 - sum((mean**2 for mean in means), Fraction(0)), "a product of means")
        return sum(value for value, _ in squares) + both, sum(error for _, error in squares) + 1e-16 * abs(both)
    value = error = 0.0
    for i, one in enumerate(outputs):
        for j, other in enumerate(outputs[: i + 1]):
            weight = one.weight * other.weight * (1 if i == j else 2)
            kernel, bound = _product(one.phi, other.phi, one.row[-1], one.row[j], other.row[-1])
            value, error = value + weight * kernel, error + abs(weight) * bound
    return value, error


def _groups(outputs: list[_Output]) -> list[list[int]]:
    """Fields that are correlated, directly or through others."""
    groups: list[list[int]] = []
    for i, output in enumerate(outputs):
        tied = [group for group in groups if any(output.row[j] for j in group)]
        groups = [group for group in groups if group not in tied] + [[*(k for group in tied for k in group), i]]
    return groups


def _part(outputs: list[_Output], group: list[int]) -> list[_Output]:
    return [replace(outputs[k], row=tuple(outputs[k].row[j] for j in group[: i + 1])) for i, k in enumerate(group)]


def _exact_mean(output: _Output) -> Fraction:
    return enclosed(output.phi.expression, Fraction(output.row[-1]), f"of {output.phi.text}")


def _nothing(value: float, size: float, error: float = 0.0) -> float:
    """0 for two outputs that are one, by moments that differ by rounding; NotConverged for a value that cancellation has taken."""
    if error == 0 and abs(value) <= 1e-11 * size:
        return 0.0
    raise NotConverged(
        f"the prediction error is {value:.3g}, to {error:.1g}: its terms, of size {size:.3g}, cancel: the fields are "
        "nearly the same"
    )


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


def _numbers(value: Any, name: str, ndmin: int) -> Array:
    """Doubles from numbers, or from exact ones and their texts."""
    try:
        array = np.array(value, ndmin=ndmin)
        if array.dtype.kind in "iuf":
            return np.asarray(array, dtype=float)
        entries = np.array(value, dtype=object, ndmin=ndmin)
    except ValueError:
        raise ValueError(f"{name} must be a number, or rows of equally many numbers, got {value!r}") from None
    flat = [float_of(_exactly(entry, name), name) for entry in entries.ravel()]
    return np.array(flat, dtype=float).reshape(entries.shape)


def _exactly(entry: Any, name: str) -> Fraction:
    number = exact_number(entry, f"an entry of {name}")
    return number if isinstance(number, Fraction) else Fraction(number.midpoint)


def _matrix(value: Any, name: str) -> Array:
    matrix = _numbers(value, name, 2)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be a square matrix of finite numbers, got {value!r}")
    return matrix


def _vector(value: Any, length: int, name: str, of: str) -> Array:
    vector = _numbers(value, name, 1)
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must hold {length} finite numbers, one for every row of {of}, got {value!r}")
    return vector
