"""Limits of covariates.

errors        The Gaussian covariate model in the limit: errors of ridge, square-loss and logistic regression for any spectra
fluctuations  How much the errors of isotropic ridge regression fluctuate from data set to data set: the limit of n Var, teacher
              drawn
logistic      Logistic regression in the Gaussian covariate model: a fixed point in three unknowns, by Newton's method in their
              logarithms
square        Square loss in the Gaussian covariate model: the fixed point is one scalar equation, the rest is in closed form
"""
