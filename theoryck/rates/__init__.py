"""Rates, scaling paths and the fit of an exponent: everything here is blind to what is claimed."""

from theoryck.rates.fit import RateFit, fit_rate
from theoryck.rates.parsing import RateError
from theoryck.rates.paths import PathError, ScalingPath, doubling
from theoryck.rates.rate import Rate

__all__ = ["PathError", "Rate", "RateError", "RateFit", "ScalingPath", "doubling", "fit_rate"]
