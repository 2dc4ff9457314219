"""A formula as a quantity: its declared error travels with the value, and bad ones are named."""

import pytest

import theoryck as tc
from theoryck.quantities import QuantityError, formula
from theoryck.records import Verdict


def inverse(d):
    return 1 / d + 1 / d**2


def test_the_declared_error_is_the_radius_and_nothing_is_proved():
    value = formula(inverse, name="f", sizes=("d",), relative_error=1e-6).exact({"d": 2, "n": 9})
    assert float(value.midpoint) == 0.75
    assert float(value.radius) == pytest.approx(0.75e-6)
    assert not value.rigorous


@pytest.mark.parametrize("error", [0.0, 1.0, -1e-3, float("nan"), True, 1])
def test_an_error_outside_its_range_is_named(error):
    with pytest.raises(QuantityError, match="relative_error"):
        formula(inverse, name="f", sizes=("d",), relative_error=error)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True])
def test_a_value_that_is_no_number_is_named_with_its_sizes(value):
    with pytest.raises(QuantityError, match=r"finite number.*'d': 2"):
        formula(lambda d: value, name="f", sizes=("d",), relative_error=1e-3).exact({"d": 2})


def test_a_missing_size_is_named():
    with pytest.raises(QuantityError, match="'d'"):
        formula(inverse, name="f", sizes=("d",), relative_error=1e-3).exact({"n": 2})


def test_a_function_that_cannot_be_called_is_named():
    with pytest.raises(QuantityError, match="function"):
        formula(3, name="f", sizes=("d",), relative_error=1e-3)


@pytest.mark.parametrize(("exponent", "verdict"), [(-1, Verdict.SUPPORTED), (-1.5, Verdict.REFUTED)])
def test_claims_judge_a_formula(exponent, verdict):
    measured = formula(inverse, name="f", sizes=("d",), relative_error=1e-9)

    @tc.conjecture("formula")
    def claim():
        """1/d + 1/d^2 ~ d^exponent"""
        return tc.Scaling(measured, tc.ScalingPath(d=tc.doubling(16, 1024)), exponent=exponent)

    (result,) = tc.check_claims([claim]).results
    assert result.judgement.verdict is verdict
