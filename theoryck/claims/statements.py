"""Statements as data: what is measured, along which sizes, and what is predicted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from theoryck.exact.arithmetic import enclose
from theoryck.quantities import Quantity
from theoryck.quantities.base import QuantityError, need_sizes
from theoryck.rates import Rate, ScalingPath
from theoryck.records import Enclosure, Kind, Prediction


class ClaimError(ValueError):
    """A claim that cannot be turned into a statement; the message names the claim and the argument."""


Number = int | float | Fraction | Decimal

LARGEST_SHARE = 10.0  # of a budget: beyond that a claim belongs to a larger profile


def _quantity(value: Any, argument: str) -> Quantity:
    if not isinstance(value, Quantity):
        raise ClaimError(
            f"{argument} must be a quantity (such as theoryck.norm_deviation(network, power=2) or a function decorated with "
            f"@theoryck.quantity), got {value!r}"
        )
    return value


Paths = ScalingPath | Sequence[ScalingPath]


def _check_paths(value: Any, quantity: Quantity) -> None:
    """One path, or a list of different paths; each has the sizes that the quantity needs."""
    if isinstance(value, ScalingPath):
        try:
            need_sizes(quantity.name, quantity.size_names or (), value.points[0])
        except QuantityError as error:
            raise ClaimError(f"along: {error}") from None
        return
    if not isinstance(value, list | tuple):
        raise ClaimError(f"along must be a theoryck.ScalingPath or a list of them, got {value!r}")
    if not value:
        raise ClaimError("along must name at least one theoryck.ScalingPath, got an empty list")
    for index, path in enumerate(value):
        if not isinstance(path, ScalingPath):
            raise ClaimError(f"along must be a list of theoryck.ScalingPath only, got {path!r} at position {index}")
        if path in value[:index]:
            raise ClaimError(
                f"along names the path {path_text(path)} twice, at positions {value.index(path)} and {index}: drop one"
            )
        _check_paths(path, quantity)


def path_text(path: ScalingPath, whole: bool = False) -> str:
    """Return a path on one line, its base last; sequences by their ends unless they are wanted whole.

    >>> path_text(ScalingPath(d=(16, 32, 64), n="2*d"))
    'n = 2*d, d = 16..64'
    """
    texts = path.describe()
    names = [*(name for name in texts if name != path.base), path.base]
    return ", ".join(f"{name} = {texts[name] if whole else _ends(texts[name])}" for name in names)


def path_texts(paths: Sequence[ScalingPath]) -> list[str]:
    """Return a text for each of several paths, all of them different: they name instances, and seeds are made of them."""
    short = [path_text(path) for path in paths]
    return [path_text(path, whole=short.count(text) > 1) for path, text in zip(paths, short, strict=True)]


def _ends(text: str) -> str:
    sizes = text.split(", ")
    return f"{sizes[0]}..{sizes[-1]}" if len(sizes) > 1 and all(size.isdigit() for size in sizes) else text


def _optional_positive(value: Any, argument: str, most: float = math.inf) -> None:
    if value is None:
        return
    good = isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool) and math.isfinite(value)
    if not (good and 0 < value <= most):
        limit = f" of at most {most:g}" if most < math.inf else ""
        raise ClaimError(f"{argument} must be a positive number{limit}, got {value!r}")


def _text(value: Any) -> str:
    return str(value)


@dataclass(frozen=True)
class Statement:
    """What every statement offers: the quantity, the path and :meth:`prediction`; and the options every statement takes.

    ``rivals`` are wrong predictions that the same evidence must exclude.  ``correction`` declares the relative power of the next
    term (1 for a factor ``1 + B/d + ...`` with ``|B| <= 2``), ``amplitude`` its relative size at the smallest size where that is
    another than ``2 * size**-correction``; ``within`` replaces the profile's tolerated discrepancy of the exponent; ``share``
    multiplies the budget, for a claim that needs more than others and says why.
    """

    kind: ClassVar[Kind]
    rivals: Sequence[Any] = field(default=(), kw_only=True)
    correction: float | None = field(default=None, kw_only=True)
    amplitude: float | None = field(default=None, kw_only=True)
    within: float | None = field(default=None, kw_only=True)
    share: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        # A wider tolerance than 1 would not tell a rate from the next integer power.
        for name, most in (("correction", 16.0), ("amplitude", math.inf), ("within", 1.0), ("share", LARGEST_SHARE)):
            _optional_positive(getattr(self, name), name, most)
        if not isinstance(self.rivals, list | tuple):
            raise ClaimError(f"rivals must be a list, got {self.rivals!r}: write for example rivals=[{self.rivals!r}]")

    def measured(self) -> Quantity:
        """Return the quantity that is to be measured."""
        raise NotImplementedError

    def paths(self) -> tuple[ScalingPath, ...]:
        """Return the paths along which it is made; none for a statement about one instance."""
        along = getattr(self, "along", None)
        return () if along is None else (along,) if isinstance(along, ScalingPath) else tuple(along)

    def along_each(self) -> tuple[Statement, ...]:
        """Return one statement a path: a statement along several paths is made along each of them."""
        if not isinstance(getattr(self, "along", None), list | tuple):
            return (self,)
        return tuple(replace(self, along=path) for path in self.paths())  # type: ignore[call-arg]

    def path(self) -> ScalingPath | None:
        """Return the one path along which it is measured, None for a statement about one instance."""
        several = self.paths()
        if len(several) > 1:
            raise ClaimError(f"a statement along {len(several)} paths is measured along one at a time: see along_each()")
        return several[0] if several else None

    def _path(self) -> ScalingPath:
        path = self.path()
        if path is None:
            raise ClaimError("a rate needs a path: give along=theoryck.ScalingPath(...)")
        return path

    def sizes(self) -> tuple[dict[str, int], ...]:
        """Return the sizes at which it is measured, one mapping a point."""
        along = self.path()
        return along.points if along is not None else ({},)

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data; names in rates are sizes of the path or ``parameters``, else RateError."""
        raise NotImplementedError

    def _common(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        along = self.path()
        both = sorted(set(parameters) & set(along.names)) if along is not None else []
        if both:
            raise ClaimError(f"{', '.join(both)} is both a size of the path and an argument of the claim: rename one of them")
        return {
            "kind": self.kind,
            "quantity": self.measured().name,
            "base": along.base if along is not None else None,
            "path": along.describe() if along is not None else {},
            "parameters": {name: _text(value) for name, value in numeric(parameters).items()},
            "correction": self.correction,
            "amplitude": self.amplitude,
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

    ``correction``, ``amplitude``, ``within``, ``share`` are those of :class:`Statement`.  Estimates support a pointwise bound with
    a margin of 5% of it, since draws cannot support an equality.

    Without a path, ``Bound(quantity, at_most=other)`` compares two numbers.  ``rivals`` are faster rates (or smaller numbers) that
    the same evidence must refute.  Along a list of paths it is an instance of the claim on each of them.
    """

    kind: ClassVar[Kind] = Kind.BOUND
    quantity: Quantity
    rate: Any = None
    along: Paths | None = None
    constant: Number | None = None
    at_most: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _quantity(self.quantity, "quantity")
        if (self.at_most is None) == (self.rate is None):
            given = "neither" if self.rate is None else f"rate={self.rate!r} and at_most={self.at_most!r}"
            raise ClaimError(
                f"a Bound needs a rate along a path, or at_most, the number it is compared with; got {given}: give one"
            )
        if self.rate is not None:
            _check_paths(self.along, self.quantity)
        elif self.along is not None:
            raise ClaimError(
                f"at_most compares two numbers at one instance: leave out along={self.along!r}, or give a rate instead"
            )
        elif self.constant is not None:
            raise ClaimError(
                f"constant belongs to a rate: leave constant={self.constant!r} out of a bound with at_most={self.at_most!r}"
            )
        elif not hasattr(self.quantity, "__sub__"):
            raise ClaimError(f"at_most needs an exact quantity such as theoryck.quantities.sigma(phi, 1), got {self.quantity!r}")
        _optional_positive(self.constant, "constant")

    def measured(self) -> Quantity:
        """Return the quantity, or the difference of the two sides when they are numbers."""
        return self.quantity if self.at_most is None else self.quantity - self.at_most

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        common = self._common(parameters)
        if self.rate is None:
            # What is measured is the difference of the two sides, so a smaller number is a rival by what it is smaller.
            limit = _value(self.at_most, "at_most", digits).midpoint
            rivals = tuple(str(_value(rival, "rivals", digits).midpoint - limit) for rival in self.rivals)
            return Prediction(rate="1", constant=0.0, rivals=rivals, **common)
        return Prediction(
            rate=_check_rate(self.rate, self._path(), parameters),
            constant=None if self.constant is None else float(self.constant),
            rivals=tuple(_check_rate(rival, self._path(), parameters) for rival in self.rivals),
            **common,
        )


@dataclass(frozen=True)
class _Along(Statement):
    """A statement about a quantity along a path."""

    quantity: Quantity
    along: Paths

    def __post_init__(self) -> None:
        super().__post_init__()
        _quantity(self.quantity, "quantity")
        _check_paths(self.along, self.quantity)

    def measured(self) -> Quantity:
        """Return the quantity."""
        return self.quantity


@dataclass(frozen=True)
class Scaling(_Along):
    """``quantity ~ constant * base**exponent`` along a path, from both sides; ``exponent`` may use the instance's parameters.

    ``tolerance`` is that of the constant, relative, 0.05 if not given; ``rivals`` are exponents; ``correction``, ``amplitude``,
    ``within``, ``share`` are those of :class:`Statement`.
    """

    kind: ClassVar[Kind] = Kind.SCALING
    exponent: Any
    constant: Any = None
    tolerance: Number | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for argument, value in [("exponent", self.exponent), *(("rivals", rival) for rival in self.rivals)]:
            if isinstance(value, int | float | Decimal) and not math.isfinite(value):
                raise ClaimError(f"{argument} must be a finite number or a text such as '-k/2', got {value!r}")

    def _exponent(self, value: Any, parameters: Mapping[str, Any]) -> float:
        path = self._path()
        rate = Rate.parse(f"{path.base}**({value})", **numeric(parameters))
        return float(rate.exponent(path))

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
class Limit(_Along):
    """``quantity -> value`` along a path, at the given ``rate`` if there is one; ``tolerance`` is absolute.

    Without one it is ``within`` times the value.  ``rivals`` are values; ``correction``, ``amplitude``, ``within``, ``share`` are
    those of :class:`Statement`.
    """

    kind: ClassVar[Kind] = Kind.LIMIT
    value: Any
    rate: Any = None
    tolerance: Number | str | None = None

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            value=_value(self.value, "value", digits),
            rate=None if self.rate is None else _check_rate(self.rate, self._path(), parameters),
            rivals=tuple(str(_value(rival, "rivals", digits).midpoint) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Law(Statement):
    """The law of ``statistic`` tends to ``distribution`` in the ``metric``, at the given ``rate`` if there is one.

    ``distribution`` is a frozen continuous distribution of ``scipy.stats`` (or anything with ``cdf`` and ``ppf``).  The metric
    "cramer-von-mises" is the SQUARED L2 distance ``int (G - F)^2 dF`` of the two distribution functions: it has an unbiased
    estimate, which the largest distance has not.  A law that is reached at rate 1/sqrt(d) has rate="1/d" in it.
    ``rivals`` are faster rates of that square; ``correction``, ``amplitude``, ``within`` and ``share`` are those of
    :class:`Statement`.
    """

    kind: ClassVar[Kind] = Kind.LAW
    statistic: Quantity
    along: Paths
    distribution: Any
    metric: str = "cramer-von-mises"
    rate: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _quantity(self.statistic, "statistic")
        _check_paths(self.along, self.statistic)
        if self.metric != "cramer-von-mises":
            raise ClaimError(f"metric must be 'cramer-von-mises', got {self.metric!r}")
        for method in ("cdf", "ppf"):
            if not callable(getattr(self.distribution, method, None)):
                raise ClaimError(f"distribution needs a method {method}, as scipy.stats.norm() has; got {self.distribution!r}")
        _no_atom(self.distribution)

    def measured(self) -> Quantity:
        """Return the statistic."""
        return self.statistic

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            rate=None if self.rate is None else _check_rate(self.rate, self._path(), parameters),
            rivals=tuple(_check_rate(rival, self._path(), parameters) for rival in self.rivals),
            **self._common(parameters),
        )


def _no_atom(distribution: Any) -> None:
    """Raise ClaimError for a law that gives one number a probability: its draws would pile up between two edges."""
    levels = np.arange(1, 64) / 64
    places = np.asarray(distribution.ppf(levels), dtype=np.float64)
    same = np.flatnonzero(np.diff(places) == 0)
    if len(same):
        raise ClaimError(
            f"distribution must be continuous, but {distribution!r} has an atom at {places[same[0]]:g}: give the law of the rest "
            "(of a spectrum, law.nonzero()), and leave the atom out of the statistic too"
        )


@dataclass(frozen=True)
class Identity(Statement):
    """``lhs = rhs`` at one instance; the right side is an exact quantity or a number, ``rivals`` are values it must exclude.

    The left side must need no sizes: a quantity that does is fixed by its parameters, such as widths that are numbers.
    ``tolerance`` is absolute, ``within`` times the value if not given; ``within`` and ``share`` are those of :class:`Statement`.
    """

    kind: ClassVar[Kind] = Kind.IDENTITY
    lhs: Quantity
    rhs: Any
    tolerance: Number | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
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
        return enclose(value, digits)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value):
        return Enclosure(Decimal(value), Decimal(0))
    raise ClaimError(f"{argument} must be a finite number, a records.Enclosure or an exact quantity, got {value!r}")
