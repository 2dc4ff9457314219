"""Reads measured points into one series per route, and says whether two routes contradict each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from statistics import NormalDist

from theoryck.rates.directions import Axis
from theoryck.rates.rate import Rate
from theoryck.records import Bracket, Enclosure, Estimate, Interval, Point, Size
from theoryck.records.arguments import LARGEST, LEAST
from theoryck.records.values import size_text

DIGITS = 50
RATIO_DIGITS = 25  # of what becomes a float of 17
MIN_COMPARED_DRAWS = 4096
TAIL_UNSEEN = "tail-unseen"

CARRIED = 0.05
"""Squared skewness over draws above which the error bar of a mean is not trusted.

A mean is near enough to Gaussian once the draws are many times the squared skewness.  In a sample of n draws the ratio is at most
1; it falls like 1/n for a law with three moments, and tends to a law of order 1 where the variance is infinite.  Measured, as the
median and the share above 0.05 at 1e3, 1e4 and 1e5 draws:
    |Cauchy|     .38 .38 .38   100% 100% 100%       N^8   .27 .10 .03   100%  93%  25%
    Pareto(1)    .41 .38 .26   100% 100% 100%       N^6   .16 .04 .01    99%  33%   2%
    Pareto(3/2)  .18 .14 .14    91%  82%  70%       N^4   .05 .01 .00    52%   0%   0%
    exp(2 N)     .15 .07 .02    95%  66%  28%       N^2   .01 .00 .00     0%   0%   0%
The flag "heavy-tail" cannot serve: Pareto(3/2) is not flagged, and N^8, of finite variance, may always be.
"""

CARRIED_END = 0.125
"""The same for the ends of brackets: where one draw makes the share s of the variance this ratio is s^3, so 1/8 is half of it.

An end is a mean of logarithms, whose variance is finite, so that skewness can be allowed for (:meth:`Series.widened`) up to there.
Below, a tail that no draw has seen cannot be known from the draws: of runs of 64 draws of an annealed log Z whose skewness is 28
(erf, n = d = 4) 3% were off by more than 4 standard errors and nothing in them showed it.
"""


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one route along the path, with errors (standard errors, or radii of enclosures), in decimal.

    ``route`` is "exact", "montecarlo", "bracket-low" or "bracket-high"; ``draws`` is the total number of draws.  Errors that were
    ``stated`` by somebody may all be too small by one factor.
    """

    route: str
    sizes: tuple[Mapping[str, Size], ...]
    values: tuple[Decimal, ...]
    errors: tuple[Decimal, ...]
    rigorous: bool = False
    draws: int = 0
    flags: tuple[str, ...] = ()
    tails: tuple[float, ...] = ()  # squared skewness over draws at each size, where draws were taken
    axis: Axis | None = None  # how the fits see the base
    statistic: str = "mean"
    stated: bool = False

    @property
    def zero(self) -> bool:
        """Whether every value is exactly 0, without error."""
        return all(value == 0 and error == 0 for value, error in zip(self.values, self.errors))

    def exact_to(self, relative: float) -> bool:
        """Whether every error is at most ``relative`` times its value: more draws would change nothing."""
        return all(error <= Decimal(relative) * abs(value) for value, error in zip(self.values, self.errors))

    @property
    def carried(self) -> str:
        """Say why the error bars cannot be trusted, or nothing: at half of the sizes or more a few draws carry the mean.

        A single size exceeds the limit by chance, all of them where the variance is infinite: half of them tells the two apart.
        """
        limit = CARRIED_END if self.route.startswith("bracket") else CARRIED
        where = [index for index, tail in enumerate(self.tails) if tail > limit]
        if 2 * len(where) < len(self) or not where:
            return ""
        names = telling_names(self.sizes)
        places = [_sizes_text(self.sizes[i], names) for i in where]
        shown = "; ".join(places if len(places) <= 4 else [*places[:2], "...", places[-1]])
        worst = max(self.tails)
        more = f"draw at least {math.ceil(worst / limit)} times as much" if math.isfinite(worst) else "draw more"
        other = "more frequent" if self.statistic == "probability" else "with a finite variance"
        return (
            f"the {self.statistic} is carried by a few draws at {shown} (squared skewness over draws up to {worst:.2g}, where a "
            f"Gaussian error bar needs less than {limit:g}): the error bar cannot be trusted; {more}, or measure something {other}"
        )

    def widened(self, error_rate: float) -> Series:
        """Return the series with errors that allow for skewness: twice Johnson's correction, as :func:`compare_routes` does.

        In units of the standard error the limit z becomes ``z + 2 (2 z^2 + 1) sqrt(tail) / 6``; the factor grows with z, so that of
        the smallest ``error_rate`` in use does for all.
        """
        z = NormalDist().inv_cdf(1 - error_rate)
        factors = [Decimal(1 + (2 * z**2 + 1) * math.sqrt(tail) / (3 * z)) for tail in self.tails]
        return replace(self, errors=tuple(error * factor for error, factor in zip(self.errors, factors, strict=True)))

    def enlarged(self, factor: float) -> Series:
        """Return the series with errors ``factor`` times as large."""
        return replace(self, errors=tuple(error * Decimal(factor) for error in self.errors))

    @property
    def trusted(self) -> bool:
        """Whether the errors cannot be too small: not so for means of heavy-tailed draws."""
        return not any(flag == "heavy-tail" for flag in self.flags)

    def __len__(self) -> int:
        return len(self.values)

    def base(self, name: str) -> list[Size]:
        """Return the sizes called ``name`` as the fits see them, that is their inverses where they go to 0."""
        sizes = [point[name] for point in self.sizes]
        return sizes if self.axis is None else [self.axis.large(size) for size in sizes]

    def shown(self, name: str) -> list[str]:
        """Return the sizes called ``name`` as they are written."""
        return [size_text(point[name]) for point in self.sizes]

    def at(self, index: int) -> Series:
        """Return the series cut down to one of its points."""
        tails = self.tails[index : index + 1]
        return replace(self, sizes=(self.sizes[index],), values=(self.values[index],), errors=(self.errors[index],), tails=tails)

    def minus(self, value: Enclosure) -> Series:
        """Return value_i - value, exactly; the radius of ``value`` is added to every error."""
        with localcontext() as context:
            context.prec = DIGITS
            values = tuple(here - value.midpoint for here in self.values)
            errors = tuple(error + value.radius for error in self.errors)
        return replace(self, values=values, errors=errors, rigorous=self.rigorous and value.rigorous)

    def over(self, log_rates: Sequence[float]) -> tuple[list[float], list[float], float]:
        """Return values and errors divided by the rate, times exp(scale) so that they are representable, and that scale."""
        logs = [_log(value) - rate for value, rate in zip(self.values, log_rates) if value != 0]
        scale = -sorted(logs)[len(logs) // 2] if logs else 0.0
        with localcontext() as context:
            context.prec = RATIO_DIGITS
            factors = [Decimal(scale - rate).exp() for rate in log_rates]
            values = [float(value * factor) for value, factor in zip(self.values, factors)]
            errors = [float(error * factor) for error, factor in zip(self.errors, factors)]
        return values, errors, scale


def _log(value: Decimal) -> float:
    """Return log|value| to the accuracy of floats, beyond their range too."""
    power = value.adjusted()
    return math.log(abs(float(value.scaleb(-power)))) + power * math.log(10)


def read_routes(points: Sequence[Point], statistic: str = "mean") -> tuple[dict[str, tuple[Series, ...]], tuple[str, ...]]:
    """Return ``{"exact": (series,), "montecarlo": (series,), "bracket": (low, high)}`` for the routes taken, and flags.

    An estimate without an error bar (a single draw) carries no information and is flagged.  Raises ValueError on values that
    are not finite.
    """
    routes: dict[str, tuple[Series, ...]] = {}
    flags: list[str] = []
    exact = [(point.sizes, point.exact) for point in points if point.exact is not None]
    if exact:
        routes["exact"] = (
            Series(
                "exact",
                tuple(sizes for sizes, _ in exact),
                tuple(value.midpoint for _, value in exact),
                tuple(value.radius for _, value in exact),
                all(value.rigorous for _, value in exact),
            ),
        )
    estimates = []
    names = telling_names([point.sizes for point in points])
    for point in points:
        if point.estimate is None:
            continue
        if infinite(point.estimate):
            flags.append(f"infinite at {_sizes_text(point.sizes, names)}")
            continue
        if not math.isfinite(point.estimate.value):
            raise ValueError(
                f"the estimate at {dict(point.sizes)} is {point.estimate.value}: the sampler returned a value that is not finite; "
                "mend the sampler, every draw counts"
            )
        _require_domain("estimate", point.sizes, point.estimate.value, point.estimate.stderr)
        if math.isfinite(point.estimate.stderr):
            estimates.append((point.sizes, point.estimate))
        else:
            flags.append(f"no error bar at {_sizes_text(point.sizes, names)}")
        flags.extend(f"{flag} at {_sizes_text(point.sizes, names)}" for flag in point.estimate.flags)
    if estimates:
        routes["montecarlo"] = (
            Series(
                "montecarlo",
                tuple(sizes for sizes, _ in estimates),
                tuple(Decimal(value.value) for _, value in estimates),
                tuple(Decimal(value.stderr) for _, value in estimates),
                draws=sum(value.draws for _, value in estimates),
                flags=tuple(flag for _, value in estimates for flag in value.flags),
                tails=tuple(value.skewness**2 / value.draws for _, value in estimates),
                statistic=statistic,
            ),
        )
    brackets = [(point.sizes, point.bracket) for point in points if point.bracket is not None]
    flags.extend(f"{flag} at {_sizes_text(sizes, names)}" for sizes, bracket in brackets for flag in bracket.flags)
    for sizes, bracket in brackets:
        ends = (bracket.low, bracket.high, bracket.low_stderr, bracket.high_stderr)
        if not all(math.isfinite(end) for end in ends):
            raise ValueError(
                f"the bracket at {dict(sizes)} is {bracket.low} +/- {bracket.low_stderr} to {bracket.high} +/- "
                f"{bracket.high_stderr}: both ends must be finite; mend the sampler, every draw counts"
            )
        _require_domain("bracket", sizes, bracket.low, bracket.high, bracket.low_stderr, bracket.high_stderr)
        # Ends that were drawn may cross by their noise, those without errors by rounding only.
        if bracket.low_stderr == bracket.high_stderr == 0 and bracket.low - bracket.high > 1e-9 * abs(bracket.low):
            raise ValueError(
                f"the bracket at {dict(sizes)} is {bracket.low} to {bracket.high}: its lower end lies above its upper one; are the "
                "two exchanged?"
            )
    if brackets:
        where, found = tuple(sizes for sizes, _ in brackets), [bracket for _, bracket in brackets]
        routes["bracket"] = (
            _ends("bracket-low", where, [(b.low, b.low_stderr, b.low_skewness, b.draws) for b in found]),
            _ends("bracket-high", where, [(b.high, b.high_stderr, b.high_skewness, b.draws) for b in found]),
        )
    return routes, tuple(flags)


def infinite(estimate: Estimate | None) -> bool:
    """Whether an estimate is a quantile that no draw has reached: infinite draws are as many as that."""
    return estimate is not None and math.isinf(estimate.value) and math.isinf(estimate.stderr)


def _require_domain(what: str, sizes: Mapping[str, Size], *numbers: float) -> None:
    """Raise ValueError for numbers of a scale beyond the numeric domain; exact values, which are decimals, have none."""
    largest = max((number for number in map(abs, numbers) if math.isfinite(number)), default=0.0)
    if largest and not LEAST <= largest <= LARGEST:
        limits = f"0 or lie between {LEAST:g} and {LARGEST:g} in size"
        raise ValueError(f"the {what} at {dict(sizes)} is {largest:g} in size: values must be {limits}; change the unit")


def _ends(route: str, where: tuple[Mapping[str, Size], ...], ends: Sequence[tuple[float, float, float, int]]) -> Series:
    """Return one end of the brackets; those that were proved have no tail."""
    return Series(
        route,
        where,
        tuple(Decimal(value) for value, _, _, _ in ends),
        tuple(Decimal(error) for _, error, _, _ in ends),
        draws=sum(draws for _, _, _, draws in ends),
        tails=tuple(skewness**2 / draws if draws else 0.0 for _, _, skewness, draws in ends),
    )


def log_rates(rate: Rate, series: Series) -> list[float]:
    """Return log(rate) at the sizes of the series."""
    return [rate.log_value(sizes) for sizes in series.sizes]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The largest discrepancy between two routes, in standard errors, and whether it is too large to be chance."""

    compared: int
    pull: float
    limit: float
    text: str

    @property
    def found(self) -> bool:
        """Whether the routes contradict each other."""
        return self.pull > self.limit


def compare_routes(points: Sequence[Point], false_refute_rate: float) -> Disagreement | None:
    """Compare the routes taken at the same sizes, Bonferroni over the comparisons; None if there is nothing to compare.

    ``|estimate - enclosure| <= radius + z stderr``, and an estimate must lie in a bracket as in an enclosure.  Means of skewed
    draws are far from Gaussian where few draws have seen the tail: the limit for an estimate on the side of the unseen tail is
    z + 2 (2 z^2 + 1) |skewness| / (6 sqrt(draws)), twice the correction of Johnson (1978), because the skewness seen is itself
    too small then.  Estimates from fewer than 4096 draws, and those flagged "tail-unseen", are not compared.  That flag, set by
    whoever measured, must depend on nothing that was drawn: leaving out those whose tail was seen would keep the low ones.
    """
    pairs = [pair for point in points for pair in _pairs(point)]
    if not pairs:
        return None
    z = NormalDist().inv_cdf(1 - false_refute_rate / len(pairs) / 2)
    limits = [z + (2 * z**2 + 1) * pair.unseen for pair in pairs]
    worst = max(range(len(pairs)), key=lambda index: pairs[index].pull / limits[index])
    return Disagreement(len(pairs), pairs[worst].pull, limits[worst], pairs[worst].text)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two routes at one size: how many standard errors apart, and by how much an unseen tail widens the limit."""

    pull: float
    unseen: float
    text: str


def _pairs(point: Point) -> list[_Pair]:
    made = []
    estimate, bracket, where = point.estimate, point.bracket, _sizes_text(point.sizes)
    if estimate is not None and estimate.draws >= MIN_COMPARED_DRAWS and TAIL_UNSEEN not in estimate.flags:
        shown = f"Monte Carlo {with_error(estimate.value, estimate.stderr)}"
        if point.exact is not None:
            pull, below = _pull(point.exact, estimate), Decimal(estimate.value) < point.exact.midpoint
            unseen = _unseen(estimate.skewness, estimate.draws, below)
            made.append(_Pair(pull, unseen, f"{where}: exact {_short(point.exact)}, {shown}"))
        if bracket is not None:
            below = estimate.value < bracket.low
            gap = max(bracket.low - estimate.value, estimate.value - bracket.high)
            end, skewness = (bracket.low_stderr, bracket.low_skewness) if below else (bracket.high_stderr, bracket.high_skewness)
            error = math.hypot(estimate.stderr, end)
            # Each mean may miss its own tail, on the side that makes the gap: the shifts add, in units of the common error.
            shift = estimate.stderr * _unseen(estimate.skewness, estimate.draws, below) + end * _unseen(
                skewness, bracket.draws, not below
            )
            pull = _excess(gap - 1e-14 * abs(estimate.value), error)
            made.append(_Pair(pull, shift / error if error > 0 else 0.0, f"{where}: {_bracket_text(bracket)}, {shown}"))
    if point.exact is not None and bracket is not None and TAIL_UNSEEN not in bracket.flags:
        made.append(_bracket_pair(point.exact, bracket, where))
    return made


def _unseen(skewness: float, draws: int, below: bool) -> float:
    """Twice Johnson's skewness term, on the side of the tail that may not have been seen."""
    return 2 * max(skewness if below else -skewness, 0.0) / (6 * math.sqrt(draws)) if draws else 0.0


def _bracket_text(bracket: Bracket) -> str:
    return f"bracket [{bracket.low:.6g}, {bracket.high:.6g}]"


def _pull(exact: Enclosure, estimate: Estimate) -> float:
    # The mean of floats is itself rounded: differences below 1e-14 of the value are not differences.
    slack = float(exact.radius) + 1e-14 * abs(float(exact.midpoint))
    return _excess(abs(float(Decimal(estimate.value) - exact.midpoint)) - slack, estimate.stderr)


def _bracket_pair(exact: Enclosure, bracket: Bracket, where: str) -> _Pair:
    slack = 1e-14 * abs(float(exact.midpoint))
    above = _excess(bracket.low - float(exact.high) - slack, bracket.low_stderr)
    below = _excess(float(exact.low) - bracket.high - slack, bracket.high_stderr)
    skewness = bracket.high_skewness if below > above else bracket.low_skewness
    unseen = _unseen(skewness, bracket.draws, below > above)
    return _Pair(max(above, below), unseen, f"{where}: exact {_short(exact)}, {_bracket_text(bracket)}")


def _excess(gap: float, stderr: float) -> float:
    if gap <= 0:
        return 0.0
    return gap / stderr if stderr > 0 else math.inf


def _short(exact: Enclosure) -> str:
    return f"{float(exact):.6g}" if exact.radius == 0 else with_error(float(exact), float(exact.radius))


def telling_names(sizes: Sequence[Mapping[str, Size]]) -> tuple[str, ...]:
    """Return the names of sizes that tell points apart: one where its values alone do, else all that vary, else all.

    >>> telling_names([{"d": 8, "n": 16}, {"d": 16, "n": 32}]), telling_names([{"d": 8, "n": 16}, {"d": 8, "n": 32}])
    (('d',), ('n',))
    """
    different = len({tuple(entry.items()) for entry in sizes})
    counts = {name: len({entry.get(name) for entry in sizes}) for name in (sizes[0] if sizes else ())}
    varying = tuple(name for name, count in counts.items() if count > 1) or tuple(counts)
    return next(((name,) for name in varying if counts[name] == different), varying)


def _sizes_text(sizes: Mapping[str, Size], names: Sequence[str] | None = None) -> str:
    shown = sizes if names is None else {name: size for name, size in sizes.items() if name in names}
    return ", ".join(f"{name} = {size_text(size)}" for name, size in shown.items()) or "its one instance"


def between(interval: Interval, digits: int = 4) -> str:
    """Return ``[low, high]`` with as many digits as tell the ends apart to a tenth of the width, and at least so many.

    >>> between(Interval(1.99985, 1.9996, 2.00009, 0.95)), between(Interval(0.5, 0.38, 0.62, 0.95))
    ('[1.9996, 2.00009]', '[0.38, 0.62]')
    """
    width, largest = interval.high - interval.low, max(abs(interval.low), abs(interval.high))
    if 0 < width < math.inf and largest > 0:
        digits = min(max(digits, 2 + math.ceil(math.log10(largest / width))), 15)
    return f"[{interval.low:.{digits}g}, {interval.high:.{digits}g}]"


def with_error(value: float, error: float) -> str:
    """Return ``value +/- error`` with the digits that the error justifies (two of the error).

    >>> with_error(-0.51234, 0.0213), with_error(12345.6, 789.0), with_error(1.5e-9, 2e-11)
    ('-0.512 +/- 0.021', '12350 +/- 790', '(1.500 +/- 0.020)e-9')
    """
    if not (math.isfinite(value) and math.isfinite(error)) or error <= 0:
        return f"{value:.6g}" if not error > 0 else f"{value:.3g} +/- {error:.2g}"
    exponent = math.floor(math.log10(max(abs(value), error)))
    if not -4 <= exponent < 6:
        scale = 10.0**-exponent if exponent > -300 else math.inf
        if math.isfinite(scale):
            return f"({with_error(value * scale, error * scale)})e{exponent}"
        return f"{value:.3g} +/- {error:.2g}"
    digits = 1 - math.floor(math.log10(error))
    if digits > 12:
        return f"{value:.12f} +/- {error:.1e}"
    if digits >= 0:
        return f"{value:.{digits}f} +/- {error:.{digits}f}"
    return f"{round(value, digits):.0f} +/- {round(error, digits):.0f}"
