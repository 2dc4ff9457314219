"""Memory of a measurement: it must not grow with the number of draws (aim: < 300 MB between 1e5 and 1e8), nor with that of blocks.

    python tests/benchmarks/bench_memory.py [largest]         # the peak of this process and of its workers
    python tests/benchmarks/bench_memory.py blocks [blocks] [alone]

The second prints what this process, and the scheduler of a cluster of two workers in a process of its own, hold after each tenth
of 1e5 tiny blocks: with two processes, and with the cluster; ``alone`` sends there one block a message.  Seen with 1e5:
two processes 105 to 106 MB; with the cluster this process 127 to 130 MB and the scheduler 66 to 70 MB, whose logs fill up.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from theoryck.montecarlo import Key, ProcessExecutor, SerialExecutor, connect, sample
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.networks.quantities import norm_deviation


def resident(pid: int | str) -> float:
    """Return the megabytes that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def uniform(rng, draws):
    return rng.random(draws)


def watched(executor, scheduler: int | None, blocks: int) -> None:
    held, tenth = [], max(1, blocks // 10)

    def look(done: int, draws: int) -> None:
        if done // (tenth * 16) > len(held):
            held.append((resident("self"), resident(scheduler) if scheduler else 0.0))

    sample(uniform, Key(0, "benchmark"), draws=16 * blocks, block_draws=16, executor=executor, progress=look)
    for name, column in zip(("this process", "the scheduler"), zip(*held, strict=True), strict=True):
        if column[0]:
            print(f"{type(executor).__name__}, {name}, MB: {' '.join(f'{each:.0f}' for each in column)}", flush=True)


def of_blocks(blocks: int, alone: bool) -> None:
    with ProcessExecutor(2) as executor:
        watched(executor, None, blocks)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        options = ("--scheduler-file", str(file), "--no-dashboard")
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *options], **silent)
        workers = [sys.executable, "-m", "distributed.cli.dask_worker", "--nworkers", "2", "--nthreads", "1", *options]
        running = [scheduler, subprocess.Popen(workers, **silent)]
        try:
            while not file.exists():
                time.sleep(0.1)
            with connect(str(file)) as executor:
                if alone:
                    executor._together = lambda job: 1
                watched(executor, scheduler.pid, blocks)
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()


def main() -> None:
    if sys.argv[1:2] == ["blocks"]:
        of_blocks(int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**5, sys.argv[3:] == ["alone"])
        return
    largest = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8
    quantity = norm_deviation(DeepNetwork("x", depth=0), power=2)
    sizes = {"input_dim": 64}
    for draws in (10**5, 10**6, 10**7, largest):
        for executor in (SerialExecutor(), ProcessExecutor(2)):
            with executor:
                start = time.perf_counter()
                moments = sample(
                    quantity.sampler(sizes),
                    Key(0, "benchmark", quantity.parameters, sizes),
                    draws=draws,
                    block_draws=quantity.block_draws(sizes),
                    executor=executor,
                )
                seconds = time.perf_counter() - start
            here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            there = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            estimate = moments.estimate()
            print(
                f"{draws:10} draws, {executor.workers} at once: {seconds:6.2f} s, peak {here:4.0f} MB, {there:4.0f} MB in workers; "
                f"{estimate.value:.6f} +- {estimate.stderr:.1e} (exact {2 / 64}), kept {len(moments.largest)}"
            )


if __name__ == "__main__":
    main()
