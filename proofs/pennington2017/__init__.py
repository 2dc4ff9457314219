"""Nonlinear random matrix theory for deep learning.  Pennington, Worah (NeurIPS 2017).

Setting.   X has n_0 x m independent N(0, 1) entries, W n_1 x n_0 independent N(0, 1/n_0);  Y = f(W X),  M = Y Y^T / m  (n_1 x n_1);
           E f(Z) = 0;  phi = n_0/m,  psi = n_0/n_1.
Constants. eta = E f(Z)^2,  zeta = (E f'(Z))^2.
Claim.     G(z) = lim (1/n_1) tr (z - M)^-1 = psi P/z + (1 - psi)/z, P a root of a quartic:  with t = 1/(z psi),
           P_phi = 1 + (P - 1) phi,  P_psi = 1 + (P - 1) psi,
           P = 1 + (eta - zeta) t P_phi P_psi + t zeta P_phi P_psi / (1 - t zeta P_phi P_psi).
Words changed.  The quartic has four roots; here P is the one with P -> 1 as z -> infinity.  In the words of fan2020, n = m,
           d_0 = n_0, d_1 = n_1: M has the eigenvalues of K_1/c_1, with zeros added or left out; c_0 = 1/phi, c_1 = psi/phi.

Contents
    quartic      the root is the transform of fan2020 at one layer; the simulated trace tends to it
    isotropic    zeta = 0: the spectrum is Marchenko-Pastur, as if f(W X) had independent entries; zeta = eta: a linear network
    falsehoods   twins: other roots, eta and zeta swapped, phi and psi swapped
"""

from theoryck import Reference

PENNINGTON2017 = Reference("Pennington, Worah", 2017, "Nonlinear random matrix theory for deep learning", note="NeurIPS 2017")
