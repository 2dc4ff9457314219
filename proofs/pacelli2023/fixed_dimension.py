"""P ~ N at fixed N_0, where the inputs are more than their dimension: what the action misses there (Pacelli et al. 2023).

Setting.   N_0 = 2, P inputs evenly on the circle |x|^2 = 2, relu, T = 1/10, labels 0; K is circulant, of eigenvalues lambda_k.
Claim.     The missing part is O(P^2/(N N_0)) (a heuristic): of order N at P = N.
Truth.     A unit w has q = phi^T A phi = |w|^2 tr A K/2 whatever its direction, so that the missing part of N log Z is (E H - 3
           W)/8 = (3/8) ((tr S)^2 - 2 tr S^2), S = K A, A = (T + K)^-1.  lambda_k ~ 2 P/(pi^2 k^4) for even k: tr S ~ (2 P/(T
           pi^2))^(1/4) pi/8^(1/2), and the missing part is (3 pi/64) (2 P/T)^(1/2).  It grows as P^(1/2): at P = N log Z - log
           Z_action ~ N^(-1/2), not N; the action is right there, at a rate of its own.
"""

import functools
import math

import numpy as np

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import scale_mixture

from . import PACELLI2023

HEAT = 0.1


@functools.cache
def spectrum(count):
    """The eigenvalues of K, a circulant matrix."""
    cosine = np.cos(2 * math.pi / count * np.arange(count))
    angle = np.arccos(np.clip(cosine, -1, 1))
    return np.maximum(np.fft.fft((np.sin(angle) + (math.pi - angle) * cosine) / (2 * math.pi)).real, 0)


def missing(count):
    """(3/8) ((tr S)^2 - 2 tr S^2)."""
    shares = spectrum(count) / (HEAT + spectrum(count))
    return 3 / 8 * (shares.sum() ** 2 - 2 * (shares**2).sum())


def growth():
    """N times what log Z has beyond the action, to first order in 1/N, exact values."""
    return formula(
        lambda P: float(missing(int(P))), name="N (log Z - log Z_action), relu, N_0 = 2", sizes=("P",), relative_error=1e-9
    )


circle = tc.ScalingPath(P=tc.doubling(2**8, 2**20))


@tc.theorem("pacelli2023/missing-fixed-dimension", PACELLI2023)
def missing_grows():
    """N (log Z - log Z_action) -> (3 pi/64) (2 P/T)^(1/2) (1 + O(P^(-1/4))) as N, then P -> infinity, exact values"""
    value = 3 * math.pi / 64 * math.sqrt(2 / HEAT)
    return tc.Scaling(
        growth(),
        circle,
        exponent="1/2",
        constant=value,
        tolerance=value / 20,
        rivals=["1/4", 1, 2],
        correction=0.25,
        within=0.01,
    )


def ratio():
    """(Z/Z_action - 1)/(missing part/N) at P = N: a mean over layers of the prior, given which log p(y) is a determinant.

    Z_W of the scale alone, K_W = Q K with Q = sum |w_i|^2/(2 N), chi^2 with 2 N degrees of freedom, is known in the mean and takes
    most of the noise.
    """

    @tc.quantity(cost=lambda sizes: sizes["N"] ** 3 / 4 + 10 * sizes["N"] ** 2, name="N (Z/Z_action - 1)/missing part, P = N")
    def drawn(rng, draws, *, N):
        angle = 2 * math.pi / N * np.arange(N)
        x = np.stack([np.cos(angle), np.sin(angle)])
        settings = {"labels": np.zeros(N), "temperature": HEAT}
        # of N and of 2 N degrees of freedom
        action, scale = (scale_mixture(np.diag(spectrum(N)), widths=width, **settings).log_evidence for width in (N, 2 * N))
        constant = N / 2 * math.log(2 * math.pi) + action
        found = []
        for start in range(0, draws, 64):
            units = rng.standard_normal((min(64, draws - start), N, 2))
            features = np.maximum(units @ x, 0)
            kernels = np.swapaxes(features, 1, 2) @ features / N + HEAT * np.eye(N)
            scales = (units**2).sum(axis=(1, 2)) / (2 * N)
            network = np.exp(-np.linalg.slogdet(kernels)[1] / 2 - constant)
            control = np.exp(-np.log(HEAT + scales[:, None] * spectrum(N)).sum(axis=1) / 2 - constant)
            found.append(network - control + math.exp(scale - action) - 1)
        return np.concatenate(found) * N / missing(N)

    return drawn


together = tc.ScalingPath(N=(16, 32, 64, 128))


@tc.theorem("pacelli2023/fixed-dimension", PACELLI2023)
def first_order_counts():
    """Z/Z_action - 1 is the missing part over N at P = N, to leading order: N^(-1/2)"""
    return tc.Limit(ratio(), together, value=1, rivals=[0, 2], tolerance=0.4, correction=0.5)
