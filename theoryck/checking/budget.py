"""How many blocks of every size are drawn until a look: what a budget pays for, allotted anew from what was seen, or fixed."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from theoryck import planning
from theoryck.checking.drawing import Drawing
from theoryck.checking.profiles import Profile
from theoryck.claims.statements import Statement
from theoryck.judging.evidence import CARRIED
from theoryck.montecarlo import Moments

CONFIRMATION_FACTOR = 2
FIRST_DRAWS = 64  # of every size at the first look, if blocks allow: from then on noise is measured
TAIL_MARGIN = 1.5  # a skewness that was measured is rather too small
FLOOR_SHARE = 0.5  # of what is spent until a look: floors that cost more are not granted


@dataclass(frozen=True, slots=True)
class Spending:
    """The budget of an instance and what one block costs at each size, in random numbers or in seconds."""

    budget: float
    per_block: list[float]
    unit: str = "random numbers"


class Budget:
    """What may be spent on a drawing: the profile's budget, times the instance's share of it and the statement's own."""

    def __init__(self, statement: Statement, drawing: Drawing, profile: Profile, share: float) -> None:
        self.statement, self.drawing, self.profile = statement, drawing, profile
        self._share = share

    @functools.cached_property
    def spending(self) -> Spending:
        """What may be spent and what a block costs, settled before the first look; a cost that none declares is timed."""
        drawing, profile = self.drawing, self.profile
        blocks = [drawing.block_draws(index) for index in range(len(drawing.sizes))]
        costs: Sequence[float | None] = [drawing.quantity.cost(sizes) for sizes in drawing.sizes]
        budget, unit = profile.random_numbers, "random numbers"
        if any(cost is None for cost in costs):
            costs, budget, unit = drawing.timings(), profile.seconds, "seconds"
        per_block = [float(cost or 0.0) * block for cost, block in zip(costs, blocks, strict=True)]
        return Spending(budget * self._share * self.statement.share, per_block, unit)

    @property
    def by_the_clock(self) -> bool:
        """Whether the clock has set it."""
        return "spending" in vars(self) and self.spending.unit == "seconds"

    def looks(self, fractions: Sequence[float]) -> tuple[float, ...]:
        """Return those of the fractions of the budget at which every size has a block."""
        least = sum(self.spending.per_block) / self.spending.budget
        return tuple(fraction for fraction in fractions if fraction >= min(least, 1.0))

    def blocks(self, fraction: float) -> list[int]:
        """Return the blocks of every size after a fraction of the budget."""
        return self.allot(self.spending.budget * fraction)

    def allot(self, spend: float, anew: bool = False) -> list[int]:
        """Return the blocks at every size after ``spend``, given what was drawn: the same draws give the same answer.

        ``anew`` forgets the blocks that were drawn, but not what they showed of the noise.
        """
        costs, drawing = self.spending.per_block, self.drawing
        path = self.statement.path()
        if path is None or len(drawing.sizes) < 2:
            return [max(1, int(spend / cost)) for cost in costs]
        blocks = [drawing.block_draws(index) for index in range(len(drawing.sizes))]
        return planning.allocate(
            costs,
            spend,
            sizes=[sizes[path.base] for sizes in drawing.sizes],
            floor=1.0 if anew else self._floors(spend, blocks),
            noise=[noise * block**-0.5 for noise, block in zip(drawing.noise(), blocks, strict=True)],
            correction=self.statement.correction,
            amplitude=self.statement.amplitude,
            error_rate=self.profile.false_support_rate,
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
            moments = self.drawing.moments[index]
            if isinstance(moments, Moments) and moments.count > 1:
                tails[index] = TAIL_MARGIN * moments.estimate().skewness ** 2 / CARRIED
        floors = [float(max(taken, 1)) for taken in self.drawing.blocks]
        for draws in ([FIRST_DRAWS] * len(costs), tails):
            raised = [max(floor, math.ceil(least / block)) for floor, least, block in zip(floors, draws, blocks, strict=True)]
            if sum(map(math.prod, zip(raised, costs, strict=True))) <= FLOOR_SHARE * spend:
                floors = raised
        return floors

    def confirming(self) -> Fixed:
        """Return at least twice the blocks at every size, and on to twice the budget: the first may have been quick by luck."""
        factor, blocks = CONFIRMATION_FACTOR, self.drawing.blocks
        spent = sum(map(math.prod, zip(blocks, self.spending.per_block, strict=True)))
        while 2 * factor * spent <= CONFIRMATION_FACTOR * self.spending.budget:
            factor *= 2
        steps = range((factor // CONFIRMATION_FACTOR).bit_length() - 1, -1, -1)
        return Fixed([factor * count for count in blocks], tuple(2.0**-step for step in steps))


@dataclass(frozen=True, slots=True)
class Fixed:
    """Blocks that are given, and the fractions of them at which is looked; ``most`` draws cut the last block of a size."""

    planned: list[int]
    fractions: tuple[float, ...] = (1.0,)
    most: list[int] | None = None

    @classmethod
    def of(cls, draws: int | Sequence[int], drawing: Drawing) -> Fixed:
        """Return the blocks of so many draws of every size, or of each; ValueError for another number of them."""
        most = [draws] * len(drawing.sizes) if isinstance(draws, int) else list(draws)
        if len(most) != len(drawing.sizes):
            raise ValueError(f"draws must be one number or {len(drawing.sizes)} (one for each size), got {len(most)}")
        return cls([math.ceil(count / drawing.block_draws(index)) for index, count in enumerate(most)], most=most)

    def looks(self, fractions: Sequence[float]) -> tuple[float, ...]:
        """Return its own fractions."""
        return self.fractions

    def blocks(self, fraction: float) -> list[int]:
        """Return the blocks of every size after a fraction of them."""
        return [math.ceil(count * fraction) for count in self.planned]

    def confirming(self) -> Fixed:
        """Return twice the blocks, looked at once."""
        most = None if self.most is None else [CONFIRMATION_FACTOR * count for count in self.most]
        return Fixed([CONFIRMATION_FACTOR * count for count in self.planned], most=most)
