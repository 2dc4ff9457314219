"""A prediction with everything about it that does not depend on the route."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theoryck.judging.claimed import Claimed
from theoryck.judging.decisions import Decision, pointwise
from theoryck.judging.evidence import Series
from theoryck.judging.outcomes import Outcome
from theoryck.judging.ratios import EXACT, Growth, Reach, advice, factor_to_decide, fit_growth
from theoryck.rates import Rate
from theoryck.records import Contract, Kind, Point, Prediction

CONSTANT_TOLERANCE = 0.05  # relative: what a constant may be off by unless the prediction says otherwise

_ROUTE_NAMES = {
    "exact": "exact values",
    "montecarlo": "Monte Carlo",
    "bracket-low": "lower ends of the brackets",
    "bracket-high": "upper ends of the brackets",
}


@dataclass(frozen=True)
class Case:
    """A prediction with everything about it that does not depend on the route.

    ``final`` says that no look follows, ``drawn`` that estimates are Monte Carlo means: an audit is given its values.
    """

    prediction: Prediction
    claimed: Claimed
    points: tuple[Point, ...]
    contract: Contract
    final: bool
    drawn: bool
    base: str
    claimed_exponent: float | None

    @classmethod
    def read(
        cls,
        prediction: Prediction,
        points: Sequence[Point],
        contract: Contract,
        *,
        routes: int,
        final: bool = True,
        drawn: bool = True,
    ) -> Case:
        """Read a prediction at the share of the error rates of each of ``routes``; ValueError if it lacks what its kind needs."""
        sizes, claimed = [point.sizes for point in points], Claimed.of(prediction)
        base = claimed.base(sizes)
        if prediction.kind is Kind.BOUND and claimed.rate is None:
            raise ValueError(f"a bound needs a rate, got rate=None for {prediction.quantity}")
        if prediction.kind is Kind.SCALING and prediction.exponent is None:
            raise ValueError(f"a scaling needs an exponent, got exponent=None for {prediction.quantity}")
        if prediction.kind in (Kind.LIMIT, Kind.IDENTITY) and prediction.value is None:
            raise ValueError(f"a {prediction.kind.value} needs a value, got value=None for {prediction.quantity}")
        constant = prediction.constant
        grows = base and prediction.kind in (Kind.BOUND, Kind.LAW)
        if constant is not None and not (math.isfinite(constant) and (constant > 0 or not grows)):
            raise ValueError(
                f"constant must be a {'positive ' if grows else ''}finite number, got {constant!r}: {prediction.quantity}"
            )
        compared = any(sum(route is not None for route in (p.exact, p.estimate, p.bracket)) > 1 for p in points)
        shared = replace(
            contract,
            false_refute_rate=contract.false_refute_rate / (routes + compared),
            false_support_rate=contract.false_support_rate / routes,
        )
        return cls(prediction, claimed, tuple(points), shared, final, drawn, base, claimed.exponent(sizes))

    @property
    def rate(self) -> Rate | None:
        """The claimed rate."""
        return self.claimed.rate

    @property
    def within(self) -> float:
        """The discrepancy of an exponent that is tolerated."""
        return self.contract.within

    @property
    def one_number(self) -> bool:
        """Whether a bound compares one number with another: no size, nothing that grows, and rivals are smaller numbers."""
        return self.prediction.kind is Kind.BOUND and not self.base

    @property
    def rates(self) -> tuple[float, float]:
        """The false-refute and the false-support rate of one route."""
        return self.contract.false_refute_rate, self.contract.false_support_rate

    def tolerance(self, default: float) -> float:
        """The declared tolerance, or the default."""
        return default if self.claimed.tolerance is None else self.claimed.tolerance

    def coincides(self, rival: str) -> bool:
        """Whether no evidence on these sizes can tell the rival from the claim."""
        return self.claimed.coincides(rival, [point.sizes for point in self.points])

    def assuming(self, best: Outcome) -> str:
        """The window and the corrections that the verdict rests on."""
        if best.window is None:
            return ""
        first, last = best.window
        text = f"on {self.base} = {first}..{last}" if first != last else f"on {self.base} = {first}"
        return f"{text}, assuming corrections {best.correction.text(self.base)}" if best.correction else text

    def fit(self, series: Series, rates: Sequence[float], exponent: float | None = None) -> Growth:
        """Fit the ratio of the series to rates given by their logarithms, at a fixed exponent if one is given."""
        return fit_growth(
            series,
            self.base,
            rates,
            correction=self.prediction.correction,
            amplitude=self.prediction.amplitude,
            level=self.contract.level,
            exponent=exponent,
        )

    def log_rate(self, sizes: Mapping[str, int]) -> float:
        """Return the logarithm of what is claimed, at sizes."""
        if self.prediction.kind is Kind.SCALING:
            return float(self.prediction.exponent or 0) * math.log(sizes[self.base])
        return 0.0 if self.rate is None else self.rate.log_value(sizes)

    def log_rates(self, series: Series) -> list[float]:
        """Return the logarithms of what is claimed, at the sizes of the series."""
        return [self.log_rate(sizes) for sizes in series.sizes]

    def pointwise(self, series: Series, rate: Rate) -> Decision:
        """Compare the series size by size with the claimed constant times ``rate``."""
        constant = float(self.prediction.constant or 0)
        return pointwise(series, rate, constant, self.tolerance(CONSTANT_TOLERANCE), *self.rates, level=self.contract.level)

    def advice(self, series: Series, reaches: Sequence[Reach], gap: float) -> str:
        """Say what would bring one of the reaches down to ``gap``, the first that draws can bring there."""
        drawn = series.route != "exact" and not series.exact_to(EXACT)
        factors = (factor_to_decide(reach, gap) for reach in reaches if drawn)
        factor = next((factor for factor in factors if math.isfinite(factor)), math.inf)
        return advice(factor if drawn else None, series.base(self.base), self.prediction.correction is not None)

    def sentence(self, series: Series, clause: str) -> str:
        """Return a clause with the route and the window it is about."""
        place = f"on {self.base} = {min(series.base(self.base))}..{max(series.base(self.base))}" if self.base else ""
        name = _ROUTE_NAMES[series.route] if self.drawn else ""
        return f"{' '.join(filter(None, (name, place)))}: {clause}"
