"""Gaussian kernels h(s1, s2, c) = E phi(u) phi(v) over arrays of Gram matrices, in float64.

With c_k(s) = E phi(sqrt(s) Z) h_k(Z), h_k the normalised Hermite polynomials, and r = c / sqrt(s1 s2), Mehler's formula says
    h(s1, s2, c) = sum_k c_k(s1) c_k(s2) r^k,        g(s) = h(s, s, s) = sum_k c_k(s)^2,
and what is cut after order K is at most |r|^(K+1) sqrt((g(s1) - sum_{k<=K} c_k(s1)^2) (g(s2) - ...)) by Cauchy-Schwarz.  c_k is
analytic in Re s > 0, so on an octave 2^j <= s < 2^(j+1) a Chebyshev polynomial in log s gives it to rounding; octaves are tabulated
when they are first met and do not depend on what else is asked.  Where phi has kinks the series is too slow for |r| close to 1:
those entries are integrated one by one.  Closed forms are in :mod:`theoryck.asymptotics.kernel_forms`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.asymptotics.kernel_forms import closed_form, correlation
from theoryck.models.activation import Activation

Array = NDArray[np.float64]

RELATIVE_TAIL = 1e-13
"""The series is cut where its tail is below this times sqrt(g(s1) g(s2))."""

ROUNDING = 4e-15
"""Rounding of 1 - sum c_k^2 / g: about 20 units in the last place of 1; what is left below it is taken for nothing."""

LAST_ORDER = {True: 640, False: 2400}
"""With kinks (True) and without.  .95^640 = 6e-15: for |r| <= .95 the series passes RELATIVE_TAIL by this order for every phi.
Without kinks c_k^2 falls as exp(-2 y sqrt(k)) in a strip of half-width y/sqrt(s): 2400 reach |r| = 1 for tanh up to s = 20."""

DEGREES = (24, 36, 54)
"""Degrees of the Chebyshev polynomials that are tried on an octave."""

REACH = 14.0
"""Integrals over Z stop here: exp(-14^2/4) = 5e-22 is left of the two factors exp(-z^2/4) that c_k contains."""

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
    """The map of Gram matrices K -> E phi(u) phi(u)^T, u ~ N(0, K), entry by entry: float64, picklable, right to about 1e-13 g."""

    activation: Activation

    def __call__(self, gram: Array) -> Array:
        """Return h of every entry of ``gram`` (..., n, n), symmetric with a non-negative diagonal; ValueError otherwise."""
        s = _diagonal(gram)
        # On the diagonal u = v: the series would converge at its slowest, and rounding of r would show.
        values = self._entries(s, s, gram, skip_diagonal=True)
        index = np.arange(s.shape[-1])
        values[..., index, index] = self.variance(s)
        return values

    def cross(self, gram: Array, cross: Array, s_new: Array) -> Array:
        """Return E phi(u_i) phi(v_j) (..., n, m) between old inputs with Gram matrix (..., n, n) and m new ones.

        ``cross`` (..., n, m) holds their covariances and ``s_new`` (..., m) the variances of the new inputs.
        """
        return self._entries(_diagonal(gram), np.asarray(s_new, dtype=np.float64), np.asarray(cross, dtype=np.float64))

    def variance(self, s: Array) -> Array:
        """Return g(s) = E phi(sqrt(s) Z)^2 for an array of variances s >= 0."""
        s = _checked_variances(np.asarray(s, dtype=np.float64))
        closed = closed_form(self.activation)
        return closed(s, s, s) if closed is not None else _series(self.activation).variance(s)

    def _entries(self, s1: Array, s2: Array, c: Array, skip_diagonal: bool = False) -> Array:
        s1, s2 = _checked_variances(s1), _checked_variances(s2)
        n, m = s1.shape[-1], s2.shape[-1]
        if c.shape[-2:] != (n, m):
            raise ValueError(f"cross must have shape (..., {n}, {m}) for {n} old and {m} new inputs, got {c.shape}")
        closed = closed_form(self.activation)
        if closed is not None:
            return closed(s1[..., :, None], s2[..., None, :], c)
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

    At depth 1 it is E[K_W | X] for every width; from depth 2 on it is that of wide hidden layers only.

    >>> kernel = DeepKernel(Activation("x"), 3)
    >>> kernel(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    activation: Activation
    depth: int

    def __call__(self, gram: Array) -> Array:
        """Return the Gram matrix of layer ``depth`` for that of the inputs (..., n, n)."""
        layer = LayerKernel(self.activation)
        for _ in range(self.depth):
            gram = layer(gram)
        return gram

    def cross(self, gram: Array, cross: Array, s_new: Array) -> tuple[Array, Array, Array]:
        """Return (gram, cross, s_new) of layer ``depth`` for those of the inputs, of shapes (..., n, n), (..., n, m), (..., m)."""
        layer = LayerKernel(self.activation)
        for _ in range(self.depth):
            gram, cross, s_new = layer(gram), layer.cross(gram, cross, s_new), layer.variance(s_new)
        return gram, cross, s_new


def _diagonal(gram: Array) -> Array:
    gram = np.asarray(gram)
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2]:
        raise ValueError(f"gram must have shape (..., n, n), got {gram.shape}")
    return np.asarray(np.diagonal(gram, axis1=-2, axis2=-1), dtype=np.float64)


def _checked_variances(s: Array) -> Array:
    if not np.all(np.isfinite(s)) or np.any(s < 0):
        raise ValueError(f"variances must be finite numbers >= 0, got {s[~(np.isfinite(s) & (s >= 0))][0]!r}")
    return s


# Mehler's series.


@dataclass(frozen=True)
class _Octave:
    """Chebyshev coefficients (orders, degree+1) of c_k and (degree+1,) of g in log2 s on an octave, and bounds of the tails."""

    orders: Array
    variance: Array
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

    def octave(self, j: int) -> _Octave:
        if j not in self.octaves:
            self.octaves[j] = self._tabulate(j)
        return self.octaves[j]

    def _tabulate(self, j: int) -> _Octave:
        for degree in DEGREES:
            # Chebyshev points of the first kind in t = 2 log2(s) - 2j - 1 in (-1, 1).
            t = np.cos(math.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
            values, squares = self._coefficients(2.0 ** (j + (t + 1) / 2))
            fit = np.cos(np.outer(np.arange(degree + 1), np.arccos(t))) * (2 / (degree + 1))
            fit[0] /= 2
            orders, variance = values @ fit.T, squares @ fit.T
            # The last coefficients measure what was cut; rounding leaves about 1e-15 of the size.
            scale = math.sqrt(float(np.max(squares)))
            if np.max(np.abs(orders[:, -3:])) <= 3e-14 * scale:
                break
        else:
            raise ValueError(f"the kernel of {self.activation} varies too fast near the variance {2.0**j:.3g} to be tabulated")
        left = 1 - np.cumsum(values**2, axis=0) / squares
        return _Octave(orders, variance, np.sqrt(np.maximum(np.max(left, axis=1), 0.0)))

    def _coefficients(self, s: Array) -> tuple[Array, Array]:
        """Return c_k(s) (orders, len(s)) and g(s) by panels that are halved until two rounds agree."""
        panels, before = 56, None
        while panels <= 56 * 2**6:
            found = self._quadrature(s, panels)
            if before is not None and _agree(before, found):
                return found
            panels, before = panels * 2, found
        raise ValueError(f"E phi(sqrt(s) Z)^2 of {self.activation} could not be integrated near the variance {s[0]:.3g}")

    def _quadrature(self, s: Array, panels: int) -> tuple[Array, Array]:
        z, weight = _nodes(panels, tuple(self.kinks), np.sqrt(s))
        phi = self.activation(np.sqrt(s)[:, None] * z)
        before, psi = np.zeros_like(z), np.exp(-(z**2) / 4) * (2 * math.pi) ** -0.25
        squares = np.sum(phi**2 * psi**2 * weight, axis=1)
        base = phi * psi * weight
        rows: list[Array] = []
        total = np.zeros_like(squares)
        for k in range(self.last + 1):
            if k >= self.first and (k - self.first) % self.stride == 0:
                # c_k^2 is kept below what Bessel leaves only up to rounding; nothing is lost when all but that is used up.
                row = np.einsum("sz,sz->s", base, np.broadcast_to(psi, base.shape))
                rows.append(row)
                total = total + row**2
                if np.all(squares - total <= ROUNDING * squares) and len(rows) >= 2:
                    break
            # Hermite functions h_k(z) exp(-z^2/4): forward recurrence is stable, they grow or oscillate in k.
            before, psi = psi, (z * psi - math.sqrt(k) * before) / math.sqrt(k + 1)
        return np.array(rows), squares

    def variance(self, s: Array) -> Array:
        result = np.full(s.shape, float(self.activation(np.zeros(1))[0]) ** 2)
        for octave, inside, chebyshev in self._cells(s):
            result[inside] = octave.variance @ chebyshev
        return result

    def _cells(self, s: Array) -> list[tuple[_Octave, NDArray[np.bool_], Array]]:
        positive = s > 0
        exponent = np.floor(np.log2(np.where(positive, s, 1.0))).astype(int)
        cells = []
        for j in np.unique(exponent[positive]):
            inside = positive & (exponent == j)
            t = 2 * (np.log2(s[inside]) - j) - 1
            octave = self.octave(int(j))
            cells.append((octave, inside, np.polynomial.chebyshev.chebvander(t, len(octave.variance) - 1).T))
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
            for p, i, k in np.argwhere(slow).tolist():
                pair = float(s1[p, i]), float(s2[p, k]), float(r[p, i, k])
                result[p, i, k] = _direct(self.activation, self.kinks, *pair)
        return result

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
            table[: len(rows), inside] = rows @ chebyshev
        return table


@functools.lru_cache(maxsize=64)
def _series(activation: Activation) -> _Series:
    return _Series(activation)


def _agree(one: tuple[Array, Array], two: tuple[Array, Array]) -> bool:
    orders = min(len(one[0]), len(two[0]))
    scale = float(np.max(two[1]))
    if not scale < math.inf:
        raise ValueError("E phi(sqrt(s) Z)^2 is not finite in float64: phi grows too fast for a kernel")
    close = float(np.max(np.abs(one[0][:orders] - two[0][:orders]))) <= 2e-14 * math.sqrt(scale)
    return close and float(np.max(np.abs(one[1] - two[1]))) <= 2e-14 * scale


def _horner(a: Array, b: Array, power: Array) -> Array:
    """Return sum_i a[i] b[i] power^i, where a[i] b[i] has the shape of ``power``."""
    result = a[-1] * b[-1]
    term = np.empty_like(result)
    for i in range(len(a) - 2, -1, -1):
        np.multiply(a[i], b[i], out=term)
        result *= power
        result += term
    return np.asarray(result)


@functools.lru_cache(maxsize=8)
def _legendre(points: int) -> tuple[Array, Array]:
    node, weight = scipy.special.roots_legendre(points)
    return node, weight


def _nodes(panels: int, kinks: tuple[float, ...], scale: Array) -> tuple[Array, Array]:
    """Return nodes and weights (len(scale) or 1, N) of Gauss-Legendre panels on (-REACH, REACH), split at kinks / scale."""
    uniform = np.linspace(-REACH, REACH, panels + 1)
    if not kinks:
        edges = uniform[None]
    else:
        # Kinks out of reach give panels of no width, so that every row has the same number of nodes.
        split = np.minimum(np.maximum(np.array(kinks) / scale[:, None], -REACH), REACH)
        edges = np.sort(np.concatenate([np.broadcast_to(uniform, (len(scale), panels + 1)), split], axis=1), axis=1)
    return _panels(edges)


def _panels(edges: Array) -> tuple[Array, Array]:
    node, weight = _legendre(24)
    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges, axis=1) / 2
    rows = len(edges)
    return (middle[..., None] + half[..., None] * node).reshape(rows, -1), (half[..., None] * weight).reshape(rows, -1)


def _direct(phi: Activation, kinks: tuple[float, ...], s1: float, s2: float, r: float) -> float:
    """Return h at one entry as the integral over u of phi(u) E[phi(v) | u], by panels split at the kinks of both factors."""
    size1, size2, spread = math.sqrt(s1), math.sqrt(s2), math.sqrt((1 - r) * (1 + r))
    # E[phi(v) | u] bends over a distance `spread` around u/size1 = kink/(size2 r): panels shrink towards there.
    bends = [kink / (size2 * r) for kink in kinks]
    ladder = [sign * spread * 2.0**i for sign in (-1, 1) for i in range(-1, 32) if spread * 2.0**i < 2 * REACH] + [0.0]
    edges = {-REACH, REACH, *np.linspace(-REACH, REACH, 57), *(kink / size1 for kink in kinks)}
    edges |= {bend + step for bend in bends for step in ladder}
    inside = np.array(sorted(edge for edge in edges if -REACH <= edge <= REACH))
    z, weight = _panels(inside[None])
    mean = size2 * r * z[0]
    if spread > 0:
        uniform = np.linspace(-REACH, REACH, 29)
        split = (np.array(kinks) - mean[:, None]) / (size2 * spread)
        split = np.minimum(np.maximum(split, -REACH), REACH)
        y, inner = _panels(np.sort(np.concatenate([np.broadcast_to(uniform, (len(mean), 29)), split], axis=1), axis=1))
        density = np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi)
        conditional = np.sum(phi(mean[:, None] + size2 * spread * y) * density * inner, axis=1)
    else:
        conditional = phi(mean)
    density = np.exp(-(z[0] ** 2) / 2) / math.sqrt(2 * math.pi)
    return float(np.sum(phi(size1 * z[0]) * conditional * density * weight[0]))


def describe(activation: Activation | str) -> dict[str, Any]:
    """Return how the kernel of ``activation`` is computed: whether by a closed form, and the kinks where its series is slow.

    >>> describe("tanh"), describe("erf")
    ({'closed form': False, 'kinks': 0}, {'closed form': True, 'kinks': 0})
    """
    phi = layer_kernel(activation).activation
    return {"closed form": closed_form(phi) is not None, "kinks": len(phi.kinks)}
