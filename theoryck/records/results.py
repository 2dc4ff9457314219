"""Predictions, contracts, judgements and results: what is claimed of one instance, what was decided, and on which evidence.

Curves: what the judge fitted along a path, evaluated where a picture needs it.  Scopes: the sizes beyond those measured for which a
bound is proved.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from theoryck._renderers import show
from theoryck.records.plain import SPARE, Record, read_fields, written
from theoryck.records.values import Enclosure, Interval, Kind, Point, Size, Status, Tightness, Toward, Verdict


@dataclass(frozen=True, slots=True)
class Curve(Record):
    """A curve fitted along ``base``, with its band at the level of the contract.

    Of growth (``sign`` 1 or -1) it is ``sign * rate * exp(centre)`` in the band ``exp(centre +- spread)``, where ``log_rates`` are
    the logarithms of the claimed rate (0 where none is claimed).  Of a limit (``sign`` 0) it is what is left of the claimed value,
    ``centre +- spread``, which ends in ``limit`` and supports the claim within ``tolerance``.

    ``sizes`` (and ``log_rates``) are those measured, in ascending order.  ``centre`` and ``spread`` are given at ``nodes``, the
    sizes measured and others between them, such that straight lines in log(size) are the curve to what a picture resolves (in the
    size itself where it is ``linear``, as for geometric rates, whose sizes may be 0); they are empty where nothing could be fitted,
    with the ``reason`` in words.  ``fixed`` are the other sizes on a line of a grid.
    ``residuals`` are (value - curve)/error by route, one for each value with an error bar, in ascending order of sizes.
    ``rivals`` are, by the text of the rival, the logarithms of its rate over the claimed one at ``sizes``, 0 nearest to the limit
    (``toward``); of a limit its value minus the claimed one, one number.  ``trusted`` is False where a few draws made the error
    bars, so that the band means nothing.  Raises ValueError where lengths do not fit, and for a
    size that has no logarithm.

    >>> logs = (math.log(2.0), math.log(2.0))
    >>> curve = Curve("montecarlo", "d", (16, 64), 1, (16.0, 64.0), logs, (0.0, 0.0), log_rates=(0.0, -math.log(4.0)))
    >>> curve.value(16), round(curve.value(32), 12), curve.band(64)
    (2.0, 1.0, (0.5, 0.5))
    >>> Curve.from_json(curve.to_json()) == curve
    True
    """

    route: str
    base: str
    sizes: tuple[Size, ...]
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
    fixed: Mapping[str, Size] = field(default_factory=dict, metadata=SPARE)
    flags: tuple[str, ...] = field(default=(), metadata=SPARE)
    reason: str = field(default="", metadata=SPARE)
    trusted: bool = field(default=True, metadata=SPARE)
    toward: Toward = field(default=Toward.INFINITY, metadata=SPARE)
    linear: bool = field(default=False, metadata=SPARE)

    def __post_init__(self) -> None:
        if not (len(self.nodes) == len(self.centre) == len(self.spread)):
            lengths = f"{len(self.nodes)}, {len(self.centre)} and {len(self.spread)}"
            raise ValueError(f"nodes, centre and spread of a curve must have the same length, got {lengths}")
        if self.log_rates and len(self.log_rates) != len(self.sizes):
            raise ValueError(f"a curve has a rate for each of its {len(self.sizes)} sizes, got {len(self.log_rates)}")
        least = min((*self.sizes, *self.nodes), default=1)
        if not (self.linear or least > 0):
            raise ValueError(f"a curve that is not linear in its sizes has positive ones, got {least}")

    def log_rate(self, size: float) -> float:
        """Return the logarithm of the claimed rate, interpolated between the sizes measured."""
        return self._between(size, self.sizes, self.log_rates) if self.log_rates else 0.0

    def heights(self, size: float) -> tuple[float, float, float]:
        """Return centre, lower and upper end as they are kept: logarithms of value/rate for growth, differences for a limit.

        Raises ValueError where nothing was fitted.
        """
        if not self.centre:
            raise ValueError(f"no curve was fitted along {self.base}: {self.reason}")
        centre, spread = (self._between(size, self.nodes, column) for column in (self.centre, self.spread))
        return centre, centre - spread, centre + spread

    def value(self, size: float) -> float:
        """Return the fitted value at ``size`` (of a limit: minus the one claimed); ValueError where nothing was fitted."""
        return self._values(size)[0]

    def band(self, size: float) -> tuple[float, float]:
        """Return the lower and the upper end of the band at ``size``; ValueError where nothing was fitted."""
        _, low, high = self._values(size)
        return low, high

    def log_rival(self, rival: str, size: float) -> float:
        """Return the logarithm of a rival's rate over the claimed one, interpolated between the sizes measured."""
        return self._between(size, self.sizes, self.rivals[rival])

    def _between(self, size: float, sizes: Sequence[float], column: Sequence[float]) -> float:
        return interpolated(size, sizes, column, linear=self.linear)

    def _values(self, size: float) -> tuple[float, float, float]:
        centre, low, high = self.heights(size)
        if self.sign == 0:
            return centre, low, high
        rate = self.log_rate(size)
        centre, low, high = (self.sign * _exp(height + rate) for height in (centre, low, high))
        return centre, min(low, high), max(low, high)


def interpolated(size: float, sizes: Sequence[float], column: Sequence[float], *, linear: bool = False) -> float:
    """Return the entry of ``column`` at ``size``, linear in the logarithm of ascending ``sizes`` and constant beyond their ends.

    With ``linear`` it is linear in the sizes themselves.

    >>> interpolated(4, (2, 8), (0.0, 1.0)), interpolated(9, (2, 8), (0.0, 1.0))
    (0.5, 1.0)
    """
    after = bisect_right(sizes, size)
    if after == 0 or after == len(sizes):
        return column[0 if after == 0 else -1]
    low, high = sizes[after - 1], sizes[after]
    share = (size - low) / (high - low) if linear else math.log(size / low) / math.log(high / low)
    return column[after - 1] + share * (column[after] - column[after - 1])


def _exp(log: float) -> float:
    return math.exp(log) if log < 709.0 else math.inf


@dataclass(frozen=True, slots=True)
class Prediction(Record):
    """What a statement predicts, as data the judge can read (no code, no quantity).

    ``kind`` decides which fields matter.  IDENTITY: ``value`` (the right-hand side; the points carry the left-hand side).
    BOUND: ``rate`` and, when pointwise, ``constant``.  SCALING: ``exponent`` and optionally ``constant``.  LIMIT: ``value`` and
    optionally ``rate``.  LAW: optional ``rate`` for the distance that the points carry.  ``rivals`` are wrong rates (BOUND,
    LAW), exponents (SCALING) or values (LIMIT, IDENTITY) that the same evidence must exclude.  ``parameters`` give values to
    the names in rates that are not sizes.  ``correction`` declares the relative power w of the next term in ``base``,
    ``amplitude`` its relative size at the smallest size (without it ``2 * size**-w``).  ``toward`` says where the base goes: toward
    0 the largest size counts as the smallest, the coarsest.  ``statistic`` is what the quantity is of the law of a
    draw, such as "median".


    >>> claimed = Prediction(Kind.BOUND, "norm_deviation(tanh(x), depth=1, power=2)", base="d", path={"d": "16, 32"}, rate="1/d")
    >>> claimed.rate, claimed.constant, Prediction.from_json(claimed.to_json()) == claimed
    ('1/d', None, True)
    """

    kind: Kind
    quantity: str
    base: str | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    rate: str | None = None
    exponent: float | None = None
    constant: float | None = None
    value: Enclosure | None = None
    rivals: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    correction: float | None = None
    amplitude: float | None = None
    tolerance: str | None = None
    toward: Toward = field(default=Toward.INFINITY, metadata=SPARE)
    statistic: str = field(default="mean", metadata=SPARE)

    @property
    def rate_text(self) -> str | None:
        """The claimed rate as it is written; where an exponent is claimed instead the base to that power.

        >>> Prediction(Kind.SCALING, "q", base="d", exponent=-2 / 3).rate_text
        'd**(-2/3)'
        """
        if self.rate is not None or self.exponent is None:
            return self.rate
        near = Fraction(self.exponent).limit_denominator(1000)  # the exponent is the float of a quotient that was written
        return f"{self.base}**({near if float(near) == self.exponent else Fraction(str(self.exponent))})"


@dataclass(frozen=True, slots=True)
class Contract(Record):
    """Error rates declared before anything is drawn: for one instance of one claim.

    ``false_refute_rate`` bounds the chance to refute a true statement, ``false_support_rate`` the chance to support one that is
    wrong by more than ``within`` (an exponent), and ``level`` is that of the intervals shown to people.  When evidence is
    judged more than once, each look has its own contract with its share of the rates.

    >>> contract = Contract(false_refute_rate=1e-4, within=0.05)
    >>> contract.to_json()
    {'false_refute_rate': 0.0001, 'false_support_rate': 0.025, 'within': 0.05, 'level': 0.95}
    >>> Contract.from_json(contract.to_json()) == contract
    True
    >>> Contract(within=-0.1)
    Traceback (most recent call last):
        ...
    ValueError: within must be a positive exponent, got -0.1
    """

    false_refute_rate: float = 1e-3
    false_support_rate: float = 0.025
    within: float = 0.1
    level: float = 0.95

    def __post_init__(self) -> None:
        for name in ("false_refute_rate", "false_support_rate", "level"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
        if not (self.within > 0 and math.isfinite(self.within)):
            raise ValueError(f"within must be a positive exponent, got {self.within!r}")


@dataclass(frozen=True, slots=True)
class Rival(Record):
    """A wrong prediction and whether the evidence rejected it.

    >>> Rival.from_json({"rate": "d**(-3/2)", "rejected": True})
    Rival(rate='d**(-3/2)', rejected=True)
    """

    rate: str
    rejected: bool


@dataclass(frozen=True, slots=True)
class Route(Record):
    """What one way of measuring says on its own: ``name`` is "exact", "montecarlo" or "bracket".

    The verdict of the whole rests on the one that ``decided``.

    >>> route = Route("montecarlo", Verdict.SUPPORTED, Interval(-1.01, -1.05, -0.97, 0.95), reason="its limit is at most 0.15")
    >>> Route.from_json(route.to_json()) == route
    True
    """

    name: str
    verdict: Verdict
    exponent: Interval | None = None
    rigorous: bool = False
    reason: str = ""
    decided: bool = field(default=False, metadata=SPARE)


@dataclass(frozen=True, slots=True)
class Scope(Record):
    """Every ``base`` >= ``start``: the sizes for which a certificate proves ``quantity <= constant * rate``, that of the claim.

    The certificate was found by one program and checked by another that shares no code with it; ``method`` is its own word for
    how.  Where it has two sides the quantity is at least ``least`` times the rate, which is then attained.  ``limit`` is what the
    ratio to the rate tends to, where that is known, and ``largest`` the largest ratio that was measured.

    >>> scope = Scope("d", 1024, Decimal("2.31"), method="localised", limit=1.65, largest=1.72)
    >>> Scope.from_json(scope.to_json()) == scope, scope.to_json()["constant"]
    (True, '2.31')
    """

    base: str
    start: Size
    constant: Decimal
    least: Decimal | None = field(default=None, metadata=SPARE)
    method: str = field(default="", metadata=SPARE)
    limit: float | None = field(default=None, metadata=SPARE)
    largest: float | None = field(default=None, metadata=SPARE)


@dataclass(frozen=True, slots=True)
class Slope(Record):
    """The exponent that an audit sees from one size to the next, ``log(v2/v1) / log(d2/d1)``, with its standard error.

    Of a geometric rate it is one by the size itself, ``log(v2/v1) / (l2 - l1)``.

    >>> import theoryck as tc
    >>> result = tc.audit({"h": [0.4, 0.2, 0.1]}, [0.16, 0.04, 0.01], rate="2", kind="order")
    >>> [(slope.start, slope.end, round(slope.exponent, 6)) for slope in result.slopes]
    [(0.4, 0.2, 2.0), (0.2, 0.1, 2.0)]
    """

    start: Size
    end: Size
    exponent: float
    stderr: float


@dataclass(frozen=True, slots=True)
class Judgement(Record):
    """A verdict with its reason and everything a reader needs to weigh it; what :func:`theoryck.judging.judge` returns.

    ``settled`` is False while a larger budget could still change or sharpen the verdict.  ``exponents`` has one entry per size
    where a grid of several sizes was fitted at once; ``limit`` is the fitted limit of a LIMIT, corrections in its interval.
    ``curves`` are what was fitted: of a LIMIT the approach to it first, then growth, for brackets either end, and of a grid
    every line, the one that decided first; empty where nothing was fitted, and in older files.  ``correction`` is the power w of
    the corrections O(d^-w) for which the intervals allow, ``power_of`` what exponents are powers of, if that is not the base:
    exp(l) for a rate such as 2**(-l).  ``scope`` is that of a certificate: what is CERTIFIED without one is so at the sizes of the
    instance.

    >>> found = Judgement(Verdict.INCONCLUSIVE, "about 40 times the draws would decide", settled=False)
    >>> found.verdict.value, found.slack
    ('INCONCLUSIVE', None)
    """

    verdict: Verdict
    reason: str
    tightness: Tightness | None = None
    exponent: Interval | None = None
    claimed_exponent: float | None = None
    slack: Interval | None = None
    constant: Interval | None = None
    window: tuple[Size, Size] | None = None
    routes: tuple[Route, ...] = ()
    rivals: tuple[Rival, ...] = ()
    assuming: str = ""
    flags: tuple[str, ...] = ()
    settled: bool = True
    exponents: Mapping[str, Interval] = field(default_factory=dict, metadata=SPARE)
    limit: Interval | None = field(default=None, metadata=SPARE)
    curves: tuple[Curve, ...] = field(default=(), metadata=SPARE)
    correction: float | None = field(default=None, metadata=SPARE)
    power_of: str = field(default="", metadata=SPARE)
    scope: Scope | None = field(default=None, metadata=SPARE)


@dataclass(frozen=True, slots=True)
class Result(Record):
    """One judged instance of one claim, with its evidence: enough to render and to judge it again.

    ``contract`` is the one under which the verdict was reached (the deciding look's share), ``false_refute_rate`` what was
    declared for the instance as a whole.  ``seconds`` are those that all processes together worked for it.  ``given`` says that an
    audit read the values: nothing was drawn; ``slopes`` are then those from each size to the next, where the sizes lie on one path.

    >>> import theoryck as tc
    >>> sizes = [16, 32, 64, 128, 256]
    >>> result = tc.audit({"d": sizes}, [2 / d for d in sizes], [0.01 / d for d in sizes], rate="1/sqrt(d)", rivals=["d**(-2)"])
    >>> result.verdict.value, result.tightness.value, result.ok, result.scope  # no certificate: on these sizes
    ('SUPPORTED', 'LOOSE', True, None)
    >>> round(result.exponent.estimate, 2), round(result.slack.estimate, 2), result.rivals[0].rejected
    (-1.0, 0.5, True)
    >>> print(result.reason)
    on d = 16..256: relative to the rate d**(-1/2) it grows like d^(-0.500 +/- 0.081); its upper limit at error rate
    0.025, -0.411, is at most the tolerated 0.05
    >>> round(result.constant.estimate, 3)  # at the largest size: 2/256 over 1/16
    0.125
    >>> round(result.curve.value(256) * 256, 3)  # the fitted curve there
    2.0
    >>> Result.from_json(result.to_json()) == result
    True
    """

    claim: str
    status: Status
    instance: Mapping[str, Any]
    judgement: Judgement
    prediction: Prediction | None
    points: tuple[Point, ...]
    contract: Contract
    false_refute_rate: float
    draws: int
    seconds: float
    seed: int
    statement: str = ""
    reference: str = ""
    repeat: str = ""
    given: bool = field(default=False, metadata=SPARE)
    slopes: tuple[Slope, ...] = field(default=(), metadata=SPARE)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the judgement."""
        return self.judgement.verdict

    @property
    def tightness(self) -> Tightness | None:
        """The tightness of the judgement."""
        return self.judgement.tightness

    @property
    def exponent(self) -> Interval | None:
        """The measured exponent."""
        return self.judgement.exponent

    @property
    def slack(self) -> Interval | None:
        """Claimed exponent minus measured one."""
        return self.judgement.slack

    @property
    def constant(self) -> Interval | None:
        """The measured prefactor of the rate."""
        return self.judgement.constant

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return self.judgement.reason

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """The rivals and whether they were rejected."""
        return self.judgement.rivals

    @property
    def scope(self) -> Scope | None:
        """The sizes beyond those measured for which the claim is proved, or None."""
        return self.judgement.scope

    @property
    def curve(self) -> Curve | None:
        """The first of the curves that were fitted, or None."""
        return self.judgement.curves[0] if self.judgement.curves else None

    @property
    def decided(self) -> bool:
        """Whether the evidence decided, either way: SUPPORTED, CERTIFIED or REFUTED, not INCONCLUSIVE and not VACUOUS.

        >>> import theoryck as tc
        >>> few = tc.audit({"d": [16, 32, 64]}, [0.25, 0.18, 0.125], [0.01] * 3, rate="d**(-1/2)")
        >>> few.verdict.value, few.ok, few.decided
        ('INCONCLUSIVE', True, False)
        """
        return self.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.REFUTED)

    @property
    def ok(self) -> bool:
        """Whether the outcome is the declared one: a falsehood REFUTED, anything else neither REFUTED nor VACUOUS.

        What is undecided is well, too: a check that must not pass then asks for :attr:`decided` besides.  A rival that holds
        beside a supported claim is a check that could not fail, hence not well; nor is a falsehood rightly refuted because two
        routes disagree.
        """
        if self.status is Status.FALSEHOOD:
            return self.verdict is Verdict.REFUTED and "routes-disagree" not in self.judgement.flags
        if self.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
            return all(rival.rejected for rival in self.rivals)
        return self.verdict is Verdict.INCONCLUSIVE

    def __str__(self) -> str:
        return show("text", self)

    def _repr_html_(self) -> str:
        return show("html", self)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict that follows the published schema; the judgement is not apart in it."""
        own = written(self)
        judgement = own.pop("judgement")
        return {name: own[name] for name in ("claim", "status", "instance")} | judgement | {"ok": self.ok} | own

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Inverse of :meth:`to_json`."""
        return read_fields(cls, {**data, "judgement": data})
