"""The mathematics under study: activations, deep networks and the strategies that generate them."""

from __future__ import annotations

from theoryck.models.activation import Activation
from theoryck.models.expression import ExpressionError, parse_expression, x
from theoryck.models.network import DeepNetwork, SizeExpression, size
from theoryck.models.properties import ActivationProperties, Property

__all__ = [
    "Activation",
    "ActivationProperties",
    "DeepNetwork",
    "ExpressionError",
    "Property",
    "SizeExpression",
    "parse_expression",
    "size",
    "x",
]
