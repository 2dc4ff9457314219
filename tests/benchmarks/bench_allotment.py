"""What allotting draws saves: CPU-seconds to a settled verdict, against equal draws at every size.

Both ways go through the same code (``theoryck.checking.check``), the same judge, the same looks with the same shares of the error
rates, and the same seeds; Monte Carlo only.  They differ in one method, which says how many blocks each size gets for what may be
spent until a look.  The baseline's blocks divide its draws, so that it is not charged for whole blocks it does not want.

The claims are moment control k=4 and quasi-orthogonality k=2 for tanh at depth 2, ``within`` 0.03 as in the thorough profile, on
d = 16..16384: a window as wide as the costs allow, since that is where an exponent is known from.  The corrections are declared
as one would who has looked: ``correction=1``, and for ``amplitude`` the relative size of the 1/d term at d = 16, which exact
moments give (4.4% and 7.1% below the limit), rounded up to one digit: 0.05 and 0.08.  With other settings the gain is smaller, for
less is to be gained: ``most`` computes what can be had at all.  Looks double what is spent, as those of the profiles do, so that
the ratio of one seed is near a power of two, and says little; the ratio of the means over seeds has less noise than the median.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_allotment.py [seeds] [within] [last size] [amplitude]``; prints
medians and ratios, and what can be had at most: the cost of equal draws over that of the best design, both with the reach that
settles, which is what the draws of a verdict are needed for as long as no few draws carry a mean.  The aim is 3.  A second baseline
is an experiment planned beforehand: equal draws, as many as support the claim nine times in ten, and one look at the end.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass

import theoryck as tc
from theoryck import planning
from theoryck.checking import check
from theoryck.checking.measurement import Budget, Drawing, Measurement
from theoryck.checking.profiles import Profile
from theoryck.checking.session import Session
from theoryck.planning import allotment
from theoryck.records import Contract
from theoryck.theory.networks.limits import norm_moment_limit, overlap_moment_limit
from theoryck.theory.networks.proved.moments import norm_moment, overlap_moment

LOOKS = tuple(2.0**-j for j in range(13, -1, -1))


class Allotted(Measurement):
    """What theoryck does, without the exact route."""

    def measure_exactly(self, digits):
        pass


class SmallBlocks(Drawing):
    """Blocks of at most as many draws as are taken of every size at the first look."""

    first = 32

    def block_draws(self, index):
        return min(self.first, super().block_draws(index))


class EqualBudget(Budget):
    """The same number of draws at every size."""

    def allot(self, spend, anew=False):
        sizes = self.drawing.sizes
        draws = spend / sum(self.drawing.quantity.cost(each) for each in sizes)
        return [max(round(draws / self.drawing.block_draws(index)), 1) for index in range(len(sizes))]


class Equal(Allotted):
    """The baseline: the same number of draws at every size."""

    def __init__(self, claim, instance, statement, session, share):
        super().__init__(claim, instance, statement, session, share)
        self.drawing = SmallBlocks(claim, instance, self.quantity, self.sizes, session, None)
        self.budget = EqualBudget(statement, self.drawing, session.profile, share)


@dataclass(frozen=True)
class Setting:
    """A claim, what is declared of its corrections, and the noise of a draw."""

    name: str
    statement: tc.Bound
    noise: float
    amplitude: float
    relative: float  # the 1/d term at the smallest size, from exact moments

    @property
    def sizes(self):
        return [sizes["d"] for sizes in self.statement.sizes()]

    @property
    def cost(self):
        return [self.statement.quantity.cost(sizes) for sizes in self.statement.sizes()]

    @property
    def experiment(self):
        return planning.Experiment.of(self.sizes, noise=self.noise, correction=1, amplitude=self.amplitude)


def settings(within, last, amplitude):
    """Yield the two claims, measured by Monte Carlo only."""
    network = tc.DeepNetwork("tanh", depth=2)
    path = tc.ScalingPath(d=tc.doubling(16, last), width="d", input_dim="d")
    for name, quantity, power, noise, exact, limit in (
        ("moment control k=4", tc.norm_deviation(network, power=4), 4, 3.4, norm_moment, norm_moment_limit),
        ("quasi-orthogonality k=2", tc.overlap_moment(network, power=2), 2, 1.44, overlap_moment, overlap_moment_limit),
    ):
        first, phi = path.points[0]["d"], network.activation
        relative = float(exact(phi, (first,) * 3, power)) * first ** (power / 2) / float(limit(phi, (1, 1, 1), power)) - 1
        declared = amplitude or math.ceil(100 * abs(relative)) / 100  # rounded up to one digit where it is below 10%
        options = {"rivals": [f"d**(-{power + 1}/2)"], "correction": 1, "amplitude": declared, "within": within}
        statement = tc.Bound(quantity, rate=f"d**(-{power}/2)", along=path, **options)
        yield Setting(name, statement, noise, declared, relative)


def planned(setting, within):
    """Return the draws per size at which 9 of 10 estimates without bias support the claim."""
    draws = 16.0
    while True:
        error = setting.experiment.error(draws)
        if error.decision_reach(Contract().false_support_rate) + planning.power.z(0.1) * error.noise <= within:
            return round(draws)
        draws *= 1.05


def settle(kind, statement, seed, budget, draws=None):
    """Return the CPU-seconds to a settled verdict, the draws at each size, and the judgement."""
    profile = Profile("benchmark", instances=1, random_numbers=budget, seconds=1.0, within=0.05, looks=LOOKS)
    with Session(profile, seed, workers=1, draws=draws) as session:
        contract = session.contract(1, statement.within)
        prediction = statement.prediction({})
        start = time.process_time()
        measurement = kind("benchmark", {}, statement, session, 1.0)
        judgement, _ = check._look_until_settled(measurement, prediction, contract, session)
        return time.process_time() - start, [moments.count for moments in measurement.drawing.moments], judgement


def most(setting, within):
    """The cost, in random numbers, of equal draws over that of the best design, both with the reach that settles."""
    cost, experiment = setting.cost, setting.experiment
    rate = Contract().false_support_rate
    options = {"sizes": setting.sizes, "noise": setting.noise, "floor": 1e-9, "correction": 1, "amplitude": setting.amplitude}

    def budget(units):
        low, high = 1.0, 1e15
        while high > 1.001 * low:
            middle = (low * high) ** 0.5
            error = experiment.error(units(middle))
            low, high = (middle, high) if error.decision_reach(rate) + error.noise > within else (low, middle)
        return high

    before, allotment.TESTED = allotment.TESTED, 0.0
    try:
        best = budget(lambda spend: planning.allocate(cost, max(spend, 2 * sum(cost)), **options))
    finally:
        allotment.TESTED = before
    return budget(lambda spend: spend / sum(cost)) / best


def compare(setting, seeds, within):
    """Print the lines of one claim."""
    statement = setting.statement
    budget = SmallBlocks.first * LOOKS[0] ** -1 * sum(setting.cost)
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
            once, _, judgement = settle(Equal, statement, seed, budget, planned(setting, within))
            outcomes["Planned", judgement.verdict.value, "", judgement.settled] += 1
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(
        f"{setting.name}, the 1/d term at d = 16 is {setting.relative:+.1%}, declared amplitude {setting.amplitude:g}:\n"
        f"   equal {statistics.median(seconds[Equal]):.2f} s, allotted {statistics.median(seconds[Allotted]):.2f} s, "
        f"ratio of each seed: median {middle:.2f}, quartiles {low:.2f}..{high:.2f}, range {min(ratios):.2f}..{max(ratios):.2f}; "
        f"of the means {statistics.mean(seconds[Equal]) / statistics.mean(seconds[Allotted]):.2f} "
        f"(aim 3; at most {most(setting, within):.2f} by design)\n"
        f"   equal draws planned for 90%, one look: {planned(setting, within)} a size, {once:.2f} s, "
        f"{once / statistics.median(seconds[Allotted]):.2f} times as long"
    )
    for kind, counts in drawn.items():
        print(f"   {kind.__name__:12} last seed drew {counts}")
    for outcome, count in outcomes.items():
        print("  ", *outcome, count, flush=True)


def main(seeds=9, within=0.03, last=16384, amplitude=None):
    """Print the table."""
    print(f"{seeds} seeds, within {within}, {Contract().level:.0%} level, d = 16..{last}, correction 1/d declared", flush=True)
    for setting in settings(within, last, amplitude):
        compare(setting, seeds, within)


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, float, int, float), sys.argv[1:])))
