"""What is known of a claim's instances before anything is drawn: predictions and exact values, worked out where draws run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from theoryck.checking.interrupts import came_from_ctrl_c
from theoryck.checking.session import Session
from theoryck.claims.claim import Claim
from theoryck.claims.statements import Statement
from theoryck.montecarlo import PayloadError, SerialExecutor
from theoryck.records import Bracket, Enclosure, Prediction

GUARD_DIGITS = 10  # of a prediction, beyond those of the exact values that it is compared with

GROUP = 8  # instances a worker, of claims that are looked at ahead

Exact = tuple[Enclosure | Bracket | None, ...]
Instances = Sequence[tuple[Mapping[str, Any], Statement]]


@dataclass(frozen=True, slots=True)
class Known:
    """What is found out of an instance: its prediction and, at every size, exact values and the draws that may be compared.

    None stands for what is to be asked for where it is needed.
    """

    prediction: Prediction | None = None
    exact: Exact | None = None
    draws_to_compare: tuple[float, ...] | None = None


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
            quantity, sizes = statement.measured(), statement.sizes()
            exact = tuple(map(ExactValues(statement, self.digits), sizes)) if quantity.can_exact else None
            return Known(prediction, exact, tuple(map(quantity.draws_to_compare, sizes)) if quantity.can_draw else None)
        except (Exception, SystemExit):
            return Known()  # who asks again, at its place in the run, meets the error itself


def known(claim: Claim, session: Session) -> list[Known]:
    """Return what was found out of each instance of a claim, ahead of it or now."""
    instances = session.instances(claim)
    if claim.id not in session.known:
        session.known[claim.id] = _work_out(instances, session)
    return session.known.pop(claim.id)


def look_ahead(claims: Sequence[Claim], session: Session) -> Iterator[Claim]:
    """Yield the claims in order; what is known of several is worked out at once, so that few long items keep all workers busy."""
    waiting = deque(claims)
    while waiting:
        group, instances = list[Claim](), list[tuple[Mapping[str, Any], Statement]]()
        while waiting and len(instances) < GROUP * _workers(session):
            group.append(waiting.popleft())
            instances += _or_none(session.instances, group[-1])
        if len(group) > 1 and _workers(session) > 1:
            found = iter(_or_none(_work_out, instances, session))
            for claim in group:
                of_it = list(islice(found, len(_or_none(session.instances, claim))))
                if of_it:
                    session.known[claim.id] = of_it
        yield from group


def _or_none(work: Callable[..., list[Any]], *arguments: Any) -> list[Any]:
    """Return what work gives, and nothing where it fails: the claim whose fault it is fails at its own place."""
    try:
        return work(*arguments)
    except (Exception, SystemExit) as error:
        if came_from_ctrl_c(error):
            raise KeyboardInterrupt from error
        return []


def _workers(session: Session) -> int:
    return 1 if session.executor is None or session.claims == 1 else session.executor.workers


def _work_out(instances: Instances, session: Session) -> list[Known]:
    """Return what the workers find out of each instance: an instance is one item, since its sizes share most of the work.

    One claim alone is worked out where it is: to start workers, and to import there what exact values need, takes longer than most
    of them do.  The values are the same bits.
    """
    if session.executor is None or _workers(session) == 1:
        return [Known()] * len(instances)
    try:
        return list(session.executor.map(_WorkOut(tuple(instances), session.profile.exact_digits), range(len(instances))))
    except PayloadError:  # a statement that cannot travel is worked out here; one whose draws cannot either says so
        return [Known()] * len(instances)


def exactly(statement: Statement, digits: int) -> Exact:
    """Return the exact values at every size, worked out in this process as in a worker: with one thread, whose bits they are."""
    return tuple(SerialExecutor().map(ExactValues(statement, digits), statement.sizes()))
