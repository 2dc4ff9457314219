"""Log ratios of normalising constants from both sides: annealed paths, one of which starts at an exact posterior sample.

A target is a density r(x) = exp(l(x)) with respect to N(0, I), for several data sets at once; Z = E r(x).  A path visits the laws
pi_b ~ r^b N(0, I) at 0 = b_0 < ... < b_K = 1 and has the weight
    w = sum_k (b_k - b_(k-1)) l(x_(k-1)),     x_0 ~ N(0, I),  x_k = T_k(x_(k-1)),  T_k leaves pi_(b_k) invariant, reversibly.
Forward paths have E exp(w) = Z (Neal, Statistics and Computing 11, 2001).  When x_(K-1) is an exact sample of pi_1 and the path is
walked backwards, its law is that of the forward paths times exp(w) / Z (Grosse, Ghahramani, Adams, arXiv:1511.02543).  So with M
paths, the first backwards and the others forward, and R their mean of exp(w),
    E log mean_(i>=2) exp(w_i) <= log Z <= E log R            (Jensen),
    E 1/R = 1/Z            (exactly: R/Z is the likelihood ratio of these M paths and M forward ones).
Importance sampling, K = 1, is a member of the family: then w = l(x_0), and no move is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Target(Protocol):
    """What the engine knows of a posterior: l(x) and its gradient for ``sets`` data sets, in ``dim`` Gaussian coordinates."""

    @property
    def sets(self) -> int:
        """Number of data sets."""

    @property
    def dim(self) -> int:
        """Coordinates of a state."""

    @property
    def piece(self) -> int:
        """How many states, over all data sets, are best treated at once (cache)."""

    @property
    def costs(self) -> tuple[float, float]:
        """About how many nanoseconds one l takes and one l with its gradient, random numbers included; by formula."""

    def log_ratio(self, states: Array) -> Array:
        """Return l (sets, chains) at ``states`` (sets, chains, dim)."""

    def log_ratio_and_gradient(self, states: Array) -> tuple[Array, Array]:
        """Return l (sets, chains) and its gradient (sets, chains, dim)."""


@dataclass(frozen=True)
class Schedule:
    """``paths`` M >= 2, the first backwards; inverse temperatures 0 < b_1 < ... < b_K = 1; moves of ``leaps`` steps of an angle.

    The angle at b is min(pi/2, ``angle`` / b^(1/3)): the error of a step is of order b angle^3, and at b = 0 a quarter turn draws a
    new state from N(0, I).  ``metropolis`` False drops the accept step and with it exactness; it exists to show that the bracket
    notices.

    >>> Schedule(paths=100).temperatures
    (1.0,)
    """

    paths: int
    temperatures: tuple[float, ...] = (1.0,)
    angle: float = 0.3
    leaps: int = 1
    metropolis: bool = True

    def __post_init__(self) -> None:
        if self.paths < 2:
            raise ValueError(f"paths must be at least 2, one backwards and one forward, got {self.paths}")
        steps = np.diff((0.0, *self.temperatures))
        if not len(self.temperatures) or self.temperatures[-1] != 1.0 or not (steps > 0).all():
            raise ValueError(f"temperatures must rise from above 0 to 1, got {self.temperatures!r}")
        if not 0 < self.angle <= math.pi / 2 or self.leaps < 1:
            raise ValueError(f"angle must be in (0, pi/2] and leaps at least 1, got {self.angle!r} and {self.leaps!r}")

    @property
    def moves(self) -> int:
        """Moves of one path."""
        return len(self.temperatures) - 1

    def angle_at(self, b: Array) -> Array:
        """Return the angle of one step at inverse temperatures ``b`` > 0."""
        return np.minimum(0.5 * np.pi, self.angle * np.cbrt(1.0 / b))


@dataclass(frozen=True)
class Weights:
    """Log weights (sets, M) of the paths, the backward one first, and the share of moves that were accepted."""

    log: Array
    acceptance: float

    @property
    def low(self) -> Array:
        """log mean exp(w) of the forward paths (sets,): its mean is at most log Z."""
        return log_mean_exp(self.log[:, 1:])

    @property
    def high(self) -> Array:
        """log mean exp(w) of all paths (sets,): its mean is at least log Z, and the mean of exp(-high) is exactly 1/Z."""
        return log_mean_exp(self.log)


def log_mean_exp(values: Array) -> Array:
    """Return log mean exp over the last axis, without overflow.

    >>> log_mean_exp(np.array([[1000.0, 1000.0], [-2000.0, -2000.0]])).tolist()
    [1000.0, -2000.0]
    """
    top = values.max(axis=-1, keepdims=True)
    result: Array = top[..., 0] + np.log(np.exp(values - top).mean(axis=-1))
    return result


def log_weights(target: Target, posterior: Array, schedule: Schedule, rng: np.random.Generator) -> Weights:
    """Return the log weights of ``schedule.paths`` paths per data set; ``posterior`` (sets, dim) holds exact samples of pi_1.

    Given the data and the posterior sample the paths are independent.  Memory: one piece of the target, for any number of paths.
    """
    if posterior.shape != (target.sets, target.dim):
        raise ValueError(f"posterior must have shape ({target.sets}, {target.dim}), got {posterior.shape}")
    log = np.empty((target.sets, schedule.paths))
    accepted = 0.0
    for part in _pieces(schedule.paths, target):
        states = rng.standard_normal((target.sets, part.stop - part.start, target.dim))
        if part.start == 0:
            states[:, 0] = posterior
        if schedule.moves:
            log[:, part], share = _anneal(target, states, schedule, rng, backward=part.start == 0)
            accepted += share * (part.stop - part.start)
        else:
            log[:, part] = target.log_ratio(states)
    return Weights(log, accepted / schedule.paths)


def _pieces(paths: int, target: Target) -> Iterator[slice]:
    size = max(target.piece // target.sets, 1)
    for start in range(0, paths, size):
        yield slice(start, min(start + size, paths))


def _anneal(target: Target, states: Array, schedule: Schedule, rng: np.random.Generator, backward: bool) -> tuple[Array, float]:
    """Walk all paths of a piece side by side; column 0 goes from b_K down when ``backward``."""
    b = np.array((0.0, *schedule.temperatures))
    steps = np.diff(b)
    values, gradients = target.log_ratio_and_gradient(states)
    log = steps[0] * values
    if backward:
        log[:, 0] = steps[-1] * values[:, 0]
    now = np.empty((states.shape[1], 1))
    accepted = 0.0
    for k in range(1, len(steps)):
        now[:] = b[k]
        if backward:
            now[0] = b[-1 - k]
        states, values, gradients, share = move(target, states, values, gradients, now, schedule, rng)
        accepted += share
        log += steps[k] * values
        if backward:
            log[:, 0] += (steps[-1 - k] - steps[k]) * values[:, 0]
    return log, accepted / schedule.moves


def move(
    target: Target,
    states: Array,
    values: Array,
    gradients: Array,
    b: Array,
    schedule: Schedule,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array, float]:
    """Make one Hamiltonian move at inverse temperatures ``b`` (chains, 1); return states, l, gradients and the share accepted.

    The flow of |x|^2/2 + |p|^2/2 - b l(x) is split into kicks p += (angle/2) b grad l and rotations of (x, p), which leave the
    Gaussian part alone; both keep volume and can be reversed, so that the accept step makes pi_b exactly invariant and the move,
    with its fresh momentum, reversible.
    """
    angle = schedule.angle_at(b)
    kick, cos, sin = (0.5 * angle) * b, np.cos(angle), np.sin(angle)
    momentum = rng.standard_normal(states.shape)
    x, value, gradient = states, values, gradients
    energy = np.einsum("scd,scd->sc", momentum, momentum) + np.einsum("scd,scd->sc", x, x) - 2.0 * b[:, 0] * values
    for _ in range(schedule.leaps):
        momentum += kick * gradient
        x, momentum = cos * x + sin * momentum, cos * momentum - sin * x
        value, gradient = target.log_ratio_and_gradient(x)
        momentum += kick * gradient
    energy -= np.einsum("scd,scd->sc", momentum, momentum) + np.einsum("scd,scd->sc", x, x) - 2.0 * b[:, 0] * value
    if not schedule.metropolis:
        return x, value, gradient, 1.0
    # energy is now 2 (H_before - H_after); -log of a uniform number is a standard exponential one.
    accept = 0.5 * energy >= -rng.standard_exponential(values.shape)
    if accept.all():
        return x, value, gradient, 1.0
    chosen = accept[..., None]
    return np.where(chosen, x, states), np.where(accept, value, values), np.where(chosen, gradient, gradients), float(accept.mean())
