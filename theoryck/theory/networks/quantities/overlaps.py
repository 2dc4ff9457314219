"""E | x_L(mu) . x_L(nu) |^k of a deep random network at two independent inputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import Sizes
from theoryck.records import Bracket, Enclosure
from theoryck.theory.networks.draws import Layers, overlap_chain
from theoryck.theory.networks.quantities.moments import NetworkMoment, Power, absolute_power

if TYPE_CHECKING:
    from theoryck.theory.networks.model import DeepNetwork


@dataclass(frozen=True, slots=True)
class OverlapSampler:
    """Draws |Q_L|^power by the chain of :mod:`theoryck.theory.networks.draws`."""

    layers: Layers
    power: Power

    def __call__(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """Return ``draws`` independent values (draws,)."""
        return absolute_power(overlap_chain(self.layers, rng, draws), self.power, "an overlap")


class OverlapMoment(NetworkMoment):
    """What :func:`overlap_moment` returns: a quantity with a sampler of 2 x 2 Gram matrices and an exact route.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = overlap_moment(DeepNetwork("x", depth=0), power=2)
    >>> q.name, q.exact({"input_dim": 8}).midpoint  # E (x . y)^2 = 1/d_0
    ('overlap_moment(x, depth=0, power=2)', Decimal('0.125'))
    """

    kind = "overlap_moment"
    inputs = 2

    def sampler(self, sizes: Sizes) -> OverlapSampler:
        """Return the sampler at ``sizes``; errors of the widths name the size that is missing."""
        return OverlapSampler(self.layers(sizes), self.power)

    def _linear_moment(self, widths: tuple[int, ...], power: int) -> Fraction:
        from theoryck.theory.networks.proved.closed_forms import linear_overlap_moment

        return linear_overlap_moment(widths, power)

    def _exact_moment(self, sizes: Sizes, digits: int) -> Enclosure | Bracket:
        from theoryck.theory.networks.proved.moments import overlap_moment as exact_moment

        return exact_moment(self.network.activation, self.network.layer_widths(sizes), self.power, digits=digits)


def overlap_moment(network: DeepNetwork, power: Any = 2) -> OverlapMoment:
    """Return E|x_L(mu) . x_L(nu)|^power for two independent inputs x_0 ~ N(0, I/d_0), as a quantity with both routes.

    ``power`` is a real number, 0 < power <= 64.  Monte Carlo runs the Markov chain of 2 x 2 Gram matrices without
    weight matrices (see :mod:`theoryck.theory.networks.draws`).  Source: Camilli, Tieplova, Bergamin, Barbier (2025),
    quasi-orthogonality.  Raises QuantityError.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> q = overlap_moment(DeepNetwork("x", depth=1), power=2)
    >>> draws = q.draw(np.random.default_rng(0), 20_000, {"input_dim": 8, "width": 8})
    >>> bool(abs(draws.mean() - 0.265625) < 5 * draws.std() / 20_000**0.5)  # 1/8 (1 + 1/8) + 1/8
    True
    """
    return OverlapMoment(network, power)
