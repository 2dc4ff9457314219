"""Linear networks that learn: information gap and variances of the free entropy (section 3 of the format), in closed form."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from theoryck.proving.checker.envelopes import read_range
from theoryck.proving.checker.expectations import parse
from theoryck.proving.checker.fields import DERIVED, bounds, exact, fields, need, number, show
from theoryck.proving.checker.polynomials import polynomial


def ratio(value: Any, field: str) -> Fraction:
    """A positive number from its decimal digits or as a quotient of two integers."""
    top, _, below = value.partition("/") if isinstance(value, str) else (value, "", "")
    need(not below or (top.isdigit() and below.isdigit()), field, f"{value!r} is neither a decimal number nor a quotient")
    number(top, field), number(below or "1", field)
    return Fraction(top) / Fraction(below or "1")


def gain(statement: dict[str, Any]) -> Fraction:
    """g = b^(2L) of an activation b x, b != 0 rational."""
    text, phi = statement["activation"], polynomial(parse(statement["activation"]))
    need(phi.degree() == 1 and phi[0] == 0, "activation", f"{text} is not b x with b != 0")
    return Fraction(int(phi[1].p), int(phi[1].q)) ** (2 * statement["depth"])


def check_information_gap(statement: dict[str, Any]) -> None:
    """The information of a linear network below that of the linear model (3.1)."""
    (noise,), g = fields(noise=ratio)(statement["proof"], "proof").values(), gain(statement)
    true = Fraction(statement["depth"], 2) * (1 + Fraction(1, 3 * statement["from"])) * g / (g + noise)
    bounds(statement["constant"], exact(true), "constant", DERIVED)


def check_free_entropy(statement: dict[str, Any]) -> None:
    """The variance of the free entropy of a linear network (3.2)."""
    depth, start = statement["depth"], statement["from"]
    need(start >= 17, "from", f"{start} is less than 17")
    (noise,), g, n = fields(noise=ratio)(statement["proof"], "proof").values(), gain(statement), Fraction(start)

    def up(j: int) -> Fraction:
        return math.prod((1 + 2 * i / n for i in range(j)), start=Fraction(1))

    def down(j: int) -> Fraction:
        return 1 / math.prod((1 - 2 * i / n for i in range(1, j + 1)), start=Fraction(1))

    v, w = (exact(each(8) ** depth - 2 * each(4) ** depth + 1) for each in (up, down))
    a, b = (1 + (exact(each(4) ** depth) - 1 + root.sqrt()) / 2 for each, root in ((up, v), (down, w)))
    d = exact(down(2)) + (exact(down(4)) * v).sqrt()
    last = exact(g / (4 * noise)).sqrt() + exact(Fraction(depth, 4) * (1 + 1 / (3 * n)))
    first, second = 1 + 2 / n, (1 + 2 / n) * (1 + 4 / n) * (1 + 6 / n)
    true = (a * b * exact(first)).sqrt() + depth * (d * b * exact(second)).sqrt() + last**2 / start
    bounds(statement["constant"], true, "constant", DERIVED)


def check_linear_model(statement: dict[str, Any]) -> None:
    """The variance of the free entropy of the linear model, from both sides (3.3)."""
    proof, least = statement["proof"], statement["least"]
    if isinstance(proof, dict) and "range" in proof:
        noise, g = fields(noise=ratio, range=ratio)(proof, "proof").values()
        read_range(parse(statement["activation"]), proof["range"], "proof.range")
    else:
        (noise,), g = fields(noise=ratio)(proof, "proof").values(), gain(statement)
    need(least == exact(Fraction(1, 2)), "least", f"{show(least)} is not 0.5")
    bounds(statement["constant"], exact(Fraction(1, 2) + g / (4 * noise * statement["from"])), "constant", DERIVED)
