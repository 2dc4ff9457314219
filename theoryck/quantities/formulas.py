"""A prediction as a quantity: a deterministic function of the sizes, with the error it is known to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure


class formula(Quantity):
    """``function(**sizes)``, evaluated and never drawn, known up to ``relative_error``: a fixed point, a sum, a quadrature.

    ``sizes`` names the sizes it takes, ``parameters`` are the JSON-able rest of the instance.  Raises QuantityError for an error
    that is not in (0, 1), and when it is evaluated for a value that is not a finite number.

    >>> deficit = formula(lambda d, n: d / (d + n), name="1 - q", sizes=("d", "n"), relative_error=1e-15)
    >>> deficit.name, deficit.size_names, float(deficit.exact({"d": 1, "n": 3})), deficit.exact({"d": 1, "n": 3}).rigorous
    ('1 - q', ('d', 'n'), 0.25, False)
    """

    can_exact = True

    def __init__(
        self,
        function: Callable[..., float],
        *,
        name: str,
        sizes: Sequence[str],
        relative_error: float,
        parameters: Mapping[str, Any] = {},
    ) -> None:
        if not (isinstance(relative_error, float) and 0 < relative_error < 1):
            raise QuantityError(
                f"relative_error must lie strictly between 0 and 1, got {relative_error!r}: say how well it is known"
            )
        if not callable(function):
            raise QuantityError(f"function must be callable with the sizes as keywords, got {function!r}")
        self.function, self.title, self.needs, self.error = function, name, tuple(sizes), relative_error
        self._parameters = {"quantity": name, **parameters}

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return dict(self._parameters)

    def drawn_by(self) -> dict[str, Any]:
        """Return the function, for a sampler that uses the formula."""
        return {"the formula": self.function}

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        """Return the value at ``sizes`` with its declared error: not rigorous, since floating point proves nothing.

        Raises QuantityError for a value that is no finite number.
        """
        need_sizes(self.name, self.needs, sizes)
        value = self.function(**{name: sizes[name] for name in self.needs})
        if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
            raise QuantityError(f"the formula of {self.name} must give a finite number, got {value!r} at {dict(sizes)}")
        middle = Decimal(value)
        return Enclosure(middle, abs(middle) * Decimal(self.error), rigorous=False)
