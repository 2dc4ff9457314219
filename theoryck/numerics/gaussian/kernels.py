"""Gaussian kernels h(s1, s2, c) = E phi(u) phi(v) over arrays of Gram matrices, in float64.

With c_k(s) = E phi(sqrt(s) Z) h_k(Z), h_k the normalised Hermite polynomials, and r = c / sqrt(s1 s2), Mehler's formula says
    h(s1, s2, c) = sum_k c_k(s1) c_k(s2) r^k,        g(s) = h(s, s, s) = sum_k c_k(s)^2,
and what is cut after order K is at most |r|^(K+1) sqrt((g(s1) - sum_{k<=K} c_k(s1)^2) (g(s2) - ...)) by Cauchy-Schwarz.  c_k is
analytic in Re s > 0, so on an octave 2^j <= s < 2^(j+1) a Chebyshev polynomial in log s gives c_k/sqrt(g) to rounding; octaves are
tabulated when they are first met and do not depend on what else is asked.  Where phi has kinks or is steep at the scale sqrt(s) the
series is too slow for |r| close to 1: those entries are integrated one by one (:mod:`theoryck.numerics.gaussian.quadrature`).
Closed forms are in :mod:`theoryck.numerics.gaussian.kernel_forms`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernel_forms import closed_form, correlation
from theoryck.numerics.gaussian.quadrature import Mesh, mesh, pair_mean, panels, split
from theoryck.numerics.proved.formulas import real_array
from theoryck.records.arguments import integer

Array = NDArray[np.float64]

RELATIVE_TAIL = 1e-13
"""The series is cut where its tail is below this times sqrt(g(s1) g(s2))."""

ROUNDING = 4e-15
"""Rounding of 1 - sum c_k^2 / g: about 20 units in the last place of 1; what is left below it is taken for nothing."""

LAST_ORDER = {True: 640, False: 2400}
"""With kinks (True) and without.  .95^640 = 6e-15: for |r| <= .95 the series passes RELATIVE_TAIL by this order for every phi.
Without kinks c_k^2 falls as exp(-2 y sqrt(k)) in a strip of half-width y/sqrt(s): 2400 reach |r| = 1 for tanh up to s = 20."""

DEGREES = (24, 36, 54, 80)
"""Degrees of the Chebyshev polynomials that are tried on an octave."""

PANEL_WIDTH = 0.6
"""Width of a panel in standard deviations: 24 nodes resolve the oscillation, of wave number sqrt(k) <= 49, of h_k exp(-z^2/4)."""

SMALLEST, LARGEST = 1e-60, 1e60
"""Variances are squares of scales, which lie within 1e-30..1e30."""

SYMMETRY_ROUNDING = 1e-9
"""A Gram matrix may differ from its transpose by this times its largest diagonal entry."""

BANDS = (0.6, 0.75, 0.87, 0.95, 1.0)
"""Entries with large |r| are few in high dimension: later terms of the series are summed only where |r| is above these in turn."""

GRAMS_AT_ONCE_BYTES = 1 << 19
"""Size of the temporaries of one piece, so that they stay in a second-level cache."""


def layer_kernel(activation: Activation | str) -> LayerKernel:
    """Return the kernel of one layer, h applied to every entry of a Gram matrix.

    Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577: E[x_1(mu) . x_1(nu) | X] = h of the Gram matrix of X.

    >>> kernel = layer_kernel("sin(x)")
    >>> kernel(np.array([[1.0, 0.5], [0.5, 2.0]])).round(6)
    array([[0.432332, 0.116272],
           [0.116272, 0.490842]])
    """
    return LayerKernel(activation if isinstance(activation, Activation) else Activation(activation))


@dataclass(frozen=True)
class LayerKernel:
    """The map of Gram matrices K -> E phi(u) phi(u)^T, u ~ N(0, K), entry by entry: float64, picklable, right to about 1e-13 g.

    >>> from theoryck.numerics.gaussian import layer_kernel
    >>> h = layer_kernel("erf")
    >>> gram = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> np.round(h(gram), 6)
    array([[0.464559, 0.216347],
           [0.216347, 0.464559]])
    >>> bool(abs(h(gram)[0, 1] - 2 / np.pi * np.arcsin(1 / 3)) < 1e-13)  # (2/pi) asin(2 c/(1 + 2 s))
    True
    """

    activation: Activation

    def __call__(self, gram: ArrayLike) -> Array:
        """Return h of every entry of ``gram`` (..., n, n), symmetric with a non-negative diagonal; ValueError otherwise."""
        gram = real_array(gram, "gram")
        s = _diagonal(gram)
        # On the diagonal u = v: the series would converge at its slowest, and rounding of r would show.
        values = self._entries(s, s, gram, skip_diagonal=True)
        index = np.arange(s.shape[-1])
        values[..., index, index] = diagonal = self.variance(s)
        same = (gram == s[..., :, None]) & (gram == s[..., None, :])
        if np.count_nonzero(same) > s.size:
            # Identical inputs have identical entries, to the last place.
            values = np.where(same, np.broadcast_to(diagonal[..., None, :], values.shape), values)
        return values

    def cross(self, gram: ArrayLike, cross: ArrayLike, s_new: ArrayLike) -> Array:
        """Return E phi(u_i) phi(v_j) (..., n, m) between old inputs with Gram matrix (..., n, n) and m new ones.

        ``cross`` (..., n, m) holds their covariances and ``s_new`` (..., m) the variances of the new inputs.
        """
        return self._entries(_diagonal(real_array(gram, "gram")), real_array(s_new, "s_new"), real_array(cross, "cross"))

    def variance(self, s: ArrayLike) -> Array:
        """Return g(s) = E phi(sqrt(s) Z)^2 for variances s >= 0 of any shape; ValueError where it is infinite."""
        s = _checked_variances(real_array(s, "s"))
        closed = closed_form(self.activation)
        return self._finite(closed(s, s, s)) if closed is not None else _series(self.activation).variance(s)

    def _finite(self, values: Array) -> Array:
        if not np.all(np.isfinite(values)):
            raise ValueError(f"the kernel of {self.activation} is too large for float64 at these variances: take smaller ones")
        return values

    def _entries(self, s1: Array, s2: Array, c: Array, skip_diagonal: bool = False) -> Array:
        s1, s2 = _checked_variances(s1), _checked_variances(s2)
        n, m = s1.shape[-1], s2.shape[-1]
        if c.shape[-2:] != (n, m):
            raise ValueError(f"cross must have shape (..., {n}, {m}) for {n} old and {m} new inputs, got {c.shape}")
        if not np.all(np.isfinite(c)):
            raise ValueError(f"covariances must be finite numbers, got {c[~np.isfinite(c)][0]!r}")
        closed = closed_form(self.activation)
        if closed is not None:
            return self._finite(closed(s1[..., :, None], s2[..., None, :], c))
        lead = np.broadcast_shapes(s1.shape[:-1], s2.shape[:-1], c.shape[:-2])
        flat1 = np.broadcast_to(s1, (*lead, n)).reshape(-1, n)
        flat2 = np.broadcast_to(s2, (*lead, m)).reshape(-1, m)
        flat_c = np.broadcast_to(c, (*lead, n, m)).reshape(-1, n, m)
        result = np.empty_like(flat_c)
        series, step = _series(self.activation), max(GRAMS_AT_ONCE_BYTES // (8 * 3 * n * m), 1)
        for start in range(0, len(result), step):
            part = slice(start, start + step)
            result[part] = series.entries(flat1[part], flat2[part], flat_c[part], skip_diagonal)
        return result.reshape(*lead, n, m)


@dataclass(frozen=True)
class DeepKernel:
    """The layer kernel applied ``depth`` times: the Gram matrix of an infinitely wide network.

    At depth 1 it is E[K_W | X] for every width; from depth 2 on it is that of wide hidden layers only.  Raises ValueError
    unless ``depth`` is an integer >= 0.

    >>> kernel = DeepKernel(Activation("x"), 3)
    >>> kernel(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    activation: Activation
    depth: int

    def __post_init__(self) -> None:
        if not isinstance(self.activation, Activation):
            object.__setattr__(self, "activation", Activation(self.activation))
        integer(self.depth, "depth")

    def __call__(self, gram: ArrayLike) -> Array:
        """Return the Gram matrix of layer ``depth`` for that of the inputs (..., n, n)."""
        layer, result = LayerKernel(self.activation), real_array(gram, "gram")
        _diagonal(result)
        for _ in range(self.depth):
            result = layer(result)
        return result

    def cross(self, gram: ArrayLike, cross: ArrayLike, s_new: ArrayLike) -> tuple[Array, Array, Array]:
        """Return (gram, cross, s_new) of layer ``depth`` for those of the inputs, of shapes (..., n, n), (..., n, m), (..., m)."""
        layer = LayerKernel(self.activation)
        old, between, new = real_array(gram, "gram"), real_array(cross, "cross"), real_array(s_new, "s_new")
        for _ in range(self.depth):
            old, between, new = layer(old), layer.cross(old, between, new), layer.variance(new)
        return old, between, new


def _diagonal(gram: Array) -> Array:
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2] or not gram.shape[-1]:
        raise ValueError(f"gram must have shape (..., n, n) with n >= 1, got {gram.shape}")
    s = np.diagonal(gram, axis1=-2, axis2=-1)
    gap = np.abs(gram - np.swapaxes(gram, -1, -2)).max(initial=0.0)
    if gap > SYMMETRY_ROUNDING * np.max(s, initial=0.0):
        raise ValueError(f"gram must be symmetric, but an entry differs from its mirror image by {gap:.3g}")
    return s


def _checked_variances(s: Array) -> Array:
    if not np.all(np.isfinite(s)) or np.any(s < 0):
        raise ValueError(f"variances must be finite numbers >= 0, got {s[~(np.isfinite(s) & (s >= 0))][0]!r}")
    outside = (s > LARGEST) | ((s > 0) & (s < SMALLEST))
    if np.any(outside):
        raise ValueError(f"variances must be 0 or lie between {SMALLEST:g} and {LARGEST:g}, got {s[outside][0]!r}: change the unit")
    return s


# Mehler's series.


@dataclass(frozen=True)
class _Octave:
    """Chebyshev coefficients in log2 s on an octave of c_k/sqrt(g) (orders, degree+1) and log g (degree+1,); tails."""

    orders: Array
    log_variance: Array
    tails: Array
    """tails[i]: the largest sqrt(1 - sum of the first i+1 squares / g) on the octave."""


class _Series:
    """Tables of c_k by octave of s for one activation, filled when they are needed."""

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self.kinks = tuple(sorted(float(point) for point in activation.kinks))
        odd, even = bool(activation.properties.odd.value), bool(activation.properties.even.value)
        self.first, self.stride = (1 if odd else 0), (2 if odd or even else 1)
        self.last = LAST_ORDER[bool(self.kinks)]
        self.octaves: dict[int, _Octave] = {}
        self.meshes: dict[int, Mesh] = {}

    def octave(self, j: int) -> _Octave:
        if j not in self.octaves:
            self.octaves[j] = self._tabulate(j)
        return self.octaves[j]

    def mesh(self, j: int) -> Mesh:
        """Return the panels for the variances 2^j <= s <= 2^(j+1)."""
        if j not in self.meshes:
            self.meshes[j] = mesh(self.activation, self.kinks, 2.0 ** (j + 1))
        return self.meshes[j]

    def _tabulate(self, j: int) -> _Octave:
        edges = split(self.mesh(j).edges, PANEL_WIDTH * 2.0 ** (j / 2))
        for degree in DEGREES:
            # Chebyshev points of the first kind in t = 2 log2(s) - 2j - 1 in (-1, 1).
            t = np.cos(math.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
            values, squares = self._coefficients(2.0 ** (j + (t + 1) / 2), edges)
            if not np.any(squares):
                # phi is 0, to underflow, wherever the Gaussian has mass.
                return _Octave(np.zeros((1, 1)), np.array([-math.inf]), np.zeros(1))
            fit = np.cos(np.outer(np.arange(degree + 1), np.arccos(t))) * (2 / (degree + 1))
            fit[0] /= 2
            orders, variance = values @ fit.T, np.log(squares) @ fit.T
            # The last coefficients measure what was cut; rounding leaves about 1e-15, and as much for every unit of log g.
            rounding = 3e-14 + 3e-15 * float(np.max(np.abs(np.log(squares))))
            if max(np.max(np.abs(orders[:, -3:])), np.max(np.abs(variance[-3:]))) <= rounding:
                break
        else:
            raise ValueError(f"the kernel of {self.activation} varies too fast near the variance {2.0**j:.3g} to be tabulated")
        left = 1 - np.cumsum(values**2, axis=0)
        return _Octave(orders, variance, np.sqrt(np.maximum(np.max(left, axis=1), 0.0)))

    def _coefficients(self, s: Array, edges: Array) -> tuple[Array, Array]:
        """Return c_k(s)/sqrt(g(s)) (orders, len(s)) and g(s), by panels that are halved until that changes nothing at three s."""
        some = s[[0, len(s) // 2, -1]]
        before = self._quadrature(some, edges)
        for _ in range(3):
            finer = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
            found = self._quadrature(some, finer)
            if _agree(before, found):
                return self._quadrature(s, edges)
            edges, before = finer, found
        raise ValueError(f"E phi(sqrt(s) Z)^2 of {self.activation} could not be integrated near the variance {s[0]:.3g}")

    def _quadrature(self, s: Array, edges: Array) -> tuple[Array, Array]:
        # With a parity both sides contribute the same.
        x, weight = panels(edges if self.stride == 1 else edges[edges >= 0])
        z, weight = x / np.sqrt(s)[:, None], weight * self.stride / np.sqrt(s)[:, None]
        before, psi = np.zeros_like(z), np.exp(-(z**2) / 4) * (2 * math.pi) ** -0.25
        base = self.activation(x) * psi
        squares = np.sum(base**2 * weight, axis=1)
        if not np.all(np.isfinite(squares)) or (np.any(squares < 1e-280) and np.any(squares)):
            raise ValueError(f"E phi(sqrt(s) Z)^2 of {self.activation} is outside float64 near the variance {s[0]:.3g}")
        # The size is taken out of phi first: its product with the weights may be too small for float64.
        base *= weight / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
        rows: list[Array] = []
        total = np.zeros_like(squares)
        for k in range(self.last + 1):
            if k >= self.first and (k - self.first) % self.stride == 0:
                # c_k^2 is kept below what Bessel leaves only up to rounding; nothing is lost when all but that is used up.
                row = np.einsum("sz,sz->s", base, psi)
                rows.append(row)
                total = total + row**2
                if np.all(1 - total <= ROUNDING) and len(rows) >= 2:
                    break
            # Hermite functions h_k(z) exp(-z^2/4): forward recurrence is stable, they grow or oscillate in k.
            before, psi = psi, (z * psi - math.sqrt(k) * before) / math.sqrt(k + 1)
        return np.array(rows), squares

    def variance(self, s: Array) -> Array:
        result = np.full(s.shape, float(self.activation(np.zeros(1))[0]) ** 2)
        for octave, inside, chebyshev in self._cells(s):
            result[inside] = np.exp(octave.log_variance @ chebyshev)
        return result

    def _cells(self, s: Array) -> list[tuple[_Octave, NDArray[np.bool_], Array]]:
        positive = s > 0
        exponent = np.frexp(np.where(positive, s, 1.0))[1] - 1
        cells = []
        for j in np.unique(exponent[positive]):
            inside = positive & (exponent == j)
            t = 2 * (np.log2(s[inside]) - j) - 1
            octave = self.octave(int(j))
            cells.append((octave, inside, np.polynomial.chebyshev.chebvander(t, len(octave.log_variance) - 1).T))
        return cells

    def entries(self, s1: Array, s2: Array, c: Array, skip_diagonal: bool) -> Array:
        """Return h (B, n, m) for variances (B, n), (B, m) and covariances (B, n, m)."""
        r = correlation(c, np.sqrt(s1[:, :, None] * s2[:, None, :]))
        if skip_diagonal:
            index = np.arange(r.shape[-1])
            r[:, index, index] = 0.0
        cells1 = self._cells(s1)
        cells2 = cells1 if s1 is s2 else self._cells(s2)
        tail = self._tail([octave for octave, *_ in (*cells1, *cells2)])
        largest = float(np.max(np.abs(r), initial=0.0))
        orders = self._orders(largest, tail)
        a = self._table(s1, cells1, orders)
        b = a if s1 is s2 else self._table(s2, cells2, orders)
        done = self._orders(min(largest, BANDS[0]), tail)
        result = _horner(a[:done, :, :, None], b[:done, :, None, :], self._power(r)) * (r if self.first else 1.0)
        for low, high in pairwise(BANDS):
            stop = self._orders(min(largest, high), tail)
            if stop > done:
                block, row, column = np.nonzero(np.abs(r) > low)
                far = r[block, row, column]
                rest = _horner(a[done:stop, block, row], b[done:stop, block, column], self._power(far))
                result[block, row, column] += rest * far ** (self.first + self.stride * done)
                done = stop
        left1, left2 = self._left(s1, cells1), self._left(s2, cells2)
        if orders == len(tail) and left1.any() and left2.any():
            left = left1[:, :, None] * left2[:, None, :]
            slow = np.abs(r) ** (self.first + self.stride * orders) * left > RELATIVE_TAIL
            self._integrate(result, np.triu(slow) if skip_diagonal else slow, s1, s2, r)
            if skip_diagonal:
                row, column = np.tril_indices(r.shape[-1], -1)
                result[:, row, column] = result[:, column, row]
        return result

    def _integrate(self, result: Array, slow: NDArray[np.bool_], s1: Array, s2: Array, r: Array) -> None:
        """Overwrite the slow entries of ``result`` by their integrals."""
        for p, i, k in np.argwhere(slow).tolist():
            one, two, correlation_ = float(s1[p, i]), float(s2[p, k]), float(r[p, i, k])
            if one == two and correlation_ == 1:
                result[p, i, k] = self.variance(np.array([one]))[0]
            else:
                ends = ((self.mesh(_octave(one)), one), (self.mesh(_octave(two)), two))
                result[p, i, k] = pair_mean(self.activation, self.kinks, *ends, correlation_)

    def _orders(self, largest: float, tail: Array) -> int:
        """Return the number of terms whose tail is small for |r| <= largest, or all there are."""
        enough = np.flatnonzero(largest ** (self.first + self.stride * (np.arange(len(tail)) + 1)) * tail <= RELATIVE_TAIL)
        return int(enough[0]) + 1 if len(enough) else len(tail)

    def _power(self, r: Array) -> Array:
        return r if self.stride == 1 else r * r

    def _tail(self, octaves: list[_Octave]) -> Array:
        longest = max((len(octave.tails) for octave in octaves), default=1)
        tail = np.zeros(longest)
        for octave in octaves:
            padded = np.full(longest, octave.tails[-1] if len(octave.tails) * self.stride >= self.last else 0.0)
            padded[: len(octave.tails)] = octave.tails
            tail = np.maximum(tail, padded)
        # An octave whose series ended early has used up g to rounding.
        return np.where(tail**2 <= ROUNDING, 0.0, tail**2)

    def _left(self, s: Array, cells: list[tuple[_Octave, NDArray[np.bool_], Array]]) -> Array:
        """Return what the longest series leaves at every entry of ``s``, relative to sqrt(g); 0 where it ended before."""
        left = np.zeros(s.shape)
        for octave, inside, _ in cells:
            if octave.tails[-1] ** 2 > ROUNDING:
                left[inside] = octave.tails[-1]
        return left

    def _table(self, s: Array, cells: list[tuple[_Octave, NDArray[np.bool_], Array]], orders: int) -> Array:
        table = np.zeros((orders, *s.shape))
        if self.first == 0:
            table[0][s == 0] = float(self.activation(np.zeros(1))[0])
        for octave, inside, chebyshev in cells:
            rows = octave.orders[:orders]
            table[: len(rows), inside] = rows @ chebyshev * np.exp(octave.log_variance @ chebyshev / 2)
        return table


def _octave(s: float) -> int:
    """The j with 2^j <= s < 2^(j+1), also where a logarithm would round up."""
    return math.frexp(s)[1] - 1


@functools.lru_cache(maxsize=64)
def _series(activation: Activation) -> _Series:
    return _Series(activation)


def _agree(one: tuple[Array, Array], two: tuple[Array, Array]) -> bool:
    orders = min(len(one[0]), len(two[0]))
    close = float(np.max(np.abs(one[0][:orders] - two[0][:orders]))) <= 2e-14
    rounding = 2e-14 + 1e-15 * np.abs(np.log(np.where(two[1] > 0, two[1], 1.0)))
    return close and bool(np.all(np.abs(one[1] - two[1]) <= rounding * two[1]))


def _horner(a: Array, b: Array, power: Array) -> Array:
    """Return sum_i a[i] b[i] power^i, where a[i] b[i] has the shape of ``power``."""
    result = a[-1] * b[-1]
    term = np.empty_like(result)
    for i in range(len(a) - 2, -1, -1):
        np.multiply(a[i], b[i], out=term)
        result *= power
        result += term
    return np.asarray(result)
