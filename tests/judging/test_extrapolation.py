"""A bound is not refuted by growth that nothing shows: values that fall relative to the rate over the larger half of the sizes."""

import numpy as np
import pytest

import theoryck as tc
from theoryck.judging import judge
from theoryck.judging.evidence import read_routes
from theoryck.judging.ratios import seen_to_rise
from theoryck.records import Contract, Estimate, Kind, Point, Prediction

SIZES = [2**k for k in range(4, 12)]


def audited(values, rate, noise=1e-3, **options):
    return tc.audit({"d": SIZES}, values, [noise * abs(value) for value in values], rate=rate, **options)


def test_a_bounded_quantity_with_a_large_correction_is_not_refuted():
    """1 + 256/d is O(1) and falls at every size; it is outside the correction family, so that the fit expects it to grow."""
    values = [1 + 256 / d for d in SIZES]
    points = [Point({"d": d}, Estimate(value, 1e-3 * value, 10**6)) for d, value in zip(SIZES, values)]
    found = judge(Prediction(Kind.BOUND, "q", base="d", rate="1"), points, Contract(1e-2, within=0.05))
    assert found.verdict == "INCONCLUSIVE"
    assert "extrapolated" in found.reason
    assert audited(values, "1").verdict == "INCONCLUSIVE"  # errors that were stated may be to blame, too
    declared = audited([1 + 256 / d for d in SIZES], "1", correction=1, amplitude=16)
    assert declared.verdict != "REFUTED"


@pytest.mark.parametrize("excess", [0.15, 0.5, 1.5])
@pytest.mark.parametrize("leading", [-2.0, 0.0, 2.0])
def test_growth_that_is_seen_refutes_as_before(excess, leading):
    values = [d ** (excess - 0.5) * (1 + leading * d**-0.5) for d in SIZES]
    assert audited(values, "d**(-1/2)").verdict == "REFUTED"
    assert audited([-value for value in values], "d**(-1/2)").verdict == "REFUTED"


def test_a_rival_is_rejected_by_what_is_seen_only():
    """The values fall like d^-1/2 relative to the claim; relative to the rival they rise, then (1 + 256/d) they do not."""
    points = [Point({"d": d}, Estimate(d**-0.5, 1e-4 * d**-0.5, 10**6)) for d in SIZES]
    claim = Prediction(Kind.BOUND, "q", base="d", rate="d**(-1/2)", rivals=("1/d",))
    assert judge(claim, points, Contract()).rivals[0].rejected
    points = [Point({"d": d}, Estimate((1 + 256 / d) / d, 1e-4 / d, 10**6)) for d in SIZES]
    claim = Prediction(Kind.BOUND, "q", base="d", rate="d**(-1/2)", rivals=("1/d",))
    assert not judge(claim, points, Contract()).rivals[0].rejected


def test_rises_are_weighted_least_squares_slopes():
    """Against numpy's weighted polynomial fit on the four largest of eight sizes."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        values, errors = rng.standard_normal(8), rng.uniform(0.1, 2, 8)
        points = [Point({"d": d}, Estimate(v, e, 100)) for d, v, e in zip(SIZES, values, errors)]
        series = read_routes(points)[0]["montecarlo"][0]
        slope = np.polyfit(np.log(SIZES[4:]), values[4:], 1, w=1 / errors[4:])[0]
        assert seen_to_rise(series, "d", [0.0] * 8, 1) == (slope > 0)
        assert seen_to_rise(series, "d", [0.0] * 8, -1) == (slope < 0)


def test_exact_data_are_not_told_to_take_more_draws():
    found = tc.audit({"d": [8, 16, 32, 64]}, [1, 0.5, 0.25, 0.125], 0, rate="1/d")
    assert found.verdict == "INCONCLUSIVE"
    assert "times the draws" not in found.reason
    assert "take larger sizes or declare the correction" in found.reason


def test_an_excess_is_flagged_only_where_it_decides():
    values = [d**0.5 for d in SIZES]
    assert "excess established" not in audited(values, "d**(-1/2)").judgement.flags
    small = [d**-0.46 for d in SIZES]
    found = audited(small, "d**(-1/2)", within=0.1)
    assert (found.verdict, "excess established" in found.judgement.flags) == ("INCONCLUSIVE", True)
