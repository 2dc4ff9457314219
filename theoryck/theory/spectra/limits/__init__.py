"""Limits of spectra.

conjugate          Limits of the spectra of conjugate kernels: Marchenko-Pastur inputs, then one layer after the other (Fan,
                   Wang 2020)
conjugate_law      Spectral laws as distributions: density, distribution function and quantiles of a level of a conjugate kernel
conjugate_map      The spectral law of a conjugate kernel is algebraic: z and m(z) are rational functions of one variable, layer
                   by layer
conjugate_quartic  The quartic of Pennington and Worah (2017) for one layer: its four roots, and which one is the transform
equivalents        The deterministic equivalent of the resolvent of a random feature Gram matrix, at finite sizes (Louart, Liao,
                   Couillet 2018)
marchenko_pastur   The Marchenko-Pastur law of n samples x_mu ~ N(0, I/d) in the limit n = alpha d: the traces that the limits
                   are made of
"""
