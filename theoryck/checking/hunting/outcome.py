"""What a hunt found, and what it did to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from theoryck.records import Result, Status


@dataclass(frozen=True)
class Trouble:
    """An instance that could not be judged: the statement or the measurement raised, or the two routes disagree.

    >>> Trouble({"depth": 3}, "ValueError: depth 3 is not implemented").to_json()["instance"]
    {'depth': 3}
    """

    instance: Mapping[str, Any]
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {"instance": dict(self.instance), "message": self.message}


@dataclass(frozen=True)
class Hunt:
    """The outcome of a hunt: the smallest confirmed counterexample, if any, and how much was tried.

    ``parameters`` are the values of the claim's arguments at the counterexample, ``found`` its judged evidence.  ``rate`` is the
    declared probability to find anything in a claim that is true; ``confirmation_rates`` has the shares of it that were spent.
    ``rejected``: so many different arguments did not meet the claim's assumptions; ``exhausted``: the strategies generated no
    further instance.

    >>> Hunt("example", Status.CONJECTURE, "quick", 0, 0.01, tried=2, supported=2).exit_code
    0
    """

    claim: str
    status: Status
    profile: str
    seed: int
    rate: float
    seconds: float = 0.0
    tried: int = 0
    supported: int = 0
    undecided: int = 0
    vacuous: int = 0
    candidates: int = 0
    unconfirmed: int = 0
    confirmation_rates: tuple[float, ...] = ()
    draws: int = 0
    found: Result | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None
    shrinks: int = 0
    troubles: tuple[Trouble, ...] = ()
    rejected: int = 0
    exhausted: bool = False
    interrupted: bool = False
    closest: tuple[Mapping[str, Any], float] | None = None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 a counterexample was found, 3 no instance could be judged, 0 otherwise."""
        if self.interrupted:
            return 130
        return 1 if self.found is not None else 0 if self.judged else 3

    @property
    def judged(self) -> int:
        """Judgements that could have refuted an instance, whatever came of them."""
        return self.supported + self.undecided + len(self.confirmation_rates)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        counts = ("tried", "supported", "undecided", "vacuous", "candidates", "unconfirmed", "draws", "shrinks", "rejected")
        closest = None if self.closest is None else {"instance": dict(self.closest[0]), "score": self.closest[1]}
        return {
            "claim": self.claim,
            "status": self.status.value,
            "profile": self.profile,
            "seed": self.seed,
            "false_find_rate": self.rate,
            "confirmation_rates": list(self.confirmation_rates),
            "seconds": self.seconds,
            **{name: getattr(self, name) for name in counts},
            "exhausted": self.exhausted,
            "interrupted": self.interrupted,
            "troubles": [trouble.to_json() for trouble in self.troubles],
            "closest": closest,
            "first": None if self.first is None else dict(self.first),
            "found": None if self.found is None else self.found.to_json(),
        }
