"""ScalingPath and doubling: sizes, exponents, and clear errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryck.rates import PathError, Rate, ScalingPath, doubling, halving
from theoryck.records import Toward

F = Fraction


def test_doubling() -> None:
    assert doubling(16, 4096) == (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    assert doubling(3, 13) == (3, 6, 12)
    assert doubling(5, 5) == (5,)
    for start, stop in ((0, 4), (-2, 4), (8, 4), (2.0, 8)):
        with pytest.raises(PathError):
            doubling(start, stop)  # type: ignore[arg-type]


def test_expressions_are_rounded_and_have_exponents() -> None:
    path = ScalingPath(
        d=doubling(16, 64), n="d**(3/2)", m="2*n + d", width="sqrt(n*d)", input_dim=8, d_min="min(width, d)", d_max="max(n, d)"
    )
    assert [point["n"] for point in path.points] == [64, 181, 512]  # 32**1.5 = 181.02
    assert path.points[0] == {"d": 16, "n": 64, "m": 144, "width": 32, "input_dim": 8, "d_min": 16, "d_max": 64}
    assert [path.exponent_of(name) for name in path.names] == [F(1), F(3, 2), F(3, 2), F(5, 4), F(0), F(1), F(3, 2)]
    assert Rate.parse("n/d_min**2").exponent(path) == F(-1, 2)
    assert ScalingPath.from_description(path.describe()) == path
    assert ScalingPath.from_description(path.describe()).points == path.points


def test_two_sequences() -> None:
    path = ScalingPath(d=[16, 32, 64], n=[8, 11, 16])
    assert path.base == "d"
    assert path.exponent_of("n") == F(1, 2)
    stray = ScalingPath(d=[16, 32, 64], n=[8, 9, 90])
    with pytest.raises(PathError, match="follow no power of d"):
        stray.exponent_of("n")
    with pytest.raises(PathError, match="same length: d has 3 sizes, n has 2"):
        ScalingPath(d=[16, 32, 64], n=[8, 16])
    assert ScalingPath(d=[16, 32], n=[5, 5]).exponent_of("n") == 0


def test_integers_of_other_types() -> None:
    path = ScalingPath(d=np.array([4, 8, 16]), n=np.int64(3))
    assert path.points[1] == {"d": 8, "n": 3}
    assert all(type(size) is int for point in path.points for size in point.values())


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ({}, "needs one size that is a sequence"),
        ({"d": 4}, "needs one size that is a sequence"),
        ({"d": [4]}, "at least two different values"),
        ({"d": [4, 4]}, "at least two different values"),
        ({"d": []}, "at least two different values"),
        ({"d": [4, 8, 8]}, "must increase"),
        ({"d": [8, 4, 16]}, "must increase"),
        ({"d": [4, 0]}, "size d must be positive, between 1e-30 and 1e\\+30, got 0"),
        ({"d": [-4, 4]}, "size d must be positive"),
        ({"d": [8, 4]}, "must increase from value to value, .*; or give toward=0 if its limit is at 0"),
        ({"h": [0.1, 0.2, 0.4]}, "its name suggests a limit at 0: sort it the other way round, or give toward='inf'"),
        ({"d": [4, 8], "toward": 0}, "size d must decrease from value to value, as it goes to 0"),
        ({"h": [0.5, 0.25], "toward": "inf"}, "size h must increase from value to value, as it goes to infinity"),
        ({"h": [0.5, 0.25], "toward": 1}, "toward must be 0 or inf"),
        ({"h": [math.inf, 0.25]}, "must be a positive number, a sequence of them"),
        ({"d": [True, 4]}, "got True"),
        ({"d": [4, 8], "n": 0}, "size n must be positive"),
        ({"d": [4, 8], "n": True}, "size n must be a positive number"),
        ({"d": [4, 8], "n": None}, "size n must be a positive number"),
        ({"d": [4, 8], "n": "width"}, "'width' is not an earlier size"),
        ({"n": "2*d", "d": [4, 8]}, "define it before n"),
        ({"width": [4, 8], "n": "2*widht"}, "did you mean 'width'"),
        ({"d": [4, 8], "n": "d/100"}, "is 0.04"),
        ({"d": [4, 8], "n": "d**40"}, "between 1 and 2"),
        ({"d": [4, 8], "n": "__import__('os')"}, "unknown function"),
        ({"d": [4, 8], "n": "8 - d"}, "subtraction"),
        ({"d": [4, 8], "sqrt": "d"}, "cannot be called 'sqrt'"),
        ({"d": range(1, 2000)}, "at most 1000"),
    ],
)
def test_refusals(sizes: dict[str, object], complaint: str) -> None:
    with pytest.raises(PathError, match=complaint):
        ScalingPath(**sizes)  # type: ignore[arg-type]


def test_unknown_name() -> None:
    with pytest.raises(PathError, match="did you mean 'width'"):
        ScalingPath(d=[4, 8], width="d").exponent_of("widht")


@given(st.integers(1, 1000), st.integers(2, 12), st.fractions(min_value=F(1, 4), max_value=F(5, 2), max_denominator=8))
def test_rounding_is_to_the_nearest_integer(start: int, count: int, power: Fraction) -> None:
    path = ScalingPath(d=doubling(start, start << (count - 1)), n=f"d**({power})")
    for point in path.points:
        # (n - 1/2)^q <= d^p <= (n + 1/2)^q in integers: no floating point in the check.
        p, q = power.numerator, power.denominator
        exact = 2**q * point["d"] ** p
        assert (2 * point["n"] - 1) ** q <= exact <= (2 * point["n"] + 1) ** q


def test_sizes_that_shrink_stay_the_numbers_that_were_given() -> None:
    path = ScalingPath(h=halving(1, 1 / 8), n="1/h", area="h**2", order=2)
    assert path.toward is Toward.ZERO
    assert path.points[0] == {"h": 1.0, "n": 1, "area": 1, "order": 2}
    assert path.points[3] == {"h": 0.125, "n": 8, "area": 0.015625, "order": 2}
    assert [path.exponent_of(name) for name in path.names] == [1, -1, 2, 0]
    assert type(path.points[0]["h"]) is float
    assert type(path.points[3]["n"]) is int


@pytest.mark.parametrize(
    "path",
    [
        ScalingPath(h=[0.3, 0.1, 1 / 30], n="1/h"),
        ScalingPath(h=[8, 4, 2], toward=0),
        ScalingPath(tokens=[1e9, 1e12, 1e21]),
        ScalingPath(beta=[0.5, 1, 2.5], toward="inf"),
    ],
)
def test_a_path_of_any_numbers_is_read_back_from_its_description(path: ScalingPath) -> None:
    assert ScalingPath.from_description(path.describe(), path.toward) == path


def test_whole_floats_that_grow_are_dimensions_and_others_stay_floats() -> None:
    assert ScalingPath(d=[16.0, 32.0]).points == ({"d": 16}, {"d": 32})
    assert type(ScalingPath(d=[16.0, 32.0]).sizes[0]) is int
    assert [type(size) for size in ScalingPath(h=[2.0, 1.0]).sizes] == [float, float]


def test_a_sum_of_powers_of_a_size_that_shrinks_is_led_by_the_least() -> None:
    path = ScalingPath(h=halving(1, 1 / 64), k="h + h**2")
    assert path.exponent_of("k") == 1
    assert Rate.parse("h**2 + h**3").exponent(path) == 2
    assert Rate.parse("k**2/h").exponent(path) == 1


def test_halving_reaches_its_stop_and_refuses_what_has_no_second_size() -> None:
    assert halving(1, 1 / 1024)[-1] == 2.0**-10
    assert halving(0.3, 0.3 / 8)[-1] == 0.3 / 8
    assert halving(0.5, 0.5) == (0.5,)
    with pytest.raises(PathError, match=r"stop must be at most 0\.5 for a second size"):
        halving(1, 0.6)
    with pytest.raises(PathError, match="size stop must be positive"):
        halving(1, 0)


def test_sizes_that_are_a_size_less_one_or_grow_geometrically() -> None:
    assert [point["n"] for point in ScalingPath(d=[4, 8], n="d - 1").points] == [3, 7]
    assert ScalingPath(d=[4, 8], n="d - 1").exponent_of("n") == 1
    levels = ScalingPath(l=range(5), n="2**l")
    assert [point["n"] for point in levels.points] == [1, 2, 4, 8, 16]
    with pytest.raises(PathError, match="an exponential of l follows no power of l"):
        levels.exponent_of("n")
