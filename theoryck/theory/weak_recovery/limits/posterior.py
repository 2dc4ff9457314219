"""The law of what a label tells of the indices: E[z | y] and G(y) = E[z z^T - I | y], as weighted nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UNTOLD = 1e-18
"""Squares of conditional means that rounding may leave of 0: roots next to a turning point, at a distance d from it, are known to
1e-16/d, and so are the weights to 1e-16/d^2; the integral of the square of that from the first node on, d = 1e-4, is 1e-20."""


@dataclass(frozen=True)
class Posterior:
    """Nodes of the law of y: ``weights`` (m,) that sum to 1, ``means`` E[z | y] (m, r), ``curvatures`` G(y) (m, r, r).

    ``error`` is the relative error that sums over the nodes have, ``floor`` what rounding or scatter may leave of an eigenvalue
    that is 0 (itself 0 where zeros are exact), ``method`` says how they were found.
    """

    weights: Array
    means: Array
    curvatures: Array
    error: float
    floor: float
    method: str

    @property
    def indices(self) -> int:
        """The number r of indices."""
        return self.means.shape[1]

    def trivial(self) -> tuple[Array, Array]:
        """Return the eigenvalues (r,), falling, and eigenvectors (r, r) of E E[z | y] E[z | y]^T."""
        values, vectors = np.linalg.eigh(np.einsum("k,ki,kj->ij", self.weights, self.means, self.means))
        return values[::-1], vectors[:, ::-1]

    def linear_map(self) -> tuple[Array, Array]:
        """Return the eigenvalues, falling, and eigenmatrices (r(r + 1)/2, r, r) of F(M) = E[G M G] on symmetric matrices."""
        r = self.indices
        basis = symmetric_basis(r)
        image = np.einsum("k,kij,bjl,klm->bim", self.weights, self.curvatures, basis, self.curvatures, optimize=True)
        matrix = np.einsum("aim,bim->ab", basis, image)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        return values[::-1], np.einsum("ba,bij->aij", vectors, basis)[::-1]

    def along(self, direction: Array) -> Array:
        """Return v^T G v (m,) for a unit ``direction`` v."""
        found: Array = np.einsum("kij,i,j->k", self.curvatures, direction, direction)
        return found


def symmetric_basis(r: int) -> Array:
    """Return an orthonormal basis (r(r + 1)/2, r, r) of the symmetric matrices.

    >>> symmetric_basis(2).shape
    (3, 2, 2)
    """
    found = []
    for i in range(r):
        for j in range(i + 1):
            entry = np.zeros((r, r))
            entry[i, j] = entry[j, i] = 1.0 if i == j else 0.5**0.5
            found.append(entry)
    return np.array(found)


def left_of_zero(coarse: Array, fine: Array) -> float:
    """Return what a rule leaves of numbers that are 0: the largest that moves by half of itself or more from a coarser rule.

    Rules that converge change a number by less, the finer they are; what they leave of 0 has no limit but 0.

    >>> left_of_zero(np.array([2.0, 3e-9]), np.array([2.001, 0.0]))
    3e-09
    """
    change = np.abs(coarse - fine)
    left = change >= 0.5 * np.abs(fine)
    return float(np.max(np.maximum(change, np.abs(fine)), where=left, initial=0.0))
