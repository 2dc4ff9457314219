"""Limits of I^(1) - I^(0) (total, nats) for one hidden layer of a nonlinear odd phi and a linear readout, n = 1 and n = alpha d_0.

Given the inputs, the network's labels have the covariance C_1 = K + Delta with the closed kernel K = h(X) averaged over the
weights, those of the linear model C_0 = rho^2 X^T X + eps + Delta, and exactly
    I^(1) - I^(0) = T - KL,   T = E (1/2) log det(C_1 C_0^-1),   KL = E KL(law of Y given X || N(0, C_1)) >= 0.
T does not depend on the width d_1; KL does, through the unknown common scale of the labels. The limits were derived for this
package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from theoryck.numerics.balls import bits_for, from_ball, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.formulas import FLOAT_DIGITS, Number, evaluate
from theoryck.numerics.proved.hermite import hermite_table
from theoryck.records import Enclosure
from theoryck.records.arguments import exact_number
from theoryck.theory.learning.limits.linear import scalar_mode, share_squared
from theoryck.theory.spectra.limits.marchenko_pastur import resolvent, tau_formula


@dataclass(frozen=True, slots=True)
class VarianceTaylor:
    """g(s) = E phi(sqrt(s) Z)^2 and r(s) = E phi'(sqrt(s) Z) with two derivatives at s = 1, and c_3 = E[phi(Z) He_3(Z)]/sqrt(6)
    squared.

    d/ds E F(sqrt(s) Z) = E[F''(sqrt(s) Z)]/2, and E F''= E[F He_2] at s = 1, so that no derivative of phi is needed:
    g' = E[phi^2 He_2]/2, g'' = E[phi^2 He_4]/4, r = E[phi He_1], r' = E[phi He_3]/2, r'' = E[phi He_5]/4.
    """

    g: Enclosure
    g1: Enclosure
    g2: Enclosure
    r: Enclosure
    he3: Enclosure
    he5: Enclosure


@lru_cache(maxsize=256)
def variance_taylor(activation: Activation, digits: int = 30) -> VarianceTaylor:
    """Return the Gaussian moments of phi at s = 1 that the limits need, as Enclosures with about ``digits`` digits.

    >>> taylor = variance_taylor(Activation("sin(x)"))
    >>> float(taylor.g1), float(taylor.r)
    (0.1353352832..., 0.6065306597...)
    """
    bits = bits_for(digits, 40)
    with precision(bits + 32):
        table = hermite_table(activation, 1, 2, 5, bits)
        balls = (table[2][0], table[2][2] / 2, table[2][4] / 4, table[1][1], table[1][3], table[1][5])
        return VarianceTaylor(*(from_ball(ball, digits + 5) for ball in balls))


def _odd(activation: Activation | str) -> Activation:
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if not phi.properties.odd.value:
        raise ValueError(f"activation must be odd for these limits, got {phi.text}: {phi.properties.odd.detail}")
    if phi.properties.linear.value and phi.text == "0":
        raise ValueError(f"activation must not be 0, got {activation!r}: a network of it has no output to learn")
    return phi


def one_sample_gap_limit(activation: Activation | str, noise: Number, digits: int | None = None) -> Any:
    """Return lim d_0 (I_1^(1) - I_1^(0)) for ONE sample, one hidden layer, linear readout: the 1/d_0 constant.

    (1/2) [g''/(sigma + Delta) + (rho^4 - g'^2)/(sigma + Delta)^2], g(s) = E phi(sqrt(s) Z)^2 with derivatives at s = 1, sigma =
    g(1), rho = E phi'(Z).  phi is odd.  A float, or an Enclosure with ``digits`` (proved where the moments of phi are).  Raises
    ValueError for noise <= 0 and for phi that is not odd.

    >>> one_sample_gap_limit("sin(x)", "1/2")
    -0.077846577...
    """
    delta = exact_number(noise, "noise", low=0)
    m = variance_taylor(_odd(activation), (digits or FLOAT_DIGITS) + 15)

    def formula(iv: Any, delta: Any, g: Any, g1: Any, g2: Any, r: Any) -> Any:
        total = g + delta
        return (g2 / total + (r * r * r * r - g1 * g1) / (total * total)) / 2

    return evaluate(formula, (delta, m.g, m.g1, m.g2, m.r), digits)


def covariance_gap_limit(activation: Activation | str, alpha: Number, noise: Number, digits: int | None = None) -> Any:
    """Return lim T, T = E (1/2) log det(C_1 C_0^-1), for one hidden layer, n = alpha d_0: the part of the gap that the kernels
    make.

    With tau = tau(alpha, rho^2/c), c = eps + Delta, F(S) = g(S) - r(S)^2 S (1 - tau) + Delta at S = 1 and c_3 the third normalised
    Hermite coefficient of phi,
        T = (alpha/2) [F''/F - (F'/F)^2 + (rho^2 tau/F)^2] - (3/2) alpha^2 c_3^2 (lam tau/c)/(1 + lam tau)^2,   lam = rho^2/c:
    the first from the fluctuations of |x|^2 on the diagonal, the second from the cubic part of the kernel off it.  Also an upper
    bound of the limit of the gap.  phi is odd.  A float, or an Enclosure with ``digits``.  Raises ValueError for alpha or noise <=
    0, or phi not odd.

    >>> covariance_gap_limit("erf(x)", 1, "1/2"), covariance_gap_limit("x", 1, "1/2")
    (-0.06058629..., 0.0)
    """
    a, delta = exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0)
    phi = _odd(activation)
    if phi.properties.linear.value:
        return evaluate(lambda iv, _: iv.mpf(0), (a,), digits)
    m = variance_taylor(phi, (digits or FLOAT_DIGITS) + 15)
    return evaluate(_covariance_gap, (a, delta, m.g, m.g1, m.g2, m.r, m.he3, m.he5), digits)


def _covariance_gap(iv: Any, alpha: Any, delta: Any, g: Any, g1: Any, g2: Any, r: Any, he3: Any, he5: Any) -> Any:
    rho2, r1, r2 = r * r, he3 / 2, he5 / 4
    c = g - rho2 + delta
    lam = rho2 / c
    tau = tau_formula(iv, alpha, lam)
    known = 1 - tau
    # (r^2 S)' = 2 r r' S + r^2 and (r^2 S)'' = 2 r'^2 S + 2 r r'' S + 4 r r' at S = 1.
    f = g - rho2 * known + delta
    f1 = g1 - known * (2 * r * r1 + rho2)
    f2 = g2 - known * (2 * r1 * r1 + 2 * r * r2 + 4 * r * r1)
    diagonal = alpha / 2 * (f2 / f - (f1 / f) * (f1 / f) + (rho2 * tau / f) * (rho2 * tau / f))
    cubic = alpha * alpha * he3 * he3 / 4 * (lam * tau / c) / ((1 + lam * tau) * (1 + lam * tau))
    return diagonal - cubic


def one_layer_gap_limit(
    activation: Activation | str, alpha: Number, noise: Number, width_ratio: Number = 1, digits: int | None = None
) -> Any:
    """Return lim I_n^(1) - I_n^(0) (TOTAL, nats) for one hidden layer, linear readout, n = alpha d_0, d_0/d_1 = ``width_ratio``.

    T - [x - log(1 + x)]/2 with T of :func:`covariance_gap_limit`, x = alpha (d_0/d_1) m_2, m_2 = lim (1/n) tr [K (K + Delta)^-1]^2
    for K = rho^2 X^T X + eps.  The total is bounded, so the difference per sample decays as 1/n.  phi is odd; for linear phi T =
    0.  A float, or an Enclosure with ``digits``.  Raises ValueError for alpha, noise or width_ratio <= 0, or phi not odd.

    >>> one_layer_gap_limit("erf(x)", 1, "1/2"), one_layer_gap_limit("x", 1, "1/2")
    (-0.06952165..., -0.02282563...)
    """
    a, delta = exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0)
    ratio = exact_number(width_ratio, "width_ratio", low=0)
    phi = _odd(activation)
    m = variance_taylor(phi, (digits or FLOAT_DIGITS) + 15)
    linear = bool(phi.properties.linear.value)

    def formula(iv: Any, alpha: Any, delta: Any, ratio: Any, *moments: Any) -> Any:
        g, r = moments[0], moments[3]
        eps = iv.mpf(0) if linear else g - r * r
        kl = scalar_mode(iv, alpha * ratio * share_squared(iv, alpha, r * r, eps, delta))
        return -kl if linear else _covariance_gap(iv, alpha, delta, *moments) - kl

    return evaluate(formula, (a, delta, ratio, m.g, m.g1, m.g2, m.r, m.he3, m.he5), digits)


def one_layer_linear_error_limit(activation: Activation | str, alpha: Number, noise: Number, digits: int | None = None) -> Any:
    """Return lim d_0 (E_lin - E^(0)), the error of the best LINEAR predictor of one hidden layer above that of the linear model.

    E_lin = Delta + E[k_00 - k^T C_1^-1 k] with the exact kernel is Bayes-optimal among predictors linear in the labels, whatever
    d_1. With T(alpha), F and tau of :func:`covariance_gap_limit` the limit is
        2 F T'(alpha) + (F'^2 - rho^4 tau^2)/F   at S = 1.
    phi is odd.  A float, or an Enclosure with ``digits``.  Raises ValueError for alpha or noise <= 0, or phi not odd.

    Derivation: T(alpha + 1/d_0) - T(alpha) = E log(V_1/V_0)/2 with V_1, V_0 the predictive variances at a new input, both F +
    O(d^-1/2). Their fluctuations come from the new input: (2/d_0) times F'^2 and rho^4 tau^2 along |x|^2, and equal parts
    orthogonal to it.

    >>> one_layer_linear_error_limit("erf(x)", 1, "1/2"), one_layer_linear_error_limit("x", 1, "1/2")
    (-0.21..., 0.0)
    """
    a, delta = exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0)
    phi = _odd(activation)
    if phi.properties.linear.value:
        return evaluate(lambda iv, _: iv.mpf(0), (a,), digits)
    m = variance_taylor(phi, (digits or FLOAT_DIGITS) + 15)
    return evaluate(_linear_error_gap, (a, delta, m.g, m.g1, m.g2, m.r, m.he3, m.he5), digits)


def _linear_error_gap(iv: Any, alpha: Any, delta: Any, g: Any, g1: Any, g2: Any, r: Any, he3: Any, he5: Any) -> Any:
    rho2, r1, r2 = r * r, he3 / 2, he5 / 4
    c = g - rho2 + delta
    lam = rho2 / c
    tau = tau_formula(iv, alpha, lam)
    b = 1 + lam * (alpha - 1)
    tau_slope = -lam * tau / iv.sqrt(b * b + 4 * lam)  # from lam tau^2 + b tau = 1
    # F, F' and F'' are linear in tau with these slopes.
    a1, a2 = 2 * r * r1 + rho2, 2 * r1 * r1 + 2 * r * r2 + 4 * r * r1
    f, f1, f2 = c + rho2 * tau, g1 - (1 - tau) * a1, g2 - (1 - tau) * a2
    u, w = f1 / f, rho2 * tau / f
    diagonal = f2 / f - u * u + w * w
    diagonal_slope = (a2 - f2 * rho2 / f - 2 * u * (a1 - u * rho2) + 2 * w * (rho2 - w * rho2)) / f
    size = 1 + lam * tau
    cubic = he3 * he3 / 4 * lam / c
    q, q_slope = cubic * tau / (size * size), cubic * (1 - lam * tau) / (size * size * size)
    slope = (diagonal + alpha * diagonal_slope * tau_slope) / 2 - 2 * alpha * q - alpha * alpha * q_slope * tau_slope
    return 2 * f * slope + (f1 * f1 - rho2 * rho2 * tau * tau) / f


def one_layer_error_limit(
    activation: Activation | str, alpha: Number, noise: Number, width_ratio: Number = 1, digits: int | None = None
) -> Any:
    """Return lim d_0 (E^(1) - E^(0)), the Bayes error of one hidden layer above that of the linear model; d_0/d_1 =
    ``width_ratio``.

    :func:`one_layer_linear_error_limit` less what Bayes gains by learning the common scale of the labels,
        2 Delta^2 mu (d_0/d_1) x/(1 + x),   mu = lim (1/d_0) sum_i rho^4 lam_i/(rho^2 lam_i + eps + Delta)^3,
    lam_i the eigenvalues of X X^T and x that of :func:`one_layer_gap_limit`.  phi is odd.  A float, or an Enclosure with
    ``digits``. Raises ValueError for alpha, noise or width_ratio <= 0, or phi not odd.

    >>> one_layer_error_limit("erf(x)", 1, "1/2"), one_layer_error_limit("x", 1, "1/2")
    (-0.22..., -0.037037...)
    """
    a, delta = exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0)
    ratio = exact_number(width_ratio, "width_ratio", low=0)
    phi = _odd(activation)
    m = variance_taylor(phi, (digits or FLOAT_DIGITS) + 15)
    linear = bool(phi.properties.linear.value)

    def formula(iv: Any, alpha: Any, delta: Any, ratio: Any, *moments: Any) -> Any:
        g, rho2 = moments[0], moments[3] * moments[3]
        eps = iv.mpf(0) if linear else g - rho2
        x = alpha * ratio * share_squared(iv, alpha, rho2, eps, delta)
        _, first, second = resolvent(iv, alpha, (eps + delta) / rho2)
        mu = -(first + (eps + delta) / rho2 * second / 2) / rho2
        gain = 2 * delta * delta * mu * ratio * x / (1 + x)
        return -gain if linear else _linear_error_gap(iv, alpha, delta, *moments) - gain

    return evaluate(formula, (a, delta, ratio, m.g, m.g1, m.g2, m.r, m.he3, m.he5), digits)
