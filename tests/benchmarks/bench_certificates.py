"""Certificates of norm deviations and overlaps: constants over the limit, C(d_0)/v, success on random instances, seconds.

python tests/benchmarks/bench_certificates.py table      # C(d_0)/v for d_0 = 64..16384, depth 1..3, k = 2, 4
python tests/benchmarks/bench_certificates.py time       # seconds to find and to check, k = 2, depth 2, over the catalogue
python tests/benchmarks/bench_certificates.py random 100 # how many of so many random instances are found, and how fast
"""

import random
import statistics
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import catalogue
from theoryck.proving import checker
from theoryck.quantities import NoCertificate
from theoryck.theory.networks import DeepNetwork, norm_deviation
from theoryck.theory.networks.certificates.overlaps import overlap_certificate
from theoryck.theory.networks.limits import norm_moment_limit, overlap_moment_limit
from theoryck.theory.networks.strategies import smooth_odd_activations

STARTS = (64, 256, 1024, 4096, 16384)
UNTUNED = {  # MATH N3: Chernoff and Bernstein with radii on a coarse grid, k = 2; (activation, depth): {start: C/limit}
    ("tanh(x)", 1): {256: 2.06, 1024: 1.40, 4096: 1.15, 16384: 1.07},
    ("tanh(x)", 2): {256: 3.4, 1024: 1.59, 4096: 1.23, 16384: 1.11},
    ("tanh(x)", 3): {256: 6.6, 1024: 2.15, 4096: 1.43, 16384: 1.20},
    ("erf(x)", 1): {1024: 1.33},
    ("erf(x)", 2): {1024: 1.46},
    ("erf(x)", 3): {1024: 1.81},
    ("sin(2*x)", 1): {256: 1.12, 1024: 1.003},
    ("sin(2*x)", 2): {256: 1.16, 1024: 1.016},
    ("sin(2*x)", 3): {256: 1.26, 1024: 1.024},
    ("atan(x)", 1): {1024: 1.37},
    ("atan(x)", 2): {1024: 1.91},
    ("atan(x)", 3): {1024: 3.6},
}


def find(activation, depth, power, start):
    return norm_deviation(DeepNetwork(activation, depth=depth), power=power).for_every_size(start=start)


def table():
    print(f"{'C(d_0)/limit (MATH N3)':34s}" + "".join(f"{start:>16d}" for start in STARTS))
    for what, make, limit, texts in (
        ("norm", find, norm_moment_limit, ("tanh(x)", "erf(x)", "atan(x)", "sin(2*x)", "relu(x)")),
        ("overlap", overlap_certificate, overlap_moment_limit, ("tanh(x)", "erf(x)", "atan(x)", "sin(2*x)")),
    ):
        for text in texts:
            for power in (2, 4):
                for depth in (1, 2, 3):
                    end = float(limit(Activation(text), (1,) * (depth + 1), power))
                    row = [float(make(Activation(text), depth, power, start).constant) / end for start in STARTS]
                    beside = UNTUNED.get((text, depth), {}) if (what, power) == ("norm", 2) else {}
                    cells = [f"{value:.3f}" + (f" ({beside[n]})" if n in beside else "") for n, value in zip(STARTS, row)]
                    print(
                        f"{what:8s} {text:10s} k = {power} depth {depth:<7d}" + "".join(f"{cell:>16s}" for cell in cells),
                        flush=True,
                    )


def seconds(depth=2, power=2, start=1024):
    """CPU seconds to find and to check, from nothing: caches are those of this process, with one certificate of each phi."""
    find(Activation("erf(x/2)"), 1, 2, 16)  # what the first certificate of a process costs
    taken = {}
    for name, activation in catalogue.items():
        began = time.process_time()
        try:
            made = find(activation, depth, power, start)
        except NoCertificate as reason:
            print(f"{name:14s} {reason}")
            continue
        between = time.process_time()
        try:
            checker.check(made.to_json())
            checked = f"{time.process_time() - between:.3f}"
        except checker.Refused as reason:
            checked = str(reason)
        taken[name] = between - began
        print(f"{name:14s} {made.method:12s} C = {made.constant:>14s} found {taken[name]:.3f} checked {checked}", flush=True)
    print(f"found: median {statistics.median(taken.values()):.3f}, largest {max(taken.values()):.3f} CPU seconds of {len(taken)}")


def random_instances(count):
    found = {}

    @seed(17)
    @settings(
        max_examples=2 * count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(smooth_odd_activations())
    def collect(activation):
        found.setdefault(activation.text, activation)

    collect()
    draw, seconds, good = random.Random(17), [], 0
    activations = list(found.values())[:count]
    for activation in activations:
        depth, power, start = draw.randint(1, 4), draw.randint(1, 8), draw.choice([1, 16, 256, 4096])
        began = time.process_time()
        try:
            find(activation, depth, power, start)
            good += 1
        except NoCertificate as reason:
            print(f"{activation.text}, depth {depth}, k = {power}, from {start}: {reason}", flush=True)
        seconds.append(time.process_time() - began)
    print(f"{good} of {len(activations)} found; CPU seconds: median {statistics.median(seconds):.2f}, largest {max(seconds):.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["random"]:
        random_instances(int(sys.argv[2]))
    elif sys.argv[1:2] == ["time"]:
        seconds()
    else:
        table()
