"""Monte Carlo estimates of anything that is a sampler, a callable ``(rng, draws) -> array (draws,)``.

Same seed, claim, instance and sizes: same bits, for any number of workers, interrupted or not.

    blocks      what is kept of one block, how it is written as bytes, and the store in which it may be found again
    choice      which executor a number of workers asks for
    cluster     blocks on a Dask cluster
    columns     statistics of many blocks as columns, merged in bulk with the same bits
    distances   the distance of a histogram from a law, without bias
    executors   what an executor is, and the one that runs blocks in this process
    histogram   counts between fixed edges
    jobs        several maps at once on one bounded queue, and coroutines that wait for their results
    moments     moments of streams, merged without loss, and the largest values
    notices     what Dask logs and warns of during a run, in our words
    payload     how a function travels to another process
    processes   worker processes, kept for a session
    ranks       order statistics of streams, and quantiles with an error free of any law
    sampling    blocks that are drawn, checked and merged into one estimate, of one sampler or of several that share the workers
    seeds       which random numbers a block gets
    spread      moments of squared deviations, and the variance
    statistics  what is made of draws: a mean, a quantile, a variance, a probability
    timing      the seconds that a function takes where it runs
    two_sided   moments of draws that bracket their quantity from both sides
    worker      what a worker process does
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "blocks": ("Block", "BlockFormatError", "BlockStore", "Stream", "pack", "unpack"),
        "choice": ("available_workers", "make_executor"),
        "cluster": ("ClusterError", "DaskExecutor", "connect"),
        "executors": ("Executor", "SerialExecutor"),
        "histogram": ("Histogram",),
        "jobs": ("JobExecutor", "WorkerDied", "WorkerError"),
        "moments": ("Moments",),
        "payload": ("PayloadError",),
        "processes": ("ProcessExecutor",),
        "ranks": ("Ranks",),
        "sampling": ("Request", "Sampler", "SamplerError", "check_block", "sample", "sample_jointly", "sample_two_sided"),
        "seeds": ("Key", "block_generator"),
        "spread": ("Spread",),
        "statistics": ("MEAN", "Statistic"),
        "two_sided": ("TwoSidedMoments",),
    },
)
