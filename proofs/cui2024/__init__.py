"""Feature learning in two-layer networks after one gradient step.  Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro (2024).

Setting.   x ~ N(0, I_d), y = g(<w*, x>).  One giant step from w_j ~ N(0, I/d), a^0 = 1, on b = alpha_0 d samples, with rate eta;
           then ridge regression on a fresh batch: min_a sum_i (y_i - f(x_i))^2 + lambda |a|^2, f = p^(-1/2) sum_j a_j s(<w^1_j,
           x>), n = alpha d, p = beta d.
Claim.     W^1 acts like c W + r 1 v^T, v along X^T y: given kappa = <v, x> a feature acts like mu_0(kappa) + mu_1(kappa) <w_j, x> +
           mu_2(kappa) xi_j, and training and test errors tend to the solution of a system of equations for V_1, V_2, q_1, q_2,
           zeta, psi, m.
Words changed.  On the slides of the talk V(kappa), q(kappa), b and the law of y are not defined, the spectral density is that of
           singular values where its eigenvalues' is needed, kappa denotes both <v, x> and <v, theta*>, "W + r u v" is an outer
           product, and the powers of rho and beta cannot be recovered.  The system here is derived anew:
           theoryck.theory.giant_step.limits.spiked.
Constants. r = eta E s' (A^2 + B/alpha_0)^(1/2), gamma = <v, w*> = A (A^2 + B/alpha_0)^(-1/2), c^2 = 1 + eta^2 B Var(s')/alpha_0,
           with A = E y z, B = E y^2.

Contents
    spiked        errors with features that have a spike; without one they are random features, which the covariate model describes
    giant_step    errors after a step that is made, and what is gained on linear predictors
    falsehoods    twins: no spike, terms of the equations left out
"""

from theoryck import Reference

CUI2024 = Reference(
    "Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro",
    2024,
    "Asymptotics of feature learning in two-layer networks after one gradient-step",
    arxiv="2402.04980",
)
