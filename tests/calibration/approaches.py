"""Limits of known value, approached as slowly as n^(-1/10) or fast: how often their intervals cover them and their claims fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.calibration.tallies import Tally
from theoryck.auditing import audit
from theoryck.fitting.approach import Approach, ApproachFit, fit_approach
from theoryck.records import Verdict

Array = NDArray[np.float64]
POWERS = (0.1, 1 / 6, 1 / 3, 0.5, 1.0, None)  # None is 1/log n
NOISE = (0.0, 1e-3, 1e-2)
DOUBLINGS = (5, 6, 7, 9)
AMPLITUDES = (1.0, -1.0, 0.3, -0.3, 0.1)
REFUTE, SUPPORT = 1e-2, 0.025
WITHIN = (0.05, 0.15)


@dataclass(frozen=True)
class Found:
    """How often the interval covered the limit; the limit was refuted; one that is wrong by the tolerance, and it, supported."""

    covered: Tally
    refuted: Tally
    supported: Tally
    power: dict[float, Tally]
    width: float


def sample(power: float | None, sizes: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Values that tend to 1, and their rate: B is uniform in [-2, 2] and v is 1/2 or 1; for 1/log n the term is B/log^2 n.

    There |B| is at most 2 log(16)/3, so that the term is no larger than two thirds of the one it corrects.
    """
    amplitude, first = rng.choice(AMPLITUDES), rng.uniform(-2, 2)
    if power is None:
        rate = 1 / np.log(sizes)
        return 1 + amplitude * rate * (1 + first * np.log(16) / 3 * rate), rate
    rate = sizes**-power
    return 1 + amplitude * rate * (1 + first * sizes ** -rng.choice([0.5, 1.0])), rate


def fitted(values: Array, errors: Array, sizes: Array, rate: Array | None, logs: bool) -> ApproachFit:
    """The fit with the rate, if it is told one."""
    logarithms = None if rate is None else np.log(rate).tolist()
    declared = Approach(logarithms, logs and rate is not None)
    return fit_approach(sizes.tolist(), values.tolist(), errors.tolist(), declared)


def count(power: float | None, noise: float, declared: bool, repeats: int, seed: int) -> Found:
    """Simulate ``repeats`` tables of sizes 16, 32, ... over 5 to 9 sizes; ``noise`` is relative to the values."""
    rng = np.random.default_rng([seed, POWERS.index(power), NOISE.index(noise), declared])
    covered = refuted = supported = 0
    seen, widths = dict.fromkeys(WITHIN, 0), []
    for index in range(repeats):
        sizes = 2.0 ** np.arange(4, 4 + DOUBLINGS[index % len(DOUBLINGS)])
        values, rate = sample(power, sizes, rng)
        errors = noise * np.abs(values)
        noisy = values + errors * rng.standard_normal(len(sizes))
        fit = fitted(noisy, errors, sizes, rate if declared else None, power is None)
        interval = fit.interval()
        covered += interval.contains(1.0)
        widths.append(interval.half_width)
        refuted += not fit.lower(REFUTE / 2) <= 1.0 <= fit.upper(REFUTE / 2)
        low, high = fit.decision_lower(SUPPORT), fit.decision_upper(SUPPORT)
        for within in WITHIN:
            seen[within] += 1 - within <= low and high <= 1 + within
            # A claim that is too large or too small by the tolerance is supported where 1 lies outside by a hair.
            supported += (low >= 1.0 and high <= 1 + 2 * within) + (high <= 1.0 and low >= 1 - 2 * within)
    return Found(
        Tally(covered, repeats),
        Tally(refuted, repeats),
        Tally(supported, 2 * len(WITHIN) * repeats),
        {within: Tally(hits, repeats) for within, hits in seen.items()},
        float(np.median(widths)),
    )


def mistaken(power: float, noise: float, repeats: int, seed: int) -> tuple[Tally, Tally, Tally]:
    """Tables of ``1 + A/log n`` whose limit is claimed where ``n^-power`` seems to lead, and tables that do approach 1 like that.

    Return how often the first, which are wrong by more than the tolerance or by their rate, are supported; those with a correction
    ``1 + B/log n`` besides, of the size that :func:`sample` has; and the others.
    """
    rng, supported = np.random.default_rng([seed, round(100 * power), round(1e4 * noise)]), [0, 0, 0]
    for index in range(repeats):
        sizes = 2.0 ** np.arange(4 + index % 2, (12, 16)[index % 2])
        amplitude, first = rng.choice((0.5, 1.0, 2.0, 3.0, -1.0)), rng.uniform(-1, 1)
        rate = 1 / np.log(sizes)
        line = np.stack([np.ones_like(sizes), sizes**-power], axis=1)
        right = 1 + amplitude * sizes**-power * (1 + first * sizes**-0.5)
        for place, curve in enumerate(
            (1 + amplitude * rate, 1 + amplitude * rate * (1 + 2 * first * np.log(16) / 3 * rate), right)
        ):
            limit = 1.0 if curve is right else float(f"{np.linalg.lstsq(line, curve, rcond=None)[0][0]:.3g}")
            values = curve * (1 + noise * rng.standard_normal(len(sizes)))
            found = audit({"n": sizes}, values, noise * np.abs(values), rate=f"n**(-{power})", limit=limit)
            supported[place] += found.verdict is Verdict.SUPPORTED
    one, two, three = (Tally(hits, repeats) for hits in supported)
    return one, two, three
