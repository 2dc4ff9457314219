"""A prediction as a quantity: a deterministic function of the sizes, with the error it is known to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure


class Formula(Quantity):
    """A function of the sizes that is evaluated, never drawn: a fixed point, a sum, a quadrature.

    >>> deficit = formula(lambda d, n: d / (d + n), name="1 - q", sizes=("d", "n"), relative_error=1e-15)
    >>> deficit.name, deficit.size_names, deficit.exact({"d": 1, "n": 3}).rigorous
    ('1 - q', ('d', 'n'), False)
    """

    can_exact = True

    def __init__(
        self, name: str, function: Callable[..., float], size_names: Sequence[str], parameters: Mapping[str, Any], error: float
    ) -> None:
        self._name, self._function, self._size_names = name, function, tuple(size_names)
        self._parameters, self._error = dict(parameters), error

    @property
    def name(self) -> str:
        """What people read in tables and messages."""
        return self._name

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self._name, **self._parameters}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes it needs."""
        return self._size_names

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the value at ``sizes`` with its declared error: not rigorous, since floating point proves nothing.

        Raises QuantityError for a value that is no finite number.
        """
        need_sizes(self.name, self._size_names, sizes)
        value = self._function(**{name: sizes[name] for name in self._size_names})
        if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
            raise QuantityError(f"the formula of {self.name} must give a finite number, got {value!r} at {dict(sizes)}")
        middle = Decimal(value)
        return Enclosure(middle, abs(middle) * Decimal(self._error), rigorous=False)


def formula(
    function: Callable[..., float], *, name: str, sizes: Sequence[str], relative_error: float, parameters: Mapping[str, Any] = {}
) -> Formula:
    """Return ``function(**sizes)``, known up to ``relative_error``, as a quantity with an exact route that is not rigorous.

    ``sizes`` names the sizes it takes, ``parameters`` are the JSON-able rest of the instance.  Raises QuantityError for an error
    that is not in (0, 1), and when it is evaluated for a value that is not a finite number.

    >>> trace = formula(lambda d: 1 / (d + 1), name="1/(d+1)", sizes=("d",), relative_error=1e-15)
    >>> float(trace.exact({"d": 3}))
    0.25
    """
    if not (isinstance(relative_error, float) and 0 < relative_error < 1):
        raise QuantityError(f"relative_error must lie strictly between 0 and 1, got {relative_error!r}: say how well it is known")
    if not callable(function):
        raise QuantityError(f"function must be callable with the sizes as keywords, got {function!r}")
    return Formula(name, function, sizes, parameters, relative_error)
