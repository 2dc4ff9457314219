"""Coverage of the 95% interval, cell by cell: a truth, a noise, a number of draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.calibration.draws import NOISES, bank, widths
from tests.calibration.fast import fit_many, largest_difference
from tests.calibration.simulator import ALL, SIZES, Truth
from tests.calibration.tallies import Tally

DRAWS = (1_000, 10_000, 100_000, 1_000_000)
NOMINAL = 0.93
BASELINE = ((0.5, 1.0, 1.5, 2.0), (2.0, 4.0, 8.0, 16.0))  # DESIGN 4.3


def told(power: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The fit that is told the true power: three terms with prior deviations 2, 4, 8."""
    return (power, 2 * power, 3 * power), (2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Cell:
    """How often the interval covered the exponent, its median width, and the share that ``fit_rate`` itself had to fit."""

    truth: Truth
    noise: str
    draws: int
    covered: Tally
    above: int  # intervals that lie above the truth
    width: float
    slow: float
    difference: float

    def __str__(self) -> str:
        t = self.truth
        law = f"d^{t.exponent:g} (1 {t.first:+g} d^-{t.power:g} {t.second:+g} d^-{2 * t.power:g})"
        missed = self.covered.trials - self.covered.hits
        sides = f"above/below the truth {self.above}/{missed - self.above}"
        return f"{law:40s} {self.noise:9s} {self.draws:8d}  {self.covered}  {sides}  width {self.width:.4f}"


def smallest_bracket(truth: Truth) -> float:
    """The smallest value of ``1 + B d^-w + B2 d^-2w`` on the window: a truth about to change sign follows no power there."""
    return float((truth(SIZES) / SIZES**truth.exponent).min())


def cell(
    truth: Truth, noise: str, draws: int, repeats: int, *, seed: int = 0, correction: float | None = None, checked: int = 0
) -> Cell:
    """Simulate one cell; ``checked`` of its data sets are fitted by ``fit_rate`` too, to compare."""
    index = ALL.index(truth) if truth in ALL else len(ALL)
    rng = np.random.default_rng([seed, index, NOISES.index(noise), draws])
    found, curve = bank(noise).means(rng, (repeats, len(SIZES)), draws), truth(SIZES)
    values, stderrs = curve * found.values, curve * found.stderrs
    fits = fit_many(SIZES, values, stderrs, correction=correction)
    covered = fits.covers(truth.exponent)
    difference = largest_difference(SIZES, values[:checked], stderrs[:checked], correction=correction) if checked else 0.0
    return Cell(
        truth,
        noise,
        draws,
        Tally(int(covered.sum()), repeats),
        int((fits.low > truth.exponent).sum()),
        float(np.median(fits.high - fits.low)),
        float(fits.slow.mean()),
        difference,
    )


def cells(
    noise: str, repeats: int, draws: Sequence[int] = DRAWS, truths: Sequence[Truth] = ALL, **options: float
) -> Iterator[Cell]:
    """Yield every cell of one noise; one in ten is compared with ``fit_rate``."""
    for count in draws:
        for index, truth in enumerate(truths):
            yield cell(truth, noise, count, repeats, checked=4 if index % 10 == 0 else 0)


def reference_width(noise: str, draws: int, powers: Sequence[float], deviations: Sequence[float], repeats: int = 500) -> float:
    """The median width of another fit, with corrections of these powers and prior deviations, on data of the same law."""
    found = bank(noise).means(np.random.default_rng(draws), (repeats, len(SIZES)), draws)
    return float(np.median([widths(relative, SIZES, powers, deviations) for relative in found.stderrs / found.values]))


def declared(draws: int, repeats: int, noise: str = "gaussian") -> list[str]:
    """What declaring the correction is worth: coverage over the truths that have it, and the width over that of the fit told it."""
    text = []
    for power in (0.5, 1.0):
        family = [truth for truth in ALL if truth.power == power and truth.exponent == -0.5]
        found = [cell(truth, noise, draws, repeats, correction=power, checked=2) for truth in family]
        width = float(np.median([c.width for c in found]))
        worst = min(found, key=lambda c: c.covered.share)
        text.append(
            f"correction={power:g} declared, {noise}, {draws} draws: smallest coverage {worst.covered.share:.4f}, "
            f"width {width:.4f}, {width / reference_width(noise, draws, *told(power)):.2f} of the fit told, against fit_rate "
            f"{max(c.difference for c in found):.0e}"
        )
    return text


def lines(found: Sequence[Cell]) -> list[str]:
    """The table: smallest and mean coverage, widths and their ratios to other fits, for each noise and number of draws."""
    repeats = found[0].covered.trials
    text = [
        f"coverage of the 95% interval: {len(found)} cells of {repeats} data sets, d = 16..1024, "
        f"binomial error of a cell {math.sqrt(0.05 * 0.95 / repeats):.4f}",
        "brackets 1 + B d^-w + B2 d^-2w are positive on the window for every truth, the smallest "
        f"{min(smallest_bracket(c.truth) for c in found):.3f}: none is left out",
        f"{'noise':10s} {'draws':>8s}  smallest  mean   below  width   /baseline  /told w=1/2  /told w=1  fitted by fit_rate",
    ]
    for noise in NOISES:
        for draws in sorted({c.draws for c in found}):
            group = [c for c in found if c.noise == noise and c.draws == draws]
            if group:
                text.append(_line(noise, draws, group))
    worst = sorted(found, key=lambda c: c.covered.share)[:12]
    below = [c for c in found if c.covered.below(NOMINAL)]
    total = sum((c.covered for c in found), Tally(0, 0))
    text += [
        f"all cells {total}; smallest {worst[0].covered.share:.4f}; under {NOMINAL}: "
        f"{sum(c.covered.share < NOMINAL for c in found)} cells, by more than three binomial errors: {len(below)}",
        f"vectorised fits against fit_rate: largest difference {max(c.difference for c in found):.1e} widths",
        "the smallest:",
        *(f"  {c}" for c in worst),
    ]
    return text


def _line(noise: str, draws: int, group: Sequence[Cell]) -> str:
    width = float(np.median([c.width for c in group]))
    ratios = [width / reference_width(noise, draws, *family) for family in (BASELINE, told(0.5), told(1.0))]
    shares = [c.covered.share for c in group]
    return (
        f"{noise:10s} {draws:8d}  {min(shares):.4f}  {np.mean(shares):.4f} {sum(c.covered.below(NOMINAL) for c in group):5d}  "
        f"{width:.4f}  {ratios[0]:8.3f}  {ratios[1]:11.2f} {ratios[2]:10.2f}  {np.mean([c.slow for c in group]):12.4f}"
    )
