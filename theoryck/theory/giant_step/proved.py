"""E cos^2(X^T y, w*) at finite d and n where it is known: linear links, one sample, and the sign.

cos^2 = S_1^2/(S_1^2 + S_2 chi^2_{d-1}).  For y = z, S_1^2/S_2 is a chi^2_n: a Beta law of mean n/(n + d - 1).  For n = 1 the vector
v is along x: 1/d for any link.  For y = sign z, S_2 = n, and with s/(s + c) = 1 - c int_0^oo e^(-(s + c) t) dt
    E cos^2 = 1 - (d - 1) n int_0^oo (1 + 2 n t)^(-(d + 1)/2) E_xi w(xi t^(1/2))^n dt,
w(x) = E e^(i |z| sqrt(2) x), Faddeeva's function.  With 2 n t = e^v - 1 the integrand falls like e^(-(d - 1) v/2).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy.special import wofz

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.pieces import Unsplit, pieces
from theoryck.numerics.gaussian.means import nodes_of, panel_edges
from theoryck.numerics.proved.arithmetic import enclose
from theoryck.records import Enclosure

REACH = 9.0
"""Of xi: e^(-81/2) = 3e-18."""


def mean_squared_cosine(link: Activation, d: int, n: int, digits: int = 20) -> Enclosure | None:
    """Return E cos^2(X^T y, w*) of n samples in d dimensions for a linear link, the sign, or one sample of a link that is 0
    nowhere; None for others.

    >>> float(mean_squared_cosine(Activation("3*x"), 10, 5)) == 5 / 14
    True
    >>> round(float(mean_squared_cosine(Activation("sign(x)"), 20, 10)), 11)
    0.26506019729
    """
    if n == 1:
        return enclose(Fraction(1, d), digits) if _never_zero(link) else None
    if link.text in ("sign(x)", "2*heaviside(x) - 1"):
        if d == 1:
            return enclose(1, digits)
        fine, coarse = (_sign(d, n, count, longest) for count, longest in ((24, 0.5), (16, 1.0)))
        # 1 - something near 1: a rounding of the sum of weights, and what the coarser rule sees otherwise.
        return Enclosure(Decimal(fine), Decimal(abs(fine - coarse) + 1e-14), rigorous=False)
    ratio = link.expression.diff()
    return enclose(Fraction(n, n + d - 1), digits) if not ratio.free_symbols and link(0.0) == 0 else None


def _never_zero(link: Activation) -> bool:
    """Whether labels are known to be other than 0 with probability 1."""
    try:
        return all(piece.expression != 0 for piece in pieces(link.expression))
    except Unsplit:
        return False


def _sign(d: int, n: int, count: int, longest: float) -> float:
    decay = (d - 1) / 2
    v, parts = nodes_of(panel_edges([], 0.0, 40.0 / decay, 1.0 / max(decay, 1.0)), count)
    fields = np.sqrt(np.expm1(v) / (2 * n))
    inner = np.array([_mean_of_powers(field, n, count, longest) for field in fields])
    return 1 - decay * float(parts @ (np.exp(-decay * v) * inner))


def _mean_of_powers(field: float, n: int, count: int, longest: float) -> float:
    """E w(field xi)^n: its real part, which is even in xi, on panels that grow from the scale on which w varies."""
    scale = min(1.0, 1.0 / field)
    growing = scale * 2.0 ** np.arange(-1, max(math.ceil(math.log2(REACH / scale)), 1))
    xi, weights = nodes_of(panel_edges(growing.tolist(), 0.0, REACH, longest), count)
    density = weights * np.exp(-xi * xi / 2) * math.sqrt(2 / math.pi)
    return float(np.real(wofz(field * xi) ** n) @ density)
