"""A few of the ``kill -9``s of :mod:`kills` (``python tests/calibration/kills.py 200`` makes all of them)."""

import importlib.util
import sys
from pathlib import Path


def test_a_check_that_is_killed_and_restarted_gives_the_same_bits():
    spec = importlib.util.spec_from_file_location("kills", Path(__file__).with_name("kills.py"))
    kills = importlib.util.module_from_spec(spec)
    sys.modules["kills"] = kills
    spec.loader.exec_module(kills)
    tally = kills.run(5)
    assert tally.kills == 5
    assert sum(tally.restarts) == 5
    assert tally.rounds >= 1
