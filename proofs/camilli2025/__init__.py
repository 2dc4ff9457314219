"""Deep networks and linear models carry the same information.  Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.

Setting.   x_0 ~ N(0, I/d_0),  x_l = phi(W_l x_{l-1}) / sqrt(d_l)  for l = 1..L,  entries of W_l iid N(0, 1),
           phi odd, twice continuously differentiable, with bounded first and second derivatives; Z ~ N(0, 1) throughout.
Constants. sigma_0 = 1,  sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2,  rho_l = E phi'(sqrt(sigma_{l-1}) Z),
           epsilon_l = sigma_l - sigma_{l-1} rho_l^2,
           eta_0 = prod_i rho_i,  gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2.
Words changed.  The slides divide layer l by sqrt(d_{l-1}); with unequal widths |x_l|^2 then tends to (d_l / d_{l-1}) sigma_l, so
           the true form divides by sqrt(d_l).  The literal form is a falsehood below.

Learning.  Y = f(a . x_L) + sqrt(Delta) Z, a ~ N(0, I), n samples; the student knows all but a and the W_l.  The equivalent linear
           model is Y = f(eta_0 v . x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z with v and xi unknown.  f = identity unless said.

Contents
    constants                    Stein's identity, Bessel's inequality, the telescoping sum, closed forms
    moment_control               E | |x_l|^2 - sigma_l |^k = O(d_min^(-k/2))
    quasi_orthogonality          E | x_mu . x_nu |^k = O(d_min^(-k/2)) for two independent inputs
    mutual_information_identity  I_n = -n f_n + n E log P_out, its sandwich, the Nishimori identities
    one_layer_reduction          |I^(1) - I^(0)|/n = O((1 + sqrt(n/d) + n/d)/sqrt(d)); its true size
    deep_reduction               the same for L layers, by L reductions
    interpolation                the path from the network to its linear model
    free_entropy_concentration   Var((1/n) log Z) = O(1/n + 1/d_min)
    generalisation               |E^(L) - E^(0)| -> 0, and how fast
    beyond_proportional          n = d^gamma, gamma from 0 to 2
    glm_limit                    the linear model at finite size and its replica formula
    information_falsehoods       twins of the main theorem
    falsehoods                   twins of constants, moments and overlaps
"""

from theoryck import Reference

CAMILLI2025 = Reference(
    "Camilli, Tieplova, Bergamin, Barbier",
    2025,
    "Information-theoretic reduction of deep neural networks to linear models in the overparametrized proportional regime",
    arxiv="2505.03577",
)
