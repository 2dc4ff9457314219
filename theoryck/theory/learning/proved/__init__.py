"""Proved values of learning.

deep_linear   Deep linear networks: the exact evidence log Z of one data set, at any depth and widths, proved
linear_model  The linear model at finite sizes: exact mutual information and Bayes error of Y = eta_0 v.x_0 + sqrt(gamma_0) xi +
              noise
one_sample    The information in one sample (n = 1), for any activation and readout: quadratures that agree, nothing proved
"""
