"""How ``theoryck measure`` shows what it measured: comparison of the routes, text, JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theoryck.montecarlo import Moments, TwoSidedMoments
    from theoryck.quantities import Quantity
    from theoryck.records import Bracket, Enclosure, Estimate

FALSE_ALARM = 6e-5
"""Probability with which two right routes are said to disagree: 4 standard errors where the mean is Gaussian."""


@dataclass(frozen=True)
class Comparison:
    """Whether the two routes disagree, and the sentence that says so."""

    disagree: bool = False
    text: str = ""


@dataclass(frozen=True)
class Measured:
    """Every route taken at one instance: the exact value (or why there is none), the point estimate, the two ends."""

    name: str
    formula: str
    instance: dict[str, Any]
    seed: int
    exact: Enclosure | None
    without: str
    estimate: Estimate | None
    bracket: Bracket | None
    gap: Estimate | None = None

    @classmethod
    def of(
        cls,
        name: str,
        formula: str,
        instance: dict[str, Any],
        seed: int,
        value: Enclosure | Bracket | None,
        without: str,
        moments: Moments | TwoSidedMoments | None,
    ) -> Measured:
        """Sort what was measured into the routes."""
        from theoryck.montecarlo import TwoSidedMoments
        from theoryck.records import Bracket, Enclosure

        two_sided = isinstance(moments, TwoSidedMoments)
        return cls(
            name,
            formula,
            instance,
            seed,
            value if isinstance(value, Enclosure) else None,
            without,
            None if moments is None else moments.estimate(),
            moments.bracket() if isinstance(moments, TwoSidedMoments) else value if isinstance(value, Bracket) else None,
            moments.gap.estimate() if two_sided and isinstance(moments, TwoSidedMoments) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "quantity": self.name,
            "instance": self.instance,
            "exact": None if self.exact is None else self.exact.to_json(),
            "estimate": None if self.estimate is None else self.estimate.to_json(),
            "bracket": None if self.bracket is None else self.bracket.to_json(),
            "seed": self.seed,
        }

    def lines(self, comparison: Comparison) -> list[str]:
        """Return the text for people."""
        shown = (f"{key} {' '.join(map(str, entry)) if isinstance(entry, list) else entry}" for key, entry in self.instance.items())
        lines = [f"{self.name}: {self.formula}", f"  {', '.join(shown)}", ""]
        if self.exact is not None:
            lines.append(f"  exact        {exact_text(self.exact)}")
        elif self.bracket is None:
            lines.append(f"  exact        none: {self.without}")
        if self.bracket is not None:
            lines.append(f"  bracket      {self._bracket_text()}")
        lines.append(f"  Monte Carlo  {self._estimate_text()}")
        if comparison.text:
            lines += ["", comparison.text]
        return lines

    def _bracket_text(self) -> str:
        assert self.bracket is not None
        low, high = self.bracket.low, self.bracket.high
        if self.gap is None:
            return f"[{low:.12g}, {high:.12g}]"
        if not math.isfinite(self.gap.stderr):
            return f"[{low:.6g}, {high:.6g}], {self.gap.value:.2g} wide (one draw has no error bar)"
        ends = f"[{low:.6g} +- {self.bracket.low_stderr:.2g}, {high:.6g} +- {self.bracket.high_stderr:.2g}]"
        return f"{ends}, {self.gap.value:.2g} +- {self.gap.stderr:.2g} wide"

    def _estimate_text(self) -> str:
        estimate = self.estimate
        if estimate is None:
            return "none: no draws asked for"
        draws = "1 draw" if estimate.draws == 1 else f"{estimate.draws} draws"
        if not math.isfinite(estimate.stderr):
            return f"{estimate.value:.8g} ({draws}, seed {self.seed}: one draw has no error bar)"
        flags = f", {', '.join(estimate.flags)}" if estimate.flags else ""
        # The error bar is that of sampling; between the two ends the middle is a guess.
        half = "" if self.gap is None else f"; half of the bracket: {0.5 * self.gap.value:.2g}"
        return f"{estimate.value:.8g} +- {estimate.stderr:.2g} ({draws}, seed {self.seed}{flags}{half})"


def compare(measured: Quantity, value: Enclosure | Bracket | None, estimate: Estimate | None) -> Comparison:
    """Compare the estimate with the exact value or the bracket, by the rule of the judge."""
    from theoryck.judging.evidence import compare_routes
    from theoryck.records import Bracket, Enclosure, Point

    if value is None or estimate is None:
        return Comparison()
    if not math.isfinite(estimate.stderr):
        return Comparison(text="not compared: one draw has no error bar")
    needed = measured.draws_to_compare({})
    if estimate.draws < needed:
        many = f"about {needed:.2g} draws would be needed" if needed < 1e12 else "no number of draws in reach would do"
        return Comparison(text=f"not compared: so few draws may not have seen the tail ({many})")
    exact = value if isinstance(value, Enclosure) else None
    bracket = value if isinstance(value, Bracket) else None
    found = compare_routes([Point({}, estimate, exact, bracket)], FALSE_ALARM)
    if found is None:
        return Comparison()
    if bracket is not None and found.pull <= 0:
        return Comparison(text="the two routes agree: the estimate lies in the bracket")
    where = f"{found.pull:.1f} sigma {'outside the bracket' if bracket is not None else 'apart'} (limit {found.limit:.1f})"
    if found.found:
        return Comparison(True, f"THE TWO ROUTES DISAGREE: {where}; this means a bug, please report it")
    if exact is not None and says_nothing(exact):
        return Comparison(text="the comparison decides nothing: the exact value carries no information at these widths")
    return Comparison(text=f"the two routes agree: {where}")


def compare_ends(exact: Enclosure | None, bracket: Bracket | None, draws: int, needed: float) -> Comparison:
    """Compare the exact value with the two ends that were drawn, unless so few draws may not have seen their tails."""
    from theoryck.judging.evidence import compare_routes
    from theoryck.records import Point

    if exact is None or bracket is None or not (math.isfinite(bracket.low_stderr) and math.isfinite(bracket.high_stderr)):
        return Comparison()
    if draws < needed:
        return Comparison(text=f"not compared: so few draws may not have seen the tail (about {needed:.2g} would be needed)")
    found = compare_routes([Point({}, None, exact, bracket)], FALSE_ALARM)
    if found is None or found.pull <= 0:
        return Comparison(text="the two routes agree: the exact value lies in the bracket")
    where = f"the exact value lies {found.pull:.1f} sigma outside the bracket (limit {found.limit:.1f})"
    if found.found:
        return Comparison(True, f"THE TWO ROUTES DISAGREE: {where}; this means a bug, please report it")
    return Comparison(text=f"the two routes agree: {where}")


def says_nothing(value: Enclosure) -> bool:
    """Whether the radius is larger than half of the value."""
    return 2 * value.radius > abs(value.midpoint)


def exact_text(value: Enclosure) -> str:
    """Return the value with the digits its radius allows and two digits of a radius that holds for the rounded value.

    >>> from theoryck.records import Enclosure
    >>> exact_text(Enclosure(Decimal("0.019885419738026"), Decimal("5.37E-9")))
    '0.0198854197 +- 5.5e-9 (rigorous)'
    >>> exact_text(Enclosure(Decimal("0.265625"), Decimal(0)))
    '0.265625 (exact)'
    >>> exact_text(Enclosure(Decimal("0.5"), Decimal("0.3"), rigorous=False))
    'no information at these widths (radius 0.3, midpoint 0.5)'
    """
    trust = "rigorous" if value.rigorous else "two methods agree, no proof"
    if value.radius == 0:
        return f"{value.midpoint} ({'exact' if value.rigorous else trust})"
    if says_nothing(value):
        return f"no information at these widths (radius {value.radius:.2g}, midpoint {value.midpoint:.2g})"
    with localcontext() as context:
        # enough for the digits of the midpoint and for those that the radius allows: nothing is rounded but by quantize
        digits = len(value.midpoint.as_tuple().digits) + len(value.radius.as_tuple().digits)
        context.prec = digits + abs(value.midpoint.adjusted() - value.radius.adjusted()) + 10
        rounded = value.midpoint.quantize(Decimal(1).scaleb(value.radius.adjusted() - 1))
        left = value.radius + abs(value.midpoint - rounded)
        context.prec, context.rounding = 2, ROUND_CEILING
        radius = +left
    plain = rounded.adjusted() >= -5 and value.radius.adjusted() <= 1
    return f"{rounded:{'f' if plain else 'e'}} +- {radius:e} ({trust})"
