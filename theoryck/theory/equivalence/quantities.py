"""How far random features are from their Gaussian equivalent, and what a readout on unlearnt rows explains of a target."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.quantities.arguments import positive, rational
from theoryck.quantities.base import MIN_COMPARED_DRAWS, NANOSECONDS_PER_NUMBER, Quantity, QuantityError, Sizes
from theoryck.quantities.exact import gaussian_mean
from theoryck.quantities.pilots import Pilot
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.equivalence.draws import (
    DENSE,
    BestSampler,
    CovarianceGapSampler,
    RidgeGapSampler,
    RidgeProblem,
    SignSampler,
    control_coefficients,
)
from theoryck.theory.equivalence.model import GaussianFeatures, RandomFeatures
from theoryck.theory.hermite.proved import sphere_moment
from theoryck.theory.hermite.quantities import LARGEST_DEGREE, feature_mean, feature_noise, feature_slope, hermite_coefficient

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

NORMALISATIONS = {"root": 0.5, "mean": 1.0}
"""f = p^(-1/2) sum_j a_j phi_j, or f = p^(-1) sum_j a_j phi_j."""


@functools.lru_cache(maxsize=256)
def gaussian_equivalent(activation: Activation | str) -> GaussianFeatures:
    """Return the Gaussian features mu_0 + mu_1 W x + mu_* xi of an activation, with its constants to double precision.

    >>> features = gaussian_equivalent("erf")
    >>> round(features.mean, 12), round(features.slope, 12), round(features.noise, 10)
    (0.0, 0.651470015871, 0.0401458728)
    """
    values = [float(quantity(activation).exact({}, 20)) for quantity in (feature_mean, feature_slope, feature_noise)]
    return GaussianFeatures(*values)


@functools.lru_cache(maxsize=256)
def _coefficient(activation: Activation, degree: int) -> float:
    return float(hermite_coefficient(activation, degree).exact({}, 20))


@dataclass(frozen=True, repr=False)
class FeatureQuantity(Quantity):
    """What is measured of random features, by Monte Carlo over the rows."""

    can_draw = True
    features: RandomFeatures

    def __post_init__(self) -> None:
        if not isinstance(self.features, RandomFeatures):
            raise QuantityError(f"features must be a theoryck.theory.equivalence.RandomFeatures, got {self.features!r}")


class ComparedFeatures(FeatureQuantity):
    """What compares them with Gaussian features: those that were given as ``gaussian``, or the equivalent ones."""

    gaussian: GaussianFeatures | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gaussian is not None and not isinstance(self.gaussian, GaussianFeatures):
            raise QuantityError(f"gaussian must be a theoryck.theory.equivalence.GaussianFeatures or None, got {self.gaussian!r}")

    @property
    def compared(self) -> GaussianFeatures:
        """The Gaussian features."""
        return gaussian_equivalent(self.features.activation) if self.gaussian is None else self.gaussian

    @property
    def constants(self) -> str:
        """Those that were given, as they end the name."""
        given = self.gaussian
        return "" if given is None else f", gaussian={[given.mean, given.slope, given.noise]}"


@dataclass(frozen=True, repr=False)
class feature_covariance_gap(ComparedFeatures):
    """E_W of the operator norm of E_x phi(W x) phi(W x)^T - (mu_0^2 1 1^T + mu_1^2 W W^T + mu_*^2 I), by Monte Carlo over W.

    The first matrix is the exact kernel of the Gram matrix W W^T: no input is drawn.  ``gaussian`` replaces the constants.  For odd
    phi and p of the order of d it is of order 1/d with rows on the sphere, and sqrt(log d / d) with Gaussian rows, whose lengths
    fluctuate.

    >>> import numpy as np
    >>> q = feature_covariance_gap(RandomFeatures("erf"))
    >>> bool(q.draw(np.random.default_rng(0), 20, {"d": 32}).mean() < q.draw(np.random.default_rng(0), 20, {"d": 16}).mean())
    True
    """

    title = "feature_covariance_gap({features}{self.constants})"
    gaussian: GaussianFeatures | None = None

    def sampler(self, sizes: Sizes) -> CovarianceGapSampler:
        kernel = LayerKernel(self.features.activation)
        return CovarianceGapSampler(kernel, self.compared, self.features.rows, self.features.shape(sizes))

    def cost(self, sizes: Sizes) -> float:
        p, d = self.features.shape(sizes)
        eigen = 0.5 * p**3 + 4e3 if p <= DENSE else 10.0 * p**2 + 4e5
        return (14 * p * d + 0.06 * p * p * d + 30 * p * p + eigen) / NANOSECONDS_PER_NUMBER

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean, about 1 to 1.5 over sqrt(p) for erf and tanh up to p = 128."""
        return 1.5 / math.sqrt(self.features.shape(sizes)[0])


@dataclass(frozen=True, repr=False)
class ridge_gap(ComparedFeatures):
    """The test error of ridge regression on random features minus that on their Gaussian equivalent, by Monte Carlo.

    a = argmin sum_i (y_i - a . phi_i/sqrt(p))^2 + penalty |a|^2 over ``samples`` (n) samples of a random target of the given
    ``degree`` (1 or 2) and unit variance; rows on the sphere.  ``gaussian`` replaces the constants of the equivalent.  The
    expectation is over W, X, xi, the target and the test input.  At n = p = d and erf it is near -0.145/d for penalty 0.1 and near
    -0.032/d for penalty 2, where the control variates take away more of the noise.  Raises QuantityError.

    >>> import numpy as np
    >>> q = ridge_gap(RandomFeatures("erf"))
    >>> draws = q.draw(np.random.default_rng(0), 4000, {"d": 8})
    >>> bool(abs(8 * draws.mean() + 0.125) < 8 * 5 * draws.std() / 4000**0.5)
    True
    """

    title = "ridge_gap({features}, samples={samples}, penalty={penalty}, degree={degree}{self.constants})"
    samples: Any = "d"
    penalty: Any = 0.1
    degree: int = 1
    gaussian: GaussianFeatures | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features.rows != "sphere":
            raise QuantityError(f"rows must be 'sphere' for exact test errors, got {self.features.rows!r}")
        if isinstance(self.degree, bool) or self.degree not in (1, 2):
            raise QuantityError(f"degree must be 1 or 2, got {self.degree!r}")
        object.__setattr__(self, "samples", RandomFeatures(self.features.activation, features=self.samples).features)
        object.__setattr__(self, "penalty", positive(self.penalty, "penalty"))

    def problem(self, sizes: Sizes) -> RidgeProblem:
        """Return the two problems at ``sizes``."""
        p, d = self.features.shape(sizes)
        n = self.samples if isinstance(self.samples, int) else self.samples.value(sizes)
        phi = self.features.activation
        slopes = (_coefficient(phi, self.degree), self.compared.slope if self.degree == 1 else 0.0)
        compared, third = gaussian_equivalent(phi), _coefficient(phi, 3)
        return RidgeProblem(phi, self.compared, compared, (n, p, d), self.penalty, self.degree, slopes, third)

    def sampler(self, sizes: Sizes) -> RidgeGapSampler:
        """Return the sampler, whose coefficients come from a pilot of its own."""
        problem = self.problem(sizes)
        return RidgeGapSampler(problem, control_coefficients(problem))

    def pilots(self, sizes: Sequence[Sizes]) -> Sequence[Pilot]:
        """Return the pilots to which coefficients are still to be fitted."""
        return [pilot for entry in sizes[::-1] for pilot in control_coefficients.missing(self.problem(entry))]

    def cost(self, sizes: Sizes) -> float:
        n, p, d = self.problem(sizes).shape
        q = d if self.degree == 1 else d * (d + 1) // 2
        flops = 2 * p * p * n + p**3 + 4 * p * p * q + 2 * n * p * q + n * p * d
        return (2e4 + 0.35 * flops + 60 * n * p + 40 * p * p) / NANOSECONDS_PER_NUMBER

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean: for erf at n = p = d 2.7 at penalty 0.1, 0.8 at 2, at any size."""
        return 2.0 if self.penalty < 1 else 1.0


@dataclass(frozen=True, repr=False)
class ReadoutQuantity(FeatureQuantity):
    """What a readout on random features with rows on the sphere explains of a target."""

    def __post_init__(self) -> None:
        if not isinstance(self.features, RandomFeatures) or self.features.rows != "sphere":
            raise QuantityError(f"features must be RandomFeatures with rows='sphere', got {self.features!r}")

    def cost(self, sizes: Sizes) -> float:
        p, d = self.features.shape(sizes)
        return (3e3 + 14 * p * d + 0.15 * p * p * d + 30 * p * p + 0.5 * p**3) / NANOSECONDS_PER_NUMBER


@dataclass(frozen=True, repr=False)
class sign_readout_gain(ReadoutQuantity):
    """Var f* - E (f* - f)^2 for f* = theta . x and a_j = scale * sign(w_j . theta): the rows know nothing of theta.

    f = p^(-1/2) sum_j a_j phi(w_j . x) ("root") or p^(-1) sum_j a_j phi(w_j . x) ("mean").  With "root" and p = d it tends to
    2 c mu_1 sqrt(2/pi) - c^2 (E phi(Z)^2 + 2 mu_1^2/pi), c = ``scale``, which is positive for small c; with "mean" it is of order
    d^(-1/2).  Monte Carlo over the rows; theta and x are integrated exactly.  Raises QuantityError.

    >>> import numpy as np
    >>> q = sign_readout_gain(RandomFeatures("erf"), scale=0.7)
    >>> bool(abs(q.draw(np.random.default_rng(0), 400, {"d": 64}).mean() - 0.368) < 0.02)
    True
    """

    title = "sign_readout_gain({features}, scale={scale}, normalisation={normalisation})"
    scale: Any = 1.0
    normalisation: str = "root"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.normalisation not in NORMALISATIONS:
            raise QuantityError(f"normalisation must be one of {', '.join(NORMALISATIONS)}, got {self.normalisation!r}")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def sampler(self, sizes: Sizes) -> SignSampler:
        p, d = self.features.shape(sizes)
        slope = float(feature_slope(self.features.activation).exact({}, 20))
        factor = self.scale * p ** -NORMALISATIONS[self.normalisation]
        return SignSampler(LayerKernel(self.features.activation), (p, d), slope, factor)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean: that of a mean of p values |w . theta|, doubled for the rest."""
        return 1.5 / math.sqrt(self.features.shape(sizes)[0])


@dataclass(frozen=True, repr=False)
class best_readout_gain(ReadoutQuantity):
    """Var f* - min_a E (f* - f)^2 for f* = h_degree(theta . x) on rows that know nothing of theta: E C . Sigma^(-1) C.

    With one feature it is c_l^2 E (w . theta)^(2l) / E phi(Z)^2, l = ``degree``, exactly; with any fixed number of order d^(-l).

    >>> best_readout_gain(RandomFeatures("x", features=1)).exact({"d": 8}).to_json()["value"]
    '0.125'
    """

    title = "best_readout_gain({features}, degree={degree})"
    degree: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        integer(self.degree, "degree", 1, LARGEST_DEGREE, QuantityError)

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is a product formula: one feature that has learnt nothing."""
        return self.features.features == 1

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
        return self._sampler(sizes, None)

    def _sampler(self, sizes: Sizes, learned: float | None) -> BestSampler:
        coefficient = float(hermite_coefficient(self.features.activation, self.degree).exact({}, 20))
        return BestSampler(LayerKernel(self.features.activation), self.features.shape(sizes), self.degree, coefficient, learned)


@dataclass(frozen=True, repr=False)
class best_product_gain(best_readout_gain):
    """E Var(f* | theta_1 . x) - min_a E (f* - f)^2 for f* = (theta_1 . x)(theta_2 . x), E Var(f* | theta_1 . x) = 1.

    The rows sqrt(t) theta_1 + sqrt(1 - t) u_j, t = ``learned`` in (0, 1), have learnt theta_1 and nothing of theta_2.  Raises
    QuantityError for a share that is no such number.

    >>> import numpy as np
    >>> q = best_product_gain(RandomFeatures("relu", features=2))
    >>> bool(0 < q.draw(np.random.default_rng(0), 100, {"d": 64}).mean() < 0.1)
    True
    """

    title = "best_readout_gain({features}, target=product, learned={learned})"
    can_exact = False
    degree: int = field(default=2, init=False)
    learned: Any = Fraction(1, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if positive(self.learned, "learned") >= 1:
            raise QuantityError(f"learned must lie strictly between 0 and 1, got {self.learned!r}")
        object.__setattr__(self, "learned", rational(self.learned, "learned"))

    def sampler(self, sizes: Sizes) -> BestSampler:
        if self.features.shape(sizes)[1] < 2:
            raise QuantityError(f"input_dim must be at least 2 for a target of two directions, got {self.features.shape(sizes)[1]}")
        return self._sampler(sizes, float(self.learned))
