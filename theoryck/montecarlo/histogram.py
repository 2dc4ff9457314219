"""Counts between fixed edges, for statements about a law: the empirical distribution function is exact at every edge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of draws in (-inf, e_0], (e_0, e_1], ..., (e_last, inf) for strictly increasing edges e_0 < ... < e_last.

    >>> h = Histogram.of([0.5, 1.0, 2.5], [0.0, 1.0, 2.0])
    >>> h.counts, h.cdf().tolist()
    ((0, 2, 0, 1), [0.0, 0.666..., 0.666...])
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64], edges: Sequence[float]) -> Histogram:
        """Count an array (draws,) between ``edges``; raises ValueError unless the edges are finite and strictly increasing."""
        grid = np.asarray(edges, dtype=np.float64)
        if grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or not (np.diff(grid) > 0).all():
            raise ValueError(f"bins must be finite edges in strictly increasing order, got {list(edges)!r}")
        # side="left": index i means e_{i-1} < value <= e_i, so cumulative counts are #{value <= e_i}.
        index = np.searchsorted(grid, np.asarray(values, dtype=np.float64), side="left")
        counts = np.bincount(index, minlength=grid.size + 1)
        return cls(tuple(grid.tolist()), tuple(counts.tolist()))

    @property
    def total(self) -> int:
        """The number of draws."""
        return sum(self.counts)

    def merge(self, other: Histogram) -> Histogram:
        """Return the counts of both; raises ValueError when the edges differ."""
        if self.edges != other.edges:
            raise ValueError(f"histograms to be merged must have equal edges, got {len(self.edges)} and {len(other.edges)} edges")
        return Histogram(self.edges, tuple(map(operator.add, self.counts, other.counts)))

    def coarser(self, bins: int) -> Histogram:
        """Return the counts between every k-th edge, in about ``bins`` bins and no fewer; the same when there are not so many.

        >>> Histogram.of([0.5, 1.5, 2.5], [0.0, 1.0, 2.0]).coarser(2)
        Histogram(edges=(1.0,), counts=(1, 2))
        """
        step = max((len(self.edges) + 1) // bins, 1)
        chosen = range(step - 1, len(self.edges), step)
        below = np.concatenate(([0], np.cumsum(self.counts)[list(chosen)], [self.total]))
        return Histogram(tuple(self.edges[index] for index in chosen), tuple(np.diff(below).tolist()))

    def cdf(self) -> NDArray[np.float64]:
        """Return F_n(e_i) = #{value <= e_i}/n at every edge; raises ValueError when there are no draws."""
        if self.total == 0:
            raise ValueError("a distribution function needs at least one draw, got none: sample first")
        return np.cumsum(self.counts[:-1]) / self.total

    def kolmogorov(self, cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> tuple[float, float]:
        """Return a lower and an upper bound of sup_x |F_n(x) - F(x)| for a continuous law with distribution function ``cdf``.

        The lower bound is the supremum over the edges.  Between two edges both functions increase, so |F_n - F| is at most
        max(F_n(e') - F(e), F(e') - F_n(e)), which gives the upper bound.  By Dvoretzky, Kiefer, Wolfowitz and Massart,
        P(sup |F_n - F_true| > t) <= 2 exp(-2 n t^2).
        """
        grid = np.asarray(self.edges)
        theory = np.concatenate(([0.0], np.asarray(cdf(grid), dtype=np.float64), [1.0]))
        seen = np.concatenate(([0.0], self.cdf(), [1.0]))
        low = float(np.abs(seen - theory).max())
        high = float(np.maximum(seen[1:] - theory[:-1], theory[1:] - seen[:-1]).max())
        return low, max(low, high)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {"edges": list(self.edges), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Histogram:
        """Inverse of :meth:`to_json`."""
        return cls(tuple(float(edge) for edge in data["edges"]), tuple(int(count) for count in data["counts"]))
