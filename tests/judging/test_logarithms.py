"""Logarithmic factors: resolved where the window and the errors allow it, said to be unresolved elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import pytest

from theoryck.judging import growth, judge
from theoryck.judging.evidence import Series
from theoryck.judging.logarithms import log_resolution, without_logs
from theoryck.rates import Rate, RateError
from theoryck.records import Contract, Enclosure, Estimate, Judgement, Kind, Point, Prediction, Verdict


def series(curve: Callable[[float], float], relative: float, last: int = 10, first: int = 4) -> Series:
    sizes = tuple({"d": 2**j, "n": 7} for j in range(first, last + 1))
    values = tuple(Decimal(curve(size["d"])) for size in sizes)
    return Series("montecarlo", sizes, values, tuple(abs(value) * Decimal(relative) for value in values))


def test_a_rate_without_logarithms_has_nothing_to_resolve() -> None:
    data = series(lambda d: 1 / d, 0.01)
    assert log_resolution(data, "d", Rate.parse("1/d")) is None
    assert log_resolution(data, "d", Rate.parse("log(n)/d")) is None  # n does not vary: a constant


@pytest.mark.parametrize(
    ("curve", "rate"), [(lambda d: math.sqrt(math.log(d) / d), "sqrt(log(d)/d)"), (lambda d: 1 / d, "log(d)/d")]
)
def test_resolved_with_small_errors_on_a_long_window_only(curve: Callable[[float], float], rate: str) -> None:
    """On d = 16..1024 the exponent moves by .15 r, less than the half-width at 20% noise, far more than that at 1e-6."""
    short = log_resolution(series(curve, 0.2), "d", Rate.parse(rate))
    assert short is not None
    assert not short.resolved
    assert "cannot be resolved on this window" in short.text
    long = log_resolution(series(curve, 1e-6, last=20), "d", Rate.parse(rate), correction=1)
    assert long is not None
    assert long.resolved
    assert long.text == ""
    power = 0.5 if "sqrt" in rate else 1.0
    assert 0.1 * power < abs(short.shift) < 0.3 * power
    assert math.copysign(1, short.shift) == 1


def test_the_shift_is_the_slope_of_the_logarithm() -> None:
    """A straight line through log log d on d = 16..1024: corrections declared tiny."""
    found = log_resolution(series(lambda d: 1 / d, 0.2), "d", Rate.parse("log(d)/d"), correction=1, amplitude=1e-9)
    assert found is not None
    x = [j * math.log(2) for j in range(4, 11)]
    y = [math.log(value) for value in x]
    mean = sum(x) / 7
    slope = sum((a - mean) * b for a, b in zip(x, y)) / sum((a - mean) ** 2 for a in x)
    assert found.shift == pytest.approx(slope, rel=0.02)  # the weights are those of the fitted curves


def test_no_exponent_is_no_resolution() -> None:
    found = log_resolution(series(lambda d: 1 / d, 0.01, last=5), "d", Rate.parse("log(d)**2/d"))
    assert found is not None
    assert found.reason
    assert not found.resolved
    assert found.text.startswith("the factor log(d)^2 ")


def test_texts_and_errors() -> None:
    data = series(lambda d: 1 / d, 0.05)
    found = log_resolution(data, "d", Rate.parse("log(d)**(-1/2)/d + log(d)/d**2"))
    assert found is not None
    assert {"log(d)^(-1/2)", "log(d)"} == set(found.factor.split(" and "))
    assert without_logs(Rate.parse("log(d)/d"), {"d"}) == Rate.parse("1/d")
    assert without_logs(Rate.parse("log(2)*log(d + 1)/d"), {"d"}) == Rate.parse("log(2)/d")
    assert without_logs(Rate.parse("log(d)*log(n)/d"), {"n"}) == Rate.parse("log(d)/d")
    with pytest.raises((RateError, KeyError)):
        log_resolution(data, "d", Rate.parse("log(width)"))


SCALED = tuple(2**j for j in range(4, 12))


def scaled(curve: Callable[[float], float], exponent: float, relative: float = 0.0, within: float = 0.05) -> Judgement:
    points = [Point({"n": n}, Estimate(curve(n), relative * curve(n), 10**6)) for n in SCALED]
    if not relative:
        points = [Point({"n": n}, exact=Enclosure(Decimal(curve(n)), Decimal(0))) for n in SCALED]
    return judge(Prediction(Kind.SCALING, "q", base="n", exponent=exponent), points, Contract(1e-3, 0.025, within))


@pytest.mark.parametrize(
    ("curve", "exponent", "factor"), [(lambda n: n / math.log(n), 0.9, "^(-1)"), (lambda n: n * math.log(n), 1.1, "")]
)
def test_a_power_is_not_supported_where_another_one_with_a_logarithm_is_what_the_values_are(
    curve: Callable[[float], float], exponent: float, factor: str
) -> None:
    found = scaled(curve, exponent)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert f"the exponent 1.000000 +/- 0.000013 with a factor log(n){factor} explains the values" in found.reason
    # Where the tolerance covers the exponent it is supported, and the logarithm is said.
    wide = scaled(curve, exponent, within=0.15)
    assert wide.verdict is Verdict.SUPPORTED
    assert any(f"a factor log(n){factor} would fit better" in flag for flag in wide.flags)
    # With errors of 0.1% the values do not say which it is.
    noisy = scaled(curve, exponent, 1e-3)
    assert any(f"a factor log(n){factor} would fit better" in flag for flag in noisy.flags)


@pytest.mark.parametrize("first", [0.0, 2.0, -1.5])
@pytest.mark.parametrize("relative", [0.0, 1e-3])
def test_a_true_power_is_not_taken_for_one_with_a_logarithm(first: float, relative: float) -> None:
    found = scaled(lambda n: n**0.9 * (1 + first * n**-0.5), 0.9, relative)
    assert found.verdict is Verdict.SUPPORTED
    assert not any("would fit better" in flag for flag in found.flags)


SCATTERED = {  # 0.8 N^-1/2 with Gaussian noise of 3%; and of 1.5%, where chance alone makes log(N)^(-1/2) fit
    "ten times": (0.00297, [0.08241614, 0.03674661, 0.01886659, 0.00994757, 0.00493667, 0.00251602, 0.00125815]),
    "five times": (0.006, [0.0801, 0.03965, 0.01953, 0.00992, 0.005, 0.002479, 0.001299]),
}


@pytest.mark.parametrize(("relative", "values"), SCATTERED.values(), ids=SCATTERED)
def test_noise_beyond_the_stated_errors_is_not_read_as_a_logarithm(relative: float, values: list[float]) -> None:
    points = [Point({"N": 100 * 4**i}, Estimate(v, relative * v, 2)) for i, v in enumerate(values)]
    claim = Prediction(Kind.SCALING, "q", base="N", exponent=-0.5)
    found = judge(claim, points, Contract(0.01, 0.025, 0.05), drawn=False, stated=True)
    assert found.verdict is Verdict.SUPPORTED
    assert "log(" not in found.reason


def test_a_logarithm_is_told_from_a_power_beside_stated_errors() -> None:
    # n/log(n) to 1e-6: n^0.9 needs errors hundreds of times as large, the logarithm none.
    points = [Point({"n": n}, Estimate(n / math.log(n), 1e-6 * n, 2)) for n in SCALED]
    found = judge(
        Prediction(Kind.SCALING, "q", base="n", exponent=0.9), points, Contract(0.01, 0.025, 0.05), drawn=False, stated=True
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "with a factor log(n)^(-1) explains the values" in found.reason


def test_flags_of_logarithms_are_worked_out_where_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(growth, "_hidden_log", lambda case, series, growth: asked.append(series) or ())
    points = [Point({"n": n}, Estimate(n**0.9, 1e-3 * n**0.9, 10**6)) for n in SCALED]
    claim = Prediction(Kind.SCALING, "q", base="n", exponent=0.9, rivals=("0.9001",))  # not told from the claim: looks follow
    assert not judge(claim, points, Contract(within=0.05), final=False).settled
    assert not asked
    judge(claim, points, Contract(within=0.05))
    assert len(asked) == 1


@pytest.mark.parametrize("curve", [lambda n: n**0.9, lambda n: n / math.log(n)], ids=["n^0.9", "n/log n"])
def test_a_logarithm_that_scatter_beyond_the_stated_errors_hides_is_said_to_fit_as_well(curve: Callable[[float], float]) -> None:
    """Errors of 0.01% that are 0.1%: a gain of 1 is found of either, and 10 times the likelihood of neither (50 tables each)."""
    wobbles = (1.2, -0.7, 0.4, -1.6, 0.9, 0.3, -0.8, 0.5)
    values = [curve(n) * (1 + 1e-3 * wobble) for n, wobble in zip(SCALED, wobbles)]
    points = [Point({"n": n}, Estimate(value, 1e-4 * value, 2)) for n, value in zip(SCALED, values)]
    claim = Prediction(Kind.SCALING, "q", base="n", exponent=0.9)
    found = judge(claim, points, Contract(0.01, 0.025, 0.05), drawn=False, stated=True)
    assert any("and a factor log(n)" in flag and flag.endswith("would fit as well") for flag in found.flags)
    assert not any(flag.endswith("would fit better") for flag in found.flags)
