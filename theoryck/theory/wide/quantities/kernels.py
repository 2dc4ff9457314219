"""Kernels of a wide network between two fixed inputs: exact at infinite width, drawn at finite width.

Setting.  z^1 = W_std W^1 x/sqrt(d_0) + b_std b^1,  z^(l+1) = W_std W^(l+1) phi(z^l)/sqrt(d_l) + b_std b^(l+1), entries iid N(0, 1),
          L hidden layers of the same width.  K^l is the covariance of z^l at infinite width (NNGP), T = T^(L+1) the neural tangent
          kernel (see :mod:`theoryck.theory.wide.limits`).
Finite.   k^(l+1) = b_std^2 + W_std^2 phi(z^l).phi(z'^l)/d is the covariance of z^(l+1) given the layers below, so that the pairs
          (z, z') of a layer are iid N(0, k^l): a chain of Gram matrices.  The tangent kernel needs the weights between layers:
          t = sum_l (delta^l.delta'^l) k^l with delta^(L+1) = 1, delta^L = W_std a phi'(z^L)/sqrt(d), and
          delta^(l-1) = W_std phi'(z^(l-1)) (W^l)^T delta^l/sqrt(d).
One hidden layer: E k = K^2 and E t = T^2 at every width, and both are means of d independent terms.
Sources: Lee et al. (2018), arXiv:1711.00165; Jacot, Gabriel, Hongler (2018), arXiv:1806.07572.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity, as_exact, gaussian_mean, kernel
from theoryck.records import Enclosure

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]
Inputs = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

PIECE = 2**17
"""Entries of a working array, so that it stays in a second-level cache."""


def nngp(
    activation: Activation | str, inputs: Sequence[Sequence[Any]], hidden_layers: int = 1, *, weight_std: Any = 1, bias_std: Any = 0
) -> ExactQuantity:
    """Return K^(L+1)(x, x') as an exact quantity: K^1 = b_std^2 + W_std^2 x.x'/d_0, K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u').

    ``inputs`` = (x, x'), two vectors of rational numbers of length d_0; ``weight_std`` and ``bias_std`` are rational.  Raises
    QuantityError for anything else.  Source: arXiv:1711.00165.

    >>> round(float(nngp("relu", ((1, 0), (0, 1))).exact({}, 20)), 12)  # 1/(4 pi)
    0.079577471546
    """
    return _entry("nngp", activation, inputs, hidden_layers, weight_std, bias_std)


def ntk(
    activation: Activation | str, inputs: Sequence[Sequence[Any]], hidden_layers: int = 1, *, weight_std: Any = 1, bias_std: Any = 0
) -> ExactQuantity:
    """Return T^(L+1)(x, x') as an exact quantity: T^1 = K^1, T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l.

    Arguments as for :func:`nngp`; an activation that jumps is an error when it is evaluated.  Source: arXiv:1806.07572.

    >>> float(ntk("x", ((1, 2), (2, 1)), 3).exact({}, 20))  # (L + 1) x.x'/d_0
    8.0
    """
    return _entry("ntk", activation, inputs, hidden_layers, weight_std, bias_std)


def _entry(kind: str, activation: Any, inputs: Any, hidden_layers: Any, weight_std: Any, bias_std: Any) -> ExactQuantity:
    network = WideNetwork.of(activation, inputs, hidden_layers, weight_std, bias_std)

    def compute(digits: int) -> Enclosure:
        from theoryck.theory.wide.proved.kernels import wide_pair

        pair = wide_pair(network.activation, network.inputs, network.layers, network.weight_std, network.bias_std, digits)
        value: Enclosure = getattr(pair, kind)
        return value

    return ExactQuantity(f"{kind}({network.text})", compute, {"quantity": kind, **network.parameters})


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
        from theoryck.numerics.functions.activation import Activation

        phi = activation if isinstance(activation, Activation) else Activation(activation)
        if isinstance(layers, bool) or not isinstance(layers, int) or layers < 0:
            raise QuantityError(f"hidden_layers must be an integer >= 0, got {layers!r}")
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


# Finite width ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KernelSampler:
    """Draws (kernel - centre)^power of networks with hidden layers of ``width`` units."""

    network: WideNetwork
    slope: Any
    kind: str
    width: int
    centre: float
    power: int
    middle: tuple[float, ...]
    """K^2 at (x, x), (x', x'), (x, x') where the bias of two layers is drawn, else nothing."""

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return self._smoothed(rng, draws) if self.middle else self.plain(rng, draws)

    def plain(self, rng: np.random.Generator, draws: int) -> Array:
        """Draw without taking any expectation by hand."""
        largest = self.width**2 if self.kind == "ntk" and self.network.layers > 1 else 2 * self.width
        step = max(PIECE // largest, 1)
        pieces = [self._piece(rng, min(step, draws - start)) for start in range(0, draws, step)]
        return (np.concatenate(pieces) - self.centre) ** self.power

    def _smoothed(self, rng: np.random.Generator, draws: int) -> Array:
        """Draw the bias of two layers as E[k^3 | k^2] - K^3 less its linear part at K^2, whose mean is 0 because E k^2 = K^2.

        Any coefficients leave the mean as it is: finite differences of the last layer's kernel take most of the noise away.
        """
        middle = np.array(self.middle)
        steps = middle[0] * 1e-3 * np.eye(3)
        # Equal inputs stay equal: their three entries move together, and the first stands for all.
        moves = [np.full(3, steps[0, 0])] if self._same else list(steps)
        ends = self._above(np.array([middle + sign * move for move in moves for sign in (1, -1)] + [middle]))
        pieces = []
        for start in range(0, draws, step := max(PIECE // (2 * self.width), 1)):
            entries = self._first(rng, min(step, draws - start))
            values = self._above(entries) - ends[-1]
            for index in range(len(moves)):
                slope = (ends[2 * index] - ends[2 * index + 1]) / (2 * steps[0, 0])
                values -= slope * (entries[:, index] - middle[index])
            pieces.append(values)
        return np.concatenate(pieces)

    @property
    def _same(self) -> bool:
        return self.network.inputs[0] == self.network.inputs[1]

    def _first(self, rng: np.random.Generator, draws: int) -> Array:
        """Return k^2 at (x, x), (x', x'), (x, x'), shape (draws, 3)."""
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        phi = self.network.activation(_pairs(rng, *self._start(draws), self.width))
        gram = np.swapaxes(phi, 1, 2) @ phi
        return b + w / self.width * np.stack([gram[:, 0, 0], gram[:, 1, 1], gram[:, 0, 1]], axis=1)

    def _above(self, entries: Array) -> Array:
        """Return the covariance of the next layer at infinite width, (n,), for that of this one (n, 3)."""
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        layer = LayerKernel(self.network.activation)
        if self._same:
            return b + w * layer.variance(entries[:, 0])
        s, t, c = (entries[:, index, None] for index in range(3))
        return b + w * layer.cross(s[:, :, None], c[:, :, None], t)[:, 0, 0]

    def _start(self, draws: int) -> tuple[Array, Array, Array]:
        s, t, c = (np.full(draws, float(value)) for value in self.network.covariance())
        return s, t, c

    def _piece(self, rng: np.random.Generator, draws: int) -> Array:
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        s, t, c = self._start(draws)
        layers, kernels, weights, phi = list[Array](), [c], list[Array](), np.empty(0)
        for layer in range(self.network.layers):
            if layer and self.kind == "ntk":
                matrix = rng.standard_normal((draws, self.width, self.width)) * math.sqrt(w / self.width)
                weights.append(matrix)
                z = matrix @ phi + math.sqrt(b) * rng.standard_normal((draws, self.width, 1))
            else:
                z = _pairs(rng, s, t, c, self.width)
            phi = self.network.activation(z)
            gram = np.swapaxes(phi, 1, 2) @ phi
            s, t, c = (b + w / self.width * gram[:, i, k] for i, k in ((0, 0), (1, 1), (0, 1)))
            layers.append(z)
            kernels.append(c)
        return c if self.kind == "nngp" else self._tangent(rng, layers, kernels, weights)

    def _tangent(self, rng: np.random.Generator, layers: list[Array], kernels: list[Array], weights: list[Array]) -> Array:
        total = kernels[-1].copy()
        draws, width, _ = layers[-1].shape if layers else (len(total), 0, 2)
        back = float(self.network.weight_std) / math.sqrt(max(width, 1)) * rng.standard_normal((draws, width, 1))
        for layer in range(len(layers) - 1, -1, -1):
            delta = self.slope(layers[layer]) * back
            total += np.einsum("di,di->d", delta[:, :, 0], delta[:, :, 1]) * kernels[layer]
            if layer:
                back = np.swapaxes(weights[layer - 1], 1, 2) @ delta
        return total


def _pairs(rng: np.random.Generator, s: Array, t: Array, c: Array, width: int) -> Array:
    """Return ``width`` pairs (draws, width, 2) of N(0, [[s, c], [c, t]]) per draw."""
    z = rng.standard_normal((len(s), width, 2))
    root = np.sqrt(s)
    # s = 0 forces c = 0; rounding may leave t - c^2/s below 0 by an ulp of t where the inputs are parallel.
    share = np.divide(c, root, out=np.zeros_like(c), where=root > 0)
    rest = np.sqrt(np.maximum(t - share**2, 0.0))
    z[:, :, 1] = share[:, None] * z[:, :, 0] + rest[:, None] * z[:, :, 1]
    z[:, :, 0] *= root[:, None]
    return z


class KernelDeviation(Quantity):
    """What :func:`kernel_deviation` returns."""

    can_draw = True

    def __init__(self, network: WideNetwork, kind: str, power: int, width: int | str) -> None:
        self.network, self.kind, self.power, self.width = network, kind, power, width
        self.can_exact = network.layers <= 1
        self.limit = _limit(kind, network)

    @property
    def name(self) -> str:
        """What people read."""
        at = "" if self.width == "width" else f", width={self.width}"
        return f"{self.kind}_deviation({self.network.text}, power={self.power}{at})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": f"{self.kind}_deviation", "power": self.power, "width": self.width, **self.network.parameters}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The size that is the width, if it is one."""
        return (self.width,) if isinstance(self.width, str) else ()

    def _width(self, sizes: Sizes) -> int:
        if isinstance(self.width, int):
            return self.width
        need_sizes(self.name, (self.width,), sizes)
        return int(sizes[self.width])

    def sampler(self, sizes: Sizes) -> KernelSampler:
        """Return the sampler at ``sizes``."""
        slope, centre = self.network.activation.derivative(), float(self.limit.exact({}, 20))
        middle: tuple[float, ...] = ()
        if (self.kind, self.power, self.network.layers) == ("nngp", 1, 2):
            first, second = self.network.inputs
            one = [replace(self.network, layers=1, inputs=pair) for pair in ((first, first), (second, second), (first, second))]
            middle = tuple(float(_limit("nngp", network).exact({}, 20)) for network in one)
        return KernelSampler(self.network, slope, self.kind, self._width(sizes), centre, self.power, middle)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes."""
        width, layers = self._width(sizes), self.network.layers
        if self.kind == "nngp":
            return 2.0 * width * layers
        return 3.0 * width + max(layers - 1, 0) * (width * width + width)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the moment with one hidden layer, where it is 0 or a variance over the width; None for deeper networks."""
        if self.network.layers > 1:
            return None
        if self.power == 1 or self.network.layers == 0:
            return as_exact(0).exact({}, digits)
        variance = as_exact(one_layer_variance(self.network, self.kind, digits + 5))
        value: Enclosure = (variance / as_exact(self._width(sizes))).exact({}, digits)
        return value


def _limit(kind: str, network: WideNetwork) -> ExactQuantity:
    return _entry(kind, network.activation, network.inputs, network.layers, network.weight_std, network.bias_std)


def kernel_deviation(
    activation: Activation | str,
    inputs: Sequence[Sequence[Any]],
    hidden_layers: int = 1,
    *,
    kind: str = "nngp",
    power: int = 2,
    width: int | str = "width",
    weight_std: Any = 1,
    bias_std: Any = 0,
) -> KernelDeviation:
    """Return E (k - K)^power, power 1 or 2, of the kernel k of a network of finite ``width`` between ``inputs``; K is its limit.

    ``kind`` is "nngp" (the covariance of the output given the hidden layers) or "ntk" (the tangent kernel at initialisation),
    ``width`` a size or a number.  Exact for one hidden layer, where the bias is 0; drawn at any depth.  Raises QuantityError.

    >>> deviation = kernel_deviation("x", ((1, 1), (1, 1)), kind="nngp")
    >>> float(deviation.exact({"width": 8}))  # Var Z^2/8
    0.25
    """
    if kind not in ("nngp", "ntk"):
        raise QuantityError(f"kind must be 'nngp' or 'ntk', got {kind!r}")
    if isinstance(power, bool) or power not in (1, 2):
        raise QuantityError(f"power must be 1 (the bias) or 2 (the mean square), got {power!r}")
    if isinstance(width, bool) or not (isinstance(width, str) or (isinstance(width, int) and width >= 1)):
        raise QuantityError(f"width must be the name of a size or an integer >= 1, got {width!r}")
    return KernelDeviation(WideNetwork.of(activation, inputs, hidden_layers, weight_std, bias_std), kind, power, width)


@functools.lru_cache(maxsize=256)
def one_layer_variance(network: WideNetwork, kind: str, digits: int = 20) -> Enclosure:
    """Return width times the variance of the kernel with one hidden layer, of d independent terms each.

    nngp: W^4 Var p, p = phi(u) phi(u').  ntk: W^4 Var(p + a^2 K^1 q), q = phi'(u) phi'(u'), a ~ N(0, 1), with E a^2 = 1, E a^4 = 3.
    """
    from theoryck.numerics.functions.activation import Activation

    phi, c = network.activation, network.covariance()[2]
    slope = phi.derivative()

    def mean(expression: Any) -> ExactQuantity:
        # Evaluated once, with digits to lose in the differences.
        return as_exact(_pair_mean(Activation(expression), network).exact({}, digits + 10))

    p = mean(phi.expression)
    spread = mean(phi.expression**2) - p**2
    if kind == "ntk":
        q = mean(slope.expression)
        mixed = mean(phi.expression * slope.expression) - p * q
        spread = spread + 2 * c * mixed + c**2 * (3 * mean(slope.expression**2) - q**2)
    value: Enclosure = (network.weight_std**4 * spread).exact({}, digits)
    return value


def _pair_mean(f: Activation, network: WideNetwork) -> ExactQuantity:
    """Return E f(u) f(u') for the pre-activations of the first layer."""
    s, t, c = network.covariance()
    return gaussian_mean(f.expression**2, s) if s == t == c else kernel(f, s, t, c)
