"""A session: what all claims of one run share, the error rate they divide, their instances, and what a run reports of itself."""

from __future__ import annotations

import hashlib
import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from theoryck import planning
from theoryck.checking.profiles import PROFILES, Profile
from theoryck.claims.claim import Claim
from theoryck.claims.statements import Statement
from theoryck.ledger import Ledger
from theoryck.montecarlo import Executor, make_executor
from theoryck.records import Contract, Judgement
from theoryck.records.arguments import integer

Progress = Callable[[Mapping[str, Any]], None]

TOLD_EVERY = 0.3  # seconds, between looks


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
    known: dict[str, list[Any]] = field(default_factory=dict, init=False)
    _own: bool = field(default=False, init=False)
    _standing: tuple[str, int, int] = field(default=("", 1, 1), init=False)

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

    def begin(self, claim: str, instance: Mapping[str, Any], number: int, instances: int) -> None:
        """Report to ``progress`` that the instance of this number, counted from 1, is taken up."""
        self._standing = (claim, number, instances)
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
        if self.progress is None:
            return
        standing, number, instances = self._standing
        if claim.removesuffix("#confirmation") != standing:
            number = instances = 1  # judged again when all is measured
        where = {"event": event, "claim": claim, "instance": instance, "number": number, "instances": instances}
        self.progress({**where, "fraction": 0.0, "draws": 0, "verdict": "", "exponent": None, **said})

    def instances(self, claim: Claim) -> list[tuple[dict[str, Any], Statement]]:
        """Return the claim's instances under the session's profile and seed, made once."""
        return _instances(claim, self.profile.instances, self.structure_seed(claim))

    def structure_seed(self, claim: Claim) -> int:
        """Return the seed from which hypothesis picks the claim's instances."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}:{claim.id}".encode()).digest()[:4], "big")


_Instances = list[tuple[dict[str, Any], Statement]]
_MADE: weakref.WeakKeyDictionary[Any, dict[tuple[str, int, int], _Instances]] = weakref.WeakKeyDictionary()


def _instances(claim: Claim, most: int, seed: int) -> _Instances:
    made = _MADE.setdefault(claim.function, {})
    key = (f"{claim.id} {id(claim.strategies)}", most, seed)  # one function may serve several claims
    if key not in made:
        made[key] = claim.instances(most, seed)
    return made[key]
