"""Spectra of Wishart matrices and conjugate kernels: laws, resolvents, deterministic equivalents.

distance        How far the mean spectrum of a Wishart matrix is from the Marchenko-Pastur law, without draws
draws           Draws of conjugate kernels, with no more random numbers than their law needs
gap             The resolvent trace of a random feature Gram matrix against its deterministic equivalent, at the same inputs
limits          Limits of spectra
proved          Exact averages over the spectrum of a real Wishart matrix: E sum_i log(1 + mu x_i) and E sum_i 1/(1 + mu x_i)
quantities      Spectra of conjugate kernels K_l = x_l^T x_l at finite sizes: resolvent traces, their variance, an eigenvalue at
                random
wishart_values  Values of the mean eigenvalue density of a Wishart matrix of odd order, whose weights are elementary
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "distance": ("spectral_distance",),
        "limits.conjugate": (
            "ConjugateKernel",
            "MarchenkoPastur",
            "conjugate_kernel",
            "marchenko_pastur",
        ),
        "limits.conjugate_law": ("SpectralLaw",),
        "limits.conjugate_quartic": (
            "pennington_worah",
            "quartic_roots",
            "quartic_transform",
        ),
        "limits.equivalents": (
            "ResolventEquivalent",
            "kernel_equivalent",
            "resolvent_equivalent",
            "surrogate_covariance",
        ),
        "limits.marchenko_pastur": (
            "mean_resolvent",
            "overlap_deficit",
        ),
        "quantities": (
            "eigenvalue",
            "equivalent_gap",
            "resolvent_trace",
            "resolvent_variance",
        ),
    },
)
