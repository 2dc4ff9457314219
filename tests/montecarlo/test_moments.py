"""Moments against numpy on the whole data and exact rationals; extremes of the range; honest errors; the heavy-tail flag."""

import math
from fractions import Fraction

import numpy as np
import pytest

from theoryck.montecarlo import Histogram, Moments, block_generator
from theoryck.montecarlo.moments import KEPT
from theoryck.records import Estimate


def pieces(values: np.ndarray, cuts: list[int]) -> Moments:
    total = Moments()
    for part in np.split(values, cuts):
        total = total.merge(Moments.of(part))
    return total


def exact_central(values: np.ndarray) -> list[Fraction]:
    rationals = [Fraction(float(value)) for value in values]
    mean = sum(rationals) / len(rationals)
    return [mean, *(sum((value - mean) ** order for value in rationals) for order in (2, 3, 4))]


def unscaled(moments: Moments) -> list[Fraction]:
    unit = Fraction(2) ** moments.exponent
    parts = (moments.mean, moments.m2, moments.m3, moments.m4)
    return [Fraction(part) * unit**order for order, part in enumerate(parts, start=1)]


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300, 3e-310])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_merged_moments_equal_exact_rational_ones_at_every_scale(scale: float, shift: float) -> None:
    values = (block_generator(0, "moments", {}, {}, 0).standard_normal(200) + shift) * scale
    got, want = unscaled(pieces(values, [1, 40, 41, 150])), exact_central(values)
    size = Fraction(float(np.abs(values).max()))
    for order, (one, other) in enumerate(zip(got, want), start=1):
        # Rounding: each of 200 terms of size at most (2 size)^order carries a few ulps.
        assert abs(one - other) <= 200 * (2 * size) ** order * Fraction(16, 2**52)


def test_small_groups_beside_large_ones_are_not_lost() -> None:
    tiny, huge = np.array([1e-300, 2e-300, 4e-300]), np.array([1e300, -1e300])
    moments = Moments.of(tiny).merge(Moments.of(np.zeros(3))).merge(Moments.of(huge))
    estimate = moments.estimate()
    assert estimate.value == 0.0 or abs(estimate.value) < 1e284  # 1e300 cancels to rounding
    assert math.isfinite(estimate.stderr)
    assert estimate.stderr > 1e299
    alone = Moments.of(np.zeros(3)).merge(Moments.of(tiny)).estimate()
    assert alone.value == pytest.approx(7e-300 / 6, rel=1e-14)
    assert alone.stderr > 1e-301


def test_a_mean_that_underflows_is_flagged() -> None:
    values = np.full(1000, 5e-324)
    values[0] = 0.0
    values[1:] = 0.0
    values[1] = 5e-324
    assert "underflow" in Moments.of(values).estimate().flags


def test_cancellation_does_not_spoil_the_variance() -> None:
    # The textbook formula E x^2 - (E x)^2 loses every digit here.
    values = 1e9 + block_generator(0, "cancellation", {}, {}, 0).random(10_000)
    want = exact_central(values)[1]
    assert float(unscaled(pieces(values, [3000, 7000]))[1] / want) == pytest.approx(1.0, rel=1e-6)


def test_empty_groups_change_nothing() -> None:
    moments = Moments.of([1.0, 2.0])
    assert Moments().merge(moments) == moments == moments.merge(Moments()) == moments.merge(Moments.of([]))


def test_json_gives_the_same_bits() -> None:
    moments = Moments.of(block_generator(0, "json", {}, {}, 0).standard_normal(5000), [-1.0, 0.0, 1.0])
    assert Moments.from_json(moments.to_json()) == moments
    assert Moments.from_json(Moments().to_json()) == Moments()
    assert moments != Moments.of([1.0])


@pytest.mark.parametrize(("values", "message"), [([[1.0]], r"shape \(1, 1\)"), ([math.nan, 1.0], "finite"), ([math.inf], "finite")])
def test_what_is_no_sample_is_an_error(values: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Moments.of(values)


def test_no_draws_no_estimate() -> None:
    with pytest.raises(ValueError, match="at least one draw"):
        Moments().estimate()


def test_constants_and_single_draws() -> None:
    assert Moments.of([2.0] * 50).estimate() == Estimate(2.0, 0.0, 50, ("constant",))
    one = Moments.of([2.0]).estimate()
    assert one.stderr == math.inf
    assert one.flags == ("constant", "few-draws")
    assert Moments.of([1.0, 2.0]).estimate().flags == ("few-draws",)


def test_kurtosis_skewness_and_stderr_by_hand() -> None:
    moments = Moments.of([0.0, 0.0, 0.0, 4.0] * 10)
    # mean 1, deviations -1, -1, -1, 3: m2 = 3, m3 = 6, m4 = 21.
    assert moments.kurtosis == pytest.approx(21 / 9)
    assert moments.skewness == pytest.approx(6 / 3**1.5)
    assert moments.std == pytest.approx(math.sqrt(3 * 40 / 39))
    inflation = math.sqrt(1 + math.sqrt((21 / 9 - 1) / 40))
    assert moments.estimate().stderr == pytest.approx(math.sqrt(3 * 40 / 39 / 40) * inflation)


# -- the largest values ------------------------------------------------------------------------------------------------------------


def share(values: np.ndarray) -> float:
    top = -(-len(values) // 1000)
    ordered = np.sort(np.abs(values))[::-1]
    return float(ordered[:top].sum() / ordered.sum())


@pytest.mark.parametrize("power", [1, 8, 24])
def test_top_share_is_exact_over_many_merges(power: int) -> None:
    values = block_generator(0, "top", {}, {}, power).standard_normal(300_000) ** power
    total = Moments()
    for part in np.split(values, 60):
        total = total.merge(Moments.of(part))
    got, exact = total.top_share()
    assert exact
    assert got == pytest.approx(share(values), rel=1e-12)
    assert ("heavy-tail" in total.estimate().flags) == (share(values) > 0.25)
    assert len(total.largest) < 1200


def test_top_share_says_when_it_is_only_a_lower_bound() -> None:
    # Sorted data: the first block holds every large value, more than are kept of it.
    values = np.sort(block_generator(0, "sorted", {}, {}, 0).random(400_000))[::-1]
    total = Moments()
    for part in np.split(values, 40):
        total = total.merge(Moments.of(part))
    got, exact = total.top_share()
    assert not exact
    assert got < share(values)


def test_kept_values_are_bounded() -> None:
    total = Moments(count=10**9, exponent=0, absolute=1e9, low=0.0, high=1.0, largest=np.full(KEPT - 10, 0.5), floor=0.4)
    assert len(total.merge(Moments.of(np.full(500_000, 0.7))).largest) <= KEPT


# -- honesty of the standard error -------------------------------------------------------------------------------------------------


def coverage(power: int, draws: int, runs: int) -> tuple[float, float]:
    """Return the fraction of 95% intervals that hold E|N|^power, with our standard error and with the plain one."""
    truth = 2 ** (power / 2) * math.gamma((power + 1) / 2) / math.sqrt(math.pi)
    ours = plain = 0
    for run in range(runs):
        moments = Moments.of(
            np.abs(block_generator(0, "coverage", {"power": power}, {"n": draws}, run).standard_normal(draws)) ** power
        )
        estimate = moments.estimate()
        ours += estimate.interval(0.95).contains(truth)
        plain += abs(estimate.value - truth) < 1.959964 * moments.std / math.sqrt(draws)
    return ours / runs, plain / runs


@pytest.mark.parametrize(("power", "draws", "least"), [(1, 1000, 0.95), (4, 1000, 0.94), (8, 10_000, 0.93)])
def test_intervals_cover(power: int, draws: int, least: float) -> None:
    # A right coverage of `least` falls below least - 4 sqrt(least (1 - least) / 1000) with probability below 4e-5.
    runs = 1000
    ours, plain = coverage(power, draws, runs)
    assert ours >= least - 4 * math.sqrt(least * (1 - least) / runs)
    assert ours >= plain
    # Not absurdly wide either: a Gaussian interval of the right size is exceeded by 4 binomial errors of 97.5%.
    assert ours <= 0.975 + 4 * math.sqrt(0.975 * 0.025 / runs)


def test_the_plain_standard_error_fails_where_ours_does_not() -> None:
    # |N|^8 from 10^4 draws: the plain 95% interval covers about 90% of the time, four binomial errors below 94%.
    ours, plain = coverage(8, 10_000, 2000)
    assert plain < 0.94 - 4 * math.sqrt(0.94 * 0.06 / 2000)
    assert ours > plain + 0.02


def test_a_tail_too_heavy_for_the_draws_is_flagged() -> None:
    # E|N|^24 from 1000 draws is hopeless: no interval can be trusted, and the flag says so nearly always.
    flagged = 0
    for run in range(200):
        values = block_generator(0, "heavy", {}, {}, run).standard_normal(1000) ** 24
        flagged += "heavy-tail" in Moments.of(values).estimate().flags
    assert flagged >= 195


# -- histograms --------------------------------------------------------------------------------------------------------------------


def test_histogram_counts_and_merges() -> None:
    values = block_generator(0, "histogram", {}, {}, 0).standard_normal(1000)
    edges = [-1.0, 0.0, 0.5, 2.0]
    merged = Moments.of(values[:300], edges).merge(Moments.of(values[300:], edges)).histogram
    assert merged == Histogram.of(values, edges)
    assert merged is not None
    assert merged.total == 1000
    assert merged.cdf().tolist() == [(values <= edge).mean() for edge in edges]


def test_kolmogorov_bounds_hold_the_distance() -> None:
    from scipy.stats import kstest, norm

    values = block_generator(0, "kolmogorov", {}, {}, 0).standard_normal(2000)
    low, high = Histogram.of(values, np.linspace(-3, 3, 200)).kolmogorov(norm.cdf)
    truth = kstest(values, norm.cdf).statistic
    assert low <= truth <= high
    assert high - low < 0.05
    far = Histogram.of(values, np.linspace(-3, 3, 200)).kolmogorov(norm(loc=1).cdf)
    assert far[0] > 0.3


@pytest.mark.parametrize("edges", [[], [1.0, 1.0], [2.0, 1.0], [0.0, math.nan]])
def test_wrong_edges(edges: list[float]) -> None:
    with pytest.raises(ValueError, match="strictly increasing"):
        Histogram.of([1.0], edges)


def test_histograms_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="edges"):
        Histogram.of([1.0], [0.0]).merge(Histogram.of([1.0], [1.0]))
    with pytest.raises(ValueError, match="histogram"):
        Moments.of([1.0], [0.0]).merge(Moments.of([1.0]))
    with pytest.raises(ValueError, match="at least one draw"):
        Histogram.of([], [0.0]).cdf()
