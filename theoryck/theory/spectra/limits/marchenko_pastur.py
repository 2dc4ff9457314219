"""The Marchenko-Pastur law of n samples x_mu ~ N(0, I/d) in the limit n = alpha d: the law, and the traces that limits are made of.

S = sum_mu x_mu x_mu^T (d x d) has the normalised resolvent trace G(c) = lim (1/d) tr (S + c)^-1, which solves
    c G^2 + (c + alpha - 1) G = 1;
tau(alpha, lam) = lim (1/d) tr (1 + lam S)^-1 = G(1/lam)/lam.  The Gram matrix X^T X (n x n) has the same eigenvalues and n - d more
zeros.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.proved.formulas import Number, evaluate, real_array
from theoryck.quantities.arguments import LARGEST, LEAST, positive
from theoryck.records.arguments import exact_number

SMALL_ROOT = 0.3
SMALL_TERMS = 34
"""Below 0.3 the series is taken: the quotient would lose 1/r^2, and 0.3^32/34 is below 1e-17."""


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


@dataclass(frozen=True)
class MarchenkoPastur:
    """The law that :func:`marchenko_pastur` returns: ``ratio`` c, ``scale``, and its atom, support, density and transforms.

    >>> law = marchenko_pastur(2, scale=3)
    >>> law.atom, [round(end, 6) for end in law.support], round(float(law.cdf(3.0)), 6)
    (0.5, [0.514719, 17.485281], 0.659155)
    """

    ratio: float
    scale: float

    @property
    def atom(self) -> float:
        """The mass at 0, max(0, 1 - 1/c)."""
        return max(0.0, 1 - 1 / self.ratio)

    @property
    def support(self) -> tuple[float, float]:
        """The ends scale (1 -+ sqrt(c))^2 of the interval with a density."""
        root = math.sqrt(self.ratio)
        return self.scale * (1 - root) ** 2, self.scale * (1 + root) ** 2

    def stieltjes(self, z: ArrayLike) -> Any:
        """Return m(z) = int dF(x)/(x - z), the root of c s z m^2 + (z + s (c - 1)) m + 1 = 0 with Im m Im z > 0; s = scale.

        ``z`` is complex off the real axis, or real and outside [0, upper edge]; any shape.  ValueError inside.
        """
        values = complex_array(z)
        high = self.support[1]
        if np.any((values.imag == 0) & (values.real >= 0) & (values.real <= high)):
            raise ValueError(f"z must be off [0, {high:.6g}], got {z!r}: give it an imaginary part, or use pdf")
        c, root = self.ratio, math.sqrt(self.ratio)
        with np.errstate(all="ignore"):
            place = values / self.scale
            # sqrt(z - a) sqrt(z - b) ~ z at infinity and is cut along [a, b] only.
            square = np.sqrt(place - (1 - root) ** 2) * np.sqrt(place - (1 + root) ** 2)
            b = place + (c - 1)
            # (square - b)/(2 c z) cancels where b and square are close; 2/(-b - square) is the same root of the quadratic.
            direct, other = (square - b) / (2 * c * place), -2 / (b + square)
            found = np.where(np.abs(b + square) > np.abs(b - square), other, direct)
            # Where |z| is 1e8 times the edge the first two terms at infinity are exact.
            far = -(1 / values) * (1 + self.scale / values)
            result = np.where(np.abs(values) > 1e8 * high, far, found / self.scale)
        return (result if np.iscomplexobj(np.asarray(z)) else result.real)[()]

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density sqrt((b - x)(x - a))/(2 pi c s x) between the edges, 0 elsewhere; any shape, nan for nan."""
        values, law = real_array(x, "x"), self.nonzero()
        left, right = law._halves(values)
        inside = (left > 0) & (right > 0)
        # sqrt((b - x)(x - a)) = 4 s r left right with r = sqrt(c); an eigenvalue is not 0 with probability min(1, 1/c).
        height = 2 * left * right * (1 - self.atom)
        where = math.pi * math.sqrt(law.ratio) * values
        return np.divide(height, where, out=np.where(np.isnan(values), np.nan, np.zeros(values.shape)), where=inside)[()]

    def cdf(self, x: ArrayLike) -> Any:
        """Return P(eigenvalue <= x) in closed form; any shape, nan for nan."""
        values, law = real_array(x, "x"), self.nonzero()
        below = np.where(values >= 0, self.atom, 0.0) + (1 - self.atom) * _mass(2 * np.arctan2(*law._halves(values)), law.ratio)
        return below[()]

    def _halves(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sqrt((x - a)/(b - a)) and sqrt((b - x)/(b - a)), the sine and cosine of phi/2; c <= 1."""
        root = math.sqrt(self.ratio)
        place = x / self.scale
        # For small c both edges are near 1: x - 1 is exact there, and x - a where a is near 0.
        part = ((place - 1) + root * (2 - root)) / (4 * root) if root < 0.5 else (place - (1 - root) ** 2) / (4 * root)
        rest = (1 - place + root * (2 + root)) / (4 * root)
        return np.sqrt(np.minimum(np.maximum(part, 0), 1)), np.sqrt(np.minimum(np.maximum(rest, 0), 1))

    def ppf(self, probability: ArrayLike) -> Any:
        """Return the smallest x with P(eigenvalue <= x) >= probability in [0, 1] (any shape), by bisection; ValueError outside."""
        wanted, law = real_array(probability, "probability"), self.nonzero()
        if np.any(~((wanted >= 0) & (wanted <= 1))):
            raise ValueError(f"probability must lie between 0 and 1, got {probability!r}")
        left, right = np.zeros(wanted.shape), np.full(wanted.shape, math.pi)
        for _ in range(54):  # of phi, whose rounding is pi 2^-54
            middle = (left + right) / 2
            short = self.atom + (1 - self.atom) * _mass(middle, law.ratio) < wanted
            left, right = np.where(short, middle, left), np.where(short, right, middle)
        root = math.sqrt(law.ratio)
        found = law.scale * ((1 - root) ** 2 + 4 * root * np.sin((left + right) / 4) ** 2)
        return np.where(wanted > self.atom, found, 0.0)[()]

    def resolvent_bias(self, shift: Number) -> float:
        """Return lim n [E (1/n) tr (K + gamma)^-1 - m(-gamma)] for real Gaussian entries, gamma = ``shift`` > 0.

        The mean of Bai and Silverstein (2004), (f(a) + f(b))/4 - (1/2 pi) int_a^b f(x) dx/sqrt((x - a)(b - x)) with f(x) =
        1/(x + gamma), is (1/4) [(a + gamma)^(-1/2) - (b + gamma)^(-1/2)]^2.
        """
        low, high, root = *self._shifted(shift), math.sqrt(self.ratio)
        # 1/sqrt(low) - 1/sqrt(high) with high - low = 4 s r taken out: the two are close for small c.
        gap = 4 * self.scale * root / math.sqrt(low) / math.sqrt(high) / (math.sqrt(low) + math.sqrt(high))
        return gap * gap / 4

    def resolvent_variance(self, shift: Number) -> float:
        """Return lim n^2 Var (1/n) tr (K + gamma)^-1 = 2 c s^2/[(a + gamma)(b + gamma)]^2 for real Gaussian entries.

        The variance of sum_i f(x_i) is sum_k k a_k^2/2 for f((a+b)/2 + (b-a)/2 cos t) = sum_k a_k cos k t (Bai, Silverstein 2004),
        and the a_k of 1/(x + gamma) are a geometric series.
        """
        low, high = self._shifted(shift)
        part = math.sqrt(self.ratio) * self.scale / low / high
        return 2 * part * part

    def _shifted(self, shift: Number) -> tuple[float, float]:
        gamma = positive(shift, "shift")
        return self.support[0] + gamma, self.support[1] + gamma

    def nonzero(self) -> MarchenkoPastur:
        """Return the law of an eigenvalue given that it is not 0, that of the smaller Gram matrix: ratio 1/c, scale s c."""
        return self if self.ratio <= 1 else MarchenkoPastur(1 / self.ratio, self.scale * self.ratio)


def _mass(phi: NDArray[np.float64], c: float) -> NDArray[np.float64]:
    """Return the mass below x = s (1 + c - 2 sqrt(c) cos phi), c <= 1.

    With r = sqrt(c) the density in phi is (2/pi) sin^2(phi)/(1 + r^2 - 2 r cos phi), and sin(phi) over this denominator is
    sum_k r^(k-1) sin k phi, so the integral is [phi + A - (A - r sin phi)/r^2]/pi, A = sum_j r^j sin(j phi)/j in closed form.
    """
    r = math.sqrt(c)
    first = np.arctan2(r * np.sin(phi), 1 - r * np.cos(phi))
    if r < SMALL_ROOT:
        second = sum((r ** (j - 2) * np.sin(j * phi) / j for j in range(2, SMALL_TERMS)), np.zeros(np.shape(phi)))
    else:
        second = (first - r * np.sin(phi)) / c
    return np.asarray((phi + first - second) / math.pi)


def complex_array(z: ArrayLike) -> NDArray[np.complex128]:
    """Return complex numbers; ValueError for anything else, and for sizes beyond the numeric domain."""
    found = np.asarray(z)
    if found.dtype.kind not in "iufc":
        raise ValueError(f"z must hold complex numbers, got {z!r}")
    values = found.astype(np.complex128)
    wrong = ~((np.abs(values) >= LEAST) & (np.abs(values) <= LARGEST))
    if np.any(wrong):
        raise ValueError(f"z must lie between {LEAST:g} and {LARGEST:g} in size, got {values[wrong][0]}: change its unit")
    return values


def marchenko_pastur(ratio: Number, scale: Number = 1) -> MarchenkoPastur:
    """Return the limit law of the spectrum of scale X^T X, X of d x n independent N(0, 1/d) entries, c = ``ratio`` = lim n/d.

    Closed forms: ``cdf``, ``pdf``, ``stieltjes``; ``ppf``, ``atom`` = max(0, 1 - 1/c) at 0, ``support``.  Raises ValueError unless
    ratio and scale are > 0.

    >>> law = marchenko_pastur(1)
    >>> law.support, round(float(law.cdf(1)), 6), round(float(law.stieltjes(-1)), 6)
    ((0.0, 4.0), 0.608998, 0.618034)
    """
    return MarchenkoPastur(positive(ratio, "ratio"), positive(scale, "scale"))
