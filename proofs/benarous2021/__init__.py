"""Weak learning of one index by one-pass SGD: the information exponent.  Ben Arous, Gheissari, Jagannath (2021), as in Loureiro's
talk (10 April 2025).

Setting.   x ~ N(0, I_d), y = g(z*), z* = <w*, x>, a neuron s, z = <w, x>, m = <w, w*>, correlation loss -y s(z), a fresh sample
           each step, w on the unit sphere: w <- (w + step y s'(z) (x - z w))/|...|, started at |m| ~ d^(-1/2).
           g_k, s_k are coefficients in the normalised Hermite polynomials; l = min{k >= 1: g_k != 0} is the information exponent.
Claim.     m is a Markov chain of its own, of mean step (1 - m^2) phi'(m), phi(m) = sum_k g_k s_k m^k.  To a fixed overlap it takes
           n ~ d samples for l = 1, d log d for l = 2, d^(l-1) for l > 2: medians, for steps of order 1/d, and d^(-l/2) for l > 2.
Words changed.
           The talk calls d^(l-1) the lower bound of correlational queries ("this is the CSQ lower bound"): that bound is d^(l/2)
           (Damian et al. 2023), and SGD on a smoothed loss, which asks correlational queries too, needs d^(3/2) at l = 3.

Contents
    gradient     the mean step on the sphere
    hitting      n ~ d, d log d, d^2 for l = 1, 2, 3
    smoothing    l = 3 at d^(3/2)
    falsehoods   twins
"""

from theoryck import Reference

BENAROUS2021 = Reference(
    "Ben Arous, Gheissari, Jagannath",
    2021,
    "Online stochastic gradient descent on non-convex losses from high-dimensional inference",
    arxiv="2003.10409",
)

DAMIAN2023 = Reference(
    "Damian, Nichani, Ge, Lee",
    2023,
    "Smoothing the landscape boosts the signal for SGD: optimal sample complexity for learning single index models",
    arxiv="2305.10633",
)
