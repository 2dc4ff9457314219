"""The draws of one instance: whole blocks at every size, the moments they come to, and the store that they may be found in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from theoryck.checking.session import Session
from theoryck.ledger import Ledger
from theoryck.montecarlo import Key, Request, TwoSidedMoments, sample_jointly
from theoryck.montecarlo.timing import Stopwatch
from theoryck.quantities import Quantity

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
        sizes: Sequence[Mapping[str, int]],
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

    def draw(self, wanted: Sequence[tuple[int, int]], watch: Stopwatch | None = None) -> None:
        """Draw at each size named until it has as many blocks as wanted; all sizes share the workers.

        Under a ``watch`` no block is taken from the store, for its time is asked.  The draws are the same bits.
        """
        requests = [
            Request(
                self._sampler(index),
                self._key(index),
                self._missing(index, count),
                self.block_draws(index),
                first_block=self.blocks[index],
                initial=self.moments[index],
                bins=self.edges,
                two_sided=self.quantity.two_sided,
                store=self.store if watch is None or self.store is None else self.store.fresh(),
            )
            for index, count in wanted
        ]
        drawn = sample_jointly(requests, self.session.executor if watch is None else watch, self._watching())
        for (index, count), moments in zip(wanted, drawn, strict=True):
            self.moments[index], self.blocks[index] = moments, count

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

    def _sampler(self, index: int) -> Any:
        if not self._samplers:
            # What is slow about samplers, such as the pilot of an annealing schedule, is made by all workers.
            self._samplers += self.quantity.samplers(self.sizes, self.session.executor)
        return self._samplers[index]

    def block_draws(self, index: int) -> int:
        """Return the draws of one block, asked of the quantity once."""
        if index not in self._block_draws:
            if type(self.quantity).samplers is not Quantity.samplers:
                self._sampler(index)  # the cost of a draw is known from its schedule only, which all workers tune
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
        return [1.0 if moments is None or self.edges is not None else _relative_noise(moments) for moments in self.moments]

    def timings(self) -> Sequence[float]:
        """Return the seconds a draw takes at every size; a ledger remembers them, so that a restart plans the same blocks."""
        indices = range(len(self.sizes))
        if self.store is None:
            return [self._seconds_per_draw(index) for index in indices]
        keys = [self._key(index) for index in indices]
        seconds = self.store.timings(keys, lambda: [self._seconds_per_draw(index) for index in indices])
        # Where an earlier run took the time, it had a block of every size when it planned: so must this one.
        self.draw([(index, 1) for index in indices if not self.blocks[index]])
        return seconds

    def _seconds_per_draw(self, index: int) -> float:
        """Return what a draw takes where draws run: a sampler that ends its process must not end this one."""
        watch = Stopwatch(self.session.executor)
        self.draw([(index, 1)], watch)
        return max(watch.seconds, 1e-9) / self.block_draws(index)


def _relative_noise(moments: Any) -> float:
    """Return the standard deviation of a draw relative to the mean, or to the error of the mean where that is larger."""
    ends = (moments.low, moments.high) if isinstance(moments, TwoSidedMoments) else (moments,)
    noises = []
    for end in ends:
        estimate = end.estimate()
        if estimate.stderr == 0 or not math.isfinite(estimate.stderr):
            noises.append(0.0 if estimate.stderr == 0 else 1.0)
        else:
            noises.append(math.sqrt(estimate.draws) / max(abs(estimate.value) / estimate.stderr, 1.0))
    return max(*noises, LEAST_NOISE)
