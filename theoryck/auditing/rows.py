"""From rows to points: repeated rows become one estimate for each set of sizes, with an error bar that says where it came from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.auditing.replicates import CHANCE, ROUNDING, alike, estimates, place, places
from theoryck.auditing.tables import Array, Measurements, TableError
from theoryck.fitting.data import MIN_SIZES
from theoryck.montecarlo import Moments
from theoryck.records import Estimate, Point

MOST_POINTS = 1000  # different sets of sizes: as many as a ScalingPath may have
MOST_DECADES = 200  # by which errors may exceed all values


Groups = list[tuple[dict[str, int], NDArray[np.intp]]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """One point for each set of sizes, sorted; ``without_errors`` if nothing in the rows says how large their errors are."""

    points: tuple[Point, ...]
    flags: tuple[str, ...] = ()
    without_errors: bool = False


def gather(measured: Measurements, groups: Groups, tail: float) -> Gathered:
    """Return the points that the rows give; ``tail`` is the smallest error rate at which a limit will be taken.

    With standard errors, rows of equal sizes are independent measurements, combined by inverse variance; if they disagree beyond
    chance the errors are enlarged by sqrt(chi2/dof) (Birge).  Without, rows of equal sizes are replicates and their scatter gives
    the error (:mod:`theoryck.auditing.replicates`).  If fewer than three sizes have replicates that differ, the rows alone say
    nothing of their errors: every row is a point, ``without_errors``, and equal rows are one.  A table in which every row occurs k
    times is read once.
    """
    _check_range(measured)
    groups, copies = _once(measured, groups)
    flags = (f"rows occur {'twice' if copies == 2 else f'{copies} times'}: counted once",) if copies > 1 else ()
    if measured.stderr is not None:
        found = _combine(measured, groups)
        return replace(found, flags=(*flags, *found.flags))
    moments = [Moments.of(measured.values[rows]) for _, rows in groups]
    if sum(moment.count > 1 and not alike(moment) for moment in moments) < MIN_SIZES:
        equal = [sizes for (sizes, _), moment in zip(groups, moments) if alike(moment)]
        points = [
            Point(sizes, Estimate(float(measured.values[row]), math.inf, 1))
            for (sizes, rows), moment in zip(groups, moments)
            for row in (rows[:1] if alike(moment) else rows)
        ]
        said = (f"all rows are equal at {places(equal)}: counted once",) if equal else ()
        return Gathered(tuple(points), (*flags, *said), without_errors=True)
    means, told = estimates([sizes for sizes, _ in groups], moments, tail, _resolution(measured.values))
    return Gathered(tuple(Point(sizes, mean) for (sizes, _), mean in zip(groups, means)), (*flags, *told))


def _check_range(measured: Measurements) -> None:
    """Raise TableError for errors that are beyond floats relative to the values: nothing could be divided by either."""
    largest = 0.0 if measured.stderr is None else float(measured.stderr.max())
    peak = float(np.abs(measured.values).max())
    if largest > 0 and peak > 0 and math.log10(largest) - math.log10(peak) > MOST_DECADES:
        raise TableError(f"stderr reaches {largest:g} where no value exceeds {peak:g}: such errors say nothing, correct the column")


def _once(measured: Measurements, groups: Groups) -> tuple[Groups, int]:
    """Return the rows without copies if every row occurs k times, or a multiple, and the largest such k.

    Measured numbers do not all recur by chance: the file was written k times.  Rows that are exact say the same, once or twice.
    """
    if all(len(rows) == 1 for _, rows in groups) or (measured.stderr is not None and not measured.stderr.any()):
        return groups, 1
    kept, copies = [], 0
    for _, rows in groups:
        columns = [measured.values[rows], *([] if measured.stderr is None else [measured.stderr[rows]])]
        _, inverse, counts = np.unique(np.stack(columns), axis=1, return_inverse=True, return_counts=True)
        copies = math.gcd(copies, *counts.tolist())
        if copies == 1:
            return groups, 1
        kept.append(inverse.reshape(-1))
    return [(sizes, np.sort(_share(rows, inverse, copies))) for (sizes, rows), inverse in zip(groups, kept)], copies


def _share(rows: NDArray[np.intp], inverse: NDArray[np.intp], copies: int) -> NDArray[np.intp]:
    """Return one in ``copies`` of the rows of every kind."""
    order = np.argsort(inverse, kind="stable")  # every kind has a multiple of ``copies`` rows
    return rows[order[::copies]]


def _resolution(values: Array) -> float:
    """Return the step to which values may have been rounded: the least by which two of them differ."""
    steps = np.diff(np.unique(values))
    floor = ROUNDING * float(np.abs(values).max())
    return float(steps[steps > floor].min(initial=math.inf)) if (steps > floor).any() else 0.0


def grouped(measured: Measurements) -> Groups:
    """Return each set of sizes, in ascending order, with the rows that have it; TableError if there are too many."""
    columns = list(measured.sizes.values())
    order = np.lexsort(columns[::-1])
    changes = np.zeros(len(order) - 1, dtype=bool)
    for column in columns:
        changes |= np.diff(column[order]) != 0
    count = int(changes.sum()) + 1
    if count > MOST_POINTS:
        raise TableError(
            f"{count} different sizes ({', '.join(measured.sizes)}): at most {MOST_POINTS} can be fitted; "
            "keep some of them, evenly spread over powers of two, say"
        )
    groups = np.split(order, np.flatnonzero(changes) + 1)
    return [({name: int(column[rows[0]]) for name, column in measured.sizes.items()}, rows) for rows in groups]


# -- rows with standard errors -------------------------------------------------------------------------------------------------


def _combine(measured: Measurements, groups: Groups) -> Gathered:
    assert measured.stderr is not None
    means = [combined(measured.values[rows], measured.stderr[rows]) for _, rows in groups]
    repeated = [sizes for sizes, rows in groups if len(rows) > 1]
    if not repeated:
        return Gathered(tuple(Point(sizes, mean.estimate) for (sizes, _), mean in zip(groups, means)))
    flags = [f"independent measurements combined at {places(repeated)}"]
    # Errors too small at one size are likely so at all: what all repeated rows say together holds for every size.
    common = _enlargement(sum(mean.chi2 for mean in means), sum(mean.dof for mean in means))
    if common > 1:
        flags.append(f"repeated measurements disagree: all errors enlarged {common:.3g} times")
    points = []
    for (sizes, _), mean in zip(groups, means):
        own = _enlargement(mean.chi2, mean.dof)
        if own > common:
            flags.append(f"repeated measurements disagree at {place(sizes)}: error enlarged {own:.3g} times")
        stderr = mean.estimate.stderr * max(common, own)
        if mean.dof:  # no error is larger than the range of what was averaged, unless it was given so
            stderr = min(stderr, max(mean.scatter, mean.estimate.stderr))
        points.append(Point(sizes, replace(mean.estimate, stderr=stderr)))
    return Gathered(tuple(points), tuple(flags))


def _enlargement(chi2: float, dof: int) -> float:
    """Return sqrt(chi2/dof) if chi2 is beyond chance, else 1."""
    return math.sqrt(chi2 / dof) if dof and float(scipy.special.chdtrc(dof, chi2)) < CHANCE else 1.0


@dataclass(frozen=True, slots=True)
class Mean:
    """The inverse-variance mean of ``dof + 1`` measurements and how badly they agree; ``scatter`` is their range."""

    estimate: Estimate
    chi2: float = 0.0
    dof: int = 0
    scatter: float = 0.0


def combined(values: Array, errors: Array) -> Mean:
    """Return the mean of independent measurements, weighted by their inverse variances.

    Measurements that are exact (error 0) decide alone; if they differ, their mean has the error of their scatter.

    >>> mean = combined(np.array([1.0, 1.2]), np.array([0.1, 0.1]))
    >>> round(mean.estimate.value, 6), round(mean.estimate.stderr, 4), round(mean.chi2, 6)
    (1.1, 0.0707, 2.0)
    """
    count = len(values)
    if count == 1:
        return Mean(Estimate(float(values[0]), float(errors[0]), 1))
    peak = float(np.abs(values).max())
    exponent = math.frexp(peak)[1] if peak > 0 else 0
    v, e = np.ldexp(values, -exponent), np.ldexp(errors, -exponent)  # a power of two changes no digit
    if (e == 0).any():
        v = v[e == 0]
        if v.min() == v.max():
            return Mean(Estimate(math.ldexp(float(v[0]), exponent), 0.0, count))
        spread = float(v.std(ddof=1)) / math.sqrt(len(v))
        return Mean(Estimate(math.ldexp(float(v.mean()), exponent), math.ldexp(spread, exponent), count, ("exact-values-differ",)))
    smallest = float(e.min())
    with np.errstate(over="ignore", under="ignore"):
        weights = (smallest / e) ** 2
        total = float(weights.sum())
        mean = float((weights * (v - v[0])).sum()) / total + float(v[0])
        # Beyond 1e30 a misfit is a misfit: sums of it stay finite.
        chi2 = min(float((((v - mean) / e) ** 2).sum()), 1e30)
    stderr = math.ldexp(smallest / math.sqrt(total), exponent)
    return Mean(Estimate(math.ldexp(mean, exponent), stderr, count), chi2, count - 1, math.ldexp(float(np.ptp(v)), exponent))
