"""Shallow convolutional and locally connected networks, Bayesian, with finitely many channels: local kernel renormalisation.

Sources: Novak et al. (2019), arXiv:1810.05148, for infinitely many channels; Aiudi et al. (2025), arXiv:2307.11807, for the
effective action and its matrix order parameter; Pacelli's thesis, of which only the abstract was at hand.

draws       Draws of finite networks: filters are drawn, readouts integrated out
limits      The effective action and its saddle, infinite width, coefficients of 1/N_c, alignment of kernels with labels
model       Networks on patches, regression with them, kernels between patches
proved      The exact average over Wishart matrices, for linear units
quantities  Evidence, predictors, kernels and alignments as the number of channels grows
regression  Gaussian regression with a kernel that is linear in order parameters
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": (
            "Saddle",
            "alignment",
            "alignment_gain",
            "alignment_slope",
            "channel_corrections",
            "infinite_width",
            "saddle_point",
        ),
        "model": ("PatchNetwork", "PatchRegression", "cut_patches", "patch_kernels"),
        "quantities": (
            "action_gap",
            "alignment_growth",
            "channel_gap",
            "evidence_ratio",
            "independent_kernels",
            "patch_kernel",
            "second_layer_bias",
        ),
        "proved": ("WishartAverage", "wishart_average"),
    },
)
