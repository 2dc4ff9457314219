"""Frozen leaf types that every room exchanges: values, predictions, evidence, judgements, results, reports.

Nothing here imports another part of theoryck or a numerical library, so a record can be read, judged again and rendered
again years later without measuring anything.  ``to_json`` gives plain ``dict``/``list``/``str``/``float`` data that follow the
schema ``theoryck/report/schema-v1.json``; ``from_json`` is its inverse.  Exact values travel as decimal strings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from enum import StrEnum
from statistics import NormalDist
from typing import Any

SCHEMA_VERSION = 1


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

    >>> Estimate(1.0, 0.1, 100).interval(0.95).low
    0.804...
    """

    value: float
    stderr: float
    draws: int
    flags: tuple[str, ...] = ()

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
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Estimate:
        """Inverse of :meth:`to_json`."""
        return cls(_number(data["value"]), _number(data["stderr"]), int(data["draws"]), tuple(data.get("flags", ())))


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
    """A number known to lie between ``low`` and ``high``, each with a standard error (0 where the end is proved)."""

    low: float
    high: float
    low_stderr: float = 0.0
    high_stderr: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "low": _finite(self.low),
            "high": _finite(self.high),
            "low_stderr": _finite(self.low_stderr),
            "high_stderr": _finite(self.high_stderr),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bracket:
        """Inverse of :meth:`to_json`."""
        return cls(*(_number(data[key]) for key in ("low", "high", "low_stderr", "high_stderr")))


@dataclass(frozen=True, slots=True)
class Point:
    """All that was measured at one set of sizes; a route that was not taken is None."""

    sizes: Mapping[str, int]
    estimate: Estimate | None = None
    exact: Enclosure | None = None
    bracket: Bracket | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "sizes": dict(self.sizes),
            "estimate": self.estimate.to_json() if self.estimate else None,
            "exact": self.exact.to_json() if self.exact else None,
            "bracket": self.bracket.to_json() if self.bracket else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Point:
        """Inverse of :meth:`to_json`."""
        return cls(
            {name: int(size) for name, size in data["sizes"].items()},
            Estimate.from_json(data["estimate"]) if data.get("estimate") else None,
            Enclosure.from_json(data["exact"]) if data.get("exact") else None,
            Bracket.from_json(data["bracket"]) if data.get("bracket") else None,
        )


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a statement predicts, as data the judge can read (no code, no quantity).

    ``kind`` decides which fields matter.  IDENTITY: ``value`` (the right-hand side; the points carry the left-hand side).
    BOUND: ``rate`` and, when pointwise, ``constant``.  SCALING: ``exponent`` and optionally ``constant``.  LIMIT: ``value`` and
    optionally ``rate``.  LAW: optional ``rate`` for the distance that the points carry.  ``rivals`` are wrong rates (BOUND, LAW),
    exponents (SCALING) or values (LIMIT, IDENTITY) that the same evidence must exclude.  ``parameters`` give values to the names
    in rates that are not sizes.  ``correction`` declares the relative power of the next term in ``base``.
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

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "kind": self.kind.value,
            "quantity": self.quantity,
            "base": self.base,
            "path": dict(self.path),
            "rate": self.rate,
            "exponent": self.exponent,
            "constant": self.constant,
            "value": self.value.to_json() if self.value else None,
            "rivals": list(self.rivals),
            "parameters": dict(self.parameters),
            "correction": self.correction,
            "amplitude": self.amplitude,
            "tolerance": self.tolerance,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Prediction:
        """Inverse of :meth:`to_json`."""
        fields = dict(data)
        fields["kind"] = Kind(fields["kind"])
        fields["value"] = Enclosure.from_json(fields["value"]) if fields.get("value") else None
        fields["rivals"] = tuple(fields.get("rivals", ()))
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Contract:
    """Error rates declared before anything is drawn: for one instance of one claim.

    ``false_refute_rate`` bounds the chance to refute a true statement, ``false_support_rate`` the chance to support one that is
    wrong by more than ``within`` (an exponent), and ``level`` is that of the intervals shown to people.
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

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "false_refute_rate": self.false_refute_rate,
            "false_support_rate": self.false_support_rate,
            "within": self.within,
            "level": self.level,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Contract:
        """Inverse of :meth:`to_json`."""
        return cls(**{key: float(value) for key, value in data.items()})


@dataclass(frozen=True, slots=True)
class Rival:
    """A wrong prediction and whether the evidence rejected it."""

    rate: str
    rejected: bool

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {"rate": self.rate, "rejected": self.rejected}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rival:
        """Inverse of :meth:`to_json`."""
        return cls(data["rate"], bool(data["rejected"]))


@dataclass(frozen=True, slots=True)
class Route:
    """What one way of measuring says on its own: ``name`` is "exact", "montecarlo" or "bracket"."""

    name: str
    verdict: Verdict
    exponent: Interval | None = None
    rigorous: bool = False
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "name": self.name,
            "verdict": self.verdict.value,
            "exponent": self.exponent.to_json() if self.exponent else None,
            "rigorous": self.rigorous,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Route:
        """Inverse of :meth:`to_json`."""
        exponent = Interval.from_json(data["exponent"]) if data.get("exponent") else None
        return cls(data["name"], Verdict(data["verdict"]), exponent, bool(data["rigorous"]), data.get("reason", ""))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason and everything a reader needs to weigh it; what :func:`theoryck.judge.judge` returns.

    ``settled`` is False while a larger budget could still change or sharpen the verdict.
    """

    verdict: Verdict
    reason: str
    tightness: Tightness | None = None
    exponent: Interval | None = None
    claimed_exponent: float | None = None
    slack: Interval | None = None
    constant: Interval | None = None
    window: tuple[int, int] | None = None
    routes: tuple[Route, ...] = ()
    rivals: tuple[Rival, ...] = ()
    assuming: str = ""
    flags: tuple[str, ...] = ()
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """One judged instance of one claim, with its evidence: enough to render and to judge it again."""

    claim: str
    status: Status
    instance: Mapping[str, Any]
    judgement: Judgement
    prediction: Prediction | None
    points: tuple[Point, ...]
    contract: Contract
    draws: int
    seconds: float
    seed: int
    statement: str = ""
    reference: str = ""
    repeat: str = ""

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
    def ok(self) -> bool:
        """Whether the outcome is the declared one: a falsehood REFUTED, anything else neither REFUTED nor VACUOUS.

        A rival that survives a supported claim is a check that could not fail, hence not well either.
        """
        if self.status is Status.FALSEHOOD:
            return self.verdict is Verdict.REFUTED
        if self.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
            return all(rival.rejected for rival in self.rivals)
        return self.verdict is Verdict.INCONCLUSIVE

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict that follows the published schema."""
        j = self.judgement
        return {
            "claim": self.claim,
            "status": self.status.value,
            "instance": dict(self.instance),
            "verdict": j.verdict.value,
            "reason": j.reason,
            "tightness": j.tightness.value if j.tightness else None,
            "exponent": j.exponent.to_json() if j.exponent else None,
            "claimed_exponent": j.claimed_exponent,
            "slack": j.slack.to_json() if j.slack else None,
            "constant": j.constant.to_json() if j.constant else None,
            "window": list(j.window) if j.window else None,
            "draws": self.draws,
            "seconds": self.seconds,
            "routes": [route.to_json() for route in j.routes],
            "rivals": [rival.to_json() for rival in j.rivals],
            "false_refute_rate": self.contract.false_refute_rate,
            "assuming": j.assuming,
            "flags": list(j.flags),
            "settled": j.settled,
            "ok": self.ok,
            "seed": self.seed,
            "statement": self.statement,
            "reference": self.reference,
            "repeat": self.repeat,
            "contract": self.contract.to_json(),
            "prediction": self.prediction.to_json() if self.prediction else None,
            "points": [point.to_json() for point in self.points],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Inverse of :meth:`to_json`."""

        def interval(key: str) -> Interval | None:
            return Interval.from_json(data[key]) if data.get(key) else None

        judgement = Judgement(
            verdict=Verdict(data["verdict"]),
            reason=data["reason"],
            tightness=Tightness(data["tightness"]) if data.get("tightness") else None,
            exponent=interval("exponent"),
            claimed_exponent=data.get("claimed_exponent"),
            slack=interval("slack"),
            constant=interval("constant"),
            window=(int(data["window"][0]), int(data["window"][1])) if data.get("window") else None,
            routes=tuple(Route.from_json(route) for route in data["routes"]),
            rivals=tuple(Rival.from_json(rival) for rival in data["rivals"]),
            assuming=data.get("assuming", ""),
            flags=tuple(data.get("flags", ())),
            settled=bool(data.get("settled", True)),
        )
        return cls(
            claim=data["claim"],
            status=Status(data["status"]),
            instance=dict(data["instance"]),
            judgement=judgement,
            prediction=Prediction.from_json(data["prediction"]) if data.get("prediction") else None,
            points=tuple(Point.from_json(point) for point in data.get("points", ())),
            contract=Contract.from_json(data["contract"]),
            draws=int(data["draws"]),
            seconds=float(data["seconds"]),
            seed=int(data["seed"]),
            statement=data.get("statement", ""),
            reference=data.get("reference", ""),
            repeat=data.get("repeat", ""),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one session found: what ``--json`` writes and every renderer reads."""

    profile: str
    seed: int
    results: tuple[Result, ...]
    version: str = ""
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 all well, 1 a statement fell (or a falsehood stood), 3 undecided under thorough."""
        if any(not result.ok for result in self.results):
            return 1
        undecided = any(result.verdict is Verdict.INCONCLUSIVE for result in self.results)
        return 3 if undecided and self.profile == "thorough" else 0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict that follows the published schema."""
        counts = {verdict.value: 0 for verdict in Verdict}
        for result in self.results:
            counts[result.verdict.value] += 1
        return {
            "theoryck": self.version,
            "schema": SCHEMA_VERSION,
            "profile": self.profile,
            "seed": self.seed,
            "results": [result.to_json() for result in self.results],
            "summary": {
                "claims": len({result.claim for result in self.results}),
                "instances": len(self.results),
                "verdicts": counts,
                "failed": sum(not result.ok for result in self.results),
                "interrupted": self.interrupted,
                "exit_code": self.exit_code,
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Inverse of :meth:`to_json`; another schema version raises ValueError."""
        if data.get("schema") != SCHEMA_VERSION:
            raise ValueError(
                f"schema must be {SCHEMA_VERSION}, got {data.get('schema')!r}: this file was written by another version of theoryck"
            )
        return cls(
            profile=data["profile"],
            seed=int(data["seed"]),
            results=tuple(Result.from_json(result) for result in data["results"]),
            version=data.get("theoryck", ""),
            interrupted=bool(data.get("summary", {}).get("interrupted", False)),
        )
