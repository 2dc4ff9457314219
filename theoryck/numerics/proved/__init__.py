"""Enclosures: Gaussian expectations, Hermite coefficients and kernels as balls with a proved radius.

Digits in, records out: every public function returns an :class:`~theoryck.records.Enclosure` (or a record of them) that is proved
unless it says ``rigorous=False``.

    agreement    Where nothing can be proved: quadratures that share no nodes, and the digits on which they agree
    arithmetic   Arithmetic of enclosures, rounded outward
    formulas     Closed formulas evaluated in interval arithmetic: a float that is right to the last digits, or a proved Enclosure
    gaussian     Gaussian expectations E f(sqrt(s) Z), Z ~ N(0, 1), of any expression of the activation language
    hermite      Hermite coefficients of the powers of an activation: E[phi(sqrt(s) Z)^j He_m(Z)] for all j and m from shared nodes
    integral     Gaussian expectations by rigorous adaptive integration (acb.integral), piece by piece between kinks, with proved
                 tails
    kernel       The two-point kernel h(s1, s2, c) = E phi(u) phi(v) of Gaussian u, v with variances s1, s2 and covariance c
    polynomials  Piecewise polynomials in closed form: E[P(Z) He_m(Z) 1(a < Z < b)] by recurrences, with rounding as the only error
    strips       Strip majorants: how large an expression can be on |Im z| <= v, read off its tree; the rules run in
                 floats (to choose a strip) and in balls (to prove a bound)
    trapezoid    The infinite trapezoidal rule for Gaussian expectations, with a proved error
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "gaussian": ("gaussian_expectation",),
        "hermite": ("hermite_table",),
        "kernel": ("gaussian_kernel",),
    },
)
