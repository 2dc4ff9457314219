"""Teacher and student: what is learned, from how many samples, through which readout and noise; no number is drawn here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.arguments import LARGEST, LEAST
from theoryck.theory.networks.model import DeepNetwork, SizeExpression, Width, as_width, width_at


@dataclass(frozen=True, init=False)
class TeacherStudent:
    """n samples Y_mu = f(a . x_L(mu)) + sqrt(Delta) Z_mu of a random network whose student knows all but a and W_1, ..., W_L.

    ``network`` gives x_L, a ~ N(0, I_{d_L}) is the readout vector, ``readout`` the function f (the identity if not given),
    ``noise`` the variance Delta >= 0 and ``samples`` the number n: an integer or a width such as "n" or "2*d".  A network of depth
    0 is the linear model Y = f(v . x_0) + sqrt(Delta) Z.  The equivalent generalised linear model of a deeper network,
        Y = f(eta_0 v . x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z,
    shares its inputs; its student knows neither v nor xi.  Raises ValueError on a noise that is no number >= 0.

    >>> setting = TeacherStudent(DeepNetwork("tanh", depth=1, widths=("d", "d")), samples="2*d", noise="1/2")
    >>> setting.n_samples({"d": 16}), setting.layer_widths({"d": 16}), str(setting.noise), setting.linear_readout
    (32, (16, 16), '1/2', True)
    """

    network: DeepNetwork
    samples: Width
    noise: Fraction
    readout: Activation

    def __init__(
        self,
        network: DeepNetwork,
        samples: Width | str = "n",
        noise: Fraction | Decimal | float | str = Fraction(1, 2),
        readout: Activation | str = "x",
    ) -> None:
        if not isinstance(network, DeepNetwork):
            raise ValueError(f"network must be a theoryck.DeepNetwork, got {network!r}")
        object.__setattr__(self, "network", network)
        object.__setattr__(self, "samples", as_width(samples, "samples"))
        object.__setattr__(self, "noise", _variance(noise, "noise"))
        object.__setattr__(self, "readout", readout if isinstance(readout, Activation) else Activation(readout))

    @property
    def linear_readout(self) -> bool:
        """Whether f(x) = x, so that the readout vector can be integrated out."""
        return self.readout.text == "x"

    @property
    def linear_activation(self) -> bool:
        """Whether the network is linear in its input: depth 0, or phi(x) = c x.

        >>> [TeacherStudent(DeepNetwork(phi, depth=2)).linear_activation for phi in ("x", "x/2", "tanh")]
        [True, True, False]
        """
        return self.network.depth == 0 or bool(self.network.activation.properties.linear.value)

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes a path has to provide, in order of first use.

        >>> TeacherStudent(DeepNetwork("tanh", depth=1, widths=("d", "2*d")), samples="n").names
        ('d', 'n')
        """
        own = self.samples.names if isinstance(self.samples, SizeExpression) else ()
        return tuple(dict.fromkeys((*self.network.names, *own)))

    def n_samples(self, sizes: Mapping[str, int]) -> int:
        """Return n at ``sizes``; a missing size or a number that is not an integer >= 1 raises ValueError."""
        return width_at(self.samples, sizes)

    def layer_widths(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return (d_0, ..., d_L) at ``sizes``."""
        return self.network.layer_widths(sizes)

    @property
    def parameters(self) -> dict[str, Any]:
        """The setting as JSON-able data.

        >>> TeacherStudent(DeepNetwork("tanh", depth=1), noise="1/10").parameters["noise"]
        '1/10'
        """
        return {
            "activation": self.network.activation.text,
            "depth": self.network.depth,
            "widths": list(self.network.pattern),
            "samples": str(self.samples),
            "noise": str(self.noise),
            "readout": self.readout.text,
        }

    def __str__(self) -> str:
        tail = "" if self.linear_readout else f", readout={self.readout.text}"
        return f"TeacherStudent({self.network}, samples={self.samples}, noise={self.noise}{tail})"


def _variance(value: Any, name: str) -> Fraction:
    try:
        # A float such as 0.3 means the decimal that it prints as, not its 53 bits.
        number = Fraction(repr(float(value))) if isinstance(value, float | np.floating) else Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{name} must be a number >= 0 such as 0.5 or '1/2', got {value!r}") from None
    if isinstance(value, bool) or number < 0:
        raise ValueError(f"{name} is a variance: it must be a number >= 0, got {value!r}")
    if number and (number > LARGEST or float(number) < LEAST):
        raise ValueError(f"{name} must lie between {LEAST:g} and {LARGEST:g}, got {value!r}: change its unit")
    return number
