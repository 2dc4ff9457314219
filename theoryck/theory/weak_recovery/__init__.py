"""Weak recovery of the directions of a Gaussian multi-index model, y = f(<w_1, x>, ..., <w_r, x>), by the best algorithm at n =
alpha d.

Sources: Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, "Fundamental computational limits of weak learnability in
high-dimensional multi-index models" (2024); Defilippis, Dandi, Mergny, Krzakala, Loureiro, "Optimal spectral transitions in
high-dimensional multi-index models" (2025); Mondelli, Montanari (2018) and Barbier, Krzakala, Macris, Miolane, Zdeborova (2019)
for one index.

draws       Draws of the spectral method, of message passing and of tensor unfolding in d dimensions
limits      Thresholds, state evolution, and the optimal spectral method as d grows
model       Links of multi-index models, read from a text
quantities  Thresholds and overlaps as quantities
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.matrices": ("matrix_state_evolution",),
        "limits.spectral": ("Spectral", "spectral_overlap"),
        "limits.state_evolution": ("StateEvolution", "state_evolution"),
        "limits.thresholds": ("Threshold", "weak_recovery_threshold"),
        "model": ("Link",),
        "quantities": (
            "bessel_eigenvalue",
            "first_step_cos2",
            "fixed_point",
            "full_recovery_threshold",
            "gamp_overlap",
            "recovery_eigenvalue",
            "recovery_threshold",
            "spectral_cos2",
            "spectral_limit",
            "unfolding_error",
        ),
    },
)
