"""Prediction errors of two-layer students from the second moments of their local fields, and limits of projections.

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
from numpy.typing import ArrayLike
from sympy import Rational

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.gaussian.means import TAIL, adaptive, enclosed, float_of, image, kinks_of, nodes_of, panel_edges
from theoryck.numerics.proved.formulas import Number
from theoryck.quantities.arguments import LARGEST
from theoryck.records.arguments import exact_number
from theoryck.theory.projections.model import ERF, Array, coordinate, read_activation

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

MOST_RATIO = 10**12
"""N/D beyond this, or its inverse, would multiply the rounding of coefficients that are zero."""


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
def gaussian_kernel(g: Activation, h: Activation, a: float, c: float, b: float) -> tuple[float, float]:
    """Return E g(u) h(w), Var u = a, Var w = b, Cov = c, and a bound of its error: panels in u and w - E(w | u) as g and h ask."""
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
    if r.shape != (len(q), len(t)) or not (np.abs(r) <= LARGEST).all():
        raise ValueError(
            f"R must hold {len(q)} x {len(t)} numbers of size at most {LARGEST:g}, one for every pair of units, got {R!r}"
        )
    check_covariance(q, r, t)
    outputs = _distinct(g, h, q, r, t, first, second)
    value = (_arcsines if g == ERF and h == ERF else _quadratures)(outputs)
    return value / (2 if half else 1)


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
            kernel, bound = gaussian_kernel(one.phi, other.phi, one.row[-1], one.row[j], other.row[-1])
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


def check_covariance(q: Array, r: Array, t: Array) -> None:
    """Raise ValueError unless Q and T are symmetric and [[Q, R], [R^T, T]] is positive semidefinite, up to rounding."""
    for name, matrix in (("Q", q), ("T", t)):
        if np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
            raise ValueError(f"{name} must be symmetric, a matrix of second moments, got {matrix.tolist()!r}")
    whole = np.block([[q, r], [r.T, t]])
    least = float(np.linalg.eigvalsh(whole)[0])
    # Eigenvalues of exact zeros come out at rounding of the largest entries, and entries may have been rounded themselves.
    if least < -1e-12 * len(whole) * float(np.abs(whole).max()):
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
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not (np.abs(matrix) <= LARGEST).all():
        raise ValueError(f"{name} must be a square matrix of numbers of size at most {LARGEST:g}, got {value!r}")
    return matrix


def _vector(value: Any, length: int, name: str, of: str) -> Array:
    vector = _numbers(value, name, 1)
    if vector.shape != (length,) or not (np.abs(vector) <= LARGEST).all():
        raise ValueError(f"{name} must hold {length} numbers of size at most {LARGEST:g}, one for every row of {of}, got {value!r}")
    return vector


# Limits of projections ---------------------------------------------------------------------------------------------------------


def _ratio(ratio: Any) -> Fraction:
    number = exact_number(ratio, "ratio", low=0)
    if not isinstance(number, Fraction):
        number = Fraction(number.midpoint)
    if not Fraction(1, MOST_RATIO) <= number <= MOST_RATIO:
        raise ValueError(f"ratio must be N/D, between 1e-12 and 1e12, got {ratio!r}")
    return number


HERMITE = {0: ((0, 1),), 1: ((1, 1),), 2: ((2, 1), (0, -1)), 4: ((4, 1), (2, -6), (0, 3))}
"""He_k as (power, coefficient)."""


@dataclass(frozen=True)
class _Raw:
    """E sigma(Z)^j He_k(Z) by enclosures, with ``lost`` more digits than doubles need: those that the mean takes away."""

    phi: Activation
    lost: int

    def __call__(self, power: int, order: int = 0) -> Fraction:
        # By powers of Z: He_k itself may make a mean that is nearly 0, of which relative digits are hard to get and of no use.
        return sum((factor * self._monomial(power, k) for k, factor in HERMITE[order]), Fraction(0))

    def _monomial(self, power: int, k: int) -> Fraction:
        product = self.phi.expression**power * x**k
        what = f"sigma(Z)^{power}" + (f" Z^{k}" if k else "") + f", sigma = {self.phi.text},"
        return enclosed(product.expand() if product.is_polynomial(x) else product, 1, what, lost=self.lost)

    @property
    def mean(self) -> Fraction:
        return self(1)

    @property
    def variance(self) -> Fraction:
        return self(2) - self(1) ** 2

    @property
    def third(self) -> Fraction:
        return self(3) - 3 * self(1) * self(2) + 2 * self(1) ** 3

    @property
    def fourth(self) -> Fraction:
        m = self(1)
        return self(4) - 4 * m * self(3) + 6 * m**2 * self(2) - 3 * m**4 - 3 * self.variance**2

    def square(self, order: int) -> Fraction:
        """E (sigma(Z) - mean)^2 He_k(Z), k > 0."""
        return self(2, order) - 2 * self(1) * self(1, order)


@functools.lru_cache(maxsize=64)
def _raw(phi: Activation) -> _Raw:
    for lost in (0, 8, 24, 60):
        raw = _Raw(phi, lost)
        variance = raw.variance
        # Fourth powers of the mean cancel: (mean/deviation)^4 of them.
        if variance > 0 and (raw(2) / variance) ** 2 <= 10**lost * 100:
            return raw
    raise NotConverged(f"sigma = {phi.text} hardly varies: its variance is lost beside its mean, subtract the mean from sigma")


def projection_kurtosis_limit(activation: Activation | str, ratio: Number = 1) -> float:
    """Return lim N E kappa_4(lambda | a)/(E kappa_2)^2 for random-sign weights, N = ratio D -> infinity.

    [kappa_4(sigma) + 3 (N/D) (d_2^2 - 2 c_1^4)]/Var(sigma)^2, from enclosures.  The same for aligned weights and odd sigma.
    ``ratio`` is an exact number or its text, "1/2".  Raises ValueError for a bad ratio and where E sigma(Z)^4 is infinite,
    NotConverged where it is not known.

    >>> projection_kurtosis_limit("he2")  # kappa_4 = 12, d_2^2 = 8, c_1 = 0
    36.0
    """
    phi, delta = read_activation(activation), _ratio(ratio)
    try:
        return float_of(_exact_kurtosis(_raw(phi), delta), "the limit")
    except NotConverged:
        one = coordinate(phi)  # by quadrature, where enclosures are wide
        pairs = float(one.square[2] ** 2 - 2 * one.linear[1] ** 4)
        return (one.fourth + 3 * float(delta) * pairs) / one.variance**2


def _exact_kurtosis(raw: _Raw, delta: Fraction) -> Fraction:
    pairs = raw.square(2) ** 2 / 2 - 2 * raw(1, 1) ** 4
    return (raw.fourth + 3 * delta * pairs) / raw.variance**2


def localised_error_gap(activation: Activation | str, student: Activation | str) -> float:
    """Return E g(x)^2 - E g(sqrt(Q) Z)^2, x = sigma(Z) - E sigma(Z), Q = E x^2: what a localised student's error differs by.

    ``student`` is g.  No size enters: the field of w = sqrt(N) e_1 is one coordinate.  Raises ValueError where a mean is infinite,
    NotConverged where it is not known.

    >>> localised_error_gap("x", "erf(x/sqrt(2))"), localised_error_gap("tanh(5*x)", "erf(x/sqrt(2))") > 0.02
    (0.0, True)
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    mean = Rational(coordinate(phi, 2).mean)
    seen = Activation(g.expression.xreplace({x: phi.expression - mean if mean else phi.expression}))
    return image(seen, 1.0, "g(sigma - E sigma)").square - image(g, float(_variance(phi)), "g").square


def projection_skewness_limit(activation: Activation | str, ratio: Number = 1) -> float:
    """Return lim sqrt(N) E kappa_3(lambda | a)/(E kappa_2)^(3/2) for aligned weights w = (1, ..., 1), N = ratio D -> infinity.

    With r = N/D, s_2 = E sigma'' = sqrt(2) c_2 and s_4 = E sigma'''' = sqrt(24) c_4:
    [kappa_3(sigma) + 3 r c_2 d_2 + r^2 (s_2^3 + 3 s_2^2 s_4/4)]/(Var(sigma) + r c_2^2)^(3/2), from enclosures.  Zero for odd
    sigma.  ``ratio`` is an exact number or its text.  Raises ValueError for a bad ratio and where E sigma(Z)^3 is infinite,
    NotConverged where it is not known.

    >>> round(projection_skewness_limit("he2"), 12)  # sqrt(8) m_3/m_2^(3/2), Marchenko-Pastur moments 5 and 2
    5.0
    """
    phi, r = read_activation(activation), _ratio(ratio)
    try:
        top, scale = _skewness_parts(_raw(phi), r)
    except NotConverged:
        one = coordinate(phi, 3)  # by quadrature, where enclosures are wide
        second, fourth = math.sqrt(2) * one.linear[2], math.sqrt(24) * one.linear[4]
        triples = second**3 + 0.75 * second**2 * fourth
        top = Fraction(one.third) + 3 * r * Fraction(float(one.linear[2] * one.square[2])) + r**2 * Fraction(float(triples))
        scale = Fraction(one.variance) + r * Fraction(float(one.linear[2])) ** 2
    # Of squares, which are rational: powers of a very small or large sigma leave the range of doubles.
    return math.copysign(math.sqrt(float_of(top**2 / scale**3, "the squared limit")), top)


def _skewness_parts(raw: _Raw, r: Fraction) -> tuple[Fraction, Fraction]:
    second, fourth = raw(1, 2), raw(1, 4)
    triples = second**3 + 3 * second**2 * fourth / 4
    return raw.third + 3 * r * second * raw.square(2) / 2 + r**2 * triples, raw.variance + r * second**2 / 2


def _variance(phi: Activation) -> Fraction:
    try:
        return _raw(phi).variance
    except NotConverged:
        return Fraction(coordinate(phi, 2).variance)


def error_gap_limit(activation: Activation | str, student: Activation | str, ratio: Number = 1) -> float:
    """Return lim N (E g(lambda)^2 - E g(sqrt(Q) Z)^2), Q = Var sigma(Z), for random-sign weights: the first cumulant that is left.

    (1/24) lim N E kappa_4(lambda | a) times E (g^2)''''(sqrt(Q) Z) = E g(sqrt(Q) Z)^2 He_4(Z)/Q^2, by parts.  ``student`` is g.
    Raises as :func:`projection_kurtosis_limit` does, and ValueError where E g(sqrt(Q) Z)^2 is infinite.

    >>> round(error_gap_limit("sqrt(3)*erf(x/sqrt(2))", "x**2") - projection_kurtosis_limit("erf_scaled"), 9)  # Q = 1, g^2 = x^4
    0.0
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    variance = _variance(phi)
    q = Rational(variance.numerator, variance.denominator)
    product = g.expression**2 * (x**4 / q**2 - 6 * x**2 / q + 3)
    product = product.expand() if product.is_polynomial(x) else product
    what = f"g(sqrt(Q) Z)^2 He_4(Z), g = {g.text} and Q = {float(variance):.6g},"
    return projection_kurtosis_limit(phi, ratio) * float_of(enclosed(product, variance, what), f"E {what}") / 24
