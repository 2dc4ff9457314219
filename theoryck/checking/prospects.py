"""What the budget of a profile can see of a claim, before it is spent: for ``theoryck plan``, and for what is said at collection.

Only statements about growth along a path (a Bound without a constant, a Scaling) have an exponent to plan for; others are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from theoryck import planning
from theoryck.checking.ahead import Ahead
from theoryck.checking.measurement import Measurement
from theoryck.checking.pilots import find_out
from theoryck.checking.session import Session
from theoryck.claims.claim import Claim, describe_instance
from theoryck.claims.statements import Bound, Scaling, Statement
from theoryck.judging import tolerated
from theoryck.judging.case import Claimed
from theoryck.montecarlo.jobs import run
from theoryck.planning import Experiment
from theoryck.rates.directions import Axis
from theoryck.records import Contract, Size, Status

NUMBERS_PER_SECOND = 7e7
"""Random numbers drawn and used in a second by one core, roughly."""

ALLOTMENT_GAIN = 2.0
"""What the best allotment saves over draws proportional to noise over the root of the cost, at most and roughly."""

LARGEST_FACTOR = 1e6
"""Budgets beyond this many times the profile's are not worth naming."""


@dataclass(frozen=True)
class Prospect:
    """What a budget can do for one instance; costs and budgets are in random numbers, or in seconds where the clock sets them.

    ``support_budget`` supports a true and tight claim with probability ``power``, and so rejects its nearest rival, ``rival`` away;
    ``violation_budget`` refutes one wrong by ``violation``; both are infinite where no budget up to a million times the profile's
    does.  ``hopeless``: at the profile's budget a true claim is supported less than half of the time, even one without corrections.
    """

    claim: str
    instance: Mapping[str, Any]
    exact: bool
    unit: str
    base: str
    sizes: tuple[Size, ...]
    cost: tuple[float, ...]
    noise: tuple[float, ...]
    noise_measured: bool
    draws: tuple[int, ...]
    budget: float
    within: float
    power: float
    stderr: float
    violation_seen: float
    rival: float | None
    support_budget: float
    hopeless: bool
    violation: float | None = None
    violation_budget: float | None = None
    advice: str = field(default="")

    def seconds(self, budget: float) -> float:
        """Return roughly the seconds of one core that a budget takes."""
        return budget if self.unit == "seconds" else budget / NUMBERS_PER_SECOND

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict; what is infinite becomes None."""
        data = asdict(self)
        data["support_seconds"] = self.seconds(self.support_budget)
        return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in data.items()}


def plannable(statement: Statement) -> bool:
    """Whether a statement is about an exponent that draws are to show."""
    growth = isinstance(statement, Scaling) or (isinstance(statement, Bound) and statement.constant is None)
    return growth and bool(statement.paths()) and statement.measured().can_draw


def predicted(claim: Claim, session: Session) -> list[tuple[dict[str, Any], Statement]]:
    """Return the claim's instances; raises what check will where one that is :func:`plannable` claims what cannot be judged."""
    instances = session.instances(claim)
    for parameters, statement in instances:
        if plannable(statement):
            statement.prediction(parameters)
    return instances


def prospect(
    claim: Claim,
    session: Session,
    parameters: Mapping[str, Any],
    statement: Statement,
    instances: int,
    *,
    power: float = 0.9,
    violation: float | None = None,
    pilot: bool = True,
) -> Prospect:
    """Plan one instance; ``pilot`` draws a few blocks to measure the noise of a draw.

    Raises ValueError for a statement that is not :func:`plannable`.
    """
    if not plannable(statement):
        raise ValueError(f"claim {claim.id!r} states no exponent along a path that draws could show: there is nothing to plan")
    measurement = Measurement(f"{claim.id}#pilot", describe_instance(parameters), statement, session, 1.0 / instances)
    run(measurement.prepare())
    prediction = statement.prediction(parameters)
    contract = tolerated(prediction, statement.sizes(), session.contract(instances, statement.within))
    looks = planning.looks(contract, measurement.looks(session.profile.looks))
    if pilot:
        run(measurement.draw_up_to(looks[0].fraction))
    else:
        # The clock may have taken a block of every size: its draws are not a pilot, and their noise is not asked.
        measurement.drawing.moments = [None] * len(measurement.sizes)
    rival = Claimed.of(prediction).nearest(statement.sizes())
    case = _Case(measurement, statement, looks[-1].contract, power, rival - contract.within)
    spending = measurement.budget.spending
    budget = spending.budget
    error = case.error(budget)
    # At even odds what is within reach of the estimate decides, and the estimate of a claim without corrections is not biased.
    unlikely = error.decision_reach(case.contract.false_support_rate) > case.contract.within
    unlikely = unlikely or not _rejects(error, case.contract, case.two_sided, case.room)
    support = case.least(case.settle, 1.0, budget)
    needed = None
    if violation is not None:
        needed = case.least(case.refute, violation - case.contract.within, budget)
    blocks = [measurement.drawing.block_draws(index) for index in range(len(measurement.sizes))]
    return Prospect(
        claim=claim.id,
        instance=measurement.instance,
        exact=measurement.quantity.can_exact,
        unit=spending.unit,
        base=case.base,
        sizes=tuple(case.sizes),
        cost=tuple(cost / block for cost, block in zip(spending.per_block, blocks, strict=True)),
        noise=tuple(measurement.drawing.noise()),
        noise_measured=pilot,
        draws=tuple(case.draws(budget)),
        budget=budget,
        within=case.contract.within,
        power=power,
        stderr=error.stderr,
        violation_seen=case.contract.within + case.refute(budget),
        rival=rival if math.isfinite(rival) else None,
        support_budget=support,
        hopeless=unlikely,
        violation=violation,
        violation_budget=needed,
        advice=planning.what_helps(statement.correction) if math.isinf(support) else "",
    )


@dataclass(frozen=True)
class _Case:
    """A measurement as an experiment: what a budget makes of the error of the exponent."""

    measurement: Measurement
    statement: Statement
    contract: Contract
    power: float
    room: float

    def draws(self, budget: float) -> list[int]:
        blocks = self.measurement.budget.allot(budget, anew=True)
        return [count * self.measurement.drawing.block_draws(index) for index, count in enumerate(blocks)]

    def error(self, budget: float) -> Any:
        options = {"correction": self.statement.correction, "amplitude": self.axis.amplitude(self.statement.amplitude)}
        large = [self.axis.large(size) for size in self.sizes]
        experiment = Experiment.of(large, noise=self.measurement.drawing.noise(), **options)
        return experiment.error([float(count) for count in self.draws(budget)])

    @property
    def base(self) -> str:
        return self.axis.base

    @property
    def axis(self) -> Axis:
        return self.statement.axis(self.measurement.instance)

    @property
    def sizes(self) -> list[Size]:
        return [sizes[self.base] for sizes in self.measurement.sizes]

    @property
    def two_sided(self) -> bool:
        return isinstance(self.statement, Scaling)

    def settle(self, budget: float) -> float:
        """Return what a true claim needs to be supported, and its nearest rival to be rejected, in units of what there is."""
        error, options = self.error(budget), {"two_sided": self.two_sided}
        supports = planning.supporting_reach(error, self.contract, self.power, **options)
        rejects = planning.rejecting_reach(error, self.contract, self.power, **options)
        return max(supports / self.contract.within, rejects / self.room if self.room > 0 else math.inf)

    def refute(self, budget: float) -> float:
        return planning.refuting_reach(self.error(budget), self.contract, self.power, two_sided=self.two_sided)

    def least(self, reach: Any, allowed: float, budget: float) -> float:
        """Return the smallest budget, to 2%, at which ``reach`` is within what is ``allowed``; inf if there is none."""
        low, high = sum(self.measurement.budget.spending.per_block), budget * LARGEST_FACTOR
        if allowed > 0 and reach(low) <= allowed:  # one block at every size is the least there is
            return low
        if not allowed > 0 or not reach(high) <= allowed:
            return math.inf
        while high > 1.02 * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if reach(middle) <= allowed else (middle, high)
        return high


def hopeless(claims: Iterable[Claim], session: Session) -> Iterator[list[str]]:
    """Yield for each claim nothing, or the line that the profile's budget cannot settle it, with the budget that could.

    Nothing is drawn.  A draw scatters as much as its mean unless the quantity declares its ``relative_noise``.  Left out are claims
    with an exact route, samplers whose cost only the clock knows, falsehoods (nobody declared by how much they are wrong), and a
    claim that cannot be built: checking it says why.
    """
    with Ahead(session, claims, lambda claim: _hopeless(claim, session)) as ahead:
        for _, lines in ahead:
            yield lines


async def _hopeless(claim: Claim, session: Session) -> list[str]:
    if claim.status is Status.FALSEHOOD:
        return []
    factors = []
    try:
        instances = session.instances(claim)
        for parameters, statement in instances:
            if plannable(statement) and not statement.measured().can_exact and await _priced(statement, session):
                factors.append(_factor(claim, session, parameters, statement, len(instances)))
    except (Exception, SystemExit) as error:
        return [f"{claim.id}: an instance cannot be built ({type(error).__name__}), which checking it will tell in full"]
    bad = [factor for factor in factors if factor > 1]
    if not bad:
        return []
    which = "" if len(bad) == len(instances) else f" ({len(bad)} of {len(instances)} instances)"
    start = f"{claim.id}{which}: the budget of {session.profile.name} cannot settle it if the rate is attained"
    if math.isinf(max(bad)):
        return [f"{start}, nor can a larger one: {planning.what_helps(instances[0][1].correction)}"]
    return [f"{start}: about {max(bad):.2g} times as much could"]


def _factor(
    claim: Claim, session: Session, parameters: Mapping[str, Any], statement: Statement, instances: int, least: float = 1.0
) -> float:
    """Return how many times the budget an even chance to support a true claim takes, at least ``least``.

    Draws go to every size in the simple way, and half of what that takes is asked for: the best allotment needs no less.
    """
    measurement = Measurement(claim.id, describe_instance(parameters), statement, session, 1.0 / instances)
    quantity, spending = measurement.quantity, measurement.budget.spending
    blocks = [measurement.drawing.block_draws(index) for index in range(len(measurement.sizes))]
    noise = [quantity.relative_noise(sizes) or 1.0 for sizes in measurement.sizes]
    units = planning.allocate(spending.per_block, spending.budget, noise=[each * block**-0.5 for each, block in zip(noise, blocks)])
    axis = statement.axis(parameters)
    large = [axis.large(sizes[axis.base]) for sizes in measurement.sizes]
    amplitude = axis.amplitude(statement.amplitude)
    experiment = Experiment.of(large, noise=noise, correction=statement.correction, amplitude=amplitude)
    prediction = statement.prediction(parameters)
    whole = tolerated(prediction, measurement.sizes, session.contract(instances, statement.within))
    contract = planning.looks(whole, session.profile.looks)[-1].contract
    room = Claimed.of(prediction).nearest(measurement.sizes) - contract.within

    def settles(factor: float) -> bool:
        draws = [factor * ALLOTMENT_GAIN * count * block for count, block in zip(units, blocks, strict=True)]
        # The estimate of a claim without corrections is not biased: at even odds what is within reach of it decides.
        error = experiment.error(draws)
        supports = error.decision_reach(contract.false_support_rate) <= contract.within
        return supports and _rejects(error, contract, isinstance(statement, Scaling), room)

    low, high = least, LARGEST_FACTOR
    if settles(low):
        return low
    if not settles(high):
        return math.inf
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


async def _priced(statement: Statement, session: Session) -> bool:
    quantity, sizes = statement.measured(), statement.sizes()
    await find_out(quantity, sizes, session)  # what a draw costs may be known from its schedule only
    return all(quantity.cost(each) is not None for each in sizes)


def _rejects(error: Any, contract: Contract, two_sided: bool, room: float) -> bool:
    """Whether an estimate that is not biased rejects, at even odds, a rival that is off by ``room`` more than is tolerated."""
    return planning.rejecting_reach(error, contract, 0.5, two_sided=two_sided) - error.bias <= room


def plan_claim(
    claim: Claim, session: Session, *, power: float = 0.9, violation: float | None = None, pilot: bool = True
) -> list[Prospect]:
    """Plan every instance of a claim whose statement is :func:`plannable`."""
    instances = session.instances(claim)
    return [
        prospect(claim, session, parameters, statement, len(instances), power=power, violation=violation, pilot=pilot)
        for parameters, statement in instances
        if plannable(statement)
    ]


@dataclass(frozen=True)
class Cost:
    """What checking a claim takes of one core, in seconds: its first look, about what a true claim takes, and the most.

    What an exponent takes is planned, at even odds; what other statements take is not known before they are drawn, and is the most.
    The most is the whole budget; a claim that is refuted takes as much again, to be confirmed.
    """

    claim: str
    folder: str
    least: float
    usual: float
    most: float


def costs(claims: Iterable[Claim], session: Session) -> Iterator[Cost]:
    """Yield what each claim may take; nothing is drawn, and the exact values that decide a claim before it draws are not counted.

    A claim that cannot be built costs nothing: checking it says why.
    """
    for claim in claims:
        yield _cost(claim, session)


def _cost(claim: Claim, session: Session) -> Cost:
    least = usual = most = 0.0
    try:
        instances = predicted(claim, session)
    except (Exception, SystemExit):  # checking the claim tells it in full
        instances = []
    for parameters, statement in instances:
        quantity, sizes, share = statement.measured(), statement.sizes(), statement.share / len(instances)
        if not quantity.can_draw:
            continue
        first, whole = 0.0, session.profile.random_numbers * share / NUMBERS_PER_SECOND
        if quantity.pilots(sizes):
            likely = whole  # what a draw costs is known when its schedule is, which takes long to find out
        elif any(quantity.cost(each) is None for each in sizes):
            likely = whole = session.profile.seconds * share  # the clock says when it has had enough
        else:
            measurement = Measurement(claim.id, describe_instance(parameters), statement, session, 1.0 / len(instances))
            first = sum(measurement.budget.spending.per_block) / NUMBERS_PER_SECOND
            whole = likely = max(first, whole)
            if whole > first and plannable(statement):
                likely = max(first, whole * min(1.0, _factor(claim, session, parameters, statement, len(instances), first / whole)))
        least, usual, most = least + first, usual + likely, most + whole
    return Cost(claim.id, claim.file.parent.name, least, usual, most)
