"""The order parameter of deep linear networks at zero temperature, the evidence and the predictor (Li, Sompolinsky 2021).

Setting.   As in the folder; exact values are integrals over t in balls (theoryck.theory.renormalisation.proved.linear), order
           parameters are roots of the paper's equation, found here.
Claim.     1 - u = alpha (1 - r u^-L)  (Li, Sompolinsky 2021).
Truth.     E t -> u^L with a difference of order 1/N, whose constant is known for one layer: with s(v) = (e^v - v + alpha (r e^-v +
           v))/2, E t - u ~ u (1 - s'''/s'')/(2 N s'') at v = log u.  log Z is that of the saddle with its fluctuations to 1/N.
"""

import math

from hypothesis.strategies import sampled_from
from scipy.optimize import brentq

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import bayesian_network, linear_posterior, spectrum_posterior

from . import LI2021

HALF = "1/2"
cases = sampled_from([(1, 2), (1, "1/4"), (2, 2), (3, 2), (3, "1/4")])
"""(L, r): labels larger or smaller than the prior expects."""


def ratio(r):
    return 0.25 if r == "1/4" else float(r)


def order(depth, r, alpha=0.5, sign=1):
    """The root of 1 - u = alpha (1 - r u^-L), u^L between 1 and r; ``sign`` -1 is that of an action with + log Q."""
    ends = (1e-3, 50.0) if sign < 0 else sorted((0.999 * min(r, 1) ** (1 / depth), 1.001 * max(r, 1) ** (1 / depth)))
    return brentq(lambda u: u - sign + alpha * (1 - r * u**-depth), *ends, xtol=1e-15)


def posterior(depth, r, n):
    """The exact one: P = N/2 orthonormal inputs, |y|^2 = r P."""
    count = n // 2
    return spectrum_posterior([1], [ratio(r) * count], [count], widths=[n] * depth, temperature=0, digits=20)


def mean_order(depth, r):
    """E t of the posterior."""
    return formula(
        lambda N: float(posterior(depth, r, N).scale), name=f"E t, L = {depth}, r = {r}", sizes=("N",), relative_error=1e-15
    )


def gap(depth, r):
    """E t - u^L."""
    value = order(depth, ratio(r)) ** depth
    return formula(
        lambda N: float(posterior(depth, r, N).scale) - value,
        name=f"E t - u^L, L = {depth}, r = {r}",
        sizes=("N",),
        relative_error=1e-9,
    )


def path(*sizes):
    return tc.ScalingPath(N=sizes or (16, 32, 64, 128, 256))


@tc.theorem("li2021/order-parameter", LI2021)
@tc.for_all(case=cases)
def order_parameter(case):
    """E t -> u^L, 1 - u = alpha (1 - r u^-L), with a difference O(1/N)"""
    depth, r = case
    value = order(depth, ratio(r)) ** depth
    # the Gaussian process, interpolation by one layer's equation, and the whole of the label's size
    rivals = [1, ratio(r)] + ([order(1, ratio(r))] if depth > 1 else [])
    return tc.Limit(mean_order(depth, r), path(), value=value, rate="1/N", rivals=rivals, tolerance=0.005, correction=1)


@tc.theorem("li2021/order-parameter-rate", LI2021)
@tc.for_all(case=cases)
def order_parameter_rate(case):
    """E t - u^L ~ 1/N, exact values"""
    depth, r = case
    return tc.Scaling(gap(depth, r), path(), exponent=-1, rivals=["-1/2", -2], correction=1, within=0.01)


@tc.theorem("li2021/order-parameter-constant", LI2021)
@tc.for_all(r=sampled_from([2, "1/4"]))
def order_parameter_constant(r):
    """N (E t - u) -> u (1 - s'''/s'')/(2 s'') for one layer"""
    u = order(1, ratio(r))
    second, third = (u + 0.5 * ratio(r) / u) / 2, (u - 0.5 * ratio(r) / u) / 2
    value = u * (1 - third / second) / (2 * second)
    return tc.Scaling(
        gap(1, r), path(), exponent=-1, constant=value, tolerance=abs(value) / 50, rivals=["-1/2", -2], correction=1, within=0.01
    )


@tc.theorem("li2021/evidence", LI2021)
@tc.for_all(case=cases)
def evidence(case):
    """log Z less that of the saddle with its fluctuations ~ 1/N"""
    depth, r = case

    def difference(N):
        count = N // 2
        labels = [math.sqrt(ratio(r))] * count
        kernel = [[float(i == j) for j in range(count)] for i in range(count)]
        saddle = bayesian_network(kernel, labels, widths=[N] * depth, temperature=0)
        return float(posterior(depth, r, N).log_evidence) - saddle.one_loop

    measured = formula(difference, name=f"log Z - saddle, L = {depth}, r = {r}", sizes=("N",), relative_error=1e-7)
    return tc.Scaling(measured, path(16, 32, 64, 128), exponent=-1, rivals=[0, -2], correction=1, within=0.01)


def interpolating(widths):
    """The exact one: two inputs and a new one, T = 0; ``widths`` inf is the Gaussian process."""
    inputs, labels, new = [[1, "1/2", 0], ["1/4", -1, 1]], [1, -2], [["1/3", "1/5", -1]]
    return linear_posterior(inputs, labels, widths=widths, temperature=0, new_inputs=new)


@tc.theorem("li2021/predictor-mean", LI2021)
@tc.for_all(widths=sampled_from([(4,), (4, 4), (3, 5, 7)]))
def predictor_mean(widths):
    """E f(x) = k^T K^-1 y at every width: the mean is not renormalised at T = 0"""
    process, found = interpolating(math.inf).mean[0], interpolating(list(widths))
    measured = formula(lambda: float(found.mean[0]), name=f"E f, widths {widths}", sizes=(), relative_error=1e-15)
    scale = float(found.scale)
    return tc.Identity(measured, float(process), tolerance=1e-12, rivals=[scale * float(process), 0])


@tc.theorem("li2021/predictor-variance", LI2021)
@tc.for_all(widths=sampled_from([(4,), (4, 4), (3, 5, 7)]))
def predictor_variance(widths):
    """Var f(x) = E t (k_0 - k^T K^-1 k) at every width"""
    process, found = interpolating(math.inf).variance[0], interpolating(list(widths))
    measured = formula(lambda: float(found.variance[0]), name=f"Var f, widths {widths}", sizes=(), relative_error=1e-15)
    value = float(found.scale) * float(process)
    return tc.Identity(measured, value, tolerance=1e-12, rivals=[float(process), 0])


@tc.theorem("li2021/depth", LI2021)
@tc.for_all(r=sampled_from([2, "1/4"]))
def depth(r):
    """u^L - r ~ -(r log r/alpha)/L: a deep network's scale is that of its labels"""
    value = ratio(r)
    measured = formula(lambda L: order(L, value) ** L - value, name=f"u^L - r, r = {r}", sizes=("L",), relative_error=1e-9)
    constant = -value * math.log(value) / 0.5
    return tc.Scaling(
        measured,
        tc.ScalingPath(L=(32, 64, 128, 256, 512)),
        exponent=-1,
        constant=constant,
        tolerance=abs(constant) / 50,
        rivals=["-1/2", -2],
        correction=1,
        within=0.01,
    )
