"""Activations as expressions of one variable ``x``: read, compiled, differentiated, and what is proved of them.

activation  ``Activation``: one real function of one real variable, as an expression and as fast numpy code
calculus    What is read off the tree: derivatives almost everywhere, in forms that stay accurate where floating point overflows;
            parity
catalogue   Activations by name: ``tc.activations.tanh``, ``catalogue["he2"]``, and ``smooth_odd`` for the main theorem
compiled    A small compiler from expression trees to numpy: in-place ufunc calls over cache-sized blocks
domain      Whether an expression is real and finite on the whole line: proved, seen on a grid, or refuted at a named point
expression  From text to a sympy expression in ``x`` and back, by a whitelist over ``ast``: no text is ever executed
growth      How fast an expression grows as x -> +oo or -oo, read off its tree
properties  What is known of an activation: parity, smoothness, bounded derivatives, Gaussian mean; proved or only seen
pieces      Kinks: an expression with Abs, Max, Min, Heaviside or sign as analytic expressions on intervals
ranges      Enclosures of an expression's values over an interval of x, and what they prove about signs
trees       Expression trees as straight-line programs: one sympy expression (or several that share parts) evaluated over
            columns of numbers
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "activation": ("Activation",),
        "domain": ("parse_expression",),
        "expression": (
            "ExpressionError",
            "x",
        ),
        "properties": (
            "ActivationProperties",
            "Property",
        ),
    },
)
