"""Random instances: certificates that are found, verified, held against exact values at every scale, their numbers made better.

``python -m tests.proving.instances [FIRST LAST]`` prints a line for each of the instances FIRST, ..., LAST - 1 of always the same
list of 100 (an activation, a quantity, widths, a power k, a first size N), and the sums.
"""

from __future__ import annotations

import functools
import json
import random
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import theoryck as tc
from theoryck.proving.checker import Refused, check

from .mutations import NO_BOUNDS, accepted, changed, is_number, leaves, put

COUNT = 100
BELOW = {"least", "slope-least", "deviation-least", "squares"}  # bounds from below, which are better if larger
SLOW = 16  # exact values at smaller sizes take seconds, or are none where k is odd


@dataclass(frozen=True)
class Instance:
    """A quantity of a network whose layers have ``pattern`` times d units, d >= start."""

    phi: tc.Activation
    kind: str
    pattern: tuple[int, ...]
    power: int
    start: int

    @property
    def quantity(self) -> Any:
        """What is bounded."""
        network = tc.DeepNetwork(self.phi, depth=len(self.pattern) - 1, widths=self.pattern * tc.size("d"))
        return {"norm": tc.norm_deviation, "overlap": tc.overlap_moment}[self.kind](network, power=self.power)

    def __str__(self) -> str:
        return f"{self.kind} {self.phi.text}, widths {self.pattern}, k = {self.power}, N = {self.start}"


def patterns() -> st.SearchStrategy[tuple[int, ...]]:
    """The widths of 1 to 4 layers after the input, in units of the smallest."""
    several = st.integers(2, 5).flatmap(lambda layers: st.tuples(*[st.integers(1, 3)] * layers))
    return several.map(lambda widths: tuple(each - min(widths) + 1 for each in widths))


@functools.cache
def drawn(count: int = COUNT, examples: int = 4 * COUNT) -> list[Instance]:
    """So many of the instances among so many examples; always the same ones."""
    found: list[Instance] = []
    others = st.sampled_from(["relu(x)", "max(x, x/5)", "cos(x)", "exp(-x**2/2)", "sin(x) + 1/2"]).map(tc.Activation)
    activations = st.one_of(*[tc.strategies.smooth_odd_activations()] * 4, others)
    starts = st.sampled_from([1, 16, 64, 256, 1024, 4096, 16384])
    kinds = st.sampled_from(["norm", "norm", "norm", "overlap"])

    @seed(17)
    @settings(max_examples=examples, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(st.builds(Instance, activations, kinds, patterns(), st.integers(1, 8), starts))
    def collect(instance: Instance) -> None:
        if str(instance) not in {*map(str, found)}:
            found.append(instance)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return random.Random(17).sample(found, count)


def better(record: Any) -> Iterator[tuple[str, Any]]:
    """Every number, one at a time, made 1% better than it is: smaller, or larger where it is a bound from below."""
    for path, old in leaves(record):
        if is_number(old) and Decimal(old) != 0 and not NO_BOUNDS & {*path}:
            factor = "1.01" if BELOW & {*path} or path == ("limit", 0) else "0.99"
            with localcontext(prec=250):
                yield ".".join(map(str, path)), changed(record, path, put(format(Decimal(old) * Decimal(factor), "f")))
    if record["from"] > 1:
        yield "from", record | {"from": record["from"] - max(1, record["from"] // 100)}


def exceeding(instance: Instance, record: Any) -> tuple[int, float, list[int]]:
    """At how many sizes exact values are below the constant, the largest share of it that they take, and sizes where they exceed.

    Brackets of moments of odd order have ends; what is surely above is seen, and nothing else is said to be.
    """
    seen, share, above = 0, 0.0, []
    for d in (1, *(16 * 10**n for n in range(9)), 10**9):
        if d < instance.start or (d < SLOW and (instance.power % 2 or instance.kind == "overlap")):
            continue
        value = instance.quantity.exact({"d": d})
        if value is None:
            continue
        seen += 1
        scaled = [float(end) * float(d) ** (instance.power / 2) for end in (value.low, value.high)]
        share = max(share, scaled[0] / float(record["constant"]))
        if scaled[0] > float(record["constant"]) * (1 + 1e-9):  # the errors of these floats are some 1e-16
            above.append(d)
    return seen, share, above


@dataclass
class Outcome:
    """What became of an instance; ``kept`` names numbers that could be made better, ``above`` the sizes that exceed the bound."""

    verdict: str
    said: str
    searched: float = 0.0
    checked: float = 0.0
    changes: int = 0
    kept: tuple[str, ...] = ()
    seen: int = 0
    share: float = 0.0
    above: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        """For the table."""
        if self.verdict != "proved":
            return f"{self.verdict:8} {self.said[:200]}"
        numbers = f"{self.searched:5.2f} s {self.checked:.2f} s {self.changes:3} changes, {self.seen:2} exact, <= {self.share:.3f}"
        return f"{self.verdict:8} {numbers} {self.said} {' '.join([*self.kept, *map(str, self.above)])}".rstrip()


def outcome(instance: Instance) -> Outcome:
    """Find, verify, hold against exact values, make better."""
    clock = time.process_time()
    try:
        record = json.loads(json.dumps(instance.quantity.for_every_size(None, start=instance.start).to_json()))
    except tc.NoCertificate as error:
        return Outcome("none", f"{instance}: {error}")
    searched, clock = time.process_time() - clock, time.process_time()
    try:
        said = check(record)
    except Refused as error:
        return Outcome("refused", f"{instance}: {error}", searched)
    checked = time.process_time() - clock
    changes, kept = accepted(better(record))
    seen, share, above = exceeding(instance, record)
    return Outcome("proved", said, searched, checked, changes, tuple(kept), seen, share, tuple(above))


def main(first: int, last: int) -> None:
    """Print what becomes of each instance, and the sums."""
    found = []
    for i, instance in enumerate(drawn()[first:last], first):
        found.append(outcome(instance))
        print(f"{i:3} {found[-1].line}", flush=True)
    proved = [each for each in found if each.verdict == "proved"]
    print({name: sum(each.verdict == name for each in found) for name in ("proved", "refused", "none")})
    print(f"{sum(each.changes for each in proved)} numbers made better, {sum(len(each.kept) for each in proved)} of them accepted")
    print(f"{sum(each.seen for each in proved)} exact values, {sum(len(each.above) for each in proved)} above what is proved")
    medians = [statistics.median(values) for values in ([each.searched for each in proved], [each.checked for each in proved])]
    print(f"medians: search {medians[0]:.2f} s, check {medians[1]:.2f} s of CPU time")


if __name__ == "__main__":
    ends = [*map(int, sys.argv[1:3])]
    main(*(ends or (0, COUNT)))
