"""Numbers for the mathematics: functions of one variable, proved enclosures, float64 rules, annealed paths.

annealing  Log ratios of normalising constants from both sides, by annealed paths
balls      Balls: the precision of python-flint as a context, exact conversions, and outward rounding into records
errors     What has no number: every error of the rooms that compute, all of them ValueErrors
functions  Activations as expressions of one variable ``x``: read, compiled, differentiated, and what is proved of them
gaussian   Gaussian means and kernels in float64, with quadrature that adapts to the integrand
proved     Enclosures: Gaussian expectations, Hermite coefficients and kernels as balls with a proved radius
"""
