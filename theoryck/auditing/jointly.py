"""A grid as a whole: the ratio to the rate fitted with one exponent per size (see :mod:`theoryck.fitting.joint`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theoryck.fitting.joint import JointFit, fit_rate_jointly
from theoryck.judging.evidence import log_rates, read_routes
from theoryck.rates import Rate
from theoryck.records import Contract, Interval, Kind, Point, Prediction


@dataclass(frozen=True, slots=True)
class Joint:
    """What all points of a grid say together: exponents by size, and the size along which the claim falls ("" if none)."""

    exponents: Mapping[str, Interval]
    falls: str = ""
    reason: str = ""


def fit_grid(points: Sequence[Point], template: Prediction, contract: Contract, tests: int) -> Joint | None:
    """Return the joint fit of a grid, or None where no exponents can be told; each of ``tests`` has its share of the error rate.

    A bound falls if the ratio to its rate grows along a size by more than ``within``, a scaling also if it decays so.  The fit
    alone supports nothing: that takes every line of the grid.
    """
    routes, _ = read_routes(points)
    if "montecarlo" not in routes:
        return None
    series = routes["montecarlo"][0]
    rate = None if template.rate is None else Rate.parse(template.rate)
    values, errors, _ = series.over([0.0] * len(series) if rate is None else log_rates(rate, series))
    moving = [name for name in series.sizes[0] if len({sizes[name] for sizes in series.sizes}) > 1]
    columns = {name: [float(sizes[name]) for sizes in series.sizes] for name in moving}
    fit = fit_rate_jointly(
        columns, values, errors, correction=template.correction, amplitude=template.amplitude, level=contract.level
    )
    if not fit.identifiable:
        return None
    claimed = _claimed(rate, moving)
    if claimed is None:  # a sum of powers, or logarithms: the exponents are those of the ratio, which is no one's question
        return _verdict(fit, {}, template, contract, tests)
    shown = {name: _shifted(fit.exponents[name], by) for name, by in claimed.items()}
    return _verdict(fit, shown, template, contract, tests)


def _claimed(rate: Rate | None, names: Sequence[str]) -> dict[str, float] | None:
    if rate is None:
        return dict.fromkeys(names, 0.0)
    if len(rate.terms) > 1 or rate.terms[0].logs:
        return None
    powers = dict(rate.terms[0].powers)
    return {name: float(powers.get(name, 0)) for name in names}


def _shifted(interval: Interval, by: float) -> Interval:
    return Interval(interval.estimate + by, interval.low + by, interval.high + by, interval.level)


def _verdict(fit: JointFit, shown: Mapping[str, Interval], template: Prediction, contract: Contract, tests: int) -> Joint:
    if template.rate is None:
        return Joint(shown)
    two_sided = template.kind is Kind.SCALING
    share = contract.false_refute_rate / tests / (2 if two_sided else 1)
    for name in fit.exponents:
        low, high = fit.lower(name, share), fit.upper(name, share)
        if low > contract.within or (two_sided and high < -contract.within):
            limit = f"lower limit at error rate {share:.2g}, {low:.3g}, is above the tolerated {contract.within:g}"
            if low <= contract.within:
                limit = f"upper limit at error rate {share:.2g}, {high:.3g}, is below the tolerated {-contract.within:g}"
            reason = (
                f"all sizes fitted at once, relative to the rate it grows like {name}^({fit.exponents[name].estimate:.3g}); "
                f"even its {limit}"
            )
            return Joint(shown, name, reason)
    return Joint(shown)
