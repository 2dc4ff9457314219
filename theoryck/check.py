"""The one module where claims meet measurement: budgets, looks, routes, confirmation.

A claim's instance is measured by every route its quantity offers, at the sizes of its path.  After each look (a declared
fraction of the budget) the evidence is judged with that look's share of the error rates; drawing stops as soon as the verdict is
settled.  A refutation by Monte Carlo is confirmed with a fresh seed and twice the budget before it is reported.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theoryck import __version__, planning
from theoryck.claims import Claim, Statement, describe_instance
from theoryck.claims.statements import Law
from theoryck.judge import judge
from theoryck.montecarlo import Executor, Key, make_executor, sample
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.profiles import Profile, profile_named
from theoryck.quantities import Quantity
from theoryck.records import (
    Bracket,
    Contract,
    Enclosure,
    Estimate,
    Judgement,
    Point,
    Prediction,
    Report,
    Result,
    Verdict,
)

Progress = Callable[[Mapping[str, Any]], None]

CONFIRMATION_FACTOR = 2.0
BY_THE_CLOCK = "draws set by the clock"


@dataclass
class Session:
    """What all claims of one run share: profile, seed, executor and the number of claims the error rate is divided over.

    ``draws`` fixes the number of draws (of every size, or one number for each size) instead of the profile's budget, which
    repeats a run whose budget was set by the clock.  ``progress`` is called with a mapping at every look.  Use it as a
    context manager: an executor that the session made is closed at the end.
    """

    profile: Profile | str = "quick"
    seed: int = 0
    executor: Executor | None = None
    claims: int = 1
    workers: int | None = None
    draws: int | Sequence[int] | None = None
    progress: Progress | None = None
    _own: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.profile = profile_named(self.profile)
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or self.seed < 0:
            raise ValueError(f"seed must be an integer >= 0, got {self.seed!r}")
        if self.claims < 1:
            raise ValueError(f"claims must be at least 1, got {self.claims!r}")
        fixed = () if self.draws is None else (self.draws,) if isinstance(self.draws, int) else tuple(self.draws)
        if self.draws is not None and not (fixed and all(isinstance(n, int) and n >= 2 for n in fixed)):
            raise ValueError(f"draws must be at least 2 (one number, or one for each size), got {self.draws!r}")
        if self.executor is None:
            self.executor = make_executor(self.workers)
            self._own = True

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the worker processes, if the session started them."""
        if self._own and self.executor is not None:
            self.executor.close()

    def contract(self, instances: int, within: float | None) -> Contract:
        """Return the error rates of one instance: the session's false-refute rate is divided, power is not."""
        profile = profile_named(self.profile)
        return Contract(
            false_refute_rate=planning.share(profile.false_refute_rate, self.claims * max(1, instances)),
            false_support_rate=profile.false_support_rate,
            within=within or profile.within,
            level=profile.level,
        )

    def structure_seed(self, claim: Claim) -> int:
        """Return the seed from which hypothesis picks the claim's instances."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}:{claim.id}".encode()).digest()[:4], "big")


def check_claims(
    claims: Claim | Iterable[Claim],
    profile: Profile | str = "quick",
    seed: int = 0,
    executor: Executor | None = None,
    workers: int | None = None,
    draws: int | Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Measure and judge claims and return the report; Ctrl-C returns what was finished, marked as interrupted.

    A claim whose measurement raises is reported as VACUOUS with the message, so that the others are not lost.

    >>> import theoryck as tc
    >>> @tc.theorem("example/tanh")
    ... def tanh_identity():
    ...     "rho_1 = 1 - sigma_1 for tanh"
    ...     phi = tc.Activation("tanh")
    ...     return tc.Identity(tc.quantities.rho(phi, 1), 1 - tc.quantities.sigma(phi, 1), rivals=[1])
    >>> print(check_claims(tanh_identity).results[0].verdict)
    SUPPORTED
    """
    wanted = [claims] if isinstance(claims, Claim) else list(claims)
    found: list[Result] = []
    interrupted = False
    with Session(profile, seed, executor, max(1, len(wanted)), workers, draws, progress) as session:
        for claim in wanted:
            try:
                found += check_claim(claim, session)
            except KeyboardInterrupt:
                interrupted = True
                break
            except Exception as error:
                found.append(failed_result(claim, session, error))
        return Report(profile_named(session.profile).name, seed, tuple(found), __version__, interrupted)


def failed_result(claim: Claim, session: Session, error: Exception) -> Result:
    """Return the VACUOUS result of a claim whose statement or measurement raised ``error``."""
    reason = f"nothing was tested: {type(error).__name__}: {error}"
    return _result(claim, session, {}, None, Judgement(Verdict.VACUOUS, reason), (), session.contract(1, None), 0, 0.0)


def check_claim(claim: Claim, session: Session) -> list[Result]:
    """Measure and judge every instance of one claim; errors of the user's functions are raised as they are."""
    instances = claim.instances(profile_named(session.profile).instances, session.structure_seed(claim))
    if not instances:
        reason = "no instance met the assumptions of the claim: widen its strategies or its assume()"
        contract = session.contract(1, None)
        return [_result(claim, session, {}, None, Judgement(Verdict.VACUOUS, reason), (), contract, 0, 0.0)]
    # Every prediction is made before anything is drawn: a name that is no size and no parameter is an error here.
    digits = profile_named(session.profile).exact_digits
    planned = [(parameters, statement, statement.prediction(parameters, digits + 10)) for parameters, statement in instances]
    return [_check_instance(claim, session, *plan, len(planned)) for plan in planned]


def _check_instance(
    claim: Claim, session: Session, parameters: Mapping[str, Any], statement: Statement, prediction: Prediction, instances: int
) -> Result:
    start = time.perf_counter()
    instance = describe_instance(parameters)
    contract = session.contract(instances, getattr(statement, "within", None))
    measurement = _Measurement(claim.id, instance, statement, session, 1.0 / instances)
    judgement, contract = _look_until_settled(measurement, prediction, contract, session)
    draws = measurement.draws
    if judgement.verdict is Verdict.REFUTED and measurement.decided_by_draws(judgement):
        fresh = _Measurement(f"{claim.id}#confirmation", instance, statement, session, CONFIRMATION_FACTOR / instances)
        fresh.exact = measurement.exact
        confirmed, contract = _look_until_settled(fresh, prediction, contract, session, last_look_only=True)
        draws += fresh.draws
        measurement = fresh
        judgement = _after_confirmation(judgement, confirmed)
    seconds = time.perf_counter() - start
    judgement = replace(judgement, flags=(*judgement.flags, *sorted(measurement.flags)))
    return _result(claim, session, instance, prediction, judgement, measurement.points(), contract, draws, seconds)


def _after_confirmation(first: Judgement, second: Judgement) -> Judgement:
    if second.verdict is Verdict.REFUTED:
        return replace(second, reason=f"{second.reason} (confirmed with a fresh seed and a larger budget)")
    return replace(
        second,
        verdict=Verdict.INCONCLUSIVE,
        reason="refuted at first, but a fresh seed with a larger budget did not confirm it. "
        f"First: {first.reason} Then: {second.reason}",
        settled=False,
    )


def _look_until_settled(
    measurement: _Measurement, prediction: Prediction, contract: Contract, session: Session, last_look_only: bool = False
) -> tuple[Judgement, Contract]:
    """Return the judgement and the contract of the look that gave it."""
    profile = profile_named(session.profile)
    measurement.measure_exactly(profile.exact_digits)
    looks = profile.looks
    if not measurement.quantity.can_draw:
        return judge(prediction, measurement.points(), contract), contract
    if session.draws is not None or last_look_only:
        looks = (1.0,)
    # Bonferroni over the looks: a union bound, valid however the looks depend on each other.
    paid = replace(
        contract,
        false_refute_rate=contract.false_refute_rate / len(looks),
        false_support_rate=contract.false_support_rate / len(looks),
        looks=len(looks),
    )
    judgement = None
    for fraction in looks:
        measurement.draw_up_to(fraction)
        judgement = judge(prediction, measurement.points(), paid)
        settled = judgement.settled
        if settled and profile.every_route_settles and judgement.verdict is not Verdict.REFUTED:
            settled = judge(prediction, measurement.points(exact=False), paid).settled
        if session.progress is not None:
            session.progress(
                {
                    "claim": measurement.claim,
                    "instance": measurement.instance,
                    "fraction": fraction,
                    "draws": measurement.draws,
                    "verdict": judgement.verdict.value,
                    "settled": settled,
                }
            )
        if settled:
            break
    assert judgement is not None
    return judgement, paid


class _Measurement:
    """All that is measured at one instance: exact values and running Monte Carlo moments, one entry a size."""

    def __init__(self, claim: str, instance: Mapping[str, Any], statement: Statement, session: Session, share: float) -> None:
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
        self._targets: list[int] | None = None
        self._samplers: list[Any] = [None] * len(self.sizes)

    @property
    def draws(self) -> int:
        return sum(moments.count for moments in self.moments if moments is not None)

    def measure_exactly(self, digits: int) -> None:
        if self.quantity.can_exact and all(value is None for value in self.exact):
            self.exact = [self.quantity.exact(sizes, digits) for sizes in self.sizes]

    def decided_by_draws(self, judgement: Judgement) -> bool:
        """Whether chance could be behind the verdict: no rigorous exact route refutes on its own."""
        return self.draws > 0 and not any(route.rigorous and route.verdict is Verdict.REFUTED for route in judgement.routes)

    def draw_up_to(self, fraction: float) -> None:
        """Draw whole blocks at every size until the given fraction of the budget is reached."""
        for index, target in enumerate(self._targets or self._plan()):
            block = self._block_draws(index)
            wanted = max(1, math.ceil(target * fraction / block))
            if wanted > self.blocks[index]:
                self._draw_blocks(index, wanted)

    def _draw_blocks(self, index: int, wanted: int) -> None:
        sizes = self.sizes[index]
        self.moments[index] = sample(
            self._sampler(index),
            Key(self.session.seed, self.claim, self.instance, sizes),
            draws=wanted * self._block_draws(index),
            block_draws=self._block_draws(index),
            executor=self.session.executor,
            first_block=self.blocks[index],
            initial=self.moments[index],
            bins=self.edges,
        )
        self.blocks[index] = wanted

    def _sampler(self, index: int) -> Any:
        if self._samplers[index] is None:
            self._samplers[index] = self.quantity.sampler(self.sizes[index])
        return self._samplers[index]

    def _block_draws(self, index: int) -> int:
        return self.quantity.block_draws(self.sizes[index])

    def _plan(self) -> list[int]:
        """Allot the draws of the whole budget to the sizes, once and before the first look."""
        profile = profile_named(self.session.profile)
        fixed = self.session.draws
        if fixed is not None:
            self._targets = [fixed] * len(self.sizes) if isinstance(fixed, int) else list(fixed)
            if len(self._targets) != len(self.sizes):
                raise ValueError(f"draws must be one number or {len(self.sizes)} (one for each size), got {len(self._targets)}")
            return self._targets
        costs = [self.quantity.cost(sizes) for sizes in self.sizes]
        if all(cost is not None for cost in costs):
            budget = profile.random_numbers * self._share
        else:
            costs = [self._seconds_per_draw(index) for index in range(len(self.sizes))]
            budget = profile.seconds * self._share
            self.flags.add(BY_THE_CLOCK)
        self._targets = planning.allocate([float(cost) for cost in costs if cost is not None], budget)
        return self._targets

    def _seconds_per_draw(self, index: int) -> float:
        start = time.perf_counter()
        self._draw_blocks(index, 1)
        return max(time.perf_counter() - start, 1e-9) / self._block_draws(index)

    def points(self, exact: bool = True) -> tuple[Point, ...]:
        made = []
        for sizes, value, moments in zip(self.sizes, self.exact, self.moments, strict=True):
            made.append(
                Point(
                    sizes,
                    estimate=None if moments is None else self._estimate(moments),
                    exact=value if exact and isinstance(value, Enclosure) else None,
                    bracket=value if exact and isinstance(value, Bracket) else None,
                )
            )
        return tuple(made)

    def _estimate(self, moments: Any) -> Estimate:
        if isinstance(self.statement, Law):
            return squared_distance(moments.histogram, self.statement.distribution.cdf)
        return moments.estimate()


def _edges(statement: Statement) -> Any:
    """Return the bin edges at which a law is compared: quantiles of the claimed distribution."""
    if not isinstance(statement, Law):
        return None
    return tuple(quantile_edges(statement.distribution.ppf))


def _result(
    claim: Claim,
    session: Session,
    instance: Mapping[str, Any],
    prediction: Prediction | None,
    judgement: Judgement,
    points: Sequence[Point],
    contract: Contract,
    draws: int,
    seconds: float,
) -> Result:
    profile = profile_named(session.profile)
    return Result(
        claim=claim.id,
        status=claim.status,
        instance=dict(instance),
        judgement=judgement,
        prediction=prediction,
        points=tuple(points),
        contract=contract,
        draws=draws,
        seconds=seconds,
        seed=session.seed,
        statement=claim.statement,
        reference=str(claim.reference or ""),
        repeat=repeat_command(claim, profile.name, session.seed, judgement.flags, points),
    )


def repeat_command(claim: Claim, profile: str, seed: int, flags: Sequence[str] = (), points: Sequence[Point] = ()) -> str:
    """Return the command that measures the claim again with the same seed.

    Where the clock set the budget the draws of each size are named too: with them the same bits are drawn.
    """
    command = f"theoryck check {claim.path} --only '{claim.id}' --profile {profile} --seed {seed}"
    drawn = [str(point.estimate.draws) for point in points if point.estimate is not None]
    return f"{command} --draws {','.join(drawn)}" if BY_THE_CLOCK in flags and drawn else command
