"""The catalogue as text: names and formulas, with no computation, so that every module of the room may read it."""

from __future__ import annotations

ENTRIES: dict[str, str] = {
    "identity": "x",
    "tanh": "tanh(x)",
    "tanh2": "tanh(2*x)",
    "erf": "erf(x)",
    "erf_scaled": "erf(x/sqrt(2))",
    "sin": "sin(x)",
    "sin2": "sin(2*x)",
    "arctan": "atan(x)",
    "asinh": "asinh(x)",
    "x_gauss": "x*exp(-x**2/2)",
    "x_over_sqrt": "x/sqrt(1 + x**2)",
    "relu": "relu(x)",
    "abs": "abs(x)",
    "softsign": "x/(1 + abs(x))",
    "hardtanh": "max(-1, min(1, x))",
    "he2": "(x**2 - 1)/sqrt(2)",
    "he3": "(x**3 - 3*x)/sqrt(6)",
    "he3_mix": "x/2 + (x**3 - 3*x)/10",
    "gelu": "x*(1 + erf(x/sqrt(2)))/2",
    "softplus": "log(1 + exp(x))",
    "cos": "cos(x)",
    "erf_shifted": "erf(x + 1/2)",
    "relu_centred": "relu(x) - 1/sqrt(2*pi)",
}
"""Name of every catalogue activation and its formula."""

SMOOTH_ODD: tuple[str, ...] = (
    "identity",
    "tanh",
    "tanh2",
    "erf",
    "erf_scaled",
    "sin",
    "sin2",
    "arctan",
    "asinh",
    "x_gauss",
    "x_over_sqrt",
)
"""Names of the entries that are odd and C^2 with bounded phi' and phi''."""
