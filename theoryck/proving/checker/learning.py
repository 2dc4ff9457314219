"""Linear networks that learn: information gap and variances of the free entropy (section 3 of the format), in closed form."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from theoryck.proving.checker.expectations import Activation, affine, parse
from theoryck.proving.checker.fields import DERIVED, TIGHT, bounds, exact, fields, need, number, show


def ratio(value: Any, field: str) -> Fraction:
    """A positive number from its decimal digits or as a quotient of two integers."""
    top, _, below = value.partition("/") if isinstance(value, str) else (value, "", "")
    need(not below or (top.isdigit() and below.isdigit()), field, f"{value!r} is neither a decimal number nor a quotient")
    number(top, field), number(below or "1", field)
    return Fraction(top) / Fraction(below or "1")


def gain(text: Any, depth: int) -> Fraction:
    """g = b^(2L) of an activation b x, b != 0 rational."""
    a, b = affine(parse(text))
    need(a == 0 != b, "activation", f"{text} is not b x with b != 0")
    return b ** (2 * depth)


def check_information_gap(statement: list[Any]) -> str:
    """The information of a linear network below that of the linear model (3.1)."""
    text, depth, _, start, constant, proof = statement
    (noise,), g = fields(noise=ratio)(proof, "proof"), gain(text, depth)
    bounds(constant, exact(Fraction(depth, 2) * (1 + Fraction(1, 3 * start)) * g / (g + noise)), "constant", DERIVED)
    return f"|I_n^({depth}) - I_n^(0)|/n <= {{constant}}/d for every n >= 1, d >= {start} and all widths >= d, Delta = {noise}"


def check_free_entropy(statement: list[Any]) -> str:
    """The variance of the free entropy of a linear network (3.2)."""
    text, depth, _, start, constant, proof = statement
    need(start >= 17, "from", f"{start} is less than 17")
    (noise,), g, n = fields(noise=ratio)(proof, "proof"), gain(text, depth), Fraction(start)

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
    bounds(constant, true, "constant", DERIVED)
    return f"Var((1/n) log Z) <= {{constant}}/d for every d >= {start}, n >= d and all widths >= d, Delta = {noise}"


def check_linear_model(statement: list[Any]) -> str:
    """The variance of the free entropy of the linear model, from both sides (3.3)."""
    text, _, _, start, constant, proof, least = statement
    if isinstance(proof, dict) and "range" in proof:
        noise, g = fields(noise=ratio, range=ratio)(proof, "proof")
        bounds(exact(g), Activation(text).largest_square(exact(g), "proof.range"), "proof.range", TIGHT)
    else:
        (noise,), g = fields(noise=ratio)(proof, "proof"), gain(text, statement[1])
    need(least == exact(Fraction(1, 2)), "least", f"{show(least)} is not 0.5")
    bounds(constant, exact(Fraction(1, 2) + g / (4 * noise * start)), "constant", DERIVED)
    return f"0.5/n <= Var((1/n) log Z^(0)) <= {{constant}}/n for every n >= {start}, Delta = {noise}"
