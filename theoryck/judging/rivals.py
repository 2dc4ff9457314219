"""Rivals: wrong predictions that the same evidence must exclude, and those among them that no evidence can."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any

from theoryck.rates.parsing import to_fraction
from theoryck.rates.paths import PathError, ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Kind, Point, Prediction

Sizes = Sequence[Mapping[str, int]]
SAME_LOG = 1e-12  # logarithms of rates are sums of a few rounded terms: far above rounding, far below any fit


def rival_problem(prediction: Prediction, points: Sequence[Point] | ScalingPath) -> str:
    """Say which rival no evidence at these points, or along this path, could reject, and why; empty if there is none.

    A rival of a bound (or of the rate of a law) must decay faster than the claim: a quantity within the claim is within every
    rate as large.  One that is smaller at some size will do for a bound with a constant.  Other rivals must differ from the claim.
    Raises RateError on a rival that cannot be read or that names no size of the path.

    >>> claim = Prediction(Kind.BOUND, "E S^2", base="d", rate="1/d", rivals=("1",))
    >>> rival_problem(claim, ScalingPath(d=[16, 32, 64]))
    "a rival of a bound must be faster: '1' decays no faster than the claim 1/d, so nothing could reject it"
    """
    sizes = points.points if isinstance(points, ScalingPath) else tuple(point.sizes for point in points)
    for rival in prediction.rivals if sizes else ():
        if coincides(prediction, rival, sizes):
            return f"the rival {rival!r} coincides with the claim on these sizes, so nothing could reject it: give another one"
        if prediction.kind not in (Kind.BOUND, Kind.LAW):
            continue
        if not base_of(prediction, sizes):
            if decimal_number(rival) > Decimal(str(prediction.constant)):
                return f"a rival of a bound must be smaller: {rival!r} is larger than the claim {prediction.constant:g}"
        elif not _rejectable(prediction, rival, sizes):
            kind = "bound" if prediction.kind is Kind.BOUND else "law"
            claim = f"the claim {prediction.rate}" if prediction.rate is not None else "1, which the claim is to beat"
            why = f"{rival!r} decays no faster than {claim}, so nothing could reject it"
            return f"a rival of a {kind} must be faster: {why}"
    return ""


def coincides(prediction: Prediction, rival: str, sizes: Sizes) -> bool:
    """Whether the rival and the claim are the same on these sizes."""
    if prediction.kind is Kind.BOUND and not base_of(prediction, sizes):
        return decimal_number(rival) == Decimal(str(prediction.constant))
    if prediction.kind in (Kind.BOUND, Kind.LAW):
        gaps = _log_gaps(prediction, rival, sizes)
        claim = _rate(prediction.rate or "1", prediction)
        size = max(abs(claim.log_value(point)) for point in sizes)
        if prediction.rate is None or max(gaps) - min(gaps) > SAME_LOG * (1 + size):
            return False
        return prediction.constant is None or abs(gaps[0]) < SAME_LOG
    if prediction.kind is Kind.SCALING:
        return to_fraction(rival, "a rival") == to_fraction(prediction.exponent, "exponent")
    assert prediction.value is not None
    return abs(decimal_number(rival) - prediction.value.midpoint) <= prediction.value.radius


def base_of(prediction: Prediction, sizes: Sizes) -> str:
    """Return the base of the path: as declared, else the first size that differs between points, else the first, else ''."""
    if prediction.base:
        return prediction.base
    names = list(sizes[0])
    for name in names:
        if len({point[name] for point in sizes}) > 1:
            return name
    return names[0] if names else ""


def rate_growth(rate: Rate, prediction: Prediction, sizes: Sizes) -> tuple[Fraction, Fraction] | None:
    """Return the exponent and the power of the logarithm of a rate along the path; None if its sizes follow no power."""
    base = base_of(prediction, sizes)
    rate.require(sizes[0], parameters=prediction.parameters)
    try:
        if prediction.path:
            path = ScalingPath.from_description(prediction.path)
        else:
            # A size may occur twice, once for each route.
            ordered = [point for _, point in sorted({point[base]: point for point in sizes}.items())]
            names = [base, *(name for name in rate.names if name != base)]
            path = ScalingPath(**{name: [point[name] for point in ordered] for name in names})
        return rate.exponent(path), rate.log_power(path)
    except PathError:
        return None


def decimal_number(text: str) -> Decimal:
    """Return a decimal or a fraction such as "1/3" as a decimal of 60 digits."""
    try:
        return Decimal(text)
    except InvalidOperation:
        number = to_fraction(text, "a rival")
        with localcontext() as context:
            context.prec = 60
            return Decimal(number.numerator) / Decimal(number.denominator)


def _rate(text: str, prediction: Prediction) -> Rate:
    return _parsed(text, tuple(prediction.parameters.items()))


@functools.lru_cache(maxsize=256)  # the same few rates are asked for at every look
def _parsed(text: str, parameters: tuple[tuple[str, Any], ...]) -> Rate:
    return Rate.parse(text, **dict(parameters))


def _log_gaps(prediction: Prediction, rival: str, sizes: Sizes) -> list[float]:
    claim, other = _rate(prediction.rate or "1", prediction), _rate(rival, prediction)
    return [other.log_value(point) - claim.log_value(point) for point in sizes]


def _rejectable(prediction: Prediction, rival: str, sizes: Sizes) -> bool:
    """Whether the rival is faster than the claim along the path or, with a constant, smaller than the claim somewhere."""
    gaps = _log_gaps(prediction, rival, sizes)
    if prediction.constant is not None and min(gaps) < -SAME_LOG:
        return True
    claim = rate_growth(_rate(prediction.rate or "1", prediction), prediction, sizes)
    other = rate_growth(_rate(rival, prediction), prediction, sizes)
    if claim is not None and other is not None:
        return other < claim
    # Sizes that follow no power: the ratio must at least fall from the smallest to the largest size.
    base = base_of(prediction, sizes)
    order = sorted(range(len(sizes)), key=lambda index: sizes[index][base])
    return gaps[order[-1]] < gaps[order[0]] - SAME_LOG


def claimed_exponent(prediction: Prediction, rate: Rate | None, sizes: Sequence[Mapping[str, int]]) -> float | None:
    """Return the exponent of the claimed rate along the path; None for a number, or if sizes follow no power."""
    if rate is None:
        return 0.0 if prediction.kind is Kind.LAW else None
    if not base_of(prediction, sizes):  # one number against another: nothing grows
        rate.require(sizes[0], parameters=prediction.parameters)
        return None
    growth = rate_growth(rate, prediction, sizes)
    return None if growth is None else float(growth[0])
