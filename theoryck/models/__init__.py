"""The mathematics under study: activations, deep networks and the strategies that generate them."""

from __future__ import annotations

from theoryck.models.activation import Activation
from theoryck.models.expression import ExpressionError, x
from theoryck.models.network import DeepNetwork, SizeExpression, size

__all__ = ["Activation", "DeepNetwork", "ExpressionError", "SizeExpression", "size", "x"]
