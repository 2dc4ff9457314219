"""Limits for the linear readout: information and error of the linear model, and what the depth of a linear network changes.

Sizes grow in fixed proportions, n = alpha d_0; ``ratios`` = (d_0, ..., d_L) up to a common factor.  K = X^T X is the Gram matrix of
the inputs, Delta the noise.  A deep linear network is Y = s v.x_0 + noise with s^2 a product of independent chi^2_{d_l}/d_l: all
that tells it from the linear model is that one random scale (the "scalar mode"). What depth changes was derived
for this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from theoryck.numerics.proved.formulas import Number, evaluate
from theoryck.records.arguments import exact_number
from theoryck.theory.spectra.limits.marchenko_pastur import gram_resolvent, resolvent, tau_formula


def _width_sum(ratios: Sequence[Any]) -> Fraction:
    """Return sum_{l >= 1} d_0/d_l."""
    if isinstance(ratios, str | bytes) or not isinstance(ratios, Sequence) or not ratios:
        raise ValueError(f"ratios must be a sequence (d_0, ..., d_L) of proportions, input first, got {ratios!r}")
    widths = [exact_number(ratio, f"ratios[{i}]", low=0) for i, ratio in enumerate(ratios)]
    exact = [width for width in widths if isinstance(width, Fraction)]
    if len(exact) < len(widths):
        raise ValueError(f"ratios must be exact numbers, got {ratios!r}")
    return sum((exact[0] / width for width in exact[1:]), Fraction(0))


def _alpha_noise(alpha: Number, noise: Number) -> tuple[Any, Any]:
    return exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0)


def scalar_mode(iv: Any, x: Any) -> Any:
    """(x - log(1 + x))/2."""
    return (x - iv.log(1 + x)) / 2


def share_squared(iv: Any, alpha: Any, rho2: Any, eps: Any, noise: Any) -> Any:
    """m_2 = 1 - 2 Delta R(eps + Delta) - Delta^2 R'(eps + Delta)."""
    r, slope = gram_resolvent(iv, alpha, rho2, eps + noise)
    return 1 - 2 * noise * r - noise * noise * slope


def linear_information(alpha: Number, noise: Number, eta0: Number = 1, gamma0: Number = 0, digits: int | None = None) -> Any:
    """Return lim I_n/n (nats per sample) of Y = eta_0 v.x + sqrt(gamma_0) xi + sqrt(Delta) Z, v and xi both unknown.

    (1/2) log(1 + gamma_0/Delta) + [-log tau + alpha log(1 + lam tau) - (1 - tau)]/(2 alpha), lam = eta_0^2/(gamma_0 + Delta),
    tau = tau(alpha, lam) of :func:`~theoryck.theory.spectra.limits.marchenko_pastur.overlap_deficit`; n = alpha d samples x ~ N(0,
    I/d), v ~ N(0, I). A float, or a proved Enclosure with ``digits``.  Raises ValueError for alpha or noise <= 0, or gamma_0 < 0.

    >>> linear_information(1, "1/2")
    0.44314...
    """
    a, delta = _alpha_noise(alpha, noise)
    eta, gamma = exact_number(eta0, "eta0"), exact_number(gamma0, "gamma0", low=0, strict=False)
    return evaluate(information, (a, delta, eta, gamma), digits)


def information(iv: Any, alpha: Any, delta: Any, eta: Any, gamma: Any) -> Any:
    """The formula of :func:`linear_information`."""
    own = iv.log(1 + gamma / delta) / 2
    if eta.a <= 0 <= eta.b:
        return own if eta.delta == 0 else own + iv.mpf([0, "inf"])
    lam = eta * eta / (gamma + delta)
    tau = tau_formula(iv, alpha, lam)
    return own + (-iv.log(tau) + alpha * iv.log(1 + lam * tau) - (1 - tau)) / (2 * alpha)


def linear_error(alpha: Number, noise: Number, eta0: Number = 1, gamma0: Number = 0, digits: int | None = None) -> Any:
    """Return lim E^(0) = Delta + gamma_0 + eta_0^2 tau(alpha, eta_0^2/(gamma_0 + Delta)), the Bayes error of the linear model.

    E^(0) = E (Y_new - E[Y_new | data, x_new])^2, noise included.  ``noise`` may be 0 if gamma_0 > 0.  A float, or a proved
    Enclosure with ``digits``.  Raises ValueError for alpha <= 0, noise < 0 or gamma_0 < 0, or both 0.

    >>> linear_error(1, "1/2")
    1.0
    """
    a, delta = exact_number(alpha, "alpha", low=0), exact_number(noise, "noise", low=0, strict=False)
    eta, gamma = exact_number(eta0, "eta0"), exact_number(gamma0, "gamma0", low=0, strict=False)
    if delta == 0 and gamma == 0:
        raise ValueError("noise and gamma0 cannot both be 0: give one of them a positive value")
    if eta == 0:
        return evaluate(lambda iv, d, g: d + g, (delta, gamma), digits)
    return evaluate(lambda iv, a, d, e, g: d + g + e * e * tau_formula(iv, a, e * e / (g + d)), (a, delta, eta, gamma), digits)


def ridge_error(
    alpha: Number, penalty: Number, noise: Number = 0, eta0: Number = 1, gamma0: Number = 0, digits: int | None = None
) -> Any:
    """Return lim E (Y_new - w.x_new)^2 of ridge regression min_w sum_mu (Y_mu - w.x_mu)^2 + lam |w|^2 on the linear model.

    With c = lam > 0, G = G(c) of :mod:`~theoryck.theory.spectra.limits.marchenko_pastur` and V = gamma_0 + Delta the error is
    V - eta_0^2 c^2 G'(c) + V (G(c) + c G'(c)); it is least at c = V/eta_0^2, where it is :func:`linear_error`.  A float, or a
    proved Enclosure with ``digits``.  Raises ValueError for alpha <= 0, penalty <= 0, noise < 0 or gamma_0 < 0.

    Source: ridge regression in high dimension, e.g. Cui, Krzakala, Zdeborova (2023), arXiv:2302.00375, for deep random teachers.

    >>> ridge_error(2, "1/2", noise="1/2") == linear_error(2, "1/2")
    True
    """
    a, c = exact_number(alpha, "alpha", low=0), exact_number(penalty, "penalty", low=0)
    delta, gamma = exact_number(noise, "noise", low=0, strict=False), exact_number(gamma0, "gamma0", low=0, strict=False)
    return evaluate(_ridge, (a, c, delta, exact_number(eta0, "eta0"), gamma), digits)


def _ridge(iv: Any, alpha: Any, c: Any, delta: Any, eta: Any, gamma: Any) -> Any:
    g, slope, _ = resolvent(iv, alpha, c)
    v = gamma + delta
    # w - eta v = -lam (S + lam)^-1 eta v + (S + lam)^-1 X (noise): traces of lam^2 (S + lam)^-2 and of S (S + lam)^-2.
    return v - eta * eta * c * c * slope + v * (g + c * slope)


def learned_share(
    alpha: Number, noise: Number, rho: Number = 1, epsilon: Number = 0, power: int = 2, digits: int | None = None
) -> Any:
    """Return m_k = lim (1/n) tr [K (K + Delta)^-1]^k for K = rho^2 X^T X + eps, k = ``power`` 1 or 2.

    m_1 = 1 - Delta R(c), m_2 = 1 - 2 Delta R(c) - Delta^2 R'(c), c = eps + Delta, R(c) = (1/n) tr (rho^2 X^T X + c)^-1.  A float,
    or a proved Enclosure with ``digits``.  Raises ValueError for alpha or noise <= 0, rho = 0, eps < 0, another power.

    >>> learned_share(1, "1/2"), learned_share(1, "1/2", power=1)
    (0.33333..., 0.5)
    """
    a, delta = _alpha_noise(alpha, noise)
    slope, eps = exact_number(rho, "rho"), exact_number(epsilon, "epsilon", low=0, strict=False)
    if slope == 0:
        raise ValueError(f"rho must not be 0, got {rho!r}")
    if power not in (1, 2):
        raise ValueError(f"power must be 1 or 2, got {power!r}")
    if power == 1:
        return evaluate(lambda iv, a, d, r, e: 1 - d * gram_resolvent(iv, a, r * r, e + d)[0], (a, delta, slope, eps), digits)
    return evaluate(lambda iv, a, d, r, e: share_squared(iv, a, r * r, e, d), (a, delta, slope, eps), digits)


def scalar_mode_divergence(strength: Number, time: Number = 0, digits: int | None = None) -> Any:
    """Return KL_t = [x_t - log(1 + x_t)]/2, x_t = (1 - t)^2 x: what the unknown common scale of the labels is worth, in nats.

    x = ``strength`` >= 0 is n m_2 sum_l 1/d_l (see :func:`deep_linear_gap_limit`), t = ``time`` in [0, 1] the interpolation from
    the network (0) to the linear model (1).  A float, or a proved Enclosure with ``digits``.  Raises ValueError outside these
    ranges.

    Source: second order of the scale fluctuation.

    >>> scalar_mode_divergence("1/3"), scalar_mode_divergence("1/3", 1)
    (0.0228..., 0.0)
    """
    x, t = exact_number(strength, "strength", low=0, strict=False), exact_number(time, "time", low=0, strict=False)
    if not (isinstance(t, Fraction) and t <= 1):
        raise ValueError(f"time must be an exact number between 0 and 1, got {time!r}")
    if x == 0 or t == 1:
        return evaluate(lambda iv, x: x - x if x.delta == 0 else iv.mpf(0), (x,), digits)
    return evaluate(lambda iv, x, t: scalar_mode(iv, (1 - t) * (1 - t) * x), (x, t), digits)


def deep_linear_gap_limit(alpha: Number, noise: Number, ratios: Sequence[Any] = (1, 1), digits: int | None = None) -> Any:
    """Return lim I_n^(L) - I_n^(0) = -[x - log(1 + x)]/2 (TOTAL, nats) of a deep linear network, x = alpha m_2 sum_l d_0/d_l.

    ``ratios`` = (d_0, ..., d_L) up to a factor, linear readout, m_2 = lim (1/n) tr [K (K + Delta)^-1]^2.  As the total has a
    limit, the difference per sample decays as 1/n.  A float, or a proved Enclosure with ``digits``.  Raises ValueError for bad
    arguments.

    For phi(x) = c x give noise/c^(2L): the information only depends on the ratio.

    >>> deep_linear_gap_limit(1, "1/2"), deep_linear_gap_limit(1, "1/2", (1,))
    (-0.0228..., 0.0)
    """
    a, delta = _alpha_noise(alpha, noise)
    total = _width_sum(ratios)
    if total == 0:
        return evaluate(lambda iv, _: iv.mpf(0), (a,), digits)

    def formula(iv: Any, alpha: Any, delta: Any, total: Any) -> Any:
        return -scalar_mode(iv, alpha * total * share_squared(iv, alpha, iv.mpf(1), iv.mpf(0), delta))

    return evaluate(formula, (a, delta, total), digits)


def deep_linear_error_limit(alpha: Number, noise: Number, ratios: Sequence[Any] = (1, 1), digits: int | None = None) -> Any:
    """Return lim d_0 (E^(L) - E^(0)) = -2 Delta^2 mu (sum_l d_0/d_l) x/(1 + x) of a deep linear network, linear readout.

    x is that of :func:`deep_linear_gap_limit`, mu = lim (1/d_0) sum_i lam_i/(lam_i + Delta)^3 over the eigenvalues of X X^T, which
    is -G'(Delta) - Delta G''(Delta)/2.  Negative: Bayes beats the predictor of the linear model by learning the common scale.  A
    float, or a proved Enclosure with ``digits``.  Raises ValueError for bad arguments.

    For phi(x) = c x give noise/c^(2L) and multiply the limit by c^(2L).

    >>> deep_linear_error_limit(1, "1/2")
    -0.0370...
    """
    a, delta = _alpha_noise(alpha, noise)
    total = _width_sum(ratios)
    if total == 0:
        return evaluate(lambda iv, _: iv.mpf(0), (a,), digits)

    def formula(iv: Any, alpha: Any, delta: Any, total: Any) -> Any:
        _, first, second = resolvent(iv, alpha, delta)
        x = alpha * total * share_squared(iv, alpha, iv.mpf(1), iv.mpf(0), delta)
        return 2 * delta * delta * (first + delta * second / 2) * total * x / (1 + x)

    return evaluate(formula, (a, delta, total), digits)


def free_entropy_variance_limit(alpha: Number, noise: Number, ratios: Sequence[Any] = (1, 1), digits: int | None = None) -> Any:
    """Return lim n Var((1/n) log Z) = 1/2 + (alpha/2) m_1^2 sum_l d_0/d_l of a deep linear network, linear readout.

    m_1 = lim (1/n) tr K (K + Delta)^-1.  ``ratios`` = (1,) is the linear model, whose limit is 1/2.  A float, or a proved
    Enclosure with ``digits``.  Raises ValueError for bad arguments.

    >>> free_entropy_variance_limit(1, "1/2"), free_entropy_variance_limit(1, "1/2", (1,))
    (0.625, 0.5)
    """
    a, delta = _alpha_noise(alpha, noise)

    def formula(iv: Any, alpha: Any, delta: Any, total: Any) -> Any:
        first = 1 - delta * gram_resolvent(iv, alpha, iv.mpf(1), delta)[0]
        return (1 + alpha * first * first * total) / 2

    return evaluate(formula, (a, delta, _width_sum(ratios)), digits)
