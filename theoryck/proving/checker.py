"""Re-verifies a certificate from its record alone: no search, no code of a finder, nothing in the record executed.

``python -m theoryck.proving.checker FILE`` says what is proved, or names the field that is refused.  What each field of a record
asserts, and why the conclusion follows, is the text of ``theoryck.records.certificates``; its sections are quoted here.  Numbers
are balls (Arb), a comparison of balls holds where it is certain, and enclosures of expectations come from ``expectations`` beside
this module.  Besides these two, flint and the standard library, nothing has to be trusted.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, arb_poly, ctx

from theoryck.proving.expectations import DECIMAL, REACH, Activation, Refused, affine, exact, hull, need, nonnegative, parse, show

TIGHT, DERIVED = Fraction(1005, 1000), Fraction(1000001, 1000000)  # how far a stated number may lie above what it bounds
LEAST = Fraction(1, 10**9)  # and up to this it may


# A record: its fields, each read by a function of its value and its name.

Reader = Callable[[Any, str], Any]


def number(value: Any, field: str) -> arb:
    """A positive number from its decimal digits."""
    need(isinstance(value, str) and DECIMAL.fullmatch(value) is not None, field, f"{value!r} is no decimal number")
    need(Fraction(value) > 0, field, "it is not positive")
    return exact(Fraction(value))


def integer(low: int, high: int) -> Reader:
    """Read an integer between two ends."""

    def read(value: Any, field: str) -> int:
        need(type(value) is int and low <= value <= high, field, f"{value!r} is no integer between {low} and {high}")
        return int(value)

    return read


def word(expected: str) -> Reader:
    """Read a text that is known."""
    return lambda value, field: need(value == expected, field, f"{value!r} is not {expected!r}")


def items(count: int, reader: Reader) -> Reader:
    """Read a list of so many items."""

    def read(value: Any, field: str) -> list[Any]:
        need(type(value) is list and len(value) == count, field, f"it is no list of {count} items")
        return [reader(each, f"{field}[{i}]") for i, each in enumerate(value)]

    return read


def fields(**readers: Reader) -> Reader:
    """Read an object with these keys and no other; their values in this order."""

    def read(value: Any, field: str) -> list[Any]:
        need(isinstance(value, dict), field or "certificate", "it is no object")
        for key in {*value} ^ {*readers}:
            raise Refused(f"{field}.{key}: {'unknown' if key in value else 'missing'}".lstrip("."))
        return [reader(value[key], f"{field}.{key}".lstrip(".")) for key, reader in readers.items()]

    return read


def as_it_is(value: Any, field: str) -> Any:
    """Leave it to be read later."""
    return value


def bounds(stated: arb, true: arb, field: str, slack: Fraction) -> arb:
    """Refuse a stated number that is not seen to be at least the true one, or that lies further above it than it may."""
    need(stated >= true, field, f"{show(stated)} is not seen to be at least {show(true)}")
    need(stated <= exact(slack) * true.max(exact(LEAST)), field, f"{show(stated)} is too far above {show(true)}")
    return stated


def partitions(n: int, least: int = 2) -> Iterator[tuple[int, ...]]:
    """The partitions of n into parts of at least ``least``, in increasing order."""
    if n == 0:
        yield ()
    for first in range(least, n + 1):
        yield from ((first, *rest) for rest in partitions(n - first, first))


def ways(parts: tuple[int, ...]) -> int:
    """The number of partitions of a set into parts of these sizes."""
    return math.factorial(sum(parts)) // math.prod(math.factorial(a) for a in (*parts, *(parts.count(b) for b in {*parts})))


# Method "comparison".

LAYER = {"centre": as_it_is, "slope": number, "curvature": number, "chord": number, "deviation": number, "growth": number}


def check_layer(phi: Activation, sigma: arb, top: arb, layer: list[Any], field: str) -> tuple[arb, list[arb]]:
    """The next sigma, and alpha, B, Lambda, n, delta after a proof of their inequalities (2.2)."""
    centre, alpha, bend, chord, deviation, growth, (first, last) = layer
    error = abs(sigma - number(centre, f"{field}.centre"))
    close = error <= exact(Fraction(10) ** -len(centre.partition(".")[2])) and error <= sigma / 1000
    need(close, f"{field}.centre", f"{centre} is not {show(sigma)}, or has too few digits")
    f, fourth = at_sigma = phi.expand(sigma, (2, 4))
    after, slope, noise, reach = f[0], f[1] / sigma, (fourth[0] - f[0] ** 2).sqrt(), exact(REACH)
    bounds(alpha, abs(slope), f"{field}.slope", TIGHT)
    bounds(deviation, noise, f"{field}.deviation", TIGHT)
    # For chord, curvature, growth: |numerator| <= stated number times denominator (for growth without modulus), in pieces of s.
    pieces = []
    need(first <= 0 <= last, f"{field}.cells", "0 does not lie between them")
    for i in range(first, last + 1):
        c, sign = sigma * arb(2) ** i, -1 if i < 0 else 1
        f, fourth = phi.expand(c, (2, 4)) if i else at_sigma
        x, excess = arb_poly([c - sigma, c]), fourth - f * f - noise**2
        over, under = [f - after, f - after - slope * x, excess], [sign * x, x * x, 2 * noise * sign * x + growth * x * x]
        if i:
            pieces.append((-reach, reach, over, under))
            continue
        for sign, low, high in ((-1, -reach, arb(0)), (1, arb(0), reach)):  # divided by |t|, t² and |t|, which cancel
            over = [arb_poly(f.coeffs()[1:]), arb_poly(f.coeffs()[2:]), sign * arb_poly(excess.coeffs()[1:])]
            under = [arb_poly([c]), arb_poly([c * c]), arb_poly([2 * noise * c, sign * growth * c * c])]
            pieces.append((low, high, over, under))
    # s <= s0, below the first piece, by the values of phi where k <= |Z| < k + 1; beyond the last one, 0 <= f <= R, nu <= R/2.
    s0, x = sigma * arb(2) ** first * (1 - reach), sigma * (arb(2) ** last * (1 + reach) - 1)
    chance = [((k + 1) / arb(2).sqrt()).erf() - (k / arb(2).sqrt()).erf() for k in range(11)] + [(11 / arb(2).sqrt()).erfc()]
    squares = [v * v for v in (phi(arb(0, (k * s0.sqrt()).upper())) for k in range(1, 12))] + [hull(0, top)]
    f, start = sum(map(operator.mul, chance, squares)), phi(arb(0)) ** 2
    excess = sum(p * (w - start) * (w - start) for p, w in zip(chance, squares)) - noise**2
    y, most = sigma - s0, after.max(top - after)
    ends = [
        [abs(f - after) / y, abs(f - after + slope * hull(y, sigma)) / y**2, excess / (2 * noise * y + growth * y**2)],
        [most / x, (most + abs(slope) * x) / x**2, (top**2 / 4 - noise**2) / (2 * noise * x + growth * x**2)],
    ]
    for k, (name, stated) in enumerate((("chord", chord), ("curvature", bend), ("growth", growth))):
        seen, sides = functools.reduce(arb.max, [end[k].lower() for end in ends]), (1, -1) if k < 2 else (1,)
        fits = all(stated >= end[k].upper() for end in ends)
        for low, high, over, under in pieces:
            fits = fits and all(nonnegative(stated * under[k] - side * over[k], low, high) for side in sides)
            for t in (low + (high - low) * j / 24 for j in range(25)):
                seen = seen.max(functools.reduce(arb.max, [side * over[k](t) for side in sides]).lower() / under[k](t))
        need(fits, f"{field}.{name}", f"{show(stated)} is not seen to be large enough")
        need(stated <= exact(TIGHT) * seen.max(exact(LEAST)), f"{field}.{name}", f"{show(stated)} is too far above {show(seen)}")
    return after, [alpha, bend, chord, deviation, growth]


def next_moments(order: int, count: int, root: arb, top: arb, even: list[arb], layer: list[arb]) -> list[arb]:
    """The numbers H_(l+1,j), j = 2, 4, ..., 2 count, from those of layer l and its alpha, B, Lambda, n, delta (2.3)."""
    alpha, bend, chord, noise, growth = layer
    h = [even[r // 2] if r % 2 == 0 else (even[r // 2] * even[r // 2 + 1]).sqrt() for r in range(order + 1)]
    gamma = [chord**r * h[r] for r in range(order + 1)]
    for r in range(1, order // 2 + 1):
        gamma[r] = gamma[r].min((alpha * h[r].root(r) + bend * h[2 * r].root(r) * root) ** r)

    def mixed(p: int, m: int) -> arb:
        """w_(p,m)."""
        total = noise ** (2 * m) * gamma[p]
        for u in range(1, 2 * m + 1):
            term = (gamma[p + u] ** p * h[p + u] ** u).root(p + u)
            total += math.comb(2 * m, u) * noise ** (2 * m - u) * (growth * root) ** u * term
        return total.min((top / 2) ** (2 * m) * gamma[p])

    found = []
    for j in range(2, 2 * count + 1, 2):
        found.append(gamma[j])
        for i in range(2, j + 1):
            for parts in partitions(i):
                m = len(parts)
                found[-1] += math.comb(j, i) * ways(parts) * (root * top) ** (i - 2 * m) * mixed(j - i, m)
    return found


def chi_square_moment(j: int, root: arb) -> arb:
    """The number H_(0,j) of layer 0 (2.3); root is 1/√N."""
    products = [(a, math.prod(2 ** (b - 1) * math.factorial(b - 1) for b in a)) for a in partitions(j)]
    return sum((ways(a) * product * root ** (j - 2 * len(a)) for a, product in products), arb(0))


def check_comparison(statement: list[Any]) -> str:
    """Norm deviations by comparison with a linear map (section 2)."""
    text, depth, k, start, constant, proof = statement
    phi, sigma, root, even = Activation(text), arb(1), exact(Fraction(start)).rsqrt(), [arb(1)]
    layer = fields(**LAYER, cells=items(2, integer(-60, 60)))
    given = fields(range=number, top=integer(k, 24), layers=items(depth, layer), moments=items(depth + 1, as_it_is))(proof, "proof")
    top, order, layers, moments = given
    need(order % 2 == 0, "proof.top", f"{order} is odd")
    counts = [order // 2] * depth + [(k + 1) // 2]
    stated = [items(count, number)(moments[i], f"proof.moments[{i}]") for i, count in enumerate(counts)]
    bounds(top, phi.largest_square(top, "proof.range"), "proof.range", TIGHT)
    for i, count in enumerate(counts):
        if i:
            sigma, numbers = check_layer(phi, sigma, top, layers[i - 1], f"proof.layers[{i - 1}]")
            true = next_moments(order, count, root, top, even, numbers)
        else:
            true = [chi_square_moment(j, root) for j in range(2, 2 * count + 1, 2)]
        even = [arb(1)] + [bounds(*pair, f"proof.moments[{i}][{j}]", DERIVED) for j, pair in enumerate(zip(stated[i], true))]
    bounds(constant, even[k // 2] if k % 2 == 0 else (even[k // 2] * even[k // 2 + 1]).sqrt(), "constant", DERIVED)
    return f"E| |x_{depth}|^2 - sigma_{depth} |^{k} <= {show(constant)} d^(-{k}/2) for every d >= {start} and all widths >= d"


# Section 3: linear networks that learn.
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
    return f"|I_n^({depth}) - I_n^(0)|/n <= {show(constant)}/d for every n >= 1, d >= {start} and all widths >= d"


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
    return f"Var((1/n) log Z) <= {show(constant)}/d for every d >= {start}, n >= d and all widths >= d"


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
    return f"0.5/n <= Var((1/n) log Z^(0)) <= {show(constant)}/n for every n >= {start}"


# quantity, method, widths, least depth, power, further fields, check
KINDS: tuple[tuple[str, str, str, int, Reader, dict[str, Reader], Callable[[list[Any]], str]], ...] = (
    ("norm-deviation", "comparison", "all widths >= d", 0, integer(1, 16), {}, check_comparison),
    ("information-gap", "digamma", "all widths >= d", 1, integer(2, 2), {}, check_information_gap),
    ("free-entropy-variance", "poincare", "samples and all widths >= d", 1, integer(2, 2), {}, check_free_entropy),
    ("linear-model-variance", "poincare", "samples >= d", 1, integer(2, 2), {"least": number}, check_linear_model),
)


def check(record: Any) -> str:
    """Return the sentence that a certificate, as the object that its JSON text spells, proves.

    Raises Refused, with the field, where an inequality is not seen to hold, a number is not as tight as the format asks, or
    anything is missing, unknown or of another kind.
    """
    with ctx.workprec(80):
        need(isinstance(record, dict), "certificate", "it is no object")
        for quantity, method, widths, depth, power, extra, check_kind in KINDS:
            if record.get("quantity") == quantity and record.get("method") == method:
                first = {"format": integer(1, 1), "quantity": as_it_is, "method": as_it_is, "widths": word(widths)}
                rest = {"activation": as_it_is, "depth": integer(depth, 8), "power": power, "from": integer(1, 10**30)}
                statement = fields(**first, **rest, constant=number, proof=as_it_is, **extra)(record, "")[len(first) :]
                return f"{check_kind(statement)}, phi(x) = {record['activation']}"
        raise Refused(f"quantity: {record.get('quantity')!r} by method {record.get('method')!r} is not known")


if __name__ == "__main__":
    try:
        print(check(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except (OSError, ValueError, IndexError) as error:
        raise SystemExit(f"refused: {error}") from None
