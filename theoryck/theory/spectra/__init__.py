"""Spectra of Wishart matrices and conjugate kernels: laws, resolvents, deterministic equivalents.

X has d_0 x n independent N(0, 1/d_0) entries, x_l = phi(W_l x_(l-1))/sqrt(d_l) column by column with N(0, 1) weights, and
K_l = x_l^T x_l (n x n).  Sources: Marchenko, Pastur (1967); Fan, Wang (2020), arXiv:2005.11879, with phi not normalised;
Pennington, Worah (2017), theorem 1, for one layer; Louart, Liao, Couillet (2018), arXiv:1702.05419, theorem 1, for the equivalent,
which is a part of what is drawn where a trace is compared with it.

draws       Draws of conjugate kernels, with no more random numbers than their law needs
limits      Limits of spectra: Marchenko and Pastur, conjugate kernels layer by layer, the quartic of one layer
model       The deterministic equivalent of the resolvent of a random feature Gram matrix, given the inputs
proved      Exact averages over the spectrum of a real Wishart matrix: E sum_i log(1 + mu x_i) and E sum_i 1/(1 + mu x_i)
quantities  Spectra of conjugate kernels at finite sizes: resolvent traces, their variance, an eigenvalue at random, distances of
            laws
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.conjugate": ("ConjugateKernel", "SpectralLaw", "conjugate_kernel"),
        "limits.marchenko_pastur": ("MarchenkoPastur", "marchenko_pastur", "mean_resolvent", "overlap_deficit"),
        "limits.quartic": ("pennington_worah", "quartic_roots", "quartic_transform"),
        "model": ("ResolventEquivalent", "resolvent_equivalent", "surrogate_covariance"),
        "quantities": ("eigenvalue", "equivalent_gap", "resolvent_trace", "resolvent_variance", "spectral_distance"),
    },
)
