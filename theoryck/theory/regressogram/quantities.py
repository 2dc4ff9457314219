"""The risk of the regressogram, its bound over the class, and the Bayes risk of the prior on bumps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryck.quantities.arguments import rational
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import as_exact
from theoryck.records import Enclosure
from theoryck.theory.regressogram.draws import BumpSampler, RegressogramSampler
from theoryck.theory.regressogram.proved import power, risk


@dataclass(frozen=True, repr=False)
class HoelderQuantity(Quantity):
    """What depends on the exponent 0 < ``alpha`` <= 1, the samples ``n`` and the ``bins``, a power of two; else QuantityError."""

    needs = ("n", "bins")
    alpha: Any

    def __post_init__(self) -> None:
        alpha = rational(self.alpha, "alpha", low=0)
        if alpha > 1:
            raise QuantityError(
                f"alpha must be a rational number with 0 < alpha <= 1, got {self.alpha!r}: no other class is treated"
            )
        object.__setattr__(self, "alpha", alpha)

    def at(self, sizes: Sizes) -> tuple[int, int]:
        """Return (n, bins); QuantityError unless bins is a power of two, 2 or more."""
        need_sizes(self.name, self.needs, sizes)
        samples, bins = int(sizes["n"]), int(sizes["bins"])
        if bins < 2 or bins & (bins - 1):
            raise QuantityError(f"bins must be a power of two >= 2, got {bins}: take n = 8**j for bins = n**(1/3) = 2**j")
        return samples, bins


class regressogram_risk(HoelderQuantity):
    """E int (f^ - f)^2 of the regressogram at the wave f(x) = dist(x, 2 h Z)^alpha of F_alpha, with both routes; h = 1/bins.

    Of the waves dist(x, Z/k)^alpha, k = 1, 2, 4, ..., this one (k = bins/2) has the largest variance within bins, since t^alpha is
    concave.

    >>> import numpy as np
    >>> q, sizes = regressogram_risk(1), {"n": 64, "bins": 4}
    >>> draws = q.draw(np.random.default_rng(0), 4000, sizes)
    >>> bool(abs(draws.mean() - float(q.exact(sizes))) < 5 * draws.std() / 4000**0.5)
    True
    """

    can_draw = can_exact = True

    def sampler(self, sizes: Sizes) -> RegressogramSampler:
        return RegressogramSampler(float(self.alpha), *self.at(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes, and about as many for the bins."""
        return 4.0 * sizes["n"] + 4.0 * sizes["bins"]

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        samples, bins = self.at(sizes)
        square, mean_square = power(bins, self.alpha), Fraction(1) / (self.alpha + 1) ** 2
        return risk(samples, bins, square * (1 / (2 * self.alpha + 1) - mean_square), square * mean_square).exact({}, digits)


class regressogram_guarantee(HoelderQuantity):
    """A proved upper bound of the regressogram's risk over all of F_alpha, exact only.

    V + (V + 1) E(1/N; N >= 1) + (1 - h)^n with V = h^(2 alpha)/((2 alpha + 1)(2 alpha + 2)); at alpha = 1 it is
    attained up to the last term.

    >>> sizes = {"n": 512, "bins": 8}
    >>> bool(regressogram_risk(1).exact(sizes).midpoint < regressogram_guarantee(1).exact(sizes).midpoint)
    True
    """

    can_exact = True
    inverse = False

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        samples, bins = self.at(sizes)
        variance = power(bins, self.alpha) * (Fraction(1) / ((2 * self.alpha + 1) * (2 * self.alpha + 2)))
        bound = risk(samples, bins, variance, as_exact(1))
        return (1 / bound if self.inverse else bound).exact({}, digits)


class regressogram_precision(regressogram_guarantee):
    """One over :class:`regressogram_guarantee`: a lower bound C r(n) of the minimax risk makes it O(1/r(n)).

    >>> float(regressogram_precision(1).exact({"n": 512, "bins": 8})) > 50
    True
    """

    inverse = True


class bump_bayes_risk(HoelderQuantity):
    """The Bayes risk under 1/2 + sum_b e_b psi_b, e_b = +-1: a lower bound of the minimax risk over F_alpha, by Monte Carlo.

    psi_b(x) = 2^(alpha - 1) dist(x, ends of bin b)^alpha within the bin: two neighbours of opposite sign stay in F_alpha, since
    a^alpha + b^alpha <= 2^(1 - alpha) (a + b)^alpha.  Given the bin's points, J = sum_i psi(x_i)^2, the mean squared error of
    the sign is 1 - E tanh(J + sqrt(J) Z).

    >>> import numpy as np
    >>> draws = bump_bayes_risk(1).draw(np.random.default_rng(0), 1000, {"n": 64, "bins": 4})
    >>> bool(0 < draws.mean() < 1 / (3 * 8**2))  # at most the variance of the prior
    True
    """

    can_draw = True

    def sampler(self, sizes: Sizes) -> BumpSampler:
        return BumpSampler(float(self.alpha), *self.at(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes: the points of one bin, and as many for the bump."""
        return 3.0 * sizes["n"] / sizes["bins"] + 20.0
