"""28 tables of errors that textbooks print: one-step methods and quadrature rules on standard problems, 5 to 9 sizes, doubled."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Textbook:
    """The errors of one method on one problem, whose order is known by theory."""

    name: str
    order: int
    sizes: tuple[int, ...]
    errors: tuple[float, ...]

    def written(self, digits: int, inverse: bool = False) -> str:
        """The table as text, with ``digits`` significant digits, all of them from 16 on; in steps 1/n instead of n if asked."""
        first = [repr(1 / n) if inverse else str(n) for n in self.sizes]
        last = [repr(error) if digits >= 16 else f"{error:.{digits - 1}e}" for error in self.errors]
        rows = [f"{size},{error}" for size, error in zip(first, last)]
        return "\n".join([f"{'h' if inverse else 'n'},error", *rows]) + "\n"


def euler(f, t, y, h):
    return y + h * f(t, y)


def heun(f, t, y, h):
    k = f(t, y)
    return y + h / 2 * (k + f(t + h, y + h * k))


def midpoint(f, t, y, h):
    return y + h * f(t + h / 2, y + h / 2 * f(t, y))


def runge_kutta(f, t, y, h):
    a = f(t, y)
    b = f(t + h / 2, y + h / 2 * a)
    c = f(t + h / 2, y + h / 2 * b)
    return y + h / 6 * (a + 2 * b + 2 * c + f(t + h, y + h * c))


def solved(step, f, start, end, n):
    y, h = np.array(start), end / n
    for i in range(n):
        y = step(f, i * h, y, h)
    return y


# f, y(0), T, y(T), the coarsest number of steps
PROBLEMS = {
    "y' = -y": (lambda t, y: -y, [1.0], 1.0, [math.exp(-1)], 4),
    "y' = y (1 - y)": (lambda t, y: y * (1 - y), [0.1], 2.0, [1 / (1 + 9 * math.exp(-2))], 4),
    "y'' = -y": (lambda t, y: np.array([y[1], -y[0]]), [1.0, 0.0], 2.0, [math.cos(2), -math.sin(2)], 8),
    "y' = -2 t y": (lambda t, y: -2 * t * y, [1.0], 1.0, [math.exp(-1)], 4),
}


def trapezoid(g, a, b, n):
    x = np.linspace(a, b, n + 1)
    return (b - a) / n * (g(x).sum() - 0.5 * (g(a) + g(b)))


def middle(g, a, b, n):
    h = (b - a) / n
    return h * g(a + h * (np.arange(n) + 0.5)).sum()


def simpson(g, a, b, n):
    x = g(np.linspace(a, b, n + 1))
    return (b - a) / n / 3 * (x[0] + x[-1] + 4 * x[1:-1:2].sum() + 2 * x[2:-1:2].sum())


# On 0..1 the odd derivatives of 1/(1 + x^2) that Simpson's error starts with vanish at both ends, so that it has order 6 there.
INTEGRALS = {
    "exp": (np.exp, 0.0, 1.0, math.e - 1),
    "1/(1 + x)": (lambda x: 1 / (1 + x), 0.0, 1.0, math.log(2)),
    "sin": (np.sin, 0.0, math.pi / 2, 1.0),
    "1/(1 + x^2)": (lambda x: 1 / (1 + x * x), 0.0, 2.0, math.atan(2)),
}


def _tables() -> list[Textbook]:
    found = []

    def add(method: str, order: int, problem: str, index: int, coarsest: int, error: Callable[[int], float]) -> None:
        sizes = tuple(coarsest * 2**i for i in range(5 + (index + order) % 5))
        found.append(Textbook(f"{method}, {problem}", order, sizes, tuple(error(n) for n in sizes)))

    for step, order in ((euler, 1), (heun, 2), (midpoint, 2), (runge_kutta, 4)):
        for index, (name, (f, start, end, exact, coarsest)) in enumerate(PROBLEMS.items()):

            def error(n: int, step=step, f=f, start=start, end=end, exact=exact) -> float:
                return float(np.abs(solved(step, f, start, end, n) - exact).max())

            add(step.__name__, order, name, index, coarsest, error)
    for rule, order in ((trapezoid, 2), (middle, 2), (simpson, 4)):
        for index, (name, (g, a, b, exact)) in enumerate(INTEGRALS.items()):

            def error(n: int, rule=rule, g=g, a=a, b=b, exact=exact) -> float:
                return abs(float(rule(g, a, b, n)) - exact)

            add(rule.__name__, order, name, index, 4, error)
    return found


TABLES = tuple(_tables())
