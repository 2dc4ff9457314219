"""The Marchenko-Pastur law of n samples x_mu ~ N(0, I/d) in the limit n = alpha d: the traces that the limits are made of.

S = sum_mu x_mu x_mu^T (d x d) has the normalised resolvent trace G(c) = lim (1/d) tr (S + c)^-1, which solves
    c G^2 + (c + alpha - 1) G = 1;
tau(alpha, lam) = lim (1/d) tr (1 + lam S)^-1 = G(1/lam)/lam.  The Gram matrix X^T X (n x n) has the same eigenvalues and n - d more
zeros.
"""

from __future__ import annotations

from typing import Any

from theoryck.numerics.proved.formulas import Number, evaluate, exact_number


def resolvent(iv: Any, alpha: Any, c: Any) -> tuple[Any, Any, Any]:
    """Return G(c), G'(c), G''(c): the positive root of the quadratic and its derivatives by implicit differentiation."""
    b = c + alpha - 1
    # With b < 0 the two terms of (-b + root)/(2c) have one sign, with b > 0 those of 2/(b + root): intervals that straddle 0 take
    # either, both being identities.
    root = iv.sqrt(b * b + 4 * c)
    g = 2 / (b + root) if b.a > 0 else (root - b) / (2 * c)
    first = -(g * g + g) / root
    second = -first * (4 * g + 2 * c * first + 2) / root
    return g, first, second


def gram_resolvent(iv: Any, alpha: Any, scale: Any, c: Any) -> tuple[Any, Any]:
    """Return R(c) = lim (1/n) tr (scale X^T X + c)^-1 and R'(c)."""
    g, first, _ = resolvent(iv, alpha, c / scale)
    excess = 1 - 1 / alpha
    return g / (alpha * scale) + excess / c, first / (alpha * scale * scale) - excess / (c * c)


def tau_formula(iv: Any, alpha: Any, strength: Any) -> Any:
    """tau = G(1/strength)/strength."""
    return resolvent(iv, alpha, 1 / strength)[0] / strength


def overlap_deficit(alpha: Number, strength: Number, digits: int | None = None) -> Any:
    """Return tau(alpha, lam) = lim (1/d) tr (1 + lam X X^T)^-1 for n = alpha d samples x ~ N(0, I/d), lam = ``strength`` >= 0.

    tau = [-(1 + lam (alpha - 1)) + sqrt((1 + lam (alpha - 1))^2 + 4 lam)]/(2 lam): one minus the Bayes-optimal overlap of the
    linear model of signal-to-noise ratio lam, the part of v that the samples leave unknown.  A float, or a proved Enclosure with
    ``digits``. Raises ValueError for alpha <= 0 or lam < 0.

    Source: Marchenko-Pastur law; Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, for the use made of it.

    >>> overlap_deficit(1, 2), overlap_deficit(3, 0)
    (0.5, 1.0)
    """
    a, lam = exact_number(alpha, "alpha", low=0), exact_number(strength, "strength", low=0, strict=False)
    if lam == 0:
        return evaluate(lambda iv, _: iv.mpf(1), (a,), digits)
    return evaluate(tau_formula, (a, lam), digits)


def mean_resolvent(alpha: Number, shift: Number, scale: Number = 1, digits: int | None = None) -> Any:
    """Return R(c) = lim (1/n) tr (scale X^T X + c)^-1, c = ``shift`` > 0, for n = alpha d samples x ~ N(0, I/d).

    R(c) = [1 - (1 - tau(alpha, scale/c))/alpha]/c.  A float, or a proved Enclosure with ``digits``; raises ValueError unless alpha,
    shift and scale are > 0.

    >>> round(mean_resolvent(1, 1), 12) == round((5**0.5 - 1) / 2, 12)
    True
    """
    values = (exact_number(alpha, "alpha", low=0), exact_number(scale, "scale", low=0), exact_number(shift, "shift", low=0))
    return evaluate(lambda iv, *v: gram_resolvent(iv, *v)[0], values, digits)
