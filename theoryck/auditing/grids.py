"""What the lines of a grid share: one factor in stated errors, and the constants of a rate with several terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.special

from theoryck.auditing.directions import Direction
from theoryck.fitting.fit import POOR_FIT, WORTH_SAYING, enlarged_flag
from theoryck.fitting.scatter import LARGEST_RELATIVE, Line, common_factor
from theoryck.judging.case import Claimed
from theoryck.rates import Rate
from theoryck.records import Judgement, Point, Prediction, Verdict

TERM_TOLERANCE = 0.05  # relative: terms have corrections too, and a sum that is off by more explains nothing


def enlarged_together(
    points: Sequence[Point], lines: Sequence[Direction], template: Prediction, tail: float
) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """Return the points of a grid with stated errors as large as the scatter about all of its lines allows, and what to say.

    Whoever stated errors stated those of all lines: one line of four sizes has a single number of scatter or two, from which
    nothing follows at the error rates that a grid leaves to each.
    """
    claimed, used, found = Claimed.of(template), [], []
    for line in lines:
        values = np.array([point.estimate.value for point in line.points if point.estimate is not None])
        errors = np.array([point.estimate.stderr for point in line.points if point.estimate is not None])
        if values.min() * values.max() <= 0 or not (errors > 0).all() or (errors > LARGEST_RELATIVE * np.abs(values)).any():
            continue  # values in the noise have no logarithm that is linear in it, and exact ones no scatter
        axis, rate = line.axis(claimed), claimed.rate
        logs = np.log(np.abs(values)) - [0.0 if rate is None else rate.log_value(point.sizes) for point in line.points]
        sizes = np.array([float(axis.large(point.sizes[line.base])) for point in line.points])
        found.append(Line(sizes, logs, errors / np.abs(values), axis.amplitude(template.amplitude)))
        used.append(line)
    factor = common_factor(found, _free(used, claimed), tail, correction=template.correction)
    larger = tuple(
        replace(point, estimate=replace(point.estimate, stderr=factor * point.estimate.stderr))
        for point in points
        if point.estimate is not None
    )
    return larger, (enlarged_flag(factor),) if factor >= WORTH_SAYING else ()


def _free(lines: Sequence[Direction], claimed: Claimed) -> int:
    """Return how many independent numbers of scatter the points of lines have: all but what is linear in each log size.

    Of a full grid of k sizes these are 2**k fewer than its points, of lines that meet in one point as many as on each by itself.
    """
    axes = {line.base: line.axis(claimed) for line in lines}
    places = {
        tuple(point.sizes.values()): [math.log(axis.large(point.sizes[base])) for base, axis in axes.items()]
        for line in lines
        for point in line.points
    }
    design = np.ones((len(places), 1))
    for x in np.array(list(places.values())).T:
        design = np.concatenate([design, design * ((x - x.mean()) / x.std())[:, None]], axis=1)
    return len(places) - int(np.linalg.matrix_rank(design))


def term_by_term(judgement: Judgement, points: Sequence[Point], rate: Rate | None) -> Judgement:
    """Leave open what a sum of the terms of a rate explains, each with a constant of its own, although lines fell.

    Where ``h + 3 dt`` is judged by ``h + dt`` the quotient moves from 1 to 3 as the terms change places, which a line takes for
    growth.
    """
    if judgement.verdict is not Verdict.REFUTED or rate is None or len(rate.terms) < 2:
        return judgement
    constants = _constants(points, rate)
    if not constants:
        return judgement
    terms = " + ".join(f"{constant:.3g} * {term}" for constant, term in zip(constants, rate.terms))
    reason = (
        f"lines of the grid move against the rate, but {terms} explains all values to {TERM_TOLERANCE:.0%} or their errors: "
        f"constants that differ from term to term look like growth; {judgement.reason}"
    )
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, tightness=None, reason=reason)


def _constants(points: Sequence[Point], rate: Rate) -> tuple[float, ...]:
    """Return the constants of the terms, each above 0, if such a sum explains the values; else nothing."""
    values = np.array([point.estimate.value for point in points if point.estimate is not None])
    errors = np.array([point.estimate.stderr for point in points if point.estimate is not None])
    if values.min() * values.max() <= 0 or not np.isfinite(errors).all():
        return ()
    logs = np.array([[Rate((term,)).log_value(point.sizes) for term in rate.terms] for point in points])
    gaps = logs - logs[:, :1]
    if len(points) <= len(rate.terms) or math.isclose(float(np.ptp(gaps)), 0.0, abs_tol=1e-9):
        return ()
    size = np.abs(values)
    weights = 1 / np.hypot(errors / size, TERM_TOLERANCE)
    from scipy.optimize import nnls  # half of what it takes to start an audit, which seldom comes here

    logs -= np.log(size)[:, None]
    unit = logs.max(axis=0)  # of each term where it is largest beside the value, so that none leaves the range of floats
    found, misfit = nnls(np.exp(logs - unit) * weights[:, None], weights)
    if float(scipy.special.chdtrc(len(points) - len(found), misfit**2)) < POOR_FIT or not (found > 0).all():
        return ()
    return tuple((found * np.exp(-unit)).tolist())
