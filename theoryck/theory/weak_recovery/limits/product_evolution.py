"""State evolution of monomials prod_j sign(z_j)^s_j |z_j|^k_j, without noise: what a label tells once omega is known.

Sign flips that keep the law keep Q diagonal: z_j ~ N(omega_j, v_j) independently, v_j = 1 - q_j, omega_j ~ N(0, q_j).  log |y| is
a sum of the independent T_j = k_j log |z_j|, so that, with S_j(T) and A_j(T) = p_j(+, T) +- p_j(-, T), the density of
(log |y|, sign y) is half of the convolution of all S_j plus or minus that of all A_j (S_j for even factors), and that of E[z_j -
omega_j; y] has the same with p_j times z_j - omega_j in it: Fourier transforms along one axis, for every omega.  Flips of labels
with probability e take 1 - 2 e of the second.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.model import Monomial

Array = NDArray[np.float64]

LOWEST, HIGHEST, REACH = -36.0, 9.2, 7.0
"""Of log |z|, e^(-36) of the mass of |z| < 1 being left out; of |z| and of omega in standard deviations."""

PLACES, NODES = 6.0, 2.0
"""In a standard deviation of z given omega: of T where |z| = 1, and of omega."""

AGREED = 1e-4
"""Half the nodes of omega change an information by less, relative, so that all of them change it by its square."""

FOLLOWED = {1: 0.99, 2: 0.93, 3: 0.6}
"""Overlaps of a product of so many indices that enter alike, which are followed for every power."""

MOST_PLACES = 1e8
"""Of y and omega together, about 3 s for two indices: they grow as (1 - q)^(-(r + 1)/2)."""


def product_information(shape: Monomial, flips: float, q: tuple[float, ...]) -> Array:
    """Return E (E[z_j | y, omega] - omega_j)^2, (r,), for the overlaps Q = diag(q); QuantityError for those too near to 1.

    >>> one = Monomial((1.0,), (True,))
    >>> product_information(one, 0.0, (0.25,)).round(9).tolist()  # y = z is known: v
    [0.75]
    """
    if not all(0 <= each < 1 for each in q):
        raise QuantityError(f"overlaps must be at least 0 and below 1, got {list(q)}")
    found = _information(shape, flips, q, NODES)
    for halvings in range(1, 4):
        before, found = found, _information(shape, flips, q, NODES * 2**halvings)
        if np.all(np.abs(found - before) <= AGREED * np.maximum(np.abs(found), 1e-12)):
            break
    return found


@functools.lru_cache(maxsize=4096)
def _information(shape: Monomial, flips: float, q: tuple[float, ...], nodes: float) -> Array:
    r, odd = len(q), bool(shape.odd)
    moving = [j for j in range(r) if shape.powers[j]]
    step = min((abs(shape.powers[j]) * (1 - q[j]) ** 0.5 / PLACES for j in moving), default=1.0)
    grids = {j: _grid(shape.powers[j], q[j], step) for j in moving}
    length = next_fast_len(sum(len(grid) for grid in grids.values()) or 1, real=True)
    omegas, masses = zip(*(_nodes(each, nodes) for each in q))
    if length * math.prod(map(len, omegas)) > MOST_PLACES:
        raise QuantityError(
            f"q must be at most about {FOLLOWED[r]} for a product of {r} indices, got the overlaps "
            f"{list(map(float, q))}, which are too near to 1 to be followed"
        )
    parts = [_densities(shape.powers[j], shape.signs[j], omegas[j], 1 - q[j], grids.get(j)) for j in range(r)]
    if moving:
        parts = [[rfft(each, length) * step if j in grids else each for each in part] for j, part in enumerate(parts)]
    alike = len({*zip(shape.powers, shape.signs, q)}) == 1
    total: Array = np.zeros(r)
    width = step if moving else 1.0
    for place in itertools.product(*(range(len(omega)) for omega in omegas[:-1])):
        if alike and any(a > b for a, b in itertools.pairwise(place)):
            continue
        orders = math.factorial(len(place)) / math.prod(math.factorial(place.count(i)) for i in {*place}) if alike else 1
        mass = masses[-1] * (orders * math.prod(masses[j][i] for j, i in enumerate(place)))

        def labels(which: int | None, place: tuple[int, ...] = place) -> list[Array]:
            """Along log |y|, for both signs of y and every omega_r: the density, or that of z - omega of the index ``which``."""
            found = []
            for kind in (0, 1) if odd else (0,):
                product = parts[-1][kind + 2 * (which == r - 1)]
                for j, i in enumerate(place):
                    product = product * parts[j][kind + 2 * (which == j)][i]
                found.append(irfft(product, length) / step if moving else product)
            return [(found[0] + side * (1 - 2 * flips) * found[1]) / 2 for side in (1, -1)] if odd else found

        shares = labels(None)
        for j in (r - 1,) if alike else range(r):
            for share, told in zip(shares, labels(j)):
                # What is below rounding of the transform has no weight.
                seen = share > 1e-15 * share.max()
                total[j] += mass @ np.where(seen, told**2 / np.where(seen, share, 1.0), 0.0).sum(axis=1) * width
    if alike:
        total[:] = total[-1]
    return total


def _nodes(q: float, nodes: float) -> tuple[Array, Array]:
    """Return omega > 0 and weights of the trapezoidal rule on both sides: flips of signs change no mean."""
    if q == 0:
        return np.zeros(1), np.ones(1)
    step = min((1 - q) ** 0.5, q**0.5) / nodes
    omega = (np.arange(math.ceil(REACH * q**0.5 / step)) + 0.5) * step
    return omega, 2 * np.exp(-(omega**2) / (2 * q)) / math.sqrt(2 * math.pi * q) * step


def _grid(power: float, q: float, step: float) -> Array:
    """Return T = k log |z| in steps; every grid begins at its smallest, which is where sums of T begin."""
    ends = sorted((power * LOWEST, power * math.log(HIGHEST * (q**0.5 + (1 - q) ** 0.5))))
    return np.asarray(ends[0] + step * np.arange(math.ceil((ends[1] - ends[0]) / step)), dtype=np.float64)


def _densities(power: float, odd: bool, omega: Array, v: float, grid: Array | None) -> list[Array]:
    """Return S, A (S for an even factor), and both of z - omega, (len(omega), places): densities of T, or masses without T."""
    if grid is None:
        tail, edge = ndtr(omega / v**0.5), (v / (2 * math.pi)) ** 0.5 * np.exp(-(omega**2) / (2 * v))
        ones, zeros = np.ones(len(omega)), np.zeros(len(omega))
        both = (2 * tail - 1, 2 * edge) if odd else (ones, zeros)
        return [each[:, None] for each in (ones, both[0], zeros, both[1])]
    size = np.exp(grid / power)
    plus, minus = (
        np.exp(-((side * size - omega[:, None]) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v) * size / abs(power)
        for side in (1, -1)
    )
    up, down = plus * (size - omega[:, None]), -minus * (size + omega[:, None])
    if not odd:
        return [plus + minus, plus + minus, up + down, up + down]
    return [plus + minus, plus - minus, up + down, up - down]
