"""What norms and overlaps of a deep network share: the power, the activation's slope, names, costs."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import MIN_COMPARED_DRAWS, Quantity, QuantityError, Sizes
from theoryck.records import Bracket, Enclosure
from theoryck.theory.networks.draws import Layers

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

Power = int | float


class NetworkMoment(Quantity):
    """The k-th absolute moment of a statistic of a :class:`~theoryck.theory.networks.DeepNetwork`; both routes."""

    can_draw = True
    can_exact = True
    kind = ""
    inputs = 1

    def __init__(self, network: DeepNetwork, power: Any) -> None:
        if not hasattr(network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {network!r}")
        self.network = network
        self.power = check_power(power)

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.kind}({self.network.activation.text}, depth={self.network.depth}, power={self.power})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": self.kind,
            "activation": self.network.activation.text,
            "depth": self.network.depth,
            "widths": list(self.network.pattern),
            "power": self.power,
        }

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which the widths are given."""
        return self.network.names

    def layers(self, sizes: Sizes) -> Layers:
        """Return the network at ``sizes`` as the chains see it."""
        widths = self.network.layer_widths(sizes)
        linear = slope(self.network.activation)
        if linear is not None or self.network.depth == 0:
            # The activation is never applied: leaving it out spares the workers from loading it.
            return Layers(None, 1.0 if linear is None else linear, widths)
        return Layers(self.network.activation, None, widths)

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

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes."""
        return float(self.inputs * self.layers(sizes).numbers)

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


LARGEST_COMPARED_POWER = 12

LARGEST_POWER = 64
"""Draws are doubles, and the mean of a higher power is that of a few draws nobody sees; the exact routes grow with the power."""


def _skewness_squared(first: Fraction | int, second: Fraction | int, third: Fraction | int) -> float:
    """Squared skewness from the raw moments E X, E X^2, E X^3."""
    variance = second - first**2
    return float(Fraction((third - 3 * second * first + 2 * first**3) ** 2) / Fraction(variance**3))


@functools.lru_cache(maxsize=256)
def _is_bounded(activation: Activation) -> bool:
    from theoryck.theory.networks.proved.series_chain import is_bounded

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


@functools.lru_cache(maxsize=256)
def slope(activation: Activation) -> float | None:
    """Return c when phi(x) = c x identically, else None.

    sympy cancels x in the quotient of c*x by x at once; an expression it cannot cancel takes the general route, which is
    slower and right all the same.
    """
    from theoryck.numerics.functions.expression import x

    quotient = activation.expression / x
    return float(quotient) if quotient.is_number else None


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
