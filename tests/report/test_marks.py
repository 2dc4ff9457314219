"""What pictures read of a record: marks, curves of the judge, and lines of what is claimed, which go where they should."""

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from theoryck.auditing import audit
from theoryck.judging import judge
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Result, Status
from theoryck.report.plots import traces
from theoryck.report.svg.marks import STEPS, approach, growth, growths

SIZES = (16, 32, 64, 128, 256, 512)


def judged(prediction, points):
    contract = Contract()
    judgement = judge(prediction, points, contract)
    return Result("a", Status.THEOREM, {}, judgement, prediction, tuple(points), contract, 1e-3, 0, 0.1, 0)


def bound(**options):
    return Prediction(Kind.BOUND, "q", base="d", **{"rate": "1/d", "rivals": ("d**-2",), **options})


def drawn(value, error=0.01, sizes=SIZES):
    return [Point({"d": d}, Estimate(value(d), error * abs(value(d)), 1000)) for d in sizes]


GROWN = {
    "bound": judged(bound(), drawn(lambda d: 2 / d)),
    "sum": judged(bound(rate="(1 + sqrt(d)/8)/d"), drawn(lambda d: (1 + math.sqrt(d) / 8) / d)),
    "negative": judged(bound(), drawn(lambda d: -2 / d)),
}


@pytest.mark.parametrize("name", GROWN)
def test_claim_and_rivals_go_through_the_fit_at_the_largest_size(name):
    found = growth(GROWN[name])
    (curve,) = found.fitted
    assert found.values(found.columns(curve)[0])[-1] == pytest.approx(curve.value(512))
    assert found.exponent == GROWN[name].exponent
    claimed, rival = (found.values(line) for line in (found.claimed, *found.rivals))
    assert claimed[-1] == pytest.approx(curve.value(512))
    assert rival[-1] == pytest.approx(curve.value(512))
    assert math.log(rival[0] / rival[-1]) == pytest.approx(2 * math.log(512 / 16))
    assert found.rivals[0].rejected == GROWN[name].rivals[0].rejected
    assert STEPS < len(found.grid) <= STEPS + len(SIZES)
    assert {*map(float, SIZES)} <= {*found.grid}


def test_a_claimed_constant_is_drawn_where_it_is():
    scaling = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, constant=2.0, rivals=("-3/2",))
    for prediction, constant in ((scaling, 2.0), (bound(constant=7.0, rivals=()), 7.0)):
        found = growth(judged(prediction, drawn(lambda d: 2 / d)))
        ratios = [value * size for value, size in zip(found.values(found.claimed), found.grid)]
        assert ratios == pytest.approx([constant] * len(ratios))
    assert growth(judged(scaling, drawn(lambda d: 2 / d))).rivals[0].label == "d^-3/2"


def test_a_law_without_a_rate_claims_no_line():
    found = growth(judged(Prediction(Kind.LAW, "q", base="d"), drawn(lambda d: 2 / d)))
    assert (found.claimed, found.rivals, found.claims) == (None, (), False)


def test_values_that_are_not_finite_are_named_and_the_claim_goes_through_the_last_that_is():
    result = replace(GROWN["bound"], points=tuple(drawn(lambda d: math.nan if d == 64 else 1 / d)))
    bare = tuple(replace(curve, nodes=(), centre=(), spread=(), reason="nan") for curve in result.judgement.curves)
    found = growth(replace(result, judgement=replace(result.judgement, curves=bare)))
    assert found.missing == ("Monte Carlo at d = 64: nan",)
    assert [mark.size for mark in found.traces[0].marks] == [16, 32, 128, 256, 512]
    assert (found.sizes, found.reason) == (SIZES, "nan")
    assert found.values(found.claimed)[-1] == pytest.approx(1 / 512)


def test_a_record_without_curves_has_marks():
    result = replace(GROWN["bound"], judgement=replace(GROWN["bound"].judgement, curves=()))
    found = growth(result)
    assert (found.base, len(found.traces[0].marks), found.fitted, found.claims) == ("d", 6, (), False)


def test_a_limit_has_differences():
    value = Enclosure(Decimal(1), Decimal(0))
    claim = Prediction(Kind.LIMIT, "m", base="d", value=value, rate="1/d")
    result = judged(claim, drawn(lambda d: 1 + 1 / d, 1e-4))
    for found in (growth(result), approach(result)):
        assert found.subtracted == 1
        assert [float(mark.value) for mark in found.traces[0].marks] == pytest.approx([1 / d for d in SIZES])
    assert growth(replace(result, prediction=replace(claim, rate=None))) is None
    assert approach(GROWN["bound"]) is None


def test_of_a_grid_every_line_that_was_fitted_has_a_curve():
    rows = [(d, n) for d in (16, 32, 64) for n in (100, 200, 400)]
    table = {"d": [d for d, _ in rows], "n": [n for _, n in rows]}
    result = audit(table, [n / d for d, n in rows], [0.01 * n / d for d, n in rows], rate="n/d")
    found = growths(result)
    assert (len(found), {line.base for line in found}, found[0].of) == (6, {"d", "n"}, 6)
    assert all(len(line.traces[0].marks) == 3 for line in found)
    assert len(traces(result)) == 3


def test_an_audit_of_negative_values_has_its_band_the_right_way_up():
    (trace,) = traces(audit({"d": list(SIZES)}, [-3 / d for d in SIZES], [0.01 / d for d in SIZES], rate="1/d"))
    assert all(low < centre < high < 0 for low, centre, high in zip(trace.low, trace.centre, trace.high))
