"""Two-sided draws: moments of both ends, replay, and what a check does with an interval that does or does not close."""

import numpy as np
import pytest

import theoryck as tc
from theoryck.montecarlo import Key, ProcessExecutor, SamplerError, TwoSidedMoments, sample_two_sided
from theoryck.quantities import Quantity

SIZES = (8, 16, 32, 64)


def noisy(rng, draws, centre=0.0, gap=0.5):
    middle = centre + 0.1 * rng.standard_normal(draws)
    return np.column_stack([middle - gap / 2, middle + gap / 2, middle])


class Decaying(Quantity):
    """1/d, known to lie in an interval of relative width ``gap``, or of relative width gap * d."""

    can_draw, two_sided = True, True
    name = "decaying"

    def __init__(self, gap, closing=True):
        self.gap, self.closing = gap, closing

    def sampler(self, sizes):
        d = sizes["d"]
        width = self.gap if self.closing else self.gap * d
        return lambda rng, draws: noisy(rng, draws, 1.0, width) / d

    def cost(self, sizes):
        return 100.0


def test_moments_of_the_ends_and_of_their_gap():
    values = noisy(np.random.default_rng(0), 1000)
    moments = TwoSidedMoments.of(values[:300]).merge(TwoSidedMoments.of(values[300:]))
    bracket = moments.bracket()
    assert bracket.low == pytest.approx(values[:, 0].mean())
    assert bracket.high == pytest.approx(values[:, 1].mean())
    assert moments.estimate().value == pytest.approx(values[:, 2].mean())
    assert moments.gap.estimate().value == pytest.approx(0.5)
    # the ends move together, so their gap is known far better than either of them
    assert moments.gap.estimate().stderr < 1e-6 < bracket.low_stderr
    assert moments.count == 1000


@pytest.mark.parametrize("shape", [(10,), (10, 2), (10, 4), (3, 10)])
def test_another_shape_is_refused(shape):
    with pytest.raises(SamplerError, match=r"must return an array of shape \(10, 3\).*low, high and estimate"):
        sample_two_sided(lambda rng, draws: np.zeros(shape), Key(0, "t"), draws=10, block_draws=10)
    with pytest.raises(ValueError, match=r"shape \(draws, 3\)"):
        TwoSidedMoments.of(np.zeros(shape))


def test_an_end_that_is_not_finite_is_refused():
    def broken(rng, draws):
        values = noisy(rng, draws)
        values[3, 1] = np.nan
        return values

    with pytest.raises(SamplerError, match="1 of 30 numbers that are not finite in block 0: the first is nan at position 10"):
        sample_two_sided(broken, Key(0, "t"), draws=10, block_draws=10)


def test_a_sampler_that_ignores_rng_is_found():
    fixed = noisy(np.random.default_rng(0), 100)
    with pytest.raises(SamplerError, match="ignores rng"):
        sample_two_sided(lambda rng, draws: fixed[:draws], Key(0, "t"), draws=300, block_draws=100)


def test_the_same_bits_for_any_number_of_workers_and_after_a_pause():
    once = sample_two_sided(noisy, Key(5, "t"), draws=1000, block_draws=100)
    first = sample_two_sided(noisy, Key(5, "t"), draws=400, block_draws=100)
    resumed = sample_two_sided(noisy, Key(5, "t"), draws=600, block_draws=100, first_block=4, initial=first)
    with ProcessExecutor(2) as executor:
        parallel = sample_two_sided(noisy, Key(5, "t"), draws=1000, block_draws=100, executor=executor)
    assert once.bracket() == resumed.bracket() == parallel.bracket()
    assert once.estimate() == resumed.estimate() == parallel.estimate()


def check(quantity, rate="1/d", **options):
    @tc.theorem("test/two-sided")
    def claim():
        "decaying = O(rate)"
        along = tc.ScalingPath(d=SIZES)
        return tc.Bound(quantity, rate=rate, along=along, rivals=["d**(-2)"], correction=1, amplitude=0.1, **options)

    return tc.check_claims(claim).results[0]


def test_a_closed_interval_supports_the_claim_and_no_middle_is_shown_to_the_judge():
    result = check(Decaying(0.01))
    assert result.verdict is tc.Verdict.SUPPORTED, result.reason
    assert all(point.bracket is not None and point.estimate is None for point in result.points)
    assert [route.name for route in result.judgement.routes] == ["bracket"]
    low, high = result.points[0].bracket.low, result.points[0].bracket.high
    assert low < 1 / 8 < high


def test_an_interval_that_does_not_close_is_inconclusive_though_its_middle_is_right():
    # Lower ends (1 - d/40)/d change sign, upper ends (1 + d/40)/d stop decaying: the middle is exactly 1/d at every size.
    result = check(Decaying(0.05, closing=False))
    assert result.verdict is tc.Verdict.INCONCLUSIVE, result.reason


def test_both_ends_outside_refute():
    result = check(Decaying(0.01), rate="d**(-3/2)")
    assert result.verdict is tc.Verdict.REFUTED
    assert "confirmed" in result.reason


def test_draw_checks_the_shape():
    values = Decaying(0.1).draw(np.random.default_rng(0), 7, {"d": 8})
    assert values.shape == (7, 3)
