"""judge on exact moments of deep linear networks (MATH B4): corrections at small sizes far larger than any default assumes.

E S_L^m = prod_l prod_{j<m} (1 + 2j/d) with equal widths, so E (S_L - 1)^k is a polynomial in 1/d whose leading term is of order
d^(-k/2): the bound is true and tight for every k, whatever the coefficient of the next order.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from theoryck.judging import judge
from theoryck.rates import doubling
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Tightness, Verdict


def moment(power: int, width: int, depth: int) -> Fraction:
    raw = [
        math.prod((Fraction(width + 2 * j, width) for j in range(m)), start=Fraction(1)) ** (depth + 1) for m in range(power + 1)
    ]
    return sum((math.comb(power, m) * (-1) ** (power - m) * raw[m] for m in range(power + 1)), start=Fraction(0))


def points(power: int, depth: int, largest: int, draws: float = 0.0) -> list[Point]:
    made = []
    with localcontext() as context:
        context.prec = 50
        for width in doubling(16, largest):
            exact = moment(power, width, depth)
            value = Decimal(exact.numerator) / Decimal(exact.denominator)
            # relative variance of |Z|^power to leading order: (2k-1)!! / ((k-1)!!)^2 - 1
            ratio = math.prod(range(1, 2 * power, 2)) / math.prod(range(1, power, 2)) ** 2 - 1
            stderr = float(value) * math.sqrt(ratio / draws) if draws else 0.0
            sizes = {"d": width}
            made.append(
                Point(sizes, Estimate(float(value), stderr, int(draws)))
                if draws
                else Point(sizes, exact=Enclosure(value, Decimal("1e-40")))
            )
    return made


def claim(power: int, correction: float | None) -> Prediction:
    return Prediction(
        Kind.BOUND,
        "E (S_L - 1)^k",
        base="d",
        rate="d**(-k/2)",
        rivals=("d**(-(k+1)/2)",),
        parameters={"k": str(power)},
        correction=correction,
        amplitude=2.0 if correction else None,  # the 1/d coefficient of a sixth moment is 30
    )


def test_the_formula_is_that_of_chi_square() -> None:
    assert moment(2, 10, 0) == Fraction(2, 10)
    assert moment(4, 10, 0) == Fraction(12, 100) + Fraction(48, 1000)  # MATH B1


@pytest.mark.parametrize("power", [2, 4, 6, 8])
@pytest.mark.parametrize(("depth", "largest"), [(0, 1024), (1, 1024), (3, 1024), (3, 4096)])
@pytest.mark.parametrize("correction", [None, 1.0])
def test_a_true_theorem_is_never_refuted(power: int, depth: int, correction: float | None, largest: int) -> None:
    contract = Contract(within=0.05)
    for draws in (0.0, 1e6):
        found = judge(claim(power, correction), points(power, depth, largest, draws), contract)
        assert found.verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE)
        assert found.slack is not None
    if power <= 4 and correction:
        assert (found.verdict, found.tightness, found.rivals[0].rejected) == (Verdict.SUPPORTED, Tightness.TIGHT, True)


def test_large_corrections_are_said_to_be_there() -> None:
    found = judge(claim(6, 1.0), points(6, 1, 4096), Contract(within=0.05))
    assert (found.verdict, found.tightness) == (Verdict.SUPPORTED, Tightness.TIGHT)
    assert any("larger than assumed" in flag for flag in found.flags)


@pytest.mark.parametrize("power", [2, 4, 6])
def test_the_twin_with_the_next_rate_is_refuted(power: int) -> None:
    rate, parameters = "d**(-(k+1)/2)", {"k": str(power)}
    twin = Prediction(Kind.BOUND, "Q", base="d", rate=rate, parameters=parameters, correction=1.0, amplitude=2.0)
    assert judge(twin, points(power, 1, 4096), Contract()).verdict is Verdict.REFUTED
    assert judge(twin, points(power, 1, 4096, 1e6), Contract()).verdict is Verdict.REFUTED
