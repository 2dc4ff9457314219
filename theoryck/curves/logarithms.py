"""Numbers as sign and logarithm: nothing that was measured is too large or too small for a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext


@dataclass(frozen=True, slots=True)
class Signed:
    """The number ``sign * exp(log)``; 0 has sign 0 and log ``-inf``.

    >>> Signed.of(Decimal("-1e-400")).log / math.log(10)
    -400.0
    """

    sign: int
    log: float

    @classmethod
    def of(cls, value: Decimal | float) -> Signed:
        """Return a finite number as sign and logarithm."""
        number = value if isinstance(value, Decimal) else Decimal(value)
        if number == 0:
            return cls(0, -math.inf)
        power = number.adjusted()
        log = math.log(abs(float(number.scaleb(-power)))) + power * math.log(10)
        return cls(1 if number > 0 else -1, log)

    def times(self, log_factor: float) -> Signed:
        """Return the number times ``exp(log_factor)``."""
        return Signed(self.sign, self.log + log_factor) if self.sign else self

    def __float__(self) -> float:
        return self.sign * (math.exp(self.log) if self.log < 709.78 else math.inf)


def around(value: Decimal, error: Decimal) -> tuple[Decimal, Decimal]:
    """Return ``value - error`` and ``value + error``."""
    with localcontext() as context:
        context.prec = 50
        return value - error, value + error
