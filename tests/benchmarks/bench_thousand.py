"""How long a thousand workers wait under thorough: a simulation by events, with block lengths that were measured.

    theoryck plan --all proofs --profile thorough --json plan.json
    python tests/benchmarks/bench_thousand.py measure lengths.json     # draws one block of every size of every claim
    python tests/benchmarks/bench_thousand.py plan.json lengths.json [workers ...]

The measurement may be stopped: claims that it did not come to have blocks as long as those of others.
A claim checks its instances one after the other, each by looks that double, until it has drawn what the plan says it takes if it
is true; a look is a job whose blocks have the lengths that were measured.  What a message holds is what the executor would put
into it (``bundled``); at most four messages a worker are in flight, those of earlier claims first, and an idle worker takes the
next.  Client and scheduler are two processes, each of which does one thing at a time, and what that takes was measured:
``SEND``, ``TAKE`` and ``BLOCK`` are Dask's part, of 2000 messages of a client whose scheduler is another process, and theoryck's,
of 333 claims in work and 1000 workers, with real columns that are merged (17,000 messages of 20 blocks and as many of 400);
``JUDGE`` is a look that is judged; ``PASS`` and ``BACK`` are the scheduler's, ``LARGE`` what both take for the bytes of a block.
Printed are the share of the workers' time in which they wait, over the whole run and over its first nine tenths (its end is a few
long claims), and those of the client's and the scheduler's in which they work.  Seen, with the blocks of 40 claims: 100 workers
wait 0.0% of the time, 200 0.2%, 500 2.4%, 1000 9.5% (3.0% in the first nine tenths), where the client works 63% of the time and the
scheduler 31%.  With 40 us a block, 5 ms a message and one length for the blocks of all sizes 100 waited 14%, 200 35% and 1000 83%.
"""

from __future__ import annotations

import heapq
import itertools
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
from theoryck.montecarlo.cluster import FIRST, LINGER, bundled, span
from theoryck.montecarlo.timing import stopwatch

THOROUGH = PROFILES["thorough"]
SEND, TAKE = 0.0004, 0.0005  # seconds of the client's that a message takes, before and after its run
BLOCK = 1.6e-6  # and a block of it
JUDGE = 0.04  # and a look, with what it costs around it (24 ms of judging)
PASS, BACK = 0.0004, 0.0004  # seconds of the scheduler's that a message takes, before and after its run
LARGE = 1e-6  # seconds of either that the 800 bytes of a block take
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
    known: dict[float, float] = field(default_factory=dict)  # the lengths that the executor has seen, by those that they are
    usual: float | None = None  # and that of all
    weight: float = 0.0  # what the executor thinks its blocks that are not sent take

    def begin(self) -> None:
        share = self.looks.popleft() / len(self.lengths)
        self.blocks = deque([length, max(1, round(share / length))] for length in self.lengths)
        self.missing = self.unsent = sum(count for _, count in self.blocks)

    def take(self, count: int, most: float) -> tuple[int, float]:
        """Return how many of at most ``count`` blocks of one size a message runs, and the seconds: it stops after ``most``."""
        length, left = self.blocks[0]
        taken = min(left, count, int(most / length) + 1)
        self.blocks[0][1] -= taken
        if taken == left:
            self.blocks.popleft()
        self.unsent -= taken
        return taken, taken * length

    def took(self, count: int, seconds: float) -> None:
        """Take in what a message of so many blocks took."""
        each, part = seconds / count, min(1.0, count / 8)
        known = self.known.get(each, each)
        self.known[each] = known + (each - known) * part
        self.usual = each if self.usual is None else self.usual + (each - self.usual) * part


def looks(usual: float, most: float, instances: int) -> deque[float]:
    """Return the seconds that each look of a claim draws, instance by instance."""
    drawn, found = 0.0, []
    for fraction in THOROUGH.looks:
        found.append(min(fraction * most, usual) / instances - drawn)
        drawn += found[-1]
        if fraction * most >= usual:
            break
    return deque(found * instances)


class Server:
    """A process that does one thing at a time, in the order in which they come."""

    free = worked = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """Return when something that came now is done."""
        self.free, self.worked = max(self.free, now) + seconds, self.worked + seconds
        return self.free


def simulate(claims: list[Work], workers: int) -> tuple[float, float, float, float, float, int]:
    """Return the time of the run, the shares of waiting (over all, nine tenths), of the client's and scheduler's work, messages."""
    clock, client, scheduler = 0.0, 0.0, Server()
    idle, ready, events, inbox, order = workers, [], [], deque(), itertools.count()
    flying, aloft, waiting, messages, busy = 0, 0.0, 0.0, 0, []  # busy: when each message began and ended
    unsent: list[tuple[int, int, Work]] = []  # a heap of the claims that have something to send
    most, unjudged = 2 * span(workers), len(claims)

    def weigh(work):
        nonlocal waiting
        weight = sum(left * work.known.get(each, work.usual or 0.5) for each, left in work.blocks)
        waiting, work.weight = waiting + weight - work.weight, weight

    def begin(work):
        work.begin()
        weigh(work)
        heapq.heappush(unsent, (work.rank, next(order), work))

    def pass_until(now):
        """Let happen what happens elsewhere until then."""
        nonlocal idle
        while events and events[0][0] <= now:
            at, _, what, message = heapq.heappop(events)
            if what == "there":  # at a worker, or waiting for one
                heapq.heappush(ready, (message[0].rank, next(order), message))
            elif what == "run":
                idle += 1
                back = scheduler.serve(at, BACK + LARGE * message[1]) + LINGER * most
                heapq.heappush(events, (back, next(order), "back", message))
            else:
                inbox.append(message)
            while idle and ready:
                *_, message = heapq.heappop(ready)
                idle -= 1
                busy.append((at, at + message[2]))
                heapq.heappush(events, (at + message[2], next(order), "run", message))

    for work in claims:
        begin(work)
    while unjudged:
        pass_until(clock)
        spent = 0.0
        if inbox:
            work, count, seconds = inbox.popleft()
            spent, flying, aloft = TAKE + (BLOCK + LARGE) * count, flying - 1, aloft - seconds
            if work.usual is None and work.blocks:
                heapq.heappush(unsent, (work.rank, next(order), work))  # the first ones told how long they take
            work.took(count, seconds)
            work.missing -= count
            weigh(work)
            if not work.missing:
                spent += JUDGE
                if work.looks:
                    begin(work)
                else:
                    unjudged -= 1
        elif unsent and flying < AHEAD * workers:
            work = unsent[0][2]
            probes = work.missing - work.unsent
            if not work.blocks or (work.usual is None and probes * unjudged >= FIRST * workers):
                heapq.heappop(unsent)
                continue
            known = work.known.get(work.blocks[0][0], work.usual)
            taken, seconds = work.take(1 if known is None else bundled(known, waiting, aloft, workers), most)
            weigh(work)
            spent, messages, flying, aloft = SEND, messages + 1, flying + 1, aloft + seconds
            at = scheduler.serve(clock + spent, PASS)
            heapq.heappush(events, (at, next(order), "there", (work, taken, seconds)))
        elif events:
            clock = max(clock, events[0][0])
        clock, client = clock + spent, client + spent
    early = 0.9 * clock
    total = sum(end - begin for begin, end in busy)
    before = sum(max(0.0, min(end, early) - begin) for begin, end in busy)
    return clock, 1 - total / clock / workers, 1 - before / early / workers, client / clock, scheduler.worked / clock, messages


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
        took, waiting, early, client, scheduler, messages = simulate(claims, workers)
        print(
            f"{workers} workers, {took / 60:.1f} min, {messages} messages: workers wait {waiting:.1%} of the time, {early:.1%} "
            f"in the first nine tenths; the client works {client:.0%}, the scheduler {scheduler:.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
