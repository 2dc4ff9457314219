"""How the sizes of a table go to their limit: one path, or a grid whose slices are paths; the fit of a grid as a whole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theoryck.auditing.tables import TableError
from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.joint import JointFit, fit_rate_jointly
from theoryck.judging.case import Claimed
from theoryck.judging.decisions import shifted
from theoryck.judging.evidence import log_rates, read_routes
from theoryck.rates import Rate, RateError
from theoryck.rates.directions import Axis, read_toward, shrinks
from theoryck.rates.monomials import close_match
from theoryck.records import Contract, Interval, Kind, Point, Prediction, Result, Size, Slope, Toward
from theoryck.records.values import size_text


@dataclass(frozen=True, slots=True)
class Direction:
    """Points along which ``base`` goes to its limit, the coarsest first; ``fixed`` are the other sizes, if they are held fixed.

    >>> from theoryck.records import Estimate
    >>> line = Direction("d", tuple(Point({"d": d, "n": 8}, Estimate(1 / d, 0.01, 100)) for d in (16, 32, 64)), {"n": 8})
    >>> line.description
    {'d': '16, 32, 64', 'n': '8'}
    """

    base: str
    points: tuple[Point, ...]
    fixed: Mapping[str, Size]
    toward: Toward = Toward.INFINITY

    def axis(self, claimed: Claimed) -> Axis:
        """How the fits of what is claimed see the base."""
        sizes = [point.sizes for point in self.points]
        return Axis.of(self.base, self.toward, [size[self.base] for size in sizes], False, claimed.slope(sizes))

    @property
    def description(self) -> dict[str, str]:
        """The sizes as :meth:`theoryck.rates.ScalingPath.describe` writes them, the base first."""
        sizes = distinct(self.points)
        names = [self.base, *(name for name in sizes[0] if name != self.base)]
        columns = {name: [point[name] for point in sizes] for name in names}
        return {
            name: repr(column[0]) if name != self.base and len(set(column)) == 1 else ", ".join(map(repr, column))
            for name, column in columns.items()
        }


def distinct(points: Sequence[Point]) -> list[Mapping[str, Size]]:
    """Return the different sets of sizes in order of appearance."""
    return list({tuple(point.sizes.items()): point.sizes for point in points}.values())


def headings(
    sizes: Mapping[str, Sequence[Size]], rate: Rate | None, declared: Mapping[str, Toward]
) -> tuple[dict[str, Toward], tuple[str, ...]]:
    """Return where each size goes, as declared or as its name and the rate show, and what has to be said of it.

    Names of step sizes and tolerances suggest 0, unless whole numbers are raised to a negative power in the rate; other whole
    numbers go to infinity.  Other sizes go where the rate decreases.  RateError asks where nothing shows it.
    """
    found, said = {}, []
    for name, column in sizes.items():
        if name in declared or len(set(column)) < 2:
            found[name] = declared.get(name, Toward.INFINITY)
            continue
        whole, falls = all(float(size).is_integer() for size in column), _falls(rate, name)
        ends = f"{size_text(min(column))}..{size_text(max(column))}"
        if shrinks(name) and not (whole and falls is Toward.INFINITY):
            found[name] = Toward.ZERO
            said.append(f"{name} goes to 0, as its name suggests")
        elif shrinks(name):
            raise RateError(
                f"does {name} = {ends} go to 0, as its name suggests, or to infinity, where the rate {rate} decreases? say "
                f"--toward {name}=0 or --toward {name}=inf (in Python toward={{{name!r}: 0}})"
            )
        elif whole or falls is not None:
            found[name] = Toward.INFINITY if whole else falls or Toward.INFINITY
            if found[name] is Toward.ZERO:
                said.append(f"{name} goes to 0, where the rate decreases")
        else:
            raise RateError(
                f"does {name} = {ends} go to 0 or to infinity? neither its name nor the rate shows it: say --toward 0 or "
                "--toward inf (in Python toward=0 or toward='inf')"
            )
    return found, tuple(said)


def check_levels(sizes: Mapping[str, Sequence[Size]], rate: Rate | None) -> None:
    """Raise TableError for a size of 0 that does not stand in an exponent of the rate."""
    for name, column in sizes.items():
        if min(column) == 0 and (rate is None or name not in rate.levels):
            raise TableError(f"size {name!r}: a size must be a positive number, got 0 (it may be 0 in a rate such as 2**(-{name}))")


def declared_headings(toward: Any, names: Sequence[str]) -> dict[str, Toward]:
    """Return what ``toward`` says of each size: one word for all, or a mapping by name."""
    if toward is None:
        return {}
    if not isinstance(toward, Mapping):
        return dict.fromkeys(names, read_toward(toward, RateError))
    for name in toward:
        if name not in names:
            raise RateError(f"toward names {name!r}, which is no size of the table{close_match(str(name), names)}")
    return {name: read_toward(end, RateError) for name, end in toward.items()}


def coarsest_first(points: Sequence[Point], toward: Mapping[str, Toward]) -> tuple[Point, ...]:
    """Return points, sorted by their sizes, with those that go to 0 from the largest down."""

    def place(point: Point) -> tuple[Size, ...]:
        return tuple(-size if toward.get(name) is Toward.ZERO else size for name, size in point.sizes.items())

    return tuple(sorted(points, key=place))


def _falls(rate: Rate | None, name: str) -> Toward | None:
    """Return at which end of a size a rate decreases; None if it does not say."""
    terms = rate.terms if rate is not None else ()
    if any(factor.name == name and factor.inverse for term in terms for factor, _ in term.others):
        return Toward.ZERO  # log(1/h)
    powers = {slope for term in terms for other, slope in term.exponentials if other == name} or {
        float(power) for term in terms for other, power in term.leading_powers if other == name
    }
    if not powers or (min(powers) < 0 < max(powers)):
        return None
    return Toward.INFINITY if min(powers) < 0 else Toward.ZERO


def as_path(points: Sequence[Point], toward: Mapping[str, Toward]) -> Direction | None:
    """Return the points as one path if every size is fixed, or differs from point to point and moves one way; else None."""
    sizes = distinct(points)
    moving = [name for name in sizes[0] if len({point[name] for point in sizes}) > 1]
    base = moving[0] if moving else next(iter(sizes[0]))
    for name in moving:
        column = [point[name] for point in sorted(sizes, key=lambda point: point[base])]
        steps = [later - earlier for earlier, later in itertools.pairwise(column)]
        if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
            return None
    return _line(base, points, {}, toward)


def _line(base: str, points: Sequence[Point], fixed: Mapping[str, Size], toward: Mapping[str, Toward]) -> Direction:
    end = toward.get(base, Toward.INFINITY)
    ordered = sorted(points, key=lambda point: point.sizes[base], reverse=end is Toward.ZERO)
    return Direction(base, tuple(ordered), fixed, end)


def slices(points: Sequence[Point], toward: Mapping[str, Toward]) -> list[Direction]:
    """Return every line of the grid, along which one size moves and the others are fixed, that has at least three sizes."""
    found = []
    for base in points[0].sizes:
        lines: dict[tuple[tuple[str, Size], ...], list[Point]] = {}
        for point in points:
            rest = tuple((name, size) for name, size in point.sizes.items() if name != base)
            lines.setdefault(rest, []).append(point)
        for rest, line in lines.items():
            if len({point.sizes[base] for point in line}) >= MIN_SIZES:
                found.append(_line(base, line, dict(rest), toward))
    return found


# -- a grid as a whole (see :mod:`theoryck.fitting.joint`) -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Joint:
    """What all points of a grid say together: exponents by size, and the size along which the claim falls ("" if none)."""

    exponents: Mapping[str, Interval]
    falls: str = ""
    reason: str = ""


def fit_grid(
    points: Sequence[Point], template: Prediction, contract: Contract, tests: int, toward: Mapping[str, Toward]
) -> Joint | None:
    """Return the joint fit of a grid, or None where no exponents can be told; each of ``tests`` has its share of the error rate.

    A bound falls if the ratio to its rate grows along a size by more than ``within``, a scaling also if it decays so.  The fit
    alone supports nothing: that takes every line of the grid.
    """
    routes, _ = read_routes(points)
    if "montecarlo" not in routes:
        return None
    series = routes["montecarlo"][0]
    rate = Claimed.of(template).rate
    if rate is not None and rate.geometric:  # no product of powers
        return None
    values, errors, _ = series.over([0.0] * len(series) if rate is None else log_rates(rate, series))
    moving = [name for name in series.sizes[0] if len({sizes[name] for sizes in series.sizes}) > 1]
    axes = {
        name: Axis.of(name, toward.get(name, Toward.INFINITY), [sizes[name] for sizes in series.sizes], drawn=False)
        for name in moving
    }
    columns = {name: [float(axis.large(sizes[name])) for sizes in series.sizes] for name, axis in axes.items()}
    # The corrections of one size without a unit are those of all: which of them are, the table does not say.
    amplitude = next((found for axis in axes.values() if (found := axis.amplitude(template.amplitude))), None)
    fit = fit_rate_jointly(columns, values, errors, correction=template.correction, amplitude=amplitude, level=contract.level)
    if not fit.identifiable:
        return None
    claimed = _claimed(rate, moving)
    if claimed is None:  # a sum of powers, or logarithms: the exponents are those of the ratio, which is no one's question
        return _verdict(fit, {}, axes, template, contract, tests)
    shown = {name: shifted(axes[name].written(fit.exponents[name]), by) for name, by in claimed.items()}
    return _verdict(fit, shown, axes, template, contract, tests)


def _claimed(rate: Rate | None, names: Sequence[str]) -> dict[str, float] | None:
    if rate is None:
        return dict.fromkeys(names, 0.0)
    if rate.exact_power is None:
        return None
    powers = dict(rate.exact_power)
    return {name: float(powers.get(name, 0)) for name in names}


def _verdict(
    fit: JointFit,
    shown: Mapping[str, Interval],
    axes: Mapping[str, Axis],
    template: Prediction,
    contract: Contract,
    tests: int,
) -> Joint:
    if template.rate is None:
        return Joint(shown)
    two_sided = template.kind is Kind.SCALING
    share = contract.false_refute_rate / tests / (2 if two_sided else 1)
    for name in fit.exponents:
        low, high = fit.lower(name, share), fit.upper(name, share)
        if low > contract.within or (two_sided and high < -contract.within):
            limit = f"lower limit at error rate {share:.2g}, {low:.3g}, is above the tolerated {contract.within:g}"
            if low <= contract.within:
                limit = f"upper limit at error rate {share:.2g}, {high:.3g}, is below the tolerated {-contract.within:g}"
            reason = (
                f"all sizes fitted at once, relative to the rate it grows like {axes[name].text}^("
                f"{fit.exponents[name].estimate:.3g}); "
                f"even its {limit}"
            )
            return Joint(shown, name, reason)
    return Joint(shown)


# -- what a table shows of each point ----------------------------------------------------------------------------------------------


def ratios(result: Result) -> list[tuple[float, float] | None]:
    """Return value/rate with its standard error at each point; None without a rate or where it is beyond the range of floats."""
    rate = None if result.prediction is None else Claimed.of(result.prediction).rate
    if rate is None:
        return [None] * len(result.points)
    found: list[tuple[float, float] | None] = []
    for point in result.points:
        assert point.estimate is not None
        log = -rate.log_value(point.sizes)
        factor = math.exp(log) if log < 709 else math.inf  # rates have no domain: d**(-400) is one
        ratio, stderr = point.estimate.value * factor, point.estimate.stderr * factor
        found.append((ratio, stderr) if math.isfinite(ratio) else None)
    return found


def positions(points: Sequence[Point], base: str, rate: Rate | None) -> list[float]:
    """Return where points lie along their base: its logarithm, or itself where the rate is geometric in it."""
    if rate is not None and base in rate.levels:
        return [float(point.sizes[base]) for point in points]
    return [math.log(point.sizes[base]) for point in points]


def local_slopes(points: Sequence[Point], rate: Rate | None) -> list[Slope | None]:
    """Return the slope of log(value) from the point before; None on a grid or where signs differ.

    It is one by the logarithm of the size, or by the size itself where the claimed rate is geometric.
    """
    path = as_path(points, {})
    found: list[Slope | None] = [None] * len(points)
    if path is None:
        return found
    places = positions(points, path.base, rate)
    for i, (here, there) in enumerate(itertools.pairwise(points), 1):
        a, b = here.estimate, there.estimate
        assert a is not None
        assert b is not None
        gap = places[i] - places[i - 1]
        if gap == 0 or a.value == 0 or b.value == 0 or (a.value > 0) != (b.value > 0):
            continue
        stderr = math.hypot(a.stderr / abs(a.value), b.stderr / abs(b.value)) / abs(gap)
        found[i] = Slope(here.sizes[path.base], there.sizes[path.base], math.log(b.value / a.value) / gap, stderr)
    return found
