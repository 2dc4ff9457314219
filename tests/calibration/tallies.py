"""Counts with their binomial error: what a rate measured by simulation is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy.stats


@dataclass(frozen=True)
class Tally:
    """``hits`` of ``trials`` independent ones."""

    hits: int
    trials: int

    @property
    def share(self) -> float:
        return self.hits / self.trials if self.trials else math.nan

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of Clopper and Pearson (1934)."""
        tail, beta = 0.5 - level / 2, scipy.stats.beta
        low = 0.0 if self.hits == 0 else float(beta.ppf(tail, self.hits, self.trials - self.hits + 1))
        high = 1.0 if self.hits == self.trials else float(beta.ppf(1 - tail, self.hits + 1, self.trials - self.hits))
        return low, high

    def below(self, rate: float) -> bool:
        """Whether the share lies under ``rate`` by more than three of the binomial errors that ``rate`` itself would have."""
        return rate - self.share > 3 * math.sqrt(rate * (1 - rate) / self.trials)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.hits + other.hits, self.trials + other.trials)

    def __str__(self) -> str:
        low, high = self.limits()
        return f"{self.hits}/{self.trials} = {self.share:.4f} [{low:.4f}, {high:.4f}]"


def at_most(trials: int, rate: float, error: float = 1e-6) -> int:
    """The largest count that ``trials`` trials of probability ``rate`` reach, but for a chance ``error``."""
    return int(scipy.stats.binom(trials, rate).isf(error))


def at_least(trials: int, rate: float, error: float = 1e-6) -> int:
    """The smallest count that ``trials`` trials of probability ``rate`` fall to, but for a chance ``error``."""
    return int(scipy.stats.binom(trials, rate).ppf(error))
