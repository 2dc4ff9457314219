"""The growth of a quantity as the judge fitted it, refitted from a record: the same record gives the same curve, always.

Everything is kept as sign and logarithm (natural), so that 1e-300 and 1e300 are drawn like any other number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

import numpy as np
from numpy.typing import NDArray

from theoryck.curves.directions import Direction, as_path, distinct, slices
from theoryck.curves.marks import Mark, Trace, place, read
from theoryck.fitting.data import ROUNDING
from theoryck.judging.evidence import Series, read_routes
from theoryck.judging.outcomes import shifted
from theoryck.judging.ratios import Growth, quantile
from theoryck.judging.rivals import base_of
from theoryck.judging.routes import as_judged
from theoryck.judging.verdict import opened
from theoryck.rates import Rate, RateError
from theoryck.rates.parsing import to_fraction
from theoryck.records import Interval, Kind, Prediction, Result
from theoryck.records.values import wide

Array = NDArray[np.float64]
STEPS = 60  # sizes at which a curve is given, besides those measured
BRACKETS = ("bracket-low", "bracket-high")
BEYOND = "the fitted curve leaves the range of floats"
FARTHEST = 1e16  # of a logarithm: beyond it a power of ten is no decimal number
GROWING = (Kind.BOUND, Kind.LAW, Kind.SCALING)


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted curve ``sign * exp(centre)`` of one route with its band ``low``..``high``, at the result's level.

    ``sizes`` and all logarithms have one entry per point of the curve; ``log_rates`` are those of the claimed rate there.

    >>> from theoryck.auditing import audit
    >>> result = audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)", rivals=["1/d"])
    >>> curve = fitted(result).curves[0]
    >>> curve.sign, len(curve.sizes) == len(curve.low), curve.low[0] < curve.centre[0] < curve.high[0]
    (1, True, True)
    """

    route: str
    sign: int
    sizes: tuple[float, ...]
    centre: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    log_rates: tuple[float, ...]
    exponent: Interval
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A rate as a curve ``sign * exp(log)``: the claimed one (``rejected`` is None), or a rival, as ``label`` says.

    >>> from theoryck.auditing import audit
    >>> result = audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)", rivals=["1/d"])
    >>> found = fitted(result)
    >>> found.claimed.label, found.claimed.rejected, [(rival.label, rival.rejected) for rival in found.rivals]
    ('d**(-1/2)', None, [('1/d', True)])
    """

    label: str
    sign: int
    sizes: tuple[float, ...]
    logs: tuple[float, ...]
    log_rates: tuple[float, ...]
    rejected: bool | None = None


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a result shows of growth along ``base``; ``fixed`` are the other sizes where a line of a grid is shown.

    ``curves`` is empty where nothing could be fitted, with the ``reason`` in words; for brackets it has a curve for either end.
    ``claimed`` goes through the fit at the largest size, or has its own constant; rivals go through the fit there.  ``limit`` is
    the value that was subtracted from every mark (0 where none was), ``missing`` says what was not finite, ``sizes`` are all sizes
    at which something was measured, and ``of`` is the number of lines of a grid of which this is one.

    >>> from theoryck.auditing import audit
    >>> result = audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)", rivals=["1/d"])
    >>> found = fitted(result)
    >>> found.base, found.sizes, found.kind.value, found.reason, [trace.route for trace in found.traces]
    ('d', (16, 32, 64, 128), 'bound', '', ['montecarlo'])
    """

    base: str
    fixed: Mapping[str, int]
    kind: Kind
    sizes: tuple[int, ...]
    traces: tuple[Trace, ...]
    curves: tuple[Curve, ...]
    claimed: Line | None
    rivals: tuple[Line, ...]
    level: float
    exponent: Interval | None = None
    claims: bool = False
    limit: Decimal = Decimal(0)
    reason: str = ""
    missing: tuple[str, ...] = ()
    of: int = 1


@wide()
def fitted(result: Result) -> Fitted | None:
    """Return the growth that a result is about, with the curve of the route that decided; None if it is not about growth.

    Of a grid it is the line that decided.  Nothing is measured, and nothing raises: what cannot be fitted says so in ``reason``.

    >>> from theoryck.auditing import audit
    >>> found = fitted(audit({"d": [16, 32, 64, 128], "risk": [0.9, 0.6, 0.45, 0.3], "stderr": [0.01] * 4}, rate="d**(-1/2)"))
    >>> found.base, len(found.traces[0].marks), found.exponent == found.curves[0].exponent
    ('d', 4, True)
    """
    found = _growing(result)
    return _along(result, found[0], len(found)) if found else None


@wide()
def lines(result: Result) -> list[Fitted]:
    """Return the growth along the path or, for a grid, along every line of it, the one that decided first.

    >>> from theoryck.auditing import audit
    >>> grid = [(d, n) for d in (16, 32, 64) for n in (100, 200, 400)]
    >>> table = {"d": [d for d, _ in grid], "n": [n for _, n in grid]}
    >>> found = lines(audit(table, [n / d for d, n in grid], [0.01 * n / d for d, n in grid], rate="n/d"))
    >>> len(found), sorted({line.base for line in found})
    (6, ['d', 'n'])

    >>> from theoryck.auditing import audit
    >>> grid = {"d": [16, 32, 64] * 3, "n": [8] * 3 + [16] * 3 + [32] * 3}
    >>> result = audit(grid, [1 / (d * n) for d, n in zip(grid["d"], grid["n"])], 0.0, rate="1/(d*n)")
    >>> [(line.base, dict(line.fixed)) for line in lines(result)][:2]
    [('n', {'d': 16}), ('n', {'d': 32})]
    """
    found = _growing(result)
    return [_along(result, line, len(found)) for line in found]


def _growing(result: Result) -> list[Direction]:
    prediction = result.prediction
    if prediction is not None and prediction.kind not in GROWING and (prediction.kind is not Kind.LIMIT or prediction.rate is None):
        return []
    return directions(result)


@wide()
def directions(result: Result) -> list[Direction]:
    """Return the path on which the points lie or, for a grid, its lines, those along the base of the prediction first.

    >>> from theoryck.auditing import audit
    >>> result = audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)", rivals=["1/d"])
    >>> [line.base for line in directions(result)], len(directions(result)[0].points)
    (['d'], 4)
    """
    points, prediction = result.points, result.prediction
    if not points or not points[0].sizes:
        return []
    base = base_of(prediction, [point.sizes for point in points]) if prediction is not None else ""
    if not base or any(base not in point.sizes for point in points):
        path = as_path(points)
        return [path] if path is not None else slices(points)
    whole = Direction(base, tuple(sorted(points, key=lambda point: point.sizes[base])), {})
    places = distinct(points)
    if len({sizes[base] for sizes in places}) == len(places):
        return [whole]
    judged = dict(prediction.path) if prediction is not None else {}
    found = sorted(slices(points), key=lambda line: (line.description != judged, line.base != base))
    return found or [whole]


def _along(result: Result, line: Direction, of: int) -> Fitted:
    prediction = _prediction(result, line)
    trouble: list[str] = []
    log_rate = partial(_log_rate, prediction, line.base, trouble)
    traces, missing = read(line.points, line.base, log_rate)
    limit = prediction.value.midpoint if prediction.value is not None else Decimal(0)
    if prediction.kind is Kind.LIMIT:
        traces = tuple(trace.minus(limit) for trace in traces)
    claims = result.prediction is not None and (prediction.rate is not None or result.prediction.exponent is not None)
    found = Fitted(
        base=line.base,
        fixed=line.fixed,
        kind=prediction.kind,
        sizes=tuple(sorted({point.sizes[line.base] for point in line.points})),
        traces=traces,
        curves=(),
        claimed=None,
        rivals=(),
        level=result.contract.level,
        claims=claims,
        limit=limit,
        missing=tuple(missing),
        of=of,
    )
    if trouble:
        return replace(found, reason=trouble[0], claims=False)
    try:
        with np.errstate(all="ignore"):  # what leaves the range of floats is infinite, and then no curve is given
            found = _with_curves(found, result, prediction, line)
    except (ValueError, ArithmeticError) as error:  # values that are not finite, sizes that the rate forbids: as the judge does
        found = replace(found, reason=str(error))
    with np.errstate(all="ignore"):
        return _with_lines(found, result, prediction, line, claims)


def _prediction(result: Result, line: Direction) -> Prediction:
    """Return the prediction as it reads along one line; what claims nothing is fitted against the exponent 0."""
    given = result.prediction
    if given is None:
        return Prediction(Kind.SCALING, "value", base=line.base, exponent=0.0)
    along = replace(given, base=line.base, rivals=(), path={} if line.fixed else given.path)
    if given.kind is Kind.SCALING and given.exponent is None:
        along = replace(along, exponent=0.0)
    return along


def _log_rate(prediction: Prediction, base: str, trouble: list[str], sizes: Mapping[str, int]) -> float:
    """Return log(rate) at sizes; what forbids it is added to ``trouble``."""
    found = 0.0
    try:
        if prediction.rate is not None:
            found = _parsed(prediction.rate, tuple(prediction.parameters.items())).log_value(sizes)
        elif prediction.kind is Kind.SCALING:
            found = float(prediction.exponent or 0) * math.log(sizes[base])
    except (ValueError, ArithmeticError) as error:
        trouble.append(str(error))
    if abs(found) <= FARTHEST:
        return found
    trouble.append(f"the claimed rate at {place(sizes)} is beyond any picture")
    return 0.0


# -- the fit -------------------------------------------------------------------------------------------------------------------


def _with_curves(found: Fitted, result: Result, prediction: Prediction, line: Direction) -> Fitted:
    """Add the curve of the route that decided, and to all marks their residuals from the fit of their own route."""
    routes, _ = read_routes(line.points)
    if not routes:
        return replace(found, reason="no point has a value with an error bar")
    case = opened(prediction, line.points, result.contract, len(routes), True)
    log_rate = partial(_log_rate, prediction, line.base, [])
    growths: dict[str, list[Growth]] = {}
    fits: dict[str, tuple[Series, list[float], Growth]] = {}
    for name, parts in routes.items():
        for series in as_judged(case, parts):
            if prediction.kind is Kind.LIMIT and prediction.value is not None:
                series = replace(series.minus(prediction.value), route=series.route)
            rates = [log_rate(sizes) for sizes in series.sizes]
            growth = case.fit(series, rates)
            growths.setdefault(name, []).append(growth)
            fits[series.route] = (series, rates, growth)
    claimed = float(prediction.exponent or 0) if prediction.kind is Kind.SCALING else case.claimed_exponent or 0.0
    deciding = _deciding(growths, claimed, result.judgement.exponent)
    # Where exact values decide the curve is theirs, and estimates are compared with it: so the two routes are seen to agree.
    common = growths["exact"][0] if deciding == "exact" else None
    # Residuals are those from a curve that is drawn: other routes have none.
    drawn = {deciding, *(("montecarlo",) if common is not None else ()), *(BRACKETS if deciding == "bracket" else ())}
    residuals = {
        route: _residuals(series, rates, common if common is not None and route == "montecarlo" else own, line.base)
        for route, (series, rates, own) in fits.items()
        if route in drawn
    }
    traces = tuple(_with_residuals(trace, residuals.get(trace.route, [])) for trace in found.traces)
    if deciding is None:
        reasons = [growth.fit.reason for parts in growths.values() for growth in parts if growth.fit.reason]
        return replace(found, traces=traces, reason=reasons[0] if reasons else "")
    sizes = grid(line)
    known = _interpolated(line, log_rate, sizes)
    labels = BRACKETS if deciding == "bracket" else (deciding,)
    curves = tuple(
        _curve(label, growth, sizes, known, claimed, found.level) for label, growth in zip(labels, growths[deciding], strict=True)
    )
    if not all(math.isfinite(end) for curve in curves for end in (*curve.centre, *curve.low, *curve.high)):
        return replace(found, traces=traces, reason=BEYOND)
    return replace(found, traces=traces, curves=curves, exponent=curves[0].exponent if len(curves) == 1 else _hull(curves))


def _hull(curves: Sequence[Curve]) -> Interval:
    first, second = (curve.exponent for curve in curves)
    low, high = min(first.low, second.low), max(first.high, second.high)
    return Interval(0.5 * (first.estimate + second.estimate), low, high, first.level)


def _deciding(growths: Mapping[str, Sequence[Growth]], claimed: float, judged: Interval | None) -> str | None:
    """Return the route whose exponent is the one in the record, else the one with the narrowest interval; None if none fits."""
    usable = {name: parts for name, parts in growths.items() if all(growth.fit.identifiable for growth in parts)}
    if not usable:
        return None

    def distance(name: str) -> tuple[float, float]:
        parts = usable[name]
        width = max(growth.fit.exponent.half_width for growth in parts)
        if judged is None:
            return width, 0.0
        estimate = claimed + sum(growth.excess for growth in parts) / len(parts)
        return abs(estimate - judged.estimate), width

    return min(usable, key=distance)


def _curve(route: str, growth: Growth, sizes: Array, log_rates: Array, claimed: float, level: float) -> Curve:
    system, reach = growth.fit.system, quantile(0.5 - level / 2)
    assert system is not None
    logs, errors = system.curve(sizes)
    # The fit is one of the ratio times exp(scale).
    centre, spread = logs - growth.scale + log_rates, reach * errors
    return Curve(
        route,
        growth.fit.sign,
        sizes=_floats(sizes),
        centre=_floats(centre),
        low=_floats(centre - spread),
        high=_floats(centre + spread),
        log_rates=_floats(log_rates),
        exponent=shifted(growth.fit.exponent, claimed),
        flags=growth.fit.flags,
    )


def _residuals(series: Series, rates: Sequence[float], growth: Growth, base: str) -> list[float]:
    """Return (value - fit)/error by increasing size, with the error that the fit could resolve; empty without a fit.

    The fit may be that of another series, whose ratio to the rate was scaled differently.
    """
    system = growth.fit.system
    if system is None or not growth.fit.identifiable:
        return []
    values, errors, scale = series.over(rates)
    models = np.exp(np.minimum(system.curve(np.array(series.base(base), dtype=float))[0] + scale - growth.scale, 700.0))
    resolved = ROUNDING * max(1.0, growth.fit.family.size)
    found = []
    entries = zip(series.base(base), values, errors, map(float, models))
    for _, value, error, model in sorted(entries, key=lambda entry: entry[0]):
        gap = growth.fit.sign * value - model
        found.append(growth.fit.sign * gap / max(error, resolved * max(model, abs(value))))
    return found


def _with_residuals(trace: Trace, residuals: Sequence[float]) -> Trace:
    """Give the residuals to the marks that have an error: those were fitted, in this order."""
    if not residuals:
        return trace
    left = iter(residuals)
    return Trace(trace.route, tuple(_told(mark, next(left)) if mark.error is not None else mark for mark in trace.marks))


def _told(mark: Mark, residual: float) -> Mark:
    return replace(mark, residual=residual)


# -- what is claimed, and what is not ------------------------------------------------------------------------------------------


def grid(line: Direction) -> Array:
    """Return the measured sizes and STEPS sizes between them, evenly on the logarithm."""
    measured = sorted({point.sizes[line.base] for point in line.points})
    between = np.exp(np.linspace(math.log(measured[0]), math.log(measured[-1]), STEPS))
    inner = [size for size in between[1:-1] if all(abs(math.log(size / known)) > 1e-6 for known in measured)]
    return np.array(sorted([*map(float, measured), *inner]))


def _interpolated(line: Direction, log_rate: partial[float], sizes: Array) -> Array:
    """Return log(rate) between the sizes measured: the other sizes are interpolated on the logarithm."""
    known = sorted({point.sizes[line.base]: point.sizes for point in line.points}.items())
    return np.interp(np.log(sizes), [math.log(base) for base, _ in known], [log_rate(where) for _, where in known])


def _with_lines(found: Fitted, result: Result, prediction: Prediction, line: Direction, claims: bool) -> Fitted:
    """Add the claimed rate and the rivals of a result that claims a rate."""
    anchor = _anchor(found)
    if not claims or anchor is None or len(found.sizes) < 2:
        return found
    sizes = grid(line)
    log_rates = _interpolated(line, partial(_log_rate, prediction, line.base, []), sizes)
    sign, height, size = anchor
    label = prediction.rate or f"{line.base}^{prediction.exponent:g}"
    logs, own = height + log_rates - _at(size, sizes, log_rates), sign
    if prediction.constant is not None and prediction.constant != 0 and math.isfinite(prediction.constant):
        power = prediction.kind is Kind.SCALING  # whose constant is in units of base**exponent
        shape = float(prediction.exponent or 0) * np.log(sizes) if power else log_rates
        logs, own = math.log(abs(prediction.constant)) + shape, 1 if prediction.constant > 0 else -1
    claimed = Line(label, own, _floats(sizes), _floats(logs), _floats(log_rates))
    rivals = (rival for rival in _rivals(result, prediction, line, sizes, log_rates, anchor) if _drawable(rival))
    return replace(found, claimed=claimed if _drawable(claimed) else None, rivals=tuple(rivals))


def _drawable(line: Line) -> bool:
    """Whether a line stays where pictures reach."""
    return all(abs(log) <= FARTHEST for log in (*line.logs, *line.log_rates))


def _anchor(found: Fitted) -> tuple[int, float, float] | None:
    """Return sign and logarithm of the fit at the largest size, or of the last value that is not 0 without a fit, and that size."""
    if found.curves:
        curve = found.curves[-1]
        return curve.sign, curve.centre[-1], curve.sizes[-1]
    marks = [mark for trace in found.traces for mark in trace.marks[-1:] if mark.value != 0]
    return (marks[0].signed.sign, marks[0].signed.log, float(marks[0].size)) if marks else None


def _at(size: float, sizes: Array, logs: Array) -> float:
    return float(np.interp(math.log(size), np.log(sizes), logs))


def _rivals(
    result: Result, prediction: Prediction, line: Direction, sizes: Array, log_rates: Array, anchor: tuple[int, float, float]
) -> list[Line]:
    given = result.prediction
    if given is None or given.kind not in GROWING:
        return []  # the rivals of a limit are values
    texts = given.rivals if len(given.rivals) == len(result.rivals) else tuple(rival.rate for rival in result.rivals)
    found = []
    for text, rival in zip(texts, result.rivals):
        try:
            logs = _interpolated(line, partial(_log_rival, prediction, line.base, text), sizes)
        except ValueError:
            continue  # a rival that cannot be read here is named in the table of rivals, with no curve
        shape = anchor[1] + logs - _at(anchor[2], sizes, logs)
        power = given.kind is Kind.SCALING and to_number(rival.rate) is not None
        label = f"{line.base}^{rival.rate.removesuffix('.0')}" if power else rival.rate
        found.append(Line(label, anchor[0], _floats(sizes), _floats(shape), _floats(log_rates), rival.rejected))
    return found


def to_number(text: str) -> float | None:
    """Return the exponent that a text is, or None if it is a rate: the rivals of a scaling are exponents, those of audits rates."""
    try:
        return float(to_fraction(text, "a rival"))
    except RateError:
        return None


def _log_rival(prediction: Prediction, base: str, text: str, sizes: Mapping[str, int]) -> float:
    exponent = to_number(text) if prediction.kind is Kind.SCALING else None
    if exponent is not None:
        return exponent * math.log(sizes[base])
    return _parsed(text, tuple(prediction.parameters.items())).log_value(sizes)


@functools.lru_cache(maxsize=256)  # the same few rates are asked for at every size
def _parsed(text: str, parameters: tuple[tuple[str, str], ...]) -> Rate:
    return Rate.parse(text, **dict(parameters))


def _floats(column: Array) -> tuple[float, ...]:
    return tuple(float(entry) for entry in column)
