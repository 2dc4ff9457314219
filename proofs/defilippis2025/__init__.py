"""Optimal spectral transitions in multi-index models.  Defilippis, Dandi, Mergny, Krzakala, Loureiro (2025).

Setting.   x ~ N(0, I_d), orthonormal w_1, ..., w_r, z_k = <w_k, x>, y = f(z_1, ..., z_r), n = alpha d samples; z_v = <v, z> for a
           unit v.
Method.    The top eigenvector of (1/n) sum_i T(y_i) x_i x_i^T, T = 1 - 1/E[z_v^2 | y] = G/(1 + G), G = E[z_v^2 - 1 | y]; for z1 z2
           there are two matrices, v = (1, 1)/sqrt 2 and (1, -1)/sqrt 2.
Claim.     For alpha > alpha_c = 1/E G^2 an outlier lambda solves E[G^2/W] = 1/alpha, W = lambda + (lambda - 1) G, and its
           eigenvector has cos^2 = (1/alpha - E[G^2/W^2])/(1/alpha + E[G^3/W^2]); below there is none.

Contents
    overlap      cos^2 above the threshold, by formula and in d dimensions
    transition   the two sides of the threshold and the threshold itself: flat, falling, d^(-1/3)
    falsehoods   twins
"""

from theoryck import Reference

DEFILIPPIS2025 = Reference(
    "Defilippis, Dandi, Mergny, Krzakala, Loureiro",
    2025,
    "Optimal spectral transitions in high-dimensional multi-index models",
    arxiv="2502.02545",
)
