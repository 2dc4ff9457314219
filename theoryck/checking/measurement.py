"""All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was seen.

Predictions and exact values are known before anything is drawn, and worked out where draws run. A budget says how many blocks of
every size are drawn until a look: what it pays for, allotted anew from what was seen, or fixed. The drawing has whole blocks at
every size, the moments they come to, and the store that they may be found in.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theoryck import planning
from theoryck.checking.certificates import Certified, affordable, certify
from theoryck.checking.pilots import find_out
from theoryck.checking.profiles import Profile
from theoryck.checking.session import Session
from theoryck.claims.claim import Claim
from theoryck.claims.statements import Law, Statement
from theoryck.judging.evidence import CARRIED, TAIL_UNSEEN
from theoryck.ledger import Ledger
from theoryck.montecarlo import Key, PayloadError, Request, SerialExecutor, TwoSidedMoments
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.montecarlo.jobs import mapped, run
from theoryck.montecarlo.sampling import drawing_jointly
from theoryck.quantities import Quantity
from theoryck.records import Bracket, Counts, Enclosure, Estimate, Judgement, Point, Prediction, Size, Status, Verdict

GUARD_DIGITS = 10  # of a prediction, beyond those of the exact values that it is compared with

Exact = tuple[Enclosure | Bracket | None, ...]
Instances = Sequence[tuple[Mapping[str, Any], Statement]]


@dataclass(frozen=True, slots=True)
class Known:
    """What is found out of an instance: its prediction, what is proved of it and, at every size, exact values and the draws that
    may be compared.

    None stands for what is to be asked for where it is needed.
    """

    prediction: Prediction | None = None
    certified: Certified | None = None
    exact: Exact | None = None
    draws_to_compare: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExactValues:
    """The exact values of a statement's quantity: a callable that travels."""

    statement: Statement
    digits: int

    def __call__(self, sizes: Mapping[str, Size]) -> Enclosure | Bracket | None:
        """Return the value at ``sizes``."""
        return self.statement.measured().exact(sizes, self.digits)


@dataclass(frozen=True, slots=True)
class _WorkOut:
    """What is known of each instance: the callable that travels to the workers, for an item names an instance.

    ``seconds`` are those that their certificates may cost.
    """

    instances: Instances
    digits: int
    seconds: float

    def __call__(self, index: int) -> Known:
        parameters, statement = self.instances[index]
        try:
            prediction = statement.prediction(parameters, self.digits + GUARD_DIGITS)
            quantity, sizes = statement.measured(), statement.sizes()
            exact = tuple(map(ExactValues(statement, self.digits), sizes)) if quantity.can_exact else None
            compared = tuple(map(quantity.draws_to_compare, sizes)) if quantity.can_draw else None
            granted = affordable([each for _, each in self.instances], self.seconds)[index]
            proved = certify(statement, parameters, prediction) if granted else Certified()
            return Known(prediction, proved, exact, compared)
        except (Exception, SystemExit):
            return Known()  # who asks again, at its place in the run, meets the error itself


async def known(claim: Claim, session: Session) -> list[Known]:
    """Return what the workers find out of each instance of a claim, one item each, since its sizes share most of the work.

    One claim alone is worked out where it is asked for: to start workers, and to import there what exact values need, takes longer
    than most of them do.  The values are the same bits.
    """
    instances = session.instances(claim)
    if not session.several:
        return [Known()] * len(instances)
    work = _WorkOut(tuple(instances), session.profile.exact_digits, certificate_seconds(claim, session))
    try:
        return await mapped(session.executor, work, range(len(instances)))
    except PayloadError:  # a statement that cannot travel is worked out here; one whose draws cannot either says so
        return [Known()] * len(instances)


def certificate_seconds(claim: Claim, session: Session) -> float:
    """Return the seconds that the certificates of a claim may cost: none of a falsehood, which has none."""
    return 0.0 if claim.status is Status.FALSEHOOD else session.profile.certificate_seconds


def exactly(statement: Statement, digits: int) -> Exact:
    """Return the exact values at every size, worked out in this process as in a worker: with one thread, whose bits they are."""
    return tuple(SerialExecutor().map(ExactValues(statement, digits), statement.sizes()))


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
        self._spending: Spending | None = None

    async def settle(self) -> None:
        """Settle what may be spent and what a block costs, once, before the first look; a cost that none declares is timed."""
        if self._spending is not None:
            return
        drawing, profile = self.drawing, self.profile
        blocks = [drawing.block_draws(index) for index in range(len(drawing.sizes))]
        costs: Sequence[float | None] = [drawing.quantity.cost(sizes) for sizes in drawing.sizes]
        budget, unit = profile.random_numbers, "random numbers"
        if any(cost is None for cost in costs):
            costs, budget, unit = await drawing.timings(), profile.seconds, "seconds"
        per_block = [float(cost or 0.0) * block for cost, block in zip(costs, blocks, strict=True)]
        self._spending = Spending(budget * self._share * self.statement.share, per_block, unit)

    @property
    def spending(self) -> Spending:
        """What may be spent and what a block costs."""
        if self._spending is None:
            run(self.settle())
        assert self._spending is not None  # settled
        return self._spending

    @property
    def by_the_clock(self) -> bool:
        """Whether the clock has set it."""
        return self._spending is not None and self._spending.unit == "seconds"

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
        if self.statement.path() is None or len(drawing.sizes) < 2:
            return [max(1, int(spend / cost)) for cost in costs]
        axis = self.statement.axis(drawing.instance)
        blocks = [drawing.block_draws(index) for index in range(len(drawing.sizes))]
        return planning.allocate(
            costs,
            spend,
            sizes=[axis.large(sizes[axis.base]) for sizes in drawing.sizes],
            floor=1.0 if anew else self._floors(spend, blocks),
            noise=[noise * block**-0.5 for noise, block in zip(drawing.noise(), blocks, strict=True)],
            correction=self.statement.correction,
            amplitude=axis.amplitude(self.statement.amplitude),
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
            if moments is not None and not isinstance(moments, TwoSidedMoments) and moments.count > 1:
                tails[index] = TAIL_MARGIN * self.drawing.estimate(index).skewness ** 2 / CARRIED
        floors = [float(max(taken, 1)) for taken in self.drawing.blocks]
        for draws in ([max(FIRST_DRAWS, self.drawing.statistic.least_draws)] * len(costs), tails):
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


LEAST_NOISE = 1e-6  # of a draw: where all draws are equal, no other size needs to wait for this one


class Drawing:
    """Blocks of one quantity at the sizes of a path, one entry a size in every list; ``edges`` are those of a law's histogram.

    ``most`` is the largest number of draws at each size, where draws are fixed: the last block is cut to it.
    """

    def __init__(
        self,
        claim: str,
        instance: Mapping[str, Any],
        quantity: Quantity,
        sizes: Sequence[Mapping[str, Size]],
        session: Session,
        edges: Sequence[float] | None,
    ) -> None:
        self.claim, self.instance, self.session = claim, instance, session
        self.quantity, self.sizes, self.edges = quantity, sizes, edges
        self.moments: list[Any] = [None] * len(sizes)
        self.blocks = [0] * len(sizes)
        self.most: list[int] | None = None
        self.watch: Callable[[int], None] | None = None
        self.store = session.ledger.shelf(quantity) if isinstance(session.ledger, Ledger) else None
        self.statistic = quantity.reduction
        self._samplers: list[Any] = []
        self._block_draws: dict[int, int] = {}
        self._draws_to_compare: dict[int, float] = {}

    @property
    def draws(self) -> int:
        """The draws taken in all."""
        return sum(moments.count for moments in self.moments if moments is not None)

    def afresh(self, claim: str) -> Drawing:
        """Return a drawing of the same by other seeds, with the samplers that were made."""
        fresh = Drawing(claim, self.instance, self.quantity, self.sizes, self.session, self.edges)
        fresh.watch = self.watch
        fresh._samplers, fresh._block_draws, fresh._draws_to_compare = self._samplers, self._block_draws, self._draws_to_compare
        return fresh

    async def draw(self, wanted: Sequence[tuple[int, int]], seconds: list[float] | None = None) -> None:
        """Draw at each size named until it has as many blocks as wanted; all sizes share the workers.

        Where ``seconds`` are given what each size takes is added to them, and no block is taken from the store.  The draws are the
        same bits.
        """
        requests = [self._request(index, count, timed=seconds is not None) for index, count in wanted]
        drawn = await drawing_jointly(requests, self.session.executor, self._watching(), seconds)
        for (index, count), moments in zip(wanted, drawn, strict=True):
            self.moments[index], self.blocks[index] = moments, count

    def _request(self, index: int, count: int, timed: bool = False) -> Request:
        return Request(
            self._sampler(index),
            self._key(index),
            self._missing(index, count),
            self.block_draws(index),
            first_block=self.blocks[index],
            initial=self.moments[index],
            bins=self.edges,
            two_sided=self.quantity.two_sided,
            store=self.store.fresh() if timed and self.store is not None else self.store,
            statistic=self.statistic,
        )

    def _watching(self) -> Callable[[int, int], None] | None:
        """Who is to be told of the draws of all sizes after each block."""
        watch, before = self.watch, self.draws
        return None if watch is None else lambda done, draws: watch(before + done)

    def _key(self, index: int) -> Key:
        return Key(self.session.seed, self.claim, self.instance, self.sizes[index])

    def _missing(self, index: int, wanted: int) -> int:
        """Draws of the blocks that are missing; where the draws are fixed, the last block is cut."""
        draws = (wanted - self.blocks[index]) * self.block_draws(index)
        if self.most is None:
            return draws
        moments = self.moments[index]
        return min(draws, self.most[index] - (0 if moments is None else moments.count))

    async def prepare(self) -> None:
        """Make the samplers; what is slow about them is found out by all workers."""
        if not self._samplers:
            await find_out(self.quantity, self.sizes, self.session)
            self._samplers += SerialExecutor().map(self.quantity.sampler, self.sizes)  # with one thread, as in a worker

    def _sampler(self, index: int) -> Any:
        if not self._samplers:
            run(self.prepare())
        return self._samplers[index]

    def block_draws(self, index: int) -> int:
        """Return the draws of one block, asked of the quantity once."""
        if index not in self._block_draws:
            self._block_draws[index] = self.quantity.block_draws(self.sizes[index])
        return self._block_draws[index]

    def take(self, draws_to_compare: Sequence[float]) -> None:
        """Take over what was asked of the quantity elsewhere."""
        self._draws_to_compare.update(enumerate(draws_to_compare))

    def draws_to_compare(self, index: int) -> float:
        """Return the draws from which the mean may be compared with an exact value, asked of the quantity once."""
        if index not in self._draws_to_compare:
            self._draws_to_compare[index] = self.quantity.draws_to_compare(self.sizes[index])
        return self._draws_to_compare[index]

    def noise(self) -> list[float]:
        """The relative standard deviation of a draw at every size: 1 where nothing was drawn, or where a law is compared."""
        return [1.0 if moments is None or self.edges is not None else self._relative_noise(moments) for moments in self.moments]

    def estimate(self, index: int) -> Estimate:
        """Return the statistic of the draws at a size, which has some."""
        return self.statistic.estimate(self.moments[index])

    def _relative_noise(self, moments: Any) -> float:
        """Return the deviation of a draw relative to what is estimated, or to the error of that where it is larger."""
        ends = (moments.low, moments.high) if isinstance(moments, TwoSidedMoments) else (moments,)
        noises = []
        for estimate in map(self.statistic.estimate, ends):
            if estimate.stderr == 0 or not math.isfinite(estimate.stderr):
                noises.append(0.0 if estimate.stderr == 0 else 1.0)
            else:
                noises.append(math.sqrt(estimate.draws) / max(abs(estimate.value) / estimate.stderr, 1.0))
        return max(*noises, LEAST_NOISE)

    async def timings(self) -> Sequence[float]:
        """Return the seconds a draw takes at every size; a ledger remembers them, so that a restart plans the same blocks."""
        indices, keys = range(len(self.sizes)), [self._key(index) for index in range(len(self.sizes))]
        kept = None if self.store is None else self.store.timings(keys)
        if kept is not None:
            # Where an earlier run took the time, it had a block of every size when it planned: so must this one.
            await self.draw([(index, 1) for index in indices if not self.blocks[index]])
            return kept
        await self.prepare()
        seconds = [0.0] * len(self.sizes)
        await self.draw([(index, 1) for index in indices], seconds)
        taken = [max(each, 1e-9) / self.block_draws(index) for index, each in enumerate(seconds)]
        return taken if self.store is None else self.store.keep_timings(keys, taken)


SHOWN_BINS = 64  # of a law, in its picture; it is judged by all 1024
BY_THE_CLOCK = "draws set by the clock"


class Measurement:
    """All that is measured at one instance: ``exact`` values (None until they are known) and its ``drawing``, one entry a size.

    ``share`` is the instance's of the profile's budget.
    """

    def __init__(self, claim: str, instance: Mapping[str, Any], statement: Statement, session: Session, share: float) -> None:
        self.claim, self.instance, self.statement, self.session = claim, instance, statement, session
        self.quantity = statement.measured()
        self.sizes = statement.sizes()
        self.exact: Exact | None = None
        self.certified: Certified | None = None
        edges = tuple(quantile_edges(statement.distribution.ppf)) if isinstance(statement, Law) else None
        self.drawing = Drawing(claim, instance, self.quantity, self.sizes, session, edges)
        self.budget = Budget(statement, self.drawing, session.profile, share)

    @property
    def draws(self) -> int:
        """Return the draws taken in all."""
        return self.drawing.draws

    @property
    def flags(self) -> set[str]:
        """What a result has to say of how it was drawn."""
        store = self.drawing.store
        refused = {f"not stored in the ledger: {store.refusal}"} if store is not None and store.refusal else set()
        bugs = {self.certified.flag} if self.certified is not None and self.certified.flag else set()
        return refused | bugs | ({BY_THE_CLOCK} if self.budget.by_the_clock else set())

    async def prepare(self) -> None:
        """Make ready to draw: the samplers, and, unless the draws are fixed, what may be spent on them."""
        await self.drawing.prepare()
        if self.session.draws is None:
            await self.budget.settle()

    @functools.cached_property
    def _plan(self) -> Budget | Fixed:
        if self.session.draws is None:
            return self.budget
        fixed = Fixed.of(self.session.draws, self.drawing)
        self.drawing.most = fixed.most
        return fixed

    def confirmation(self) -> Measurement:
        """Return a measurement of the same instance with other seeds, and at least twice the draws at every size."""
        claim = f"{self.claim}#confirmation"
        fresh = copy.copy(self)
        fresh.claim, fresh.drawing, plan = claim, self.drawing.afresh(claim), self._plan.confirming()
        fresh._plan, fresh.drawing.most = plan, plan.most
        return fresh

    def take(self, found: Known) -> None:
        """Take over what was found out of the instance ahead."""
        self.exact, self.certified = found.exact, found.certified
        self.drawing.take(found.draws_to_compare or ())

    def measure_exactly(self, digits: int) -> None:
        """Fill in the exact values, where the quantity has them and they are not known."""
        if self.quantity.can_exact and self.exact is None:
            self.exact = exactly(self.statement, digits)

    def certify(self, parameters: Mapping[str, Any], prediction: Prediction, granted: bool) -> None:
        """Work out what is proved for every size, where that is granted and not known."""
        if self.certified is None:
            self.certified = certify(self.statement, parameters, prediction) if granted else Certified()

    def decided_by_draws(self, judgement: Judgement) -> bool:
        """Whether chance could be behind the verdict: no rigorous exact route refutes on its own."""
        return self.draws > 0 and not any(route.rigorous and route.verdict is Verdict.REFUTED for route in judgement.routes)

    async def draw_up_to(self, fraction: float) -> None:
        """Draw whole blocks, allotted anew from what was measured so far, until the fraction of the budget is spent."""
        wanted = self._plan.blocks(fraction)
        await self.drawing.draw([(index, count) for index, count in enumerate(wanted) if count > self.drawing.blocks[index]])

    def looks(self, fractions: Sequence[float]) -> tuple[float, ...]:
        """Return those of the fractions of the budget at which every size has a block; draws that are fixed are looked at once."""
        return self._plan.looks(fractions)

    def points(self, exact: bool = True) -> tuple[Point, ...]:
        """Return what is known at each size, with or without the exact route."""
        made, values = [], self.exact if exact else None
        for index, (sizes, moments) in enumerate(zip(self.sizes, self.drawing.moments, strict=True)):
            value = None if values is None else values[index]
            bracket = value if isinstance(value, Bracket) else None
            estimate, counts = None, None
            if isinstance(moments, TwoSidedMoments):
                # The ends go to the judge, never their middle: an interval that does not close decides nothing.
                bracket = moments.bracket()
                if moments.count < self.drawing.draws_to_compare(index):
                    bracket = replace(bracket, flags=(TAIL_UNSEEN,))
            elif moments is not None:
                estimate, counts = self._estimate(moments, index), self._counts(moments)
            made.append(Point(sizes, estimate, value if isinstance(value, Enclosure) else None, bracket, counts))
        return tuple(made)

    def _estimate(self, moments: Any, index: int) -> Estimate:
        if isinstance(self.statement, Law):
            return squared_distance(moments.histogram, self.statement.distribution.cdf)
        estimate = self.drawing.estimate(index)
        if estimate.draws < self.drawing.draws_to_compare(index):
            return replace(estimate, flags=(*estimate.flags, TAIL_UNSEEN))
        return estimate

    def _counts(self, moments: Any) -> Counts | None:
        if not isinstance(self.statement, Law):
            return None
        shown = moments.histogram.coarser(SHOWN_BINS)
        claimed = self.statement.distribution.cdf(np.array(shown.edges))
        return Counts(shown.edges, shown.counts, tuple(float(value) for value in claimed))
