"""Deep random networks: widths and sizes, constants, moments of norms and overlaps.

Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.

certificates  Bounds of moments that are proved for every size: how they are found
draws         Markov chains that have the law of deep random networks without a weight matrix, in cache-sized pieces
limits        Limits of scaled moments as all widths grow in fixed proportions: the constants of the d_min^(-k/2) laws
model         Deep random networks: which widths, in which sizes; no number is drawn here
proved        Proved values of networks
quantities    What can be measured: moments of norms and overlaps, and the constants of their limits
strategies    Hypothesis strategies for structure: activations that satisfy the main theorem or miss one hypothesis, and width
              patterns
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": (
            "norm_moment_limit",
            "overlap_moment_limit",
        ),
        "model": (
            "DeepNetwork",
            "SizeExpression",
            "size",
        ),
        "proved.constants": (
            "NetworkConstants",
            "network_constants",
        ),
        "proved.moments": ("norm_moment",),
        "quantities": (
            "epsilon",
            "eta0",
            "gamma0",
            "norm_deviation",
            "overlap_moment",
            "rho",
            "sigma",
        ),
    },
)
