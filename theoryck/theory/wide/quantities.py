"""What can be measured of wide networks: kernels between two inputs, and the law of the output on one random input.

Kernels.  K^l is the covariance of z^l at infinite width (NNGP), T = T^(L+1) the neural tangent kernel
(:mod:`theoryck.theory.wide.limits`).  One hidden layer: the kernels k and t of a finite network have E k = K^2 and E t = T^2 at
every width, and both are means of d independent terms. Output.  f = a.x_L, a ~ N(0, I), x_0 ~ N(0, I/d_0), x_l = phi(W_l
x_(l-1))/sqrt(d_l): its law, and how far it is from N(0, sigma_L). The equivalent linear model has S = eta_0^2 |x_0|^2 + gamma_0 in
the place of S_L = |x_L|^2.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity, as_exact, gaussian_mean, kernel
from theoryck.records import Enclosure
from theoryck.theory.networks.draws import layers_of
from theoryck.theory.networks.quantities import eta0, limit_norm, norm_deviation, sigma
from theoryck.theory.wide.draws import (
    GROUP,
    KernelSampler,
    NormDraws,
    OutputSampler,
    Statistic,
    draw_bias,
    draw_cumulant,
    draw_distance,
    draw_values,
)
from theoryck.theory.wide.model import WideNetwork

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

ASINE = 3.0
"""Time of an arcsine in units of 1/7e7 seconds."""


def nngp(
    activation: Activation | str, inputs: Sequence[Sequence[Any]], hidden_layers: int = 1, *, weight_std: Any = 1, bias_std: Any = 0
) -> ExactQuantity:
    """Return K^(L+1)(x, x') as an exact quantity: K^1 = b_std^2 + W_std^2 x.x'/d_0, K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u').

    ``inputs`` = (x, x'), two vectors of rational numbers of length d_0; ``weight_std`` and ``bias_std`` are rational.  Raises
    QuantityError for anything else.  Source: arXiv:1711.00165.

    >>> round(float(nngp("relu", ((1, 0), (0, 1))).exact({}, 20)), 12)  # 1/(4 pi)
    0.079577471546
    """
    return _entry("nngp", WideNetwork.of(activation, inputs, hidden_layers, weight_std, bias_std))


def ntk(
    activation: Activation | str, inputs: Sequence[Sequence[Any]], hidden_layers: int = 1, *, weight_std: Any = 1, bias_std: Any = 0
) -> ExactQuantity:
    """Return T^(L+1)(x, x') as an exact quantity: T^1 = K^1, T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l.

    Arguments as for :func:`nngp`; an activation that jumps is an error when it is evaluated.  Source: arXiv:1806.07572.

    >>> float(ntk("x", ((1, 2), (2, 1)), 3).exact({}, 20))  # (L + 1) x.x'/d_0
    8.0
    """
    return _entry("ntk", WideNetwork.of(activation, inputs, hidden_layers, weight_std, bias_std))


def _entry(kind: str, network: WideNetwork) -> ExactQuantity:
    def compute(digits: int) -> Enclosure:
        from theoryck.theory.wide.proved.kernels import wide_pair

        pair = wide_pair(network.activation, network.inputs, network.layers, network.weight_std, network.bias_std, digits)
        value: Enclosure = getattr(pair, kind)
        return value

    return ExactQuantity(f"{kind}({network.text})", compute, {"quantity": kind, **network.parameters})


@dataclass(frozen=True, repr=False)
class kernel_deviation(Quantity):
    """E (k - K)^power, power 1 or 2, of the kernel k of a network of finite ``width`` between ``inputs``; K is its limit.

    ``kind`` is "nngp" (the covariance of the output given the hidden layers) or "ntk" (the tangent kernel at initialisation),
    ``width`` a size or a number.  Exact for one hidden layer, where the bias is 0; drawn at any depth.  Raises QuantityError.

    >>> deviation = kernel_deviation("x", ((1, 1), (1, 1)), kind="nngp")
    >>> float(deviation.exact({"width": 8})), deviation.limit.name, deviation.network.layers  # Var Z^2/8
    (0.25, 'nngp(x, hidden_layers=1)', 1)
    """

    activation: Activation | str
    inputs: Sequence[Sequence[Any]]
    hidden_layers: int = 1
    _: KW_ONLY
    kind: str = "nngp"
    power: int = 2
    width: int | str = "width"
    weight_std: Any = 1
    bias_std: Any = 0

    title = "{kind}_deviation({self.network.text}, power={power}{self._at})"
    can_draw = True

    def __post_init__(self) -> None:
        if self.kind not in ("nngp", "ntk"):
            raise QuantityError(f"kind must be 'nngp' or 'ntk', got {self.kind!r}")
        if isinstance(self.power, bool) or self.power not in (1, 2):
            raise QuantityError(f"power must be 1 (the bias) or 2 (the mean square), got {self.power!r}")
        if isinstance(self.width, bool) or not (isinstance(self.width, str) or (isinstance(self.width, int) and self.width >= 1)):
            raise QuantityError(f"width must be the name of a size or an integer >= 1, got {self.width!r}")
        network = WideNetwork.of(self.activation, self.inputs, self.hidden_layers, self.weight_std, self.bias_std)
        for name in ("activation", "inputs", "weight_std", "bias_std"):
            object.__setattr__(self, name, getattr(network, name))

    @functools.cached_property
    def network(self) -> WideNetwork:
        """The inputs and what lies above them."""
        return WideNetwork.of(self.activation, self.inputs, self.hidden_layers, self.weight_std, self.bias_std)

    @property
    def limit(self) -> ExactQuantity:
        """The kernel at infinite width."""
        return _entry(self.kind, self.network)

    @property
    def _at(self) -> str:
        return "" if self.width == "width" else f", width={self.width}"

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route: with at most one hidden layer."""
        return self.hidden_layers <= 1

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
        network = self.network
        slope, centre = network.activation.derivative(), float(self.limit.exact({}, 20))
        middle: tuple[float, ...] = ()
        if (self.kind, self.power, network.layers) == ("nngp", 1, 2):
            first, second = network.inputs
            one = [replace(network, layers=1, inputs=pair) for pair in ((first, first), (second, second), (first, second))]
            middle = tuple(float(_entry("nngp", each).exact({}, 20)) for each in one)
        return KernelSampler(network, slope, self.kind, self._width(sizes), centre, self.power, middle)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes."""
        width, layers = self._width(sizes), self.hidden_layers
        if self.kind == "nngp":
            return 2.0 * width * layers
        return 3.0 * width + max(layers - 1, 0) * (width * width + width)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the moment with one hidden layer, where it is 0 or a variance over the width; None for deeper networks."""
        if self.hidden_layers > 1:
            return None
        if self.power == 1 or self.hidden_layers == 0:
            return as_exact(0).exact({}, digits)
        variance = as_exact(one_layer_variance(self.network, self.kind, digits + 5))
        value: Enclosure = (variance / as_exact(self._width(sizes))).exact({}, digits)
        return value


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


# Output -------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class OutputQuantity(Quantity):
    """A statistic of the output; ``equivalent`` takes the linear model eta_0 v.x_0 + sqrt(gamma_0) xi instead."""

    network: DeepNetwork
    equivalent: bool = False

    can_draw = True
    can_exact = True
    statistic: ClassVar[Statistic | None] = None

    def __post_init__(self) -> None:
        if not hasattr(self.network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {self.network!r}")

    @property
    def name(self) -> str:
        """What people read."""
        model = "linear model of " if self.equivalent else ""
        return f"{type(self).__name__}({model}{self.network.activation.text}, depth={self.network.depth})"

    def sampler(self, sizes: Sizes) -> OutputSampler:
        """Return the sampler at ``sizes``."""
        statistic, phi, depth = type(self).statistic, self.network.activation, self.network.depth
        if statistic is None:
            raise QuantityError(f"{self.name} is a ratio of moments and no mean of draws: draw output_cumulant instead")
        linear = None
        if self.equivalent:
            from theoryck.theory.networks.proved.constants import network_constants

            constants = network_constants(phi, depth, digits=20)
            linear = float(constants.eta0) ** 2, float(constants.gamma0)
        return OutputSampler(NormDraws(layers_of(self.network, sizes), linear), limit_norm(phi, depth), statistic)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes, or the time of as many."""
        return self._cost(1.0 if self.equivalent else float(layers_of(self.network, sizes).numbers))

    def _cost(self, numbers: float) -> float:
        return numbers

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return what (S_L - sigma_L)^2 needs: no statistic here has a heavier tail."""
        return norm_deviation(self.network, 2).draws_to_compare(sizes)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the value at ``sizes``; None for the output itself and where the series in 1/d says nothing."""
        from theoryck.numerics.errors import NotConverged

        phi, widths = self.network.activation, self.network.layer_widths(sizes)
        if self.equivalent:
            return self._exact_linear(phi, widths, digits)
        try:
            return self._exact(phi, widths, digits)
        except NotConverged:
            return None

    def _exact(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        return None

    def _exact_linear(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        return None


@dataclass(frozen=True, repr=False)
class output(OutputQuantity):
    """The output f = a.x_L itself, the statistic of a Law; drawn only.

    ``equivalent`` takes the linear model eta_0 v.x_0 + sqrt(gamma_0) xi, here and below.  The law tends to N(0, sigma_L) with
    squared distance d_min^-2.  Source: Lee et al. (2018), arXiv:1711.00165.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> import numpy as np
    >>> output(DeepNetwork("x", depth=1)).draw(np.random.default_rng(0), 3, {"input_dim": 4, "width": 4}).shape
    (3,)
    """

    can_exact = False
    statistic: ClassVar[Statistic | None] = draw_values

    def _cost(self, numbers: float) -> float:
        return numbers + 1


@dataclass(frozen=True, repr=False)
class output_bias(OutputQuantity):
    """E f^2 - sigma_L = E S_L - sigma_L ~ b_L/d_min, signed; both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_bias(DeepNetwork("erf", depth=1)).exact({"input_dim": 512, "width": 512})) * 512
    -0.2023...
    """

    statistic: ClassVar[Statistic | None] = draw_bias

    def _exact(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        from theoryck.theory.wide.proved.output_law import norm_bias

        return norm_bias(phi, widths, digits=digits)

    def _exact_linear(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        # S = eta_0^2 S_0 + gamma_0 has mean sigma_L exactly.
        return as_exact(0).exact({}, digits)


@dataclass(frozen=True, repr=False)
class output_cumulant(OutputQuantity):
    """The fourth cumulant E f^4 - 3 (E f^2)^2 = 3 Var S_L ~ 3 v_L/d_min of the output; both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_cumulant(DeepNetwork("x", depth=1)).exact({"input_dim": 8, "width": 8}))
    1.6875
    """

    statistic: ClassVar[Statistic | None] = draw_cumulant

    def _cost(self, numbers: float) -> float:
        return 2 * numbers

    def _exact(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        from theoryck.theory.wide.proved import output_law

        return output_law.output_cumulant(phi, widths, digits=digits)

    def _exact_linear(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        return _linear_cumulant(phi, widths).exact({}, digits)


@dataclass(frozen=True, repr=False)
class output_kurtosis(OutputQuantity):
    """The excess kurtosis 3 Var S_L/(E S_L)^2 of the output: a ratio of moments, exactly only.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> network, sizes = DeepNetwork("erf", depth=1), {"input_dim": 512, "width": 512}
    >>> [round(512 * float(output_kurtosis(network, model).exact(sizes)), 2) for model in (False, True)]
    [2.68, 5.01]
    """

    can_draw = False

    def _exact(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        from theoryck.theory.wide.proved import output_law

        return output_law.output_kurtosis(phi, widths, digits=digits)

    def _exact_linear(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        ratio: Enclosure = (_linear_cumulant(phi, widths) / sigma(phi, len(widths) - 1) ** 2).exact({}, digits)
        return ratio


@dataclass(frozen=True, repr=False)
class output_distance(OutputQuantity):
    """int (G - F)^2 dF ~ C/d_min^2, G the law of the output and F = N(0, sigma_L); by both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_distance(DeepNetwork("erf", depth=1)).exact({"input_dim": 512, "width": 512})) * 512**2
    0.00624...
    """

    statistic: ClassVar[Statistic | None] = draw_distance

    def _cost(self, numbers: float) -> float:
        return GROUP * numbers + ASINE * GROUP * (GROUP + 1) / 2

    def _exact(self, phi: Activation, widths: tuple[int, ...], digits: int) -> Enclosure | None:
        from theoryck.theory.wide.proved import output_law

        return output_law.output_distance(phi, widths)


def _linear_cumulant(phi: Activation, widths: tuple[int, ...]) -> ExactQuantity:
    """3 Var S for S = eta_0^2 S_0 + gamma_0, whose variance is 2 eta_0^4/d_0."""
    value: ExactQuantity = 6 * eta0(phi, len(widths) - 1) ** 4 / as_exact(widths[0])
    return value
