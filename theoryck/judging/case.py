"""What is claimed, parsed once (rates, rivals, path), and the case: that with its evidence, what no route changes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

from theoryck.judging.decisions import LEAST_EXCESS, Decision, Outcome, pointwise
from theoryck.judging.evidence import Series
from theoryck.judging.ratios import EXACT, Growth, Reach, advice, factor_to_decide, fit_growth
from theoryck.rates.directions import Axis
from theoryck.rates.parsing import to_fraction
from theoryck.rates.paths import PathError, ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Contract, Interval, Kind, Point, Prediction, Size, Toward
from theoryck.records.values import size_text

Sizes = Sequence[Mapping[str, Size]]
SAME_LOG = 1e-12  # logarithms of rates are sums of a few rounded terms: far above rounding, far below any fit


@dataclass(frozen=True)
class Claimed:
    """A prediction with what its texts mean; each is parsed when it is first asked for, and RateError says what cannot be read."""

    prediction: Prediction

    @staticmethod
    def of(prediction: Prediction) -> Claimed:
        """Return what is claimed: the same object at every look at the same prediction."""
        values = (getattr(prediction, each.name) for each in fields(prediction))
        return _claimed(_Asked(tuple(tuple(v.items()) if isinstance(v, Mapping) else v for v in values), prediction))

    @cached_property
    def rate(self) -> Rate | None:
        """The claimed rate, or None."""
        return None if self.prediction.rate is None else self._rate(self.prediction.rate)

    @cached_property
    def compared(self) -> Rate:
        """The rate with which rivals are compared: 1 for a law that claims none, which its distance is to beat."""
        return self._rate("1") if self.rate is None else self.rate

    @cached_property
    def rival_rates(self) -> dict[str, Rate]:
        """The rivals of a bound or a law on a path, by their texts."""
        return {rival: self._rate(rival) for rival in self.prediction.rivals}

    @cached_property
    def rival_exponents(self) -> dict[str, float]:
        """The rivals of a scaling that claims an exponent, by their texts."""
        return {rival: float(to_fraction(rival, "a rival")) for rival in self.prediction.rivals}

    @property
    def by_rate(self) -> bool:
        """Whether a scaling claims a rate and no exponent: it is compared with others size by size."""
        if self.prediction.kind is not Kind.SCALING or self.rate is None:
            return False
        return self.prediction.exponent is None or self.rate.exact_power is None

    @cached_property
    def rival_numbers(self) -> dict[str, Decimal]:
        """The rivals of a limit, an identity or a bound of one number, by their texts."""
        return {rival: decimal_number(rival) for rival in self.prediction.rivals}

    @cached_property
    def tolerance(self) -> float | None:
        """The declared tolerance, or None."""
        text = self.prediction.tolerance
        return None if text is None else float(to_fraction(text, "tolerance"))

    @cached_property
    def path(self) -> ScalingPath | None:
        """The path as it was declared; None where none was, or where its sizes follow no rule."""
        try:
            given = self.prediction.path
            return ScalingPath.from_description(given, self.prediction.toward) if given else None
        except PathError:
            return None

    def _rate(self, text: str) -> Rate:
        return Rate.parse(text, **self.prediction.parameters)

    # -- along sizes -----------------------------------------------------------------------------------------------------------

    def base(self, sizes: Sizes) -> str:
        """Return the base of the path: as declared, else the first size that differs between points, else the first, else ''."""
        if self.prediction.base:
            return self.prediction.base
        names = list(sizes[0])
        moving = (name for name in names if len({point[name] for point in sizes}) > 1)
        return next(moving, names[0] if names else "")

    def growth(self, rate: Rate, sizes: Sizes) -> tuple[float, Fraction, Fraction, Fraction] | None:
        """Return how fast a rate grows along the path (see :meth:`Rate.growth`); None if its sizes follow no power."""
        rate.require(sizes[0], parameters=self.prediction.parameters)
        try:
            path = self.path if self.prediction.path else self._observed(rate, sizes)
            return None if path is None else rate.growth(path)
        except PathError:
            return None

    def _observed(self, rate: Rate, sizes: Sizes) -> ScalingPath:
        base = self.base(sizes)
        # A size may occur twice, once for each route.
        ordered = [point for _, point in sorted({point[base]: point for point in sizes}.items())]
        ordered = ordered if self.prediction.toward is Toward.INFINITY else ordered[::-1]
        names = [base, *(name for name in rate.names if name != base)]
        return ScalingPath(toward=self.prediction.toward, **{name: [point[name] for point in ordered] for name in names})

    def exponent(self, sizes: Sizes) -> float | None:
        """Return the claimed exponent along the path; None for a number, or if sizes follow no power."""
        if self.prediction.kind is Kind.SCALING and not self.by_rate:
            return self.prediction.exponent
        if self.rate is None:
            return 0.0 if self.prediction.kind is Kind.LAW else None
        if not self.base(sizes):  # one number against another: nothing grows
            self.rate.require(sizes[0], parameters=self.prediction.parameters)
            return None
        growth = self.growth(self.rate, sizes)
        if growth is not None and growth[0]:
            return growth[0]
        return None if growth is None else float(growth[1]) * (1 if self.prediction.toward is Toward.INFINITY else -1)

    def slope(self, sizes: Sizes) -> float:
        """Return what the logarithm of a geometric rate gains with each unit of the base; 0 for any other.

        Where other terms stay, as in ``h + 2**(-l)`` along l, it is what the slowest geometric term gains.
        """
        if self.rate is None or not self.rate.geometric or not self.base(sizes):
            return 0.0
        growth, base = self.growth(self.rate, sizes), self.base(sizes)
        if growth is None or growth[0] or base not in self.rate.levels:
            return 0.0 if growth is None else growth[0]
        return min((slope for term in self.rate.terms for name, slope in term.exponentials if name == base), key=abs)

    # -- rivals ----------------------------------------------------------------------------------------------------------------

    def coincides(self, rival: str, sizes: Sizes) -> bool:
        """Whether the rival and the claim are the same on these sizes, so that no evidence on them can tell the two apart."""
        prediction = self.prediction
        if prediction.kind is Kind.BOUND and not self.base(sizes):
            return self.rival_numbers[rival] == Decimal(str(prediction.constant))
        if prediction.kind in (Kind.BOUND, Kind.LAW) or self.by_rate:
            gaps = self._log_gaps(rival, sizes)
            size = max(abs(self.compared.log_value(point)) for point in sizes)
            if self.by_rate:  # another constant is no other scaling
                return max(gaps) - min(gaps) <= SAME_LOG * (1 + size)
            if prediction.rate is None or max(gaps) - min(gaps) > SAME_LOG * (1 + size):
                return False
            return prediction.constant is None or abs(gaps[0]) < SAME_LOG
        if prediction.kind is Kind.SCALING:
            return to_fraction(rival, "a rival") == to_fraction(prediction.exponent, "exponent")
        if prediction.value is None:
            return False  # the limit is measured, and may be any number
        return abs(self.rival_numbers[rival] - prediction.value.midpoint) <= prediction.value.radius

    def nearest(self, sizes: Sizes) -> float:
        """Return how far the nearest rival is from the claim: in units of the exponent or, for numbers, of the number; inf if none.

        Of geometric rates it is relative to the logarithm of the base.  Rates that differ by a logarithm alone have no distance,
        but for scalings by a rate, where it is what the logarithm looks like at the largest sizes; nor have those along sizes that
        follow no power.
        """
        prediction = self.prediction
        if not prediction.rivals or (prediction.kind is Kind.LIMIT and prediction.value is None):
            return math.inf
        if prediction.kind in (Kind.LIMIT, Kind.IDENTITY) or (prediction.kind is Kind.BOUND and not self.base(sizes)):
            claimed = prediction.value.midpoint if prediction.value is not None else Decimal(str(prediction.constant))
            gaps = [float(abs(number - claimed)) for number in self.rival_numbers.values()]
        elif prediction.kind is Kind.SCALING and not self.by_rate:
            gaps = [abs(exponent - float(prediction.exponent or 0)) for exponent in self.rival_exponents.values()]
        else:
            growths = [self.growth(rate, sizes) for rate in (self.compared, *self.rival_rates.values())]
            known = [growth for growth in growths if growth is not None]
            if len(known) < len(growths):
                return math.inf
            slope, power = known[0][0], known[0][1]
            gaps = [abs(other[0] - slope) / abs(slope) if slope else abs(float(other[1] - power)) for other in known[1:]]
            if not slope and any(other[0] for other in known[1:]):  # what grows geometrically is far from any power
                gaps = [math.inf if other[0] else gap for gap, other in zip(gaps, known[1:])]
            if self.by_rate:
                gaps = [gap or self._apparent(rival, sizes) for gap, rival in zip(gaps, prediction.rivals)]
        return min((gap for gap in gaps if gap > 0), default=math.inf)

    def _apparent(self, rival: str, sizes: Sizes) -> float:
        """Return the exponent that the ratio of a rival to the claim seems to have between the two sizes nearest to the limit."""
        base = self.base(sizes)
        axis = Axis.of(base, self.prediction.toward, [point[base] for point in sizes], drawn=True, slope=self.slope(sizes))
        at = {axis.large(point[base]): gap for point, gap in zip(sizes, self._log_gaps(rival, sizes))}
        if len(at) < 2:
            return 0.0
        near, far = sorted(at)[-2:]
        return abs(at[far] - at[near]) / math.log(far / near)

    def problem(self, sizes: Sizes) -> str:
        """Say which rival no evidence on these sizes could reject, and why (see :func:`rival_problem`)."""
        prediction = self.prediction
        for rival in prediction.rivals if sizes else ():
            if self.coincides(rival, sizes):
                return f"the rival {rival!r} coincides with the claim on these sizes, so nothing could reject it: give another one"
            if prediction.kind not in (Kind.BOUND, Kind.LAW):
                continue
            if not self.base(sizes):
                if self.rival_numbers[rival] > Decimal(str(prediction.constant)):
                    return f"a rival of a bound must be smaller: {rival!r} is larger than the claim {prediction.constant:g}"
            elif not self._rejectable(rival, sizes):
                kind = "bound" if prediction.kind is Kind.BOUND else "law"
                claim = f"the claim {prediction.rate}" if prediction.rate is not None else "1, which the claim is to beat"
                why = f"{rival!r} decays no faster than {claim}, so nothing could reject it"
                return f"a rival of a {kind} must be faster: {why}"
        return ""

    def _log_gaps(self, rival: str, sizes: Sizes) -> list[float]:
        other = self.rival_rates[rival]
        return [other.log_value(point) - self.compared.log_value(point) for point in sizes]

    def _rejectable(self, rival: str, sizes: Sizes) -> bool:
        """Whether the rival is faster than the claim along the path or, with a constant, smaller than the claim somewhere."""
        gaps = self._log_gaps(rival, sizes)
        if self.prediction.constant is not None and min(gaps) < -SAME_LOG:
            return True
        claim, other = (self.growth(rate, sizes) for rate in (self.compared, self.rival_rates[rival]))
        if claim is not None and other is not None:
            return other < claim
        # Sizes that follow no power: the ratio must at least fall from the smallest to the largest size.
        base = self.base(sizes)
        axis = Axis(base, self.prediction.toward, unit=abs(self.slope(sizes)))
        first, last = axis.ends([point[base] for point in sizes])
        at = {point[base]: gap for point, gap in zip(sizes, gaps)}
        return at[last] < at[first] - SAME_LOG


@dataclass(frozen=True)
class _Asked:
    """A prediction, equal to others of the same texts and numbers, that can be hashed."""

    key: tuple[Any, ...]
    prediction: Prediction = field(compare=False)


@functools.lru_cache(maxsize=64)
def _claimed(asked: _Asked) -> Claimed:
    return Claimed(asked.prediction)


def rival_problem(prediction: Prediction, points: Sequence[Point] | ScalingPath) -> str:
    """Say which rival no evidence at these points, or along this path, could reject, and why; empty if there is none.

    A rival of a bound (or of the rate of a law) must decay faster than the claim: a quantity within the claim is within every
    rate as large.  One that is smaller at some size will do for a bound with a constant.  Other rivals must differ from the claim.
    Raises RateError on a rival that cannot be read or that names no size of the path.

    >>> claim = Prediction(Kind.BOUND, "E S^2", base="d", rate="1/d", rivals=("1",))
    >>> rival_problem(claim, ScalingPath(d=[16, 32, 64]))
    "a rival of a bound must be faster: '1' decays no faster than the claim 1/d, so nothing could reject it"
    """
    sizes = points.points if isinstance(points, ScalingPath) else tuple(point.sizes for point in points)
    return Claimed.of(prediction).problem(sizes)


def tolerated(prediction: Prediction, sizes: Sizes, contract: Contract) -> Contract:
    """Return the contract with a ``within`` of at most half the distance to the nearest rival.

    A rival belongs to what is claimed: nothing supports a claim that would support its rival as well.  Below ``LEAST_EXCESS`` no
    family of corrections is complete, and a rival so near is left undecided.  Rivals that are numbers leave ``within`` as it is
    and limit the tolerance of the number instead (:meth:`Case.tolerance`).

    >>> claim = Prediction(Kind.SCALING, "Q", base="d", exponent=-0.5, rivals=("-1/3", "-2/3"))
    >>> round(tolerated(claim, [{"d": 16}], Contract(within=0.15)).within, 4)
    0.0833
    """
    if not sizes or prediction.kind in (Kind.LIMIT, Kind.IDENTITY) or not Claimed.of(prediction).base(sizes):
        return contract
    half = max(0.5 * Claimed.of(prediction).nearest(sizes), LEAST_EXCESS)
    return replace(contract, within=min(contract.within, half))


def decimal_number(text: str) -> Decimal:
    """Return a decimal or a fraction such as "1/3" as a decimal of 60 digits."""
    try:
        return Decimal(text)
    except InvalidOperation:
        number = to_fraction(text, "a rival")
        with localcontext() as context:
            context.prec = 60
            return Decimal(number.numerator) / Decimal(number.denominator)


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

    ``final`` says that no look follows, ``drawn`` that estimates are Monte Carlo means (an audit is given its values), ``noisy``
    that more draws would shrink their errors: not those of printed digits.
    """

    prediction: Prediction
    claimed: Claimed
    points: tuple[Point, ...]
    contract: Contract
    final: bool
    drawn: bool
    noisy: bool
    axis: Axis
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
        noisy: bool = True,
    ) -> Case:
        """Read a prediction at the share of the error rates of each of ``routes``; ValueError if it lacks what its kind needs."""
        sizes, claimed = [point.sizes for point in points], Claimed.of(prediction)
        base = claimed.base(sizes)
        along = [point[base] for point in sizes] if base else []
        axis = Axis.of(base, prediction.toward, along, drawn, claimed.slope(sizes))
        if prediction.kind is Kind.BOUND and claimed.rate is None:
            raise ValueError(f"a bound needs a rate, got rate=None for {prediction.quantity}")
        if prediction.kind is Kind.SCALING and prediction.exponent is None and not claimed.by_rate:
            raise ValueError(f"a scaling needs an exponent, got exponent=None for {prediction.quantity}")
        if prediction.kind is Kind.IDENTITY and prediction.value is None:
            raise ValueError(f"a {prediction.kind.value} needs a value, got value=None for {prediction.quantity}")
        constant = prediction.constant
        grows = base and prediction.kind in (Kind.BOUND, Kind.LAW)
        if constant is not None and not (math.isfinite(constant) and (constant > 0 or not grows)):
            raise ValueError(
                f"constant must be a {'positive ' if grows else ''}finite number, got {constant!r}: {prediction.quantity}"
            )
        contract = tolerated(prediction, sizes, contract)
        compared = any(sum(route is not None for route in (p.exact, p.estimate, p.bracket)) > 1 for p in points)
        shared = replace(
            contract,
            false_refute_rate=contract.false_refute_rate / (routes + compared),
            false_support_rate=contract.false_support_rate / routes,
        )
        prediction = replace(prediction, amplitude=axis.amplitude(prediction.amplitude))
        return cls(prediction, claimed, tuple(points), shared, final, drawn, noisy, axis, claimed.exponent(sizes))

    @property
    def base(self) -> str:
        """The base of the path, or ''."""
        return self.axis.base

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

    def tolerance(self, default: float, unit: float = math.inf) -> float:
        """The declared tolerance, or the default, but at most half the distance to the nearest rival, a number, in this unit."""
        declared = default if self.claimed.tolerance is None else self.claimed.tolerance
        return min(declared, 0.5 * self.nearest / unit) if 0 < unit < math.inf else declared

    @cached_property
    def nearest(self) -> float:
        """The distance to the nearest rival."""
        return self.claimed.nearest([point.sizes for point in self.points])

    @property
    def rival_numbers(self) -> list[Decimal]:
        """The rivals of a limit, an identity or a bound of one number, in order."""
        return [self.claimed.rival_numbers[rival] for rival in self.prediction.rivals]

    def coincides(self, rival: str) -> bool:
        """Whether no evidence on these sizes can tell the rival from the claim."""
        return self.claimed.coincides(rival, [point.sizes for point in self.points])

    def assuming(self, best: Outcome) -> str:
        """The window and the corrections that the verdict rests on."""
        if best.window is None:
            return ""
        text = f"on {self._window(best.window)}"
        if best.approach:
            return f"{text}, assuming {best.approach}"
        if best.correction is None:
            return text
        text += f", assuming corrections {best.correction.text(self.axis.text if self.axis.unit else self.base, self.axis.sign)}"
        if not self.axis.scale_free:
            return text
        return f"{text} of at most {self.prediction.amplitude:.3g} at {self.base} = {size_text(best.window[0])}"

    def _window(self, sizes: Sequence[Size]) -> str:
        text = self.axis.window(sizes) if len(set(sizes)) > 1 else size_text(sizes[0])
        return f"{self.base} = {text}"

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
            computed=self.computed(series),
        )

    def computed(self, series: Series) -> bool:
        """Whether the errors of a series are those of its digits alone."""
        return not self.noisy and not series.stated and self.prediction.kind is Kind.SCALING

    def log_rate(self, sizes: Mapping[str, Size]) -> float:
        """Return the logarithm of what is claimed, at sizes."""
        if self.prediction.kind is Kind.SCALING and not self.claimed.by_rate:
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
        drawn = self.noisy and series.route != "exact" and not series.exact_to(EXACT)
        factors = (factor_to_decide(reach, gap) for reach in reaches if drawn)
        factor = next((factor for factor in factors if math.isfinite(factor)), math.inf)
        return advice(factor if drawn else None, self.axis, self.bases(series), self.prediction.correction is not None)

    def bases(self, series: Series) -> list[Size]:
        """Return the sizes of a series along the base."""
        return [sizes[self.base] for sizes in series.sizes]

    def ends(self, series: Series) -> tuple[Size, Size]:
        """Return the coarsest size of a series and the one nearest to the limit."""
        return self.axis.ends(self.bases(series))

    def exponent(self, interval: Interval) -> Interval:
        """Return what was measured, relative to what is claimed, as an exponent of the base."""
        found = self.axis.written(interval)
        by = self.claimed_exponent or 0.0
        return Interval(found.estimate + by, found.low + by, found.high + by, found.level)

    def sentence(self, series: Series, clause: str) -> str:
        """Return a clause with the route and the window it is about."""
        place = f"on {self.base} = {self.axis.window(self.bases(series))}" if self.base else ""
        name = _ROUTE_NAMES[series.route] if self.drawn else ""
        return f"{' '.join(filter(None, (name, place)))}: {clause}"
