"""Medians, quantiles, variances and probabilities: values against sorted draws and closed forms, and what their errors promise."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from theoryck.ledger import Ledger
from theoryck.montecarlo import Key, ProcessExecutor, Ranks, SamplerError, Spread, Statistic, sample
from theoryck.montecarlo.blocks import Block, BlockFormatError, pack, unpack
from theoryck.montecarlo.ranks import BITS
from theoryck.quantities import quantity

NAMES = ("median", "quantile(0.9)", "variance", "std", "probability")
KEY = Key(0, "tests/statistics")


def cauchy(rng: np.random.Generator, draws: int) -> np.ndarray:
    return 3 + rng.standard_cauchy(draws)


def rare(rng: np.random.Generator, draws: int) -> np.ndarray:
    return rng.random(draws) < 0.3


def sampler_of(name: str) -> Callable[[np.random.Generator, int], np.ndarray]:
    return rare if name == "probability" else cauchy


# -- texts -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["mean", "median", "variance", "std", "probability", "quantile(0.9)", "quantile(0.001)"])
def test_a_statistic_is_written_as_it_is_read(text: str) -> None:
    assert str(Statistic.parse(text)) == text
    assert Statistic.parse(str(Statistic.parse(text))) == Statistic.parse(text)


def test_a_level_may_be_a_fraction() -> None:
    assert Statistic.parse("quantile(1/4)").level == 0.25
    assert Statistic.parse("quantile( .5 )") == Statistic.parse("median")


@pytest.mark.parametrize(
    "wrong", ["mode", "quantile", "quantile(p)", "quantile(1)", "quantile(0)", "quantile(1/0)", "Median", 0.5, None]
)
def test_another_statistic_is_refused_with_the_choices(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"one of mean, median, quantile\(p\), variance, std, probability, with 0 < p < 1, got"):
        Statistic.parse(wrong)


# -- same bits -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_workers_do_not_change_a_bit(name: str) -> None:
    statistic, sampler = Statistic.parse(name), sampler_of(name)
    alone = sample(sampler, KEY, draws=5000, block_draws=512, statistic=statistic)
    with ProcessExecutor(2) as executor:
        assert sample(sampler, KEY, draws=5000, block_draws=512, statistic=statistic, executor=executor) == alone


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_goes_on_has_the_same_bits(name: str, tmp_path: object) -> None:
    statistic, sampler = Statistic.parse(name), sampler_of(name)
    whole = sample(sampler, KEY, draws=2048, block_draws=512, statistic=statistic)
    half = sample(sampler, KEY, draws=1024, block_draws=512, statistic=statistic)
    assert half != whole
    resumed = sample(sampler, KEY, draws=1024, block_draws=512, first_block=2, initial=half, statistic=statistic)
    assert resumed == whole

    quantity_of_it = quantity(statistic=name)(lambda rng, draws, *, d: sampler(rng, draws))
    with Ledger(f"{tmp_path}/draws.ledger") as ledger:
        shelf = ledger.shelf(quantity_of_it)
        assert sample(sampler, KEY, draws=1024, block_draws=512, statistic=statistic, store=shelf) == half
        assert sample(sampler, KEY, draws=2048, block_draws=512, statistic=statistic, store=shelf) == whole
        assert (ledger.stored, ledger.reused) == (2048, 1024)


def test_ranks_are_the_same_in_any_order_of_blocks() -> None:
    rng = np.random.default_rng(0)
    blocks = [Ranks.of(np.round(rng.standard_cauchy(300), 2), 0.0) for _ in range(6)]
    forward, backward = blocks[0], blocks[-1]
    for block in blocks[1:]:
        forward = forward.merge(block)
    for block in blocks[-2::-1]:
        backward = backward.merge(block)
    assert forward == backward
    assert forward != forward.merge(blocks[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_block_survives_its_bytes(name: str) -> None:
    statistic = Statistic.parse(name)
    kept = statistic.collect(sampler_of(name)(np.random.default_rng(0), 500).astype(float), 3.0)
    block = Block(kept, bytes(16), -1.0)
    assert unpack(pack(block)) == block
    with pytest.raises(BlockFormatError, match="cut off"):
        unpack(pack(block)[:-3])
    with pytest.raises(BlockFormatError, match="ends after"):
        unpack(pack(block) + b"0")


def test_memory_and_messages_do_not_grow_with_the_draws() -> None:
    rng = np.random.default_rng(0)
    small, large = (len(Ranks.of(rng.standard_normal(draws), 0.1).bins) for draws in (2**14, 2**18))
    # 16 times the draws reach 4 octaves nearer to the centre and one further out, of at most 2^6 bins on either side each.
    assert large - small < 2 * 5 * 2**BITS
    assert len(pack(Block(Ranks.of(rng.standard_normal(2**16), 0.1), bytes(16), 0.0))) < 2**16  # half a byte a draw at most


# -- values ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centre", [0.0, 0.02, -1.0, 1e6])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_order_statistics_lie_within_their_bin_of_the_sorted_draws(level: float, centre: float) -> None:
    draws = np.sort(np.random.default_rng(0).standard_normal(5000))
    found = Ranks.of(draws, centre).quantile(level)
    true = np.quantile(draws, level, method="weibull")
    assert abs(found.value - true) <= 2.0**-BITS * abs(true - centre) + 1e-12  # what the bins promise, whatever the law


def test_the_quantile_is_that_of_the_sorted_draws_where_bins_hold_one_number() -> None:
    draws = np.random.default_rng(0).integers(-60, 60, 4000).astype(float)
    assert Ranks.of(draws, 0.0).quantile(0.37).value == np.quantile(draws, 0.37, method="weibull")
    assert Ranks.of([1.0, 2.0, 3.0, 4.0], 2.0).order_statistics([2.5, 0.5, 4.5]).tolist() == [2.5, -math.inf, math.inf]


def test_bins_are_in_the_order_of_the_draws() -> None:
    draws = np.array([-math.inf, -1e300, -2.0, -1.0 - 1e-16, 0.0, 1e-320, 1.0, 1e300, math.inf])
    ranks = Ranks.of(draws, -1.0)
    assert ranks.lows.tolist() == sorted(ranks.lows.tolist())
    assert (np.diff(ranks.bins) > 0).all()
    assert (ranks.lows[1:] >= ranks.highs[:-1]).all()
    with pytest.raises(ValueError, match="centre must be finite"):
        Ranks.of(draws, math.inf)
    with pytest.raises(ValueError, match="no NaN"):
        Ranks.of([math.nan], 0.0)


def test_infinite_draws_count_as_large() -> None:
    """Times of what happened in 70% of the runs: the median is that of the times, the 0.9-quantile is infinite."""
    rng = np.random.default_rng(0)
    draws = np.where(rng.random(10_000) < 0.7, rng.random(10_000), math.inf)
    ranks = Ranks.of(draws, 0.7)
    median, upper = ranks.quantile(0.5), ranks.quantile(0.9)
    assert abs(median.value - 0.5 / 0.7) < 4 * median.stderr < 0.04  # P(draw <= 5/7) = 1/2
    assert (upper.value, upper.stderr) == (math.inf, math.inf)
    assert Ranks.of(draws, 0.7).quantile(0.69).stderr == math.inf  # infinite draws begin within 5 deviations of ranks


def test_an_atom_that_is_the_median_has_no_error_once_it_is_seen_to_be() -> None:
    three_quarters = np.repeat([0.0, 1.0], [400, 1200])
    assert Ranks.of(three_quarters, 1.0).quantile(0.5).stderr == 0  # the atom begins 20 deviations of ranks away
    # Zeros end 2.5 deviations below the middle: the error must reach them there, 1/2.5.
    zeros = round(5000.5 - 2.5 * 50)
    near = Ranks.of(np.repeat([0.0, 1.0], [zeros, 10_000 - zeros]), 1.0).quantile(0.5)
    assert near.value == 1
    assert near.stderr == pytest.approx(1 / 2.5, rel=0.01)
    fair = Ranks.of(np.repeat([0.0, 1.0], [5010, 4990]), 1.0).quantile(0.5)
    assert (fair.value, fair.stderr) == (0, 1)


def test_the_variance_is_unbiased_and_its_error_that_of_the_fourth_moment() -> None:
    draws = np.random.default_rng(0).exponential(size=4000)
    found = Spread.of(draws, 1.0).variance()
    n, second, fourth = 4000, draws.var(ddof=1), ((draws - draws.mean()) ** 4).mean()
    plain = math.sqrt((fourth - second**2 * (n - 3) / (n - 1)) / n)
    assert found.value == pytest.approx(second, rel=1e-12)
    assert plain < found.stderr < 1.2 * plain  # enlarged by its own uncertainty
    other = Spread.of(draws, 1.3).variance()
    assert (other.value, other.draws) == (found.value, 4000)
    assert other.stderr == pytest.approx(found.stderr, rel=0.1)


def test_the_standard_deviation_is_the_root() -> None:
    spread = Spread.of(np.random.default_rng(0).standard_normal(4000), 0.0)
    variance, std = spread.variance(), spread.std()
    assert std.value == math.sqrt(variance.value)
    assert std.stderr == pytest.approx(variance.stderr / 2 / std.value)


def test_the_variance_of_a_heavy_tail_says_so() -> None:
    found = Spread.of(np.random.default_rng(0).standard_t(3, 100_000), 0.0).variance()  # its square has no variance
    assert "heavy-tail" in found.flags or found.skewness**2 / found.draws > 0.05
    quiet = Spread.of(np.random.default_rng(0).standard_normal(100_000), 0.0).variance()
    assert not quiet.flags
    assert quiet.skewness**2 / quiet.draws < 0.05


def test_what_did_not_happen_has_an_error() -> None:
    statistic = Statistic.parse("probability")
    for draws in (np.zeros(1000), np.ones(1000)):
        found = statistic.estimate(statistic.collect(draws))
        assert found.value == draws[0]
        # The exact (Clopper-Pearson) upper limit at 97.5% of nothing in n is 1 - 0.025^(1/n) = 3.7/n.
        assert 2 / 1000 < 1.96 * found.stderr < (1 - 0.025 ** (1 / 1000))
        assert found.skewness**2 / found.draws > 0.05  # so that the judge trusts no error bar


def test_few_draws_are_flagged_on_either_side() -> None:
    ranks = Ranks.of(np.random.default_rng(0).standard_normal(1000), 1.0)
    assert ranks.quantile(0.5).flags == ranks.quantile(0.9).flags == ()
    assert ranks.quantile(0.98).flags == ("few-draws",)
    assert Ranks.of([1.0, 2.0, 3.0], 2.0).quantile(0.5).stderr == math.inf
    assert Statistic.parse("quantile(0.98)").least_draws == 1500


# -- what a sampler may return ---------------------------------------------------------------------------------------------------


def test_a_probability_takes_only_zero_and_one() -> None:
    with pytest.raises(SamplerError, match=r"3 of 3 draws that are not 0 or 1 in block 0: the first is 0.5 at position 0"):
        sample(lambda rng, draws: np.full(draws, 0.5), KEY, draws=3, block_draws=3, statistic=Statistic.parse("probability"))


def test_a_quantile_takes_what_is_infinite_but_no_nan() -> None:
    def stopped(rng: np.random.Generator, draws: int) -> np.ndarray:
        return np.where(rng.random(draws) < 0.2, np.inf, rng.random(draws))

    median = Statistic.parse("median")
    assert math.isfinite(median.estimate(sample(stopped, KEY, draws=1000, block_draws=1000, statistic=median)).value)
    with pytest.raises(SamplerError, match="a mean needs every draw"):
        sample(stopped, KEY, draws=1000, block_draws=1000)
    with pytest.raises(SamplerError, match=r"not numbers.*what never happened may be inf"):
        sample(
            lambda rng, draws: np.where(rng.random(draws) < 0.1, np.nan, 1.0), KEY, draws=1000, block_draws=1000, statistic=median
        )


# -- what the errors promise -----------------------------------------------------------------------------------------------------

LAWS = {
    "normal": scipy.stats.norm(),
    "exponential": scipy.stats.expon(),
    "lognormal": scipy.stats.lognorm(1.0),
    "Cauchy": scipy.stats.cauchy(),
    "geometric(0.01)": scipy.stats.geom(0.01),
    "geometric(0.3)": scipy.stats.geom(0.3),
}
RUNS, DRAWS = 600, 1024


def covered(name: str, law: object, value: float, draws: int = DRAWS, runs: int = RUNS) -> float:
    statistic = Statistic.parse(name)
    data = law.rvs(size=(runs, draws), random_state=np.random.default_rng(1)).astype(float)  # type: ignore[attr-defined]
    found = [statistic.estimate(statistic.collect(row, value)) for row in data]
    return float(np.mean([estimate.interval(0.95).contains(value) for estimate in found]))


# 600 runs of a true 95% lie below 92% with probability 1e-3 (binomial).  Errors enlarged by sqrt(1 + 1/sqrt(s)), where s at 1024
# draws is 16 for a median and 10 for the 0.9-quantile, cover 97%, of which 600 runs lie above 99% with probability 1e-3.
@pytest.mark.parametrize("name", ["median", "quantile(0.9)"])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_quantiles_cover(law: str, name: str) -> None:
    level = Statistic.parse(name).level
    assert level is not None
    share = covered(name, LAWS[law], float(LAWS[law].ppf(level)))
    assert share > 0.92
    assert share < 0.99 or law.startswith("geometric")  # ties: an interval holds whole atoms


@pytest.mark.parametrize(("law", "value"), [(scipy.stats.norm(), 1.0), (scipy.stats.expon(), 1.0), (scipy.stats.t(5), 5 / 3)])
def test_intervals_of_variances_cover(law: object, value: float) -> None:
    assert 0.92 < covered("variance", law, value, draws=4096, runs=RUNS) < 0.985


@pytest.mark.parametrize("p", [0.5, 0.01, 1e-4])
def test_intervals_of_probabilities_cover(p: float) -> None:
    """Exactly, over the binomial law of the ones, at means of 0.1 to 1000 of them: at least 93% everywhere."""
    statistic = Statistic.parse("probability")
    for draws in (1000, 10_000, 100_000):
        ones = np.arange(int(scipy.stats.binom.ppf(1e-6, draws, p)), int(scipy.stats.binom.ppf(1 - 1e-6, draws, p)) + 1)
        chances = scipy.stats.binom.pmf(ones, draws, p)
        inside = []
        for count in ones:
            moments = statistic.collect(np.repeat([1.0, 0.0], [count, draws - count]))
            inside.append(statistic.estimate(moments).interval(0.95).contains(p))
        assert float(chances @ inside) > 0.93
