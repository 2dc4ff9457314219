"""One-dimensional projections of generated data, and the errors of students on them.

draws       Monte Carlo route for projections: generators and latent vectors are drawn as they are, nothing about their law is
            used
limits      Limits of projections
proved      Proved values of projections
quantities  What can be measured of projections
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.prediction_errors": ("prediction_error",),
        "limits.projections": (
            "error_gap_limit",
            "localised_error_gap",
            "projection_kurtosis_limit",
            "projection_skewness_limit",
        ),
        "quantities.annealed": ("signs_error_gap",),
        "quantities.cumulants": (
            "joint_kurtosis",
            "joint_skewness",
            "projection_kurtosis",
            "projection_skewness",
            "projection_squared_skewness",
            "squared_joint_skewness",
        ),
        "quantities.errors": (
            "student_error",
            "student_error_gap",
        ),
    },
)
