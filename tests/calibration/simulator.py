"""Truths and noises for measuring what intervals are worth: ``A d^a (1 + B d^-w + B2 d^-2w)`` with three kinds of noise.

Run as a program it prints the table of coverage and widths: ``python tests/calibration/simulator.py [repeats]``.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from theoryck.fitting import fit_rate

Array = NDArray[np.float64]
SIZES: Array = 2.0 ** np.arange(4, 11)


@dataclass(frozen=True)
class Truth:
    """``A d^a (1 + B d^-w + B2 d^-2w)``."""

    exponent: float
    first: float
    second: float
    power: float
    amplitude: float = 1.0

    def __call__(self, sizes: Array) -> Array:
        u = sizes**-self.power
        return self.amplitude * sizes**self.exponent * (1 + self.first * u + self.second * u * u)


# The ten truths of DESIGN 4.3 are not listed there; these span the same family, its corners included.
TEN = (
    Truth(-0.5, 0.5, 0.0, 0.5),
    Truth(-0.5, 2.0, 0.0, 0.5),
    Truth(-0.5, -2.0, 0.0, 0.5),
    Truth(-0.5, 2.0, 2.0, 0.5),
    Truth(-0.5, -2.0, -2.0, 0.5),
    Truth(-1.0, 2.0, -2.0, 0.5),
    Truth(-1.0, -2.0, 2.0, 0.5),
    Truth(-1.0, 0.0, 0.0, 0.5),
    Truth(0.5, 2.0, 2.0, 1.0),
    Truth(-2.0, -2.0, -2.0, 1.0),
)
COEFFICIENTS = (0.0, 0.5, -0.5, 2.0, -2.0)
ALL = tuple(
    Truth(a, b, c, w) for a, w, b, c in itertools.product((-0.25, -0.5, -1.0, -2.0, 0.5), (0.5, 1.0), COEFFICIENTS, COEFFICIENTS)
)


def relative_draws(rng: np.random.Generator, noise: str, shape: tuple[int, ...]) -> Array:
    """Draws with mean 1 and relative standard deviation of order 1."""
    if noise == "gaussian":
        return 1 + rng.standard_normal(shape)
    if noise == "lognormal":
        return np.exp(rng.standard_normal(shape) - 0.5)
    return 1 + rng.standard_t(5, shape)


_VARIANCE = {"gaussian": 1.0, "lognormal": math.e - 1, "student": 5 / 3}


def measure(rng: np.random.Generator, truth: Array, noise: str, draws: int) -> tuple[Array, Array]:
    """Return means and standard errors over ``draws`` draws per size.

    Up to 2000 draws they are drawn; beyond, the mean is Gaussian to well below a tenth of its error, and the error is known to
    better than a tenth (relative error of a standard deviation: sqrt(kurtosis / 4 draws), at most .06 for the lognormal).
    """
    if draws <= 2000:
        sample = relative_draws(rng, noise, (len(truth), draws))
        return truth * sample.mean(axis=1), truth * sample.std(axis=1, ddof=1) / math.sqrt(draws)
    spread = math.sqrt(_VARIANCE[noise] / draws)
    return truth * (1 + spread * rng.standard_normal(len(truth))), truth * spread


Fitter = Callable[[Array, Array, Array], tuple[float, float]]


def theoryck_fitter(correction: float | None = None) -> Fitter:
    """The interval under test."""

    def fit(sizes: Array, values: Array, stderrs: Array) -> tuple[float, float]:
        interval = fit_rate(list(sizes), list(values), list(stderrs), correction=correction).exponent
        return interval.low, interval.high

    return fit


def naive_fitter(sizes: Array, values: Array, stderrs: Array) -> tuple[float, float]:
    """The rival: least squares of log Q on log d with its textbook 95% Student interval, no corrections."""
    x, y = np.log(sizes), np.log(values)
    centred = x - x.mean()
    slope = (centred @ y) / (centred @ centred)
    residual = y - y.mean() - slope * centred
    error = math.sqrt(residual @ residual / (len(x) - 2) / (centred @ centred))
    reach = float(scipy.stats.t.ppf(0.975, len(x) - 2)) * error
    return slope - reach, slope + reach


def baseline_fitter(sizes: Array, values: Array, stderrs: Array) -> tuple[float, float]:
    """The baseline of DESIGN 4.3, by normal equations: powers 1/2, 1, 3/2, 2 with prior deviations 2, 4, 8, 16."""
    x = np.log(sizes)
    design = np.stack([np.ones_like(x), x, *(sizes**-w for w in (0.5, 1.0, 1.5, 2.0))], axis=1)
    weight = (values / stderrs) ** 2
    precision = design.T @ (weight[:, None] * design) + np.diag([0, 0, 2.0**-2, 4.0**-2, 8.0**-2, 16.0**-2])
    theta = np.linalg.solve(precision, design.T @ (weight * np.log(values)))
    reach = 1.959963984540054 * math.sqrt(np.linalg.inv(precision)[1, 1])
    return float(theta[1] - reach), float(theta[1] + reach)


@dataclass(frozen=True)
class Cell:
    """Coverage and median width of an interval for one truth, noise and number of draws."""

    covered: int
    repeats: int
    width: float

    @property
    def coverage(self) -> float:
        return self.covered / self.repeats


def coverage(fitter: Fitter, truth: Truth, noise: str, draws: int, repeats: int, seed: int, sizes: Array = SIZES) -> Cell:
    """Repeat the experiment and count how often the interval contains the true exponent."""
    numbers = (truth.first, truth.second, truth.exponent, truth.power)
    rng = np.random.default_rng([seed, draws, len(noise), *(int(1000 * (3 + number)) for number in numbers)])
    curve = truth(sizes)
    intervals = [fitter(sizes, *measure(rng, curve, noise, draws)) for _ in range(repeats)]
    hits = sum(low <= truth.exponent <= high for low, high in intervals)
    return Cell(hits, repeats, float(np.median([high - low for low, high in intervals])))


def table(fitter: Fitter, truths: Sequence[Truth], noises: Sequence[str], draws: Sequence[int], repeats: int) -> list[str]:
    """Return one line per noise and number of draws: the smallest and the mean coverage over the truths, the median width."""
    lines = []
    for noise, count in itertools.product(noises, draws):
        cells = [coverage(fitter, truth, noise, count, repeats, seed=1) for truth in truths]
        worst = min(cells, key=lambda cell: cell.coverage)
        error = math.sqrt(0.05 * 0.95 / repeats)
        mean = sum(cell.covered for cell in cells) / (repeats * len(cells))
        width = float(np.median([cell.width for cell in cells]))
        lines.append(f"{noise:10s} {count:8d}  worst {worst.coverage:.3f} (+-{error:.3f})  mean {mean:.3f}  width {width:.4f}")
    return lines


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    truths = {"ten": TEN, "all": ALL}[sys.argv[2] if len(sys.argv) > 2 else "ten"]
    noises, draws = ("gaussian", "lognormal", "student"), (1000, 10_000, 1_000_000)
    fitters = {"theoryck": theoryck_fitter(), "baseline": baseline_fitter, "no corrections": naive_fitter}
    for name, fitter in fitters.items():
        print(name)
        for line in table(fitter, truths, noises, draws, repeats):
            print("   ", line)


if __name__ == "__main__":
    main()
