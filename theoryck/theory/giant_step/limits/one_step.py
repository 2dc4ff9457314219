"""One giant step at n = alpha d: v = X^T y/n, cos^2(v, w*) and its 1/d term; two steps on fresh batches.

With S_1 = sum_i y_i z_i and S_2 = sum_i y_i^2 the law at finite d and n is cos^2 = S_1^2/(S_1^2 + S_2 chi^2_{d-1}), so that with A
= E y z, B = E y^2, R = B/alpha, q = A^2 + R
    E cos^2 = A^2/q + c_1/d + O(1/d^2),
    c_1 = R (R - 3 A^2) s_A/(alpha q^3) + (A^2 R^2/q^3) (s_B/(alpha B^2) + 2) + 2 A (A^2 - R) R s_AB/(alpha B q^3) + A^2 R/q^2,
s_A = Var(y z), s_B = Var(y^2), s_AB = Cov(y z, y^2): the second-order expansion of a function of three sums.
Without A (information exponent 2 or more) d E cos^2 -> E y^2 z^2/E y^2.
"""

from __future__ import annotations

from typing import Any

from theoryck.quantities.arguments import positive
from theoryck.quantities.base import QuantityError
from theoryck.theory.giant_step.model import moment, read_target


def one_step_limit(link: Any, alpha: float) -> float:
    """Return lim cos^2(X^T y, w*) = A^2 alpha/(A^2 alpha + B) at n = ``alpha`` d; 0 for a link with E y z = 0.

    Raises QuantityError for a bad argument, ValueError where a moment is infinite.

    >>> round(one_step_limit("tanh", 0.5), 10), one_step_limit("x**2 - 1", 3)
    (0.3175156026, 0.0)
    """
    g, ratio = read_target(link), positive(alpha, "alpha")
    first = moment(g, 1, 1)
    return first**2 * ratio / (first**2 * ratio + moment(g, 2, 0))


def one_step_correction(link: Any, alpha: float) -> float:
    """Return c_1 of E cos^2 = limit + c_1/d + O(1/d^2) at n = ``alpha`` d, for a link with E y z != 0.

    Raises QuantityError for one without, whose c_1 is :func:`hard_link_limit`, ValueError where E y^4 is infinite.

    >>> round(one_step_correction("x", 2), 12), round(one_step_correction("tanh", 0.5), 8)  # linear: alpha/(1 + alpha)^2
    (0.222222222222, 0.3281265)
    """
    g, alpha = read_target(link), positive(alpha, "alpha")
    a, b = moment(g, 1, 1), moment(g, 2, 0)
    if a == 0:
        raise QuantityError(f"link must have E y z != 0, got {g.text!r}: see hard_link_limit")
    s_a, s_b, s_ab = moment(g, 2, 2) - a * a, moment(g, 4, 0) - b * b, moment(g, 3, 1) - a * b
    r = b / alpha
    q = a * a + r
    own = r * (r - 3 * a * a) * s_a / (alpha * q**3)
    length = a * a * r * r / q**3 * (s_b / (alpha * b * b) + 2)
    both = 2 * a * (a * a - r) * r * s_ab / (alpha * b * q**3)
    return own + length + both + a * a * r / q**2


def hard_link_limit(link: Any) -> float:
    """Return lim d E cos^2(X^T y, w*) = E y^2 z^2/E y^2 for a link with E y z = 0, at any n = alpha d.

    Raises QuantityError for other links, ValueError where a moment is infinite.

    >>> hard_link_limit("x**2 - 1"), hard_link_limit("x**3 - 3*x")
    (5.0, 7.0)
    """
    g = read_target(link)
    if abs(moment(g, 1, 1)) > 1e-15 * moment(g, 2, 0) ** 0.5:
        raise QuantityError(f"link must have E y z = 0, got {g.text!r} with {moment(g, 1, 1):.6g}: see one_step_limit")
    return moment(g, 2, 2) / moment(g, 2, 0)


def staircase_limits(alpha: float) -> tuple[float, float, float]:
    """Return the limits of cos^2(v, w_1), d cos^2(v, w_2) and cos^2(g, w_2) for y = z_1 + z_1 z_2 at n = ``alpha`` d.

    v = X^T y/n is the first step; g = X'^T (y' <v, x'>/|v|)/n the second, of a quadratic neuron that starts at v, on a fresh batch:
    alpha/(alpha + 2), 4/(alpha + 2) and m^2/(m^2 + (2 + 4 m^2)/alpha) with m^2 the first of them.  Raises QuantityError.

    >>> [round(value, 12) for value in staircase_limits(6)]
    [0.75, 0.5, 0.473684210526]
    """
    alpha = positive(alpha, "alpha")
    square = alpha / (alpha + 2)
    return square, 4 / (alpha + 2), square / (square + (2 + 4 * square) / alpha)
