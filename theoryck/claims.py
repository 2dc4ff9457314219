"""Statements as data, and the claims that produce them.

A statement says what is measured, along which sizes and what is predicted: :class:`Identity`, :class:`Bound`, :class:`Scaling`,
:class:`Limit`, :class:`Law`.  A claim is a function that returns a statement, registered by :func:`theorem`,
:func:`conjecture` or :func:`falsehood` and generalised by :func:`for_all`.  Nothing is measured here.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from theoryck.models import Activation, DeepNetwork
from theoryck.quantities import Quantity
from theoryck.rates import Rate, ScalingPath
from theoryck.records import Enclosure, Kind, Prediction, Status


class ClaimError(ValueError):
    """A claim that cannot be turned into a statement; the message names the claim and the argument."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a statement comes from.

    >>> print(Reference("Camilli, Tieplova, Bergamin, Barbier", 2025, "Information-theoretic reduction of deep neural networks"))
    Camilli, Tieplova, Bergamin, Barbier (2025), Information-theoretic reduction of deep neural networks
    """

    authors: str
    year: int
    title: str
    arxiv: str | None = None
    note: str = ""

    def __str__(self) -> str:
        text = f"{self.authors} ({self.year}), {self.title}"
        if self.arxiv:
            text += f", arXiv:{self.arxiv}"
        return f"{text}, {self.note}" if self.note else text


Number = int | float | Fraction | Decimal


def _quantity(value: Any, argument: str) -> Quantity:
    if not isinstance(value, Quantity):
        raise ClaimError(
            f"{argument} must be a quantity (such as theoryck.norm_deviation(network, power=2) or a function decorated with "
            f"@theoryck.quantity), got {value!r}"
        )
    return value


def _path(value: Any) -> ScalingPath:
    if not isinstance(value, ScalingPath):
        raise ClaimError(f"along must be a theoryck.ScalingPath, got {value!r}")
    return value


def _optional_positive(value: float | None, argument: str) -> None:
    if value is not None and not value > 0:
        raise ClaimError(f"{argument} must be positive, got {value!r}")


def _text(value: Any) -> str:
    return str(value)


@dataclass(frozen=True)
class Statement:
    """What every statement offers: the quantity, the path and :meth:`prediction`."""

    kind: ClassVar[Kind]

    def measured(self) -> Quantity:
        """Return the quantity that is to be measured."""
        raise NotImplementedError

    def sizes(self) -> tuple[dict[str, int], ...]:
        """Return the sizes at which it is measured, one mapping a point."""
        along = getattr(self, "along", None)
        return along.points if along is not None else ({},)

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data; names in rates are sizes of the path or ``parameters``, else RateError."""
        raise NotImplementedError

    def _common(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        along = getattr(self, "along", None)
        return {
            "kind": self.kind,
            "quantity": self.measured().name,
            "base": along.base if along is not None else None,
            "path": along.describe() if along is not None else {},
            "parameters": {name: _text(value) for name, value in numeric(parameters).items()},
            "correction": getattr(self, "correction", None),
            "amplitude": getattr(self, "amplitude", None),
        }


def numeric(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters that are rational numbers: the ones that may appear in a rate."""
    return {
        name: value
        for name, value in parameters.items()
        if isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    }


def _check_rate(rate: Any, along: ScalingPath, parameters: Mapping[str, Any]) -> str:
    """Parse the rate with the instance's parameters: every other name must be a size of the path."""
    text = str(rate)
    parsed = Rate.parse(text, **numeric(parameters))
    parsed.exponent(along)
    return text


@dataclass(frozen=True)
class Bound(Statement):
    """``quantity <= C * rate`` along a path: about growth when ``constant`` is None, pointwise when it is given.

    Without a path, ``Bound(quantity, at_most=other)`` compares two numbers.  ``rivals`` are faster rates that the same
    evidence must refute.  ``correction`` declares the relative power of the next term (1 for a factor 1 + O(1/d)),
    ``amplitude`` its scale at the smallest size; ``within`` replaces the profile's tolerated discrepancy of the exponent.
    """

    kind: ClassVar[Kind] = Kind.BOUND
    quantity: Quantity
    rate: Any = None
    along: ScalingPath | None = None
    constant: Number | None = None
    at_most: Any = None
    rivals: Sequence[Any] = ()
    correction: float | None = None
    amplitude: float | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        _quantity(self.quantity, "quantity")
        if (self.at_most is None) == (self.rate is None):
            raise ClaimError(
                "a Bound needs either a rate along a path or at_most, the number it is compared with; give one of them"
            )
        if self.rate is not None:
            _path(self.along)
        elif self.along is not None:
            raise ClaimError("at_most compares two numbers at one instance: leave out along, or give a rate instead")
        for name in ("correction", "amplitude", "within"):
            _optional_positive(getattr(self, name), name)

    def measured(self) -> Quantity:
        """Return the quantity, or the difference of the two sides when they are numbers."""
        return self.quantity if self.at_most is None else self.quantity - self.at_most

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        common = self._common(parameters)
        if self.rate is None:
            rivals = tuple(str(rival) for rival in self.rivals)
            return Prediction(rate="1", constant=0.0, rivals=rivals, **common)
        assert self.along is not None
        return Prediction(
            rate=_check_rate(self.rate, self.along, parameters),
            constant=None if self.constant is None else float(self.constant),
            rivals=tuple(_check_rate(rival, self.along, parameters) for rival in self.rivals),
            **common,
        )


@dataclass(frozen=True)
class Scaling(Statement):
    """``quantity ~ constant * base**exponent`` along a path, from both sides; ``exponent`` may use the instance's parameters."""

    kind: ClassVar[Kind] = Kind.SCALING
    quantity: Quantity
    along: ScalingPath
    exponent: Any
    constant: Any = None
    tolerance: Number | str | None = None
    rivals: Sequence[Any] = ()
    correction: float | None = None
    amplitude: float | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        _quantity(self.quantity, "quantity")
        _path(self.along)
        for name in ("correction", "amplitude", "within"):
            _optional_positive(getattr(self, name), name)

    def measured(self) -> Quantity:
        """Return the quantity."""
        return self.quantity

    def _exponent(self, value: Any, parameters: Mapping[str, Any]) -> float:
        rate = Rate.parse(f"{self.along.base}**({value})", **numeric(parameters))
        return float(rate.exponent(self.along))

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            exponent=self._exponent(self.exponent, parameters),
            constant=None if self.constant is None else float(_value(self.constant, "constant", digits)),
            rivals=tuple(str(self._exponent(rival, parameters)) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Limit(Statement):
    """``quantity -> value`` along a path, at the given ``rate`` if there is one; ``tolerance`` is absolute."""

    kind: ClassVar[Kind] = Kind.LIMIT
    quantity: Quantity
    along: ScalingPath
    value: Any
    rate: Any = None
    tolerance: Number | str | None = None
    rivals: Sequence[Any] = ()
    correction: float | None = None
    amplitude: float | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        _quantity(self.quantity, "quantity")
        _path(self.along)
        for name in ("correction", "amplitude", "within"):
            _optional_positive(getattr(self, name), name)

    def measured(self) -> Quantity:
        """Return the quantity."""
        return self.quantity

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            value=_value(self.value, "value", digits),
            rate=None if self.rate is None else _check_rate(self.rate, self.along, parameters),
            rivals=tuple(str(_value(rival, "rivals", digits).midpoint) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Law(Statement):
    """The law of ``statistic`` tends to ``distribution`` in the ``metric``, at the given ``rate`` if there is one.

    ``distribution`` is a frozen continuous distribution of ``scipy.stats`` (or anything with ``cdf`` and ``ppf``).  The metric
    "kolmogorov" is the largest distance of the two distribution functions.
    """

    kind: ClassVar[Kind] = Kind.LAW
    statistic: Quantity
    along: ScalingPath
    distribution: Any
    metric: str = "kolmogorov"
    rate: Any = None
    rivals: Sequence[Any] = ()
    correction: float | None = None
    amplitude: float | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        _quantity(self.statistic, "statistic")
        _path(self.along)
        if self.metric != "kolmogorov":
            raise ClaimError(f"metric must be 'kolmogorov', got {self.metric!r}")
        for method in ("cdf", "ppf"):
            if not callable(getattr(self.distribution, method, None)):
                raise ClaimError(f"distribution needs a method {method}, as scipy.stats.norm() has; got {self.distribution!r}")

    def measured(self) -> Quantity:
        """Return the statistic."""
        return self.statistic

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            rate=None if self.rate is None else _check_rate(self.rate, self.along, parameters),
            rivals=tuple(_check_rate(rival, self.along, parameters) for rival in self.rivals),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Identity(Statement):
    """``lhs = rhs`` at one instance; the right side is an exact quantity or a number, ``rivals`` are values it must exclude."""

    kind: ClassVar[Kind] = Kind.IDENTITY
    lhs: Quantity
    rhs: Any
    tolerance: Number | str | None = None
    rivals: Sequence[Any] = field(default=())

    def __post_init__(self) -> None:
        _quantity(self.lhs, "lhs")

    def measured(self) -> Quantity:
        """Return the left side."""
        return self.lhs

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data; the right side is evaluated to ``digits`` digits."""
        return Prediction(
            value=_value(self.rhs, "rhs", digits),
            rivals=tuple(str(_value(rival, "rivals", digits).midpoint) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


def _value(value: Any, argument: str, digits: int) -> Enclosure:
    """Turn a number, an enclosure or an exact quantity into an enclosure."""
    if isinstance(value, Enclosure):
        return value
    if isinstance(value, Quantity):
        exact = value.exact({}, digits)
        if not isinstance(exact, Enclosure):
            raise ClaimError(f"{argument} must have an exact value, but {value.name} has none; give a number or an exact quantity")
        return exact
    if isinstance(value, Fraction):
        midpoint = Decimal(value.numerator) / Decimal(value.denominator)
        radius = Decimal(0) if Fraction(midpoint) == value else abs(midpoint) * Decimal("1e-27")
        return Enclosure(midpoint, radius)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return Enclosure(Decimal(value), Decimal(0))
    raise ClaimError(f"{argument} must be a number, a records.Enclosure or an exact quantity, got {value!r}")


def describe(value: Any) -> Any:
    """Return a JSON-ready form of an instance's parameter: the text that names it in tables, seeds and files.

    >>> describe(Fraction(1, 2)), describe((1, 2)), describe(Activation("tanh"))
    ('1/2', [1, 2], 'tanh(x)')
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Activation):
        return value.text
    if isinstance(value, Fraction | Decimal | DeepNetwork):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [describe(item) for item in value]
    return getattr(value, "name", None) or repr(value)


def describe_instance(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the instance as JSON-ready data, in the order of the claim's arguments."""
    return {name: describe(value) for name, value in parameters.items()}


@dataclass(frozen=True)
class Claim:
    """A function that returns a statement, with a permanent id, a status and a reference.

    Attributes: ``id``, ``status``, ``reference`` (or None), ``function``, ``strategies`` (name -> hypothesis strategy),
    ``examples`` (explicit instances, always tested), and what ``inspect`` knows: ``statement``, ``doc``, ``module``, ``path``, ``line``.
    """

    __theoryck_claim__: ClassVar[bool] = True
    __test__: ClassVar[bool] = False

    id: str
    status: Status
    function: Callable[..., Statement]
    reference: Reference | None = None
    strategies: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()

    def __call__(self, **parameters: Any) -> Statement:
        """Return the statement at one instance."""
        return self.build(parameters)

    @property
    def doc(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def statement(self) -> str:
        """The statement in one line: the first line of the docstring."""
        return self.doc.splitlines()[0] if self.doc else ""

    @property
    def module(self) -> str:
        """The module that makes the claim."""
        return self.function.__module__

    @property
    def path(self) -> str:
        """The file that makes the claim."""
        return inspect.getsourcefile(self.function) or "<unknown>"

    @property
    def line(self) -> int:
        """The line where the function starts."""
        return self.function.__code__.co_firstlineno

    @property
    def setting(self) -> str:
        """The docstring of the module: the setting in which the statement holds."""
        return inspect.getdoc(inspect.getmodule(self.function)) or ""

    def build(self, parameters: Mapping[str, Any]) -> Statement:
        """Return the statement at one instance, with its prediction checked; errors name the claim."""
        statement = self.function(**parameters)
        if not isinstance(statement, Statement):
            raise ClaimError(
                f"claim {self.id!r} must return a statement (Identity, Bound, Scaling, Limit or Law), got {statement!r}"
                + (": is a return missing?" if statement is None else "")
            )
        return statement

    def instances(self, number: int, seed: int = 0) -> list[tuple[dict[str, Any], Statement]]:
        """Return at most ``number`` generated instances (and every explicit example), each with its statement.

        Hypothesis picks the structure from ``seed`` alone; an instance that does not meet the claim's assumptions
        (``hypothesis.assume``) is left out, so the list may be empty.
        """
        found: dict[str, tuple[dict[str, Any], Statement]] = {}
        for example in self.examples:
            found[_canonical(example)] = (dict(example), self.build(example))
        if self.strategies:
            wanted = len(found) + number
            for parameters, statement in _generate(self, wanted, seed):
                if len(found) < wanted:
                    found.setdefault(_canonical(parameters), (parameters, statement))
        elif not self.examples:
            found["{}"] = ({}, self.build({}))
        return list(found.values())


def _canonical(parameters: Mapping[str, Any]) -> str:
    return json.dumps(describe_instance(parameters), sort_keys=True)


def _generate(claim: Claim, wanted: int, seed: int) -> list[tuple[dict[str, Any], Statement]]:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as fixed
    from hypothesis.errors import Unsatisfiable
    from hypothesis.strategies import fixed_dictionaries

    made: list[tuple[dict[str, Any], Statement]] = []

    # Hypothesis repeats itself and its first examples are its simplest: asking for four times as many
    # leaves enough distinct ones without searching for long.
    @fixed(seed)
    @settings(
        max_examples=4 * wanted,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(fixed_dictionaries(dict(claim.strategies)))
    def collect(parameters: dict[str, Any]) -> None:
        made.append((parameters, claim.build(parameters)))

    try:
        collect()
    except Unsatisfiable:
        return []
    return made


def for_all(**strategies: Any) -> Callable[[Callable[..., Statement]], Callable[..., Statement]]:
    """Generalise a claim over its arguments, each drawn from a hypothesis strategy of the same name.

    >>> from hypothesis.strategies import integers
    >>> @for_all(depth=integers(1, 3))
    ... def statement(depth): ...
    """
    from hypothesis.strategies import SearchStrategy

    for name, strategy in strategies.items():
        if not isinstance(strategy, SearchStrategy):
            raise ClaimError(f"for_all: {name} must be a hypothesis strategy such as integers(1, 4), got {strategy!r}")

    def decorate(function: Callable[..., Statement]) -> Callable[..., Statement]:
        _check_arguments(function, strategies, "for_all")
        function.__theoryck_strategies__ = dict(strategies)  # type: ignore[attr-defined]
        return function

    return decorate


def example(**parameters: Any) -> Callable[[Callable[..., Statement]], Callable[..., Statement]]:
    """Add one explicit instance that is always tested, as ``hypothesis.example`` does."""

    def decorate(function: Callable[..., Statement]) -> Callable[..., Statement]:
        _check_arguments(function, parameters, "example")
        known = getattr(function, "__theoryck_examples__", ())
        function.__theoryck_examples__ = ({**parameters}, *known)  # type: ignore[attr-defined]
        return function

    return decorate


def _check_arguments(function: Callable[..., Any], given: Mapping[str, Any], decorator: str) -> None:
    wanted = set(inspect.signature(function).parameters)
    if wanted != set(given):
        missing, extra = sorted(wanted - set(given)), sorted(set(given) - wanted)
        parts = [f"nothing is given for {', '.join(missing)}"] * bool(missing)
        parts += [f"{', '.join(extra)} is not an argument of {function.__name__}"] * bool(extra)
        raise ClaimError(f"{decorator} on {function.__name__}{inspect.signature(function)}: {'; '.join(parts)}")


def _claim(status: Status, identifier: str, reference: Reference | None) -> Callable[[Callable[..., Statement]], Claim]:
    if not isinstance(identifier, str) or not identifier or any(c.isspace() for c in identifier):
        raise ClaimError(f"id must be a text without spaces such as 'camilli2025/moment-control', got {identifier!r}")
    if reference is not None and not isinstance(reference, Reference):
        raise ClaimError(f"reference of {identifier!r} must be a theoryck.Reference, got {reference!r}")

    def decorate(function: Callable[..., Statement]) -> Claim:
        strategies = getattr(function, "__theoryck_strategies__", {})
        examples = getattr(function, "__theoryck_examples__", ())
        if not strategies and not examples:
            _check_arguments(function, {}, f"claim {identifier!r}")
        return Claim(identifier, status, function, reference, strategies, examples)

    return decorate


def theorem(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a proved statement under a permanent ``id``; it must not come out REFUTED.

    >>> from theoryck.quantities import sigma
    >>> from theoryck.models import Activation
    >>> @theorem("example/sigma-identity")
    ... def linear():
    ...     "sigma_1 = 1 for phi(x) = x"
    ...     return Identity(sigma(Activation("x"), 1), 1)
    >>> linear.id, linear.statement
    ('example/sigma-identity', 'sigma_1 = 1 for phi(x) = x')
    """
    return _claim(Status.THEOREM, id, reference)


def conjecture(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a believed statement under a permanent ``id``; see :func:`theorem`."""
    return _claim(Status.CONJECTURE, id, reference)


def falsehood(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a statement known to be false: every instance must come out REFUTED, strictly; see :func:`theorem`."""
    return _claim(Status.FALSEHOOD, id, reference)
