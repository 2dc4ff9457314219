"""The models (Loureiro et al. 2021): one matched and isotropic, one with four eigenvalues and a teacher that it misses in part."""

import math

from theoryck.theory.covariates import CovariateModel

EIGENVALUES = [0.2, 0.8, 1.4, 2.0]

isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
spread = CovariateModel(EIGENVALUES, [0.5 * w**1.5 * math.exp(-w) for w in EIGENVALUES], rho=1, gamma=0.5)
