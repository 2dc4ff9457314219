"""Numbers in reports: what is printed parses back to what was measured, within the digits shown."""

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers

from theoryck.records import Enclosure, Interval
from theoryck.report.numbers import count, enclosed, measured, plain, seconds, uncertain, written_out

FORM = re.compile(r"(-?\d+)(?:\.(\d+))?\((\d+)\)(?:e([+-]\d+))?")


def parse(text):
    """Read the shorthand back: value and half width, exactly."""
    whole, decimals, digits, power = FORM.fullmatch(text).groups()
    scale = Decimal(10) ** int(power or 0)
    value = Decimal(f"{whole}.{decimals or '0'}") * scale
    return value, Decimal(digits).scaleb(-len(decimals or "")) * scale


@given(floats(-10, 10), floats(1e-5, 10))
def test_the_shorthand_reads_back(value, half):
    shown, shown_half = parse(uncertain(value, half))
    # One digit of an uncertainty that starts with 3..9, two of one that starts with 1 or 2: rounding it up adds at most
    # 1/2.95 of itself, and the value moves by at most half a unit of its last digit, half that amount.
    assert half * (1 - 1e-8) <= float(shown_half) <= half + 0.34 * half + 1e-12
    assert abs(float(shown) - value) <= 0.17 * half


@given(floats(min_value=1e-30, max_value=1e30), floats(1e-4, 1))
def test_the_shorthand_reads_back_at_any_scale(value, relative):
    shown, shown_half = parse(uncertain(value, relative * value))
    assert math.isclose(float(shown), value, rel_tol=0.17 * relative + 1e-3)
    assert shown_half > 0


@given(integers(0, 10**17))
def test_counts_are_short_and_close(number):
    text = count(number)
    assert len(text) <= 5
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    value = float(text.rstrip("kMGTP")) * units.get(text[-1], 1)
    assert math.isclose(value, number, rel_tol=0.05)


@given(floats(1e-5, 10))
def test_widths_are_rounded_up(half):
    """What is shown contains the interval."""
    assert float(parse(uncertain(0.5, half))[1]) >= half * (1 - 1e-8)


def test_zeros_in_front_of_a_small_value_are_no_digits():
    assert uncertain(0.00012345, 1e-9) == "0.000123450(1)"
    assert uncertain(0.00012345, 1e-9, fixed=True) == "0.000123(1)"


def test_what_is_known_exactly_keeps_its_digits():
    assert enclosed(Enclosure(Decimal("123456789"), Decimal(0))) == "123456789"
    assert enclosed(Enclosure(Decimal("1e-30"), Decimal(0))) == "1e-30"
    assert enclosed(Enclosure(Decimal("-1e30"), Decimal(0))) == "-1e+30"


def test_a_negative_width_is_shown_as_it_is():
    assert uncertain(1, -1) == "1 +/- -1"


@given(floats(0, 3e7))
def test_durations_are_short(value):
    assert len(seconds(value)) <= 7


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (-0.502, 0.008, "-0.502(8)"),
        (-0.5, 0.02, "-0.500(20)"),
        (0.0, 0.03, "0.00(3)"),
        (-0.0001, 0.03, "0.00(3)"),
        (123.4, 56.0, "123(56)"),
        (-1.0, 1e-12, "-1.000000(1)"),
        (1e-30, 1e-32, "1.000(10)e-30"),
        (1e30, 5e29, "1.0(5)e+30"),
        (0.5, 0.0, "0.5"),
        (0.0, 0.0, "0"),
        (math.nan, 0.1, "nan +/- 0.1"),
        (0.1, math.inf, "0.1 +/- inf"),
    ],
)
def test_shorthand(value, half, text):
    assert uncertain(value, half) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(-0.5, -0.508, -0.492, 0.95), "-0.500(8)"),
        (Interval(-0.5, -0.51, -0.3, 0.95), "-0.50 [-0.51, -0.30]"),
        (Interval(-0.5, -math.inf, -0.3, 0.95), "-0.5 [-inf, -0.3]"),
        (Interval(math.nan, math.nan, math.nan, 0.95), "nan [nan, nan]"),
        (Interval(2.0, 2.0, 2.0, 0.95), "2"),
        (Interval(-2.5, -2.5 - 1e-9, -2.5 + 9e-9, 0.95), "-2.500000(1)"),
        (None, "-"),
    ],
)
def test_measured(interval, text):
    assert measured(interval) == text


def test_written_out_never_hides_a_tiny_interval():
    assert written_out(Interval(1e-30, 0.9e-30, 1.1e-30, 0.95)) == "1e-30 [9e-31, 1.1e-30]"
    assert written_out(Interval(2.0, 2.0, 2.0, 0.95)) == "2 [2, 2]"


def test_plain_and_enclosed():
    assert [plain(x) for x in (-2.0, 1 / 3, math.inf)] == ["-2", "0.3333", "inf"]
    assert enclosed(Enclosure(Decimal(1), Decimal(0))) == "1"
