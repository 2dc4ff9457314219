"""Norm moments of one nonlinear layer at any width: exact conditional moments, one integral over the input norm.

Given S_0 = s the moments of S_1 are exact (cumulants d_1^(1-j) kappa_j[phi(sqrt(s) Z)^2]); S_0 = chi2_d/d is integrated in t =
log s by the trapezoidal rule, which converges geometrically there.  No expansion in 1/d is made: this route is independent of the
series and serves where that series is poor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from flint import arb

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.proved.hermite import hermite_table


def conditional_moments(raw: Sequence[arb], centre: arb, d: int) -> list[arb]:
    """Return E (mean of d copies of Y - centre)^n, n = 0..N, from the raw moments of Y: cumulants scale as d^(1-j).

    >>> [float(m) for m in conditional_moments([arb(1), arb(0), arb(1), arb(0), arb(1)], arb(0), 2)]
    [1.0, 0.0, 0.5, 0.0, 0.5]
    """
    count = len(raw)
    shifted = [sum((comb(n, j) * raw[j] * (-centre) ** (n - j) for j in range(n + 1)), arb(0)) for n in range(count)]
    cumulants, moments = [arb(0)] * count, [arb(1)]
    for n in range(1, count):
        cumulants[n] = shifted[n] - sum((comb(n - 1, j - 1) * cumulants[j] * shifted[n - j] for j in range(1, n)), arb(0))
        scaled = (comb(n - 1, j - 1) * cumulants[j] / arb(d) ** (j - 1) * moments[n - j] for j in range(1, n + 1))
        moments.append(sum(scaled, arb(0)))
    return moments


def log_nodes(d: int, bits: int, refine: int = 1) -> list[tuple[arb, arb]]:
    """Return nodes s and weights for E f(chi2_d/d) by the trapezoidal rule in t = log s, of relative accuracy about 2^-bits.

    The law of t has density a^a e^(a t - a e^t)/Gamma(a), a = d/2, analytic for |Im t| < pi/2 where it grows like (1/cos Im t)^a.
    The step is 1/refine of the one that gives about half of the bits: doubling the number of nodes squares the error.
    """
    a = float(d) / 2
    drop = bits * 0.6931 + 5.0
    # Below: a (e^t - 1 - t) >= a (|t| - 1) and >= a t^2/4 on [-2, 0]; above: >= a t^2/2.
    low = -max((4 * drop / a) ** 0.5, drop / a + 1)
    high = (2 * drop / a) ** 0.5
    # e^(-2 pi y/h) (cos y)^(-a) is least near y = min(1.4, 2 pi/(h a)): h ~ min(1.4 * 2 pi/drop, 2 pi/sqrt(2 a drop)), half bits.
    step = min(6.28 * 1.4 / (drop / 2 + a * 1.8 if a < 4 else drop), 6.28 / (a * drop) ** 0.5)
    h = arb(step) / refine
    count_low, count_high = int(-low / step * refine) + 1, int(high / step * refine) + 1
    with precision(bits + 64 + 2 * d.bit_length()):
        half = arb(d) / 2
        logarithm = half * half.log() - half.lgamma()
        out = []
        for i in range(-count_low, count_high + 1):
            t = h * i
            out.append((t.exp(), h * (logarithm + half * t - half * t.exp()).exp()))
    return out


def shallow_norm_moment(activation: Any, widths: tuple[int, int], power: int, bits: int = 80) -> arb:
    """Return E(|x_1|^2 - sigma_1)^power, even power, as a ball whose radius is the difference of two step sizes (not proved).

    >>> import sympy
    >>> float(shallow_norm_moment(sympy.erf(sympy.Symbol("x", real=True)), (8, 8), 2))
    0.0239545919874...
    """
    work = bits + power * widths[0].bit_length() + 32
    with precision(work):
        centre = hermite_table(activation, arb(1), 2, 0, work, proved=False)[2][0]
        values = []
        for s, weight in log_nodes(widths[0], bits, refine=2):
            table = hermite_table(activation, s, 2 * power, 0, work, proved=False)
            raw = [table[2 * j][0] for j in range(power + 1)]
            values.append(weight * conditional_moments(raw, centre, widths[1])[power])
        fine, coarse = sum(values, arb(0)), 2 * sum(values[::2], arb(0))
        # Both sums stop at the same two nodes: what grows faster than the density decays shows there, not in their difference.
        cut = sum((abs(v) for v in (values[0], values[-1])), arb(0)) * len(values)
        return fine + plus_minus(fine - coarse) + plus_minus(cut)
