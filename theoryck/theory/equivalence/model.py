"""Random features, and the Gaussian features that are equivalent to them; no number is drawn before a generator is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.exact import as_activation
from theoryck.theory.networks.model import SizeExpression, as_width, width_at

Array = NDArray[np.float64]

ROWS = ("sphere", "gaussian")
"""The laws of a row w of W: uniform with |w| = 1, or N(0, I/d)."""


@dataclass(frozen=True)
class RandomFeatures:
    """The feature map x -> phi(W x), W of shape (p, d) with independent rows, for inputs x ~ N(0, I_d).

    ``activation`` is an :class:`Activation` or anything that makes one, ``rows`` the law of a row: "sphere" (uniform with
    |w| = 1, so that w . x ~ N(0, 1) exactly) or "gaussian" (N(0, I/d), |w|^2 = 1 on average only).  ``features`` is p and
    ``input_dim`` is d: integers, texts such as "2*d" or size expressions.  Raises ValueError.

    >>> features = RandomFeatures("erf", features="2*d")
    >>> features.shape({"d": 8}), features.names, str(features)
    ((16, 8), ('d',), "RandomFeatures(erf(x), rows='sphere', features=2*d, input_dim=d)")
    """

    activation: Any
    rows: str = "sphere"
    features: Any = "d"
    input_dim: Any = "d"

    def __post_init__(self) -> None:
        if self.rows not in ROWS:
            raise ValueError(f"rows must be one of {', '.join(map(repr, ROWS))}, got {self.rows!r}")
        object.__setattr__(self, "activation", as_activation(self.activation))
        for name in ("features", "input_dim"):
            object.__setattr__(self, name, as_width(getattr(self, name), name))

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes a path has to provide, in order of first use."""
        widths = (self.input_dim, self.features)
        return tuple(dict.fromkeys(name for width in widths if isinstance(width, SizeExpression) for name in width.names))

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """Return (p, d) at ``sizes``; a missing size or a width that is not an integer >= 1 raises ValueError."""
        return width_at(self.features, sizes), width_at(self.input_dim, sizes)

    @property
    def parameters(self) -> dict[str, str]:
        """The instance as JSON-able data."""
        return {
            "activation": self.activation.text,
            "rows": self.rows,
            "features": str(self.features),
            "input_dim": str(self.input_dim),
        }

    def __str__(self) -> str:
        return f"RandomFeatures({self.activation.text}, rows={self.rows!r}, features={self.features}, input_dim={self.input_dim})"


@dataclass(frozen=True)
class GaussianFeatures:
    """The features mu_0 + mu_1 W x + mu_* xi, xi ~ N(0, I_p) fresh for every input, that stand for phi(W x).

    The principle takes mu_0 = E phi(Z), mu_1 = E Z phi(Z) and mu_*^2 = E phi(Z)^2 - mu_0^2 - mu_1^2, Z ~ N(0, 1); any numbers
    may be given, so that wrong ones can be told from right ones.  ``noise`` is mu_*^2 >= 0, else ValueError.

    >>> features = GaussianFeatures(mean=0.0, slope=2.0, noise=0.0)
    >>> features(np.array([[1.0, -0.5]]), np.random.default_rng(0)).tolist()
    [[2.0, -1.0]]
    >>> features.covariance(np.eye(2)).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    mean: float
    slope: float
    noise: float

    def __post_init__(self) -> None:
        for name in ("mean", "slope", "noise"):
            value = getattr(self, name)
            try:
                number = float(Fraction(value) if isinstance(value, str) else value)
            except (TypeError, ValueError, OverflowError, ZeroDivisionError):
                number = math.nan
            if not math.isfinite(number) or (name == "noise" and number < 0):
                raise ValueError(f"mean and slope must be finite and noise, the variance mu_*^2, finite and >= 0, got {self}")
            object.__setattr__(self, name, number)

    def __call__(self, projections: Array, rng: np.random.Generator) -> Array:
        """Return the features at the projections u = W x of any shape, with fresh noise in every entry."""
        return self.mean + self.slope * projections + math.sqrt(self.noise) * rng.standard_normal(projections.shape)

    def covariance(self, gram: Array) -> Array:
        """Return the second moments E_{x, xi} of the features for the Gram matrices W W^T (..., p, p), x ~ N(0, I)."""
        result = self.mean**2 + self.slope**2 * np.asarray(gram)
        index = np.arange(result.shape[-1])
        result[..., index, index] += self.noise
        return result
