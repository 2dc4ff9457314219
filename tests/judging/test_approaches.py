"""Limits that are approached slowly: as declared, or as slowly as d^(-1/10) and 1/log d; none falls by extrapolation alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
import scipy.stats

from theoryck.judging import judge
from theoryck.records import Contract, Enclosure, Estimate, Judgement, Kind, Point, Prediction, Verdict

SIZES = tuple(2**j for j in range(4, 12))
STANDARD, QUICK = Contract(1e-3, 0.025, 0.05), Contract(1e-3, 0.025, 0.15)
Curve = Callable[[int], float]


def claimed(
    curve: Curve, value: float | None, sizes: tuple[int, ...] = SIZES, contract: Contract = STANDARD, **options
) -> Judgement:
    points = [Point({"n": n}, exact=Enclosure(Decimal(curve(n)), Decimal(0))) for n in sizes]
    right = None if value is None else Enclosure(Decimal(value), Decimal(0))
    return judge(Prediction(Kind.LIMIT, "q", base="n", value=right, **options), points, contract)


@pytest.mark.parametrize(
    ("curve", "value", "rate"),
    [
        (lambda n: 2 - 1.7 * n ** (-1 / 6), 2, "n**(-1/6)"),
        (lambda n: 1 - 1 / math.log(n), 1, "1/log(n)"),
        (lambda n: 1 + 3 * n**-0.1, 1, "n**(-1/10)"),
        (lambda n: 2 - 1.77 * n ** (-1 / 3), 2, "n**(-1/3)"),
    ],
)
def test_a_declared_approach_is_believed(curve: Curve, value: float, rate: str) -> None:
    found = claimed(curve, value, rate=rate, rivals=(str(0.9 * value), str(1.1 * value)))
    assert found.verdict is Verdict.SUPPORTED
    assert all(rival.rejected for rival in found.rivals)
    assert found.limit is not None
    assert found.limit.contains(value)
    for wrong in (0.7, 1.3):  # a rate with a logarithm has corrections by 1/log, so that its limit is known less well
        assert claimed(curve, wrong * value, rate=rate).verdict is Verdict.REFUTED
    # Without the rate it is at least not held against the claim.
    assert claimed(curve, value).verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE)


def largest_normal(n: int) -> float:
    """E max of n standard normals: the integral of x n phi(x) Phi(x)^(n - 1), by the trapezoidal rule, exact to 1e-12."""
    x = np.linspace(-12, 12, 20001)
    density = n * scipy.stats.norm.pdf(x) * np.exp((n - 1) * scipy.stats.norm.logcdf(x))
    return float(np.trapezoid(x * density, x))


def range_of_the_walk(most: int) -> np.ndarray:
    """E R_n for the simple walk on Z^2: the sum over k <= n of the chance not to be back by time k (Dvoretzky and Erdos, 1951)."""
    half = most // 2
    k = np.arange(1, half + 1)
    back = np.concatenate([[1.0], np.cumprod(((2 * k - 1) / (2 * k)) ** 2)])  # (C(2k, k)/4^k)^2
    # Renewal: sum_j back_j escaped_(k - j) = 1, where escaped_k is the chance of no return by time 2k.
    escaped = np.empty(half + 1)
    escaped[0] = 1.0
    for index in range(1, half + 1):
        escaped[index] = 1 - back[1 : index + 1] @ escaped[index - 1 :: -1]
    return np.cumsum(np.repeat(escaped, 2))


WALK = range_of_the_walk(2048)
CLASSICAL = {
    "largest normal": lambda n: largest_normal(n) / math.sqrt(2 * math.log(n)),
    "coupon collector": lambda n: sum(1 / k for k in range(1, n + 1)) / math.log(n),
    "range of the planar walk": lambda n: float(WALK[n]) * math.log(n) / (math.pi * n),
}


@pytest.mark.parametrize("name", CLASSICAL)
@pytest.mark.parametrize("contract", [STANDARD, QUICK])
def test_classical_limits_do_not_fall_and_those_beside_them_do_not_stand(name: str, contract: Contract) -> None:
    curve = CLASSICAL[name]
    true = claimed(curve, 1, contract=contract)
    assert true.verdict is not Verdict.REFUTED
    assert true.limit is not None
    assert true.limit.contains(1.0)
    for wrong in (0.9, 1.05, 1.1):
        assert claimed(curve, wrong, contract=contract).verdict is not Verdict.SUPPORTED
    if true.verdict is Verdict.INCONCLUSIVE:
        assert "declare the one that is claimed, such as rate=" in true.reason
        assert "the values still move" in true.reason


@pytest.mark.parametrize("name", ["coupon collector", "range of the planar walk"])
def test_with_their_rate_the_limits_are_excluded_no_more_than_they_should_be(name: str) -> None:
    found = claimed(CLASSICAL[name], 1, rate="1/log(n)", contract=QUICK, rivals=("0.7", "1.3"))
    assert found.verdict is Verdict.SUPPORTED
    assert found.limit is not None
    assert found.limit.contains(1.0)


def increasing(permutations: np.ndarray) -> np.ndarray:
    """The length of the longest increasing subsequence of each row: patience sorting, one column at a time."""
    rows, n = permutations.shape
    tops = np.full((rows, n + 1), np.inf)
    every = np.arange(rows)
    for step in range(n):
        card = permutations[:, step]
        pile = (tops < card[:, None]).sum(axis=1) if step < 32 else np.array([np.searchsorted(t, c) for t, c in zip(tops, card)])
        tops[every, pile] = card
    return np.isfinite(tops).sum(axis=1)


def test_longest_increasing_subsequence() -> None:
    """L/sqrt(n) -> 2 from 1.4, at the rate n^(-1/3) (Baik, Deift and Johansson, 1999)."""
    rng, points = np.random.default_rng(3), []
    for n in (16, 32, 64, 128, 256):
        lengths = increasing(rng.random((600, n))) / math.sqrt(n)
        points.append(Point({"n": n}, Estimate(float(lengths.mean()), float(lengths.std() / math.sqrt(600)), 600)))
    value = Enclosure(Decimal(2), Decimal(0))
    claim = Prediction(Kind.LIMIT, "L/sqrt(n)", base="n", value=value, rate="n**(-1/3)", rivals=("1.6", "2.5"))
    found = judge(claim, points, QUICK)
    assert found.verdict is not Verdict.REFUTED
    assert found.limit is not None
    assert found.limit.contains(2.0)
    for wrong in ("1.7", "2.4"):
        other = Prediction(Kind.LIMIT, "L/sqrt(n)", base="n", value=Enclosure(Decimal(wrong), Decimal(0)), rate="n**(-1/3)")
        assert judge(other, points, QUICK).verdict is not Verdict.SUPPORTED


def test_what_has_settled_is_supported_without_a_rate() -> None:
    for curve in (lambda n: 3 + n**-0.5, lambda n: 3 - 2 / n, lambda n: 3.0):
        assert claimed(curve, 3, rivals=("2.9", "3.1")).verdict is Verdict.SUPPORTED
        assert claimed(curve, 3.3).verdict is Verdict.REFUTED
    still = [Point({"n": n}, Estimate(3.0, 0.003, 1000)) for n in SIZES]
    claim = Prediction(Kind.LIMIT, "q", base="n", value=Enclosure(Decimal(3), Decimal(0)))
    assert judge(claim, still, STANDARD).verdict is Verdict.SUPPORTED


def test_what_is_assumed_of_an_approach_is_said() -> None:
    assert claimed(lambda n: 1 + 1 / n, 1).assuming == "on n = 16..2048, assuming an approach no slower than n^-0.1 or 1/log(n)"
    assert claimed(lambda n: 1 + 1 / n, 1, rate="1/n").assuming == "on n = 16..2048, assuming corrections O(n^-1/2)"
