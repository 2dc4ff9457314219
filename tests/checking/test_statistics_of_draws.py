"""Claims about medians, quantiles, variances and probabilities, from the sampler to the report."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis.strategies import integers

import theoryck as tc
from theoryck.checking.hunting import hunt
from theoryck.checking.profiles import Profile
from theoryck.checking.prospects import plan_claim
from theoryck.checking.session import Session
from theoryck.claims.arguments import ClaimError
from theoryck.quantities import Quantity, QuantityError
from theoryck.records import Enclosure, Report, Verdict
from theoryck.report.json import dumps

SMALL = Profile("quick", instances=2, random_numbers=4e6, seconds=1.0, within=0.15)
PATH = tc.ScalingPath(d=tc.doubling(16, 1024))


@tc.quantity(statistic="median", cost=1)
def waiting(rng, draws, *, d):
    """A time of median d^2 log 2, of which a tenth never ends."""
    return np.where(rng.random(draws) < 0.1, np.inf, 1.0) * d**2 * rng.exponential(size=draws)


MEDIAN = -math.log(1 - 0.5 / 0.9)  # P(time <= t) = 0.9 (1 - e^-t) = 1/2


@tc.quantity(statistic="probability", cost=1)
def rare(rng, draws, *, d):
    return rng.random(draws) < 4 / d


@tc.quantity(statistic="variance", cost=1)
def spread(rng, draws, *, d):
    return 5 + rng.standard_normal(draws) / d


@tc.quantity(statistic="quantile(0.9)", cost=1)
def upper(rng, draws, *, d):
    return rng.standard_cauchy(draws) / d


@tc.quantity(statistic="std", cost=1, exact=lambda sizes, digits: Fraction(1, sizes["d"]))
def deviation(rng, draws, *, d):
    return 5 + rng.standard_normal(draws) / d


def claim_of(statement, name="demo/claim"):
    @tc.conjecture(name)
    def claim():
        return statement

    return claim


def check(statement, **options):
    [result] = tc.check_claims(claim_of(statement), profile=SMALL, **{"workers": 1, **options}).results
    return result


@pytest.mark.parametrize(("quantity", "exponent"), [(waiting, 2), (rare, -1), (spread, -2), (upper, -1), (deviation, -1)])
def test_scalings(quantity, exponent):
    right = check(tc.Scaling(quantity, along=PATH, exponent=exponent, correction=1, rivals=[exponent + 0.5]))
    assert (right.verdict, right.rivals[0].rejected) == (Verdict.SUPPORTED, True)
    assert right.prediction.statistic == str(quantity.reduction) != "mean"
    wrong = check(tc.Scaling(quantity, along=PATH, exponent=exponent - 0.5, correction=1))
    assert wrong.verdict is Verdict.REFUTED


def test_a_median_where_the_mean_does_not_exist():
    """Cauchy draws scaled by 1/d: their mean has no law of large numbers, their 0.9-quantile is known."""
    assert check(tc.Bound(upper, rate="1/d", along=PATH, correction=1, rivals=["d**(-3/2)"])).verdict is Verdict.SUPPORTED

    @tc.quantity(cost=1)
    def mean(rng, draws, *, d):
        return rng.standard_cauchy(draws) / d

    assert check(tc.Bound(mean, rate="1/d", along=PATH, correction=1)).verdict is Verdict.INCONCLUSIVE


def test_limits_and_identities():
    @tc.quantity(statistic="quantile(0.9)", cost=1)
    def settling(rng, draws, *, d):
        return (1 + 1 / d) * rng.standard_normal(draws)

    value = scipy.stats.norm.ppf(0.9)
    limit = check(tc.Limit(settling, along=PATH, value=value, correction=1, rivals=[value + 0.5]))
    assert (limit.verdict, limit.rivals[0].rejected) == (Verdict.SUPPORTED, True)
    assert check(tc.Limit(settling, along=PATH, value=value + 0.5, correction=1)).verdict is Verdict.REFUTED

    @tc.quantity(statistic="median", cost=1)
    def middle(rng, draws):
        return rng.exponential(size=draws)

    assert check(tc.Identity(middle, math.log(2), rivals=[1])).verdict is Verdict.SUPPORTED
    assert check(tc.Identity(middle, 0.75)).verdict is Verdict.REFUTED


def test_an_exact_median_is_held_against_that_of_the_draws():
    def both(value):
        @tc.quantity(
            statistic="median", cost=1, exact=lambda sizes, digits: Enclosure(Decimal(value) * sizes["d"], Decimal("1e-9"))
        )
        def median(rng, draws, *, d):
            return d * rng.exponential(size=draws)

        return check(tc.Scaling(median, along=PATH, exponent=1, correction=1))

    right, wrong = both(math.log(2)), both(1.0)  # 1 is the mean
    assert right.verdict is Verdict.SUPPORTED
    assert {route.name for route in right.judgement.routes} == {"exact", "montecarlo"}
    assert "routes-disagree" in wrong.judgement.flags


@pytest.mark.parametrize("quantity", [waiting, rare, spread, upper])
def test_the_number_of_workers_and_a_ledger_change_no_bit(quantity, tmp_path):
    statement = tc.Scaling(quantity, along=PATH, exponent=1)
    alone = check(statement, draws=9000)
    assert check(statement, draws=9000, workers=2).points == alone.points
    for _ in range(2):
        assert check(statement, draws=9000, ledger=tmp_path / "draws.ledger").points == alone.points
    assert check(statement, draws=9000, seed=1).points != alone.points


def test_statistics_of_one_sampler_do_not_share_blocks(tmp_path):
    def draw(rng, draws, *, d):
        return rng.random(draws)

    values = {}
    for statistic in ("mean", "median", "quantile(0.25)", "std"):
        quantity = tc.quantity(statistic=statistic, cost=1, name="uniform")(draw)
        found = check(tc.Scaling(quantity, along=PATH, exponent=0), draws=10_000, ledger=tmp_path / "draws.ledger")
        values[statistic] = found.points[0].estimate.value
    # Standard errors at 10^4 draws are 0.003, 0.005, 0.0043 and 0.0009 (closed forms): five of the largest.
    expected = {"mean": 0.5, "median": 0.5, "quantile(0.25)": 0.25, "std": math.sqrt(1 / 12)}
    assert values == pytest.approx(expected, abs=0.025)


def test_a_median_of_what_never_happens_leaves_open_and_says_why():
    @tc.quantity(statistic="median", cost=1)
    def seldom(rng, draws, *, d):
        return np.where(rng.random(draws) < 20 / d, 1.0, np.inf)

    found = check(tc.Scaling(seldom, along=PATH, exponent=0))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("the median of the draws is infinite at d = 64, 128, 256, 512, 1024: so many of them are; let")
    assert "infinite at d = 64" in found.judgement.flags


def test_rare_events_that_were_not_seen_support_and_refute_nothing():
    @tc.quantity(statistic="probability", cost=1)
    def never(rng, draws, *, d):
        return rng.random(draws) < 1e-9

    for rate in ("1", "1/d", "d**(-3)"):
        assert check(tc.Bound(never, rate=rate, along=PATH)).verdict is Verdict.INCONCLUSIVE


def test_reports_name_the_statistic():
    result = check(tc.Scaling(waiting, along=PATH, exponent=2, correction=1))
    report = Report("quick", 0, (result,), "0")
    assert Report.from_json(json.loads(dumps(report))) == report
    assert json.loads(dumps(report))["results"][0]["prediction"]["statistic"] == "median"
    page = result._repr_html_()
    assert "median of waiting" in page
    assert "Monte Carlo estimate" in page
    assert "Monte Carlo mean" not in page
    mean = check(tc.Scaling(tc.quantity(cost=1)(lambda rng, draws, *, d: d + rng.random(draws)), along=PATH, exponent=1))
    assert "statistic" not in mean.prediction.to_json()


def test_plans_take_the_noise_of_the_statistic():
    claim = claim_of(tc.Scaling(waiting, along=PATH, exponent=2, correction=1))
    with Session(SMALL, 0, workers=1) as session:
        [found] = plan_claim(claim, session)
    # The median of n exponential draws has the relative error sqrt(P/(1-P)/n)/MEDIAN with density 0.9 e^-t at t = MEDIAN.
    noise = 0.5 / (0.9 * math.exp(-MEDIAN)) / MEDIAN
    assert found.noise == pytest.approx([noise] * 7, rel=0.5)
    assert not found.hopeless


def test_a_class_sets_its_statistic():
    class Middle(Quantity):
        title, can_draw, needs, draw_statistic = "middle", True, ("d",), "median"

        def sampler(self, sizes):
            return lambda rng, draws: rng.standard_cauchy(draws) + sizes["d"]

        def cost(self, sizes):
            return 1.0

    assert check(tc.Scaling(Middle(), along=PATH, exponent=1, correction=1)).verdict is Verdict.SUPPORTED
    Middle.draw_statistic = "mode"
    with pytest.raises(QuantityError, match=r"middle: draw_statistic must be one of mean, median, .*, got 'mode'"):
        _ = Middle().reduction
    Middle.draw_statistic, Middle.two_sided = "median", True
    with pytest.raises(QuantityError, match="draws with two ends have a mean only"):
        _ = Middle().reduction


def test_a_law_has_no_statistic():
    with pytest.raises(ClaimError, match="a Law is about the draws themselves, but the value of upper is their quantile"):
        tc.Law(upper, along=PATH, distribution=scipy.stats.norm())


def test_what_draws_by_the_clock_has_a_pilot_too(tmp_path):
    @tc.quantity(statistic="median")
    def timed(rng, draws, *, d):
        return d * rng.standard_exponential(draws)

    ledger = tmp_path / "draws.ledger"
    first = check(tc.Scaling(timed, along=PATH, exponent=1, correction=1), ledger=ledger)
    assert first.verdict is Verdict.SUPPORTED
    again = check(tc.Scaling(timed, along=PATH, exponent=1, correction=1), ledger=ledger)
    assert again.points == first.points


def test_a_hunt_finds_a_median_that_grows_too_fast():
    @tc.conjecture("demo/hunted")
    @tc.for_all(k=integers(1, 4))
    def hunted(k):
        @tc.quantity(statistic="median", cost=1)
        def settling(rng, draws, *, d):
            return (1 + 0.2 * rng.standard_cauchy(draws)) * d ** (-1.0 if k < 3 else -0.4)

        return tc.Bound(settling, rate="1/d", along=PATH)

    found = hunt(hunted, profile=SMALL, seed=0, tries=8, workers=1).found
    assert found is not None
    assert (found.instance["k"], found.prediction.statistic) == (3, "median")  # the smallest that is wrong
