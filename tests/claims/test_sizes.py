"""Claims along sizes that shrink, levels of a geometric rate and n log n, from the path to the report."""

from __future__ import annotations

import math

import numpy as np
import pytest

import theoryck as tc
from theoryck.claims import ClaimError
from theoryck.montecarlo import Key
from theoryck.records import Report, Toward, Verdict


def noisy(rng, draws, value):
    return value * (1 + 0.2 * rng.standard_normal(draws))


@tc.conjecture("first-order")
def first_order():
    """the bias of a first-order scheme is O(h)"""

    @tc.quantity(cost=1)
    def bias(rng, draws, *, h, steps):
        assert type(h) is float
        assert type(steps) is int
        return noisy(rng, draws, h * (1 + 0.3 * h))

    along = tc.ScalingPath(h=tc.halving(1, 1 / 256), steps="1/h")
    return tc.Bound(bias, rate="h", along=along, rivals=["h**2"])


@tc.conjecture("levels")
def levels():
    """corrections of a multilevel method halve from level to level"""

    @tc.quantity(cost=1)
    def correction(rng, draws, *, l, n):  # noqa: E741
        assert n == 2**l
        return noisy(rng, draws, 2.0**-l)

    return tc.Scaling(correction, tc.ScalingPath(l=range(9), n="2**l"), rate="2**(-l)", rivals=["4**(-l)"])


@tc.falsehood("second-order")
def second_order():
    """the bias of a first-order scheme is O(h^2)"""
    return tc.Bound(first_order_bias, rate="h**2", along=tc.ScalingPath(h=tc.halving(1, 1 / 64)))


@tc.quantity(cost=1)
def first_order_bias(rng, draws, *, h):
    return noisy(rng, draws, h)


@pytest.fixture(scope="module")
def report() -> Report:
    return tc.check_claims([first_order, levels, second_order], profile="quick")


def test_claims_along_step_sizes_and_levels_are_judged(report: Report) -> None:
    by_name = {result.claim: result for result in report.results}
    assert [result.ok for result in report.results] == [True] * 3
    assert by_name["first-order"].tightness is not None
    assert by_name["first-order"].tightness.value == "TIGHT"
    assert by_name["first-order"].exponent.contains(1)
    assert by_name["first-order"].prediction.toward is Toward.ZERO
    assert by_name["levels"].verdict is Verdict.SUPPORTED
    assert by_name["levels"].exponent.contains(-math.log(2))
    assert by_name["second-order"].verdict is Verdict.REFUTED


def test_their_reports_are_read_back_and_rendered(report: Report) -> None:
    from theoryck.report.html.page import render

    assert Report.from_json(report.to_json()).to_json() == report.to_json()
    assert "first-order" in render(report)
    assert "-0.69" in str(report)


def test_the_draws_of_a_size_depend_on_the_number_it_is() -> None:
    shrinking = Key(0, "demo", {}, {"h": 0.1})
    assert shrinking.generator(0).random() == Key(0, "demo", {}, {"h": np.float64(0.1)}).generator(0).random()
    assert shrinking.generator(0).random() != Key(0, "demo", {}, {"h": 0.1 + 1e-16 * 2}).generator(0).random()
    # As it was before sizes could be anything but whole.
    assert Key(0, "demo", {}, {"d": 8}).generator(0).integers(1000, size=3).tolist() == [652, 571, 71]


def test_quantities_of_the_library_take_whole_sizes_only() -> None:
    quantity = tc.norm_deviation(tc.DeepNetwork("x", depth=0))
    with pytest.raises(ClaimError, match=r"the size 'input_dim' of .* must be an integer >= 1, got 0\.5"):
        tc.Bound(quantity, rate="1/input_dim", along=tc.ScalingPath(input_dim=[0.5, 1.5, 4]))


def test_a_power_of_the_size_0_is_refused_where_claims_are_made() -> None:
    claim = tc.Bound(first_order_bias, rate="1/h", along=tc.ScalingPath(h=[0, 1, 2]))
    with pytest.raises(ValueError, match="size h = 0 must be positive"):
        claim.prediction({})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "a Scaling needs an exponent, or instead a rate such as 'n\\*log\\(n\\)'; got neither"),
        ({"exponent": 1, "rate": "h"}, "got exponent=1 and rate='h': give one"),
    ],
)
def test_a_scaling_has_an_exponent_or_a_rate(options, complaint) -> None:
    with pytest.raises(ClaimError, match=complaint):
        tc.Scaling(first_order_bias, tc.ScalingPath(h=tc.halving(1, 1 / 8)), **options)


def test_the_rivals_of_a_scaling_by_a_rate_are_rates_or_exponents() -> None:
    path = tc.ScalingPath(h=tc.halving(1 / 2, 1 / 16))
    claimed = tc.Scaling(first_order_bias, path, rate="h*log(1/h)", rivals=["h", 2, "-k/2"]).prediction({"k": 3})
    assert claimed.rivals == ("h", "h**(2)", "h**(-k/2)")


def test_a_correction_is_a_number_or_its_text() -> None:
    path = tc.ScalingPath(h=tc.halving(1, 1 / 8))
    assert tc.Bound(first_order_bias, rate="h", along=path, correction="1/2").correction == 0.5
    with pytest.raises(ClaimError, match="correction = 'half' is not a number"):
        tc.Bound(first_order_bias, rate="h", along=path, correction="half")
