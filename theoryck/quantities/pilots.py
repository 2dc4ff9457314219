"""What is found out before samplers can be made, such as schedules and coefficients: once, here or in another process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")

MOST_KEPT = 1024


class Pilot(Hashable, Protocol):
    """Something that is to be found out: equal ones find the same, in any process."""

    def __call__(self) -> Any:
        """Return what is found out."""

    def keep(self, found: Any) -> None:
        """Keep what another process found out."""


class Once(Generic[Parameters, Value]):
    """A function of a module whose values are kept; where it is slow, another process may find a value, which is kept here.

    Used as a decorator.  Arguments must be hashable, and travel as its values do.

    >>> from theoryck.quantities.pilots import Once
    >>> square = Once(lambda number: number * number)
    >>> [pilot] = square.missing(3)
    >>> pilot.keep(pilot())
    >>> square.missing(3), square(3), len(square.missing(4))
    ([], 9, 1)
    """

    def __init__(self, function: Callable[Parameters, Value]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._kept: dict[tuple[Any, ...], Value] = {}

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Value:
        """Return the value, found out now unless it is known."""
        assert not named  # equal calls are written alike
        if arguments not in self._kept:
            self.keep(arguments, self._function(*arguments, **named))
        return self._kept[arguments]

    def missing(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> list[Pilot]:
        """Return what finds the value out, or nothing where it is known."""
        assert not named
        return [] if arguments in self._kept else [_Call(self, arguments)]

    def keep(self, arguments: tuple[Any, ...], value: Value) -> None:
        """Keep a value; the oldest ones make room."""
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[arguments] = value

    def forget(self) -> None:
        """Keep nothing."""
        self._kept.clear()

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined]  # it travels as its function does, by name


@dataclass(frozen=True)
class _Call:
    """A call of such a function."""

    function: Once[Any, Any]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        return self.function(*self.arguments)

    def keep(self, found: Any) -> None:
        self.function.keep(self.arguments, found)
