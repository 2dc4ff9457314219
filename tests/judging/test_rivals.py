"""A declared rival is part of the claim: at most half the distance to it is tolerated, and while it stands nothing is supported."""

from __future__ import annotations

from decimal import Decimal

import pytest

import theoryck as tc
from theoryck.judging import judge, tolerated
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Verdict

SIZES = [16, 32, 64, 128, 256, 512, 1024]
QUICK = Contract(1e-3, 0.025, 0.15)


def along(curve, relative=1e-3):
    return [Point({"d": d}, Estimate(curve(d), relative * abs(curve(d)), 10**6)) for d in SIZES]


def scaling(*rivals, exponent=0.5):
    return Prediction(Kind.SCALING, "Q", base="d", exponent=exponent, rivals=rivals, correction=1.0)


WITHIN = [
    (scaling("1/3", "2/3"), 1 / 12),
    (scaling("0", "1"), 0.15),
    (scaling(), 0.15),
    (scaling("0.505"), 0.01),
    (Prediction(Kind.BOUND, "Q", base="d", rate="1/sqrt(d)", rivals=("d**(-3/4)", "1/d")), 1 / 8),
    (Prediction(Kind.BOUND, "Q", base="d", rate="1/sqrt(d)", rivals=("1/(sqrt(d)*log(d))",)), 0.15),
    (Prediction(Kind.LAW, "Q", base="d", rate="1/d", rivals=("d**(-5/4)",)), 1 / 8),
    (Prediction(Kind.LIMIT, "Q", base="d", value=Enclosure(Decimal(2), Decimal(0)), rivals=("2.1",)), 0.15),
]


@pytest.mark.parametrize(("claim", "within"), WITHIN)
def test_the_tolerance_is_half_the_distance_to_the_nearest_rival(claim, within):
    """By the definition, in units of the exponent; rivals that are numbers limit the tolerance of the number instead."""
    assert tolerated(claim, [{"d": d} for d in SIZES], QUICK).within == pytest.approx(within, rel=1e-12)


@pytest.mark.parametrize("relative", [0.003, 0.01, 0.03, 0.1])
def test_a_true_claim_between_two_rivals_never_fails_for_them(relative):
    """The case that fell: an exponent measured as 0.506(25) between 1/3 and 2/3, where 0.15 is tolerated."""
    found = judge(scaling("1/3", "2/3"), along(lambda d: d**0.5, relative), QUICK)
    assert found.verdict is not Verdict.REFUTED
    assert found.verdict is not Verdict.SUPPORTED or all(rival.rejected for rival in found.rivals)


def test_errors_that_reject_both_rivals_support_and_larger_ones_say_what_would():
    assert judge(scaling("1/3", "2/3"), along(lambda d: d**0.5, 0.003), QUICK).verdict is Verdict.SUPPORTED
    vague = judge(scaling("1/3", "2/3"), along(lambda d: d**0.5, 0.06), QUICK)
    assert vague.verdict is Verdict.INCONCLUSIVE
    assert "times the draws would decide" in vague.reason
    assert judge(scaling("0", "1"), along(lambda d: d**0.5, 0.06), QUICK).verdict is Verdict.SUPPORTED


def test_the_rival_of_a_bound_that_is_left_open_is_named_with_what_would_reject_it():
    """The ratio to the rival grows by 1/4; a loose bound is supported long before its rival is told from the truth."""
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="1/sqrt(d)", rivals=("1/d",), correction=1.0)
    found = judge(claim, along(lambda d: d**-0.8, 0.12), QUICK)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "but the rival 1/d is not rejected: about" in found.reason
    assert judge(claim, along(lambda d: d**-0.8, 0.003), QUICK).verdict is Verdict.SUPPORTED


def test_a_rival_that_holds_as_well_is_no_open_question():
    """The values decay faster than the rival, too: a claim whose rival is true fails, and says so."""
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="1/sqrt(d)", rivals=("1/d",), correction=1.0)
    found = judge(claim, along(lambda d: d**-1.5), QUICK)
    assert found.verdict is Verdict.SUPPORTED
    assert not found.rivals[0].rejected


def test_a_limit_is_known_to_half_the_distance_to_its_rival():
    limit = Prediction(Kind.LIMIT, "Q", base="d", value=Enclosure(Decimal(2), Decimal(0)), rivals=("2.1",), correction=1.0)
    for relative in (1e-3, 0.01, 0.03):
        found = judge(limit, along(lambda d: 2 + 1 / d, relative), QUICK)
        assert found.verdict is not Verdict.REFUTED
        assert found.verdict is not Verdict.SUPPORTED or found.rivals[0].rejected
    assert found.verdict is Verdict.INCONCLUSIVE  # an error of 3% tells 2 from 2.1 no more
    assert judge(limit, along(lambda d: 2.1 + 1 / d), QUICK).verdict is Verdict.REFUTED


def test_an_identity_is_estimated_to_half_the_distance_to_its_rival():
    claim = Prediction(Kind.IDENTITY, "Q", value=Enclosure(Decimal(2), Decimal(0)), rivals=("2.1",))
    for stderr in (0.001, 0.01, 0.02, 0.1):
        found = judge(claim, [Point({}, Estimate(2.0, stderr, 10**6))], QUICK)
        assert found.verdict is (Verdict.SUPPORTED if found.rivals[0].rejected else Verdict.INCONCLUSIVE), stderr


def test_a_declared_tolerance_is_no_wider_than_half_the_distance():
    near = Prediction(
        Kind.LIMIT, "Q", base="d", value=Enclosure(Decimal(2), Decimal(0)), rivals=("2.1",), tolerance="0.2", correction=1.0
    )
    assert judge(near, along(lambda d: 2.08 + 1 / d), QUICK).verdict is not Verdict.SUPPORTED


def test_an_audit_narrows_its_tolerance_too():
    values = [d**0.5 for d in SIZES]
    found = tc.audit({"d": SIZES}, values, [0.001 * v for v in values], "sqrt(d)", "scaling", 1, rivals=["d**0.53"])
    assert found.rivals[0].rejected
    assert found.verdict == "SUPPORTED"
    assert "tolerated +-0.015" in found.reason
