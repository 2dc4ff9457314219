"""The search itself: tries on small budgets, confirmations that decide, and hypothesis to propose and to shrink."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from theoryck.checking.check import check_claim
from theoryck.checking.hunting.outcome import Hunt, Trouble
from theoryck.checking.interrupts import came_from_ctrl_c
from theoryck.checking.profiles import Profile, profile_named
from theoryck.checking.session import Session
from theoryck.claims.claim import Claim, describe_instance
from theoryck.claims.statements import Statement
from theoryck.ledger import LedgerError
from theoryck.montecarlo import Executor, make_executor
from theoryck.records import Kind, Point, Result, Toward, Verdict

LEVELS = (1 / 64, 1 / 16, 1 / 4)
"""Parts of what a check spends on one instance: every instance is tried on the first, the promising ones on the others."""

DEFAULT_SECONDS = 60.0

PROMISING = 1 / 4
"""The part of all instances tried at one level that goes on to the next."""

TRY_RATE = 0.05
"""The rate at which a try names a candidate.  It is no error rate of the hunt: candidates are confirmed on other draws."""

TRY_LOOKS = (1 / 4, 1.0)
FIRST_ROUND = 20  # instances; hypothesis turns to the highest scores in the second half of a round, and rounds double
LARGEST_ROUND = 640
MOST_BARREN = 10  # rounds in a row of which no instance met the assumptions; then a hunt without a clock ends
SHRINKING = 1 / 4  # of the time given, at least, is left for making a counterexample smaller

Progress = Callable[[Mapping[str, Any]], None]


class HuntError(ValueError):
    """A claim in which there is nothing to search, or a budget that is none.

    >>> import theoryck as tc
    >>> @tc.conjecture("example/alone")
    ... def alone():
    ...     "sigma_1 = 1 for phi(x) = x"
    ...     return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1)
    >>> hunt(alone)
    Traceback (most recent call last):
        ...
    theoryck.checking.hunting.search.HuntError: claim 'example/alone' has no generated arguments, so there is nothing to search:
    put for example @tc.for_all(depth=integers(1, 4)) directly below its decorator, or measure it as it is with theoryck check
    """


class _Over(BaseException):
    """Time or tries are spent; not an Exception, so that hypothesis lets it through."""


class _Counterexample(AssertionError):
    """Raised to hypothesis for an instance that is confirmed, so that it looks for a simpler one."""


def confirmation_rate(rate: float, number: int) -> float:
    """Return the false-refute rate of the ``number``-th confirmation, rate / (k (k + 1)); over all k they sum to ``rate``.

    >>> round(sum(confirmation_rate(0.01, k) for k in range(1, 100_000)), 6)
    0.01
    """
    return rate / (number * (number + 1))


def hunt(
    claim: Claim,
    profile: Profile | str = "quick",
    seed: int = 0,
    seconds: float | None = None,
    tries: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Hunt:
    """Search the instances of a claim for one that is REFUTED, for about so many ``seconds`` or at most so many ``tries``.

    Without either it is a minute; with ``tries`` alone the clock plays no part, and the same seed tries the same instances on the
    same draws (unless the clock sets the budget of a sampler).  One try is never cut short.  Ctrl-C returns what was found so far.
    Raises HuntError for a claim without generated arguments.

    >>> import theoryck as tc
    >>> from hypothesis.strategies import integers
    >>> @tc.conjecture("example/moments")
    ... @tc.for_all(k=integers(1, 9))
    ... def moments(k):
    ...     "E Z^(2k) <= 100 for Z ~ N(0, 1)"
    ...     return tc.Bound(tc.networks.sigma(tc.Activation(f"x**{k}"), 1), at_most=100, rivals=[0])
    >>> found = hunt(moments, tries=20)
    >>> found.exit_code, dict(found.parameters)
    (1, {'k': 4})
    """
    if not claim.strategies:
        raise HuntError(
            f"claim {claim.id!r} has no generated arguments, so there is nothing to search: put for example "
            "@tc.for_all(depth=integers(1, 4)) directly below its decorator, or measure it as it is with theoryck check"
        )
    if seconds is None:
        seconds = DEFAULT_SECONDS if tries is None else math.inf
    elif not (seconds > 0 and math.isfinite(seconds)):
        raise HuntError(f"seconds must be a positive number, got {seconds!r}")
    if tries is not None and tries < 1:
        raise HuntError(f"tries must be at least 1, got {tries!r}")
    own = executor is None
    workforce = make_executor(workers) if executor is None else executor
    try:
        hunter = _Hunter(claim, profile_named(profile), seed, seconds, tries, workforce, progress)
        return hunter.run()
    finally:
        if own:
            with suppress(KeyboardInterrupt):  # the hunt is over, and its outcome stays
                workforce.close()


@dataclass
class _Single(Session):
    """A session for one instance that is given, whatever the claim would generate."""

    only: list[tuple[dict[str, Any], Statement]] = field(default_factory=list)

    def instances(self, claim: Claim) -> list[tuple[dict[str, Any], Statement]]:
        return self.only


@dataclass
class _Hunter:
    """The state of one hunt; an instance is tried once, and its outcome remembered: hypothesis may ask again."""

    claim: Claim
    profile: Profile
    seed: int
    seconds: float
    tries: int | None
    executor: Executor
    progress: Progress | None
    counts: dict[str, int] = field(default_factory=dict)
    refuted: dict[str, tuple[Result, dict[str, Any]] | None] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    scores: list[list[float]] = field(default_factory=lambda: [[] for _ in LEVELS])
    scored: dict[str, float] = field(default_factory=dict)
    troubles: dict[str, Trouble] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)
    rates: list[float] = field(default_factory=list)
    found: list[Result] = field(default_factory=list)
    smallest: tuple[Result, dict[str, Any]] | None = None
    closest: tuple[Mapping[str, Any], float] | None = None
    asked: int = 0
    level: int = 0
    reached: int = 0
    start: float = 0.0
    deadline: float = 0.0

    def run(self) -> Hunt:
        self.start = time.monotonic()
        self.deadline = self.start + self.seconds
        exhausted = interrupted = False
        try:
            exhausted = self._search()
        except _Over:  # what was found until now is the outcome
            exhausted = False
        except KeyboardInterrupt:
            interrupted = True
        result, parameters = self.smallest or (None, {})
        return Hunt(
            claim=self.claim.id,
            status=self.claim.status,
            profile=self.profile.name,
            seed=self.seed,
            rate=self.profile.false_refute_rate,
            seconds=time.monotonic() - self.start,
            tried=len(self.refuted),
            **{name: self.counts.get(name, 0) for name in ("supported", "undecided", "vacuous", "draws")},
            candidates=len(self.rates),
            unconfirmed=len(self.rates) - len(self.found),
            confirmation_rates=tuple(self.rates),
            found=result,
            parameters=parameters,
            first=self.found[0].instance if self.found else None,
            shrinks=max(len(self.found) - 1, 0),
            troubles=tuple(self.troubles.values()),
            rejected=len(self.rejected),
            exhausted=exhausted,
            interrupted=interrupted,
            closest=self.closest,
        )

    def _search(self) -> bool:
        """Return whether the strategies had no more to offer before the time was over and without a find."""
        from hypothesis.errors import HypothesisException, Unsatisfiable

        for example in self.claim.examples:
            try:
                self._attempt(dict(example))
            except _Counterexample:  # the author's own instance: it is as small as he wants it
                return False
            except HypothesisException:  # it does not meet the assumptions, and is counted
                continue
        size, idle, barren = FIRST_ROUND, 0, 0
        for number in itertools.count():
            met, seen, asked = len(self.paths), len(self.paths) + len(self.rejected), self.asked
            try:
                if self._round(number, size):
                    return False
                filtered = False
            except Unsatisfiable:  # where filters let nothing through, another round may have something
                filtered = self.asked == asked
            idle = 0 if filtered or len(self.paths) + len(self.rejected) > seen else idle + 1
            barren = 0 if len(self.paths) > met else barren + 1
            if idle == 2 or (barren >= MOST_BARREN and math.isinf(self.seconds)):
                return idle == 2
            self._check_time()
            size = min(2 * size, LARGEST_ROUND)
        raise AssertionError("a hunt ends by time")

    def _round(self, number: int, size: int) -> bool:
        """Let hypothesis propose ``size`` instances, the last ones near the highest scores; return whether one is confirmed.

        Raises Unsatisfiable where hypothesis gave up, because next to nothing met the assumptions.
        """
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis import seed as fixed
        from hypothesis.errors import HypothesisException, Unsatisfiable
        from hypothesis.strategies import fixed_dictionaries

        @fixed(_seed(self.seed, self.claim.id, f"round {number}"))
        @settings(
            max_examples=size,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(fixed_dictionaries(dict(self.claim.strategies)))
        def attempt(chosen: dict[str, Any]) -> None:
            self._attempt({name: chosen[name] for name in self.claim.strategies})

        try:
            attempt()
        except _Counterexample:
            return True
        except Unsatisfiable:
            raise
        except HypothesisException as error:
            raise HuntError(
                f"claim {self.claim.id!r} cannot be searched (hypothesis: {type(error).__name__}): its arguments must be generated "
                "before its function is called, so use no data() and nothing that changes from call to call"
            ) from error
        return False

    def _attempt(self, parameters: dict[str, Any]) -> None:
        """Try an instance along each of its paths; raise _Counterexample if one of them is confirmed REFUTED."""
        from hypothesis import currently_in_test_context, target
        from hypothesis.errors import HypothesisException

        self.asked += 1
        named = _key(describe_instance(parameters))
        if named not in self.paths:
            single = replace(self.claim, strategies={}, examples=(parameters,))
            try:
                each = single.instances(1)
            except HypothesisException:  # the assumptions are not met
                self.rejected.add(named)
                self._check_over()
                raise
            except (Exception, SystemExit) as error:
                self._trouble(named, describe_instance(parameters), error)
                each = []
            for given, statement in each:
                key = _key(describe_instance(given))
                self._check_over()
                result = self._try(key, given, statement)
                self.refuted[key] = None if result is None else (result, parameters)
                if result is not None:
                    break
            self.paths[named] = [_key(describe_instance(given)) for given, _ in each]
        for key in self.paths[named]:
            known = self.refuted.get(key)
            if known is not None:
                self.smallest = known  # hypothesis asks last for the smallest one it knows of
                raise _Counterexample(key)
        scores = [self.scored[key] for key in self.paths[named] if key in self.scored]
        if scores and currently_in_test_context():
            target(max(scores))

    def _check_over(self) -> None:
        self._check_time()
        if self.tries is not None and len(self.refuted) >= self.tries and not self.found:
            raise _Over

    def _check_time(self) -> None:
        if time.monotonic() >= self.deadline:
            raise _Over

    def _try(self, key: str, given: dict[str, Any], statement: Statement) -> Result | None:
        """Return the confirmed refutation of one instance, or None."""
        try:
            result = self._rise(key, given, statement)
            if result.verdict is not Verdict.REFUTED:
                self._count(result)
                return None
            return self._confirm(given, statement)
        except LedgerError:
            raise
        except (Exception, SystemExit) as error:
            self._trouble(key, describe_instance(given), error)
            return None

    def _rise(self, key: str, given: dict[str, Any], statement: Statement) -> Result:
        """Try an instance on the first level, and on the next ones while it is promising."""
        for level in range(self.level, len(LEVELS)):
            result = self._measure(
                given, statement, LEVELS[level], TRY_RATE, _seed(self.seed, self.claim.id, f"level {level}"), TRY_LOOKS
            )
            if result.verdict is Verdict.REFUTED:
                self.reached = level
                return result
            score = closeness(result)
            if score is not None:
                self.scored[key] = score
                if self.closest is None or score > self.closest[1]:
                    self.closest = (result.instance, score)
            if result.verdict is not Verdict.INCONCLUSIVE or not self._promising(level, score):
                return result
        return result

    def _promising(self, level: int, score: float | None) -> bool:
        """Whether a score is in the highest quarter of those seen at its level; without scores every fourth instance is.

        Of what is simpler than a find, each may be one: all are.
        """
        if self.found:
            return True
        seen = self.scores[level]
        seen.append(-math.inf if score is None else score)
        if score is None:
            return len(seen) % round(1 / PROMISING) == 1
        return sum(other > score for other in seen) < PROMISING * len(seen)

    def _confirm(self, given: dict[str, Any], statement: Statement) -> Result | None:
        """Return what fresh draws say, on all that a check spends on an instance, if they refute."""
        rate = confirmation_rate(self.profile.false_refute_rate, len(self.rates) + 1)
        self.rates.append(rate)
        result = self._measure(given, statement, 1.0, rate, self.seed, self.profile.looks)
        if "routes-disagree" in result.judgement.flags:
            raise RuntimeError(result.reason)  # a fault of one of them, which says nothing about the claim
        if result.verdict is not Verdict.REFUTED:
            self._count(result)
            return None
        if not self.found:  # what it took to see the first is what a simpler one is tried on, and time is left for that
            self.level = self.reached
            self.deadline = max(self.deadline, time.monotonic() + SHRINKING * self.seconds)
        self.found.append(result)
        return result

    def _measure(
        self, given: dict[str, Any], statement: Statement, part: float, rate: float, seed: int, looks: tuple[float, ...]
    ) -> Result:
        part = part / self.profile.instances
        profile = replace(
            self.profile,
            random_numbers=self.profile.random_numbers * part,
            seconds=self.profile.seconds * part,
            false_refute_rate=rate,
            looks=looks,
            every_route_settles=False,
        )
        session = _Single(profile, seed, self.executor, only=[(given, statement)])
        (result,) = check_claim(self.claim, session)
        self.counts["draws"] = self.counts.get("draws", 0) + result.draws
        self._tell(result)
        return result

    def _count(self, result: Result) -> None:
        names = {Verdict.VACUOUS: "vacuous", Verdict.SUPPORTED: "supported", Verdict.CERTIFIED: "supported"}
        name = names.get(result.verdict, "undecided")
        self.counts[name] = self.counts.get(name, 0) + 1

    def _trouble(self, key: str, instance: Mapping[str, Any], error: BaseException) -> None:
        if came_from_ctrl_c(error):
            raise KeyboardInterrupt from error
        lines = str(error).splitlines()
        self.troubles.setdefault(key, Trouble(dict(instance), f"{type(error).__name__}: {lines[0] if lines else ''}"))

    def _tell(self, result: Result) -> None:
        if self.progress is not None:
            self.progress(
                {
                    "claim": self.claim.id,
                    "instance": result.instance,
                    "verdict": result.verdict.value,
                    "tried": len(self.refuted),
                    "candidates": len(self.rates),
                    "found": len(self.found),
                    "left": None if math.isinf(self.seconds) else max(self.deadline - time.monotonic(), 0.0),
                }
            )


def closeness(result: Result) -> float | None:
    """Return how far an instance measures on the wrong side of what is claimed, or None if that is unknown.

    Of a rate it is the measured exponent minus the claimed one (of a scaling its size), of a pointwise bound the logarithm of the
    measured constant over the claimed one, of a value the distance at the largest size relative to it.
    """
    judgement, prediction = result.judgement, result.prediction
    if prediction is None:
        return None
    if judgement.exponent is not None and judgement.claimed_exponent is not None:
        gap = judgement.exponent.estimate - judgement.claimed_exponent
        gap = gap if prediction.toward is Toward.INFINITY else -gap
        return _finite(abs(gap) if prediction.kind is Kind.SCALING else gap)
    if prediction.constant and judgement.constant is not None and judgement.constant.estimate > 0:
        return _finite(math.log(judgement.constant.estimate / prediction.constant))
    values = [value for point in result.points if (value := _value(point)) is not None]
    if not values:
        return None
    if prediction.value is not None:
        claimed = float(prediction.value.midpoint)
        return _finite(abs(values[-1] - claimed) / (abs(claimed) or 1.0))
    return _finite(math.asinh(max(values))) if prediction.kind is Kind.BOUND else None


def _value(point: Point) -> float | None:
    if point.exact is not None:
        return float(point.exact.midpoint)
    return None if point.estimate is None else point.estimate.value


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _key(instance: Mapping[str, Any]) -> str:
    return json.dumps(instance, sort_keys=True)


def _seed(seed: int, claim: str, what: str) -> int:
    """A seed of its own for everything that is not a confirmation; those draw with the seed that was given, as a check does."""
    return int.from_bytes(hashlib.sha256(f"hunt:{seed}:{claim}:{what}".encode()).digest()[:6], "big")
