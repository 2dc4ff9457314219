"""What norms and overlaps of a deep network share: the power, the activation's slope, names, costs."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.quantities.chains import Layers

if TYPE_CHECKING:
    from theoryck.models import Activation, DeepNetwork

Power = int | float


class NetworkMoment(Quantity):
    """The k-th absolute moment of a statistic of a :class:`~theoryck.models.DeepNetwork`; both routes."""

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

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes."""
        return float(self.inputs * self.layers(sizes).numbers)


def check_power(power: Any) -> Power:
    """Return a power as int where it is one, else as float; QuantityError unless it is a finite real number > 0."""
    if isinstance(power, bool) or not isinstance(power, int | float | Fraction | np.integer | np.floating):
        raise QuantityError(f"power must be a real number > 0, got {power!r}")
    if not (math.isfinite(power) and power > 0):
        raise QuantityError(f"power must be a finite real number > 0, got {power!r}")
    return int(power) if power == int(power) else float(power)


@functools.lru_cache(maxsize=256)
def slope(activation: Activation) -> float | None:
    """Return c when phi(x) = c x identically, else None.

    sympy cancels x in the quotient of c*x by x at once; an expression it cannot cancel takes the general route, which is
    slower and right all the same.
    """
    from theoryck.models import x

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
