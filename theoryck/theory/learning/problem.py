"""A teacher-student setting at given sizes, as plain numbers: what every method of measuring is handed, whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Widths (d_0, ..., d_L), n, Delta > 0, phi, f, eta_0, gamma_0 and the time t: 0 the network, 1 its equivalent linear model.

    n samples Y = f(z) + sqrt(Delta) Z, z = sqrt(1-t) a . x_L + sqrt(t) (eta_0 v . x_0 + sqrt(gamma_0) xi); with widths (d_0,) it is
    the linear model z = v . x_0, whatever eta_0, gamma_0 and t.  Raises ValueError for a number outside its range; the noise must
    be positive, because the outputs need a density given the weights.

    >>> from theoryck.numerics.functions import Activation
    >>> problem = Problem((8, 8), 8, 0.2, Activation("tanh"), Activation("sin"), eta0=0.6, gamma0=0.03)
    >>> problem.depth, problem.linear.has_network, problem.linear.has_gaussian, problem.at(0.5).scales[0] == 0.5**0.5
    (1, False, True, True)
    """

    widths: tuple[int, ...]
    n: int
    noise: float
    activation: Activation
    readout: Activation
    eta0: float = 1.0
    gamma0: float = 0.0
    time: float = 0.0

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1 or self.n < 1:
            raise ValueError(f"widths must be (d_0, ..., d_L) and n >= 1, all integers >= 1, got {self.widths!r} and {self.n!r}")
        # Comparisons this way round fail for NaN too.
        if not 0 < self.noise < math.inf:
            raise ValueError(f"noise must be > 0, got {self.noise!r}: without noise the outputs have no density given the weights")
        if not 0 <= self.time <= 1:
            raise ValueError(f"time must be between 0 (the network) and 1 (the linear model), got {self.time!r}")
        if not 0 <= self.gamma0 < math.inf:
            raise ValueError(f"gamma0 is a variance: it must be >= 0, got {self.gamma0!r}")
        if not math.isfinite(self.eta0):
            raise ValueError(f"eta0 must be a finite number, got {self.eta0!r}")
        if self.depth and self.eta0 == 0 and self.gamma0 == 0:
            raise ValueError("eta0 and gamma0 are both 0: give those of the network, whose linear model is not empty")

    @property
    def depth(self) -> int:
        """L."""
        return len(self.widths) - 1

    @property
    def has_network(self) -> bool:
        """Whether a . x_L is part of z."""
        return self.depth > 0 and self.time < 1

    @property
    def has_gaussian(self) -> bool:
        """Whether eta_0 v . x_0 + sqrt(gamma_0) xi is part of z."""
        return self.depth == 0 or self.time > 0

    @property
    def linear(self) -> Problem:
        """The equivalent generalised linear model: t = 1."""
        return self.at(1.0)

    def at(self, time: float) -> Problem:
        """Return the problem at another time."""
        return replace(self, time=time)

    @property
    def scales(self) -> tuple[float, float]:
        """The factors of the network and of the Gaussian part in z."""
        return (math.sqrt(1.0 - self.time), math.sqrt(self.time)) if self.depth else (0.0, 1.0)

    @property
    def slope_and_rest(self) -> tuple[float, float]:
        """(eta_0, gamma_0); (1, 0) at depth 0."""
        return (self.eta0, self.gamma0) if self.depth else (1.0, 0.0)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of W_1, ..., W_L; empty without a network part."""
        return list(zip(self.widths[1:], self.widths)) if self.has_network else []

    def inputs(self, rng: np.random.Generator, sets: int) -> Array:
        """Return X (sets, d_0, n) with entries N(0, 1/d_0)."""
        return rng.standard_normal((sets, self.widths[0], self.n)) / math.sqrt(self.widths[0])

    def covariance(self, inputs: Array) -> Array:
        """Return eta_0^2 X^T X + gamma_0 1 (sets, n, n), the covariance of the Gaussian part of z, for X (sets, d_0, n)."""
        eta, gamma = self.slope_and_rest
        result: Array = eta**2 * (np.swapaxes(inputs, -1, -2) @ inputs)
        index = np.arange(inputs.shape[-1])
        result[:, index, index] += gamma
        return result
