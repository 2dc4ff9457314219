"""What a readout explains of a target when the first layer has learnt nothing of it: Var f* - E (f* - f)^2.

f(x) = norm sum_j a_j phi(w_j . x), and the rows w_j are independent of the target's direction theta (|theta| = 1, x ~ N(0, I_d)).
Given them everything is a kernel:
    C_j = E f*(x) phi(w_j . x),   Sigma_ij = E phi(w_i . x) phi(w_j . x),   explained = 2 norm a . C - norm^2 a . Sigma a,
largest for the readout Sigma^(-1) C / norm, where it is C . Sigma^(-1) C.  For f* = h_l(theta . x), C_j = c_l (w_j . theta)^l with
the Hermite coefficient c_l of phi; for f* = (theta_1 . x)(theta_2 . x), C_j = sqrt(2) c_2 (w_j . theta_1)(w_j . theta_2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import MIN_COMPARED_DRAWS, Quantity, QuantityError, Sizes
from theoryck.quantities.exact import gaussian_mean
from theoryck.records import Enclosure
from theoryck.theory.equivalence.model import RandomFeatures, draw_rows
from theoryck.theory.equivalence.quantities.gaps import NANOSECONDS_PER_NUMBER, WORKING, positive
from theoryck.theory.hermite.quantities.expansions import LARGEST_DEGREE, feature_slope, hermite_coefficient, sphere_moment

Array = NDArray[np.float64]

NORMALISATIONS = {"root": 0.5, "mean": 1.0}
"""f = p^(-1/2) sum_j a_j phi_j, or f = p^(-1) sum_j a_j phi_j."""


ROUNDING = 2e-15
"""Error of a kernel entry relative to the diagonal."""

LARGEST_LOSS = 1e-3
"""Share of a draw that rounding may change."""


class ReadoutQuantity(Quantity):
    """What a readout on random features with rows on the sphere explains of a target, by Monte Carlo over the rows."""

    can_draw = True
    kind = ""

    def __init__(self, features: RandomFeatures) -> None:
        if not isinstance(features, RandomFeatures) or features.rows != "sphere":
            raise QuantityError(f"features must be RandomFeatures with rows='sphere', got {features!r}")
        self.features = features

    def _options(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.kind}({self.features}, {', '.join(f'{name}={value}' for name, value in self._options().items())})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self.kind, **self.features.parameters, **self._options()}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which the shape is given."""
        return self.features.names

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds."""
        p, d = self.features.shape(sizes)
        return (3e3 + 14 * p * d + 0.15 * p * p * d + 30 * p * p + 0.5 * p**3) / NANOSECONDS_PER_NUMBER


class SignReadout(ReadoutQuantity):
    """What :func:`sign_readout_gain` returns."""

    kind = "sign_readout_gain"

    def __init__(self, features: RandomFeatures, scale: Any, normalisation: str) -> None:
        super().__init__(features)
        if normalisation not in NORMALISATIONS:
            raise QuantityError(f"normalisation must be one of {', '.join(NORMALISATIONS)}, got {normalisation!r}")
        self.scale, self.normalisation = positive(scale, "scale"), normalisation

    def _options(self) -> dict[str, Any]:
        return {"scale": self.scale, "normalisation": self.normalisation}

    def sampler(self, sizes: Sizes) -> SignSampler:
        """Return the sampler, which draws the rows."""
        p, d = self.features.shape(sizes)
        slope = float(feature_slope(self.features.activation).exact({}, 20))
        factor = self.scale * p ** -NORMALISATIONS[self.normalisation]
        return SignSampler(LayerKernel(self.features.activation), (p, d), slope, factor)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean: that of a mean of p values |w . theta|, doubled for the rest."""
        return 1.5 / math.sqrt(self.features.shape(sizes)[0])


class BestReadout(ReadoutQuantity):
    """What :func:`best_readout_gain` returns."""

    kind = "best_readout_gain"

    def __init__(self, features: RandomFeatures, degree: int, learned: Fraction | None) -> None:
        super().__init__(features)
        if isinstance(degree, bool) or not isinstance(degree, int) or not 1 <= degree <= LARGEST_DEGREE:
            raise QuantityError(f"degree must be an integer from 1 to {LARGEST_DEGREE}, got {degree!r}")
        self.degree, self.learned = degree, learned

    def _options(self) -> dict[str, Any]:
        return {"degree": self.degree} if self.learned is None else {"target": "product", "learned": str(self.learned)}

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is a product formula: one feature that has learnt nothing."""
        return self.features.features == 1 and self.learned is None

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return c_l^2 E (w . theta)^(2l) / E phi(Z)^2 for one feature, else None."""
        if not self.can_exact:
            return None
        _, d = self.features.shape(sizes)
        phi = self.features.activation
        share = hermite_coefficient(phi, self.degree) ** 2 / gaussian_mean(phi.expression**2)
        return (share * sphere_moment(d, 2 * self.degree)).exact({}, digits)

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 1.5 times the squared skewness of N^(2l), at least 4096: then the mean is near enough to Gaussian."""
        # Integers: their squares are beyond float64 from degree 26 on.
        first, second, third = (math.prod(range(1, 2 * i * self.degree, 2)) for i in (1, 2, 3))
        return max(MIN_COMPARED_DRAWS, 1.5 * ((third - 3 * second * first + 2 * first**3) ** 2 / (second - first**2) ** 3))

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of N^(2l) over its mean, N ~ N(0, 1): that of one feature, more than that of several."""
        return math.sqrt(math.prod(range(1, 4 * self.degree, 2)) / math.prod(range(1, 2 * self.degree, 2)) ** 2 - 1)

    def sampler(self, sizes: Sizes) -> BestSampler:
        """Return the sampler, which draws the rows."""
        coefficient = float(hermite_coefficient(self.features.activation, self.degree).exact({}, 20))
        learned = None if self.learned is None else float(self.learned)
        if learned is not None and self.features.shape(sizes)[1] < 2:
            raise QuantityError(f"input_dim must be at least 2 for a target of two directions, got {self.features.shape(sizes)[1]}")
        return BestSampler(LayerKernel(self.features.activation), self.features.shape(sizes), self.degree, coefficient, learned)


def sign_readout_gain(features: RandomFeatures, scale: Any = 1.0, normalisation: str = "root") -> SignReadout:
    """Return Var f* - E (f* - f)^2 for f* = theta . x and a_j = scale * sign(w_j . theta): the rows know nothing of theta.

    f = p^(-1/2) sum_j a_j phi(w_j . x) ("root") or p^(-1) sum_j a_j phi(w_j . x) ("mean").  With "root" and p = d it tends to
    2 c mu_1 sqrt(2/pi) - c^2 (E phi(Z)^2 + 2 mu_1^2/pi), c = ``scale``, which is positive for small c; with "mean" it is of order
    d^(-1/2).  Monte Carlo over the rows; theta and x are integrated exactly.

    >>> q = sign_readout_gain(RandomFeatures("erf"), scale=0.7)
    >>> bool(abs(q.draw(np.random.default_rng(0), 400, {"d": 64}).mean() - 0.368) < 0.02)
    True
    """
    return SignReadout(features, scale, normalisation)


def best_readout_gain(features: RandomFeatures, degree: int = 1) -> BestReadout:
    """Return Var f* - min_a E (f* - f)^2 for f* = h_degree(theta . x) on rows that know nothing of theta: E C . Sigma^(-1) C.

    With one feature it is c_l^2 E (w . theta)^(2l) / E phi(Z)^2, l = ``degree``, exactly; with any fixed number of order d^(-l).

    >>> best_readout_gain(RandomFeatures("x", features=1)).exact({"d": 8}).to_json()["value"]
    '0.125'
    """
    return BestReadout(features, degree, None)


def best_product_gain(features: RandomFeatures, learned: Any = Fraction(1, 2)) -> BestReadout:
    """Return E Var(f* | theta_1 . x) - min_a E (f* - f)^2 for f* = (theta_1 . x)(theta_2 . x), E Var(f* | theta_1 . x) = 1.

    The rows sqrt(t) theta_1 + sqrt(1 - t) u_j, t = ``learned`` in (0, 1), have learnt theta_1 and nothing of theta_2.  Raises
    QuantityError for a share that is no such number.

    >>> q = best_product_gain(RandomFeatures("relu", features=2))
    >>> bool(0 < q.draw(np.random.default_rng(0), 100, {"d": 64}).mean() < 0.1)
    True
    """
    if positive(learned, "learned") >= 1:
        raise QuantityError(f"learned must lie strictly between 0 and 1, got {learned!r}")
    share = exact_number(learned, "learned")
    if not isinstance(share, Fraction):
        raise QuantityError(f"learned must be a rational number, got {learned!r}")
    return BestReadout(features, 2, share)


@dataclass(frozen=True)
class SignSampler:
    """Draws the rows and returns 2 f a . C - f^2 a . Sigma a for a = sign(C), f the size of a readout with its normalisation."""

    kernel: LayerKernel
    shape: tuple[int, int]
    slope: float
    factor: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return _in_stacks(self._several, rng, draws, self.shape[0])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        w = draw_rows("sphere", rng, draws, self.shape)
        # Rows are isotropic: theta may be the first axis.
        overlap = w[:, :, 0]
        sign = np.sign(overlap)
        covariance = self.kernel(w @ np.swapaxes(w, 1, 2))
        gain = 2 * self.factor * self.slope * (sign * overlap).sum(axis=1)
        return gain - self.factor**2 * np.einsum("bi,bij,bj->b", sign, covariance, sign)


@dataclass(frozen=True)
class BestSampler:
    """Draws the rows and returns C . Sigma^(-1) C."""

    kernel: LayerKernel
    shape: tuple[int, int]
    degree: int
    coefficient: float
    learned: float | None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return _in_stacks(self._several, rng, draws, self.shape[0])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        if self.learned is None:
            w = draw_rows("sphere", rng, draws, self.shape)
            correlation = self.coefficient * w[:, :, 0] ** self.degree
        else:
            # theta_1 is the first axis, the rest of a row uniform on the sphere orthogonal to it, theta_2 the second axis.
            rest = draw_rows("sphere", rng, draws, (self.shape[0], self.shape[1] - 1)) * math.sqrt(1 - self.learned)
            w = np.concatenate([np.full((draws, self.shape[0], 1), math.sqrt(self.learned)), rest], axis=2)
            correlation = math.sqrt(2) * self.coefficient * w[:, :, 0] * w[:, :, 1]
        covariance = self.kernel(w @ np.swapaxes(w, 1, 2))
        return explained(covariance, correlation, self.kernel.activation)


def explained(covariance: Array, correlation: Array, activation: Any) -> Array:
    """Return C . Sigma^(-1) C (draws,), on the span of the features where they are linearly dependent; C is in the range of Sigma.

    Raises QuantityError where rounding, which changes the value by a . E a, a the readout and |E| at least p ROUNDING, may do so
    by more than LARGEST_LOSS.
    """
    rounding = np.max(covariance, axis=(1, 2)) * covariance.shape[1] * ROUNDING
    try:
        readout = np.linalg.solve(covariance, correlation[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        readout = np.full_like(correlation, math.nan)
    gain = np.einsum("bi,bi->b", correlation, readout)
    lost = np.einsum("bi,bi->b", readout, readout) * rounding
    again = np.flatnonzero(~(lost <= LARGEST_LOSS * np.abs(gain)))
    if len(again):
        values, vectors = np.linalg.eigh(covariance[again])
        # Eigenvalues at the level of rounding are those of features that depend on the others.
        kept = values > 10 * rounding[again, None]
        components = np.einsum("bij,bi->bj", vectors, correlation[again])
        readout = np.divide(components, values, out=np.zeros_like(components), where=kept)
        gain[again] = (components * readout).sum(axis=1)
        if not np.all((readout**2).sum(axis=1) * rounding[again] <= LARGEST_LOSS * np.abs(gain[again])):
            raise QuantityError(
                f"the {covariance.shape[1]} features of {activation} are nearly linearly dependent, and the best readout is lost "
                f"to rounding: take fewer features or more dimensions"
            )
    return gain


def _in_stacks(several: Any, rng: np.random.Generator, draws: int, features: int) -> Array:
    step = max(WORKING // features**2, 1) if features > 1 else 4096
    return np.concatenate([several(rng, min(step, draws - start)) for start in range(0, draws, step)])
