"""Peak memory of a measurement: it must not grow with the number of draws (aim: < 300 MB between 1e5 and 1e8).

Run with ``python tests/benchmarks/bench_memory.py [largest]``; prints the peak of this process and its workers, asserts nothing.
"""

from __future__ import annotations

import resource
import sys
import time

from theoryck.montecarlo import Key, ProcessExecutor, SerialExecutor, sample
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.networks.quantities import norm_deviation


def main() -> None:
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
