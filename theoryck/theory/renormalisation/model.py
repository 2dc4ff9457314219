"""A Bayesian fully connected network and its data: kernels between inputs, labels, widths, temperature, prior precisions.

f(x) = N_L^(-1/2) sum_i a_i x_L,i,  x_l = phi(W_l x_(l-1) N_(l-1)^(-1/2)),  x_0 = x in N_0 dimensions, entries of W_l of variance
1/lambda_(l-1), a_i of variance 1/lambda_L; the weights have the Gibbs law of density exp(-|y - f|^2/(2T)) with respect to this
prior.  With h the kernel of phi the output of an infinitely wide network has the covariance K/lambda_L,
    K^1 = h(X X^T/(lambda_0 N_0)),   K^(l+1) = h(K^l/lambda_l),   K = K^L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import real_array
from theoryck.records.arguments import LARGEST, LEAST, exact_number, integer, positive, shown

Array = NDArray[np.float64]

LARGEST_WIDTH = 10**15
"""Beyond it float64 does not tell a finite width from an infinite one."""

KERNEL_ROUNDING = 1e-10
"""A kernel may differ from its transpose, and its least eigenvalue lie below 0, by this times its largest diagonal entry."""


@dataclass(frozen=True, eq=False)
class Regression:
    """Output kernel K/lambda_L of P training inputs (P, P), with m new ones (P, m) and of those (m,); labels; widths; T.

    ``layers`` are the kernel map, the covariance of all inputs below the first layer and the precisions, for actions that need
    more than K; None where K was given.
    """

    kernel: Array
    cross: Array
    new: Array
    labels: Array
    new_labels: Array | None
    widths: tuple[float, ...]
    temperature: float
    layers: tuple[LayerKernel, Array, tuple[float, ...]] | None

    def output_kernel(self, orders: Sequence[float]) -> tuple[Array, Array, Array]:
        """Return the blocks of Q_L h(Q_(L-1)/lambda h(... )), every layer's kernel times its order parameter."""
        if self.layers is None:
            raise ValueError(
                "recursion needs an activation as kernel: an array says nothing of the layers below, take recursion=False"
            )
        layer, gram, precisions = self.layers
        for order, precision in zip(orders, precisions[1:]):
            gram = layer(gram) * (order / precision)
        return blocks(gram, len(self.labels))


def blocks(gram: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the kernel of the first ``count`` inputs, between them and the others, and the others' variances."""
    return gram[:count, :count], gram[:count, count:], np.diagonal(gram)[count:]


def regression(
    kernel: Any,
    labels: ArrayLike,
    inputs: ArrayLike | None,
    new_inputs: ArrayLike | None,
    new_labels: ArrayLike | None,
    widths: Any,
    temperature: Any,
    precisions: Any,
) -> Regression:
    """Check and collect; ValueError names the argument, shows the value and says what to do."""
    y = _vector(labels, "labels")
    sizes = read_widths(widths)
    heat = float(exact_number(temperature, "temperature", low=0, strict=False))
    if heat and not LEAST <= heat <= LARGEST:
        raise ValueError(
            f"temperature must be 0 or lie between {LEAST:g} and {LARGEST:g}, got {temperature!r}: change the unit of y"
        )
    if isinstance(kernel, Activation | str):
        if inputs is None:
            raise ValueError(f"inputs are needed with kernel = {kernel!r}: an array (P, N_0), a row for each label")
        phi = kernel if isinstance(kernel, Activation) else Activation(kernel)
        rows = _rows(inputs, "inputs", len(y))
        if new_inputs is not None:
            rows = np.vstack([rows, _rows(new_inputs, "new_inputs", None, rows.shape[1])])
        strengths = read_precisions(precisions, len(sizes))
        layer, gram = LayerKernel(phi), rows @ rows.T / (rows.shape[1] * strengths[0])
        layers: tuple[LayerKernel, Array, tuple[float, ...]] | None = (layer, gram, strengths)
        whole = gram
        for precision in strengths[1:]:
            whole = layer(whole) / precision
    else:
        if callable(kernel):
            raise ValueError(f"kernel must be an activation as a formula in x, such as 'tanh(x)', or an array, got {kernel!r}")
        if inputs is not None or new_inputs is not None:
            raise ValueError("inputs and new_inputs go with an activation: a kernel array has a row for each of them already")
        given = real_array(kernel, "kernel")
        if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] < len(y):
            raise ValueError(
                f"kernel must be an activation or an array (P + m, P + m) that lists the P = {len(y)} training inputs first, got "
                f"the shape {given.shape}"
            )
        layers, whole = None, given / _precision(precisions, "precisions (one number with a kernel array: lambda of the readout)")
    _check_kernel(whole)
    # E t^(-P/2) is infinite, and N_l (Q_l - 1) = -P has no root Q_l > 0.
    if heat == 0 and not np.any(y) and min(sizes) <= len(y):
        raise ValueError(
            f"labels are 0 at temperature = 0, where a layer of {min(sizes):g} <= P = {len(y)} units has an infinite density: take "
            "a temperature > 0, or labels that are not 0"
        )
    if new_labels is not None and len(whole) == len(y):
        raise ValueError("new_labels go with new inputs: give new_inputs, or a kernel array with rows for them")
    fresh = None if new_labels is None else _vector(new_labels, "new_labels", len(whole) - len(y))
    return Regression(*blocks(whole, len(y)), y, fresh, sizes, heat, layers)


def read_widths(widths: Any) -> tuple[float, ...]:
    """Return (N_1, ..., N_L) as floats from a width or a sequence of them, each an integer from 1 to 1e15, or inf.

    >>> read_widths(8), read_widths([4, float("inf")])
    ((8.0,), (4.0, inf))
    """
    several = widths if isinstance(widths, Sequence | np.ndarray) and not isinstance(widths, str) else [widths]
    if not len(several):
        raise ValueError(f"widths must be a width or a sequence (N_1, ..., N_L) of at least one, got {widths!r}")
    return tuple(width if width == math.inf else float(integer(width, "widths", 1, LARGEST_WIDTH)) for width in several)


def read_precisions(precisions: Any, depth: int) -> tuple[float, ...]:
    """Return (lambda_0, ..., lambda_L) from one number for all or a sequence of L + 1.

    >>> read_precisions(2, 1), read_precisions((1, 0.5), 1)
    ((2.0, 2.0), (1.0, 0.5))
    """
    if not isinstance(precisions, Sequence | np.ndarray) or isinstance(precisions, str):
        return (_precision(precisions, "precisions"),) * (depth + 1)
    if len(precisions) != depth + 1:
        raise ValueError(
            f"precisions must be one number, or lambda_0 of the inputs' weights to lambda_L of the readout ({depth + 1} for "
            f"{depth} hidden layers), got {len(precisions)}: {precisions!r}"
        )
    return tuple(_precision(value, f"precisions[{index}]") for index, value in enumerate(precisions))


def _precision(value: Any, name: str) -> float:
    return positive(value, name, LARGEST) if not isinstance(value, str) else float(exact_number(value, name, low=0))


def _vector(value: ArrayLike, name: str, length: int | None = None) -> Array:
    array = real_array(value, name)
    if array.ndim != 1 or not len(array) or (length is not None and len(array) != length):
        raise ValueError(f"{name} must be an array ({'P' if length is None else length},), got the shape {array.shape}")
    return _finite(array, name)


def _rows(value: ArrayLike, name: str, count: int | None, columns: int | None = None) -> Array:
    array = real_array(value, name)
    if array.ndim != 2 or not array.size or (count or len(array)) != len(array) or (columns or array.shape[1]) != array.shape[1]:
        wanted = f"({'m' if count is None else count}, {'N_0' if columns is None else columns})"
        raise ValueError(f"{name} must be an array {wanted}, an input a row, got the shape {array.shape}")
    return _finite(array, name)


def _finite(array: Array, name: str) -> Array:
    # Comparisons this way round fail for NaN too.
    bad = ~(np.abs(array) <= LARGEST)
    if np.any(bad):
        raise ValueError(f"{name} must hold numbers of size at most {LARGEST:g}, got {shown(float(array[bad][0]))}")
    return array


def _check_kernel(kernel: Array) -> None:
    _finite(kernel, "kernel")
    size = float(np.max(np.abs(np.diagonal(kernel)), initial=0.0))
    gap = float(np.max(np.abs(kernel - kernel.T)))
    if gap > KERNEL_ROUNDING * size:
        raise ValueError(f"kernel must be symmetric, but an entry differs from its mirror image by {gap:.3g}")
    if not size > 0:
        raise ValueError("kernel is 0: the network has no output that depends on its weights")
    # Of all inputs, new ones too; that of the training inputs is decomposed later.
    roots = np.sqrt(np.maximum(np.diagonal(kernel), 0.0))
    excess = np.abs(kernel) - np.outer(roots, roots)
    if np.max(excess) > KERNEL_ROUNDING * size:
        i, j = np.unravel_index(int(np.argmax(excess)), kernel.shape)
        raise ValueError(
            f"kernel must be positive semidefinite, but |K_ij| > (K_ii K_jj)^(1/2) at i, j = {i}, {j}: {kernel[i, j]:.6g} beside "
            f"{kernel[i, i]:.6g} and {kernel[j, j]:.6g}"
        )


@dataclass(frozen=True, init=False)
class NetworkTask:
    """A Bayesian network with all ``depth`` hidden layers of one width still to be said, and its training data, as exact texts.

    ``activation``, ``labels`` (P,), ``inputs`` (P, N_0), ``temperature`` T > 0, ``precisions`` one number or (lambda_0, ...,
    lambda_L).  Raises ValueError for what does not fit.

    >>> task = NetworkTask("tanh", [1.0, -0.5], [[1.0, 0.0], [0.5, 1.0]], temperature=0.1)
    >>> task.kernel.round(6).tolist()
    [[0.273676, 0.126072], [0.126072, 0.310917]]
    """

    activation: Activation
    labels: tuple[float, ...]
    inputs: tuple[tuple[float, ...], ...]
    temperature: float
    strengths: tuple[float, ...]

    def __init__(
        self, activation: Any, labels: ArrayLike, inputs: ArrayLike, *, temperature: float, precisions: Any = 1, depth: int = 1
    ) -> None:
        phi = activation if isinstance(activation, Activation) else Activation(activation)
        y = _vector(labels, "labels")
        object.__setattr__(self, "activation", phi)
        object.__setattr__(self, "labels", tuple(y.tolist()))
        object.__setattr__(self, "inputs", tuple(tuple(row) for row in _rows(inputs, "inputs", len(y)).tolist()))
        object.__setattr__(self, "temperature", positive(temperature, "temperature", LARGEST))
        object.__setattr__(self, "strengths", read_precisions(precisions, integer(depth, "depth", 1)))

    @property
    def depth(self) -> int:
        """L."""
        return len(self.strengths) - 1

    @property
    def gram(self) -> Array:
        """X X^T/(lambda_0 N_0)."""
        x = np.array(self.inputs)
        return np.asarray(x @ x.T / (x.shape[1] * self.strengths[0]))

    @property
    def kernel(self) -> Array:
        """K^L/lambda_L, the covariance of the outputs at infinite width."""
        layer, gram = LayerKernel(self.activation), self.gram
        for precision in self.strengths[1:]:
            gram = layer(gram) / precision
        return gram

    @property
    def parameters(self) -> dict[str, Any]:
        """The task as JSON-able data."""
        return {
            "activation": self.activation.text,
            "labels": list(self.labels),
            "inputs": [list(row) for row in self.inputs],
            "temperature": self.temperature,
            "precisions": list(self.strengths),
        }

    def __str__(self) -> str:
        return f"{self.activation.text}, P = {len(self.labels)}, T = {self.temperature:g}, depth {self.depth}"
