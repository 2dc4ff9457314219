"""What pictures show of a result, from its record alone: marks of every route and the curves that the judge handed over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction

from theoryck.records import Interval, Kind, Point, Prediction, Result, Size, Toward
from theoryck.records.results import Curve
from theoryck.records.values import size_text

ROUTES = ("exact", "montecarlo", "bracket-low", "bracket-high")
NOISE_FLOOR = 5  # standard errors, below which a value is drawn hollow
STEPS = 60  # sizes at which a curve is drawn, besides those measured
FARTHEST = 1e100  # of a value: far outside the numeric domain, and no number of a picture
FARTHEST_LOG = math.log(FARTHEST)
GROWING = (Kind.BOUND, Kind.LAW, Kind.SCALING)


@dataclass(frozen=True, slots=True)
class Mark:
    """One value at one set of sizes: ``error`` is its standard error (the radius of an enclosure), None where there is none.

    ``residual`` is its distance from the fitted curve in units of its error as the fit took it, ``row`` the place of its point in
    the record.

    >>> mark = Mark({"d": 16}, 16, Decimal("0.02"), Decimal("0.01"))
    >>> mark.in_noise, [str(end) for end in mark.ends]
    (True, ['0.01', '0.03'])
    """

    sizes: Mapping[str, Size]
    size: Size
    value: Decimal
    error: Decimal | None
    residual: float | None = None
    row: int = 0

    @property
    def in_noise(self) -> bool:
        """Whether the value is below NOISE_FLOOR standard errors."""
        return self.error is not None and abs(self.value) < NOISE_FLOOR * self.error

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """One standard error below and above."""
        error = self.error or Decimal(0)
        return minus(self.value, error), minus(self.value, -error)


@dataclass(frozen=True, slots=True)
class Trace:
    """The marks of one route (one of ROUTES), by increasing size.

    >>> trace = Trace("exact", (Mark({"d": 16}, 16, Decimal("0.75"), Decimal(0)),))
    >>> trace.minus(Decimal("0.5")).marks[0].value
    Decimal('0.25')
    """

    route: str
    marks: tuple[Mark, ...]

    def minus(self, value: Decimal) -> Trace:
        """Return the trace of the differences from ``value``."""
        return Trace(self.route, tuple(replace(mark, value=minus(mark.value, value)) for mark in self.marks))

    def beside(self, residuals: Sequence[float | None]) -> Trace:
        """Return the trace with the residuals of the marks that have an error, in their order."""
        left = iter(residuals)
        return Trace(self.route, tuple(m if m.error is None else replace(m, residual=next(left, None)) for m in self.marks))


def minus(value: Decimal, other: Decimal) -> Decimal:
    """Return ``value - other`` to 50 digits: exact values that differ late in their digits do differ."""
    with localcontext() as context:
        context.prec = 50
        return value - other


def within(value: Decimal | float) -> bool:
    """Whether a number has a place in a picture."""
    return abs(float(value)) < FARTHEST


def place(sizes: Mapping[str, Size]) -> str:
    """Return sizes as text, such as "d = 16, n = 64".

    >>> place({"d": 16, "n": 64}), place({})
    ('d = 16, n = 64', 'the one instance')
    """
    return ", ".join(f"{name} = {size_text(size)}" for name, size in sizes.items()) or "the one instance"


def read(points: Mapping[int, Point], base: str = "") -> tuple[tuple[Trace, ...], list[str]]:
    """Return the traces of all routes, and what has no place in a picture, in words such as "Monte Carlo at d = 64: nan".

    ``points`` are those of a record, or some of them, by their places in it.
    """
    found: dict[str, list[Mark]] = {route: [] for route in ROUTES}
    missing: list[str] = []
    names = {"montecarlo": "Monte Carlo", "bracket-low": "lower end", "bracket-high": "upper end"}

    def add(route: str, row: int, value: Decimal | float, error: Decimal | float) -> None:
        point = points[row]
        if not within(value):
            missing.append(f"{names.get(route, route)} at {place(point.sizes)}: {value}")
            return
        bar = Decimal(error) if within(error) else None  # a bar without end says nothing more than no bar
        found[route].append(Mark(point.sizes, point.sizes.get(base, 1), Decimal(value), bar, row=row))

    for row, point in points.items():
        if point.exact is not None:
            add("exact", row, point.exact.midpoint, point.exact.radius)
        if point.estimate is not None:
            add("montecarlo", row, point.estimate.value, point.estimate.stderr)
        if point.bracket is not None:
            add("bracket-low", row, point.bracket.low, point.bracket.low_stderr)
            add("bracket-high", row, point.bracket.high, point.bracket.high_stderr)
    traces = (Trace(route, tuple(sorted(marks, key=lambda mark: mark.size))) for route, marks in found.items() if marks)
    return tuple(traces), missing


def number(text: str) -> Decimal | None:
    """Return the number that a rival's text is, a decimal or a fraction, or None.

    >>> number("0.25"), number("1/4"), number("1/d"), number("nan")
    (Decimal('0.25'), Decimal('0.25'), None, None)
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        try:
            ratio = Fraction(text)
        except (ValueError, ZeroDivisionError):
            return None
        with localcontext() as context:
            context.prec = 50
            value = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return value if within(value) else None


def rival_gaps(result: Result, claimed: Decimal) -> list[tuple[str, Decimal, bool]]:
    """Return the rivals of a value that are numbers: text, difference from the claimed value, whether it was rejected."""
    values = [(rival, number(rival.rate)) for rival in result.rivals]
    return [(rival.rate, minus(value, claimed), rival.rejected) for rival, value in values if value is not None]


@dataclass(frozen=True, slots=True)
class Line:
    """A rate as a line: the claimed one (``rejected`` is None), or a rival; ``logs`` are those of the ratio to the claimed rate."""

    label: str
    sign: int
    logs: tuple[float, ...]
    rejected: bool | None = None


@dataclass(frozen=True, slots=True)
class Along:
    """What a result shows along ``base``: marks, and ``curves`` of the record, two for a bracket; ``fixed`` are the other sizes.

    ``sizes`` are those measured, ``grid`` those at which curves and lines are drawn.  ``subtracted`` is the value that was
    subtracted from every mark, if one was, and ``of`` the number of lines of a grid of which this is one.  ``claims`` says that a
    rate is claimed: the line ``claimed`` goes through the fit nearest to the limit (through the last value where there is none), or
    has its own constant; rivals go through the fit there.
    """

    base: str
    traces: tuple[Trace, ...]
    sizes: tuple[Size, ...]
    curves: tuple[Curve, ...] = ()
    fixed: Mapping[str, Size] | None = None
    subtracted: Decimal | None = None
    missing: tuple[str, ...] = ()
    of: int = 1
    claims: bool = False
    claimed: Line | None = None
    rivals: tuple[Line, ...] = ()

    @property
    def linear(self) -> bool:
        """Whether the sizes lie on a linear axis: those of a geometric rate, along which it is a straight line."""
        return any(curve.linear for curve in self.curves) or min(self.sizes) <= 0

    @property
    def fitted(self) -> tuple[Curve, ...]:
        """The curves that could be fitted."""
        return tuple(curve for curve in self.curves if curve.centre)

    @property
    def reason(self) -> str:
        """Why nothing was fitted, as far as it is known."""
        return next((curve.reason for curve in self.curves if curve.reason), "")

    @property
    def trusted(self) -> bool:
        """Whether the judge trusted the error bars on which the bands rest."""
        return all(curve.trusted for curve in self.fitted)

    @property
    def banded(self) -> bool:
        """Whether the curves have bands that mean something: a law that was fitted to a whole table has none along its lines."""
        return self.trusted and any(any(curve.spread) or curve.sign for curve in self.fitted)

    @property
    def grid(self) -> tuple[float, ...]:
        """The sizes measured, and STEPS sizes between them, evenly on their axis."""
        places = [float(size) if self.linear else math.log(size) for size in self.sizes]
        step = (places[-1] - places[0]) / (STEPS - 1)
        inner = [places[0] + step * index for index in range(1, STEPS - 1)]
        apart = [at if self.linear else math.exp(at) for at in inner if all(abs(at - known) > 1e-6 for known in places)]
        return tuple(sorted([*map(float, self.sizes), *apart])) if step else tuple(map(float, self.sizes))

    @property
    def exponent(self) -> Interval | None:
        """The exponent of the fit; of a bracket the hull of both."""
        found = [curve.exponent for curve in self.fitted if curve.exponent is not None]
        if len(found) < 2:
            return found[0] if found else None
        low, high = min(each.low for each in found), max(each.high for each in found)
        return Interval(0.5 * (found[0].estimate + found[1].estimate), low, high, found[0].level)

    @property
    def toward(self) -> Toward:
        """Where the base goes."""
        return self.curves[0].toward if self.curves else Toward.INFINITY

    @property
    def far(self) -> str:
        """The size that is nearest to the limit, in words."""
        return "the smallest size" if self.toward is Toward.ZERO else "the largest size"

    def log_rate(self, size: float) -> float:
        """The logarithm of the claimed rate, within what a picture shows; 0 where it is not known."""
        log = self.curves[0].log_rate(size) if self.curves else 0.0
        return max(-FARTHEST_LOG, min(log, FARTHEST_LOG))

    def columns(self, curve: Curve) -> list[Line]:
        """The centre of a curve, the lower and the upper end of its band."""
        return [Line("", curve.sign, column) for column in zip(*(curve.heights(size) for size in self.grid))]

    def values(self, line: Line, *, ratio: bool = False) -> list[float]:
        """A line on the grid, or its ratio to the claimed rate; FARTHEST stands for what lies beyond it."""
        logs = (log + (0.0 if ratio else self.log_rate(size)) for size, log in zip(self.grid, line.logs))
        return [line.sign * math.exp(min(log, FARTHEST_LOG)) for log in logs]


def growth(result: Result) -> Along | None:
    """Return the growth that a result is about, along the line that decided; None if it is not about growth."""
    return next(iter(growths(result)), None)


def growths(result: Result) -> list[Along]:
    """Return the growth along the path or, of a grid, along every line of it that has a curve, the one that decided first.

    What is left of a limit grows where both the limit and the rate of the approach are claimed.
    """
    prediction = result.prediction
    both = prediction is None or (prediction.kind is Kind.LIMIT and prediction.rate is not None and prediction.value is not None)
    if prediction is not None and prediction.kind not in GROWING and not both:
        return []
    found = _lines(result, [curve for curve in result.judgement.curves if curve.sign])
    return [_with_claim(each, result, prediction) for each in found] if prediction is not None else found


def _lines(result: Result, curves: Sequence[Curve]) -> list[Along]:
    lines = {(curve.base, *sorted(curve.fixed.items())): curve for curve in reversed(curves)}
    groups = [[c for c in curves if (c.base, c.fixed) == (one.base, one.fixed)] for one in reversed(lines.values())] or [[]]
    return [replace(each, of=len(groups)) for group in groups if (each := _along(result, group)) is not None]


def _with_claim(found: Along, result: Result, prediction: Prediction) -> Along:
    if prediction.kind is Kind.LIMIT and prediction.value is not None and within(prediction.value.midpoint):
        value = prediction.value.midpoint
        found = replace(found, subtracted=value, traces=tuple(trace.minus(value) for trace in found.traces))
    rated = bool(prediction.rate) or prediction.exponent is not None
    if not (rated and found.curves and found.curves[0].log_rates):
        return found
    return _with_lines(replace(found, claims=True), result, prediction)


def approach(result: Result) -> Along | None:
    """Return how the values of a LIMIT approach it; None for anything else, or where nothing was measured."""
    return next((line for line in approaches(result) if line.of == 1 or len(line.sizes) > 1), None)  # one value approaches nothing


def approaches(result: Result) -> list[Along]:
    """Return how the values of a LIMIT approach it, along every line of a grid: as differences, or themselves if it is unknown."""
    prediction = result.prediction
    if prediction is None or prediction.kind is not Kind.LIMIT:
        return []
    found = _lines(result, [curve for curve in result.judgement.curves if not curve.sign])
    if prediction.value is None:
        return found
    value = prediction.value.midpoint
    if not within(value):
        return []
    return [replace(each, subtracted=value, traces=tuple(trace.minus(value) for trace in each.traces)) for each in found]


def _along(result: Result, curves: Sequence[Curve]) -> Along | None:
    """Return the marks along curves of one line; without curves along the predicted base, or the first size that moves."""
    points = result.points
    if not points or not points[0].sizes:
        return None
    base, fixed = (curves[0].base, dict(curves[0].fixed)) if curves else (_base(result), {})
    if base not in points[0].sizes:
        return None
    if not curves and len({point.sizes[base] for point in points}) < len(points):  # a grid: one of its lines
        fixed = {name: size for name, size in points[0].sizes.items() if name != base}
    here = {i: p for i, p in enumerate(points) if all(p.sizes.get(name) == size for name, size in fixed.items())}
    traces, missing = read(here, base)
    residuals = {route: column for curve in curves for route, column in curve.residuals.items()}
    traces = tuple(trace.beside(residuals.get(trace.route, ())) for trace in traces)
    sizes = tuple(sorted({point.sizes[base] for point in here.values()}))
    return Along(base, traces, sizes, tuple(curves), fixed, missing=tuple(missing))


def _base(result: Result) -> str:
    sizes = [point.sizes for point in result.points]
    given = result.prediction.base if result.prediction is not None else None
    moving = [name for name in sizes[0] if len({each.get(name) for each in sizes}) > 1]
    return given or (moving or [*sizes[0]])[0]


def _with_lines(found: Along, result: Result, prediction: Prediction) -> Along:
    """Add the claimed rate and the rivals, as ratios to the claimed rate."""
    anchor = _anchor(found)
    if anchor is None or len(found.sizes) < 2:
        return found
    sign, height, size = anchor
    constant = prediction.constant
    own = constant is not None and constant != 0 and math.isfinite(constant)
    level = math.log(abs(constant or 1.0)) if own else height
    label = prediction.rate or f"{found.base}^{prediction.exponent:g}"
    claimed = Line(label, (1 if (constant or 0.0) > 0 else -1) if own else sign, (level,) * len(found.grid))
    rivals = []
    for rival in result.rivals if prediction.kind in GROWING else ():  # those of a limit are values
        if rival.rate in (first := found.curves[0]).rivals:
            last = first.log_rival(rival.rate, size)
            power = prediction.kind is Kind.SCALING and number(rival.rate) is not None
            name = f"{found.base}^{rival.rate.removesuffix('.0')}" if power else rival.rate
            rivals.append(
                Line(name, sign, tuple(height + first.log_rival(rival.rate, x) - last for x in found.grid), rival.rejected)
            )
    return replace(found, claimed=claimed, rivals=tuple(rivals))


def _anchor(found: Along) -> tuple[int, float, float] | None:
    """Return sign and log(ratio to the rate) of the fit nearest to the limit (of the last value without a fit), and that size."""
    end = 0 if found.toward is Toward.ZERO else -1
    if found.fitted:
        curve, size = found.fitted[-1], float(found.sizes[end])
        return curve.sign, curve.heights(size)[0], size
    marks = [mark for trace in found.traces for mark in (trace.marks[end],) if mark.value != 0]
    if not marks:
        return None
    log = float(abs(marks[0].value).ln()) - found.log_rate(marks[0].size)
    return (1 if marks[0].value > 0 else -1), log, float(marks[0].size)
