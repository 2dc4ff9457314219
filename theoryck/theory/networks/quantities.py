"""What can be measured of networks: moments of norms and overlaps, and the constants of their limits.

sigma_0 = 1,  sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2,  rho_l = E phi'(sqrt(sigma_{l-1}) Z),
epsilon_l = sigma_l - sigma_{l-1} rho_l^2,  eta_0 = prod_i rho_i,  gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2,   Z ~ N(0, 1).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import MIN_COMPARED_DRAWS, NoCertificate, Quantity, QuantityError, Sizes
from theoryck.quantities.exact import ExactQuantity, as_activation
from theoryck.records import Bracket, Certificate, Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.networks.draws import Layers, layers_of, norm_chain, overlap_chain, slope

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

Power = int | float

LARGEST_COMPARED_POWER = 12

LARGEST_POWER = 64
"""Draws are doubles, and the mean of a higher power is that of a few draws nobody sees; the exact routes grow with the power."""


@dataclass(frozen=True, repr=False)
class NetworkMoment(Quantity):
    """The k-th absolute moment of a statistic of a :class:`~theoryck.theory.networks.DeepNetwork`; both routes."""

    network: DeepNetwork
    power: Any = 2
    can_draw = True
    can_exact = True
    inputs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not hasattr(self.network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {self.network!r}")
        object.__setattr__(self, "power", check_power(self.power))

    @property
    def name(self) -> str:
        """What people read."""
        network = self.network
        return f"{type(self).__name__}({network.activation.text}, depth={network.depth}, power={self.power})"

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | Bracket | None:
        """Return the exact moment: an Enclosure for even powers, else mostly a Bracket; None where no route says anything."""
        return self._exact_or_reason(sizes, digits)[0]

    def why_not_exact(self, sizes: Sizes, digits: int = 20) -> str | None:
        """Return why :meth:`exact` has nothing to say at ``sizes``, None where it has a value."""
        return self._exact_or_reason(sizes, digits)[1]

    def _exact_or_reason(self, sizes: Sizes, digits: int) -> tuple[Enclosure | Bracket | None, str | None]:
        from theoryck.numerics.errors import NotConverged

        try:
            return self._exact_moment(sizes, digits), None
        except NotConverged as error:
            return None, str(error)

    def _exact_moment(self, sizes: Sizes, digits: int) -> Enclosure | Bracket:
        """Return the moment from the exact room, whose errors pass."""
        raise NotImplementedError

    @property
    def certified_sizes(self) -> tuple[str, ...]:
        """The widths."""
        return self.network.pattern

    def limiting_constant(self, ratios: Sequence[Fraction]) -> float | None:
        from theoryck.numerics.errors import ExactError

        try:
            return float(self._limit(ratios))
        except ExactError:
            return None

    def _limit(self, ratios: Sequence[Fraction]) -> Enclosure:
        raise NotImplementedError

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes."""
        return float(self.inputs * layers_of(self.network, sizes).numbers)

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 1.5 times the squared skewness of one draw, at least 4096: from then on the mean is near enough to Gaussian.

        The skewness is that of |N|^k for a bounded phi; for a phi that grows at most linearly that of the linear network with
        half the widths (relu uses half of its units); infinite for a phi that grows faster.
        """
        return max(MIN_COMPARED_DRAWS, 1.5 * self._squared_skewness(self.network.layer_widths(sizes)))

    def _squared_skewness(self, widths: tuple[int, ...]) -> float:
        power = 2 * math.ceil(self.power / 2)
        if power > LARGEST_COMPARED_POWER:
            return math.inf
        if self.network.depth > 0 and _is_bounded(self.network.activation):
            return _skewness_squared(*(math.prod(range(1, j * power, 2)) for j in (1, 2, 3)))
        linear = slope(self.network.activation) is not None or self.network.depth == 0
        if not linear and not self.network.activation.properties.bounded_first_derivative.value:
            return math.inf
        proxy = widths if linear else tuple(max(1, width // 2) for width in widths)
        return _skewness_squared(*(self._linear_moment(proxy, j * power) for j in (1, 2, 3)))

    def _linear_moment(self, widths: tuple[int, ...], power: int) -> Fraction:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NormSampler:
    """Draws |S_L - centre|^power by the chain of :mod:`theoryck.theory.networks.draws`."""

    layers: Layers
    centre: float
    power: Power

    def __call__(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """Return ``draws`` independent values (draws,)."""
        norms = norm_chain(self.layers, rng, draws)
        norms -= self.centre
        return absolute_power(norms, self.power, "the deviation of a norm")


@dataclass(frozen=True)
class Centre:
    """A number in the place of sigma_L, as it was written."""

    text: str
    value: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class norm_deviation(NetworkMoment):
    """E | |x_L|^2 - sigma_L |^power for x_0 ~ N(0, I/d_0), x_l = phi(W_l x_{l-1})/sqrt(d_l).

    ``power`` is a real number, 0 < power <= 64.  ``centre`` replaces sigma_L: a number or an exact-only quantity (then Monte Carlo
    only).  Monte Carlo runs a Markov chain of squared norms without weight matrices (see :mod:`theoryck.theory.networks.draws`).
    Source: moment control.  Raises QuantityError.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = norm_deviation(DeepNetwork("x", depth=1), power=2)
    >>> draws = q.sampler({"input_dim": 4, "width": 4})(np.random.default_rng(0), 10_000)
    >>> bool(abs(draws.mean() - 1.25) < 5 * draws.std() / 100)  # (1 + 2/4)^2 - 1
    True
    >>> q = norm_deviation(DeepNetwork("x", depth=0), power=2)
    >>> q.name, q.can_exact, q.exact({"input_dim": 8}).midpoint  # E (|x_0|^2 - 1)^2 = 2/d_0
    ('norm_deviation(x, depth=0, power=2)', True, Decimal('0.25'))
    >>> norm_deviation(DeepNetwork("x", depth=0), centre=0).parameters["centre"]
    '0.0'
    """

    centre: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centre", None if self.centre is None else _centre(self.centre))

    @property
    def name(self) -> str:
        """What people read."""
        return super().name if self.centre is None else f"{super().name[:-1]}, centre={self.centre})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data; no centre where it is sigma_L."""
        return {name: value for name, value in super().parameters.items() if value is not None}

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether the exact room has this moment: the centre must be sigma_L."""
        return self.centre is None

    def sampler(self, sizes: Sizes) -> NormSampler:
        """Return the sampler at ``sizes``; errors of the widths name the size that is missing."""
        layers = layers_of(self.network, sizes)
        centre = limit_norm(self.network.activation, self.network.depth) if self.centre is None else self.centre.value
        return NormSampler(layers, centre, self.power)

    def certificate_cost(self) -> float | None:
        from theoryck.theory.networks.certificates.bounds import why_not

        return None if why_not(self) else 0.02 + 0.18 * self.network.depth

    def for_every_size(
        self, rate: Fraction | None = None, *, constant: Decimal | None = None, start: int = 1, both: bool = False
    ) -> Certificate:
        """Return the certificate of E| |x_L|^2 - sigma_L |^k <= C d^(-k/2) for every d >= ``start`` and all widths >= d.

        k is an integer from 1 to 8; phi is analytic and grows at most linearly, as asinh, has two slopes, as relu, or is a
        polynomial.  With ``both`` and k >= 2 it is at least c d^(-k/2) where all widths are d.  Raises NoCertificate.

        >>> from theoryck.theory.networks import DeepNetwork
        >>> moment = norm_deviation(DeepNetwork("tanh", depth=2), power=2)
        >>> moment.for_every_size(start=1024).constant, round(moment.certificate_cost(), 2)
        ('0.0778...', 0.38)
        >>> norm_deviation(DeepNetwork("sin", depth=1), power=2).for_every_size(constant=Decimal("0.1"))
        Traceback (most recent call last):
            ...
        theoryck.quantities.base.NoCertificate: norm_deviation(sin(x), depth=1, power=2) exceeds 0.1 d**(-1) at d = 1, where it is
        0.12963... d**(-1): take a larger constant
        """
        from theoryck.theory.networks.certificates.bounds import norm_bound

        return norm_bound(self, rate, constant, integer(start, "start", 1, error=QuantityError), both=both)

    def _limit(self, ratios: Sequence[Fraction]) -> Enclosure:
        from theoryck.theory.networks.limits import norm_moment_limit

        return norm_moment_limit(self.network.activation, ratios, self.power)

    def _linear_moment(self, widths: tuple[int, ...], power: int) -> Fraction:
        from theoryck.theory.networks.proved.closed_forms import linear_norm_moment

        return linear_norm_moment(widths, power)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | Bracket | None:
        """Return E| |x_L|^2 - sigma_L |^k: an Enclosure for even powers, else mostly a Bracket.

        None with another centre and where the expansion in 1/d says nothing at these widths.
        """
        return super().exact(sizes, digits) if self.can_exact else None

    def _exact_moment(self, sizes: Sizes, digits: int) -> Enclosure | Bracket:
        from theoryck.theory.networks.proved.moments import norm_moment

        return norm_moment(self.network.activation, self.network.layer_widths(sizes), self.power, digits=digits)


@dataclass(frozen=True, slots=True)
class OverlapSampler:
    """Draws |Q_L|^power by the chain of :mod:`theoryck.theory.networks.draws`."""

    layers: Layers
    power: Power

    def __call__(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """Return ``draws`` independent values (draws,)."""
        return absolute_power(overlap_chain(self.layers, rng, draws), self.power, "an overlap")


@dataclass(frozen=True, repr=False)
class overlap_moment(NetworkMoment):
    """E|x_L(mu) . x_L(nu)|^power for two independent inputs x_0 ~ N(0, I/d_0).

    ``power`` is a real number, 0 < power <= 64.  Monte Carlo runs the Markov chain of 2 x 2 Gram matrices without
    weight matrices (see :mod:`theoryck.theory.networks.draws`).  Source: quasi-orthogonality.  Raises QuantityError.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = overlap_moment(DeepNetwork("x", depth=1), power=2)
    >>> draws = q.sampler({"input_dim": 8, "width": 8})(np.random.default_rng(0), 20_000)
    >>> bool(abs(draws.mean() - 0.265625) < 5 * draws.std() / 20_000**0.5)  # 1/8 (1 + 1/8) + 1/8
    True
    >>> q.name, overlap_moment(DeepNetwork("x", depth=0)).exact({"input_dim": 8}).midpoint  # E (x . y)^2 = 1/d_0
    ('overlap_moment(x, depth=1, power=2)', Decimal('0.125'))
    """

    inputs: ClassVar[int] = 2

    def sampler(self, sizes: Sizes) -> OverlapSampler:
        """Return the sampler at ``sizes``; errors of the widths name the size that is missing."""
        return OverlapSampler(layers_of(self.network, sizes), self.power)

    def certificate_cost(self) -> float | None:
        from theoryck.theory.networks.certificates.overlaps import why_not

        return None if why_not(self) else 0.2 + 0.4 * self.network.depth

    def for_every_size(
        self, rate: Fraction | None = None, *, constant: Decimal | None = None, start: int = 1, both: bool = False
    ) -> Certificate:
        """Return the certificate of E|x_L . x'_L|^k <= C d^(-k/2) for every d >= ``start`` and all widths >= d.

        k is an integer from 1 to 8, phi an odd bounded function and the depth at least 1.  Raises NoCertificate.

        >>> from theoryck.theory.networks import DeepNetwork
        >>> moment = overlap_moment(DeepNetwork("erf", depth=2), power=2)
        >>> moment.for_every_size(start=4096).constant, moment.certificate_cost()  # the limit is 0.2748
        ('0.306...', 1.0)
        """
        from theoryck.theory.networks.certificates.overlaps import overlap_bound

        if both:
            raise NoCertificate(f"{self.name} has proofs from above only: claim a Bound")
        return overlap_bound(self, rate, constant, integer(start, "start", 1, error=QuantityError))

    def _limit(self, ratios: Sequence[Fraction]) -> Enclosure:
        from theoryck.theory.networks.limits import overlap_moment_limit

        return overlap_moment_limit(self.network.activation, ratios, self.power)

    def _linear_moment(self, widths: tuple[int, ...], power: int) -> Fraction:
        from theoryck.theory.networks.proved.closed_forms import linear_overlap_moment

        return linear_overlap_moment(widths, power)

    def _exact_moment(self, sizes: Sizes, digits: int) -> Enclosure | Bracket:
        from theoryck.theory.networks.proved.moments import overlap_moment as exact_moment

        return exact_moment(self.network.activation, self.network.layer_widths(sizes), self.power, digits=digits)


def _skewness_squared(first: Fraction | int, second: Fraction | int, third: Fraction | int) -> float:
    """Squared skewness from the raw moments E X, E X^2, E X^3."""
    variance = second - first**2
    return float(Fraction((third - 3 * second * first + 2 * first**3) ** 2) / Fraction(variance**3))


@functools.lru_cache(maxsize=256)
def _is_bounded(activation: Activation) -> bool:
    from theoryck.theory.networks.proved.series import is_bounded

    return is_bounded(activation)


def check_power(power: Any) -> Power:
    """Return a power as int where it is one, else as float; QuantityError unless 0 < power <= 64."""
    if isinstance(power, bool) or not isinstance(power, int | float | Fraction | np.integer | np.floating):
        raise QuantityError(f"power must be a real number > 0, got {power!r}")
    if not (math.isfinite(power) and power > 0):
        raise QuantityError(f"power must be a finite real number > 0, got {power!r}")
    if power > LARGEST_POWER:
        raise QuantityError(
            f"power must be at most {LARGEST_POWER}, got {power!r}: no number of float64 draws sees the tail that rules a higher "
            "moment, and the cost of the exact route grows with the power"
        )
    return int(power) if power == int(power) else float(power)


def absolute_power(values: NDArray[np.float64], power: Power, who: str) -> NDArray[np.float64]:
    """Return |values|^power in place; QuantityError when every power of a nonzero value is below the smallest double."""
    np.abs(values, out=values)
    if power == 1:
        return values
    nonzero = bool(values.any())
    if power == 2:
        np.multiply(values, values, out=values)
    else:
        with np.errstate(under="ignore", over="ignore"):
            np.power(values, power, out=values)
    if nonzero and not values.any():
        raise QuantityError(f"power={power} of {who} is below the smallest double at every draw: lower the power")
    return values


@functools.lru_cache(maxsize=256)
def limit_norm(activation: Activation, depth: int) -> float:
    """Return sigma_L as a float: 1 at depth 0."""
    if depth == 0:
        return 1.0
    from theoryck.theory.networks.proved.constants import network_constants

    return float(network_constants(activation, depth, digits=20).sigma[depth])


def _centre(centre: Any) -> Centre:
    if isinstance(centre, Quantity):
        value = centre.exact({}, 20) if centre.can_exact and not centre.size_names else None
        if isinstance(value, Enclosure):
            return Centre(centre.name, float(value))
        raise QuantityError(f"centre must be a number or an exact quantity without sizes, got {centre!r}")
    if isinstance(centre, int | float | Fraction | Decimal | Enclosure) and not isinstance(centre, bool):
        number = float(centre)
        if math.isfinite(number):
            return Centre(str(number), number)
    raise QuantityError(f"centre must be a finite number or an exact quantity such as sigma(phi, 1), got {centre!r}")


# Constants ----------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def _constants(activation: Activation, depth: int, digits: int) -> Any:
    from theoryck.theory.networks.proved.constants import network_constants

    return network_constants(activation, depth, digits=digits)


def _constant(kind: str, activation: Any, depth: int, pick: Callable[[Any], Enclosure]) -> ExactQuantity:
    phi = as_activation(activation)
    parameters = {"quantity": kind, "activation": phi.text, "layer": depth}
    return ExactQuantity(f"{kind}_{depth}[{phi.name}]", lambda digits: pick(_constants(phi, depth, digits)), parameters)


def sigma(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return sigma_layer as an exact quantity: sigma_0 = 1, sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2.

    >>> round(float(sigma("erf", 1).exact({}, 20)), 12)
    0.464559054398
    """
    integer(layer, "layer", 0, error=QuantityError)
    return _constant("sigma", activation, layer, lambda constants: constants.sigma[layer])


def rho(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return rho_layer = E phi'(sqrt(sigma_{layer-1}) Z) as an exact quantity, layer >= 1; QuantityError for another layer.

    >>> round(float(rho("tanh", 1).exact()), 12), float(rho("x", 5).exact())
    (0.605705509602, 1.0)
    """
    integer(layer, "layer", 1, error=QuantityError)
    return _constant("rho", activation, layer, lambda constants: constants.rho[layer - 1])


def epsilon(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return epsilon_layer = sigma_layer - sigma_{layer-1} rho_layer^2 as an exact quantity, layer >= 1; QuantityError for another.

    >>> round(float(epsilon("tanh", 1).exact()), 12), float(epsilon("x", 1).exact())  # 0 for a linear layer
    (0.027415326035, 0.0)
    """
    integer(layer, "layer", 1, error=QuantityError)
    return _constant("epsilon", activation, layer, lambda constants: constants.epsilon[layer - 1])


def eta0(activation: Activation | str, depth: int) -> ExactQuantity:
    """Return eta_0 = rho_1 ... rho_depth as an exact quantity (1 at depth 0); QuantityError for a depth that is no integer >= 0.

    >>> twice = eta0("tanh", 2) - rho("tanh", 1) * rho("tanh", 2)
    >>> abs(float(twice.exact())) < 1e-19, float(eta0("tanh", 0).exact())
    (True, 1.0)
    """
    integer(depth, "layer", 0, error=QuantityError)
    return _constant("eta0", activation, depth, lambda constants: constants.eta0)


def gamma0(activation: Activation | str, depth: int) -> ExactQuantity:
    """Return gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2 as an exact quantity (0 at depth 0); QuantityError for another depth.

    >>> one = gamma0("tanh", 1) - epsilon("tanh", 1)
    >>> abs(float(one.exact())) < 1e-19, float(gamma0("x", 4).exact())
    (True, 0.0)
    """
    integer(depth, "layer", 0, error=QuantityError)
    return _constant("gamma0", activation, depth, lambda constants: constants.gamma0)
