"""One-dimensional projections of generated data, and the errors of students on them.

x_i = sigma(a_i . c), a_i uniform on the unit sphere of R^D, c ~ N(0, I_D); lambda = w . x/sqrt(N), |w|^2 = N; nu = w~ . c/sqrt(D),
|w~|^2 = D.  Cumulants kappa are those of the law of c at a given generator a; E averages over a, and over w where that is random.
The scale is that of E kappa_2(lambda | a): Var sigma(Z), Z ~ N(0, 1), unless weights are aligned and sigma is not odd.
Source: Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova (2021).

Both routes know the Hermite coefficients of one coordinate: draws need them for control variates of mean zero, for the formula that
a gap subtracts, and for the scale of aligned weights, where the exact route conditions on |c|.

draws       Draws of generators and latent vectors as they are: cumulants of projections, errors of students
limits      Prediction errors of two-layer students from the second moments of their local fields, and limits of projections
model       One coordinate of a generator, and the kernel of students of erf units
proved      Proved values of projections: averages over generators by Mehler's formula, and by the radius where weights are aligned
quantities  How Gaussian the projections of generated data are, and what that does to the errors of students
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": (
            "error_gap_limit",
            "localised_error_gap",
            "prediction_error",
            "projection_kurtosis_limit",
            "projection_skewness_limit",
        ),
        "quantities": (
            "joint_kurtosis",
            "joint_skewness",
            "projection_kurtosis",
            "projection_skewness",
            "projection_squared_skewness",
            "signs_error_gap",
            "squared_joint_skewness",
            "student_error",
            "student_error_gap",
        ),
    },
)
