"""Wide networks are Gaussian processes.  Lee, Bahri, Novak, Schoenholz, Pennington, Sohl-Dickstein (2018), arXiv:1711.00165.

With the tangent kernel of Jacot, Gabriel, Hongler (2018), arXiv:1806.07572.

Setting.   z^1 = W_std W^1 x/sqrt(d_0) + b_std b^1,  z^(l+1) = W_std W^(l+1) phi(z^l)/sqrt(d_l) + b_std b^(l+1),  all entries of
           W and b iid N(0, 1) (the NTK parameterisation); the output is z^(L+1), after L hidden layers; x and x' are fixed inputs.
NNGP.      K^1 = b_std^2 + W_std^2 x.x'/d_0,  K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u'),  (u, u') ~ N(0, K^l).
NTK.       T^1 = K^1,  T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l.
Output.    In output_law the input is random, x_0 ~ N(0, I/d_0), W_std = 1, b_std = 0, and f = a.x_L with a ~ N(0, I): the setting
           of camilli2025.  Given S_L = |x_L|^2 the output is N(0, S_L); sigma_L = lim E S_L.
Words changed.  Both papers let the widths tend to infinity, most often one after the other, and give no rate.  Here all widths grow
           together, and the rates are those of the chain of Gram matrices: 1/width, for means and variances alike.

Contents
    recursions                   NNGP and NTK layer by layer, closed forms, what one hidden layer has in common with the limit
    output_law                   the output is Gaussian up to 1/width: bias, kurtosis, distance; its linear model differs
    kernel_fluctuations          kernels of finite networks: variance 1/width, bias 1/width from two hidden layers on
    falsehoods                   twins of all of these
"""

from theoryck import Reference

LEE2018 = Reference(
    "Lee, Bahri, Novak, Schoenholz, Pennington, Sohl-Dickstein",
    2018,
    "Deep neural networks as Gaussian processes",
    arxiv="1711.00165",
)

JACOT2018 = Reference(
    "Jacot, Gabriel, Hongler",
    2018,
    "Neural tangent kernel: convergence and generalization in neural networks",
    arxiv="1806.07572",
)
