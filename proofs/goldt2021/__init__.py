"""Generated data look Gaussian to a shallow network.  Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova (MSML 2021).

Setting.   x_i = sigma(a_i . c), i = 1..N: a generator with unit vectors a_i, here uniform on the sphere of R^D, and c ~ N(0, I_D).
           Local fields of student and teacher:  lambda = w . x / sqrt(N),  |w|^2 = N;   nu = w~ . c / sqrt(D),  |w~|^2 = D.
           Weights are aligned (1, ..., 1), random signs, or localised sqrt(N) (1, 0, ..., 0).  D = N unless said.
Theorem.   The pair (lambda, nu) is at distance O(|W M_1^(1/2)|^2/N + |W M_2^(1/2)|^2/N + |W~ A^T|^2/(D sqrt(N)) + 1/sqrt(N)) from
           the Gaussian pair with the same first and second moments.  The slides of the talk define neither the distance d_MS nor
           the matrices M_1 and M_2, so that this bound cannot be checked as it is printed, and nothing is invented here instead.
Measured.  What a Gaussian pair has not: skewness, excess kurtosis and joint cumulants kappa(. | a) of the law of c at a given
           generator a, averaged over generators, over the power of E kappa_2 that makes them free of scale.  The theorem's last
           term, which no choice of weights takes away, is the rate they are held to: O(1/sqrt(N)).
Words changed.  The slides write lambda^k ~ sum_i w_i^k x_i and hide the normalisation; it is 1/sqrt(N) for lambda and 1/sqrt(D)
           for nu.  The prediction error has no factor 1/2 there; online learning mostly writes one.

Contents
    projections         odd sigma: excess kurtosis c/N, so that 1/sqrt(N) is loose; few latent variables, 1/N + 1/D
    non_odd             sigma that is not odd: skewness 1/sqrt(N) for aligned weights (tight), 1/N for random signs
    joint               lambda and nu together: 1/D for a fixed teacher, 1/sqrt(N) for one that knows the generator
    prediction_error    the error of erf students from Q, R, T, and how fast generated data reach it
    not_equivalent      what stays different: one coordinate, third Hermite coefficients, localised students
    online              the equations of online learning, corrected: two eigenvalues, generators of one and of two layers
    online_falsehoods   the equations as the slides print them, and twins
    falsehoods          twins
"""

from theoryck import Reference

GOLDT2021 = Reference(
    "Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova",
    2021,
    "The Gaussian equivalence of generative models for learning with shallow neural networks",
    arxiv="2006.14709",
)
