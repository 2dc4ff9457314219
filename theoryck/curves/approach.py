"""How values approach the limit that is claimed, as the judge fitted it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from theoryck.curves.directions import Direction
from theoryck.curves.fitted import BEYOND, directions, grid
from theoryck.curves.marks import Trace, place, read
from theoryck.fitting.data import ROUNDING
from theoryck.fitting.limit import LimitFit
from theoryck.judging.evidence import Series, read_routes
from theoryck.judging.numbers import fit_gaps, limit_tolerance
from theoryck.judging.rivals import decimal_number
from theoryck.judging.routes import as_judged
from theoryck.judging.verdict import opened
from theoryck.records import Interval, Kind, Result
from theoryck.records.values import wide


@dataclass(frozen=True, slots=True)
class Approach:
    """Marks and a curve of ``value - claimed`` against ``base``; ``limit`` is the interval of what is left
    in the end, which supports the claim within ``tolerance``.

    ``centre``, ``low`` and ``high`` have one entry per entry of ``sizes``; they are empty where nothing could be fitted, with the
    ``reason`` in words.  ``rivals`` are (text, rival minus claimed, rejected).  Marks carry differences and residuals.
    ``measured`` are the sizes at which something was measured.

    >>> found = Approach("d", Decimal(1), traces=(), level=0.95, rivals=(("1.1", Decimal("0.1"), True),))
    >>> found.limit, found.rivals[0][0]
    (None, '1.1')
    """

    base: str
    claimed: Decimal
    traces: tuple[Trace, ...]
    level: float
    measured: tuple[int, ...] = ()
    route: str = ""
    sizes: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    limit: Interval | None = None
    tolerance: float = 0.0
    rivals: tuple[tuple[str, Decimal, bool], ...] = ()
    reason: str = ""
    missing: tuple[str, ...] = ()


@wide()
def approach(result: Result) -> Approach | None:
    """Return how the values of a LIMIT approach it; None for anything else, or where nothing was measured.

    Nothing raises: what cannot be fitted says so in ``reason``.

    >>> from theoryck.judging import judge
    >>> from theoryck.records import Contract, Enclosure, Estimate, Point, Prediction, Result, Status
    >>> claim = Prediction(Kind.LIMIT, "m", base="d", value=Enclosure(Decimal(2), Decimal(0)))
    >>> points = tuple(Point({"d": d}, Estimate(2 + 1 / d, 1e-4, 1000)) for d in (16, 32, 64, 128))
    >>> found = judge(claim, points, Contract())
    >>> found = approach(Result("a", Status.THEOREM, {}, found, claim, points, Contract(), 1e-3, 4000, 0.1, 0))
    >>> found.route, found.tolerance, found.limit.contains(0.0)
    ('montecarlo', 0.2, True)

    >>> import theoryck as tc
    >>> @tc.theorem("example/norm")
    ... def norm():
    ...     "E (|x_0|^2 - 1)^2 -> 0"
    ...     path = tc.ScalingPath(d=tc.doubling(4, 64), input_dim="d")
    ...     return tc.Limit(tc.norm_deviation(tc.DeepNetwork("x", depth=0)), along=path, value=0, correction=1, tolerance=0.01)
    >>> found = approach(tc.check_claims(norm, draws=100).results[0])
    >>> found.base, str(found.claimed), found.measured[-1], found.limit.contains(0), found.reason
    ('d', '0', 64, True, '')
    """
    prediction = result.prediction
    if prediction is None or prediction.kind is not Kind.LIMIT or prediction.value is None or not result.points:
        return None
    claimed = prediction.value.midpoint
    line = (directions(result) or [Direction("", result.points, {})])[0]
    traces, missing = read(line.points, line.base, lambda sizes: 0.0)
    found = Approach(line.base, claimed, tuple(trace.minus(claimed) for trace in traces), result.contract.level)
    found = replace(found, missing=tuple(missing), rivals=_rivals(result, claimed))
    found = replace(found, measured=tuple(sorted({point.sizes.get(line.base, 1) for point in line.points})))
    if not line.base:
        return replace(found, reason=f"a limit needs sizes that grow, got {place(line.points[0].sizes)}")
    try:
        with np.errstate(all="ignore"):  # what leaves the range of floats is infinite, and then no curve is given
            return _fitted(found, result, line)
    except (ValueError, ArithmeticError) as error:  # values that are not finite: the judge refuses them too
        return replace(found, reason=str(error))


def _rivals(result: Result, claimed: Decimal) -> tuple[tuple[str, Decimal, bool], ...]:
    found = []
    for rival in result.rivals:
        try:
            gap = decimal_number(rival.rate) - claimed
        except (ValueError, ArithmeticError):
            continue  # named in the table of rivals, with no line
        if gap.is_finite():
            found.append((rival.rate, gap, rival.rejected))
    return tuple(found)


def _fitted(found: Approach, result: Result, line: Direction) -> Approach:
    routes, _ = read_routes(line.points)
    if not routes or result.prediction is None or result.prediction.value is None:
        return replace(found, reason="no point has a value with an error bar")
    case = opened(result.prediction, line.points, result.contract, len(routes), True)
    fits: dict[str, tuple[Series, LimitFit]] = {}
    for name, parts in routes.items():
        for series in as_judged(case, parts):
            gaps = series.minus(result.prediction.value)
            fits[series.route if name == "bracket" else name] = (gaps, fit_gaps(case, series, gaps))
    usable = {name: fit for name, (_, fit) in fits.items() if not fit.reason}
    deciding = min(usable, key=lambda name: usable[name].stderr, default="")
    # As for growth: where exact values have the curve, estimates are compared with it.
    common = usable["exact"] if deciding == "exact" else None
    traces = tuple(_told(trace, fits, common, line.base) for trace in found.traces)
    found = replace(found, traces=traces, tolerance=limit_tolerance(case, next(iter(routes.values()))[0]))
    if not usable:
        return replace(found, reason=next(iter(fits.values()))[1].reason)
    fit, sizes = usable[deciding], grid(line)
    values = [fit.value_at(float(size), found.level) for size in sizes]
    ends = ([getattr(value, end) for value in values] for end in ("estimate", "low", "high"))
    centre, low, high = (tuple(map(float, end)) for end in ends)
    if not all(map(math.isfinite, (*centre, *low, *high))):
        return replace(found, reason=BEYOND)
    found = replace(found, route=deciding, sizes=tuple(map(float, sizes)), limit=fit.interval(found.level))
    return replace(found, centre=centre, low=low, high=high)


def _told(trace: Trace, fits: Mapping[str, tuple[Series, LimitFit]], common: LimitFit | None, base: str) -> Trace:
    if trace.route not in fits:
        return trace
    gaps, own = fits[trace.route]
    return _with_residuals(trace, gaps, common if common is not None and trace.route == "montecarlo" else own, base)


def _with_residuals(trace: Trace, gaps: Series, fit: LimitFit, base: str) -> Trace:
    """Give marks (value - fit)/error, with the error that the fit could resolve."""
    if fit.reason or fit.solution is None or fit.system is None:
        return trace
    scale = fit.solution[2]
    by_size = sorted(zip(gaps.base(base), gaps.values, gaps.errors, strict=True), key=lambda entry: entry[0])
    left = iter(by_size)
    marks = []
    for mark in trace.marks:
        if mark.error is None:
            marks.append(mark)
            continue
        size, value, error = next(left)
        gap = float(value) - fit.value_at(float(size)).estimate
        residual = gap / max(float(error), ROUNDING * max(abs(float(value)), 1e-3 * scale))
        marks.append(replace(mark, residual=residual if math.isfinite(residual) else None))
    return Trace(trace.route, tuple(marks))
