"""Proved values of renormalisation, and exact ones that are not proved.

few_points  One hidden layer of N nonlinear units on one or two training inputs, exactly: float64 quadrature on two grids
linear      Bayesian linear networks of finite widths exactly: log Z, predictor and losses as enclosures
"""
