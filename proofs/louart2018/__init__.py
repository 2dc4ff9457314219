"""A random matrix approach to neural networks.  Louart, Liao, Couillet (2018), arXiv:1702.05419.

Setting.   X is d_0 x n, W_1 has d_1 x d_0 independent N(0, 1) entries,  x_1 = phi(W_1 X) / sqrt(d_1),  K = x_1^T x_1;
           phi Lipschitz, Q = (K + gamma)^-1.  n, d_0, d_1 grow in proportion.
Constants. Phi = E_w phi(X^T w) phi(w^T X), the exact kernel;  delta = (1/d_1) tr Phi Qbar,  Qbar = (Phi / (1 + delta) + gamma)^-1.
Claim.     |E_W Q - Qbar| = O(n^(-1/2 + eps)) in operator norm, and (1/n) tr Q concentrates around its mean at rate n^(-1/2).
Words changed.  The paper holds X fixed, of bounded norm; here X has N(0, 1/d_0) entries, and both traces are taken at the same X.
           Its n is the width d_1 and its T our n.  What is checked is the trace, on which the operator norm is a bound.

Contents
    equivalent     (1/n) tr Q against (1/n) tr Qbar: the bound is loose, the truth is 1/n, for the exact kernel and its surrogate
    concentration  Var (1/n) tr Q: the bound is loose, the truth is 1/n^2
    falsehoods     twins: constants of the surrogate, rates
"""

from theoryck import Reference

LOUART2018 = Reference(
    "Louart, Liao, Couillet",
    2018,
    "A random matrix approach to neural networks",
    arxiv="1702.05419",
)
