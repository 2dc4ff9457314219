"""Arguments: every spelling of a number, and what is none."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from theoryck.records.arguments import exact_number, integer, positive


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.5), Fraction(1, 2)),
        (np.int8(3), Fraction(3)),
        ("1/3", Fraction(1, 3)),
        ("1e5", Fraction(10**5)),
        (Decimal("1e-300"), Fraction(1, 10**300)),
        (10**400, Fraction(10**400)),
    ],
)
def test_numbers(value, expected):
    assert exact_number(value, "alpha", low=0) == expected


def test_integers_of_numpy_do_not_overflow():
    assert exact_number(np.int64(2**62), "n") * 4 == 2**64


@pytest.mark.parametrize("value", [True, np.True_, "", "1/0", "nan", np.float32("inf"), 1j, [1], {1}, None, np.zeros(2)])
def test_what_is_no_number(value):
    with pytest.raises(ValueError, match="alpha must be a number, got"):
        exact_number(value, "alpha")


def test_numbers_too_long_to_be_written_out_are_refused_at_once():
    for value in ("1e999999999", Decimal("1e-999999999")):
        with pytest.raises(ValueError, match="its exponent must lie between -10000 and 10000"):
            exact_number(value, "alpha")
    with pytest.raises(ValueError, match="alpha must be a number >= 0, got int of thousands of digits"):
        exact_number(-(10**5000), "alpha", low=0, strict=False)


def test_integers_are_those_of_python_and_numpy():
    assert integer(np.int8(3), "depth", 1, 3) == 3
    assert type(integer(np.int64(3), "depth")) is int


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None, Fraction(1), -1])
def test_what_is_no_integer(value):
    with pytest.raises(WrongArgument, match="depth must be an integer >= 0, got"):
        integer(value, "depth", error=WrongArgument)


class WrongArgument(ValueError):
    pass


@pytest.mark.parametrize("value", [True, 0, -1.0, float("nan"), float("inf"), "1", None, Decimal("NaN"), 17])
def test_what_is_no_positive_number(value):
    with pytest.raises(ValueError, match="share must be a positive number of at most 16, got"):
        positive(value, "share", 16)
    assert positive(Decimal("0.5"), "share") == positive(np.float32(0.5), "share") == positive(Fraction(1, 2), "share")
