"""Wide networks: the kernels of infinite width (NNGP, NTK), and what a finite width adds to kernels and outputs.

draws       Draws of wide networks: kernels at finite width, and statistics of the output
limits      Infinitely wide networks: the kernel of the output's Gaussian law (NNGP) and of gradient descent (NTK), in float64
model       Two inputs and a wide network above them, all widths but one; no number is drawn here
proved      Proved values of wide
quantities  What can be measured of wide networks: kernels between two inputs, and the law of the output on one random input
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": (
            "gaussian_process",
            "wide_kernels",
        ),
        "proved.kernels": ("wide_pair",),
        "proved.output_law": (
            "norm_bias",
            "norm_bias_limit",
            "output_distance_limit",
            "output_kurtosis_limit",
        ),
        "quantities": (
            "kernel_deviation",
            "nngp",
            "ntk",
            "output",
            "output_bias",
            "output_cumulant",
            "output_distance",
            "output_kurtosis",
        ),
    },
)
