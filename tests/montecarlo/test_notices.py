"""What Dask says is told once, in words that say what happened."""

import pytest

from theoryck.montecarlo.notices import LOST, SLOW, Notices


@pytest.fixture
def notices():
    told = []
    found = Notices(told.append)
    found.sentences = told
    return found


def test_a_timeout_is_no_worker_that_was_lost(notices):
    notices.take("distributed.core", "Timed out trying to connect to tcp://10.0.0.1:8786 after 30 s")
    notices.take("distributed.comm", "CommClosedError: in <TCP>: Stream is closed")
    assert notices.sentences == []  # a loss may be what explains them
    notices.end()
    assert notices.sentences == [SLOW]


def test_a_loss_explains_the_connections_that_broke(notices):
    notices.take("distributed.core", "Connection to tcp://10.0.0.1:8786 has been closed")
    notices.lost()
    notices.take("distributed.core", "TimeoutError")
    notices.end()
    assert notices.sentences == [LOST]


def test_each_kind_is_told_once_and_nothing_after_the_end(notices):
    for _ in range(2):
        notices.take("distributed.nanny", "Restarting worker")
    notices.lost()
    notices.lost()
    notices.end()
    notices.take("distributed.core", "Event loop was unresponsive in Worker for 3s.")
    notices.end()
    assert len(notices.sentences) == 2
    assert notices.sentences[0] == LOST
    assert notices.sentences[1].startswith("2 workers of the cluster were lost")
