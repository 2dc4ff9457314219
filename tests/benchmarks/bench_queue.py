"""How busy workers are when claims share one queue, with blocks that sleep for as long as those of ``proofs`` take.

    python tests/benchmarks/bench_queue.py [workers ...]

Prints for each number of workers the share of their time in which they ran blocks: with one claim after the other, and with the
shared queue.  What the parent does is real: claims, instances, looks, judging, messages.  Its share of the wall says how many more
workers it could feed.
"""

from __future__ import annotations

import os
import sys
import time

from hypothesis.strategies import integers

import theoryck as tc
from theoryck.checking.profiles import Profile
from theoryck.montecarlo import ProcessExecutor
from theoryck.montecarlo.timing import Timed

CLAIMS, INSTANCES, SLEEP = 24, 3, 0.06
PATH = tc.ScalingPath(d=tc.doubling(16, 512))
SMALL = Profile("quick", instances=INSTANCES, random_numbers=2.0**22, seconds=1.0, within=0.05)


class Asleep(ProcessExecutor):
    """Worker processes whose blocks sleep; with ``one`` claim in work at a time."""

    slept = 0.0

    def took(self, job, seconds, items=1, kind=None):
        self.slept += SLEEP * isinstance(job.function, Timed)  # a block
        super().took(job, seconds, items, kind)


@tc.quantity(cost=64)
def asleep(rng, draws, *, d):
    if draws > 16:  # a block, no first try
        time.sleep(SLEEP)
    return (1 + 2 * rng.standard_normal(draws)) / d


def claims():
    made = []
    for number in range(CLAIMS):

        @tc.conjecture(f"bench/{number}")
        @tc.for_all(k=integers(1, 99))
        def claim(k):
            return tc.Bound(asleep, rate="1/d", along=PATH)

        made.append(claim)
    return made


def share(workers: int, one: bool) -> tuple[float, float]:
    """Return the share of the workers' time that was slept, and that of the wall's which the parent worked."""
    with Asleep(workers) as executor:
        list(executor.map(abs, range(workers)))
        executor.slept, began, used = 0.0, time.perf_counter(), time.process_time()
        for group in [[claim] for claim in claims()] if one else [claims()]:
            tc.check_claims(group, profile=SMALL, executor=executor, sharing=CLAIMS)
        wall = time.perf_counter() - began
        return executor.slept / wall / workers, (time.process_time() - used) / wall


def main() -> None:
    print(f"{os.cpu_count()} CPUs; {CLAIMS} claims of {INSTANCES} instances, blocks of {SLEEP * 1000:.0f} ms")
    for workers in map(int, sys.argv[1:] or (2, 8)):
        (alone, _), (shared, parent) = share(workers, True), share(workers, False)
        print(f"{workers:3d} workers: busy {alone:.0%} one claim after the other, {shared:.0%} on one queue (parent {parent:.0%})")


if __name__ == "__main__":
    main()
