"""What is to be found out before samplers can be made, such as annealing schedules: by all workers, once where claims share it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from theoryck.checking.session import Session
from theoryck.montecarlo import JobExecutor, WorkerDied
from theoryck.montecarlo.jobs import following, start, until
from theoryck.quantities.base import Quantity, Sizes
from theoryck.quantities.pilots import Pilot


async def find_out(quantity: Quantity, sizes: Sequence[Sizes], session: Session) -> None:
    """Let the workers find out what the samplers of a quantity need; what fails there is met where the samplers are made."""
    if session.executor is None or session.executor.workers == 1:
        return
    while wanted := quantity.pilots(sizes):
        if not await _keep(wanted, session):
            return


async def _keep(wanted: Sequence[Pilot], session: Session) -> bool:
    """Find out and keep what is wanted and not under way, and wait for what is; whether that went well."""
    mine = [pilot for pilot in wanted if pilot not in session.under_way]
    session.under_way.update(mine)
    try:
        results = start(session.executor, _find, mine)
        try:
            for pilot in mine:
                pilot.keep(await following(results))
                session.under_way.discard(pilot)
        finally:
            results.close()
    except WorkerDied:
        raise
    except Exception:
        return False  # who makes the samplers meets the error itself
    finally:
        session.under_way.difference_update(mine)
    await until(_Elsewhere(session, frozenset(wanted)))
    return True


def _find(pilot: Pilot) -> Any:
    return pilot()


@dataclass(frozen=True)
class _Elsewhere:
    """What another claim in work is finding out."""

    session: Session
    wanted: frozenset[Hashable]

    @property
    def ready(self) -> bool:
        return self.wanted.isdisjoint(self.session.under_way)

    def wait(self) -> None:
        assert isinstance(self.session.executor, JobExecutor)  # else it would have been found out at once
        self.session.executor.wait()
