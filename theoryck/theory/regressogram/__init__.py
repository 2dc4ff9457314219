"""Regression of a Hoelder function of one variable: the regressogram from above, a prior on bumps from below.

Setting: x_i uniform on [0, 1], y_i = f(x_i) + Z_i, i = 1..n, Z_i ~ N(0, 1), and f in F_alpha: |f(x) - f(y)| <= |x - y|^alpha,
0 <= f <= 1.  The regressogram with m bins of width h = 1/m predicts the mean of the y_i in the bin of x, and 0 in an empty bin.
With N ~ Bin(n, h) its risk E int (f^ - f)^2 is, bin by bin and exactly,
    h [V + (V + 1) E(1/N; N >= 1) + (1 - h)^n M^2],   V and M the variance and the mean of f in the bin,
where V = E |f(X) - f(Y)|^2 / 2 <= h^(2 alpha)/((2 alpha + 1)(2 alpha + 2)) for X, Y uniform in the bin.  m ~ n^(1/(2 alpha + 1))
balances the terms at n^(-2 alpha/(2 alpha + 1)), which no estimator beats: 1/2 + sum_b e_b psi_b with independent signs e_b and one
bump psi_b in each of m bins is in F_alpha, its posterior factorises over bins, and the Bayes risk of this prior is below the
largest risk of every estimator (Assouad's argument).  Minimax rate: Stone (1982).

draws       Draws of data sets in bins
proved      The risk of the regressogram bin by bin, exactly, from E(1/N; N >= 1) for a binomial N
quantities  The risk of the regressogram, its bound over the class, and the Bayes risk of the prior on bumps
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "quantities": ("bump_bayes_risk", "regressogram_guarantee", "regressogram_precision", "regressogram_risk"),
    },
)
