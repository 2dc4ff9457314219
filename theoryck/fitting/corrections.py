"""Corrections to scaling: the family of next-order terms that an exponent's interval must allow for.

A quantity that is "of order d**s" is ``A d**s (1 + B d**-w + ...)``, and a fit without the bracket is wrong with a confidence that
grows with the draws.  Here ``log Q = log A + s log d + sum_j B_j d**-w_j`` with Gaussian priors on the ``B_j``:

* default: ``w_j = j/2`` with standard deviations 2, 3.8, 6.3, 12.5, 18 on ``B_1 .. B_5``.  It allows
  ``1 + B d**-w + B2 d**-2w`` with ``|B|, |B2| <= 2`` and w in {1/2, 1}: over all such truths on d = 16..1024 a 95% interval covers
  at least 93% of the time, from 1e3 to 1e7 draws (tests/calibration).  What is missed at a corner is missed on one side: an upper
  limit at 2.5% is too low for at most 6.9% of samples at the worst truth ((B, B2) = (2, -2), w = 1/2, 1e6 draws).  Decisions
  therefore use limits that add the largest bias at a corner of the family (:meth:`CorrectionFamily.largest_bias`) to the noise, and
  miss no truth of it more often than they say;
* declared ``correction=w``: ``w_j = j w`` for j = 1, 2, 3, ..., for ``1 + B d**-w + B2 d**-2w`` with ``|B|, |B2| <= 2`` as by
  default: the interval is then as wide as that of a fit told the power, to a factor 1.15 for w = 1 and 2 for w = 1/2
  (d = 16..1024, 1e3 to 1e7 draws), and covers at least 93% of the time on that window and others (tests/calibration);
* ``amplitude=a`` alone is the family of sizes whose unit means nothing, such as step sizes, tokens and operations: the terms are
  ``b_j u**j/2``, ``u = d_first/d``, with standard deviation a on each of the first four ``b_j`` and 0.85 times the last on the
  others, for ``1 + B u**w + B2 u**(2w)``, ``|B| <= a``, ``|B2| <= a**2``, w in {1/2, 1, 3/2, 2}.  For a = 0.6, assumed of such
  sizes, a 95% interval covers at least 93% of the time on 5 to 11 sizes apart by factors of 2, at noise of 5% to 1e-5, also with
  ``B = 2 h_first**w`` for ``h_first = 1/8`` (tests/calibration).  Every size enters relative to the first, so that nothing depends
  on the unit;
* ``amplitude=a`` with ``correction`` says how large the first term is at the smallest size, i.e. bounds the coefficient of
  ``(d/d_first)**-w``; without it ``a = 2 d_first**-w``.  Moments of high order need that: the 1/d coefficient of a sixth moment
  can be 30, while its relative size at d = 32 is about 1, so that ``correction=1, amplitude=2`` is right for it.  An amplitude
  a < 1 is a small parameter, whose terms fall like those of log(1 + B u + B2 u^2), ``|B| <= a``, ``|B2| <= a**2``,
  ``u = (d/d_first)**-w``; over these truths a 95% interval covers at least 93% of the time for a up to 1/2 at noise of 0.3% to 5%
  (92% for a = 0.9).  From 1 on there is no small parameter, and the bound is one on the logarithm itself:
  ``b_1 u + b_2 u**2``, ``|b_j| <= a``.

Both continue beyond the listed terms with amplitudes that decrease geometrically at the smallest size, because the logarithm of
a bracket has all orders: without that tail the interval of exact data would shrink to the rounding error around a wrong value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from theoryck.fitting.data import Array

DEFAULT_AMPLITUDE = 2.0
SHAPE = (1.0, 0.96, 0.79, 0.78, 0.56)  # by minimax: narrowest at 93% coverage of the worst truth, see tests/calibration
TAIL_RATIO = 0.75
SCALE_FREE_RATIO = 0.85
# 1 + B u + B2 u^2 with |B|, |B2| <= 2 has no zero with |u| < (sqrt(3)-1)/2 = 0.366: the series of its logarithm grows like 2.73^j.
COEFFICIENT_GROWTH = 3.0
GOLDEN = (1 + math.sqrt(5)) / 2
MAX_TERMS = 96
SMALLEST_BRACKET = 0.2
_GRID = np.linspace(-1.0, 1.0, 9)


@dataclass(frozen=True, slots=True)
class CorrectionFamily:
    """Relative powers ``w_j`` and the standard deviations of the terms ``(d/d_first)**-w_j``, largest first.

    >>> CorrectionFamily.choose(16).text("d")
    'O(d^-1/2)'
    """

    powers: tuple[float, ...]
    deviations: tuple[float, ...]
    declared: bool
    bounds: tuple[tuple[float, float, float], ...] = ()  # (w, |B| at most, |B2| at most) for 1 + B u + B2 u^2, u = (d/d_first)^-w
    logarithmic: bool = False  # whether the bounds are those of the logarithm, B u + B2 u^2

    @classmethod
    def choose(
        cls,
        first: float,
        correction: float | None = None,
        amplitude: float | None = None,
        noise: float = 0.01,
        widening: float = 1.0,
    ) -> CorrectionFamily:
        """Return the family for a window that starts at ``first``; terms below a tenth of ``noise`` are left out.

        ``widening`` multiplies the deviation of the j-th listed term by its j-th power, as larger coefficients would.

        Raises ValueError unless ``correction`` and ``amplitude`` are positive and finite.
        """
        for name, value in (("correction", correction), ("amplitude", amplitude)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        if correction is None and amplitude is not None:
            size = float(amplitude)
            step, logarithmic, ratio = 0.5, size >= 1, SCALE_FREE_RATIO
            deviations = [size] * 4
            bounds = [(power, size, min(size, size**2)) for power in (0.5, 1.0, 1.5, 2.0)]
        elif correction is None:
            step, logarithmic = 0.5, False
            edge = DEFAULT_AMPLITUDE / math.sqrt(first)
            deviations = [shape * edge**j for j, shape in enumerate(SHAPE, 1)]
            ratio = min(TAIL_RATIO, COEFFICIENT_GROWTH / math.sqrt(first))
            bounds = [(0.5, edge, edge**2 / 2), (1.0, edge**2 / 2, edge**4 / 8)]  # |B|, |B2| <= 2 for the default amplitude 2
        else:
            step = float(correction)
            size = DEFAULT_AMPLITUDE * first**-step if amplitude is None else float(amplitude)
            logarithmic = amplitude is not None and size >= 1
            # A declared amplitude below 1 is a small parameter: log(1 + B u + B2 u^2) with |B| <= a, |B2| <= a^2 is a series whose
            # coefficients reach a^j L_j/j, with the Lucas numbers L_j = 1, 3, 4, 7, ... that grow like 1.62^j.
            deviations = [size] * 3 if logarithmic else [1.1 * size, min(size, 1.5 * size**2), min(size, 1.5 * size**3)]
            ratio = min(TAIL_RATIO, GOLDEN * size)
            second = size**2 / 2 if amplitude is None else min(size, size**2)
            bounds = [(step, size, second)]
        deviations = [deviation * widening**j for j, deviation in enumerate(deviations, 1)]
        while deviations[-1] * ratio > 0.1 * noise and len(deviations) < MAX_TERMS:
            deviations.append(deviations[-1] * ratio)
        powers = tuple(step * (j + 1) for j in range(len(deviations)))
        edges = tuple((power, widening * edge, widening**2 * square) for power, edge, square in bounds)
        return cls(powers, tuple(deviations), correction is not None, edges, logarithmic)

    @property
    def size(self) -> float:
        """How large the corrections at the smallest size are, all together."""
        return math.hypot(*self.deviations)

    def truths(self, sizes: Array) -> Array:
        """Return the logarithm of the bracket at ``sizes``, one truth per row, for B and B2 from none to all that is allowed.

        A bracket below a fifth is about to change sign: the largest such B and B2 are scaled down until it is a fifth.
        """
        rows = [np.zeros_like(sizes)]
        for power, first, second in self.bounds:
            u = (sizes / sizes.min()) ** -power
            rows += [b * first * u + c * second * u * u for b in _GRID for c in _GRID]
        shifts = np.stack(rows)
        if self.logarithmic:
            return shifts
        most = 1 - SMALLEST_BRACKET
        return np.asarray(np.log1p(shifts * (most / np.maximum(-shifts.min(axis=1, keepdims=True), most))))

    def largest_bias(self, sizes: Array, sensitivity: Array) -> float:
        """Return the largest ``|sum_i g_i log(1 + B u_i + B2 u_i**2)|`` over :meth:`truths`: the bias of ``sum_i g_i log Q_i``."""
        return float(np.abs(self.truths(sizes) @ sensitivity).max())

    def text(self, base: str = "d", sign: int = 1) -> str:
        """Return the leading correction, such as ``O(d^-1/2)``; ``sign`` is -1 for a base that goes to 0."""
        power = self.powers[0]
        return f"O({base}^{'-' if sign > 0 else ''}{'1/2' if power == 0.5 else f'{power:g}'})"
