"""One giant step, and what more steps learn.  Dandi, Krzakala, Loureiro, Pesce, Stephan (2023); for the reuse of batches Dandi,
Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala (2024).

Setting.   y = g(<w*, x>), x ~ N(0, I_d), |w*| = 1, n = alpha d samples; first layers start with a^0 = 1 and outputs near 0, so that
           a step moves every neuron along X^T (y s'(X w_j))/n, which is mu_1 v up to what averages out, v = X^T y/n, mu_1 = E
           s'(z). A = E y z, B = E y^2.
Claim.     One step learns one direction, the first Hermite coefficient C_1 = E y z of the target, if there is one; a second step on
           a fresh batch learns what the first has made linear; a second step on the same batch learns more.
Truth.     Exact at every size: cos^2(v, w*) = S_1^2/(S_1^2 + S_2 chi^2_{d-1}), S_1 = sum y z, S_2 = sum y^2.  It tends to A^2
           alpha/(A^2 alpha + B) with a term c_1/d that is known; without A it is E y^2 z^2/(B d).
Words changed.  The talk says that the spike has a norm of order 1; that of the p x d matrix mu_1 1 v^T grows like p^(1/2).

Contents
    one_step      the overlap after one step: limits, the term in 1/d, links without C_1, the norm of the spike
    staircase     z_1 + z_1 z_2: the first step learns w_1, the second w_2
    reuse         two steps on one batch: information exponent 3 at n = alpha d
    transformed_labels  one step on E[z given y]
    falsehoods    twins
"""

from theoryck import Reference

DANDI2023 = Reference(
    "Dandi, Krzakala, Loureiro, Pesce, Stephan",
    2023,
    "How two-layer neural networks learn, one (giant) step at a time",
    arxiv="2305.18270",
)

DANDI2024 = Reference(
    "Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala",
    2024,
    "The benefits of reusing batches for gradient descent in two-layer networks: "
    "breaking the curse of information and leap exponents",
    arxiv="2402.03220",
)
