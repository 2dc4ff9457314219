"""Bayesian deep linear networks exactly.  Hanin, Zlokapa (2023).

Setting.   f(x) = a.W_L ... W_1 x/(N_L ... N_0)^(1/2), all weights N(0, 1), widths N_1, ..., N_L; labels with noise of variance
           T, or without noise and P <= N_0.
Claim.     Evidence and predictor are Meijer G functions of |theta*|^2, at any width, depth and number of samples.
Truth.     With t = prod chi^2_(N_l)/N_l they are means over t; at T = 0 the Meijer function is E t^(-P/2) e^(-A/2t), A = y^T K^-1
           y.  L layers of width N act as one of width N/L up to N^-2; with L = lambda N log t has the law N(-lambda, 2 lambda) in
           the limit, the depth over width of the prior.

Contents
    exact       evidences by two routes: balls, Meijer functions, draws
    widths      wide and deep limits with their rates
    falsehoods  twins
"""

from theoryck import Reference

HANIN2023 = Reference(
    "Hanin, Zlokapa",
    2023,
    "Bayesian interpolation with deep linear networks",
    arxiv="2212.14457",
)
