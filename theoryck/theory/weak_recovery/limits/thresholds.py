"""Thresholds alpha_c of weak recovery at n = alpha d: state evolution, linearised where nothing is known.

With E[z | y] = 0, Q' = alpha F(Q) with F(M) = E[G M G], a positive map on symmetric matrices, so that alpha_c = 1/lambda_max(F).  A
direction with E[z | y] != 0 is trivial: it is found at every alpha > 0, cos^2 -> alpha lambda_1/(1 + alpha lambda_1) after one
step.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.maxima import is_maximum, second_threshold
from theoryck.theory.weak_recovery.limits.posterior import Posterior
from theoryck.theory.weak_recovery.limits.posteriors import posterior
from theoryck.theory.weak_recovery.model import Link, as_link

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """What :func:`weak_recovery_threshold` returns.

    ``alpha`` is alpha_c, 0 if a direction is trivial and inf if no alpha suffices; ``eigenvalue`` is lambda, the largest of F (of
    E E[z | y] E[z | y]^T if a direction is trivial); ``trivial`` are the trivial directions (k, r); ``matrix`` (r, r) is a
    positive semidefinite eigenmatrix of F, ``rest`` the threshold of the other directions once the trivial ones are known (NaN
    where that is not known); ``relative_error`` is that of ``eigenvalue``, ``digits`` as many of it, ``method`` how it was found.

    >>> found = weak_recovery_threshold("z1**2 + z2**2")
    >>> float(found), found.method, found.matrix.round(6).tolist()
    (1.0, 'level sets', [[0.707107, 0.0], [0.0, 0.707107]])
    """

    link: str
    alpha: float
    eigenvalue: float
    trivial: Array = field(repr=False)
    matrix: Array = field(repr=False)
    rest: float
    relative_error: float
    method: str

    @property
    def digits(self) -> int:
        """The digits to which the threshold is known."""
        return int(-math.log10(self.relative_error))

    def __float__(self) -> float:
        return self.alpha


def weak_recovery_threshold(link: Link | str, *, noise: float = 0.0, flips: float = 0.0) -> Threshold:
    """Return alpha_c, from which on the best algorithm has an overlap with n = alpha d samples y = f(z) + sqrt(noise) N(0, 1).

    ``link`` is a text in ``z`` (one index) or ``z1``, ``z2``, ...: numbers, ``+ - * / **``, abs, sign, max, exp, tanh, ...;
    ``flips`` is the probability with which the sign of a label is flipped.  Monomials, functions of one index or of the length of
    z, and homogeneous links of two indices are known to about 12 digits, what else there is to ``digits``.  Raises QuantityError
    for a text that is no such function, for labels that are not real, and where lambda is not told from 0: below 1e-18 for one
    index, 1e-2 for bins.

    >>> found = weak_recovery_threshold("z1*z2")
    >>> round(found.alpha, 12), found.digits, weak_recovery_threshold("z**2").alpha, weak_recovery_threshold("sign(z1*z2*z3)").alpha
    (0.593751098222, 12, 0.5, inf)
    >>> trivial = weak_recovery_threshold("z**3 - 3*z")
    >>> trivial.alpha, round(trivial.eigenvalue, 12), round(weak_recovery_threshold("max(z1, z2)").rest, 10)
    (0.0, 0.667831671561, 0.997159317)
    >>> weak_recovery_threshold("z1*w")
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: link 'z1*w' is no function of z1, z2, ...: unknown name 'w': ...
    """
    return _threshold(as_link(link, noise=noise, flips=flips))


@functools.lru_cache(maxsize=64)
def _threshold(link: Link) -> Threshold:
    found = posterior(link)
    r = found.indices
    values, vectors = found.trivial()
    if values[0] > found.floor:
        k = int(np.sum(values > found.floor))
        rest = second_threshold()[0] if is_maximum(link) else math.nan
        return Threshold(str(link), 0.0, float(values[0]), vectors[:, :k].T, np.zeros((r, r)), rest, found.error, found.method)
    eigenvalues, matrices = found.linear_map()
    top = float(eigenvalues[0])
    # F^n(I)/lambda^n tends to the part of I in the eigenspace, so that this is positive semidefinite.
    space = matrices[eigenvalues > top - 1e-9 * abs(top)]
    matrix = np.einsum("kii,kab->ab", space, space)
    matrix = matrix / max(float(np.linalg.norm(matrix)), 1e-300)
    if top <= found.floor and found.floor:
        raise QuantityError(
            f"the eigenvalue of {link} is below {found.floor:.0e}, not told from 0: if no direction is trivial, alpha_c is above "
            f"{1 / found.floor:.0e} or infinite"
        )
    nothing = top <= 0
    alpha = math.inf if nothing else 1 / top
    # Thresholds that are small fractions are so exactly: 1/2, r/2; their float is taken to the last bit.
    simple = round(alpha * 8) / 8 if math.isfinite(alpha) else alpha
    alpha = simple if math.isfinite(alpha) and abs(alpha - simple) < 1e-13 * alpha else alpha
    return Threshold(str(link), alpha, 0.0 if nothing else top, np.zeros((0, r)), matrix, math.nan, found.error, found.method)


def leading_eigenvalue(link: Link) -> tuple[float, float, float]:
    """Return lambda of :class:`Threshold`, 0 where it is not told from 0, its relative error and what may be left of 0.

    >>> value, _, floor = leading_eigenvalue(Link("sin(8*z)"))
    >>> value, floor
    (0.0, 1e-18)
    """
    found = posterior(link)
    values = [float(each[0][0]) for each in (found.trivial(), found.linear_map())]
    value = next((value for value in values if value > found.floor), 0.0)
    return value, found.error, found.floor


def best_direction(found: Posterior) -> Array | None:
    """Return a unit v with E (v^T G v)^2 = lambda_max(F), along which a scalar preprocessing of labels is optimal; None if none is.

    >>> best_direction(posterior(Link("z1*z2"))).round(6).tolist()
    [0.707107, 0.707107]
    """
    values, matrices = found.linear_map()
    r = found.indices
    top = [matrix for value, matrix in zip(values, matrices, strict=True) if value > values[0] * (1 - 1e-9)]
    axes = list(np.eye(r))
    pairs = [(axes[i] + sign * axes[j]) / math.sqrt(2) for j in range(r) for i in range(j) for sign in (1, -1)]
    main = [vectors[:, np.argmax(np.abs(size))] for size, vectors in (np.linalg.eigh(matrix) for matrix in top)]
    for v in [*axes, *pairs, *main]:
        if found.weights @ found.along(v) ** 2 > values[0] * (1 - max(1e-9, found.error)):
            return np.asarray(v)
    return None
