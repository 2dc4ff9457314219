"""``Activation``: one real function of one real variable, as an expression and as fast numpy code."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions import calculus
from theoryck.numerics.functions.compiled import FLOATS, Program
from theoryck.numerics.functions.domain import check_total
from theoryck.numerics.functions.expression import ExpressionError, canonical, problem_of, read_text, x
from theoryck.numerics.functions.properties import ActivationProperties, Property
from theoryck.records.arguments import integer

ENTRIES: dict[str, str] = {
    "identity": "x",
    "tanh": "tanh(x)",
    "tanh2": "tanh(2*x)",
    "erf": "erf(x)",
    "erf_scaled": "erf(x/sqrt(2))",
    "sin": "sin(x)",
    "sin2": "sin(2*x)",
    "arctan": "atan(x)",
    "asinh": "asinh(x)",
    "x_gauss": "x*exp(-x**2/2)",
    "x_over_sqrt": "x/sqrt(1 + x**2)",
    "relu": "relu(x)",
    "abs": "abs(x)",
    "softsign": "x/(1 + abs(x))",
    "hardtanh": "max(-1, min(1, x))",
    "he2": "(x**2 - 1)/sqrt(2)",
    "he3": "(x**3 - 3*x)/sqrt(6)",
    "he3_mix": "x/2 + (x**3 - 3*x)/10",
    "gelu": "x*(1 + erf(x/sqrt(2)))/2",
    "softplus": "log(1 + exp(x))",
    "cos": "cos(x)",
    "erf_shifted": "erf(x + 1/2)",
    "relu_centred": "relu(x) - 1/sqrt(2*pi)",
}
"""Name of every catalogue activation and its formula."""


class Activation:
    """A function phi: R -> R given by a formula in ``x``, real and finite on the whole line.

    ``expression`` is a text that :func:`parse_expression` reads ("x*exp(-x**2/2)"), a catalogue name ("tanh") or a sympy expression
    in ``theoryck.numerics.functions.x``.  Immutable, hashable, picklable; two activations are equal when their canonical texts are.
    Raises ``ExpressionError`` (a ``ValueError``) for anything that is not such a function.

    >>> phi = Activation("atan(x)")
    >>> phi, phi.derivative(), float(phi(1.0))
    (Activation('atan(x)'), Activation('1/(x**2 + 1)'), 0.785398...)
    >>> Activation("relu").name, str(Activation("relu"))
    ('relu', 'relu(x)')
    """

    __slots__ = ("__dict__", "expression", "text")

    expression: Any
    text: str

    def __init__(self, expression: Any) -> None:
        expression, text = canonical(_as_expression(expression))
        check_total(expression)
        object.__setattr__(self, "expression", expression)
        object.__setattr__(self, "text", text)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Activation cannot be changed (tried to set {name!r}): build a new one")

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Activation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Activation({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.text,)

    @property
    def name(self) -> str:
        """The catalogue name, or the text where the catalogue has no such function."""
        return _names().get(self.text, self.text)

    def _program(self) -> Program:
        if "program" not in self.__dict__:
            self.__dict__["program"] = Program(self.expression)
        program: Program = self.__dict__["program"]
        return program

    def __call__(self, array: ArrayLike) -> NDArray[Any]:
        """Return phi at every entry: float32 and float64 keep their type, integers become float64.

        >>> Activation("x**2")(np.array([1.0, 3.0], dtype=np.float32))
        array([1., 9.], dtype=float32)
        """
        values = np.array(array, copy=True)
        if values.dtype not in FLOATS:
            if values.dtype.kind not in "iub":
                raise TypeError(f"array must hold real numbers (float64 or float32), got dtype {values.dtype}")
            values = values.astype(np.float64)
        self._program().run(values)
        return values

    def into(self, buffer: NDArray[Any]) -> None:
        """Overwrite ``buffer`` (float64 or float32, any shape) with phi of its entries.

        Raises TypeError for what is no such array.

        >>> buffer = np.array([-1.0, 2.0])
        >>> Activation("relu").into(buffer); buffer
        array([0., 2.])
        """
        if not isinstance(buffer, np.ndarray) or buffer.dtype not in FLOATS:
            kind = buffer.dtype if isinstance(buffer, np.ndarray) else type(buffer).__name__
            raise TypeError(f"buffer must be a numpy array of float64 or float32, got {kind}")
        self._program().run(buffer)

    def derivative(self, order: int = 1) -> Activation:
        """Return phi^(order), almost everywhere: at a kink the mean of the two sides, and a jump has derivative 0.

        Raises ValueError unless ``order`` is an integer >= 0.

        >>> Activation("relu").derivative(), Activation("sin(2*x)").derivative(2)
        (Activation('heaviside(x)'), Activation('-4*sin(2*x)'))
        """
        result = self
        for _ in range(integer(order, "order")):
            if "slope" not in result.__dict__:
                result.__dict__["slope"] = Activation(calculus.derivative(result.expression))
            result = result.__dict__["slope"]
        return result

    @property
    def properties(self) -> ActivationProperties:
        """Parity, smoothness and bounds, each with whether it is proved.

        >>> print(Activation("relu").properties.smooth)
        no (proved): phi' jumps at x = 0
        """
        if "properties" not in self.__dict__:
            self.__dict__["properties"] = ActivationProperties(self.expression)
        found: ActivationProperties = self.__dict__["properties"]
        return found

    @property
    def kinks(self) -> tuple[Any, ...]:
        """Points, as sympy numbers in increasing order, where phi may fail to be analytic: split integrals there.

        >>> Activation("max(-1, min(1, x))").kinks
        (-1, 1)
        """
        return self.properties.kinks.points

    def zero_mean_at(self, variance: Any) -> Property:
        """Return whether E phi(sqrt(s) Z) = 0 at s = ``variance`` (a positive number; fractions and sympy numbers stay exact).

        >>> he2 = Activation("he2")
        >>> he2.zero_mean_at(1).value, he2.zero_mean_at("1/2").value
        (True, False)
        """
        return self.properties.zero_mean_at(variance)

    @property
    def satisfies_main_theorem(self) -> bool:
        """Whether phi is odd and C^2 with bounded phi' and phi'': the hypotheses of Camilli, Tieplova, Bergamin, Barbier (2025).

        >>> Activation("tanh").satisfies_main_theorem, Activation("relu").satisfies_main_theorem
        (True, False)
        """
        p = self.properties
        return all((p.odd, p.smooth, p.bounded_first_derivative, p.bounded_second_derivative))


def _restore(text: str) -> Activation:
    return Activation(read_text(text, max_length=10**6))


def _as_expression(given: Any) -> Any:
    if isinstance(given, Activation):
        return given.expression
    if isinstance(given, str):
        return read_text(ENTRIES.get(given.strip(), given))
    if isinstance(given, int | float):
        raise TypeError(f"expression must be a text, a catalogue name or a sympy expression in x, got {given!r}")
    problem = problem_of(given) if hasattr(given, "free_symbols") else f"{given!r} is no formula: give one in x, such as 'tanh(x)'"
    if problem:
        symbols: set[Any] = getattr(given, "free_symbols", set())
        hint = "; use the symbol theoryck.numerics.functions.x" if symbols and symbols != {x} else ""
        raise ExpressionError(f"{problem} (in the expression {str(given)[:120]!r}){hint}")
    return given


@functools.cache
def _names() -> dict[str, str]:
    return {canonical(read_text(text))[1]: name for name, text in ENTRIES.items()}
