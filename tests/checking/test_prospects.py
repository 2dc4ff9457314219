"""prospects: what is said of a budget before it is spent, and ``theoryck plan``, on samplers whose noise and cost are known."""

from __future__ import annotations

import json
import math
import textwrap

import pytest
from click.testing import CliRunner

import theoryck as tc
from theoryck.checking.profiles import Profile
from theoryck.checking.prospects import hopeless, plan_claim, plannable
from theoryck.checking.session import Session
from theoryck.cli import main

SMALL = Profile("quick", instances=1, random_numbers=2e8, seconds=1.0, within=0.15)


def claim_of(noise, sizes=(16, 32, 64, 128, 256, 512, 1024), status=tc.conjecture, **options):
    @tc.quantity(cost=lambda sizes: float(sizes["d"]))
    def inverse(rng, draws, *, d):
        return (1 + noise * rng.standard_normal(draws)) / d

    @status("demo/planned")
    def planned():
        return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=sizes), **options)

    return planned


def test_a_pilot_measures_the_noise_and_the_plan_comes_true():
    claim = claim_of(10.0, correction=1)
    with Session(SMALL, workers=1) as session:
        [found] = plan_claim(claim, session, violation=0.3)
    # One block has 1024 draws at d = 1024: its mean is 1 +- 0.3, and the noise is taken relative to it.
    assert all(5.0 < noise < 20.0 for noise in found.noise)
    assert found.cost == tuple(map(float, found.sizes))
    assert sum(n * c for n, c in zip(found.draws, found.cost)) <= found.budget * 1.0001
    assert found.within == 0.15 < found.violation_seen
    assert not found.hopeless
    enough = Profile("quick", 1, random_numbers=1.05 * found.support_budget, seconds=1.0, within=0.15)
    verdicts = [tc.check_claims(claim, profile=enough, seed=seed, workers=1).results[0].verdict.value for seed in range(12)]
    assert verdicts.count("SUPPORTED") >= 8  # P(Binomial(12, 0.9) < 8) = 0.4%


def test_budgets_to_see_a_violation_and_violations_seen_by_a_budget_are_inverse():
    """To 3%: whole blocks, and budgets to 2%."""
    claim = claim_of(30.0, correction=1)
    with Session(SMALL, workers=1) as session:
        [found] = plan_claim(claim, session, pilot=False)
        [again] = plan_claim(claim, session, pilot=False, violation=found.violation_seen)
    assert again.violation_budget == pytest.approx(found.budget, rel=0.05)
    assert found.noise == (1.0,) * 7


def test_what_no_budget_can_see():
    claim = claim_of(1.0, sizes=(4, 8, 16))
    with Session(SMALL, workers=1) as session:
        [found] = plan_claim(claim, session, violation=0.16, pilot=False)
        [small] = plan_claim(claim, session, violation=0.1, pilot=False)
    assert found.hopeless
    assert math.isinf(found.support_budget)
    assert math.isinf(small.violation_budget)
    assert "take larger sizes or declare the correction" in found.advice
    assert found.to_json()["support_budget"] is None


def test_hopeless_budgets_are_said_and_others_are_not():
    tiny = Profile("quick", 1, random_numbers=1e5, seconds=1.0, within=0.001)
    with Session(tiny, workers=1) as session:
        [[line]] = hopeless([claim_of(1.0, correction=1)], session)
        assert line.startswith("demo/planned: the budget of quick cannot settle it if the rate is attained: about ")
        assert list(hopeless([claim_of(1.0, correction=1, status=tc.falsehood)], session)) == [[]]
        [[line]] = hopeless([claim_of(1.0, sizes=(4, 8, 16))], session)
        assert "nor can a larger one: take larger sizes or declare the correction" in line
    with Session(SMALL, workers=1) as session:
        assert list(hopeless([claim_of(1.0, correction=1)], session)) == [[]]


def test_what_has_no_exponent_is_not_planned():
    from theoryck.theory.networks.quantities import sigma

    phi = tc.activations.erf
    assert not plannable(tc.Identity(sigma(phi, 1), 1))
    assert not plannable(tc.Bound(claim_of(1.0).build({}).quantity, rate="1/d", along=tc.ScalingPath(d=(2, 4, 8)), constant=2))


FILE = '''
import theoryck as tc

@tc.quantity(cost=lambda sizes: float(sizes["d"]))
def inverse(rng, draws, *, d):
    return (1 + 0.5 * rng.standard_normal(draws)) / d

@tc.conjecture("demo/inverse")
def inverse_claim():
    """Q = O(1/d)"""
    return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 1024)), correction=1)

@tc.conjecture("demo/short")
def short():
    """Q = O(1/d), on a window too narrow"""
    return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=(4, 8)))
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "claims.py"
    path.write_text(textwrap.dedent(FILE))
    return str(path)


def test_the_command_prints_a_plan(file):
    result = CliRunner().invoke(main, ["plan", "inverse", file, "--violation", "0.3"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    for words in ("demo/inverse: what the budget of quick can see", "noise/draw", "wrong by 0.3", "random numbers, about"):
        assert words in result.output


def test_the_command_writes_json_and_says_what_is_hopeless(file):
    result = CliRunner().invoke(main, ["plan", "demo/short", file, "--no-pilot", "--json", "-"], catch_exceptions=False)
    assert result.exit_code == 3
    [instance] = json.loads(result.output)["instances"]
    assert instance["hopeless"]
    assert instance["support_budget"] is None
    shown = CliRunner().invoke(main, ["plan", "demo/short", file, "--no-pilot"], catch_exceptions=False)
    assert "fewer than three sizes" in shown.output


def test_the_command_refuses_a_violation_that_is_none(file):
    result = CliRunner().invoke(main, ["plan", "inverse", file, "--violation", "-1"])
    assert result.exit_code == 2
    assert "--violation must be a positive exponent of at most 100, got -1" in result.output


def test_check_says_it_before_it_draws(file):
    result = CliRunner().invoke(main, ["check", file, "--only", "demo/short", "--workers", "1"], catch_exceptions=False)
    assert "theoryck: demo/short: the budget of quick cannot settle it" in result.stderr
    assert result.exit_code == 0  # undecided passes under quick


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--power", "1e-6"], "--power"),
        (["--power", "nan"], "--power"),
        (["--violation", "1e9"], "--violation must be a positive exponent of at most 100"),
        (["--json", "/no-such-folder/plan.json"], "there is no folder /no-such-folder"),
    ],
)
def test_options_that_mean_nothing_are_refused(file, options, message):
    outcome = CliRunner().invoke(main, ["plan", "inverse", file, *options])
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert "Traceback" not in outcome.output


def test_a_sampler_that_fails_is_said_without_a_traceback(tmp_path):
    path = tmp_path / "failing.py"
    path.write_text(
        "import theoryck as tc\n\n\n@tc.conjecture('demo/failing')\ndef failing():\n    'q = O(1/d)'\n\n"
        "    @tc.quantity(cost=1.0)\n    def q(rng, draws, *, d):\n        raise ValueError('no draws today')\n\n"
        "    return tc.Bound(q, rate='1/d', along=tc.ScalingPath(d=tc.doubling(16, 256)))\n",
        encoding="utf-8",
    )
    outcome = CliRunner().invoke(main, ["plan", "failing", str(path)])
    assert outcome.exit_code == 1
    assert "demo/failing cannot be measured" in outcome.output
    assert "no draws today" in outcome.output


def test_without_a_pilot_the_noise_is_assumed_also_where_the_clock_takes_the_time(tmp_path):
    path = tmp_path / "timed.py"
    path.write_text(
        "import theoryck as tc\n\n\n@tc.conjecture('demo/timed')\ndef timed():\n    'q = O(1/d)'\n\n"
        "    @tc.quantity\n    def q(rng, draws, *, d):\n        return (1 + 0.1 * rng.standard_normal(draws)) / d\n\n"
        "    return tc.Bound(q, rate='1/d', along=tc.ScalingPath(d=tc.doubling(16, 256)), correction=1)\n",
        encoding="utf-8",
    )
    planned = json.loads(CliRunner().invoke(main, ["plan", "timed", str(path), "--no-pilot", "--json", "-"]).stdout)
    assert planned["instances"][0]["noise"] == [1.0] * 5
