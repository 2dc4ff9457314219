"""Gaussian expectations of an activation in proved balls, for the checker alone: nothing of theoryck is imported.

A formula is read into a tree, evaluated on real and complex balls (Arb) and bounded at infinity; E phi(√s Z)^p, Z ~ N(0, 1), is
enclosed for all s of an interval at once.  What is used of mathematics, He_n the Hermite polynomials:

(a) E F(√(c(1+t)) Z) = Σ_j F_j t^j for |t| < 1, F_j = E F(√c Z) He_2j(Z)/(2^j j!), F of polynomial growth: the density of √s Z is
    analytic in s where Re s > 0, and its derivative in s is half its second one in x.
(b) |F_j| <= √(Var F(√c Z)) (πj)^(-1/4) for j >= 1, since E He_2j = 0, E He_2j² = (2j)! and C(2j, j) <= 4^j/√(πj).  So, cut at J,
    the series errs by γ t^J, |γ| <= √(Var F(√c Z)) (πJ)^(-1/4)/(1 - |t|).  For each t it is a polynomial with its last coefficient
    in a known ball: sums, products, divisions by t, mean values are allowed as for polynomials with ball coefficients.
(c) With h the distance of nodes, X = (N + 1/2) h and f analytic on [-X, X] x [-a, a], the residues of f(z)/(1 - e^(-2πiz/h)) give
    |h Σ_{|n|<=N} f(nh) - ∫_-X^X f| <= (∫_-X^X |f(x + ia)| + |f(x - ia)| dx)/(e^(2πa/h) - 1) + 4a sup |f| on the two vertical sides,
    where the kernel is at most 1 in modulus.  Activations are real on the real line, so |f(x - ia)| = |f(x + ia)|.
(d) The zeros of He_n lie in |z| <= 2√n, so |He_n(z)| <= |z|^n for real |z| >= √(2n).
(e) r(s) = E phi'(√s Z) = E Z phi(√s Z)/√s has the series of (a) with phi', r_j = E phi(√c Z) He_(2j+1)(Z)/(√c 2^j j!), and
    |r_j| <= √(E phi(√c Z)²/c) √(2j+1) (πj)^(-1/4) as in (b).  √(2j+1) <= √(2J+1) (j-J+1), so the sum of those beyond J is at most
    √(E phi(√c Z)² (2J+1)/c) (πJ)^(-1/4) |t|^J/(1 - |t|)^2.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_mat, arb_poly

from theoryck.proving.checker.fields import DECIMAL, Refused, exact, hull, need, show

ORDER = 18  # J of (b)
REACH = Fraction(1, 3)  # the series are used for |t| <= REACH
FAR = 16  # beyond |x| = FAR an activation is known by its behaviour at infinity
POWERS = (1, 2, 4, 8)  # of an activation whose expectations are taken
CUT = 12  # normal variables are integrated over |z| <= CUT: √(2n) < CUT for all He_n in use
INCREASING = ("tanh", "erf", "atan", "asinh", "exp", "log", "sqrt")
FUNCTIONS = (*INCREASING, "sin", "cos", "sech")
LARGEST_POWER = 16**3  # of powers in each other: rational numbers to larger ones take minutes, and memory
KINKS = {"relu": 1, "abs": 1, "max": 2, "min": 2}  # with their numbers of arguments


def powers(a: Any, n: int) -> list[Any]:
    """1, a, a², ..., a^n by multiplication, also where a contains 0."""
    return [*itertools.accumulate(itertools.repeat(a, n), operator.mul, initial=0 * a + 1)]


def parse(text: Any, kinks: bool = False) -> Any:
    """The tree of a formula in x: decimal numbers, pi, + - * /, powers n and n/2, FUNCTIONS, perhaps KINKS; nothing else."""

    def tree(node: Any) -> Any:
        match node:
            case ast.Constant() if DECIMAL.fullmatch(ast.get_source_segment(text, node) or ""):
                return Fraction(ast.get_source_segment(text, node) or "")
            case ast.Name(id="x"):
                return ("x",)
            case ast.Name(id="pi"):
                return arb.pi()
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return ("*", Fraction(-1), tree(a))
            case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as sign, right=b):
                return ("+", tree(a), tree(b) if isinstance(sign, ast.Add) else ("*", Fraction(-1), tree(b)))
            case ast.BinOp(left=a, op=ast.Mult() | ast.Div() as sign, right=b):
                return ("*", tree(a), tree(b) if isinstance(sign, ast.Mult) else ("power", tree(b), -1))
            case ast.BinOp(left=a, op=ast.Pow(), right=ast.UnaryOp(op=ast.USub(), operand=b)):
                return ("power", tree(ast.BinOp(a, ast.Pow(), b)), -1)
            case ast.BinOp(left=a, op=ast.Pow(), right=ast.Constant(value=int(n))) if 0 < n <= 16:
                return ("power", tree(a), n)
            case ast.BinOp(left=a, op=ast.Pow(), right=ast.BinOp(left=b, op=ast.Div(), right=ast.Constant(value=2))):
                return tree(ast.BinOp(ast.Call(ast.Name("sqrt"), [a], []), ast.Pow(), b))
            case ast.Call(func=ast.Name(id=name), args=[a], keywords=[]) if name in FUNCTIONS:
                return (name, tree(a))
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if kinks and len(parts) == KINKS.get(name):
                return (name, *map(tree, parts))
        raise Refused(f"activation: {ast.unparse(node)[:80]!r} is no formula of x that is read here")

    fits = isinstance(text, str) and re.fullmatch(r"[0-9A-Za-z.+*/(), -]{1,1000}", text) is not None
    need(fits, "activation", "it is no formula of at most 1000 characters")  # nor has it a comment that it would be stated with
    try:
        found = tree(ast.parse(text, mode="eval").body)
        need(highest_power(found) <= LARGEST_POWER, "activation", f"powers in each other are above {LARGEST_POWER}")
    except (SyntaxError, RecursionError, MemoryError):
        raise Refused(f"activation: {text[:80]!r} is no formula") from None
    return found


def highest_power(tree: Any) -> int:
    """The largest product of the exponents of powers in each other."""
    if not isinstance(tree, tuple):
        return 1
    inner = max((highest_power(part) for part in tree[1:] if not isinstance(part, int)), default=1)
    return inner * abs(tree[2]) if tree[0] == "power" else inner


def value(tree: Any, z: Any) -> Any:
    """A ball that contains the values of the activation on the ball z; where it is complex and finite, it is analytic on z."""
    if not isinstance(tree, tuple):
        return tree if isinstance(tree, arb) else exact(tree)
    if tree[0] == "x":
        return z
    a = value(tree[1], z)
    if tree[0] in ("+", "*", "max", "min"):
        b = value(tree[2], z)
        return a + b if tree[0] == "+" else a * b if tree[0] == "*" else getattr(a, tree[0])(b)
    if tree[0] in ("relu", "abs"):
        return a.max(arb(0)) if tree[0] == "relu" else abs(a)
    if tree[0] == "power":
        if tree[2] < 0:
            return 1 / a
        if isinstance(a, arb) and tree[2] % 2 == 0 and a.contains(0):
            return hull(0, powers(a.abs_upper(), tree[2])[-1])
        return powers(a, tree[2])[-1]
    if isinstance(a, acb):  # the cuts lie on the negative axis, and on the imaginary one from ±i on
        if (tree[0] in ("log", "sqrt") and not a.real > 0) or (tree[0] in ("atan", "asinh") and not abs(a.imag) < 1):
            return acb("nan")
        if tree[0] == "asinh":  # that of Arb is nan on wide balls; asinh is odd, and log(z + √(1 + z²)) where Re z >= 0
            b = -a if a.real.mid() < 0 else a
            whole = b + (1 + b * b).sqrt() if (1 + b * b).real > 0 else acb(0)
            return (whole.log() if b is a else -whole.log()) if whole.real > 0 else acb("nan")
    elif tree[0] in INCREASING:
        return getattr(a.lower(), tree[0])().union(getattr(a.upper(), tree[0])())
    return getattr(a, tree[0])()


def beyond(n: Fraction, far: int) -> arb:
    """A ball that holds x^n for every x >= far, n <= 0."""
    return hull(0, arb(far) ** exact(n)) if n < 0 else arb(1)


def infinity(tree: Any, sign: int, far: int = FAR) -> tuple[Fraction, arb]:
    """A power n and a ball I with activation(sign x) in x^n I for every x >= far >= FAR."""
    if not isinstance(tree, tuple):
        return Fraction(0), value(tree, arb(0))
    if tree[0] == "x":
        return Fraction(1), arb(sign)
    n, a = infinity(tree[1], sign, far)
    if tree[0] in "+*":
        m, b = infinity(tree[2], sign, far)
        return (n + m, a * b) if tree[0] == "*" else (max(n, m), a * beyond(n - max(n, m), far) + b * beyond(m - max(n, m), far))
    if tree[0] == "power":
        return n * tree[2], value(("power", ("x",), tree[2]), a)
    if tree[0] == "sqrt" and a > 0:
        return n / 2, a.sqrt()
    if n <= 0:
        return Fraction(0), value((tree[0], ("x",)), a * beyond(n, far))
    least = a.abs_lower() * arb(far) ** exact(n)  # of the modulus of the argument, which has the sign of a if a has one
    if tree[0] in ("tanh", "erf", "atan") and a.is_finite():
        most = arb.pi() / 2 if tree[0] == "atan" else arb(1)
        return Fraction(0), (arb(1) if a > 0 else arb(-1) if a < 0 else hull(-1, 1)) * hull(getattr(least, tree[0])(), most)
    if tree[0] in ("sin", "cos") and a.is_finite():
        return Fraction(0), hull(-1, 1)
    if ((tree[0] == "exp" and a < 0) or tree[0] == "sech") and exact(n) * least >= 8:  # then x^8 e^(-c x^n) decreases
        return Fraction(-8), hull(0, 2 * arb(far) ** 8 * (-least).exp())
    if tree[0] == "asinh" and least >= 4:  # asinh(y)/√y decreases where asinh y >= 2
        return n / 2, (arb(1) if a > 0 else arb(-1)) * a.abs_upper().sqrt() * hull(0, least.asinh() / least.sqrt())
    if tree[0] == "asinh" or (tree[0] == "log" and a > 0 and least >= 1):  # asinh y <= y, 0 <= log y <= y
        return n, a * hull(0, 1)
    raise Refused(f"activation: its behaviour at infinity is not known, where {tree[0]} is taken")


def parity(tree: Any) -> int:
    """1 where the activation is seen to be even, -1 where it is seen to be odd, else 0."""
    if not isinstance(tree, tuple) or tree[0] == "x":
        return -1 if isinstance(tree, tuple) else 1
    a = parity(tree[1])
    if tree[0] in "+*":
        b = parity(tree[2])
        return a * b if tree[0] == "*" else a if a == b else 0
    odd = tree[2] % 2 == 1 if tree[0] == "power" else tree[0] in ("tanh", "erf", "atan", "asinh", "sin")
    return a if odd or a == 0 else 1 if a == 1 or tree[0] in ("power", "cos", "sech") else 0


def derivative(tree: Any, z: arb) -> arb:
    """A ball that contains the values of the derivative of the activation on the ball z."""
    if not isinstance(tree, tuple) or tree[0] == "x":
        return arb(int(isinstance(tree, tuple)))
    a, slope = value(tree[1], z), derivative(tree[1], z)
    if tree[0] in "+*":
        other = derivative(tree[2], z)
        return slope + other if tree[0] == "+" else slope * value(tree[2], z) + a * other
    if tree[0] == "power":
        return slope * (-1 / (a * a) if tree[2] < 0 else tree[2] * powers(a, tree[2] - 1)[-1])
    b = value((tree[0], ("x",)), a)
    factors: dict[str, Callable[[], arb]] = {
        "tanh": lambda: 1 - b * b, "erf": lambda: 2 / arb.pi().sqrt() * value(("exp", ("x",)), -a * a),
        "atan": lambda: 1 / (1 + a * a), "asinh": lambda: 1 / (1 + a * a).sqrt(), "exp": lambda: b, "log": lambda: 1 / a,
        "sqrt": lambda: 1 / (2 * b), "sin": a.cos, "cos": lambda: -a.sin(), "sech": lambda: -b * value(("tanh", ("x",)), a),
    }  # fmt: skip
    return slope * factors[tree[0]]()


@functools.cache
def tail(n: int, cut: int = CUT) -> arb:
    """E |Z|^n over |Z| > cut."""
    return arb(2) ** (exact(Fraction(n)) / 2) * (arb(cut) ** 2 / 2).gamma_upper(exact(Fraction(n + 1, 2))) / arb.pi().sqrt()


class Activation:
    """An activation with phi(x)^2 <= flat + rise x^2 for every real x."""

    def __init__(self, tree: Any, flat: arb, rise: arb) -> None:
        self.tree, self.flat, self.rise, self.parity = tree, flat, rise, parity(tree)
        self.known: dict[tuple[arb, arb], tuple[arb_poly, arb_poly, arb_poly]] = {}

    def __call__(self, z: Any) -> Any:
        """A ball that contains its values on the ball z."""
        return value(self.tree, z)

    def expectations(self, s: arb) -> arb_mat:
        """E phi(√s Z)^p He_n(Z), a row for each n < 2 ORDER, a column for each p of POWERS, by (c) and (d)."""
        root = s.sqrt()

        def rows(values: list[Any], mirrored: list[Any]) -> arb_mat:
            """The powers of the values at z, and at -z."""
            squares = [(v, v * v) for v in (*values, *mirrored)]
            return arb_mat([[v, w, w * w, (w * w) * (w * w)] for v, w in squares])

        for a, nodes, at_nodes, edges, at_edges in map(quadrature, range(9)):
            ends = edges if self.parity else [*edges, *(-z for z in edges)]
            if not all(self(root * acb(z.real, hull(0, a))).is_finite() for z in ends):
                continue
            values, moduli = [self(root * z) for z in nodes], [self(root * z).abs_upper() for z in ends]
            found = at_nodes * rows(values, [self.parity * v if self.parity else self(-root * z) for v, z in zip(values, nodes)])
            error = at_edges * rows(moduli, moduli if self.parity else [])
            if all(error[0, i] < 1e-17 * found[0, i].abs_upper() for i in (1, 2)):
                break
        else:
            raise Refused(f"activation: it is not seen to be analytic and small in a strip of width 2^-8 at s = {show(s)}")
        size = (self.flat / CUT**2 + self.rise * s).sqrt()  # |phi(√s z)| <= size |z| for |z| >= CUT
        for n, (i, p) in itertools.product(range(2 * ORDER), enumerate(POWERS)):
            found[n, i] += arb(0, (error[n, i] + size**p * tail(n + p)).upper())
        return found

    def expand(self, c: arb) -> tuple[arb_poly, arb_poly, arb_poly]:
        """f(s), mu_2(s) and E phi'(√s Z), s = c(1 + t), |t| <= REACH, as polynomials in t, by (a), (b), (e)."""
        key = (c.mid(), c.rad())
        if key not in self.known:
            means, found = self.expectations(c), []
            scale = [2**j * math.factorial(j) for j in range(ORDER)]
            late = (arb.pi() * ORDER) ** exact(Fraction(1, 4)) * exact(1 - REACH)
            for i in (1, 2):
                spread = (means[0, i + 1] - means[0, i] ** 2).upper().max(0).sqrt()
                found.append(arb_poly([*(means[2 * j, i] / scale[j] for j in range(ORDER)), arb(0, (spread / late).upper())]))
            rest = (means[0, 1].upper() * (2 * ORDER + 1) / c).sqrt() / late / exact(1 - REACH)
            slope = arb_poly([*(means[2 * j + 1, 0] / (scale[j] * c.sqrt()) for j in range(ORDER)), arb(0, rest.upper())])
            self.known[key] = found[0], found[1] - found[0] * found[0], slope
        return self.known[key]


@functools.cache
def quadrature(halvings: int) -> tuple[arb, list[arb], arb_mat, list[acb], arb_mat]:
    """(c) for He_n times the normal density, n < 2 ORDER: a = 2^-halvings, nodes, weights, edges, weights, X = CUT + h/2.

    Of the nodes and edges those with Re z >= 0, of the weights those at z and then those at -z, as He_n(-z) = (-1)^n He_n(z).  On
    edges |F| counts, which is the same at conjugate points.
    """
    a, count = arb(2) ** -halvings, CUT * 8 * 2**halvings
    step, width = a / 8, a / 2

    def weigh(z: Any, by: arb) -> list[Any]:
        hermite = [0 * z + 1, z]
        for j in range(1, 2 * ORDER - 1):
            hermite.append(z * hermite[-1] - j * hermite[-2])
        return [*map((by * (-z * z / 2).exp() / (2 * arb.pi()).sqrt()).__mul__, hermite)]

    nodes = [step * i for i in range(count + 1)]
    above = [acb(width * hull(i, i + 1), a) for i in range(CUT * 2 ** (halvings + 1) + 1)]
    line, side = 2 * width / ((2 * arb.pi() * a / step).exp() - 1), acb(CUT + step / 2, hull(-a, a))
    at_nodes = [weigh(z, step if i else step / 2) for i, z in enumerate(nodes)]
    at_nodes += [[w if n % 2 == 0 else -w for n, w in enumerate(row)] for row in at_nodes]
    at_edges = 2 * [[w.abs_upper() for w in weigh(z, by)] for z, by in [*((z, line) for z in above), (side, 2 * a)]]
    return a, nodes, arb_mat(at_nodes).transpose(), [*above, side], arb_mat(at_edges).transpose()


def nonnegative(curve: arb_poly, low: arb, high: arb, depth: int = 9) -> bool:
    """Whether curve(t) >= 0 is seen for low <= t <= high: by the value in the middle and the slope, or on two halves."""
    middle, whole = ((low + high) / 2).mid(), low.union(high)  # which holds both ends, known up to rounding
    there = curve(middle)
    if there + curve.derivative()(whole) * (whole - middle) >= 0:
        return True
    return depth > 0 and not there < 0 and all(nonnegative(curve, *ends, depth - 1) for ends in ((low, middle), (middle, high)))
