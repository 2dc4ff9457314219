"""Deep linear networks at zero temperature.  Li, Sompolinsky (2021).

Setting.   f(x) = N^(-1/2) a.x_L, x_l = W_l x_(l-1)/N_(l-1)^(1/2), L hidden layers of width N, all weights N(0, 1); P = alpha N
           labels learnt exactly (T -> 0), r = y^T K^-1 y/P, K = X X^T/N_0.
Claim.     Every layer's kernel is renormalised by u, 1 - u = alpha (1 - r u^-L), the output's by u^L; the variance of the
           predictor is that of the Gaussian process times u^L.
Truth.     Exact at every size: the output's kernel is t K, t = prod chi^2/N, and t has the density t^(-P/2) e^(-r P/2t) times that
           of the prior; E t - u^L is of order 1/N, no less.  The mean of the predictor is not renormalised at all.  Deep: u^L -> r.
Words changed.  The paper's sigma^2 is 1 here, its noise of the weights' Gibbs law 0.

Contents
    renormalisation  the order parameter, the evidence and the predictor
    falsehoods       twins
"""

from theoryck import Reference

LI2021 = Reference(
    "Li, Sompolinsky",
    2021,
    "Statistical mechanics of deep linear neural networks: the backpropagating kernel renormalization",
    arxiv="2012.04030",
)
