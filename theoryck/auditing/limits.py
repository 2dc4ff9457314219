"""Limits in tables: of one size, claimed or unknown, with the exponent of the approach; and loss laws, a term for each size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from theoryck.auditing.directions import as_path, coarsest_first
from theoryck.auditing.points import Gathered, student_factor
from theoryck.fitting.approach import Approach
from theoryck.fitting.approach_errors import enlargement_about_approach, scatter_about_approach
from theoryck.fitting.fit import WORTH_SAYING, enlarged_flag
from theoryck.fitting.loss import LossFit, fit_loss_law
from theoryck.fitting.scan import STANDS_OUT
from theoryck.fitting.scatter import NO_STDERR
from theoryck.judging import judge
from theoryck.judging.case import Claimed, decimal_number
from theoryck.judging.curves import grid_of, nodes_of
from theoryck.judging.evidence import with_error
from theoryck.rates import Rate
from theoryck.rates.directions import Axis
from theoryck.records import Contract, Enclosure, Interval, Judgement, Kind, Point, Prediction, Rival, Size, Slope, Toward, Verdict
from theoryck.records.results import Curve

UNKNOWN = "unknown"
LOSS_LAW = "loss-law"
REGULAR = 3.0  # times the scatter about any approach: what about the declared one is no scatter but a curve
BY_CHANCE, LEAST_REST = 1e-4, 4
MEASURED = "no limit is claimed: it is measured, and nothing is judged"
APPROACH = 4  # numbers that describe an approach before its scatter is seen: limit, amplitude, exponent, first correction
LEAST_SCATTERED = APPROACH + 2  # with one degree of freedom 6 of 250 true limits fell, at a declared 1%; with two 1 of 250
LEAST_SLOPES = 4
SETTLING = 0.25  # the least power by which slopes that die out fall; those of 1/log d fall like 1/log d, d**-0.2 at d = 1000
Judged = tuple[Judgement, Prediction, tuple[Point, ...]]


def read_limit(limit: Any, name: str = "limit") -> Enclosure | None:
    """Return a limit that is claimed, a number or a text such as "1/3", as an exact value; None for "unknown".

    >>> read_limit("0.25").midpoint, read_limit("unknown")
    (Decimal('0.25'), None)
    >>> read_limit("none")
    Traceback (most recent call last):
        ...
    ValueError: limit must be a number, a fraction such as 1/3, or 'unknown', got 'none'
    """
    if isinstance(limit, str) and limit.strip().lower() == UNKNOWN:
        return None
    try:
        value = Decimal(limit) if isinstance(limit, int) and not isinstance(limit, bool) else decimal_number(str(limit))
    except ValueError:
        value = Decimal("nan")
    if isinstance(limit, bool) or not value.is_finite():
        raise ValueError(f"{name} must be a number, a fraction such as 1/3, or 'unknown', got {limit!r}")
    return Enclosure(value, Decimal(0))


def judge_limit(gathered: Gathered, template: Prediction, contract: Contract, tail: float, toward: Mapping[str, Toward]) -> Judged:
    """Judge the limit of values of one size; without a value, rate and rivals it is measured, and nothing is judged.

    Without errors the scatter about the approach gives one for all values, as far as the digits written do not.
    """
    points = coarsest_first(gathered.points, toward)
    path = as_path(points, toward)
    if path is None:
        names = " and ".join(points[0].sizes)
        raise ValueError(
            f"a limit is approached along one path, and {names} do not lie on one: choose rows with --where, or take "
            f"kind {LOSS_LAW!r}, a limit and a power of each size"
        )
    prediction = replace(template, base=path.base, path=path.description, toward=path.toward)
    flags: tuple[str, ...] = ()
    if gathered.without_errors and len(points) < LEAST_SCATTERED:
        reason = (
            f"{len(points)} sizes without standard errors cannot show noise beside a limit and its approach: give standard errors "
            f"or replicates, or measure at least {LEAST_SCATTERED} sizes, better 8; for values without noise take kind 'order'"
        )
        return Judgement(Verdict.INCONCLUSIVE, reason, flags=(NO_STDERR,)), prediction, tuple(points)
    if gathered.without_errors:
        points, flags = gathered.rounded(_with_scatter(points, prediction, path.axis(Claimed.of(prediction)), tail)), (NO_STDERR,)
    elif gathered.stated:
        points, flags = _enlarged(points, prediction, path.axis(Claimed.of(prediction)), tail)
    # What is left of a limit is a small difference, whose scatter is judged once more.
    found = judge(prediction, points, contract, drawn=False, noisy=False, stated=gathered.stated)
    if prediction.value is None and prediction.rate is None and not prediction.rivals:
        reason = MEASURED if found.limit is not None else f"{MEASURED}; none was found: {found.reason}"
        routes = tuple(replace(route, verdict=Verdict.INCONCLUSIVE, reason="") for route in found.routes)
        found = replace(found, verdict=Verdict.INCONCLUSIVE, reason=reason, routes=routes, settled=True)
    return replace(found, flags=(*flags, *found.flags)), prediction, tuple(points)


def _enlarged(
    points: Sequence[Point], prediction: Prediction, axis: Axis, tail: float
) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """Return the points with stated errors as large as their scatter about the approach allows, and what has to be said.

    It is that about the declared approach or, where any other makes the values far likelier, growth included, about that: a misfit
    that another approach explains is evidence against the one declared, and no noise.
    """
    estimates = [point.estimate for point in points if point.estimate is not None]
    sizes, values, approach = _approach(points, prediction, axis)
    errors, rest = [estimate.stderr for estimate in estimates], len(set(sizes)) - APPROACH
    found = enlargement_about_approach(sizes, values, errors, approach)
    factor = found.at(tail)
    if approach.log_rates is not None and rest > 0 and factor >= WORTH_SAYING:
        about_any = enlargement_about_approach(sizes, values, errors, approach.of_any_rate, slow=True)
        # Of noise of unknown size the likelihood is the power -(rest + 2)/2 of what is left, and this share has the chance below.
        if about_any.evidence - found.evidence > -0.5 * (rest + 2) * math.log(_by_chance(rest)):
            factor = about_any.at(tail)
    larger = [replace(estimate, stderr=factor * estimate.stderr) for estimate in estimates]
    flags = (enlarged_flag(factor),) if factor >= WORTH_SAYING else ()
    return tuple(replace(point, estimate=estimate) for point, estimate in zip(points, larger, strict=True)), flags


def _by_chance(rest: int) -> float:
    """Return the share of chi2 that an approach of any shape, two more numbers, leaves of noise with probability BY_CHANCE.

    That is ``P**(2/rest)``, by the F distribution of 2 and ``rest`` degrees of freedom.
    """
    return float(BY_CHANCE ** (2 / rest))


def _with_scatter(points: Sequence[Point], prediction: Prediction, axis: Axis, tail: float) -> tuple[Point, ...]:
    """Return the points with the error that their scatter shows, as honest as its degrees of freedom allow.

    It is that about the declared approach or, where that is mostly a curve, about any, growth included: a misfit that another
    approach explains is evidence against the one declared, and no noise.
    """
    sizes, values, approach = _approach(points, prediction, axis)
    error = scatter_about_approach(sizes, values, approach)
    rest = len(set(sizes)) - APPROACH  # degrees of freedom about L + A r(d), and those that the shape of r takes: two or so
    if rest >= LEAST_REST:
        about_any = scatter_about_approach(sizes, values, approach.of_any_rate, slow=True)
        least = max(REGULAR, math.sqrt(rest / (rest + 2) / _by_chance(rest)))
        error = about_any if least * about_any < error else error
    error *= student_factor(len(points) - APPROACH, tail)
    return tuple(replace(p, estimate=replace(p.estimate, stderr=error)) for p in points if p.estimate is not None)


def _approach(points: Sequence[Point], prediction: Prediction, axis: Axis) -> tuple[list[float], list[float], Approach]:
    """Return sizes and values, and what is declared of the approach."""
    rate = None if prediction.rate is None else Rate.parse(prediction.rate)
    sizes = [float(axis.large(point.sizes[prediction.base or ""])) for point in points]
    values = [point.estimate.value for point in points if point.estimate is not None]
    approach = Approach(correction=prediction.correction, amplitude=axis.amplitude(prediction.amplitude))
    along = [point.sizes for point in points]
    if rate is not None:
        approach = replace(approach, log_rates=[rate.log_value(at) for at in along], logs=rate.logs_along(along))
    return sizes, values, approach


def settling(slopes: Sequence[Slope], prediction: Prediction) -> str:
    """Say that values which decay slower than a rate look as if they tended to a limit that is not 0, and what to ask then.

    Of ``L + A d**-p`` the local slopes are ``-p A/L d**-p`` in the end: they fall like a power of the size, those of a power law
    stay and those of a logarithm fall like another.  They are compared over the further half of the sizes, where they are seen.

    >>> sizes = [2.0**k for k in range(6, 14)]
    >>> slopes = [Slope(d, 2 * d, -0.5 * 2.5 * d**-0.5 / (0.35 + 2.5 * d**-0.5), 1e-3) for d in sizes]
    >>> settling(slopes, Prediction(Kind.BOUND, "Q", base="d", rate="d**(-1/2)"))[:48]
    'the local slopes die out, from -0.236 to -0.0366'
    >>> settling([Slope(d, 2 * d, -0.1, 1e-3) for d in sizes], Prediction(Kind.BOUND, "Q", base="d", rate="d**(-1/2)"))
    ''
    """
    seen = [slope for slope in slopes if abs(slope.exponent) > STANDS_OUT * slope.stderr]
    if prediction.base is None or len(seen) < LEAST_SLOPES or len({slope.exponent > 0 for slope in seen}) > 1:
        return ""
    if (seen[0].exponent > 0) is (prediction.toward is Toward.INFINITY):
        return ""  # they grow
    first, last = seen[(len(seen) - 1) // 2], seen[-1]
    far = abs(math.log(float(last.end) / float(first.end)))
    shrink = math.log(abs(first.exponent) / abs(last.exponent))
    if abs(last.exponent) > 0.5 * abs(seen[0].exponent) or shrink < SETTLING * far:
        return ""
    return (
        f"the local slopes die out, from {seen[0].exponent:.3g} to {slopes[-1].exponent:.3g}, as where values tend to a limit that "
        "is not 0: how fast they approach it is asked with --limit unknown (limit='unknown'), or with its value"
    )


def judge_loss_law(gathered: Gathered, template: Prediction, contract: Contract) -> Judged:
    """Fit ``E + sum A_i/x_i**a_i`` to all points, and judge E if it is claimed or has rivals."""
    points = gathered.points
    columns = {name: [float(point.sizes[name]) for point in points] for name in points[0].sizes}
    values = [point.estimate.value for point in points if point.estimate is not None]
    errors = None if gathered.without_errors else [point.estimate.stderr for point in points if point.estimate is not None]

    def fit(level: float) -> LossFit:
        return fit_loss_law(columns, values, errors, level=level)

    flags = (NO_STDERR,) if gathered.without_errors else ()
    found = fit(contract.level)
    law = " + ".join(["E", *(f"{size} {name}^-a" for size, name in zip("ABCDFG", columns))])
    if found.reason:
        reason = f"the law {law} cannot be fitted: {found.reason}"
        curves = _law_curves(found, points, template, contract)
        return Judgement(Verdict.INCONCLUSIVE, reason, flags=(*flags, *found.flags), curves=curves), template, points
    if gathered.without_errors:  # what the scatter about the law shows
        points = tuple(
            replace(point, estimate=replace(point.estimate, stderr=found.noise * abs(point.estimate.value)))
            for point in points
            if point.estimate is not None
        )
    wide, narrow = fit(1 - contract.false_refute_rate).limit, fit(1 - 2 * contract.false_support_rate).limit
    rivals = tuple(Rival(text, not wide.contains(float(decimal_number(text)))) for text in template.rivals)
    shown = _shown(found, law)
    verdict, reason = Verdict.INCONCLUSIVE, f"{MEASURED}; {shown}"
    if template.value is not None:
        claimed = float(template.value)
        tolerance = _tolerance(claimed, contract)
        gap, half = found.limit.estimate - claimed, found.limit.half_width
        verdict = Verdict.REFUTED if wide.low > claimed + tolerance or wide.high < claimed - tolerance else Verdict.INCONCLUSIVE
        if claimed - tolerance <= narrow.low and narrow.high <= claimed + tolerance and found.limit.contains(claimed):
            verdict = Verdict.SUPPORTED
        relation = {Verdict.SUPPORTED: "within", Verdict.REFUTED: "outside"}.get(verdict, "not told from")
        reason = f"E minus the claimed {claimed:.6g} is {with_error(gap, half)}, {relation} the tolerance {tolerance:.2g}; {shown}"
    elif rivals:
        verdict = Verdict.SUPPORTED if all(rival.rejected for rival in rivals) else Verdict.INCONCLUSIVE
        kept = [rival.rate for rival in rivals if not rival.rejected]
        reason = f"E {f'is not told from {kept[0]}' if kept else 'differs from every rival'}; {shown}"
    judgement = Judgement(
        verdict,
        reason,
        limit=found.limit,
        exponents=dict(found.exponents),
        rivals=rivals,
        flags=(*flags, *found.flags),
        assuming=f"assuming the law {law}, without corrections",
        curves=_law_curves(found, points, template, contract),
    )
    return judgement, template, points


def _law_curves(found: LossFit, points: Sequence[Point], template: Prediction, contract: Contract) -> tuple[Curve, ...]:
    """Return the law along every line of the table on which one size moves, the one of the fewest lines; E is their limit."""

    def others(point: Point, base: str) -> tuple[tuple[str, Size], ...]:
        return tuple((name, size) for name, size in point.sizes.items() if name != base)

    base = min(points[0].sizes, key=lambda name: len({others(point, name) for point in points}))
    claimed = 0.0 if template.value is None else float(template.value)
    tolerance = None if template.value is None else _tolerance(claimed, contract)
    ends = (found.limit.estimate - claimed, found.limit.low - claimed, found.limit.high - claimed)
    curves = []
    for fixed in dict.fromkeys(others(point, base) for point in points):
        line = sorted((point for point in points if others(point, base) == fixed), key=lambda point: point.sizes[base])
        sizes = tuple(dict.fromkeys(point.sizes[base] for point in line))
        curve = Curve("montecarlo", base, sizes, 0, tolerance=tolerance, fixed=dict(fixed), reason=found.reason)
        if not found.reason:
            curve = replace(curve, limit=Interval(*ends, found.limit.level), **_law_columns(found, curve, line, claimed))
        curves.append(curve)
    return tuple(sorted(curves, key=lambda curve: -len(curve.sizes)))  # the line that shows the most is the first


def _law_columns(found: LossFit, curve: Curve, line: Sequence[Point], claimed: float) -> dict[str, Any]:
    """Return the columns of a law along a line: it is fitted to the whole table, so that no band belongs to one line."""

    def law(size: float) -> float:
        at = {**curve.fixed, curve.base: size}
        return found.limit.estimate + sum(found.amplitudes[name] * at[name] ** found.exponents[name].estimate for name in at)

    grid = grid_of(curve.sizes, linear=False)
    centre = np.array([law(size) for size in grid.tolist()]) - claimed
    kept = nodes_of(grid, curve, centre, np.zeros(len(grid)), 0.0)
    known = [(p.estimate.value, p.estimate.stderr, law(p.sizes[curve.base])) for p in line if p.estimate is not None]
    left = tuple(float(f"{(value - fit) / error:.6g}") if error else None for value, error, fit in known)
    columns = {"nodes": grid[kept], "centre": centre[kept], "spread": np.zeros(len(kept))}
    return {name: tuple(column.tolist()) for name, column in columns.items()} | {"residuals": {"montecarlo": left}}


def _tolerance(claimed: float, contract: Contract) -> float:
    return contract.within * abs(claimed) or contract.within


def _shown(found: LossFit, law: str) -> str:
    terms = ", ".join(f"{name}^({_written(interval)})" for name, interval in found.exponents.items())
    amplitudes = ", ".join(f"{amplitude:.4g}" for amplitude in found.amplitudes.values())
    return f"{law} has E = {_written(found.limit)}, powers {terms}, amplitudes {amplitudes}"


def _written(interval: Interval) -> str:
    """Write an interval by its half-width where it is nearly symmetric, else by its ends."""
    below, above = interval.estimate - interval.low, interval.high - interval.estimate
    if max(below, above) <= 1.25 * min(below, above):
        return with_error(interval.estimate, interval.half_width)
    return f"{interval.estimate:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def limit_template(
    name: str, limit: Any, rate: str | None, rivals: Sequence[str], correction: float | None, amplitude: float | None
) -> Prediction:
    """Return what is claimed of a limit; ValueError for a limit or a rival that is no number."""
    if isinstance(rivals, str):
        raise ValueError(f"rivals must be a sequence of numbers, got the text {rivals!r}: write [{rivals!r}]")
    for rival in rivals:
        if read_limit(rival, "a rival of a limit") is None:
            raise ValueError(f"a rival of a limit must be a number, got {rival!r}")
    value, texts = read_limit(limit), tuple(str(rival) for rival in rivals)
    return Prediction(
        Kind.LIMIT, name, rate=rate, value=value, rivals=texts, correction=correction, amplitude=amplitude, parameters={}
    )


def limit_statement(template: Prediction, law: bool) -> str:
    """Return the claim in words."""
    value = "unknown" if template.value is None else f"{template.value.midpoint:f}"
    if law:
        return f"{template.quantity} = E + a power of each size, with E = {value}"
    tends = f"{template.quantity} -> {'L, unknown' if template.value is None else value}"
    return tends if template.rate is None else f"{tends}, with a difference O({template.rate})"
