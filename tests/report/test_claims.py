"""Which instance speaks for a claim: the least of them, so that no claim is shown better than it is."""

from decimal import Decimal

import pytest

from theoryck.judging.approaches import limit_tolerance
from theoryck.judging.case import CONSTANT_TOLERANCE, Case
from theoryck.judging.decisions import IDENTITY_TOLERANCE
from theoryck.judging.evidence import read_routes
from theoryck.records import (
    Contract,
    Enclosure,
    Estimate,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Report,
    Result,
    Rival,
    Status,
    Tightness,
    Verdict,
)
from theoryck.report import claims
from theoryck.report.claims import summarise, tolerated
from theoryck.report.rows import claim_row, compared
from theoryck.report.text import sum_line, table

BOUND = Prediction(Kind.BOUND, "q", base="d", rate="1/d")
POWER = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0)


def shown(result):
    found = compared(result)
    return found.claimed, found.measured


def made(name, verdict, prediction=BOUND, status=Status.THEOREM, points=(), **judgement):
    return Result("c", status, {"is": name}, Judgement(verdict, "", **judgement), prediction, points, Contract(), 1e-3, 0, 0.0, 0)


def interval(estimate, half=0.01):
    return Interval(estimate, estimate - half, estimate + half, 0.95)


def worst(*results):
    """The name of the worst, whatever the order in which they come."""
    (forward,), (backward,) = summarise(results), summarise(results[::-1])
    assert forward.worst == backward.worst
    return forward.worst.instance["is"]


def test_a_claim_is_no_more_than_the_least_of_its_instances():
    order = [
        made("fell", Verdict.REFUTED),
        made("empty", Verdict.VACUOUS),
        made("rival stands", Verdict.SUPPORTED, rivals=(Rival("1", False),)),
        made("open", Verdict.INCONCLUSIVE),
        made("supported", Verdict.SUPPORTED, slack=interval(1.0)),
        made("certified", Verdict.CERTIFIED, slack=interval(-1.0)),
    ]
    for place, result in enumerate(order[:-1]):
        assert worst(result, *order[place + 1 :]) == result.instance["is"]
    mixed = [order[5], order[4], order[5]]
    assert summarise(mixed)[0].worst.verdict is Verdict.SUPPORTED
    assert claim_row(summarise(mixed)[0]).verdict == "supported"


def test_a_falsehood_that_is_not_refuted_goes_before_one_that_is():
    fell = made("fell", Verdict.REFUTED, status=Status.FALSEHOOD, slack=interval(-1.0))
    for verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS, Verdict.CERTIFIED):
        assert worst(fell, made("stands", verdict, status=Status.FALSEHOOD, slack=interval(-2.0))) == "stands"


def test_of_bounds_the_least_slack():
    assert worst(*(made(s, Verdict.SUPPORTED, slack=interval(s)) for s in (0.5, -0.02, 0.1))) == -0.02
    nan = Interval(float("nan"), float("-inf"), float("inf"), 0.95)
    assert worst(made("nan", Verdict.SUPPORTED, slack=nan), made("least", Verdict.SUPPORTED, slack=interval(-9.0))) == "nan"


def test_of_falsehoods_the_one_closest_to_escaping():
    slacks = (-0.5, -0.2, -1.0)
    assert worst(*(made(s, Verdict.REFUTED, status=Status.FALSEHOOD, slack=interval(s)) for s in slacks)) == -0.2
    powers = [
        made(x, Verdict.REFUTED, POWER, Status.FALSEHOOD, exponent=interval(x), claimed_exponent=-1.0) for x in (0.0, -0.5, -3.0)
    ]
    assert worst(*powers) == -0.5


def test_of_scalings_the_largest_deviation_on_either_side():
    kept = [
        made(x, Verdict.SUPPORTED, POWER, exponent=interval(x), claimed_exponent=-1.0, constant=interval(7.0))
        for x in (-1.01, -1.06, -0.96)
    ]
    assert worst(*kept) == -1.06


def test_a_constant_that_is_further_off_than_the_exponent_decides():
    claimed = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, constant=2.0)
    near = made("near", Verdict.SUPPORTED, claimed, exponent=interval(-1.03), claimed_exponent=-1.0, constant=interval(2.001))
    off = made("off", Verdict.SUPPORTED, claimed, exponent=interval(-1.0), claimed_exponent=-1.0, constant=interval(2.09))
    assert worst(near, off) == "off"  # 0.09 of 0.05 * 2 beside 0.03 of 0.1
    fell = made("fell", Verdict.REFUTED, claimed, exponent=interval(-1.0, 1e-7), claimed_exponent=-1.0, constant=interval(9.667))
    assert shown(fell) == ("c=2", "c=9.667(10)")
    assert shown(near) == ("-1", "-1.030(10)")
    assert "c=2: a constant, where it decided" in " ".join(table(summarise([fell])).split())


def same(name, claimed, measured, stderr=0.001, tolerance=None, limit=None, kind=Kind.LIMIT, sizes=None):
    prediction = Prediction(kind, "q", base="d", value=Enclosure(Decimal(claimed), Decimal(0)), tolerance=tolerance)
    points = (Point({"d": 64} if sizes is None else sizes, estimate=Estimate(measured, stderr, 1000)),)
    return made(name, Verdict.SUPPORTED, prediction, points=points, limit=limit)


def test_of_values_the_largest_deviation_in_what_is_tolerated():
    declared = [same("narrow", "1", 1.01, tolerance="1/50"), same("wide", "1", 1.05, tolerance="0.2")]
    assert worst(*declared) == "narrow"  # half of what is tolerated, beside a quarter
    relative = [same("large", "100", 101.0), same("small", "0.1", 0.105)]
    assert worst(*relative) == "small"
    assert worst(same("far", "1", 1.001, limit=interval(1.08)), same("at", "1", 1.05, limit=interval(1.0))) == "far"


def test_exact_values_are_compared_before_they_are_rounded():
    def exact(name, value):
        prediction = Prediction(Kind.IDENTITY, "q", value=Enclosure(Decimal(1), Decimal(0)))
        return made(name, Verdict.SUPPORTED, prediction, points=(Point({}, exact=Enclosure(Decimal(value), Decimal("1e-20"))),))

    assert (
        worst(exact("equal", "1"), exact("further", "1.0000000000000000002"), exact("near", "1.0000000000000000001")) == "further"
    )


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((Tightness.TIGHT, Tightness.TIGHT), "tight"),
        ((Tightness.LOOSE, Tightness.LOOSE), "loose"),
        ((Tightness.TIGHT, Tightness.LOOSE), "mixed"),
        ((Tightness.TIGHT, Tightness.UNDETERMINED), "mixed"),
        ((Tightness.UNDETERMINED, Tightness.UNDETERMINED), "undetermined"),
        ((Tightness.TIGHT, None), "tight"),
        ((None, None), "-"),
    ],
)
def test_a_claim_is_tight_only_if_every_instance_is(words, shown):
    results = [made(i, Verdict.SUPPORTED, slack=interval(i), tightness=word) for i, word in enumerate(words)]
    (claim,) = summarise(results)
    assert claim_row(claim).tightness == shown
    assert (shown if shown != "loose" else "loose 0") in table([claim])


def test_what_is_not_well_has_no_tightness():
    fell = made("fell", Verdict.REFUTED, tightness=Tightness.TIGHT)
    for results in ([fell], [fell, made("supported", Verdict.SUPPORTED, tightness=Tightness.TIGHT)]):
        assert claim_row(summarise(results)[0]).tightness == "-"


def test_the_measured_value_of_a_limit_is_the_limit_that_was_fitted():
    fitted = same("fitted", "2", 1.9486, 0.0011, limit=Interval(2.017, 1.984, 2.05, 0.95))
    assert shown(fitted) == ("=2", "=2.02(4)")
    old = same("old", "2", 1.9486, 0.0011)
    assert shown(old) == ("=2", "=1.9486(11)*")
    assert "*: at the largest size, not the limit" in " ".join(table(summarise([old])).split())
    assert "largest size" not in table(summarise([fitted]))


def test_a_claimed_value_has_as_many_digits_as_the_measured_one():
    assert shown(same("a", "1.2146948", 1.214695, 1e-6, kind=Kind.IDENTITY)) == ("=1.214695", "=1.214695(1)")


def test_a_bound_on_one_number_shows_both_numbers():
    prediction = Prediction(Kind.BOUND, "q", rate="1", constant=0.0)
    result = made("a", Verdict.CERTIFIED, prediction, points=(Point({}, exact=Enclosure(Decimal("-0.25"), Decimal(0))),))
    assert shown(result) == ("<=0", "=-0.25")


def test_the_sum_counts_claims_by_their_worst_instance():
    results = (made(1, Verdict.CERTIFIED), made(2, Verdict.SUPPORTED))
    assert "1 supported" in sum_line(Report(profile="quick", seed=0, results=results))


@pytest.mark.parametrize("tolerance", [None, "1/100"])
@pytest.mark.parametrize("claimed", ["0.5", "0"])
def test_what_is_tolerated_of_a_limit_is_what_the_judge_tolerates(claimed, tolerance):
    prediction = Prediction(Kind.LIMIT, "q", base="d", value=Enclosure(Decimal(claimed), Decimal(0)), tolerance=tolerance)
    points = tuple(Point({"d": d}, exact=Enclosure(Decimal("0.4") + Decimal(1) / d, Decimal(0))) for d in (16, 32, 64))
    case = Case.read(prediction, points, Contract(), routes=1)
    result = Result("c", Status.THEOREM, {}, Judgement(Verdict.REFUTED, ""), prediction, points, Contract(), 1e-3, 0, 0.0, 0)
    assert tolerated(result) == pytest.approx(limit_tolerance(case, read_routes(points)[0]["exact"][0]), rel=1e-12)


def test_other_tolerances_are_those_of_the_judge():
    # A report may not see the judge, so that it restates them.
    assert claims.CONSTANT_TOLERANCE == CONSTANT_TOLERANCE
    assert claims.EXACT_TOLERANCE == IDENTITY_TOLERANCE
