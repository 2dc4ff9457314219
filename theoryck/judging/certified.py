"""What a certificate adds to a judgement: a bound that is proved for every size, not only where it was measured.

The verdict of the measured values is taken first, for a certificate says nothing of rivals or slack: those stay evidence.  Where it
covers the claim and nothing is left open the verdict is CERTIFIED with its scope; where both sides are proved the bound is TIGHT.
A rival that is not rejected leaves the verdict open, as without a certificate.

Certificates and values are two routes.  A value beyond a proved bound, or a fit that refutes what is proved, is a disagreement of
routes and fails the run: it means a bug in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from theoryck.judging.case import Claimed
from theoryck.judging.decisions import MANY_RADII, bound_at
from theoryck.judging.evidence import Series, read_routes
from theoryck.judging.ratios import tail_quantile
from theoryck.rates.rate import Rate
from theoryck.records import Contract, Judgement, Kind, Point, Prediction, Route, Scope, Tightness, Verdict
from theoryck.records.values import size_text

CERTIFICATE = "certificate"  # the name of the route


def certified(
    judgement: Judgement, prediction: Prediction, points: Sequence[Point], contract: Contract, scope: Scope | None
) -> Judgement:
    """Return the judgement of a BOUND whose certificate has this scope; as it is without one, or where nothing was tested.

    A SCALING that claims no constant is covered by a scope from both sides.

    The certificate of a pointwise bound must hold from the smallest measured size on, with a constant that is not larger than the
    one claimed: else it does not cover the claim.

    >>> claim = Prediction(Kind.BOUND, "q", base="d", rate="1/d")
    >>> found = certified(Judgement(Verdict.SUPPORTED, "on d = 4..64: it decays"), claim, (), Contract(), Scope("d", 1, Decimal(3)))
    >>> found.verdict.value, found.reason
    ('CERTIFIED', 'proved for every d >= 1: the quantity is at most 3 * (d**(-1)); measured: on d = 4..64: it decays')
    """
    if scope is None or judgement.verdict is Verdict.VACUOUS or prediction.kind not in (Kind.BOUND, Kind.SCALING):
        return judgement
    if prediction.kind is Kind.SCALING:
        if prediction.constant is not None or scope.least is None:
            return judgement
        prediction = replace(prediction, rate=prediction.rate_text)
    if not _covers(scope, prediction, points):
        return judgement
    scope = replace(scope, largest=_largest(prediction, points))
    clause = _clause(scope, prediction)
    broken = _broken(scope, prediction, points, contract) or (judgement.reason if judgement.verdict is Verdict.REFUTED else "")
    if broken:
        return replace(
            judgement,
            verdict=Verdict.REFUTED,
            tightness=None,
            reason=f"the two routes disagree: {clause}, by a certificate, but {broken}: one of them has a bug",
            flags=tuple(dict.fromkeys((*judgement.flags, "routes-disagree"))),
            settled=True,
        )
    decides = all(rival.rejected for rival in judgement.rivals) or judgement.verdict is not Verdict.INCONCLUSIVE
    tight = decides and scope.least is not None
    routes = tuple(replace(route, decided=route.decided and not decides) for route in judgement.routes)
    return replace(
        judgement,
        verdict=Verdict.CERTIFIED if decides else Verdict.INCONCLUSIVE,
        tightness=Tightness.TIGHT if tight and prediction.kind is Kind.BOUND else judgement.tightness,
        reason=f"{clause}; measured: {judgement.reason}",
        routes=(*routes, Route(CERTIFICATE, Verdict.CERTIFIED, rigorous=True, reason=clause, decided=decides)),
        settled=judgement.settled or (decides and tight and all(rival.rejected for rival in judgement.rivals)),
        scope=scope,
    )


def _covers(scope: Scope, prediction: Prediction, points: Sequence[Point]) -> bool:
    if prediction.constant is None:
        return True
    return scope.constant <= Decimal(str(prediction.constant)) and all(point.sizes[scope.base] >= scope.start for point in points)


def _clause(scope: Scope, prediction: Prediction) -> str:
    rate = f"({_rate(prediction)})"
    least = "" if scope.least is None else f" and at least {scope.least} * {rate}"
    return f"proved for every {scope.base} >= {size_text(scope.start)}: the quantity is at most {scope.constant} * {rate}{least}"


def _largest(prediction: Prediction, points: Sequence[Point]) -> float | None:
    """Return the largest ratio to the rate of the sizes of values, by the most exact route that was taken at each point."""
    found = []
    for point in points:
        value = point.exact.midpoint if point.exact else Decimal(point.estimate.value) if point.estimate else None
        if value is not None:
            found.append(float(abs(value) / bound_at(_rate(prediction), Decimal(1), point.sizes)[1]))
    return max(found, default=None)


def _broken(scope: Scope, prediction: Prediction, points: Sequence[Point], contract: Contract) -> str:
    """Say which value lies beyond what is proved, at the error rate at which it would refute a bound ("" where none does)."""
    for series in _trusted(points, prediction.statistic):
        limit = Decimal(tail_quantile(contract.false_refute_rate / (2 * len(series))))
        # Enclosures decide by their ends; those of which only digits agree by many radii, as everywhere.
        reach = limit if series.route != "exact" else 1 if series.rigorous else MANY_RADII
        for sizes, value, error in zip(series.sizes, series.values, series.errors):
            if sizes[scope.base] < scope.start:
                continue
            side = ""
            # The lower end of a bracket says only that the value is above, the upper end only that it is below.
            if (
                series.route != "bracket-high"
                and abs(value) - reach * error > bound_at(_rate(prediction), scope.constant, sizes)[1]
            ):
                side = "above"
            elif scope.least is not None and series.route != "bracket-low":
                side = "below" if abs(value) + reach * error < bound_at(_rate(prediction), scope.least, sizes)[0] else ""
            if side:
                return f"the value {value:.6g} at {scope.base} = {size_text(sizes[scope.base])} is {side} that"
    return ""


def _rate(prediction: Prediction) -> Rate:
    rate = Claimed.of(prediction).rate
    assert rate is not None  # a bound has one
    return rate


def _trusted(points: Sequence[Point], statistic: str) -> Iterator[Series]:
    """Yield the series of all routes but those whose errors may be too small, or that missed a tail."""
    routes, _ = read_routes(points, statistic)
    for parts in routes.values():
        yield from (series for series in parts if series.route == "exact" or not (series.flags or series.carried))
