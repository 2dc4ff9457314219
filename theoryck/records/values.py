"""Values: the words of a verdict, intervals, estimates, enclosures, brackets, measured points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from enum import StrEnum
from statistics import NormalDist

from theoryck._renderers import show
from theoryck.records.plain import SPARE, Record

Size = int | float
"""A size: a positive number, whole or not, as it was given (of a geometric rate such as 2**(-l) it may be 0)."""


class Verdict(StrEnum):
    """What the evidence says about a statement: a text that is one of five words.

    CERTIFIED: decided rigorously: at the sizes of this instance (exact equality, or enclosures that lie on the claimed side) or,
    with a scope, at every size from one on (a certificate).
    SUPPORTED: an equivalence test passed; the whole interval lies within what is tolerated (for bounds on one side).
    INCONCLUSIVE: neither; the reason names the budget that would decide.
    REFUTED: the whole interval lies outside, on the window and under the corrections that are named with it.
    VACUOUS: nothing was tested, a failure: no instance met the assumptions, no draw, or a rival that nothing could reject.

    >>> Verdict("REFUTED") is Verdict.REFUTED, f"{Verdict.SUPPORTED}"
    (True, 'SUPPORTED')
    >>> [verdict.value for verdict in Verdict]
    ['CERTIFIED', 'SUPPORTED', 'INCONCLUSIVE', 'REFUTED', 'VACUOUS']
    """

    CERTIFIED = "CERTIFIED"
    SUPPORTED = "SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"
    VACUOUS = "VACUOUS"


class Tightness(StrEnum):
    """Whether a supported bound is attained: TIGHT (slack 0), LOOSE (slack > 0) or UNDETERMINED.

    >>> Tightness("LOOSE"), [word.value for word in Tightness]
    (<Tightness.LOOSE: 'LOOSE'>, ['TIGHT', 'LOOSE', 'UNDETERMINED'])
    """

    TIGHT = "TIGHT"
    LOOSE = "LOOSE"
    UNDETERMINED = "UNDETERMINED"


class Status(StrEnum):
    """What its author says of a claim: proved, believed, or known to be false.

    >>> Status("theorem"), [word.value for word in Status]
    (<Status.THEOREM: 'theorem'>, ['theorem', 'conjecture', 'falsehood'])
    """

    THEOREM = "theorem"
    CONJECTURE = "conjecture"
    FALSEHOOD = "falsehood"


class Kind(StrEnum):
    """The kinds of statement.

    >>> Kind("bound"), [word.value for word in Kind]
    (<Kind.BOUND: 'bound'>, ['identity', 'bound', 'scaling', 'limit', 'law'])
    """

    IDENTITY = "identity"
    BOUND = "bound"
    SCALING = "scaling"
    LIMIT = "limit"
    LAW = "law"


class Toward(StrEnum):
    """Where the base of a path goes: to infinity, as a dimension, or to 0, as a step size.

    >>> Toward("0") is Toward.ZERO, [word.value for word in Toward]
    (True, ['inf', '0'])
    """

    INFINITY = "inf"
    ZERO = "0"


def size_text(size: Size) -> str:
    """Write a size for people: whole numbers in full, others with six digits.

    >>> size_text(4096), size_text(0.0009765625), size_text(1e21)
    ('4096', '0.000976562', '1e+21')
    """
    return str(size) if isinstance(size, int) else f"{size:.6g}"


@dataclass(frozen=True, slots=True)
class Interval(Record):
    """An estimate with its two-sided interval [low, high] at confidence ``level``.

    >>> interval = Interval(-0.5, -0.52, -0.48, 0.95)
    >>> round(interval.half_width, 3), interval.contains(-0.51), interval.contains(0.0)
    (0.02, True, False)
    >>> Interval.from_json(interval.to_json()) == interval
    True
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


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """What draws say, a mean unless a ``statistic`` is named, with its standard error; ``flags`` say what makes it doubtful.

    ``skewness`` is that of one draw, as far as it was seen: it says how far the mean is from Gaussian.  :meth:`interval` raises
    ValueError unless 0 < level < 1.

    >>> estimate = Estimate(value=1.0, stderr=0.1, draws=100)
    >>> interval = estimate.interval(level=0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.804, 1.196)
    >>> estimate.to_json()["draws"], Estimate.from_json(estimate.to_json()) == estimate
    (100, True)
    """

    value: float
    stderr: float
    draws: int
    flags: tuple[str, ...] = ()
    skewness: float = 0.0

    def interval(self, level: float = 0.95) -> Interval:
        """Return the Gaussian two-sided interval at confidence ``level``.

        Raises ValueError unless 0 < level < 1.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.stderr
        return Interval(self.value, self.value - reach, self.value + reach, level)


@dataclass(frozen=True, slots=True)
class Enclosure(Record):
    """A number known to lie in [midpoint - radius, midpoint + radius]: proved if ``rigorous``, else agreed by two methods.

    ``midpoint`` and ``radius`` are Decimals; ``low`` and ``high`` are rounded outward, ``exact`` says that there is no error.
    Two enclosures that overlap agree to their width and prove nothing; two that are disjoint, both rigorous, are different
    numbers.
    Raises ValueError for a midpoint that is not finite or a radius below 0.

    >>> third = Enclosure(Decimal("0.333"), Decimal("0.001"))
    >>> third.low, third.high, third.exact, float(third)
    (Decimal('0.332'), Decimal('0.334'), False, 0.333)
    >>> third.overlaps(Enclosure(Decimal("0.335"), Decimal("0.001"))), third.overlaps(Enclosure(Decimal("0.6"), Decimal("0.01")))
    (True, False)
    >>> Enclosure(Decimal("0.5"), Decimal(0)).exact
    True
    >>> Enclosure.from_json(third.to_json()) == third
    True
    >>> Enclosure(Decimal("NaN"), Decimal(0))
    Traceback (most recent call last):
        ...
    ValueError: an enclosure needs a finite midpoint and a radius >= 0, got NaN +/- 0
    """

    midpoint: Decimal = field(metadata={"key": "value"})
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

    def _repr_html_(self) -> str:
        return show("html", self)


@dataclass(frozen=True, slots=True)
class Bracket(Record):
    """A number known to lie between ``low`` and ``high``, each with a standard error (0 where the end is proved).

    ``flags`` say what makes the standard errors doubtful; so do ``draws``, over which the ends are means (0 where they are proved),
    and the skewness of one draw of either end, as far as it was seen.

    >>> free_entropy = Bracket(low=-1.32, high=-1.29, low_stderr=0.004, high_stderr=0.003, draws=500)
    >>> free_entropy.high > free_entropy.low
    True
    >>> Bracket.from_json(free_entropy.to_json()) == free_entropy
    True
    """

    low: float
    high: float
    low_stderr: float = 0.0
    high_stderr: float = 0.0
    flags: tuple[str, ...] = field(default=(), metadata=SPARE)
    draws: int = field(default=0, metadata=SPARE)
    low_skewness: float = field(default=0.0, metadata={"beside": "draws"})
    high_skewness: float = field(default=0.0, metadata={"beside": "draws"})


@dataclass(frozen=True, slots=True)
class Counts(Record):
    """How many draws of a statistic fell between ``edges``, and what was claimed of it: the picture of a law.

    There are ``len(edges) + 1`` counts, the first of draws up to the first edge and the last of draws beyond the last one;
    ``claimed`` is the claimed distribution function at each edge.  Raises ValueError when the lengths do not fit.

    >>> Counts(edges=(-1.0, 1.0), counts=(15, 70, 15), claimed=(0.159, 0.841)).to_json()["counts"]
    [15, 70, 15]
    >>> Counts(edges=(-1.0, 1.0), counts=(15, 85), claimed=(0.159, 0.841))
    Traceback (most recent call last):
        ...
    ValueError: a law with 2 edges has as many claimed values and one count more, got 2 and 2
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


@dataclass(frozen=True, slots=True)
class Point(Record):
    """All that was measured at one set of sizes; a route that was not taken is None.

    ``counts`` are kept where a law is claimed, whose ``estimate`` is a distance: for pictures, nothing is judged by them.

    >>> point = Point({"d": 16}, estimate=Estimate(0.0627, 0.0003, 4096), exact=Enclosure(Decimal("0.0625"), Decimal(0)))
    >>> round((point.estimate.value - float(point.exact)) / point.estimate.stderr, 2)
    0.67
    >>> Point.from_json(point.to_json()) == point
    True
    """

    sizes: Mapping[str, Size]
    estimate: Estimate | None = None
    exact: Enclosure | None = None
    bracket: Bracket | None = None
    counts: Counts | None = field(default=None, metadata=SPARE)
