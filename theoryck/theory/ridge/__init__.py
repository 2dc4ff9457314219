"""Ridge regression with kernels and random features: deterministic equivalents, power laws, the sphere.

Sources: Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004, for kernels and their four regimes, with the objective of
Loureiro's talk (10 April 2025); Caponnetto, De Vito (2007) for the optimum; Defilippis, Loureiro, Misiakiewicz (2024),
arXiv:2405.15699, for random features; Mei, Misiakiewicz, Montanari (2022), arXiv:2101.10588, for the sphere.

draws       Draws of ridge regression: everything but the design is integrated
limits      Deterministic equivalents of ridge regression with kernels and with random features, and the exponents of power laws
model       Spectra of kernels and targets: finitely many eigenspaces, power laws, dot-product kernels on the sphere
quantities  Risks of ridge regression as quantities along n: deterministic equivalents, and what they are equivalent to, drawn
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": (
            "KernelRidge",
            "RandomFeaturesRidge",
            "bias_exponent",
            "feature_exponents",
            "kernel_ridge_equivalent",
            "optimal_ridge",
            "optimal_ridge_exponent",
            "random_features_equivalent",
            "risk_exponent",
            "threshold_limit",
            "variance_exponent",
        ),
        "model": ("EXPONENTIAL", "FiniteSpectrum", "PowerLaw", "multiplicity", "sphere_eigenvalues", "sphere_spectrum"),
        "quantities": (
            "drawn_features_risk",
            "drawn_ridge_risk",
            "drawn_sphere_risk",
            "features_risk",
            "optimal_ridge_risk",
            "optimal_ridge_size",
            "ridge_risk",
            "sphere_features_risk",
            "sphere_risk",
        ),
    },
)
