"""Certificates of norm deviations and overlaps: constants over the limit, C(d_0)/v, success on random instances, seconds.

python tests/benchmarks/bench_certificates.py table      # C(d_0)/v for d_0 = 64..16384, depth 1..3, k = 2, 4
python tests/benchmarks/bench_certificates.py random 100 # how many of so many random instances are found, and how fast
"""

import random
import statistics
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities import NoCertificate
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.certificates.overlaps import overlap_certificate
from theoryck.theory.networks.certificates.products import product_certificate, slopes
from theoryck.theory.networks.limits import norm_moment_limit, overlap_moment_limit
from theoryck.theory.networks.strategies import smooth_odd_activations

STARTS = (64, 256, 1024, 4096, 16384)


def find(activation, depth, power, start):
    make = norm_certificate if slopes(activation.expression) is None else product_certificate
    return make(activation, depth, power, start)


def table():
    print(f"{'C(d_0)/limit':34s}" + "".join(f"{start:>9d}" for start in STARTS))
    for what, make, limit, texts in (
        ("norm", find, norm_moment_limit, ("tanh(x)", "erf(x)", "atan(x)", "sin(2*x)", "relu(x)")),
        ("overlap", overlap_certificate, overlap_moment_limit, ("tanh(x)", "erf(x)", "atan(x)", "sin(2*x)")),
    ):
        for text in texts:
            for power in (2, 4):
                for depth in (1, 2, 3):
                    end = float(limit(Activation(text), (1,) * (depth + 1), power))
                    row = [float(make(Activation(text), depth, power, start).constant) / end for start in STARTS]
                    print(f"{what:8s} {text:10s} k = {power} depth {depth}" + "".join(f"{value:9.3f}" for value in row), flush=True)


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
    else:
        table()
