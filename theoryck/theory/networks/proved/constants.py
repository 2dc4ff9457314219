"""The constants of a deep network: sigma_l, rho_l, eps_l, eta_0 and gamma_0, as balls pushed through the recursion.

sigma_0 = 1, sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2, rho_l = E phi'(sqrt(sigma_{l-1}) Z), eps_l = sigma_l - sigma_{l-1} rho_l^2,
eta_0 = prod_i rho_i, gamma_0 = sum_j eps_j prod_{i>j} rho_i^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import arb
from sympy import Expr

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, check_digits, from_ball, precision, proved_digits
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import polynomial_pieces
from theoryck.numerics.functions.trees import constant_ball
from theoryck.numerics.proved.gaussian import (
    AGREEMENT,
    CLOSED,
    INTEGRAL,
    SYMMETRY,
    TRAPEZOID,
    Value,
    expression_of,
    mean,
    means,
    rough_bits,
)
from theoryck.numerics.proved.polynomials import is_affine
from theoryck.records import Enclosure

MAX_DEPTH = 200
ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class NetworkConstants:
    """Enclosures of the constants of ``depth`` layers: ``sigma`` from layer 0 on, ``rho`` and ``epsilon`` from layer 1 on.

    ``routes`` says for each layer how its expectations were found (see :mod:`theoryck.numerics.proved.gaussian`).

    >>> found = network_constants("erf", depth=2, digits=15)
    >>> [round(float(value), 6) for value in found.sigma], found.sigma[1].rigorous
    ([1.0, 0.464559, 0.319909], True)
    >>> len(found.rho), float(found.gamma0) > 0, sorted(found.to_json())[:3]
    (2, True, ['activation', 'depth', 'digits'])
    """

    activation: str
    depth: int
    digits: int
    sigma: tuple[Enclosure, ...]
    rho: tuple[Enclosure, ...]
    epsilon: tuple[Enclosure, ...]
    eta0: Enclosure
    gamma0: Enclosure
    routes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict with decimal strings."""
        return {
            "activation": self.activation,
            "depth": self.depth,
            "digits": self.digits,
            "sigma": [value.to_json() for value in self.sigma],
            "rho": [value.to_json() for value in self.rho],
            "epsilon": [value.to_json() for value in self.epsilon],
            "eta0": self.eta0.to_json(),
            "gamma0": self.gamma0.to_json(),
            "routes": list(self.routes),
        }


@dataclass(slots=True)
class _Balls:
    """One pass of the recursion."""

    sigma: list[Value]
    rho: list[Value]
    epsilon: list[Value]
    eta0: Value
    gamma0: Value

    def all(self) -> Iterator[Value]:
        yield from (*self.sigma, *self.rho, *self.epsilon, self.eta0, self.gamma0)


def network_constants(activation: Any, depth: int, digits: int = 30) -> NetworkConstants:
    """Return sigma_l, rho_l, eps_l (l <= depth), eta_0 and gamma_0 of a deep network, each with ``digits`` significant digits.

    ``activation`` is an Activation, an expression in x or text.  rho_l is computed as E[X phi(X)]/sigma_{l-1}, X ~ N(0,
    sigma_{l-1}) (Stein), which is E phi' for an absolutely continuous phi and its meaning as a distribution where phi jumps.
    The working precision is raised until the digits are proved relative to each value; a value that cannot be told from zero
    (eps of a function that is almost linear) is known to 10^-digits of the sigma of its layer.  eps of an affine phi is exact.

    >>> import sympy
    >>> constants = network_constants(sympy.erf(sympy.Symbol("x", real=True)), 2, digits=15)
    >>> str(constants.sigma[1].midpoint)[:17], constants.sigma[0].exact
    ('0.464559054397539', True)
    """
    digits = check_digits(digits)
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= MAX_DEPTH:
        raise ExactError(
            f"depth must be an integer between 0 and {MAX_DEPTH}, got {depth!r}: every layer costs digits, which the layers before "
            "must prove"
        )
    phi = expression_of(activation)
    balls = _enough(phi, depth, digits)

    def records(*values: Value) -> tuple[Enclosure, ...]:
        return tuple(from_ball(value.ball, digits, value.rigorous) for value in values)

    eta0, gamma0 = records(balls.eta0, balls.gamma0)
    return NetworkConstants(
        activation=str(getattr(activation, "text", activation)),
        depth=depth,
        digits=digits,
        sigma=records(*balls.sigma),
        rho=records(*balls.rho),
        epsilon=records(*balls.epsilon),
        eta0=eta0,
        gamma0=gamma0,
        routes=tuple(value.how for value in balls.sigma[1:]),
    )


def _enough(phi: Expr, depth: int, digits: int) -> _Balls:
    extra = 12 + 4 * depth
    for _ in range(ATTEMPTS):
        wanted = bits_for(digits, extra)
        with precision(wanted + 32):
            balls = _recursion(phi, depth, wanted)
            missing = max((_missing(value, digits) for value in balls.all()), default=0.0)
        if missing <= 0:
            break
        extra += 16 + math.ceil(missing * BITS_PER_DIGIT)
    if not all(value.ball.is_finite() for value in balls.all()):
        raise ExactError(f"the constants of {phi} at depth {depth} cannot be separated from 0 at {wanted} bits: lower the depth")
    return balls


def _missing(value: Value, digits: int) -> float:
    """Digits still to be proved; a ball around zero far smaller than 10^-digits is taken as it is."""
    if not value.rigorous:
        return 0.0
    if value.ball.contains(0) and bool(abs(value.ball) < arb(10) ** (-3 * digits - 20)):
        return 0.0
    return digits - proved_digits(value.ball)


def _recursion(phi: Expr, depth: int, bits: int) -> _Balls:
    sigma, rho, epsilon = [Value(arb(1), CLOSED)], list[Value](), list[Value]()
    for _ in range(depth):
        new = layer(phi, sigma[-1], bits)
        for row, value in zip((sigma, rho, epsilon), new):
            row.append(value)
    eta, gamma = arb(1), arb(0)
    for slope, rest in zip(rho, epsilon):
        eta = eta * slope.ball
        gamma = gamma * slope.ball * slope.ball + rest.ball
    how = sigma[-1].how
    return _Balls(sigma, rho, epsilon, Value(eta, how), Value(gamma, how))


def layer(phi: Expr, before: Value, bits: float) -> tuple[Value, Value, Value]:
    """Return (sigma_l, rho_l, eps_l) from sigma_{l-1}, with about ``bits`` significant bits each."""
    s = before.ball
    if s.is_zero():
        return _after_zero(phi)
    squared, correlated = phi**2, x * phi
    found = means((squared, correlated), s, bits - min(rough_bits((squared, correlated), s)))
    how = max((before.how, *(value.how for value in found)), key=_ROUTES.index)
    sigma, rho = found[0].ball, found[1].ball / s
    parts = polynomial_pieces(phi)
    constant = is_affine(parts) if parts is not None else None
    epsilon = sigma - s * rho * rho if constant is None else constant_ball(constant) ** 2
    return Value(sigma, how), Value(rho, how), Value(epsilon, how)


def _after_zero(phi: Expr) -> tuple[Value, Value, Value]:
    """The layer after sigma = 0, which means that phi is 0 almost everywhere, and its slope as a distribution as well."""
    if not mean(phi, arb(0), 53).ball.is_zero():
        raise ExactError(f"phi = {phi} is 0 almost everywhere but not at 0: rho has no meaning after a layer of variance 0")
    zero = Value(arb(0), CLOSED)
    return zero, zero, zero


_ROUTES = [CLOSED, SYMMETRY, TRAPEZOID, INTEGRAL, AGREEMENT]
