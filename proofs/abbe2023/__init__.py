"""Weak learning of several indices by one-pass SGD: the leap.  Abbe, Boix-Adsera, Misiakiewicz (2023), as in Loureiro's talk (10
April 2025).

Setting.   x ~ N(0, I_d), y = f(z_1, ..., z_r), z_k = <w_k, x>; a neuron s, correlation loss, a fresh sample each step, w on the
           unit sphere, started uniformly; m_k = <w_k, w>.  With Z ~ N(0, I_r), e ~ N(0, 1), R ~ chi^2_(d-r-1), z = m.Z + sqrt(1 -
           |m|^2) e and G = step y s'(z), m <- (m + G (Z - m z))/sqrt(1 + G^2 (|Z|^2 + e^2 + R - z^2)): a chain of r numbers, exact
           at every d.
Leap.      The monomials of the Hermite expansion of f are put in an order in which each brings at most L new indices, counted with
           their powers; the smallest L is the leap: 1 for z1 + z1 z2, 2 for z1 z2 and z1 + z1 z2 z3, 3 for z1 z2 z3 and its sign.
Claim.     n ~ d, d log d, d^2 samples for leaps 1, 2, 3 until min_k |m_k| >= 0.35: medians; steps of order 1/d, 1/d, d^(-3/2).

Contents
    gradient     the mean step on the sphere
    leaps        n ~ d, d log d, d^2
    limits       one leap: the equation that n/d follows
    falsehoods   twins
"""

from theoryck import Reference

ABBE2023 = Reference(
    "Abbe, Boix-Adsera, Misiakiewicz",
    2023,
    "SGD learning on neural networks: leap complexity and saddle-to-saddle dynamics",
    arxiv="2302.11055",
)
