"""Audits of rates as people write them: logarithms, n log n from both sides, geometric rates."""

from __future__ import annotations

import math

import pytest

import theoryck as tc
from theoryck.records import Result, Verdict

SIZES = [2**k for k in range(4, 14)]
LEVELS = list(range(9))


def audit(name, sizes, values, relative, rate, **options) -> Result:
    return tc.audit({name: sizes}, values, [relative * abs(value) for value in values], rate=rate, **options)


@pytest.mark.parametrize("rate", ["n*log(n)", "n*log2(n)", "3*n*ln(n)", "n*log10(n)"])
def test_n_log_n_is_a_scaling_that_is_told_from_n(rate: str) -> None:
    values = [n * math.log(n) for n in SIZES]
    found = audit("n", SIZES, values, 0.002, rate, kind="scaling", rivals=["n", "n**2", "3/2"])
    assert found.verdict is Verdict.SUPPORTED
    assert found.ok
    assert found.judgement.claimed_exponent == 1
    assert [rival.rate for rival in found.rivals] == ["n", "n**2", "3/2"]
    assert audit("n", SIZES, values, 0.002, "n/log(n)", kind="scaling").verdict is Verdict.REFUTED


def test_a_rival_with_a_logarithm_is_told_from_a_power() -> None:
    found = audit("n", SIZES, [2 / n for n in SIZES], 0.001, "1/n", kind="scaling", rivals=["log(n)/n", "1/(n*log(n))"])
    assert found.verdict is Verdict.SUPPORTED
    assert all(rival.rejected for rival in found.rivals)
    assert result_back(found) == found


def result_back(found: Result) -> Result:
    return Result.from_json(found.to_json())


def test_the_constant_of_a_scaling_with_a_logarithm() -> None:
    values = [5 * n * math.log2(n) for n in SIZES]
    assert audit("n", SIZES, values, 0.001, "n*log2(n)", kind="scaling", constant=5).verdict is Verdict.SUPPORTED
    assert audit("n", SIZES, values, 0.001, "n*log2(n)", kind="scaling", constant=6).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("rate", "verdict", "tight"),
    [
        ("2**(-l)", Verdict.SUPPORTED, "TIGHT"),
        ("0.5**l", Verdict.SUPPORTED, "TIGHT"),
        ("3*2**(1-l)", Verdict.SUPPORTED, "TIGHT"),
        ("4**(-l)", Verdict.REFUTED, None),
        ("exp(-l)", Verdict.REFUTED, None),
        ("1.3**(-l)", Verdict.SUPPORTED, "LOOSE"),
    ],
)
def test_a_geometric_rate_is_a_straight_line_in_the_levels(rate: str, verdict: Verdict, tight: str | None) -> None:
    values = [3 * 2.0**-level * (1 + 0.4 * 2.0**-level) for level in LEVELS]
    found = audit("l", LEVELS, values, 0.005, rate)
    assert found.verdict is verdict
    assert (found.tightness.value if found.tightness else None) == tight
    assert result_back(found) == found
    assert found.exponent.contains(-math.log(2))
    assert found.judgement.power_of == "exp(l)"
    assert "in exp(l)" in str(found)


def test_rivals_of_a_geometric_rate_are_other_bases() -> None:
    values = [2.0**-level for level in LEVELS]
    found = audit("l", LEVELS, values, 0.005, "2**(-l)", kind="scaling", rivals=["3**(-l)", "1.5**(-l)"])
    assert found.verdict is Verdict.SUPPORTED
    assert all(rival.rejected for rival in found.rivals)
    slower = audit("l", LEVELS, values, 0.005, "2**(-l)", rivals=["1/(l+1)**2"])
    assert slower.verdict is Verdict.VACUOUS


@pytest.mark.parametrize("unit", [0.1, 7.0])
def test_the_verdict_on_a_geometric_rate_does_not_depend_on_the_unit_of_the_steps(unit: float) -> None:
    values = [0.9**n * (1 + 0.3 * 0.8**n) for n in range(0, 90, 10)]
    first = audit("n", list(range(0, 90, 10)), values, 0.01, "0.9**n")
    second = audit("n", [unit * n for n in range(0, 90, 10)], values, 0.01, f"0.9**(n/{unit})")
    assert first.verdict is second.verdict
    assert first.slack.estimate == pytest.approx(second.slack.estimate, abs=1e-9)


def test_the_size_0_belongs_to_geometric_rates_only() -> None:
    with pytest.raises(ValueError, match=r"size 'l': a size must be a positive number, got 0 \(it may be 0 in a rate such as 2"):
        audit("l", LEVELS, [1.0] * 9, 0.1, "1/l")


def test_pictures_and_tables_of_levels(tmp_path) -> None:
    from theoryck.records import Report
    from theoryck.report.html.page import render
    from theoryck.report.plots import draw, traces

    found = audit("l", LEVELS, [2.0**-level for level in LEVELS], 0.01, "2**(-l)")
    draw(found, traces(found), str(tmp_path / "levels.svg"))
    assert (tmp_path / "levels.svg").stat().st_size > 1000
    assert "audit/data" in render(Report("audit", 0, (found,), "0"))


def test_a_logarithm_of_a_step_size() -> None:
    steps = [2.0**-k for k in range(4, 15)]
    values = [0.2 * h**2 * math.log(1 / h) for h in steps]
    found = audit("h", steps, values, 0.001, "h**2*log(1/h)")
    assert found.verdict is Verdict.SUPPORTED
    assert found.judgement.claimed_exponent == 2
    with pytest.raises(ValueError, match=r"as h goes to 0, write log\(1/h\)"):
        audit("h", steps, values, 0.001, "h**2*log(h)")


@pytest.mark.parametrize(
    ("rate", "name", "truth"),
    [("n**(-alpha)*log(n)", "alpha", 0.5), ("n**p*log(n)", "p", -0.5), ("n**(1/4 - s/2)*log2(n)", "s", 1.5)],
)
def test_an_unknown_exponent_is_measured_and_nothing_is_judged(rate: str, name: str, truth: float) -> None:
    found = audit("n", SIZES, [3 * n**-0.5 * math.log(n) for n in SIZES], 0.002, rate)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.ok
    assert found.reason.startswith(f"{name} = ")
    low, high = map(float, found.reason.split("[")[1].split("]")[0].split(", "))
    assert low < truth < high
    assert high - low < 0.1
    assert found.exponent.contains(-0.5)
    assert found.statement == f"value ~ C * {rate}"


def test_an_unknown_order_of_a_step_size() -> None:
    steps = [2.0**-k for k in range(4, 13)]
    found = audit("h", steps, [h**2 for h in steps], 0.002, "h**p")
    assert found.reason.startswith("p = 2.000 +/- ")


@pytest.mark.parametrize(
    ("rate", "complaint"),
    [
        ("n**(-a) + n**(-b)", "a, b are unknown: measure one exponent of one size at a time"),
        ("1 + n**(-a)", "the unknown power must be a factor of the whole"),
        ("n**(1/a)", "the unknown power must be a factor of the whole"),
        ("n**(-a)*m", "a is measured along 'n' alone, and the sizes are n, m"),
    ],
)
def test_what_is_unknown_must_be_one_factor(rate: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        tc.audit({"n": [4, 8, 16], "m": [1, 2, 3]}, [3, 2, 1], 0.1, rate=rate)


def test_one_column_against_another() -> None:
    first, second = [3 / n for n in SIZES], [2 / n for n in SIZES]
    errors = [0.005 * value for value in first]
    same = tc.audit({"n": SIZES}, first, errors, against=second, kind="scaling", rivals=["sqrt(n)"])
    assert same.verdict is Verdict.SUPPORTED
    assert same.rivals[0].rejected
    assert same.statement == "value/against ~ C * 1"
    slower = tc.audit({"n": SIZES}, [n**-0.5 for n in SIZES], [0.005 * n**-0.5 for n in SIZES], against=second)
    assert slower.verdict is Verdict.REFUTED
    table = {"n": SIZES, "a": first, "b": second, "e": errors}
    named = tc.audit(table, "a", "e", against="b", against_stderr=0.001, size=["n"])
    assert named.prediction.quantity == "a/b"
    at = named.points[0].estimate
    assert at.stderr == pytest.approx(1.5 * math.hypot(0.005, 0.001 / second[0]))
    with pytest.raises(ValueError, match="a value that others are compared with must not be 0"):
        tc.audit({"n": [4, 8, 16]}, [3, 2, 1], 0.1, against=[1, 0, 1])


@pytest.mark.parametrize(
    ("name", "sizes", "rate", "rivals", "within"),
    [
        ("n", SIZES, "n*log(n)", ["n"], 0.5 * math.log(13 / 12) / math.log(2)),  # what the logarithm looks like at the end
        ("n", SIZES, "n*log(n)", ["n**(3/2)*log(n)"], 0.25),
        ("l", LEVELS, "2**(-l)", ["1.9**(-l)", "4**(-l)"], 0.5 * (1 - math.log(1.9) / math.log(2))),
        ("l", LEVELS, "2**(-l)", ["1"], 0.5),
        ("n", SIZES, "1/n", ["2**(-n/1000)"], 0.9),
    ],
)
def test_the_tolerance_is_half_the_distance_to_the_nearest_rate(name, sizes, rate, rivals, within) -> None:
    from theoryck.judging.case import tolerated
    from theoryck.records import Contract, Kind, Prediction

    claim = Prediction(Kind.SCALING, "Q", base=name, rate=rate, rivals=tuple(rivals))
    assert tolerated(claim, [{name: size} for size in sizes], Contract(within=0.9)).within == pytest.approx(within)


def test_a_grid_of_step_sizes_and_levels() -> None:
    rows = [(2.0**-k, level) for k in range(2, 11) for level in range(9)]
    sizes = {"h": [h for h, _ in rows], "l": [level for _, level in rows]}
    values = [h * 0.5**level for h, level in rows]
    good, bad = (tc.audit(sizes, values, [1e-3 * value for value in values], rate=rate) for rate in ("h*2**(-l)", "h*3**(-l)"))
    assert good.verdict is Verdict.SUPPORTED
    assert bad.verdict is Verdict.REFUTED
    assert not good.judgement.exponents
