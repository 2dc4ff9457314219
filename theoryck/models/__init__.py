"""The mathematics under study: activations, deep networks and the strategies that generate them."""

from __future__ import annotations

from theoryck.models.activation import Activation
from theoryck.models.expression import ExpressionError, parse_expression, x
from theoryck.models.features import GaussianFeatures, RandomFeatures
from theoryck.models.network import DeepNetwork, SizeExpression, size
from theoryck.models.properties import ActivationProperties, Property
from theoryck.models.teacher import TeacherStudent

__all__ = [
    "Activation",
    "ActivationProperties",
    "DeepNetwork",
    "ExpressionError",
    "GaussianFeatures",
    "Property",
    "RandomFeatures",
    "SizeExpression",
    "TeacherStudent",
    "parse_expression",
    "size",
    "x",
]
