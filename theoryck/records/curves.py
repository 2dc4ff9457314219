"""Curves: what the judge fitted along a path, evaluated where a picture needs it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from theoryck.records.plain import SPARE, Record
from theoryck.records.values import Interval


@dataclass(frozen=True, slots=True)
class Curve(Record):
    """A curve fitted along ``base``, with its band at the level of the contract.

    Of growth (``sign`` 1 or -1) it is ``sign * rate * exp(centre)`` in the band ``exp(centre +- spread)``, where ``log_rates`` are
    the logarithms of the claimed rate (0 where none is claimed).  Of a limit (``sign`` 0) it is what is left of the claimed value,
    ``centre +- spread``, which ends in ``limit`` and supports the claim within ``tolerance``.

    ``sizes`` (and ``log_rates``) are those measured, in ascending order.  ``centre`` and ``spread`` are given at ``nodes``, the
    sizes measured and others between them, such that straight lines in log(size) are the curve to what a picture resolves; they
    are empty where nothing could be fitted, with the ``reason`` in words.  ``fixed`` are the other sizes on a line of a grid.
    ``residuals`` are (value - curve)/error by route, one for each value with an error bar, in ascending order of sizes.
    ``rivals`` are, by the text of the rival, the logarithms of its rate over the claimed one at ``sizes``, 0 at the largest; of a
    limit its value minus the claimed one, one number.  ``trusted`` is False where a few draws made the error bars, so that the
    band means nothing.  Raises ValueError where lengths do not fit.

    >>> logs = (math.log(2.0), math.log(2.0))
    >>> curve = Curve("montecarlo", "d", (16, 64), 1, (16.0, 64.0), logs, (0.0, 0.0), log_rates=(0.0, -math.log(4.0)))
    >>> curve.value(16), round(curve.value(32), 12), curve.band(64)
    (2.0, 1.0, (0.5, 0.5))
    >>> Curve.from_json(curve.to_json()) == curve
    True
    """

    route: str
    base: str
    sizes: tuple[int, ...]
    sign: int
    nodes: tuple[float, ...] = field(default=(), metadata=SPARE)
    centre: tuple[float, ...] = field(default=(), metadata=SPARE)
    spread: tuple[float, ...] = field(default=(), metadata=SPARE)
    log_rates: tuple[float, ...] = field(default=(), metadata=SPARE)
    exponent: Interval | None = field(default=None, metadata=SPARE)
    limit: Interval | None = field(default=None, metadata=SPARE)
    tolerance: float | None = field(default=None, metadata=SPARE)
    residuals: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict, metadata=SPARE)
    rivals: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=SPARE)
    fixed: Mapping[str, int] = field(default_factory=dict, metadata=SPARE)
    flags: tuple[str, ...] = field(default=(), metadata=SPARE)
    reason: str = field(default="", metadata=SPARE)
    trusted: bool = field(default=True, metadata=SPARE)

    def __post_init__(self) -> None:
        if not (len(self.nodes) == len(self.centre) == len(self.spread)):
            lengths = f"{len(self.nodes)}, {len(self.centre)} and {len(self.spread)}"
            raise ValueError(f"nodes, centre and spread of a curve must have the same length, got {lengths}")
        if self.log_rates and len(self.log_rates) != len(self.sizes):
            raise ValueError(f"a curve has a rate for each of its {len(self.sizes)} sizes, got {len(self.log_rates)}")

    def log_rate(self, size: float) -> float:
        """Return the logarithm of the claimed rate, interpolated between the sizes measured."""
        return interpolated(size, self.sizes, self.log_rates) if self.log_rates else 0.0

    def heights(self, size: float) -> tuple[float, float, float]:
        """Return centre, lower and upper end as they are kept: logarithms of value/rate for growth, differences for a limit.

        Raises ValueError where nothing was fitted.
        """
        if not self.centre:
            raise ValueError(f"no curve was fitted along {self.base}: {self.reason}")
        centre, spread = (interpolated(size, self.nodes, column) for column in (self.centre, self.spread))
        return centre, centre - spread, centre + spread

    def value(self, size: float) -> float:
        """Return the fitted value at ``size`` (of a limit: minus the one claimed); ValueError where nothing was fitted."""
        return self._values(size)[0]

    def band(self, size: float) -> tuple[float, float]:
        """Return the lower and the upper end of the band at ``size``; ValueError where nothing was fitted."""
        _, low, high = self._values(size)
        return low, high

    def _values(self, size: float) -> tuple[float, float, float]:
        centre, low, high = self.heights(size)
        if self.sign == 0:
            return centre, low, high
        rate = self.log_rate(size)
        centre, low, high = (self.sign * _exp(height + rate) for height in (centre, low, high))
        return centre, min(low, high), max(low, high)


def interpolated(size: float, sizes: Sequence[float], column: Sequence[float]) -> float:
    """Return the entry of ``column`` at ``size``, linear in the logarithm of ascending ``sizes`` and constant beyond their ends.

    >>> interpolated(4, (2, 8), (0.0, 1.0)), interpolated(9, (2, 8), (0.0, 1.0))
    (0.5, 1.0)
    """
    after = bisect_right(sizes, size)
    if after == 0 or after == len(sizes):
        return column[0 if after == 0 else -1]
    low, high = sizes[after - 1], sizes[after]
    share = math.log(size / low) / math.log(high / low)
    return column[after - 1] + share * (column[after] - column[after - 1])


def _exp(log: float) -> float:
    return math.exp(log) if log < 709.0 else math.inf
