"""One giant step, and what a readout makes of it: y = g(<w*, x>), x ~ N(0, I_d), batches of n = alpha d samples.

Sources: Ba, Erdogdu, Suzuki, Wang, Wu, Yang (2022) for the spike of one step; Dandi, Krzakala, Loureiro, Pesce, Stephan (2023) for
which directions a step learns; Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala (2024) for the reuse of batches; Cui, Pesce,
Dandi, Krzakala, Lu, Zdeborova, Loureiro (2024) for spiked random features; Loureiro's talk (10 April 2025), whose equations are
derived anew here: what V(kappa), q(kappa), b and the law of y are in them is not defined there.

draws       Draws of one and two steps by their exact laws, and of ridge regression with spiked features
limits      Overlaps, the reuse of a batch, and spiked random features as d grows
model       Links, their Gaussian moments, and the features after one step
proved      Mean squared cosines at finite size
quantities  Overlaps and errors at finite sizes
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.one_step": ("hard_link_limit", "one_step_correction", "one_step_limit", "staircase_limits"),
        "limits.reuse": ("batch_reuse_limit",),
        "limits.spiked": ("spiked_limit",),
        "model": ("SpikedFeatures", "after_one_step"),
        "quantities": (
            "giant_step_error",
            "neuron_gradient",
            "one_step_norm",
            "one_step_overlap",
            "reuse_overlap",
            "spiked_error",
            "staircase_overlap",
        ),
    },
)
