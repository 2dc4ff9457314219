"""The effective action of Bayesian networks at P ~ N.  Pacelli, Ariosto, Pastore, Ginelli, Gherardi, Rotondo (2023).

Setting.   One hidden layer of N units, f = N^(-1/2) a.phi(W x/N_0^(1/2)), all weights N(0, 1), Gibbs weight exp(-|y - f|^2/2T), P
           labels; K the kernel of infinite width; S(Q) = Q - log Q + (y^T (T + Q K)^-1 y + log det(T + Q K))/N.
Claim.     log Z and predictor are those of the Gaussian process with kernel Q K at the saddle of S, as N, P -> infinity, whatever
           the data.
Truth.     For linear units Q is exactly chi^2/N under the prior: log Z is right to leading order, and with the fluctuations of Q to
           1/N; the losses to 1/N.  For others the fourth cumulant of the outputs has a part that no scalar Q sees.  At fixed P the
           action's 1/N is wrong by a factor (two points: -1.263 for -.518); at P = alpha N on orthogonal inputs log Z is wrong at
           order 1, by alpha kappa_4 Q^2/(8 V^2) mean He_4; the missing part is of order P/N even as N_0 -> infinity.  For labels of
           the network itself the action is right: KL -> 0.
Words changed.  "Explicit at P ~ N" is to leading order in N.  The paper's argument is heuristic for nonlinear units, as it says.
Depth.     One order parameter a layer: for linear units right to leading order, log Z with fluctuations and the losses to 1/N.
           For two nonlinear layers their product ("vanilla") and the recursion are heuristics, both wrong at 1/N at fixed P.

Contents
    linear           linear units: rates of the action, exactly
    nonlinear        two training points exactly, orthogonal inputs, what is missing
    fixed_dimension  more points than dimensions, P ~ N: what is missing grows as P^(1/2)
    bracketed        log Z and predictor of nonlinear networks from both sides, beside the action's
    deep_linear      two and three linear layers: rates of the action, exactly
    deep_nonlinear   two nonlinear layers: what either action misses, exactly and by draws
    falsehoods       twins
"""

from theoryck import Reference

PACELLI2023 = Reference(
    "Pacelli, Ariosto, Pastore, Ginelli, Gherardi, Rotondo",
    2023,
    "A statistical mechanics framework for Bayesian deep neural networks beyond the infinite-width limit",
    arxiv="2209.04882",
)
