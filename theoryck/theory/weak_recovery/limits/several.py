"""What a label tells of several indices where no closed form is known.

A homogeneous link, f(c z) = c^k f(z): with z = rho (cos a, sin a), log|y|/k = log rho + b(a) given the sign of y, so that the law
of t = log|y|/k and means given t are integrals over the angle, smooth but for the zeros and kinks of f on the circle, where panels
end and shrink.  Noise: everything is smooth on a grid of z and y.  Anything else: a lattice of points of Gaussian law, sorted by y
into bins of equal mass.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.noisy import check_bounded, label_nodes, label_sums, single_posterior
from theoryck.theory.weak_recovery.limits.posterior import UNTOLD, Posterior, left_of_zero
from theoryck.theory.weak_recovery.model import Link, evaluate, kink_arguments, pole_arguments

Array = NDArray[np.float64]

REACH = 8.6
"""Beyond which z^4 times the normal density is below 1e-12 in all."""


def _circle(link: Link, angle: Array) -> Array:
    return link.values(np.stack([np.cos(angle), np.sin(angle)], axis=-1))


def homogeneous_posterior(link: Link, degree: float) -> Posterior:
    """Return what a homogeneous link of two indices tells; ``degree`` is k != 0.

    >>> posterior = homogeneous_posterior(Link("z1**2 - z2**2"), 2.0)  # twice a product of two indices
    >>> round(1 / float(posterior.linear_map()[0][0]), 10)
    0.5937510982
    """
    coarse, fine = (_homogeneous(link, degree, points) for points in (10, 16))
    one, two = coarse.linear_map()[0][0], fine.linear_map()[0][0]
    error = max(float(abs(one / two - 1)), 1e-12) if two > 1e-12 else 1e-12
    return Posterior(fine.weights, fine.means, fine.curvatures, error, 1e-8, "integrals over the angle")


def _homogeneous(link: Link, degree: float, points: int) -> Posterior:
    cuts = _zeros_on_circle(link)
    node, weight = np.polynomial.legendre.leggauss(points)
    depth = 52
    ladder = np.concatenate([[0.0], 0.5 ** np.arange(depth, 0, -1)])
    pieces = []
    for a, b in zip(cuts, np.append(cuts[1:], cuts[0] + 2 * np.pi), strict=True):
        # At a zero the distance to it is what matters: nodes on either half are taken from their end.
        edges = ladder * (b - a)
        edges = np.concatenate([edges[:-1][edges[1:] <= WIDEST], np.linspace(*_rest(edges))])
        middle, half = (edges[1:] + edges[:-1])[:, None] / 2, np.diff(edges)[:, None] / 2
        distance = (middle + half * node).ravel()
        width = (half * weight).ravel()
        pieces += [(a + distance, width), (b - distance, width)]
    angle, share = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    value = _circle(link, angle)
    kept = np.abs(value) > 1e-290
    angle, share, value = angle[kept], share[kept] / (2 * np.pi), value[kept]
    b = np.log(np.abs(value)) / degree
    step = 1 / 14
    t = np.arange(-30, np.ceil((b.max() + 3.7) / step) * step, step)
    u = np.stack([np.cos(angle), np.sin(angle)])
    weights, means, curvatures = [], [], []
    for sign in (-1, 1):
        side = np.sign(value) == sign
        if not side.any():
            continue
        w, v = share[side], u[:, side]
        density, first, second = np.zeros(len(t)), np.zeros((len(t), 2)), np.zeros((len(t), 3))
        pairs = np.stack([v[0] ** 2, v[1] ** 2, v[0] * v[1]], axis=1)
        for place in range(0, len(t), 64):
            rho = np.exp(np.minimum(t[place : place + 64, None] - b[side], 30.0))
            mass = rho**2 * np.exp(-(rho**2) / 2) * w
            density[place : place + 64] = mass.sum(axis=1)
            mass *= rho
            first[place : place + 64] = mass @ v.T
            second[place : place + 64] = (mass * rho) @ pairs
        there = density > 1e-40
        density, first, second = density[there], first[there], second[there]
        weights.append(density * step)
        means.append(first / density[:, None])
        second = second / density[:, None]
        curvatures.append(np.stack([second[:, 0] - 1, second[:, 2], second[:, 2], second[:, 1] - 1], axis=1).reshape(-1, 2, 2))
    return Posterior(np.concatenate(weights), np.concatenate(means), np.concatenate(curvatures), 1.0, 0.0, "")


WIDEST = 0.15
"""Of panels: the integrands are narrow where the link is small."""


def _rest(edges: Array) -> tuple[float, float, int]:
    """Return where the panels that double become wider than WIDEST, their end, and the number of edges from there."""
    start = edges[:-1][edges[1:] > WIDEST]
    first = float(start[0]) if len(start) else float(edges[-1])
    return first, float(edges[-1]), max(int(np.ceil((edges[-1] - first) / WIDEST)), 0) + 1


def _zeros_on_circle(link: Link) -> Array:
    """Return the angles in [0, 2 pi) where the link, or what makes a kink or pole, changes its sign or touches 0; at least one."""
    grid = np.linspace(0, 2 * np.pi, 7201) + 1e-6
    found = [0.0]

    def along(expression: object) -> functools.partial[Array]:
        return functools.partial(_on_circle, expression, link.symbols)

    for expression in [link.expression, *kink_arguments(link.expression), *pole_arguments(link.expression)]:
        function = along(expression)
        with np.errstate(all="ignore"):
            values = function(grid)
            low, high = grid[:-1], grid[1:]
            change = np.sign(values[1:]) != np.sign(values[:-1])
            a, b, left = low[change], high[change], np.sign(values[:-1][change])
            for _ in range(54):
                middle = (a + b) / 2
                same = np.sign(function(middle)) == left
                a, b = np.where(same, middle, a), np.where(same, b, middle)
            found += [float(each) for each in (a + b) / 2]
            # Zeros of even order: minima of |f| below its neighbours, by golden search to where rounding stops it.
            size = np.abs(values)
            touch = np.flatnonzero((size[1:-1] < size[:-2]) & (size[1:-1] <= size[2:]) & (size[1:-1] < 1e-5 * size.max())) + 1
            for place in touch:
                near = round(grid[place] / (np.pi / 4)) * np.pi / 4
                found.append(float(near if abs(near - grid[place]) < 2e-3 else grid[place]))
    angles = np.mod(np.array(found), 2 * np.pi)
    snapped = np.round(angles / (np.pi / 4)) * np.pi / 4
    angles = np.unique(np.mod(np.where(np.abs(angles - snapped) < 1e-11, snapped, angles), 2 * np.pi))
    apart = np.concatenate([[True], np.diff(angles) > 1e-9])
    kept: Array = angles[apart]
    return kept


def _on_circle(expression: object, symbols: tuple[object, ...], angle: Array) -> Array:
    values = evaluate(expression, {symbols[0]: np.cos(angle), symbols[1]: np.sin(angle)})
    return np.asarray(values, dtype=float) + 0.0 * angle


# Signs ------------------------------------------------------------------------------------------------------------------------


def sign_posterior(link: Link) -> Posterior:
    """Return what a function of the signs of its indices tells, with Gaussian noise or without: sums over their patterns s.

    E[z_i | y] = sqrt(2/pi) E[s_i | y] and G_ij = (2/pi) E[s_i s_j | y], i != j; s_i and s_i s_j are summed over the patterns of one
    value of f as whole numbers, so that zeros are exact.

    >>> sign_posterior(Link("sign(z1*z2*z3)", noise=0.5)).linear_map()[0].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    r, spread = link.indices, link.noise**0.5
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=r)))
    values, of = np.unique(np.round(link.values(signs), 12), return_inverse=True)
    number = np.bincount(of)
    pairs = (signs[:, :, None] * signs[:, None, :]).reshape(-1, r * r)
    sums = np.zeros((len(values), r + r * r))
    np.add.at(sums, of, np.concatenate([signs, pairs], axis=1))
    sums *= np.repeat([(2 / np.pi) ** 0.5, 2 / np.pi], [r, r * r])
    mass = number / len(signs)
    if spread:
        # E[s | y] of two values D spreads apart has poles pi/D spreads off the real line, where their density is exp(-D^2/8): in
        # steps of 1/16 spread the trapezoidal rule errs by exp(-32 pi^2/D - D^2/8) < 1e-18 for every D.
        step = spread / 16
        if (values[-1] - values[0]) / step > 1e6:
            raise QuantityError(f"noise {link.noise:g} is too small beside the labels of {link}: leave it out")
        features = np.concatenate([number[:, None], sums], axis=1) * step / len(signs)
        found = label_sums(values, features, label_nodes(values, spread, step), link.noise)
        found = found[found[:, 0] > 1e-24]
        mass, sums = found[:, 0], found[:, 1:] / found[:, :1]
    else:
        sums = sums / number[:, None]
    curvatures = sums[:, r:].reshape(-1, r, r)
    curvatures[:, range(r), range(r)] = 0.0
    return Posterior(mass, sums[:, :r], curvatures, 1e-12, 0.0, "sums over signs")


# Noise ------------------------------------------------------------------------------------------------------------------------


def noisy_posterior(link: Link) -> Posterior:
    """Return what a link with Gaussian noise tells, on grids of z and y.

    >>> round(1 / float(noisy_posterior(Link("z**2", noise=1)).linear_map()[0][0]), 10)
    0.6465905984
    """
    if link.indices > 3:
        raise QuantityError(f"noise is treated for at most 3 indices, got {link.indices} in {link}: leave it out, or take fewer")
    if link.indices > 1:
        check_bounded(link)
        return _judged(_noisy(link, 0.7), _noisy(link, 1.0), 1e-8)
    for halvings in range(3):
        coarse, fine = (single_posterior(link, points, 2**halvings * step) for points, step in ((9, 4.0), (11, 5.5)))
        if link.expression == link.expression.xreplace({link.symbols[0]: -link.symbols[0]}):
            fine = replace(fine, means=0.0 * fine.means)
        found = _judged(coarse, fine, UNTOLD)
        if found.error < 1e-11:
            break
    return found


def _judged(coarse: Posterior, fine: Posterior, floor: float) -> Posterior:
    """Return the finer of two rules with the error of its leading eigenvalue, and what that leaves of 0."""
    roughly, finely = (np.concatenate([each.trivial()[0], each.linear_map()[0]]) for each in (coarse, fine))
    (rough_trivial, rough), (trivial, top) = ((found[0], found[fine.indices]) for found in (roughly, finely))
    before, value = (rough_trivial, trivial) if trivial > floor else (rough, top)
    error = max(float(abs(before / value - 1)), 1e-12, floor / value if floor < 1e-8 else 0.0) if value > floor else 1.0
    return replace(fine, error=error, floor=max(floor, left_of_zero(roughly, finely)), method="grid of indices and labels")


MOST_NODES, MOST_LABELS = 3e8, 1e5


def _noisy(link: Link, factor: float) -> Posterior:
    r, spread = link.indices, link.noise**0.5
    # Labels of neighbours have to overlap: of z1 z2 they are several steps apart.
    number = int({2: 181, 3: 61}[r] * (min(max(0.35 / spread, 1.0), 2.5) if r == 2 else 1.0))
    kinked = bool(kink_arguments(link.expression))
    axis, weight = (_panels if kinked else _trapezoid)(int(number * factor))
    z = np.stack(np.meshgrid(*[axis] * r, indexing="ij"), axis=-1).reshape(-1, r)
    w = functools.reduce(np.multiply.outer, [weight] * r).ravel()
    kept = w > 1e-22
    z, w = z[kept], w[kept]
    f = link.values(z)
    if not np.all(np.isfinite(f)):
        raise QuantityError(f"link {link} is not a finite number everywhere: labels must be real for every z")
    order = np.argsort(f)
    z, w, f = z[order], w[order], f[order]
    step = spread / (4.5 * factor + 1.0)
    low, high = f[0] - 9 * spread, f[-1] + 9 * spread
    if link.flips:
        low, high = min(low, -high), max(high, -low)
    labels = (high - low) / step
    if labels > MOST_LABELS or labels * len(f) * min(1.0, (18 + 64 / 4.5) * spread / (high - low) * 3) > MOST_NODES:
        raise QuantityError(f"noise {link.noise:g} is too small beside the labels of {link}: from {low:.3g} to {high:.3g}")
    y = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    features = np.concatenate([np.ones((len(z), 1)), z, (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)], axis=1) * w[:, None]
    sums = label_sums(f, features, y, link.noise)
    if link.flips:
        sums = (1 - link.flips) * sums + link.flips * _reflected(sums, y, step)
    there = sums[:, 0] > 1e-24
    sums = sums[there]
    total = sums[:, 0]
    means = sums[:, 1 : 1 + r] / total[:, None]
    curvatures = (sums[:, 1 + r :] / total[:, None]).reshape(-1, r, r) - np.eye(r)
    return Posterior(total * step, means, curvatures, 1.0, 0.0, "")


def _reflected(sums: Array, y: Array, step: float) -> Array:
    """Return the rows at -y: the grid of y contains -y wherever something is to be seen."""
    place = np.round((-y - y[0]) / step).astype(int)
    inside = (place >= 0) & (place < len(y))
    found = np.zeros_like(sums)
    found[inside] = sums[place[inside]]
    return found


def _trapezoid(number: int) -> tuple[Array, Array]:
    z = np.linspace(-REACH, REACH, number)
    return z, np.exp(-(z**2) / 2) * (z[1] - z[0]) / np.sqrt(2 * np.pi)


def _panels(number: int) -> tuple[Array, Array]:
    """Panels that end at 0, where kinks like to be."""
    node, weight = np.polynomial.legendre.leggauss(10)
    edges = np.linspace(-REACH, REACH, 2 * max(number // 20, 2) + 1)
    z = ((edges[1:] + edges[:-1])[:, None] / 2 + np.diff(edges)[:, None] / 2 * node).ravel()
    return z, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (np.diff(edges)[:, None] / 2 * weight).ravel()


# Bins -------------------------------------------------------------------------------------------------------------------------


def binned_posterior(link: Link) -> Posterior:
    """Return what any link tells, to the three digits or so that sorting points of a lattice into bins of equal mass gives.

    Bins tell less than y: the eigenvalue is approached from below, with an error of order 1/bins^2 for a smooth law, and from
    above by the scatter within a bin.

    >>> posterior = binned_posterior(Link("z1*z2 + z1**3*z2"))
    >>> posterior.error < 0.02
    True
    """
    found = {(points, bins): _binned(link, points, bins) for points, bins in ((2**19, 512), (2**18, 512), (2**19, 256))}
    values = {key: each.linear_map()[0][0] for key, each in found.items()}
    best = found[2**19, 512]
    size = values[2**19, 512]
    error = sum(abs(size - value) for key, value in values.items()) / size if size > 1e-6 else 1.0
    return Posterior(best.weights, best.means, best.curvatures, max(2 * float(error), 1e-6), 1e-2, "points sorted into bins")


def _binned(link: Link, points: int, bins: int) -> Posterior:
    r = link.indices
    # The lattice of Roberts (2018): multiples of powers of the root of g^(r + 1) = g + 1, modulo 1.
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (r + 1))
    z = ndtri(np.mod(0.5 + np.arange(1, points + 1)[:, None] * g ** -np.arange(1.0, r + 1), 1.0))
    z /= np.sqrt((z**2).mean(axis=0))
    with np.errstate(all="ignore"):
        y = link.values(z)
    if not np.all(np.isfinite(y)):
        raise QuantityError(f"link {link} is not a finite number everywhere: labels must be real for every z")
    order = np.argsort(y, kind="stable")
    z, y = z[order], y[order]
    starts = np.arange(0, points, points // bins)
    # Equal labels stay together.
    starts = np.unique(np.searchsorted(y, y[starts] - 1e-12 * np.maximum(1, np.abs(y[starts]))))
    number = np.diff(np.append(starts, points))
    first = np.add.reduceat(z, starts, axis=0) / number[:, None]
    pairs = (z[:, :, None] * z[:, None, :]).reshape(points, -1)
    second = (np.add.reduceat(pairs, starts, axis=0) / number[:, None]).reshape(-1, r, r) - np.eye(r)
    # Signs that the link does not see do not enter what a label tells.
    unseen = [s for s in itertools.product((1.0, -1.0), repeat=r) if np.allclose(link.values(z[::8192] * s), y[::8192], rtol=1e-12)]
    first = np.mean([first * s for s in unseen], axis=0)
    second = np.mean([second * np.multiply.outer(s, s) for s in unseen], axis=0)
    return Posterior(number / points, first, second, 1.0, 0.0, "")
