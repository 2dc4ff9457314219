"""Proved values of renormalisation.

linear      Bayesian linear networks of finite widths exactly: log Z, predictor and losses as enclosures
"""
