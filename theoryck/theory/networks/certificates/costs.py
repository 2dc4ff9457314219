"""What a certificate costs, before it is looked for."""

from __future__ import annotations

from functools import lru_cache

from flint import arb

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.strips import NoBound
from theoryck.numerics.proved.trapezoid import choose_grid
from theoryck.theory.networks.certificates.cells import BITS, TERMS

SHARED, SEPARATE = 0.18, 20.0  # seconds of a layer and its check


@lru_cache(maxsize=256)
def seconds_of_a_layer(activation: Activation) -> float:
    """Return roughly the seconds for one layer: a hundred times as many where nodes cannot be shared by all expectations.

    >>> seconds_of_a_layer(Activation("tanh")), seconds_of_a_layer(Activation("erf(x/sqrt(x**2 + 1))"))
    (0.18, 20.0)
    """
    try:
        choose_grid(activation.expression, arb(1), BITS, degree=2 * TERMS, power=4)
    except NoBound:
        return SEPARATE
    return SHARED
