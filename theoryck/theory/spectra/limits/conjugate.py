"""Limits of the spectra of conjugate kernels: Marchenko-Pastur inputs, then one layer after the other (Fan, Wang 2020).

X has d_0 x n independent N(0, 1/d_0) entries, x_l = phi(W_l x_(l-1))/sqrt(d_l) column by column with N(0, 1) weights, and
K_l = x_l^T x_l (n x n).  For n/d_l -> c_l the spectrum of K_l tends to the Marchenko-Pastur map with ratio c_l of the law of
rho_l^2 lambda + eps_l, lambda from layer l - 1.  :mod:`theoryck.theory.spectra.limits.conjugate_map` solves it,
:mod:`theoryck.theory.spectra.limits.conjugate_law` makes distributions of it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.proved.formulas import Number, exact_number, real_array
from theoryck.theory.spectra.limits.conjugate_law import SpectralLaw, spectral_law
from theoryck.theory.spectra.limits.conjugate_map import Chain, transform

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

LARGEST_DEPTH = 20

SMALL_ROOT = 0.3
SMALL_TERMS = 34
"""Below 0.3 the series is taken: the quotient would lose 1/r^2, and 0.3^32/34 is below 1e-17."""

LARGEST_RATIO = 1e150
"""The edges and their squares then fit a float; n/d is of order 1."""


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

        ``z`` is complex off the real axis, or real and outside [0, upper edge]; any shape.  ValueError inside, and where z/scale or
        m does not fit a float.
        """
        values = _complex_array(z)
        high = self.support[1]
        if np.any(~np.isfinite(values)) or np.any((values.imag == 0) & (values.real >= 0) & (values.real <= high)):
            raise ValueError(f"z must be finite and off [0, {high:.6g}], got {z!r}: give it an imaginary part, or use pdf")
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
        if not np.all(np.isfinite(result)):
            raise ValueError(f"z/scale and the transform must fit a float, got z = {z!r} at scale {self.scale!r}")
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
        with np.errstate(over="ignore"):
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
        return _fits(gap * gap / 4, shift)

    def resolvent_variance(self, shift: Number) -> float:
        """Return lim n^2 Var (1/n) tr (K + gamma)^-1 = 2 c s^2/[(a + gamma)(b + gamma)]^2 for real Gaussian entries.

        The variance of sum_i f(x_i) is sum_k k a_k^2/2 for f((a+b)/2 + (b-a)/2 cos t) = sum_k a_k cos k t (Bai, Silverstein 2004),
        and the a_k of 1/(x + gamma) are a geometric series.
        """
        low, high = self._shifted(shift)
        part = math.sqrt(self.ratio) * self.scale / low / high
        return _fits(2 * part * part, shift)

    def _shifted(self, shift: Number) -> tuple[float, float]:
        gamma = float_number(shift, "shift", strict=True)
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


def _complex_array(z: ArrayLike) -> NDArray[np.complex128]:
    found = np.asarray(z)
    if found.dtype.kind not in "iufc":
        raise ValueError(f"z must hold complex numbers, got {z!r}")
    return found.astype(np.complex128)


def _fits(value: float, shift: Any) -> float:
    if not math.isfinite(value):
        raise ValueError(f"shift must be so large that the result fits a float, got {shift!r}")
    return value


def marchenko_pastur(ratio: Number, scale: Number = 1) -> MarchenkoPastur:
    """Return the limit law of the spectrum of scale X^T X, X of d x n independent N(0, 1/d) entries, c = ``ratio`` = lim n/d.

    Closed forms: ``cdf``, ``pdf``, ``stieltjes``; ``ppf``, ``atom`` = max(0, 1 - 1/c) at 0, ``support``.  Raises ValueError unless
    ratio and scale are > 0.  Source: Marchenko, Pastur (1967).

    >>> law = marchenko_pastur(1)
    >>> law.support, round(float(law.cdf(1)), 6), round(float(law.stieltjes(-1)), 6)
    ((0.0, 4.0), 0.608998, 0.618034)
    """
    return MarchenkoPastur(_ratio(ratio, "ratio"), float_number(scale, "scale", strict=True))


def _ratio(value: Any, name: str) -> float:
    c = float_number(value, name, strict=True)
    if not 1 / LARGEST_RATIO <= c <= LARGEST_RATIO:
        raise ValueError(f"{name} must lie between {1 / LARGEST_RATIO:g} and {LARGEST_RATIO:g}, got {value!r}")
    return c


@dataclass(frozen=True)
class ConjugateKernel:
    """The limit of K_L: ``ratios`` = (c_0, ..., c_L) with c_l = lim n/d_l, and rho_l, eps_l of the layers 1..L as numbers.

    :func:`conjugate_kernel` takes the constants from an activation.  Raises ValueError for a wrong number of constants, ratios
    that are not > 0 and eps < 0.  Source: Fan, Wang (2020), arXiv:2005.11879, with phi not normalised.

    >>> kernel = ConjugateKernel((1.0, 0.8), (0.651470015870560,), (0.0401458728192,))
    >>> round(float(kernel.stieltjes(-0.1)), 4), kernel.depth
    (4.2044, 1)
    """

    ratios: tuple[float, ...]
    rho: tuple[float, ...] = ()
    epsilon: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, strict in (("ratios", True), ("rho", None), ("epsilon", False)):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise ValueError(f"{name} must be a tuple of numbers, got {given!r}")
            values = tuple(
                _ratio(entry, f"{name}[{index}]") if strict else float_number(entry, f"{name}[{index}]", strict=strict)
                for index, entry in enumerate(given)
            )
            object.__setattr__(self, name, values)
        if not 1 <= len(self.ratios) <= LARGEST_DEPTH + 1:
            raise ValueError(f"ratios must hold c_0, ..., c_L with L <= {LARGEST_DEPTH}, got {self.ratios!r}")
        for name in ("rho", "epsilon"):
            if len(getattr(self, name)) != self.depth:
                raise ValueError(
                    f"{name} must hold {self.depth} numbers for the layers 1..{self.depth}, got {getattr(self, name)!r}"
                )
        for layer, (slope, rest) in enumerate(zip(self.rho, self.epsilon, strict=True), start=1):
            if slope == 0 and rest == 0:
                raise ValueError(f"rho and epsilon of layer {layer} are both 0: phi is 0 there and so is the kernel")
        self.chain.scaled()

    @property
    def depth(self) -> int:
        """L."""
        return len(self.ratios) - 1

    @property
    def chain(self) -> Chain:
        """The map of :mod:`theoryck.theory.spectra.limits.conjugate_map`; a layer with rho = 0 forgets all below it."""
        start = max((layer for layer, slope in enumerate(self.rho, start=1) if slope == 0), default=0)
        squares = tuple(slope * slope for slope in self.rho[start:])
        return Chain(self.ratios[start:], squares, self.epsilon[start:], self.epsilon[start - 1] if start else 1.0)

    def stieltjes(self, z: ArrayLike) -> Any:
        """Return m_L(z) = lim (1/n) tr (K_L - z)^-1 at complex z off the real axis or real z < 0; any shape.

        Raises ValueError for other z and where m does not fit a float, :class:`~theoryck.numerics.errors.NotConverged`
        where the root could not be followed.
        """
        values = _complex_array(z)
        bad = ~np.isfinite(values) | ((values.imag == 0) & (values.real >= 0))
        if np.any(bad):
            raise ValueError(f"z must be finite and not on [0, oo), got {values[bad][0]}: give it an imaginary part, or use law()")
        upper = np.where(values.imag < 0, values.conj(), values).ravel()
        found = transform(self.chain, upper).reshape(values.shape)
        found = np.where(values.imag < 0, found.conj(), found)
        return (found if np.iscomplexobj(np.asarray(z)) else found.real)[()]

    def resolvent(self, shift: Number) -> float:
        """Return lim (1/n) tr (K_L + shift)^-1 for shift > 0."""
        return float(self.stieltjes(-float_number(shift, "shift", strict=True)))

    def law(self) -> SpectralLaw:
        """Return the limit law of an eigenvalue of K_L, with ``cdf``, ``ppf``, ``pdf``, ``atom``, ``support``, ``nonzero()``."""
        return _law(self.chain)


@functools.lru_cache(maxsize=64)
def _law(chain: Chain) -> SpectralLaw:
    return spectral_law(chain)


def conjugate_kernel(activation: Activation | str, ratios: Sequence[Number]) -> ConjugateKernel:
    """Return the limit of the conjugate kernel of a network of L = len(ratios) - 1 layers, n/d_l -> c_l = ratios[l].

    rho_l = E phi'(sqrt(sigma_(l-1)) Z), eps_l = sigma_l - sigma_(l-1) rho_l^2 from
    :func:`theoryck.theory.networks.network_constants`; the mean of phi must be 0 at every layer's variance (phi odd, say), else
    K_l has one eigenvalue of order n and eps_l is not that. Raises ValueError for a mean that is not 0 and for the arguments of
    :class:`ConjugateKernel`.

    >>> kernel = conjugate_kernel("tanh(x)", (1, 1, "1/2"))
    >>> kernel.depth, kernel.law().atom
    (2, 0.0)
    """
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.proved.constants import network_constants

    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if isinstance(ratios, str) or not isinstance(ratios, Sequence) or not ratios:
        raise ValueError(f"ratios must be a tuple (c_0, ..., c_L) of numbers > 0, got {ratios!r}")
    constants = network_constants(phi, len(ratios) - 1, digits=20)
    for layer, variance in enumerate(constants.sigma[:-1]):
        mean = phi.zero_mean_at(float(variance))
        if mean.value is False:
            raise ValueError(f"activation must have mean 0 at the variance {float(variance):.6g} of layer {layer}: {mean.detail}")
    rho, epsilon = (tuple(float(value) for value in row) for row in (constants.rho, constants.epsilon))
    # A rho or eps that is 0 is enclosed by a ball around 0: its middle is rounding.
    exact = [tuple(0.0 if abs(v) < 1e-15 * float(s) else v for v, s in zip(row, constants.sigma[1:])) for row in (rho, epsilon)]
    return ConjugateKernel(tuple(float_number(c, f"ratios[{i}]", strict=True) for i, c in enumerate(ratios)), exact[0], exact[1])


def float_number(value: Any, name: str, *, strict: bool | None) -> float:
    """Return a finite number as a float: > 0 if ``strict``, >= 0 if not, any sign if None."""
    found = exact_number(value, name) if strict is None else exact_number(value, name, low=0, strict=strict)
    try:
        number = float(found)
    except OverflowError:
        raise ValueError(f"{name} must fit a float, got {value!r}") from None
    if strict and number == 0:
        raise ValueError(f"{name} must be a number > 0 that a float can tell from 0, got {value!r}")
    return number
