"""A session: what all claims of one run share, the error rate they divide, their instances, and what a run reports of itself."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from theoryck import planning
from theoryck.checking.profiles import PROFILES, Profile
from theoryck.claims.claim import Claim
from theoryck.claims.statements import Statement
from theoryck.ledger import Ledger
from theoryck.montecarlo import Executor, JobExecutor, make_executor
from theoryck.montecarlo.jobs import Account
from theoryck.records import Contract, Judgement
from theoryck.records.arguments import integer

Progress = Callable[[Mapping[str, Any]], None]

TOLD_EVERY = 0.3  # seconds, between looks


@dataclass
class Standing:
    """Where a claim in work stands: which of its instances, what it has taken, and, while ``silent``, what is to be told later.

    ``account`` is that of its work elsewhere, ``seconds`` are those that this process has worked for it.
    """

    claim: str = ""
    number: int = 1
    instances: int = 1
    silent: bool = False
    told: list[dict[str, Any]] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    seconds: float = 0.0
    since: float = 0.0


@dataclass
class Session:
    """What all claims of one run share: profile, seed, executor and the number of claims the error rate is divided over.

    ``draws`` fixes the number of draws (of every size, or one number for each size) instead of the profile's budget, which
    repeats a run whose budget was set by the clock.  ``progress`` is called with a mapping when an instance begins, while it is
    drawn, at every look and when a claim is done; its ``event`` says which ("instance", "draws", "look", "claim").  ``ledger``
    (a file or a Ledger) keeps every block that is drawn: what it holds is not drawn again.  Use the session as a context
    manager: an executor or a ledger that it made is closed at the end.
    """

    profile: Profile = PROFILES["quick"]
    seed: int = 0
    executor: Executor | None = None
    claims: int = 1
    workers: int | None = None
    draws: int | Sequence[int] | None = None
    progress: Progress | None = None
    ledger: Ledger | str | os.PathLike[str] | None = None
    under_way: set[Hashable] = field(default_factory=set, init=False)
    _own: bool = field(default=False, init=False)
    _standing: Standing = field(default_factory=Standing, init=False)

    def __post_init__(self) -> None:
        self.seed = integer(self.seed, "seed")
        if self.claims < 1:
            raise ValueError(f"claims must be at least 1, got {self.claims!r}")
        fixed = tuple(self.draws) if isinstance(self.draws, Sequence) else (self.draws,)
        if self.draws is not None and not (fixed and all(isinstance(n, int) and n >= 2 for n in fixed)):
            raise ValueError(f"draws must be at least 2 (one number, or one for each size), got {self.draws!r}")
        self._own_ledger = self.ledger is not None and not isinstance(self.ledger, Ledger)
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            self.ledger = Ledger(self.ledger)
        if self.executor is None:
            self.executor = make_executor(self.workers)
            self._own = True

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the worker processes and close the ledger, if the session started them."""
        if self._own and self.executor is not None:
            self.executor.close()
        if self._own_ledger and isinstance(self.ledger, Ledger):
            self.ledger.close()

    def contract(self, instances: int, within: float | None) -> Contract:
        """Return the error rates of one instance: the session's false-refute rate is divided, power is not."""
        return Contract(
            false_refute_rate=planning.share(self.profile.false_refute_rate, self.claims * max(1, instances)),
            false_support_rate=self.profile.false_support_rate,
            within=within or self.profile.within,
            level=self.profile.level,
        )

    @property
    def several(self) -> bool:
        """Whether work that is not drawing is worth a way to other processes: one claim alone is done before they have started."""
        return self.executor is not None and self.executor.workers > 1 and self.claims > 1

    @contextmanager
    def turn_of(self, standing: Standing) -> Iterator[None]:
        """Do what belongs to one of the claims in work."""
        before, self._standing, standing.since = self._standing, standing, time.perf_counter()
        shared = self.executor if isinstance(self.executor, JobExecutor) else None
        if shared is not None:
            account, shared.account = shared.account, standing.account
        try:
            yield
        finally:
            standing.seconds += time.perf_counter() - standing.since
            self._standing = before
            if shared is not None:
                shared.account = account

    def spent(self) -> float:
        """Return the seconds that have been worked for the claim whose turn it is, here and by workers; differences count."""
        standing = self._standing
        return standing.seconds + time.perf_counter() - standing.since + standing.account.seconds

    def show(self, standing: Standing) -> None:
        """Report what a claim had to tell while it was not yet waited for, and from now on what it tells."""
        standing.silent = False
        for event in standing.told:
            self._report(event)
        standing.told.clear()

    def begin(self, claim: str, instance: Mapping[str, Any], number: int, instances: int) -> None:
        """Report to ``progress`` that the instance of this number, counted from 1, is taken up."""
        self._standing.claim, self._standing.number, self._standing.instances = claim, number, instances
        self._standing.told.clear()
        self._tell("instance", claim, instance)

    def tell(self, claim: str, instance: Mapping[str, Any], draws: int, fraction: float, judgement: Judgement) -> None:
        """Report a look to ``progress``."""
        seen = {"fraction": fraction, "draws": draws, "verdict": judgement.verdict.value, "exponent": judgement.exponent}
        self._tell("look", claim, instance, **seen)

    def watch(self, claim: str, instance: Mapping[str, Any]) -> Callable[[int], None] | None:
        """Return what is called with the draws between looks; it reports several times a second, which is enough."""
        if self.progress is None:
            return None
        last = time.monotonic()

        def seen(draws: int) -> None:
            nonlocal last
            if time.monotonic() - last >= TOLD_EVERY:
                self._tell("draws", claim, instance, draws=draws)
                last = time.monotonic()

        return seen

    def end(self, claim: str) -> None:
        """Report to ``progress`` that a claim is done."""
        self._tell("claim", claim, {})

    def _tell(self, event: str, claim: str, instance: Mapping[str, Any], **said: Any) -> None:
        standing = self._standing
        same = claim.removesuffix("#confirmation") == standing.claim  # else it is judged again when all is measured
        number, instances = (standing.number, standing.instances) if same else (1, 1)
        where = {"event": event, "claim": claim, "instance": instance, "number": number, "instances": instances}
        told = {**where, "fraction": 0.0, "draws": 0, "verdict": "", "exponent": None, **said}
        if standing.silent:
            standing.told[1:] = [told]  # the beginning of an instance, and the last that was seen of it
        else:
            self._report(told)

    def _report(self, event: dict[str, Any]) -> None:
        if self.progress is not None:
            self.progress(event)

    def instances(self, claim: Claim) -> list[tuple[dict[str, Any], Statement]]:
        """Return the claim's instances under the session's profile and seed, made once."""
        return _instances(claim, self.profile.instances, claim.structure_seed(self.seed))


_Instances = list[tuple[dict[str, Any], Statement]]
_MADE: weakref.WeakKeyDictionary[Any, dict[tuple[str, int, int], _Instances]] = weakref.WeakKeyDictionary()


def _instances(claim: Claim, most: int, seed: int) -> _Instances:
    made = _MADE.setdefault(claim.function, {})
    key = (f"{claim.id} {id(claim.strategies)}", most, seed)  # one function may serve several claims
    if key not in made:
        made[key] = claim.instances(most, seed)
    return made[key]
