"""Error bars from replicates: each size's own where it has many, a common law of their spread where it has few.

The sample variance of k + 1 Gaussian replicates is sigma^2 chi2_k/k: with two or three replicates it may be ten times too small.
Sizes with fewer than 30 replicates are therefore pooled: log sigma^2 = alpha + sum_i beta_i log(size_i), fitted as a Gamma
regression (the likelihood of chi2 variances), which leaves sum k - p degrees of freedom for the t quantile instead of k.  The law
is tested by its deviance; where it fails, each size keeps its own variance and its own, much wider, t quantile.

Rows of one size that are all equal were copied or rounded: they are one row, and no evidence that it is exact.  Such a size takes
the law's error, to which it does not contribute, with that of rounding as the least; or none (infinite) where there is no law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.auditing.tables import Array
from theoryck.montecarlo import Moments
from theoryck.montecarlo.moments import FEW_DRAWS
from theoryck.records import Estimate

CHANCE = 0.01  # what happens so rarely by chance is taken for more than chance
ROUNDING = 8 * float(np.finfo(float).eps)  # of a value that was summed in another order
_STEPS = 50


def estimates(
    sizes: Sequence[Mapping[str, int]], moments: Sequence[Moments], tail: float, resolution: float = 0.0
) -> tuple[list[Estimate], tuple[str, ...]]:
    """Return the mean at each size with its error bar, and what has to be said about it.

    ``tail`` is the smallest error rate at which a limit will be taken, ``resolution`` the step to which the values may have been
    rounded.  A size with one replicate, or with replicates that do not differ, gets the error bar of the common law, or none
    (infinite) where there is no such law.
    """
    found = [moment.estimate() for moment in moments]
    same = [i for i, moment in enumerate(moments) if alike(moment)]
    few = [i for i, moment in enumerate(moments) if moment.count < FEW_DRAWS or i in same]
    law = _common_law([sizes[i] for i in few], [moments[i] for i in few])
    if law is None and same:  # what many replicates say of their spread holds for those that do not differ too
        whole = _common_law(sizes, moments)
        law = None if whole is None else replace(whole, spread=tuple(whole.spread[i] for i in few))
        pooled = [i for i in few if i in same or moments[i].count == 1]
    else:
        pooled = few
    skewness = _pooled_skewness([moments[i] for i in few])
    for i, moment in enumerate(moments):
        count = 1 if i in same else moment.count
        if law is not None and i in pooled:
            scale = law.spread[few.index(i)] / math.sqrt(count)
            stderr = _ldexp(scale * max(student_factor(law.dof, tail), law.inflation), law.exponent)
        elif count > 1:
            own = moment.std / math.sqrt(count)
            stderr = max(found[i].stderr, own * student_factor(count - 1, tail))
        else:
            stderr = math.inf
        if i in same:
            stderr = max(stderr, resolution / math.sqrt(12))  # the deviation of what is rounded to a step, which no mean reduces
        found[i] = replace(found[i], stderr=stderr, skewness=skewness if i in few else found[i].skewness)
        if law is not None and i in pooled:  # said once for all, in words
            found[i] = replace(found[i], flags=tuple(flag for flag in found[i].flags if flag not in ("few-draws", "constant")))
    return found, tuple(_told(sizes, moments, [i for i in few if i not in same] if law is not None else [], same, law is not None))


def _told(
    sizes: Sequence[Mapping[str, int]], moments: Sequence[Moments], pooled: Sequence[int], same: Sequence[int], law: bool
) -> Iterator[str]:
    if pooled:
        counts = sorted({moments[i].count for i in pooled})
        said = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"{said} replicates a size: their spread is pooled over {len(pooled)} size{'s' * (len(pooled) > 1)}"
    if same:
        error = "the error of one row, from the spread at the other sizes" if law else "no error bar, as no law of the spread holds"
        yield f"all rows are equal at {places([sizes[i] for i in same])}: {error}"


def alike(moment: Moments) -> bool:
    """Whether rows of one size differ by no more than the last digits of a float: copies, not replicates."""
    return moment.count > 1 and (moment.constant or moment.std <= ROUNDING * abs(moment.estimate().value))


def student_factor(dof: int, tail: float) -> float:
    """Return the quantile of Student's t over that of a Gaussian, at error rate ``tail``.

    A mean whose standard error was estimated with ``dof`` degrees of freedom lies further than t of them off with probability
    ``tail``: limits that are taken as z standard errors need the error t/z times as large.

    >>> round(student_factor(4, 0.025), 3), round(student_factor(999, 0.025), 3)
    (1.417, 1.001)
    """
    return -float(scipy.special.stdtrit(dof, tail)) / -NormalDist().inv_cdf(tail)


@dataclass(frozen=True, slots=True)
class _Law:
    """Standard deviations of one replicate at each size, in units of ``2**exponent``, known with ``dof`` degrees of freedom."""

    spread: tuple[float, ...]
    exponent: int
    dof: int
    inflation: float


def _common_law(sizes: Sequence[Mapping[str, int]], moments: Sequence[Moments]) -> _Law | None:
    """Fit the law of the spread where rows differ; None where it has no degrees of freedom or does not hold."""
    degrees = np.array([moment.count - 1 for moment in moments], dtype=float)
    used = np.array([moment.count > 1 and not alike(moment) for moment in moments], dtype=bool)
    if not used.any():
        return None
    x = _log_sizes(sizes)
    p = x.shape[1]
    if int(used.sum()) <= p or np.linalg.matrix_rank(x[used]) < p:
        return None
    # In units of the typical spread, so that squares neither vanish nor overflow.
    scale = int(np.median([moment.exponent for moment, use in zip(moments, used) if use]))
    logs = np.array([2 * _log_std(m, scale) if use else 0.0 for m, use in zip(moments, used)])
    fitted = _gamma_regression(x, logs, degrees, used)
    excess = logs[used] - fitted[used]
    k = degrees[used]
    deviance = float((k * (np.expm1(np.minimum(excess, 300.0)) - excess)).sum())
    # Of a chi2_k variance the deviance has the mean k (log(k/2) - psi(k/2)), slightly above 1: Bartlett's correction.
    expected = float((k * (np.log(k / 2) - scipy.special.digamma(k / 2))).mean())
    if float(scipy.special.chdtrc(int(used.sum()) - p, deviance / expected)) < CHANCE:
        return None
    differing = [moment for moment, use in zip(moments, used) if use]
    count = float(sum(moment.count for moment in differing))
    kurtosis = max(3.0, sum(m.count * m.kurtosis for m in differing) / count)
    inflation = math.sqrt(1.0 + math.sqrt((kurtosis - 1.0) / count))  # as in theoryck/montecarlo/moments.py
    return _Law(tuple(np.exp(0.5 * fitted).tolist()), scale, int(k.sum()) - p, inflation)


def _log_std(moment: Moments, exponent: int) -> float:
    """Return log(standard deviation / 2**exponent)."""
    return 0.5 * math.log(moment.m2 / (moment.count - 1)) + (moment.exponent - exponent) * math.log(2)


def _log_sizes(sizes: Sequence[Mapping[str, int]]) -> Array:
    """Return the design: 1 and the centred logarithm of every size that moves."""
    columns = [np.log([float(size[name]) for size in sizes]) for name in (sizes[0] if sizes else ())]
    return np.stack([np.ones(len(sizes)), *(c - c.mean() for c in columns if np.ptp(c) > 0)], axis=1)


def _gamma_regression(x: Array, logs: Array, degrees: Array, used: NDArray[np.bool_]) -> Array:
    """Return log sigma^2 at every row of ``x``: the maximum of sum_i -(k_i/2) (eta_i + exp(logs_i - eta_i)), which is concave."""
    xs, ys, k = x[used], logs[used], degrees[used]
    # The mean of log(chi2_k/k) is psi(k/2) - log(k/2): least squares on the logarithm starts near the maximum.
    beta = np.linalg.lstsq(xs * np.sqrt(k)[:, None], (ys - scipy.special.digamma(k / 2) + np.log(k / 2)) * np.sqrt(k), rcond=None)[
        0
    ]

    def objective(at: Array) -> float:
        eta = xs @ at
        with np.errstate(over="ignore"):
            return float((k * (eta + np.exp(np.minimum(ys - eta, 300.0)))).sum())

    value = objective(beta)
    for _ in range(_STEPS):
        # Fisher scoring: the expected curvature does not depend on the variances, so that none of them can make it singular.
        ratio = np.exp(np.minimum(ys - xs @ beta, 300.0))
        step = np.linalg.solve((xs * k[:, None]).T @ xs, xs.T @ (k * (ratio - 1.0)))
        while (better := objective(beta + step)) > value and np.abs(step).max() > 1e-12:
            step = 0.5 * step
        gain, value, beta = value - better, better, beta + step
        if gain <= 1e-12 * (1 + abs(value)):
            break
    return np.asarray(x @ beta, dtype=float)


def _pooled_skewness(moments: Sequence[Moments]) -> float:
    """Return the mean skewness over the sizes with few replicates, or 0 where that of Gaussian replicates explains it.

    The skewness of n Gaussian replicates has the variance 6 (n - 2) / ((n + 1) (n + 3)): with few of them one size tells nothing.
    """
    few = [found for found in moments if found.count > 2 and not found.constant]
    if not few:
        return 0.0
    mean = sum(found.skewness for found in few) / len(few)
    variance = sum(6 * (n - 2) / ((n + 1) * (n + 3)) for n in (found.count for found in few)) / len(few) ** 2
    return mean if abs(mean) > NormalDist().inv_cdf(1 - CHANCE / 2) * math.sqrt(variance) else 0.0


def _ldexp(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf


def place(sizes: Mapping[str, int]) -> str:
    """Write sizes as ``d = 16, n = 32``."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def places(where: Sequence[Mapping[str, int]]) -> str:
    """Write several sets of sizes, the first and the last of many."""
    shown = [place(sizes) for sizes in where]
    return "; ".join(shown if len(shown) <= 4 else [*shown[:2], "...", shown[-1]])
