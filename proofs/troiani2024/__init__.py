"""Weak learnability of multi-index models by the best algorithm.  Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala (2024),
as in the column "AMP" of Loureiro's talk (10 April 2025).

Setting.   x ~ N(0, I_d), orthonormal w_1, ..., w_r, z_k = <w_k, x>, y = f(z_1, ..., z_r) or y ~ P(y | z), n = alpha d samples; d to
           infinity.  The directions are weakly recovered when an estimate has an overlap with them that does not tend to 0.
Best algorithm.
           State evolution of approximate message passing, Q the r x r overlap, V = I - Q, omega ~ N(0, Q), z = omega + V^(1/2) u:
           Q^ = alpha E g g^T, g = V^(-1) (E[z | y, omega] - omega), Q <- Q^ (I + Q^)^(-1).
Directions.
           Trivial: E[z_v | y] != 0, found at every alpha.  Easy: Q' = alpha F(Q) where nothing is known, F(M) = E[G M G], G(y) =
           E[z z^T - I | y]; found from alpha_c = 1/lambda_max(F) on.  Hard: G = 0, no alpha.
Words changed.
           The talk's "AMP: n = O(d)" hides these three cases; its "???" for sign(z1 z2 z3) is: no alpha, but n = C d^(3/2) by
           tensor unfolding.

Contents
    thresholds        alpha_c of products, lengths, signs, doors, noisy squares, maxima
    state_evolution   one index beyond the threshold: fixed points, full recovery, message passing in d dimensions
    products          z1 z2, |z1 z2|, sign(z1 z2) beyond their thresholds: fixed points, full recovery
    parity            sign(z1 z2 z3): no alpha, and tensor unfolding
    table             the talk's table of samples for kernels, SGD and the best algorithm, a claim a row
    falsehoods        twins
"""

from theoryck import Reference

TROIANI2024 = Reference(
    "Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala",
    2024,
    "Fundamental computational limits of weak learnability in high-dimensional multi-index models",
    arxiv="2405.15480",
)

MONDELLI2018 = Reference(
    "Mondelli, Montanari", 2018, "Fundamental limits of weak recovery with applications to phase retrieval", arxiv="1708.05932"
)

DAMIAN2024 = Reference(
    "Damian, Pillaud-Vivien, Lee, Bruna", 2024, "Computational-statistical gaps in Gaussian single-index models", arxiv="2403.05529"
)
