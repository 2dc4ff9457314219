"""Stated errors that are wrong by a factor keep both error rates: a sample of the cells of ``--part misjudged``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration import misjudged
from tests.calibration.tallies import Tally, at_least, at_most
from theoryck.judging import judge
from theoryck.records import Estimate, Kind, Point, Verdict


@pytest.mark.parametrize("factor", [0.2, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("count", [5, 7])
def test_wrong_errors_refute_nothing_true_and_support_nothing_wrong(count: int, factor: float) -> None:
    found = misjudged.judged(count, 0.01, factor, 4, seed=3)
    for kind in (Kind.BOUND, Kind.SCALING):
        assert found.share("true", kind, Verdict.REFUTED).hits <= at_most(found.tables, 0.01)
        assert found.share("wrong", kind, Verdict.SUPPORTED).hits <= at_most(found.tables, 0.025)
    assert found.share("edge", Kind.BOUND, Verdict.SUPPORTED).hits <= at_most(found.tables, 0.025)
    assert found.shown.hits >= at_least(found.shown.trials, 0.93)
    assert found.decided.trials - found.decided.hits <= at_most(found.tables, 0.07)
    if factor <= 1:  # honest errors are worth something
        assert found.share("loose", Kind.BOUND, Verdict.SUPPORTED).share > 0.9
        assert found.share("wrong", Kind.BOUND, Verdict.REFUTED).share > 0.7


@pytest.mark.parametrize("count", [5, 7])
def test_intervals_beside_a_verdict_cover_where_errors_are_half_of_what_they_should_be(count: int) -> None:
    """What decides are tables that look calm: of 62 with 5 sizes 5 missed while errors were taken at the level shown."""
    found = misjudged.judged(count, 0.05, 2.0, 5, seed=6)
    assert found.decided.trials > 10
    assert found.decided.hits >= at_least(found.decided.trials, 0.93)


def test_errors_taken_for_granted_fail_the_same_check() -> None:
    """The rival: the same tables, at three times the stated scatter, whose errors the judge believes."""
    sizes, rng = 16 * 2.0 ** np.arange(7), np.random.default_rng(3)
    believed, doubted = Tally(0, 0), Tally(0, 0)
    for truth in misjudged.TRUTHS:
        for _ in range(12):
            values = truth(sizes) * (1 + 0.03 * rng.standard_normal(7))
            points = [Point({"d": int(d)}, Estimate(float(v), 0.01 * abs(float(v)), 1)) for d, v in zip(sizes, values)]
            claim = misjudged.predictions()["true", Kind.SCALING]
            for stated in (False, True):
                exponent = judge(claim, points, misjudged.CONTRACT, final=False, drawn=False, stated=stated).exponent
                if exponent is None:
                    continue
                covers = Tally(int(exponent.contains(-0.5)), 1)
                believed, doubted = (believed, doubted + covers) if stated else (believed + covers, doubted)
    assert believed.hits < at_least(believed.trials, 0.93)
    assert doubted.hits >= at_least(doubted.trials, 0.93)
