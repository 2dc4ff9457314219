"""Whether the logarithm of a rate can be told from none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from theoryck.judging.evidence import Series, log_rates
from theoryck.judging.ratios import fit_growth
from theoryck.rates.rate import Rate
from theoryck.records import Interval


@dataclass(frozen=True, slots=True)
class LogResolution:
    """The exponents of quantity/rate with the logarithmic factor and without it, and whether the data tell the two apart."""

    factor: str
    with_log: Interval
    without: Interval
    reason: str = ""

    @property
    def shift(self) -> float:
        """By how much the factor changes the exponent on this window."""
        return self.without.estimate - self.with_log.estimate

    @property
    def resolved(self) -> bool:
        """Whether the shift is larger than the half-width of either interval: then at most one of the two can be without growth."""
        return not self.reason and abs(self.shift) > max(self.with_log.half_width, self.without.half_width)

    @property
    def text(self) -> str:
        """What is to be said of it; empty if the factor is resolved."""
        return "" if self.resolved else f"the factor {self.factor} cannot be resolved on this window"


def log_resolution(
    series: Series,
    base: str,
    rate: Rate,
    *,
    correction: float | None = None,
    amplitude: float | None = None,
    level: float = 0.95,
) -> LogResolution | None:
    """Say whether ``series`` tells ``rate`` from the same rate without logarithms of sizes that vary; None if it has none.

    A factor log(d)**r looks on a window like a power r / log(d), which corrections to scaling imitate: it is resolved if the
    exponent of quantity/rate moves by more than its interval when the factor is left out.  Raises RateError on a rate that names
    no size of the series.

    >>> from decimal import Decimal
    >>> sizes = tuple({"d": 2**j} for j in range(4, 11))
    >>> values = tuple(Decimal(size["d"]) ** -1 for size in sizes)
    >>> series = Series("montecarlo", sizes, values, tuple(value / 20 for value in values))
    >>> log_resolution(series, "d", Rate.parse("sqrt(log(d))/d")).text
    'the factor log(d)^(1/2) cannot be resolved on this window'
    """
    varying = rate.varying(series.sizes)
    factors = _factors(rate, varying)
    if not factors:
        return None
    exponents, reason = [], ""
    for each in (rate, without_logs(rate, varying)):
        growth = fit_growth(series, base, log_rates(each, series), correction=correction, amplitude=amplitude, level=level)
        exponents.append(growth.fit.exponent)
        reason = reason or growth.fit.reason
    return LogResolution(" and ".join(factors), exponents[0], exponents[1], reason)


def without_logs(rate: Rate, names: set[str]) -> Rate:
    """Return ``rate`` with the logarithms of ``names`` left out of every term.

    >>> str(without_logs(Rate.parse("sqrt(log(d)/d) + 2/d"), {"d"})), str(without_logs(Rate.parse("h**2*log(1/h)"), {"h"}))
    ('2*d**(-1) + d**(-1/2)', 'h**2')
    """
    terms = (
        replace(
            term,
            logs=tuple((name, power) for name, power in term.logs if name not in names),
            others=tuple((each, power) for each, power in term.others if not (each.logs and each.name in names)),
        )
        for term in rate.terms
    )
    return Rate(tuple(sorted(terms, key=lambda term: (term.powers, term.logs, term.roots))))


def _factors(rate: Rate, varying: set[str]) -> list[str]:
    found: dict[str, None] = {}
    for term in rate.terms:
        found.update({f"log({name}){_power(power)}": None for name, power in term.logs if name in varying})
        found.update({f"{each}{_power(power)}": None for each, power in term.others if each.logs and each.name in varying})
    return list(found)


def _power(power: Fraction) -> str:
    return "" if power == 1 else f"^{power}" if power.denominator == 1 and power > 0 else f"^({power})"
