"""A teacher with any readout f as plain numbers: the network, the equivalent linear model, and the path between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ReadoutModel:
    """Plain data: widths (d_0, ..., d_L), n, Delta > 0, phi, f, eta_0, gamma_0 and the time t, 0 the network, 1 the linear model.

    With widths (d_0,) it is the linear model z = v . x_0, whatever eta_0, gamma_0 and t.  Raises ValueError for a number outside
    its range; the noise must be positive, because the outputs need a density given the weights.

    Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.

    >>> model = ReadoutModel((8, 8), 8, 0.2, Activation("tanh"), Activation("sin"), eta0=0.6, gamma0=0.03)
    >>> model.depth, model.linear.has_network, model.linear.has_gaussian
    (1, False, True)
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
    def linear(self) -> ReadoutModel:
        """The equivalent generalised linear model: t = 1."""
        return self.at(1.0)

    def at(self, time: float) -> ReadoutModel:
        """Return the model at another time."""
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

    @property
    def gaussian_dim(self) -> int:
        """Coordinates of s: min(n, d_0) where gamma_0 = 0, else n; 0 without a Gaussian part."""
        if not self.has_gaussian:
            return 0
        return self.n if self.slope_and_rest[1] > 0 else min(self.n, self.widths[0])

    @property
    def dim(self) -> int:
        """Coordinates of a state: (W, a, s, e) of a network with its n auxiliary ones, or s."""
        network = sum(rows * columns for rows, columns in self.shapes) + self.widths[-1] + self.n if self.has_network else 0
        return network + self.gaussian_dim

    def covariance(self, inputs: Array) -> Array:
        """Return C = eta_0^2 X^T X + gamma_0 1 (sets, n, n) for X (sets, d_0, n)."""
        eta, gamma = self.slope_and_rest
        result: Array = eta**2 * (np.swapaxes(inputs, -1, -2) @ inputs)
        index = np.arange(inputs.shape[-1])
        result[:, index, index] += gamma
        return result

    @property
    def costs(self) -> tuple[float, float]:
        """About how many nanoseconds one l takes and one l with its gradient, normals included; fitted to measurements."""
        n = self.n
        if not self.has_network:
            gradient = 100.0 + 12.0 * n + 0.2 * n**2
        else:
            entries = sum(self.widths[1:]) * n
            gradient = 1000.0 + 16.0 * self.dim + 21.0 * entries + 31.0 * n**2
        return 0.5 * gradient, gradient

    @property
    def set_cost(self) -> float:
        """About how many nanoseconds it takes to draw a data set and to fit the sites and the tilt; fitted to measurements."""
        network = 30e3 + 950.0 * self.widths[0] ** 2 if self.has_network else 0.0
        return 25e3 + 9e3 * self.n + 330.0 * self.n**2 + network
