"""How far a result is from what was claimed, in units of what is tolerated: by exponent, constant or value."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from theoryck.records import Enclosure, Interval, Kind, Point, Result
from theoryck.records.values import wide

EXPONENT, CONSTANT, VALUE = "exponent", "constant", "value"
CONSTANT_TOLERANCE = 0.05  # relative: that of the judge, where a claim declares no other
EXACT_TOLERANCE = 1e-15  # likewise, of exact values


def deviations(result: Result) -> dict[str, float]:
    """Return what can be off and by how much, in units of what is tolerated; empty where no number was found.

    Of what is bounded on one side, a number below 0 is a distance to spare.

    >>> from theoryck.records import Contract, Judgement, Prediction, Status, Verdict
    >>> found = Judgement(Verdict.SUPPORTED, "", exponent=Interval(-0.97, -1.0, -0.94, 0.95), claimed_exponent=-1.0)
    >>> claimed = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0)
    >>> result = Result("c", Status.THEOREM, {}, found, claimed, (), Contract(within=0.15), 1e-3, 0, 0.0, 0)
    >>> {name: round(value, 3) for name, value in deviations(result).items()}
    {'exponent': 0.2}
    """
    found = {EXPONENT: _exponent(result), CONSTANT: _constant(result), VALUE: _value(result)}
    return {name: value for name, value in found.items() if value is not None}


def decisive(result: Result) -> str:
    """Return which of its numbers a table shows: the one furthest from the claim where several are judged.

    A value or an exponent goes before a constant, unless the constant alone is off by more than is tolerated.
    """
    found = deviations(result)
    first = VALUE if result.prediction is not None and result.prediction.kind is Kind.LIMIT and VALUE in found else EXPONENT
    others = {name: value for name, value in found.items() if name != first}
    worst = max(others, key=others.__getitem__, default="")
    if first not in found:
        return worst
    return worst if worst and others[worst] > max(1.0, found[first]) else first


@lru_cache(maxsize=1024)
@wide()
def declared(text: str | None) -> float | None:
    """Return a declared tolerance as a number, or None where there is none.

    >>> declared("1/2000"), declared("1e-11"), declared(None), declared("small")
    (0.0005, 1e-11, None, None)
    """
    above, _, below = (text or "").partition("/")
    try:
        return float(Decimal(above) / Decimal(below or 1))
    except ArithmeticError:
        return None


def tolerated(result: Result) -> float | None:
    """Return how far the value of an identity or of a limit may be off, by declaration or by default; None of other kinds."""
    prediction = result.prediction
    if prediction is None or prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return None
    given = declared(prediction.tolerance)
    if given is not None:
        return given
    value = abs(float(prediction.value))
    first = next((abs(found[0]) for point in result.points if (found := at(point)) is not None), 0.0)
    if prediction.kind is Kind.LIMIT:
        return result.contract.within * (value or first)
    exact = any(point.exact is not None for point in result.points)
    return EXACT_TOLERANCE * (max(value, first) or 1.0) if exact else result.contract.within * max(value, first)


def at(point: Point) -> tuple[float, float] | None:
    """Return a value measured at a point with its error, by the most exact route that was taken."""
    if point.exact is not None:
        return float(point.exact), float(point.exact.radius)
    if point.estimate is not None:
        return point.estimate.value, point.estimate.stderr
    if point.bracket is not None:
        ends = point.bracket
        return 0.5 * ends.low + 0.5 * ends.high, 0.5 * ends.high - 0.5 * ends.low
    return None


def one_number(result: Result) -> bool:
    """Whether a bound compares one number with another, at no size."""
    prediction = result.prediction
    if prediction is None or prediction.kind is not Kind.BOUND or prediction.constant is None or len(result.points) != 1:
        return False
    return prediction.rate in (None, "1") and not result.points[0].sizes


def _exponent(result: Result) -> float | None:
    judgement, prediction = result.judgement, result.prediction
    if judgement.exponent is None or judgement.claimed_exponent is None:
        return None
    gap = (judgement.exponent.estimate - judgement.claimed_exponent) / result.contract.within
    return abs(gap) if prediction is not None and prediction.kind is Kind.SCALING else gap


def _constant(result: Result) -> float | None:
    """Only that of a scaling is compared with one that was claimed."""
    prediction, found = result.prediction, result.constant
    if prediction is None or prediction.kind is not Kind.SCALING or not prediction.constant or found is None:
        return None
    relative = declared(prediction.tolerance)
    return _over(found.estimate - prediction.constant, (CONSTANT_TOLERANCE if relative is None else relative) * prediction.constant)


def _value(result: Result) -> float | None:
    prediction = result.prediction
    if prediction is None or not result.points:
        return None
    if one_number(result):
        found, bound = at(result.points[0]), prediction.constant or 0.0
        return None if found is None else (found[0] - bound) / (abs(bound) or 1.0)
    if prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return None
    limit: Interval | None = result.judgement.limit
    if limit is not None:
        gaps = [limit.estimate - float(prediction.value)]
    else:
        kept = result.points if prediction.kind is Kind.IDENTITY else result.points[-1:]
        gaps = [gap for point in kept if (gap := _gap(point, prediction.value)) is not None]
    most = tolerated(result)
    return max((_over(gap, most or 0.0) for gap in gaps), default=None)


@wide()
def _gap(point: Point, claimed: Enclosure) -> float | None:
    """Exact values are subtracted before they are rounded."""
    if point.exact is not None:
        return float(point.exact.midpoint - claimed.midpoint)
    found = at(point)
    return None if found is None else found[0] - float(claimed)


def _over(gap: float, tolerance: float) -> float:
    if gap == 0 or tolerance == 0:
        return 0.0 if gap == 0 else float("inf")
    return abs(gap / tolerance)
