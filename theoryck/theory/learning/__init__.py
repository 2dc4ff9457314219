"""Teacher and student: information, free entropy and errors of networks and of their equivalent linear model.

Source of the setting: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.

certificates  Bounds of linear networks for every size: the information gap, the variance of the free entropy
draws         Draws of learning
limits        Limits of learning
methods       How each kind of quantity is measured in each regime: one table of samplers, and the exact values
model         Teacher and student: what is learned, from how many samples, through which readout and noise; no number is drawn
problem       A teacher-student setting at given sizes, as plain numbers: what every method is handed, whole
proved        Proved values of learning
quantities    What can be measured: free entropy, mutual information, generalisation error, the path between two models
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.glm": (
            "GlmLimit",
            "glm_limit",
            "teacher_limit",
        ),
        "limits.linear": (
            "deep_linear_error_limit",
            "deep_linear_gap_limit",
            "free_entropy_variance_limit",
            "learned_share",
            "linear_error",
            "linear_information",
            "ridge_error",
            "scalar_mode_divergence",
        ),
        "limits.nonlinear": (
            "covariance_gap_limit",
            "one_layer_error_limit",
            "one_layer_gap_limit",
            "one_layer_linear_error_limit",
            "one_sample_gap_limit",
        ),
        "model": ("TeacherStudent",),
        "proved.linear_model": (
            "glm_error",
            "glm_information",
            "wishart_log_determinant",
            "wishart_resolvent",
        ),
        "proved.one_sample": (
            "norm_transform",
            "one_sample_gap",
            "one_sample_glm_information",
            "one_sample_information",
        ),
        "quantities": (
            "LearningQuantity",
            "covariance_gap",
            "free_entropy",
            "free_entropy_variance",
            "generalisation_error",
            "generalisation_gap",
            "gibbs_error",
            "interpolation",
            "linear_predictor_gap",
            "mutual_information",
            "mutual_information_gap",
            "nishimori_defect",
        ),
    },
)
