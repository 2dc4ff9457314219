"""ScalingPath and doubling: sizes, exponents, and clear errors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryck.rates import PathError, Rate, ScalingPath, doubling

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
        ({"d": [0, 4]}, "size d must lie between 1"),
        ({"d": [-4, 4]}, "size d must lie between 1"),
        ({"d": [4.0, 8.0]}, "got 4.0"),
        ({"d": [True, 4]}, "got True"),
        ({"d": [4, 8], "n": 0}, "size n must lie between 1"),
        ({"d": [4, 8], "n": 2.5}, "size n must be an integer"),
        ({"d": [4, 8], "n": True}, "size n must be an integer"),
        ({"d": [4, 8], "n": None}, "size n must be an integer"),
        ({"d": [4, 8], "n": "width"}, "'width' is not an earlier size"),
        ({"n": "2*d", "d": [4, 8]}, "define it before n"),
        ({"width": [4, 8], "n": "2*widht"}, "did you mean 'width'"),
        ({"d": [4, 8], "n": "d/100"}, "is 0.04"),
        ({"d": [4, 8], "n": "d**40"}, "between 1 and 2"),
        ({"d": [4, 8], "n": "__import__('os')"}, "unknown function"),
        ({"d": [4, 8], "n": "d - 1"}, "subtraction"),
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
