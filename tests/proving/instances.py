"""Random instances: certificates that the finder makes, re-verified by the checker, their numbers made 1% better and refused.

``python -m tests.proving.instances [COUNT]`` draws activations as claims do, a depth, a power and a first size; a line each.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from theoryck.proving.checker import Refused, check
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.strategies import smooth_odd_activations

from .mutations import accepted, scaled


def drawn(count: int) -> list[tuple]:
    """So many instances; always the same ones."""
    found: list[tuple] = []

    @seed(17)
    @settings(max_examples=4 * count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(smooth_odd_activations(), st.integers(1, 4), st.integers(1, 8), st.sampled_from([1, 16, 64, 256, 1024, 4096, 16384]))
    def collect(phi, depth, power, start):
        if (phi.text, depth, power, start) not in [(a.text, *rest) for a, *rest in found]:
            found.append((phi, depth, power, start))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return random.Random(17).sample(found, min(count, len(found)))


def main(count: int) -> None:
    """Print what becomes of each instance, and the sums."""
    searched, checked, outcomes = [], [], []
    for phi, depth, power, start in drawn(count):
        clock = time.process_time()
        try:
            record = json.loads(json.dumps(norm_certificate(phi, depth, power, start).to_json()))
        except (ValueError, ArithmeticError) as error:
            outcomes.append("none")
            print(
                f"none     {phi.text}, depth {depth}, k = {power}, N = {start}: {type(error).__name__}: {str(error)[:160]}",
                flush=True,
            )
            continue
        searched.append(time.process_time() - clock)
        clock = time.process_time()
        try:
            said = check(record)
            outcomes.append("proved")
        except Refused as error:
            said = str(error)
            outcomes.append("refused")
        checked.append(time.process_time() - clock)
        better = (
            accepted((name, each) for name, each in scaled(record) if name.endswith("* 0.99")) if outcomes[-1] == "proved" else ""
        )
        print(f"{outcomes[-1]:8} {searched[-1]:.2f}s {checked[-1]:.2f}s {phi.text}: {said} {better}", flush=True)
    print({name: outcomes.count(name) for name in ("proved", "refused", "none")})
    print(f"medians: search {statistics.median(searched):.2f} s, check {statistics.median(checked):.2f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 100)
