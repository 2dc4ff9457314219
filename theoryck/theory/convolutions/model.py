"""Shallow networks on patches and Bayesian regression with them: which weights are shared, and the kernels between patches.

Inputs are N_p patches x_1, ..., x_{N_p} of m entries.  With hidden units phi(w_c . x_i/m^(1/2)), c = 1, ..., N_c channels,
    f(x) = (N_c N_p)^(-1/2) sum_{c,i} a_{ci} phi(w_c . x_i/m^(1/2)),     w ~ N(0, 1/lambda_0), a ~ N(0, 1/lambda_1).
"cnn": as written.  "lcn": every patch has filters w_{ci} of its own.  "fc": so it has, and all patches of a unit have one readout
a_c: for linear units, or a single patch, an ordinary fully connected layer of N_c units.  "pooled": shared filters and one readout
for all patches of a channel, as after average pooling (times N_p^(1/2)).
Given the readouts the second moment of f over the filters is sum_ij Q_ij K_ij/N_p: K_ij(x, x') = E phi(u) phi(v)/lambda_1, (u, v)
the Gaussian pair w . x_i, w . x'_j, and Q = (lambda_1/N_c) sum_c a_c a_c^T, a Wishart matrix of N_c degrees of freedom ("cnn"), its
diagonal ("lcn"), chi^2/N_c times I ("fc") or times 1 1^T ("pooled").  For linear phi f is Gaussian given the readouts, and nothing
else of the network matters.  Where E phi is not 0, products of the means of different channels are left out of this, as in the
papers (they vanish on the average over readouts, that is with infinitely many channels).  The patches of one unit of "fc" have
filters of their own and one readout: there E phi(u) E phi(v) of two patches i != j belongs to K, and is in it.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import real_array
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import integer

Array = NDArray[np.float64]

LARGEST_CHANNELS = 10**15
"""Beyond it float64 does not tell finitely many from infinitely many."""

ARCHITECTURES = ("cnn", "lcn", "fc", "pooled")


@dataclass(frozen=True)
class PatchNetwork:
    """One hidden layer on patches: its activation, its ``channels`` N_c, which weights are shared, and the priors' precisions.

    ``channels`` are at most 1e15, or math.inf, ``architecture`` is "cnn", "lcn", "fc" or "pooled" as above; ``input_precision`` is
    lambda_0, ``readout_precision`` lambda_1.  Raises QuantityError.

    >>> network = PatchNetwork("erf", 16)
    >>> network.order_parameters(3), PatchNetwork("erf", 16, "lcn").order_parameters(3)
    (6, 3)
    """

    activation: Any
    channels: Any
    architecture: str = "cnn"
    input_precision: Any = 1.0
    readout_precision: Any = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.activation, Activation):
            try:
                object.__setattr__(self, "activation", Activation(self.activation))
            except (ValueError, TypeError) as error:
                raise QuantityError(f"activation must be a function of x: {error}") from None
        if self.architecture not in ARCHITECTURES:
            known = ", ".join(map(repr, ARCHITECTURES))
            raise QuantityError(f"architecture must be one of {known}, got {self.architecture!r}")
        if self.channels != math.inf:
            object.__setattr__(self, "channels", integer(self.channels, "channels", 1, LARGEST_CHANNELS, error=QuantityError))
        for name in ("input_precision", "readout_precision"):
            object.__setattr__(self, name, positive(getattr(self, name), name))

    @property
    def parameters(self) -> dict[str, Any]:
        """The network as JSON-able data."""
        channels = "inf" if self.channels == math.inf else self.channels
        own = {"activation": str(self.activation), "channels": channels, "architecture": self.architecture}
        return own | {"input_precision": self.input_precision, "readout_precision": self.readout_precision}

    def order_parameters(self, patches: int) -> int:
        """Return how many numbers the kernel depends on: N_p (N_p + 1)/2, N_p, 1 or 1."""
        return {"cnn": patches * (patches + 1) // 2, "lcn": patches}.get(self.architecture, 1)

    def infinite_order(self, patches: int) -> Array:
        """Return the order parameters (n,) of infinitely many channels: Q = I, or 1 1^T after pooling.

        >>> PatchNetwork("x", 4).infinite_order(2).tolist()
        [1.0, 0.0, 1.0]
        """
        if self.architecture == "cnn":
            rows, columns = np.triu_indices(patches)
            return (rows == columns).astype(float)
        return np.ones(self.order_parameters(patches))

    def matrix(self, order: ArrayLike, patches: int) -> Array:
        """Return Q (..., N_p, N_p) for order parameters (..., n): the entries Q_ij, i <= j, row by row, or fewer.

        >>> PatchNetwork("x", 4).matrix([1.0, 0.5, 2.0], 2).tolist()
        [[1.0, 0.5], [0.5, 2.0]]
        """
        values = np.asarray(order, dtype=float)
        if self.architecture == "cnn":
            rows, columns = np.triu_indices(patches)
            found = np.zeros((*values.shape[:-1], patches, patches))
            found[..., rows, columns] = found[..., columns, rows] = values
            return found
        pattern = np.ones((patches, patches)) if self.architecture == "pooled" else np.eye(patches)
        return pattern * (values[..., :, None] if self.architecture == "lcn" else values[..., None])


def cut_patches(images: ArrayLike, size: Any, stride: Any = None) -> Array:
    """Return the square patches of images (P, height, width) or (P, height, width, colours) as an array (P, N_p, m), row by row.

    Patches of ``size`` pixels start every ``stride`` pixels (default: ``size``, so that they are disjoint).  Raises QuantityError
    for images of another shape and patches that do not cover them evenly.

    >>> cut_patches(np.arange(16.0).reshape(1, 4, 4), 2)[0].tolist()
    [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0], [8.0, 9.0, 12.0, 13.0], [10.0, 11.0, 14.0, 15.0]]
    """
    pixels = real_array(images, "images")
    if pixels.ndim not in (3, 4) or not pixels.size:
        raise QuantityError(f"images must have shape (P, height, width) or (P, height, width, colours), got {pixels.shape}")
    edge = integer(size, "size", 1, error=QuantityError)
    step = edge if stride is None else integer(stride, "stride", 1, error=QuantityError)
    for name, length in zip(("height", "width"), pixels.shape[1:3]):
        if edge > length or (length - edge) % step:
            raise QuantityError(
                f"size must be such that patches every {step} pixels cover the images, got {edge} for a {name} of {length}: take "
                f"another size or stride"
            )
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (edge, edge), axis=(1, 2))[:, ::step, ::step]
    return np.ascontiguousarray(windows).reshape(len(pixels), -1, math.prod(windows.shape[3:]))


class PatchKernels(NamedTuple):
    """What the kernel is made of: sum_a theta_a S_a between training inputs (n, P, P), to new ones (n, P, M) and at them (n, M)."""

    train: Array
    cross: Array
    test: Array


@dataclass(frozen=True, eq=False)
class PatchRegression:
    """Bayesian regression with a :class:`PatchNetwork`: weight exp(-sum (y - f)^2/(2 T)) over its prior, T = ``temperature``.

    ``patches`` (P, N_p, m), ``targets`` (P,), ``test`` (M, N_p, m) or nothing.  Raises QuantityError.

    >>> data = np.random.default_rng(0).standard_normal((5, 2, 3))
    >>> problem = PatchRegression(PatchNetwork("x", 8), data, [1, -1, 0, 2, 0], 0.2)
    >>> problem.kernels.train.shape, problem.shape, problem.with_network(channels=16).network.channels
    ((3, 5, 5), (5, 2, 3), 16)
    """

    network: PatchNetwork
    patches: Any
    targets: Any
    temperature: Any
    test: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, PatchNetwork):
            raise QuantityError(f"network must be a PatchNetwork, got {self.network!r}")
        data = self._inputs(self.patches, "patches")
        targets = real_array(self.targets, "targets")
        if targets.shape != data.shape[:1] or not np.all(np.isfinite(targets)):
            wrong = targets[~np.isfinite(targets)] if targets.shape == data.shape[:1] else targets[:0]
            shown = f"{float(wrong[0])!r}" if len(wrong) else f"an array of shape {targets.shape}"
            raise QuantityError(f"targets must be {len(data)} finite numbers, one for each input of patches, got {shown}")
        none = self.test is None or (isinstance(self.test, np.ndarray) and self.test.shape == (0, *data.shape[1:]))
        test = np.zeros((0, *data.shape[1:])) if none else self._inputs(self.test, "test")
        if test.shape[1:] != data.shape[1:]:
            raise QuantityError(f"test must have patches of shape {data.shape[1:]} as those of training, got {test.shape[1:]}")
        checked = {"patches": data, "targets": targets, "test": test, "temperature": positive(self.temperature, "temperature")}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def _inputs(value: Any, name: str) -> Array:
        data = real_array(value, name)
        if data.ndim != 3 or not data.size:
            raise QuantityError(f"{name} must have shape (P, N_p, m): inputs, patches, entries of a patch; got {data.shape}")
        if not np.all(np.isfinite(data)):
            raise QuantityError(f"{name} must hold finite numbers, got {float(data[~np.isfinite(data)][0])!r}")
        return data

    @property
    def parameters(self) -> dict[str, Any]:
        """The regression as JSON-able data: its network, and its arrays by a checksum."""
        told = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in (self.patches, self.targets, self.test)))
        return self.network.parameters | {"temperature": self.temperature, "data": told.hexdigest()[:16]}

    @property
    def shape(self) -> tuple[int, int, int]:
        """P, N_p and m."""
        inputs, number, entries = self.patches.shape
        return inputs, number, entries

    def with_network(self, **changes: Any) -> PatchRegression:
        """Return the same regression with a network that differs in ``changes``; kernels that stay the same are kept."""
        made = {name: getattr(self.network, name) for name in ("activation", "channels", "architecture")}
        made |= {name: getattr(self.network, name) for name in ("input_precision", "readout_precision")}
        other = PatchRegression(PatchNetwork(**(made | changes)), self.patches, self.targets, self.temperature, self.test)
        if "kernels" in vars(self) and not set(changes) - {"channels"}:
            vars(other)["kernels"] = self.kernels
        return other

    @functools.cached_property
    def kernels(self) -> PatchKernels:
        """The kernels by order parameter: for "cnn" S_a = (K_ij + K_ji)/N_p for i < j and K_ii/N_p, for others sums of these."""
        return patch_kernels(self.network, self.patches, self.test)

    @property
    def infinite_kernel(self) -> Array:
        """The kernel (P, P) of infinitely many channels."""
        return np.asarray(np.tensordot(self.network.infinite_order(self.shape[1]), self.kernels.train, 1))


def patch_kernels(network: PatchNetwork, patches: ArrayLike, test: ArrayLike | None = None) -> PatchKernels:
    """Return the :class:`PatchKernels` of inputs (P, N_p, m) and new inputs (M, N_p, m), with 1/(lambda_1 N_p) in them.

    >>> found = patch_kernels(PatchNetwork("x", 4, "lcn"), [[[1.0, 1.0], [2.0, 0.0]]])
    >>> found.train.ravel().tolist()  # x . x/2 over N_p = 2
    [0.5, 1.0]
    """
    data = real_array(patches, "patches")
    new = np.zeros((0, *data.shape[1:])) if test is None else real_array(test, "test")
    number, layer = data.shape[1], LayerKernel(network.activation)
    scale = 1.0 / (network.input_precision * data.shape[2])
    whole = np.concatenate([data, new])
    known = len(data)
    variances = scale * np.einsum("pim,pim->pi", whole, whole)
    # Gram matrices of which only the diagonal is read beside the block asked for.
    diagonals = [np.diag(variances[:known, i]) for i in range(number)]

    def between(i: int, j: int) -> tuple[Array, Array]:
        """K_ij between training inputs, and from them to new ones."""
        if i == j:
            train = layer(scale * _symmetric(data[:, i] @ data[:, i].T))
        else:
            train = layer.cross(diagonals[i], scale * data[:, i] @ data[:, j].T, variances[:known, j])
        if not len(new):
            return train, np.zeros((known, 0))
        return train, layer.cross(diagonals[i], scale * data[:, i] @ new[:, j].T, variances[known:, j])

    own = layer(scale * np.einsum("pim,pjm->pij", new, new)) if len(new) else np.zeros((0, number, number))
    pairs = [(i, j) for i in range(number) for j in range(i, number)]
    if network.architecture in ("lcn", "fc"):
        pairs = [(i, i) for i in range(number)]
    one = network.architecture in ("fc", "pooled")
    train = np.zeros((1 if one else len(pairs), known, known))
    cross = np.zeros((len(train), known, len(new)))
    at_new = np.zeros((len(train), len(new)))
    for place, (i, j) in enumerate(pairs):
        (inside, outside), target = between(i, j), 0 if one else place
        train[target] += inside if i == j else inside + inside.T
        cross[target] += outside if i == j else outside + between(j, i)[1]
        at_new[target] += own[:, i, j] * (1 if i == j else 2)
    if network.architecture == "fc" and number > 1 and not network.activation.properties.odd.value:
        means = _means(layer, variances)
        sums, old, fresh = means.sum(axis=1), means[:known], means[known:]
        train[0] += np.outer(sums[:known], sums[:known]) - old @ old.T
        cross[0] += np.outer(sums[:known], sums[known:]) - old @ fresh.T
        at_new[0] += sums[known:] ** 2 - (fresh**2).sum(axis=1)
    share = 1.0 / (network.readout_precision * number)
    return PatchKernels(share * train, share * cross, share * at_new)


def _means(layer: LayerKernel, variances: Array) -> Array:
    """Return E phi(u) of fields of ``variances``, all times one sign: kernels of independent fields are products of two means."""
    flat = variances.ravel()
    some = np.quantile(flat, np.linspace(0, 1, 17), method="nearest")
    squares = np.diagonal(layer.cross(np.diag(some), np.zeros((17, 17)), some))
    place = int(np.argmax(squares))
    if not squares[place] > 0:
        return np.zeros_like(variances)
    products = layer.cross(np.diag(some), np.zeros((17, len(flat))), flat)[place]
    return np.asarray((products / math.sqrt(squares[place])).reshape(variances.shape))


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
