"""The time of a draw is that of the sampler: neither the start of a worker process nor the way to it counts."""

from types import SimpleNamespace

import pytest

import theoryck as tc
from theoryck.checking.measurement import BY_THE_CLOCK, Measurement
from theoryck.checking.session import Session
from theoryck.montecarlo import ProcessExecutor, SerialExecutor, WorkerDied, timing
from theoryck.montecarlo.jobs import run


class Slow(SerialExecutor):
    """An executor that takes its time with every map, as one does whose processes are still to be started; it has a clock."""

    workers = 2
    maps = 0
    now = 0.0

    def map(self, function, items):
        self.maps += 1
        self.now += 60
        yield from super().map(function, items)


def test_a_slow_executor_makes_no_draw_slow(monkeypatch):
    executor = Slow()

    @tc.quantity
    def value(rng, draws, *, d):
        executor.now += 1e-4 * d
        return rng.standard_normal(draws)

    statement = tc.Bound(value, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 128)))
    monkeypatch.setattr(timing.stopwatch, "__defaults__", (lambda: executor.now,))
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: executor.now))
    with Session(executor=executor) as session:
        measurement = Measurement("timing", {}, statement, session, 1.0)
        assert max(measurement.budget.spending.per_block) < 0.2
        assert executor.maps == 1  # what it took to start is not the time of a draw
        assert measurement.budget.spending.unit == "seconds"
        assert BY_THE_CLOCK in measurement.flags
        assert measurement.drawing.blocks == [1, 1, 1, 1]  # what was timed is kept
        run(measurement.draw_up_to(0.05))
        assert executor.maps == 2


def test_a_sampler_that_ends_its_process_ends_no_session():
    @tc.quantity
    def value(rng, draws, *, d):
        import os

        os._exit(3)

    statement = tc.Bound(value, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 128)))
    with ProcessExecutor(1) as executor, Session(executor=executor) as session:
        measurement = Measurement("timing", {}, statement, session, 1.0)
        with pytest.raises(WorkerDied, match="exit status 3"):
            run(measurement.draw_up_to(0.05))
