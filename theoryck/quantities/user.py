"""``@quantity``: a user's own sampler as a quantity."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, overload

import numpy as np

from theoryck.montecarlo import Sampler, Statistic
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Bracket, Enclosure, Size

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _BoundSampler:
    """The user's function with its sizes filled in: what travels to the workers."""

    function: Function
    sizes: dict[str, Size]

    def __call__(self, rng: np.random.Generator, draws: int) -> Any:
        return self.function(rng, draws, **self.sizes)


@dataclass(frozen=True, repr=False, eq=False)
class UserQuantity(Quantity):
    """What :func:`quantity` returns: a sampler with its sizes, cost and, if one was given, exact value.

    Calling it calls the function, unchecked; :meth:`draw` checks what it returns.

    >>> @quantity(cost=lambda sizes: sizes["d"], name="m^2")
    ... def squared(rng, draws, *, d):
    ...     return rng.standard_normal((draws, d)).mean(axis=1) ** 2
    >>> squared.name, squared.size_names, squared.cost({"d": 16}), squared.can_exact, squared.exact({"d": 16})
    ('m^2', ('d',), 16.0, False, None)
    >>> squared(np.random.default_rng(0), 5, d=16).shape
    (5,)
    >>> quantity(lambda rng, draws, d: rng.random(draws))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: the argument 'd' of the sampler '<lambda>' must be keyword-only; write it as
    f(rng, draws, *, d, ...), with every size after the star
    """

    function: Function
    title: str = ""
    declared_cost: Any = None
    declared_exact: Callable[..., Any] | None = None
    version: int = 1
    draw_statistic: str = "mean"
    can_draw = True
    whole_sizes = False

    def __post_init__(self) -> None:
        function, exact = self.function, self.declared_exact
        if isinstance(function, Quantity) or not callable(function):
            raise QuantityError(f"quantity decorates a function f(rng, draws, *, d, ...), got {function!r}")
        if exact is not None and not callable(exact):
            raise QuantityError(f"exact must be a function of (sizes, digits), got {exact!r}")
        title = self.title or str(getattr(function, "__name__", "quantity"))
        needs, optional = _check_signature(function, title)
        _check_cost(self.declared_cost, title)
        _check_statistic(self.draw_statistic, title)
        vars(self).update(title=title, needs=needs, optional=optional, can_exact=exact is not None)
        vars(self).update({name: getattr(function, name, None) for name in functools.WRAPPER_ASSIGNMENTS}, __wrapped__=function)

    def __call__(self, rng: np.random.Generator, draws: int, **sizes: Size) -> Any:
        """Return what the function returns, unchecked."""
        return self.function(rng, draws, **sizes)

    @property
    def parameters(self) -> dict[str, Any]:
        """None: what it draws by is told by its fingerprint."""
        return {}

    def sampler(self, sizes: Sizes) -> Sampler:
        """Return the function with its sizes filled in; QuantityError names a size that is missing."""
        need_sizes(f"the quantity {self.title!r}", self.needs, sizes, whole=False)
        taken = (*self.needs, *vars(self)["optional"])
        return _BoundSampler(self.function, {name: _plain_size(sizes[name]) for name in taken if name in sizes})

    def drawn_by(self) -> dict[str, Any]:
        """Return the function: what it reaches is part of the fingerprint."""
        return {"the sampler": self.function}

    def cost(self, sizes: Sizes) -> float | None:
        """Return the declared cost: a number, or the function of the sizes evaluated.

        Raises QuantityError for what is no positive number.
        """
        value = self.declared_cost
        if callable(value):
            try:
                value = _quietly(f"cost of {self.title!r}", value, dict(sizes))
            except (TypeError, AttributeError) as error:  # arithmetic with the mapping, or another number of arguments
                raised = f"cost of {self.title!r} raised {type(error).__name__}: {error}; {_cost_receives(sizes)}"
                raise QuantityError(raised) from error
        if value is None:
            return None
        if not (isinstance(value, int | float | np.number) and value > 0):
            hint = f"; {_cost_receives(sizes)}" if isinstance(value, dict) else ""
            raise QuantityError(f"cost of {self.title!r} must be a positive number of random numbers per draw, got {value!r}{hint}")
        return float(value)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | Bracket | None:
        """Return what the declared ``exact(sizes, digits)`` gives; an exact int, Fraction or Decimal becomes an Enclosure.

        Raises QuantityError for a float, or anything else.
        """
        if self.declared_exact is None:
            return None
        value = _quietly(f"exact of {self.title!r}", self.declared_exact, dict(sizes), digits)
        if value is None or isinstance(value, Enclosure | Bracket):
            return value
        if isinstance(value, int | Fraction | Decimal) and not isinstance(value, bool):
            from theoryck.numerics.proved.arithmetic import enclose

            return enclose(value, digits)
        raise QuantityError(
            f"exact of {self.title!r} must return an Enclosure, a Bracket, None, or an exact number (int, Fraction, Decimal), got "
            f"{value!r}; a float says nothing of its error: return Enclosure(Decimal(...), radius, rigorous=False)"
        )


def _quietly(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function: what it prints goes to standard error, and sys.exit in it does not end the program."""
    try:
        with redirect_stdout(sys.stderr):
            return function(*arguments)
    except (SystemExit, GeneratorExit) as error:
        raise QuantityError(f"{what} raised {type(error).__name__} {error}: return a value instead") from error


def _plain_size(size: Any) -> Size:
    return int(size) if isinstance(size, Integral) else float(size)


def _cost_receives(sizes: Sizes) -> str:
    size = next(iter(sizes), "n")
    return f'the function receives the mapping of sizes, such as {dict(sizes)!r}: write cost=lambda sizes: sizes["{size}"]'


def _check_signature(function: Function, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sizes a function needs and those it may take; QuantityError names the argument that is wrong."""
    wanted = "write it as f(rng, draws, *, d, ...), with every size after the star"
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise QuantityError(f"the sampler {name!r} has no signature that can be read ({error}); {wanted}") from error
    first = [argument for argument in arguments if argument.kind is not inspect.Parameter.KEYWORD_ONLY]
    for argument in first:
        if argument.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise QuantityError(f"the sampler {name!r} must name its sizes, but has the argument {argument}; {wanted}")
    if len(first) < 2:
        missing = " and ".join(["rng", "draws"][len(first) :])
        raise QuantityError(f"the sampler {name!r} is missing the argument {missing}; {wanted}")
    if len(first) > 2:
        raise QuantityError(f"the argument {first[2].name!r} of the sampler {name!r} must be keyword-only; {wanted}")
    sizes = [argument for argument in arguments if argument.kind is inspect.Parameter.KEYWORD_ONLY]
    needed = tuple(argument.name for argument in sizes if argument.default is inspect.Parameter.empty)
    return needed, tuple(argument.name for argument in sizes if argument.name not in needed)


def _check_cost(cost: Any, name: str) -> None:
    good = isinstance(cost, int | float) and not isinstance(cost, bool) and cost > 0
    if not (cost is None or callable(cost) or good):
        raise QuantityError(
            f"cost of {name!r} must be a positive number of random numbers per draw, or a function of the sizes such as "
            f"lambda sizes: sizes['d']**2; got {cost!r}"
        )


def _check_statistic(statistic: Any, name: str) -> None:
    try:
        Statistic.parse(statistic, f"statistic of {name!r}")
    except ValueError as error:
        raise QuantityError(str(error)) from error


@overload
def quantity(function: Function) -> UserQuantity: ...
@overload
def quantity(
    function: None = None,
    *,
    cost: Any = None,
    exact: Callable[..., Any] | None = None,
    name: str | None = None,
    version: int = 1,
    statistic: str = "mean",
) -> Callable[[Function], UserQuantity]: ...
def quantity(
    function: Function | None = None,
    *,
    cost: Any = None,
    exact: Callable[..., Any] | None = None,
    name: str | None = None,
    version: int = 1,
    statistic: str = "mean",
) -> UserQuantity | Callable[[Function], UserQuantity]:
    """Turn a sampler ``f(rng, draws, *, d, ...) -> array (draws,)`` into a quantity: its value is the mean of a draw.

    Every random number must come from ``rng``.  The keyword-only names are the sizes the sampler needs; those with a default may be
    missing from a path.  It may return an array or a list of ``draws`` real numbers, but no masked array.  ``cost`` is the number
    of random numbers one draw takes, or a function of the mapping of sizes; without it the budget is set by the clock.
    ``exact(sizes, digits)`` is an optional second route.  ``version`` is to be raised when the draws change and the code does not
    (a data file, an environment variable, a module of a computed name): a ledger then draws again.

    ``statistic`` makes it another number than the mean: "median" or "quantile(0.9)" (of draws that may be inf, such as the time of
    what never happened), "variance", "std", or "probability" (of draws that are True or False).  ``exact`` is then that number.
    Raises QuantityError for a signature or a statistic that cannot be used; what the sampler returns is checked when it is drawn
    (SamplerError).

    >>> @quantity(cost=lambda sizes: sizes["d"], exact=lambda sizes, digits: Fraction(1, sizes["d"]))
    ... def squared_mean(rng, draws, *, d):
    ...     return rng.standard_normal((draws, d)).mean(axis=1) ** 2
    >>> squared_mean.name, squared_mean.size_names, squared_mean.cost({"d": 8}), squared_mean.exact({"d": 8}).to_json()["value"]
    ('squared_mean', ('d',), 8.0, '0.125')
    >>> squared_mean.draw(np.random.default_rng(0), 3, {"d": 8}).shape
    (3,)
    >>> quantity(statistic="mode")(lambda rng, draws: rng.random(draws))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: statistic of '<lambda>' must be one of mean, median, quantile(p), variance, std,
    probability, with 0 < p < 1, got 'mode'
    """

    def decorate(decorated: Any) -> UserQuantity:
        return UserQuantity(decorated, name or "", cost, exact, version, statistic)

    return decorate if function is None else decorate(function)
