"""Sizes that shrink, that are not whole, or that are beyond counts: where they go, and what the verdict is worth."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

import theoryck as tc
from theoryck.rates import RateError
from theoryck.records import Toward, Verdict

STEPS = [2.0**-k for k in range(3, 13)]


def audit(sizes, values, relative=0.0, **options):
    return tc.audit(sizes, values, [relative * abs(value) for value in values], **options)


@pytest.mark.parametrize(("rate", "verdict"), [("dx**2", Verdict.REFUTED), ("dx", Verdict.INCONCLUSIVE)])
def test_a_first_order_scheme_is_not_of_second_order(rate: str, verdict: Verdict) -> None:
    found = audit({"dx": [8, 4, 2, 1]}, [0.8, 0.4, 0.2, 0.1], rate=rate)
    assert found.verdict is verdict
    assert found.exponent.contains(1)
    assert "on dx = 8..1, toward 0" in found.reason
    assert found.judgement.flags[0] == "dx goes to 0, as its name suggests"


def test_a_first_order_scheme_is_of_first_order_where_sizes_suffice() -> None:
    found = audit({"h": STEPS}, [0.3 * h * (1 + h) for h in STEPS], 1e-3, rate="h", rivals=["h**2", "h**(3/2)"])
    assert found.verdict is Verdict.SUPPORTED
    assert found.tightness.value == "TIGHT"
    assert all(rival.rejected for rival in found.rivals)
    assert (
        found.judgement.assuming == "on h = 0.125..0.000244141, toward 0, assuming corrections O(h^1/2) of at most 0.6 at h = 0.125"
    )
    assert found.judgement.window == (0.125, STEPS[-1])


def test_an_exponent_in_a_size_that_shrinks_has_the_sign_of_its_rate() -> None:
    values = [3 * h**2 for h in STEPS]
    bound = audit({"h": STEPS}, values, 1e-3, rate="h")
    assert bound.verdict is Verdict.SUPPORTED
    assert bound.tightness.value == "LOOSE"
    assert bound.slack.contains(1)
    assert bound.exponent.contains(2)
    assert bound.judgement.claimed_exponent == 1
    scaling = audit({"h": STEPS}, values, 1e-3, rate="h**2", kind="scaling", constant=3, rivals=["h", "h**(5/2)"])
    assert scaling.verdict is Verdict.SUPPORTED
    assert scaling.ok
    assert audit({"h": STEPS}, values).exponent.contains(2)


def test_a_cost_that_grows_as_a_tolerance_shrinks_is_a_bound_too() -> None:
    eps = [0.1 / 2**k for k in range(9)]
    values = [0.2 * e**-2 for e in eps]
    assert audit({"eps": eps}, values, 1e-3, rate="eps**(-2)").tightness.value == "TIGHT"
    assert audit({"eps": eps}, values, 1e-3, rate="1/eps").verdict is Verdict.REFUTED
    assert audit({"eps": eps}, values, 1e-3, rate="eps**(-3)").tightness.value == "LOOSE"


def test_the_same_table_by_its_steps_and_by_its_numbers_of_steps_has_the_same_verdict() -> None:
    values = [h**2 * (1 + 0.5 * math.sqrt(h)) for h in STEPS]
    by_h = audit({"h": STEPS}, values, 0.01, rate="h**2")
    by_n = audit({"cells": [1.3 / h for h in STEPS]}, values, 0.01, rate="cells**(-2)")
    assert by_h.verdict is by_n.verdict
    assert by_h.slack.half_width == pytest.approx(by_n.slack.half_width, rel=1e-9)
    assert by_h.exponent.estimate == pytest.approx(-by_n.exponent.estimate, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-3, 1 / 3, 1e12])
@pytest.mark.parametrize("name", ["h", "tokens"])
def test_no_verdict_depends_on_the_unit(unit: float, name: str) -> None:
    sizes = STEPS if name == "h" else [1e9 * 3**k for k in range(9)]
    power = 1 if name == "h" else -0.3
    values = [(size / sizes[0]) ** power * (1 + 0.4 * k / len(sizes)) for k, size in enumerate(sizes)]
    first, second = (
        audit({name: [size * scale for size in sizes]}, values, 0.02, rate=f"{name}**({power})", toward=end)
        for scale in (1, unit)
        for end in ["0" if name == "h" else "inf"]
    )
    assert first.verdict is second.verdict
    for part in ("exponent", "slack"):
        a, b = getattr(first, part), getattr(second, part)
        assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=1e-7)


def test_corrections_do_not_vanish_because_there_are_many_tokens() -> None:
    flops = [1e18 * 10**k for k in range(6)]
    # Corrections of 2 C**(-1/2) would be 2e-9, and the interval that of the noise alone.
    found = audit({"flops": flops}, [(c / 1e18) ** -0.05 * (1 + 0.3 * (c / 1e18) ** -0.5) for c in flops], 1e-3)
    assert found.exponent.contains(-0.05)
    assert found.exponent.half_width > 5e-4


def test_sizes_of_any_size_are_kept_in_full() -> None:
    sizes = [2**53 + 1, 2**54 + 3, 2**55 + 5, 2**56 + 7]
    found = audit({"n": sizes}, [1 / n for n in sizes], 0.01, rate="1/n")
    assert [point.sizes["n"] for point in found.points] == sizes
    assert audit({"n": [1e21, 1e22, 1e23, 1e24]}, [4, 3, 2, 1], 0.1).points[0].sizes == {"n": 1e21}


def test_whole_numbers_in_a_file_are_kept_in_full(tmp_path) -> None:
    from theoryck.auditing.tables import choose_columns, read_measurements

    table = tmp_path / "t.csv"
    table.write_text("n,value\n9007199254740993,1\n18014398509481987,0.5\n1e21,0.1\n")
    assert float(read_measurements(table, choose_columns).sizes["n"][2]) == 1e21
    table.write_text("n,value\n9007199254740993,1\n18014398509481987,0.5\n")
    assert read_measurements(table, choose_columns).sizes["n"].tolist() == [9007199254740993, 18014398509481987]


@pytest.mark.parametrize(
    ("sizes", "rate", "toward"),
    [
        ({"x": [0.1, 0.2, 0.4]}, "x**2", Toward.ZERO),
        ({"x": [0.1, 0.2, 0.4]}, "x**(-2)", Toward.INFINITY),
        ({"n": [1, 2, 4]}, "n**2", Toward.INFINITY),
        ({"Delta t": [1, 2, 4]}, None, Toward.ZERO),
    ],
)
def test_the_rate_and_the_name_say_where_sizes_go(sizes, rate, toward) -> None:
    assert audit(sizes, [1, 2, 4], 0.1, rate=rate).prediction.toward is toward


@pytest.mark.parametrize(
    ("arguments", "options", "question"),
    [
        (({"x": [0.1, 0.2, 0.4]},), {}, "does x = 0.1..0.4 go to 0 or to infinity?"),
        (({"x": [0.1, 0.2, 0.4]},), {"rate": "x + 1/x"}, "neither its name nor the rate shows it: say --toward 0 or --toward inf"),
        (({"step": [100, 200, 400]},), {"rate": "step**(-1/2)"}, "or to infinity, where the rate step\\*\\*\\(-1/2\\) decreases?"),
        (({"n": [1, 2, 4]},), {"toward": 3}, "toward must be 0 or inf, where the sizes go, got 3"),
        (({"n": [1, 2, 4]},), {"toward": {"m": 0}}, "toward names 'm', which is no size of the table"),
    ],
)
def test_a_direction_that_nothing_shows_is_asked_for(arguments, options, question) -> None:
    with pytest.raises(RateError, match=question):
        audit(*arguments, [4, 2, 1], 0.1, **options)


def test_a_declared_direction_is_taken() -> None:
    found = audit({"step": [100, 200, 400, 800]}, [8, 4, 2, 1], 0.1, rate="1/step", toward="inf")
    assert found.prediction.toward is Toward.INFINITY
    assert not any("goes to 0" in flag for flag in found.judgement.flags)


def test_a_grid_whose_sizes_go_to_different_ends() -> None:
    rows = [(h, n) for h in STEPS[:5] for n in (16, 32, 64, 128, 256)]
    values = [h**2 / n for h, n in rows]
    sizes = {"h": [h for h, _ in rows], "n": [n for _, n in rows]}
    good = audit(sizes, values, 0.02, rate="h**2/n")
    assert good.judgement.exponents["h"].contains(2)
    assert good.judgement.exponents["n"].contains(-1)
    assert good.verdict is not Verdict.REFUTED
    bad = audit(sizes, values, 0.02, rate="h**3/n")
    assert bad.verdict is Verdict.REFUTED


def test_points_are_listed_from_the_coarsest_and_curves_end_at_the_limit() -> None:
    found = audit({"h": STEPS}, [2 * h for h in STEPS], 0.01, rate="h", rivals=["h**2"])
    assert [point.sizes["h"] for point in found.points] == STEPS
    assert found.curve.sizes == tuple(sorted(STEPS))
    assert found.curve.rivals["h**2"][0] == 0
    assert found.curve.value(STEPS[-1]) == pytest.approx(2 * STEPS[-1], rel=0.02)
    assert found.constant.contains(2)
    assert type(found).from_json(found.to_json()) == found


def test_pictures_of_sizes_that_shrink_end_at_0() -> None:
    from theoryck.judging import judge
    from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Result, Status
    from theoryck.report.svg import pictures

    points = tuple(Point({"h": h}, Estimate(2 + h, 0.001, 10**6)) for h in STEPS)
    claim = Prediction(Kind.LIMIT, "Q", "h", rate="h", value=Enclosure(Decimal(2), Decimal(0)), toward=Toward.ZERO, correction=1)
    found = judge(claim, points, Contract())
    assert found.limit is not None
    assert found.limit.contains(2)
    result = Result("c", Status.CONJECTURE, {}, found, claim, points, Contract(), 1e-3, 0, 0.0, 0)
    drawn = {picture.name: picture for picture in pictures(result)}
    assert ">0</text>" in drawn["limit"].svg
    assert "\u221e" not in drawn["limit"].svg
    bound = audit({"h": STEPS}, [2 * h for h in STEPS], 0.01, rate="h", rivals=["h**2"])
    texts = " ".join(picture.svg for picture in pictures(bound))
    assert "at the smallest size" in texts
    assert "largest size" not in texts
