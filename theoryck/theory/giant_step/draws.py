"""Draws of the first steps of large batches: n normal variables a run instead of n d, and whole features for ridge regression.

One step.  v = X^T y/n has the component S_1/n along w*, S_1 = sum y_i z_i; the rest is a normal vector of d - 1 components times
S_2^(1/2)/n, S_2 = sum y_i^2, of square S_2 chi^2_{d-1}/n^2.

Two steps on the same batch.  With z = X w_0, z* = X w*, u = y s'(z), the part of X beyond the plane of w_0 and w* enters X w_1
through X' X'^T u, X' (n, d - 2): along u it is K u, K ~ chi^2_{d-2}, and orthogonally to it |u| K^(1/2) times a normal vector.
What is new in g_0 is one direction, in which X has rho = u K^(1/2)/|u| + zeta_perp; beyond it d - 3 directions are left for g_1, of
which v sees what is orthogonal to u.

Two steps on fresh batches, y = z_1 + z_1 z_2.  The second step needs the first through its three components along w_1, w_2 and the
rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from theoryck.numerics.functions.activation import Activation
from theoryck.theory.giant_step.model import SpikedFeatures

Array = NDArray[np.float64]

AT_ONCE = 2**18
"""Normal variables held at once."""

TEST = 512
"""Fresh inputs by which a test error is measured."""

FLOPS = 8e9
"""Multiplications that matrix products reach a second, in units of which costs are written; random numbers are 7e7 a second."""


def in_parts(draws: int, size: int, part: Callable[[int], Array]) -> Array:
    """Return the values of ``part(count)`` for counts that sum to ``draws``, at most AT_ONCE numbers of ``size`` a draw at once.

    >>> in_parts(3, AT_ONCE, lambda count: np.zeros(count)).shape
    (3,)
    """
    once = max(AT_ONCE // size, 1)
    return np.concatenate([part(min(once, draws - done)) for done in range(0, draws, once)])


def share(part: Array, whole: Array) -> Array:
    """Return part/whole, 0 where the whole is 0: a gradient without length has no direction, and has learnt nothing.

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    result: Array = np.divide(part, whole, out=np.zeros(np.broadcast_shapes(part.shape, whole.shape)), where=whole > 0)
    return result


@dataclass(frozen=True)
class OneStepSampler:
    """Draws a ``statistic`` of v = X^T y/n: "cos2" (squared cosine with w*), "cosine", or "norm2" (|v|^2), times ``factor``."""

    link: Activation
    d: int
    n: int
    statistic: str
    factor: float = 1.0

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return in_parts(draws, self.n, lambda count: self._some(rng, count))

    def _some(self, rng: np.random.Generator, count: int) -> Array:
        z = rng.standard_normal((count, self.n))
        y = self.link(z)
        along, square = (y * z).sum(axis=1), (y * y).sum(axis=1)
        rest = square * (rng.chisquare(self.d - 1, count) if self.d > 1 else 0.0)
        if self.statistic == "norm2":
            return self.factor * (along**2 + rest) / self.n**2
        found = share(along**2, along**2 + rest)
        return self.factor * (found if self.statistic == "cos2" else np.sign(along) * np.sqrt(found))


@dataclass(frozen=True)
class NeuronSampler:
    """Draws the squared cosine with w* of the gradient X^T y s'(X w)/n of one neuron that starts orthogonal to w*, or its
    square."""

    link: Activation
    slope: Activation
    d: int
    n: int
    statistic: str

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return in_parts(draws, 2 * self.n, lambda count: self._some(rng, count))

    def _some(self, rng: np.random.Generator, count: int) -> Array:
        star, z = rng.standard_normal((2, count, self.n))
        u = self.link(star) * self.slope(z)
        along, own = (star * u).sum(axis=1) ** 2, (z * u).sum(axis=1) ** 2
        whole = along + own + (u * u).sum(axis=1) * rng.chisquare(self.d - 2, count)
        return share(along, whole) if self.statistic == "cos2" else whole / self.n**2


@dataclass(frozen=True)
class ReuseSampler:
    """Draws the cosine with w* of the second gradient ("gradient") or of w_2 ("weights"), s' the ``slope``, or d cos^2 ("square").

    With ``fresh`` the second step has a batch of its own.
    """

    link: Activation
    d: int
    n: int
    rate: float
    statistic: str
    slope: Activation
    fresh: bool = False

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return in_parts(draws, 4 * self.n, lambda count: self._some(rng, count))

    def _some(self, rng: np.random.Generator, count: int) -> Array:
        n, step = self.n, self.rate / self.n
        z, star, zeta = rng.standard_normal((3, count, n))
        y = self.link(star)
        u = y * self.slope(z)
        length = np.sqrt((u * u).sum(axis=1))
        root = np.sqrt(rng.chisquare(self.d - 2, count))
        # First step: its components along w_0, w*, and the new direction.
        own, toward, new = (z * u).sum(axis=1), (star * u).sum(axis=1), length * root
        unit = share(u, length[:, None])
        if self.fresh:
            z, star, rho = rng.standard_normal((3, count, n))
            y = self.link(star)
        else:
            rho = unit * root[:, None] + zeta - unit * (unit * zeta).sum(axis=1)[:, None]
        field = z + step * (z * own[:, None] + star * toward[:, None] + rho * new[:, None])
        v = y * self.slope(field)
        parts = [(star * v).sum(axis=1), (z * v).sum(axis=1), (rho * v).sum(axis=1)]
        left = (v * v).sum(axis=1)
        if not self.fresh:
            left = np.maximum(left - (unit * v).sum(axis=1) ** 2, 0.0)
        rest = left * rng.chisquare(self.d - 3, count)
        if self.statistic == "weights":
            parts = [toward + parts[0], n / self.rate + own + parts[1], new + parts[2]]
        cosine = share(parts[0], np.sqrt(parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2 + rest))
        return self.d * cosine**2 if self.statistic == "square" else cosine


@dataclass(frozen=True)
class StaircaseSampler:
    """Draws, for y = z_1 + z_1 z_2, cos^2(v, w_1) ("first"), d cos^2(v, w_2) ("second") or cos^2(g, w_2) ("after") of two steps."""

    d: int
    n: int
    statistic: str

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return in_parts(draws, 3 * self.n, lambda count: self._some(rng, count))

    def _some(self, rng: np.random.Generator, count: int) -> Array:
        one, two = rng.standard_normal((2, count, self.n))
        y = one + one * two
        first, second = (y * one).sum(axis=1), (y * two).sum(axis=1)
        rest = np.sqrt((y * y).sum(axis=1) * rng.chisquare(self.d - 2, count))
        length = np.sqrt(first**2 + second**2 + rest**2)
        if self.statistic == "first":
            return (first / length) ** 2
        if self.statistic == "second":
            return self.d * (second / length) ** 2
        one, two, other = rng.standard_normal((3, count, self.n))
        field = one * (first / length)[:, None] + two * (second / length)[:, None] + other * (rest / length)[:, None]
        u = (one + one * two) * field
        parts = [(part * u).sum(axis=1) for part in (one, two, other)]
        beyond = (u * u).sum(axis=1) * rng.chisquare(self.d - 3, count)
        return parts[1] ** 2 / (parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2 + beyond)


@dataclass(frozen=True)
class FeaturesSampler:
    """Draws the test or training error of ridge regression with the features, n samples, p features, d dimensions.

    With ``step``, (batch b, eta), the first layer is what one giant step makes of W_0, instead of the model with a spike; the
    target is then g(<w*, x>) for a w* that the spike of that step is correlated with by itself.
    """

    features: SpikedFeatures
    d: int
    p: int
    n: int
    penalty: float
    what: str
    step: tuple[int, float] | None = None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.array([self._one(rng) for _ in range(draws)])

    def _one(self, rng: np.random.Generator) -> float:
        f, d = self.features, self.d
        weights = rng.standard_normal((self.p, d)) / math.sqrt(d)
        if self.step is None:
            weights *= f.bulk
            weights[:, 0] += f.spike  # v = e_1, w* = gamma e_1 + (1 - gamma^2)^(1/2) e_2
            star = np.array([f.gamma, math.sqrt(1 - f.gamma**2)])
        else:
            batch, rate = self.step
            x = rng.standard_normal((batch, d))
            star = np.array([1.0, 0.0])
            slope = f.student.derivative()
            weights = weights + rate / batch * (slope(x @ weights.T) * f.target(x[:, 0])[:, None]).T @ x

        def drawn(count: int) -> tuple[Array, Array]:
            x = rng.standard_normal((count, d))
            return f.student(x @ weights.T) / math.sqrt(self.p), f.target(x[:, :2] @ star)

        inputs, labels = drawn(self.n)
        small = inputs if self.n <= self.p else inputs.T
        kernel = small @ small.T
        kernel.flat[:: len(kernel) + 1] += self.penalty
        factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
        if self.n <= self.p:
            readout = inputs.T @ cho_solve(factor, labels, check_finite=False)
        else:
            readout = cho_solve(factor, inputs.T @ labels, check_finite=False)
        if self.what == "train_error":
            return float(((labels - inputs @ readout) ** 2).mean())
        fresh, target = drawn(TEST)
        return float(((target - fresh @ readout) ** 2).mean())

    @property
    def cost(self) -> float:
        """What a draw takes, in random numbers of 1/7e7 s."""
        n, p, d = self.n, self.p, self.d
        products = (n + TEST + (self.step[0] if self.step else 0)) * p * d + n * p * min(n, p) + min(n, p) ** 3 / 3
        return (n + TEST) * (d + 30.0 * p) + 2 * products * 7e7 / FLOPS + 20000.0
