"""Constants of a network as exact quantities.

sigma_0 = 1,  sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2,  rho_l = E phi'(sqrt(sigma_{l-1}) Z),
epsilon_l = sigma_l - sigma_{l-1} rho_l^2,  eta_0 = prod_i rho_i,  gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2,   Z ~ N(0, 1).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import QuantityError
from theoryck.quantities.exact import ExactQuantity, as_activation
from theoryck.records import Enclosure


def _layer(layer: Any, least: int) -> int:
    if isinstance(layer, bool) or not isinstance(layer, int) or layer < least:
        raise QuantityError(f"layer must be an integer >= {least}, got {layer!r}")
    return layer


@functools.lru_cache(maxsize=512)
def _constants(activation: Activation, depth: int, digits: int) -> Any:
    from theoryck.theory.networks.proved.constants import network_constants

    return network_constants(activation, depth, digits=digits)


def _constant(kind: str, activation: Any, depth: int, pick: Callable[[Any], Enclosure]) -> ExactQuantity:
    phi = as_activation(activation)
    parameters = {"quantity": kind, "activation": phi.text, "layer": depth}
    return ExactQuantity(f"{kind}_{depth}[{phi.name}]", lambda digits: pick(_constants(phi, depth, digits)), parameters)


def sigma(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return sigma_layer as an exact quantity: sigma_0 = 1, sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2.

    >>> round(float(sigma("erf", 1).exact({}, 20)), 12)
    0.464559054398
    """
    _layer(layer, 0)
    return _constant("sigma", activation, layer, lambda constants: constants.sigma[layer])


def rho(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return rho_layer = E phi'(sqrt(sigma_{layer-1}) Z) as an exact quantity, layer >= 1; QuantityError for another layer.

    >>> round(float(rho("tanh", 1).exact()), 12), float(rho("x", 5).exact())
    (0.605705509602, 1.0)
    """
    _layer(layer, 1)
    return _constant("rho", activation, layer, lambda constants: constants.rho[layer - 1])


def epsilon(activation: Activation | str, layer: int) -> ExactQuantity:
    """Return epsilon_layer = sigma_layer - sigma_{layer-1} rho_layer^2 as an exact quantity, layer >= 1; QuantityError for another.

    >>> round(float(epsilon("tanh", 1).exact()), 12), float(epsilon("x", 1).exact())  # 0 for a linear layer
    (0.027415326035, 0.0)
    """
    _layer(layer, 1)
    return _constant("epsilon", activation, layer, lambda constants: constants.epsilon[layer - 1])


def eta0(activation: Activation | str, depth: int) -> ExactQuantity:
    """Return eta_0 = rho_1 ... rho_depth as an exact quantity (1 at depth 0); QuantityError for a depth that is no integer >= 0.

    >>> twice = eta0("tanh", 2) - rho("tanh", 1) * rho("tanh", 2)
    >>> abs(float(twice.exact())) < 1e-19, float(eta0("tanh", 0).exact())
    (True, 1.0)
    """
    _layer(depth, 0)
    return _constant("eta0", activation, depth, lambda constants: constants.eta0)


def gamma0(activation: Activation | str, depth: int) -> ExactQuantity:
    """Return gamma_0 = sum_j epsilon_j prod_{i>j} rho_i^2 as an exact quantity (0 at depth 0); QuantityError for another depth.

    >>> one = gamma0("tanh", 1) - epsilon("tanh", 1)
    >>> abs(float(one.exact())) < 1e-19, float(gamma0("x", 4).exact())
    (True, 0.0)
    """
    _layer(depth, 0)
    return _constant("gamma0", activation, depth, lambda constants: constants.gamma0)
