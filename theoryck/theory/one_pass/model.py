"""Target, neuron, step and stopping rule of one-pass stochastic gradient descent."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.expression import ExpressionError, read_text, x
from theoryck.numerics.gaussian.means import check_mean_square
from theoryck.quantities.arguments import real
from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.model import Link, as_link, evaluate, not_real_at

Array = NDArray[np.float64]

STARTS = ("uniform", "positive")


@dataclass(frozen=True)
class OnePass:
    """One-pass SGD of a neuron s on y = f(z_1, ..., z_r), until min_k |m_k| >= ``level``.

    ``target`` is f, a text in ``z`` or ``z1``, ``z2``, ... (or a :class:`~theoryck.theory.weak_recovery.Link`, with noise);
    ``slope`` is s', a text in z; ``step`` the step, a text in d such as "0.2/d". ``start`` is "uniform" on the sphere, or
    "positive", which takes the absolute values of the overlaps. ``smoothing`` is a text in d, the radius lambda over which the
    loss of s = h_3 is averaged on the sphere (one index).  Raises QuantityError.

    >>> sgd = OnePass("z1*z2", "sqrt(2)*z", "0.2/d")
    >>> sgd.link.indices, sgd.step_at(100), sgd.slope_coefficients
    (2, 0.002, (0.0, 1.4142135623730951))
    """

    target: Any
    slope: str
    step: str
    level: float = 0.35
    start: str = "uniform"
    smoothing: str | None = None

    def __post_init__(self) -> None:
        as_link(self.target)
        object.__setattr__(self, "level", real(self.level, "level", low=0.0))
        if self.level >= 1:
            raise QuantityError(f"level must be an overlap below 1, got {self.level!r}")
        if self.start not in STARTS:
            raise QuantityError(f"start must be one of {', '.join(STARTS)}, got {self.start!r}")
        self.step_at(64)
        if _text(self.slope, "slope", "z") == 0:
            raise QuantityError(f"slope must not be 0, got {self.slope!r}: such a neuron never moves")
        for name, text, function, indices in (
            ("target", str(self.link), self.link.values, self.link.indices),
            ("slope", self.slope, lambda z: self.slopes(z[:, 0]), 1),
        ):
            point = not_real_at(function, indices)
            if point is not None:
                raise QuantityError(
                    f"{name} must be real on the whole line, got {text!r}, which is not at {point.round(3).tolist()}"
                )
        if self.smoothing is not None:
            _value(self.smoothing, "smoothing", 64)
            third = np.allclose(self.slope_coefficients or (), (-3 / 6**0.5, 0.0, 3 / 6**0.5)) if self.slope_degree == 2 else False
            if self.link.indices != 1 or not third:
                raise QuantityError(f"smoothing is that of s = h_3 and one index: slope '(3*z**2 - 3)/sqrt(6)', got {self.slope!r}")

    def __str__(self) -> str:
        smoothing = f", smoothing={self.smoothing}" if self.smoothing else ""
        return f"{self.link}, s'={self.slope}, step={self.step}{smoothing}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "target": str(self.link),
            "slope": self.slope,
            "step": self.step,
            "level": self.level,
            "start": self.start,
            "smoothing": self.smoothing,
        }

    @property
    def link(self) -> Link:
        """The target."""
        return as_link(self.target)

    def step_at(self, d: int) -> float:
        """Return the step in d dimensions."""
        return _value(self.step, "step", d)

    def radius_at(self, d: int) -> float:
        """Return lambda in d dimensions, 0 without smoothing."""
        return _value(self.smoothing, "smoothing", d) if self.smoothing else 0.0

    @property
    def slope_coefficients(self) -> tuple[float, ...] | None:
        """The coefficients of s' from the constant on, None if it is no polynomial."""
        return _coefficients(self.slope)

    @property
    def slope_degree(self) -> int | None:
        """The degree of s', None if it is no polynomial."""
        found = self.slope_coefficients
        return None if found is None else len(found) - 1

    def slopes(self, z: Array) -> Array:
        """Return s'(z) at points z (...,)."""
        coefficients = self.slope_coefficients
        if coefficients is None:
            found: Array = np.asarray(evaluate(_text(self.slope, "slope", "z"), {_symbol("z"): z}), dtype=float) + 0.0 * z
            return found
        total = np.full_like(z, coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            total *= z
            if coefficient:
                total += coefficient
        return total


def check_mean_squares(sgd: OnePass) -> None:
    """Raise QuantityError where labels or slopes have no mean square: on a line parallel to an axis, or along a diagonal.

    >>> check_mean_squares(OnePass("z1*exp(z2**2/3)", "1", "1/d"))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: target must have a finite mean square, got 'z1*exp(z2**2/3)': ...
    """
    link, r = sgd.link, sgd.link.indices
    lines = [[x if j == k else sympy.Rational(1, 2) for j in range(r)] for k in range(r)] + [[x / sympy.sqrt(r)] * r]
    sections = [link.expression.xreplace(dict(zip(link.symbols, line))) for line in lines]
    for name, text, found in (
        ("target", str(link), sections),
        ("slope", sgd.slope, [_text(sgd.slope, "slope", "z").xreplace({_symbol("z"): x})]),
    ):
        for section in found:
            check_mean_square(section, "of its square", name, text, QuantityError)


def _symbol(name: str) -> Any:
    return sympy.Symbol(name, real=True)


@functools.lru_cache(maxsize=256)
def _text(text: str, argument: str, variable: str) -> Any:
    try:
        return read_text(text, variables=(variable,))
    except (ExpressionError, TypeError) as error:
        raise QuantityError(f"{argument} must be a text in {variable}, got {text!r}: {error}") from None


def _value(text: str, argument: str, d: int) -> float:
    value = float(np.asarray(evaluate(_text(text, argument, "d"), {_symbol("d"): np.array(float(d))})))
    if not (np.isfinite(value) and value > 0):
        raise QuantityError(f"{argument} must be > 0, got {value} for {text!r} at d = {d}")
    return value


@functools.lru_cache(maxsize=64)
def _coefficients(slope: str) -> tuple[float, ...] | None:
    expression, z = _text(slope, "slope", "z"), _symbol("z")
    if not expression.is_polynomial(z):
        return None
    return tuple(float(each) for each in reversed(sympy.Poly(expression, z).all_coeffs()))


def samples_at(text: str, argument: str, d: int) -> float:
    """Return a number of samples, a text in d, in d dimensions.

    >>> round(samples_at("d*log(d)", "unit", 100), 6)
    460.517019
    """
    return _value(text, argument, d)
