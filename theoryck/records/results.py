"""Predictions, contracts, judgements, results and reports: what is claimed, what was decided, and all that goes into a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from theoryck.records import display
from theoryck.records.values import Enclosure, Interval, Kind, Point, Status, Tightness, Verdict

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a statement predicts, as data the judge can read (no code, no quantity).

    ``kind`` decides which fields matter.  IDENTITY: ``value`` (the right-hand side; the points carry the left-hand side).
    BOUND: ``rate`` and, when pointwise, ``constant``.  SCALING: ``exponent`` and optionally ``constant``.  LIMIT: ``value`` and
    optionally ``rate``.  LAW: optional ``rate`` for the distance that the points carry.  ``rivals`` are wrong rates (BOUND,
    LAW),
    exponents (SCALING) or values (LIMIT, IDENTITY) that the same evidence must exclude.  ``parameters`` give values to the
    names
    in rates that are not sizes.  ``correction`` declares the relative power w of the next term in ``base``, ``amplitude`` its
    relative size at the smallest size (without it ``2 * size**-w``).

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
        return cls(**{key: float(data[key]) for key in ("false_refute_rate", "false_support_rate", "within", "level")})


@dataclass(frozen=True, slots=True)
class Rival:
    """A wrong prediction and whether the evidence rejected it.

    >>> Rival.from_json({"rate": "d**(-3/2)", "rejected": True})
    Rival(rate='d**(-3/2)', rejected=True)
    """

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
    """What one way of measuring says on its own: ``name`` is "exact", "montecarlo" or "bracket".

    >>> route = Route("montecarlo", Verdict.SUPPORTED, Interval(-1.01, -1.05, -0.97, 0.95), reason="the limit is 0.03, within 0.15")
    >>> Route.from_json(route.to_json()) == route
    True
    """

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

    ``settled`` is False while a larger budget could still change or sharpen the verdict.  ``exponents`` has one entry per size
    where a grid of several sizes was fitted at once.

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
    window: tuple[int, int] | None = None
    routes: tuple[Route, ...] = ()
    rivals: tuple[Rival, ...] = ()
    assuming: str = ""
    flags: tuple[str, ...] = ()
    settled: bool = True
    exponents: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """One judged instance of one claim, with its evidence: enough to render and to judge it again.

    ``contract`` is the one under which the verdict was reached (the deciding look's share), ``false_refute_rate`` what was
    declared for the instance as a whole.

    >>> import theoryck as tc
    >>> sizes = [16, 32, 64, 128, 256]
    >>> result = tc.audit({"d": sizes}, [2 / d for d in sizes], [0.01 / d for d in sizes], rate="1/sqrt(d)", rivals=["d**(-2)"])
    >>> result.verdict.value, result.tightness.value, result.ok
    ('SUPPORTED', 'LOOSE', True)
    >>> round(result.exponent.estimate, 2), round(result.slack.estimate, 2), result.rivals[0].rejected
    (-1.0, 0.5, True)
    >>> print(result.reason)
    on d = 16..256: relative to the rate d**(-1/2) it grows like d^(-0.500 +/- 0.072); the limit at error rate 0.025 is
    -0.419, within 0.05
    >>> round(result.constant.estimate, 3)  # at the largest size: 2/256 over 1/16
    0.125
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

        A rival that survives a supported claim is a check that could not fail, hence not well either; nor is a falsehood
        rightly refuted because two routes disagree.
        """
        if self.status is Status.FALSEHOOD:
            return self.verdict is Verdict.REFUTED and "routes-disagree" not in self.judgement.flags
        if self.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
            return all(rival.rejected for rival in self.rivals)
        return self.verdict is Verdict.INCONCLUSIVE

    def _repr_html_(self) -> str:
        return display.html(self)

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
            "false_refute_rate": self.false_refute_rate,
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
        } | ({"exponents": {name: interval.to_json() for name, interval in j.exponents.items()}} if j.exponents else {})

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
            exponents={name: Interval.from_json(found) for name, found in data.get("exponents", {}).items()},
        )
        return cls(
            claim=data["claim"],
            status=Status(data["status"]),
            instance=dict(data["instance"]),
            judgement=judgement,
            prediction=Prediction.from_json(data["prediction"]) if data.get("prediction") else None,
            points=tuple(Point.from_json(point) for point in data.get("points", ())),
            contract=Contract.from_json(data["contract"]),
            false_refute_rate=float(data["false_refute_rate"]),
            draws=int(data["draws"]),
            seconds=float(data["seconds"]),
            seed=int(data["seed"]),
            statement=data.get("statement", ""),
            reference=data.get("reference", ""),
            repeat=data.get("repeat", ""),
        )


@dataclass(frozen=True, slots=True)
class About:
    """What its author wrote about a claim: kept with the results, so that a page about them needs no source.

    ``setting`` is the docstring of the file, ``folder`` the name of the folder whose own docstring is in ``Report.folders``,
    ``details`` what the claim's docstring says after its first line, ``assumptions`` says of each argument where it is drawn from,
    ``place`` is a file and a line, ``citation`` has authors, year, title, arxiv and note as far as they are known.

    >>> about = About("example", setting="x ~ N(0, 1).", assumptions={"k": "integers(1, 8)"})
    >>> About.from_json(about.to_json()) == about
    True
    """

    claim: str
    setting: str = ""
    details: str = ""
    folder: str = ""
    assumptions: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    citation: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "claim": self.claim,
            "setting": self.setting,
            "details": self.details,
            "folder": self.folder,
            "assumptions": dict(self.assumptions),
            "place": self.place,
            "citation": dict(self.citation),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> About:
        """Inverse of :meth:`to_json`."""
        assumptions, citation = ({str(k): str(v) for k, v in data.get(key, {}).items()} for key in ("assumptions", "citation"))
        texts = {key: str(data.get(key, "")) for key in ("setting", "details", "folder", "place")}
        return cls(str(data["claim"]), assumptions=assumptions, citation=citation, **texts)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one session found: what ``--json`` writes and every renderer reads.

    ``results`` has one :class:`Result` an instance, ``profile`` and ``seed`` say how they were drawn, ``interrupted`` whether
    Ctrl-C
    ended the session before its end.  ``about`` has one entry per claim and ``folders`` the docstring of each folder that they
    name;
    older files have neither.  ``theoryck.report.json`` reads and writes files, :meth:`to_json` and :meth:`from_json` make and
    take
    their data.

    >>> import sympy, theoryck as tc
    >>> @tc.theorem("example/sigma-of-erf")
    ... def sigma_of_erf():
    ...     "sigma_1 = (2/pi) asin(2/3) for erf"
    ...     exact = tc.quantities.closed_form(2 * sympy.atan(2 / sympy.sqrt(5)) / sympy.pi)
    ...     return tc.Identity(tc.quantities.sigma("erf", 1), exact, rivals=[0.46])
    >>> report = tc.check_claims(sigma_of_erf)
    >>> report.exit_code, report.about_of("example/sigma-of-erf").details
    (0, '')
    >>> report.results[0].verdict.value, report.results[0].rivals[0].rejected
    ('SUPPORTED', True)
    >>> Report.from_json(report.to_json()) == report
    True
    """

    profile: str
    seed: int
    results: tuple[Result, ...]
    version: str = ""
    interrupted: bool = False
    about: tuple[About, ...] = ()
    folders: Mapping[str, str] = field(default_factory=dict)

    def about_of(self, claim: str) -> About | None:
        """Return what was written about a claim, or None."""
        return next((about for about in self.about if about.claim == claim), None)

    def _repr_html_(self) -> str:
        return display.html(self)

    @property
    def exit_code(self) -> int:
        """0 all well, 1 a statement fell (or a falsehood stood), 3 undecided under thorough, 130 interrupted."""
        if self.interrupted:
            return 130
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
            **({"about": [about.to_json() for about in self.about]} if self.about else {}),
            **({"folders": dict(self.folders)} if self.folders else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Inverse of :meth:`to_json`; anything else raises ValueError.

        >>> Report.from_json({"schema": 0})
        Traceback (most recent call last):
            ...
        ValueError: schema must be 1, got 0: this file was written by another version of theoryck
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a report is a JSON object, got {type(data).__name__}: use theoryck.report.json.read_json for a file")
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
            about=tuple(About.from_json(about) for about in data.get("about", ())),
            folders={str(name): str(text) for name, text in data.get("folders", {}).items()},
        )
