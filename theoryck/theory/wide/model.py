"""Two inputs and a wide network above them, all widths but one; no number is drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import exact_number, integer

Inputs = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


@dataclass(frozen=True, slots=True)
class WideNetwork:
    """Two inputs and what lies above them, all widths but one: W_std, b_std and the inputs are exact."""

    activation: Any
    inputs: Inputs
    layers: int
    weight_std: Fraction
    bias_std: Fraction

    @classmethod
    def of(cls, activation: Any, inputs: Any, layers: Any, weight_std: Any, bias_std: Any) -> WideNetwork:
        """Check and collect; QuantityError for what does not fit."""
        phi = activation if isinstance(activation, Activation) else Activation(activation)
        layers = integer(layers, "hidden_layers", error=QuantityError)
        vectors = isinstance(inputs, Sequence) and all(hasattr(vector, "__len__") for vector in inputs)
        if not vectors or len(inputs) != 2 or not len(inputs[0]) == len(inputs[1]) >= 1:
            raise QuantityError(f"inputs must be two vectors of the same length >= 1, got {inputs!r}")
        first, second = (tuple(_rational(entry, "an entry of inputs") for entry in vector) for vector in inputs)
        scales = [_rational(value, name) for value, name in ((weight_std, "weight_std"), (bias_std, "bias_std"))]
        if min(scales) < 0:
            raise QuantityError(f"weight_std and bias_std must be >= 0, got {weight_std!r} and {bias_std!r}")
        return cls(phi, (first, second), layers, *scales)

    @property
    def text(self) -> str:
        """What people read."""
        w, b = self.weight_std, self.bias_std
        scales = ("" if w == 1 else f", W_std={w}") + ("" if b == 0 else f", b_std={b}")
        return f"{self.activation.text}, hidden_layers={self.layers}{scales}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "activation": self.activation.text,
            "inputs": [[str(entry) for entry in vector] for vector in self.inputs],
            "hidden_layers": self.layers,
            "weight_std": str(self.weight_std),
            "bias_std": str(self.bias_std),
        }

    def covariance(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return K^1(x, x), K^1(x', x'), K^1(x, x')."""
        first, second = self.inputs
        w, b = self.weight_std**2, self.bias_std**2
        dots = (sum(p * q for p, q in zip(*pair)) for pair in ((first, first), (second, second), (first, second)))
        s, t, c = (b + w * Fraction(dot) / len(first) for dot in dots)
        return s, t, c


def _rational(value: Any, name: str) -> Fraction:
    try:
        # The decimal that a float prints as; 0.1 is no binary fraction, and which of the two is meant has to be said.
        number = exact_number(value, name)
        if isinstance(number, Fraction) and not (isinstance(value, float) and number != Fraction(float(value))):
            return number
    except ValueError:
        pass
    raise QuantityError(
        f"{name} must be a rational number (an int, a Fraction, a text as '1/10' or a float that is what it shows), got {value!r}"
    )
