"""Moments of draws and of their squared deviations from a centre: the variance, with an error that knows its own tail.

The sample variance s^2 is unbiased, and Var(s^2) = (mu_4 - sigma^4 (n-3)/(n-1))/n exactly, with the fourth central moment mu_4.
To first order it is the mean of the squared deviations, whose tail is that of the squares: like a mean's (see
:mod:`theoryck.montecarlo.moments`) its variance is increased by one standard deviation of its own estimate, and its skewness and
heavy tail are those of the squared deviations.  2 s^4/n^2 is added, the square of what the error of the mean contributes, for laws
such as a fair coin, whose squared deviations are constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.moments import Moments
from theoryck.records import Estimate


@dataclass(frozen=True, slots=True, eq=True)
class Spread:
    """The moments of draws, and those of (draw - centre)^2; the centre matters to tails only, so that of a pilot will do.

    >>> Spread.of([1.0, 2.0, 3.0, 4.0], 2.5).merge(Spread.of([5.0], 2.5)).variance().value
    2.5
    """

    centre: float
    draws: Moments
    squares: Moments

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64], centre: float) -> Spread:
        """Return the moments of an array (draws,) of finite reals; ValueError for anything else."""
        array = np.asarray(values, dtype=np.float64)
        return cls(centre, Moments.of(array), Moments.of(np.square(array - centre)))

    @property
    def count(self) -> int:
        """The number of draws."""
        return self.draws.count

    def merge(self, other: Spread) -> Spread:
        """Return the moments of both groups, ``self`` first; ValueError where their centres differ."""
        if self.centre != other.centre:
            raise ValueError(f"spreads to be merged must have one centre, got {self.centre} and {other.centre}")
        return Spread(self.centre, self.draws.merge(other.draws), self.squares.merge(other.squares))

    def variance(self) -> Estimate:
        """Return the unbiased variance with its standard error (see the module); one draw has neither: its error is infinite.

        The flags are those of the mean of the squared deviations, "constant" where all draws are equal.  Raises ValueError when
        there are no draws.

        >>> found = Spread.of(np.random.default_rng(0).standard_normal(10_000), 0.0).variance()
        >>> round(found.value, 3), round(found.stderr, 4)  # the error is sqrt(2) over the root of the draws
        (0.996, 0.0142)
        """
        n, draws, tail = self.count, self.draws, self.squares.estimate()
        flags = tuple(flag for flag in tail.flags if flag != "constant")
        if draws.constant:
            return Estimate(0.0, 0.0 if n > 1 else math.inf, n, ("constant", *flags))
        # In units of 2^exponent, whose fourth powers neither vanish nor overflow.
        square = draws.m2 / (n - 1)
        linear = max(draws.m4 / n - square**2 * (n - 3) / (n - 1), 0.0) / n
        inflation = 1.0 + math.sqrt(max(self.squares.kurtosis - 1.0, 0.0) / n)
        error = math.sqrt(linear * inflation + 2 * (square / n) ** 2)
        value, stderr = (math.ldexp(number, 2 * draws.exponent) for number in (square, error))
        if value == 0 or stderr == 0:
            flags = tuple(dict.fromkeys((*flags, "underflow")))
        return Estimate(value, stderr, n, flags, tail.skewness)

    def std(self) -> Estimate:
        """Return the root of :meth:`variance`, whose error is that of the variance over twice the root (delta method).

        >>> round(Spread.of([1.0, 3.0], 2.0).std().value, 6)
        1.414214
        """
        found = self.variance()
        root = math.sqrt(found.value)
        return Estimate(root, found.stderr / (2 * root) if root > 0 else found.stderr, found.draws, found.flags, found.skewness)
