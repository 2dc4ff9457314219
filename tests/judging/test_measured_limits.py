"""Limits that are measured: L, the exponent of the approach and its constant, with intervals that contain the truth."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from theoryck.fitting.approach import fit_approach
from theoryck.judging import judge
from theoryck.records import Contract, Enclosure, Estimate, Judgement, Kind, Point, Prediction, Verdict

SIZES = (10, 20, 40, 80, 160, 320)
CONTRACT = Contract(1e-3, 0.025, 0.1)


def measured(curve: Callable[[int], float], error: float = 0.0, **options) -> Judgement:
    if error:
        points = [Point({"n": n}, Estimate(curve(n), error, 1000)) for n in SIZES]
    else:
        points = [Point({"n": n}, exact=Enclosure(Decimal(curve(n)), Decimal(0))) for n in SIZES]
    return judge(Prediction(Kind.LIMIT, "q", base="n", **options), points, CONTRACT)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_richardson(power: int) -> None:
    """A scheme of known order: the limit to the digits that extrapolation gives, its order and its error constant."""
    found = measured(lambda n: 0.25 + 3.0 * n**-power, rate=f"n**(-{power})", correction=1.0, rivals=("0.2", "0.26"))
    assert found.verdict is Verdict.SUPPORTED
    assert found.limit is not None
    assert found.limit.contains(0.25)
    assert found.limit.half_width < 1e-6
    assert found.exponent is not None
    assert found.exponent.contains(-power)
    assert found.exponent.half_width < 0.01
    assert found.constant is not None
    assert found.constant.contains(3.0)
    assert found.constant.half_width < 0.05


def test_a_rate_that_is_slower_than_claimed_is_refuted_and_rivals_near_the_limit_leave_it_open() -> None:
    curve = lambda n: 2 - 1 / n  # noqa: E731
    assert measured(curve, rate="n**(-2)", correction=1.0).verdict is Verdict.REFUTED
    near = measured(curve, error=1e-2, rate="1/n", correction=1.0, rivals=("2.001",))
    assert near.verdict is Verdict.INCONCLUSIVE
    assert [rival.rejected for rival in near.rivals] == [False]
    assert "not told from the rival 2.001" in near.reason or "not told from slower ones" in near.reason


def test_an_exponent_that_is_not_declared_is_measured() -> None:
    found = measured(lambda n: 1.7 + 2.0 * n**-0.34, correction=1.0, rivals=("1.5", "1.9"))
    assert found.verdict is Verdict.SUPPORTED
    assert found.limit is not None
    assert found.limit.contains(1.7)
    assert found.exponent is not None
    assert found.exponent.contains(-0.34)
    assert found.constant is not None
    assert found.constant.contains(2.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_values_that_alternate_are_refused(sign: int) -> None:
    found = measured(lambda n: 1 + sign * (-1) ** n.bit_length() / n, rate="1/n")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.limit is None
    assert "the values go up and down: their differences change sign" in found.reason
    # One turn is a correction of the other sign, and noise turns as it likes.
    once = fit_approach(SIZES, [1 + 1 / n - 20 / n**2 for n in SIZES], [0.0] * 6)
    assert not once.reason
    rng = np.random.default_rng(1)
    assert not fit_approach(SIZES, list(1 + 0.1 * rng.standard_normal(6)), [0.1] * 6).reason


def test_a_rate_that_does_not_fall_says_nothing_of_an_approach() -> None:
    found = measured(lambda n: 1 + 1 / n, rate="1")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "does not fall" in found.reason
