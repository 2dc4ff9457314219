"""Hermite expansions of feature maps, and means of products over a Gaussian pair.

h_k are the normalised Hermite polynomials, E h_j(Z) h_k(Z) = [j = k].  For unit vectors w, w' with m = w . w' and x ~ N(0, I_d),
    phi(w . x) = sum_k c_k h_k(w . x),   c_k = E phi(Z) h_k(Z),      E_x h_k(w . x) h_k(w' . x) = m^k,
and for independent w, w' on the sphere E m^(2k) = prod_{j<k} (2j + 1)/(d + 2j), so that m^k is of size sqrt((2k-1)!!) d^(-k/2).
A term of the expansion is of size 1 itself: it is its correlation between two directions that is small.

For a Gaussian pair (u, v) with correlation m,
    E f(u) g(v) = sum_k f_k g_k m^k,   f_k = E f(Z) h_k(Z),
a finite sum where one of the factors is a polynomial.  With u = z_* and v = z this is what one gradient step sees of a target g
through a feature s: phi(m) = E g(u) s(v), and along the sphere E g(u) s'(v) (u - m v) = (1 - m^2) phi'(m).

draws       Draws of inner products on the sphere, and of Gaussian pairs
proved      Moments of the inner product of two independent unit vectors
quantities  Coefficients of an expansion, how correlated two random directions are degree by degree, means over a Gaussian pair
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "quantities": (
            "correlation_derivative",
            "correlation_series",
            "feature_mean",
            "feature_noise",
            "feature_slope",
            "gradient_at_start",
            "gradient_series",
            "hermite_coefficient",
            "hermite_entry",
            "hermite_overlap",
            "hermite_polynomial",
            "hermite_rms",
            "pair_mean",
            "spherical_gradient",
        ),
    },
)
