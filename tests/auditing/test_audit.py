"""Audits of data whose truth is known: verdicts, exponents, and what is said of awkward data.

Values follow closed forms; where noise is drawn its size is declared, so that a limit at z standard errors holds for every seed but
a fraction that the limit itself names.
"""

import json
import math
from decimal import Decimal
from fractions import Fraction

import jsonschema
import numpy as np
import pytest

import theoryck as tc
from theoryck import __version__
from theoryck.auditing import audit
from theoryck.auditing.directions import fit_grid
from theoryck.auditing.tables import TableError
from theoryck.judging import judge
from theoryck.records import Contract, Kind, Prediction, Report, Result, Status, Tightness, Verdict
from theoryck.report.json import schema

D = np.array([16, 32, 64, 128, 256, 512, 1024])
RNG = np.random.default_rng(4)
NOISE = RNG.standard_normal(len(D))


def powers(exponent, relative=1e-3, constant=2.0):
    """A pure power with relative noise of the size declared."""
    values = constant * D**exponent
    return values * (1 + relative * NOISE), relative * values


def check_schema(result):
    jsonschema.validate(json.loads(json.dumps(Report("audit", 0, (result,), __version__).to_json())), schema())
    assert Result.from_json(json.loads(json.dumps(result.to_json()))).to_json() == result.to_json()


# -- verdicts ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "rate", "kind", "verdict", "tightness"),
    [
        (-0.5, "d**(-1/2)", "bound", Verdict.SUPPORTED, Tightness.TIGHT),
        (-1.0, "d**(-1/2)", "bound", Verdict.SUPPORTED, Tightness.LOOSE),
        (-0.35, "d**(-1/2)", "bound", Verdict.REFUTED, None),
        (1.0, "d**(-1/2)", "bound", Verdict.REFUTED, None),
        (1.0, "1", "bound", Verdict.REFUTED, None),
        (1.0, "d", "bound", Verdict.SUPPORTED, Tightness.TIGHT),
        (-0.5, "3*d**(-1/2)", "scaling", Verdict.SUPPORTED, None),
        (-1.0, "d**(-1/2)", "scaling", Verdict.REFUTED, None),
    ],
)
def test_verdicts_on_pure_powers(exponent, rate, kind, verdict, tightness):
    values, stderr = powers(exponent)
    found = tc.audit({"d": D}, values, stderr, rate, kind, 1.0)
    assert (found.verdict, found.tightness) == (verdict, tightness)
    # Corrections O(1/d) of amplitude 2 leave a stderr of some 0.003 at this noise: 0.02 is six of them.
    assert found.exponent.estimate == pytest.approx(exponent, abs=0.02)
    assert found.exponent.low < exponent < found.exponent.high
    assert found.claim == "audit/data"
    assert found.status is Status.CONJECTURE
    assert found.prediction.kind is Kind(kind)
    assert not found.reason.startswith("Monte Carlo")
    assert found.reason.startswith("on d = 16..1024")
    check_schema(found)


@pytest.mark.parametrize("rate", ["1/sqrt(d)", "d**(-1/100)", "1/d", "1/log(d)", "d**(-3)", "1"])
def test_growth_against_any_bound_that_does_not_grow_is_refuted(rate):
    for stderr in (0.05 * D, 0):
        assert audit({"d": D}, D, stderr, rate).verdict is Verdict.REFUTED


def test_exact_data_need_no_noise():
    found = audit({"d": D}, 3 / D, 0, "1/d", correction=1)
    assert (found.verdict, found.tightness) == (Verdict.SUPPORTED, Tightness.TIGHT)
    assert found.constant.estimate == pytest.approx(3, rel=1e-3)
    assert audit({"d": D}, 3 / D, np.zeros(7), "1/d", "scaling", correction=1).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_sizes_are_inconclusive_and_say_so(count):
    values, stderr = powers(-0.5)
    found = audit({"d": D[:count]}, values[:count], stderr[:count], "d**(-1/2)")
    assert found.verdict is Verdict.INCONCLUSIVE
    said = "1 size" if count == 1 else f"{count} sizes"
    assert f"{said} cannot show an exponent together with its corrections: measure at least 3" in found.reason
    assert found.exponent is None
    check_schema(found)
    measured = audit({"d": D[:count]}, values[:count], stderr[:count])
    assert measured.verdict is Verdict.INCONCLUSIVE
    said = "1 size" if count == 1 else f"{count} sizes"
    assert f"{said} cannot show" in measured.reason


def test_without_a_rate_the_exponent_is_measured_and_nothing_judged():
    values, stderr = powers(-1.5)
    found = audit({"d": D}, values, stderr, correction=1)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.ok
    assert found.reason == "no rate was given: the exponent is measured and nothing is judged"
    assert found.exponent.low < -1.5 < found.exponent.high
    assert (found.slack, found.constant, found.tightness, found.judgement.claimed_exponent) == (None, None, None, None)
    assert found.prediction.rate is None
    check_schema(found)


def test_rivals_are_rejected_or_the_check_says_that_it_could_not_fail():
    values, stderr = powers(-0.5)
    found = audit({"d": D}, values, stderr, "d**(-1/2)", correction=1, rivals=["1/d", "d**(-0.51)"])
    assert [(rival.rate, rival.rejected) for rival in found.rivals] == [("1/d", True), ("d**(-0.51)", False)]
    assert found.verdict is Verdict.INCONCLUSIVE
    found = audit({"d": D}, values, stderr, "d**(-1/2)", correction=1, rivals=["1"])
    assert found.verdict is Verdict.VACUOUS
    found = audit({"d": D}, values, stderr, "d**(-1/2)", "scaling", correction=1, rivals=["1/d", "-0.8"])
    assert [(rival.rate, rival.rejected) for rival in found.rivals] == [("1/d", True), ("-0.8", True)]


def test_a_constant_makes_a_bound_one_of_numbers():
    values, stderr = powers(-0.5)  # 2 / sqrt(d)
    assert audit({"d": D}, values, stderr, "d**(-1/2)", constant=2.2).verdict is Verdict.SUPPORTED
    assert audit({"d": D}, values, stderr, "d**(-1/2)", constant=1.8).verdict is Verdict.REFUTED
    for constant, verdict in ((2.0, Verdict.SUPPORTED), (1.5, Verdict.REFUTED)):
        assert audit({"d": D}, values, stderr, "d**(-1/2)", "scaling", correction=1, constant=constant).verdict is verdict
    # 2 / sqrt(d) = 4 / sqrt(4 d): the constant is that of the rate, not of a power of the base.
    sizes = {"d": D, "n": 4 * D}
    assert audit(sizes, values, stderr, "n**(-1/2)", "scaling", correction=1, constant=4).verdict is Verdict.SUPPORTED
    assert audit(sizes, values, stderr, "n**(-1/2)", "scaling", correction=1, constant=2).verdict is Verdict.REFUTED


def test_log_factors_are_judged_on_the_same_grid():
    values = np.sqrt(np.log(D) / D)
    assert audit({"d": D}, values, 1e-4 * values, "sqrt(log(d)/d)", correction=1).verdict is Verdict.SUPPORTED


# -- awkward values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-28, 1e30])
def test_large_and_small_values_give_the_same_verdict(scale):
    values, stderr = powers(-0.5)
    found = audit({"d": D}, values * scale, stderr * scale, "d**(-1/2)", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert found.exponent.estimate == pytest.approx(
        audit({"d": D}, values, stderr, "d**(-1/2)", correction=1).exponent.estimate, abs=1e-6
    )
    assert found.constant.estimate == pytest.approx(2 * scale, rel=0.02)


def test_values_may_span_the_whole_numeric_domain():
    sizes = np.array([10, 100, 1000, 10_000, 100_000])
    values = np.array([float(f"1e{30 - 15 * k}") for k in range(5)])
    found = audit({"d": sizes}, values, values * 1e-3, "d**(-15)", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert found.exponent.estimate == pytest.approx(-15, abs=0.02)


def test_integers_of_any_type_and_order_and_name():
    values, stderr = powers(-0.5)
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    first = audit({"d": D}, values, stderr, "d**(-1/2)")
    for sizes in (
        D[order].astype(np.int32),
        D[order].astype(np.float32),
        [int(d) for d in D[order]],
        [Fraction(int(d)) for d in D[order]],
    ):
        again = audit({"d": sizes}, values[order], list(stderr[order]), "d**(-1/2)")
        assert again.judgement == first.judgement
    counts = audit({"d": D.tolist()}, (1024 // D).tolist(), 0, "1/d", correction=1)
    assert counts.verdict is Verdict.SUPPORTED
    assert audit({"d": D}, [Decimal(int(1024 // d)) for d in D], 0, "1/d", correction=1).judgement == counts.judgement


def test_zero_negative_and_changing_signs_never_crash():
    values, stderr = powers(-0.5)
    for sign in (1, -1):
        found = audit({"d": D}, sign * values, stderr, "d**(-1/2)", correction=1)
        assert found.exponent.low < -0.5 < found.exponent.high
    changing = audit({"d": D}, values * (-1.0) ** np.arange(7), stderr, "d**(-1/2)", "scaling")
    assert changing.verdict is Verdict.INCONCLUSIVE
    assert "the values change sign, at sizes 16 (positive) and 32 (negative)" in changing.reason
    one_zero = values.copy()
    one_zero[3] = 0.0
    exact = audit({"d": D}, one_zero, 0, "d**(-1/2)")
    assert exact.verdict is Verdict.INCONCLUSIVE
    assert "the value at size 128 is exactly 0" in exact.reason
    for zeros in (audit({"d": D}, 0 * values, 0, "d**(-1/2)"), audit({"d": D}, 0 * values, 0, "d**(-1/2)", "scaling")):
        assert zeros.verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE)
        check_schema(zeros)
    noise = audit({"d": D}, stderr * NOISE, stderr, "d**(-1/2)")
    assert noise.verdict is Verdict.INCONCLUSIVE
    assert "noise floor at 16, 32, 64, 128, 256, 512, 1024" in noise.judgement.flags


# -- rows ----------------------------------------------------------------------------------------------------------------------


def test_independent_measurements_are_combined_and_say_so():
    values = np.repeat(2 / D, 4) * (1 + 1e-3 * RNG.standard_normal(28))
    found = audit({"d": np.repeat(D, 4)}, values, 1e-3 * np.repeat(2 / D, 4), "1/d", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert len(found.points) == 7
    assert found.draws == 28
    # Four equal errors halve: the weights are equal, the mean is the plain one.
    assert found.points[0].estimate.value == pytest.approx(values[:4].mean(), rel=1e-12)
    assert found.points[0].estimate.stderr == pytest.approx(1e-3 * 2 / 16 / 2, rel=1e-12)
    assert found.judgement.flags[0] == "independent measurements combined at d = 16; d = 32; ...; d = 1024"


def test_measurements_that_disagree_beyond_chance_have_their_errors_enlarged():
    scatter = RNG.standard_normal(28)
    values = np.repeat(2 / D, 4) * (1 + 1e-2 * scatter)
    found = audit({"d": np.repeat(D, 4)}, values, 1e-3 * np.repeat(2 / D, 4), "1/d", correction=1)
    enlarged = [flag for flag in found.judgement.flags if flag.startswith("repeated measurements disagree")]
    assert enlarged
    # chi2/dof of errors ten times too small is 100 (1 +- sqrt(2/21)): the factor lies within 5 of these deviations of 10.
    factor = float(enlarged[0].split("enlarged ")[1].split(" times")[0])
    assert factor == pytest.approx(10, abs=5 * 0.5 * math.sqrt(2 / 21) * 10)
    assert found.exponent.half_width > 3 * audit({"d": D}, 2 / D, 5e-4 * 2 / D, "1/d", correction=1).exponent.half_width


def test_exact_values_that_differ_are_no_longer_exact():
    sizes = np.repeat(D, 2)
    values = np.repeat(2.0 / D, 2)
    assert audit({"d": sizes}, values, 0, "1/d", correction=1).points[0].estimate.stderr == 0
    values[0] *= 1.01
    first = audit({"d": sizes}, values, 0, "1/d", correction=1).points[0].estimate
    assert first.flags == ("exact-values-differ",)
    assert first.stderr == pytest.approx(0.01 * 2 / 16 / 2, rel=1e-9)


def test_replicates_give_the_mean_and_its_error():
    replicates = 2000
    sizes = np.repeat(D, replicates)
    values = (2 + 0.2 * RNG.standard_normal(len(sizes))) / sizes
    found = audit({"d": sizes}, values, rate="1/d", correction=1)
    first = values[:replicates]
    assert found.points[0].estimate.value == pytest.approx(first.mean(), rel=1e-12)
    plain = first.std(ddof=1) / math.sqrt(replicates)
    # The honest factor sqrt(1 + sqrt(2/n)) for a Gaussian is 1.016 here.
    assert plain < found.points[0].estimate.stderr < 1.03 * plain
    assert found.points[0].estimate.draws == replicates
    assert found.verdict is Verdict.SUPPORTED


def test_few_replicates_are_pooled_and_widened():
    sizes = np.repeat(D, 5)
    values = (1 + 0.01 * np.tile([-2.0, -1.0, 0.0, 1.0, 2.0], 7)) / sizes
    found = audit({"d": sizes}, values, rate="1/d", correction=1)
    assert "5 replicates a size: their spread is pooled over 7 sizes" in found.judgement.flags
    assert not any("few-draws" in flag for flag in found.judgement.flags)
    # The spread follows 1/d exactly, so that the law is met exactly: std/sqrt(5) = 0.01 sqrt(10/4/5)/d, on 28 - 2 degrees of
    # freedom; t_26 at 0.005 is 2.7787 (tables), z is 2.5758; the kurtosis factor sqrt(1 + sqrt(2/35)) = 1.1132 is larger.
    assert found.points[2].estimate.stderr == pytest.approx(0.01 * math.sqrt(0.5) / 64 * 1.11318, rel=1e-4)


def test_replicates_whose_spread_follows_no_law_keep_their_own():
    spread = np.repeat([1e-3, 1e-1, 1e-3, 1e-1, 1e-3, 1e-1, 1e-3], 4)
    sizes = np.repeat(D, 4)
    values = (1 + spread * np.tile([-1.0, -1 / 3, 1 / 3, 1.0], 7)) / sizes
    found = audit({"d": sizes}, values, rate="1/d", correction=1)
    assert not any("pooled" in flag for flag in found.judgement.flags)
    errors = [point.estimate.stderr * d for point, d in zip(found.points, D)]
    assert errors[1] == pytest.approx(100 * errors[0], rel=1e-9)
    # t_3 at 0.005 is 5.8409 (tables): 2.2676 times z.
    plain = 1e-3 * math.sqrt(20 / 9 / 3 / 4)
    assert errors[0] == pytest.approx(2.2676 * plain, rel=1e-4)


def test_a_size_with_one_replicate_gets_the_error_of_the_law():
    sizes = np.repeat(D, 5)[:-4]
    values = ((1 + 0.01 * np.tile([-2.0, -1.0, 0.0, 1.0, 2.0], 7)) / np.repeat(D, 5))[:-4]
    found = audit({"d": sizes}, values, rate="1/d", correction=1)
    assert len(found.points) == 7
    ratio = found.points[-1].estimate.stderr / found.points[0].estimate.stderr
    assert ratio == pytest.approx(math.sqrt(5) * 16 / 1024, rel=1e-9)


def test_replicates_of_heavy_tails_decide_nothing():
    sizes = np.repeat(D, 40)
    values = np.exp(2 * RNG.standard_normal(len(sizes)))
    found = audit({"d": sizes}, values, rate="1")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "carried by a few draws" in found.reason


# -- rows without errors -------------------------------------------------------------------------------------------------------


def test_one_row_a_size_without_errors_is_judged_by_its_scatter_and_says_so():
    noisy = 2 * D**-0.5 * np.exp(0.001 * NOISE)
    with_errors = audit({"d": D}, noisy, 0.001 * noisy, "d**(-1/2)", correction=1)
    found = audit({"d": D}, noisy, rate="d**(-1/2)", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert "no stderr: residual scatter" in found.judgement.flags
    assert found.exponent.low < -0.5 < found.exponent.high
    assert found.exponent.half_width > with_errors.exponent.half_width
    assert all(0 < point.estimate.stderr < math.inf for point in found.points)
    check_schema(found)
    measured = audit({"d": D}, noisy, correction=1)
    assert measured.exponent.low < -0.5 < measured.exponent.high
    assert measured.exponent.half_width < found.exponent.half_width


def test_the_rates_own_curvature_is_no_scatter():
    found = audit({"d": D}, np.sqrt(np.log(D) / D), rate="sqrt(log(d)/d)")
    assert found.verdict is Verdict.SUPPORTED
    assert found.points[0].estimate.stderr < 0.01 * found.points[0].estimate.value


@pytest.mark.parametrize("rate", ["1/sqrt(d)", "1/d", "1/log(d)", "1"])
def test_growth_without_errors_is_refuted_too(rate):
    assert audit({"d": D}, D, rate=rate).verdict is Verdict.REFUTED
    assert audit({"d": D}, 1e26 * D, rate=rate, correction=1).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (1 / D[:3], "3 sizes without standard errors cannot show"),
        (0 * D, "every value is zero"),
        (np.where(D == 64, -1.0, 1.0) / D, "the value at size 64 is zero or has another sign"),
    ],
)
def test_without_errors_some_questions_stay_open(values, reason):
    for rate in ("1/d", None):
        found = audit({"d": D[: len(values)]}, values, rate=rate)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert reason in found.reason
        assert found.exponent is None
        check_schema(found)


def test_one_repeated_row_among_rows_without_errors_is_one_more_row():
    sizes = np.append(D, 64)
    found = audit({"d": sizes}, np.append(3 / D, 3.001 / 64), rate="1/d", correction=1)
    assert len(found.points) == 8
    copied = audit({"d": sizes}, np.append(3 / D, 3 / 64), rate="1/d", correction=1)
    assert len(copied.points) == 7
    assert copied.verdict is Verdict.SUPPORTED
    assert "all rows are equal at d = 64: counted once" in copied.judgement.flags


# -- copies and rounded values -------------------------------------------------------------------------------------------------


def replicates(count, relative, rng):
    sizes = np.repeat(D, count)
    return sizes, sizes**-0.5 * (1 + relative * rng.standard_normal(len(sizes)))


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_are_equal_at_one_size_are_one_row_with_the_error_of_the_others(seed):
    rng = np.random.default_rng(seed)
    sizes, values = replicates(10, 0.2, rng)
    first, last = (size**-0.5 * (1 + 0.2 * rng.standard_normal()) for size in (8, 2048))
    given = {"d": [*sizes, 2048, 2048, 8, 8]}, [*values, last, last * (1 + 2e-16), first, first]
    found = audit(*given, rate="d**(-1/2)", correction=1)
    assert found.verdict is not Verdict.REFUTED
    assert "10 replicates a size: their spread is pooled over 7 sizes" in found.judgement.flags
    assert any(flag.startswith("all rows are equal at d = 8; d = 2048: the error of one row") for flag in found.judgement.flags)
    # The spread is 20% of the value, known from 63 rows to some 9% times the t and kurtosis factors (at most 1.15).
    for point in (found.points[0], found.points[-1]):
        assert 0.14 < point.estimate.stderr * point.sizes["d"] ** 0.5 < 0.32
    # A claim that is wrong by far falls none the less.
    assert audit(*given, rate="1/d", correction=1).verdict is Verdict.REFUTED


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [2, 3, 50])
def test_rounded_values_are_not_exact(seed, count):
    sizes, values = replicates(count, 0.05 if count < 50 else 0.02, np.random.default_rng(seed))
    found = audit({"d": sizes}, np.round(values, 2), rate="d**(-1/2)", correction=1)
    assert found.verdict is not Verdict.REFUTED
    # The deviation of what is rounded to steps of 0.01 is 0.01/sqrt(12) = 0.0029.
    equal = [point for point in found.points if np.ptp(np.round(values, 2)[sizes == point.sizes["d"]]) == 0]
    assert equal
    if "no stderr: residual scatter" not in found.judgement.flags:  # as with fewer than three sizes whose replicates differ
        assert all(point.estimate.stderr >= 0.002886 for point in equal)


@pytest.mark.parametrize("copies", [2, 3])
def test_a_file_written_twice_says_no_more_than_once(copies):
    values, stderr = powers(-0.5, 0.01)
    sizes, noisy = replicates(4, 0.05, np.random.default_rng(1))
    for given in (({"d": D}, values), ({"d": D}, values, stderr), ({"d": sizes}, noisy)):
        twice = ({"d": np.tile(given[0]["d"], copies)}, *(np.tile(column, copies) for column in given[1:]))
        once, found = (audit(*columns, rate="d**(-1/2)", correction=1) for columns in (given, twice))
        said = f"rows occur {'twice' if copies == 2 else '3 times'}: counted once"
        assert found.judgement.flags == (said, *once.judgement.flags)
        assert (found.verdict, found.exponent) == (once.verdict, once.exponent)


def test_equal_rows_without_a_law_have_no_error_bar():
    spread = np.repeat([1e-3, 1e-1, 1e-3, 1e-1, 1e-3, 1e-1, 0.0], 4)
    values = (1 + spread * np.tile([-1.0, -1 / 3, 1 / 3, 1.0], 7)) / np.repeat(D, 4)
    found = audit({"d": np.repeat(D, 4)}, values, rate="1/d", correction=1)
    assert found.points[-1].estimate.stderr == math.inf
    assert "all rows are equal at d = 1024: no error bar, as no law of the spread holds" in found.judgement.flags


def test_a_grid_without_errors():
    sizes, values, _ = grid(-0.5, -1.0, relative=1e-4)
    assert audit(sizes, values, rate="d**(-1/2)/n", correction=1).verdict is Verdict.SUPPORTED
    found = audit(sizes, values, rate="d**(-1/2)/n**2", correction=1)
    assert found.verdict is Verdict.REFUTED
    assert all(math.isfinite(point.estimate.stderr) for point in found.points)
    few = sizes["n"] <= 160  # 3 values of n: too few to show scatter by themselves
    found = audit({name: column[few] for name, column in sizes.items()}, values[few], rate="d**(-1/2)/n**2", correction=1)
    assert found.verdict is Verdict.REFUTED


# -- several sizes -------------------------------------------------------------------------------------------------------------


def test_sizes_on_one_path_have_the_exponent_of_the_path():
    values, stderr = powers(-0.5)
    found = audit({"d": D, "n": 2 * D, "depth": np.full(7, 3)}, values, stderr, "sqrt(d)/n", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert found.judgement.claimed_exponent == -0.5
    assert found.prediction.path["depth"] == "3"
    falling = audit({"n": (2**20 // D), "d": D}, values, stderr, "d**(-1/2)", correction=1)
    assert falling.verdict is Verdict.SUPPORTED


def grid(exponent_d, exponent_n, relative=1e-3):
    d, n = (side.ravel() for side in np.meshgrid(D, 10 * 4 ** np.arange(6)))
    values = 3.0 * d**exponent_d * n**exponent_n
    return {"d": d, "n": n}, values * (1 + relative * np.random.default_rng(1).standard_normal(len(d))), relative * values


@pytest.mark.parametrize(
    ("rate", "kind", "verdict"),
    [
        ("d**(-1/2)/n", "bound", Verdict.SUPPORTED),
        ("1/n", "bound", Verdict.SUPPORTED),
        ("d**(-1/2)/n**(5/4)", "bound", Verdict.REFUTED),
        ("d**(-3/4)/n", "bound", Verdict.REFUTED),
        ("d**(-1/2)/n", "scaling", Verdict.SUPPORTED),
        ("1/n", "scaling", Verdict.REFUTED),
    ],
)
def test_on_a_grid_every_line_is_judged(rate, kind, verdict):
    sizes, values, stderr = grid(-0.5, -1.0)
    found = audit(sizes, values, stderr, rate, kind, correction=1)
    assert found.verdict is verdict
    assert "13 lines of the grid" in found.reason
    assert set(found.judgement.exponents) == {"d", "n"}
    assert found.judgement.exponents["d"].contains(-0.5)
    assert found.judgement.exponents["n"].contains(-1.0)
    check_schema(found)


def test_a_grid_is_measured_with_an_exponent_for_each_size():
    sizes, values, stderr = grid(-0.5, -1.0)
    found = audit(sizes, values, stderr, correction=1)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("no rate was given")
    assert found.judgement.exponents["d"].contains(-0.5)
    assert found.judgement.exponents["n"].contains(-1.0)
    check_schema(found)


@pytest.mark.parametrize(
    ("exponent", "kind", "falls"),
    [
        (-1.0, "bound", ""),
        (-0.9, "bound", "n"),
        (-1.1, "bound", ""),
        (-1.1, "scaling", "n"),
        (-0.9, "scaling", "n"),
        (-1.0, "scaling", ""),
    ],
)
def test_all_sizes_fitted_at_once_say_along_which_the_claim_falls(exponent, kind, falls):
    # 42 points at noise of 1% know the exponent of n to some 0.01: 0.1 is far outside 0.02, and 0 far inside.
    sizes, values, stderr = grid(-0.5, exponent, relative=0.01)
    points = audit(sizes, values, stderr).points
    joint = fit_grid(points, Prediction(Kind(kind), "Q", rate="d**(-1/2)/n", correction=1), Contract(1e-2, within=0.02), 15, {})
    assert joint.falls == falls
    assert bool(joint.reason) == bool(falls)
    assert joint.exponents["n"].contains(exponent)


def test_a_rate_that_is_no_power_has_no_exponent_for_each_size():
    sizes, values, stderr = grid(-0.5, -1.0)
    points = audit(sizes, values, stderr).points
    assert fit_grid(points, Prediction(Kind.BOUND, "Q", rate="1/n + 1/d"), Contract(), 15, {}).exponents == {}


@pytest.mark.parametrize(("exponent", "rival", "hint"), [(-0.5, "0.5", "-0.5"), (0.5, "-0.6", "0.6"), (-0.5, "3/4", "-3/4")])
def test_a_rival_of_the_other_sign_is_refused(exponent, rival, hint):
    values = [d**exponent for d in D]
    with pytest.raises(ValueError, match=rf"the exponent {rival} of d, of the opposite sign .*: write {hint} or"):
        audit({"d": D}, values, 0.01, f"d**({exponent})", "scaling", rivals=[rival])
    found = audit({"d": D}, values, [0.01 * v for v in values], f"d**({exponent})", "scaling", rivals=["0", f"d**({-exponent})"])
    assert [each.rejected for each in found.rivals] == [True, True]  # 0, and what is written as a rate, are meant


def test_rivals_on_a_grid_are_put_where_they_can_be_rejected():
    sizes, values, stderr = grid(-0.5, -1.0)
    found = audit(sizes, values, stderr, "d**(-1/2)/n", correction=1, rivals=["d**(-3/4)/n", "d**(-1/2)/n**(3/2)"])
    assert [rival.rejected for rival in found.rivals] == [True, True]
    assert audit(sizes, values, stderr, "d**(-1/2)/n", correction=1, rivals=["1/n"]).verdict is Verdict.VACUOUS
    found = audit(sizes, values, stderr, "d**(-1/2)/n", "scaling", correction=1, rivals=["1/(d*n)"])
    assert [(rival.rate, rival.rejected) for rival in found.rivals] == [("1/(d*n)", True)]


def test_a_bound_of_numbers_on_a_grid_is_tested_at_every_point():
    sizes, values, stderr = grid(-0.5, -1.0)
    assert audit(sizes, values, stderr, "d**(-1/2)/n", constant=3.3).verdict is Verdict.SUPPORTED
    values[20] *= 1.2
    assert audit(sizes, values, stderr, "d**(-1/2)/n", constant=3.3).verdict is Verdict.REFUTED


def test_scattered_sizes_are_neither_path_nor_grid():
    sizes = {"d": [16, 32, 16, 64], "n": [10, 20, 30, 20]}
    found = audit(sizes, [1.0, 0.5, 0.9, 0.3], 0.01, "1/d")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "neither on one path nor on a grid" in found.reason
    check_schema(found)


# -- arguments -----------------------------------------------------------------------------------------------------------------


class Frame:
    """The two things that make a DataFrame here: ``columns`` and ``[name]``."""

    def __init__(self, **columns):
        self._columns = columns
        self.columns = [*columns]

    def __getitem__(self, name):
        return self._columns[name]


def test_a_data_frame_or_a_mapping_of_all_columns_gives_the_same():
    values, stderr = powers(-0.5)
    expected = audit({"d": D}, values, stderr, "d**(-1/2)").judgement
    assert audit(Frame(d=D, value=values, stderr=stderr, seed=D), rate="d**(-1/2)").judgement == expected
    assert audit({"d": D, "loss": values, "se": stderr}, "loss", "se", "d**(-1/2)").judgement == expected
    assert audit(Frame(width=D, d=D, value=values), stderr=0.01, rate="d**(-1/2)").prediction.base == "d"
    assert audit(Frame(width=D, d=D, value=values), stderr=0.01, size=["width"]).prediction.base == "width"
    assert audit(Frame(d=D, other=D), values, stderr, "d**(-1/2)").judgement == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"d": [16, 32, 64]}, [1, float("nan"), 3]), "values, entry 1: nan is not finite: correct or remove the row"),
        (({"d": [16, 32, 64]}, [1, 2, float("inf")]), "values, entry 2: inf is not finite"),
        (({"d": [16, 32, 64]}, [1, None, 3]), "values, entry 1: None is not a number"),
        (({"d": [16, 32, 64]}, [1, "2", 3]), "values, entry 1: '2' is not a number"),
        (({"d": [16, 32, 64, 128]}, [1, 2, "x", 3]), "values, entry 2: 'x' is not a number"),
        (({"d": [16, 32, 64]}, np.array(["1", "2", "3"])), "values must be numbers, got str"),
        (({"d": [16, True, 64]}, [1, 2, 3]), "sizes['d'], entry 1: True is not a number"),
        (({"d": [16, 32, 64]}, [1, 2, 3], True), "stderr must be >= 0 (0 means exact), got True"),
        (({"d": [16, 32, 64]}, [1, 2, 3], [1e31] * 3), "stderr, entry 0: a standard error must be at most 1e+30"),
        (
            ({"d": [16, 32, 64]}, [1, 2e30, 3]),
            "values, entry 1: a value must be 0 or lie between 1e-30 and 1e+30 in size, got 2e+30",
        ),
        (
            ({"d": [16, 32, 64]}, [1, 0, -1e-31]),
            "values, entry 2: a value must be 0 or lie between 1e-30 and 1e+30 in size, got -1e-31",
        ),
        (({"d": [16, 32, 64]}, [1, 2, 3], 1e31), "stderr, entry 0: a standard error must be at most 1e+30"),
        (({"d": [16, 32, 64]}, [True, False, True]), "values must be numbers, got bool such as [True]"),
        (({"d": [16, 32, 64]}, [1j, 2, 3]), "values must be numbers, got complex128"),
        (({"d": [16, 32, 64]}, [10**400, 2, 3]), "values, entry 0: 1000"),
        (({"d": [16, 32, 64]}, [Decimal("1e-400"), 2, 3]), "fits no float: rescale the column"),
        (({"d": [16, 32, 64]}, [[1], [2], [3]]), "values must be one-dimensional (a number for each row), got shape (3, 1)"),
        (({"d": [16, 32, 64]}, [[1], [2, 3]]), "values must be a column of numbers"),
        (({"d": [16, 32, 64]}, 3), "values must be one-dimensional"),
        (({"d": [16, 32]}, [1, 2, 3]), "sizes['d'] has 2 entries and values 3: give one of each for every row"),
        (({"d": [16, 32, 64]}, [1, 2, 3], [1, 2]), "stderr has 2 entries and values 3"),
        (({"d": [16, 32, 64]}, [1, 2, 3], [1, -2, 1]), "stderr, entry 1: a standard error must be >= 0 (0 means exact), got -2"),
        (({"d": [16, 32, 64]}, [1, 2, 3], -1), "stderr must be >= 0 (0 means exact), got -1"),
        (({"d": [16, 0, 64]}, [1, 2, 3]), "size 'd': a size must be a positive number, got 0"),
        (({"d": []}, []), "values is empty: there is nothing to audit"),
        (({}, [1]), "sizes has no column"),
        (([16, 32, 64], [1, 2, 3]), 'sizes must be a mapping such as {"d": [16, 32, 64]}, or a DataFrame'),
        (({"d": [16, 32, 64]},), "no column is left"),
        (({"D": [16, 32, 64]}, [1, 2, 3], 0, "1/d"), "sizes has no 'd', only 'D': add it, or name it as the rate does"),
        (({"d": np.ma.masked_equal([16, 32, 64], 32)}, [1, 2, 3]), "sizes['d'], entry 1: masked"),
    ],
)
def test_data_that_cannot_be_used_are_named(arguments, message):
    with pytest.raises(TableError) as error:
        audit(*arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "limit"}, "kind must be 'bound', 'scaling' or 'order', got 'limit'"),
        ({"rate": "tanh(d)"}, "unknown function 'tanh'"),
        ({"rate": "exp(-d)"}, "the rate changes by more than a factor 1e300 from d = 16 to 1024"),
        ({"rate": "1/n"}, "sizes has no 'n'"),
        ({"rate": None, "rivals": ["1/d"]}, "rivals = ('1/d',) needs a rate"),
        ({"rate": None, "constant": 2.0}, "constant = 2.0 needs a rate"),
        ({"rivals": "1/d"}, "rivals must be a sequence of rates, got the text '1/d'"),
        ({"constant": -1}, "constant must be positive, got -1"),
        ({"within": 0}, "within must be a positive exponent, got 0"),
        ({"false_refute_rate": 2}, "false_refute_rate must lie strictly between 0 and 1"),
        ({"within": 2}, "within must be at most 1, got 2"),
        ({"false_refute_rate": 1e-300}, "false_refute_rate must lie between 1e-12 and 0.5, got 1e-300"),
        ({"false_support_rate": 1e-20}, "false_support_rate must lie between 1e-12 and 0.5, got 1e-20"),
        ({"false_support_rate": "0.01"}, "false_support_rate must be a number, got '0.01'"),
        ({"level": 1 - 1e-15}, "level must be at most 0.999999999999"),
        ({"constant": "2"}, "constant must be a number, got '2'"),
        ({"correction": "one"}, "correction = 'one' is not a number"),
        ({"correction": True}, "correction must be a number, got True"),
        ({"correction": 100}, "correction must lie between 0.05 and 16, got 100"),
        ({"correction": 1e-9}, "correction must lie between 0.05 and 16, got 1e-09"),
        ({"amplitude": 1e9}, "amplitude must be at most 1000, got 1000000000.0"),
        ({"size": "d"}, "size must be a sequence of names, got the text 'd'"),
        ({"correction": -1}, "correction must be a positive number, got -1"),
        ({"amplitude": 0}, "amplitude must be a positive number, got 0"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(options, message):
    values, stderr = powers(-0.5)
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the message is compared below)
        audit({"d": D}, values, stderr, **{"rate": "1/d", **options})
    assert message in str(error.value)


@pytest.mark.parametrize("columns", [{"d": D}, {"d": np.repeat(D[:5], 5), "n": np.tile(D[:5], 5)}])
def test_the_smallest_error_rates_that_are_allowed_work(columns):
    values = 2 / columns["d"]
    for stderr in (1e-3 * values, None):
        found = audit(columns, values, stderr, "1/d", correction=1, false_refute_rate=1e-12, false_support_rate=1e-12)
        assert found.verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE)


def test_a_rate_made_of_text_says_how_to_read_it():
    with pytest.raises(tc.rates.RateError, match=r"use Rate\.parse\('1/d'\)"):
        tc.Rate("1/d")
    assert audit({"d": D}, 3 / D, 0, tc.Rate.parse("1/d"), correction=1).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(("rate", "exponent"), [(None, 0.03), (None, -0.5), ("d**(-1/2)", 1.0), ("1", 0.06)])
def test_flags_about_an_excess_are_for_a_claim_that_is_open(rate, exponent):
    values, stderr = powers(exponent)
    found = audit({"d": D}, values, stderr, rate, correction=1)
    assert rate is None or found.verdict is Verdict.REFUTED
    assert not {"excess established", "growth is extrapolated, not seen"} & set(found.judgement.flags)


def test_a_bound_is_on_the_size_of_values_and_with_a_constant_on_the_values():
    values, stderr = powers(-0.25)
    assert audit({"d": D}, -values, stderr, "d**(-1/2)", correction=1).verdict is Verdict.REFUTED
    assert audit({"d": D}, -values, stderr, "d**(-1/2)", constant=1.0).verdict is Verdict.SUPPORTED


def test_the_constant_of_a_loose_bound_is_that_of_the_largest_size():
    values, stderr = powers(-1.0)
    found = audit({"d": D}, values, stderr, "d**(-1/2)", correction=1)
    assert found.tightness is Tightness.LOOSE
    assert found.constant.low < 2 / 1024**0.5 < found.constant.high  # (2/d) / d**(-1/2) at d = 1024


def test_rivals_of_a_scaling_are_shown_as_they_were_given():
    values, stderr = powers(-0.5)
    found = audit({"d": D}, values, stderr, "d**(-1/2)", "scaling", 1.0, rivals=["1/d", "d**(-1/4)"])
    assert [(rival.rate, rival.rejected) for rival in found.judgement.rivals] == [("1/d", True), ("d**(-1/4)", True)]


def test_one_size_is_singular():
    assert "1 size cannot show an exponent" in audit({"d": [4]}, [1.0], 0.1, "1/d").reason
    assert "1 size without standard errors" in audit({"d": [4]}, [1.0], rate="1/d").reason


def test_exponents_are_floats():
    sizes, values, stderr = grid(-0.5, -1.0)
    for found in audit(sizes, values, stderr, "d**(-1/2)/n", correction=1).judgement.exponents.values():
        assert {type(number) for number in (found.estimate, found.low, found.high)} == {float}


@pytest.mark.parametrize(("rate", "hint"), [("1/d", "as n is not in the rate, leave it out"), ("1/(d*n)", None)])
def test_scattered_sizes_that_the_rate_does_not_need_are_named(rate, hint):
    found = audit({"d": D, "n": [3, 9, 2, 5, 8, 1, 7]}, 1 / D, 0.01 / D, rate)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "neither on one path nor on a grid" in found.reason
    assert hint in found.reason if hint else "leave" not in found.reason


def test_too_many_sizes_are_refused_before_any_work():
    d = np.arange(1, 200_001)
    with pytest.raises(TableError, match=r"200000 different sizes \(d\): at most 1000 can be fitted"):
        audit({"d": d}, 1 / d, 0.01, "1/d")


def test_many_rows_are_no_trouble():
    sizes = np.tile(D, 30_000)
    values = (1 + np.random.default_rng(0).standard_normal(len(sizes))) / sizes
    found = audit({"d": sizes}, values, rate="1/d", correction=1)
    assert found.verdict is Verdict.SUPPORTED
    assert found.draws == 210_000


# -- errors that are too small ----------------------------------------------------------------------------------------------------


def scattered(factor, seed, count=7):
    """Values of d^-1/2 that scatter ``factor`` times as much as the errors of 1% that are stated."""
    sizes = [16 * 2**step for step in range(count)]
    values = np.array(sizes) ** -0.5 * (1 + 0.01 * factor * np.random.default_rng(seed).standard_normal(count))
    return {"d": sizes}, values, 0.01 * values


@pytest.mark.parametrize("factor", [3, 5, 10])
def test_scatter_beyond_the_stated_errors_refutes_nothing_true_and_supports_nothing_wrong(factor):
    """Twenty tables each: without the enlargement up to 23 of 60 true scalings fell, and 10 of 60 wrong bounds stood."""
    for seed in range(20):
        table = scattered(factor, seed)
        assert tc.audit(*table, rate="d**(-1/2)", kind="scaling").verdict != "REFUTED"
        assert tc.audit(*table, rate="d**(-3/4)").verdict != "SUPPORTED"


def test_a_poor_fit_is_told_as_an_interval_without_advice_to_draw():
    found = next(
        found
        for found in (tc.audit(*scattered(10, seed, 5), rate="d**(-1/2)") for seed in range(50))
        if "poor-fit" in found.judgement.flags and found.verdict == "INCONCLUSIVE" and found.exponent is not None
    )
    assert "times the draws" not in found.reason
    assert "give errors that hold" in found.reason
    assert any("stated errors enlarged" in flag for flag in found.judgement.flags)


def test_a_bound_with_a_constant_is_judged_with_the_errors_that_the_scatter_shows():
    """One value of seven lies 5% above the bound: five stated errors, and less than what the values scatter."""
    sizes, values, stderr = scattered(8, 4)
    top = float((values * np.sqrt(sizes["d"])).max())
    assert tc.audit(sizes, values, stderr, rate="d**(-1/2)", constant=top / 1.05).verdict != "REFUTED"
    calm = np.array(sizes["d"]) ** -0.5
    assert tc.audit(sizes, calm, 0.001 * calm, rate="d**(-1/2)", constant=1 / 1.05).verdict == "REFUTED"


def test_what_every_local_slope_contradicts_is_not_supported():
    """A fit may take any growth for a correction; growth that stays the same from size to size is none."""
    sizes = [16, 32, 64, 128, 256, 512, 1024]
    for rise in (0.06, 0.1):
        values = [d ** (rise - 0.5) for d in sizes]
        for noise in (1e-3, 0.01, 0.1):
            assert tc.audit({"d": sizes}, values, [noise * v for v in values], rate="d**(-1/2)").verdict != "SUPPORTED"


def test_the_limit_of_values_that_scatter_beyond_their_errors_is_not_refuted():
    """Ten times the stated 1% about 2 + d^-1/2: the errors are enlarged, or nothing is concluded; a calm table is left as it is."""
    sizes = np.array([16, 32, 64, 128, 256])
    curve = 2 + sizes**-0.5
    for seed in range(8):
        values = curve * (1 + 0.1 * np.random.default_rng(seed).standard_normal(5))
        found = tc.audit({"d": sizes}, values, 0.01 * values, rate="1/sqrt(d)", limit=2)
        assert found.verdict != "REFUTED", seed
    sizes = np.array([16, 32, 64, 128, 256, 512, 1024])
    curve = 2 + sizes**-0.5
    calm = tc.audit({"d": sizes}, curve, 0.001 * curve, rate="1/sqrt(d)", limit=2)
    assert calm.points[0].estimate.stderr < 1.6 * 0.001 * curve[0]
    assert calm.judgement.limit.contains(2)


def test_a_bound_of_values_that_oscillate_is_one_on_their_size():
    sizes = [4 * 2**i for i in range(10)]
    values = [(-1) ** i / n for i, n in enumerate(sizes)]
    errors = [0.01 / n for n in sizes]
    found = audit({"n": sizes}, values, errors, "1/n")
    assert (found.verdict, found.tightness) == (Verdict.SUPPORTED, Tightness.TIGHT)
    assert (
        "the values change sign from size to size by more than their errors: the bound is one on their size"
        in found.judgement.flags
    )
    assert [point.estimate.value for point in found.points] == values
    assert audit({"n": sizes}, values, errors, "n**(-3/2)").verdict is Verdict.REFUTED
    again = judge(found.prediction, found.points, found.contract, drawn=False, stated=True)  # the record keeps the signs
    assert (again.verdict, again.exponent) == (found.verdict, found.exponent)
    # A scaling has a sign; what is near 0 has no size of its own; and a curve that crosses 0 is no power law near it.
    assert "change sign" in audit({"n": sizes}, values, errors, "1/n", "scaling").reason
    near = audit({"n": sizes}, values, [0.3 / n for n in sizes], "1/n")
    assert not any("|value|" in flag for flag in near.judgement.flags)
    crossing = [(1 - 20 / n) / n for n in sizes]
    assert "change sign" in audit({"n": sizes}, crossing, errors, "1/n").reason


def test_values_that_cross_a_claimed_limit_are_said_to():
    sizes = [4 * 2**i for i in range(14)]
    found = audit({"n": sizes}, [(1 + 1 / n) ** n for n in sizes], rate="1/n", limit=2.7182)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "and below it at n = 4, so that what is left of it follows no power law: if they tend to another limit" in found.reason


@pytest.mark.parametrize(
    ("rate", "columns", "hint"),
    [
        ("E + A/N**a + B/D**b", "ND", "are kind loss-law without a rate"),
        ("E + A/N**a", "N", "measured without a rate, with limit unknown"),
        ("exp(-alpha*n)", "n", "an unknown geometric rate is not measured"),
        ("rho**n", "n", r"rho is unknown, .* as in 2\*\*\(-n\)"),
    ],
)
def test_rates_that_are_not_measured_say_what_is(rate, columns, hint):
    with pytest.raises(ValueError, match=hint):
        audit({name: [4, 8, 16, 32] for name in columns}, [4.0, 3.0, 2.5, 2.25], 0.01, rate)


def test_a_run_that_did_not_end_is_not_to_be_left_out():
    with pytest.raises(TableError, match="write 1e29 rather than leave it out"):
        audit({"n": [4, 8]}, [1.0, math.inf], rate="n", statistic="median")
    with pytest.raises(TableError, match=r"remove the row$"):
        audit({"n": [4, 8]}, [1.0, math.nan], rate="n", statistic="median")


def test_a_limit_that_differs_by_hundreds_of_intervals_is_not_supported():
    sizes = [4 * 2**i for i in range(11)]
    values = [round(math.fsum(1 / k**2 for k in range(1, n + 1)), 6) for n in sizes]  # to pi^2/6
    found = audit({"n": sizes}, values, limit=1.65)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "a difference of -0.00506" in found.reason
    for limit in (1.644934, 1.645):  # the second is rounded
        assert audit({"n": sizes}, values, limit=limit).verdict is Verdict.SUPPORTED
