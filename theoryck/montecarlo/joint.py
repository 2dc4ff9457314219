"""Draw from several samplers at once, such as one quantity at all its sizes, so that few long blocks keep all workers busy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from theoryck.montecarlo.blocks import BlockStore
from theoryck.montecarlo.executors import Executor
from theoryck.montecarlo.sampling import Progress, Sampler, _BlockTask, _plan, _probed, run_blocks
from theoryck.montecarlo.seeds import Key


@dataclass(frozen=True, slots=True)
class Request:
    """What :func:`~theoryck.montecarlo.sample` takes, for one of several samplers; ``two_sided`` as in ``sample_two_sided``.

    >>> request = Request(lambda rng, draws: rng.random(draws), Key(0, "example"), draws=1000, block_draws=250)
    >>> [moments.count for moments in sample_jointly([request])]
    [1000]
    """

    sampler: Sampler
    key: Key
    draws: int
    block_draws: int
    first_block: int = 0
    initial: Any = None
    bins: Sequence[float] | None = None
    two_sided: bool = False
    store: BlockStore | None = None


def sample_jointly(requests: Sequence[Request], executor: Executor | None = None, progress: Progress | None = None) -> list[Any]:
    """Return the moments of every request, with the bits that one call of ``sample`` each would give.

    Blocks of the last requests go first: they are usually the largest sizes, and short blocks fill the gaps at the end.
    ``progress(done, draws)`` is called after each block, with the draws of all requests together.  Raises
    SamplerError as ``sample`` does; what leaves here carries ``partial`` and ``next_block``, one entry a request.

    >>> from theoryck.montecarlo import sample
    >>> def uniform(rng, draws):
    ...     return rng.random(draws)
    >>> requests = [Request(uniform, Key(0, name), 1000, 300) for name in ("one", "two")]
    >>> both = sample_jointly(requests)
    >>> both[1].estimate() == sample(uniform, Key(0, "two"), draws=1000, block_draws=300).estimate()
    True
    """
    if not requests:
        return []
    plans = [_plan(request.draws, request.block_draws, request.first_block) for request in requests]
    tasks = [
        _BlockTask(
            request.sampler,
            request.key,
            None if request.bins is None else tuple(float(edge) for edge in request.bins),
            _probed(request.first_block),
            request.two_sided,
        )
        for request in requests
    ]
    return run_blocks(
        tasks, plans, [request.initial for request in requests], executor, progress, [request.store for request in requests]
    )
