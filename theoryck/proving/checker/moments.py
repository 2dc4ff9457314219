"""Moments from layer to layer: sums over partitions, and what follows for means of independent terms (2.3, 4, 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import arb, arb_poly


def partition_sums(order: int, part: Sequence[Any], least: int = 2) -> list[list[Any]]:
    """The sums over the partitions pi of i into m parts, all >= least, of c(pi) prod part[a], as [i][m], i <= order.

    By the part of the last element, of which C(i-1, a-1) have a elements; ``part`` has order + 1 items of one ring.
    """
    found = [[0 * part[0] + int(i == m == 0) for m in range(order + 1)] for i in range(order + 1)]
    for i in range(1, order + 1):
        for m in range(1, i // least + 1):
            terms = (math.comb(i - 1, a - 1) * part[a] * found[i - a][m - 1] for a in range(least, i - least * (m - 1) + 1))
            found[i][m] = sum(terms, 0 * part[0])
    return found


def mean_moments(kappa: list[arb], root: arb) -> list[arb]:
    """The sums over pi of c(pi) N^(m - j/2) prod |kappa_a|, j = 0, 1, ..., K, parts being >= 2; root is 1/√N."""
    sums = partition_sums(len(kappa) - 1, [abs(each) for each in kappa])
    return [sum((row[m] * root ** (j - 2 * m) for m in range(j // 2 + 1)), arb(0)) for j, row in enumerate(sums)]


def chi_square_cumulants(order: int) -> list[arb]:
    """2^(a-1) (a-1)! for a = 2, ..., order, those of Z^2; 0 in the places of 0 and 1."""
    return [arb(0), arb(0), *(arb(2 ** (a - 1) * math.factorial(a - 1)) for a in range(2, order + 1))][: order + 1]


def moment_roots(even: list[arb], order: int) -> list[arb]:
    """h_0, ..., h_K of 1, H_2, H_4, ... (2.3)."""
    return [even[r // 2] if r % 2 == 0 else (even[r // 2] * even[r // 2 + 1]).sqrt() for r in range(order + 1)]


def norms(even: list[arb], order: int) -> list[arb]:
    """h_r^(1/r), r = 0, ..., K: at least √d times the r-th norm; 1 in the place of 0."""
    return [arb(1), *(h.root(r) for r, h in enumerate(moment_roots(even, order)) if r)]


def next_moments(
    count: int, root: arb, g: list[arb], y: list[arb], part: list[arb_poly], cap: list[arb] | None = None
) -> list[arb]:
    """H_(l+1,j), j = 2, 4, ..., 2 count: the steps of 2.3, 4 and 7.

    g[r] and y[r] are at least √d times the r-th norms of g(X_l) and of a variable y; the central moment of order a of a term of
    layer l + 1 is at most the polynomial part[a] of y/√d, where y[r] is known for the r that are asked for, and at most cap[a].
    """
    order, found = 2 * count, []
    sums, caps = partition_sums(order, part), partition_sums(order, cap) if cap else None
    for j in range(2, order + 1, 2):
        total = g[j] ** j
        for i in range(2, j + 1):
            for m in range(1, i // 2 + 1):
                p, curve, means = j - i, sums[i][m].coeffs(), []
                if p + len(curve) <= len(y):  # E g^p y^u by Hoelder's inequality
                    terms = (e * g[p + u] ** p * (y[p + u] * root) ** u for u, e in enumerate(curve))
                    means.append(sum(terms, arb(0)))
                if caps:
                    means.append(caps[i][m] * g[p] ** p)
                total += math.comb(j, i) * root ** (i - 2 * m) * (means[0].min(means[-1]))
        found.append(total)
    return found
