"""Links of Gaussian multi-index models: y = f(z_1, ..., z_r), with Gaussian noise or flipped signs, read from a text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.compiled import UFUNCS
from theoryck.numerics.functions.domain import conditions
from theoryck.numerics.functions.expression import KINKED, ExpressionError, read_text
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import integer

Array = NDArray[np.float64]

MOST_INDICES = 8

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **UFUNCS,
    sympy.tan: np.tan,
    sympy.sech: lambda value: 1 / np.cosh(value),
    sympy.log: np.log,
    sympy.Heaviside: lambda value, half=0.5: np.heaviside(value, half),
    sympy.Add: lambda *parts: functools.reduce(np.add, parts),
    sympy.Mul: lambda *parts: functools.reduce(np.multiply, parts),
    sympy.Pow: np.power,
    sympy.Max: lambda *parts: functools.reduce(np.maximum, parts),
    sympy.Min: lambda *parts: functools.reduce(np.minimum, parts),
}


@dataclass(frozen=True)
class Link:
    """y = f(z_1, ..., z_r) + sqrt(noise) N(0, 1), whose sign is flipped with probability ``flips``: z ~ N(0, I_r) are the indices.

    ``text`` is f in z1, z2, ... or, with one index, in z; it is read by a whitelist, never executed.  Raises QuantityError for a
    text that is no such function, a noise below 0, and flips outside [0, 1].

    >>> link = Link("z1*abs(z2)")
    >>> link.indices, link.values(np.array([[2.0, -3.0]])).tolist(), str(Link("z^2".replace("^", "**"), noise=0.1))
    (2, [6.0], 'z**2 + N(0, 0.1)')
    >>> Link("z1*z3")
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: link 'z1*z3' does not depend on z2: name its variables z1, z2, ... without a gap, or z
    """

    text: str
    noise: float = 0.0
    flips: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", positive(self.noise, "noise", zero=True))
        object.__setattr__(self, "flips", positive(self.flips, "flips", zero=True))
        if self.flips > 1:
            raise QuantityError(f"flips must be a probability, between 0 and 1, got {self.flips!r}")
        names = {symbol.name for symbol in self.expression.free_symbols}
        r = max((int(name[1:] or 1) for name in names), default=0)
        missing = [f"z{j}" for j in range(1, r + 1) if f"z{j}" not in names and not (j == 1 and "z" in names)]
        if missing or ({"z", "z1"} <= names):
            said = f"does not depend on {', '.join(missing)}" if missing else "has both z and z1"
            raise QuantityError(f"link {self.text!r} {said}: name its variables z1, z2, ... without a gap, or z")

    def __str__(self) -> str:
        noise = f" + N(0, {self.noise:g})" if self.noise else ""
        return f"{self.text}{noise}" + (f", flipped with probability {self.flips:g}" if self.flips else "")

    @property
    def expression(self) -> Any:
        """The function f as a sympy expression."""
        return _read(self.text)

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The variables ``z``, or ``z1``, ``z2``, ..., that f depends on."""
        return tuple(sorted(self.expression.free_symbols, key=lambda symbol: int(symbol.name[1:] or 1)))

    @property
    def indices(self) -> int:
        """The number r of indices."""
        return len(self.symbols)

    def values(self, z: Array) -> Array:
        """Return f at points z (..., r)."""
        columns = {symbol: z[..., j] for j, symbol in enumerate(self.symbols)}
        return np.broadcast_to(evaluate(self.expression, columns), z.shape[:-1]).astype(float)

    def labels(self, rng: np.random.Generator, z: Array) -> Array:
        """Return labels y at points z (..., r), noise and flips included."""
        y = self.values(z)
        if self.noise:
            y = y + self.noise**0.5 * rng.standard_normal(y.shape)
        return np.where(rng.random(y.shape) < self.flips, -y, y) if self.flips else y


def check_real(link: Link) -> None:
    """Raise QuantityError for a link that is no number at one of 512 points: log(z), sqrt(z).

    >>> check_real(Link("log(abs(z))"))
    """
    point = not_real_at(link.values, link.indices)
    if point is not None:
        place = ", ".join(f"{symbol} = {value:.4g}" for symbol, value in zip(link.symbols, point, strict=True))
        raise QuantityError(f"link {link.text} is not a finite number at {place}: labels must be real for every z")


def not_real_at(function: Callable[[Array], Array], indices: int) -> Array | None:
    """Return one of 512 points at which a function of (m, indices) is no real number, None if it is one at all of them.

    >>> not_real_at(lambda z: z[:, 0], 2), bool(not_real_at(lambda z: np.sqrt(z[:, 1]), 2)[1] < 0)
    (None, True)
    """
    z = np.random.default_rng(0).standard_normal((512, indices))
    with np.errstate(all="ignore"):
        wrong = z[np.isnan(function(z))]
    return wrong[0] if len(wrong) else None


@functools.lru_cache(maxsize=256)
def _read(text: str) -> Any:
    if not isinstance(text, str) or not text.strip():
        raise QuantityError(f"link must be a text in z1, z2, ... such as 'z1*z2', got {text!r}")
    if re.search(r"(?<![*])\^", text):
        raise QuantityError(f"link {text!r}: write ** for a power")
    try:
        expression = read_text(text, variables=("z", *(f"z{j}" for j in range(1, MOST_INDICES + 1))))
    except ExpressionError as error:
        raise QuantityError(f"link {text!r} is no function of z1, z2, ...: {error}") from None
    if not expression.free_symbols:
        raise QuantityError(f"link {text!r} is a constant: labels must depend on z1, z2, ...")
    return expression


def as_link(link: Link | str, **options: float) -> Link:
    """Return a link: a text is read, with ``options`` such as noise; a :class:`Link` has its own, and others are refused.

    >>> as_link("z1*z2").indices
    2
    >>> as_link(Link("z**2", noise=0.3), noise=0.5)
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: noise = 0.5 beside a Link that has noise = 0.3: give it to the Link alone
    """
    if not isinstance(link, Link):
        return Link(link, **options)
    for name, value in options.items():
        if value and value != getattr(link, name):
            raise QuantityError(
                f"{name} = {value:g} beside a Link that has {name} = {getattr(link, name):g}: give it to the Link alone"
            )
    return link


def evaluate(e: Any, columns: dict[Any, Array]) -> Any:
    """Return the values of an expression of the whitelist at columns of its symbols.

    >>> z = sympy.Symbol("z", real=True)
    >>> evaluate(z**2 - 1, {z: np.array([0.0, 2.0])}).tolist()
    [-1.0, 3.0]
    """
    if e.is_Symbol:
        return columns[e]
    if not e.free_symbols:
        return float(e)
    if e.is_Pow and e.exp == sympy.Rational(1, 2):
        return np.sqrt(evaluate(e.base, columns))
    if e.is_Pow and e.exp.is_Integer:
        return evaluate(e.base, columns) ** int(e.exp)  # integer powers of negative numbers are real
    return _FUNCTIONS[e.func](*(evaluate(part, columns) for part in e.args))


def kink_arguments(e: Any) -> list[Any]:
    """Return the expressions at whose zeros ``e`` is not smooth: arguments of abs and sign, differences of those of max and min."""
    found = []
    for node in sympy.preorder_traversal(e):
        if isinstance(node, sympy.Max | sympy.Min):
            found += [a - b for i, a in enumerate(node.args) for b in node.args[:i]]
        elif isinstance(node, KINKED):
            found.append(node.args[0])
        elif node.is_Pow and not node.exp.is_Integer:
            found.append(node.base)
    return [each for each in dict.fromkeys(found) if each.free_symbols]


def pole_arguments(e: Any) -> list[Any]:
    """Return the expressions at whose zeros ``e`` may be infinite: denominators, arguments of logarithms, cosines under a tangent.

    >>> z = sympy.Symbol("z", real=True)
    >>> pole_arguments(sympy.tan(z) + 1 / (z**2 - 1))
    [cos(z), z**2 - 1]
    """
    return [condition.subject for condition in conditions(e)]


# What a label tells -----------------------------------------------------------------------------------------------------------

_ODD = (sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf)
_INJECTIVE = (*_ODD, sympy.exp, sympy.erfc)


def core(e: Any, *, odd: bool = False) -> Any:
    """Return an expression that tells as much as ``e``: outer injective functions are taken off, even ones leave an absolute value.

    With ``odd`` only odd functions are taken off, so that signs are kept too.

    >>> z = sympy.Symbol("z", real=True)
    >>> core(2 * sympy.tanh(z**3) - 1), core((z - 1) ** 2), core(sympy.cosh(3 * z))
    (z, Abs(z - 1), Abs(z))
    """
    number, rest = e.as_independent(*e.free_symbols, as_Add=True)
    if not odd and number != 0:
        return core(rest)
    number, rest = e.as_independent(*e.free_symbols, as_Add=False)
    if number != 1:
        return core(rest, odd=odd)
    if e.is_Pow and e.exp.is_Integer and e.base.free_symbols:  # 1/u tells as much as u
        return core(e.base, odd=True) if e.exp % 2 else sympy.Abs(core(e.base, odd=True))
    if isinstance(e, sympy.Abs | sympy.cosh | sympy.sech):
        return sympy.Abs(core(e.args[0], odd=True))
    if isinstance(e, _ODD if odd else _INJECTIVE):
        return core(e.args[0], odd=odd)
    return e


@dataclass(frozen=True)
class Monomial:
    """prod_j sign(z_j)^signs_j |z_j|^powers_j."""

    powers: tuple[float, ...]
    signs: tuple[bool, ...]

    @property
    def odd(self) -> tuple[int, ...]:
        """The indices whose sign enters."""
        return tuple(j for j, odd in enumerate(self.signs) if odd)


def monomial(link: Link) -> Monomial | None:
    """Return the monomial that a label tells as much as, or None.

    >>> monomial(Link("exp(z1*abs(z2)**3)")), monomial(Link("z1 + z2"))
    (Monomial(powers=(1.0, 3.0), signs=(True, False)), None)
    """
    found = _monomial(core(link.expression))
    if found is None:
        return None
    powers = tuple(float(found.get(symbol, (0, 0))[0]) for symbol in link.symbols)
    return Monomial(powers, tuple(bool(found.get(symbol, (0, 0))[1]) for symbol in link.symbols))


def _monomial(e: Any) -> dict[Any, tuple[Any, int]] | None:
    if not e.free_symbols:
        return {}
    if e.is_Symbol:
        return {e: (sympy.Integer(1), 1)}
    if e.is_Mul:
        total: dict[Any, tuple[Any, int]] = {}
        for part in map(_monomial, e.args):
            if part is None:
                return None
            for symbol, (power, odd) in part.items():
                before = total.get(symbol, (0, 0))
                total[symbol] = before[0] + power, (before[1] + odd) % 2
        return total
    if (e.is_Pow and e.exp.is_Rational) or isinstance(e, sympy.Abs | sympy.sign):
        inner = _monomial(e.args[0])
        if inner is None:
            return None
        if isinstance(e, sympy.sign):
            return {symbol: (sympy.Integer(0), odd) for symbol, (_, odd) in inner.items()}
        if isinstance(e, sympy.Abs):
            return {symbol: (power, 0) for symbol, (power, _) in inner.items()}
        if not e.exp.is_Integer and any(odd for _, odd in inner.values()):
            return None
        return {symbol: (power * e.exp, int(odd * e.exp) % 2 if e.exp.is_Integer else 0) for symbol, (power, odd) in inner.items()}
    return None


def signs_only(link: Link) -> bool:
    """Whether f depends on the signs of its indices only.

    >>> signs_only(Link("sign(z1*z2) + sign(z3)")), signs_only(Link("sign(z1 + z2)"))
    (True, False)
    """
    found: dict[Any, Any] = {}
    for node in sympy.preorder_traversal(link.expression):
        if isinstance(node, sympy.sign | sympy.Heaviside) and _monomial(node.args[0]) is not None:
            found[node] = sympy.Integer(1)
    return not link.expression.xreplace(found).free_symbols


def radius(link: Link) -> Any | None:
    """Return f as an expression in one symbol ``z``, the length |z| of all its indices, where it depends on nothing else.

    >>> radius(Link("exp(z1**2 + z2**2)")), radius(Link("z1**2 + z2"))
    (exp(z**2), None)
    """
    symbols = link.symbols
    if len(symbols) < 2:
        return None
    length = sympy.Symbol("z", real=True)
    squares = sum(symbol**2 for symbol in symbols[:-1])
    found = sympy.simplify(link.expression.subs(symbols[-1], sympy.sqrt(length**2 - squares))) if _even(link) else None
    return found if found is not None and found.free_symbols <= {length} else None


def _even(link: Link) -> bool:
    """Whether f has equal values at a few points of equal length: what is not radial is told apart before it is simplified."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((8, link.indices))
    other = rng.standard_normal((8, link.indices))
    other *= (np.linalg.norm(z, axis=1) / np.linalg.norm(other, axis=1))[:, None]
    with np.errstate(all="ignore"):
        return bool(np.allclose(link.values(z), link.values(other), rtol=1e-9, atol=1e-12))


def degree(link: Link) -> float | None:
    """Return k with f(c z) = c^k f(z) for c > 0, or None: judged at a few points, to rounding.

    >>> degree(Link("z1**2 - abs(z1*z2)")), degree(Link("max(z1, z2) + 1"))
    (2.0, None)
    """
    z = np.random.default_rng(1).standard_normal((8, link.indices))
    with np.errstate(all="ignore"):
        one = link.values(z)
        ratios = [np.log(np.abs(link.values(c * z) / one)) / np.log(c) for c in (2.0, 3.0)]
        same = all(np.all(link.values(c * z) * one >= 0) for c in (2.0, 3.0))
    found = np.concatenate(ratios)
    if not same or not np.all(np.isfinite(found)) or np.ptp(found) > 1e-9:
        return None
    return float(np.round(found.mean(), 9)) + 0.0


def check_steps(steps: Any) -> int:
    """Return a number of iterations.

    >>> check_steps(3)
    3
    """
    return integer(steps, "steps", 0, 100_000, QuantityError)
