"""Infinitely wide networks: the kernel of the output's Gaussian law (NNGP) and of gradient descent (NTK), in float64.

Setting.  z^1 = W_std W^1 x/sqrt(d_0) + b_std b^1,  z^(l+1) = W_std W^(l+1) phi(z^l)/sqrt(d_l) + b_std b^(l+1), all entries of
          W and b iid N(0, 1): the NTK parameterisation.  The output is one z^(L+1), after L hidden layers.
NNGP.     K^1 = b_std^2 + W_std^2 x.x'/d_0,   K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u'),  (u, u') ~ N(0, K^l).
NTK.      T^1 = K^1,                          T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l.
Sources: Lee, Bahri, Novak, Schoenholz, Pennington, Sohl-Dickstein (2018), arXiv:1711.00165; Jacot, Gabriel, Hongler (2018),
arXiv:1806.07572.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import real_array
from theoryck.records.arguments import exact_number, integer

Array = NDArray[np.float64]


PSD_ROUNDING = 1e-10
"""Least eigenvalue of a Gram matrix that passes for rounding, relative to its largest diagonal entry, below 0."""


LARGEST_STD = 1e15
"""So that its square lies in the numeric domain."""


class WideKernels(NamedTuple):
    """The two kernels of an infinitely wide network between n inputs, each (..., n, n)."""

    nngp: Array
    ntk: Array


class Posterior(NamedTuple):
    """A Gaussian process after training: mean (m,) or (m, k) of k outputs, and covariance (m, m)."""

    mean: Array
    covariance: Array


def wide_kernels(
    activation: Activation | str, gram: ArrayLike, hidden_layers: int = 1, *, weight_std: Any = 1, bias_std: Any = 0
) -> WideKernels:
    """Return (nngp, ntk) of an infinitely wide network with ``hidden_layers`` >= 0 layers of ``activation``.

    ``gram`` (..., n, n) holds x.x'/d_0; a new input is one more row.  The kernels are right to about 1e-13 of their diagonal, and a
    unit in the last place of a correlation close to 1 matters where phi is steep.  Raises ValueError for bad arguments, a ``gram``
    that is not symmetric and positive semidefinite, and where phi jumps: E phi' phi' is then infinite.  Sources: see above.

    >>> kernels = wide_kernels("relu", [[1.0, 0.0], [0.0, 1.0]])
    >>> kernels.nngp.round(6).tolist(), kernels.ntk.round(6).tolist()
    ([[0.5, 0.159155], [0.159155, 0.5]], [[1.0, 0.159155], [0.159155, 1.0]])
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    layers, inputs = integer(hidden_layers, "hidden_layers"), gram_matrix(gram, "gram")
    w, b = _square(weight_std, "weight_std"), _square(bias_std, "bias_std")
    if layers and (point := jump(phi)) is not None:
        raise ValueError(f"{phi} jumps at {point:g}: its derivative is no function, and the NTK is infinite; take a continuous one")
    layer, slope = LayerKernel(phi), LayerKernel(phi.derivative())
    with np.errstate(over="ignore", invalid="ignore"):
        nngp = _in_range(b + w * inputs, 0)
        ntk = nngp
        for depth in range(1, layers + 1):
            nngp, gain = _in_range(b + w * layer(nngp), depth), w * slope(nngp)
            ntk = _in_range(nngp + gain * ntk, depth)
    return WideKernels(nngp, ntk)


def _square(value: Any, name: str) -> float:
    number = exact_number(value, name, low=0, strict=False)
    # A Fraction may be too large for a float.
    if (number if isinstance(number, Fraction) else float(number)) > LARGEST_STD:
        raise ValueError(f"{name} must be at most {LARGEST_STD:g}, got {value!r}: change its unit")
    return float(number) ** 2


def _in_range(kernel: Array, depth: int) -> Array:
    diagonal = np.diagonal(kernel, axis1=-2, axis2=-1)
    if not np.all(np.isfinite(kernel)) or np.any((diagonal > 0) & (diagonal < np.finfo(np.float64).tiny)):
        raise ValueError(f"the kernel after {depth} hidden layers is outside float64: take fewer layers or another weight_std")
    return kernel


def gram_matrix(value: ArrayLike, name: str) -> Array:
    """Return ``value`` (..., n, n) as a float64 array; ValueError unless it is finite, symmetric and positive semidefinite."""
    gram = real_array(value, name)
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2] or not gram.size:
        raise ValueError(f"{name} must have shape (..., n, n) with n >= 1, got {gram.shape}")
    if not np.all(np.isfinite(gram)):
        raise ValueError(f"{name} must hold finite numbers, got {gram[~np.isfinite(gram)][0]!r}")
    # Scaled to unit size, so that squares neither overflow nor vanish.
    size = np.max(np.abs(gram), axis=(-2, -1), keepdims=True)
    unit = np.divide(gram, size, out=np.zeros_like(gram), where=size > 0)
    gap = float(np.max(np.abs(unit - np.swapaxes(unit, -1, -2))))
    if gap > PSD_ROUNDING:
        raise ValueError(f"{name} must be symmetric, but an entry differs from its mirror image by {gap:.3g} of the largest entry")
    try:
        np.linalg.cholesky(unit + PSD_ROUNDING * np.eye(gram.shape[-1]))
    except np.linalg.LinAlgError:
        least = float(np.min(np.linalg.eigvalsh(unit)))
        raise ValueError(
            f"{name} must be positive semidefinite, as inner products of real vectors are: its least eigenvalue is {least:.6g} of "
            f"its largest entry"
        ) from None
    return gram


def gaussian_process(kernel: ArrayLike, targets: ArrayLike, noise: Any) -> Posterior:
    """Return mean k^T (K + T)^{-1} y and covariance K_** - k^T (K + T)^{-1} k of a Gaussian process, T = ``noise`` > 0.

    ``kernel`` (n + m, n + m) lists the n training inputs first, ``targets`` is (n,) or (n, k).  With the NNGP kernel this is the
    Bayesian posterior of an infinitely wide network (arXiv:1711.00165).  Raises ValueError for shapes that do not fit, a kernel
    that is not symmetric and positive semidefinite, and numbers that are not finite.

    >>> posterior = gaussian_process([[1.0, 0.5], [0.5, 1.0]], [2.0], noise=3.0)
    >>> posterior.mean.tolist(), posterior.covariance.tolist()
    ([0.25], [[0.9375]])
    """
    whole, y = real_array(kernel, "kernel"), real_array(targets, "targets")
    n = len(y) if y.ndim else 0
    if whole.ndim != 2 or whole.shape[0] != whole.shape[1] or not 0 < n < len(whole) or y.ndim > 2:
        raise ValueError(f"kernel must be (n + m, n + m) for n >= 1 targets and m >= 1 inputs, got {whole.shape} and {y.shape}")
    if not np.all(np.isfinite(y)):
        raise ValueError(f"targets must be finite numbers, got {y[~np.isfinite(y)][0]!r}")
    whole, level = gram_matrix(whole, "kernel"), float(exact_number(noise, "noise", low=0))
    try:
        factor = scipy.linalg.cho_factor(whole[:n, :n] + level * np.eye(n), lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"kernel + noise is not positive definite in float64: take a larger noise than {noise!r}") from None
    cross = whole[:n, n:]
    solved = scipy.linalg.cho_solve(factor, cross)
    return Posterior(solved.T @ y, whole[n:, n:] - cross.T @ solved)


def jump(activation: Activation) -> float | None:
    """Return a point where phi itself jumps, None where it is continuous.

    The difference of the two sides of a kink at the distances 2^-20 and 2^-40 falls by 2^(-20 a) where phi is Hoelder of order a; a
    jump leaves it as it is.

    >>> jump(Activation("sign(x)")), jump(Activation("relu"))
    (0.0, None)
    """
    for kink in map(float, activation.kinks):
        far, near = (abs(np.diff(activation(np.array([kink - step, kink + step])))[0]) for step in (2.0**-20, 2.0**-40))
        if near > far / 2:
            return kink
    return None
