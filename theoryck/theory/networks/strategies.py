"""Hypothesis strategies for structure: activations that satisfy the main theorem or miss one hypothesis, and width patterns.

Everything is built from small rationals, so that failing examples shrink to short formulas.
"""

from __future__ import annotations

import difflib
from typing import Any

import sympy
from hypothesis import strategies as st

from theoryck._lazy import unknown
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import smooth_odd
from theoryck.numerics.functions.domain import parse_expression
from theoryck.numerics.functions.expression import x
from theoryck.theory.networks.model import SizeExpression, size

ASSUMPTIONS = ("odd", "bounded_derivative", "smooth", "zero_mean")
"""What :func:`activations_missing` can leave out."""

_SCALES = [sympy.Rational(*pair) for pair in ((1, 1), (2, 1), (1, 2), (3, 2), (2, 3))]
_BOUNDED_ODD = [parse_expression(text) for text in ("tanh(x)", "erf(x)", "sin(x)", "atan(x)", "x*exp(-x**2/2)", "x/sqrt(1 + x**2)")]
_BOUNDED_EVEN = [parse_expression(text) for text in ("cos(x)", "sech(x)", "exp(-x**2/2)", "1/(1 + x**2)")]


def _scaled(pool: list[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for f(b x), f from the pool."""
    return st.builds(lambda f, b: f.subs(x, b * x), st.sampled_from(pool), st.sampled_from(_SCALES))


def smooth_odd_activations() -> st.SearchStrategy[Activation]:
    """Return odd C^2 activations with bounded phi' and phi'': catalogue, a phi(b x), sums, odd times even bounded, compositions.

    Each example is checked against its own ``properties``; the constructions make every one pass unless it cancels to 0.
    """
    pool = [phi.expression for phi in smooth_odd]
    term = st.builds(lambda a, f: a * f, st.sampled_from([*_SCALES, -sympy.S.Half]), _scaled(pool))
    # (f g)'' = f''g + 2f'g' + f g'' is bounded when both factors and their derivatives are; (f o g)'' = f''(g)g'^2 + f'(g)g''.
    product = st.builds(lambda f, g: f * g, _scaled(_BOUNDED_ODD), _scaled(_BOUNDED_EVEN))
    composition = st.builds(lambda f, g: f.subs(x, g), st.sampled_from(pool), _scaled(_BOUNDED_ODD))
    mixture = st.builds(lambda f, g: f + g, term, term)
    built = st.one_of(term, mixture, product, composition).map(Activation)
    return st.one_of(st.sampled_from(smooth_odd), built).filter(lambda phi: phi.expression != 0 and phi.satisfies_main_theorem)


def _not_odd() -> st.SearchStrategy[Any]:
    shift = st.sampled_from(_SCALES)
    return st.one_of(
        st.builds(lambda f, c: f.subs(x, x + c), _scaled(_BOUNDED_ODD), shift),
        st.builds(lambda f, c: f + c, _scaled(_BOUNDED_ODD), shift),
        _scaled([*_BOUNDED_EVEN, parse_expression("log(1 + exp(x))"), parse_expression("x*(1 + erf(x/sqrt(2)))/2")]),
    )


def _unbounded_slope() -> st.SearchStrategy[Any]:
    cubic = st.builds(lambda a, b: a * x + b * (x**3 - 3 * x), st.sampled_from(_SCALES), st.sampled_from(_SCALES[2:]))
    return st.one_of(cubic, _scaled([sympy.sinh(x / 2), x**3 / 6]))


def _kinked() -> st.SearchStrategy[Any]:
    pool = ("max(-1, min(1, x))", "x/(1 + abs(x))", "relu(x - 1) - relu(-x - 1)", "tanh(x) + relu(x - 1) - relu(-x - 1)")
    return st.builds(lambda a, f: a * f, st.sampled_from(_SCALES), _scaled([parse_expression(text) for text in pool]))


def _mean_not_zero() -> st.SearchStrategy[Any]:
    pool = ("relu(x)", "abs(x)", "cos(x)", "log(1 + exp(x))", "x*(1 + erf(x/sqrt(2)))/2", "erf(x + 1/2)", "exp(-x**2/2)")
    return st.builds(lambda a, f: a * f, st.sampled_from(_SCALES), _scaled([parse_expression(text) for text in pool]))


def activations_missing(assumption: str) -> st.SearchStrategy[Activation]:
    """Return activations without one hypothesis: "odd", "bounded_derivative", "smooth" or "zero_mean".

    Missing "odd": smooth with bounded derivatives, not odd.  "bounded_derivative": odd and smooth, phi' unbounded.
    "smooth": odd and Lipschitz, not C^2.  "zero_mean": the Gaussian mean at variance 1 is not 0 (so not odd either).

    >>> activations_missing("odds")
    Traceback (most recent call last):
    ValueError: assumption must be one of odd, bounded_derivative, smooth, zero_mean, got 'odds': did you mean 'odd'?
    """
    makers = {"odd": _not_odd, "bounded_derivative": _unbounded_slope, "smooth": _kinked, "zero_mean": _mean_not_zero}
    if assumption not in makers:
        close = difflib.get_close_matches(str(assumption), ASSUMPTIONS, n=1)
        hint = f": did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"assumption must be one of {', '.join(ASSUMPTIONS)}, got {assumption!r}{hint}")
    return makers[assumption]().map(Activation)


def width_patterns(depth: int, name: str = "d", largest: int = 4) -> st.SearchStrategy[tuple[SizeExpression, ...]]:
    """Return patterns of depth + 1 widths c_l * name with integers 1 <= c_l <= largest, input first."""
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise ValueError(f"depth must be an integer >= 0, got {depth!r}")
    unit = size(name)
    multiples = st.lists(st.integers(1, largest), min_size=depth + 1, max_size=depth + 1)
    return multiples.map(lambda factors: tuple(unit * factor for factor in factors))


def __getattr__(name: str) -> Any:
    raise unknown(__name__, name, ("ASSUMPTIONS", "activations_missing", "smooth_odd_activations", "width_patterns"))
