"""From data to an exponent with an honest interval; blind to what is claimed.

approach         fit_approach: a limit whose approach is a declared rate, or any from ``d**-1/10`` and ``1/log d`` on
approach_errors  Errors of values that approach a limit, from their scatter about the approach: none given, or stated
corrections      Corrections to scaling: the family of next-order terms that an exponent's interval must allow for
data             Measurements as the fits see them: signs, log-magnitudes and log-errors, with the questions asked of them
fit              fit_rate: the exponent of ``Q ~ A d**s`` with an interval that covers statistical error and corrections to scaling
joint            fit_rate_jointly: several sizes at once, one exponent for each, from measurements on a grid
limit            fit_limit: the limit of a sequence whose corrections are declared, with an interval that covers them and the noise
linear           The linear algebra of the fits: designs of very different column sizes, rows of very different weights; designs
loss             fit_loss_law: ``E + sum A_i x_i**-a_i`` on scattered sizes, by least squares with intervals from profiles
optimise         The posterior mode of a power law with corrections: linear on the logarithm, refined by Gauss-Newton on the values
result           RateFit: what a fit of ``Q ~ A d**s`` found, and the limits that can be asked of it
scan             Every approach to a limit at once: chi2 as a quadratic in limit and amplitude, exponent by exponent
scatter          Measurements without standard errors: one unknown relative noise for all, taken from what no smooth curve explains
slower           Explanations: what is slower than a declared rate, growth without limit included, and explains the values
"""

from theoryck.fitting.fit import fit_rate
from theoryck.fitting.result import RateFit

__all__ = ["RateFit", "fit_rate"]
