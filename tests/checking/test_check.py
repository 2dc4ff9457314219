"""check: claims meet measurement.  Samplers here have known means, so the right verdict is known."""

import threading

import numpy as np
import pytest
from hypothesis.strategies import integers

import theoryck as tc
from theoryck import planning
from theoryck.checking.check import check_claim
from theoryck.checking.profiles import PROFILES, Profile
from theoryck.checking.session import Session
from theoryck.montecarlo import SamplerError
from theoryck.montecarlo.jobs import run
from theoryck.records import Report, Tightness, Verdict

SMALL = Profile("quick", instances=2, random_numbers=2e6, seconds=1.0, within=0.15)


def power_law(exponent, noise=0.3):
    @tc.quantity(cost=lambda sizes: 1.0)
    def quantity(rng, draws, *, d):
        return d**exponent * (1 + noise * rng.standard_normal(draws))

    return quantity


def path(last=1024):
    return tc.ScalingPath(d=tc.doubling(16, last))


def check(claim, **options):
    return tc.check_claims(claim, profile=SMALL, workers=1, **options)


def claim_of(statement, status=tc.conjecture):
    @status("demo/claim")
    def claim():
        return statement

    return claim


@pytest.mark.parametrize(
    ("exponent", "rate", "verdict", "tightness"),
    [
        (-0.5, "1/sqrt(d)", Verdict.SUPPORTED, Tightness.TIGHT),
        (-1.0, "1/sqrt(d)", Verdict.SUPPORTED, Tightness.LOOSE),
        (-0.5, "1/d", Verdict.REFUTED, None),
        (1.0, "1/sqrt(d)", Verdict.REFUTED, None),
    ],
)
def test_bounds(exponent, rate, verdict, tightness):
    [result] = check(claim_of(tc.Bound(power_law(exponent), rate=rate, along=path()))).results
    assert (result.verdict, result.tightness) == (verdict, tightness)
    assert result.exponent.contains(exponent)
    assert result.draws == sum(point.estimate.draws for point in result.points) or verdict is Verdict.REFUTED


def test_a_faster_rival_is_rejected_and_a_coinciding_one_is_vacuous():
    [result] = check(claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path(), rivals=["1/d"]))).results
    assert [(rival.rate, rival.rejected) for rival in result.rivals] == [("1/d", True)]
    [result] = check(claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path(), rivals=["d**(-1/2)"]))).results
    assert result.verdict is Verdict.VACUOUS
    assert not result.ok


def test_a_refutation_is_confirmed_with_fresh_draws():
    [result] = check(claim_of(tc.Bound(power_law(-0.5), rate="1/d", along=path()), tc.falsehood)).results
    assert result.ok
    assert "confirmed with a fresh seed" in result.reason
    assert result.draws > sum(point.estimate.draws for point in result.points)


def test_a_falsehood_that_stands_fails_the_report():
    report = check(claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path()), tc.falsehood))
    assert report.exit_code == 1


def test_scaling_limit_and_law():
    scaling = tc.Scaling(power_law(-0.5), path(), "-1/2", rivals=[-1])
    [result] = check(claim_of(scaling)).results
    assert (result.verdict, result.rivals[0].rejected) == (Verdict.SUPPORTED, True)
    [result] = check(claim_of(tc.Scaling(power_law(-0.5), path(), -1))).results
    assert result.verdict is Verdict.REFUTED

    @tc.quantity(cost=lambda sizes: 1.0)
    def towards_two(rng, draws, *, d):
        return 2 + 1 / d + 0.1 * rng.standard_normal(draws)

    [result] = check(claim_of(tc.Limit(towards_two, path(), 2, tolerance="0.1", rivals=[3], correction=1))).results
    assert (result.verdict, result.rivals[0].rejected) == (Verdict.SUPPORTED, True)
    [result] = check(claim_of(tc.Limit(towards_two, path(), 3, tolerance="0.1", correction=1))).results
    assert result.verdict is Verdict.REFUTED


def test_a_law_and_its_twin():
    import scipy.stats

    @tc.quantity(cost=lambda sizes: 1.0)
    def mean_of_exponentials(rng, draws, *, d):
        return (rng.standard_gamma(d, size=draws) - d) / np.sqrt(d)

    small = tc.ScalingPath(d=(2, 4, 8, 16, 32))
    profile = Profile("quick", instances=1, random_numbers=4e7, seconds=1.0, within=0.3)
    # Edgeworth: the distribution function is off by skewness/6 ~ d^(-1/2), its square by 1/d.
    statement = tc.Law(mean_of_exponentials, small, scipy.stats.norm(), rate="1/d", correction=1)
    [result] = tc.check_claims(claim_of(statement), profile=profile, workers=1).results
    assert result.verdict is Verdict.SUPPORTED
    twin = tc.Law(mean_of_exponentials, small, scipy.stats.norm(loc=0.1), rate="1/d", correction=1)
    [result] = tc.check_claims(claim_of(twin), profile=profile, workers=1).results
    assert result.verdict is Verdict.REFUTED


def test_exact_identities_certify_support_and_refute():
    from theoryck.theory.networks.quantities import sigma

    phi = tc.activations.erf
    [result] = check(claim_of(tc.Identity(sigma(tc.Activation("x"), 3), 1))).results
    assert result.verdict is Verdict.CERTIFIED
    [result] = check(claim_of(tc.Bound(sigma(phi, 2), at_most=sigma(phi, 1)))).results
    assert result.verdict is Verdict.CERTIFIED
    [result] = check(claim_of(tc.Bound(sigma(phi, 1), at_most=sigma(phi, 2)))).results
    assert result.verdict is Verdict.REFUTED
    [result] = check(claim_of(tc.Identity(sigma(phi, 1), sigma(phi, 2)))).results
    assert result.verdict is Verdict.REFUTED


def test_routes_that_disagree_are_a_failure_of_their_own():
    from fractions import Fraction

    @tc.quantity(cost=lambda sizes: 1.0, exact=lambda sizes, digits: Fraction(2, sizes["d"]))
    def wrong_by_two(rng, draws, *, d):
        return (1 + 0.1 * rng.standard_normal(draws)) / d

    for status in (tc.theorem, tc.falsehood):
        [result] = check(claim_of(tc.Bound(wrong_by_two, rate="1/d", along=path()), status)).results
        assert result.reason.startswith("the two routes disagree")
        assert not result.ok


def test_the_same_seed_gives_the_same_bits_for_any_number_of_workers():
    claim = claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path(64)))
    first = tc.check_claims(claim, profile=SMALL, seed=7, workers=1)
    second = tc.check_claims(claim, profile=SMALL, seed=7, workers=2)
    other = tc.check_claims(claim, profile=SMALL, seed=8, workers=1)
    assert first.results[0].points == second.results[0].points
    assert first.results[0].points != other.results[0].points


def test_a_broken_sampler_is_an_error_and_loses_no_other_claim():
    @tc.quantity(cost=lambda sizes: 1.0)
    def broken(rng, draws, *, d):
        return np.full(draws, np.nan)

    bad = claim_of(tc.Bound(broken, rate="1/d", along=path()))
    good = claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path()))
    with Session(SMALL, workers=1) as session, pytest.raises(SamplerError, match="not finite"):
        check_claim(bad, session)
    report = check([bad, good])
    assert [result.verdict for result in report.results] == [Verdict.VACUOUS, Verdict.SUPPORTED]
    assert "not finite" in report.results[0].reason
    assert report.exit_code == 1


def test_no_instance_is_vacuous():
    from hypothesis import assume

    @tc.theorem("demo/never")
    @tc.for_all(k=integers(1, 8))
    def never(k):
        assume(k > 8)

    [result] = check(never).results
    assert result.verdict is Verdict.VACUOUS
    assert "no instance met the assumptions" in result.reason


def test_draws_can_be_fixed_and_a_sampler_of_unknown_cost_is_limited_by_the_clock():
    @tc.quantity
    def unknown(rng, draws, *, d):
        return (1 + 0.1 * rng.standard_normal(draws)) / d

    claim = claim_of(tc.Bound(unknown, rate="1/d", along=path()))
    [result] = check(claim).results
    assert result.verdict is Verdict.SUPPORTED
    assert "draws set by the clock" in result.judgement.flags
    assert "--draws" in result.repeat
    [fixed] = check(claim, draws=1000).results
    assert all(point.estimate.draws >= 1000 for point in fixed.points)
    assert "draws set by the clock" not in fixed.judgement.flags


def test_a_report_survives_json():
    report = check(claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path(), rivals=["1/d"])))
    assert Report.from_json(report.to_json()) == report


def test_saved_evidence_is_judged_the_same_again():
    from theoryck.judging import judge

    [result] = check(claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path(), rivals=["1/d"]))).results
    again = judge(result.prediction, result.points, result.contract)
    assert again.verdict is result.verdict


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": "quik"}, "did you mean 'quick'"),
        ({"seed": -1}, "seed must be an integer >= 0, got -1"),
        ({"draws": 1}, "draws must be at least 2 .* got 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        tc.check_claims([], **options)


def test_error_rates_are_shared():
    with Session(PROFILES["quick"], claims=10, workers=1) as session:
        contract = session.contract(instances=4, within=None)
    assert contract.false_refute_rate <= PROFILES["quick"].false_refute_rate / 40 * (1 + 1e-12)
    assert contract.within == PROFILES["quick"].within


def test_monte_carlo_must_decide_by_itself_where_the_profile_says_so():
    from fractions import Fraction

    @tc.quantity(cost=lambda sizes: 1.0, exact=lambda sizes, digits: Fraction(1, sizes["d"]))
    def known(rng, draws, *, d):
        return (1 + 40 * rng.standard_normal(draws)) / d

    claim = claim_of(tc.Bound(known, rate="1/d", along=path(), correction=1))
    reached = {}
    for every in (False, True):
        profile = Profile("standard", 1, random_numbers=4e8, seconds=1.0, within=0.05, every_route_settles=every)
        [result] = tc.check_claims(claim, profile=profile, workers=1).results
        assert result.verdict is Verdict.SUPPORTED
        reached[every] = result
    routes = {route.name: route.verdict for route in reached[True].judgement.routes}
    assert routes == {"exact": Verdict.SUPPORTED, "montecarlo": Verdict.SUPPORTED}
    assert reached[True].draws > 4 * reached[False].draws  # exact values settle it at the first look


def test_a_sampler_that_leaves_is_an_error_and_loses_no_other_claim():
    @tc.quantity(cost=lambda sizes: 1.0)
    def leaves(rng, draws, *, d):
        raise SystemExit(0)

    bad = claim_of(tc.Bound(leaves, rate="1/d", along=path()))
    good = claim_of(tc.Bound(power_law(-0.5), rate="1/sqrt(d)", along=path()))
    report = check([bad, good])
    assert [result.verdict for result in report.results] == [Verdict.VACUOUS, Verdict.SUPPORTED]
    assert report.exit_code == 1


def test_fixed_draws_are_kept_to_the_draw():
    claim = claim_of(tc.Bound(power_law(-0.5), rate="1/d", along=path(64)))
    [result] = check(claim, draws=70_000).results
    assert result.verdict is Verdict.REFUTED
    assert [point.estimate.draws for point in result.points] == [140_000] * 3  # the confirmation takes twice as many
    assert result.draws == 3 * (70_000 + 140_000)
    [result] = check(claim, draws=(1000, 2000, 3000)).results
    assert result.draws >= 6000


@pytest.mark.parametrize("claims", [[3], None, test_bounds])
def test_what_is_not_a_claim_is_said(claims):
    with pytest.raises(TypeError, match="claims must be claims made by theorem, conjecture or falsehood, got"):
        tc.check_claims(claims)


def test_an_interrupted_report_says_so():
    assert Report("quick", 0, (), interrupted=True).exit_code == 130


def test_a_confirmed_refutation_is_repeated_by_what_was_drawn_first():
    @tc.quantity
    def unknown(rng, draws, *, d):
        return (1 + 0.1 * rng.standard_normal(draws)) / d

    claim = claim_of(tc.Bound(unknown, rate="d**(-2)", along=path(64)))
    [result] = check(claim).results
    assert result.verdict is Verdict.REFUTED
    words = result.repeat.split()
    draws = tuple(int(number) for number in words[words.index("--draws") + 1].split(","))
    [again] = check(claim, draws=draws).results
    assert [point.estimate for point in again.points] == [point.estimate for point in result.points]


def with_noise(exponent, noise, name):
    @tc.conjecture(f"demo/{name}")
    def claim():
        return tc.Bound(power_law(exponent, noise), rate="1/d", along=path(), correction=1)

    return claim


def test_refuted_statements_leave_their_error_rate_to_the_others():
    """Holm: what stays open at a twentieth of the rate falls at the whole of it, which nineteen refuted statements leave.

    The weak claim's draws are balanced, so that its exponent is known: it exceeds what is tolerated by one stderr, where a test at
    rate 0.5/20 needs 1.96 and one at rate 0.5 needs 0.
    """
    draws, sizes = 2000, tc.doubling(16, 1024)
    excess = 0.15 + planning.stderr_of_exponent(sizes, draws, correction=1)

    @tc.quantity(cost=lambda sizes: 1.0)
    def balanced(rng, draws, *, d):
        return d ** (-1 + excess) * (1 + rng.permutation(np.resize([1.0, -1.0], draws)))

    @tc.conjecture("demo/weak")
    def weak():
        return tc.Bound(balanced, rate="1/d", along=tc.ScalingPath(d=sizes), correction=1)

    profile = Profile("quick", instances=1, random_numbers=2e6, seconds=1.0, within=0.15, false_refute_rate=0.5)
    strong = [with_noise(-0.5, 0.3, f"strong{index}") for index in range(19)]
    [alone] = tc.check_claims(weak, profile=profile, workers=1, draws=draws, sharing=20).results
    assert alone.verdict is Verdict.INCONCLUSIVE
    together, *others = tc.check_claims([weak, *strong], profile=profile, workers=1, draws=draws).results
    assert {result.verdict for result in others} == {Verdict.REFUTED}
    assert together.verdict is Verdict.REFUTED
    assert "Holm" in together.judgement.flags
    assert "(confirmed with a fresh seed and a larger budget)" in together.reason
    assert "at the error rate that refuted statements leave to it, Holm" in together.reason
    assert together.false_refute_rate == pytest.approx(0.5)
    assert alone.false_refute_rate == pytest.approx(0.5 / 20)


def test_a_session_without_refutations_is_judged_once():
    claims = [with_noise(-1.0, 9.0, f"open{index}") for index in range(3)]
    report = check(claims)
    assert all("Holm" not in result.judgement.flags for result in report.results)


def test_draws_go_where_they_count_and_are_the_same_again():
    """Noise ten times larger at d = 16 than was assumed: sizes are not treated alike, and a repetition has the same bits."""

    @tc.quantity(cost=lambda sizes: float(sizes["d"]))
    def uneven(rng, draws, *, d):
        return (1 + (50 if d == 64 else 5) * rng.standard_normal(draws)) / d

    claim = claim_of(tc.Bound(uneven, rate="1/d", along=path(), correction=1))
    profile = Profile("quick", instances=1, random_numbers=3e8, seconds=1.0, within=0.02)
    first, again = (tc.check_claims(claim, profile=profile, workers=1, seed=3).results[0] for _ in range(2))
    assert [point.estimate for point in first.points] == [point.estimate for point in again.points]
    draws = {point.sizes["d"]: point.estimate.draws for point in first.points}
    assert len(set(draws.values())) > 3
    assert all(count >= 64 for count in draws.values())
    assert sum(size * count for size, count in draws.items()) <= 3e8


def test_a_confirmation_goes_on_to_twice_the_budget():
    """A first refutation may have been quick by luck: the second run looks at 2, 4, 8 ... times the draws of the first."""
    from theoryck.checking.measurement import Measurement

    statement = tc.Bound(power_law(-0.5), rate="1/d", along=path(64))
    profile = Profile("quick", instances=1, random_numbers=2.0**16 * 3 * 8, seconds=1.0, within=0.15)
    with Session(profile, workers=1) as session:
        measurement = Measurement("demo/claim", {}, statement, session, 1.0)
        assert measurement.looks(profile.looks) == (0.125, 0.25, 0.5, 1.0)  # one block at each of three sizes is an eighth
        run(measurement.draw_up_to(0.125))
        assert measurement.drawing.blocks == [1, 1, 1]
        fresh = measurement.confirmation()
        assert fresh.looks(profile.looks) == (0.125, 0.25, 0.5, 1.0)
        run(fresh.draw_up_to(0.125))
        assert fresh.drawing.blocks == [2, 2, 2]
        assert fresh.drawing.moments[0].mean != measurement.drawing.moments[0].mean
        run(fresh.draw_up_to(1.0))
        assert fresh.drawing.blocks == [16, 16, 16]


def test_a_claim_may_ask_for_a_larger_share_of_the_budget():
    from theoryck.checking.measurement import Measurement

    profile = Profile("quick", instances=1, random_numbers=1e6, seconds=1.0, within=0.15)
    with Session(profile, workers=1) as session:
        statements = [tc.Bound(power_law(-0.5), rate="1/d", along=path(), share=share) for share in (1, 4)]
        budgets = [Measurement("c", {}, statement, session, 0.5).budget.spending.budget for statement in statements]
    assert budgets == [5e5, 2e6]


def test_what_is_known_ahead_is_what_is_found_in_its_turn():
    """With workers, several claims are worked out at once; one that cannot be built, or cannot travel, spoils no other."""
    lock = threading.Lock()

    @tc.theorem("ahead/good")
    def good():
        "rho_1 = 1 - sigma_1 for tanh"
        return tc.Identity(tc.networks.rho("tanh", 1), 1 - tc.networks.sigma("tanh", 1), rivals=[1])

    @tc.theorem("ahead/unbuilt")
    def unbuilt():
        "Nothing"
        raise LookupError("no such constant")

    @tc.theorem("ahead/stays")
    def stays():
        "sigma_1 = 1 for x"
        sigma = tc.networks.sigma("x", 1)
        object.__setattr__(sigma, "described", {**sigma.described, "lock": lock})
        return tc.Identity(sigma, 1, rivals=[2])

    for claims in ([good], [good, unbuilt], [good, stays, unbuilt]):
        alone, ahead = (tc.check_claims(claims, workers=workers, sharing=3).results for workers in (1, 2))
        assert [result.verdict for result in alone] == [result.verdict for result in ahead]
        assert [result.reason for result in alone] == [result.reason for result in ahead]
        assert [result.points for result in alone] == [result.points for result in ahead]
