"""Spectra of conjugate kernels of deep random networks.  Fan, Wang (2020), arXiv:2005.11879.

Setting.   X has d_0 x n independent N(0, 1/d_0) entries, x_0 = X,  x_l = phi(W_l x_{l-1}) / sqrt(d_l) for l = 1..L,  entries of W_l
           iid N(0, 1);  K_l = x_l^T x_l  (n x n).  n and all widths grow in proportion, n/d_l -> c_l.
           E phi(sqrt(sigma_{l-1}) Z) = 0.
Constants. sigma_l, rho_l, epsilon_l as in camilli2025;  gamma > 0 a shift.
Claim.     The spectrum of K_l tends to mu_l:  mu_0 = Marchenko-Pastur of ratio c_0,  mu_l = the Marchenko-Pastur map of ratio c_l
           applied to the law of rho_l^2 lambda + epsilon_l, lambda ~ mu_{l-1}.
Words changed.  The paper takes deterministic inputs that are nearly orthogonal and scales phi so that sigma_l = 1 in every layer;
           here the inputs are Gaussian, which are nearly orthogonal with probability tending to 1, and phi is as it is.  The
           paper states weak convergence and no rate; the rates are conjectures.

Contents
    input_kernel       level 0: resolvent trace exactly at finite size, bias, variance and law
    resolvent          resolvent traces of K_1 and K_2 and how fast they tend to the limit
    spectrum           an eigenvalue of K_1 and K_2, chosen at random, in law
    falsehoods         twins: a constant of the recursion changed, or the ratios swapped
"""

from theoryck import Reference

FAN2020 = Reference(
    "Fan, Wang",
    2020,
    "Spectra of the conjugate kernel and neural tangent kernel for linear-width neural networks",
    arxiv="2005.11879",
)
