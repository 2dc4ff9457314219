"""Falsified twins (Loureiro et al. 2021): one term of an equation or one assumption changed.  Each must be REFUTED."""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import CovariateModel, covariate_error, covariate_limit, covariate_variance, erf_features_error

from . import LOUREIRO2021
from .concentration import deviation
from .models import spread
from .random_features import KAPPA_1, KAPPA_STAR

ALPHA, PENALTY = 2, 0.1
ROOT_GAMMA = math.sqrt(spread.gamma)


def path(*sizes):
    return tc.ScalingPath(p=sizes or (8, 16, 32, 64), n="2*p")


def ridge_error(*, coherent=1.0, root_gamma=ROOT_GAMMA, power=1, response=lambda V: 1 + V, train=lambda V: (1 + V) ** 2):
    """Test and training error of the fixed point of ``spread``, as printed or with one of its terms changed, by plain iteration.

    ``coherent`` multiplies m_hat^2 in q, ``root_gamma`` stands for sqrt(gamma), ``power`` is the power of omega in V, ``response``
    is what alpha is divided by in V_hat, ``train`` what the error is divided by.
    """
    bins = list(zip(spread.omega, spread.diagonal))

    def mean(function):
        return sum(function(w, t) for w, t in bins) / len(bins)

    V, q, m = 1.0, 1.0, 0.5
    for _ in range(2000):
        hat, error = ALPHA / response(V), spread.rho + q - 2 * m
        noise, signal = ALPHA * error / (1 + V) ** 2, ALPHA / root_gamma / (1 + V)
        V = mean(lambda w, t, hat=hat: w**power / (PENALTY + hat * w))
        q = mean(lambda w, t, hat=hat, a=noise, b=signal: (a * w + coherent * b * b * t) * w / (PENALTY + hat * w) ** 2)
        m = signal / root_gamma * mean(lambda w, t, hat=hat: t / (PENALTY + hat * w))
    error = spread.rho + q - 2 * m
    return {"test_error": error, "train_loss": error / train(V)}


def against_ridge(what, **changes):
    """The claim that the simulated error tends to the changed fixed point."""
    measured = covariate_error(spread, PENALTY, what=what, teacher="given features")
    limit = ridge_error(**changes)[what]
    return tc.Limit(measured, path(), value=limit, tolerance=0.02 * abs(limit), correction=1)


# The fixed point -------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2021/without-signal", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def without_signal(what):
    """q = <q_hat omega^2/(lambda + V_hat omega)^2>, without m_hat^2 t: the weights as noise alone"""
    return against_ridge(what, coherent=0.0)


@tc.falsehood("loureiro2021/without-gamma", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def without_gamma(what):
    """m_hat and m without 1/sqrt(gamma), as if the teacher had as many directions as the student"""
    return against_ridge(what, root_gamma=1.0)


@tc.falsehood("loureiro2021/response-without-omega", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def response_without_omega(what):
    """V = <1/(lambda + V_hat omega)>: the trace of the resolvent without Omega"""
    return against_ridge(what, power=0)


@tc.falsehood("loureiro2021/response-without-feedback", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def response_without_feedback(what):
    """V_hat = alpha: as if the samples were not fitted"""
    return against_ridge(what, response=lambda V: 1.0)


@tc.falsehood("loureiro2021/training-single-power", LOUREIRO2021)
def training_with_one_power():
    """Training error E/(1 + V), with one power"""
    return against_ridge("train_loss", train=lambda V: 1 + V)


@tc.falsehood("loureiro2021/logistic-is-square", LOUREIRO2021)
def logistic_as_square():
    """The training loss of logistic regression is that of the parabola that touches it at 0"""
    parabola = covariate_limit(spread, ALPHA, 4 * PENALTY, "classification").train_loss
    # log(1 + e^-z) = log 2 - z/2 + z^2/8 + ... = (z - 2 y)^2/8 + log 2 - 1/2 for y z = z, and (z - 2)^2/8 = 2 (z/2 - 1)^2/4
    limit = 2 * parabola + math.log(2) - 0.5
    measured = covariate_error(spread, PENALTY, "logistic", what="train_loss")
    return tc.Limit(measured, path(), value=limit, tolerance=0.02 * limit, correction=1)


# Random features -------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2021/features-without-noise", LOUREIRO2021)
@tc.for_all(task=sampled_from(["ridge", "classification", "logistic"]))
def features_without_noise(task):
    """erf(F x) learns as kappa_1 F x does: kappa_* = 0"""
    limit = covariate_limit(CovariateModel.random_features(KAPPA_1, 1e-6, gamma=1), 2, PENALTY, task).test_error
    along = tc.ScalingPath(p=(8, 16, 32, 64), n="2*p", d="p")
    return tc.Limit(erf_features_error(PENALTY, task), along, value=limit, tolerance=0.02 * limit, correction=1)


@tc.falsehood("loureiro2021/features-counted-twice", LOUREIRO2021)
@tc.for_all(task=sampled_from(["ridge", "classification", "logistic"]))
def features_counted_twice(task):
    """kappa_*^2 = E erf(z)^2, without subtracting kappa_1^2"""
    both = math.sqrt(KAPPA_1**2 + KAPPA_STAR**2)
    limit = covariate_limit(CovariateModel.random_features(KAPPA_1, both, gamma=1), 2, PENALTY, task).test_error
    along = tc.ScalingPath(p=(8, 16, 32, 64), n="2*p", d="p")
    return tc.Limit(erf_features_error(PENALTY, task), along, value=limit, tolerance=0.02 * limit, correction=1)


# Concentration ---------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2021/faster-tail", LOUREIRO2021)
@tc.for_all(task=sampled_from(["ridge", "classification", "logistic"]), what=sampled_from(["test_error", "train_loss"]))
def faster_tail(task, what):
    """P(|error - limit| >= epsilon) <= (C/epsilon) e^(-c n^2 epsilon^2), hence E (error - limit)^2 = O(log(n)/n^2)"""
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    return tc.Bound(deviation(task, what, 2), rate="log(n)/n**2", along=along, correction=1)


@tc.falsehood("loureiro2021/averaged-fluctuates", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def averaged_fluctuates(what):
    """Errors averaged over teacher and noise still fluctuate by n^(-1/2)"""
    variance = covariate_variance(spread, 0.5, noise=0.25, what=what, teacher="averaged")
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    return tc.Scaling(variance, along, exponent=-1, correction=1)


@tc.falsehood("loureiro2021/drawn-does-not", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def drawn_does_not(what):
    """Errors with the teacher drawn fluctuate by 1/n, as averaged ones do"""
    variance = covariate_variance(spread, 0.5, noise=0.25, what=what, teacher="given features")
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    return tc.Scaling(variance, along, exponent=-2, correction=1)
