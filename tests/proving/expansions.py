"""Certificates to the second order, made from the text of the format alone: floats for the layers, formulas term by term.

Nothing of the finder or the checker takes part.  Suprema are those seen on a grid of s, enlarged a little.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import mpmath
import numpy as np

Z, STEP = np.linspace(-14, 14, 2801, retstep=True)
DENSITY = np.exp(-(Z**2) / 2) / math.sqrt(2 * math.pi) * STEP
CELLS = [-18, 8]
MARGIN = 1.003  # of the 1.005 that numbers of layers may be too large


def digits(value: Any, up: bool = True, count: int = 9) -> str:
    """So many digits of a number, a little above or below it; 0 as it is."""
    if value == 0:
        return "0"
    text = mpmath.nstr(value, 25) if isinstance(value, mpmath.mpf) else repr(float(value))
    away = Decimal(text) * (Decimal("1.00000001") if up else Decimal("0.99999999"))
    return format(Context(prec=count, rounding=ROUND_CEILING if up else ROUND_FLOOR).create_decimal(away), "f")


def partitions(i: int, least: int = 2) -> Iterator[tuple[int, ...]]:
    """Those of i into parts that are at least so large, ascending."""
    if i == 0:
        yield ()
    for a in range(least, i + 1):
        for rest in partitions(i - a, a):
            yield (a, *rest)


def splits(parts: tuple[int, ...]) -> int:
    """c(pi)."""
    found = math.factorial(sum(parts))
    for a in parts:
        found //= math.factorial(a)
    for a in {*parts}:
        found //= math.factorial(parts.count(a))
    return found


class Curves:
    """f and mu_2 of an activation, vectorised in s; their derivatives by Hermite polynomials."""

    def __init__(self, phi: Any) -> None:
        self.phi = phi

    def mean(self, s: Any, power: int, hermite: int = 0) -> Any:
        """E phi(sqrt(s) Z)^power He_hermite(Z)."""
        weights = np.polynomial.hermite_e.hermeval(Z, [0] * hermite + [1]) * DENSITY
        return self.phi(np.sqrt(np.asarray(s))[..., None] * Z) ** power @ weights

    def at(self, s: Any) -> tuple[Any, Any]:
        """f(s) and mu_2(s)."""
        f = self.mean(s, 2)
        return f, self.mean(s, 4) - f**2

    def derivatives(self, s: float) -> tuple[list[float], list[float]]:
        """f, f', f'', f''' and mu, mu', mu'' at s."""
        f, g = ([float(self.mean(s, power, 2 * j)) / (2 * s) ** j for j in range(4)] for power in (2, 4))
        return f, [g[0] - f[0] ** 2, g[1] - 2 * f[0] * f[1], g[2] - 2 * f[1] ** 2 - 2 * f[0] * f[2]]


def layer_of(curves: Curves, sigma: float, size: Any, less: str | None = None) -> tuple[float, dict[str, Any]]:
    """The next sigma, and the numbers of a layer, of which one may be made 0.7% less than it has to be."""
    f, mu = curves.derivatives(sigma)
    nu = math.sqrt(mu[0])
    s = sigma * np.concatenate([[0.0], np.geomspace(1e-8, 1e6, 1500), np.linspace(0.02, 4, 1500)])
    s = s[abs(s - sigma) > 0.02 * sigma]
    x, (there, spread) = s - sigma, curves.at(s)
    far = float(size) / 2 - nu if isinstance(size, str) else 0.0  # beyond the cells nu is known to be at most R/2
    numbers = {
        "slope": abs(f[1]),
        "curvature": max((abs(there - f[0] - f[1] * x) / x**2).max(), abs(f[2]) / 2),
        "chord": max((abs(there - f[0]) / abs(x)).max(), abs(f[1])),
        "deviation": nu,
        "growth": max(
            ((np.sqrt(np.maximum(spread, 0)) - nu) / abs(x)).max(),
            abs(mu[1]) / (2 * nu),
            far / (sigma * (2.0 ** (CELLS[1] + 2) / 3 - 1)),
        ),
        "bend": abs(f[2]),
        "third": max((abs(there - f[0] - f[1] * x - f[2] / 2 * x**2) / abs(x) ** 3).max(), abs(f[3]) / 6),
        "tilt": abs(mu[1]),
        "sway": max((abs(spread - mu[0] - mu[1] * x) / x**2).max(), abs(mu[2]) / 2),
    }
    return f[0], {
        "centre": f"{sigma:.12f}",
        **{key: digits((0.993 if key == less else MARGIN) * each) for key, each in numbers.items()},
        "cells": CELLS,
    }


class Sums:
    """What the formulas of sections 2, 7 and 9 give from the numbers of a layer and the moments before it."""

    def __init__(self, layer: dict[str, Any], size: Any, start: int, order: int, even: list[str]) -> None:
        number = {key: mpmath.mpf(value) for key, value in layer.items() if key != "cells"}
        self.layer, self.size, self.order, self.root = number, size, order, 1 / mpmath.sqrt(start)
        h = [mpmath.mpf(1), *map(mpmath.mpf, even)]
        self.h = [h[r // 2] if r % 2 == 0 else mpmath.sqrt(h[r // 2] * h[r // 2 + 1]) for r in range(order + 1)]
        alpha, curve, chord = number["slope"], number["curvature"], number["chord"]
        self.gamma = [chord**r * self.h[r] for r in range(order + 1)]
        for r in range(1, order // 2 + 1):
            other = (alpha * mpmath.root(self.h[r], r) + curve * mpmath.root(self.h[2 * r], r) * self.root) ** r
            self.gamma[r] = min(self.gamma[r], other)

    def product(self, parts: tuple[int, ...], small: list[Any]) -> list[Any]:
        """Q_pi by its coefficients: R^(i-2m) small^m, or the product of (n_a + delta_a y)^a, n_2 and delta_2 being those of 2.2."""
        found = [mpmath.mpf(1)]
        for a in parts:
            if isinstance(self.size, str):
                found = times(found, [mpmath.mpf(self.size) ** (a - 2) * each for each in small])
                continue
            plus = self.layer["centre"] + mpmath.mpf(10) ** -12
            (low, steep), (low_, steep_) = ([mpmath.mpf(each) for each in pair] for pair in self.size)
            z = mpmath.root(mpmath.fac2(2 * a - 1), a)
            delta = z * mpmath.root(steep**a + steep_**a, a)
            pair = [mpmath.root(low**a + low_**a, a) + plus * delta, delta]
            if a == 2:
                pair = [self.layer["deviation"], self.layer["growth"]]
            for _ in range(a):
                found = times(found, pair)
        return found

    def mixed(self, p: int, curve: list[Any]) -> Any:
        """At least E |g|^p curve(|X|) d^(p/2)."""
        whole = curve[0] * self.gamma[p]
        for u, e in enumerate(curve[1:], 1):
            powers = mpmath.root(self.gamma[p + u] ** p * self.h[p + u] ** u, p + u)
            whole += e * self.root**u * powers
        return whole

    def moment(self, j: int) -> Any:
        """H_(l+1,j)."""
        n, delta, whole = self.layer["deviation"], self.layer["growth"], self.gamma[j]
        for i in range(2, j + 1):
            for parts in partitions(i):
                m = len(parts)
                mean = self.mixed(j - i, self.product(parts, times([n, delta], [n, delta])))
                if isinstance(self.size, str):
                    scale = mpmath.mpf(self.size) ** (i - 2 * m)
                    mean = min(mean, scale * (mpmath.mpf(self.size) / 2) ** (2 * m) * self.gamma[j - i])
                whole += math.comb(j, i) * splits(parts) * self.root ** (i - 2 * m) * mean
        return whole

    def bracket(self, curve: list[Any], q: int) -> Any:
        """[F]_q."""
        return sum((e * self.h[r] * self.root ** (r - q) for r, e in enumerate(curve) if r >= q), mpmath.mpf(0))

    def next_order(self, j: int, odd: dict[int, Any], even: dict[int, tuple[Any, Any]]) -> tuple[Any, Any]:
        """U_(l+1,j) and K_(l+1,j)."""
        at = self.layer
        alpha, n = at["slope"], at["deviation"]
        one, two = [0, alpha, at["curvature"]], [0, alpha, at["bend"] / 2, at["third"]]
        spread = [n**2, at["tilt"], at["sway"]]
        small = spread if isinstance(self.size, str) else times([n, at["growth"]], [n, at["growth"]])
        k_of = {0: 0} | odd | {i: pair[1] for i, pair in even.items()}
        u_of = {0: 0} | {i: pair[0] for i, pair in even.items()}
        u = k = mpmath.mpf(0)
        for i in range(j + 1):
            p = j - i
            for parts in partitions(i):
                m, weight = len(parts), math.comb(j, i) * splits(parts)
                pairs, crude = all(a == 2 for a in parts), times(power(one, p), power(spread, m))
                fine = times(power(two, p), power(spread, m))
                mixed = times(power(one, p), self.product(parts, small))
                if pairs and j % 2:
                    k += weight * (alpha**p * n**i * k_of[p] + self.bracket(crude, p + 1))
                elif pairs:
                    at_once = fine[p + 1] if len(fine) > p + 1 else 0
                    k += weight * (alpha**p * n**i * k_of[p] + at_once * k_of[p + 1] + self.bracket(fine, p + 2))
                    k += weight * math.comb(m, 2) * self.bracket(crude, p)
                    u += weight * alpha**p * n**i * u_of[p]
                elif j % 2 == 0 and 2 * m == i - 1:
                    u += weight * self.bracket(mixed, p)
                else:
                    k += weight * self.root ** (i - 2 * m - (1 if j % 2 else 2)) * self.bracket(mixed, p)
        return u, k


def times(one: list[Any], other: list[Any]) -> list[Any]:
    """The product of two polynomials."""
    found = [mpmath.mpf(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] += a * b
    return found


def power(curve: list[Any], n: int) -> list[Any]:
    """A power of a polynomial."""
    return functools.reduce(times, [curve] * n, [mpmath.mpf(1)])


def made(text: str, phi: Any, depth: int, k: int, start: int, size: Any, less: str | None = None) -> dict[str, Any]:
    """A record; ``size`` is R as digits, or the pairs of section 7; all numbers follow from those of layers, ``less`` or not."""
    with mpmath.workdps(30):
        return _made(text, phi, depth, k, start, size, less)


def _made(text: str, phi: Any, depth: int, k: int, start: int, size: Any, less: str | None) -> dict[str, Any]:
    curves, order, root = Curves(phi), 3 * k + k % 2, 1 / mpmath.sqrt(start)
    kappa = [0, 0, *(2 ** (a - 1) * math.factorial(a - 1) for a in range(2, order + 1))]
    sigma, v, layers, moments, odd, even = 1.0, 2.0, [], [], [], []

    def first(j: int, most: int, shift: int) -> Any:
        """The sum over partitions into at most so many parts of c(pi) N^(m - shift/2) prod kappa."""
        chosen = [(len(pi), splits(pi) * math.prod(kappa[a] for a in pi)) for pi in partitions(j) if len(pi) <= most]
        return sum((c * root ** (shift - 2 * m) for m, c in chosen), mpmath.mpf(0))

    h: list[str] = []
    for i in range(depth + 1):
        last, js = i == depth, {"odd": [*range(1, k + 2, 2)], "even": [*range(2, k + 1, 2)]}
        if last:
            js = {"odd": [], "even": [k]}
        if i == 0:
            orders = {j: (mpmath.mpf(0), first(j, (j - 1) // 2, j - 1 if j % 2 else j - 2)) for j in js["odd"] + js["even"]}
            h = [digits(first(j, j // 2, j)) for j in range(2, order + 1, 2)]
        else:
            before = Sums(layers[-1], size, start, order, h)
            odds = {j: mpmath.mpf(each) for j, each in zip(range(1, k + 2, 2), odd[-1])}
            evens = {j: (mpmath.mpf(a), mpmath.mpf(b)) for j, (a, b) in zip(range(2, k + 1, 2), even[-1])}
            orders = {j: before.next_order(j, odds, evens) for j in js["odd"] + js["even"]}
            h = [digits(before.moment(j)) for j in range(2, order + 1, 2)] if not last else []
        odd.append([digits(orders[j][1]) for j in js["odd"]])
        even.append([[digits(each) for each in orders[j]] for j in js["even"]])
        if not last:
            moments.append(h)
            f, mu = curves.derivatives(sigma)
            v = f[1] ** 2 * v + mu[0]
            sigma, layer = layer_of(curves, sigma, size, less)
            layers.append(layer)
    limit = [digits(v * (1 - 1e-9), up=False, count=10), digits(v * (1 + 1e-9), count=10)]
    normal, rest = mpmath.fac2(k - 1), mpmath.mpf(even[-1][0][0]) * root + mpmath.mpf(even[-1][0][1]) * root**2
    proof = {"range" if isinstance(size, str) else "growth": size, "top": order, "layers": layers, "moments": moments}
    return {
        "format": 1,
        "quantity": "norm-deviation",
        "activation": text,
        "depth": depth,
        "power": k,
        "widths": "all widths >= d",
        "from": start,
        "constant": digits(normal * mpmath.mpf(limit[1]) ** (k // 2) + rest),
        "least": digits(normal * mpmath.mpf(limit[0]) ** (k // 2) - rest, up=False),
        "limit": limit,
        "remainder": even[-1][0],
        "method": "expansion",
        "proof": proof | {"odd": odd, "even": even},
    }
