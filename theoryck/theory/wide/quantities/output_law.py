"""The output f = a.x_L of a deep random network on one random input, a ~ N(0, I): its law, and how far it is from N(0, sigma_L).

Setting.  x_0 ~ N(0, I/d_0),  x_l = phi(W_l x_(l-1))/sqrt(d_l).  Given S_L = |x_L|^2 the output is N(0, S_L), and S_L is drawn
          by the chain of :mod:`theoryck.theory.networks.draws`, without a weight matrix.
The equivalent linear model has S = eta_0^2 |x_0|^2 + gamma_0 in the place of S_L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.records import Enclosure
from theoryck.theory.networks.draws import Layers, norm_chain
from theoryck.theory.networks.quantities.moments import slope
from theoryck.theory.networks.quantities.norms import NormDeviation, limit_norm

if TYPE_CHECKING:
    from theoryck.theory.networks.model import DeepNetwork

Array = NDArray[np.float64]

GROUP = 32
"""Networks a draw of the distance takes: the noise of a mean over all pairs falls with their number, the arcsines grow with it."""

ASINE = 3.0
"""Time of an arcsine in units of 1/7e7 seconds."""


@dataclass(frozen=True, slots=True)
class NormDraws:
    """Draws of S_L, or of eta_0^2 |x_0|^2 + gamma_0 where ``linear`` holds (eta_0^2, gamma_0)."""

    layers: Layers
    linear: tuple[float, float] | None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        if self.linear is None:
            return norm_chain(self.layers, rng, draws)
        input_layer = Layers(None, 1.0, self.layers.widths[:1])
        return self.linear[0] * norm_chain(input_layer, rng, draws) + self.linear[1]


@dataclass(frozen=True, slots=True)
class OutputSampler:
    """Draws of a statistic of independent S_L; ``sigma`` is their limit."""

    norms: NormDraws
    sigma: float
    statistic: Callable[[OutputSampler, np.random.Generator, int], Array]

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return self.statistic(self, rng, draws)


def _values(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    return np.sqrt(sampler.norms(rng, draws)) * rng.standard_normal(draws)


def _bias(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    return sampler.norms(rng, draws) - sampler.sigma


def _cumulant(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    # Var S = E (S - S')^2/2 for two independent networks.
    return 1.5 * np.square(sampler.norms(rng, draws) - sampler.norms(rng, draws))


def _distance(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    """Average k(S, S') over the pairs of a group, k(s, t) = E [Phi(Y/sqrt(s)) - F(Y)] [Phi(Y/sqrt(t)) - F(Y)], Y ~ N(0, sigma).

    E Phi(Y/sqrt(s)) Phi(Y/sqrt(t)) = 1/4 + asin(p q)/(2 pi) with p = sqrt(sigma/(s + sigma)), q the same at t, so that each product
    of independent norms is an unbiased draw of int (G - F)^2 dF.
    """
    norms = sampler.norms(rng, GROUP * draws).reshape(draws, GROUP)
    p = np.sqrt(sampler.sigma / (norms + sampler.sigma))
    row, column = np.triu_indices(GROUP, 1)
    pairs = np.arcsin(p[:, row] * p[:, column]).mean(axis=1)
    return np.asarray((pairs - 2 * np.arcsin(p * math.sqrt(0.5)).mean(axis=1) + math.pi / 6) / (2 * math.pi))


class OutputQuantity(Quantity):
    """A statistic of the output; see the functions of this module."""

    def __init__(self, kind: str, network: DeepNetwork, equivalent: bool) -> None:
        if not hasattr(network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {network!r}")
        self.kind, self.network, self.equivalent = kind, network, bool(equivalent)
        self.can_draw, self.can_exact = _STATISTICS[kind] is not None, kind != "output"

    @property
    def name(self) -> str:
        """What people read."""
        model = "linear model of " if self.equivalent else ""
        return f"{self.kind}({model}{self.network.activation.text}, depth={self.network.depth})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": self.kind,
            "activation": self.network.activation.text,
            "depth": self.network.depth,
            "widths": list(self.network.pattern),
            **({"equivalent": True} if self.equivalent else {}),
        }

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which the widths are given."""
        return self.network.names

    def norms(self, sizes: Sizes) -> NormDraws:
        """Return the sampler of S_L."""
        widths, phi = self.network.layer_widths(sizes), self.network.activation
        linear = slope(phi)
        layers = Layers(None, linear, widths) if linear is not None else Layers(phi, None, widths)
        if not self.equivalent:
            return NormDraws(layers, None)
        from theoryck.theory.networks.proved.constants import network_constants

        constants = network_constants(phi, self.network.depth, digits=20)
        return NormDraws(layers, (float(constants.eta0) ** 2, float(constants.gamma0)))

    def sampler(self, sizes: Sizes) -> OutputSampler:
        """Return the sampler at ``sizes``."""
        statistic = _STATISTICS[self.kind]
        if statistic is None:
            raise QuantityError(f"{self.name} is a ratio of moments and no mean of draws: draw output_cumulant instead")
        return OutputSampler(self.norms(sizes), limit_norm(self.network.activation, self.network.depth), statistic)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers one draw takes, or the time of as many."""
        numbers = 1.0 if self.equivalent else float(self.norms(sizes).layers.numbers)
        if self.kind == "output_distance":
            return GROUP * numbers + ASINE * GROUP * (GROUP + 1) / 2
        return {"output": numbers + 1, "output_cumulant": 2 * numbers}.get(self.kind, numbers)

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return what (S_L - sigma_L)^2 needs: no statistic here has a heavier tail."""
        return NormDeviation(self.network, 2, None).draws_to_compare(sizes)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the value at ``sizes``; None for the output itself and where the series in 1/d says nothing."""
        if self.kind == "output":
            return None
        from theoryck.numerics.errors import NotConverged
        from theoryck.theory.wide.proved import output_law as proved

        phi, widths = self.network.activation, self.network.layer_widths(sizes)
        if self.equivalent:
            return _linear_model(self.kind, phi, widths, digits)
        try:
            if self.kind == "output_distance":
                return proved.output_distance(phi, widths)
            route = {"output_bias": proved.norm_bias}.get(self.kind) or getattr(proved, self.kind)
            value: Enclosure = route(phi, widths, digits=digits)
            return value
        except NotConverged:
            return None


_STATISTICS: dict[str, Callable[[OutputSampler, np.random.Generator, int], Array] | None] = {
    "output": _values,
    "output_bias": _bias,
    "output_cumulant": _cumulant,
    "output_kurtosis": None,
    "output_distance": _distance,
}


def _linear_model(kind: str, phi: Any, widths: tuple[int, ...], digits: int) -> Enclosure | None:
    """S = eta_0^2 S_0 + gamma_0 has mean sigma_L exactly and variance 2 eta_0^4/d_0."""
    from theoryck.quantities.exact import as_exact
    from theoryck.theory.networks.quantities.constants import eta0, sigma

    depth = len(widths) - 1
    cumulant = 6 * eta0(phi, depth) ** 4 / as_exact(widths[0])
    if kind == "output_bias":
        return as_exact(0).exact({}, digits)
    if kind == "output_cumulant":
        value: Enclosure = cumulant.exact({}, digits)
        return value
    if kind == "output_kurtosis":
        ratio: Enclosure = (cumulant / sigma(phi, depth) ** 2).exact({}, digits)
        return ratio
    return None


def output(network: DeepNetwork, equivalent: bool = False) -> OutputQuantity:
    """Return the output f = a.x_L itself, the statistic of a Law; drawn only.

    ``equivalent`` takes the linear model eta_0 v.x_0 + sqrt(gamma_0) xi, here and below.  The law tends to N(0, sigma_L) with
    squared distance d_min^-2.  Source: Lee et al. (2018), arXiv:1711.00165.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> output(DeepNetwork("x", depth=1)).draw(np.random.default_rng(0), 3, {"input_dim": 4, "width": 4}).shape
    (3,)
    """
    return OutputQuantity("output", network, equivalent)


def output_bias(network: DeepNetwork, equivalent: bool = False) -> OutputQuantity:
    """Return E f^2 - sigma_L = E S_L - sigma_L ~ b_L/d_min, signed; both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_bias(DeepNetwork("erf", depth=1)).exact({"input_dim": 512, "width": 512})) * 512
    -0.2023...
    """
    return OutputQuantity("output_bias", network, equivalent)


def output_cumulant(network: DeepNetwork, equivalent: bool = False) -> OutputQuantity:
    """Return the fourth cumulant E f^4 - 3 (E f^2)^2 = 3 Var S_L ~ 3 v_L/d_min of the output; both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_cumulant(DeepNetwork("x", depth=1)).exact({"input_dim": 8, "width": 8}))
    1.6875
    """
    return OutputQuantity("output_cumulant", network, equivalent)


def output_kurtosis(network: DeepNetwork, equivalent: bool = False) -> OutputQuantity:
    """Return the excess kurtosis 3 Var S_L/(E S_L)^2 of the output: a ratio of moments, exactly only.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> network, sizes = DeepNetwork("erf", depth=1), {"input_dim": 512, "width": 512}
    >>> [round(512 * float(output_kurtosis(network, model).exact(sizes)), 2) for model in (False, True)]
    [2.68, 5.01]
    """
    return OutputQuantity("output_kurtosis", network, equivalent)


def output_distance(network: DeepNetwork, equivalent: bool = False) -> OutputQuantity:
    """Return int (G - F)^2 dF ~ C/d_min^2, G the law of the output and F = N(0, sigma_L); by both routes.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> float(output_distance(DeepNetwork("erf", depth=1)).exact({"input_dim": 512, "width": 512})) * 512**2
    0.00624...
    """
    return OutputQuantity("output_distance", network, equivalent)
