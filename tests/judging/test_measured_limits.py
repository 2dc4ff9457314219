"""Limits that are measured: L, the exponent of the approach and its constant, with intervals that contain the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from theoryck.fitting import slower
from theoryck.fitting.approach import Approach, fit_approach
from theoryck.fitting.slower import Explanations
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


@pytest.mark.parametrize(
    "curve",
    [
        lambda n: sum(1 / k for k in range(1, n + 1)),
        lambda n: math.log(math.log(n)),
        lambda n: (n / 1e5) ** -0.05,
        lambda n: n**-0.03,
        lambda n: 1 + 3 / math.log(n),
    ],
    ids=["harmonic", "log log", "-0.05", "-0.03", "1/log"],
)
def test_a_faster_rate_than_the_true_one_is_not_supported_nor_gives_a_limit(curve: Callable[[int], float]) -> None:
    """The limit that n^(-1/5) would imply is false for every one of these; no limit is shown and no rival rejected."""
    sizes = [2**j for j in range(4, 16)]
    points = [Point({"n": n}, Estimate(round(curve(n), 5), 3e-6, 1)) for n in sizes]
    found = judge(Prediction(Kind.LIMIT, "q", base="n", rate="n**(-1/5)", rivals=("0", "1")), points, CONTRACT, drawn=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.limit is None
    assert not any(rival.rejected for rival in found.rivals)
    assert "the values still move and no limit is seen" in found.reason
    assert "inf" not in found.reason
    assert "nan" not in found.reason


def test_the_true_rate_is_told_from_slower_ones() -> None:
    for power, noise in ((0.5, 1e-5), (0.25, 1e-6), (1.0, 1e-6)):
        sizes = [2**j for j in range(4, 14)]
        points = [Point({"n": n}, Estimate(2 - 1.7 * n**-power, noise, 1)) for n in sizes]
        found = judge(Prediction(Kind.LIMIT, "q", base="n", rate=f"n**(-{power})", rivals=("1.8", "2.2")), points, CONTRACT)
        assert found.verdict is Verdict.SUPPORTED
        assert found.limit is not None
        assert found.limit.contains(2.0)


def test_slower_approaches_and_growth_are_named() -> None:
    sizes = [2.0**j for j in range(2, 16)]
    declared = Approach([-0.2 * math.log(n) for n in sizes])
    grows = Explanations(sizes, [math.log(n) + 1 / n for n in sizes], [1e-6] * 14, declared, 0.05).slower(2.0)
    assert grows.grows
    assert not Explanations(sizes, [1 + 3 * n**-0.2 for n in sizes], [1e-6] * 14, declared, 0.05).slower(2.0)
    coarse = Explanations(sizes, [1 + 3 * n**-0.2 for n in sizes], [1e-2] * 14, declared, 0.05).slower(2.0)
    assert coarse
    assert coarse.low <= 1.0
    # An exponent that may be as slow as the family has it is open on that side, down to 0.
    slow = fit_approach(sizes, [math.log(n) for n in sizes], [0.1] * 14)
    assert slow.exponents()[0].low == 0.0


def test_explanations_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(slower, "fit_approach", lambda *data, **options: calls.append(options) or fit_approach(*data, **options))
    sizes = [2.0**j for j in range(4, 12)]
    found = slower.Explanations(sizes, [n**-0.5 for n in sizes], [1e-3] * 8, Approach([-0.5 * math.log(n) for n in sizes]), 0.05)
    for options in ({"better": True}, {}, {"beyond": 0.05}):
        found.slower(2.0, **options)
    assert len(calls) == 2


def test_an_approach_that_needs_no_corrections_is_not_charged_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 + 2/log n explains itself, whatever looks like it: for five powers of 1/log n it was charged 16 of chi2."""
    sizes = [2.0**j for j in range(5, 16)]
    gaps, power = [2 / math.log(n) - 0.14 for n in sizes], [n**-0.3 for n in sizes]
    declared = Approach([-0.3 * math.log(n) for n in sizes])
    for error in (1e-3, 2e-3):
        assert slower.Explanations(sizes, gaps, [error] * 11, declared, 0.05).slower(2.0, beyond=0.057).log
        assert not slower.Explanations(sizes, power, [error] * 11, declared, 0.05).slower(2.0, beyond=0.057)
    monkeypatch.setattr(slower, "SHARES", (1.0,))  # charged for all of them it is hidden
    assert not slower.Explanations(sizes, gaps, [2e-3] * 11, declared, 0.05).slower(2.0, beyond=0.057).log
