"""Where sizes go: to infinity, as dimensions do, or to 0, as step sizes do; which their names suggest, and what the fits see."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from theoryck.records import Interval, Size, Toward
from theoryck.records.values import size_text

SHRINKING = frozenset(
    {"h", "hmax", "h_max", "hmin", "h_min", "dx", "dy", "dz", "dr", "ds", "dt", "d_t", "delta", "delta_t", "delta_x", "deltat"}
    | {"deltax", "step", "stepsize", "step_size", "timestep", "time_step", "eps", "epsilon", "tol", "rtol", "atol", "tolerance"}
    | {"meshsize", "mesh_size", "gridsize", "grid_size", "spacing", "bandwidth", "cellsize", "cell_size", "cell_width"}
)
"""Names of sizes that go to 0."""

MOST_STEPS = 690.0  # of exp(1), within the range of floats

MOST_COUNTED = 1024
"""Whole numbers somebody else measured at are taken for dimensions, whose corrections are powers of them with coefficients of order
1, where they begin here or below; tokens and operations begin far above, and their unit means nothing."""


def shrinks(name: str) -> bool:
    """Whether a name is one of those that step sizes and tolerances have.

    >>> [name for name in ("h", "dx", "Delta t", "\N{GREEK CAPITAL LETTER DELTA}x", "d", "n") if shrinks(name)]
    ['h', 'dx', 'Delta t', 'Δx']
    """
    letters = name.lower().replace("\N{GREEK SMALL LETTER DELTA}", "delta_").replace("\N{GREEK SMALL LETTER EPSILON}", "eps")
    return re.sub("[^a-z]+", "_", letters).strip("_") in SHRINKING


def read_toward(value: Any, error: type[ValueError] = ValueError) -> Toward:
    """Return what ``toward`` = 0 or inf, as a number or a text, means; ``error`` for anything else.

    >>> read_toward(0), read_toward("inf")
    (<Toward.ZERO: '0'>, <Toward.INFINITY: 'inf'>)
    >>> read_toward(1)
    Traceback (most recent call last):
    ValueError: toward must be 0 or inf, where the sizes go, got 1
    """
    if isinstance(value, Real) and not isinstance(value, bool) and (value == 0 or value == math.inf):
        return Toward.ZERO if value == 0 else Toward.INFINITY
    if isinstance(value, str) and value.strip().lower() in ("0", "0.0", "zero", "inf", "infinity", "oo"):
        return Toward.ZERO if value.strip().lower() in ("0", "0.0", "zero") else Toward.INFINITY
    raise error(f"toward must be 0 or inf, where the sizes go, got {value!r}")


SCALE_FREE_AMPLITUDE = 0.6
"""How large corrections are at the coarsest size, relative to the values, where the unit of the size means nothing and nothing else
was declared (see :mod:`theoryck.fitting.corrections`)."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The base of a path as the fits see it: a large parameter t, which is the size itself or, toward 0, its inverse.

    ``scale_free`` says that the unit of the size means nothing, so that corrections are measured at the coarsest size.  Of a
    geometric rate such as ``2**(-l)`` t is ``exp(unit * (l - origin))``, its inverse, and exponents are written as those of exp(l).

    >>> axis = Axis("h", Toward.ZERO, scale_free=True)
    >>> axis.large(0.25), axis.text, axis.window([0.5, 0.25, 0.125])
    (4.0, '(1/h)', '0.5..0.125, toward 0')
    >>> axis.written(Interval(-2.0, -2.1, -1.9, 0.95)).low  # an error of order h**2
    1.9
    """

    base: str
    toward: Toward = Toward.INFINITY
    scale_free: bool = False
    unit: float = 0.0
    origin: float = 0.0

    @classmethod
    def of(cls, base: str, toward: Toward, sizes: Sequence[Size], drawn: bool, slope: float = 0.0) -> Axis:
        """Return the axis of the sizes of a claim, or of an audit (not ``drawn``).

        ``slope`` is what the logarithm of a geometric rate gains with each unit of the size: t is then the rate or its inverse.
        """
        if slope:
            return cls(base, Toward.INFINITY, True, abs(slope), float(min(sizes, default=0)))
        counted = all(isinstance(size, int) for size in sizes) and toward is Toward.INFINITY
        return cls(base, toward, not counted or (not drawn and min(sizes, default=1) > MOST_COUNTED))

    @property
    def sign(self) -> int:
        """The sign of an exponent of the size where t grows."""
        return 1 if self.toward is Toward.INFINITY else -1

    @property
    def text(self) -> str:
        """How t is written."""
        if self.unit:
            return "exp" + f"({self.base})" if self.unit == 1 else f"({math.exp(self.unit):.6g}^{self.base})"
        return self.base if self.toward is Toward.INFINITY else f"(1/{self.base})"

    @property
    def further(self) -> str:
        """Which sizes are nearer to the limit."""
        return "larger" if self.toward is Toward.INFINITY else "smaller"

    def amplitude(self, declared: float | None) -> float | None:
        """Return how large the corrections are at the coarsest size: as declared, or as is assumed without a unit, or None."""
        return SCALE_FREE_AMPLITUDE if declared is None and self.scale_free else declared

    def large(self, size: Size) -> Size:
        """Return t at a size; ValueError at 0, which is the size of a geometric rate only, and for a rate beyond floats."""
        if self.unit:
            steps = self.unit * (size - self.origin)
            if steps > MOST_STEPS:
                raise ValueError(f"the rate changes by more than a factor 1e300 from {self.base} = {self.origin:g} to {size:g}")
            return math.exp(steps)
        if not size > 0:
            raise ValueError(f"size {self.base} = {size} must be positive: only a geometric rate such as 2**(-{self.base}) has it")
        return size if self.toward is Toward.INFINITY else 1 / size

    def far(self, sizes: Sequence[Size]) -> Size:
        """Return the size that is nearest to the limit."""
        return max(sizes, key=self.large)

    def written(self, interval: Interval) -> Interval:
        """Return the interval of an exponent of t as one of the size."""
        if self.unit:
            centre, low, high = (self.unit * end for end in (interval.estimate, interval.low, interval.high))
            return Interval(centre, low, high, interval.level)
        if self.sign > 0:
            return interval
        return Interval(-interval.estimate, -interval.high, -interval.low, interval.level)

    def ends(self, sizes: Sequence[Size]) -> tuple[Size, Size]:
        """Return the coarsest size and the one nearest to the limit."""
        return min(sizes, key=self.large), self.far(sizes)

    def window(self, sizes: Sequence[Size]) -> str:
        """Write the window, the coarsest size first, with the direction where it is not to infinity."""
        first, last = map(size_text, self.ends(sizes))
        return f"{first}..{last}" + (", toward 0" if self.toward is Toward.ZERO else "")
