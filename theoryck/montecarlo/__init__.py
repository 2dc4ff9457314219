"""Monte Carlo estimates of anything that is a sampler, a callable ``(rng, draws) -> array (draws,)``.

Five parts: which random numbers a block gets (:mod:`seeds`), what is kept of it (:mod:`moments`, :mod:`histogram`), where it runs
(:mod:`executors`, :mod:`processes`), where it is kept (:mod:`blocks`) and how blocks become one estimate (:mod:`sampling`).
Same seed, claim, instance and sizes: same bits, for any number of workers, interrupted or not.
"""

from theoryck.montecarlo.blocks import Block, BlockFormatError, BlockStore, Stream, pack, unpack
from theoryck.montecarlo.choice import available_workers, make_executor
from theoryck.montecarlo.executors import DaskExecutor, Executor, SerialExecutor
from theoryck.montecarlo.histogram import Histogram
from theoryck.montecarlo.joint import Request, sample_jointly
from theoryck.montecarlo.moments import Moments
from theoryck.montecarlo.payload import PayloadError
from theoryck.montecarlo.processes import ProcessExecutor, WorkerDied, WorkerError
from theoryck.montecarlo.sampling import Sampler, SamplerError, check_block, sample, sample_two_sided
from theoryck.montecarlo.seeds import Key, block_generator
from theoryck.montecarlo.two_sided import TwoSidedMoments

__all__ = [
    "Block",
    "BlockFormatError",
    "BlockStore",
    "DaskExecutor",
    "Executor",
    "Histogram",
    "Key",
    "Moments",
    "PayloadError",
    "ProcessExecutor",
    "Request",
    "Sampler",
    "SamplerError",
    "SerialExecutor",
    "Stream",
    "TwoSidedMoments",
    "WorkerDied",
    "WorkerError",
    "available_workers",
    "block_generator",
    "check_block",
    "make_executor",
    "pack",
    "sample",
    "sample_jointly",
    "sample_two_sided",
    "unpack",
]
