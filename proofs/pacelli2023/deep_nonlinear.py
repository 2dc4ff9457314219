"""Two nonlinear hidden layers: what the action with one order parameter a layer misses (Pacelli et al. 2023).

Setting.   Two hidden layers of N units, T = 1/10; one input of preactivation variance 1 with label 3/2, or two inputs.
Claim.     log Z is that of E N(y; 0, T + Q_1 Q_2 K_2) ("vanilla"), or of E N(y; 0, T + Q_2 h(Q_1 h(K_0))) ("recursion"), Q_l =
           chi^2_N/N, whatever the activation (Pacelli et al. 2023).
Truth.     A heuristic, as the paper says, wrong at 1/N at fixed P: given the layers below, a layer's kernel has covariance V_l/N,
           so that N (log Z - log Z_GP) -> sum_l tr(V_l G_l'')/(2 G), G_l the density of the labels as a function of the kernel of
           layer l; both actions have 2 K_l K_l^T in place of V_l, as if features were Gaussian, and the product moves K_2 in place
           of K_1 too.  On one input sin has -.161, the product .474 and the recursion -.635.  Exact values are quadratures; draws
           of the network are over hidden layers of the prior.
"""

import functools
import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import NetworkTask, evidence_ratio, scale_mixture

from . import PACELLI2023
from .nonlinear import MASS, NODES, chi_squares

HEAT, LABEL = 0.1, 1.5
TWO_INPUTS, TWO_LABELS = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]], [1.2, -0.7]
WIDTHS = (128, 256, 512, 1024, 2048)
activations = sampled_from(["erf", "sin", "tanh"])


def squares(phi, variance):
    """phi(z)^2 at the nodes, z of ``variance`` (n,): (n, nodes)."""
    return tc.Activation(phi)(np.sqrt(np.atleast_1d(variance))[:, None] * NODES) ** 2


def layer(phi, variance):
    """h: E phi(z)^2."""
    return squares(phi, variance) @ MASS


def density(kernel):
    """N(y; 0, T + k)."""
    return np.exp(-(LABEL**2) / (2 * (HEAT + kernel))) / np.sqrt(2 * math.pi * (HEAT + kernel))


# One input, exactly ------------------------------------------------------------------------------------------------------------


def first_kernel(phi, N):
    """Nodes and weights of k = mean phi(z)^2 over N units, by inversion of its characteristic function.

    Nodes to 12 and 14 standard deviations; a period of the sum over frequencies is longer, so that no mass is folded back.
    """
    values = squares(phi, 1.0)[0]
    mean, deviation = MASS @ values, math.sqrt((MASS @ values**2 - (MASS @ values) ** 2) / N)
    low, high = max(mean - 12 * deviation, 0.0), mean + 14 * deviation
    period = 1.2 * (high - low)
    frequencies = 2 * math.pi / period * np.arange(math.ceil(45 / deviation * period / (2 * math.pi)))
    characteristic = (np.exp(1j * np.outer(frequencies / N, values)) @ MASS) ** N
    characteristic[0] /= 2
    nodes = np.linspace(low, high, 161)[1:]
    weights = np.real(np.exp(-1j * np.outer(nodes, frequencies)) @ characteristic) * 2 / period * (nodes[1] - nodes[0])
    return nodes[weights > 1e-16], weights[weights > 1e-16]


@functools.lru_cache(maxsize=64)
def evidence(phi, N):
    """Z = E_k int cos(w y) e^(-T w^2/2) (E exp(-w^2 phi(k^(1/2) z)^2/2N))^N dw/(2 pi)."""
    nodes, weights = first_kernel(phi, N)
    features = squares(phi, nodes)
    w = 0.25 * np.arange(120)
    given = np.array([weights @ (np.exp(-s * s * features / (2 * N)) @ MASS) ** N for s in w])
    return float(np.where(w == 0, 0.5, 1.0) * 0.25 / math.pi * np.cos(w * LABEL) * np.exp(-HEAT * w * w / 2) @ given)


@functools.lru_cache(maxsize=64)
def action(phi, N, form):
    """Z of the integral over both order parameters: "product" or "recursion"."""
    first = layer(phi, 1.0)
    last = float(layer(phi, first)[0])
    if form == "product":
        return math.exp(scale_mixture([[last]], [LABEL], widths=[N, N], temperature=HEAT).log_evidence)
    scale, weights = chi_squares(N)
    return float(weights @ density(np.outer(layer(phi, scale * first), scale)) @ weights)


def process(phi):
    """Z of the Gaussian process."""
    return float(density(layer(phi, layer(phi, 1.0)))[0])


# The first order in 1/N, on one or two inputs ----------------------------------------------------------------------------------


def moments(phi, kernel):
    """E and covariance of phi(z_a) phi(z_b), a <= b, for z of ``kernel`` (P, P), P <= 2, as vectors over the pairs."""
    count = len(kernel)
    grid = np.stack(np.meshgrid(*[NODES[::4]] * count, indexing="ij")).reshape(count, -1)
    mass = np.exp(-(grid**2).sum(axis=0) / 2)
    mass /= mass.sum()
    features = tc.Activation(phi)(np.linalg.cholesky(kernel) @ grid)
    pairs = np.array([features[a] * features[b] for a, b in zip(*np.triu_indices(count))])
    mean = pairs @ mass
    return mean, (pairs * mass) @ pairs.T - np.outer(mean, mean)


def matrix(pairs):
    """The symmetric matrix of its entries a <= b."""
    count = round((math.sqrt(8 * len(pairs) + 1) - 1) / 2)
    kernel = np.empty((count, count))
    kernel[np.triu_indices(count)] = pairs
    return np.triu(kernel) + np.triu(kernel, 1).T


def bend(function, place, direction, step=2e-3):
    """d^2 f/ds^2 along ``direction``, of error (step)^4/90 of a sixth derivative."""
    near, far = (function(place + j * step * direction) + function(place - j * step * direction) for j in (1, 2))
    return (-far + 16 * near - 30 * function(place)) / (12 * step**2)


@functools.lru_cache(maxsize=16)
def first_order(phi, labels=(LABEL,), inputs=None):
    """N (log Z - log Z_GP) as N -> infinity: of the network, of the product of order parameters, of the recursion."""
    y = np.array(labels)
    bottom = np.array([[1.0]]) if inputs is None else NetworkTask(phi, y, inputs, temperature=HEAT).gram

    def output(pairs):
        whole = HEAT * np.eye(len(y)) + matrix(pairs)
        return math.exp(-y @ np.linalg.solve(whole, y) / 2) / math.sqrt(np.linalg.det(2 * math.pi * whole))

    def below(pairs):
        return output(moments(phi, matrix(pairs))[0])

    first, spread = moments(phi, bottom)
    last, noise = moments(phi, matrix(first))
    base, found = output(last), 0.0
    for function, place, covariance in ((below, first, spread), (output, last, noise)):
        sizes, axes = np.linalg.eigh(covariance)
        found += sum(size * bend(function, place, axis) for size, axis in zip(sizes, axes.T)) / (2 * base)
    # chi^2_N/N times a kernel has the covariance 2 K K^T/N
    product, recursion = bend(output, last, last) / base, bend(below, first, first) / base
    return found, 2 * product, recursion + product


# Claims ------------------------------------------------------------------------------------------------------------------------


@tc.theorem("pacelli2023/deep-first-order", PACELLI2023)
@tc.for_all(phi=activations)
def first_order_exactly(phi):
    """N (log Z - log Z_GP) -> sum_l tr(V_l G_l'')/(2 G) for two layers on one input, exact values: neither action has it"""
    value, *actions = first_order(phi)
    measured = formula(
        lambda N: N * math.log(evidence(phi, N) / process(phi)),
        name=f"N (log Z - log Z_GP), two layers, {phi}",
        sizes=("N",),
        relative_error=1e-8,
    )
    path = tc.ScalingPath(N=WIDTHS)
    return tc.Limit(measured, path, value=value, rate="1/N", rivals=[*actions, 0], tolerance=abs(value) / 50, correction=1)


@tc.theorem("pacelli2023/deep-missing", PACELLI2023)
@tc.for_all(phi=activations, form=sampled_from(["product", "recursion"]))
def missing_of_two_layers(phi, form):
    """log Z - log Z of either action's integral ~ 1/N on one input, two layers: the rate of the Gaussian process"""
    found, product, recursion = first_order(phi)
    value = found - (product if form == "product" else recursion)
    measured = formula(
        lambda N: math.log(evidence(phi, N) / action(phi, N, form)),
        name=f"log Z - log Z of the {form}, {phi}",
        sizes=("N",),
        relative_error=1e-6,
    )
    return tc.Scaling(
        measured,
        tc.ScalingPath(N=WIDTHS),
        exponent=-1,
        constant=value,
        tolerance=abs(value) / 50,
        rivals=["-1/2", -2],
        correction=1,
        within=0.01,
    )


@tc.theorem("pacelli2023/deep-drawn", PACELLI2023)
@tc.for_all(phi=activations)
def drawn(phi):
    """Z/Z_GP of two layers of 8 units on one input: by networks of the prior, and by quadrature; neither action has it"""
    ratio = evidence_ratio(NetworkTask(phi, [LABEL], [[1.0]], temperature=HEAT, depth=2))
    # of error 1e-7 at 8 units: the weights of the first kernel sum to 1 to that
    value = evidence(phi, 8) / process(phi)
    rivals = [action(phi, 8, form) / process(phi) for form in ("product", "recursion")]

    @tc.quantity(cost=200, name=f"Z/Z_GP, two layers, {phi}, N = 8")
    def measured(rng, draws):
        return ratio.draw(rng, draws, {"N": 8})

    return tc.Identity(measured, value, rivals=rivals, tolerance=min(abs(value - rival) for rival in rivals) / 3)


@tc.theorem("pacelli2023/deep-two-points", PACELLI2023)
@tc.for_all(phi=sampled_from(["sin", "tanh"]))
def two_points(phi):
    """N (Z/Z_GP - 1) -> sum_l tr(V_l G_l'')/(2 G) for two layers on two inputs, drawn: neither action has it"""
    value, *actions = first_order(phi, tuple(TWO_LABELS), tuple(map(tuple, TWO_INPUTS)))
    measured = evidence_ratio(NetworkTask(phi, TWO_LABELS, TWO_INPUTS, temperature=HEAT, depth=2), times_width=True)
    tolerance = min(abs(value - other) for other in actions) / 3
    return tc.Limit(measured, tc.ScalingPath(N=(8, 16, 32, 64)), value=value, rivals=actions, tolerance=tolerance, correction=1)
