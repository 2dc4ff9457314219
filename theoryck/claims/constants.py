"""Constants given as text, such as "sqrt(2/pi)": read by the whitelist of the activations, enclosed by interval arithmetic."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, from_ball, precision, proved_digits
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.expression import FUNCTIONS, ExpressionError, read_text
from theoryck.numerics.functions.trees import constant_ball
from theoryck.numerics.proved.arithmetic import enclose
from theoryck.rates.parsing import close_match, shown
from theoryck.records import Enclosure

ATTEMPTS = 4
KNOWN = {"pi", "e", *FUNCTIONS}


class ConstantError(ValueError):
    """A text that spells no constant.

    >>> constant("2**(1/2")
    Traceback (most recent call last):
        ...
    theoryck.claims.constants.ConstantError: cannot read '2**(1/2': write it like 'sqrt(2/pi)' or '3/4'
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
    theoryck.claims.constants.ConstantError: 'k' in '2*k' is not a number: what depends on an argument of the claim is
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
