"""Limits of spectra: Marchenko and Pastur, conjugate kernels layer by layer, the quartic of one layer.

conjugate         Limits of the spectra of conjugate kernels: Marchenko-Pastur inputs, then one layer after the other; their laws
conjugate_map     The spectral law of a conjugate kernel is algebraic: z and m(z) are rational functions of one variable
marchenko_pastur  The Marchenko-Pastur law of n samples x_mu ~ N(0, I/d) in the limit n = alpha d: the law, and its traces
quartic           The quartic of Pennington and Worah (2017) for one layer: its four roots, and which one is the transform
"""
