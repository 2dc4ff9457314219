"""Distance between the law of the draws and a claimed law, unbiased, from a streaming histogram."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.histogram import Histogram
from theoryck.records import Estimate


def quantile_edges(ppf: Callable[[NDArray[np.float64]], NDArray[np.float64]], bins: int = 1024) -> NDArray[np.float64]:
    """Return the inner edges of ``bins`` equally probable bins of the law with quantile function ``ppf``, shape (bins - 1,).

    >>> import scipy.stats
    >>> quantile_edges(scipy.stats.norm().ppf, 4).round(3).tolist()
    [-0.674, 0.0, 0.674]
    """
    return np.unique(np.asarray(ppf(np.arange(1, bins) / bins), dtype=np.float64))


def squared_distance(histogram: Histogram, cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Estimate:
    """Return an unbiased estimate of ``int (G - F)^2 dF``, the Cramer-von Mises distance of the draws' law G to F, on the edges.

    With G_n the empirical distribution function, (G_n - F)^2 - G_n (1 - G_n)/(n - 1) has mean (G - F)^2 at every edge, so the
    estimate may be negative and does not stop at a noise floor.  It is a U-statistic of degree 2: its variance is
    4 Var(h_1)/n with h_1(X) = int (G - F)(1{X <= t} - G) dF, plus the degenerate part, which for G = F is (1/45)/n^2.
    Raises ValueError with fewer than two draws.

    >>> draws = np.random.default_rng(0).random(10_000)
    >>> edges = np.arange(1, 64) / 64
    >>> found = squared_distance(Histogram.of(draws, edges), lambda u: u)
    >>> abs(found.value) < 5 * found.stderr < 1e-3
    True
    """
    n = histogram.total
    if n < 2:
        raise ValueError(f"a distance between laws needs at least 2 draws, got {n}: sample more")
    claimed = np.asarray(cdf(np.asarray(histogram.edges)), dtype=np.float64)
    seen = histogram.cdf()
    ends = np.concatenate(([0.0], claimed, [1.0]))
    weights = 0.5 * (ends[2:] - ends[:-2])
    value = float(weights @ ((seen - claimed) ** 2 - seen * (1 - seen) / (n - 1)))
    # A draw in bin b lies below the edges b, b+1, ...: h_1 is a reversed cumulative sum.
    projection = np.concatenate((np.cumsum((weights * (seen - claimed))[::-1])[::-1], [0.0]))
    share = np.asarray(histogram.counts, dtype=np.float64) / n
    variance = float(share @ projection**2 - (share @ projection) ** 2)
    return Estimate(value, math.sqrt(4 * max(variance, 0.0) / n + 1 / (45 * n**2)), n)
