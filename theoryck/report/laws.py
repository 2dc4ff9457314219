"""What a picture of a law shows: densities of measured and claimed law on an axis that suits it, and their difference.

The bins of :class:`~theoryck.records.Counts` are equally probable under the claim.  A positive law that spans decades would be one
spike at 0 on a linear axis: its density is one per decade, on a logarithmic axis.  Tails so long that the middle half of the law
would be a spike are cut, and the picture says what share of the claim they hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from theoryck.records import Counts

DECADES = 1.5  # from here on a positive law has a logarithmic axis
SPIKE = 0.08  # of the axis: a middle half that is narrower is a spike


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis for a law: the edges numbered ``first``..``last`` are shown; ``beyond`` is the share of the claim outside them."""

    log: bool
    first: int
    last: int
    beyond: float

    def bins(self, counts: Counts) -> list[tuple[float, float]]:
        """Return the ends of the bins that are shown."""
        return list(pairwise(counts.edges[self.first : self.last + 1]))

    def width(self, low: float, high: float) -> float:
        """Return the width of a bin in units of the axis: decades where it is logarithmic."""
        return math.log10(high / low) if self.log else high - low


def axis_of(counts: Counts) -> Axis:
    """Choose the axis on which the claimed law is no spike.

    >>> axis_of(Counts((0.01, 0.1, 1.0, 10.0), (1, 1, 1, 1, 1), (0.2, 0.4, 0.6, 0.8))).log
    True
    >>> axis_of(Counts((-2.0, 0.0, 2.0), (1, 1, 1, 1), (0.25, 0.5, 0.75)))
    Axis(log=False, first=0, last=2, beyond=0.5)
    """
    edges = counts.edges
    first, last = 0, len(edges) - 1
    if last < 1:
        return Axis(False, 0, max(last, 0), 1.0)
    log = edges[0] > 0 and math.log10(edges[-1]) - math.log10(edges[0]) >= DECADES and _spike(counts, first, last) < 3 * SPIKE
    while not log and last - first > 4 and _spike(counts, first, last) < SPIKE:
        left = edges[first + 1] - edges[first]
        right = edges[last] - edges[last - 1]
        first, last = (first + 1, last) if left > right else (first, last - 1)
    return Axis(log, first, last, 1 - (counts.claimed[last] - counts.claimed[first]))


def _spike(counts: Counts, first: int, last: int) -> float:
    """Return the share of the axis that the narrowest half of the claimed law takes."""
    edges, claimed = counts.edges, counts.claimed
    whole = edges[last] - edges[first]
    if not (whole > 0 and math.isfinite(whole)):
        return 1.0
    narrowest, end = whole, first
    for start in range(first, last + 1):
        while end < last and claimed[end] - claimed[start] < 0.5 * (claimed[last] - claimed[first]):
            end += 1
        if claimed[end] - claimed[start] >= 0.5 * (claimed[last] - claimed[first]):
            narrowest = min(narrowest, edges[end] - edges[start])
    return narrowest / whole


def densities(counts: Counts, axis: Axis) -> tuple[list[float], list[float]]:
    """Return the measured and the claimed density in the bins shown, per unit of the axis; a bin without width has none (0).

    >>> law = Counts((0.0, 1.0, 3.0), (1, 2, 1, 0), (0.25, 0.5, 1.0))
    >>> densities(law, axis_of(law))
    ([0.5, 0.125], [0.25, 0.25])
    """
    total = sum(counts.counts)
    widths = [axis.width(low, high) for low, high in axis.bins(counts)]
    inner = counts.counts[1:-1][axis.first : axis.last]
    claimed = [high - low for low, high in pairwise(counts.claimed[axis.first : axis.last + 1])]
    measured = [_over(count / total if total else 0.0, width) for count, width in zip(inner, widths)]
    return measured, [_over(share, width) for share, width in zip(claimed, widths)]


def _over(share: float, width: float) -> float:
    density = share / width if width > 0 else 0.0
    return density if math.isfinite(density) else 0.0


def differences(counts: Counts) -> list[float]:
    """Return the measured distribution function minus the claimed one, at each edge.

    >>> differences(Counts((0.0, 1.0), (1, 2, 1), (0.5, 0.5)))
    [-0.25, 0.25]
    """
    total = sum(counts.counts)
    return [below / total - claimed for below, claimed in zip(accumulate(counts.counts[:-1]), counts.claimed)]


def largest(differences: Sequence[float], edges: Sequence[float]) -> tuple[float, float]:
    """Return the difference that is largest in magnitude, and where.

    >>> largest([-0.25, 0.1], [0.0, 1.0])
    (-0.25, 0.0)
    """
    index = max(range(len(differences)), key=lambda i: abs(differences[i]))
    return differences[index], edges[index]
