"""Online learning in time: two-layer students of two-layer teachers, a fresh sample a step.

Sources: Saad and Solla (1995) and Biehl and Schwarze (1995) for independent inputs; Goldt, Loureiro, Reeves, Krzakala, Mezard,
Zdeborova (2021), arXiv:2006.14709, for inputs of a generator x = G(c), with the teacher on c.  The slides of the latter have three
slips in the equations, which are corrected here (see :mod:`theoryck.theory.dynamics.limits`).

draws       Runs of the algorithm: the Markov chain of order parameters for Gaussian inputs, whole generators
linear_pieces  Gaussian means of piecewise linear networks, by moments on orthants of up to four fields
limits      The equations for q(rho), r(rho) and v, their Gaussian means, and trajectories
model       Task, start, and generators reduced to the spectrum of their inputs
quantities  Errors and order parameters of runs along N, and how far they are from the equations
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": ("online_means", "trajectory"),
        "model": (
            "OnlineTask",
            "OrderParameters",
            "deep_covariances",
            "from_covariances",
            "generator_coefficients",
            "one_layer",
        ),
        "quantities": ("generated_error", "linear_error", "online_bias", "online_order", "online_variance"),
    },
)
