"""All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was seen."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from theoryck import planning
from theoryck.claims import Statement
from theoryck.claims.statements import Law
from theoryck.ledger import Ledger
from theoryck.montecarlo import Executor, Key, Request, TwoSidedMoments, sample_jointly
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.profiles import Profile, profile_named
from theoryck.quantities import Quantity
from theoryck.rates.evidence import TAIL_UNSEEN
from theoryck.records import Bracket, Enclosure, Estimate, Judgement, Point, Verdict

CONFIRMATION_FACTOR = 2
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
        self._share = share
        self._blocks_planned: list[int] | None = None
        self._most_draws: list[int] | None = None
        self._samplers: list[Any] = [None] * len(self.sizes)
        self._shelf = session.ledger.shelf(self.quantity) if isinstance(session.ledger, Ledger) else None
        if self._shelf is not None and self._shelf.refusal:
            self.flags.add(f"not stored in the ledger: {self._shelf.refusal}")

    @property
    def draws(self) -> int:
        """Return the draws taken in all."""
        return sum(moments.count for moments in self.moments if moments is not None)

    def afresh(self) -> Measurement:
        """Return a new measurement of the same instance: other seeds, and more draws at every size than this one took."""
        claim = f"{self.claim}#confirmation"
        fresh = Measurement(claim, self.instance, self.statement, self.session, self._share)
        fresh.exact, fresh.flags = self.exact, self.flags
        fresh._blocks_planned = [CONFIRMATION_FACTOR * blocks for blocks in self.blocks]
        if self._most_draws is not None:
            fresh._most_draws = [CONFIRMATION_FACTOR * draws for draws in self._most_draws]
        return fresh

    def measure_exactly(self, digits: int) -> None:
        """Fill in the exact values, where the quantity has them."""
        if self.quantity.can_exact and all(value is None for value in self.exact):
            self.exact = [self.quantity.exact(sizes, digits) for sizes in self.sizes]

    def decided_by_draws(self, judgement: Judgement) -> bool:
        """Whether chance could be behind the verdict: no rigorous exact route refutes on its own."""
        return self.draws > 0 and not any(route.rigorous and route.verdict is Verdict.REFUTED for route in judgement.routes)

    def draw_up_to(self, fraction: float) -> None:
        """Draw whole blocks at every size until the given fraction of the budget is reached."""
        if self._blocks_planned is None:
            self._blocks_planned = self._plan()
        wanted = [max(1, math.ceil(planned * fraction)) for planned in self._blocks_planned]
        self._draw_blocks([(index, count) for index, count in enumerate(wanted) if count > self.blocks[index]])

    def _draw_blocks(self, wanted: Sequence[tuple[int, int]], reuse: bool = True) -> None:
        """Draw at each size named until it has as many blocks as wanted; all sizes share the workers.

        Without ``reuse`` the ledger is left alone: blocks that are timed are drawn.
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
                store=self._shelf if reuse else None,
            )
            for index, count in wanted
        ]
        for (index, count), moments in zip(wanted, sample_jointly(requests, self.session.executor), strict=True):
            self.moments[index], self.blocks[index] = moments, count

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
        return self.quantity.block_draws(self.sizes[index])

    def _plan(self) -> list[int]:
        """Allot the blocks of the whole budget to the sizes, once and before the first look."""
        profile = profile_named(self.session.profile)
        blocks = [self._block_draws(index) for index in range(len(self.sizes))]
        if self.session.draws is not None:
            self._most_draws = self._fixed_draws()
            return [math.ceil(draws / block) for draws, block in zip(self._most_draws, blocks, strict=True)]
        costs = [self.quantity.cost(sizes) for sizes in self.sizes]
        budget = profile.random_numbers * self._share
        if any(cost is None for cost in costs):
            costs = [*self._timings()]
            budget = profile.seconds * self._share
            self.flags.add(BY_THE_CLOCK)
        per_block = [float(cost or 0.0) * block for cost, block in zip(costs, blocks, strict=True)]
        along = getattr(self.statement, "along", None)
        if along is None or len(self.sizes) < 2:
            return [max(1, int(budget / cost)) for cost in per_block]
        return planning.allocate(
            per_block,
            budget,
            sizes=[sizes[along.base] for sizes in self.sizes],
            noise=[block**-0.5 for block in blocks],
            correction=self.statement.correction,
            amplitude=self.statement.amplitude,
        )

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
        return self._shelf.timings(keys, lambda: [self._seconds_per_draw(index) for index in indices])

    def _seconds_per_draw(self, index: int) -> float:
        start = time.perf_counter()
        self._draw_blocks([(index, 1)], reuse=False)
        return max(time.perf_counter() - start, 1e-9) / self._block_draws(index)

    def points(self, exact: bool = True) -> tuple[Point, ...]:
        """Return what is known at each size, with or without the exact route."""
        made = []
        for sizes, value, moments in zip(self.sizes, self.exact, self.moments, strict=True):
            value = value if exact else None
            bracket = value if isinstance(value, Bracket) else None
            estimate = None
            if isinstance(moments, TwoSidedMoments):
                # The ends go to the judge, never their middle: an interval that does not close decides nothing.
                bracket = moments.bracket()
                if moments.count < self.quantity.draws_to_compare(sizes):
                    bracket = replace(bracket, flags=(TAIL_UNSEEN,))
            elif moments is not None:
                estimate = self._estimate(moments, sizes)
            made.append(Point(sizes, estimate, value if isinstance(value, Enclosure) else None, bracket))
        return tuple(made)

    def _estimate(self, moments: Any, sizes: Mapping[str, int]) -> Estimate:
        if isinstance(self.statement, Law):
            return squared_distance(moments.histogram, self.statement.distribution.cdf)
        estimate: Estimate = moments.estimate()
        if estimate.draws < self.quantity.draws_to_compare(sizes):
            return replace(estimate, flags=(*estimate.flags, TAIL_UNSEEN))
        return estimate


def _edges(statement: Statement) -> Any:
    """Return the bin edges at which a law is compared: quantiles of the claimed distribution."""
    if not isinstance(statement, Law):
        return None
    return tuple(quantile_edges(statement.distribution.ppf))
