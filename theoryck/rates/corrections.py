"""Corrections to scaling: the family of next-order terms that an exponent's interval must allow for.

A quantity that is "of order d**s" is ``A d**s (1 + B d**-w + ...)``, and a fit without the bracket is wrong with a confidence that
grows with the draws.  Here ``log Q = log A + s log d + sum_j B_j d**-w_j`` with Gaussian priors on the ``B_j``:

* default: ``w_j = j/2`` with standard deviations 1.8, 4, 6, 12 on ``B_1 .. B_4`` (for the default amplitude 2; in general
  ``amplitude**j`` times ``SHAPE``).  It allows ``1 + B d**-w + B2 d**-2w`` with ``|B|, |B2| <= 2`` and w in {1/2, 1}: over all such
  truths on d = 16..1024 a 95% interval covers at least 93% of the time, from 1e3 to 1e7 draws (tests/calibration).  What is
  missed at a corner is missed on one side: an upper limit at 2.5% is too low for at most 6.7% of samples at the worst truth
  ((B, B2) = (2, -2), w = 1/2, 1e6 draws; 5.0% at (2, 2) with 100 draws), and for 0.4% to 0.8% on average over the truths.  Priors
  wide enough for 3.5% there (SHAPE 1.4, 1.4, 1.1, 1.1) make every interval 20% wider, wider than the plain baseline;
* declared ``correction=w``: ``w_j = j w`` for j = 1..3, each with standard deviation ``amplitude`` (default 2) in units of the
  smallest size's own power, i.e. on the coefficient of ``(d/d_first)**-w_j``.  Moments of high order need that: the 1/d
  coefficient of a sixth moment can be 30, while its relative size at d = 32 is about 1.  An amplitude a < 1 is a small parameter,
  whose terms fall like those of log(1 + B u + B2 u^2), ``|B| <= a``, ``|B2| <= a**2``, ``u = (d/d_first)**-w``; over these
  truths a 95% interval covers at least 93% of the time at noise of 0.3% to 5% (tests/calibration).

Both continue beyond the listed terms with amplitudes that decrease geometrically at the smallest size, because the logarithm of
a bracket has all orders: without that tail the interval of exact data would shrink to the rounding error around a wrong value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DEFAULT_AMPLITUDE = 2.0
SHAPE = (0.9, 1.0, 0.75, 0.75)  # found by a scan: narrowest at 93% coverage of the worst truth, see tests/calibration
TAIL_RATIO = 0.75
# 1 + B u + B2 u^2 with |B|, |B2| <= 2 has no zero with |u| < (sqrt(3)-1)/2 = 0.366: the series of its logarithm grows like 2.73^j.
COEFFICIENT_GROWTH = 3.0
GOLDEN = (1 + math.sqrt(5)) / 2
MAX_TERMS = 96


@dataclass(frozen=True, slots=True)
class CorrectionFamily:
    """Relative powers ``w_j`` and the standard deviations of the terms ``(d/d_first)**-w_j``, largest first.

    >>> CorrectionFamily.choose(16).text("d")
    'O(d^-1/2)'
    """

    powers: tuple[float, ...]
    deviations: tuple[float, ...]
    declared: bool

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
        size = DEFAULT_AMPLITUDE if amplitude is None else float(amplitude)
        if correction is None:
            step = 0.5
            deviations = [shape * (size / math.sqrt(first)) ** j for j, shape in enumerate(SHAPE, 1)]
            ratio = min(TAIL_RATIO, COEFFICIENT_GROWTH / math.sqrt(first))
        else:
            step = float(correction)
            # A declared amplitude below 1 is a small parameter: log(1 + B u + B2 u^2) with |B| <= a, |B2| <= a^2 is a series whose
            # coefficients reach a^j L_j/j, with the Lucas numbers L_j = 1, 3, 4, 7, ... that grow like 1.62^j.
            deviations = [1.1 * size, min(size, 1.5 * size**2), min(size, 1.5 * size**3)] if size < 1 else [size] * 3
            ratio = min(TAIL_RATIO, GOLDEN * size)
        deviations = [deviation * widening**j for j, deviation in enumerate(deviations, 1)]
        while deviations[-1] * ratio > 0.1 * noise and len(deviations) < MAX_TERMS:
            deviations.append(deviations[-1] * ratio)
        return cls(tuple(step * (j + 1) for j in range(len(deviations))), tuple(deviations), correction is not None)

    def text(self, base: str = "d") -> str:
        """Return the leading correction, such as ``O(d^-1/2)``."""
        power = self.powers[0]
        return f"O({base}^-{'1/2' if power == 0.5 else f'{power:g}'})"
