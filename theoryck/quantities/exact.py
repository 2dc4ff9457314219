"""Gaussian means and closed forms as exact quantities, and arithmetic between them.

These have no sizes and no sampler.  Sums, differences, products, quotients and integer powers of them, with numbers and with
each other, are such quantities again: errors are propagated outward, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.records import Enclosure

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

_REFINEMENTS = 3


@dataclass(frozen=True, repr=False, eq=False)
class ExactQuantity(Quantity):
    """A number without sizes that has an exact route only; supports ``+ - * /`` and ``**`` with integers.

    >>> from theoryck.theory.networks import rho, sigma
    >>> gap = 1 - sigma("tanh", 1) - rho("tanh", 1)  # 0, as tanh' = 1 - tanh^2
    >>> gap.name, abs(gap.exact(digits=30).midpoint) <= gap.exact(digits=30).radius
    ('1 - sigma_1[tanh] - rho_1[tanh]', True)
    >>> float(((sigma("x", 1) + 2) ** 2 / 3).exact()), sigma("x", 3).parameters["layer"]
    (3.0, 3)
    >>> sigma("tanh", 1) ** 0.5
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: an exact quantity can be raised to an integer power only, got sigma_1[tanh] ** 0.5
    """

    title: str = field()
    compute: Callable[[int], Enclosure]
    described: Mapping[str, Any]
    strength: int = 4
    """How tightly the title is bound: 1 a sum, 2 a product, 3 a power, 4 one term."""
    can_exact = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return dict(self.described)

    def exact(self, sizes: Sizes | None = None, digits: int = 20) -> Enclosure:
        """Return the value with about ``digits`` significant digits; ``sizes`` is not used."""
        return self.compute(digits)

    def _wrapped(self, strength: int) -> str:
        return self.title if self.strength >= strength else f"({self.title})"

    def __add__(self, other: Any) -> ExactQuantity:
        return _combine("+", self, other)

    def __radd__(self, other: Any) -> ExactQuantity:
        return _combine("+", other, self)

    def __sub__(self, other: Any) -> ExactQuantity:
        return _combine("-", self, other)

    def __rsub__(self, other: Any) -> ExactQuantity:
        return _combine("-", other, self)

    def __mul__(self, other: Any) -> ExactQuantity:
        return _combine("*", self, other)

    def __rmul__(self, other: Any) -> ExactQuantity:
        return _combine("*", other, self)

    def __truediv__(self, other: Any) -> ExactQuantity:
        return _combine("/", self, other)

    def __rtruediv__(self, other: Any) -> ExactQuantity:
        return _combine("/", other, self)

    def __pow__(self, exponent: Any) -> ExactQuantity:
        if isinstance(exponent, bool) or not isinstance(exponent, int):
            raise QuantityError(f"an exact quantity can be raised to an integer power only, got {self.name} ** {exponent!r}")

        def compute(digits: int) -> Enclosure:
            from theoryck.numerics.proved import arithmetic

            return _refined(lambda working: arithmetic.power(self.exact({}, working), exponent, working), digits)

        shown = f"({exponent})" if exponent < 0 else str(exponent)
        return ExactQuantity(
            f"{self._wrapped(4)}^{shown}", compute, {"quantity": "power", "base": self.parameters, "exponent": exponent}, 3
        )

    def __neg__(self) -> ExactQuantity:
        return -1 * self

    def __pos__(self) -> ExactQuantity:
        return self


_STRENGTH = {"+": (1, 1, 1), "-": (1, 1, 2), "*": (2, 2, 2), "/": (2, 2, 3)}  # own strength, least of the left, least of the right


def _combine(operation: str, left: Any, right: Any) -> Any:
    if not all(isinstance(side, ExactQuantity) or _is_number(side) for side in (left, right)):
        other = right if isinstance(left, ExactQuantity) else left
        if isinstance(other, Quantity):
            raise QuantityError(f"only exact quantities without sizes can be combined, and {other.name} is none")
        return NotImplemented
    first, second = as_exact(left), as_exact(right)

    def compute(digits: int) -> Enclosure:
        from theoryck.numerics.proved import arithmetic

        function = {"+": arithmetic.add, "-": arithmetic.subtract, "*": arithmetic.multiply, "/": arithmetic.divide}[operation]
        return _refined(lambda working: function(first.exact({}, working), second.exact({}, working), working), digits)

    own, least_left, least_right = _STRENGTH[operation]
    joint = f" {operation} " if operation in "+-" else operation
    name = f"{first._wrapped(least_left)}{joint}{second._wrapped(least_right)}"
    return ExactQuantity(name, compute, {"quantity": operation, "left": first.parameters, "right": second.parameters}, own)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | Decimal | Enclosure) and not isinstance(value, bool)


def as_exact(value: Any) -> ExactQuantity:
    """Return a number as an exact quantity; a float must be what it shows (0.5, not 0.1), else QuantityError.

    >>> as_exact(Fraction(1, 3)).name, as_exact(0.5).exact().to_json()["value"]
    ('1/3', '0.5')
    """
    if isinstance(value, ExactQuantity):
        return value
    if isinstance(value, Enclosure):
        return ExactQuantity(str(value.midpoint), lambda digits: value, {"quantity": "number"} | value.to_json(), 1)
    if isinstance(value, float):
        shown = Fraction(repr(value)) if value == value and abs(value) != float("inf") else None
        if shown != Fraction(value) if shown is not None else True:
            raise QuantityError(f"the float {value!r} is not exactly what it shows: write Fraction({str(value)!r}) or an integer")
        value = shown
    if not _is_number(value):
        raise QuantityError(f"a number (int, Fraction, Decimal) or an exact quantity is needed, got {value!r}")
    number = Fraction(value)
    strength = 1 if number < 0 else 2 if number.denominator != 1 else 4

    def compute(digits: int) -> Enclosure:
        from theoryck.numerics.proved.arithmetic import enclose

        return enclose(int(number) if number.denominator == 1 else number, digits)

    return ExactQuantity(str(number), compute, {"quantity": "number", "value": str(number)}, strength)


def _refined(evaluate: Callable[[int], Enclosure], digits: int) -> Enclosure:
    """Evaluate with more working digits until the radius is below 10^-digits of the value, at most 3 times.

    Cancellation loses digits and more working digits bring them back; a difference that is exactly zero never gets relative
    digits, and is returned with the smallest radius reached.
    """
    working, tolerance = digits + 3, Decimal(10) ** -digits
    for _ in range(_REFINEMENTS):
        value = evaluate(working)
        if value.radius <= tolerance * abs(value.midpoint) or not value.rigorous:
            break
        working += digits
    return value


def as_activation(activation: Any) -> Activation:
    """Return an activation, made from a text or an expression where it is none."""
    from theoryck.numerics.functions.activation import Activation

    return activation if isinstance(activation, Activation) else Activation(activation)


def gaussian_mean(expression: Any, variance: Any = 1) -> ExactQuantity:
    """Return E f(X), X ~ N(0, variance), for f an activation, a text, or a sympy expression in ``theoryck.numerics.functions.x``.

    ``variance`` is a number or an exact quantity.

    >>> float(gaussian_mean("x**2", Fraction(1, 2)).exact({}, 20))
    0.5
    """
    from theoryck.numerics.functions.activation import Activation
    from theoryck.numerics.functions.domain import parse_expression

    if isinstance(expression, Activation):
        expression = expression.expression
    elif isinstance(expression, str):
        expression = parse_expression(expression)
    spread = as_exact(variance)

    def compute(digits: int) -> Enclosure:
        from theoryck.numerics.proved.gaussian import gaussian_expectation

        return gaussian_expectation(expression, _argument(spread, digits), digits=digits)

    parameters = {"quantity": "gaussian_mean", "expression": str(expression), "variance": spread.parameters}
    return ExactQuantity(f"E[{expression}; x ~ N(0, {spread.name})]", compute, parameters)


def kernel(activation: Activation | str, s1: Any, s2: Any, c: Any) -> ExactQuantity:
    """Return E phi(U) phi(V), (U, V) Gaussian with variances s1, s2 and covariance c, as an exact quantity.

    ``s1``, ``s2`` and ``c`` are numbers or exact quantities.  Raises ExactError, when it is evaluated, unless c^2 <= s1 s2.

    >>> round(float(kernel("erf", 1, 1, Fraction(1, 2)).exact()), 12)  # (2/pi) asin(1/3)
    0.216346895939
    """
    phi = as_activation(activation)
    entries = [as_exact(value) for value in (s1, s2, c)]

    def compute(digits: int) -> Enclosure:
        from theoryck.numerics.proved.kernel import gaussian_kernel

        return gaussian_kernel(phi, *(_argument(entry, digits) for entry in entries), digits=digits)  # type: ignore[misc]

    names = ", ".join(entry.name for entry in entries)
    parameters = {"quantity": "kernel", "activation": phi.text, "covariance": [entry.parameters for entry in entries]}
    return ExactQuantity(f"kernel[{phi.name}]({names})", compute, parameters)


def closed_form(expression: Any) -> ExactQuantity:
    """Return a sympy number (no free symbols) as an exact quantity, evaluated with outward rounding.

    Rational numbers, pi, e, roots and the functions of activations (exp, log, erf, atan, ...) may occur in it.  Raises
    QuantityError for anything else.

    >>> import sympy
    >>> str(closed_form(sympy.sqrt(2)).exact({}, 10).midpoint)[:11]
    '1.414213562'
    """
    import sympy

    from theoryck.numerics.balls import to_ball
    from theoryck.numerics.errors import ExactError

    try:
        value = sympy.sympify(expression, strict=True)
    except sympy.SympifyError:
        raise QuantityError(f"a closed form must be a number of sympy such as 2/sympy.pi, got {expression!r}") from None
    if value.free_symbols:
        raise QuantityError(f"a closed form must be a number, but {value} contains {sorted(map(str, value.free_symbols))}")
    try:
        to_ball(value)
    except ExactError as error:
        raise QuantityError(f"a closed form must be made of functions that can be enclosed, got {value}: {error}") from None

    def compute(digits: int) -> Enclosure:
        from theoryck.numerics.balls import bits_for, from_ball, precision

        with precision(bits_for(digits)):
            return from_ball(to_ball(value), digits)

    return ExactQuantity(str(value), compute, {"quantity": "closed_form", "value": str(value)}, 1)


def _argument(quantity: ExactQuantity, digits: int) -> Any:
    """Return the exact number behind a quantity where there is one, else its enclosure."""
    value = quantity.exact({}, digits + 5)
    if quantity.parameters.get("quantity") == "number" and "value" in quantity.parameters and "radius" not in quantity.parameters:
        return Fraction(quantity.parameters["value"])
    return value
