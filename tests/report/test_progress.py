"""The line of progress: what it says, what it leaves out where room is short, and when it dares to name a time."""

import pytest

from theoryck.records import Interval
from theoryck.report.layout import cells
from theoryck.report.progress import Progress


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def told(event="look", claim="paper/claim", number=1, instances=4, fraction=0.0, draws=0, exponent=None):
    return {
        "event": event,
        "claim": claim,
        "instance": {"phi": "tanh(x)", "depth": 2},
        "number": number,
        "instances": instances,
        "fraction": fraction,
        "draws": draws,
        "verdict": "INCONCLUSIVE",
        "exponent": exponent,
    }


def run_claims(progress, clock, seconds):
    for index, spent in enumerate(seconds):
        progress.see(told("instance", f"paper/{index}"))
        clock.now += spent
        progress.see(told("claim", f"paper/{index}"))


EXPONENT = Interval(-0.98, -1.03, -0.93, 0.95)


def test_what_is_said():
    progress = Progress(12, Clock())
    progress.see(told("instance", number=2))
    assert progress.line(99) == "1/12 paper/claim (2 of 4: phi=tanh(x), depth=2)"
    progress.see(told(number=2, fraction=1 / 64, draws=120_000, exponent=EXPONENT))
    assert progress.line(99) == "1/12 paper/claim (2 of 4: phi=tanh(x), depth=2): exponent -0.98(5), 120k draws"
    progress.see(told("claim"))
    assert progress.line(99) == "1/12 claims done"


def test_a_claim_without_instances_and_one_that_broke_off_are_done_once():
    progress = Progress(3, Clock())
    progress.see(told("claim", "paper/vacuous"))
    progress.see(told("instance", "paper/raises"))
    progress.see(told("claim", "paper/raises"))
    assert progress.done == 2


def test_no_time_is_named_while_there_is_nothing_to_go_by():
    clock = Clock()
    progress = Progress(100, clock)
    run_claims(progress, clock, [0.001, 0.001, 0.001, 0.001])
    assert progress.left() == ""
    progress = Progress(100, clock)
    run_claims(progress, clock, [5.0, 9.0])
    assert progress.left() == ""


def test_the_time_left_is_that_of_claims_like_those_done():
    clock = Clock()
    progress = Progress(10, clock)
    run_claims(progress, clock, [10.0, 20.0, 30.0])
    assert progress.left() == "about 2 min left"  # seven of 20 s
    progress.see(told("instance", "paper/now"))
    clock.now += 15.0
    progress.see(told("look", "paper/now", fraction=0.5, instances=1))
    assert progress.left() == "about 2 min left"  # six of 20 s and 5 s
    clock.now += 45.0
    progress.see(told("look", "paper/now", fraction=0.75, instances=1))
    assert progress.left() == "about 2 min left"  # six of 20 s, and a third of the 60 s so far
    progress.see(told("claim", "paper/now"))
    run_claims(progress, clock, [20.0] * 5)
    assert progress.left() == "about 25 s left"


def test_the_budget_bounds_the_time_of_a_claim():
    clock = Clock()
    progress = Progress(2, clock)
    progress.see(told("instance", number=2))
    clock.now += 1.0
    progress.see(told(number=2, fraction=1 / 256))
    assert progress.left() == ""  # after a second the start still weighs more than the draws
    clock.now += 9.0
    progress.see(told(number=2, fraction=1 / 4))
    assert progress.left() == "at most about 2 min for this claim"  # 30 s here, 80 s for two more


def test_draws_between_looks_are_counted_and_the_time_runs_down():
    clock = Clock()
    progress = Progress(2, clock)
    progress.see(told("instance", instances=1))
    clock.now += 10.0
    progress.see(told("look", instances=1, fraction=1 / 8, draws=1000, exponent=EXPONENT))
    assert progress.line(99).endswith("exponent -0.98(5), 1k draws, at most about 70 s for this claim")
    clock.now += 30.0
    progress.see(told("draws", draws=3500))
    assert progress.line(99).endswith("exponent -0.98(5), 3.5k draws, at most about 40 s for this claim")
    clock.now += 60.0
    progress.see(told("draws", draws=9000))
    assert progress.line(99).endswith("exponent -0.98(5), 9k draws")  # it took longer than was thought: nothing is said


def test_claims_done_elsewhere_count_by_how_often_they_are_done():
    clock = Clock()
    progress = Progress(20, clock)
    for _ in range(5):
        progress.see({"event": "claim", "claim": ""})
        clock.now += 4.0
    assert progress.line(99) == "5/20 claims done, about 60 s left"


def test_what_is_judged_again_at_the_end_is_not_counted_twice():
    clock = Clock()
    progress = Progress(2, clock)
    run_claims(progress, clock, [1.0, 1.0])
    progress.see(told("look", "paper/0#confirmation", instances=1, fraction=0.5, draws=10))
    assert progress.line(99) == "2/2 paper/0 (phi=tanh(x), depth=2): 10 draws"
    progress.see(told("claim", "paper/0"))
    assert progress.done == 2


@pytest.mark.parametrize("claim", ["a", "paper/" + "very-long-" * 12 + "name", "東京/" + "都" * 40, "bad\x1b[31m\n"])
def test_no_line_is_wider_than_its_room_and_none_moves_the_cursor(claim):
    clock = Clock()
    progress = Progress(275, clock)
    run_claims(progress, clock, [4.0] * 40)
    for look in (told("instance", claim), told("look", claim, fraction=0.5, draws=10**7, exponent=EXPONENT), told("claim", claim)):
        clock.now += 3.0
        progress.see(look)
        for width in range(8, 130):
            line = progress.line(width)
            assert cells(line) <= width
            assert line.isprintable()


def test_a_long_name_gives_way_to_what_changes():
    progress = Progress(275, Clock())
    progress.see(told("look", "paper/" + "x" * 90, number=3, fraction=0.1, draws=4000, exponent=EXPONENT))
    assert progress.line(60) == "1/275 (3 of 4: phi=tanh(x), ..): exponent -0.98(5), 4k draws"
