"""Learning with kernels and random features (Loureiro 2025).  The talk "Statistical physics of learning with two-layer neural
networks" (10 April 2025), the part before the first gradient step.

Setting.   y = g(<w*_1, x>, ..., <w*_r, x>) + noise of variance s^2,  x ~ N(0, I/d),  |w*_k| = sqrt(d); n samples.  Equivalently
           x ~ N(0, I) and unit w*; h_k are the normalised Hermite polynomials.
Kernels.   min_f (1/n) sum_i (y_i - f(x_i))^2 + lambda |f|_H^2 with a kernel K of eigenvalues eta_k; f*_k is the target in its
           eigenbasis.  Random features: f(x) = sum_j a_j sigma(<w_j, x>), a ridge on a, K = E_w sigma(<w, x>) sigma(<w, x'>).
Words changed.
           The lower bound n^(-alpha/(2 alpha + d)) is that of the root of the squared error: for the squared error it is
           n^(-2 alpha/(2 alpha + d)).
           (Phi^T Phi + lambda)^(-1) Phi^T y minimises neither objective of the slides: (1/2n) sum + lambda |a|^2 has 2 n lambda,
           (1/n) sum + lambda |f|^2 has n lambda in the place of lambda.
           Phi_ik = sum_k mu_k h_k(<w_i, x>) has entries of order 1; what is O(d^(-k/2)) is the correlation
           E h_k(<w, x>) h_k(<w', x>) for w != w'.
           "Degree kappa" at n, p = Theta(d^kappa) is floor(kappa), for kappa that is no integer; the sample sizes at which degree k
           is learnt are B(d, k) ~ d^k/k!.
           The risk of a student that has learnt the subspace U is at least E Var(f* | P_U z), in expectation over P_U z.
           "Kernels need n = O(e^d) for sign(z1 z2 z3)" is for an error that tends to 0: its part of degree 3 is learnt at n ~ d^3.

Contents
    hermite                      the expansion of a feature, and the gradient of one step
    gaussian_equivalence         phi(W x) against mu_0 + mu_1 W x + mu_* xi: covariances and ridge test errors
    minimax                      n^(-2 alpha/(2 alpha + 1)) for Hoelder functions of one variable, from both sides
    lower_bound                  E Var(f* | P_U z), and what a readout gains beyond it
    kernel_ridge                 deterministic equivalents of kernel and random-features ridge regression
    staircase                    n = Theta(d^kappa) learns degree floor(kappa), and not the structure of the target
    source_capacity              eta_k = k^-alpha, f*_k = k^(-alpha r - 1/2): the exponents of the risk
    kernel_falsehoods            twins of kernel_ridge, staircase and source_capacity
    falsehoods                   the slides' literal forms, and twins of the Gaussian equivalence
"""

from theoryck import Reference

LOUREIRO2025 = Reference("Loureiro", 2025, "Statistical physics of learning with two-layer neural networks (talk, 10 April 2025)")

CUI2021 = Reference(
    "Cui, Loureiro, Krzakala, Zdeborova",
    2021,
    "Generalization error rates in kernel regression: the crossover from the noiseless to noisy regime",
    arxiv="2105.15004",
)

DEFILIPPIS2024 = Reference(
    "Defilippis, Loureiro, Misiakiewicz",
    2024,
    "Dimension-free deterministic equivalents and scaling laws for random feature regression",
    arxiv="2405.15699",
)

MEI2022 = Reference(
    "Mei, Misiakiewicz, Montanari",
    2022,
    "Generalization error of random feature and kernel methods: hypercontractivity and kernel matrix concentration",
    arxiv="2101.10588",
)
