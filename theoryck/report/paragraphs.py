"""What went wrong with a claim, in a paragraph: measured, window, assumption, seed, and the command that repeats it."""

from __future__ import annotations

from theoryck.records import Kind, Point, Prediction, Result, Scope, Status, Toward, Verdict
from theoryck.records.values import size_text as written
from theoryck.report import numbers
from theoryck.report.claims import (
    AS_DECLARED,
    CONSTANT_TOLERANCE,
    Outcome,
    clean,
    clean_lines,
    declared,
    every_size,
    instance_text,
    measured,
    outcome,
    size_text,
    tolerated,
)
from theoryck.report.layout import Style, fields, wrap
from theoryck.report.rows import rate_has_logarithm


def headline(result: Result) -> str:
    """Say in one line what became of a result, and whether that was declared.

    A falsehood that fell differs from a theorem that fell by its words, not by its colour.
    """
    return ": ".join(part for part in outcome_and_why(result) if part)


def outcome_and_why(result: Result) -> tuple[str, str]:
    """Return the two parts of :func:`headline`: what became of a result, and what that means ("" where the verdict says it)."""
    verdict = result.verdict.value
    every = every_size(result)
    if result.status is Status.FALSEHOOD:
        return (AS_DECLARED, "") if result.ok else (f"{verdict}, but this is a falsehood", "it must be refuted")
    if result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED) and not result.ok:
        return f"{verdict}, but a rival was not rejected", "this check could not have failed"
    if every:
        return f"{verdict} for every {every}", ""
    return verdict, "nothing was tested" if result.verdict is Verdict.VACUOUS else ""


def paragraph(result: Result, style: Style | None = None) -> str:
    """Return everything a reader needs to weigh and repeat one result."""
    style = style or Style()
    color = {Outcome.FAILED: "bad", Outcome.UNDECIDED: "open", Outcome.WELL: "good"}[outcome(result)]
    instance = instance_text(result.instance)
    title = f"{clean(result.claim)} ({instance})" if instance else clean(result.claim)
    lines = [style.paint(line, color) for line in wrap(f"{headline(result)}: {title}", style.width, rest="  ")]
    return "\n".join([*lines, *fields(facts(result), style, whole=("repeat",))])


def facts(result: Result) -> list[tuple[str, str]]:
    """Return labels and texts of what is known of a result, in the order of reading; a text may be empty."""
    judgement = result.judgement
    prediction = result.prediction
    return [
        ("statement", clean(result.statement)),
        ("claimed", _claimed(result)),
        ("measured", _measured(result)),
        ("proved", _proved(result)),
        ("jointly", _jointly(result)),
        ("tolerated", _tolerated(result)),
        ("reason", clean_lines(judgement.reason)),
        ("window", _window(result)),
        ("valid", clean(judgement.assuming)),
        ("routes", _routes(result)),
        (
            "rivals",
            "; ".join(f"{clean(numbers.shorter(r.rate))}: {'rejected' if r.rejected else 'NOT rejected'}" for r in judgement.rivals)
            or _without_rivals(result),
        ),
        ("flags", clean(", ".join(judgement.flags))),
        ("quantity", measured(prediction) if prediction else ""),
        ("effort", _effort(result)),
        ("reference", clean(result.reference)),
        ("repeat", clean(result.repeat)),
    ]


def _proved(result: Result) -> str:
    """Say for which sizes a claim is proved, with which constant, and how far that is from the limit and from what was seen."""
    scope = result.scope
    if scope is None:
        return "at these sizes" if result.verdict is Verdict.CERTIFIED and any(point.sizes for point in result.points) else ""
    return f"for every {clean(scope.base)} >= {written(scope.start)}, {constants(scope)}"


def constants(scope: Scope) -> str:
    """Write the constant that is proved beside what the ratio to the rate tends to, and its largest value measured.

    >>> from decimal import Decimal
    >>> constants(Scope("d", 16, Decimal("2.31"), limit=2.1, largest=2.2))
    'with the constant 2.31: 1.1 times the limit 2.1 of the ratio to the rate, 1.05 times its largest value measured, 2.2'
    >>> constants(Scope("d", 16, Decimal("0.115441"), Decimal("0.0694995")))
    'with the constant 0.1155, from below 0.06949'
    >>> constants(Scope("d", 4096, Decimal("0.88191"), limit=0.8818))
    'with the constant 0.882: 1.0001 times the limit 0.8818 of the ratio to the rate'
    """
    known = [("the limit {} of the ratio to the rate", scope.limit), ("its largest value measured, {}", scope.largest)]
    parts = [
        f"{_factor(float(scope.constant) / value)} times {text.format(numbers.plain(value))}" for text, value in known if value
    ]
    least = "" if scope.least is None else f", from below {numbers.bound(scope.least, up=False)}"
    return f"with the constant {numbers.bound(scope.constant, up=True)}{least}" + (f": {', '.join(parts)}" if parts else "")


def _factor(ratio: float) -> str:
    """Write a ratio by three digits, or as many as tell it from 1."""
    return next((text for text in (f"{ratio:.{digits}g}" for digits in range(3, 8)) if text != "1"), "1")


def _effort(result: Result) -> str:
    time = numbers.duration(result.seconds)
    if result.given:
        return f"{numbers.count(result.draws)} {'row' if result.draws == 1 else 'rows'} given, {time}"
    return f"{numbers.count(result.draws)} draws, {time}, seed {result.seed}"


def _without_rivals(result: Result) -> str:
    """Say of a supported statement that nothing was there which it could have been mistaken for."""
    supported = result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED) and result.status is not Status.FALSEHOOD
    return "none was given: nothing shows that this check could have failed" if supported else ""


def _tolerated(result: Result) -> str:
    """How far off what was measured may be, by declaration or by default."""
    prediction = result.prediction
    if prediction is None or result.verdict in (Verdict.VACUOUS, Verdict.CERTIFIED):
        return ""
    parts = []
    value = tolerated(result)
    if value is not None:
        parts.append(f"{numbers.plain(value)} in the value")
    given = declared(prediction.tolerance)
    relative = f"{100 * (CONSTANT_TOLERANCE if given is None else given):.3g}%"
    if prediction.constant is not None and prediction.kind is Kind.BOUND:
        return f"{relative} above the bound, at every size"
    if prediction.kind in (Kind.BOUND, Kind.SCALING, Kind.LAW) or prediction.rate is not None:
        parts.append(f"{numbers.plain(result.contract.within)} in the exponent")
    if prediction.constant is not None and prediction.kind is Kind.SCALING:
        parts.append(f"{relative} in the constant")
    return ", ".join(parts)


def _claimed(result: Result) -> str:
    prediction = result.prediction
    exponent = result.judgement.claimed_exponent
    if prediction is None:
        return "" if exponent is None else f"exponent {numbers.plain(exponent)}"
    parts = []
    if prediction.rate is not None:
        parts.append(f"{_sign(prediction)}{clean(prediction.rate)}{_parameters(prediction)}")
    if prediction.value is not None:
        parts.append(f"value {numbers.enclosed(prediction.value, 15)}")
    if prediction.constant is not None and prediction.kind is not Kind.BOUND:
        parts.append(f"constant {numbers.plain(prediction.constant)}")
    if exponent is not None:
        parts.append(
            f"exponent {numbers.plain(exponent)}"
            + (f" in {clean(result.judgement.power_of or prediction.base)}" if prediction.base else "")
            + (", beside its logarithm" if rate_has_logarithm(result) else "")
        )
    return ", ".join(parts)


def _sign(prediction: Prediction) -> str:
    if prediction.kind is not Kind.BOUND:
        return "rate "
    return "at most a constant times " if prediction.constant is None else f"at most {numbers.plain(prediction.constant)} * "


def _parameters(prediction: Prediction) -> str:
    used = ", ".join(f"{clean(name)}={clean(value)}" for name, value in prediction.parameters.items())
    return f" at {used}" if used else ""


def _measured(result: Result) -> str:
    judgement = result.judgement
    named = [
        ("limit", judgement.limit),
        ("exponent of the approach" if _approaches(result) else "exponent", judgement.exponent),
        ("slack", judgement.slack),
        (_constant_name(result), judgement.constant if _has_constant(result) else None),
    ]
    intervals = [(name, interval) for name, interval in named if interval is not None]
    text = ", ".join(f"{name} {numbers.written_out(interval)}" for name, interval in intervals)
    if intervals:
        levels = sorted({interval.level for _, interval in intervals})
        text += f" (at level {' and '.join(f'{100 * level:g}%' for level in levels)})"
    if len(result.points) == 1 and judgement.exponent is None:
        text = ", ".join(part for part in (text, _at(result, result.points[0])) if part)
    elif result.points and judgement.limit is None and result.prediction is not None and result.prediction.kind is Kind.LIMIT:
        text = ", ".join(part for part in (text, f"at {_far(result)} {_at(result, result.points[-1])}") if part)
    return text


def _has_constant(result: Result) -> bool:
    """A rate that was refuted has no constant: the ratio to it grows."""
    return result.verdict is not Verdict.REFUTED or _compares_constant(result)


def _compares_constant(result: Result) -> bool:
    prediction = result.prediction
    return prediction is not None and prediction.kind is Kind.SCALING and prediction.constant is not None


def _approaches(result: Result) -> bool:
    """Whether what is measured beside a limit is how the difference from it falls."""
    return result.prediction is not None and result.prediction.kind is Kind.LIMIT


def _constant_name(result: Result) -> str:
    prediction = result.prediction
    if _approaches(result) and prediction is not None and (prediction.value is None or prediction.rate is None):
        return "constant of the approach"
    return "constant" if _compares_constant(result) else f"constant (the ratio to the rate at {_far(result)})"


def _far(result: Result) -> str:
    """Name the size that is nearest to the limit."""
    shrinks = result.prediction is not None and result.prediction.toward is Toward.ZERO
    return "the smallest size" if shrinks else "the largest size"


def _jointly(result: Result) -> str:
    found = result.judgement.exponents
    level = " and ".join(f"{100 * level:g}%" for level in sorted({interval.level for interval in found.values()}))
    shown = ", ".join(f"{clean(name)}^{numbers.written_out(interval)}" for name, interval in found.items())
    return f"{shown} (all sizes fitted at once, at level {level})" if found else ""


def _at(result: Result, point: Point) -> str:
    """Write what was measured, or given, at one point, by each route that was taken."""
    routes = []
    if point.exact is not None:
        routes.append(("" if point.exact.rigorous else "not proved: ") + numbers.enclosed(point.exact, 15))
    if point.estimate is not None:
        route = "the given value" if result.given else "Monte Carlo"
        routes.append(f"{route} {numbers.uncertain(point.estimate.value, point.estimate.stderr)} (one standard error)")
    if point.bracket is not None:
        routes.append(f"between {point.bracket.low:.6g} and {point.bracket.high:.6g}")
    return ", ".join(routes)


def _window(result: Result) -> str:
    prediction = result.prediction
    window = result.judgement.window
    base = clean(prediction.base) if prediction and prediction.base else "sizes"
    ends = list(dict.fromkeys(map(written, window or ())))
    parts = [f"{base} = {'..'.join(ends)}"] if window else []
    if prediction:
        others = [f"{clean(name)} = {size_text(size)}" for name, size in prediction.path.items() if name != prediction.base]
        parts.extend(others)
    return ", ".join(parts)


def _routes(result: Result) -> str:
    routes = result.judgement.routes
    if len(routes) < 2 and not any(route.reason for route in routes):
        return ""
    # The reason of the verdict is not said twice; a record without marks of what decided has it by the verdict's own.
    decided = {route.reason for route in routes if route.decided} or {result.judgement.reason}
    shown = []
    for route in routes:
        exponent = f" exponent {numbers.measured(route.exponent)}" if route.exponent else ""
        reason = f" ({clean(route.reason)})" if route.reason and route.reason not in decided else ""
        shown.append(f"{clean(route.name)} {route.verdict.value}{exponent}{reason}")
    return "; ".join(shown)
