"""One hidden layer of N nonlinear units on one or two training inputs, exactly: float64 quadrature on two grids.

f = (lambda_1 N)^(-1/2) sum_i a_i phi(u_i), u_i the preactivations of a unit at all inputs, a_i ~ N(0, 1).  With the a_i integrated
    psi(w) = E exp(-s^2/2),  s = w.phi(u)/(lambda_1 N)^(1/2),  Z = int cos(w.y) psi(w)^N exp(-T |w|^2/2) dw/(2 pi)^P,
over w in R^P, and the moments of f at a new input insert N psi^(N-1) E s phi_0 e^(-s^2/2) and the like, in which phi_0 = phi(u_0)
is first averaged given u at the training inputs.  w and u are whitened, (T + K)^(1/2) w and G^(-1/2) u: both integrands are then
near Gaussian, and the trapezoidal rule converges geometrically for analytic phi; with kinks, panels that end there take its place.

Not proved: the radius is what a coarser grid sees otherwise, times 10, plus rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import nodes_of
from theoryck.records import Enclosure
from theoryck.theory.renormalisation.cumulant import contraction, gaussian_contraction
from theoryck.theory.renormalisation.model import Regression, regression

Array = NDArray[np.float64]

LEVELS = ((0.42, 0.34), (0.3, 0.24), (0.21, 0.17))
"""Steps of the frequencies and of u in standard deviations, tried in turn."""

ENOUGH = 1e-10
"""An error at which no finer grid is tried."""

REACH = 8.6
"""Of u: e^(-REACH^2/2) = 9e-17."""

NEGLIGIBLE = 1e-17
LARGEST_REACH = 400.0
AT_ONCE = 2**21
MOST = 10**9
"""Values of an integrand on one grid."""

NARROW = 0.7
"""Length of panels between kinks, in standard deviations of u given the other one."""


@dataclass(frozen=True, eq=False)
class FewPointsPosterior:
    """The posterior of a nonlinear network on one or two training inputs; made by :func:`few_points_posterior`.

    ``log_evidence`` log Z, ``mean`` and ``variance`` of f at the new inputs, ``train_loss`` E |y - f|^2/P, ``readout_norm`` E
    |a|^2/N with a_i of prior variance 1; ``bias2``, ``test_loss`` as for the action, None without labels.

    >>> found = few_points_posterior("erf", [0.5], [[1.0]], width=4, temperature=0.5)
    >>> found.log_evidence.rigorous, bool(found.readout_norm.radius < 1e-9)
    (False, True)
    """

    log_evidence: Enclosure
    mean: tuple[Enclosure, ...]
    variance: tuple[Enclosure, ...]
    train_loss: Enclosure
    readout_norm: Enclosure
    bias2: Enclosure | None
    test_loss: Enclosure | None


def few_points_posterior(
    activation: Activation | str,
    labels: ArrayLike,
    inputs: ArrayLike,
    *,
    width: Any,
    temperature: Any,
    precisions: Any = 1,
    new_inputs: ArrayLike | None = None,
    new_labels: ArrayLike | None = None,
) -> FewPointsPosterior:
    """Return log Z, predictor and losses of one hidden layer of ``width`` N nonlinear units on one or two training inputs.

    ``inputs`` (P, N_0), ``labels`` (P,), P = 1 or 2, ``new_inputs`` (m, N_0), ``new_labels`` (m,); T > 0; ``precisions`` one number
    or (lambda_0, lambda_1).  Two or three units at T below 1/10 are out of reach: their characteristic function falls too slowly.
    Raises ExactError for more inputs, T = 0, or inputs that are parallel, NotConverged where two grids
    agree to fewer than four digits, ValueError for other bad arguments.

    >>> X = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]]
    >>> found = few_points_posterior("erf", [1.2, -0.7], X, width=16, temperature=0.1)
    >>> round(float(found.log_evidence), 10), bool(found.log_evidence.radius < 1e-9)
    (-3.0293080096, True)
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    given = [None if value is None else _frozen(value) for value in (labels, inputs, new_inputs, new_labels)]
    return _posterior(phi, tuple(given), width, temperature, _frozen(precisions))


def _frozen(value: Any) -> Any:
    """Return arrays and sequences as nested tuples."""
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(_frozen(part) for part in plain) if isinstance(plain, Sequence) and not isinstance(plain, str) else plain


@functools.lru_cache(maxsize=512)
def _posterior(phi: Activation, data: tuple[Any, ...], width: Any, temperature: Any, precisions: Any) -> FewPointsPosterior:
    labels, inputs, new_inputs, new_labels = data
    task = regression(phi, labels, inputs, new_inputs, new_labels, width, temperature, precisions)
    if len(task.labels) > 2 or not task.temperature > 0 or len(task.widths) != 1 or task.widths[0] == math.inf:
        raise ExactError(
            f"the exact route takes one or two training inputs, T > 0 and one finite width, got P = {len(task.labels)}, T = "
            f"{task.temperature:g}, widths {widths_text(task.widths)}: draw instead"
        )
    found = {}
    coarse = _moments(phi, task, *LEVELS[0])
    for steps in LEVELS[1:]:
        fine = _moments(phi, task, *steps)
        errors = {name: 10 * abs(value - coarse[name]) + 1e-13 * max(1.0, abs(value)) for name, value in fine.items()}
        if max(errors.values()) <= ENOUGH:
            break
        coarse = fine
    for name, value in fine.items():
        if not errors[name] < 1e-3 * max(1.0, abs(value)):
            raise NotConverged(f"{name} of {phi} is {value:.6g} to {errors[name]:.2g} only on two grids: take a larger width or T")
        found[name] = Enclosure(Decimal(value), Decimal(f"{errors[name]:.3g}"), rigorous=False)
    count = len(task.new)
    return FewPointsPosterior(
        found["log Z"],
        tuple(found[f"mean {k}"] for k in range(count)),
        tuple(found[f"variance {k}"] for k in range(count)),
        found["train"],
        found["readout"],
        found.get("bias2"),
        found.get("loss"),
    )


def widths_text(widths: tuple[float, ...]) -> str:
    """Return the widths as people write them."""
    return ", ".join(f"{width:g}" for width in widths)


def _moments(phi: Activation, task: Regression, step: float, spacing: float) -> dict[str, float]:
    y, heat, width = task.labels, task.temperature, int(task.widths[0])
    assert task.layers is not None
    _, gram, precisions = task.layers
    weights, features, means, squares = _features(phi, gram, len(y), spacing)
    scale = 1 / math.sqrt(precisions[1] * width)
    root = np.linalg.cholesky(heat * np.eye(len(y)) + task.kernel)
    totals = np.zeros(3 + 2 * len(task.new))
    for w, times in _frequencies(root, features, weights, scale, width, heat, step):
        s = scale * w @ features.T
        level = np.exp(-(s**2) / 2) * weights
        psi, bent = level.sum(axis=1), (level * (1 - s**2)).sum(axis=1)
        first, second = scale * (level * s) @ means, scale**2 * (level * (1 - s**2)) @ squares
        length = (w**2).sum(axis=1)
        damp = times * np.exp(-heat * length / 2)
        even, odd = np.cos(w @ y) * damp, np.sin(w @ y) * damp
        last = psi ** (width - 1)
        # psi^(N-2) = 1 at N = 1, where its factor N (N - 1) is 0.
        before = psi ** max(width - 2, 0)
        parts = [even * psi * last, -length * even * psi * last, even * last * bent]
        rows = [np.sum(part) for part in parts]
        one = width * (odd * last) @ first
        two = width * (even * last) @ second - width * (width - 1) * (even * before) @ first**2
        totals += np.concatenate([rows, one, two])
    z, curved, readout = totals[0], totals[1] / totals[0], totals[2] / totals[0]
    volume = step ** len(y) / math.prod(np.diagonal(root)) / (2 * math.pi) ** len(y)
    count, fresh = len(y), len(task.new)
    mean, square = totals[3 : 3 + fresh] / z, totals[3 + fresh :] / z
    found = {"log Z": math.log(z * volume), "readout": float(readout)}
    # E (y - f) e^... = -T grad: E |y - f|^2 = T P + T^2 (Laplacian of Z)/Z.
    found["train"] = float(heat * count + heat**2 * curved) / count
    for k in range(fresh):
        found |= {f"mean {k}": float(mean[k]), f"variance {k}": float(square[k] - mean[k] ** 2)}
    if task.new_labels is not None:
        found["bias2"] = float(np.mean((mean - task.new_labels) ** 2))
        found["loss"] = found["bias2"] + float(np.mean(square - mean**2))
    return found


def _frequencies(
    root: NDArray[Any], features: Array, weights: Array, scale: float, width: int, heat: float, step: float
) -> Iterator[tuple[Array, Array]]:
    """Yield w = root^-T xi, xi on a grid as far as the labels' characteristic function matters, and how often each counts."""
    count = root.shape[0]
    inverse = np.linalg.inv(root)

    def size(xi: Array) -> Array:
        w = xi @ inverse
        s = scale * w @ features.T
        psi = np.abs((np.exp(-(s**2) / 2) * weights).sum(axis=1))
        return np.asarray(psi**width * np.exp(-heat * (w**2).sum(axis=1) / 2))

    angles = np.linspace(0, math.pi, 24 if count == 2 else 1, endpoint=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, :count]
    reach = 8.0
    while np.max(size(reach * rays)) > NEGLIGIBLE:
        reach *= 1.15
        if reach > LARGEST_REACH:
            raise NotConverged(f"the characteristic function does not decay up to {LARGEST_REACH:g}: take a larger width or T")
    line = step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    grid = line[:, None] if count == 1 else np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    grid = grid[(grid**2).sum(axis=1) <= reach**2]
    if len(grid) * len(weights) > MOST:
        raise NotConverged(
            f"the quadrature takes {len(grid):.2g} frequencies times {len(weights):.2g} nodes: take a larger width or T, inputs of "
            "smaller norm, or draws"
        )
    # w and -w contribute the same: half of the plane, twice, and 0 once.
    half = (grid[:, 0] > 0) | ((grid[:, 0] == 0) & (grid[:, -1] >= 0))
    grid = grid[half]
    times, most = np.where((grid == 0).all(axis=1), 1.0, 2.0), max(AT_ONCE // len(weights), 1)
    for start in range(0, len(grid), most):
        part = slice(start, start + most)
        yield grid[part] @ inverse, times[part]


def _features(phi: Activation, gram: Array, count: int, spacing: float) -> tuple[Array, Array, Array, Array]:
    """Return weights (M,), phi at the training inputs (M, P), and E phi_0, E phi_0^2 given them at new ones (M, m)."""
    train, cross, new = gram[:count, :count], gram[:count, count:], np.diagonal(gram)[count:]
    if count == 2 and not train[0, 1] ** 2 < (1 - 1e-10) * train[0, 0] * train[1, 1]:
        raise ExactError(
            f"the training inputs must not be parallel, nor 0, to ten digits, got the Gram matrix {train.tolist()}: this "
            "quadrature takes a density of both preactivations, draw instead"
        )
    root = np.linalg.cholesky(train)
    kinks = [float(kink) for kink in phi.kinks]
    if kinks:
        u, weights = _panels(train, root, kinks, spacing)
    else:
        line = spacing * np.arange(-math.ceil(REACH / spacing), math.ceil(REACH / spacing) + 1)
        z = line[:, None] if count == 1 else np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        z = z[(z**2).sum(axis=1) <= REACH**2]
        weights = np.exp(-(z**2).sum(axis=1) / 2)
        u = z @ root.T
    weights = weights / weights.sum()
    if phi.properties.odd.value or phi.properties.even.value:
        # u and -u contribute the same.
        half = (u[:, 0] > 0) | ((u[:, 0] == 0) & (u[:, -1] > 0))
        centre = (u == 0).all(axis=1)
        weights, u = weights[half | centre] * np.where(centre[half | centre], 1, 2), u[half | centre]
    gain = np.linalg.solve(train, cross)
    means, squares = [], []
    for k, variance in enumerate(new):
        spread = math.sqrt(max(variance - float(cross[:, k] @ gain[:, k]), 0.0))
        one, two = _given(phi, u @ gain[:, k], spread, kinks)
        means.append(one)
        squares.append(two)
    empty = np.zeros((len(u), 0))
    return weights, phi(u), np.array(means).T if means else empty, np.array(squares).T if squares else empty


def _panels(train: Array, root: NDArray[Any], kinks: list[float], spacing: float) -> tuple[Array, Array]:
    """Return nodes and weights in u on panels that end at the kinks, of a length that follows the narrower conditional law."""
    count = len(train)
    sizes = np.sqrt(np.diagonal(train))
    narrow = float(root[-1, -1]) / sizes[-1] if count == 2 else 1.0
    lines = []
    for size in sizes:
        ends = np.linspace(-REACH, REACH, math.ceil(2 * REACH / (NARROW * max(narrow, 0.05) * spacing / LEVELS[1][1])) + 1) * size
        edges = np.unique(np.concatenate([ends, [kink for kink in kinks if abs(kink) < REACH * size]]))
        lines.append(nodes_of(edges, 6))
    inverse = np.linalg.inv(train)
    if count == 1:
        u, weights = lines[0][0][:, None], lines[0][1]
    else:
        u = np.stack(np.meshgrid(lines[0][0], lines[1][0], indexing="ij"), axis=-1).reshape(-1, 2)
        weights = np.outer(lines[0][1], lines[1][1]).reshape(-1)
    form = np.einsum("mi,ij,mj->m", u, inverse, u)
    inside = form <= REACH**2
    return u[inside], weights[inside] * np.exp(-form[inside] / 2)


def _given(phi: Activation, centre: Array, spread: float, kinks: list[float]) -> tuple[Array, Array]:
    """Return E phi(c + spread Y) and of its square for every c."""
    if spread == 0:
        values = phi(centre)
        return values, values**2
    uniform = np.linspace(-REACH, REACH, 19)
    first, second = np.empty_like(centre), np.empty_like(centre)
    for start in range(0, len(centre), 512):
        c = centre[start : start + 512, None]
        ends = [np.broadcast_to(uniform, (len(c), len(uniform)))]
        ends += [np.clip((kink - c) / spread, -REACH, REACH) for kink in kinks]
        z, weight = nodes_of(np.sort(np.concatenate(ends, axis=1), axis=1), 12)
        weight = weight * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        values = phi(c + spread * z)
        first[start : start + 512] = (values * weight).sum(axis=1)
        second[start : start + 512] = (values**2 * weight).sum(axis=1)
    return first, second


def first_order(
    activation: Activation | str, labels: ArrayLike, inputs: ArrayLike, *, temperature: Any, precisions: Any = 1
) -> tuple[float, float]:
    """Return (whole, scalar): the limit of N (log Z - log Z_GP) on one or two inputs, and the part of it that the action has.

    (E H - W)/8 and W/4 as in :mod:`theoryck.theory.renormalisation.cumulant`; ``inputs`` (P, N_0), ``labels`` (P,).  Raises
    ExactError for more than two inputs or parallel ones, ValueError for other bad arguments.

    >>> X = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]]
    >>> [round(value, 8) for value in first_order("erf", [1.2, -0.7], X, temperature=0.1)]
    [-0.51804609, -1.26288644]
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    task = regression(phi, labels, inputs, None, None, math.inf, temperature, precisions)
    if len(task.labels) > 2:
        raise ExactError(f"the quadrature takes one or two training inputs, got {len(task.labels)}: draw instead")
    assert task.layers is not None
    weights, features, _, _ = _features(phi, task.layers[1], len(task.labels), LEVELS[1][1])
    form = weights @ contraction(task.kernel, task.labels, task.temperature, features / math.sqrt(task.layers[2][1]))
    pairs = gaussian_contraction(task.kernel, task.labels, task.temperature)
    return float(form - pairs) / 8, pairs / 4
