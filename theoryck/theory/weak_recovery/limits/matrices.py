"""State evolution of the best algorithm for several indices: the matrix of overlaps.

With V = I - Q, omega ~ N(0, Q), z = omega + V^(1/2) u: Q^ = alpha E g g^T, g = V^(-1) (E[z | y, omega] - omega), Q <- Q^ (I +
Q^)^(-1). E[u | y, omega] is a quotient of sums over a grid of u with weights N(y; f(omega + V^(1/2) u), noise), means over y are
sums over a grid of y, those over omega Gauss-Hermite rules.  Products without noise have diagonal Q, and transforms along log |y|
(:mod:`theoryck.theory.weak_recovery.limits.product_evolution`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.arguments import positive, real_array
from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.noisy import check_bounded, label_sums
from theoryck.theory.weak_recovery.limits.product_evolution import product_information
from theoryck.theory.weak_recovery.model import Link, as_link, check_steps, monomial

Array = NDArray[np.float64]

MOST_LABELS = 3000
"""Nodes of y for one omega."""


def matrix_state_evolution(link: Link | str, alpha: float, *, noise: float, start: Any, steps: int = 30) -> Array:
    """Return the overlap matrices Q_0, ..., Q_steps, (steps + 1, r, r), of the best algorithm at n = alpha d; one or two indices.

    ``noise`` is the variance of the labels' noise: without it a label is a curve, which no grid meets, and products of up to three
    indices alone (``z1*z2``, ``sign(z1)*z2``, ``sign(z1*z2*z3)``) are followed, from a diagonal start, to seven digits.  ``start``
    is Q_0, symmetric, with eigenvalues in [0, 1).  With noise known to about three digits where it is not small.  Raises
    QuantityError.

    >>> path = matrix_state_evolution("z1*z2", 2.0, noise=0.2, start=[[0.2, 0.0], [0.0, 0.2]], steps=2)
    >>> path.shape, bool(path[2, 0, 0] > 0.2)
    ((3, 2, 2), True)
    >>> matrix_state_evolution("z1*z2", 1.0, noise=0, start=[[0.2, 0], [0, 0.2]], steps=1)[1].round(7).tolist()
    [[0.2037753, 0.0], [0.0, 0.2037753]]
    """
    of, alpha = as_link(link, noise=positive(noise, "noise", zero=True)), positive(alpha, "alpha")
    r = of.indices
    shape = None if of.noise or r > 3 else monomial(of)
    if not of.noise and shape is None:
        raise QuantityError(
            f"noise must be > 0 for {of}, no product of up to 3 indices: without it a label of two indices is a curve, which no "
            "grid meets"
        )
    if r > 2 and shape is None:
        raise QuantityError(
            f"state evolution is followed for at most 2 indices, got {r} in {of}: grids of z and omega grow too fast"
        )
    check_bounded(of)
    q = real_array(start, "start", (r, r))
    if not np.allclose(q, q.T) or not np.all((np.linalg.eigvalsh(q) >= 0) & (np.linalg.eigvalsh(q) < 1)):
        raise QuantityError(f"start must be a symmetric {r} x {r} matrix with eigenvalues in [0, 1), got {start!r}")
    if shape is not None and np.any(q != np.diag(np.diagonal(q))):
        raise QuantityError(f"start must be diagonal for the product {of} without noise, which stays so, got {start!r}")
    path = [q]
    for _ in range(check_steps(steps)):
        if shape is None:
            gain = alpha * information(of, q)
        else:
            known = np.diagonal(q)
            gain = alpha * np.diag(product_information(shape, of.flips, tuple(known.tolist())) / (1 - known) ** 2)
        q = gain @ np.linalg.inv(np.eye(r) + gain)
        path.append((q + q.T) / 2)
    return np.array(path)


def tensor(axis: Array, weight: Array, r: int) -> tuple[Array, Array]:
    """Return the nodes (m, r) and weights (m,) of a rule in r dimensions.

    >>> nodes, weights = tensor(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 2)
    >>> nodes.shape, weights.tolist()
    ((4, 2), [0.25, 0.25, 0.25, 0.25])
    """
    nodes = np.stack(np.meshgrid(*[axis] * r, indexing="ij"), axis=-1).reshape(-1, r)
    return nodes, functools.reduce(np.multiply.outer, [weight] * r).ravel()


def information(link: Link, q: Array) -> Array:
    """Return E g g^T (r, r) at the overlap matrix q.

    >>> information(Link("z", noise=0.5), np.array([[0.0]])).round(2).tolist()  # 1/(1 + noise)
    [[0.67]]
    """
    r = link.indices
    values, vectors = np.linalg.eigh(np.eye(r) - q)
    root = (vectors * np.sqrt(np.maximum(values, 1e-9))) @ vectors.T
    values, vectors = np.linalg.eigh(q)
    known = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    node, mass = np.polynomial.hermite_e.hermegauss({1: 32, 2: 12}[r])
    axis = np.linspace(-5.0, 5.0, {1: 321, 2: 55}[r])
    u, weight = tensor(axis, np.exp(-(axis**2) / 2) * (axis[1] - axis[0]) / np.sqrt(2 * np.pi), r)
    centres, masses = tensor(node, mass / np.sqrt(2 * np.pi), r)
    features = np.column_stack([np.ones(len(u)), u]) * weight[:, None]
    spread, total, width = u @ root, np.zeros((r, r)), link.noise**0.5
    for omega, share in zip(centres @ known, masses, strict=True):
        f = link.values(omega + spread)
        order = np.argsort(f)
        seen = f[weight > 1e-9 * weight.max()]
        y = np.arange(seen.min() - 5 * width, seen.max() + 5 * width, width / 2)
        if len(y) > MOST_LABELS:
            raise QuantityError(f"noise {link.noise:g} is too small beside the labels of {link}: take more")
        sums = label_sums(f[order], features[order], y, link.noise)
        density = np.maximum(sums[:, 0], 1e-300)
        total += share * (sums[:, 1:].T / density) @ sums[:, 1:] * width / 2
    inverse = np.linalg.inv(root)
    found: Array = inverse @ total @ inverse
    return found
