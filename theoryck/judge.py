"""judge: a prediction and its evidence in, a verdict with its reason out.  Pure: the same records give the same verdict, always.

The error rates of the :class:`~theoryck.records.Contract` are shared equally over the routes that are judged and, where two routes
were taken at the same sizes, their comparison.  Conventions, kind by kind (e is the exponent of quantity/rate on the grid, with
corrections to scaling in its interval):

* BOUND, LAW with a rate: SUPPORTED if the upper limit of e at ``false_support_rate`` is at most ``within``; REFUTED if the lower
  limit at ``false_refute_rate`` exceeds ``within``.  Slack is -e; TIGHT if its interval lies in +-within, LOOSE if above.
* BOUND with a constant: size by size.  Rigorous enclosures below (above) the bound certify (refute) it; estimates must lie below
  ``(1 + tolerance) * bound`` with confidence at every size, and refute if one lies above the bound (Bonferroni over sizes).
  A quantity that is exactly 0 at every size is within any bound, and no rival of it can be rejected.
* LAW without a rate: the distance must decay, and a decay slower than d**-within does not count as one.
* SCALING: two-sided; the constant, if given, to a relative ``tolerance``.
* LIMIT: the interval of the limit must lie within ``tolerance`` of the value; with a rate, the signed difference is judged as a
  BOUND too.
* IDENTITY: enclosures; equal and exact certifies, disjoint refutes, overlapping supports if they are narrow.

``tolerance`` is the prediction's own; its default is 0.05 relative for constants, ``within`` relative to the value claimed for
limits and estimated identities (an exponent off by ``within`` moves a value by that factor over one e-fold of the size), and 1e-15
relative for identities between enclosures.

Monte Carlo decides nothing where a few draws carry the mean at half of the sizes (``carried`` in theoryck/rates/evidence.py): its
route is then INCONCLUSIVE, and other routes decide.  A rival that nothing could reject makes the check VACUOUS (``rival_problem``).

If two routes disagree where both were taken, the verdict is REFUTED with the flag "routes-disagree" and a reason that starts "the
two routes disagree": it means a bug in one of them, so it must fail the run, and a falsehood is not rightly refuted by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from theoryck.rates import Rate
from theoryck.rates.data import MIN_SIZES
from theoryck.rates.decisions import (
    Decision,
    equal_within,
    equivalence,
    one_sided,
    pointwise,
    same_number,
    tightness,
    two_sided,
    worst_of,
)
from theoryck.rates.evidence import Series, compare_routes, log_rates, read_routes, with_error
from theoryck.rates.growth import Growth, advice, draws_can_help, factor_to_decide, fit_growth, quantile, stderr_if
from theoryck.rates.limit import fit_limit
from theoryck.rates.outcomes import INSIDE, Outcome, between, both, deciding, narrowest, shifted, side_of
from theoryck.rates.parsing import to_fraction
from theoryck.rates.rivals import base_of, claimed_exponent, coincides, decimal_number, rival_problem
from theoryck.records import Contract, Interval, Judgement, Kind, Point, Prediction, Rival, Route, Tightness, Verdict

__all__ = ["judge", "rival_problem"]

CONSTANT_TOLERANCE = 0.05  # relative: what a constant may be off by unless the prediction says otherwise


def judge(prediction: Prediction, points: Sequence[Point], contract: Contract, *, final: bool = True) -> Judgement:
    """Return the verdict on ``prediction`` given the measured ``points``, at the error rates of ``contract``.

    ``final=False`` marks an interim look (whose contract carries the share of the error rates spent on it): the same tests, without
    the search for the budget that would decide.  Raises RateError on a rate that names no size of the points, ValueError on values
    that are not finite and on a prediction that lacks what its kind needs.

    >>> from theoryck.records import Estimate
    >>> points = [Point({"d": d}, Estimate(2 / d, 1e-4 / d, 10**8)) for d in (16, 32, 64, 128, 256, 512, 1024)]
    >>> claim = Prediction(Kind.BOUND, "E S^2", base="d", rate="1/d", rivals=("d**(-3/2)",), correction=1)
    >>> found = judge(claim, points, Contract())
    >>> found.verdict.value, found.tightness.value, found.rivals[0].rejected
    ('SUPPORTED', 'TIGHT', True)
    """
    problem = rival_problem(prediction, points)
    if problem:
        rivals = tuple(Rival(text, False) for text in prediction.rivals)
        return Judgement(
            Verdict.VACUOUS, f"{problem}: the check could not fail", rivals=rivals, flags=("rival-cannot-be-rejected",)
        )
    if not points:
        return Judgement(Verdict.VACUOUS, "nothing was measured: no point is given")
    routes, flags = read_routes(points)
    if not routes:
        return Judgement(Verdict.VACUOUS, "nothing was measured: no point has a value with an error bar", flags=flags)
    compared = any(sum(route is not None for route in (p.exact, p.estimate, p.bracket)) > 1 for p in points)
    shares = len(routes) + compared
    shared = replace(
        contract,
        false_refute_rate=contract.false_refute_rate / shares,
        false_support_rate=contract.false_support_rate / len(routes),
    )
    case = _Case.read(prediction, points, shared, final)
    outcomes = [case.outcome(name, series) for name, series in routes.items()]
    disagreement = compare_routes(points, shared.false_refute_rate)
    if disagreement is not None and disagreement.found:
        best = narrowest(outcomes)
        return replace(
            _assemble(case, outcomes, best, flags),
            verdict=Verdict.REFUTED,
            tightness=None,
            reason=(
                f"the two routes disagree by {disagreement.pull:.1f} standard errors at {disagreement.text} "
                f"(limit {disagreement.limit:.1f} over {disagreement.compared} sizes): one of them has a bug"
            ),
            flags=(*flags, "routes-disagree"),
            settled=True,
        )
    return _assemble(case, outcomes, deciding(outcomes), flags)


def _assemble(case: _Case, outcomes: Sequence[Outcome], best: Outcome, flags: tuple[str, ...]) -> Judgement:
    verdict = best.verdict
    if verdict is Verdict.CERTIFIED and not best.complete:
        verdict = Verdict.SUPPORTED  # proved at some of the sizes only
    rejected = tuple(any(outcome.rejected[i] for outcome in outcomes) for i in range(len(case.prediction.rivals)))
    open_questions = verdict is Verdict.INCONCLUSIVE or best.tightness is Tightness.UNDETERMINED or not all(rejected)
    settled = verdict is Verdict.REFUTED or not (open_questions and any(outcome.improvable for outcome in outcomes))
    routes = tuple(Route(o.name, o.verdict, o.exponent, o.rigorous, o.reason) for o in outcomes)
    return Judgement(
        verdict=verdict,
        reason=best.reason,
        tightness=best.tightness if verdict in INSIDE else None,
        exponent=best.exponent,
        claimed_exponent=case.claimed_exponent,
        slack=best.slack,
        constant=best.constant,
        window=best.window,
        routes=routes,
        rivals=tuple(Rival(text, done) for text, done in zip(case.prediction.rivals, rejected)),
        assuming=case.assuming(best),
        flags=tuple(dict.fromkeys((*flags, *(flag for outcome in outcomes for flag in outcome.flags)))),
        settled=settled,
    )


@dataclass(frozen=True)
class _Case:
    """A prediction with everything about it that does not depend on the route."""

    prediction: Prediction
    points: tuple[Point, ...]
    contract: Contract
    final: bool
    base: str
    rate: Rate | None
    claimed_exponent: float | None

    @classmethod
    def read(cls, prediction: Prediction, points: Sequence[Point], contract: Contract, final: bool) -> _Case:
        sizes = [point.sizes for point in points]
        base = base_of(prediction, sizes)
        rate = Rate.parse(prediction.rate, **prediction.parameters) if prediction.rate is not None else None
        if prediction.kind is Kind.BOUND and rate is None:
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
        claimed = prediction.exponent if prediction.kind is Kind.SCALING else claimed_exponent(prediction, rate, sizes)
        return cls(prediction, tuple(points), contract, final, base, rate, claimed)

    @property
    def within(self) -> float:
        return self.contract.within

    @property
    def one_number(self) -> bool:
        """Whether a bound compares one number with another: no size, nothing that grows, and rivals are smaller numbers."""
        return self.prediction.kind is Kind.BOUND and not self.base

    @property
    def rates(self) -> tuple[float, float]:
        return self.contract.false_refute_rate, self.contract.false_support_rate

    def tolerance(self, default: float) -> float:
        """The declared tolerance, or the default."""
        text = self.prediction.tolerance
        return default if text is None else float(to_fraction(text, "tolerance"))

    def coincides(self, rival: str) -> bool:
        """Whether no evidence on these sizes can tell the rival from the claim."""
        return coincides(self.prediction, rival, [point.sizes for point in self.points])

    def _rival_rate(self, rival: str) -> Rate:
        return Rate.parse(rival, **self.prediction.parameters)

    def assuming(self, best: Outcome) -> str:
        """The window and the corrections that the verdict rests on."""
        if best.window is None:
            return ""
        text = f"on {self.base} = {best.window[0]}..{best.window[1]}"
        return f"{text}, assuming corrections {best.correction}" if best.correction else text

    def outcome(self, name: str, parts: tuple[Series, ...]) -> Outcome:
        """Judge one route; a bracket has two series, and a verdict needs both."""
        judges = {Kind.IDENTITY: self._identity, Kind.LIMIT: self._limit}
        if self.one_number:
            judges = {Kind.BOUND: self._number}
        outcomes = [judges.get(self.prediction.kind, self._growth)(series) for series in parts]
        combine = between if self.prediction.kind in (Kind.IDENTITY, Kind.LIMIT) else both
        outcome = replace(outcomes[0] if len(outcomes) == 1 else combine(outcomes), name=name)
        carried = parts[0].carried
        return self._untrusted(parts[0], outcome, carried) if carried else outcome

    def _untrusted(self, series: Series, outcome: Outcome, why: str) -> Outcome:
        """Take back all that rests on error bars that a few draws made."""
        return replace(
            outcome,
            verdict=Verdict.INCONCLUSIVE,
            reason=self._sentence(series, Decision(Verdict.INCONCLUSIVE, why)),
            rejected=(False,) * len(outcome.rejected),
            exponent=None,
            slack=None,
            constant=None,
            tightness=None,
            rigorous=False,
            improvable=True,
        )

    # -- one number at most another: BOUND without sizes ----------------------------------------------------------------------

    def _number(self, series: Series) -> Outcome:
        def decide(bound: float) -> Decision:
            return pointwise(series, Rate.parse("1"), bound, self.tolerance(CONSTANT_TOLERANCE), *self.rates)

        decision = decide(float(self.prediction.constant or 0))
        return Outcome(
            name=series.route,
            verdict=decision.verdict,
            reason=self._sentence(series, decision),
            rejected=tuple(decide(float(decimal_number(rival))).verdict is Verdict.REFUTED for rival in self.prediction.rivals),
            rigorous=decision.rigorous,
            improvable=series.route != "exact",
        )

    # -- growth: BOUND, LAW, SCALING ------------------------------------------------------------------------------------------

    def _growth(self, series: Series) -> Outcome:
        prediction, level = self.prediction, self.contract.level
        if series.zero and prediction.kind in (Kind.BOUND, Kind.LIMIT):
            return self._zero(series)
        growth = self._fit(series, self._log_rates(series))
        fit = growth.fit
        threshold = -self.within if prediction.kind is Kind.LAW and self.rate is None else self.within
        if prediction.kind is Kind.SCALING:
            verdict = two_sided(fit, self.within, *self.rates)
        else:
            verdict = one_sided(fit, threshold, *self.rates)
        by_size = prediction.constant is not None and prediction.kind is not Kind.SCALING
        decisions = [Decision(verdict, self._growth_clause(series, growth, verdict, threshold))]
        constant = growth.constant(level)
        if prediction.constant is not None and prediction.kind is Kind.SCALING:
            constant, decision = self._scaling_constant(series)
            decisions.append(decision)
        elif by_size and self.rate is not None:
            decisions = [self._pointwise(series, self.rate)]
        decision = worst_of(decisions)
        claimed = self.claimed_exponent
        interval = fit.interval(level)
        finite = fit.identifiable
        return Outcome(
            name=series.route,
            verdict=decision.verdict,
            reason=self._sentence(series, decision),
            rejected=tuple(self._rejects(series, growth, rival) for rival in prediction.rivals),
            exponent=shifted(interval, claimed) if finite and claimed is not None else None,
            slack=Interval(-interval.estimate, -interval.high, -interval.low, level)
            if finite and prediction.kind is Kind.BOUND
            else None,
            constant=constant if finite else None,
            tightness=tightness(fit, self.within, level) if prediction.kind is Kind.BOUND else None,
            rigorous=decision.rigorous,
            complete=len(series) == len(self.points),
            improvable=series.route != "exact"
            and (draws_can_help(fit) or (not finite and len(set(series.base(self.base))) >= MIN_SIZES)),
            correction="" if by_size else fit.family.text(self.base),
            window=fit.window,
            flags=fit.flags,
            offsets=self._offsets(growth),
        )

    def _offsets(self, growth: Growth) -> tuple[float, ...]:
        """The exponent measured minus the one claimed, and minus each rival; for bounds the sign of the values."""
        if self.prediction.kind is not Kind.SCALING:
            return (float(growth.fit.sign),) * (1 + len(self.prediction.rivals))
        claimed = float(self.prediction.exponent or 0)
        others = (growth.excess + claimed - float(to_fraction(rival, "a rival")) for rival in self.prediction.rivals)
        return (growth.excess, *others)

    def _zero(self, series: Series) -> Outcome:
        """Zero is within every bound, of whatever rate; draws that all vanished do not prove that the mean does."""
        proved = series.route == "exact" and series.rigorous
        verdict = Verdict.CERTIFIED if proved else Verdict.SUPPORTED
        sizes = series.base(self.base)
        return Outcome(
            name=series.route,
            verdict=verdict,
            reason=self._sentence(series, Decision(verdict, "the quantity is exactly 0 at every size, which satisfies any bound")),
            rejected=(False,) * len(self.prediction.rivals),
            tightness=None if self.prediction.kind is not Kind.BOUND else Tightness.LOOSE if proved else Tightness.UNDETERMINED,
            rigorous=proved,
            complete=len(series) == len(self.points),
            window=(min(sizes), max(sizes)),
        )

    def _fit(self, series: Series, rates: Sequence[float], exponent: float | None = None) -> Growth:
        return fit_growth(
            series,
            self.base,
            rates,
            correction=self.prediction.correction,
            amplitude=self.prediction.amplitude,
            level=self.contract.level,
            exponent=exponent,
        )

    def _log_rates(self, series: Series) -> list[float]:
        if self.prediction.kind is Kind.SCALING:
            exponent = float(self.prediction.exponent or 0)
            return [exponent * math.log(size) for size in series.base(self.base)]
        return [0.0] * len(series) if self.rate is None else log_rates(self.rate, series)

    def _scaling_constant(self, series: Series) -> tuple[Interval, Decision]:
        """Fit the prefactor at the claimed exponent, and compare it with the one claimed."""
        claimed = float(self.prediction.constant or 0)
        growth = self._fit(series, self._log_rates(series), exponent=0.0)
        shown_interval = growth.prefactor(self.contract.level)
        stderr = shown_interval.half_width / quantile(0.5 - self.contract.level / 2)
        if not growth.fit.identifiable:
            return shown_interval, Decision(Verdict.INCONCLUSIVE, growth.fit.reason)
        relative = self.tolerance(CONSTANT_TOLERANCE)
        tolerance = relative * abs(claimed)
        verdict = equivalence(shown_interval.estimate - claimed, stderr, 0.0, tolerance, *self.rates)
        text = with_error(shown_interval.estimate, shown_interval.half_width)
        clause = f"its constant is {text}, claimed {claimed:g} with tolerance {tolerance:.2g} ({relative:g} relative)"
        return shown_interval, Decision(verdict, clause)

    def _pointwise(self, series: Series, rate: Rate) -> Decision:
        constant = float(self.prediction.constant or 0)
        return pointwise(series, rate, constant, self.tolerance(CONSTANT_TOLERANCE), *self.rates)

    def _rejects(self, series: Series, growth: Growth, rival: str) -> bool:
        """Whether the same test, put to the rival, refutes it."""
        if self.coincides(rival):
            return False
        if self.prediction.kind is Kind.SCALING:
            offset = float(to_fraction(rival, "a rival")) - float(self.prediction.exponent or 0)
            return two_sided(growth.fit, self.within, *self.rates, offset=offset) is Verdict.REFUTED
        other = self._rival_rate(rival)
        if self.prediction.constant is not None and self._pointwise(series, other).verdict is Verdict.REFUTED:
            return True
        return one_sided(self._fit(series, log_rates(other, series)).fit, self.within, *self.rates) is Verdict.REFUTED

    def _growth_clause(self, series: Series, growth: Growth, verdict: Verdict, threshold: float) -> str:
        fit = growth.fit
        if not fit.identifiable:
            return fit.reason
        against = f"rate {self.rate}" if self.rate is not None else "claimed power"
        half = fit.interval(self.contract.level).half_width
        what = f"relative to the {against} it grows like {self.base}^({with_error(growth.excess, half)})"
        if self.prediction.kind is Kind.LAW and self.rate is None:
            what = f"the distance to the law grows like {self.base}^({with_error(growth.excess, half)})"
        refute, support = self.rates
        if verdict is Verdict.SUPPORTED:
            return f"{what}; the limit at error rate {support:.2g} is {fit.upper(support):.3g}, within {threshold:g}"
        if verdict is Verdict.REFUTED:
            limit = fit.lower(refute) if growth.excess > threshold else fit.upper(refute / 2)
            return f"{what}; even the limit at error rate {refute:.2g}, {limit:.3g}, is outside {threshold:g}"
        return f"{what}, which is not told from {threshold:g}: {self._budget(series, growth, threshold)}"

    def _budget(self, series: Series, growth: Growth, threshold: float) -> str:
        """Say what would decide if the claim were exactly true, or wrong by twice ``within``: whichever the estimate is nearer."""
        if not self.final:
            return "more draws follow"
        two_sides = self.prediction.kind is Kind.SCALING
        true = (abs(growth.excess) if two_sides else growth.excess) <= threshold
        side = -1.0 if two_sides and growth.excess < 0 else 1.0
        centre, rates = threshold - self.within, self._log_rates(series)
        options = {"correction": self.prediction.correction, "amplitude": self.prediction.amplitude}
        hypotheses = [
            (stderr_if(series, self.base, rates, centre, **options), self.rates[1]),
            (stderr_if(series, self.base, rates, centre + side * 2 * self.within, **options), self.rates[0] / (1 + two_sides)),
        ]
        # If the nearer one would stay open for ever, the other may still be decided.
        return self._advice(series, hypotheses if true else hypotheses[::-1], self.within)

    def _advice(self, series: Series, hypotheses: Sequence[tuple[Callable[[float], float], float]], gap: float) -> str:
        drawn = series.route != "exact"
        factors = (factor_to_decide(stderr, gap, rate) for stderr, rate in hypotheses if drawn)
        factor = next((factor for factor in factors if math.isfinite(factor)), math.inf)
        text = advice(factor, series.base(self.base), self.prediction.correction is not None)
        return text if drawn else text.removeprefix("more draws will not do in practice: ")

    def _sentence(self, series: Series, decision: Decision) -> str:
        place = f" on {self.base} = {min(series.base(self.base))}..{max(series.base(self.base))}" if self.base else ""
        return f"{_ROUTE_NAMES[series.route]}{place}: {decision.clause}"

    # -- LIMIT ----------------------------------------------------------------------------------------------------------------

    def _limit(self, series: Series) -> Outcome:
        prediction = self.prediction
        assert prediction.value is not None
        gaps, side = series.minus(prediction.value), side_of(series.route)
        value, first = abs(float(prediction.value)), abs(float(series.values[0]))
        fit = fit_limit(
            series.base(self.base),
            [float(gap) for gap in gaps.values],
            [float(error) for error in gaps.errors],
            scale=max(value, first, abs(float(gaps.values[0]))) or 1.0,
            correction=prediction.correction,
            amplitude=prediction.amplitude,
        )
        tolerance = self.tolerance(self.within * (value or first))
        if fit.reason:
            decisions = [Decision(Verdict.INCONCLUSIVE, fit.reason)]
        else:
            verdict = equivalence(fit.estimate, fit.stderr, 0.0, tolerance, *self.rates)
            if verdict is Verdict.REFUTED and fit.estimate * side < 0:
                verdict = Verdict.INCONCLUSIVE  # this end does not contradict a value that lies beyond the other
            half = fit.interval(self.contract.level).half_width
            clause = f"the limit minus the value is {with_error(fit.estimate, half)}, tolerance {tolerance:.2g}"
            if verdict is Verdict.INCONCLUSIVE and self.final:
                error_rate = self.rates[1] if abs(fit.estimate) <= tolerance else self.rates[0] / 2
                clause += f": {self._advice(series, [(fit.stderr_with, error_rate)], tolerance)}"
            decisions = [Decision(verdict, clause)]
        outcome = Outcome(series.route, Verdict.INCONCLUSIVE, "", ())
        if self.rate is not None:
            outcome = self._growth(replace(gaps, route=series.route))
            # One end of a bracket that decays too slowly says that it does not close, not that the value is wrong.
            verdict = Verdict.INCONCLUSIVE if side and outcome.verdict is Verdict.REFUTED else outcome.verdict
            decisions.append(Decision(verdict, outcome.reason.split(": ", 1)[-1]))
        decision = worst_of(decisions)
        reach = quantile(self.rates[0] / 2) * fit.stderr
        beyond = [fit.estimate - self._offset(rival) for rival in prediction.rivals]
        excluded = [
            not self.coincides(rival) and abs(gap) > reach and gap * side >= 0 for rival, gap in zip(prediction.rivals, beyond)
        ]
        return replace(
            outcome,
            verdict=decision.verdict,
            reason=self._sentence(series, decision),
            rejected=tuple(excluded),
            improvable=series.route != "exact" and draws_can_help(fit),
            correction=fit.family.text(self.base),
            window=fit.window,
            flags=tuple(dict.fromkeys((*fit.flags, *outcome.flags))),
        )

    def _offset(self, rival: str) -> float:
        """The rival value minus the claimed one."""
        assert self.prediction.value is not None
        return float(decimal_number(rival) - self.prediction.value.midpoint)

    # -- IDENTITY -------------------------------------------------------------------------------------------------------------

    def _identity(self, series: Series) -> Outcome:
        value = self.prediction.value
        assert value is not None
        decisions = [self._same(series.at(i), value.midpoint, value.radius, value.rigorous) for i in range(len(series))]
        decision = worst_of(decisions)
        rejected = []
        for rival in self.prediction.rivals:
            tests = [self._same(series.at(i), decimal_number(rival), Decimal(0), True).verdict for i in range(len(series))]
            rejected.append(Verdict.REFUTED in tests and not self.coincides(rival))
        return Outcome(
            name=series.route,
            verdict=decision.verdict,
            reason=self._sentence(series, decision),
            rejected=tuple(rejected),
            rigorous=decision.rigorous,
            complete=len(series) == len(self.points),
            improvable=series.route != "exact" and decision.verdict is Verdict.INCONCLUSIVE,
        )

    def _same(self, series: Series, right: Decimal, radius: Decimal, rigorous: bool) -> Decision:
        if series.route == "exact":
            declared = None if self.prediction.tolerance is None else self.tolerance(0.0)
            return same_number(series, right, radius, rigorous, declared)
        scale = max(abs(float(right)), abs(float(series.values[0])))
        return equal_within(series, right, radius, self.tolerance(self.within * scale), *self.rates, side_of(series.route))


_ROUTE_NAMES = {
    "exact": "exact values",
    "montecarlo": "Monte Carlo",
    "bracket-low": "lower ends of the brackets",
    "bracket-high": "upper ends of the brackets",
}
