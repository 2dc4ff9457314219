"""Limits of renormalisation: the effective action, its integral, and where it misses something.

action      The effective action of a Bayesian network of finite widths: one order parameter a layer, saddle, predictor, losses
mixture     The integral over the order parameters instead of the saddle: exact for Gaussian features, in float64
orthogonal  Orthogonal inputs, P = alpha N: what the effective action misses of log Z as N grows, in closed form
"""
