"""Statements as data: what is measured, along which sizes, and what is predicted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar

from theoryck.claims.arguments import (
    LARGEST_SHARE,
    ClaimError,
    Number,
    Paths,
    check_no_atom,
    check_paths,
    check_quantity,
    check_texts,
    checked_rate,
    enclosed,
    numeric,
)
from theoryck.quantities import Quantity
from theoryck.rates import Rate, RateError, ScalingPath
from theoryck.rates.directions import Axis
from theoryck.rates.parsing import to_fraction
from theoryck.records import Kind, Prediction, Size, Toward
from theoryck.records.arguments import positive


@dataclass(frozen=True)
class Statement:
    """What every statement offers: the quantity, the path and :meth:`prediction`; and the options every statement takes.

    Arguments, by name:

    * ``rivals``: wrong predictions that the same evidence must exclude, () by default; a check that could not fail is VACUOUS;
    * ``correction``: the relative power of the next term, 1 (or a text such as "1/2") for a factor ``1 + B/d + ...`` with
      ``|B| <= 2``; by default powers 1/2, 1, 3/2 and 2 are allowed for, which costs precision;
    * ``amplitude``: its relative size at the smallest size, where that is another than ``2 * size**-correction``;
    * ``within``: the tolerated discrepancy of the exponent (or, of a number, relative), the profile's by default;
    * ``share``: a factor on the budget, 1 by default, for a claim that needs more than others and says why.

    Raises ClaimError, which names the argument and shows its value, when it is made; a name in a rate that is neither a size of
    the path nor a parameter raises RateError when the prediction is made, that is when claims are collected.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> from theoryck.theory.networks import norm_deviation
    >>> paths = [ScalingPath(d=(16, 32, 64), width="d", input_dim="d"), ScalingPath(d=(16, 32, 64), width="2*d", input_dim="d")]
    >>> bound = Bound(norm_deviation(DeepNetwork("tanh", depth=1)), rate="d**(-k/2)", along=paths, rivals=["d**(-k)"])
    >>> bound.measured().name, len(bound.paths()), [each.path().names for each in bound.along_each()]
    ('norm_deviation(tanh(x), depth=1, power=2)', 2, [('d', 'width', 'input_dim'), ('d', 'width', 'input_dim')])
    >>> first = bound.along_each()[0]
    >>> first.sizes()[0], first.prediction({"k": 2}).rate
    ({'d': 16, 'width': 16, 'input_dim': 16}, 'd**(-k/2)')
    >>> bound.prediction({"k": 2})
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: a statement along 2 paths is measured along one at a time: see along_each()
    """

    kind: ClassVar[Kind]
    rivals: Sequence[Any] = field(default=(), kw_only=True)
    correction: Any = field(default=None, kw_only=True)
    amplitude: float | None = field(default=None, kw_only=True)
    within: float | None = field(default=None, kw_only=True)
    share: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.correction, str):  # "1/2", as a rate has it
            try:
                object.__setattr__(self, "correction", float(to_fraction(self.correction, "correction")))
            except RateError as error:
                raise ClaimError(str(error)) from None
        # A wider tolerance than 1 would not tell a rate from the next integer power.
        for name, most in (("correction", 16.0), ("amplitude", math.inf), ("within", 1.0), ("share", LARGEST_SHARE)):
            if (value := getattr(self, name)) is not None:
                positive(value, name, most, ClaimError)
        if not isinstance(self.rivals, list | tuple):
            raise ClaimError(f"rivals must be a list, got {self.rivals!r}: write for example rivals=[{self.rivals!r}]")

    def measured(self) -> Quantity:
        """Return the quantity that is to be measured."""
        raise NotImplementedError

    def paths(self) -> tuple[ScalingPath, ...]:
        """Return the paths along which it is made; none for a statement about one instance."""
        along = vars(self).get("along")
        return () if along is None else (along,) if isinstance(along, ScalingPath) else tuple(along)

    def along_each(self) -> tuple[Statement, ...]:
        """Return one statement a path: a statement along several paths is made along each of them."""
        if isinstance(vars(self).get("along"), ScalingPath | None):
            return (self,)
        return tuple(replace(self, along=path) for path in self.paths())  # type: ignore[call-arg]

    def path(self) -> ScalingPath | None:
        """Return the one path along which it is measured, None for a statement about one instance.

        Raises ClaimError where there are several.
        """
        several = self.paths()
        if len(several) > 1:
            raise ClaimError(f"a statement along {len(several)} paths is measured along one at a time: see along_each()")
        return several[0] if several else None

    def _path(self) -> ScalingPath:
        path = self.path()
        if path is None:
            raise ClaimError("a rate needs a path: give along=theoryck.ScalingPath(...)")
        return path

    def axis(self, parameters: Mapping[str, Any]) -> Axis:
        """Return how the fits see the base of the path: of a geometric rate such as ``2**(-l)`` in units of that rate.

        >>> import theoryck as tc
        >>> draws = tc.quantity(lambda rng, draws, *, l: rng.random(draws))
        >>> tc.Bound(draws, rate="k**(-l)", along=ScalingPath(l=range(8))).axis({"k": 4}).text
        '(4^l)'
        """
        path, rate = self._path(), vars(self).get("rate")
        parsed = None if rate is None else Rate.parse(str(rate), **numeric(parameters))
        slope = parsed.slope(path) if parsed is not None and parsed.geometric else 0.0
        return Axis.of(path.base, path.toward, path.sizes, drawn=True, slope=slope)

    def sizes(self) -> tuple[dict[str, Size], ...]:
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
            "statistic": str(self.measured().reduction),
            "base": along.base if along is not None else None,
            "path": along.describe() if along is not None else {},
            "toward": along.toward if along is not None else Toward.INFINITY,
            "parameters": {name: str(value) for name, value in numeric(parameters).items()},
            "correction": self.correction,
            "amplitude": self.amplitude,
        }


@dataclass(frozen=True)
class Bound(Statement):
    """``quantity <= C * rate`` along a path: about growth when ``constant`` is None, pointwise when it is given.

    Arguments:

    * ``quantity``: what is measured, such as :func:`theoryck.norm_deviation` or a function under ``@theoryck.quantity``;
    * ``rate``: a text such as "d**(-k/2)" in the sizes of the path and the arguments of the claim;
    * ``along``: a :class:`theoryck.ScalingPath`, or a list of them, which makes an instance of the claim on each;
    * ``constant``: C > 0, a number or a text such as "sqrt(2/pi)"; None (the default) claims only that there is one;
    * ``at_most``: instead of a rate, a number or an exact quantity that an exact ``quantity`` must not exceed;
    * ``rivals``: faster rates (or smaller numbers) that the same evidence must refute;
    * ``correction``, ``amplitude``, ``within``, ``share``: see :class:`theoryck.claims.Statement`.

    Growth is judged on quantity/rate on the same sizes, in absolute value; a supported bound is TIGHT, LOOSE by its slack, or
    UNDETERMINED.  Estimates support a pointwise bound with a margin of 5% of it, since draws cannot support an equality.
    Raises ClaimError for arguments that do not fit.

    >>> import theoryck as tc
    >>> quantity = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
    >>> path = tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d")
    >>> growth = tc.Bound(quantity, rate="1/d", along=path, rivals=["d**(-3/2)"])
    >>> pointwise = tc.Bound(quantity, rate="1/d", along=path, constant=3)
    >>> numbers = tc.Bound(tc.networks.sigma("tanh", 2), at_most=tc.networks.sigma("tanh", 1), rivals=[0.1])
    >>> growth.prediction({}).rivals, pointwise.prediction({}).constant, numbers.measured().name
    (('d**(-3/2)',), 3.0, 'sigma_2[tanh] - sigma_1[tanh]')
    >>> tc.Bound(quantity, rate="1/d")
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: along must be a theoryck.ScalingPath or a list of them, got None
    """

    kind: ClassVar[Kind] = Kind.BOUND
    quantity: Quantity
    rate: Any = None
    along: Paths | None = None
    constant: Number | str | None = None
    at_most: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_quantity(self.quantity, "quantity")
        if (self.at_most is None) == (self.rate is None):
            given = "neither" if self.rate is None else f"rate={self.rate!r} and at_most={self.at_most!r}"
            raise ClaimError(
                f"a Bound needs a rate along a path, or at_most, the number it is compared with; got {given}: give one"
            )
        if self.rate is not None:
            check_paths(self.along, self.quantity)
        elif self.along is not None:
            raise ClaimError(
                f"at_most compares two numbers at one instance: leave out along={self.along!r}, or give a rate instead"
            )
        elif self.constant is not None:
            raise ClaimError(
                f"constant belongs to a rate: leave constant={self.constant!r} out of a bound with at_most={self.at_most!r}"
            )
        elif not hasattr(self.quantity, "__sub__"):
            raise ClaimError(
                f"at_most needs an exact quantity such as theoryck.theory.networks.sigma(phi, 1), got {self.quantity!r}"
            )
        if self.constant is not None:
            positive(self._constant(15), "constant", error=ClaimError)

    def _constant(self, digits: int = 30) -> Any:
        return float(enclosed(self.constant, "constant", digits)) if isinstance(self.constant, str) else self.constant

    def measured(self) -> Quantity:
        """Return the quantity, or the difference of the two sides when they are numbers."""
        if self.at_most is None:
            return self.quantity
        other: Any = enclosed(self.at_most, "at_most", 30) if isinstance(self.at_most, str) else self.at_most
        left: Any = self.quantity
        difference: Quantity = left - other
        return difference

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        common = self._common(parameters)
        if self.rate is None:
            # What is measured is the difference of the two sides, so a smaller number is a rival by what it is smaller.
            limit = enclosed(self.at_most, "at_most", digits).midpoint
            rivals = tuple(str(enclosed(rival, "rivals", digits).midpoint - limit) for rival in self.rivals)
            return Prediction(rate="1", constant=0.0, rivals=rivals, **common)
        return Prediction(
            rate=checked_rate(self.rate, self._path(), parameters),
            constant=None if self.constant is None else float(self._constant(digits)),
            rivals=tuple(checked_rate(rival, self._path(), parameters) for rival in self.rivals),
            **common,
        )


@dataclass(frozen=True)
class _Along(Statement):
    """A statement about a quantity along a path."""

    quantity: Quantity
    along: Paths

    def __post_init__(self) -> None:
        super().__post_init__()
        check_quantity(self.quantity, "quantity")
        check_paths(self.along, self.quantity)

    def measured(self) -> Quantity:
        """Return the quantity."""
        return self.quantity


@dataclass(frozen=True)
class Scaling(_Along):
    """``quantity ~ constant * base**exponent`` along a path, from both sides; or ``~ constant * rate``.

    Arguments: ``quantity`` and ``along`` as in :class:`Bound`; ``exponent``, a number or a text such as "-k/2" in the arguments of
    the claim, or instead of it ``rate``, such as "n*log(n)" or "2**(-l)"; ``constant``, a number, a text such as "sqrt(2/pi)" or an
    exact quantity, not judged if None; ``tolerance``, that of the constant, relative: by default the constant must be known to 5%
    and agree, while one that is declared belongs to the claim, so that a constant found to differ by less is supported; ``rivals``,
    other exponents or rates; ``correction``, ``amplitude``, ``within``, ``share`` as in :class:`theoryck.claims.Statement`.  Raises
    ClaimError.

    >>> import theoryck as tc
    >>> path = tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d")
    >>> moment = tc.overlap_moment(tc.DeepNetwork("x", depth=0), power=2)
    >>> statement = tc.Scaling(moment, along=path, exponent="-k/2", constant=1, rivals=["-k", 0])
    >>> claimed = statement.prediction({"k": 2})
    >>> claimed.exponent, claimed.constant, claimed.rivals
    (-1.0, 1.0, ('-2.0', '0.0'))
    >>> claimed = tc.Scaling(moment, along=path, rate="log(d)/d", rivals=["1/d", -2]).prediction({})
    >>> claimed.rate, claimed.exponent, claimed.rivals
    ('log(d)/d', None, ('1/d', 'd**(-2)'))
    """

    kind: ClassVar[Kind] = Kind.SCALING
    exponent: Any = None
    constant: Any = None
    tolerance: Number | str | None = None
    rate: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.exponent is None) == (self.rate is None):
            given = "neither" if self.rate is None else f"exponent={self.exponent!r} and rate={self.rate!r}"
            raise ClaimError(f"a Scaling needs an exponent, or instead a rate such as 'n*log(n)'; got {given}: give one")
        for argument, value in [("exponent", self.exponent), *(("rivals", rival) for rival in self.rivals)]:
            if isinstance(value, int | float | Decimal) and not math.isfinite(value):
                raise ClaimError(f"{argument} must be a finite number or a text such as '-k/2', got {value!r}")
        check_texts([self.constant], "constant")

    def _exponent(self, value: Any, parameters: Mapping[str, Any]) -> float:
        path = self._path()
        rate = Rate.parse(f"{path.base}**({value})", **numeric(parameters))
        return float(rate.exponent(path))

    def _rival(self, value: Any, parameters: Mapping[str, Any]) -> str:
        """Return a rival as a rate: what names no size is an exponent of the base."""
        path = self._path()
        sizes = re.findall(r"[A-Za-z_]\w*", value) if isinstance(value, str) else []
        text = str(value) if set(sizes) & set(path.names) else f"{path.base}**({value})"
        return checked_rate(text, path, parameters)

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data; ClaimError for a rival that is minus the exponent."""
        if self.rate is None:
            exponent, rivals = (
                self._exponent(self.exponent, parameters),
                tuple(str(self._exponent(r, parameters)) for r in self.rivals),
            )
            for rival, written in zip(rivals, self.rivals):
                if exponent and float(rival) == -exponent:
                    raise ClaimError(
                        f"rivals: {written!r} is minus the claimed exponent {self.exponent!r}, which any evidence rejects: "
                        "was its sign forgotten? give another exponent"
                    )
            claimed: dict[str, Any] = {"exponent": exponent, "rivals": rivals}
        else:
            rivals = tuple(self._rival(rival, parameters) for rival in self.rivals)
            claimed = {"rate": checked_rate(self.rate, self._path(), parameters), "rivals": rivals}
        return Prediction(
            **claimed,
            constant=None if self.constant is None else float(enclosed(self.constant, "constant", digits)),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Limit(_Along):
    """``quantity -> value`` along a path, at the given ``rate`` if there is one.

    Arguments: ``quantity`` and ``along`` as in :class:`Bound`; ``value``, a number, a text such as "sqrt(2/pi)", an enclosure or an
    exact quantity, or None for a limit that is measured; ``rate``, that of the distance to it, judged as a bound; ``tolerance``,
    absolute; ``rivals``, other values; ``correction``, ``amplitude``, ``within``, ``share`` as in
    :class:`theoryck.claims.Statement`.  Raises ClaimError.

    The approach is what is declared: ``value + A * rate * (1 + corrections)`` with any A where there is a rate, else the
    ``correction``.  With neither, approaches as slow as d**-1/10 and 1/log(d) are allowed for, and the limit of values that still
    move is INCONCLUSIVE more often than not: declare the rate that the theorem gives.

    By default the limit must be known to ``within`` times the value and agree with it: one that is found to differ, if only by 1%,
    is not supported.  A ``tolerance`` that is declared belongs to the claim, which is then "the limit is the value up to that".

    >>> import theoryck as tc
    >>> path = tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d")
    >>> variance = tc.norm_deviation(tc.DeepNetwork("x", depth=0), power=2)  # E (|x_0|^2 - 1)^2 = 2/d
    >>> statement = tc.Limit(variance, along=path, value=0, rate="1/d", tolerance=0.01, rivals=[0.125])
    >>> claimed = statement.prediction({})
    >>> float(claimed.value), claimed.rate, claimed.rivals
    (0.0, '1/d', ('0.125',))
    """

    kind: ClassVar[Kind] = Kind.LIMIT
    value: Any = None
    rate: Any = None
    tolerance: Number | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value is not None:
            check_texts([self.value], "value")
        check_texts(self.rivals, "rivals")

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            value=None if self.value is None else enclosed(self.value, "value", digits),
            rate=None if self.rate is None else checked_rate(self.rate, self._path(), parameters),
            rivals=tuple(str(enclosed(rival, "rivals", digits).midpoint) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Law(Statement):
    """The law of ``statistic`` tends to ``distribution`` in the ``metric``, at the given ``rate`` if there is one.

    Arguments: ``statistic``, a quantity whose draws have that law; ``along`` as in :class:`Bound`; ``distribution``, a frozen
    continuous distribution of ``scipy.stats`` (or anything with ``cdf`` and ``ppf``); ``rivals``, faster rates; ``correction``,
    ``amplitude``, ``within``, ``share`` as in :class:`theoryck.claims.Statement`.  The one ``metric``, "cramer-von-mises", is the
    SQUARED L2 distance ``int (G - F)^2 dF`` of the two distribution functions: it has an unbiased estimate, which the largest
    distance has not.  A law that is reached at rate 1/sqrt(d) has rate="1/d" in it.  Raises ClaimError, for a law with an atom too.

    >>> import scipy.stats, theoryck as tc
    >>> output = tc.wide.output(tc.DeepNetwork("tanh", depth=1))
    >>> path = tc.ScalingPath(d=tc.doubling(8, 64), width="d", input_dim="d")
    >>> statement = tc.Law(output, path, scipy.stats.norm(0, 0.63), rate="d**(-2)", rivals=["d**(-4)"])
    >>> statement.measured() is output, statement.prediction({}).rate
    (True, 'd**(-2)')
    >>> tc.Law(output, path, 0.5)
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: distribution needs a method cdf, as scipy.stats.norm() has; got 0.5
    """

    kind: ClassVar[Kind] = Kind.LAW
    statistic: Quantity
    along: Paths
    distribution: Any
    metric: str = "cramer-von-mises"
    rate: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_quantity(self.statistic, "statistic")
        check_paths(self.along, self.statistic)
        if self.metric != "cramer-von-mises":
            raise ClaimError(f"metric must be 'cramer-von-mises', got {self.metric!r}")
        for method in ("cdf", "ppf"):
            if not callable(getattr(self.distribution, method, None)):
                raise ClaimError(f"distribution needs a method {method}, as scipy.stats.norm() has; got {self.distribution!r}")
        check_no_atom(self.distribution)
        if self.statistic.reduction.name != "mean":
            raise ClaimError(
                f"a Law is about the draws themselves, but the value of {self.statistic.name} is their {self.statistic.reduction}: "
                "leave its statistic= out"
            )

    def measured(self) -> Quantity:
        """Return the statistic."""
        return self.statistic

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data."""
        return Prediction(
            rate=None if self.rate is None else checked_rate(self.rate, self._path(), parameters),
            rivals=tuple(checked_rate(rival, self._path(), parameters) for rival in self.rivals),
            **self._common(parameters),
        )


@dataclass(frozen=True)
class Identity(Statement):
    """``lhs = rhs`` at one instance.

    Arguments: ``lhs``, a quantity that needs no sizes (one that does is fixed by its parameters, such as widths that are
    numbers); ``rhs``, a number, a text such as "sqrt(2/pi)", an enclosure or an exact quantity; ``tolerance``, absolute, how well
    the two must be known to agree: by default 1e-15 of the value between enclosures and ``within`` times the value where the left
    side is estimated (a difference that is told from 0 refutes, however small); ``rivals``, values that must be excluded;
    ``within`` and ``share`` as in :class:`theoryck.claims.Statement`.  Raises ClaimError.

    >>> import theoryck as tc
    >>> sigma, rho = tc.networks.sigma("tanh", 1), tc.networks.rho("tanh", 1)
    >>> statement = tc.Identity(rho, 1 - sigma, rivals=[1])  # tanh' = 1 - tanh^2
    >>> round(float(statement.prediction({}).value), 6), statement.measured().name
    (0.605706, 'rho_1[tanh]')
    >>> tc.Identity(0.6, 1 - sigma)
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: lhs must be a quantity (such as theoryck.norm_deviation(network, power=2) or a
    function decorated with @theoryck.quantity), got 0.6
    """

    kind: ClassVar[Kind] = Kind.IDENTITY
    lhs: Quantity
    rhs: Any
    tolerance: Number | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_quantity(self.lhs, "lhs")
        check_texts([self.rhs], "rhs")
        check_texts(self.rivals, "rivals")

    def measured(self) -> Quantity:
        """Return the left side."""
        return self.lhs

    def prediction(self, parameters: Mapping[str, Any], digits: int = 30) -> Prediction:
        """Return the prediction as data; the right side is evaluated to ``digits`` digits."""
        return Prediction(
            value=enclosed(self.rhs, "rhs", digits),
            rivals=tuple(str(enclosed(rival, "rivals", digits).midpoint) for rival in self.rivals),
            tolerance=None if self.tolerance is None else str(self.tolerance),
            **self._common(parameters),
        )
