"""The curves in a judgement: they are what the judge fitted, at its level, and come back from a file."""

import json
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from theoryck.auditing import audit
from theoryck.fitting import fit_rate
from theoryck.fitting.limit import fit_limit
from theoryck.judging import judge
from theoryck.judging.growth import OSCILLATING
from theoryck.records import Bracket, Contract, Curve, Enclosure, Estimate, Kind, Point, Prediction, Result, Status, Verdict

SIZES = (16, 32, 64, 128, 256, 512)


def bound(**options):
    return Prediction(Kind.BOUND, "q", base="d", **{"rate": "1/d", "rivals": ("d**-2",), **options})


def drawn(value, error=0.01, sizes=SIZES):
    return [Point({"d": d}, Estimate(value(d), error * abs(value(d)), 1000)) for d in sizes]


def noisy(rng, error=0.02, sizes=SIZES):
    return [Point({"d": d}, Estimate((1 + error * rng.standard_normal()) / d, error / d, 1000)) for d in sizes]


def exact(value, sizes=SIZES):
    return [Point({"d": d}, exact=Enclosure(Decimal(value(d)), Decimal("1e-30"))) for d in sizes]


def everything(d):
    return Point({"d": d}, Estimate(1.01 / d, 0.02 / d, 1000), Enclosure(1 / Decimal(d), Decimal("1e-40")))


SCALING = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, constant=2.0, rivals=("-3/2",))
GROWN = {
    "bound": judge(bound(), drawn(lambda d: 2 / d), Contract()),
    "loose": judge(bound(rate="d**(-1/2)"), drawn(lambda d: (1 + 3 / d) / d), Contract()),
    "exact": judge(bound(correction=1.0), exact(lambda d: 2 / d + 1 / d**2), Contract()),
    "both routes": judge(bound(), [everything(d) for d in SIZES], Contract()),
    "negative": judge(bound(), drawn(lambda d: -2 / d), Contract()),
    "sum": judge(bound(rate="(1 + sqrt(d)/8)/d"), drawn(lambda d: (1 + math.sqrt(d) / 8) / d), Contract()),
    "scaling": judge(SCALING, drawn(lambda d: 2 / d), Contract()),
    "law": judge(Prediction(Kind.LAW, "q", base="d"), drawn(lambda d: 2 / d), Contract()),
    "law with rate": judge(Prediction(Kind.LAW, "q", base="d", rate="d**(-1/2)"), drawn(lambda d: 2 / d), Contract()),
    "in the noise": judge(bound(), noisy(np.random.default_rng(3), 0.2), Contract()),
    "large sizes": judge(bound(), drawn(lambda d: 1 / d, sizes=[2**k for k in range(4, 41, 4)]), Contract()),
}


@pytest.mark.parametrize("name", GROWN)
def test_the_curve_has_the_exponent_that_is_judged(name):
    (curve,) = GROWN[name].curves
    assert curve.exponent == GROWN[name].exponent
    assert set(curve.sizes) <= set(curve.nodes)
    assert curve.nodes == tuple(sorted(curve.nodes))


@pytest.mark.parametrize("name", ["both routes", "sum", "in the noise"])
def test_curves_come_back_from_a_file(name):
    result = Result("a/claim", Status.THEOREM, {}, GROWN[name], bound(), (), Contract(), 1e-3, 0, 0.1, 0)
    back = Result.from_json(json.loads(json.dumps(result.to_json())))
    assert back.judgement.curves == GROWN[name].curves
    assert back.curve == result.curve
    old = {key: value for key, value in result.to_json().items() if key != "curves"}
    assert Result.from_json(old).curve is None


@pytest.mark.parametrize("error", [0.05, 0.01, 1e-4])
def test_the_curve_is_that_of_a_direct_fit(error):
    """Of 1/d the ratio to the rate 1/d has the fit of the values themselves, with the exponent moved by 1."""
    points = drawn(lambda d: (1 + 3 / d) / d, error)
    (curve,) = judge(bound(), points, Contract()).curves
    values, errors = [p.estimate.value for p in points], [p.estimate.stderr for p in points]
    direct = fit_rate(SIZES, values, errors)
    for size in curve.nodes:
        expected = direct.value_at(size, 0.95)
        assert (curve.value(size), *curve.band(size)) == pytest.approx((expected.estimate, expected.low, expected.high), rel=1e-5)
        assert curve.value(size) == pytest.approx(expected.estimate, rel=1e-8)
    # Between them straight lines do, to half a pixel: 1/400 of the height of the picture, or 1% of the band.
    height = np.ptp(curve.centre)
    for size in np.geomspace(16, 512, 200):
        expected = direct.value_at(size, 0.95)
        allowed = max(2.5e-3 * height, 0.01 * math.log(expected.high / expected.estimate)) + 1e-5
        assert abs(math.log(curve.value(size) / expected.estimate)) <= 1.5 * allowed
        assert abs(math.log(curve.band(size)[1] / expected.high)) <= 3 * allowed


def test_a_record_of_a_curve_is_small():
    (curve,) = judge(bound(), noisy(np.random.default_rng(5)), Contract()).curves
    assert len(curve.nodes) < 24
    assert len(json.dumps(curve.to_json())) < 2500


def covered(level, trials=120):
    """How often the band contains the truth, at the sizes measured."""
    rng = np.random.default_rng(11)
    hits = []
    for _ in range(trials):
        (curve,) = judge(bound(), noisy(rng), Contract(level=level)).curves
        hits.append([curve.band(size)[0] <= 1 / size <= curve.band(size)[1] for size in SIZES])
    return np.mean(hits, axis=0)


def test_the_band_covers_the_truth_at_its_level():
    # Fewer than 106 of 120 has probability 5e-4 at 95%.  A band at 50% allows for corrections too, and yet is seen to cover less.
    assert covered(0.95).min() >= 106 / 120
    assert covered(0.5).mean() < 105 / 120


@pytest.mark.parametrize(("name", "power"), [("bound", -1), ("loose", -1.5), ("scaling", -0.5), ("negative", -1)])
def test_rivals_are_rates_over_the_claimed_one(name, power):
    (curve,) = GROWN[name].curves
    (logs,) = curve.rivals.values()
    assert logs == pytest.approx([power * math.log(size / 512) for size in SIZES])
    assert GROWN["law"].curves[0].rivals == {}


def test_values_have_their_sign_and_the_band_its_order():
    (curve,) = GROWN["negative"].curves
    assert curve.sign == -1
    for size in curve.nodes:
        low, high = curve.band(size)
        assert low < curve.value(size) < high < 0


def test_residuals_are_gaps_in_standard_errors():
    points = noisy(np.random.default_rng(5))
    (curve,) = judge(bound(), points, Contract()).curves
    for residual, point in zip(curve.residuals["montecarlo"], points, strict=True):
        model = curve.value(point.sizes["d"])
        assert residual == pytest.approx((point.estimate.value - model) / point.estimate.stderr, abs=1e-5)


def test_estimates_are_compared_with_the_curve_of_the_exact_values():
    (curve,) = GROWN["both routes"].curves
    assert curve.route == "exact"
    assert curve.residuals["montecarlo"] == pytest.approx([0.5] * len(SIZES), abs=1e-5)


def test_residuals_are_those_from_the_curve_that_is_kept():
    """Estimates beside brackets that decide have a fit of their own, which no picture shows."""
    points = [
        Point({"d": d}, Estimate(1 / d, 0.01 / d, 1000), bracket=Bracket(0.99 / d, 1.01 / d, 1e-4 / d, 1e-4 / d))
        for d in (8, 16, 32, 64, 128)
    ]
    found = judge(Prediction(Kind.BOUND, "q", base="d", rate="1/d"), points, Contract())
    assert {curve.route for curve in found.curves} == {route for curve in found.curves for route in curve.residuals}


def test_brackets_have_a_curve_for_either_end():
    points = [Point({"d": d}, bracket=Bracket(0.9 / d, 1.1 / d, 0.01 / d, 0.01 / d)) for d in SIZES]
    low, high = judge(bound(), points, Contract()).curves
    assert (low.route, high.route) == ("bracket-low", "bracket-high")
    assert max(low.value(16), low.value(512)) < max(high.value(16), high.value(512))


def test_error_bars_that_a_few_draws_made_are_not_trusted():
    points = [Point({"d": d}, Estimate(1 / d, 0.01 / d, 1000, skewness=30.0)) for d in SIZES]
    (curve,) = judge(bound(), points, Contract()).curves
    assert not curve.trusted
    assert all(curve.trusted for found in GROWN.values() for curve in found.curves)


def limit(value, points, **options):
    value = Enclosure(Decimal(value), Decimal(0))
    return judge(Prediction(Kind.LIMIT, "m", base="d", value=value, **options), points, Contract())


def test_a_limit_is_the_one_fitted():
    points = drawn(lambda d: 1 + 3 / d, 1e-3)
    (curve,) = limit("1", points, tolerance="0.05", rivals=("1.2", "1/3"), correction=1.0).curves
    gaps, errors = [p.estimate.value - 1 for p in points], [p.estimate.stderr for p in points]
    direct = fit_limit(SIZES, gaps, errors, scale=points[0].estimate.value, correction=1.0)
    assert (curve.limit.low, curve.limit.high) == pytest.approx((direct.interval().low, direct.interval().high), rel=1e-6)
    assert curve.tolerance == 0.05
    assert curve.rivals == {"1.2": (pytest.approx(0.2),), "1/3": (pytest.approx(-2 / 3),)}
    for size in curve.nodes:
        expected = direct.value_at(size)
        found = (curve.value(size), *curve.band(size))
        assert found == pytest.approx((expected.estimate, expected.low, expected.high), abs=1e-6)
    for residual, size, gap, error in zip(curve.residuals["montecarlo"], SIZES, gaps, errors, strict=True):
        assert residual == pytest.approx((gap - curve.value(size)) / error, abs=1e-5)


def test_a_limit_with_a_rate_has_two_curves():
    found = limit("1", drawn(lambda d: 1 + 1 / d, 1e-4), rate="1/d")
    approach, growth = found.curves
    assert (approach.sign, growth.sign) == (0, 1)
    assert growth.exponent == found.exponent
    assert growth.value(64) == pytest.approx(1 / 64, rel=1e-2)


TROUBLE = {
    "mixed signs": ([Point({"d": d}, Estimate((-1 if i == 2 else 1) / d, 0.01 / d, 9)) for i, d in enumerate(SIZES)], "sign"),
    "zeros": ([Point({"d": d}, Estimate(0.0, 0.0, 9)) for d in SIZES], "exactly 0"),
    "one point": (drawn(lambda d: 1 / d, sizes=[16]), "1 size"),
}


def test_what_changes_sign_from_size_to_size_has_the_curve_of_its_size():
    points = [Point({"d": d}, Estimate((-1) ** i / d, 0.01 / d, 9)) for i, d in enumerate(SIZES)]
    judgement = judge(bound(rivals=()), points, Contract())
    assert judgement.verdict is Verdict.SUPPORTED
    assert OSCILLATING in judgement.flags
    (curve,) = judgement.curves
    assert np.allclose(curve.centre, 0, atol=0.01)  # log(|value|/rate), to the stated error


@pytest.mark.parametrize("name", TROUBLE)
def test_what_cannot_be_fitted_says_why(name):
    points, reason = TROUBLE[name]
    (curve,) = judge(bound(rivals=()), points, Contract()).curves
    assert (curve.nodes, curve.centre) == ((), ())
    assert reason in curve.reason
    with pytest.raises(ValueError, match="no curve was fitted along d"):
        curve.value(16)


def test_what_is_no_growth_has_no_curve():
    value = Enclosure(Decimal(1), Decimal(0))
    assert judge(Prediction(Kind.IDENTITY, "m", value=value), [Point({}, exact=value)], Contract()).curves == ()
    assert judge(bound(), [], Contract()).curves == ()
    assert judge(bound(), drawn(lambda d: 1 / d), Contract(), final=False).settled


def test_a_curve_whose_lengths_do_not_fit_is_refused():
    with pytest.raises(ValueError, match="must have the same length, got 2, 1 and 2"):
        Curve("exact", "d", (16, 32), 1, (16.0, 32.0), (0.0,), (0.0, 0.0))
    with pytest.raises(ValueError, match="a rate for each of its 2 sizes, got 1"):
        Curve("exact", "d", (16, 32), 1, log_rates=(0.0,))


def grid(**options):
    rng = np.random.default_rng(2)
    rows = [(d, n) for d in (16, 32, 64, 128) for n in (100, 200, 400, 800)]
    sizes = {"d": [d for d, _ in rows], "n": [n for _, n in rows]}
    values = [n**-0.5 / d * (1 + 0.01 * rng.standard_normal()) for d, n in rows]
    return audit(sizes, values, [0.01 * n**-0.5 / d for d, n in rows], **options)


def test_of_a_grid_the_line_that_decided_comes_first():
    result = grid(rate="n**(-1/2)/d")
    curves = result.judgement.curves
    assert curves[0].exponent == result.exponent
    assert curves[0].base == result.prediction.base
    assert len(curves) == len({(curve.base, *curve.fixed.items()) for curve in curves}) == 8
    assert [curve.base for curve in curves] == sorted((curve.base for curve in curves), key=lambda base: base != curves[0].base)
    assert len(grid(rate="n**(-1/2)/d", constant=1.5).judgement.curves) == 8


def test_the_rivals_of_an_audit_are_named_as_they_were_written():
    sizes = list(SIZES)
    result = audit({"d": sizes}, [3 / d for d in sizes], [0.01 / d for d in sizes], rate="1/d", kind="scaling", rivals=["1/d**2"])
    assert result.curve.rivals == {"1/d**2": pytest.approx([-math.log(size / 512) for size in SIZES])}
    measured = audit({"d": sizes}, [3 / d for d in sizes], [0.01 / d for d in sizes])
    assert measured.verdict is Verdict.INCONCLUSIVE
    assert measured.curve.value(512) == pytest.approx(3 / 512, rel=0.05)
    assert replace(measured.curve, fixed={"n": 3}).fixed == {"n": 3}


@pytest.mark.parametrize("first", [0, 1])
def test_the_curve_of_a_geometric_rate_is_linear_in_its_sizes(first):
    levels = list(range(first, 10))
    values = [3 * 2.0**-level for level in levels]
    (curve,) = audit({"l": levels}, values, [0.01 * value for value in values], rate="2**(-l)", rivals=["4**(-l)"]).judgement.curves
    assert (curve.linear, curve.sizes) == (True, tuple(levels))
    assert Curve.from_json(curve.to_json()) == curve
    middle = [level + 0.5 for level in levels[:-1]]  # the claimed rate and the rival are straight lines there too
    assert [curve.log_rate(at) for at in middle] == pytest.approx([-at * math.log(2) for at in middle])
    assert [curve.log_rival("4**(-l)", at) for at in middle] == pytest.approx([(levels[-1] - at) * math.log(2) for at in middle])
    # Values that are the rate, known to 1%, are within twice that of the curve.
    assert [curve.value(level) for level in levels] == pytest.approx(values, rel=0.02)
    for at in middle:
        low, high = curve.band(at)
        assert low <= 3 * 2.0**-at <= high


def test_only_a_linear_curve_has_a_size_without_a_logarithm():
    with pytest.raises(ValueError, match="has positive ones, got 0"):
        Curve("montecarlo", "l", (0, 1, 2), 1)
    assert Curve("montecarlo", "l", (0, 1, 2), 1, linear=True).sizes == (0, 1, 2)


def test_a_loss_law_has_a_curve_for_each_line_of_the_table():
    rows = [(n, d) for d in (1, 4, 16, 64) for n in (1, 2, 4, 8)]
    values = [1.7 + n**-0.5 + 2 * d**-0.4 for n, d in rows]
    result = audit({"N": [n for n, _ in rows], "D": [d for _, d in rows]}, values, 1e-3, kind="loss-law", limit=1.5)
    curves = result.judgement.curves
    assert [(curve.base, curve.fixed, curve.sizes) for curve in curves] == [("N", {"D": d}, (1, 2, 4, 8)) for d in (1, 4, 16, 64)]
    for curve in curves:
        assert curve.value(3) + 1.5 == pytest.approx(
            1.7 + 3**-0.5 + 2 * curve.fixed["D"] ** -0.4, abs=5e-3
        )  # chords are within RESOLVED of its height
        assert curve.limit.estimate + 1.5 == pytest.approx(result.judgement.limit.estimate)
        assert curve.tolerance == pytest.approx(0.05 * 1.5)
        assert max(map(abs, curve.residuals["montecarlo"])) < 0.01
