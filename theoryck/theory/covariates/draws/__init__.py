"""Draws of covariates.

data    Data of the Gaussian covariate model at finite size, drawn in stacks, and of the random features it stands for
fit     Empirical risk minimisers on a stack of data sets: w minimises sum_mu loss(y_mu, z_mu.w) + (penalty/2) |w|^2
traces  Ridge regression given the features: everything else is Gaussian, so means over teacher and noise, and variances, are
        traces
"""
