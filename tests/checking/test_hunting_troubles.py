"""Hunts of claims that raise, reject, change what they are given, or cannot be searched: said, and never taken for a search."""

import itertools
import json

import pytest
from click.testing import CliRunner
from hypothesis import assume
from hypothesis.strategies import data, integers, lists

import theoryck as tc
from tests.waiting import HANG
from theoryck.checking.hunting import HuntError, hunt, search
from theoryck.checking.profiles import Profile
from theoryck.cli import main
from theoryck.montecarlo import SerialExecutor

FAST = Profile("quick", instances=4, random_numbers=4e6, seconds=1.0, within=0.15)


def claim(strategy, function, *, example=None):
    """A conjecture about one generated argument."""
    made = tc.for_all(k=strategy)(function)
    return tc.conjecture("toy")(made if example is None else tc.example(k=example)(made))


def true(k):
    """sigma_1 = 1 for phi(x) = x"""
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1, rivals=[2])


def hunted(claim, **budget):
    return hunt(claim, FAST, executor=SerialExecutor(), **(budget or {"seconds": HANG}))


@pytest.mark.parametrize(
    "error", [SystemExit(7), ValueError("no"), tc.claims.ClaimError("no")], ids=lambda error: type(error).__name__
)
def test_where_every_instance_raises_nothing_was_judged(error):
    def raising(k):
        """x"""
        raise error

    outcome = hunted(claim(integers(1, 5), raising))
    assert outcome.exit_code == 3
    assert len(outcome.troubles) == 5
    assert type(error).__name__ in outcome.troubles[0].message


def test_ctrl_c_in_a_compiled_callback_interrupts():
    def raising(k):
        """x"""
        raise SystemError("callback") from KeyboardInterrupt()

    assert hunted(claim(integers(1, 5), raising)).exit_code == 130


def rarely(k):
    """true for next to nothing"""
    assume(k % 1009 == 77)
    return true(k)


def test_what_is_rejected_is_not_all_there_is(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(search.time, "monotonic", lambda: next(clock))
    outcome = hunted(claim(integers(1, 10**9), rarely), seconds=150)
    assert not outcome.exhausted
    assert outcome.rejected > 100
    assert 150 <= outcome.seconds < 160


def never(k):
    """never true"""
    assume(False)


@pytest.mark.parametrize("strategy", [integers(1, 10**9), integers(1, 10**9).filter(lambda k: False)], ids=["assume", "filter"])
def test_without_a_clock_a_hunt_that_finds_no_instance_ends(strategy, monkeypatch):
    monkeypatch.setattr(search, "LARGEST_ROUND", 15)  # as many rounds, but quicker ones
    outcome = hunted(claim(strategy, never), tries=3)
    assert outcome.exit_code == 3
    assert not outcome.exhausted


def test_few_arguments_all_rejected_are_exhausted():
    outcome = hunted(claim(integers(1, 5), never, example=9))
    assert (outcome.rejected, outcome.tried, outcome.exhausted) == (6, 0, True)


def test_a_claim_that_changes_its_argument_is_found_with_what_it_was_given():
    given = []

    def changing(k):
        """false"""
        given.append([*k])
        k.sort()
        k.pop()
        return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 2, rivals=[3])

    outcome = hunted(claim(lists(integers(0, 5), min_size=1, max_size=4), changing))
    assert dict(outcome.parameters) == {"k": [0]}
    assert [] not in given


def test_what_hypothesis_cannot_search_is_said():
    def drawing(k):
        """draws its own arguments"""
        k.draw(integers(0, 3))
        return true(k)

    with pytest.raises(HuntError, match=r"cannot be searched \(hypothesis: .*so use no data\(\)"):
        hunted(claim(data(), drawing))


FILE = '''
from hypothesis import assume
from hypothesis.strategies import integers, just

import theoryck as tc


@tc.conjecture("toy/nan")
@tc.for_all(k=just(float("nan")))
def nan(k):
    """sigma_1 = 1"""
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1, rivals=[2])


@tc.conjecture("toy/never")
@tc.for_all(k=integers(1, 3))
def never(k):
    """x"""
    assume(False)
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)


def call(*arguments):
    return CliRunner().invoke(main, ["hunt", *arguments, "--workers", "1"])


def test_numbers_that_json_lacks_are_written_as_in_reports(file):
    done = call("nan", "mine.py", "--tries", "1", "--json", "-")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["closest"]["instance"] == {"k": "nan"}


def test_that_nothing_was_judged_is_said(file):
    done = call("never", "mine.py", "--tries", "1")
    assert done.exit_code == 3
    said = " ".join(done.output.split())
    assert "NOTHING WAS JUDGED of toy/never" in said
    assert "The claim's assumptions rejected 3 others" in said
    assert "no counterexample" not in said
