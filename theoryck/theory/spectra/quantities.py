"""Spectra of conjugate kernels at finite sizes: resolvent traces, their variance, an eigenvalue at random, distances of laws."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.fft
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from theoryck.numerics.gaussian.means import gauss_legendre
from theoryck.quantities.arguments import rational
from theoryck.quantities.base import NANOSECONDS_PER_NUMBER, Quantity, QuantityError, Sizes
from theoryck.quantities.formulas import formula
from theoryck.records import Enclosure
from theoryck.records.arguments import exact_number, integer
from theoryck.theory.networks.draws import slope
from theoryck.theory.networks.model import as_width, width_at
from theoryck.theory.spectra.draws import EigenvalueSampler, GapSampler, Kernel, TraceSampler
from theoryck.theory.spectra.limits.conjugate import conjugate_kernel, edges
from theoryck.theory.spectra.limits.marchenko_pastur import marchenko_pastur
from theoryck.theory.spectra.proved import density_values

if TYPE_CHECKING:
    from theoryck.theory.networks.model import DeepNetwork

Array = NDArray[np.float64]

EXACT_ORDER = 400
"""The smaller of n and d_0 up to which the exact route is taken: about 2 seconds."""

TAIL = 40.0
"""The edges are blurred by d^(-2/3) and the last e^(-d x/2) falls in 2/d: the mass beyond 40 of these is below 1e-16."""

TAIL_NODES = 80

DISTANCE_ERROR = 1e-8
"""Distribution functions are right to 1e-14 and differ by 0.1/d."""


@dataclass(frozen=True, repr=False)
class SpectralQuantity(Quantity):
    """A number that depends on the conjugate kernel of a network at n = ``samples``: an integer or a width such as "n" or "2*d"."""

    title = "{self.__class__.__name__}({network.activation.text}, depth={network.depth}, samples={samples}{self.options})"
    can_draw = True
    per_draw: ClassVar[float] = 1.0
    options: ClassVar[str] = ""
    network: DeepNetwork
    samples: Any = "n"

    def __post_init__(self) -> None:
        if not hasattr(self.network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {self.network!r}")
        try:
            object.__setattr__(self, "samples", as_width(self.samples, "samples"))
        except ValueError as error:
            raise QuantityError(str(error)) from None

    def kernel(self, sizes: Sizes) -> Kernel:
        """Return the kernel at ``sizes``."""
        activation = self.network.activation if self.network.depth else None
        return Kernel(activation, self.network.layer_widths(sizes), width_at(self.samples, sizes))

    def cost(self, sizes: Sizes) -> float:
        return self.per_draw * self.kernel(sizes).nanoseconds / NANOSECONDS_PER_NUMBER


@dataclass(frozen=True, repr=False)
class Shifted(SpectralQuantity):
    """Of a resolvent (K_L + shift)^-1, shift > 0 exact: 0.1 is 1/10."""

    shift: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shift", rational(self.shift, "shift", low=0))

    @property
    def options(self) -> str:  # type: ignore[override]
        """What the name says beside the network and the samples."""
        return f", shift={self.shift}"


@dataclass(frozen=True, repr=False)
class resolvent_trace(Shifted):
    """E (1/n) tr (K_L + shift)^-1 - against; ``against`` is a limit, say, so that the rest is a bias.

    ``samples`` is n, an integer or a width such as "n" or "2*d"; ``shift`` > 0 is exact (0.1 is 1/10).  At depth 0 there is an
    exact route too, proved.  Raises QuantityError.

    >>> import numpy as np
    >>> from theoryck.theory.networks import DeepNetwork
    >>> trace = resolvent_trace(DeepNetwork("x", depth=0, widths=("d",)), "d", shift=1)
    >>> float(trace.exact({"d": 1}))
    0.65567...
    >>> draws = trace.draw(np.random.default_rng(0), 10_000, {"d": 1})
    >>> bool(abs(draws.mean() - 0.65567) < 5 * draws.std() / 100)
    True
    """

    against: Any = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            object.__setattr__(self, "against", exact_number(self.against, "against"))
        except ValueError as error:
            raise QuantityError(f"{error}: give the limit that is subtracted") from None

    @property
    def options(self) -> str:  # type: ignore[override]
        """The shift, and what is subtracted."""
        centre = self.against.midpoint if isinstance(self.against, Enclosure) else self.against
        return super().options + (f", against={centre}" if centre else "")

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route: the spectrum of a Wishart matrix."""
        return self.network.depth == 0

    def sampler(self, sizes: Sizes) -> TraceSampler:
        return TraceSampler(self.kernel(sizes), float(self.shift), float(self.against))

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return (d_0 T + n - d_0)/(n gamma) - against, T = (1/d_0) E tr (1 + X X^T/gamma)^-1; None above depth 0 or too large.

        The zeros of the larger Gram matrix make the difference of the two traces.
        """
        kernel = self.kernel(sizes)
        if self.network.depth or kernel.order > EXACT_ORDER:
            return None
        from theoryck.numerics.proved import arithmetic
        from theoryck.theory.learning.proved.linear_model import wishart_resolvent

        n, width = kernel.samples, kernel.widths[0]
        # The difference to the limit is of relative size 1/n and loses as many digits.
        working = digits + len(str(n)) + 3

        def known(value: Fraction) -> Enclosure:
            return arithmetic.enclose(value, working)

        small = arithmetic.multiply(wishart_resolvent(n, width, 1 / self.shift, working), known(Fraction(width)), working)
        total = arithmetic.add(small, known(Fraction(n - width)), working)
        trace = arithmetic.divide(total, known(n * self.shift), working)
        against = self.against if isinstance(self.against, Enclosure) else known(self.against)
        return arithmetic.subtract(trace, against, digits)


class resolvent_variance(Shifted):
    """Var (1/n) tr (K_L + shift)^-1, from independent pairs, which need no mean: unbiased.

    Arguments as for :class:`resolvent_trace`.

    >>> import numpy as np
    >>> from theoryck.theory.networks import DeepNetwork
    >>> variance = resolvent_variance(DeepNetwork("x", depth=0, widths=("d",)), "d", shift=1)
    >>> variance.draw(np.random.default_rng(0), 3, {"d": 8}).shape
    (3,)
    """

    per_draw = 2.0

    def sampler(self, sizes: Sizes) -> TraceSampler:
        return TraceSampler(self.kernel(sizes), float(self.shift), pairs=True)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return sqrt(2): half the squared difference of two Gaussians is Var times chi-square."""
        return 2**0.5


class eigenvalue(SpectralQuantity):
    """One eigenvalue of the smaller Gram matrix of x_L (K_L, or x_L x_L^T if d_L < n), chosen at random: statistic of a Law.

    Its limit is ``conjugate_kernel(phi, ratios).law().nonzero()``.  A draw is one matrix: eigenvalues of one matrix repel each
    other, so more than one of them would not be independent.

    >>> import numpy as np
    >>> from theoryck.theory.networks import DeepNetwork
    >>> statistic = eigenvalue(DeepNetwork("tanh", depth=1, widths=("d", "d")), "d")
    >>> bool((statistic.draw(np.random.default_rng(0), 5, {"d": 8}) > 0).all())
    True
    """

    def sampler(self, sizes: Sizes) -> EigenvalueSampler:
        return EigenvalueSampler(self.kernel(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of all eigenvalues of a matrix, or of 48 Sturm counts, in units of 1/7e7 seconds."""
        kernel = self.kernel(sizes)
        more = 250.0 * kernel.order if self.network.depth == 0 else 4000 + 60.0 * kernel.order**2 + 1.5 * kernel.order**3
        return (kernel.nanoseconds + more) / NANOSECONDS_PER_NUMBER


@dataclass(frozen=True, repr=False)
class equivalent_gap(Shifted):
    """E [(1/n) tr (K_L + shift)^-1 - (1/n) tr Qbar], Qbar the deterministic equivalent given the layer below.

    Qbar = (Phi/(1 + delta) + shift)^-1 with the exact kernel Phi of the last layer, or with the surrogate rho^2 G + epsilon of a
    pair ``surrogate`` = (rho, epsilon), G the Gram matrix below.  Both traces share that layer, and terms linear and quadratic in
    K_L - Phi, whose mean given the layer below is 0, are taken off.  phi must have mean 0 at the limit variances.  Raises
    QuantityError.

    >>> import numpy as np
    >>> from theoryck.theory.networks import DeepNetwork
    >>> gap = equivalent_gap(DeepNetwork("erf(x)", depth=1, widths=("d", "d")), "d", shift=1)
    >>> bool(abs(gap.draw(np.random.default_rng(0), 100, {"d": 16}).mean()) < 0.01)
    True
    """

    surrogate: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.depth < 1:
            raise QuantityError("network must have a layer of random weights, got depth 0: its kernel is the Gram matrix itself")
        if self.surrogate is not None:
            object.__setattr__(self, "surrogate", _pair(self.surrogate))

    @property
    def options(self) -> str:  # type: ignore[override]
        """The shift, and the constants of the surrogate."""
        pair = self.surrogate
        return super().options + ("" if pair is None else f", rho={pair[0]}, epsilon={pair[1]}")

    def sampler(self, sizes: Sizes) -> GapSampler:
        kernel, shift = self.kernel(sizes), float(self.shift)
        return GapSampler(kernel, shift, chebyshev_terms(kernel, shift), self.surrogate)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of two kernels and a spectrum beside the trace, in units of 1/7e7 seconds."""
        kernel = self.kernel(sizes)
        n = kernel.samples
        entries = 40.0 if slope(self.network.activation) is None else 20.0
        return (kernel.nanoseconds + 6000 + (entries + 60) * n**2 + 2.0 * n**3) / NANOSECONDS_PER_NUMBER


@functools.lru_cache(maxsize=64)
def chebyshev_terms(kernel: Kernel, shift: float) -> tuple[float, float]:
    """Return b_1 and b_2 of the quadratic b_0 + b_1 x + b_2 x^2 that has the first terms of the Chebyshev series of 1/(x + gamma).

    At x = a + h + h cos t the series is (1/s)(1 + 2 sum_k (-r)^k cos k t), M = a + h + gamma, s = sqrt(M^2 - h^2), r = (M - s)/h.
    """
    ratios = tuple(kernel.samples / width for width in kernel.widths)
    try:
        support = edges(conjugate_kernel(kernel.activation, ratios).chain)
    except ValueError as error:
        raise QuantityError(f"the deterministic equivalent needs the limit of the spectrum: {error}") from None
    low, high = support[0][0], support[-1][1]
    centre, half = (low + high) / 2, (high - low) / 2
    far = centre + shift
    root = ((far - half) * (far + half)) ** 0.5
    r = (far - root) / half
    # a_1 T_1(u) + a_2 (2 u^2 - 1) at u = (x - centre)/half.
    one, two = -2 * r / root, 2 * r**2 / root
    return one / half - 4 * two * centre / half**2, 2 * two / half**2


def _pair(value: Any) -> tuple[float, float]:
    try:
        rho, epsilon = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise QuantityError(f"surrogate must be the pair (rho, epsilon) of a linear model, got {value!r}") from None
    if not (np.isfinite(rho) and np.isfinite(epsilon) and epsilon >= 0):
        raise QuantityError(f"surrogate needs a finite rho and epsilon >= 0, got {value!r}")
    return rho, epsilon


# The mean spectrum of inputs, without draws ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class spectral_distance(Quantity):
    """int (F_d - F)^2 dF at size d, which must be odd.

    F_d is the mean distribution function of the eigenvalues that are not 0 of X^T X, X of d x n independent N(0, 1/d) with
    n = ``ratio`` d; F is that of the Marchenko-Pastur law.  Raises QuantityError unless ratio is an integer >= 1 and d
    is odd.

    >>> distance = spectral_distance(1)
    >>> round(float(distance.exact({"d": 1})), 6), round(129**2 * float(distance.exact({"d": 129})), 4)
    (0.003059, 0.0199)

    The mean density of the eigenvalues at finite size is a sum of polynomials with rational coefficients times weights
    (:mod:`theoryck.theory.spectra.proved`); for a matrix of odd order these are elementary.  On x = a + (b - a) sin(theta/2)^2,
    [a, b] the support of the limit, the density times dx/dtheta is analytic in theta and integrated as a Chebyshev series; beyond
    the edges Gauss's rule is enough.  Distribution functions differ by Delta(x)/d + o(1/d), where Delta = 1/4 - phi/(2 pi) at
    x = (a + b)/2 - (b - a)/2 cos(phi) is the mean of Bai and Silverstein (2004): half a point at each of the edges less the
    arcsine law, halved.
    """

    needs = ("d",)
    can_exact = True
    ratio: int

    def __post_init__(self) -> None:
        integer(self.ratio, "ratio", 1, error=QuantityError)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        distance = functools.partial(_distance, self.ratio)
        return formula(distance, name=self.name, sizes=self.needs, relative_error=DISTANCE_ERROR).exact(sizes, digits)


def _distance(ratio: int, d: int) -> float:
    if d % 2 == 0:
        raise QuantityError(f"d must be odd, got {d}: the density of even orders needs an incomplete gamma function")
    law = marchenko_pastur(ratio).nonzero()
    low, high = law.support
    far = TAIL * (d ** (-2 / 3) + 2 / d)
    # x = end -+ t^2: the density is 1/sqrt(x) at 0.
    beyond = _tail(d, ratio, max(low - far, 0.0), low), _tail(d, ratio, high, high + far)
    count = 6 * d + 60  # a density of d waves, and its edges
    nodes = np.cos(math.pi * (np.arange(count) + 0.5) / count)
    series = scipy.fft.dct(_density(d, ratio, _place(low, high, nodes)) * _speed(low, high, nodes)) / count
    series[0] /= 2
    whole = chebyshev.chebint(series, lbnd=-1)
    mass = sum(beyond) + float(chebyshev.chebval(1.0, whole))
    if not abs(mass - 1) < 1e-12:
        raise QuantityError(f"the mean density at d = {d} has the mass {mass!r}: take a smaller d")
    nodes, weights = gauss_legendre(count)
    x = _place(low, high, nodes)
    gap = beyond[0] + chebyshev.chebval(nodes, whole) - law.cdf(x)
    return float(weights @ (gap**2 * law.pdf(x) * _speed(low, high, nodes)))


def _place(low: float, high: float, t: Array) -> Array:
    return low + (high - low) * np.sin(math.pi / 4 * (1 + t)) ** 2


def _speed(low: float, high: float, t: Array) -> Array:
    return (high - low) * math.pi / 4 * np.cos(math.pi / 2 * t)


def _tail(d: int, ratio: int, low: float, high: float) -> float:
    if high <= low:
        return 0.0
    nodes, weights = gauss_legendre(TAIL_NODES)
    t = (nodes + 1) / 2
    return float(weights / 2 @ (_density(d, ratio, low + (high - low) * t**2) * 2 * t * (high - low)))


def _density(d: int, ratio: int, x: Array) -> Array:
    """Return the mean density at x of the eigenvalues of X X^T."""
    return np.array(density_values(d, (ratio - 1) * d, (d * x).tolist()))
