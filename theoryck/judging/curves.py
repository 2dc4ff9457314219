"""The curves that a judgement hands over: those of the routes that decided, with what is left of every value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from theoryck.fitting.approach import ApproachFit
from theoryck.fitting.data import ROUNDING, Array
from theoryck.fitting.limit import LimitFit
from theoryck.judging.approaches import gaps_of, limit_tolerance
from theoryck.judging.case import Case
from theoryck.judging.decisions import Fitted, Outcome
from theoryck.judging.evidence import Series
from theoryck.judging.ratios import Growth, tail_quantile
from theoryck.records import Kind, Size
from theoryck.records.results import Curve

STEPS = 60  # sizes from which a curve is chosen, besides those measured
RESOLVED = 2.5e-3  # of the height of a curve: half a pixel of a picture
FLAT = 4e-3  # a curve of logarithms that is flatter is drawn flat
BEYOND = "the fitted curve leaves the range of floats"


def curves(case: Case, outcomes: Sequence[Outcome], best: Outcome) -> tuple[Curve, ...]:
    """Return the curves of what was judged: the approach to a limit, and growth; none where nothing grows.

    The curve of growth is that of the route whose exponent is given, else of the narrowest; brackets have two.  Where
    exact values have the curve, estimates are compared with it: so the two routes are seen to agree.
    """
    if not case.base or case.prediction.kind is Kind.IDENTITY:
        return ()
    with np.errstate(all="ignore"):  # what leaves the range of floats is infinite, and then no curve is given
        return (*_approach(case, outcomes), *_growth(case, outcomes, best))


def _sizes(case: Case) -> list[Mapping[str, Size]]:
    """Return the different sizes, ascending in the base."""
    return [sizes for _, sizes in sorted({point.sizes[case.base]: point.sizes for point in case.points}.items())]


# -- growth --------------------------------------------------------------------------------------------------------------------


def _growth(case: Case, outcomes: Sequence[Outcome], best: Outcome) -> list[Curve]:
    fitted = [outcome for outcome in outcomes if outcome.growths]
    if not fitted:
        return []
    sizes = _sizes(case)
    log_rates = [case.log_rate(where) for where in sizes]
    bare = Curve(
        route=fitted[0].growths[0].series.route,
        base=case.base,
        sizes=tuple(where[case.base] for where in sizes),
        sign=1,
        log_rates=_rounded(log_rates),
        rivals=_rival_rates(case, sizes, log_rates),
        toward=case.axis.toward,
        linear=bool(case.axis.unit),
    )
    usable = [outcome for outcome in fitted if all(each.fit.fit.identifiable for each in outcome.growths)]
    if not usable:
        reasons = [each.fit.fit.reason for outcome in fitted for each in outcome.growths]
        return [replace(bare, reason=next(filter(None, reasons), ""))]
    narrowest = min(usable, key=lambda outcome: max(each.fit.fit.exponent.half_width for each in outcome.growths))
    deciding = next((outcome for outcome in usable if outcome.name == best.name and best.exponent is not None), narrowest)
    found = []
    for each in deciding.growths:
        compared = [each]
        if deciding.name == "exact":
            compared += [other for outcome in fitted if outcome.name == "montecarlo" for other in outcome.growths]
        residuals = {other.series.route: _growth_residuals(case, other, each.fit) for other in compared}
        found.append(_growth_curve(case, bare, each, deciding.trusted, residuals))
    if any(curve.reason for curve in found):
        return [replace(bare, reason=BEYOND)]
    return found


def _growth_curve(
    case: Case, bare: Curve, fitted: Fitted[Growth], trusted: bool, residuals: Mapping[str, tuple[float | None, ...]]
) -> Curve:
    fit, level = fitted.fit.fit, case.contract.level
    assert fit.system is not None
    grid = grid_of(bare.sizes, bare.linear)
    logs, errors = fit.system.curve(_large(case, grid))
    centre, spread = (
        logs - fitted.fit.scale,
        tail_quantile(0.5 - level / 2) * errors,
    )  # the fit is one of the ratio times exp(scale)
    if not (np.isfinite(centre).all() and np.isfinite(spread).all()):
        return replace(bare, reason=BEYOND)
    kept = nodes_of(grid, bare, centre, spread, FLAT)
    return replace(
        bare,
        route=fitted.series.route,
        sign=fit.sign,
        nodes=_digits(grid[kept], 17),
        centre=_rounded(centre[kept]),
        spread=_digits(spread[kept], 6),
        exponent=case.exponent(fit.exponent),
        residuals=residuals,
        flags=fit.flags,
        trusted=trusted,
    )


def _growth_residuals(case: Case, fitted: Fitted[Growth], growth: Growth) -> tuple[float | None, ...]:
    """Return (value - fit)/error by increasing size, with the error that the fit could resolve.

    The fit may be that of another series, whose ratio to the rate was scaled differently.
    """
    system, series = growth.fit.system, fitted.series
    assert system is not None
    values, errors, scale = series.over(fitted.log_rates)
    sizes = series.base(case.base)
    models = np.exp(np.minimum(system.curve(np.array(sizes, dtype=float))[0] + scale - growth.scale, 700.0)).tolist()
    resolved = ROUNDING * max(1.0, growth.fit.family.size)
    found = []
    for _, value, error, model in sorted(zip(case.bases(series), values, errors, models), key=lambda entry: entry[0]):
        gap = growth.fit.sign * value - model
        found.append(growth.fit.sign * gap / max(error, resolved * max(model, abs(value))))
    return _digits(found, 6)


def _rival_rates(case: Case, sizes: Sequence[Mapping[str, Size]], log_rates: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """Return the logarithm of each rival over the claimed rate, 0 nearest to the limit; the rivals of a limit are values."""
    found: dict[str, tuple[float, ...]] = {}
    if case.prediction.kind is Kind.LIMIT:
        return found
    for rival in case.prediction.rivals:
        if case.prediction.kind is Kind.SCALING and not case.claimed.by_rate:
            power = case.claimed.rival_exponents[rival]
            logs = [power * math.log(where[case.base]) for where in sizes]
        else:
            rate = case.claimed.rival_rates[rival]
            logs = [rate.log_value(where) for where in sizes]
        ratios = [log - claimed for log, claimed in zip(logs, log_rates)]
        far = ratios[-1 if case.axis.sign > 0 else 0]
        found[rival] = _rounded([ratio - far for ratio in ratios])
    return found


# -- limits --------------------------------------------------------------------------------------------------------------------


def _approach(case: Case, outcomes: Sequence[Outcome]) -> list[Curve]:
    limits = [(outcome, each) for outcome in outcomes for each in outcome.limits]
    if not limits:
        return []
    value = case.prediction.value.midpoint if case.prediction.value is not None else 0
    _, first = limits[0]
    bare = Curve(
        route=first.series.route,
        base=case.base,
        sizes=tuple(where[case.base] for where in _sizes(case)),
        sign=0,
        tolerance=limit_tolerance(case, first.series),
        toward=case.axis.toward,
        rivals={rival: (float(case.claimed.rival_numbers[rival] - value),) for rival in case.prediction.rivals},
        linear=bool(case.axis.unit),
    )
    usable = [(outcome, each) for outcome, each in limits if not each.fit.reason]
    if not usable:
        return [replace(bare, reason=first.fit.reason)]
    outcome, deciding = min(usable, key=lambda entry: entry[1].fit.stderr)
    common = deciding.series.route == "exact"
    residuals = {}
    for _, each in usable:
        fit = deciding.fit if common and each.series.route == "montecarlo" else each.fit
        residuals[each.series.route] = _limit_residuals(case, gaps_of(case, each.series), fit)
    level = case.contract.level
    grid = grid_of(bare.sizes, bare.linear)
    values = [deciding.fit.value_at(size, level) for size in _large(case, grid)]
    centre, spread = (np.array(column) for column in zip(*((found.estimate, found.half_width) for found in values)))
    if not (np.isfinite(centre).all() and np.isfinite(spread).all()):
        return [replace(bare, reason=BEYOND, residuals=residuals)]
    kept = nodes_of(grid, bare, centre, spread, 0.0)
    return [
        replace(
            bare,
            route=deciding.series.route,
            nodes=_digits(grid[kept], 17),
            centre=_digits(centre[kept], 10),
            spread=_digits(spread[kept], 6),
            limit=deciding.fit.interval(level),
            residuals=residuals,
            trusted=outcome.trusted,
        )
    ]


def _limit_residuals(case: Case, gaps: Series, fit: LimitFit | ApproachFit) -> tuple[float | None, ...]:
    """Return (value - fit)/error by increasing size, with the error that the fit could resolve."""
    found = []
    columns = zip(case.bases(gaps), gaps.base(case.base), gaps.values, gaps.errors)
    for _, size, value, error in sorted(columns, key=lambda entry: entry[0]):
        gap = float(value) - fit.value_at(float(size)).estimate
        residual = gap / max(float(error), ROUNDING * abs(float(value)), fit.resolution)
        found.append(residual if math.isfinite(residual) else None)
    return tuple(None if residual is None else float(f"{residual:.6g}") for residual in found)


# -- compact columns -----------------------------------------------------------------------------------------------------------


def _large(case: Case, grid: Array) -> Array:
    """Return the large parameter of the fits at sizes."""
    return np.array([case.axis.large(size) for size in grid.tolist()], dtype=float)


def grid_of(sizes: Sequence[Size], linear: bool) -> Array:
    """Return the measured sizes and STEPS sizes between them, evenly on the logarithm or, where ``linear``, on the sizes."""
    first, last = float(sizes[0]), float(sizes[-1])
    between = np.linspace(first, last, STEPS) if linear else np.exp(np.linspace(math.log(first), math.log(last), STEPS))
    near = 1e-3 * (last - first) / STEPS if linear else 1e-3
    known = np.array(sizes, dtype=float) if linear else np.log(np.array(sizes, dtype=float))
    apart = [size for size in between[1:-1] if np.abs((size if linear else math.log(size)) - known).min() > near]
    return np.array(sorted([*map(float, sizes), *(float(f"{size:.6g}") for size in apart)]))


def nodes_of(grid: Array, curve: Curve, centre: Array, spread: Array, flat: float) -> list[int]:
    """Return which entries of the grid to keep: the sizes measured, and the worst of the others until straight lines will do.

    They do where they are within RESOLVED of the height of the curve, which is at least ``flat``, or of the spread there.
    """
    x = grid if curve.linear else np.log(grid)
    allowed = RESOLVED * np.maximum(max(np.ptp(centre), flat), 4 * spread)
    kept = sorted({int(index) for index in np.searchsorted(grid, curve.sizes)})
    while len(kept) < len(grid):
        ahead, wide = (np.abs(np.interp(x, x[kept], column[kept]) - column) for column in (centre, spread))
        excess = (ahead + wide) / np.maximum(allowed, 1e-300)
        if excess.max() <= 1:
            break
        kept = sorted([*kept, int(np.argmax(excess))])
    return kept


def _rounded(logs: Sequence[float] | Array) -> tuple[float, ...]:
    """Return logarithms to 9 decimals: far below what a picture resolves, and half the length of a float in a file."""
    return tuple(round(float(log), 9) + 0.0 for log in logs)


def _digits(column: Sequence[float] | Array, digits: int) -> tuple[float, ...]:
    return tuple(float(f"{number:.{digits}g}") for number in column)
