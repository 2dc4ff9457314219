"""What the arguments of statements must be: quantities, paths, rates and numbers, each named where it is not.

A constant may be given as text, such as "sqrt(2/pi)": read by the whitelist of the activations, enclosed by interval arithmetic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, from_ball, precision, proved_digits
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.expression import FUNCTIONS, ExpressionError, read_text
from theoryck.numerics.functions.trees import constant_ball
from theoryck.numerics.proved.arithmetic import enclose
from theoryck.quantities import Quantity
from theoryck.quantities.base import QuantityError, need_sizes
from theoryck.rates import Rate, ScalingPath
from theoryck.rates.monomials import close_match, shown
from theoryck.records import Enclosure

Number = int | float | Fraction | Decimal

Paths = ScalingPath | Sequence[ScalingPath]

ATTEMPTS = 4
KNOWN = {"pi", "e", *FUNCTIONS}

_NUMBER = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")

LARGEST_SHARE = 10.0  # of a budget: beyond that a claim belongs to a larger profile


class ClaimError(ValueError):
    """A claim that cannot be turned into a statement; the message names the claim and the argument.

    >>> from theoryck.claims import Bound
    >>> Bound(3, rate="1/d", along=ScalingPath(d=(16, 32)))
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: quantity must be a quantity (such as theoryck.norm_deviation(network, power=2)
    or a function decorated with @theoryck.quantity), got 3
    """


def check_quantity(value: Any, argument: str) -> Quantity:
    """Return what is a quantity; ClaimError for anything else."""
    if not isinstance(value, Quantity):
        raise ClaimError(
            f"{argument} must be a quantity (such as theoryck.norm_deviation(network, power=2) or a function decorated with "
            f"@theoryck.quantity), got {value!r}"
        )
    return value


def check_paths(value: Any, quantity: Quantity) -> None:
    """Raise ClaimError unless it is one path, or a list of different paths, with the sizes that the quantity needs."""
    if isinstance(value, ScalingPath):
        try:
            need_sizes(quantity.name, quantity.size_names or (), value.points[0], quantity.whole_sizes)
        except QuantityError as error:
            raise ClaimError(f"along: {error}") from None
        return
    if not isinstance(value, list | tuple):
        raise ClaimError(f"along must be a theoryck.ScalingPath or a list of them, got {value!r}")
    if not value:
        raise ClaimError("along must name at least one theoryck.ScalingPath, got an empty list")
    if all(isinstance(size, Real) for size in value):
        listed = ", ".join(map(repr, value))
        raise ClaimError(f"along must say of which size these are the values, such as tc.ScalingPath(n=[{listed}]); got {value!r}")
    for index, path in enumerate(value):
        if not isinstance(path, ScalingPath):
            raise ClaimError(f"along must be a list of theoryck.ScalingPath only, got {path!r} at position {index}")
        if path in value[:index]:
            raise ClaimError(
                f"along names the path {path_text(path)} twice, at positions {value.index(path)} and {index}: drop one"
            )
        check_paths(path, quantity)


def path_text(path: ScalingPath, whole: bool = False) -> str:
    """Return a path on one line, its base last; sequences by their ends unless they are wanted whole.

    >>> path_text(ScalingPath(d=(16, 32, 64), n="2*d"))
    'n = 2*d, d = 16..64'
    """
    texts = path.describe()
    names = [*(name for name in texts if name != path.base), path.base]
    return ", ".join(f"{name} = {texts[name] if whole else _ends(texts[name])}" for name in names)


def path_texts(paths: Sequence[ScalingPath]) -> list[str]:
    """Return a text for each of several paths, all of them different: they name instances, and seeds are made of them."""
    short = [path_text(path) for path in paths]
    return [path_text(path, whole=short.count(text) > 1) for path, text in zip(paths, short, strict=True)]


def _ends(text: str) -> str:
    sizes = text.split(", ")
    return f"{sizes[0]}..{sizes[-1]}" if len(sizes) > 1 and all(_NUMBER.fullmatch(size) for size in sizes) else text


def check_texts(values: Sequence[Any], argument: str) -> None:
    """Raise ClaimError for a text that spells no constant; other values are looked at when the prediction is made."""
    for value in values:
        if isinstance(value, str):
            enclosed(value, argument, 15)


def numeric(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters that are rational numbers: the ones that may appear in a rate."""
    return {
        name: value
        for name, value in parameters.items()
        if isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    }


def checked_rate(rate: Any, along: ScalingPath, parameters: Mapping[str, Any]) -> str:
    """Parse the rate with the instance's parameters: every other name must be a size of the path."""
    text = str(rate)
    parsed = Rate.parse(text, **numeric(parameters))
    parsed.exponent(along)
    parsed.log_value(along.points[0])  # refused where it is not positive, as a power of the size 0
    return text


def check_no_atom(distribution: Any) -> None:
    """Raise ClaimError for a law that gives one number a probability: its draws would pile up between two edges."""
    levels = np.arange(1, 64) / 64
    places = np.asarray(distribution.ppf(levels), dtype=np.float64)
    same = np.flatnonzero(np.diff(places) == 0)
    if len(same):
        raise ClaimError(
            f"distribution must be continuous, but {distribution!r} has an atom at {places[same[0]]:g}: give the law of the rest "
            "(of a spectrum, law.nonzero()), and leave the atom out of the statistic too"
        )


def enclosed(value: Any, argument: str, digits: int) -> Enclosure:
    """Turn a number, a constant in text such as "sqrt(2/pi)", an enclosure or an exact quantity into an enclosure."""
    if isinstance(value, Enclosure):
        return value
    if isinstance(value, str):
        try:
            return constant(value, digits)
        except ConstantError as error:
            raise ClaimError(f"{argument}: {error}") from None
    if isinstance(value, Quantity):
        exact = value.exact({}, digits)
        if not isinstance(exact, Enclosure):
            raise ClaimError(f"{argument} must have an exact value, but {value.name} has none; give a number or an exact quantity")
        return exact
    if isinstance(value, Fraction):
        return enclose(value, digits)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value):
        return Enclosure(Decimal(value), Decimal(0))
    raise ClaimError(f"{argument} must be a finite number, a text such as 'sqrt(2/pi)' or an exact quantity, got {value!r}")


class ConstantError(ValueError):
    """A text that spells no constant.

    >>> constant("2**(1/2")
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ConstantError: cannot read '2**(1/2': write it like 'sqrt(2/pi)' or '3/4'
    """


def constant(text: str, digits: int = 30) -> Enclosure:
    """Return a proved enclosure, to ``digits`` digits, of the number that ``text`` spells.

    Numbers, ``pi``, ``e``, the operations, ``**`` and the functions of activations may occur; sizes and the arguments of a claim
    may not.  Raises ConstantError.

    >>> print(constant("sqrt(2/pi)", digits=15).midpoint)
    0.79788456080286535587976
    >>> constant("2*k")
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ConstantError: 'k' in '2*k' is not a number: what depends on an argument of the claim is
    computed outside the quotes
    """
    if not text.strip():
        raise ConstantError("the text is empty: write a constant like 'sqrt(2/pi)' or '3/4'")
    names = [name for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*", text) if name not in KNOWN]
    if names:
        near = close_match(names[0], KNOWN)
        hint = near if near.startswith("; did") else ": what depends on an argument of the claim is computed outside the quotes"
        raise ConstantError(f"{names[0]!r} in {shown(text)} is not a number{hint}")
    try:
        expression = read_text(text)
        return (
            enclose(Fraction(int(expression.p), int(expression.q)), digits) if expression.is_Rational else _ball(expression, digits)
        )
    except (ExpressionError, ExactError) as error:
        problem = str(error).split(": SyntaxError", 1)[0].removeprefix("cannot read the expression ")
        if problem == str(error):
            raise ConstantError(problem) from None
        raise ConstantError(f"cannot read {problem}: write it like 'sqrt(2/pi)' or '3/4'") from None


def _ball(expression: Any, digits: int) -> Enclosure:
    lost = 0
    for _ in range(ATTEMPTS):  # a difference of near numbers loses digits
        with precision(bits_for(digits) + lost):
            ball = constant_ball(expression)
            if proved_digits(ball) >= digits:
                break
            lost = 2 * lost + int(digits * BITS_PER_DIGIT)
    with precision(bits_for(digits) + lost):
        return from_ball(ball, digits)
