"""The integral over the order parameters instead of the saddle: exact for Gaussian features, in float64.

With t = prod_l chi^2_(N_l)/N_l the law of the action is E N(y; 0, T + t K): that of a network whose features are Gaussian with
covariance K given nothing but t, and exactly that of linear units.  In u = log t by the trapezoidal rule, the densities of the
layers convolved; every term is positive, so that sums keep their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.theory.renormalisation.limits.action import Spectrum
from theoryck.theory.renormalisation.model import regression

Array = NDArray[np.float64]

STEP = 0.6
"""In standard deviations of the narrowest posterior: a Gaussian leaves 2 exp(-2 pi^2/0.36) = 3e-24."""

LARGEST_STEP = 0.12
MOST = 2**23
"""Nodes of one layer."""

TAIL = 80.0
"""Nodes below exp(-80) = 2e-35 of the largest weight are left out."""


@dataclass(frozen=True, eq=False)
class ScaleMixture:
    """What the integral over the order parameters says of a Bayesian network; made by :func:`scale_mixture`.

    ``log_evidence`` log Z, ``scale`` E t, ``mean`` and ``variance`` (m,) of f at new inputs, ``train_loss`` E |y - f|^2/P;
    ``bias2`` and ``test_loss`` as for the action.

    >>> found = scale_mixture([[1.0]], [3.0], widths=4, temperature=1)
    >>> round(found.scale, 4), round(found.train_loss, 4)
    (1.3775, 2.6875)
    """

    log_evidence: float
    scale: float
    mean: Array
    variance: Array
    train_loss: float
    bias2: float | None
    test_loss: float | None


def scale_mixture(
    kernel: Any,
    labels: ArrayLike,
    inputs: ArrayLike | None = None,
    *,
    widths: Any,
    temperature: Any,
    precisions: Any = 1,
    new_inputs: ArrayLike | None = None,
    new_labels: ArrayLike | None = None,
) -> ScaleMixture:
    """Return log Z, predictor and losses of E N(y; 0, T + t K), t = prod_l chi^2_(N_l)/N_l: the action without its saddle.

    Arguments and errors as for :func:`theoryck.renormalisation.bayesian_network`: ``labels`` (P,), ``inputs`` (P, N_0), or a
    ``kernel`` (P + m, P + m).

    >>> X = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]]
    >>> found = scale_mixture("erf", [1.2, -0.7], X, widths=16, temperature=0.1, new_inputs=[[0.8, -0.2, -0.3, 1.2]])
    >>> round(found.log_evidence, 10), found.mean.round(10).tolist()
    (-3.0704203697, [0.315833708])
    """
    task = regression(kernel, labels, inputs, new_inputs, new_labels, widths, temperature, precisions)
    spectrum = Spectrum.of(task.kernel, task.cross, task.new, task.labels, task.temperature)
    finite = [width for width in task.widths if width < math.inf]
    u, prior = _prior(finite, spectrum) if finite else (np.zeros(1), np.zeros(1))
    # No t beyond float64 has weight.
    value, _, _ = spectrum.at(np.exp(np.minimum(u, 700.0)))
    level = prior - value / 2
    top = float(level.max())
    keep = level > top - TAIL
    weights, t = np.exp(level[keep] - top), np.exp(u[keep])
    total = float(weights.sum())
    share = weights / total
    whole = task.temperature + t[:, None] * spectrum.values
    means = t[:, None] * ((spectrum.labels / whole) @ spectrum.cross)
    spreads = t[:, None] * spectrum.new - t[:, None] ** 2 * ((1 / whole) @ spectrum.cross**2)
    mean = share @ means
    variance = share @ spreads + share @ (means - mean) ** 2
    heat = task.temperature
    train = ((heat * spectrum.labels / whole) ** 2).sum(axis=1) + heat * (t[:, None] * spectrum.values / whole).sum(axis=1)
    bias2 = loss = None
    if task.new_labels is not None:
        bias2 = float(np.mean((mean - task.new_labels) ** 2))
        loss = bias2 + float(np.mean(variance))
    count = len(task.labels)
    evidence = top + math.log(total) - count / 2 * math.log(2 * math.pi)
    return ScaleMixture(evidence, float(share @ t), mean, variance, float(share @ train) / count, bias2, loss)


def _prior(widths: list[float], spectrum: Spectrum) -> tuple[Array, Array]:
    """Return nodes u and log of (density times step), where prior times likelihood may matter."""
    step = min(STEP / math.sqrt(max(widths) / 2 + len(spectrum.values) / 2), LARGEST_STEP)
    scan = np.exp(np.linspace(-60, 60, 481))
    value, _, _ = spectrum.at(scan)
    # No node of the prior below exp(-need) of its top can carry weight.
    need = TAIL + float(spectrum.at(np.ones(1))[0][0] - np.min(value)) / 2
    logs, low = np.zeros(1), 0
    for width in widths:
        first, last = _range(width, step, need)
        # The rule is exact to rounding, so that a layer's own sum stands for its constant.
        density = width / 2 * _fall(step * np.arange(first, last + 1, dtype=np.float64))
        density -= np.logaddexp.reduce(density)
        logs, low = _convolved(logs, density), low + first
    return np.asarray(step * (low + np.arange(len(logs)))), logs


def _fall(u: Array) -> Array:
    """Return 1 + u - e^u without its cancellation."""
    return np.where(np.abs(u) < 1e-3, -u * u / 2 * (1 + u / 3 * (1 + u / 4 * (1 + u / 5))), u - np.expm1(u))


def _range(width: float, step: float, need: float) -> tuple[int, int]:
    def fall(k: int) -> float:
        return width / 2 * (math.expm1(k * step) - k * step)

    ends = []
    for side in (-1, 1):
        far = 1
        while fall(side * far) < need:
            far = math.ceil(far * 1.1)
            if far > MOST:
                raise ValueError(
                    f"widths and labels need {far:.2g} nodes of log t for {width:g} units, at most {MOST:.2g} are taken: "
                    "take math.inf for the widest layers, whose effect is 1/N, and labels of the size of the kernel"
                )
        ends.append(side * far)
    return ends[0], ends[1]


def _convolved(one: Array, two: Array) -> Array:
    """Return the logarithm of the convolution of exp(one) and exp(two), term by term from the largest."""
    result = np.full(len(one) + len(two) - 1, -np.inf)
    short, long = (one, two) if len(one) <= len(two) else (two, one)
    for k, level in enumerate(short.tolist()):
        part = slice(k, k + len(long))
        result[part] = np.logaddexp(result[part], level + long)
    return result
