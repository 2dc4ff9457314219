"""Expansion of moments of the Gram chain in inverse widths: graded polynomials and one exact conditional step.

Given the layer below, the Gram entries of a layer are means of d independent terms, so their joint cumulants are exactly
``d^(1-j) kappa_beta(X)``, |beta| = j, with ``kappa_beta`` smooth in the Gram X below.  Write ``Delta`` for the deviation of X from
its deterministic limit and ``eps = 1/d_min``.  Everything here is a polynomial in (Delta, eps), graded by

    weight(Delta) = 1,   weight(eps) = 2,

because Delta is of size d^(-1/2).  One conditional expectation never lowers the weight, so a truncation at weight W is exact up to
O(d^(-(W+1)/2)) after any number of layers.

Cumulants of one neuron pair: For u, v centred Gaussian with Gram (S, S', Q), M_pq(S, S', Q) = E[phi(u)^p phi(v)^q] obeys
dM/dQ = E[f'(u) g'(v)], dM/dS = E[f''(u) g(v)] / 2 with f = phi^p, g = phi^q, so its Taylor coefficients at (sigma, sigma, 0) are
products of the one-dimensional numbers F[p][m] = E f^(m)(sqrt(sigma) Z) = sigma^(-m/2) E[f(sqrt(sigma) Z) He_m(Z)] (integration by
parts: no derivative of phi is taken, kinks are allowed).  At (sigma, sigma, q) they are Mehler sums of such products.

Moments of the Gram chain as truncated series in 1/d_min, computed once per (activation, ratios of widths, power).

``norm_expansion`` and ``overlap_expansion`` run the backward recursion of :mod:`theoryck.theory.networks.proved.series` from the
top layer to the input; :func:`evaluate` sums a series at one d_min.  The coefficients are exact up to their balls, the truncation
is estimated: the series is asymptotic, so the sum stops at its smallest term and that term is the radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from theoryck.numerics.balls import maximum, plus_minus, precision
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.hermite import expression_of, hermite_table

Index = tuple[int, ...]
Vector = Any  # one-dimensional numpy array: object (arb balls, exact zeros) or float64


def zeros(*shape: int, dtype: Any = object) -> Any:
    """Return an array of exact zeros (Python integers in an object array mix with balls and stay exact)."""
    return np.zeros(shape, dtype=dtype)


class Grading:
    """The monomials ``Delta^alpha eps^a`` of weight at most ``weight`` in ``variables`` deviations, in order of weight.

    ``exponents`` has shape (N, variables + 1), the power of eps last; ``free`` numbers the monomials without eps.  ``pairs`` lists
    all products (monomial, eps-free monomial) that stay within the weight, sorted by the product.
    """

    def __init__(self, variables: int, weight: int) -> None:
        self.variables, self.weight = variables, weight
        free = [e for e in product(range(weight + 1), repeat=variables) if sum(e) <= weight]
        free.sort(key=lambda e: (sum(e), e))
        full = [(*e, a) for e in free for a in range((weight - sum(e)) // 2 + 1)]
        full.sort(key=lambda e: (sum(e) + e[-1], e))
        self.free_index: dict[Index, int] = {e: i for i, e in enumerate(free)}
        self.exponents = np.array(full, dtype=np.int64)
        self.free_exponents = np.array(free, dtype=np.int64).reshape(len(free), variables)
        self.weights = self.exponents.sum(axis=1) + self.exponents[:, -1]
        self.free_weights = self.free_exponents.sum(axis=1)
        self.count = np.searchsorted(self.weights, np.arange(weight + 1), side="right")
        self.free_count = np.searchsorted(self.free_weights, np.arange(weight + 1), side="right")
        self._lookup = np.full((weight + 1,) * variables + (weight // 2 + 1,), -1, dtype=np.int64)
        self._lookup[tuple(self.exponents.T)] = np.arange(len(full))
        self.pairs = self._pairs(self.exponents, self.weights)
        self.parity, self.free_parity = self._parities()
        groups = [(i, j) for i in sorted(set(self.parity)) for j in sorted(set(self.free_parity))]
        kinds = (self.parity[self.pairs[0]], self.free_parity[self.pairs[1]])
        self.parts = {(i, j): tuple(t[(kinds[0] == i) & (kinds[1] == j)] for t in self.pairs) for i, j in groups}
        keep = self.exponents[self.pairs[0], -1] == 0
        position = self._lookup[(*tuple(self.free_exponents.T), np.zeros(len(free), dtype=np.int64))]
        renumber = np.full(len(full), -1, dtype=np.int64)
        renumber[position] = np.arange(len(free))
        self.free_position = position
        self.free_pairs = (renumber[self.pairs[0][keep]], self.pairs[1][keep], renumber[self.pairs[2][keep]])

    def _parities(self) -> tuple[Any, Any]:
        """Parities in the last deviation, in which series of a Gram matrix are even or odd (one variable: not split)."""
        split = 2 if self.variables > 1 else 1
        return self.exponents[:, -2] % split, self.free_exponents[:, -1] % split

    def _pairs(self, exponents: Any, weights: Any) -> tuple[Any, Any, Any]:
        parts = []
        for j, (step, size) in enumerate(zip(self.free_exponents, self.free_weights)):
            left = np.arange(self.count[self.weight - size])
            target = self._lookup[tuple((exponents[left] + np.append(step, 0)).T)]
            parts.append(np.stack([left, np.full(len(left), j), target]))
        triples = np.concatenate(parts, axis=1)
        triples = triples[:, np.argsort(triples[2], kind="stable")]
        return triples[0], triples[1], triples[2]

    def index(self, monomials: Any) -> Any:
        """Return the numbers of monomials given as exponent rows of shape (n, variables + 1)."""
        return self._lookup[tuple(np.asarray(monomials).T)]

    def times_eps(self, numbers: Any, power: int) -> Any:
        """Return the numbers of the monomials multiplied by ``eps**power``."""
        moved = self.exponents[numbers].copy()
        moved[:, -1] += power
        return self.index(moved)


@lru_cache(maxsize=16)
def grading(variables: int, weight: int) -> Grading:
    """Return the (shared, read-only) grading."""
    return Grading(variables, weight)


def contract(left: Any, right: Vector, triples: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Multiply each row of ``left`` by ``right``: (numbers of the products, values of shape (rows, numbers))."""
    i, j, k = triples
    if len(k) == 0:
        return k, zeros(len(left), 0, dtype=left.dtype)
    starts = np.flatnonzero(np.append(True, k[1:] != k[:-1]))
    return k[starts], np.add.reduceat(left[:, i] * right[j], starts, axis=1)


@lru_cache(maxsize=1024)
def multi_indices(variables: int, order: int) -> tuple[Index, ...]:
    """Return all multi-indices of total order exactly ``order``.

    >>> multi_indices(2, 2)
    ((0, 2), (1, 1), (2, 0))
    """
    if variables == 1:
        return ((order,),)
    return tuple((i, *rest) for i in range(order + 1) for rest in multi_indices(variables - 1, order - i))


def _first(alpha: Index) -> int:
    return next(i for i, a in enumerate(alpha) if a)


@lru_cache(maxsize=1 << 18)
def recursion_coefficient(alpha: Index, beta: Index) -> int:
    """Return the multiplicity of ``kappa_beta m_(alpha-beta)`` in the moment ``m_alpha``: 0 unless beta holds the marked factor.

    m_alpha = sum_beta C kappa_beta m_(alpha-beta), the block of the set partition that contains one marked factor being beta.

    >>> recursion_coefficient((4,), (2,))
    3
    """
    if any(b > a for a, b in zip(alpha, beta)):
        return 0
    mark = _first(alpha)
    if beta[mark] == 0:
        return 0
    value = 1
    for i, (a, b) in enumerate(zip(alpha, beta)):
        value *= comb(a - 1, b - 1) if i == mark else comb(a, b)
    return value


def cumulants_from_moments(space: Grading, moments: Mapping[Index, Vector], degrees: Mapping[int, int]) -> dict[Index, Vector]:
    """Return joint cumulants (eps-free power series) from raw moments; ``degrees[order]`` is the degree to which each is needed."""
    cumulants: dict[Index, Vector] = {}
    live = {beta: nonzero(series) for beta, series in moments.items()}
    known: dict[Index, Any] = {}
    for order in sorted(degrees):
        size = space.free_count[degrees[order]]
        stop = int(np.searchsorted(space.free_pairs[2], size))
        triples = (space.free_pairs[0][:stop], space.free_pairs[1][:stop], space.free_pairs[2][:stop])
        for beta in multi_indices(space.variables, order):
            total = moments[beta][:size].copy()
            for gamma in product(*(range(b + 1) for b in beta)):
                weight = recursion_coefficient(beta, gamma)
                if gamma == beta or weight == 0:
                    continue
                rest = tuple(b - g for b, g in zip(beta, gamma))
                i, j, k = triples
                alive = known[gamma][i] & live[rest][j]
                numbers, values = contract((cumulants[gamma] * -weight)[None, :], moments[rest], (i[alive], j[alive], k[alive]))
                total[numbers] += values[0]
            cumulants[beta], known[beta] = total, nonzero(total)
    return cumulants


def nonzero(values: Any) -> Any:
    """Return the mask of entries that are not exactly zero."""
    if values.dtype != object:
        return values != 0
    return np.fromiter((v != 0 if isinstance(v, int) else not v.is_zero() for v in values), dtype=bool, count=len(values))


def cumulant_degrees(weight: int) -> dict[int, int]:
    """Return {order: degree in Delta} of the cumulants that can matter at a total weight: each costs eps^(order-1)."""
    return {order: weight - 2 * order + 2 for order in range(1, weight // 2 + 2)}


class _Stack:
    """Coefficients of the unresolved factors ``Delta_l^alpha``, |alpha| = order: polynomials in the layer below, one row each."""

    def __init__(self, space: Grading, order: int, dtype: Any) -> None:
        self.indices = multi_indices(space.variables, order)
        self.row = {alpha: i for i, alpha in enumerate(self.indices)}
        columns = int(space.count[space.weight - order])
        self.values = zeros(len(self.indices), columns, dtype=dtype)
        self.alive = np.zeros((len(self.indices), columns), dtype=bool)


def conditional_expectation(space: Grading, poly: Vector, cumulants: Mapping[Index, Vector], ratio: Any) -> Vector:
    """Return E[poly(Delta_l, eps) | layer l-1] as a polynomial in (Delta_(l-1), eps).

    ``cumulants[beta]`` are the eps-free power series of the joint cumulants of ONE term (the limit subtracted from the means) and
    ``ratio = d_min / d_l``.  The factors Delta_l^alpha are resolved from the highest order down (the adjoint of the recursion from
    cumulants to moments), so that the weight still available, weight - |alpha|, is small where there are many alpha.
    """
    weight = space.weight
    stacks = [_Stack(space, order, poly.dtype) for order in range(weight + 1)]
    for number in np.flatnonzero(nonzero(poly)):
        alpha, power = tuple(int(e) for e in space.exponents[number][:-1]), int(space.exponents[number][-1])
        stack = stacks[sum(alpha)]
        column = space.index([[0] * space.variables + [power]])[0]
        stack.values[stack.row[alpha], column] += poly[number]
        stack.alive[stack.row[alpha], column] = True
    masks = {beta: nonzero(series) for beta, series in cumulants.items()}
    for order in range(weight, 0, -1):
        for beta in masks:
            if sum(beta) <= order:
                _resolve(space, stacks, order, beta, cumulants[beta] * ratio ** (sum(beta) - 1), masks[beta])
    result = zeros(len(space.exponents), dtype=poly.dtype)
    result[:] = stacks[0].values[0]
    return result


def _resolve(space: Grading, stacks: list[_Stack], order: int, beta: Index, series: Vector, mask: Any) -> None:
    """Move every row of the stack of this order along ``alpha -> alpha - beta`` with the factor ``eps^(|beta|-1) kappa_beta``."""
    size = sum(beta)
    budget = space.weight - order - size + 2
    if budget < 0 or not mask.any():
        return
    source, target = stacks[order], stacks[order - size]
    for rows, factors, targets in _moves(space.variables, order, beta):
        live = source.alive[rows].any(axis=1)
        if not live.any():
            continue
        left = source.values[rows[live]] * factors[live, None].astype(source.values.dtype)
        alive = source.alive[rows[live]].any(axis=0)
        into = targets[live][:, None]
        for triples in _live_parts(space, alive, mask, budget):
            columns, values = contract(left, series, triples)
            columns = space.times_eps(columns, size - 1)
            target.values[into, columns[None, :]] += values
            target.alive[into, columns[None, :]] = True


def _live_parts(space: Grading, alive: Any, mask: Any, budget: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the products of live monomials within a weight, by parity of the factors."""
    limit = space.count[min(budget, space.weight)]
    for (left, right), triples in space.parts.items():
        here, there = alive & (space.parity[: len(alive)] == left), mask & (space.free_parity[: len(mask)] == right)
        if not (here.any() and there.any()):
            continue
        stop = np.searchsorted(triples[2], limit)
        i, j, k = (t[:stop] for t in triples)
        inside = np.flatnonzero((i < len(here)) & (j < len(there)))
        i, j, k = i[inside], j[inside], k[inside]
        keep = np.flatnonzero(here[i] & there[j])
        if len(keep):
            yield i[keep], j[keep], k[keep]


@lru_cache(maxsize=4096)
def _moves(variables: int, order: int, beta: Index) -> tuple[tuple[Any, Any, Any], ...]:
    """Return (rows, coefficients, target rows) of ``alpha -> alpha - beta``, split by the parity of the last index of alpha.

    Rows of one parity share their zeros when phi is odd, so each group multiplies only what is there.
    """
    above = np.array(multi_indices(variables, order))
    rows = np.flatnonzero((above >= np.array(beta)).all(axis=1))
    target = {alpha: i for i, alpha in enumerate(multi_indices(variables, order - sum(beta)))}
    groups: tuple[list[tuple[int, int, int]], ...] = ([], [])
    for i, alpha in zip(rows.tolist(), above[rows].tolist()):
        coefficient = recursion_coefficient(tuple(alpha), beta)
        if coefficient:
            groups[alpha[-1] % 2].append((i, coefficient, target[tuple(a - b for a, b in zip(alpha, beta))]))
    columns = [tuple(zip(*group)) for group in groups if group]
    return tuple((np.array(rows), np.array(factors, dtype=object), np.array(targets)) for rows, factors, targets in columns)


def monomial(space: Grading, alpha: Index, dtype: Any = object) -> Vector:
    """Return ``Delta^alpha`` as a vector of the grading."""
    poly = zeros(len(space.exponents), dtype=dtype)
    poly[space.index([[*alpha, 0]])[0]] = arb(1) if dtype is object else 1
    return poly


# Conditional cumulants of one neuron pair ---------------------------------------------------------------------------------------

HermiteTable = list[list[arb]]


def derivative_table(table: HermiteTable, variance: arb) -> HermiteTable:
    """Return F[p][m] = E (phi^p)^(m)(sqrt(s) Z) from E[phi(sqrt(s) Z)^p He_m(Z)]."""
    root = 1 / variance.sqrt()
    powers = [arb(1)]
    for _ in range(len(table[0]) - 1):
        powers.append(powers[-1] * root)
    return [[value * scale for value, scale in zip(row, powers)] for row in table]


def orders_needed(weight: int) -> tuple[int, int]:
    """Return the largest power of phi and the largest Hermite order that a weight asks for."""
    return weight + 2, 2 * weight


def norm_cumulants(space: Grading, table: HermiteTable) -> dict[Index, Vector]:
    """Return the cumulants of phi(sqrt(S) Z)^2 as series in S - sigma, the limit subtracted from the mean; one variable."""
    degrees = cumulant_degrees(space.weight)
    moments: dict[Index, Vector] = {}
    for order, degree in degrees.items():
        moments[(order,)] = _series([table[2 * order][2 * i] / (factorial(i) * 2**i) for i in range(degree + 1)])
    return _centred(cumulants_from_moments(space, moments, degrees))


def gram_cumulants(space: Grading, table: HermiteTable, variance: arb, overlap: arb | None = None) -> dict[Index, Vector]:
    """Return the joint cumulants of (phi(u)^2, phi(v)^2, phi(u) phi(v)) as series about (sigma, sigma, q); three variables."""
    degrees = cumulant_degrees(space.weight)
    kernel = _kernel(table, overlap, variance, 2 * space.weight)
    moments: dict[Index, Vector] = {}
    for order, degree in degrees.items():
        exponents = space.free_exponents[: space.free_count[degree]]
        for beta in multi_indices(3, order):
            p, q = 2 * beta[0] + beta[2], 2 * beta[1] + beta[2]
            values = [
                kernel(p, q, m + 2 * i, m + 2 * j) / (factorial(i) * factorial(j) * factorial(m) * 2 ** (i + j))
                for i, j, m in exponents.tolist()
            ]
            moments[beta] = _series(values)
    return _centred(cumulants_from_moments(space, moments, degrees))


def _kernel(table: HermiteTable, overlap: arb | None, variance: arb, orders: int) -> Callable[[int, int, int, int], arb]:
    """Return (p, q, n, n') -> E[f^(n)(u) g^(n')(v)], f = phi^p, g = phi^q, at the overlap (None: independent u and v)."""
    if overlap is None:
        return lambda p, q, n, n2: table[p][n] * table[q][n2]
    length = len(table[0])
    scales = [arb(1)]
    for r in range(1, length):
        scales.append(scales[-1] * overlap / r)
    blocks: dict[tuple[int, int], arb_mat] = {}
    decay = 1 / (1 - abs(overlap) / variance)

    def kernel(p: int, q: int, n: int, n2: int) -> arb:
        if (p, q) not in blocks:
            left = arb_mat([[table[p][i + r] * scales[r] for r in range(length - orders)] for i in range(orders + 1)])
            right = arb_mat([[table[q][j + r] for j in range(orders + 1)] for r in range(length - orders)])
            blocks[p, q] = left * right
        # The omitted terms decay like powers of the correlation: the last two kept, times 1/(1 - c), estimate them.
        kept = (length - orders - 2, length - orders - 1)
        last = sum((abs(table[p][n + r] * scales[r] * table[q][n2 + r]) for r in kept), arb(0))
        return blocks[p, q][n, n2] + plus_minus(last * decay)

    return kernel


def _series(values: list[Any]) -> Vector:
    out = zeros(len(values), dtype=object if isinstance(values[0], arb) else np.float64)
    out[:] = values
    return out


def _centred(cumulants: dict[Index, Vector]) -> dict[Index, Vector]:
    """Subtract the deterministic limit from the means: their constant term becomes exactly zero."""
    for beta, values in cumulants.items():
        if sum(beta) == 1:
            values[0] = values[0] * 0
    return cumulants


def input_cumulants(space: Grading) -> dict[Index, Vector]:
    """Return the cumulants of (u^2, v^2, u v), or of u^2, for independent standard u, v: the input layer, exact constants."""
    degrees = dict.fromkeys(cumulant_degrees(space.weight), 0)
    moments: dict[Index, Any] = {}
    for order in degrees:
        for beta in multi_indices(space.variables, order):
            if space.variables == 1:
                moments[beta] = _series([arb(_gaussian_moment(2 * order))])
            else:
                moments[beta] = _series([arb(_gaussian_moment(2 * beta[0] + beta[2]) * _gaussian_moment(2 * beta[1] + beta[2]))])
    return _centred(cumulants_from_moments(space, moments, degrees))


def _gaussian_moment(power: int) -> int:
    """Return E Z^power = (power - 1)!! for even powers, 0 for odd ones."""
    return 0 if power % 2 else factorial(power) // (2 ** (power // 2) * factorial(power // 2))


NORM_WEIGHT = 32  # even powers up to 8 keep at least 12 corrections; costs about 0.3 s a layer
BALL_CORRECTIONS = 2  # corrections of an overlap moment kept as balls; further ones in float64
FLOAT_CORRECTIONS = 6
MAX_OVERLAP_WEIGHT = 20
# Against closed forms and quadratures of one layer (9 activations, widths 2..256, powers 2..8) the error was at most 1.7 e_n for
# bounded phi (see :func:`evaluate`) and 4.6 e_n for polynomials.
BOUNDED_SAFETY, UNBOUNDED_SAFETY = 3, 10
MAX_OVERLAP_POWER = 16
MAX_MEHLER_TERMS = 400

Ratios = tuple[Fraction, ...]


@dataclass(frozen=True)
class Expansion:
    """``E = sum_i coefficients[i] eps^(first + i)`` with eps = 1/d_min, asymptotic as d_min grows at fixed ratios.

    A sum must reach the index ``least`` (around a non-zero limit the first terms do not see the fluctuations); ``bounded``: phi is.
    """

    first: int
    coefficients: tuple[arb, ...]
    bounded: bool
    least: int = 1


@lru_cache(maxsize=256)
def limits(activation: Any, layer: int, bits: int) -> tuple[arb, arb]:
    """Return the deterministic limits (sigma_l, q_l) of |x_l|^2 and of x_mu . x_nu; q_l is exactly 0 when every mean is 0."""
    with precision(bits + 32):
        if layer == 0:
            return arb(1), arb(0)
        below, overlap = limits(activation, layer - 1, bits)
        orders = mehler_terms(overlap / below, bits)
        table = _finite_part(hermite_table(activation, below, 2, orders, bits, proved=False), 0)
        mean = table[1][0]
        if overlap.is_zero():
            return table[2][0], arb(0) if vanishes(mean, bits) else mean * mean
        return table[2][0], _mehler(table[1], overlap / below, table[2][0])


def mehler_terms(correlation: arb, bits: int) -> int:
    """Return how many powers of the correlation are kept: its decay to 2^-bits, half as many again for derivatives, at most 400."""
    if correlation.is_zero():
        return 0
    decay = bits * math.log(2) / -math.log(abs(float(correlation)))
    return min(math.ceil(1.5 * decay) + 30, MAX_MEHLER_TERMS)


def _finite_part(table: HermiteTable, needed: int) -> HermiteTable:
    """Cut all rows before the first order with no finite bound: a shorter Mehler sum only has a larger tail estimate."""
    length = min(next((m for m, value in enumerate(row) if not value.is_finite()), len(row)) for row in table)
    if length <= needed:
        raise ExactError(f"E[phi^j He_m] is not bounded from m = {length} on, and orders up to {needed} are needed")
    return [row[:length] for row in table]


def vanishes(mean: arb, bits: int) -> bool:
    """Whether a mean is zero as far as ``bits`` can tell (a parity gives an exact zero, He_2 at variance 1 a tiny ball)."""
    return bool(mean.contains(0) and mean.rad() < arb(2) ** (-bits // 2))


def _mehler(row: Sequence[arb], correlation: arb, second: arb) -> arb:
    """Return E[f(u) f(v)] = sum_m c^m/m! (E f He_m)^2, the tail bounded with ``second`` = E f^2."""
    total, scale = arb(0), arb(1)
    for m, value in enumerate(row):
        if m:
            scale = scale * correlation / m
        total += scale * value * value
    # sum_{m>=M} c^m a_m^2 <= c^M E f^2, because sum a_m^2 <= E f^2 (Bessel).
    return total + plus_minus(correlation ** len(row) * second)


@lru_cache(maxsize=64)
def _norm_layer(activation: Any, layer: int, weight: int, bits: int) -> dict[Index, Vector]:
    powers, orders = orders_needed(weight)
    with precision(bits + 32):
        variance = limits(activation, layer - 1, bits)[0]
        table = derivative_table(hermite_table(activation, variance, powers, orders, bits, proved=False), variance)
        return norm_cumulants(grading(1, weight), table)


@lru_cache(maxsize=64)
def _gram_layer(activation: Any, layer: int, weight: int, bits: int, floating: bool) -> dict[Index, Vector]:
    powers, orders = orders_needed(weight)
    with precision(bits + 32):
        variance, overlap = limits(activation, layer - 1, bits)
        mehler = mehler_terms(overlap / variance, bits)
        hermite = _finite_part(
            hermite_table(activation, variance, powers, orders + mehler, bits, proved=False), orders + min(mehler, 8)
        )
        table: Any = derivative_table(hermite, variance)
        if vanishes(table[1][0], bits):
            table[1][0] = arb(0)
        if floating and not mehler:
            table = [[float(value) for value in row] for row in table]
        cumulants = gram_cumulants(grading(3, weight), table, variance, overlap if mehler else None)
        return {beta: np.array([float(v) for v in series]) for beta, series in cumulants.items()} if floating else cumulants


@lru_cache(maxsize=16)
def _input_layer(variables: int, weight: int, floating: bool) -> dict[Index, Vector]:
    cumulants = input_cumulants(grading(variables, weight))
    return {beta: series.astype(np.float64) for beta, series in cumulants.items()} if floating else cumulants


def _ratio(value: Fraction, floating: bool) -> Any:
    return float(value) if floating else arb(fmpq(value.numerator, value.denominator))


def _constants(space: Grading, poly: Vector) -> list[Any]:
    zero = [0] * space.variables
    return [poly[space.index([[*zero, a]])[0]] for a in range(space.weight // 2 + 1)]


@lru_cache(maxsize=512)
def norm_expansion(activation: Any, ratios: Ratios, power: int, bits: int) -> Expansion:
    """Return the series of E(|x_L|^2 - sigma_L)^power; ``ratios`` are d_l / d_min for l = 0..L, ``power`` is even."""
    weight = _norm_weight(activation, len(ratios) - 1, power, bits)
    space = grading(1, weight)
    with precision(bits + 32):
        poly = monomial(space, (power,))
        for layer in range(len(ratios) - 1, 0, -1):
            cumulants = _norm_layer(activation, layer, weight, bits)
            poly = conditional_expectation(space, poly, cumulants, _ratio(1 / ratios[layer], False))
        poly = conditional_expectation(space, poly, _input_layer(1, weight, False), _ratio(1 / ratios[0], False))
    return _expansion(_constants(space, poly), power // 2, activation)


@lru_cache(maxsize=256)
def _norm_weight(activation: Any, depth: int, power: int, bits: int) -> int:
    """Return the largest weight whose Hermite coefficients all have finite bounds, in steps of 4 from NORM_WEIGHT down."""
    weight = max(NORM_WEIGHT, power + 12)
    while weight > power + 4:
        layers = (_norm_layer(activation, layer, weight, bits) for layer in range(1, depth + 1))
        if all(value.is_finite() for layer in layers for series in layer.values() for value in series):
            return weight
        weight -= 4
    return weight


@lru_cache(maxsize=512)
def overlap_expansion(activation: Any, ratios: Ratios, power: int, bits: int) -> Expansion:
    """Return the series of E(x_mu . x_nu)^power; leading terms as balls, further ones in float64 with a measured relative error."""
    if power > MAX_OVERLAP_POWER:
        raise ExactError(f"power must be at most {MAX_OVERLAP_POWER} for overlaps above the input layer, got {power}")
    centred = limits(activation, len(ratios) - 1, bits)[1].is_zero()
    first = power // 2 if centred else 0
    least = 1 if centred else power // 2 + 1
    sharp_weight = 2 * (first + BALL_CORRECTIONS)
    sharp = _overlap_constants(activation, ratios, power, bits, sharp_weight, False)
    # Without parities a weight costs four times as much: two corrections fewer around a non-zero limit.
    corrections = FLOAT_CORRECTIONS if centred else FLOAT_CORRECTIONS - 2
    weight = min(2 * (max(first, least) + corrections), MAX_OVERLAP_WEIGHT)
    if weight <= sharp_weight:
        return _expansion(sharp, first, activation, least)
    rough = _overlap_constants(activation, ratios, power, bits, weight, True)
    known = [(abs(r - float(s)), abs(float(s))) for r, s in zip(rough, sharp) if float(s)]
    # float64 loses what the sharp coefficients show it to lose; a factor 1000 leaves room for the higher orders.
    error = 1e3 * max([2.0**-53, *(gap / size for gap, size in known)])
    tail = [arb(value, abs(value) * error) for value in rough[len(sharp) :]]
    return _expansion([*sharp, *tail], first, activation, least)


def _overlap_constants(activation: Any, ratios: Ratios, power: int, bits: int, weight: int, floating: bool) -> list[Any]:
    space = grading(3, weight)
    with precision(bits + 32):
        poly = _overlap_power(space, limits(activation, len(ratios) - 1, bits)[1], power, floating)
        for layer in range(len(ratios) - 1, 0, -1):
            cumulants = _gram_layer(activation, layer, weight, bits, floating)
            poly = conditional_expectation(space, poly, cumulants, _ratio(1 / ratios[layer], floating))
        poly = conditional_expectation(space, poly, _input_layer(3, weight, floating), _ratio(1 / ratios[0], floating))
    return _constants(space, poly)


def _overlap_power(space: Grading, limit: arb, power: int, floating: bool) -> Vector:
    """Return (q + Delta_Q)^power, truncated at the weight of the grading."""
    dtype: Any = np.float64 if floating else object
    if limit.is_zero():
        return monomial(space, (0, 0, power), dtype)
    poly = np.zeros(len(space.exponents), dtype=dtype)
    coefficient = limit**power
    for j in range(min(power, space.weight) + 1):
        poly += monomial(space, (0, 0, j), dtype) * (float(coefficient) if floating else coefficient)
        coefficient = coefficient * (power - j) / (j + 1) / limit
    return poly


def _expansion(constants: Sequence[Any], first: int, activation: Any, least: int = 1) -> Expansion:
    balls = tuple(value if isinstance(value, arb) else arb(value) for value in constants[first:])
    return Expansion(first, balls, is_bounded(activation), least)


def evaluate(expansion: Expansion, d_min: int) -> arb:
    """Return the sum of the series at ``d_min`` as a ball: truncation estimate (not proved) plus the balls of the coefficients.

    Bounded phi: the sum through term n is charged with e_n = max(|t_n|, |t_(n+1)|, sqrt|t_n t_(n-1)|), which one accidentally small
    term cannot make small, and n is chosen where e_n is least (asymptotic series, smallest-term rule).  Unbounded phi: rare large
    values may dominate a high moment, and only the late terms know of it, so e_n is the largest of ALL terms from n on, and terms
    that grow again at the end (the larger ones may all lie beyond what was kept) raise NotConverged.
    """
    eps = arb(1) / d_min
    terms = [c * eps ** (expansion.first + i) for i, c in enumerate(expansion.coefficients)]
    sizes = [abs(term) for term in terms]
    if not expansion.bounded and grows_at_the_end([float(size.mid()) for size in sizes]):
        raise NotConverged(f"the expansion in 1/d does not converge at d_min = {d_min}: its last terms grow; take larger widths")
    best: tuple[arb, int] | None = None
    for n in range(expansion.least, len(terms)):
        late = sizes[n + 1 :] if not expansion.bounded else sizes[n + 1 : n + 2]
        error = maximum(sizes[n], (sizes[n] * sizes[n - 1]).sqrt(), *late)
        if best is None or error.mid() < best[0].mid():
            best = (error, n)
    if best is None:
        raise ExactError("the series has no correction term left: its truncation cannot be estimated")
    return sum(terms[: best[1] + 1], arb(0)) + plus_minus(best[0] * (BOUNDED_SAFETY if expansion.bounded else UNBOUNDED_SAFETY))


def grows_at_the_end(sizes: Sequence[float]) -> bool:
    """Whether the last two terms are still felt (above 1e-4 of the largest) and not clearly below the two before (a tenth).

    Pairs, because one term may be small by accident.  Fewer than four terms say nothing either way: their radius has to.  Of 320
    moments of polynomials and relu that their radius alone would have let pass one was wrong, with last terms of 2e-2; the last
    terms of asinh, below 1e-7, grow as those of any asymptotic series do, and are harmless.

    >>> grows_at_the_end([1.0, 0.1, 0.02, 1e-3, 2e-3]), grows_at_the_end([1.0, 0.1, 0.05, 0.06, 0.08])
    (False, True)
    """
    last = max(sizes[-2:], default=0.0)
    return len(sizes) >= 4 and last > 1e-4 * max(sizes) and last > max(sizes[-4:-2]) / 10


def is_bounded(activation: Any) -> bool:
    """Whether phi stays within twice its range on [-30, 30] at 1e3, 1e6 and 1e9: a guess that only chooses a truncation rule."""
    phi = activation if isinstance(activation, Activation) else Activation(expression_of(activation))
    near = np.abs(phi(np.linspace(-30.0, 30.0, 601))).max()
    far = np.abs(phi(np.array([s * v for s in (-1.0, 1.0) for v in (1e3, 1e6, 1e9)])))
    return bool(np.isfinite(far).all() and far.max() <= 2 * near)
