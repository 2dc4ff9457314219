"""The covariances' part of the information gap: an upper bound of it, at any size, from kernels of the inputs alone."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import block_generator
from theoryck.theory.learning.draws.evidence import NANOSECONDS_PER_NUMBER
from theoryck.theory.learning.draws.evidence_model import InputTerm, Setting, fit_controls, input_nanoseconds, pilot_key

Array = NDArray[np.float64]

PILOT = 64
"""Inputs X, with a generator of their own, to which the coefficients of the control variates are fitted."""

WORKING = 2**17
"""Entries of a stack of n x n matrices."""


@functools.lru_cache(maxsize=256)
def _coefficients(setting: Setting) -> tuple[float, ...]:
    rng = block_generator(0, "covariance pilot", pilot_key(setting), {}, 0)
    return fit_controls(*InputTerm(setting, against_noise=False).values(rng, PILOT))[0]


@dataclass(frozen=True)
class CovarianceGap:
    """T_1 = E_X [log det (C_L C_0^{-1}) / 2], plus at depth >= 2 the trace of what the infinitely wide kernel misses, in nats.

    I^(L) - I^(0) = T_1 - KL with KL >= 0, so T_1 is an upper bound.  ``setting`` holds eta_0 and gamma_0 of the linear model.  The
    control variates have mean zero by construction and coefficients that depend on nothing drawn here.
    """

    setting: Setting
    version: int = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return input_nanoseconds(self.setting) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        term, coefficients = InputTerm(self.setting, against_noise=False), np.array(_coefficients(self.setting))
        step = max(WORKING // self.setting.samples**2, 1)
        pieces = []
        for start in range(0, draws, step):
            values, controls = term.values(rng, min(step, draws - start))
            pieces.append(values - controls @ coefficients)
        return np.concatenate(pieces)


def covariance_gap(
    activation: object, widths: tuple[int, ...], samples: int, noise: float, eta0: float, gamma0: float
) -> CovarianceGap:
    """Return a sampler of T_1, total nats, given plain numbers.

    >>> sampler = covariance_gap("erf(x)", (16, 16), 16, 0.5, 0.651470015870560, 0.0401458728192)
    >>> bool(np.isfinite(sampler(np.random.default_rng(0), 10)).all())
    True
    """
    from theoryck.numerics.functions.activation import Activation

    phi = activation if isinstance(activation, Activation) else Activation(activation)
    return CovarianceGap(Setting(phi, tuple(widths), samples, noise, eta0, gamma0))
