"""Values: the words of a verdict, intervals, estimates, enclosures, brackets, measured points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from enum import StrEnum
from statistics import NormalDist
from typing import Any


class Verdict(StrEnum):
    """What the evidence says about a statement (DESIGN section 4)."""

    CERTIFIED = "CERTIFIED"
    SUPPORTED = "SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"
    VACUOUS = "VACUOUS"


class Tightness(StrEnum):
    """Whether a supported bound is attained: TIGHT (slack 0), LOOSE (slack > 0) or UNDETERMINED."""

    TIGHT = "TIGHT"
    LOOSE = "LOOSE"
    UNDETERMINED = "UNDETERMINED"


class Status(StrEnum):
    """What its author says of a claim: proved, believed, or known to be false."""

    THEOREM = "theorem"
    CONJECTURE = "conjecture"
    FALSEHOOD = "falsehood"


class Kind(StrEnum):
    """The kinds of statement (DESIGN section 3)."""

    IDENTITY = "identity"
    BOUND = "bound"
    SCALING = "scaling"
    LIMIT = "limit"
    LAW = "law"


def _finite(value: float | None) -> float | str | None:
    """JSON has no inf or nan: they travel as strings, never as null."""
    if value is None or math.isfinite(value):
        return value
    return repr(float(value))


def _number(value: Any) -> float:
    return float(value)


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its two-sided interval [low, high] at confidence ``level``.

    >>> Interval(-0.5, -0.52, -0.48, 0.95).half_width
    0.020000000000000018
    """

    estimate: float
    low: float
    high: float
    level: float

    @property
    def half_width(self) -> float:
        """Half of ``high - low``."""
        return 0.5 * (self.high - self.low)

    def contains(self, value: float) -> bool:
        """Whether ``low <= value <= high``."""
        return self.low <= value <= self.high

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "estimate": _finite(self.estimate),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "level": self.level,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Interval:
        """Inverse of :meth:`to_json`."""
        return cls(*(_number(data[key]) for key in ("estimate", "low", "high", "level")))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A Monte Carlo mean with its standard error over ``draws`` replicates; ``flags`` say what makes it doubtful.

    ``skewness`` is that of one draw, as far as it was seen: it says how far the mean is from Gaussian.

    >>> Estimate(1.0, 0.1, 100).interval(0.95).low
    0.804...
    """

    value: float
    stderr: float
    draws: int
    flags: tuple[str, ...] = ()
    skewness: float = 0.0

    def interval(self, level: float = 0.95) -> Interval:
        """Return the Gaussian two-sided interval at confidence ``level``."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.stderr
        return Interval(self.value, self.value - reach, self.value + reach, level)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "value": _finite(self.value),
            "stderr": _finite(self.stderr),
            "draws": self.draws,
            "flags": list(self.flags),
            "skewness": _finite(self.skewness),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Estimate:
        """Inverse of :meth:`to_json`."""
        flags, skewness = tuple(data.get("flags", ())), _number(data.get("skewness", 0.0))
        return cls(_number(data["value"]), _number(data["stderr"]), int(data["draws"]), flags, skewness)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number known to lie in [midpoint - radius, midpoint + radius]: proved if ``rigorous``, else agreed by two methods.

    >>> e = Enclosure(Decimal("0.5"), Decimal("1e-20"))
    >>> e.rigorous, e.overlaps(Enclosure(Decimal("0.6"), Decimal("0.01"))), float(e)
    (True, False, 0.5)
    """

    midpoint: Decimal
    radius: Decimal
    rigorous: bool = True

    def __post_init__(self) -> None:
        if not (self.midpoint.is_finite() and self.radius.is_finite() and self.radius >= 0):
            raise ValueError(f"an enclosure needs a finite midpoint and a radius >= 0, got {self.midpoint} +/- {self.radius}")

    @property
    def low(self) -> Decimal:
        """Lower end, rounded down."""
        return self._end(-self.radius, ROUND_FLOOR)

    @property
    def high(self) -> Decimal:
        """Upper end, rounded up."""
        return self._end(self.radius, ROUND_CEILING)

    def _end(self, shift: Decimal, rounding: str) -> Decimal:
        with localcontext() as context:
            context.prec = max(28, len(self.midpoint.as_tuple().digits) + 10)
            context.rounding = rounding
            return self.midpoint + shift

    @property
    def exact(self) -> bool:
        """Whether the value is known without any error."""
        return self.rigorous and self.radius == 0

    def overlaps(self, other: Enclosure) -> bool:
        """Whether the two enclosures share a point."""
        return self.low <= other.high and other.low <= self.high

    def __float__(self) -> float:
        return float(self.midpoint)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict with decimal strings."""
        return {"value": str(self.midpoint), "radius": str(self.radius), "rigorous": self.rigorous}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Enclosure:
        """Inverse of :meth:`to_json`."""
        return cls(Decimal(data["value"]), Decimal(data["radius"]), bool(data["rigorous"]))


@dataclass(frozen=True, slots=True)
class Bracket:
    """A number known to lie between ``low`` and ``high``, each with a standard error (0 where the end is proved).

    ``flags`` say what makes the standard errors doubtful; so do ``draws``, over which the ends are means (0 where they are proved),
    and the skewness of one draw of either end, as far as it was seen.
    """

    low: float
    high: float
    low_stderr: float = 0.0
    high_stderr: float = 0.0
    flags: tuple[str, ...] = ()
    draws: int = 0
    low_skewness: float = 0.0
    high_skewness: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        drawn = {"draws": self.draws, "low_skewness": _finite(self.low_skewness), "high_skewness": _finite(self.high_skewness)}
        return {
            "low": _finite(self.low),
            "high": _finite(self.high),
            "low_stderr": _finite(self.low_stderr),
            "high_stderr": _finite(self.high_stderr),
            **({"flags": list(self.flags)} if self.flags else {}),
            **(drawn if self.draws else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bracket:
        """Inverse of :meth:`to_json`."""
        low, high, low_stderr, high_stderr = (_number(data[key]) for key in ("low", "high", "low_stderr", "high_stderr"))
        skewness = (_number(data.get(key, 0.0)) for key in ("low_skewness", "high_skewness"))
        return cls(low, high, low_stderr, high_stderr, tuple(data.get("flags", ())), int(data.get("draws", 0)), *skewness)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many draws of a statistic fell between ``edges``, and what was claimed of it: the picture of a law.

    There are ``len(edges) + 1`` counts, the first of draws up to the first edge and the last of draws beyond the last one;
    ``claimed`` is the claimed distribution function at each edge.  Raises ValueError when the lengths do not fit.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    claimed: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (len(self.edges) == len(self.claimed) == len(self.counts) - 1):
            raise ValueError(
                f"a law with {len(self.edges)} edges has as many claimed values and one count more, got {len(self.claimed)} and "
                f"{len(self.counts)}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {"edges": list(self.edges), "counts": list(self.counts), "claimed": list(self.claimed)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Counts:
        """Inverse of :meth:`to_json`."""
        edges, claimed = (tuple(_number(value) for value in data[key]) for key in ("edges", "claimed"))
        return cls(edges, tuple(int(count) for count in data["counts"]), claimed)


@dataclass(frozen=True, slots=True)
class Point:
    """All that was measured at one set of sizes; a route that was not taken is None.

    ``counts`` are kept where a law is claimed, whose ``estimate`` is a distance: for pictures, nothing is judged by them.
    """

    sizes: Mapping[str, int]
    estimate: Estimate | None = None
    exact: Enclosure | None = None
    bracket: Bracket | None = None
    counts: Counts | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "sizes": dict(self.sizes),
            "estimate": self.estimate.to_json() if self.estimate else None,
            "exact": self.exact.to_json() if self.exact else None,
            "bracket": self.bracket.to_json() if self.bracket else None,
            **({"counts": self.counts.to_json()} if self.counts else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Point:
        """Inverse of :meth:`to_json`."""
        return cls(
            {name: int(size) for name, size in data["sizes"].items()},
            Estimate.from_json(data["estimate"]) if data.get("estimate") else None,
            Enclosure.from_json(data["exact"]) if data.get("exact") else None,
            Bracket.from_json(data["bracket"]) if data.get("bracket") else None,
            Counts.from_json(data["counts"]) if data.get("counts") else None,
        )
