"""Infinitely wide networks: the kernel of the output's Gaussian law (NNGP) and of gradient descent (NTK), in float64.

Setting.  z^1 = W_std W^1 x/sqrt(d_0) + b_std b^1,  z^(l+1) = W_std W^(l+1) phi(z^l)/sqrt(d_l) + b_std b^(l+1), all entries of
          W and b iid N(0, 1): the NTK parameterisation.  The output is one z^(L+1), after L hidden layers.
NNGP.     K^1 = b_std^2 + W_std^2 x.x'/d_0,   K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u'),  (u, u') ~ N(0, K^l).
NTK.      T^1 = K^1,                          T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l.
Sources: Lee, Bahri, Novak, Schoenholz, Pennington, Sohl-Dickstein (2018), arXiv:1711.00165; Jacot, Gabriel, Hongler (2018),
arXiv:1806.07572.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from theoryck.asymptotics.kernels import LayerKernel
from theoryck.models.activation import Activation

Array = NDArray[np.float64]


class WideKernels(NamedTuple):
    """The two kernels of an infinitely wide network between n inputs, each (..., n, n)."""

    nngp: Array
    ntk: Array


class Posterior(NamedTuple):
    """A Gaussian process after training: mean (m,) or (m, k) of k outputs, and covariance (m, m)."""

    mean: Array
    covariance: Array


def wide_kernels(
    activation: Activation | str, gram: ArrayLike, hidden_layers: int = 1, *, weight_std: float = 1.0, bias_std: float = 0.0
) -> WideKernels:
    """Return (nngp, ntk) of an infinitely wide network with ``hidden_layers`` >= 0 layers of ``activation``.

    ``gram`` (..., n, n) holds x.x'/d_0; a new input is one more row.  The kernels are right to about 1e-13 of their diagonal.
    Raises ValueError for bad arguments, and where phi jumps: E phi' phi' is then infinite.  Sources: see above.

    >>> kernels = wide_kernels("relu", [[1.0, 0.0], [0.0, 1.0]])
    >>> kernels.nngp.round(6).tolist(), kernels.ntk.round(6).tolist()
    ([[0.5, 0.159155], [0.159155, 0.5]], [[1.0, 0.159155], [0.159155, 1.0]])
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    layers = check_layers(hidden_layers)
    for name, value in (("weight_std", weight_std), ("bias_std", bias_std)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    if layers and (point := jump(phi)) is not None:
        raise ValueError(f"{phi} jumps at {point:g}: its derivative is no function, and the NTK is infinite; take a continuous one")
    layer, slope = LayerKernel(phi), LayerKernel(phi.derivative())
    nngp = bias_std**2 + weight_std**2 * np.asarray(gram, dtype=np.float64)
    ntk = nngp
    for _ in range(layers):
        nngp, gain = bias_std**2 + weight_std**2 * layer(nngp), weight_std**2 * slope(nngp)
        ntk = nngp + gain * ntk
    return WideKernels(nngp, ntk)


def gaussian_process(kernel: ArrayLike, targets: ArrayLike, noise: float) -> Posterior:
    """Return mean k^T (K + T)^{-1} y and covariance K_** - k^T (K + T)^{-1} k of a Gaussian process, T = ``noise`` > 0.

    ``kernel`` (n + m, n + m) lists the n training inputs first, ``targets`` is (n,) or (n, k).  With the NNGP kernel this is the
    Bayesian posterior of an infinitely wide network (arXiv:1711.00165).  Raises ValueError for shapes that do not fit and where
    K + T is not positive definite.

    >>> posterior = gaussian_process([[1.0, 0.5], [0.5, 1.0]], [2.0], noise=3.0)
    >>> posterior.mean.tolist(), posterior.covariance.tolist()
    ([0.25], [[0.9375]])
    """
    whole, y = np.asarray(kernel, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    n = len(y) if y.ndim else 0
    if whole.ndim != 2 or whole.shape[0] != whole.shape[1] or not 0 < n < len(whole):
        raise ValueError(f"kernel must be (n + m, n + m) for n >= 1 targets and m >= 1 inputs, got {whole.shape} and {y.shape}")
    if not noise > 0:
        raise ValueError(f"noise must be a number > 0, got {noise!r}")
    try:
        factor = scipy.linalg.cho_factor(whole[:n, :n] + noise * np.eye(n), lower=True)
    except np.linalg.LinAlgError:
        raise ValueError("kernel + noise is not positive definite: kernel must be a Gram matrix") from None
    cross = whole[:n, n:]
    solved = scipy.linalg.cho_solve(factor, cross)
    return Posterior(solved.T @ y, whole[n:, n:] - cross.T @ solved)


def check_layers(hidden_layers: int) -> int:
    """Return ``hidden_layers``, an integer >= 0; ValueError otherwise."""
    if isinstance(hidden_layers, bool) or not isinstance(hidden_layers, int) or hidden_layers < 0:
        raise ValueError(f"hidden_layers must be an integer >= 0, got {hidden_layers!r}")
    return hidden_layers


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
