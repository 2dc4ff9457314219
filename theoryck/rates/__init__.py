"""The language of rates: text, sums of monomials in the sizes, and the paths along which sizes go to their limit.

directions  Where sizes go: to infinity or to 0, which their names suggest, and the large parameter that the fits see
monomials  What rates are sums of, and the algebra of such sums in exact rationals
parsing  Reads the text of a rate or of a size expression into a sum of monomials, with a whitelist over ``ast``
paths    ScalingPath: how the sizes go to their limit together, and the exponents of each size in the base
rate     Rate: a finite sum of monomials ``c * prod x_i**q_i * log(x_i)**r_i`` in the sizes, with exact rational powers
unknown  An exponent that is to be measured, such as alpha in ``n**(-alpha)*log(n)``
"""

from theoryck.rates.monomials import RateError
from theoryck.rates.paths import PathError, ScalingPath, doubling, halving
from theoryck.rates.rate import Rate

__all__ = ["PathError", "Rate", "RateError", "ScalingPath", "doubling", "halving"]
