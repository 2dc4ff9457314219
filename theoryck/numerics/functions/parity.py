"""Even or odd, read off the tree."""

from __future__ import annotations

from typing import Any

import sympy

from theoryck.numerics.functions.expression import x

_ODD = (sympy.sin, sympy.tan, sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf, sympy.sign)
_EVEN = (sympy.cos, sympy.cosh, sympy.sech, sympy.Abs)


def parity(e: Any) -> int | None:
    """Return 1 (even), -1 (odd) or None (neither, or not visible in the tree); zero counts as even.

    >>> parity(x*sympy.exp(-x**2/2)), parity(sympy.cos(sympy.tanh(x))), parity(sympy.Max(0, x))
    (-1, 1, None)
    """
    if not e.has(x):
        return 1
    if e == x:
        return -1
    parts = [parity(argument) for argument in e.args]
    if isinstance(e, sympy.Mul):
        return None if None in parts else (-1 if parts.count(-1) % 2 else 1)
    if isinstance(e, sympy.Pow):
        if parts[0] == -1 and e.exp.is_Integer:
            return -1 if int(e.exp) % 2 else 1
        return parts[0] if parts[0] == 1 else None
    if all(part == 1 for part in parts):
        return 1
    if isinstance(e, sympy.Add) and all(part == -1 for part in parts):
        return -1
    if isinstance(e, _ODD) and parts[0] == -1:
        return -1
    return 1 if isinstance(e, _EVEN) and parts[0] == -1 else None
