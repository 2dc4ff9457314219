"""Limits of ridge.

kernel_ridge     Kernel ridge regression of any spectrum: the deterministic equivalent of its errors
power_law        Source and capacity: spectra eta_k = k^(-alpha) with targets f_k = k^(-alpha r - 1/2), their sums to infinity,
                 their exponents
random_features  Ridge regression with random features of any spectrum: the deterministic equivalent of its errors
sphere           Dot-product kernels on the sphere: eigenvalues by degree, their multiplicities, and what n samples learn of
                 each degree
"""
