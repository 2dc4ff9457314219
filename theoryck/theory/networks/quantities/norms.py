"""E | |x_L|^2 - sigma_L |^k of a deep random network."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.records import Bracket, Enclosure
from theoryck.theory.networks.draws import Layers, norm_chain
from theoryck.theory.networks.quantities.moments import NetworkMoment, Power, absolute_power

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork


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


class NormDeviation(NetworkMoment):
    """What :func:`norm_deviation` returns: it draws squared norms, and has an exact route where the centre is sigma_L.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = norm_deviation(DeepNetwork("x", depth=0), power=2)
    >>> q.name, q.can_exact, q.exact({"input_dim": 8}).midpoint  # E (|x_0|^2 - 1)^2 = 2/d_0
    ('norm_deviation(x, depth=0, power=2)', True, Decimal('0.25'))
    >>> norm_deviation(DeepNetwork("x", depth=0), centre=0).parameters["centre"]
    '0.0'
    """

    kind = "norm_deviation"

    def __init__(self, network: DeepNetwork, power: Any, centre: Any) -> None:
        super().__init__(network, power)
        self.centre = None if centre is None else _centre(centre)

    @property
    def name(self) -> str:
        """What people read."""
        if self.centre is None:
            return super().name
        return f"{super().name[:-1]}, centre={self.centre[0]})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return super().parameters | ({} if self.centre is None else {"centre": self.centre[0]})

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether the exact room has this moment: the centre must be sigma_L."""
        return self.centre is None

    def sampler(self, sizes: Sizes) -> NormSampler:
        """Return the sampler at ``sizes``; errors of the widths name the size that is missing."""
        layers = self.layers(sizes)
        centre = limit_norm(self.network.activation, self.network.depth) if self.centre is None else self.centre[1]
        return NormSampler(layers, centre, self.power)

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


def norm_deviation(network: DeepNetwork, power: Any = 2, centre: Any = None) -> NormDeviation:
    """Return E | |x_L|^2 - sigma_L |^power for x_0 ~ N(0, I/d_0), x_l = phi(W_l x_{l-1})/sqrt(d_l), as a quantity with both routes.

    ``power`` is a real number, 0 < power <= 64.  ``centre`` replaces sigma_L: a number or an exact-only quantity (then
    Monte Carlo only).  Monte Carlo runs a Markov chain of squared norms without weight matrices (see
    :mod:`theoryck.theory.networks.draws`).  Source: Camilli, Tieplova, Bergamin, Barbier (2025), moment control.  Raises
    QuantityError.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = norm_deviation(DeepNetwork("x", depth=1), power=2)
    >>> draws = q.draw(np.random.default_rng(0), 10_000, {"input_dim": 4, "width": 4})
    >>> bool(abs(draws.mean() - 1.25) < 5 * draws.std() / 100)  # (1 + 2/4)^2 - 1
    True
    """
    return NormDeviation(network, power, centre)


@functools.lru_cache(maxsize=256)
def limit_norm(activation: Activation, depth: int) -> float:
    """Return sigma_L as a float: 1 at depth 0."""
    if depth == 0:
        return 1.0
    from theoryck.theory.networks.proved.constants import network_constants

    return float(network_constants(activation, depth, digits=20).sigma[depth])


def _centre(centre: Any) -> tuple[str, float]:
    if isinstance(centre, Quantity):
        value = centre.exact({}, 20) if centre.can_exact and not centre.size_names else None
        if isinstance(value, Enclosure):
            return centre.name, float(value)
        raise QuantityError(f"centre must be a number or an exact quantity without sizes, got {centre!r}")
    if isinstance(centre, int | float | Fraction | Decimal | Enclosure) and not isinstance(centre, bool):
        number = float(centre)
        if math.isfinite(number):
            return str(number), number
    raise QuantityError(f"centre must be a finite number or an exact quantity such as sigma(phi, 1), got {centre!r}")
