"""Falsified twins of the main theorem (Camilli et al. 2025): one constant, rate or known thing changed.  Each must be REFUTED.

Where T_1, the covariances' part, is negative and of order n, it alone rejects: I^(L) - I^(0) <= T_1, whatever the network does.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import gaussian_mean
from theoryck.theory.learning import (
    covariance_gap,
    free_entropy_variance,
    generalisation_gap,
    gibbs_error,
    mutual_information_gap,
    nishimori_defect,
)
from theoryck.theory.networks import epsilon, eta0, gamma0, rho, sigma

from . import CAMILLI2025

REDUCTION = "(1 + sqrt(n/d) + n/d) / sqrt(d)"
activations = sampled_from([tc.activations.erf, tc.activations.sin, tc.activations.tanh])


def setting(phi, depth=1, noise="1/2"):
    network = tc.DeepNetwork(phi, depth=depth, widths=(1,) * (depth + 1) * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


def path(*sizes, n="d"):
    return tc.ScalingPath(d=sizes or tc.doubling(8, 64), n=n)


def number(quantity):
    return float(quantity.exact({}, 20))


def covariances(phi, against, depth=1):
    return tc.Bound(
        covariance_gap(setting(phi, depth), per_sample=True, against=against),
        rate=REDUCTION,
        along=path(),
        correction=1,
        amplitude=0.5,
    )


# The constants of the linear model --------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/reduction-epsilon-twice", CAMILLI2025)
@tc.for_all(phi=activations)
def noise_counted_twice(phi):
    """The reduction with epsilon = sigma, the linear part counted twice: T_1 < 0 alone exceeds the bound"""
    return covariances(phi, (number(rho(phi, 1)), number(sigma(phi, 1))))


@tc.falsehood("camilli2025/reduction-doubled-signal", CAMILLI2025)
@tc.for_all(phi=activations)
def doubled_signal(phi):
    """The reduction to a linear model whose prior has eta_0 doubled: T_1 < 0 alone exceeds the bound"""
    return covariances(phi, (2 * number(rho(phi, 1)), number(epsilon(phi, 1))))


@tc.falsehood("camilli2025/reduction-relu", CAMILLI2025)
def relu():
    """The reduction for relu, whose mean is not zero, with epsilon = sigma - rho^2 = 1/4: T_1 < 0 alone exceeds the bound"""
    return covariances(tc.activations.relu, (0.5, 0.25))


@tc.falsehood("camilli2025/reduction-unit-variance", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.sin]))
def unit_variance_in_every_layer(phi):
    """The reduction at depth 2 with rho_l and sigma_l at unit variance in every layer: T_1 < 0 alone exceeds the bound"""
    slope, second = number(gaussian_mean(phi.derivative(), 1)), number(sigma(phi, 1))
    rest = second - slope**2
    return covariances(phi, (slope**2, rest * slope**2 + rest), depth=2)


@tc.falsehood("camilli2025/reduction-without-epsilon", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.sin, tc.Activation("sin(2*x)")]))
def no_noise(phi):
    """The reduction with epsilon = 0: phi(W x) replaced by rho W x alone"""
    gap = mutual_information_gap(setting(phi), per_sample=True, against=(number(rho(phi, 1)), 0), target_width=0.1)
    return tc.Bound(gap, rate=REDUCTION, along=path(4, 8, 16, 32), correction=1, amplitude=0.5)


@tc.falsehood("camilli2025/reduction-rho-from-sigma", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.sin]))
def slope_from_second_moment(phi):
    """The reduction with rho = E phi(Z)^2 instead of E phi'(Z), epsilon = sigma - rho^2: T_1 < 0 alone exceeds the bound"""
    slope = number(sigma(phi, 1))
    return covariances(phi, (slope, slope - slope**2))


@tc.falsehood("camilli2025/reduction-one-layer-less", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.sin]))
def linear_model_of_one_layer_less(phi):
    """The two-layer network and the linear model of its first layer: a teacher whose depth the student does not know"""
    against = (number(eta0(phi, 1)), number(gamma0(phi, 1)))
    return covariances(phi, against, depth=2)


# Rates and ranges -----------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/reduction-inverse-square", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.identity, tc.activations.erf]))
def inverse_square_rate(phi):
    """|I^(1) - I^(0)|/n = O(d^-2) at n = d: the rate of one sample"""
    gap = mutual_information_gap(setting(phi), per_sample=True)
    return tc.Bound(gap, rate="d**(-2)", along=path(4, 8, 16, 32), correction=1, amplitude=0.5)


@tc.falsehood("camilli2025/reduction-any-samples", CAMILLI2025)
def any_number_of_samples():
    """|I^(1) - I^(0)|/n = O(1/d) at n = d^2 as at n = d: phi = sin(2x)"""
    gap = mutual_information_gap(setting("sin(2*x)"), per_sample=True, target_width=0.1)
    return tc.Bound(gap, rate="1/d", along=path(2, 3, 4, 5, n="d**2"), correction=1, amplitude=0.2)


@tc.falsehood("camilli2025/concentration-inverse-width-squared", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def variance_of_a_square(depth):
    """Var((1/n) log Z) = O(1/d^2) at n = d, linear phi"""
    return tc.Bound(free_entropy_variance(setting("x", depth)), rate="d**(-2)", along=path(), correction=1, amplitude=0.5)


@tc.falsehood("camilli2025/concentration-samples-squared", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def variance_of_independent_samples_squared(depth):
    """Var((1/n) log Z) = O(1/n^2) at n = d^(1/2), linear phi"""
    along = path(16, 36, 64, 144, n="d**(1/2)")
    return tc.Bound(free_entropy_variance(setting("x", depth)), rate="n**(-2)", along=along, correction=0.5, amplitude=0.5)


@tc.falsehood("camilli2025/concentration-samples-only", CAMILLI2025)
def variance_without_width():
    """Var((1/n) log Z) = O(1/n) at n = d_0 = d_min^2, as if 1/d_min were not there: linear phi"""
    network = tc.DeepNetwork("x", depth=1, widths=("d**2", "d"))
    variance = free_entropy_variance(tc.TeacherStudent(network, samples="n"))
    return tc.Bound(variance, rate="1/n", along=path(4, 6, 8, 12, 16, n="d**2"), correction=1, amplitude=0.5)


# Generalisation -----------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/generalisation-inverse-square", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def error_of_a_student_without_depth(depth):
    """|E^(L) - E^(0)| = O(d^-2) at n = d, linear phi: a student who does not know the depth loses more"""
    return tc.Bound(generalisation_gap(setting("x", depth)), rate="d**(-2)", along=path(), correction=1, amplitude=0.5)


@tc.falsehood("camilli2025/gibbs-for-bayes", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.sin]))
def gibbs_instead_of_bayes(phi):
    """The error of one posterior sample tends to the Bayes error of the linear model at n = d: its excess is twice as large"""
    from theoryck.theory.learning import linear_error

    value = linear_error(1, 0.5, number(rho(phi, 1)), number(epsilon(phi, 1)))
    return tc.Limit(gibbs_error(setting(phi)), path(4, 8, 16), value=value, tolerance=0.03, correction=1, amplitude=0.5)


# Knowledge -----------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/nishimori-wrong-noise", CAMILLI2025)
@tc.for_all(phi=activations, believed=sampled_from([0.25, 1]))
def student_with_the_wrong_noise(phi, believed):
    """E <|Y - a . x|^2>/n = Delta for a student who believes in another noise: n = d = 8, Delta = 1/2"""
    network = tc.DeepNetwork(phi, depth=1, widths=(8, 8))
    defect = nishimori_defect(tc.TeacherStudent(network, samples=8), "residual", student_noise=believed)
    return tc.Identity(defect, 0, tolerance=0.03)
