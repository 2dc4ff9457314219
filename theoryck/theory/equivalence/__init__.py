"""Random features and their Gaussian equivalent.

model       Random features, and the Gaussian features that are equivalent to them; no number is drawn before a generator is
            given
quantities  What can be measured of equivalence
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "model": (
            "GaussianFeatures",
            "RandomFeatures",
        ),
        "quantities.gaps": (
            "feature_covariance_gap",
            "gaussian_equivalent",
            "ridge_gap",
        ),
        "quantities.readout": (
            "best_product_gain",
            "best_readout_gain",
            "sign_readout_gain",
        ),
    },
)
