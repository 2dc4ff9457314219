"""Four certificates verified from their printed derivation alone, by intervals of mpmath: neither finder nor checker takes part.

What is known of tanh: t = tanh x has t' = 1 - t^2, so that m_p(s) = E tanh(sqrt(s) Z)^p, p even, increases from 0 at s = 0 and

    m_p' = (1/2) E (t^p)'' = (p (p-1) m_(p-2) - 2 p^2 m_p + p (p+1) m_(p+2))/2,      m_0 = 1,

and |tanh z| <= 1 for |Im z| <= pi/4, so that the trapezoidal rule of step h errs by at most
2 e^(a^2/2)/(e^(2 pi a/h) - 1), a = pi/(4 sqrt(s)).
"""

import functools
import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from mpmath import iv

from theoryck.records import Certificate, Proof, Scope
from theoryck.report.proofs import derivation

SAMPLES = Path(__file__).parents[1] / "data" / "certificates"
CUT = 9  # what the rule leaves out beyond is at most 2 P(Z > 9) + 2 h p(9) < 1e-17


def printed(name):
    """The derivation of a sample, on one line."""
    found = Certificate.from_json(json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8")))
    least = None if found.least is None else Decimal(found.least)
    proof = Proof("q", "rate", Scope("d", found.start, Decimal(found.constant), least, found.method, None), found)
    return " ".join(derivation(proof).split())


class Wrong(Exception):
    """A line that is not seen to hold."""


def need(condition, line):
    if condition is not True:  # comparisons of intervals that overlap are None
        raise Wrong(line)


def numbers(pattern, text):
    """The numbers that a line states, all that there are."""
    return [iv.mpf(each) for each in re.findall(pattern + r" (\d[\d.]*)", text)]


# -- tanh in intervals ------------------------------------------------------------------------------------------------------------


@functools.cache
def at(s):
    """m_0, m_2, ..., m_8 at a float s >= 0."""
    if s == 0:
        return [iv.mpf(1)] + [iv.mpf(0)] * 4
    root = iv.sqrt(iv.mpf(s))
    a = min(0.785 / math.sqrt(s) * (1 - 1e-9), 3.0)  # below pi/(4 sqrt(s))
    h = iv.mpf(2.0 ** math.floor(math.log2(2 * math.pi * a / (34 + a * a / 2))))
    error = 2 * iv.exp(iv.mpf(a) ** 2 / 2) / (iv.exp(2 * iv.pi * a / h) - 1) + iv.mpf("1e-17")
    sums = [iv.mpf(0)] * 4
    for i in range(1, math.ceil(CUT / float(h.a)) + 1):
        weight = 2 * h * iv.exp(-((i * h) ** 2) / 2) / iv.sqrt(2 * iv.pi)
        e = iv.exp(-2 * root * i * h)
        t = ((1 - e) / (1 + e)) ** 2
        for j in range(4):
            weight = weight * t
            sums[j] = sums[j] + weight
    return [iv.mpf(1)] + [each + iv.mpf([-1, 1]) * error for each in sums]


class Curves:
    """f and three derivatives, V = nu^2 and two, on an interval [low, high] of s; m_p increases."""

    def __init__(self, low, high):
        m = [iv.mpf([p.a, q.b]) for p, q in zip(at(low), at(high), strict=True)]
        slopes = [(2 * j * (2 * j - 1) * m[j - 1] - 8 * j * j * m[j] + 2 * j * (2 * j + 1) * m[j + 1]) / 2 for j in (1, 2, 3)]
        self.f, self.slope, self.bend = m[1], slopes[0], -4 * slopes[0] + 3 * slopes[1]
        self.spread, self.spread_slope = m[2] - m[1] ** 2, slopes[1] - 2 * m[1] * slopes[0]
        fourth = 6 * slopes[0] - 16 * slopes[1] + 10 * slopes[2]  # m_4''
        self.third, self.spread_bend = -4 * self.bend + 3 * fourth, fourth - 2 * slopes[0] ** 2 - 2 * m[1] * self.bend


def everywhere(holds, low, high, line, depth=14):
    """Refuse unless ``holds`` is seen on pieces of [low, high]."""
    if holds(low, high) is True:
        return
    need(depth > 0, line)
    middle = (low + high) / 2
    everywhere(holds, low, middle, line, depth - 1)
    everywhere(holds, middle, high, line, depth - 1)


def differ(sigma, value, rate):
    """Whether value(s) >= 0 on an interval, by its value in the middle and its slope."""

    def holds(low, high):
        middle = (low + high) / 2
        point, piece, half = Curves(middle, middle), Curves(low, high), iv.mpf(high - low) / 2
        whole = iv.mpf([low, high]) - sigma
        return value(point, middle - sigma) - abs(rate(piece, whole)) * half >= 0

    return holds


def float_around(sigma):
    """A float near sigma, and how far sigma may be from it."""
    return float(sigma.mid), 0.0 if sigma.delta == 0 else float(sigma.delta) * 2 + 1e-15


def layer_of_tanh(sigma, stated, largest):
    """Verify the lines of a layer; the next sigma."""
    centre, alpha, bend, chord, noise, growth = stated
    s, reach = float_around(sigma)
    there = Curves(s - reach, s + reach)
    after, slope, spread = there.f, there.slope, there.spread
    need(abs(sigma - centre) < iv.mpf("1e-11"), "centre")
    need(abs(slope) <= alpha, "alpha")
    need(iv.sqrt(spread) <= noise, "n")
    nu, far = iv.sqrt(spread), 1.0
    most = max(after.b, (largest - after).b)
    while not (chord * far >= most and bend * far**2 >= most + alpha * far and nu + growth * far >= largest / 2):
        far *= 2  # f and 2 nu lie between 0 and R
        need(far < 1000, "far out")

    def outside(side, sign, low, high):
        room = differ(sigma, lambda c, x: chord * side * x - sign * (c.f - after), lambda c, _: chord * side - sign * c.slope)
        everywhere(room, low, high, "Lambda")
        value, rate = lambda c, x: c.f - after - slope * x, lambda c: c.slope - slope
        room = differ(sigma, lambda c, x: bend * x * x - sign * value(c, x), lambda c, x: 2 * bend * x - sign * rate(c))
        everywhere(room, low, high, "B")

    def spreads(side, low, high):
        most = lambda x: nu + growth * side * x  # noqa: E731
        room = differ(sigma, lambda c, x: most(x) ** 2 - c.spread, lambda c, x: 2 * growth * side * most(x) - c.spread_slope)
        everywhere(room, low, high, "delta")

    def inside(side, low, high):
        """By mean values: f' and f'', and V <= V(sigma) + 2 nu delta |x|."""
        everywhere(lambda a, b: abs(Curves(a, b).slope) <= chord, low, high, "Lambda")
        everywhere(lambda a, b: abs(Curves(a, b).bend) / 2 <= bend, low, high, "B")
        everywhere(lambda a, b: side * Curves(a, b).spread_slope <= 2 * nu * growth, low, high, "delta")

    near = s / 16
    for side, low, high in ((-1, 0.0, s - near), (1, s + near, s + far)):
        outside(side, 1, low, high)
        outside(side, -1, low, high)
        spreads(side, low, high)
    inside(-1, s - near, s + reach)
    inside(1, s - reach, s + near)
    return after


def curved_layer_of_tanh(sigma, stated, alpha, largest):
    """Verify the further lines of a layer to the second order; the curves at sigma."""
    beta, third, eta, sway = stated
    s, reach = float_around(sigma)
    there = Curves(s - reach, s + reach)
    need(abs(there.bend) <= beta, "beta")
    need(abs(there.spread_slope) <= eta, "eta")
    most, far = max(there.f.b, (largest - there.f).b), 1.0
    while not (third * far**3 >= most + alpha * far + beta / 2 * far**2 and sway * far**2 >= largest**2 / 4 + eta * far):
        far *= 2
        need(far < 1000, "far out")

    def outside(side, sign, low, high):
        bent = lambda c, x: third * side * x**3 - sign * (c.f - there.f - there.slope * x - there.bend / 2 * x**2)  # noqa: E731
        rate = lambda c, x: 3 * third * side * x**2 - sign * (c.slope - there.slope - there.bend * x)  # noqa: E731
        everywhere(differ(sigma, bent, rate), low, high, "T")
        drift = lambda c, x: sway * x**2 - sign * (c.spread - there.spread - there.spread_slope * x)  # noqa: E731
        rate = lambda c, x: 2 * sway * x - sign * (c.spread_slope - there.spread_slope)  # noqa: E731
        everywhere(differ(sigma, drift, rate), low, high, "P")

    near = s / 16
    for side, low, high in ((-1, 0.0, s - near), (1, s + near, s + far)):
        outside(side, 1, low, high)
        outside(side, -1, low, high)
    everywhere(lambda a, b: abs(Curves(a, b).third) / 6 <= third, s - near, s + near, "T")
    everywhere(lambda a, b: abs(Curves(a, b).spread_bend) / 2 <= sway, s - near, s + near, "P")
    return there


# -- moments ----------------------------------------------------------------------------------------------------------------------


@functools.cache
def splittings(n):
    """The partitions of a set of n elements into parts of at least 2, as tuples of sizes with their numbers, one by one."""
    found = {}

    def place(left, sizes):
        if not left:
            if all(size >= 2 for size in sizes):
                key = tuple(sorted(sizes))
                found[key] = found.get(key, 0) + 1
            return
        for i in range(len(sizes)):
            place(left - 1, [*sizes[:i], sizes[i] + 1, *sizes[i + 1 :]])
        place(left - 1, [*sizes, 1])

    place(n, [])
    return found


def power(base, exponent):
    """base^exponent for an interval base > 0 and a rational exponent."""
    exponent = Fraction(exponent)
    return iv.exp(iv.log(base) * exponent.numerator / exponent.denominator) if exponent else iv.mpf(1)


def mixed(p, m, stated, root, largest, gamma, h):
    """w_(p,m)."""
    *_, noise, growth = stated
    terms = [noise ** (2 * m) * gamma[p]]
    for u in range(1, 2 * m + 1):
        moments = power(gamma[p + u], Fraction(p, p + u)) * power(h[p + u], Fraction(u, p + u))
        terms.append(math.comb(2 * m, u) * noise ** (2 * m - u) * (growth * root) ** u * moments)
    return min(sum(terms), (largest / 2) ** (2 * m) * gamma[p], key=lambda each: each.b)


def moments_of_tanh(text):
    """Verify the layers and the moments of a derivation of norm deviations of tanh; N, R, layers, sigmas, moments, h_r."""
    need("phi(x) = tanh(x)." in text, "activation")
    (largest,) = numbers(r"phi\(x\)\^2 <= R =", text)
    need(largest >= 1, "R")
    order, start = map(int, re.search(r"K = (\d+), N = (\d+);", text).groups())
    root = 1 / iv.sqrt(iv.mpf(start))
    patterns = (r"Layer \d: sigma_\d =", r"<= alpha =", r", B =", r", Lambda =", r"<= n =", r", delta =")
    layers = [*zip(*(numbers(pattern, text) for pattern in patterns), strict=True)]
    lists, sigmas, means = {}, [iv.mpf(1)], []
    for layer, j, value in re.findall(r"E X_(\d)\^(\d+) <= H_\{\d,\d+\} d\^\(-\d+\), H_\{\d,\d+\} = ([\d.]+),", text):
        lists.setdefault(int(layer), {})[int(j)] = iv.mpf(value)
    for j, value in lists[0].items():
        terms = ((count, a) for a, count in splittings(j).items())
        sums = [count * math.prod(2 ** (b - 1) * math.factorial(b - 1) for b in a) * root ** (j - 2 * len(a)) for count, a in terms]
        need(value >= sum(sums), f"H_(0,{j})")
    for layer, stated in enumerate(layers):
        sigmas.append(layer_of_tanh(sigmas[-1], stated, largest))
        _, alpha, bend, chord, *_ = stated
        even = {0: iv.mpf(1), **lists[layer]}
        h = [even[r] if r % 2 == 0 else iv.sqrt(even[r - 1] * even[r + 1]) for r in range(order + 1)]
        means.append(h)
        gamma = [iv.mpf(1)]
        for r in range(1, order + 1):
            ways = [chord**r * h[r]]
            if 2 * r <= order:
                ways.append((alpha * power(h[r], Fraction(1, r)) + bend * power(h[2 * r], Fraction(1, r)) * root) ** r)
            gamma.append(min(ways, key=lambda each: each.b))

        for j, value in lists.get(layer + 1, {}).items():
            whole = gamma[j]
            for i in range(2, j + 1):
                for parts, count in splittings(i).items():
                    m = len(parts)
                    whole += (
                        math.comb(j, i) * count * (root * largest) ** (i - 2 * m) * mixed(j - i, m, stated, root, largest, gamma, h)
                    )
            need(value >= whole, f"H_({layer + 1},{j})")
    return start, largest, layers, sigmas, lists, means


def tanh_by_hand(text):
    """Verify a derivation of the norm deviations of tanh; the statement."""
    start, _, layers, _, lists, _ = moments_of_tanh(text)
    said = re.search(r"E \|\|x_(\d)\|\^2 - sigma_\1\|\^2 <= ([\d.]+) d\^\(-1\) for every d >= (\d+) and all widths >= d", text)
    depth, constant, first = said.groups()
    need(int(depth) == len(layers) and int(first) == start, "statement")
    need(iv.mpf(constant) >= lists[int(depth)][2], "constant")
    return said.group()


def expansion_of_tanh_by_hand(text):
    """Verify a derivation of E X^2 of tanh to the second order; the statement.

    With k = 2 the step is  K_(l+1,1) = alpha K_(l,1) + [G]_2,   K_(l+1,2) = alpha^2 K_(l,2) + alpha beta K_(l,3) + [F^2]_4
    + eta K_(l,1) + [V]_2,   K_(l+1,3) = alpha^3 K_(l,3) + [G^3]_4 + 3 (alpha n^2 K_(l,1) + [G V]_2) + R [V]_0.
    """
    start, largest, layers, sigmas, _, means = moments_of_tanh(text)
    root = 1 / iv.sqrt(iv.mpf(start))
    further = [*zip(*(numbers(pattern, text) for pattern in (r"<= beta =", r", T =", r"<= eta =", r", P =")), strict=True)]
    stated = {(int(layer), int(j)): value for layer, j, value in re.findall(r"K_\{(\d),(\d)\} = ([\d.]+),", text)}
    rests = {key: iv.mpf(value) for key, value in stated.items()}
    need(rests[0, 1] >= 0 and rests[0, 2] >= 0 and rests[0, 3] >= 8, "K_0")  # E X_0 = 0, E X_0^2 = 2/d, E X_0^3 = 8/d^2
    v = iv.mpf(2)
    for layer, (first_numbers, more, sigma, h) in enumerate(zip(layers, further, sigmas, means, strict=False)):
        _, alpha, bend, _, noise, _ = first_numbers
        beta, third, eta, sway = more
        there = curved_layer_of_tanh(sigma, more, alpha, largest)
        v = there.slope**2 * v + there.spread

        def bracket(terms, q, h=h):
            return sum(c * h[r] * root ** (r - q) for r, c in terms.items())

        square = {4: beta**2 / 4 + 2 * alpha * third, 5: beta * third, 6: third**2}
        cube = {4: 3 * alpha**2 * bend, 5: 3 * alpha * bend**2, 6: bend**3}
        both = {2: alpha * eta + bend * noise**2, 3: alpha * sway + bend * eta, 4: bend * sway}
        first, second, last = (rests[layer, j] for j in (1, 2, 3))
        found = {
            1: alpha * first + bend * h[2],
            2: alpha**2 * second + alpha * beta * last + bracket(square, 4) + eta * first + sway * h[2],
            3: alpha**3 * last + bracket(cube, 4) + 3 * (alpha * noise**2 * first + bracket(both, 2)),
        }
        found[3] += largest * bracket({0: noise**2, 1: eta, 2: sway}, 0)
        for j in (1, 2, 3) if layer + 1 < len(layers) else (2,):
            need(rests[layer + 1, j] >= found[j], f"K_({layer + 1},{j})")
    (low,), (high,) = numbers(r"v_- =", text), numbers(r"v_\+ =", text)
    need(low <= v, "v_-")
    need(v <= high, "v_+")
    depth, rest = len(layers), rests[len(layers), 2]
    deviation = rf"E \|\|x_{depth}\|\^2 - sigma_{depth}\|\^2"
    ends = []
    for relation, sign, end, sizes in (("<=", r"\+", r"v_\+", "and all widths >= d"), (">=", "-", "v_-", "where all widths are d")):
        said = re.search(rf"{deviation} {relation} {end} d\^\(-1\) {sign} ([\d.]+) d\^\(-2\) for every d >= {start} {sizes}", text)
        need(Decimal(said.group(1)) >= Decimal(stated[depth, 2]), "rest")
        ends.append(re.search(rf"{deviation} {relation} ([\d.]+) d\^\(-1\) for every d >= {start} {sizes}", text))
    above, below = ends
    need(iv.mpf(above.group(1)) >= high + rest / start, "constant")
    need(iv.mpf(below.group(1)) <= low - rest / start, "least")
    return above.group()


def relu_by_hand(text):
    """Verify a derivation of the third absolute moment of a network with relu; the statement."""
    need("phi(x) = relu(x)." in text, "activation")
    start = int(re.search(r"N = (\d+);", text).group(1))
    root, q = 1 / iv.sqrt(iv.mpf(start)), Fraction(1, 2)
    moments = [Fraction(math.prod(range(1, 2 * i, 2))) / (2 * q**i) for i in range(5)]
    moments[0] = Fraction(1)
    mean, *central = [sum(math.comb(j, i) * moments[i] * (-moments[1]) ** (j - i) for i in range(j + 1)) for j in range(1, 5)]
    need(mean == 0, "mean")
    kappa = {"Z": [0, 0, 2, 8, 48], "W": [0, 0, central[0], central[1], central[2] - 3 * central[0] ** 2]}
    y = {}
    for kind, k in kappa.items():
        sums = [(j, count * math.prod(Fraction(k[b]) for b in a), len(a)) for j in (2, 3, 4) for a, count in splittings(j).items()]
        y[kind] = [iv.mpf(1), iv.mpf(0)]
        y[kind] += [
            sum(iv.mpf(abs(c).numerator) / abs(c).denominator * root ** (j - 2 * m) for i, c, m in sums if i == j)
            for j in (2, 3, 4)
        ]
    p = {}
    for layer, j, value in re.findall(r"\|E P_(\d)\^(\d)\| <= p_\{\d,\d\} d\^\(-[\d/]+\), p_\{\d,\d\} = ([\d.]+),", text):
        p.setdefault(int(layer), [iv.mpf(1), iv.mpf(0)]).append(iv.mpf(value))
        need(len(p[int(layer)]) == int(j) + 1, "order of the lines")
    for layer, stated in p.items():
        for j in (2, 3, 4):
            pairs = [(i, u) for i in range(j + 1) for u in range(i + 1)] if layer else []
            step = (math.comb(j, i) * math.comb(i, u) * p[layer - 1][i] * root**u * y["W"][j - i + u] for i, u in pairs)
            need(stated[j] >= (sum(step) if layer else y["Z"][j]), f"p_({layer},{j})")
    said = re.search(r"E \|\|x_(\d)\|\^2 - sigma_\1\|\^3 <= q\^(\d) (?:.*?) <= ([\d.]+) d\^\(-3/2\) for every d >= (\d+) and", text)
    depth, exponent, constant, first = said.groups()
    need(int(first) == start and int(exponent) == 3 * int(depth) and [*p] == [*range(int(depth) + 1)], "statement")
    last = p[int(depth)]
    need(iv.mpf(constant) >= iv.sqrt(last[2] * last[4]) / 2 ** int(exponent), "constant")
    low = re.search(r"E \|\|x_2\|\^2 - sigma_2\|\^3 >= .*? >= ([\d.]+) d\^\(-3/2\) for every d >= 64 where all widths are d", text)
    limit = 2 + int(depth) * Fraction(kappa["W"][2])  # p'_(l,2) adds up: y'_2 of both kinds
    need(iv.mpf(low.group(1)) <= iv.sqrt(iv.mpf(limit.numerator) / limit.denominator) ** 3 / 2 ** int(exponent), "least")
    return said.group()


BY_HAND = {
    "norm-tanh-depth1-power2-from1": tanh_by_hand,
    "norm-tanh-depth2-power2-from1024": tanh_by_hand,
    "expansion-tanh-depth1-power2-from64": expansion_of_tanh_by_hand,
    "product-relu-depth2-power3-from64": relu_by_hand,
}


@pytest.fixture(autouse=True, scope="module")
def _digits():
    before, iv.dps = iv.dps, 25
    yield
    iv.dps = before
    at.cache_clear()


def changed(text, pattern, factor):
    """The text with one number of a line changed."""
    found = re.search(pattern + r" (\d[\d.]*)", text)
    return text[: found.start(1)] + format(Decimal(found.group(1)) * Decimal(factor), "f") + text[found.end(1) :]


@pytest.mark.parametrize("name", BY_HAND)
def test_a_derivation_is_verified_from_its_text_alone(name):
    text = printed(name)
    assert BY_HAND[name](text) in text


@pytest.mark.parametrize(
    ("pattern", "factor", "line"),
    [
        (r"\^2 <= R =", "0.99", "R"),
        (r"<= alpha =", "0.99", "alpha"),
        (r", B =", "0.99", "B"),
        (r", Lambda =", "0.99", "Lambda"),
        (r"<= n =", "0.99", "n"),
        (r", delta =", "0.99", "delta"),
        (r"H_\{0,2\} =", "0.99", r"H_\(0,2\)"),
        (r"H_\{1,2\} =", "0.99", r"H_\(1,2\)"),
        (r"sigma_1\|\^2 <=", "0.99", "constant"),
        (r"Layer 0: sigma_0 =", "1.01", "centre"),
    ],
)
def test_a_changed_number_is_seen(pattern, factor, line):
    with pytest.raises(Wrong, match=f"^{line}$"):
        tanh_by_hand(changed(printed("norm-tanh-depth1-power2-from1"), pattern, factor))


@pytest.mark.parametrize(
    ("pattern", "factor", "line"),
    [
        (r"<= beta =", "0.99", "beta"),
        (r", T =", "0.99", "T"),
        (r"<= eta =", "0.99", "eta"),
        (r", P =", "0.99", "P"),
        (r"K_\{0,3\} =", "0.99", "K_0"),
        (r"K_\{1,2\} =", "0.99", r"K_\(1,2\)"),
        (r"v_- =", "1.01", "v_-"),
        (r"v_\+ =", "0.99", r"v_\+"),
        (r"v_- d\^\(-1\) -", "0.99", "rest"),
        (r"sigma_1\|\^2 <=", "0.99", "constant"),
        (r"sigma_1\|\^2 >=", "1.01", "least"),
    ],
)
def test_a_changed_number_of_the_second_order_is_seen(pattern, factor, line):
    with pytest.raises(Wrong, match=f"^{line}$"):
        expansion_of_tanh_by_hand(changed(printed("expansion-tanh-depth1-power2-from64"), pattern, factor))


@pytest.mark.parametrize(
    ("pattern", "line"), [(r"p_\{1,3\} =", r"p_\(1,3\)"), (r"\) <=|d\^\(-3/2\) <=", "constant"), (r"p_\{0,4\} =", r"p_\(0,4\)")]
)
def test_a_changed_number_of_a_product_is_seen(pattern, line):
    with pytest.raises(Wrong, match=line):
        relu_by_hand(changed(printed("product-relu-depth2-power3-from64"), pattern, "0.99"))


def density(s, p, z):
    return mpmath.tanh(mpmath.sqrt(s) * z) ** p * mpmath.npdf(z)


def test_values_of_tanh_are_held():
    with mpmath.workdps(20):
        for s in (0.25, 1.0, 5.0):
            for j in (1, 2, 4):
                form = mpmath.quad(functools.partial(density, s, 2 * j), [-9, -3, 0, 3, 9])
                assert form in at(s)[j] + iv.mpf([-1, 1]) * iv.mpf("1e-15")
                assert at(s)[j].delta < 1e-12
