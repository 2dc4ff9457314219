"""How fast a Hoelder function of one variable can be learnt: the regressogram from above, a prior on bumps from below.

Setting: x_i uniform on [0, 1], y_i = f(x_i) + Z_i, i = 1..n, Z_i ~ N(0, 1), and f in F_alpha: |f(x) - f(y)| <= |x - y|^alpha,
0 <= f <= 1.  The regressogram with m bins of width h = 1/m predicts the mean of the y_i in the bin of x, and 0 in an empty bin.
With N ~ Bin(n, h) its risk E int (f^ - f)^2 is, bin by bin and exactly,
    h [V + (V + 1) E(1/N; N >= 1) + (1 - h)^n M^2],   V and M the variance and the mean of f in the bin,
where V = E |f(X) - f(Y)|^2 / 2 <= h^(2 alpha)/((2 alpha + 1)(2 alpha + 2)) for X, Y uniform in the bin.  m ~ n^(1/(2 alpha + 1))
balances the terms at n^(-2 alpha/(2 alpha + 1)), which no estimator beats: 1/2 + sum_b e_b psi_b with independent signs e_b and one
bump psi_b in each of m bins is in F_alpha, its posterior factorises over bins, and the Bayes risk of this prior is below the
largest risk of every estimator (Assouad's argument).  Minimax rate: Stone (1982).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity, as_exact, closed_form
from theoryck.records import Enclosure

Array = NDArray[np.float64]

FIXED_POINT = 2**256
"""Unit of the integers in which E(1/N; N >= 1) is summed: each of the n steps rounds by one unit."""

MOST_SAMPLES = 2 * 10**7
"""E(1/N; N >= 1) is a sum over as many terms, 0.3 microseconds each."""

POINTS_AT_ONCE = 2**18


def inverse_count(samples: int, bins: int) -> ExactQuantity:
    """Return E(1/N; N >= 1) for N ~ Bin(samples, 1/bins) as an exact quantity, proved.

    With q = 1 - 1/bins it is sum_{j<=n} (q^(n-j) - q^n)/j, summed by a_j = q a_{j-1} + 1/j.

    >>> float(inverse_count(2, 2).exact({}, 20))  # 1/2 * 1 + 1/4 * 1/2
    0.625
    """
    for name, number, most in (("samples", samples, MOST_SAMPLES), ("bins", bins, None)):
        if isinstance(number, bool) or not hasattr(number, "__index__") or number < 1 or (most is not None and number > most):
            raise QuantityError(f"{name} must be an integer >= 1{f' and <= {most:,}' if most else ''}, got {number!r}")
    value = _inverse_count(int(samples), int(bins))
    parameters = {"quantity": "inverse_count", "n": samples, "bins": bins}
    return ExactQuantity(f"E(1/N; N ~ Bin({samples}, 1/{bins}))", lambda digits: value, parameters)


@functools.lru_cache(maxsize=256)
def _inverse_count(samples: int, bins: int) -> Enclosure:
    if bins == 1:
        return as_exact(Fraction(1, samples)).exact({}, 30)
    total, harmonic, left = 0, 0, FIXED_POINT
    for j in range(1, samples + 1):
        step = FIXED_POINT // j
        total = total - (total // bins) + step
        harmonic += step
        left -= left // bins
    # Every quotient is rounded down by less than a unit.  In total and left an error shrinks by the factor q in each later step, so
    # that they are off by less than 2 bins units; harmonic by less than n, and it is at most 1 + log n <= 1 + bit_length.
    value = Fraction(total, FIXED_POINT) - Fraction(harmonic, FIXED_POINT) * Fraction(left, FIXED_POINT)
    units = 2 * bins + 2 * bins * (samples.bit_length() + 1) + 2 * samples
    middle = as_exact(value).exact({}, 60)
    up = Context(prec=4, rounding=ROUND_CEILING)
    return Enclosure(middle.midpoint, up.add(middle.radius, up.divide(units, FIXED_POINT)), True)


class HoelderQuantity(Quantity):
    """What depends on the exponent alpha, the samples ``n`` and the ``bins``, a power of two."""

    kind = ""

    def __init__(self, alpha: Any) -> None:
        self.alpha = _alpha(alpha)

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.kind}(alpha={self.alpha})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self.kind, "alpha": str(self.alpha)}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The samples and the bins."""
        return ("n", "bins")

    def at(self, sizes: Sizes) -> tuple[int, int]:
        """Return (n, bins); QuantityError unless bins is a power of two, 2 or more."""
        need_sizes(self.name, self.size_names, sizes)
        samples, bins = int(sizes["n"]), int(sizes["bins"])
        if bins < 2 or bins & (bins - 1):
            raise QuantityError(f"bins must be a power of two >= 2, got {bins}: take n = 8**j for bins = n**(1/3) = 2**j")
        return samples, bins


class RegressogramRisk(HoelderQuantity):
    """What :func:`regressogram_risk` returns."""

    kind = "regressogram_risk"
    can_draw = True
    can_exact = True

    def sampler(self, sizes: Sizes) -> RegressogramSampler:
        """Return the sampler, which draws the data set."""
        return RegressogramSampler(float(self.alpha), *self.at(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes, and about as many for the bins."""
        return 4.0 * sizes["n"] + 4.0 * sizes["bins"]

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the risk at the wave by the formula of this module, proved."""
        samples, bins = self.at(sizes)
        power = _power(bins, self.alpha)
        mean_square = Fraction(1) / (self.alpha + 1) ** 2
        return _risk(samples, bins, power * (1 / (2 * self.alpha + 1) - mean_square), power * mean_square).exact({}, digits)


class RegressogramGuarantee(HoelderQuantity):
    """What :func:`regressogram_guarantee` and :func:`regressogram_precision` return."""

    can_exact = True

    def __init__(self, alpha: Any, inverse: bool) -> None:
        super().__init__(alpha)
        self.inverse = inverse
        self.kind = "regressogram_precision" if inverse else "regressogram_guarantee"

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the bound over the whole class, or one over it, proved."""
        samples, bins = self.at(sizes)
        variance = _power(bins, self.alpha) * (Fraction(1) / ((2 * self.alpha + 1) * (2 * self.alpha + 2)))
        risk = _risk(samples, bins, variance, as_exact(1))
        return (1 / risk if self.inverse else risk).exact({}, digits)


class BumpBayesRisk(HoelderQuantity):
    """What :func:`bump_bayes_risk` returns."""

    kind = "bump_bayes_risk"
    can_draw = True

    def sampler(self, sizes: Sizes) -> BumpSampler:
        """Return the sampler, which draws the data of one bin."""
        return BumpSampler(float(self.alpha), *self.at(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes: the points of one bin, and as many for the bump."""
        return 3.0 * sizes["n"] / sizes["bins"] + 20.0


def regressogram_risk(alpha: Any) -> RegressogramRisk:
    """Return E int (f^ - f)^2 of the regressogram at the wave f(x) = dist(x, 2 h Z)^alpha of F_alpha, with both routes.

    Sizes: ``n`` samples and ``bins``, a power of two; h = 1/bins.  Of the waves dist(x, Z/k)^alpha, k = 1, 2, 4, ..., this one
    (k = bins/2) has the largest variance within bins, since t^alpha is concave.  0 < alpha <= 1, else QuantityError.

    >>> q, sizes = regressogram_risk(1), {"n": 64, "bins": 4}
    >>> draws = q.draw(np.random.default_rng(0), 4000, sizes)
    >>> bool(abs(draws.mean() - float(q.exact(sizes))) < 5 * draws.std() / 4000**0.5)
    True
    """
    return RegressogramRisk(alpha)


def regressogram_guarantee(alpha: Any) -> RegressogramGuarantee:
    """Return a proved upper bound of the regressogram's risk over all of F_alpha, exact only; sizes ``n`` and ``bins``.

    V + (V + 1) E(1/N; N >= 1) + (1 - h)^n with V = h^(2 alpha)/((2 alpha + 1)(2 alpha + 2)); at alpha = 1 it is
    attained up to the last term.

    >>> sizes = {"n": 512, "bins": 8}
    >>> bool(regressogram_risk(1).exact(sizes).midpoint < regressogram_guarantee(1).exact(sizes).midpoint)
    True
    """
    return RegressogramGuarantee(alpha, inverse=False)


def regressogram_precision(alpha: Any) -> RegressogramGuarantee:
    """Return one over :func:`regressogram_guarantee`: a lower bound C r(n) of the minimax risk makes it O(1/r(n)).

    >>> float(regressogram_precision(1).exact({"n": 512, "bins": 8})) > 50
    True
    """
    return RegressogramGuarantee(alpha, inverse=True)


def bump_bayes_risk(alpha: Any) -> BumpBayesRisk:
    """Return the Bayes risk under 1/2 + sum_b e_b psi_b, e_b = +-1: a lower bound of the minimax risk over F_alpha, by Monte Carlo.

    psi_b(x) = 2^(alpha - 1) dist(x, ends of bin b)^alpha within the bin: two neighbours of opposite sign stay in F_alpha, since
    a^alpha + b^alpha <= 2^(1 - alpha) (a + b)^alpha.  Given the bin's points, J = sum_i psi(x_i)^2, the mean squared error of
    the sign is 1 - E tanh(J + sqrt(J) Z).  Sizes: ``n`` and ``bins``.

    >>> draws = bump_bayes_risk(1).draw(np.random.default_rng(0), 1000, {"n": 64, "bins": 4})
    >>> bool(0 < draws.mean() < 1 / (3 * 8**2))  # at most the variance of the prior
    True
    """
    return BumpBayesRisk(alpha)


@dataclass(frozen=True, slots=True)
class RegressogramSampler:
    """Draws data sets; the integral over x of (f^ - f)^2 is V + (f^ - M)^2 in each bin."""

    alpha: float
    samples: int
    bins: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return the squared error of ``draws`` independent data sets (draws,)."""
        step = max(POINTS_AT_ONCE // self.samples, 1)
        return np.concatenate([self._several(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        x = rng.random((draws, self.samples)) * self.bins
        y = (np.abs(x / 2 - np.rint(x / 2)) * (2 / self.bins)) ** self.alpha + rng.standard_normal(x.shape)
        place = (x.astype(np.int64) + self.bins * np.arange(draws)[:, None]).ravel()
        cells = draws * self.bins
        counts = np.bincount(place, minlength=cells)
        sums = np.bincount(place, weights=y.ravel(), minlength=cells)
        fitted = sums / np.maximum(counts, 1)
        reach = self.bins**-self.alpha
        mean, square = reach / (self.alpha + 1), reach**2 / (2 * self.alpha + 1)
        return ((fitted - mean) ** 2).reshape(draws, self.bins).mean(axis=1) + square - mean**2


@dataclass(frozen=True, slots=True)
class BumpSampler:
    """Draws the data of one bin and returns bins * int psi^2 * (1 - tanh(J + sqrt(J) Z))."""

    alpha: float
    samples: int
    bins: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        step = max(POINTS_AT_ONCE * self.bins // self.samples, 1)
        return np.concatenate([self._several(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        counts = rng.binomial(self.samples, 1 / self.bins, size=draws)
        # The distance to the ends of a bin of a uniform point is uniform on (0, h/2).
        scale = 4.0 ** (self.alpha - 1) * (0.5 / self.bins) ** (2 * self.alpha)
        squares = rng.random((draws, int(counts.max(initial=0)))) ** (2 * self.alpha)
        squares[np.arange(squares.shape[1]) >= counts[:, None]] = 0.0
        signal = scale * squares.sum(axis=1)
        error = 1 - np.tanh(signal + np.sqrt(signal) * rng.standard_normal(draws))
        return error * scale / (2 * self.alpha + 1)


def _risk(samples: int, bins: int, variance: ExactQuantity, mean_square: ExactQuantity) -> ExactQuantity:
    empty = as_exact(1 - Fraction(1, bins)) ** samples
    return variance + (variance + 1) * inverse_count(samples, bins) + empty * mean_square


def _power(bins: int, alpha: Fraction) -> ExactQuantity:
    return closed_form(sympy.Rational(1, bins) ** (2 * sympy.Rational(alpha.numerator, alpha.denominator)))


def _alpha(value: Any) -> Fraction:
    try:
        alpha = exact_number(value, "alpha", low=0)
    except ValueError as error:
        raise QuantityError(str(error)) from None
    if not isinstance(alpha, Fraction) or alpha > 1:
        raise QuantityError(f"alpha must be a rational number with 0 < alpha <= 1, got {value!r}: no other class is treated")
    return alpha
