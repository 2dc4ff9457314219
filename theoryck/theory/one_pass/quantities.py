"""Medians of hitting times of one-pass SGD, and its mean gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from theoryck.quantities.arguments import positive, real
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.one_pass.draws import GradientSampler, HittingSampler
from theoryck.theory.one_pass.limits import gradient
from theoryck.theory.one_pass.model import OnePass, check_mean_squares, samples_at
from theoryck.theory.weak_recovery.model import kink_arguments


@dataclass(frozen=True, repr=False)
class hitting_time(Quantity):
    """The median of the number n of samples until min_k |m_k| reaches the level, over ``unit``; size ``d``.

    The level is looked at every d/64 samples (every one below d = 128, every eighth from d = 512 on), and n rounded up to them.
    ``expected`` is about how many samples it takes: it says what a draw costs, and runs are given up after ``patience`` times it.
    Both are texts in d, such as "2*d*log(d)".  A block advances ``runs`` of them together, until three quarters have arrived, or
    1/2 + 4/sqrt(runs): with 1024 a run costs 0.57 of what it does with 256, and no size gets fewer.  Raises
    QuantityError.

    >>> quantity = hitting_time(OnePass("z", "1", "0.2/d", level=0.5, start="positive"), "3*d", unit="d")
    >>> draws = quantity.draw(np.random.default_rng(0), 256, {"d": 400})
    >>> bool(abs(np.median(draws) - 2.7) < 0.2)
    True
    """

    title = "hitting_time({sgd}{self.suffix})"
    needs = ("d",)
    can_draw = True
    draw_statistic = "median"
    sgd: OnePass
    expected: str
    unit: str = "1"
    patience: float = 8.0
    runs: int = 256

    def __post_init__(self) -> None:
        if not isinstance(self.sgd, OnePass):
            raise QuantityError(f"sgd must be a theoryck.one_pass.OnePass, got {self.sgd!r}")
        samples_at(self.unit, "unit", 64)
        samples_at(self.expected, "expected", 64)
        object.__setattr__(self, "patience", positive(self.patience, "patience"))
        integer(self.runs, "runs", 64, 65536, QuantityError)

    @property
    def suffix(self) -> str:
        """What the name says of the unit."""
        return "" if self.unit == "1" else f"; n/({self.unit})"

    def steps(self, sizes: Sizes) -> float:
        """Return about how many samples it takes."""
        need_sizes(self.name, self.needs, sizes)
        return samples_at(self.expected, "expected", int(sizes["d"]))

    def sampler(self, sizes: Sizes) -> HittingSampler:
        steps, d = self.steps(sizes), int(sizes["d"])
        if d < self.sgd.link.indices + 2:
            raise QuantityError(f"d must be at least {self.sgd.link.indices + 2}, two more than there are indices, got {d}")
        return HittingSampler(self.sgd, d, samples_at(self.unit, "unit", d), int(self.patience * steps) + 1)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one run in units of random numbers: its steps, each of r + 2 of them and two dozen operations."""
        return (7.0 + 1.5 * self.sgd.link.indices) * self.steps(sizes)

    def block_draws(self, sizes: Sizes) -> int:
        return self.runs

    def relative_noise(self, sizes: Sizes) -> float:
        return 1.0


@dataclass(frozen=True, repr=False)
class mean_gradient(Quantity):
    """E y s'(z) (Z_k - m_k z), the mean step on the sphere at overlaps m over the step, k = ``component`` (from 1), with both
    routes.

    Exact, it is the component of (I - m m^T) grad phi(m) by Gaussian quadrature, to 1e-9 for a link with kinks; with ``spherical``
    False the Euclidean E y s'(z) Z_k = d phi/d m_k + m_k E y s''(z) is drawn, and has no exact route.  ``sgd`` says f and s'.
    Raises QuantityError.

    >>> sgd = OnePass("z1*z2", "sqrt(2)*z", "1/d")
    >>> round(float(mean_gradient(sgd, (0.5, 0.25), 1).exact({})), 9)  # sqrt 2 (m_2 - 2 m_1 m_1 m_2)
    0.176776695
    """

    title = "mean_gradient({sgd.link}, s'={sgd.slope}, m={overlaps}, component={component})"
    sgd: OnePass
    overlaps: Sequence[float]
    component: int = 1
    spherical: bool = True

    def __post_init__(self) -> None:
        m = tuple(real(each, "overlaps") for each in self.overlaps)
        r = self.sgd.link.indices
        if len(m) != r or sum(each**2 for each in m) > 1:
            raise QuantityError(f"overlaps must be {r} numbers whose squares add up to at most 1, got {self.overlaps!r}")
        object.__setattr__(self, "overlaps", m)
        integer(self.component, "component", 1, r, QuantityError)
        check_mean_squares(self.sgd)

    can_draw = True

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether it is the spherical one."""
        return self.spherical

    def sampler(self, sizes: Sizes) -> GradientSampler:
        return GradientSampler(self.sgd.link, self.sgd, tuple(self.overlaps), self.component - 1, self.spherical)

    def cost(self, sizes: Sizes) -> float:
        return 10.0 + 2.0 * len(self.overlaps)

    def exact(self, sizes: Sizes, digits: int = 20) -> Any:
        if not self.spherical:
            return None
        m = np.array(self.overlaps)
        ascent = gradient(self.sgd.link, self.sgd, m)
        value = Decimal(float((ascent - m * (m @ ascent))[self.component - 1]))
        # Gauss-Hermite rules are exact for polynomials, rounding leaves 1e-13 of what is added up; panels leave 1e-10.
        error = Decimal("1e-9" if kink_arguments(self.sgd.link.expression) else "1e-12")
        return Enclosure(value, error * Decimal(1 + float(np.abs(ascent).max())), rigorous=False)
