"""Isotropic ridge regression at finite size, exactly: errors from traces of the resolvent of a Wishart matrix.

With Omega = omega I, b ~ N(0, s I), residual r (noise included) and mu = omega/lambda, the traces
T_j = (1/p) E tr (I + mu X^T X)^-j, X (n, p) with entries N(0, 1/p), give
    E (y - z)^2             =  r + omega [s T_2 + (r/lambda) (T_1 - T_2)]
    (1/n) E sum (y - z)^2   =  (p/n) [lambda s (T_1 - T_2) + r T_2] + r (n - p)/n
and T_2 = T_1 + dT_1/d log mu.  The derivative is a difference quotient with a proved remainder: 1/(1 + mu x) is the logistic
function of -log(mu x), whose third derivative is at most 1/8, so a central step h errs by at most h^2/48.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from theoryck.numerics.proved.arithmetic import add, divide, enclose, multiply, subtract
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.linear_model import wishart_resolvent


def resolvent_traces(n: int, p: int, mu: Fraction, digits: int) -> tuple[Enclosure, Enclosure]:
    """Return (1/p) E tr (I + mu X^T X)^-1 and the same of its square, X (n, p) with entries N(0, 1/p), proved.

    >>> first, second = resolvent_traces(1, 1, Fraction(1), 12)
    >>> round(float(first), 8), round(float(second), 8)
    (0.65567954, 0.5)
    """
    places = 2 * digits + 10
    step = Fraction(1, 10 ** (digits // 2 + 3))
    up, down = (wishart_resolvent(n, p, value, places) for value in (mu * (1 + step), mu / (1 + step)))
    # h = log(1 + step) lies between two partial sums of its alternating series.
    above = step - step**2 / 2 + step**3 / 3
    h = Enclosure(*_middle(above - step**4 / 4, above, places))
    slope = divide(subtract(up, down, places), multiply(enclose(2), h, places), places)
    widened = Enclosure(slope.midpoint, slope.radius + Decimal(1) / 48 * Decimal(10) ** (-2 * (digits // 2 + 3)), slope.rigorous)
    first = wishart_resolvent(n, p, mu, places)
    return first, add(first, widened, places)


def _middle(low: Fraction, high: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    both = add(enclose(low, digits), enclose(high, digits), digits)
    middle = multiply(both, enclose(Fraction(1, 2), digits), digits)
    half = multiply(subtract(enclose(high, digits), enclose(low, digits), digits), enclose(Fraction(1, 2), digits), digits)
    return middle.midpoint, middle.radius + half.high


def isotropic_ridge(
    what: str, n: int, p: int, omega: Fraction, signal: Fraction, residual: Fraction, penalty: Fraction, digits: int
) -> Enclosure:
    """Return E of the "test_error" or the "train_loss", b ~ N(0, ``signal`` I), label noise ``residual``; proved.

    >>> one = Fraction(1)
    >>> round(float(isotropic_ridge("test_error", 1, 1, one, one, one, one, 12)), 8)  # noise + T_1 at the optimal penalty
    1.65567954
    """
    places = digits + 15
    first, second = resolvent_traces(n, p, omega / penalty, digits + 3)
    lost = subtract(first, second, places)
    if what == "test_error":
        parts = ((omega * signal, second), (omega * residual / penalty, lost))
        rest = residual
    else:
        parts = ((penalty * signal * p / n, lost), (residual * p / n, second))
        rest = residual * (n - p) / n
    total = enclose(rest, places)
    for factor, trace in parts:
        total = add(total, multiply(enclose(factor, places), trace, places), places)
    return total
