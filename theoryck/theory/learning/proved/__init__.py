"""Proved values of learning.

linear_model  The linear model at finite sizes: exact mutual information and Bayes error
one_sample    The information in one sample (n = 1), for any activation and readout: quadratures that agree, nothing proved
"""
