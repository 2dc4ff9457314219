"""The ledger under checks: same bits as without, nothing drawn twice, nothing of changed code reused, two processes at once."""

import json
import signal
import subprocess
import sys
import textwrap
from collections import deque

import numpy as np
import pytest

import theoryck as tc
from theoryck.checking.check import check_claims
from theoryck.checking.profiles import Profile
from theoryck.checking.session import Session
from theoryck.ledger import Ledger, LedgerError
from theoryck.montecarlo import Key, Moments, Stream, sample
from theoryck.quantities import UserQuantity

PATH = tc.ScalingPath(d=tc.doubling(8, 64))


class Calls(deque):
    """No part of the fingerprint: its value cannot be told, its module's source is."""

    def __reduce_ex__(self, protocol):
        raise TypeError


CALLS = Calls()
SMALL = Profile("small", instances=2, random_numbers=2.0**13, seconds=0.05, within=0.15)
LARGE = Profile("large", instances=2, random_numbers=2.0**16, seconds=0.2, within=0.15)


def noisy(rng, draws, *, d):
    CALLS.append((draws, d))
    return (1 + 30 * rng.standard_normal(draws)) / d


def bound(quantity, name="toy/bound"):
    @tc.conjecture(name)
    def claim():
        """Q = O(1/d), in the dark"""
        return tc.Bound(quantity, rate="1/d", along=PATH)

    return claim


class Blocks64(UserQuantity):
    """Blocks of 64 draws, so that a small budget has many."""

    def block_draws(self, sizes):
        return 64


def quantity(function=noisy, version=1, **more):
    return Blocks64(function, declared_cost=lambda sizes: 1.0, version=version, **more)


def drawn():
    """Forget the calls and return their draws; first tries of a new sampler take one draw."""
    total = sum(draws for draws, _ in CALLS if draws > 1)
    CALLS.clear()
    return total


def told(report):
    data = report.to_json()
    for result in data["results"]:
        del result["seconds"]
    return json.dumps(data)


@pytest.fixture
def path(tmp_path):
    CALLS.clear()
    return tmp_path / "draws.ledger"


# -- reuse ------------------------------------------------------------------------------------------------------------------------


def test_the_bits_are_those_of_a_run_without_and_nothing_is_drawn_twice(path):
    claim = bound(quantity())
    plain = check_claims(claim, LARGE, workers=1)
    assert plain.results[0].draws == drawn() > 0
    first = check_claims(claim, LARGE, workers=1, ledger=path)
    assert drawn() == plain.results[0].draws
    with Ledger(path) as ledger:
        again = check_claims(claim, LARGE, workers=1, ledger=ledger)
        assert (ledger.reused, ledger.stored) == (plain.results[0].draws, 0)
        assert ledger.summary() == f"ledger {path}: {plain.results[0].draws} draws reused, 0 drawn and kept"
    assert drawn() == 0
    two = check_claims(claim, LARGE, workers=2, ledger=str(path))
    assert told(first) == told(again) == told(plain) == told(two)


def test_a_larger_profile_reuses_a_smaller_one(path):
    claim = bound(quantity())
    small = check_claims(claim, SMALL, workers=1, ledger=path).results[0].draws
    assert drawn() == small
    large = check_claims(claim, LARGE, workers=1, ledger=path)
    by_size = {point.sizes["d"]: point.estimate.draws for point in large.results[0].points}
    assert sum(by_size.values()) > 4 * small
    assert drawn() == large.results[0].draws - small
    assert told(large) == told(check_claims(claim, LARGE, workers=1))


def test_an_interrupted_run_goes_on_where_it_was(path):
    claim = bound(quantity())
    looks = []

    def stop(look):
        if look["event"] != "look":
            return
        looks.append(look["draws"])
        if len(looks) == 2:
            raise KeyboardInterrupt

    stopped = check_claims(claim, LARGE, workers=1, ledger=path, progress=stop)
    assert stopped.interrupted
    assert drawn() == looks[1]
    resumed = check_claims(claim, LARGE, workers=1, ledger=path)
    assert drawn() == resumed.results[0].draws - looks[1]
    assert told(resumed) == told(check_claims(claim, LARGE, workers=1))


def test_ctrl_c_in_the_middle_of_a_look_loses_the_block_it_hit_only(path):
    def stopped_once(rng, draws, *, d):
        if len(CALLS) == 100 and not hit:
            hit.append(True)
            raise KeyboardInterrupt
        return noisy(rng, draws, d=d)

    hit = []
    made = quantity(stopped_once)
    vars(made)["drawn_by"] = lambda: {"the sampler": noisy}  # what it remembers is no part of what it draws
    claim = bound(made)
    assert check_claims(claim, LARGE, workers=1, ledger=path).interrupted
    before = drawn()
    assert before == 64 * (100 - 3 * 4)  # every block but the one that was hit; three calls a size were first tries
    resumed = check_claims(claim, LARGE, workers=1, ledger=path)
    assert drawn() == resumed.results[0].draws - before


def test_laws_brackets_and_other_seeds_keep_apart(path):
    from scipy.stats import norm

    @tc.quantity(cost=lambda sizes: 2.0**12)
    def ratio(rng, draws, *, d):
        return rng.standard_normal(draws)

    @tc.conjecture("toy/law")
    def law():
        """R ~ N(0, 1)"""
        return tc.Law(ratio, along=PATH, distribution=norm(), rate="d**(-1/2)")

    plain = told(check_claims(law, SMALL, workers=1))
    assert told(check_claims(law, SMALL, workers=1, ledger=path)) == plain
    assert told(check_claims(law, SMALL, workers=1, ledger=path)) == plain
    with Ledger(path) as ledger:
        other = check_claims(law, SMALL, seed=1, workers=1, ledger=ledger)
        assert ledger.reused == 0
        assert other.results[0].seed == 1
        assert {entry.seed for entry in ledger.entries()} == {0, 1}


def test_a_budget_set_by_the_clock_is_planned_once(path):
    clocked = tc.quantity(noisy)
    claim = bound(clocked, "toy/clock")
    first = check_claims(claim, SMALL, workers=1, ledger=path)
    assert "draws set by the clock" in first.results[0].judgement.flags
    drawn()
    again = check_claims(claim, SMALL, workers=1, ledger=path)
    assert drawn() == 0
    assert told(again) == told(first)


# -- changed code is not reused ---------------------------------------------------------------------------------------------------


def reused(path, made, seed=0):
    with Ledger(path) as ledger:
        check_claims(bound(made), SMALL, seed=seed, workers=1, ledger=ledger)
        return ledger.reused > 0


def test_another_version_other_code_and_another_constant_are_drawn_again(path):
    assert not reused(path, quantity())
    assert reused(path, quantity())
    assert not reused(path, quantity(version=2))
    assert not reused(path, quantity(lambda rng, draws, *, d: (1 + 30 * rng.standard_normal(draws)) / d, title="noisy"))
    assert not reused(path, quantity(lambda rng, draws, *, d: (1 + 31 * rng.standard_normal(draws)) / d, title="noisy"))
    assert reused(path, quantity())


def test_another_value_in_a_closure_is_drawn_again(path):
    def scaled(scale):
        return quantity(lambda rng, draws, *, d: scale * rng.standard_normal(draws) / d, title="scaled")

    assert not reused(path, scaled(2.0))
    assert not reused(path, scaled(3.0))
    assert not reused(path, scaled(np.array([2.0])))
    assert reused(path, scaled(2.0))


def test_other_source_of_theoryck_is_drawn_again(path, monkeypatch):
    from theoryck.quantities import fingerprints

    assert not reused(path, quantity())
    now = fingerprints.library()
    monkeypatch.setattr(fingerprints, "library", lambda: {**now, "source": "changed"})
    assert not reused(path, quantity())


def test_what_cannot_be_told_is_not_stored_and_said(path):
    state = iter(range(10))
    made = quantity(lambda rng, draws, *, d: rng.standard_normal(draws) / d if state else None, title="hidden")
    with Ledger(path) as ledger:
        [result] = check_claims(bound(made), SMALL, workers=1, ledger=ledger).results
        assert (ledger.stored, ledger.entries()) == (0, [])
        assert "not kept: hidden: 'state', which the function" in ledger.summary()
    [flag] = [flag for flag in result.judgement.flags if "ledger" in flag]
    assert flag.startswith("not stored in the ledger: hidden: 'state', which the function")
    assert "is a builtins.range_iterator, whose value cannot be told; give that value as plain data" in flag
    assert result.draws > 0


# -- several processes ------------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from theoryck.ledger import Ledger
from theoryck.montecarlo import Key, sample
from theoryck.theory.networks import norm_deviation
from theoryck.theory.networks import DeepNetwork
quantity = norm_deviation(DeepNetwork("tanh", depth=1), power=2)
path, first, blocks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Ledger(path) as ledger:
    print("open", flush=True)
    sys.stdin.readline()
    for seed in range(3):
        key = Key(seed, "together", {}, {"d": 4, "width": 4, "input_dim": 4})
        sampler = quantity.sampler({"d": 4, "width": 4, "input_dim": 4})
        sample(sampler, key, draws=16 * blocks, block_draws=16, first_block=first, store=ledger.shelf(quantity))
    print(ledger.stored, flush=True)
"""


def test_two_processes_write_at_once(path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), first, "200"], stdin=-1, stdout=-1, text=True)
        for first in ("0", "100")
    ]
    for writer in writers:
        assert writer.stdout.readline() == "open\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    said = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert all(int(text) > 0 for text in said)
    with Ledger(path) as ledger:
        assert sum(entry.blocks for entry in ledger.entries()) == 3 * 300


def test_a_ledger_made_by_several_at_once_is_whole(tmp_path):
    script = "import sys; from theoryck.ledger import Ledger; sys.stdin.readline(); Ledger(sys.argv[1]).close()"
    path = tmp_path / "new.ledger"
    makers = [subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=-1, stderr=-1, text=True) for _ in range(3)]
    for maker in makers:
        maker.stdin.write("\n")
        maker.stdin.flush()
    assert [maker.communicate()[1] for maker in makers] == ["", "", ""]
    with Ledger(path, read_only=True) as ledger:
        assert ledger.entries() == []


def test_a_prune_beside_a_run_costs_draws_but_no_bits(path):
    claim, plain = bound(quantity()), told(check_claims(bound(quantity()), LARGE, workers=1))
    check_claims(claim, LARGE, workers=1, ledger=path)

    def delete(look):
        with Ledger(path) as other:
            other.prune()

    with Ledger(path) as ledger:
        assert told(check_claims(claim, LARGE, workers=1, ledger=ledger, progress=delete)) == plain
        assert ledger.stored > 0


def test_a_kill_loses_no_block_that_was_stored(tmp_path):
    script = textwrap.dedent(
        """
        import os, signal, sys
        from theoryck.ledger import Ledger
        from theoryck.montecarlo import Block, Key, Moments, Stream
        import theoryck as tc
        shelf = Ledger(sys.argv[1]).shelf(tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2))
        for number in range(50):
            shelf.save(Stream(Key(0, "killed")), number, 3, Block(Moments.of([1.0, 2.0, float(number)]), bytes(16), 0.0))
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    path = tmp_path / "killed.ledger"
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -signal.SIGKILL
    assert path.with_name("killed.ledger-wal").exists()
    with Ledger(path) as ledger:
        shelf, stream = ledger.shelf(tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)), Stream(Key(0, "killed"))
        assert len(shelf.held(stream, 0, 99)) == 50
        assert shelf.load(stream, 49, 3).moments == Moments.of([1.0, 2.0, 49.0])
        assert shelf.load(stream, 50, 3) is None


# -- sessions ---------------------------------------------------------------------------------------------------------------------


def test_a_session_closes_the_ledger_it_opened_and_no_other(path):
    with Ledger(path) as mine:
        with Session(workers=1, ledger=mine):
            pass
        assert mine.entries() == []
        with Session(workers=1, ledger=path) as session:
            opened = session.ledger
        with pytest.raises(LedgerError, match="is closed: open it again"):
            opened.entries()
    mine.close()


def test_a_ledger_that_fails_stops_the_run_and_blames_no_claim(path):
    with Ledger(path) as ledger:
        pages = ledger.db.execute("PRAGMA page_count").fetchone()[0]
        ledger.db.execute(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(LedgerError, match="cannot grow, the disk is full: make room or prune it"):
            check_claims(bound(quantity()), LARGE, workers=1, ledger=ledger)
        kept = ledger.stored
    assert kept > 0
    with Ledger(path) as ledger:
        assert sum(entry.draws for entry in ledger.entries()) == kept
        key = Key(0, "toy/bound", {}, {"d": 8})
        sample(lambda rng, draws: noisy(rng, draws, d=8), key, draws=64, block_draws=64, store=ledger.shelf(quantity()))
        assert ledger.reused == 64
