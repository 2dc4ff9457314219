"""Kernel renormalisation: Bayesian fully connected networks of finite widths, P ~ N, the data given.

Sources: Li, Sompolinsky (2021) for linear units; Pacelli, Ariosto, Pastore, Ginelli, Gherardi, Rotondo (2023) for the effective
action; Hanin, Zlokapa (2023) for deep linear networks exactly.

cumulant    The first order in 1/N of log Z: the fourth cumulant of the outputs, contracted with the labels
draws       Draws of Bayesian networks: densities of the labels given the weights of the hidden layers, over that of the Gaussian
            process
limits      Limits of renormalisation: the effective action, its integral, and where it misses something
model       A Bayesian fully connected network and its data: kernels between inputs, labels, widths, temperature, prior precisions
posterior   The posterior of one hidden layer on labels of the network itself: log Z and the predictor's loss from below and from
            above
proved      Proved values of renormalisation
quantities  What can be measured of Bayesian networks of finite width: evidences over those of simpler laws, and what an action
            misses
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.action": ("RenormalisedNetwork", "bayesian_network"),
        "limits.mixture": ("ScaleMixture", "scale_mixture"),
        "limits.orthogonal": ("OrthogonalLimit", "orthogonal_limit"),
        "model": ("NetworkTask",),
        "proved.few_points": ("FewPointsPosterior", "few_points_posterior", "first_order"),
        "proved.linear": ("LinearPosterior", "linear_posterior", "spectrum_posterior"),
        "quantities": ("action_divergence", "evidence_ratio", "missing_part", "orthogonal_ratio", "predictor_loss"),
    },
)
