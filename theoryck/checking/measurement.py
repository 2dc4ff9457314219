"""All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was seen."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from theoryck import planning
from theoryck.checking.profiles import Profile, profile_named
from theoryck.claims.statements import Law, Statement
from theoryck.judging.evidence import CARRIED, TAIL_UNSEEN
from theoryck.ledger import Ledger
from theoryck.montecarlo import Executor, Key, Moments, Request, TwoSidedMoments, sample_jointly
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.montecarlo.timing import Stopwatch
from theoryck.quantities import Quantity
from theoryck.records import Bracket, Counts, Enclosure, Estimate, Judgement, Point, Verdict

CONFIRMATION_FACTOR = 2
FIRST_DRAWS = 64  # of every size at the first look, if blocks allow: from then on noise is measured
TAIL_MARGIN = 1.5  # a skewness that was measured is rather too small
FLOOR_SHARE = 0.5  # of what is spent until a look: floors that cost more are not granted
LEAST_NOISE = 1e-6  # of a draw: where all draws are equal, no other size needs to wait for this one
SHOWN_BINS = 64  # of a law, in its picture; it is judged by all 1024
BY_THE_CLOCK = "draws set by the clock"


class Drawing(Protocol):
    """What a measurement needs of the session it belongs to."""

    profile: Profile | str
    seed: int
    executor: Executor | None
    draws: int | Sequence[int] | None
    ledger: Ledger | str | os.PathLike[str] | None


class Measurement:
    """All that is measured at one instance: exact values and running Monte Carlo moments, one entry a size."""

    def __init__(self, claim: str, instance: Mapping[str, Any], statement: Statement, session: Drawing, share: float) -> None:
        self.claim = claim
        self.instance = instance
        self.statement = statement
        self.session = session
        self.quantity: Quantity = statement.measured()
        self.sizes = statement.sizes()
        self.exact: list[Enclosure | Bracket | None] = [None] * len(self.sizes)
        self.moments: list[Any] = [None] * len(self.sizes)
        self.blocks = [0] * len(self.sizes)
        self.flags: set[str] = set()
        self.edges = _edges(statement)
        self.watch: Callable[[int], None] | None = None
        self._share = share
        self._blocks_planned: list[int] | None = None
        self._looks: tuple[float, ...] = (1.0,)
        self._most_draws: list[int] | None = None
        self._samplers: list[Any] = [None] * len(self.sizes)
        self._draws_a_block: list[int | None] = [None] * len(self.sizes)
        self._comparable: list[float | None] = [None] * len(self.sizes)
        self._shelf = session.ledger.shelf(self.quantity) if isinstance(session.ledger, Ledger) else None
        if self._shelf is not None and self._shelf.refusal:
            self.flags.add(f"not stored in the ledger: {self._shelf.refusal}")

    @property
    def draws(self) -> int:
        """Return the draws taken in all."""
        return sum(moments.count for moments in self.moments if moments is not None)

    def afresh(self) -> Measurement:
        """Return a new measurement of the same instance with other seeds, and at least twice the draws at every size.

        It goes on to twice the budget, since the first may have been quick by luck; it stops as soon as it has confirmed.
        """
        claim = f"{self.claim}#confirmation"
        fresh = Measurement(claim, self.instance, self.statement, self.session, self._share)
        fresh.exact, fresh.flags, fresh.watch = self.exact, self.flags, self.watch
        fresh._samplers, fresh._draws_a_block, fresh._comparable = self._samplers, self._draws_a_block, self._comparable
        factor = CONFIRMATION_FACTOR
        if self._most_draws is not None:
            fresh._most_draws = [factor * draws for draws in self._most_draws]
        else:
            spent = sum(map(math.prod, zip(self.blocks, self.spending.per_block, strict=True)))
            while 2 * factor * spent <= CONFIRMATION_FACTOR * self.spending.budget:
                factor *= 2
        fresh._blocks_planned = [factor * blocks for blocks in self.blocks]
        fresh._looks = tuple(2.0**-step for step in range((factor // CONFIRMATION_FACTOR).bit_length() - 1, -1, -1))
        return fresh

    def measure_exactly(self, digits: int) -> None:
        """Fill in the exact values, where the quantity has them."""
        if self.quantity.can_exact and all(value is None for value in self.exact):
            self.exact = [self.quantity.exact(sizes, digits) for sizes in self.sizes]

    def decided_by_draws(self, judgement: Judgement) -> bool:
        """Whether chance could be behind the verdict: no rigorous exact route refutes on its own."""
        return self.draws > 0 and not any(route.rigorous and route.verdict is Verdict.REFUTED for route in judgement.routes)

    def draw_up_to(self, fraction: float) -> None:
        """Draw whole blocks, allotted anew from what was measured so far, until the fraction of the budget is spent."""
        if self._blocks_planned is not None or self.session.draws is not None:
            wanted = [math.ceil(planned * fraction) for planned in self._fixed_blocks()]
        else:
            wanted = self.allot(self.spending.budget * fraction)
        self._draw_blocks([(index, count) for index, count in enumerate(wanted) if count > self.blocks[index]])

    def looks(self, fractions: Sequence[float]) -> tuple[float, ...]:
        """Return those of the fractions of the budget at which every size has a block; draws that are fixed are looked at once."""
        if self._blocks_planned is not None or self.session.draws is not None:
            return self._looks
        least = sum(self.spending.per_block) / self.spending.budget
        return tuple(fraction for fraction in fractions if fraction >= min(least, 1.0))

    def _draw_blocks(self, wanted: Sequence[tuple[int, int]], watch: Stopwatch | None = None) -> None:
        """Draw at each size named until it has as many blocks as wanted; all sizes share the workers.

        Under a ``watch`` no block is taken from the ledger, for its time is asked.  The draws are the same bits.
        """
        requests = [
            Request(
                self._sampler(index),
                self._key(index),
                self._draws_of(index, count),
                self._block_draws(index),
                first_block=self.blocks[index],
                initial=self.moments[index],
                bins=self.edges,
                two_sided=self.quantity.two_sided,
                store=self._shelf if watch is None or self._shelf is None else self._shelf.fresh(),
            )
            for index, count in wanted
        ]
        drawn = sample_jointly(requests, self.session.executor if watch is None else watch, self._watching())
        for (index, count), moments in zip(wanted, drawn, strict=True):
            self.moments[index], self.blocks[index] = moments, count

    def _watching(self) -> Callable[[int, int], None] | None:
        """Who is to be told of the draws of all sizes after each block."""
        watch, before = self.watch, self.draws
        return None if watch is None else lambda done, draws: watch(before + done)

    def _key(self, index: int) -> Key:
        return Key(self.session.seed, self.claim, self.instance, self.sizes[index])

    def _draws_of(self, index: int, wanted: int) -> int:
        """Draws of the blocks that are missing; where the draws are fixed, the last block is cut."""
        draws = (wanted - self.blocks[index]) * self._block_draws(index)
        if self._most_draws is None:
            return draws
        moments = self.moments[index]
        return min(draws, self._most_draws[index] - (0 if moments is None else moments.count))

    def _sampler(self, index: int) -> Any:
        if self._samplers[index] is None:
            # What is slow about samplers, such as the pilot of an annealing schedule, is made by all workers.
            self._samplers = list(self.quantity.samplers(self.sizes, self.session.executor))
        return self._samplers[index]

    def _block_draws(self, index: int) -> int:
        if self._draws_a_block[index] is None:
            self._sampler(index)  # what a draw costs may be known from its schedule only, which all workers tune
            self._draws_a_block[index] = self.quantity.block_draws(self.sizes[index])
        return self._draws_a_block[index] or 1

    def _draws_to_compare(self, index: int) -> float:
        """Return the draws from which the mean is compared; it may take moments to know, and is asked at every look."""
        if self._comparable[index] is None:
            self._comparable[index] = self.quantity.draws_to_compare(self.sizes[index])
        return self._comparable[index] or 0.0

    @functools.cached_property
    def spending(self) -> Spending:
        """What may be spent on this instance and what a block costs, settled before the first look."""
        profile = profile_named(self.session.profile)
        blocks = [self._block_draws(index) for index in range(len(self.sizes))]
        costs = [self.quantity.cost(sizes) for sizes in self.sizes]
        budget = profile.random_numbers
        if any(cost is None for cost in costs):
            costs = [*self._timings()]
            budget = profile.seconds
            self.flags.add(BY_THE_CLOCK)
        per_block = [float(cost or 0.0) * block for cost, block in zip(costs, blocks, strict=True)]
        unit = "seconds" if BY_THE_CLOCK in self.flags else "random numbers"
        return Spending(budget * self._share * self.statement.share, per_block, unit)

    def allot(self, spend: float, anew: bool = False) -> list[int]:
        """Return the blocks at every size after ``spend``, given what was drawn: the same draws give the same answer.

        ``anew`` forgets the blocks that were drawn, but not what they showed of the noise.
        """
        costs = self.spending.per_block
        along = getattr(self.statement, "along", None)
        if along is None or len(self.sizes) < 2:
            return [max(1, int(spend / cost)) for cost in costs]
        blocks = [self._block_draws(index) for index in range(len(self.sizes))]
        return planning.allocate(
            costs,
            spend,
            sizes=[sizes[along.base] for sizes in self.sizes],
            floor=1.0 if anew else self._floors(spend, blocks),
            noise=[noise * block**-0.5 for noise, block in zip(self.noise(), blocks, strict=True)],
            correction=self.statement.correction,
            amplitude=self.statement.amplitude,
            error_rate=profile_named(self.session.profile).false_support_rate,
        )

    def _floors(self, spend: float, blocks: Sequence[int]) -> list[float]:
        """The fewest blocks: what is there, enough for an error bar, and enough for the tails where that is affordable.

        Monte Carlo decides nothing where the squared skewness over the draws is large at half of the sizes or more: the cheaper
        ones see to it.
        """
        costs = self.spending.per_block
        cheaper = sorted(range(len(costs)), key=lambda index: costs[index] / blocks[index])[: len(costs) // 2 + 1]
        tails = [0.0] * len(costs)
        for index in cheaper:
            moments = self.moments[index]
            if isinstance(moments, Moments) and moments.count > 1:
                tails[index] = TAIL_MARGIN * moments.estimate().skewness ** 2 / CARRIED
        floors = [float(max(taken, 1)) for taken in self.blocks]
        for draws in ([FIRST_DRAWS] * len(costs), tails):
            raised = [max(floor, math.ceil(least / block)) for floor, least, block in zip(floors, draws, blocks, strict=True)]
            if sum(map(math.prod, zip(raised, costs, strict=True))) <= FLOOR_SHARE * spend:
                floors = raised
        return floors

    def noise(self) -> list[float]:
        """The relative standard deviation of a draw at every size: 1 where nothing was drawn, or where a law is compared."""
        return [1.0 if moments is None or self.edges is not None else _relative_noise(moments) for moments in self.moments]

    def _fixed_blocks(self) -> list[int]:
        if self._blocks_planned is None:
            self._most_draws = self._fixed_draws()
            blocks = [self._block_draws(index) for index in range(len(self.sizes))]
            self._blocks_planned = [math.ceil(draws / block) for draws, block in zip(self._most_draws, blocks, strict=True)]
        return self._blocks_planned

    def _fixed_draws(self) -> list[int]:
        fixed = self.session.draws
        draws = [fixed] * len(self.sizes) if isinstance(fixed, int) else list(fixed or ())
        if len(draws) != len(self.sizes):
            raise ValueError(f"draws must be one number or {len(self.sizes)} (one for each size), got {len(draws)}")
        return draws

    def _timings(self) -> Sequence[float]:
        """Return the seconds a draw takes at every size; a ledger remembers them, so that a restart plans the same blocks."""
        indices = range(len(self.sizes))
        if self._shelf is None:
            return [self._seconds_per_draw(index) for index in indices]
        keys = [self._key(index) for index in indices]
        seconds = self._shelf.timings(keys, lambda: [self._seconds_per_draw(index) for index in indices])
        # Where an earlier run took the time, it had a block of every size when it planned: so must this one.
        self._draw_blocks([(index, 1) for index in indices if not self.blocks[index]])
        return seconds

    def _seconds_per_draw(self, index: int) -> float:
        """Return what a draw takes where draws run: a sampler that ends its process must not end this one."""
        watch = Stopwatch(self.session.executor)
        self._draw_blocks([(index, 1)], watch)
        return max(watch.seconds, 1e-9) / self._block_draws(index)

    def points(self, exact: bool = True) -> tuple[Point, ...]:
        """Return what is known at each size, with or without the exact route."""
        made = []
        for index, (sizes, value, moments) in enumerate(zip(self.sizes, self.exact, self.moments, strict=True)):
            value = value if exact else None
            bracket = value if isinstance(value, Bracket) else None
            estimate, counts = None, None
            if isinstance(moments, TwoSidedMoments):
                # The ends go to the judge, never their middle: an interval that does not close decides nothing.
                bracket = moments.bracket()
                if moments.count < self._draws_to_compare(index):
                    bracket = replace(bracket, flags=(TAIL_UNSEEN,))
            elif moments is not None:
                estimate, counts = self._estimate(moments, index), self._counts(moments)
            made.append(Point(sizes, estimate, value if isinstance(value, Enclosure) else None, bracket, counts))
        return tuple(made)

    def _estimate(self, moments: Any, index: int) -> Estimate:
        if isinstance(self.statement, Law):
            return squared_distance(moments.histogram, self.statement.distribution.cdf)
        estimate: Estimate = moments.estimate()
        if estimate.draws < self._draws_to_compare(index):
            return replace(estimate, flags=(*estimate.flags, TAIL_UNSEEN))
        return estimate

    def _counts(self, moments: Any) -> Counts | None:
        if not isinstance(self.statement, Law):
            return None
        shown = moments.histogram.coarser(SHOWN_BINS)
        claimed = self.statement.distribution.cdf(np.array(shown.edges))
        return Counts(shown.edges, shown.counts, tuple(float(value) for value in claimed))


@dataclass(frozen=True, slots=True)
class Spending:
    """The budget of an instance and what one block costs at each size, in random numbers or in seconds."""

    budget: float
    per_block: list[float]
    unit: str = "random numbers"


def _relative_noise(moments: Any) -> float:
    """Return the standard deviation of a draw relative to the mean, or to the error of the mean where that is larger."""
    ends = (moments.low, moments.high) if isinstance(moments, TwoSidedMoments) else (moments,)
    noises = []
    for end in ends:
        estimate = end.estimate()
        if estimate.stderr == 0 or not math.isfinite(estimate.stderr):
            noises.append(0.0 if estimate.stderr == 0 else 1.0)
        else:
            noises.append(math.sqrt(estimate.draws) / max(abs(estimate.value) / estimate.stderr, 1.0))
    return max(*noises, LEAST_NOISE)


def _edges(statement: Statement) -> Any:
    """Return the bin edges at which a law is compared: quantiles of the claimed distribution."""
    if not isinstance(statement, Law):
        return None
    return tuple(quantile_edges(statement.distribution.ppf))
