"""Kernel renormalisation: Bayesian fully connected networks of finite widths, P ~ N, the data given.

Sources: Li, Sompolinsky (2021) for linear units; Pacelli, Ariosto, Pastore, Ginelli, Gherardi, Rotondo (2023) for the effective
action; Hanin, Zlokapa (2023) for deep linear networks exactly.

action      The effective action of a Bayesian network of finite widths: one order parameter a layer, saddle, predictor, losses
model       A Bayesian fully connected network and its data: kernels between inputs, labels, widths, temperature, prior precisions
proved      Proved values of renormalisation
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "action": ("RenormalisedNetwork", "bayesian_network"),
        "proved.linear": ("LinearPosterior", "linear_posterior"),
    },
)
