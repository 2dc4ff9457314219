"""What a certificate adds to a judgement: its scope where it covers the claim, and a failure where values contradict it."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from theoryck.judging import certified, judge
from theoryck.records import Contract, Enclosure, Estimate, Judgement, Kind, Point, Prediction, Rival, Scope, Tightness, Verdict

SIZES = (16, 32, 64, 128, 256)
CONTRACT = Contract(within=0.15)
GROWTH = Prediction(Kind.BOUND, "q", base="d", path={"d": "16, 32, 64, 128, 256"}, rate="1/d", rivals=("d**(-3/2)",), correction=1)
SCOPE = Scope("d", 16, Decimal("2.5"), method="comparison", limit=2.0)


def points(constant=2.0, stderr=0.001, exact=False):
    """Values constant/d (1 + 1/(4d)), so that the largest ratio to 1/d is at d = 16."""
    values = {d: constant / d * (1 + 0.25 / d) for d in SIZES}
    if exact:
        return tuple(Point({"d": d}, exact=Enclosure(Decimal(value), Decimal("1e-15"))) for d, value in values.items())
    return tuple(Point({"d": d}, Estimate(value, stderr / d, 10**6)) for d, value in values.items())


def judged(prediction=GROWTH, evidence=None):
    evidence = points() if evidence is None else evidence
    return judge(prediction, evidence, CONTRACT), evidence


def test_a_supported_bound_becomes_certified_for_every_size_with_its_numbers():
    found, evidence = judged()
    assert found.verdict is Verdict.SUPPORTED
    proved = certified(found, GROWTH, evidence, CONTRACT, SCOPE)
    assert proved.verdict is Verdict.CERTIFIED
    assert proved.scope == replace(SCOPE, largest=pytest.approx(2.0 * (1 + 0.25 / 16)))
    assert proved.tightness is found.tightness is Tightness.TIGHT  # as measured
    assert (proved.exponent, proved.slack, proved.rivals, proved.curves) == (
        found.exponent,
        found.slack,
        found.rivals,
        found.curves,
    )
    assert [route.name for route in proved.routes if route.decided] == ["certificate"]
    assert proved.reason.startswith("proved for every d >= 16: the quantity is at most 2.5 * (d**(-1)); measured: Monte Carlo on d")


def test_without_a_certificate_nothing_changes():
    found, evidence = judged()
    assert certified(found, GROWTH, evidence, CONTRACT, None) is found


def test_two_sides_make_a_bound_tight_also_where_draws_left_that_open():
    found, evidence = judged()
    unsure = replace(found, tightness=Tightness.UNDETERMINED)
    both = replace(SCOPE, least=Decimal("1.5"))
    assert certified(unsure, GROWTH, evidence, CONTRACT, both).tightness is Tightness.TIGHT
    assert certified(unsure, GROWTH, evidence, CONTRACT, SCOPE).tightness is Tightness.UNDETERMINED


@pytest.mark.parametrize("claimed", [{"exponent": -1.0}, {"exponent": np.float64(-1)}, {"rate": "1/d"}])
def test_a_scaling_without_a_constant_is_certified_by_a_scope_from_both_sides(claimed):
    scaling = replace(GROWTH, kind=Kind.SCALING, rate=None, rivals=("-3/2",) if "exponent" in claimed else ("d**(-3/2)",))
    scaling = replace(scaling, **claimed)
    found, evidence = judged(scaling)
    both = replace(SCOPE, least=Decimal("1.5"))
    assert found.verdict is Verdict.SUPPORTED
    proved = certified(found, scaling, evidence, CONTRACT, both)
    assert (proved.verdict, proved.tightness) == (Verdict.CERTIFIED, None)
    assert "at most 2.5 * (d**(-1)) and at least 1.5" in proved.reason
    assert certified(found, scaling, evidence, CONTRACT, SCOPE) is found
    assert certified(found, replace(scaling, constant=2.0), evidence, CONTRACT, both) is found
    low = replace(both, least=Decimal("2.2"))
    assert certified(found, scaling, evidence, CONTRACT, low).verdict is Verdict.REFUTED


def test_a_rival_that_is_not_rejected_leaves_the_claim_open_though_its_bound_is_proved():
    found, evidence = judged()
    open_rival = replace(found, verdict=Verdict.INCONCLUSIVE, rivals=(Rival("d**(-3/2)", False),), settled=False)
    proved = certified(open_rival, GROWTH, evidence, CONTRACT, SCOPE)
    assert proved.verdict is Verdict.INCONCLUSIVE
    assert proved.scope is not None
    rejected = replace(open_rival, rivals=(Rival("d**(-3/2)", True),))
    assert certified(rejected, GROWTH, evidence, CONTRACT, SCOPE).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("scope", [replace(SCOPE, constant=Decimal("2.01")), replace(SCOPE, least=Decimal("2.1"))])
def test_a_value_beyond_what_is_proved_is_a_disagreement_of_routes(exact, scope):
    """The largest ratio is 2.031 at d = 16, with a standard error of 0.001; the smallest, 2.002, lies below 2.1."""
    found, evidence = judged(evidence=points(exact=exact))
    proved = certified(found, GROWTH, evidence, CONTRACT, scope)
    assert proved.verdict is Verdict.REFUTED
    assert "routes-disagree" in proved.flags
    assert "by a certificate, but the value 0.12" in proved.reason
    assert proved.tightness is None


def test_values_below_the_start_contradict_nothing():
    found, evidence = judged()
    later = replace(SCOPE, start=64, constant=Decimal("2.012"))  # above all ratios from d = 64 on, below the one at 16
    assert certified(found, GROWTH, evidence, CONTRACT, later).verdict is Verdict.CERTIFIED


def test_a_fit_that_refutes_what_is_proved_fails_the_run():
    found, evidence = judged()
    refuted = replace(found, verdict=Verdict.REFUTED, reason="it grows")
    proved = certified(refuted, GROWTH, evidence, CONTRACT, SCOPE)
    assert (proved.verdict, "routes-disagree" in proved.flags) == (Verdict.REFUTED, True)
    assert "it grows" in proved.reason


@pytest.mark.parametrize(
    ("constant", "start", "covers"),
    [(2.5, 16, True), (2.4, 16, False), (3.0, 17, False), (3.0, 1, True)],
)
def test_a_pointwise_bound_needs_a_certificate_of_its_constant_from_its_first_size_on(constant, start, covers):
    claim = replace(GROWTH, constant=constant, rivals=())
    found, evidence = judged(claim, points(exact=True))
    assert (found.verdict, found.scope) == (Verdict.CERTIFIED, None)  # at these sizes
    proved = certified(found, claim, evidence, CONTRACT, replace(SCOPE, start=start))
    assert (proved.scope is not None) is covers
    assert proved.verdict is Verdict.CERTIFIED


def test_what_tested_nothing_stays_so():
    nothing = Judgement(Verdict.VACUOUS, "nothing was measured")
    assert certified(nothing, GROWTH, (), CONTRACT, SCOPE) is nothing
