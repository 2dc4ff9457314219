"""What allotting draws saves: CPU-seconds to a settled verdict, against equal draws at every size.

Both ways go through the same code (``theoryck.check``), the same judge, the same looks with the same shares of the error rates, and
the same seeds; Monte Carlo only.  They differ in one method, which says how many blocks each size gets for what may be spent until
a look.  The baseline's blocks divide its draws, so that it is not charged for whole blocks it does not want.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_allotment.py [seeds] [within]``; prints medians and ratios.  The
aim is 3.  What can be had at most is printed too: the cost of equal draws over that of the best design, both at one stderr of the
exponent, which is what the draws of a verdict are needed for as long as no few draws carry a mean.  A second baseline is an
experiment planned beforehand: equal draws, as many as support the claim nine times in ten, and one look at the end.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter

import theoryck as tc
from theoryck import check, planning
from theoryck.measurement import Measurement
from theoryck.planning import allotment
from theoryck.profiles import Profile
from theoryck.records import Contract

SIZES = tc.doubling(16, 4096)
LOOKS = tuple(2.0**-j for j in range(10, -1, -1))


class Allotted(Measurement):
    """What theoryck does, without the exact route."""

    def measure_exactly(self, digits):
        pass


class Equal(Allotted):
    """The baseline: the same number of draws at every size."""

    first = 256

    def _block_draws(self, index):
        return min(self.first, super()._block_draws(index))

    def allot(self, spend, anew=False):
        draws = spend / sum(self.quantity.cost(sizes) for sizes in self.sizes)
        return [max(round(draws / self._block_draws(index)), 1) for index in range(len(self.sizes))]


def statements(within):
    """Yield (name, statement) for the two claims, measured by Monte Carlo only."""
    network = tc.DeepNetwork("tanh", depth=2)
    path = tc.ScalingPath(d=SIZES, width="d", input_dim="d")
    for name, quantity, power in (
        ("moment control k=4", tc.norm_deviation(network, power=4), 4),
        ("quasi-orthogonality k=2", tc.overlap_moment(network, power=2), 2),
    ):
        options = {"rivals": [f"d**(-{power + 1}/2)"], "correction": 1, "amplitude": 2, "within": within}
        yield name, tc.Bound(quantity, rate=f"d**(-{power}/2)", along=path, **options)


def planned(noise, within):
    """Return the draws per size at which 9 of 10 estimates without bias support the claim."""
    experiment = planning.Experiment.of(SIZES, noise=noise, correction=1, amplitude=2)
    draws = 16.0
    while True:
        error = experiment.error(draws)
        if error.decision_reach(Contract().false_support_rate) + planning.power.z(0.1) * error.noise <= within:
            return round(draws)
        draws *= 1.05


def settle(kind, statement, seed, budget, draws=None):
    """Return the CPU-seconds to a settled verdict, the draws at each size, and the judgement."""
    profile = Profile("benchmark", instances=1, random_numbers=budget, seconds=1.0, within=0.05, looks=LOOKS)
    with check.Session(profile, seed, workers=1, draws=draws) as session:
        contract = session.contract(1, statement.within)
        prediction = statement.prediction({})
        start = time.process_time()
        measurement = kind("benchmark", {}, statement, session, 1.0)
        judgement, _ = check._look_until_settled(measurement, prediction, contract, session)
        return time.process_time() - start, [moments.count for moments in measurement.moments], judgement


def most(quantity, noise, within):
    """The cost, in random numbers, of equal draws over that of the best design, both with the stderr that settles."""
    cost = [quantity.cost({"d": d, "width": d, "input_dim": d}) for d in SIZES]
    target = within / 3.2  # half of the estimates within one stderr of the truth, 2.2 stderr to the limit

    def budget(units):
        low, high = 1.0, 1e15
        while high > 1.001 * low:
            middle = (low * high) ** 0.5
            error = planning.stderr_of_exponent(SIZES, units(middle), noise=noise, correction=1, amplitude=2)
            low, high = (middle, high) if error > target else (low, middle)
        return high

    before, allotment.TESTED = allotment.TESTED, 0.0
    try:
        best = budget(lambda spend: planning.allocate(cost, spend, sizes=SIZES, noise=noise, floor=1e-9, correction=1, amplitude=2))
    finally:
        allotment.TESTED = before
    return budget(lambda spend: spend / sum(cost)) / best


def main(seeds, within):
    """Print the table."""
    print(f"{seeds} seeds, within {within}, {Contract().level:.0%} level, d = {SIZES[0]}..{SIZES[-1]}, correction 1/d declared")
    for name, statement in statements(within):
        noise = 3.4 if "4" in name else 1.44
        budget = Equal.first * LOOKS[0] ** -1 * sum(statement.quantity.cost(sizes) for sizes in statement.sizes())
        settle(Allotted, statement, 0, budget)  # compile, import
        ratios, seconds, outcomes, drawn = [], {Equal: [], Allotted: []}, Counter(), {}
        for seed in range(1, seeds + 1):
            for kind in (Equal, Allotted):
                spent, drawn[kind], judgement = settle(kind, statement, seed, budget)
                seconds[kind].append(spent)
                tight = judgement.tightness.value if judgement.tightness else "-"
                outcomes[kind.__name__, judgement.verdict.value, tight, judgement.settled] += 1
            ratios.append(seconds[Equal][-1] / seconds[Allotted][-1])
            if seed == 1:  # its time is the same for all seeds
                once, _, judgement = settle(Equal, statement, seed, budget, planned(noise, within))
                outcomes["Planned", judgement.verdict.value, "", judgement.settled] += 1
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(
            f"{name}: equal {statistics.median(seconds[Equal]):.2f} s, allotted {statistics.median(seconds[Allotted]):.2f} s, "
            f"ratio of each seed: median {middle:.2f}, quartiles {low:.2f}..{high:.2f}, range {min(ratios):.2f}..{max(ratios):.2f} "
            f"(aim 3; at most {most(statement.quantity, noise, within):.2f} by design)"
        )
        print(
            f"   equal draws planned for 90%, one look: {planned(noise, within)} a size, {once:.2f} s, "
            f"{once / statistics.median(seconds[Allotted]):.2f} times as long"
        )
        for kind, counts in drawn.items():
            print(f"   {kind.__name__:12} last seed drew {counts}")
        for outcome, count in outcomes.items():
            print("  ", *outcome, count)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9, float(sys.argv[2]) if len(sys.argv) > 2 else 0.05)
