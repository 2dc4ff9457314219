"""A declared amplitude below 1: what its interval is worth for truths A d^s (1 + B u + B2 u^2), u = d_first/d.

|B| <= a and |B2| <= a^2 is what the declaration says.  Coverage is exact in the limit of small Gaussian noise (closed form), and
counted with :func:`fit_rate` itself, which is not linear and enlarges what fits poorly.
"""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from tests.calibration.simulator import SIZES, TEN, Truth, coverage, theoryck_fitter
from theoryck.fitting import fit_rate
from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.fit import POOR_FIT
from theoryck.fitting.linear import exponent_stderr

Z95 = 1.959963984540054
WINDOWS = ((4, 8, 16, 32), (16, 32, 64, 128))
EXPONENT = -1.0


def corners(amplitude: float) -> list[tuple[float, float]]:
    square = amplitude**2
    return list(itertools.product((-amplitude, 0.0, amplitude), (-square, 0.0, square)))


def curve(sizes: tuple[int, ...], corner: tuple[float, float]) -> np.ndarray:
    d = np.array(sizes, dtype=float)
    u = d[0] / d
    return 3 * d**EXPONENT * (1 + corner[0] * u + corner[1] * u * u)


def exact_coverage(sizes: tuple[int, ...], corner: tuple[float, float], amplitude: float, relative: float) -> float:
    """The estimate is s + bias + noise N(0, 1), the interval +- Z95 stderr."""
    stderr, g = exponent_stderr(sizes, [relative] * len(sizes), correction=1, amplitude=amplitude)
    bias, noise = float(g @ np.log(curve(sizes, corner))) - EXPONENT, relative * float(np.linalg.norm(g))
    normal = NormalDist()
    return normal.cdf((Z95 * stderr - bias) / noise) - normal.cdf((-Z95 * stderr - bias) / noise)


def count(
    sizes: tuple[int, ...], corner: tuple[float, float], amplitude: float, relative: float, repeats: int, seed: int = 31
) -> int:
    rng = np.random.default_rng([seed, sizes[0], *(int(1e4 * (2 + number)) for number in (*corner, amplitude, relative))])
    truth, hits = curve(sizes, corner), 0
    for _ in range(repeats):
        values = truth * (1 + relative * rng.standard_normal(len(sizes)))
        fit = fit_rate(sizes, values, relative * truth, correction=1, amplitude=amplitude).exponent
        hits += fit.low <= EXPONENT <= fit.high
    return hits


CASES = [(amplitude, relative) for amplitude in (0.1, 0.25, 0.5) for relative in (0.003, 0.01, 0.05)]


@pytest.mark.parametrize("sizes", WINDOWS)
@pytest.mark.parametrize(("amplitude", "relative"), CASES)
def test_coverage_of_every_corner_is_at_least_93_percent(sizes: tuple[int, ...], amplitude: float, relative: float) -> None:
    covered = {corner: exact_coverage(sizes, corner, amplitude, relative) for corner in corners(amplitude)}
    worst = min(covered, key=covered.__getitem__)
    assert covered[worst] >= 0.93, worst


@pytest.mark.parametrize("sizes", WINDOWS)
@pytest.mark.parametrize(("amplitude", "relative"), [(0.25, 0.01), (0.25, 0.05), (0.5, 0.01), (0.5, 0.05)])
def test_counted_coverage(sizes: tuple[int, ...], amplitude: float, relative: float) -> None:
    """Each corner against its closed form, once in 1e5 by chance; all nine together at least 93% less three binomial errors."""
    repeats, total = 80, 0
    for corner in corners(amplitude):
        hits = count(sizes, corner, amplitude, relative, repeats)
        assert hits >= scipy.stats.binom(repeats, exact_coverage(sizes, corner, amplitude, relative)).ppf(1e-5), corner
        total += hits
    assert total / (9 * repeats) >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / (9 * repeats))


@pytest.mark.parametrize("relative", [0.001, 0.01])
def test_a_declaration_that_is_wrong_is_not_covered(relative: float) -> None:
    """B = 1/2 where a = 1/20 was declared: the check can fail."""
    sizes, corner = WINDOWS[1], (0.5, 0.0)
    assert exact_coverage(sizes, corner, 0.05, relative) < 0.5
    assert exact_coverage(sizes, corner, 0.5, relative) > 0.9


def test_fitting_no_correction_fails_the_same_check() -> None:
    d = np.log(np.array(WINDOWS[1], dtype=float))
    slope = (d - d.mean()) / ((d - d.mean()) ** 2).sum()
    for corner in ((0.25, 0.0625), (-0.25, 0.0)):
        bias = float(slope @ np.log(curve(WINDOWS[1], corner))) - EXPONENT
        assert abs(bias) > 4 * Z95 * 0.01 * float(np.linalg.norm(slope))


def test_a_smaller_amplitude_is_worth_declaring() -> None:
    widths = [exponent_stderr(WINDOWS[0], [0.01] * 4, correction=1, amplitude=a)[0] for a in (0.1, 0.25, 0.5, 1.0, 2.0)]
    assert widths == sorted(widths)
    assert widths[1] < 0.5 * widths[3]


@pytest.mark.parametrize("amplitude", [0.1, 0.25, 0.5, 0.9])
def test_the_terms_of_a_small_amplitude_fall_like_a_series(amplitude: float) -> None:
    family = CorrectionFamily.choose(16, 1, amplitude, noise=1e-6)
    assert family.powers[:3] == (1.0, 2.0, 3.0)
    assert family.deviations[0] >= amplitude
    ratios = [later / earlier for earlier, later in itertools.pairwise(family.deviations)]
    # The logarithm of 1 + a u - a^2 u^2 has coefficients a^j L_j/j, L_j = 1, 3, 4, 7, ... Lucas numbers, ratio 1.62 a.
    assert all(ratio <= max(0.75, amplitude * 1.62) for ratio in ratios[2:])
    assert ratios[0] <= 1.5 * amplitude
    # From 1 on, the terms are as large as they were declared.
    assert CorrectionFamily.choose(16, 1, 2.0).deviations[:3] == (2.0, 2.0, 2.0)


def test_chance_alone_is_called_poor_once_in_a_hundred() -> None:
    """Data from the model itself, its corrections drawn from their own law: p is uniform, and p < 1% in 1% of 1000.

    Between Binomial(1000, .01) quantiles of 1e-5: 1 and 26; at 5%, as before, there would be 50 +- 7.
    """
    sizes, relative, amplitude = (16, 32, 64, 128, 256), 0.05, 0.25
    family = CorrectionFamily.choose(16, 1, amplitude, noise=relative)
    d, rng, poor, fair = np.array(sizes, dtype=float), np.random.default_rng(32), 0, 0
    for _ in range(1000):
        shifts = sum(s * rng.standard_normal() * (16 / d) ** w for w, s in zip(family.powers, family.deviations))
        errors = relative * rng.standard_normal(5)
        fit = fit_rate(sizes, -np.log(d) + shifts + errors, [relative] * 5, correction=1, amplitude=amplitude, log_values=True)
        poor += "poor-fit" in fit.flags
        fair += fit.p_value < 0.05
    assert POOR_FIT == 0.01
    assert 1 <= poor <= 26
    assert fair > poor


@pytest.mark.parametrize("draws", [1000, 10_000, 100_000, 1_000_000])
def test_the_default_family_covers_corners_as_before(draws: int) -> None:
    """No family declared: 30 repeats at four corners; P(Binomial(30, .93) < 22) = 2e-5."""
    chosen: list[Truth] = [TEN[3], TEN[4], TEN[5], TEN[9]]
    cells = [coverage(theoryck_fitter(), truth, "gaussian", draws, 30, seed=33, sizes=SIZES) for truth in chosen]
    assert min(cell.covered for cell in cells) >= 22
    assert sum(cell.covered for cell in cells) >= 120 * (0.93 - 3 * math.sqrt(0.93 * 0.07 / 120))
