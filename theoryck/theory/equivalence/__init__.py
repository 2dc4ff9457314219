"""Random features and their Gaussian equivalent.

    phi(W x)   against   mu_0 + mu_1 W x + mu_* xi,       x ~ N(0, I_d), W of shape (p, d), xi ~ N(0, I_p) fresh for every x.
Second moments: E_x phi(W x) phi(W x)^T is a kernel of the Gram matrix W W^T, so that no x is drawn, and the distance is the
operator norm.  Ridge: a = argmin sum_i (y_i - a . phi_i/sqrt(p))^2 + lambda |a|^2 from n samples, no noise, for a target
y = theta . t(x) of one degree: t(x) = x/sqrt(d) (degree 1) or the normalised Hermite products of degree 2.  theta ~ N(0, I) is
averaged analytically,
    E (y - a . phi/sqrt(p))^2 = 1 - 2 tr(C^T B) + tr(B^T Sigma B),   B = (Phi^T Phi/p + lambda)^(-1) Phi^T T/p,
with Sigma = E phi phi^T from the kernel and C = E phi t^T = c_k times Hermite products of the rows, so that no test input is drawn.
Both problems share W and X; what is left of the noise is reduced by control variates of mean zero.
Sources: Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova (2021); Mei, Montanari (2019).

Readouts: f(x) = norm sum_j a_j phi(w_j . x), and the rows w_j are independent of the target's direction theta (|theta| = 1,
x ~ N(0, I_d)).  Given them everything is a kernel:
    C_j = E f*(x) phi(w_j . x),   Sigma_ij = E phi(w_i . x) phi(w_j . x),   explained = 2 norm a . C - norm^2 a . Sigma a,
largest for the readout Sigma^(-1) C / norm, where it is C . Sigma^(-1) C.  For f* = h_l(theta . x), C_j = c_l (w_j . theta)^l with
the Hermite coefficient c_l of phi; for f* = (theta_1 . x)(theta_2 . x), C_j = sqrt(2) c_2 (w_j . theta_1)(w_j . theta_2).

draws       Draws of rows: distances of second moments, differences of test errors, what readouts explain
model       Random features, and the Gaussian features that are equivalent to them
quantities  How far random features are from their Gaussian equivalent, and what a readout on unlearnt rows explains of a target
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "model": ("GaussianFeatures", "RandomFeatures"),
        "quantities": (
            "best_product_gain",
            "best_readout_gain",
            "feature_covariance_gap",
            "gaussian_equivalent",
            "ridge_gap",
            "sign_readout_gain",
        ),
    },
)
