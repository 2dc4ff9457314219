"""Hunts: what is found is confirmed and small, what is true stays unrefuted at the declared rate, nothing is lost."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume
from hypothesis.strategies import integers, sampled_from
from scipy.stats import binom

import theoryck as tc
from tests.waiting import HANG
from theoryck.checking.hunting import HuntError, confirmation_rate, hunt, search
from theoryck.checking.profiles import PROFILES, Profile
from theoryck.cli import main
from theoryck.cli.hunt import _Progress as Progress
from theoryck.cli.hunt import example_line
from theoryck.montecarlo import SerialExecutor

PATH = tc.ScalingPath(d=tc.doubling(16, 128))
FAST = Profile("quick", instances=4, random_numbers=4e6, seconds=1.0, within=0.15)


def decaying(power, scale=1.0, cost=64):
    @tc.quantity(name=f"decay{power}", cost=lambda sizes: cost)
    def value(rng, draws, *, d):
        return scale * rng.exponential(size=draws) / d**power

    return value


def claims():
    """Made in a function: at the top of a test module they would be tests themselves."""

    @tc.conjecture("corner")
    @tc.for_all(depth=integers(1, 9), phi=sampled_from(["a", "b"]), noise=integers(0, 20))
    def corner(depth, phi, noise):
        """the quantity is O(d^(-1/2))"""
        false = depth >= 5 and phi == "b" and noise > 3
        return tc.Bound(decaying(-0.5 if false else 0.5), rate="d**(-1/2)", along=PATH, rivals=["1/d"])

    @tc.conjecture("edge")
    @tc.for_all(depth=integers(1, 40))
    def edge(depth):
        """the mean is at most 1/d, to which it is equal"""
        return tc.Bound(decaying(1, cost=8192), rate="1/d", along=tc.ScalingPath(d=[16, 32]), constant=1.0, rivals=["0.5/d"])

    @tc.conjecture("raising")
    @tc.for_all(depth=integers(1, 6))
    def raising(depth):
        """depth 3 cannot be built, depth 5 cannot be drawn"""
        if depth == 3:
            raise ValueError("depth 3 is not implemented")
        assume(depth != 2)

        @tc.quantity(cost=lambda sizes: 64)
        def value(rng, draws, *, d):
            if depth == 5:
                raise FloatingPointError("no number")
            return rng.exponential(size=draws) / d

        return tc.Bound(value, rate="1/d", along=PATH, rivals=["1/d**2"])

    @tc.falsehood("several")
    @tc.for_all(k=integers(1, 4))
    def several(k):
        """false along every path"""

        @tc.quantity(cost=lambda sizes: 64)
        def value(rng, draws, *, d, n):
            return rng.exponential(size=draws) / d

        paths = [tc.ScalingPath(d=tc.doubling(16, 128), n="d"), tc.ScalingPath(d=tc.doubling(16, 128), n="2*d")]
        rate = "1/n" if k > 9 else "1/(d*n)"
        return tc.Bound(value, rate=rate, along=paths, rivals=["1/n**4"])

    @tc.conjecture("moments")
    @tc.for_all(k=integers(1, 9))
    def moments(k):
        """E Z^(2k) <= 100"""
        return tc.Bound(tc.networks.sigma(tc.Activation(f"x**{k}"), 1), at_most=100, rivals=[0])

    return {claim.id: claim for claim in (corner, edge, raising, several, moments)}


CLAIMS = claims()


@pytest.fixture(scope="module")
def measured():
    """What the tries and the confirmations of a hunt were, and the hunt."""
    drawn = []
    measure = search._Hunter._measure

    def spied(self, given, statement, part, rate, seed, looks):
        drawn.append((part, rate, seed))
        return measure(self, given, statement, part, rate, seed, looks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search._Hunter, "_measure", spied)
        return drawn, hunt(CLAIMS["corner"], FAST, seed=7, seconds=HANG, executor=SerialExecutor())


@pytest.fixture(scope="module")
def of_corner(measured):
    return measured[1]


def test_a_false_corner_is_found_and_made_small(of_corner):
    assert of_corner.exit_code == 1
    assert dict(of_corner.parameters) == {"depth": 5, "phi": "b", "noise": 4}
    assert of_corner.found.verdict is tc.Verdict.REFUTED
    assert "confirmed with a fresh seed" in of_corner.found.reason
    assert of_corner.shrinks >= 1 or dict(of_corner.first) == dict(of_corner.parameters)


def test_each_confirmation_has_its_share_of_the_declared_rate(of_corner):
    rates = of_corner.confirmation_rates
    assert rates == tuple(confirmation_rate(0.01, k) for k in range(1, len(rates) + 1))
    assert sum(rates) <= of_corner.rate == 0.01
    assert of_corner.found.false_refute_rate in rates
    assert sum(confirmation_rate(0.01, k) for k in range(1, 10**5)) == pytest.approx(0.01, rel=1e-4)


def test_what_is_confirmed_was_drawn_with_the_seed_of_a_check_and_tries_with_others(measured):
    drawn, outcome = measured
    tries, confirmations = [one for one in drawn if one[0] < 1], [one for one in drawn if one[0] == 1]
    assert {seed for _, _, seed in confirmations} == {7}
    assert 7 not in {seed for _, _, seed in tries}
    assert {part for part, _, _ in tries} <= set(search.LEVELS)
    assert [rate for _, rate, _ in confirmations] == [*outcome.confirmation_rates]


def test_the_same_seed_and_tries_repeat_the_hunt():
    one, two, other = (hunt(CLAIMS["edge"], FAST, seed, tries=6, executor=SerialExecutor()) for seed in (3, 3, 4))
    assert (one.draws, one.tried, one.closest) == (two.draws, two.tried, two.closest)
    assert one.closest != other.closest


LOOSE = Profile("quick", instances=1, random_numbers=8192 * 2000, seconds=1.0, within=0.15, false_refute_rate=0.2, looks=(1.0,))


def hunts_of_a_true_claim(number, tries):
    return [hunt(CLAIMS["edge"], LOOSE, seed=seed, tries=tries, executor=SerialExecutor()) for seed in range(number)]


def test_false_finds_keep_within_the_declared_rate(monkeypatch):
    """The claim holds with equality, the worst case, and tries name candidates freely: the confirmations have to see to it."""
    monkeypatch.setattr(search, "TRY_RATE", 0.8)
    hunts = hunts_of_a_true_claim(30, tries=3)
    assert sum(each.candidates for each in hunts) > 15  # else nothing was put to the test
    assert sum(each.exit_code for each in hunts) <= binom.isf(1e-4, 30, 0.2)


def test_without_confirmation_false_finds_would_be_many(monkeypatch):
    monkeypatch.setattr(search, "TRY_RATE", 0.8)
    monkeypatch.setattr(search, "confirmation_rate", lambda rate, number: 0.99)
    hunts = hunts_of_a_true_claim(10, tries=20)
    assert sum(each.exit_code for each in hunts) > binom.isf(1e-4, 10, 0.2)


def test_instances_that_raise_are_told_and_the_others_tried():
    outcome = hunt(CLAIMS["raising"], FAST, seconds=HANG, executor=SerialExecutor())
    assert outcome.exhausted
    assert outcome.exit_code == 0
    told = {trouble.instance["depth"]: trouble.message for trouble in outcome.troubles}
    assert "depth 3 is not implemented" in told[3]
    assert "no number" in told[5]
    assert outcome.supported + outcome.undecided == 3


def test_every_path_of_a_statement_is_tried():
    outcome = hunt(CLAIMS["several"], FAST, seconds=HANG, executor=SerialExecutor())
    assert outcome.found.instance["along"].startswith("n = ")
    assert dict(outcome.parameters) == {"k": 1}


def test_exact_values_are_searched_too():
    outcome = hunt(CLAIMS["moments"], FAST, tries=40, executor=SerialExecutor())
    assert dict(outcome.parameters) == {"k": 4}
    assert outcome.draws == 0


def test_what_cannot_be_hunted_is_said():
    @tc.conjecture("plain")
    def plain():
        """nothing generated"""

    with pytest.raises(HuntError, match=r"no generated arguments.*for_all"):
        hunt(plain)
    with pytest.raises(HuntError, match="seconds must be a positive number, got 0"):
        hunt(CLAIMS["corner"], seconds=0)
    with pytest.raises(HuntError, match="tries must be at least 1, got 0"):
        hunt(CLAIMS["corner"], tries=0)


def test_an_interrupted_hunt_keeps_what_it_has(monkeypatch):
    measure = search._Hunter._measure

    def interrupted(self, *arguments):
        if len(self.refuted) == 3:
            raise KeyboardInterrupt
        return measure(self, *arguments)

    monkeypatch.setattr(search._Hunter, "_measure", interrupted)
    outcome = hunt(CLAIMS["edge"], FAST, seconds=HANG, executor=SerialExecutor())
    assert outcome.interrupted
    assert outcome.exit_code == 130
    assert outcome.tried == 3


def test_the_time_is_kept(monkeypatch):
    clock = iter(np.arange(0, 1000, 1.0))
    monkeypatch.setattr(search.time, "monotonic", lambda: next(clock))
    outcome = hunt(CLAIMS["edge"], FAST, seconds=10, executor=SerialExecutor())
    assert outcome.tried < 10
    assert not outcome.exhausted


FILE = """
import theoryck as tc
from fractions import Fraction
from hypothesis.strategies import integers, sampled_from

@tc.conjecture("mine/moments")
@tc.for_all(k=integers(1, 9), c=sampled_from([Fraction(1, 2), Fraction(3, 2)]), phi=sampled_from(tc.activations.smooth_odd))
def moments(k, c, phi):
    "E Z^(2k) <= 100"
    return tc.Bound(tc.networks.sigma(tc.Activation(f"x**{k}"), 1), at_most=100 if c < 1 else 10**9, rivals=[0])

@tc.conjecture("mine/plain")
def plain():
    "sigma_1 = 1 for phi(x) = x"
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1, rivals=[2])
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    return tmp_path / "mine.py"


def call(*arguments):
    return CliRunner().invoke(main, ["hunt", *arguments], prog_name="theoryck")


def test_the_command_prints_what_to_paste_and_what_is_pasted_is_refuted(file):
    result = call("moments", "mine.py", "--tries", "40", "--workers", "1")
    assert result.exit_code == 1, result.output
    line = next(text.strip() for text in result.output.splitlines() if "@tc.example(" in text)
    assert line.startswith("@tc.example(k=4, c=Fraction(1, 2), phi=tc.Activation(")
    assert "COUNTEREXAMPLE to mine/moments" in result.output
    assert "  theoryck check mine.py --only mine/moments --profile quick --seed 0\n" in result.output
    assert max(map(len, result.output.splitlines())) <= 100 or "repeat" in result.output
    file.with_name("pasted.py").write_text(FILE.replace("def moments", f"{line}\ndef moments"))
    checked = CliRunner().invoke(main, ["check", "pasted.py", "--only", "mine/moments", "--workers", "1"])
    assert checked.exit_code == 1
    assert "k=4" in checked.output


def test_json_holds_the_find_and_nothing_else_is_printed(file):
    result = call("moments", "mine.py", "--tries", "40", "--workers", "1", "--json", "-")
    data = json.loads(result.output)
    assert data["example"].startswith("@tc.example(k=4")
    assert data["imports"] == ["from fractions import Fraction"]
    assert data["found"]["verdict"] == "REFUTED"
    assert data["false_find_rate"] == PROFILES["quick"].false_refute_rate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plain", "mine.py"], "has no generated arguments"),
        (["momnets", "mine.py"], "did you mean mine/moments?"),
        (["moments", "mine.py", "--time", "0"], "--time"),
        (["moments", "mine.py", "--tries", "0"], "--tries"),
    ],
)
def test_wrong_usage_ends_with_2(arguments, message, file):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_what_has_no_code_is_left_open():
    line = example_line({"widths": (tc.size("d"), 2 * tc.size("d")), "law": object(), "x": [1, (2.5,)], "inf": float("inf")})
    assert line.text == '@tc.example(widths=(tc.size("d"), 2*tc.size("d")), law=..., x=[1, (2.5,)], inf=float("inf"))'
    assert line.unwritten == ("law",)


def test_networks_are_written_with_their_widths():
    network = tc.DeepNetwork("tanh(x)", depth=1, widths=(tc.size("d"), 3 * tc.size("d")))
    assert example_line({"network": network}).text == (
        '@tc.example(network=tc.DeepNetwork(tc.Activation("tanh(x)"), depth=1, widths=(tc.size("d"), 3*tc.size("d"))))'
    )


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(monkeypatch, capsys):
    look = {"instance": {"depth": 3}, "tried": 4, "candidates": 1, "found": 0, "left": 12.0, "claim": "x", "verdict": "SUPPORTED"}
    with Progress() as quiet:
        quiet(look)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    now = iter([100.0, 100.0, 100.09, 100.11, 100.11])
    monkeypatch.setattr("theoryck.cli.hunt.time", SimpleNamespace(monotonic=lambda: next(now)))
    with Progress() as shown:
        shown(look)
        shown(look | {"tried": 5})  # too soon to be read
        shown(look | {"tried": 6})
    written = capsys.readouterr().err
    assert "4 tried, 1 candidate, 12.0s left: depth=3" in written
    assert "5 tried" not in written
    assert "6 tried" in written
    assert written.endswith("\r\x1b[K")
