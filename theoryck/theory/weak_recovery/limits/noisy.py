"""One index with Gaussian noise: sums over the indices that a label may come from.

y = f(z) + N(0, noise), and z ~ N(omega, V) is what is known of the index.  The density of a label is an integral over kernels
exp(-(y - f(z))^2/(2 noise)): panels in z end at the kinks of f and are so short that f changes by at most PANEL spreads and z by
PANEL sqrt V; in y everything is as smooth as the kernel, so that the trapezoidal rule converges faster than any power of its step.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.level_sets import LevelSets, level_sets
from theoryck.theory.weak_recovery.limits.posterior import Posterior
from theoryck.theory.weak_recovery.model import Link, evaluate, pole_arguments

Array = NDArray[np.float64]

REACH = 9.2
"""Beyond which z^4 times the normal density is below 1e-15 in all."""
PANEL, POINTS = 2.5, 10
MOST_NODES = 20_000
"""For state evolution: a step takes a fraction of a second."""
LEAST_VARIANCE = 1e-6


@functools.lru_cache(maxsize=32)
def _sets(link: Link) -> LevelSets:
    return level_sets(link.expression, -REACH, REACH)


@functools.lru_cache(maxsize=8)
def index_nodes(link: Link, scale: float, points: int = POINTS, most: int = 300_000) -> tuple[Array, Array, Array]:
    """Return nodes z, weights dz and f at them; QuantityError for a link with poles, and where labels ask for ``most`` or more.

    >>> z, dz, f = index_nodes(Link("abs(z)", noise=0.5), 1.0)
    >>> round(float(dz.sum()), 12), bool(np.all(f == np.abs(z)))
    (18.4, True)
    """
    sets, spread = _sets(link), link.noise**0.5
    changes = sum(abs(piece.last - piece.first) for piece in sets.pieces) / (PANEL * spread)
    for piece in sets.pieces:
        if np.isinf(piece.first) or np.isinf(piece.last):
            place = piece.low if np.isinf(piece.first) else piece.high
            raise QuantityError(f"link {link.text} has a pole at z = {place:.4g}: beside noise its labels have to be bounded there")
    if not changes * points < most:
        low, high = (pick(each for piece in sets.pieces for each in (piece.first, piece.last)) for pick in (min, max))
        raise QuantityError(
            f"noise {link.noise:g} is too small beside the labels of {link.text}, from {low:.3g} to {high:.3g}: take more"
        )
    edges = []
    for piece in sets.pieces:
        count = int(np.ceil((piece.high - piece.low) / (PANEL * min(scale, 1.0))))
        found = np.linspace(piece.low, piece.high, count + 1)
        for _ in range(40):
            # Within a piece f is monotone: its change over a panel is all that it does there.
            inside = np.clip(found, piece.low + 1e-14, piece.high - 1e-14)
            wide = np.flatnonzero(np.abs(np.diff(sets.values(inside))) > PANEL * spread)
            wide = wide[np.diff(found)[wide] > 1e-12]
            if not len(wide):
                break
            found = np.sort(np.concatenate([found, (found[wide] + found[wide + 1]) / 2]))
        edges.append(found)
    node, weight = np.polynomial.legendre.leggauss(points)
    start, end = (np.concatenate([each[part] for each in edges])[:, None] for part in (slice(None, -1), slice(1, None)))
    z = ((start + end) / 2 + (end - start) / 2 * node).ravel()
    return z, ((end - start) / 2 * weight).ravel(), sets.values(z)


def check_bounded(link: Link) -> None:
    """Raise QuantityError for a link of several indices with a pole: what is infinite on a surface has no grid of labels.

    >>> check_bounded(Link("z1*z2/(1 + z1**2)", noise=0.1))
    """
    z = np.random.default_rng(0).standard_normal((4096, link.indices))
    columns = {symbol: z[:, j] for j, symbol in enumerate(link.symbols)}
    for subject in pole_arguments(link.expression):
        signs = np.sign(np.asarray(evaluate(subject, columns), dtype=float))
        if np.any(signs != signs.flat[0]):
            raise QuantityError(
                f"link {link.text} is infinite where {subject} = 0: beside noise its labels have to be bounded there"
            )


def label_sums(f: Array, features: Array, y: Array, noise: float) -> Array:
    """Return sum_j N(y_i; f_j, noise) features_j (len(y), k) for f and y that rise.

    >>> label_sums(np.array([0.0]), np.ones((1, 1)), np.array([0.0]), 0.5).round(6).tolist()
    [[0.56419]]
    """
    sums, spread = np.zeros((len(y), features.shape[1])), noise**0.5
    for place in range(0, len(y), 32):
        here = y[place : place + 32]
        first, last = np.searchsorted(f, [here[0] - 9 * spread, here[-1] + 9 * spread])
        if last > first:
            kernel = np.exp(-((here[:, None] - f[first:last]) ** 2) / (2 * noise))
            sums[place : place + 32] = kernel @ features[first:last]
    found: Array = sums / np.sqrt(2 * np.pi * noise)
    return found


def label_nodes(f: Array, spread: float, step: float) -> Array:
    """Return whole multiples of ``step`` that reach 9 spreads beyond f.

    >>> label_nodes(np.array([0.0, 1.0]), 0.1, 0.5).tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    """
    return np.arange(np.floor((f.min() - 9 * spread) / step), np.ceil((f.max() + 9 * spread) / step) + 1) * step


def single_posterior(link: Link, points: int, per_spread: float) -> Posterior:
    """Return what a label tells of an index of which nothing is known.

    >>> round(1 / float(single_posterior(Link("z**2", noise=1), 10, 5.0).linear_map()[0][0]), 10)
    0.6465905984
    """
    z, dz, f = index_nodes(link, 0.6, points)
    order = np.argsort(f)
    z, f, weight = z[order], f[order], (np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * dz)[order]
    step = link.noise**0.5 / per_spread
    y = label_nodes(np.concatenate([f[[0, -1]], -f[[0, -1]]]) if link.flips else f, link.noise**0.5, step)
    sums = label_sums(f, weight[:, None] * np.stack([np.ones(len(z)), z, z**2], axis=1), y, link.noise)
    if link.flips:  # y reaches as far on either side
        sums = (1 - link.flips) * sums + link.flips * sums[::-1]
    sums = sums[sums[:, 0] > 1e-30]
    means = sums[:, 1:] / sums[:, :1]
    return Posterior(sums[:, 0] * step, means[:, :1], (means[:, 1] - 1).reshape(-1, 1, 1), 1.0, 0.0, "")


def information(link: Link, q: float) -> tuple[float, float]:
    """Return E (E[z | y, omega] - omega)^2 and E Var(z | y, omega), omega ~ N(0, q) and z ~ N(omega, 1 - q).

    The step in omega shrinks with sqrt(1 - q) and that in y with the noise, until twice the step changes nothing.

    >>> gain, left = information(Link("z", noise=0.5), 0.2)  # 0.8^2/(0.8 + 0.5)
    >>> round(gain, 12), round(left, 12)
    (0.492307692308, 0.307692307692)
    """
    v, spread = 1 - q, link.noise**0.5
    if v < LEAST_VARIANCE:
        raise QuantityError(f"q = {q!r} is within {LEAST_VARIANCE:g} of 1: with noise, state evolution is followed no further")
    z, dz, f = index_nodes(link, _power(v**0.5), most=MOST_NODES)
    # The error of the trapezoidal rule is squared as its step is halved, in omega and in y.
    halved = np.zeros(2)
    for _ in range(6):
        step, labels = (min(v**0.5 / 2, q**0.5), spread / 5) / 2**halved if q else (1.0, spread / 5 / 2 ** halved[1])
        number = int(np.ceil(REACH * q**0.5 / step))
        omega = np.arange(-number, number + 1) * step
        mass = np.exp(-(omega**2) / (2 * q)) / np.sqrt(2 * np.pi * q) * step if q else np.ones(1)
        rows = np.concatenate([_blocks(z, dz, f, omega[i : i + 32], v, spread, labels) for i in range(0, len(omega), 32)])
        found = mass @ rows[:, :2]
        rougher = np.array([2 * mass[number % 2 :: 2] @ rows[number % 2 :: 2, :2] if q else found, mass @ rows[:, 2:]])
        coarse = np.any(np.abs(rougher - found) > 1e-8 * found, axis=1) & (found[0] > 1e-20)
        if not np.any(coarse):
            break
        halved += coarse
    return float(found[0]), float(found[1])


def _power(scale: float) -> float:
    """A power of 2 below a scale: nodes are kept for several of them."""
    return float(2.0 ** np.floor(np.log2(scale)))


def _blocks(z: Array, dz: Array, f: Array, omega: Array, v: float, spread: float, step: float) -> Array:
    """Return (E[z | y] - omega)^2 and Var(z | y) in the mean over y, and both by twice the step in y, (len(omega), 4)."""
    low, high = np.searchsorted(z, [omega[0] - 9 * v**0.5, omega[-1] + 9 * v**0.5])
    order = low + np.argsort(f[low:high])
    z, dz, f = z[order], dz[order], f[order]
    away = z[:, None] - omega
    weight = np.exp(-(away**2) / (2 * v)) / np.sqrt(2 * np.pi * v) * dz[:, None]
    k = len(omega)
    sums = label_sums(f, np.concatenate([weight, weight * away, weight * away**2], axis=1), label_nodes(f, spread, step), spread**2)
    zero, one, two = sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]
    square = np.where(zero > 1e-30, one**2 / np.maximum(zero, 1e-300), 0.0)
    rules = (square, two - square)
    return np.stack([*(each.sum(axis=0) * step for each in rules), *(each[::2].sum(axis=0) * 2 * step for each in rules)], axis=1)
