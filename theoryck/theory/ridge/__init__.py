"""Ridge regression with kernels and random features: deterministic equivalents, power laws, the sphere.

draws       Draws of ridge
limits      Limits of ridge
model       Spectra of kernels and targets: what the deterministic equivalents of ridge regression ask of them, and their
            arguments
quantities  Predictions for ridge regression with kernels and random features, as quantities along n: power laws and the sphere
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "draws.design": (
            "drawn_features_risk",
            "drawn_ridge_risk",
        ),
        "draws.sphere": ("drawn_sphere_risk",),
        "limits.kernel_ridge": (
            "KernelRidge",
            "kernel_ridge_equivalent",
        ),
        "limits.power_law": (
            "PowerLaw",
            "bias_exponent",
            "feature_exponents",
            "optimal_ridge",
            "optimal_ridge_exponent",
            "risk_exponent",
            "variance_exponent",
        ),
        "limits.random_features": (
            "RandomFeaturesRidge",
            "random_features_equivalent",
        ),
        "limits.sphere": (
            "EXPONENTIAL",
            "degree_residual",
            "multiplicity",
            "sphere_eigenvalues",
            "sphere_spectrum",
            "threshold_limit",
        ),
        "model": (
            "FiniteSpectrum",
            "Spectrum",
        ),
        "quantities": (
            "features_risk",
            "optimal_ridge_risk",
            "optimal_ridge_size",
            "ridge_risk",
            "sphere_features_risk",
            "sphere_risk",
        ),
    },
)
