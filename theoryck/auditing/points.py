"""From rows to points: one estimate for each set of sizes, with an error bar that says where it came from.

Rows with standard errors are independent measurements.  Without, the scatter of replicates gives the error, each size's own where
it has many, a common law of their spread where it has few; and where rows alone say nothing, the scatter about the fit (see
:mod:`theoryck.fitting.scatter`).

The sample variance of k + 1 Gaussian replicates is sigma^2 chi2_k/k: with two or three replicates it may be ten times too small.
Sizes with fewer than 30 replicates are therefore pooled: log sigma^2 = alpha + sum_i beta_i log(size_i), fitted as a Gamma
regression (the likelihood of chi2 variances), which leaves sum k - p degrees of freedom for the t quantile instead of k.  The law
is tested by its deviance; where it fails, each size keeps its own variance and its own, much wider, t quantile.

Rows of one size that are all equal were copied or rounded: they are one row, and no evidence that it is exact.  Such a size takes
the law's error, to which it does not contribute, with that of rounding as the least; or none (infinite) where there is no law.

A number that is written down is off by at most half a unit h of its last digit, by what nobody knows: uniform in +-h, of standard
deviation h/sqrt(3), which joins the standard error in quadrature.  That is safe as limits are taken: uniform variables are strictly
sub-Gaussian (E exp(tU) = sinh(th)/(th) <= exp(t^2 h^2/6)), so sums of them have no heavier tails than Chernoff's bound with that
variance, and one alone never leaves sqrt(3) of its deviations.  Replicates that scatter by more than h hold their rounding in the
scatter, of which the mean keeps a share of at most 2 h/pi exp(-pi^2/2) = 0.5% of h; those that scatter less keep h whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.auditing.directions import Direction
from theoryck.auditing.tables import Array, Measurements, TableError, size_of
from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.scatter import MIN_SCATTER_SIZES, residual_stderrs
from theoryck.judging.case import Claimed
from theoryck.montecarlo import Moments, Statistic
from theoryck.montecarlo.moments import FEW_DRAWS
from theoryck.rates import Rate
from theoryck.records import Estimate, Point, Prediction, Size
from theoryck.records.values import size_text

MOST_POINTS = 1000  # different sets of sizes: as many as a ScalingPath may have
CHANCE = 0.01  # what happens so rarely by chance is taken for more than chance
ROUNDING = 8 * float(np.finfo(float).eps)  # of a value that was summed in another order
SEEN_ROUNDING = 0.1  # of a standard error: less of it changes nothing
SHOWN_ROUNDING = 1e-9  # relative: digits that are written to less than that need no word
_STEPS = 50

Groups = list[tuple[dict[str, Size], NDArray[np.intp]]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """One point for each set of sizes, sorted; ``without_errors`` if nothing in the rows says how large their errors are.

    Errors that were ``stated`` are somebody's word, which their scatter about the fit must bear out.
    """

    points: tuple[Point, ...]
    flags: tuple[str, ...] = ()
    without_errors: bool = False
    stated: bool = False
    rounding: tuple[float, ...] = ()  # half a unit of the last digit of every point's value, where digits were written

    def rounded(self, points: Sequence[Point]) -> tuple[Point, ...]:
        """Return points (these, with other errors or in another order) with errors that allow for the digits written."""
        if not any(self.rounding):
            return tuple(points)
        halves = {_same(point): half for point, half in zip(self.points, self.rounding, strict=True)}
        return tuple(with_rounding(point, halves[_same(point)]) for point in points)


def _same(point: Point) -> tuple[int, float]:
    """What a point keeps whatever error it is given: several rows of one size may be points, and their values differ."""
    return id(point.sizes), math.nan if point.estimate is None else point.estimate.value


def gather(measured: Measurements, groups: Groups, tail: float) -> Gathered:
    """Return the points that the rows give; ``tail`` is the smallest error rate at which a limit will be taken.

    With standard errors, rows of equal sizes are independent measurements, combined by inverse variance; if they disagree
    beyond chance the errors are enlarged by sqrt(chi2/dof) (Birge).  Without, rows of equal sizes are replicates and their
    scatter gives the error.  If fewer than three sizes have replicates that differ, the rows alone say nothing of their errors:
    every row is a point, ``without_errors``, and equal rows are one.  A table in which every row occurs k times is read once.
    """
    if measured.dof is not None:
        assert measured.stderr is not None
        factors = np.array([student_factor(dof, tail) for dof in measured.dof.tolist()])
        measured = replace(measured, stderr=measured.stderr * factors)
    groups, copies = _once(measured, groups)
    flags = (f"rows occur {'twice' if copies == 2 else f'{copies} times'}: counted once",) if copies > 1 else ()
    if measured.stderr is not None:
        found = _combine(measured, groups)
        halves = tuple(_half(measured, rows) for _, rows in groups)
        found = replace(found, flags=(*flags, *found.flags), rounding=halves, stated=_stated(measured))
        return replace(found, points=found.rounded(found.points))
    moments = [Moments.of(measured.values[rows]) for _, rows in groups]
    if sum(moment.count > 1 and not alike(moment) for moment in moments) < MIN_SIZES:
        equal = [sizes for (sizes, _), moment in zip(groups, moments) if alike(moment)]
        single = [
            (Point(sizes, Estimate(float(measured.values[row]), math.inf, 1)), _half(measured, [row]))
            for (sizes, rows), moment in zip(groups, moments)
            for row in (rows[:1] if alike(moment) else rows)
        ]
        copied = (f"all rows are equal at {places(equal)}: counted once",) if equal else ()
        points, halves = zip(*single)
        return Gathered(points, (*flags, *copied), without_errors=True, rounding=halves)
    resolution = _resolution(measured.values) if measured.rounding is None else 0.0
    means, noted = estimates([sizes for sizes, _ in groups], moments, tail, resolution)
    found = Gathered(tuple(Point(sizes, mean) for (sizes, _), mean in zip(groups, means)), (*flags, *noted))
    kept = tuple(
        half if moment.count == 1 or moment.std < half else 0.0
        for moment, half in zip(moments, (_half(measured, rows) for _, rows in groups))
    )
    found = replace(found, rounding=kept)
    return replace(found, points=found.rounded(found.points))


def reduced(measured: Measurements, groups: Groups, statistic: Statistic) -> Gathered:
    """Return what a statistic other than the mean says of the rows of every size, which are measurements of one law.

    Raises TableError for rows with errors of their own, rows that it cannot use, and sizes with too few rows for an error bar.
    """
    if measured.stderr is not None:
        raise TableError(f"a {statistic} is that of rows without errors of their own: leave the column of errors out")
    short = [(len(rows), sizes) for sizes, rows in groups if len(rows) < statistic.least_rows]
    if short:
        count, sizes = min(short, key=lambda pair: pair[0])
        raise TableError(
            f"a {statistic} needs {statistic.least_rows} rows of every size for an error bar, and {place(sizes)} has {count}: "
            "add rows, or leave out sizes with few of them"
        )
    fault = statistic.fault(measured.values)
    if fault is not None:
        wrong, lacking, why = fault
        raise TableError(f"{measured.value_name} = {measured.values[wrong][0]:g} is not {lacking}: {why}")
    found = [statistic.estimate(statistic.collect(measured.values[rows])) for _, rows in groups]
    few = [sizes for (sizes, rows), estimate in zip(groups, found) if "few-draws" in estimate.flags]
    flags = (f"few rows for a quantile at {places(few)}",) if few else ()
    points = tuple(Point(sizes, replace(estimate, flags=())) for (sizes, _), estimate in zip(groups, found))
    if statistic.level is None:  # sums of many rows hold their rounding in their scatter; a quantile is one of the rows
        return Gathered(points, flags)
    gathered = Gathered(points, flags, rounding=tuple(_half(measured, rows) for _, rows in groups))
    return replace(gathered, points=gathered.rounded(points))


def digits_flags(measured: Measurements) -> tuple[str, ...]:
    """Say to what values are known that were written down, where that is not little beside their errors."""
    if measured.rounding is None:
        return ()
    half, size = measured.rounding / math.sqrt(3), np.abs(measured.values)
    seen = (size > 0) & (half > (0 if measured.stderr is None else SEEN_ROUNDING * measured.stderr))
    shares = measured.rounding[seen] / size[seen]
    most = float(shares.max(initial=0.0))
    if most <= SHOWN_ROUNDING:
        return ()
    return (f"written numbers are known to half a unit of their last digit, here up to {most:.2g} of a value",)


def _half(measured: Measurements, rows: NDArray[np.intp] | Sequence[np.intp]) -> float:
    """Return half a unit of the last digit of what the rows of one size say together."""
    return 0.0 if measured.rounding is None else float(measured.rounding[rows].min())


def with_rounding(point: Point, half: float) -> Point:
    """Return the point with an error that allows for a value written to ``half`` a unit of its last digit."""
    assert point.estimate is not None
    return replace(point, estimate=replace(point.estimate, stderr=math.hypot(point.estimate.stderr, half / math.sqrt(3))))


def _stated(measured: Measurements) -> bool:
    """Whether errors are somebody's word: not those of rounding alone, nor those of replicates that were counted."""
    return measured.dof is None and measured.stderr is not None and bool(measured.stderr.any())


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
    return [({name: size_of(column[rows[0]]) for name, column in measured.sizes.items()}, rows) for rows in groups]


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
    v, e = values, errors
    if (e == 0).any():
        v = v[e == 0]
        if v.min() == v.max():
            return Mean(Estimate(float(v[0]), 0.0, count))
        return Mean(Estimate(float(v.mean()), float(v.std(ddof=1)) / math.sqrt(len(v)), count, ("exact-values-differ",)))
    smallest = float(e.min())
    weights = (smallest / e) ** 2
    total = float(weights.sum())
    mean = float((weights * (v - v[0])).sum()) / total + float(v[0])
    # Beyond 1e30 a misfit is a misfit: sums of it stay finite.
    chi2 = min(float((((v - mean) / e) ** 2).sum()), 1e30)
    return Mean(Estimate(mean, smallest / math.sqrt(total), count), chi2, count - 1, float(np.ptp(v)))


def place(sizes: Mapping[str, Size]) -> str:
    """Write sizes as ``d = 16, n = 32``."""
    return ", ".join(f"{name} = {size_text(size)}" for name, size in sizes.items())


def places(where: Sequence[Mapping[str, Size]]) -> str:
    """Write several sets of sizes, the first and the last of many."""
    shown = [place(sizes) for sizes in where]
    return "; ".join(shown if len(shown) <= 4 else [*shown[:2], "...", shown[-1]])


# -- replicates --------------------------------------------------------------------------------------------------------------------


def estimates(
    sizes: Sequence[Mapping[str, Size]], moments: Sequence[Moments], tail: float, resolution: float = 0.0
) -> tuple[list[Estimate], tuple[str, ...]]:
    """Return the mean at each size with its error bar, and what has to be said about it.

    ``tail`` is the smallest error rate at which a limit will be taken, ``resolution`` the step to which the values may have been
    rounded.  A size with one replicate, or with replicates that do not differ, gets the error bar of the common law, or none
    (infinite) where there is no such law.
    """
    found = [moment.estimate() for moment in moments]
    same = [i for i, moment in enumerate(moments) if alike(moment)]
    few = [i for i, moment in enumerate(moments) if moment.count < FEW_DRAWS or i in same]
    law = _common_law([sizes[i] for i in few], [moments[i] for i in few])
    if law is None and same:  # what many replicates say of their spread holds for those that do not differ too
        whole = _common_law(sizes, moments)
        law = None if whole is None else replace(whole, spread=tuple(whole.spread[i] for i in few))
        pooled = [i for i in few if i in same or moments[i].count == 1]
    else:
        pooled = few
    skewness = _pooled_skewness([moments[i] for i in few])
    for i, moment in enumerate(moments):
        count = 1 if i in same else moment.count
        if law is not None and i in pooled:
            scale = law.spread[few.index(i)] / math.sqrt(count)
            stderr = math.ldexp(scale * max(student_factor(law.dof, tail), law.inflation), law.exponent)
        elif count > 1:
            own = moment.std / math.sqrt(count)
            stderr = max(found[i].stderr, own * student_factor(count - 1, tail))
        else:
            stderr = math.inf
        if i in same:
            stderr = max(stderr, resolution / math.sqrt(12))  # the deviation of what is rounded to a step, which no mean reduces
        found[i] = replace(found[i], stderr=stderr, skewness=skewness if i in few else found[i].skewness)
        if law is not None and i in pooled:  # said once for all, in words
            found[i] = replace(found[i], flags=tuple(flag for flag in found[i].flags if flag not in ("few-draws", "constant")))
    return found, tuple(_notes(sizes, moments, [i for i in few if i not in same] if law is not None else [], same, law is not None))


def _notes(
    sizes: Sequence[Mapping[str, Size]], moments: Sequence[Moments], pooled: Sequence[int], same: Sequence[int], law: bool
) -> Iterator[str]:
    if pooled:
        counts = sorted({moments[i].count for i in pooled})
        shown = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"{shown} replicates a size: their spread is pooled over {len(pooled)} size{'s' * (len(pooled) > 1)}"
    if same:
        error = "the error of one row, from the spread at the other sizes" if law else "no error bar, as no law of the spread holds"
        yield f"all rows are equal at {places([sizes[i] for i in same])}: {error}"


def alike(moment: Moments) -> bool:
    """Whether rows of one size differ by no more than the last digits of a float: copies, not replicates."""
    return moment.count > 1 and (moment.constant or moment.std <= ROUNDING * abs(moment.estimate().value))


def student_factor(dof: float, tail: float) -> float:
    """Return the quantile of Student's t over that of a Gaussian, at error rate ``tail``.

    A mean whose standard error was estimated with ``dof`` degrees of freedom lies further than t of them off with probability
    ``tail``: limits that are taken as z standard errors need the error t/z times as large.

    >>> round(student_factor(4, 0.025), 3), round(student_factor(999, 0.025), 3)
    (1.417, 1.001)
    """
    return -float(scipy.special.stdtrit(dof, tail)) / -NormalDist().inv_cdf(tail)


@dataclass(frozen=True, slots=True)
class _Law:
    """Standard deviations of one replicate at each size, in units of ``2**exponent``, known with ``dof`` degrees of freedom."""

    spread: tuple[float, ...]
    exponent: int
    dof: int
    inflation: float


def _common_law(sizes: Sequence[Mapping[str, Size]], moments: Sequence[Moments]) -> _Law | None:
    """Fit the law of the spread where rows differ; None where it has no degrees of freedom or does not hold."""
    degrees = np.array([moment.count - 1 for moment in moments], dtype=float)
    used = np.array([moment.count > 1 and not alike(moment) for moment in moments], dtype=bool)
    if not used.any():
        return None
    x = _log_sizes(sizes)
    p = x.shape[1]
    if int(used.sum()) <= p or np.linalg.matrix_rank(x[used]) < p:
        return None
    # In units of the typical spread, so that squares neither vanish nor overflow.
    scale = int(np.median([moment.exponent for moment, use in zip(moments, used) if use]))
    logs = np.array([2 * _log_std(m, scale) if use else 0.0 for m, use in zip(moments, used)])
    fitted = _gamma_regression(x, logs, degrees, used)
    excess = logs[used] - fitted[used]
    k = degrees[used]
    deviance = float((k * (np.expm1(np.minimum(excess, 300.0)) - excess)).sum())
    # Of a chi2_k variance the deviance has the mean k (log(k/2) - psi(k/2)), slightly above 1: Bartlett's correction.
    expected = float((k * (np.log(k / 2) - scipy.special.digamma(k / 2))).mean())
    if float(scipy.special.chdtrc(int(used.sum()) - p, deviance / expected)) < CHANCE:
        return None
    differing = [moment for moment, use in zip(moments, used) if use]
    count = float(sum(moment.count for moment in differing))
    kurtosis = max(3.0, sum(m.count * m.kurtosis for m in differing) / count)
    inflation = math.sqrt(1.0 + math.sqrt((kurtosis - 1.0) / count))  # as in theoryck/montecarlo/moments.py
    return _Law(tuple(np.exp(0.5 * fitted).tolist()), scale, int(k.sum()) - p, inflation)


def _log_std(moment: Moments, exponent: int) -> float:
    """Return log(standard deviation / 2**exponent)."""
    return 0.5 * math.log(moment.m2 / (moment.count - 1)) + (moment.exponent - exponent) * math.log(2)


def _log_sizes(sizes: Sequence[Mapping[str, Size]]) -> Array:
    """Return the design: 1 and the centred logarithm of every size that moves."""
    columns = [np.log([float(size[name]) for size in sizes]) for name in (sizes[0] if sizes else ())]
    return np.stack([np.ones(len(sizes)), *(c - c.mean() for c in columns if np.ptp(c) > 0)], axis=1)


def _gamma_regression(x: Array, logs: Array, degrees: Array, used: NDArray[np.bool_]) -> Array:
    """Return log sigma^2 at every row of ``x``: the maximum of sum_i -(k_i/2) (eta_i + exp(logs_i - eta_i)), which is concave."""
    xs, ys, k = x[used], logs[used], degrees[used]
    # The mean of log(chi2_k/k) is psi(k/2) - log(k/2): least squares on the logarithm starts near the maximum.
    beta = np.linalg.lstsq(xs * np.sqrt(k)[:, None], (ys - scipy.special.digamma(k / 2) + np.log(k / 2)) * np.sqrt(k), rcond=None)[
        0
    ]

    def objective(at: Array) -> float:
        eta = xs @ at
        with np.errstate(over="ignore"):
            return float((k * (eta + np.exp(np.minimum(ys - eta, 300.0)))).sum())

    value = objective(beta)
    for _ in range(_STEPS):
        # Fisher scoring: the expected curvature does not depend on the variances, so that none of them can make it singular.
        ratio = np.exp(np.minimum(ys - xs @ beta, 300.0))
        step = np.linalg.solve((xs * k[:, None]).T @ xs, xs.T @ (k * (ratio - 1.0)))
        while (better := objective(beta + step)) > value and np.abs(step).max() > 1e-12:
            step = 0.5 * step
        gain, value, beta = value - better, better, beta + step
        if gain <= 1e-12 * (1 + abs(value)):
            break
    return np.asarray(x @ beta, dtype=float)


def _pooled_skewness(moments: Sequence[Moments]) -> float:
    """Return the mean skewness over the sizes with few replicates, or 0 where that of Gaussian replicates explains it.

    The skewness of n Gaussian replicates has the variance 6 (n - 2) / ((n + 1) (n + 3)): with few of them one size tells nothing.
    """
    few = [found for found in moments if found.count > 2 and not found.constant]
    if not few:
        return 0.0
    mean = sum(found.skewness for found in few) / len(few)
    variance = sum(6 * (n - 2) / ((n + 1) * (n + 3)) for n in (found.count for found in few)) / len(few) ** 2
    return mean if abs(mean) > NormalDist().inv_cdf(1 - CHANCE / 2) * math.sqrt(variance) else 0.0


# -- the scatter about the fit -----------------------------------------------------------------------------------------------------


def with_scatter(
    points: Sequence[Point], lines: Sequence[Direction], template: Prediction, tail: float
) -> tuple[tuple[Point, ...], str]:
    """Return the points with errors such that limits at error rates from ``tail`` upwards are honest, and why there are none.

    The scatter is that of the ratio to the rate, whose own curvature is no scatter.  A point on several lines of a grid gets the
    largest of their errors, a point on none keeps none (infinite).
    """
    rate = Claimed.of(template).rate
    relative = [0.0] * len(points)
    place = {id(point): i for i, point in enumerate(points)}
    # A line too short to show scatter gets the errors that its points have on the lines that cross it.
    long = [line for line in lines if len({point.sizes[line.base] for point in line.points}) >= MIN_SCATTER_SIZES]
    for line in long or lines:
        found, reason = _relative(line, rate, template, tail)
        if reason:
            return tuple(points), reason
        for point in line.points:
            relative[place[id(point)]] = max(relative[place[id(point)]], found)
    return tuple(_with_error(point, share) for point, share in zip(points, relative)), ""


def same_scatter(points: Sequence[Point], found: Sequence[Point]) -> tuple[Point, ...]:
    """Return all points where only some showed scatter: those with the errors ``found``, the others with the largest of them."""
    known = {_same(point): point for point in found}
    shares = [p.estimate.stderr / abs(p.estimate.value) for p in found if p.estimate is not None and p.estimate.value != 0]
    return tuple(known.get(_same(point)) or _with_error(point, max(shares)) for point in points)


def _with_error(point: Point, relative: float) -> Point:
    assert point.estimate is not None
    stderr = relative * abs(point.estimate.value) if relative > 0 else math.inf
    return replace(point, estimate=replace(point.estimate, stderr=stderr))


def _relative(line: Direction, rate: Rate | None, template: Prediction, tail: float) -> tuple[float, str]:
    axis = line.axis(Claimed.of(template))
    sizes = [axis.large(point.sizes[line.base]) for point in line.points]
    values = [point.estimate.value if point.estimate is not None else math.nan for point in line.points]
    same_sign = all(value > 0 for value in values) or all(value < 0 for value in values)
    if same_sign:  # logarithms, so that no ratio to the rate is beyond the range of floats
        values = [math.log(abs(value)) for value in values]
        if rate is not None:
            values = [value - rate.log_value(point.sizes) for value, point in zip(values, line.points)]
    amplitude = axis.amplitude(template.amplitude)
    scatter = residual_stderrs(sizes, values, correction=template.correction, amplitude=amplitude, rate=tail, log_values=same_sign)
    return scatter.relative, scatter.reason
