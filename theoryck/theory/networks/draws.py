"""Markov chains that have the law of deep random networks without a weight matrix, in cache-sized pieces.

Given the layer below, the pre-activations of a layer are independent Gaussian vectors whose covariance is the Gram matrix of that
layer.  So the squared norm S_l of one input, and the Gram matrix of two, are Markov chains:
    S_0 = chi^2_{d_0}/d_0,    S_l = (1/d_l) sum_i phi(sqrt(S_{l-1}) Z_i)^2,
    (u_i, v_i) iid N(0, G_{l-1}),    G_l = (1/d_l) sum_i phi(u_i, v_i) phi(u_i, v_i)^T.
A layer costs d_l (or 2 d_l) normals per draw.  Where phi(x) = c x the sums are chi-square and Wishart variables, taken directly:
a few numbers per draw whatever the width.  The input layer is such a layer with unit Gram matrix below.

The order in which random numbers are used depends on the widths and the number of draws only.  Everything is float64: the
quantities are differences S_L - sigma_L of size d^(-1/2) raised to a power, and the normals cost twice what they would in
float32, but 24 bits would leave an error of 1e-7 sqrt(d) relative to the difference, visible at many draws.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

Array = NDArray[np.float64]

PIECE = 16_384
"""Entries of a working array: 128 KiB, so that three of them and the temporaries of phi stay in a second-level cache."""

NARROW = 64
"""Below this width a working array is laid out (width, draws), so that inner loops run over the draws."""


@functools.lru_cache(maxsize=64)
def _shared(build: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return build(*arguments)


@dataclass(frozen=True, slots=True)
class Layers:
    """The network as the chains see it: ``widths`` (d_0, ..., d_L), phi, and its slope when phi(x) = slope * x (else None).

    ``activation`` may be None when there is a slope: it is not applied then.
    """

    activation: Any
    slope: float | None
    widths: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """Normals (or a few gammas) per draw and input."""
        return 1 + sum(1 if self.slope is not None else width for width in self.widths[1:])

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker meets the same activation at many sizes: compiling it once is enough.
        recipe = None if self.activation is None else self.activation.__reduce__()
        return _rebuilt, (recipe, self.slope, self.widths)


def _rebuilt(recipe: tuple[Any, ...] | None, slope: float | None, widths: tuple[int, ...]) -> Layers:
    return Layers(None if recipe is None else _shared(recipe[0], recipe[1]), slope, widths)


@functools.lru_cache(maxsize=256)
def slope(activation: Activation) -> float | None:
    """Return c when phi(x) = c x identically, else None.

    sympy cancels x in the quotient of c*x by x at once; an expression it cannot cancel takes the general route, which is
    slower and right all the same.
    """
    from theoryck.numerics.functions.expression import x

    quotient = activation.expression / x
    return float(quotient) if quotient.is_number else None


def layers_of(network: DeepNetwork, sizes: Mapping[str, int]) -> Layers:
    """Return a network at ``sizes`` as the chains see it."""
    widths, linear = network.layer_widths(sizes), slope(network.activation)
    if linear is not None or network.depth == 0:
        # The activation is never applied: leaving it out spares the workers from loading it.
        return Layers(None, 1.0 if linear is None else linear, widths)
    return Layers(network.activation, None, widths)


def norm_chain(layers: Layers, rng: np.random.Generator, draws: int) -> Array:
    """Return S_L = |x_L|^2 for ``draws`` independent networks and inputs, shape (draws,)."""
    width, *later = layers.widths
    norms = _chi_square(rng, width, draws) / width
    buffer = np.empty(PIECE)
    for width in later:
        if layers.slope is not None:
            norms *= _chi_square(rng, width, draws)
            norms *= layers.slope**2 / width
        else:
            norms = _norm_layer(layers.activation, rng, norms, width, buffer)
    return norms


def overlap_chain(layers: Layers, rng: np.random.Generator, draws: int) -> Array:
    """Return Q_L = x_L(mu) . x_L(nu) for two independent inputs of each of ``draws`` independent networks, shape (draws,)."""
    width, *later = layers.widths
    one, zero = np.ones(draws), np.zeros(draws)
    factor = _wishart_factor(rng, (one, zero, one), width, 1.0)
    overlap = factor[0] * factor[1]
    buffers = np.empty((3, PIECE))
    for index, width in enumerate(later, start=1):
        if layers.slope is not None:
            factor = _wishart_factor(rng, factor, width, layers.slope)
            overlap = factor[0] * factor[1]
        else:
            last = index == len(later)
            first, overlap, second = _overlap_layer(layers.activation, rng, factor, width, buffers, last)
            factor = factor if last else _cholesky(first, overlap, second)
    return overlap


Factor = tuple[Array, Array, Array]
"""(a, b, c): the Gram matrix is [[a^2, a b], [a b, b^2 + c^2]], so (a z1, b z1 + c z2) has it as covariance."""


def _chi_square(rng: np.random.Generator, degrees: int, draws: int) -> Array:
    """Return chi-square variables (draws,) as 2 Gamma(degrees/2); zero degrees give 0."""
    values = rng.standard_gamma(0.5 * degrees, size=draws)
    values *= 2.0
    return values


def _wishart_factor(rng: np.random.Generator, factor: Factor, width: int, slope: float) -> Factor:
    """Return the factor of slope^2 W/width, W Wishart with ``width`` degrees: Bartlett's decomposition, no cancellation."""
    a, b, c = factor
    draws = len(a)
    scale = slope / np.sqrt(width)
    left = np.sqrt(_chi_square(rng, width, draws))
    cross = rng.standard_normal(draws)
    right = np.sqrt(_chi_square(rng, width - 1, draws))
    # |slope| on the first and last entry keeps them >= 0; a sign of slope cancels in the Gram matrix.
    return a * left * abs(scale), (b * left + c * cross) * abs(scale), c * right * abs(scale)


def _cholesky(first: Array, overlap: Array, second: Array) -> Factor:
    """Return the factor of Gram matrices given by |x|^2, x.y, |y|^2."""
    a = np.sqrt(first)
    # |x| = 0 forces x.y = 0: then b = 0 is the factor.
    b = np.divide(overlap, a, out=np.zeros_like(a), where=a > 0)
    # Cauchy-Schwarz makes |y|^2 - b^2 >= 0; rounding may leave it below by an ulp of |y|^2.
    return a, b, np.sqrt(np.maximum(second - b * b, 0.0))


def _norm_layer(phi: Any, rng: np.random.Generator, norms: Array, width: int, buffer: Array) -> Array:
    root, result = np.sqrt(norms), np.empty_like(norms)
    if width > PIECE:
        for index in range(len(norms)):
            result[index] = _wide_norm(phi, rng, root[index], width, buffer)
        result /= width
        return result
    step, narrow = PIECE // width, width < NARROW
    for start in range(0, len(norms), step):
        piece = slice(start, min(start + step, len(norms)))
        scale, out = root[piece], result[piece]
        view = _view(buffer, len(scale), width, narrow)
        rng.standard_normal(out=view)
        view *= scale if narrow else scale[:, None]
        phi.into(view)
        _sums(view, view, out, narrow)
    result /= width
    return result


def _overlap_layer(
    phi: Any, rng: np.random.Generator, factor: Factor, width: int, buffers: Array, last: bool
) -> tuple[Array, Array, Array]:
    """Return |x|^2, x.y, |y|^2 of the next layer; after the last layer only x.y is computed."""
    draws = len(factor[0])
    results = np.zeros((3, draws))
    step, narrow = max(PIECE // width, 1), width < NARROW
    for start in range(0, draws, step):
        piece = slice(start, min(start + step, draws))
        scales = (factor[0][piece], factor[1][piece], factor[2][piece])
        # A width above PIECE is summed in parts, one draw at a time.
        for offset in range(0, width, PIECE):
            part = min(PIECE, width - offset)
            u, v = _pair(phi, rng, scales, part, buffers, narrow)
            _add_products(u, v, results[:, piece], last, narrow)
    results /= width
    return results[0], results[1], results[2]


def _pair(phi: Any, rng: np.random.Generator, scales: Factor, width: int, buffers: Array, narrow: bool) -> tuple[Array, Array]:
    """Return phi at both inputs of ``width`` units, as views of the first two buffers."""
    u, v, spare = (_view(buffer, len(scales[0]), width, narrow) for buffer in buffers)
    a, b, c = (scale if narrow else scale[:, None] for scale in scales)
    rng.standard_normal(out=u)
    rng.standard_normal(out=v)
    np.multiply(u, b, out=spare)
    v *= c
    v += spare
    u *= a
    phi.into(u)
    phi.into(v)
    return u, v


def _add_products(u: Array, v: Array, results: Array, last: bool, narrow: bool) -> None:
    """Add x.y, and before the last layer |x|^2 and |y|^2, to the rows 1, 0, 2 of ``results``; u and v are used up."""
    sums = np.empty(results.shape[1])
    # In the narrow layout a square overwrites its factor: the mixed product, which needs both, comes first.
    _sums(u, v, sums, narrow, keep=not last)
    results[1] += sums
    if not last:
        for row, factor in ((0, u), (2, v)):
            _sums(factor, factor, sums, narrow)
            results[row] += sums


def _wide_norm(phi: Any, rng: np.random.Generator, root: float, width: int, buffer: Array) -> float:
    total = 0.0
    for offset in range(0, width, PIECE):
        view = buffer[: min(PIECE, width - offset)]
        rng.standard_normal(out=view)
        view *= root
        phi.into(view)
        total += float(np.einsum("i,i->", view, view))
    return total


def _view(buffer: Array, draws: int, width: int, narrow: bool) -> Array:
    return buffer[: draws * width].reshape((width, draws) if narrow else (draws, width))


def _sums(left: Array, right: Array, out: Array, narrow: bool, keep: bool = False) -> None:
    """Write the sum over the width of left * right to ``out`` (draws,); without ``keep`` the narrow layout overwrites ``left``."""
    if narrow:
        product = np.multiply(left, right, out=None if keep else left)
        np.add.reduce(product, axis=0, out=out)
    else:
        np.einsum("ij,ij->i", left, right, out=out)
