"""Moments of draws that bracket a quantity: a stochastic lower end, an upper end and a point value of the same replicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.moments import Moments
from theoryck.records import Bracket, Estimate

COLUMNS = 3
"""Columns of a two-sided draw: low, high, estimate."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoSidedMoments:
    """Moments of draws (draws, 3) with E[low] <= quantity <= E[high]; ``gap`` are those of high - low, replicate by replicate.

    The ends are never averaged: :meth:`bracket` keeps both with their own standard errors.  :meth:`estimate` is the mean of the
    third column, the best point value its author knows: it is right as far as the bracket is closed.

    >>> m = TwoSidedMoments.of([[0.0, 1.0, 0.5], [0.5, 1.5, 1.0]])
    >>> m.bracket().low, m.bracket().high, m.estimate().value, m.gap.estimate().value
    (0.25, 1.25, 0.75, 1.0)
    """

    low: Moments
    high: Moments
    middle: Moments
    gap: Moments

    @classmethod
    def of(cls, values: Sequence[Sequence[float]] | NDArray[np.float64], bins: Any = None) -> TwoSidedMoments:
        """Return the moments of an array (draws, 3) of finite reals; ValueError for another shape, or for ``bins``."""
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != COLUMNS:
            raise ValueError(f"values must have shape (draws, {COLUMNS}): low, high, estimate; got shape {array.shape}")
        if bins is not None:
            raise ValueError("a two-sided quantity has no histogram: a Law needs a statistic with one number per draw")
        low, high, middle = (Moments.of(np.ascontiguousarray(array[:, column])) for column in range(COLUMNS))
        return cls(low, high, middle, Moments.of(array[:, 1] - array[:, 0]))

    @property
    def count(self) -> int:
        """The number of draws."""
        return self.low.count

    @property
    def histogram(self) -> None:
        """Two-sided draws have none."""
        return None

    def merge(self, other: TwoSidedMoments) -> TwoSidedMoments:
        """Return the moments of both groups together, ``self`` first."""
        return TwoSidedMoments(
            self.low.merge(other.low), self.high.merge(other.high), self.middle.merge(other.middle), self.gap.merge(other.gap)
        )

    def bracket(self) -> Bracket:
        """Return the two ends with their standard errors, and with the skewness that says how far these can be trusted."""
        low, high = self.low.estimate(), self.high.estimate()
        return Bracket(low.value, high.value, low.stderr, high.stderr, (), self.count, low.skewness, high.skewness)

    def estimate(self) -> Estimate:
        """Return the mean of the point values; its flags are those of all three columns."""
        middle = self.middle.estimate()
        flags = dict.fromkeys(flag for part in (self.middle, self.low, self.high) for flag in part.estimate().flags)
        return Estimate(middle.value, middle.stderr, middle.draws, tuple(flags), middle.skewness)
