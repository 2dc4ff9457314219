"""The constants sigma_l, rho_l, epsilon_l, eta_0, gamma_0 and the identities between them (Camilli et al. 2025).

Setting.   Z ~ N(0, 1),  sigma_0 = 1,  sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2,  rho_l = E phi'(sqrt(sigma_{l-1}) Z),
           epsilon_l = sigma_l - sigma_{l-1} rho_l^2,  eta_0 = prod_i rho_i,  gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2.
Both sides of every identity are enclosures; closed forms share no code with the Gaussian expectations they are compared with.
"""

from fractions import Fraction

from hypothesis import assume
from hypothesis.strategies import integers, sampled_from
from sympy import Rational, atan, exp, pi, sign, sinh, sqrt

import theoryck as tc
from theoryck.numerics.functions import x
from theoryck.quantities import closed_form, gaussian_mean, kernel
from theoryck.theory.networks import epsilon, eta0, gamma0, rho, sigma

from . import CAMILLI2025

layers = integers(1, 4)
variances = sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4)])
shares = sampled_from([Fraction(-3, 4), Fraction(1, 10), Fraction(1, 2)])
any_activation = sampled_from([*tc.activations.smooth_odd, tc.activations.relu, tc.activations.he2, tc.activations.gelu])


@tc.theorem("camilli2025/stein", CAMILLI2025)
@tc.for_all(phi=tc.strategies.smooth_odd_activations(), s=variances)
def stein(phi, s):
    """E[X phi(X)] = s E[phi'(X)] for X ~ N(0, s)"""
    derivative_mean = gaussian_mean(phi.derivative(), s)
    return tc.Identity(gaussian_mean(x * phi.expression, s), s * derivative_mean, rivals=[derivative_mean, s**2 * derivative_mean])


@tc.theorem("camilli2025/bessel", CAMILLI2025)
@tc.for_all(phi=any_activation, layer=layers)
def bessel(phi, layer):
    """epsilon_l > 0 unless phi is linear"""
    assume(not phi.properties.linear.value)
    return tc.Bound(-epsilon(phi, layer), at_most=0, rivals=[-2])


@tc.theorem("camilli2025/bessel-equality", CAMILLI2025)
@tc.for_all(slope=sampled_from([Fraction(1, 3), Fraction(1), Fraction(-2)]), layer=layers)
def bessel_equality(slope, layer):
    """epsilon_l = 0 when phi is linear"""
    return tc.Identity(epsilon(tc.Activation(slope * x), layer), 0, rivals=[Fraction(1, 1000)])


@tc.theorem("camilli2025/telescoping", CAMILLI2025)
@tc.for_all(phi=tc.strategies.smooth_odd_activations(), depth=layers)
def telescoping(phi, depth):
    """sigma_L = eta_0^2 + gamma_0"""
    assume(not phi.properties.linear.value)
    return tc.Identity(
        sigma(phi, depth), eta0(phi, depth) ** 2 + gamma0(phi, depth), rivals=[eta0(phi, depth) + gamma0(phi, depth)]
    )


@tc.theorem("camilli2025/tanh-derivative", CAMILLI2025)
@tc.for_all(layer=layers)
def tanh_derivative(layer):
    """rho_l = 1 - sigma_l for phi = tanh"""
    phi = tc.activations.tanh
    return tc.Identity(rho(phi, layer), 1 - sigma(phi, layer), rivals=[sigma(phi, layer)])


@tc.theorem("camilli2025/closed-form-erf", CAMILLI2025)
@tc.for_all(s=variances, t=variances, share=shares)
def closed_form_erf(s, t, share):
    """E erf(U) erf(V) = (2/pi) asin(2c / sqrt((1+2s)(1+2t))), (U, V) Gaussian with variances s, t and covariance c"""
    c = share * min(s, t)

    def closed(two):
        sine_squared = Rational((two * c) ** 2 / ((1 + two * s) * (1 + two * t)))
        return closed_form(
            2 / pi * sign(Rational(c)) * atan(sqrt(sine_squared / (1 - sine_squared)))
        )  # asin(r) = atan(r/sqrt(1-r^2))

    return tc.Identity(kernel(tc.activations.erf, s, t, c), closed(2), rivals=[closed(1)])


@tc.theorem("camilli2025/closed-form-sin", CAMILLI2025)
@tc.for_all(s=variances, t=variances, share=shares)
def closed_form_sin(s, t, share):
    """E sin(U) sin(V) = exp(-(s+t)/2) sinh(c)"""
    c = share * min(s, t)
    decay = exp(-Rational(s + t) / 2)
    return tc.Identity(
        kernel(tc.activations.sin, s, t, c), closed_form(decay * sinh(Rational(c))), rivals=[closed_form(decay * Rational(c))]
    )


@tc.theorem("camilli2025/closed-form-x-gauss", CAMILLI2025)
@tc.for_all(s=variances)
def closed_form_x_gauss(s):
    """E phi(X)^2 = s (1+2s)^(-3/2) for phi(x) = x exp(-x^2/2) and X ~ N(0, s)"""
    mean = gaussian_mean(tc.activations.x_gauss.expression**2, s)
    return tc.Identity(mean, closed_form(Rational(s) / Rational(1 + 2 * s) ** Rational(3, 2)), rivals=[s / (1 + 2 * s)])
