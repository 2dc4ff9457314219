"""Sentences about limits: what was found, what leaves it open, and what to declare."""

from __future__ import annotations

import math
from fractions import Fraction

from theoryck.fitting.approach import ApproachFit
from theoryck.fitting.limit import LimitFit
from theoryck.fitting.scan import SLOWEST, STANDS_OUT, STEP
from theoryck.fitting.slower import Slower, slower_than
from theoryck.judging.approaches import Others
from theoryck.judging.case import Case
from theoryck.judging.evidence import with_error
from theoryck.records import Interval, Verdict

USUAL = {text: float(Fraction(text)) for text in ("1/2", "1", "2", "1/3", "2/3", "3/2", "1/4", "1/6", "3", "4")}


def undeclared(case: Case, fit: LimitFit | ApproachFit) -> str:
    """Say which approaches leave a limit open that is claimed without a rate, and what to declare; empty with one."""
    if isinstance(fit, LimitFit) or fit.declared:
        return ""
    powers, log = fit.exponents(case.contract.level)
    inside = case.axis.text.strip("()")
    fast, slow = (power_of(case, f"{power:.2g}") for power in (powers.high, powers.low or SLOWEST / STEP))
    if not math.isfinite(powers.half_width):
        return f"only approaches as slow as 1/log({inside}) are compatible with the values: declare the one that is claimed; or "
    if log and powers.low > SLOWEST:
        slow = f"1/log({inside})"
    seen = "the values still move" if fit.moving > STANDS_OUT else "the values move no more than their errors"
    usual = next((text for text, power in USUAL.items() if powers.low <= power <= powers.high), "")
    such = f"{case.base}**({'-' if case.axis.sign > 0 else ''}{usual})" if usual else f"1/log({inside})" if log else ""
    such = f', such as rate="{such}"' if such else ""
    return f"{seen}, and approaches from {slow} to {fast} are compatible with them: declare the one that is claimed{such}; or "


def power_of(case: Case, exponent: str) -> str:
    """Write a power of the base by which what is left of a limit falls."""
    return f"{case.base}^{'-' if case.axis.sign > 0 else ''}{exponent}"


def assumed(case: Case, fit: LimitFit | ApproachFit) -> str:
    """What is assumed of the approach where no rate and no correction is declared."""
    if isinstance(fit, LimitFit) or fit.declared:
        return ""
    return f"an approach no slower than {power_of(case, f'{SLOWEST:g}')} or 1/log({case.axis.text.strip('()')})"


def slowest(case: Case, slower: Slower) -> str:
    """Name the slowest of what explains the values."""
    log = f"log({case.axis.text.strip('()')})"
    if slower.grows:
        return f"growth without limit, like {log},"
    return (
        f"a slower approach, like a power of 1/{log},"
        if slower.log
        else f"a slower approach, like {power_of(case, f'{slower.power:.2g}')},"
    )


def another(case: Case, others: Others) -> str:
    """Say what explains the values besides the approach that is declared."""
    if others.better:
        return f"the values do not show this limit and this rate: {slowest(case, others.better)} explains them better"
    clause = f"{slowest(case, others.as_well)} explains the values as well as the rate {case.rate}, towards"
    if any(others.beyond):
        return f"{clause} the rival {case.prediction.rivals[others.beyond.index(True)]}"
    return f"{clause} another limit: {case.axis.further} sizes or smaller errors tell them apart"


def compared(case: Case, found: str, tolerance: float, verdict: Verdict, apart: bool) -> str:
    """Say how the limit compares with the claimed value; ``apart`` is a difference from 0 that is established."""
    claimed, declared = f"the claimed value {float(case.prediction.value or 0):.6g}", case.prediction.tolerance is not None
    relation = {Verdict.SUPPORTED: "within", Verdict.REFUTED: "outside"}.get(verdict, "not told from")
    if apart and verdict is not Verdict.REFUTED:
        relation = "not 0 but within" if verdict is Verdict.SUPPORTED else "told from 0 but not from"
    stated = "declared tolerance" if apart and declared and verdict is Verdict.SUPPORTED else "tolerance"
    return f"the limit minus {claimed} is {found}, {relation} the {stated} {tolerance:.2g}"


def established(case: Case, found: str, tolerance: float) -> str:
    """Say that the limit differs from the claimed value by less than the default tolerance."""
    return (
        f"a difference of {found} from the claimed value {float(case.prediction.value or 0):.6g} is established, smaller than the "
        f"default tolerance {tolerance:.2g}: another limit would look like this (as would corrections larger than assumed): "
        f"{case.axis.further} sizes tell them apart; if a limit near that value is claimed, "
        f"{'declare tolerance=' if case.drawn else 'claim it with more digits'}"
    )


def unseen(case: Case, found: Slower, judged: bool) -> str:
    """Say what explains values that still move where no limit is seen: as well as what is judged or better than the assumed."""
    than = ("as well" if judged else "better") + (f" as the rate {case.rate}" if case.rate is not None else "")
    clause = f"the values still move and no limit is seen: {slowest(case, found)} explains them {than}"
    return f"{clause}; {case.axis.further} sizes may tell them apart" if case.final else clause


def measured(case: Case, limit: Interval, powers: Interval, relation: str) -> str:
    """Say which limit was measured and, if there is a ``relation``, how its approach compares with the rate."""
    clause = f"the limit is {with_error(limit.estimate, limit.half_width)}"
    if not relation:
        return clause
    approach = power_of(case, f"({with_error(powers.estimate, powers.half_width)})")
    return f"{clause}, approached like {approach}, {relation}"


def tolerated_lag(case: Case, exponent: float) -> str:
    """Say by how much slower than the rate an approach may be: by ``within``, or a quarter of the exponent where that is less."""
    lag = exponent - slower_than(exponent, case.within)
    if lag < case.within:
        return f"by more than {lag:.2g}, a quarter of its exponent"
    return f"by more than {'within' if case.drawn else '--within'} {case.within:g}"
