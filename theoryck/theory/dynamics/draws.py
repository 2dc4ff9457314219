"""Draws of online gradient descent: runs side by side, exactly as the algorithm is written.

Gaussian inputs.  x has independent blocks sqrt(rho_t) c_t, c_t ~ N(0, I), of N_t = weight N coordinates, and delta = 1.  What is
known of a block are the inner products of the w^k_t and w~^m_t in it: the new ones depend on the old ones and on x through the
fields and |c_t|^2 alone, and given the fields' normal coordinates z (K + M of them: x in the span of the weights) |c_t|^2 is
|z|^2 + chi^2 with N_t - K - M degrees of freedom.  So the order parameters are a Markov chain of their own, whose steps cost the
same at every N; they begin at given values exactly.

Generated inputs.  x = sigma(F_L ... sigma(F_1 c)), the means of layers taken off, F_l and all weights drawn for every run, whole
matrices a step; the error is that of fresh latent vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import QuantityError
from theoryck.theory.dynamics.model import OnlineTask, OrderParameters
from theoryck.theory.projections.model import erf_kernel

Array = NDArray[np.float64]

FRESH = 256
"""Latent vectors by which the error of a student on generated inputs is measured."""

AT_ONCE = 2**20
"""Entries of the generators held at once."""


@dataclass(frozen=True)
class Shown:
    """What is read off a run at one or several times: ``what`` is "eg", "Q", "R" or "v", with its indices k, l or k, m
    or k as ``entry``; less the ``target`` and to the ``power``, then averaged over the times."""

    what: str
    entry: tuple[int, ...]
    target: tuple[float, ...]
    power: int

    def __call__(self, values: Array) -> Array:
        """Return one number a run of values (times, runs)."""
        result: Array = ((values - np.array(self.target)[:, None]) ** self.power).mean(axis=0)
        return result


@dataclass(frozen=True)
class ChainSampler:
    """Runs with Gaussian inputs, read off after ``steps`` (increasing); ``sizes`` are the numbers of coordinates of the blocks."""

    task: OnlineTask
    start: OrderParameters
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    shown: Shown

    def __post_init__(self) -> None:
        fields = len(self.start.v) + self.task.units
        if min(self.sizes) < fields:
            raise QuantityError(f"every eigenvalue needs {fields} coordinates at least, got {self.sizes}: take N larger")

    def _gram(self, draws: int) -> Array:
        """The inner products in each block over its size, (P, P, blocks, draws)."""
        count, blocks = len(self.start.v), len(self.sizes)
        root = np.sqrt(self.task.eigenvalues)[:, None, None]
        gram = np.empty((blocks, count + self.task.units, count + self.task.units))
        gram[:, :count, :count], gram[:, :count, count:] = self.start.q, self.start.r / root
        gram[:, count:, :count] = np.swapaxes(gram[:, :count, count:], 1, 2)
        gram[:, count:, count:] = self.task.overlaps / root**2
        if np.linalg.eigvalsh(gram).min() < 1e-9:
            raise QuantityError("the start must be generic, got weights that depend on each other linearly, and stay so")
        return np.repeat(np.moveaxis(gram, 0, -1)[..., None], draws, axis=-1)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        task, count = self.task, len(self.start.v)
        slope = task.student.derivative()
        gram, v = self._gram(draws), np.repeat(self.start.v[:, None], draws, axis=1)
        fields = len(gram)
        sizes = np.array(self.sizes, dtype=float)[:, None]
        total = float(sizes.sum())
        rho = np.sqrt(task.eigenvalues)[:, None]
        teacher = task.v_teacher
        seen: list[Array] = []
        done = 0
        for until in self.steps:
            for _ in range(until - done):
                z = rng.standard_normal((fields, len(sizes), draws))
                square = (z * z).sum(axis=0)
                if (sizes > fields).any():
                    square += rng.chisquare(np.maximum(sizes - fields, 1e-300), (len(sizes), draws)) * (sizes > fields)
                # w . c of every weight in every block
                inner = np.einsum("ablr,blr->alr", _factor(gram), z) * np.sqrt(sizes)
                local = (rho * inner[:count]).sum(axis=1) / math.sqrt(total)
                taught = inner[count:].sum(axis=1) / math.sqrt(total)
                outputs = task.student(local)
                delta = (v * outputs).sum(axis=0) - teacher @ task.teacher(taught)
                move = -task.rate / math.sqrt(total) * v * delta * slope(local)
                v = v - task.readout_rate / total * delta * outputs
                change = move[:, None, None] * (rho * inner)[None]  # (K, P, blocks, draws)
                gram[:count] += change / sizes
                gram[:, :count] += np.swapaxes(change, 0, 1) / sizes
                gram[:count, :count] += move[:, None, None] * move[None, :, None] * (rho**2 * square / sizes)
            done = until
            seen.append(self._read(gram, v, sizes / total))
        return self.shown(np.stack(seen))

    def _read(self, gram: Array, v: Array, shares: Array) -> Array:
        count, what, entry = len(v), self.shown.what, self.shown.entry
        if what == "v":
            return v[entry[0]].copy()
        rho = self.task.eigenvalues[:, None]
        q = (gram[:count, :count] * rho * shares).sum(axis=2)
        r = (gram[:count, count:] * np.sqrt(rho) * shares).sum(axis=2)
        if what != "eg":
            return (q if what == "Q" else r)[entry].copy()
        t = np.broadcast_to(self.task.T[..., None], (*self.task.T.shape, v.shape[1]))
        c = np.concatenate([np.concatenate([q, r], axis=1), np.concatenate([np.swapaxes(r, 0, 1), t], axis=1)])
        signs = np.concatenate([v, np.repeat(-self.task.v_teacher[:, None], v.shape[1], axis=1)])
        if self.task.arcsines:
            own = np.einsum("aar->ar", c)
            c = erf_kernel(own[:, None], c, own[None])
        result: Array = np.einsum("ar,abr,br->r", signs, c, signs) / 2
        return result

    @property
    def cost(self) -> float:
        """Random numbers of a run, and about three times as many for what is done with them."""
        return 4.0 * self.steps[-1] * len(self.sizes) * (len(self.start.v) + self.task.units + 2.0)


def _factor(gram: Array) -> Array:
    """The Cholesky factors of (P, P, ...): the loops are over P, the numbers side by side.

    >>> _factor(np.array([[4.0, 2.0], [2.0, 5.0]])[..., None])[..., 0].tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    size = len(gram)
    factor = np.zeros_like(gram)
    for j in range(size):
        pivot = gram[j, j] - (factor[j, :j] ** 2).sum(axis=0)
        # A pivot of 0 is a weight that others have become: rounding must not make it negative.
        root = np.sqrt(np.maximum(pivot, 1e-300))
        factor[j, j] = root
        if j + 1 < size:
            factor[j + 1 :, j] = (gram[j + 1 :, j] - (factor[j + 1 :, :j] * factor[j, :j]).sum(axis=1)) / root
    return factor


@dataclass(frozen=True)
class GeneratorSampler:
    """Runs on x = sigma(F_L ... sigma(F_1 c)), ``widths`` (D, N_1, ..., N), less the ``means`` of the layers; M = K units.

    The student g begins with w^k = ``spread`` xi^k + ``aligned``[k] F_L ... F_1 w~^k.  eg after ``steps`` is measured on fresh
    latent vectors; with ``predicted``, a function of F_1, ..., F_L, W (K, N) and W~ (M, D), less that.
    """

    activation: Activation
    means: tuple[float, ...]
    widths: tuple[int, ...]
    student: Activation
    rate: float
    readout_rate: float
    spread: float
    aligned: tuple[float, ...]
    v: tuple[float, ...]
    steps: tuple[int, ...]
    shown: Shown
    predicted: Callable[[list[Array], Array, Array], Array] | None = None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        once = max(AT_ONCE // self._entries, 1)
        return np.concatenate([self._some(rng, min(once, draws - done)) for done in range(0, draws, once)])

    @property
    def _entries(self) -> int:
        return sum(before * now for before, now in zip(self.widths, self.widths[1:]))

    def _some(self, rng: np.random.Generator, runs: int) -> Array:
        d, n, count = self.widths[0], self.widths[-1], len(self.aligned)
        layers = [rng.standard_normal((runs, b, a)) / math.sqrt(a) for a, b in zip(self.widths, self.widths[1:])]
        teacher = rng.standard_normal((runs, d, count))
        directed = teacher
        for layer in layers:
            directed = layer @ directed
        weights = self.spread * rng.standard_normal((runs, n, count)) + np.array(self.aligned) * directed
        v = np.repeat(np.array(self.v)[None], runs, axis=0)
        slope = self.student.derivative()
        predicted = np.zeros((len(self.steps), runs))
        if self.predicted is not None:
            columns = [self.predicted([layer[k] for layer in layers], weights[k].T, teacher[k].T) for k in range(runs)]
            predicted = np.stack(columns, axis=1)
        seen: list[Array] = []
        done = 0

        def fields(latent: Array) -> tuple[Array, Array, Array]:
            inputs = latent
            for layer, mean in zip(layers, self.means):
                inputs = self.activation(layer @ inputs) - mean  # (runs, N, vectors)
            return inputs, np.swapaxes(weights, 1, 2) @ inputs / math.sqrt(n), np.swapaxes(teacher, 1, 2) @ latent / math.sqrt(d)

        for until in self.steps:
            for _ in range(until - done):
                inputs, local, taught = (part[..., 0] for part in fields(rng.standard_normal((runs, d, 1))))
                outputs = self.student(local)
                delta = (v * outputs).sum(axis=1) - self.student(taught).sum(axis=1)
                move = -self.rate / math.sqrt(n) * v * delta[:, None] * slope(local)
                weights += inputs[:, :, None] * move[:, None, :]
                v = v - self.readout_rate / n * delta[:, None] * outputs
            done = until
            _, local, taught = fields(rng.standard_normal((runs, d, FRESH)))
            delta = (v[:, :, None] * self.student(local)).sum(axis=1) - self.student(taught).sum(axis=1)
            seen.append((delta**2).mean(axis=1) / 2)
        return self.shown(np.stack(seen) - predicted)

    @property
    def cost(self) -> float:
        """What a run takes in random numbers: a matrix is read once a step, about 3e8 entries a second; the equations 0.04 s."""
        own = 0.25 * self._entries * (self.steps[-1] + FRESH * len(self.steps) / 8) + 100.0 * self.steps[-1]
        return own + (2.5e6 if self.predicted is not None else 0.0)
