"""Throughput of two workers of a Dask cluster on this machine against two worker processes, on moment control under standard.

    python tests/benchmarks/bench_cluster.py [pairs]

Runs alternate, since other work may be done on the machine; prints the ratio of the seconds on the wall, and of those of the
processor in all processes, both 1 where the cluster costs nothing (aim: at least 0.9; with one
block a message 0.4 by the processor was seen, with bundles 0.87 and 0.99).
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import theoryck as tc
from theoryck.checking.profiles import PROFILES
from theoryck.claims.collecting import collect
from theoryck.montecarlo import ProcessExecutor, connect

DRAWS = 2**21  # of every size: about 300 blocks of 7 ms
STANDARD = replace(PROFILES["standard"], instances=1, certificate_seconds=2.0)  # one instance, and no long search for exact values


def seconds_of(pids: list[int]) -> float:
    """Return the processor's seconds of processes that run, this one among them."""
    ticks = 0
    for pid in [os.getpid(), *pids]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(executor, claims, pids: list[int]) -> tuple[float, float]:
    wall, used = time.perf_counter(), seconds_of(pids)
    report = tc.check_claims(claims, profile=STANDARD, draws=DRAWS, executor=executor)
    assert all(result.draws for result in report.results), [result.reason for result in report.results]
    return time.perf_counter() - wall, seconds_of(pids) - used


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    claims = collect(["proofs/camilli2025"], only=["camilli2025/moment-control"])
    with ProcessExecutor(2) as processes, connect("local:2") as cluster:
        list(processes.map(abs, range(8)))
        here = [worker.process.pid for worker in processes._pool]
        there = list(cluster.client.run(os.getpid).values())
        walls, useds = [], []
        for _ in range(pairs):
            (wall, used), (wall_there, used_there) = timed(processes, claims, here), timed(cluster, claims, there)
            walls.append(wall / wall_there)
            useds.append(used / used_there)
            print(f"processes {wall:5.1f} s ({used:5.1f} of the processor), cluster {wall_there:5.1f} s ({used_there:5.1f})")
        print(f"cluster / processes: {statistics.median(walls):.2f} by the wall, {statistics.median(useds):.2f} by the processor")


if __name__ == "__main__":
    main()
