"""Local kernel renormalisation in convolutional networks.  Aiudi, Pacelli, Baglioni, Vezzani, Burioni, Rotondo (2025),
arXiv:2307.11807; and Pacelli's thesis, of which the abstract states the claims.

Setting.   One hidden layer of N_c channels on N_p patches, f(x) = (N_c N_p)^(-1/2) sum_{c,i} a_{ci} phi(w_c.x_i/m^(1/2)), P
           inputs, labels y, noise T; a CNN shares its filters, an LCN has filters of its own at every patch, in a fully connected
           layer (FC) all patches of a unit have one readout.  K_ij: E phi phi between the patches i and j of two inputs.
Claim.     For P ~ N_c the kernel of the predictor is sum_ij Q_ij K_ij/N_p, Q the saddle of S = tr Q - log det Q + (1/N_c)
           [y.A^(-1) y + log det A], A = T + the kernel: local renormalisation, N_p (N_p + 1)/2 numbers for a CNN, the diagonal for
           an LCN, one for FC.  Features are learnt in CNNs, but neither in FC nor in LCN.
Truth.     The average over Q is exact for linear units; S is its leading order when P ~ N_c (log Z to O(1) of O(N_c)), with the
           determinant of fluctuations to O(1/N_c).  The alignment of the kernel with y does not change in FC.  In an LCN it does,
           as c/N_c with c the diagonal part of a CNN's coefficient, exactly; what an LCN lacks is the off-diagonal part, so that
           it gains nothing where all patches have the same kernel.  For nonlinear units the action's 1/N_c term at fixed P is
           wrong.
Words changed.  "Neither in FC nor in LCN": see the last lines.

Contents
    action            the effective action against exact averages: saddle, one loop, P ~ N_c
    order_parameters  how many numbers the kernel depends on, and how many log Z sees
    features          alignment of the kernel with the labels: CNN, LCN, FC
    falsehoods        twins
"""

from theoryck import Reference

AIUDI2025 = Reference(
    "Aiudi, Pacelli, Baglioni, Vezzani, Burioni, Rotondo",
    2025,
    "Local kernel renormalization as a mechanism for feature learning in overparametrized convolutional neural networks",
    arxiv="2307.11807",
)
