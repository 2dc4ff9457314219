"""How long a thousand workers wait under thorough: a simulation by events, with block lengths that were measured.

    theoryck plan --all proofs --profile thorough --json plan.json
    python tests/benchmarks/bench_thousand.py measure lengths.json     # draws one block of every size of every claim
    python tests/benchmarks/bench_thousand.py plan.json lengths.json [workers ...]

The measurement may be stopped: claims that it did not come to have blocks as long as those of others.
A claim checks its instances one after the other, each by looks that double, until it has drawn what the plan says it takes if it
is true; a look is a job whose blocks have the lengths that were measured.  What a message holds is what the executor would put
into it (``bundled``); at most four messages a worker are in flight, those of earlier claims first, and an idle worker takes the
next.  The client does one thing at a time, and what that takes was measured too: messages (with the scheduler's part), blocks that
are read and merged, looks that are judged.  Printed are the share of the workers' time in which they wait, over the whole run and
over its first nine tenths (its end is a few long claims), and that of the client's in which it works.  Seen, with the blocks of 40
claims: 50 workers wait 4% of the time, 100 14%, 200 35%, 1000 83%, where the client works all the time, most of it on single
blocks; were these for nothing (``BLOCK = 0``), 1000 workers would still wait 59% of it, and the client work 96% of it, on messages.
"""

from __future__ import annotations

import heapq
import json
import statistics
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from theoryck.checking.profiles import PROFILES
from theoryck.checking.session import Session
from theoryck.claims.collecting import collect
from theoryck.montecarlo.cluster import MESSAGE, bundled, span
from theoryck.montecarlo.timing import stopwatch

THOROUGH = PROFILES["thorough"]
BLOCK = 40e-6  # seconds of the client's that reading and merging a block take
JUDGE = 0.04  # and a look, with what it costs around it (24 ms of judging)
AHEAD = 4  # messages in flight, a worker


def measure(path: str) -> None:
    """Write the seconds of one block at each size of the first instance of every claim, and how many instances it has."""
    found, claims = {}, collect(["proofs"])
    with Session(THOROUGH, 0, workers=1, claims=len(claims)) as session:
        for claim in claims:
            instances = session.instances(claim)
            statement = instances[0][1] if instances else None
            if statement is None or not statement.measured().can_draw:
                continue
            quantity, lengths = statement.measured(), []
            if not quantity.pilots(statement.sizes()):  # they take minutes
                for sizes in statement.sizes():
                    sampler, rng, draws = quantity.sampler(sizes), np.random.default_rng(0), quantity.block_draws(sizes)
                    sampler(rng, 1)
                    spent = stopwatch()
                    sampler(rng, draws)
                    lengths.append(max(spent(), 1e-4))
            found[claim.id] = {"lengths": lengths, "instances": len(instances)}
            Path(path).write_text(json.dumps(found))


@dataclass
class Work:
    """One claim: the looks that it has still to draw, each as seconds, and the blocks of the one that is under way."""

    rank: int
    lengths: list[float]
    looks: deque[float]
    blocks: deque[list] = field(default_factory=deque)  # (length, how many)
    missing: int = 0  # blocks that have not come back
    unsent: int = 0
    known: float | None = None  # the length that the executor has seen

    def begin(self) -> None:
        share = self.looks.popleft() / len(self.lengths)
        self.blocks = deque([length, max(1, round(share / length))] for length in self.lengths)
        self.missing = self.unsent = sum(count for _, count in self.blocks)

    @property
    def waiting(self) -> float:
        """What the executor thinks its blocks that are not sent take."""
        return self.unsent * (self.known or 0.5)

    def take(self, count: int, most: float) -> tuple[int, float]:
        """Return how many of at most ``count`` blocks one message runs, and the seconds: it stops when ``most`` have passed."""
        taken, seconds = 0, 0.0
        while self.blocks and taken < count and seconds <= most:
            length, left = self.blocks[0]
            now = min(left, count - taken, int((most - seconds) / length) + 1)
            taken, seconds = taken + now, seconds + now * length
            self.blocks[0][1] -= now
            if not self.blocks[0][1]:
                self.blocks.popleft()
        self.unsent -= taken
        return taken, seconds


def looks(usual: float, most: float, instances: int) -> deque[float]:
    """Return the seconds that each look of a claim draws, instance by instance."""
    drawn, found = 0.0, []
    for fraction in THOROUGH.looks:
        found.append(min(fraction * most, usual) / instances - drawn)
        drawn += found[-1]
        if fraction * most >= usual:
            break
    return deque(found * instances)


def simulate(claims: list[Work], workers: int) -> tuple[float, float, float, float, int]:
    """Return the time of the run, the shares of waiting (over all, over the first nine tenths), the client's work, messages."""
    clock, worked, messages, aloft = 0.0, 0.0, 0, 0.0
    idle, ready, running, inbox = workers, [], [], deque()
    flying, busy = 0, []  # busy: when each message began and ended
    open_claims = []
    for work in claims:
        work.begin()
        open_claims.append(work)
    most = 2 * span(workers)

    def start(now, message):
        nonlocal idle
        idle -= 1
        heapq.heappush(running, (now + message[3], message[0], message))
        busy.append((now, now + message[3]))

    def pass_until(now):
        """Let workers finish what they finish until then, and take what is ready."""
        nonlocal idle
        while running and running[0][0] <= now:
            ended, _, message = heapq.heappop(running)
            idle += 1
            inbox.append(message)
            if ready:
                start(ended, heapq.heappop(ready))

    while open_claims or running:
        pass_until(clock)
        acted = bool(inbox)
        if inbox:
            _, work, count, seconds = inbox.popleft()
            spent, flying = MESSAGE / 2 + BLOCK * count, flying - 1
            length = seconds / count
            work.known = length if work.known is None else work.known + (length - work.known) * min(1.0, count / 8)
            work.missing -= count
            aloft -= seconds
            if not work.missing:
                spent += JUDGE
                if work.looks:
                    work.begin()
                else:
                    open_claims.remove(work)
            clock, worked = clock + spent, worked + spent
            pass_until(clock)
        first = next((work for work in open_claims if work.blocks), None) if flying < AHEAD * workers else None
        if first is not None:
            acted, count, waiting = True, 1, 0.0
            if first.known is not None:
                for each in open_claims:
                    waiting += each.waiting
                    if waiting > most * workers:
                        break
                count = bundled(first.known, waiting, aloft, workers)
            taken, seconds = first.take(count, most)
            messages, flying, aloft = messages + 1, flying + 1, aloft + seconds
            clock, worked = clock + MESSAGE / 2, worked + MESSAGE / 2
            pass_until(clock)
            message = ((first.rank, messages), first, taken, seconds)
            if idle:
                start(clock, message)
            else:
                heapq.heappush(ready, message)
        if not acted and running:
            clock = max(clock, running[0][0])
    early = 0.9 * clock
    total = sum(end - begin for begin, end in busy)
    before = sum(max(0.0, min(end, early) - begin) for begin, end in busy)
    return clock, 1 - total / clock / workers, 1 - before / early / workers, worked / clock, messages


def main() -> None:
    if sys.argv[1] == "measure":
        measure(sys.argv[2])
        return
    plan, found = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    costs = [cost for cost in plan["claims"] if cost["usual"] > 0]
    measured = list(found.values())
    every = [length for each in measured for length in each["lengths"]]
    usual, drawn = statistics.median(every), sum(bool(each["lengths"]) for each in measured)
    print(f"{len(costs)} claims that draw, {sum(cost['usual'] for cost in costs) / 3600:.0f} hours of one core")
    print(f"{len(every)} blocks of {drawn} claims were measured, of {usual * 1000:.1f} ms in the median")
    for workers in map(int, sys.argv[3:] or (100, 1000)):
        claims = []
        for rank, cost in enumerate(costs):
            of = found.get(cost["claim"], measured[rank % len(measured)])
            claims.append(Work(rank, of["lengths"] or [usual], looks(cost["usual"], cost["most"], of["instances"])))
        took, waiting, early, client, messages = simulate(claims, workers)
        print(
            f"{workers} workers, {took / 60:.1f} min, {messages} messages: workers wait {waiting:.1%} of the time, "
            f"{early:.1%} in the first nine tenths; the client works {client:.0%}"
        )


if __name__ == "__main__":
    main()
