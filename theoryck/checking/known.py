"""What is known of a claim's instances before anything is drawn: predictions and exact values, worked out where draws run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theoryck.checking.session import Session
from theoryck.claims.statements import Statement
from theoryck.montecarlo import PayloadError, SerialExecutor
from theoryck.records import Bracket, Enclosure, Prediction

GUARD_DIGITS = 10  # of a prediction, beyond those of the exact values that it is compared with

Exact = tuple[Enclosure | Bracket | None, ...]
Instances = Sequence[tuple[Mapping[str, Any], Statement]]


@dataclass(frozen=True, slots=True)
class Known:
    """The prediction of an instance, and its exact values at every size; None for what is to be asked for where it is needed."""

    prediction: Prediction | None = None
    exact: Exact | None = None


@dataclass(frozen=True, slots=True)
class ExactValues:
    """The exact values of a statement's quantity: a callable that travels."""

    statement: Statement
    digits: int

    def __call__(self, sizes: Mapping[str, int]) -> Enclosure | Bracket | None:
        """Return the value at ``sizes``."""
        return self.statement.measured().exact(sizes, self.digits)


@dataclass(frozen=True, slots=True)
class _WorkOut:
    """What is known of each instance: the callable that travels to the workers, for an item names an instance."""

    instances: Instances
    digits: int

    def __call__(self, index: int) -> Known:
        parameters, statement = self.instances[index]
        try:
            prediction = statement.prediction(parameters, self.digits + GUARD_DIGITS)
            if not statement.measured().can_exact:
                return Known(prediction)
            exact = ExactValues(statement, self.digits)
            return Known(prediction, tuple(exact(sizes) for sizes in statement.sizes()))
        except (Exception, SystemExit):
            return Known()  # who asks again, at its place in the run, meets the error itself


def known(instances: Instances, session: Session) -> list[Known]:
    """Return what the workers found out of each instance: an instance is one item, since its sizes share most of the work.

    One claim alone is worked out where it is: to start workers, and to import there what exact values need, takes longer than most
    of them do.  The values are the same bits.
    """
    workers = session.executor
    if workers is None or workers.workers == 1 or session.claims == 1:
        return [Known()] * len(instances)
    try:
        return list(workers.map(_WorkOut(tuple(instances), session.profile.exact_digits), range(len(instances))))
    except PayloadError:  # a statement that cannot travel is worked out here; one whose draws cannot either says so
        return [Known()] * len(instances)


def exactly(statement: Statement, digits: int) -> Exact:
    """Return the exact values at every size, worked out in this process as in a worker: with one thread, whose bits they are."""
    return tuple(SerialExecutor().map(ExactValues(statement, digits), statement.sizes()))
