"""Hermite expansions of feature maps, and means of products over a Gaussian pair.

proved      Moments of the inner product of two independent unit vectors, through Gamma functions as balls
quantities  What can be measured of hermite
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "quantities.expansions": (
            "feature_mean",
            "feature_noise",
            "feature_slope",
            "hermite_coefficient",
            "hermite_entry",
            "hermite_overlap",
            "hermite_polynomial",
            "hermite_rms",
        ),
        "quantities.pairs": (
            "correlation_derivative",
            "correlation_series",
            "gradient_at_start",
            "gradient_series",
            "pair_mean",
            "spherical_gradient",
        ),
    },
)
