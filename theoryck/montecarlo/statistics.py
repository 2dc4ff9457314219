"""What is made of independent draws: their mean, a quantile, their variance, or the probability of what they say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.moments import FEW_DRAWS, Moments
from theoryck.montecarlo.ranks import REACH, Ranks
from theoryck.montecarlo.spread import Spread
from theoryck.records import Estimate

CHOICES = ("mean", "median", "quantile(p)", "variance", "std", "probability")
_MEND = ", so mend the sampler (work with logarithms, avoid 0/0) instead of dropping draws"
_QUANTILE = re.compile(r"quantile\(\s*(\d*\.?\d+(?:e-?\d+)?|\d+/\d+)\s*\)")


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number that a law has, as a text says it: "mean", "median", "quantile(0.9)", "variance", "std" or "probability".

    * mean, variance, std: of draws that are finite;
    * median, quantile(p): inf{x: P(draw <= x) >= p}, of draws that may be infinite, such as times of what never happened;
    * probability: of draws that are 0 or 1, False or True.

    >>> Statistic.parse("median"), str(Statistic.parse("quantile(9/10)"))
    (Statistic(name='quantile', level=0.5), 'quantile(0.9)')
    >>> Statistic.parse("mode")
    Traceback (most recent call last):
    ValueError: statistic must be one of mean, median, quantile(p), variance, std, probability, with 0 < p < 1, got 'mode'
    """

    name: str = "mean"
    level: float | None = None

    @classmethod
    def parse(cls, text: Any, argument: str = "statistic") -> Statistic:
        """Return the statistic a text names; ValueError, which calls it by ``argument``, lists the choices."""
        if isinstance(text, str):
            wanted = text.strip()
            if wanted == "median":
                return cls("quantile", 0.5)
            if wanted in CHOICES and wanted != "quantile(p)":
                return cls(wanted)
            found = _QUANTILE.fullmatch(wanted)
            # A fraction first has to be one: 1/0 is none.
            if found is not None and not found[1].endswith("/0") and 0 < (level := float(Fraction(found[1]))) < 1:
                return cls("quantile", level)
        raise ValueError(f"{argument} must be one of {', '.join(CHOICES)}, with 0 < p < 1, got {text!r}")

    def __str__(self) -> str:
        if self.level is None:
            return self.name
        return "median" if self.level == 0.5 else f"quantile({self.level!r})"

    @property
    def summary(self) -> str:
        """What is kept of draws: "moments", "spread" or "ranks"."""
        return {"quantile": "ranks", "variance": "spread", "std": "spread"}.get(self.name, "moments")

    @property
    def least_draws(self) -> int:
        """The fewest draws that say something of it: of a quantile 30 on either side."""
        return 1 if self.level is None else math.ceil(FEW_DRAWS / min(self.level, 1 - self.level))

    @property
    def least_rows(self) -> int:
        """The fewest measurements that have an error bar: of a quantile those whose ranks reach two deviations to either side."""
        if self.level is None:
            return FEW_DRAWS
        near = min(self.level, 1 - self.level)
        # With m = n p the condition m + p - 2 sqrt(m (1 - p)) >= 1 fails at m = 1 and holds from (1 + sqrt(2))^2 < 6 on.
        least = range(math.floor(1 / near), math.ceil(6 / near) + 1)
        return next(n for n in least if (n + 1) * near - REACH * math.sqrt(n * near * (1 - near)) >= 1)

    def fault(self, values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], str, str] | None:
        """Return which draws (draws,) it cannot use, what they are not, and why every draw has to be; None where it can use all."""
        if self.name == "quantile":
            wrong, what, why = np.isnan(values), "numbers", f"a {self} needs every draw; what never happened may be inf"
        elif self.name == "probability":
            wrong, what, why = (values != 0) & (values != 1), "0 or 1", "a probability needs draws that are False or True"
        else:
            wrong, what, why = ~np.isfinite(values), "finite", f"a {self} needs every draw{_MEND}"
        return (wrong, what, why) if wrong.any() else None

    def centre(self, pilot: NDArray[np.float64]) -> float:
        """Return where a summary is to be fine, from draws (draws,) of a pilot: about the quantile, or about the mean."""
        if self.level is None:
            return float(pilot.mean())
        place = min(int(self.level * len(pilot)), len(pilot) - 1)
        found = float(np.partition(pilot, place)[place])
        finite = pilot[np.isfinite(pilot)]
        return found if math.isfinite(found) else float(finite.max(initial=0.0) if found > 0 else finite.min(initial=0.0))

    def collect(self, values: NDArray[np.float64], centre: float | None = None, bins: Sequence[float] | None = None) -> Any:
        """Return what is kept of draws (draws,): Moments (with a histogram of ``bins``), Spread or Ranks about ``centre``."""
        if self.summary == "moments":
            return Moments.of(values, bins)
        made: type[Spread] | type[Ranks] = Spread if self.summary == "spread" else Ranks
        return made.of(values, self.centre(values) if centre is None else centre)

    def estimate(self, summary: Any) -> Estimate:
        """Return the statistic with its standard error, from what was kept of the draws.

        >>> some = Statistic.parse("probability")
        >>> none_of_100 = some.estimate(some.collect(np.zeros(100)))
        >>> none_of_100.value, round(none_of_100.stderr, 4)
        (0.0, 0.0135)
        """
        match self.name:
            case "probability":
                found: Estimate = _probability(summary)
            case "variance":
                found = summary.variance()
            case "std":
                found = summary.std()
            case "quantile":
                found = summary.quantile(self.level)
            case _:
                found = summary.estimate()
        return found


MEAN = Statistic()


def _probability(moments: Moments) -> Estimate:
    """Return the share of draws that are 1; its error is that of a sample with two draws more of either kind (Agresti, Coull 1998).

    Nothing seen in n draws has an error of 1.4/n, so that its 95% interval ends near the exact 3/n.  The skewness is that of the
    same sample: the judge trusts no error bar where fewer than 18 draws of one kind carry it.
    """
    if moments.count == 0:
        raise ValueError("an estimate needs at least one draw, got none: sample first")
    n = moments.count
    ones = round(math.ldexp(moments.mean, moments.exponent) * n)
    share = (ones + 2) / (n + 4)
    deviation = math.sqrt(share * (1 - share))
    flags: tuple[str, ...] = ("few-draws",) if n < FEW_DRAWS else ()
    return Estimate(ones / n, deviation / math.sqrt(n + 4), n, flags, (1 - 2 * share) / deviation)
