"""What was measured, as a picture shows it: one trace a route, one mark a size, and what cannot be shown in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from theoryck.curves.logarithms import Signed, around
from theoryck.fitting.data import NOISE_FLOOR
from theoryck.records import Point

ROUTES = ("exact", "montecarlo", "bracket-low", "bracket-high")


@dataclass(frozen=True, slots=True)
class Mark:
    """One value at one set of sizes: ``error`` is its standard error (the radius of an enclosure), None where there is none.

    ``residual`` is its distance from the fitted curve in units of its error as the fit took it, ``log_rate`` the logarithm of the
    claimed rate at its sizes.

    >>> mark = Mark({"d": 16}, 16, Decimal("0.02"), Decimal("0.01"))
    >>> mark.in_noise, [str(end) for end in mark.ends], mark.signed.sign
    (True, ['0.01', '0.03'], 1)
    """

    sizes: Mapping[str, int]
    size: int
    value: Decimal
    error: Decimal | None
    flags: tuple[str, ...] = ()
    log_rate: float = 0.0
    residual: float | None = None

    @property
    def in_noise(self) -> bool:
        """Whether the value is below 5 standard errors."""
        return self.error is not None and abs(self.value) < Decimal(NOISE_FLOOR) * self.error

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """One standard error below and above."""
        return around(self.value, self.error or Decimal(0))

    @property
    def signed(self) -> Signed:
        """The value as sign and logarithm."""
        return Signed.of(self.value)


@dataclass(frozen=True, slots=True)
class Trace:
    """The marks of one route (one of ROUTES), by increasing size.

    >>> trace = Trace("exact", (Mark({"d": 16}, 16, Decimal("0.75"), Decimal(0)),))
    >>> trace.minus(Decimal("0.5")).marks[0].value
    Decimal('0.25')
    """

    route: str
    marks: tuple[Mark, ...]

    def minus(self, value: Decimal) -> Trace:
        """Return the trace of the differences from ``value``."""
        return Trace(self.route, tuple(replace(mark, value=around(mark.value, value)[0]) for mark in self.marks))


def read(points: Sequence[Point], base: str, log_rate: Callable[[Mapping[str, int]], float]) -> tuple[tuple[Trace, ...], list[str]]:
    """Return the traces of all routes, and what is not finite, in words such as "Monte Carlo at d = 64: nan".

    ``log_rate`` gives the logarithm of the rate at sizes.
    """
    found: dict[str, list[Mark]] = {route: [] for route in ROUTES}
    missing: list[str] = []

    def add(route: str, point: Point, value: Decimal | float, error: Decimal | float, flags: tuple[str, ...]) -> None:
        if not _finite(value):
            names = {"montecarlo": "Monte Carlo", "bracket-low": "lower end", "bracket-high": "upper end"}
            missing.append(f"{names.get(route, route)} at {place(point.sizes)}: {value}")
            return
        number = value if isinstance(value, Decimal) else Decimal(value)
        # A bar without end says nothing more than no bar.
        bar = None if not _finite(error) else error if isinstance(error, Decimal) else Decimal(error)
        size = point.sizes.get(base, 1)
        found[route].append(Mark(point.sizes, size, number, bar, flags, log_rate(point.sizes)))

    for point in points:
        if point.exact is not None:
            add("exact", point, point.exact.midpoint, point.exact.radius, ())
        if point.estimate is not None:
            add("montecarlo", point, point.estimate.value, point.estimate.stderr, point.estimate.flags)
        if point.bracket is not None:
            add("bracket-low", point, point.bracket.low, point.bracket.low_stderr, point.bracket.flags)
            add("bracket-high", point, point.bracket.high, point.bracket.high_stderr, point.bracket.flags)
    traces = (Trace(route, tuple(sorted(marks, key=lambda mark: mark.size))) for route, marks in found.items() if marks)
    return tuple(traces), missing


def _finite(number: Decimal | float) -> bool:
    return number.is_finite() if isinstance(number, Decimal) else math.isfinite(number)


def place(sizes: Mapping[str, int]) -> str:
    """Return sizes as text, such as "d = 16, n = 64".

    >>> place({"d": 16, "n": 64}), place({})
    ('d = 16, n = 64', 'the one instance')
    """
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "the one instance"
