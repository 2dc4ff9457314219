"""Bayesian convolutional networks with many channels are Gaussian processes (Novak et al. 2019).  Novak, Xiao, Lee, Bahri, Yang,
Hron, Abolafia, Pennington, Sohl-Dickstein, arXiv:1810.05148.

Setting.   f(x) = (N_c N_p)^(-1/2) sum_{c,i} a_{ci} phi(w_c.x_i/m^(1/2)) on N_p patches x_i of m entries, w and a iid N(0, 1); y = f
           + noise of variance T.  A locally connected network (LCN) has filters w_{ci} of its own at every patch.
Claim.     As N_c grows f is a Gaussian process of kernel K(x, x') = (1/N_p) sum_i E phi phi, the same for both networks: which
           weights are shared is forgotten, unless the readout is shared too (pooling).
Truth.     With one hidden layer E k = K at every N_c and Var k = V/N_c; with two E k - K ~ 1/N_c.  log Z, predictor and training
           loss differ from those of the process by c/N_c; c is known for linear units, and remembers which weights are shared.
Words changed.  The paper lets the channels of one layer after the other go to infinity and gives no rate.

Contents
    kernels     kernels of finite networks: mean, fluctuations, two layers, pooling
    processes   log Z, predictor and losses: 1/N_c, with its constants
    falsehoods  twins
"""

from theoryck import Reference

NOVAK2019 = Reference(
    "Novak, Xiao, Lee, Bahri, Yang, Hron, Abolafia, Pennington, Sohl-Dickstein",
    2019,
    "Bayesian deep convolutional networks with many channels are Gaussian processes",
    arxiv="1810.05148",
)
