"""Reads measured points into one series per route, and says whether two routes contradict each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from statistics import NormalDist

from theoryck.rates.rate import Rate
from theoryck.records import Bracket, Enclosure, Estimate, Point

DIGITS = 50


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one route along the path, with errors (standard errors, or radii of enclosures), in decimal.

    ``route`` is "exact", "montecarlo", "bracket-low" or "bracket-high"; ``draws`` is the total number of draws.
    """

    route: str
    sizes: tuple[Mapping[str, int], ...]
    values: tuple[Decimal, ...]
    errors: tuple[Decimal, ...]
    rigorous: bool = False
    draws: int = 0
    flags: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether the errors cannot be too small: not so for means of heavy-tailed draws."""
        return not any("heavy" in flag for flag in self.flags)

    def __len__(self) -> int:
        return len(self.values)

    def base(self, name: str) -> list[int]:
        """Return the sizes called ``name``."""
        return [int(sizes[name]) for sizes in self.sizes]

    def at(self, index: int) -> Series:
        """Return the series cut down to one of its points."""
        return replace(self, sizes=(self.sizes[index],), values=(self.values[index],), errors=(self.errors[index],))

    def minus(self, value: Enclosure) -> Series:
        """Return value_i - value, exactly; the radius of ``value`` is added to every error."""
        with localcontext() as context:
            context.prec = DIGITS
            values = tuple(here - value.midpoint for here in self.values)
            errors = tuple(error + value.radius for error in self.errors)
        return Series(self.route, self.sizes, values, errors, self.rigorous and value.rigorous, self.draws, self.flags)

    def over(self, log_rates: Sequence[float]) -> tuple[list[float], list[float], float]:
        """Return values and errors divided by the rate, times exp(scale) so that they are representable, and that scale."""
        with localcontext() as context:
            context.prec = DIGITS
            logs = [float(abs(value).ln()) - rate for value, rate in zip(self.values, log_rates) if value != 0]
            scale = -sorted(logs)[len(logs) // 2] if logs else 0.0
            factors = [Decimal(scale - rate).exp() for rate in log_rates]
            values = [float(value * factor) for value, factor in zip(self.values, factors)]
            errors = [float(error * factor) for error, factor in zip(self.errors, factors)]
        return values, errors, scale


def read_routes(points: Sequence[Point]) -> tuple[dict[str, tuple[Series, ...]], tuple[str, ...]]:
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
    for point in points:
        if point.estimate is None:
            continue
        if not math.isfinite(point.estimate.value):
            raise ValueError(
                f"the estimate at {dict(point.sizes)} is {point.estimate.value}: the sampler returned a value that is not finite"
            )
        if math.isfinite(point.estimate.stderr):
            estimates.append((point.sizes, point.estimate))
        else:
            flags.append(f"no error bar at {_sizes_text(point.sizes)}")
        flags.extend(f"{flag} at {_sizes_text(point.sizes)}" for flag in point.estimate.flags)
    if estimates:
        routes["montecarlo"] = (
            Series(
                "montecarlo",
                tuple(sizes for sizes, _ in estimates),
                tuple(Decimal(value.value) for _, value in estimates),
                tuple(Decimal(value.stderr) for _, value in estimates),
                draws=sum(value.draws for _, value in estimates),
                flags=tuple(flag for _, value in estimates for flag in value.flags),
            ),
        )
    brackets = [(point.sizes, point.bracket) for point in points if point.bracket is not None]
    if brackets:
        where = tuple(sizes for sizes, _ in brackets)
        routes["bracket"] = (
            Series("bracket-low", where, *_columns([(b.low, b.low_stderr) for _, b in brackets])),
            Series("bracket-high", where, *_columns([(b.high, b.high_stderr) for _, b in brackets])),
        )
    return routes, tuple(flags)


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...]]:
    return tuple(Decimal(value) for value, _ in pairs), tuple(Decimal(error) for _, error in pairs)


def log_rates(rate: Rate, series: Series) -> list[float]:
    """Return log(rate) at the sizes of the series."""
    return [rate.log_value(sizes) for sizes in series.sizes]


def same_on_grid(first: Rate, second: Rate, points: Sequence[Point]) -> bool:
    """Whether two rates are proportional at every point, so that no evidence can tell them apart."""
    gaps = [first.log_value(point.sizes) - second.log_value(point.sizes) for point in points]
    size = max(abs(first.log_value(point.sizes)) for point in points)
    # Logarithms are sums of a few rounded terms: 1e-12 of their size is far above rounding and far below any fit.
    return max(gaps) - min(gaps) <= 1e-12 * (1 + size)


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
    """Compare estimates and brackets with enclosures at the same sizes, Bonferroni over the sizes; None if no size has both.

    ``|estimate - enclosure| <= radius + z stderr``; estimates flagged as heavy-tailed are left out: their stderr is not to be
    trusted.
    """
    gaps: list[tuple[float, str]] = []
    for point in points:
        if point.exact is None:
            continue
        if point.estimate is not None and not any("heavy" in flag for flag in point.estimate.flags):
            gaps.append(
                (
                    _pull(point.exact, point.estimate),
                    f"{_sizes_text(point.sizes)}: exact {_short(point.exact)}, Monte Carlo "
                    f"{with_error(point.estimate.value, point.estimate.stderr)}",
                )
            )
        if point.bracket is not None:
            gaps.append(
                (
                    _bracket_pull(point.exact, point.bracket),
                    f"{_sizes_text(point.sizes)}: exact {_short(point.exact)}, bracket "
                    f"[{point.bracket.low:.6g}, {point.bracket.high:.6g}]",
                )
            )
    if not gaps:
        return None
    pull, text = max(gaps)
    return Disagreement(len(gaps), pull, NormalDist().inv_cdf(1 - false_refute_rate / len(gaps) / 2), text)


def _pull(exact: Enclosure, estimate: Estimate) -> float:
    # The mean of floats is itself rounded: differences below 1e-14 of the value are not differences.
    slack = float(exact.radius) + 1e-14 * abs(float(exact.midpoint))
    return _excess(abs(float(Decimal(estimate.value) - exact.midpoint)) - slack, estimate.stderr)


def _bracket_pull(exact: Enclosure, bracket: Bracket) -> float:
    slack = 1e-14 * abs(float(exact.midpoint))
    below = _excess(bracket.low - float(exact.high) - slack, bracket.low_stderr)
    above = _excess(float(exact.low) - bracket.high - slack, bracket.high_stderr)
    return max(below, above)


def _excess(gap: float, stderr: float) -> float:
    if gap <= 0:
        return 0.0
    return gap / stderr if stderr > 0 else math.inf


def _short(exact: Enclosure) -> str:
    return f"{float(exact):.6g}" if exact.radius == 0 else with_error(float(exact), float(exact.radius))


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "its one instance"


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
