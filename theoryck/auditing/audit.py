"""audit: measured sizes, values and error bars against a claimed rate; without a rate the exponent is measured and nothing judged.

The false-refute rate is declared before the data are looked at and shared equally by the paths that are judged: one, or the lines
of a grid.  Support needs every path, so its error rate is not divided.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theoryck.auditing.columns import measurements, over
from theoryck.auditing.declared import check_constant, check_contract, check_corrections, check_floor, default_within
from theoryck.auditing.directions import (
    Direction,
    as_path,
    check_levels,
    coarsest_first,
    declared_headings,
    fit_grid,
    headings,
    local_slopes,
    slices,
)
from theoryck.auditing.floors import Floors, on_floor
from theoryck.auditing.grids import enlarged_together, term_by_term
from theoryck.auditing.limits import (
    LOSS_LAW,
    UNKNOWN,
    judge_limit,
    judge_loss_law,
    limit_statement,
    limit_template,
    settling,
)
from theoryck.auditing.orders import (
    ORDER,
    ORDER_AMPLITUDE,
    ORDER_CORRECTION,
    beside,
    check_rival_orders,
    names_in,
    order_rate,
    without_noise,
)
from theoryck.auditing.points import Gathered, digits_flags, gather, grouped, place, reduced, same_scatter, with_scatter
from theoryck.auditing.tables import Measurements
from theoryck.fitting.scatter import NO_STDERR
from theoryck.judging import judge, rival_problem
from theoryck.judging.case import Claimed
from theoryck.judging.decisions import shifted
from theoryck.judging.evidence import between, with_error
from theoryck.judging.growth import EXCESS, EXTRAPOLATED
from theoryck.montecarlo import MEAN, Statistic
from theoryck.rates import PathError, Rate, RateError, ScalingPath
from theoryck.rates.parsing import to_fraction
from theoryck.rates.unknown import Unknown
from theoryck.records import Contract, Judgement, Kind, Point, Prediction, Result, Rival, Slope, Status, Tightness, Toward, Verdict

NO_RATE = "no rate was given: the exponent is measured and nothing is judged"


def audit(
    sizes: Any,
    values: Any = None,
    stderr: Any = None,
    rate: str | Rate | None = None,
    kind: str = "bound",
    correction: float | str | None = None,
    *,
    amplitude: float | None = None,
    constant: float | None = None,
    rivals: Sequence[str] = (),
    size: Sequence[str] = (),
    toward: Any = None,
    against: Any = None,
    against_stderr: Any = 0.0,
    within: float | None = None,
    level: float = 0.95,
    false_refute_rate: float = 1e-2,
    false_support_rate: float = 0.025,
    digits: int | str | None = None,
    floor: float | None = None,
    replicate: Sequence[str] = (),
    statistic: str = "mean",
    limit: Any = None,
    name: str = "data",
) -> Result:
    """Return the verdict of measured data on ``|value| <= C * rate`` (or, for a scaling, ``value ~ C * rate``).

    Arguments:

    * ``sizes``: the columns of sizes by name, such as ``{"d": [16, 32, 64]}``; or a DataFrame, or a mapping with all columns;
    * ``values`` (rows,): what was measured; in a DataFrame the name of its column, "value" by default;
    * ``stderr`` (rows,): its standard errors, 0 is exact, one number is that of all rows; or the name of a column, "stderr" by
      default if there is one;
    * ``rate``: a text such as "1/sqrt(d)" in the sizes; without one the exponent is measured and nothing is judged, and so it is
      where it is unknown, as alpha in "n**(-alpha)*log(n)";
    * ``kind``: "bound" (the default), "scaling", from both sides, or "order" (of a method without noise: a scaling
      with corrections of whole powers, or of even ones with ``correction=2``, as large at the coarsest size as the leading term);
    * ``correction``, ``amplitude``: the relative power of the next term (0.05 to 16, or a text such as "1/2") and its size (up
      to 1000), if they are known;
    * ``constant``: C, if it is claimed; ``rivals``: rates that the data must exclude; ``size``: the sizes besides those of the
      rate;
    * ``toward``: where the sizes go, 0 or inf, or a mapping such as ``{"h": 0}``; by default where their names or the rate show
      it: h, dx, dt, eps and the like to 0, whole numbers to infinity, others where the rate decreases, else it is asked;
    * ``against``: values (or the name of their column) in the same rows, with ``against_stderr``, 0 by default: what is judged is
      the quotient of the two, by default against the rate 1, whether the values decay as fast as those;
    * ``digits``: to how many significant digits the values were rounded, by default those of a float; ``floor``: a rounding, or
      the tolerance of a solver, which no value is known better than; ``replicate``: columns that number repetitions;
    * ``statistic``: what is made of rows of equal sizes, measurements of one law without stderr, if not their mean: "median",
      "quantile(0.9)", "variance", "std" or "probability" (of rows that are 0 or 1);
    * ``within`` = 0.05, for an order 0.25 (up to 1), ``level`` = 0.95, ``false_refute_rate`` = 0.01, ``false_support_rate`` =
      0.025 (1e-12 to 0.5): what is declared before the data are looked at;
    * ``limit``: the limit of the values, a number or "unknown" (then it is measured, with the exponent and the constant of the
      approach); ``rate`` is then that of the difference and ``rivals`` are other limits.  ``kind="loss-law"`` fits
      ``E + A/N**a + B/D**b``, a term for each size, to scattered points; ``limit`` is then E;
    * ``name``: what the data are called in reports.

    One row a size with its stderr; rows of equal sizes with stderr are independent measurements; rows of equal sizes without
    are replicates, whose scatter gives the error; one row a size without stderr takes it from the residual scatter about the
    fit.  Several sizes may lie on one path (n = 2 d) or on a grid, whose lines are then all judged.  Rows that were written k
    times are read once, and rows of one size that are all equal are one row, not an exact value.

    A bound without ``constant`` is ``|value| = O(rate)``: it says how fast the size of the values may grow, whatever their
    sign; values that oscillate, each beyond its error, are judged by their absolute values, and values that cross 0 once are
    left open.  With ``constant`` it is ``value <= constant * rate`` at every size, with the sign: negative values satisfy it.  The
    constant of the result is the value over the rate at the largest size, also where the values decay faster than the rate
    (LOOSE).

    Raises TableError, naming row and column, for data that cannot be used, and ValueError for a rate or an argument that
    cannot.


    >>> sizes = [16, 32, 64, 128, 256, 512]
    >>> found = audit({"d": sizes}, [3 / d for d in sizes], [0.003 / d for d in sizes], rate="d**(-1/2)", correction=1)
    >>> found.verdict.value, found.tightness.value, round(found.slack.estimate, 2)
    ('SUPPORTED', 'LOOSE', 0.5)
    >>> print(found.reason)
    on d = 16..512: relative to the rate d**(-1/2) it grows like d^(-0.5000 +/- 0.0036); its upper limit at error rate
    0.025, -0.496, is at most the tolerated 0.05
    >>> wrong = audit({"d": sizes}, [3 / d for d in sizes], [0.003 / d for d in sizes], rate="d**(-2)", rivals=["d**(-3)"])
    >>> wrong.verdict.value, round(wrong.exponent.estimate, 2)
    ('REFUTED', -1.0)
    >>> measured = audit({"d": sizes}, [3 / d for d in sizes])  # no rate: the exponent is measured, nothing is judged
    >>> measured.verdict.value, round(measured.exponent.estimate, 3)
    ('INCONCLUSIVE', -1.0)
    >>> audit({"d": sizes}, [3, 2, 1], rate="1/d")
    Traceback (most recent call last):
        ...
    theoryck.auditing.cells.TableError: sizes['d'] has 6 entries and values 3: give one of each for every row
    """
    within = default_within(kind) if within is None else within
    correction = float(to_fraction(correction, "correction")) if isinstance(correction, str) else correction
    check_contract(false_refute_rate, false_support_rate, within, level)
    text = None if rate is None else str(rate.text or rate) if isinstance(rate, Rate) else rate
    text = "1" if text is None and against is not None else text
    columns = getattr(sizes, "columns", sizes if isinstance(sizes, Mapping) else ())
    needed = names_in(text, kind, [str(each) for each in columns])
    measured = measurements(sizes, values, stderr, size=size, needed=needed, digits=digits, replicate=replicate)
    if against is not None:
        names = list(measured.sizes)
        measured = over(measured, measurements(sizes, against, against_stderr, size=names, digits=digits, replicate=replicate))
    return audit_rows(
        measured,
        text,
        kind,
        correction=correction,
        amplitude=amplitude,
        constant=constant,
        rivals=rivals,
        toward=toward,
        contract=Contract(false_refute_rate, false_support_rate, within, level),
        floor=floor,
        statistic=statistic,
        limit=limit,
        name=name,
    )


def audit_rows(
    measured: Measurements,
    rate: str | None = None,
    kind: str = "bound",
    *,
    correction: float | None = None,
    amplitude: float | None = None,
    constant: float | None = None,
    rivals: Sequence[str] = (),
    toward: Any = None,
    contract: Contract | None = None,
    floor: float | None = None,
    statistic: str = "mean",
    limit: Any = None,
    name: str = "data",
) -> Result:
    """Return the verdict on rows that have been read and checked already; arguments are those of :func:`audit`.

        Raises TableError and ValueError as that does.

        >>> from theoryck.auditing.columns import measurements
    >>> rows = measurements({"d": [16, 32, 64, 128]}, [1.0, 0.5, 0.25, 0.125], 0.0)
        >>> found = audit_rows(rows, "1/d", correction=1, rivals=["d**(-3/2)"])
        >>> found.verdict.value, found.rivals[0].rejected
        ('SUPPORTED', True)
    """
    start = time.perf_counter()
    contract = contract or Contract(1e-2, within=default_within(kind))
    check_contract(contract.false_refute_rate, contract.false_support_rate, contract.within, contract.level)
    check_corrections(correction, amplitude)
    check_floor(floor)
    if limit is not None and rate is not None and Unknown.of(rate) is not None:
        rate = None  # the exponent of an approach is measured where no rate is claimed
    asked = _asked(rate, measured, constant, rivals) if limit is None else None
    if asked is not None:
        known = audit_rows(
            measured,
            beside(asked, kind),
            kind if kind == ORDER else Kind.SCALING,
            correction=correction,
            amplitude=amplitude,
            toward=toward,
            contract=contract,
            floor=floor,
            name=name,
            statistic=statistic,
        )
        return _solved(known, asked, str(rate), measured.value_name)
    groups, reduction = grouped(measured), Statistic.parse(statistic)
    moving = {name: [sizes[name] for sizes, _ in groups] for name in measured.sizes}
    law = kind == LOSS_LAW
    if law or limit is not None:
        _check_limit(kind, rate, constant, floor)
        limit = UNKNOWN if limit is None else limit
    if kind == ORDER:
        if reduction != MEAN:
            raise ValueError(f"an order is that of values without noise: leave statistic = {statistic!r} out, or judge a scaling")
        measured = without_noise(measured)
        correction = ORDER_CORRECTION if correction is None else correction
        amplitude = ORDER_AMPLITUDE if amplitude is None else amplitude
        if not isinstance(rivals, str) and limit is None:
            check_rival_orders(rate, rivals)
            rivals = tuple(str(order_rate(rival, moving, toward)) for rival in rivals)
        rate = order_rate(rate, moving, toward)
    if limit is not None:
        template = limit_template(measured.value_name, limit, rate, rivals, correction, amplitude)
        if rate is not None:
            Rate.parse(rate).require(measured.sizes)
    else:
        template = _template(measured, rate, Kind.SCALING if kind == ORDER else kind, correction, amplitude, constant, rivals)
    template = replace(template, statistic=str(reduction))
    check_levels(moving, Claimed.of(template).rate)
    # A term of a loss law falls with its size, whatever the size is called.
    declared = dict.fromkeys(moving, Toward.INFINITY) if law else declared_headings(toward, list(moving))
    heading, said = headings(moving, Claimed.of(template).rate, declared)
    path, lines = _lines([Point(sizes) for sizes, _ in groups], heading)
    tests = 1 if path is not None else len(lines) + len(measured.sizes)
    # The smallest error rate at which any limit will be taken, one-sided.
    tail = min(contract.false_refute_rate / tests / 2, contract.false_support_rate, 0.5 - contract.level / 2)
    gathered = gather(measured, groups, tail) if reduction == MEAN else reduced(measured, groups, reduction)
    noted = (*said, *gathered.flags, *digits_flags(measured))
    if law:
        judgement, prediction, points = judge_loss_law(gathered, template, contract)
    elif limit is not None:
        judgement, prediction, points = judge_limit(gathered, template, contract, tail, heading)
    else:
        floors = Floors.of(measured, gathered, template, heading, floor, ordered=kind == ORDER)
        judgement, prediction, points = _judged(gathered, template, contract, tail, heading, floors)
        judgement, noted = floors.weighed(judgement), (*noted, *floors.flags)
    # What is left of an unknown limit has no slope.
    slopes = () if limit is not None else _slopes(points, prediction)
    if judgement.verdict is Verdict.REFUTED and (settles := settling(slopes, prediction)):
        judgement = replace(judgement, reason=f"{judgement.reason}; {settles}")
    flags = tuple(dict.fromkeys((*noted, *judgement.flags)))
    if rate is None and limit is None:  # these flags are about growth beyond a claim
        flags = tuple(flag for flag in flags if flag not in (EXCESS, EXTRAPOLATED))
    judgement = replace(judgement, flags=flags)
    return Result(
        claim=f"audit/{name}",
        status=Status.CONJECTURE,
        instance={},
        judgement=judgement,
        prediction=prediction,
        points=points,
        contract=contract,
        false_refute_rate=contract.false_refute_rate,
        draws=len(measured),
        seconds=time.perf_counter() - start,
        seed=0,
        given=True,
        slopes=slopes,
        statement=_statement(template, rate) if limit is None else limit_statement(template, law),
    )


def _slopes(points: Sequence[Point], prediction: Prediction) -> tuple[Slope, ...]:
    """Return the exponents from size to size, as far as their errors are known."""
    found = local_slopes(points, Claimed.of(prediction).rate)
    return tuple(slope for slope in found if slope is not None and math.isfinite(slope.stderr))


def _asked(rate: str | None, measured: Measurements, constant: float | None, rivals: Sequence[str]) -> Unknown | None:
    """Return what is unknown in the rate; ValueError where that cannot be measured, or is claimed to have a constant or rivals."""
    asked = None if rate is None else Unknown.of(rate)
    if asked is None:
        return None
    for argument, given in (("constant", constant), ("rivals", tuple(rivals) or None)):
        if given is not None:
            raise ValueError(f"{argument} = {given!r} needs a rate that is known: {asked.name} of {rate!r} is measured")
    if list(measured.sizes) != [asked.size]:
        sizes = ", ".join(measured.sizes)
        raise RateError(f"rate {rate!r}: {asked.name} is measured along {asked.size!r} alone, and the sizes are {sizes}")
    return asked


def _solved(found: Result, asked: Unknown, rate: str, value_name: str) -> Result:
    """Return the audit of what is known in a rate as a measurement of what is not; nothing is judged."""
    judgement, relative = found.judgement, found.exponent
    reason = f"no exponent was found: {found.reason}"
    if relative is not None:
        value = asked.solved(shifted(relative, -(judgement.claimed_exponent or 0.0)))
        shown = f"{with_error(value.estimate, value.half_width)} at level {100 * value.level:g}%"
        reason = f"{asked.name} = {shown}, in {between(value)}: it is measured, and nothing is judged"
    routes = tuple(replace(route, verdict=Verdict.INCONCLUSIVE, reason="") for route in judgement.routes)
    flags = tuple(flag for flag in judgement.flags if flag not in (EXCESS, EXTRAPOLATED))
    judgement = replace(judgement, verdict=Verdict.INCONCLUSIVE, reason=reason, routes=routes, flags=flags, settled=True)
    judgement = replace(judgement, claimed_exponent=None, constant=None, slack=None, tightness=None)
    prediction = found.prediction and replace(found.prediction, rate=None, exponent=None)
    return replace(found, judgement=judgement, prediction=prediction, statement=f"{value_name} ~ C * {rate}")


def _check_limit(kind: str, rate: str | None, constant: float | None, floor: float | None) -> None:
    """Raise ValueError for what a limit or a loss law does not have."""
    if kind not in (Kind.BOUND, ORDER, LOSS_LAW):
        raise ValueError(f"a limit has no kind {kind!r}: leave it out, or take 'order' where values have no noise")
    for argument, given in (("constant", constant), ("floor", floor), ("rate", rate if kind == LOSS_LAW else None)):
        if given is not None:
            what = "a loss law" if kind == LOSS_LAW else "a limit"
            raise ValueError(
                f"{argument} = {given!r} is no part of {what}, whose constants and exponents are measured: leave it out"
            )


def _template(
    measured: Measurements,
    rate: str | None,
    kind: str,
    correction: float | None,
    amplitude: float | None,
    constant: float | None,
    rivals: Sequence[str],
) -> Prediction:
    """Return what is claimed, but for the path: base, path and exponent depend on the direction that is judged."""
    if kind not in (Kind.BOUND, Kind.SCALING):
        raise ValueError(f"kind must be 'bound', 'scaling' or 'order', got {kind!r}")
    for argument, given in (("constant", constant), ("rivals", tuple(rivals) or None)):
        if rate is None and given is not None:
            raise ValueError(f"{argument} = {given!r} needs a rate: without one nothing is judged")
    check_constant(constant)
    if isinstance(rivals, str):
        raise ValueError(f"rivals must be a sequence of rates, got the text {rivals!r}: write [{rivals!r}]")
    if rate is not None:
        parsed = Rate.parse(rate)
        parsed.require(measured.sizes)
    return Prediction(
        Kind(kind),
        measured.value_name,
        rate=rate,
        constant=constant,
        rivals=tuple(rivals),
        correction=correction,
        amplitude=amplitude,
    )


def _statement(template: Prediction, rate: str | None) -> str:
    if rate is None:
        return ""
    if template.statistic != "mean":
        template = replace(template, quantity=f"{template.statistic} of {template.quantity}")
    if template.constant is not None:
        return f"{template.quantity} {'<=' if template.kind is Kind.BOUND else '~'} {template.constant:g} * ({rate})"
    if template.kind is Kind.BOUND:
        return f"{template.quantity} = O({rate})"
    return f"{template.quantity} ~ C * {f'({rate})' if len(Rate.parse(rate).terms) > 1 else rate}"


def _judged(
    gathered: Gathered,
    template: Prediction,
    contract: Contract,
    tail: float,
    toward: Mapping[str, Toward],
    floors: Floors,
) -> tuple[Judgement, Prediction, tuple[Point, ...]]:
    """Return the judgement, what was judged, and the points with the errors they were judged with."""
    points = coarsest_first(gathered.points, toward)
    by_size = template.constant is not None and template.kind is Kind.BOUND
    path, lines = _lines(points, toward)
    _check_signs(template, lines)
    if not lines and not (by_size and not gathered.without_errors):
        return Judgement(Verdict.INCONCLUSIVE, _no_lines(points, template)), _measured(template), points
    if gathered.without_errors:
        # An exponent that is only measured is shown at its level, and no other limit is taken.
        rate = tail if template.rate is not None else 0.5 - contract.level / 2
        above = floors.above(points)
        found, reason = with_scatter(above, _lines(above, toward)[1], template, rate)
        if reason:
            shown = reason if template.rate is not None else f"{NO_RATE}; no exponent was found: {reason}"
            return Judgement(Verdict.INCONCLUSIVE, shown, flags=(NO_STDERR,)), _measured(template), points
        points = gathered.rounded(same_scatter(points, found))
    points = on_floor(points, floors.height)
    path, lines = _lines(points, toward)
    stated = gathered.stated
    flags: tuple[str, ...] = (NO_STDERR,) if gathered.without_errors else ()
    if path is None and stated and not by_size:
        points, flags = enlarged_together(points, lines, template, tail)
        stated, lines = False, _lines(points, toward)[1]
    if path is not None:
        judgement, prediction = _along(path, template, contract, stated, noisy=not floors.ordered)
    elif by_size:
        judgement, prediction = _size_by_size(points, lines, template, contract, toward, stated)
    else:
        judgement, prediction = _on_grid(points, lines, template, contract, toward)
        judgement = term_by_term(judgement, points, Claimed.of(template).rate)
    return replace(judgement, flags=(*flags, *judgement.flags)), prediction, points


def _no_lines(points: Sequence[Point], template: Prediction) -> str:
    """Say what to do about points of which no three lie on a line.

    They are not judged along the sizes of the rate alone: whether the values depend on the others, only their owner knows.
    """
    reason = "the sizes lie neither on one path nor on a grid: measure at least 3 sizes along a line on which the others are fixed"
    rate = Claimed.of(template).rate
    needed = rate.names if rate is not None else ()
    moving = [name for name in points[0].sizes if len({point.sizes[name] for point in points}) > 1]
    idle = [name for name in moving if name not in needed]
    if not needed or not idle:
        return reason
    are, them = ("are", "them") if len(idle) > 1 else ("is", "it")
    return f"{reason}; or, as {' and '.join(idle)} {are} not in the rate, leave {them} out if the values do not depend on {them}"


def _lines(points: Sequence[Point], toward: Mapping[str, Toward]) -> tuple[Direction | None, list[Direction]]:
    """Return the path on which all points lie, if there is one, and the lines along which an exponent can be measured."""
    path = as_path(points, toward)
    return path, [path] if path is not None else slices(points, toward)


def _measured(template: Prediction) -> Prediction:
    """Return what was claimed; without a rate, a power whose exponent is not claimed."""
    return template if template.rate is not None else replace(template, kind=Kind.SCALING)


# -- one path ------------------------------------------------------------------------------------------------------------------


def _along(
    direction: Direction, template: Prediction, contract: Contract, stated: bool, noisy: bool = True
) -> tuple[Judgement, Prediction]:
    points = direction.points
    prediction = _prediction(direction, template)
    if template.rate is not None:
        found = judge(prediction, points, contract, drawn=False, noisy=noisy, stated=stated)
        # The rivals of a scaling are judged as exponents, and shown as they were written.
        rivals = tuple(Rival(text, rival.rejected) for text, rival in zip(template.rivals, found.rivals))
        written = dict(zip(prediction.rivals, template.rivals))
        curves = tuple(
            replace(curve, fixed=direction.fixed, rivals={written[name]: logs for name, logs in curve.rivals.items()})
            for curve in found.curves
        )
        return replace(found, rivals=rivals, curves=curves), prediction
    found = judge(prediction, points, contract, drawn=False, noisy=noisy, stated=stated)
    found = replace(found, curves=tuple(replace(curve, fixed=direction.fixed) for curve in found.curves))
    trouble = "" if found.exponent is not None else f"; no exponent was found: {found.reason}"
    routes = tuple(replace(route, verdict=Verdict.INCONCLUSIVE, reason="") for route in found.routes)
    reason = f"{NO_RATE}{trouble}"
    found = replace(found, verdict=Verdict.INCONCLUSIVE, reason=reason, claimed_exponent=None, constant=None, routes=routes)
    return replace(found, settled=True), replace(prediction, exponent=None)


def _prediction(direction: Direction, template: Prediction) -> Prediction:
    """Return the claim along one direction; without a rate, the exponent is measured against the exponent 0."""
    along = replace(template, base=direction.base, path=direction.description, toward=direction.toward)
    if template.rate is None:
        return replace(along, kind=Kind.SCALING, exponent=0.0)
    if template.kind is Kind.BOUND:
        return along
    rate = Claimed.of(template).rate
    assert rate is not None
    if rate.exact_power is None or any(_written_rate(rival, direction).exact_power is None for rival in template.rivals):
        return replace(along, rivals=tuple(_written_rate(rival, direction).text for rival in template.rivals))
    exponent = _exponent(rate, direction)
    rivals = tuple(str(_rival_exponent(rival, direction)) for rival in template.rivals)
    constant = None if template.constant is None else template.constant * _base_ratio(direction, rate, exponent)
    return replace(along, exponent=float(exponent), rivals=rivals, constant=constant)


def _exponent(rate: Rate, direction: Direction) -> Fraction:
    """Return the exponent in the base of the direction, by which every size follows a power of the base."""
    sizes = {point.sizes[direction.base] for point in direction.points}
    if len(sizes) == 1:  # nothing moves; the judge will say so
        return sum((power for name, power in rate.terms[0].powers if name == direction.base), Fraction(0))
    try:
        return rate.exponent(ScalingPath.from_description(direction.description, direction.toward))
    except PathError as error:
        raise RateError(f"rate {rate.text!r} is no power of {direction.base} on these sizes: {error}") from None


def _written_rate(rival: str, direction: Direction) -> Rate:
    """Return the rival of a scaling as a rate; a number is an exponent of the base."""
    try:
        to_fraction(rival, "a rival")
    except RateError:
        return Rate.parse(rival)
    return Rate.parse(f"{direction.base}**({rival})")


def _check_signs(template: Prediction, lines: Sequence[Direction]) -> None:
    """Raise RateError for a rival of a scaling, an exponent, whose sign is opposite to that of the claim along every line.

    Whatever the data, it would be rejected: a success that is empty, of a sign that was forgotten.
    """
    rate = Claimed.of(template).rate
    if template.kind is not Kind.SCALING or rate is None or rate.exact_power is None or not lines:
        return
    claimed = [_exponent(rate, line) for line in lines]
    for rival in template.rivals:
        try:
            exponent = to_fraction(rival, "a rival")
        except RateError:
            continue
        if all(exponent * each < 0 for each in claimed):
            of, meant = lines[0].base, f"{'-' if exponent > 0 else ''}{rival.strip().lstrip('+-')}"
            raise RateError(
                f"the rival {rival!r} is the exponent {rival} of {of}, of the opposite sign to the claimed {float(claimed[0]):g}; "
                f"any data would reject it: write {meant} or, as a rate, {of}**({meant})"
            )


def _rival_exponent(rival: str, direction: Direction) -> Fraction:
    try:
        return to_fraction(rival, "a rival")
    except (ValueError, RateError):
        return _exponent(Rate.parse(rival), direction)


def _base_ratio(direction: Direction, rate: Rate, exponent: Fraction) -> float:
    """Return the rate in units of base**exponent, at the size nearest to the limit."""
    sizes = direction.points[-1].sizes
    # On logarithms: d**(-300) is no float, the quotient of two such powers is.
    return math.exp(rate.log_value(sizes) - float(exponent) * math.log(sizes[direction.base]))


def _size_by_size(
    points: Sequence[Point],
    lines: Sequence[Direction],
    template: Prediction,
    contract: Contract,
    toward: Mapping[str, Toward],
    stated: bool,
) -> tuple[Judgement, Prediction]:
    """Judge a bound of numbers at every point of a grid; what grows along no path has no exponent, its lines have curves."""
    base = next(name for name in points[0].sizes if len({point.sizes[name] for point in points}) > 1)
    prediction = replace(template, base=base, toward=toward[base])
    found = judge(prediction, points, contract, drawn=False)  # values of several lines do not scatter about one curve
    routes = tuple(replace(route, exponent=None) for route in found.routes)
    ordered = sorted(lines, key=lambda line: line.base != base)
    curves = tuple(curve for line in ordered for curve in _along(line, template, contract, stated)[0].curves)
    found = replace(found, routes=routes, flags=(), assuming="", tightness=None, constant=None, curves=curves)
    return replace(found, exponent=None, claimed_exponent=None, slack=None), prediction


# -- a grid --------------------------------------------------------------------------------------------------------------------


def _on_grid(
    points: Sequence[Point],
    lines: Sequence[Direction],
    template: Prediction,
    contract: Contract,
    toward: Mapping[str, Toward],
) -> tuple[Judgement, Prediction]:
    """Judge every line and the joint fit at their shares of the false-refute rate: one that falls refutes, all lines support."""
    tests = len(lines) + len(points[0].sizes)
    shared = replace(contract, false_refute_rate=contract.false_refute_rate / tests)
    joint = fit_grid(points, template, contract, tests, toward)
    judged = []
    for line in lines:
        own = replace(template, rivals=tuple(r for r in template.rivals if not _no_rival(r, line, template)))
        judged.append((line, *_along(line, own, shared, stated=False)))
    hopeless = [r for r in template.rivals if all(_no_rival(r, line, template) for line in lines)]
    if hopeless:
        reason = f"the rival {hopeless[0]!r} could be rejected on no line of the grid: the check could not fail, give another rival"
        rivals = tuple(Rival(text, False) for text in template.rivals)
        return Judgement(Verdict.VACUOUS, reason, rivals=rivals, flags=("rival-cannot-be-rejected",)), template
    line, worst, prediction = min(judged, key=lambda case: _rank(case[1]))
    rejected = {rival.rate for _, found, _ in judged for rival in found.rivals if rival.rejected}
    counts = Counter(found.verdict for _, found, _ in judged)
    listed = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    where = f"{line.base} at {place(line.fixed)}"
    reason = f"{len(lines)} lines of the grid: {listed}; the worst is along {where}: {worst.reason}"
    if template.rate is None:
        reason = f"{NO_RATE}; of {len(lines)} lines of the grid the one along {where} is shown"
    tight = {found.tightness for _, found, _ in judged}
    # The line that decided comes first, then those along its base.
    ordered = sorted(judged, key=lambda case: (case[0] is not line, case[0].base != line.base))
    judgement = replace(
        worst,
        reason=reason,
        curves=tuple(curve for _, found, _ in ordered for curve in found.curves),
        tightness=None if worst.tightness is None else worst.tightness if len(tight) == 1 else Tightness.UNDETERMINED,
        rivals=tuple(Rival(text, text in rejected) for text in template.rivals),
        flags=tuple(dict.fromkeys(flag for _, found, _ in judged for flag in found.flags)),
        settled=all(found.settled for _, found, _ in judged) or worst.verdict is Verdict.REFUTED,
        exponents={} if joint is None else joint.exponents,
    )
    if joint is not None and joint.falls and judgement.verdict is not Verdict.REFUTED:
        reason = f"{joint.reason}; {reason}"
        judgement = replace(judgement, verdict=Verdict.REFUTED, tightness=None, reason=reason, settled=True)
    return judgement, replace(prediction, rivals=template.rivals)


def _no_rival(rival: str, line: Direction, template: Prediction) -> bool:
    """Whether nothing on this line could reject the rival."""
    return bool(rival_problem(_prediction(line, replace(template, rivals=(rival,))), [Point(point.sizes) for point in line.points]))


def _rank(judgement: Judgement) -> tuple[int, float]:
    """Return a sort key, the line that decides first: what fell, what is open, and among those that stand the least slack."""
    order = (Verdict.REFUTED, Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.SUPPORTED, Verdict.CERTIFIED)
    slack = judgement.slack.low if judgement.slack is not None else float("-inf")
    return order.index(judgement.verdict), slack
