"""All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was seen."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theoryck.checking.budget import Budget, Fixed
from theoryck.checking.drawing import Drawing
from theoryck.checking.known import Exact, Known, exactly
from theoryck.checking.session import Session
from theoryck.claims.statements import Law, Statement
from theoryck.judging.evidence import TAIL_UNSEEN
from theoryck.montecarlo import TwoSidedMoments
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.records import Bracket, Counts, Enclosure, Estimate, Judgement, Point, Verdict

SHOWN_BINS = 64  # of a law, in its picture; it is judged by all 1024
BY_THE_CLOCK = "draws set by the clock"


class Measurement:
    """All that is measured at one instance: ``exact`` values (None until they are known) and its ``drawing``, one entry a size.

    ``share`` is the instance's of the profile's budget.
    """

    def __init__(self, claim: str, instance: Mapping[str, Any], statement: Statement, session: Session, share: float) -> None:
        self.claim, self.instance, self.statement, self.session = claim, instance, statement, session
        self.quantity = statement.measured()
        self.sizes = statement.sizes()
        self.exact: Exact | None = None
        edges = tuple(quantile_edges(statement.distribution.ppf)) if isinstance(statement, Law) else None
        self.drawing = Drawing(claim, instance, self.quantity, self.sizes, session, edges)
        self.budget = Budget(statement, self.drawing, session.profile, share)

    @property
    def draws(self) -> int:
        """Return the draws taken in all."""
        return self.drawing.draws

    @property
    def flags(self) -> set[str]:
        """What a result has to say of how it was drawn."""
        store = self.drawing.store
        refused = {f"not stored in the ledger: {store.refusal}"} if store is not None and store.refusal else set()
        return refused | ({BY_THE_CLOCK} if self.budget.by_the_clock else set())

    @functools.cached_property
    def _plan(self) -> Budget | Fixed:
        if self.session.draws is None:
            return self.budget
        fixed = Fixed.of(self.session.draws, self.drawing)
        self.drawing.most = fixed.most
        return fixed

    def confirmation(self) -> Measurement:
        """Return a measurement of the same instance with other seeds, and at least twice the draws at every size."""
        claim = f"{self.claim}#confirmation"
        fresh = copy.copy(self)
        fresh.claim, fresh.drawing, plan = claim, self.drawing.afresh(claim), self._plan.confirming()
        fresh._plan, fresh.drawing.most = plan, plan.most
        return fresh

    def take(self, found: Known) -> None:
        """Take over what was found out of the instance ahead."""
        self.exact = found.exact
        self.drawing.take(found.draws_to_compare or ())

    def measure_exactly(self, digits: int) -> None:
        """Fill in the exact values, where the quantity has them and they are not known."""
        if self.quantity.can_exact and self.exact is None:
            self.exact = exactly(self.statement, digits)

    def decided_by_draws(self, judgement: Judgement) -> bool:
        """Whether chance could be behind the verdict: no rigorous exact route refutes on its own."""
        return self.draws > 0 and not any(route.rigorous and route.verdict is Verdict.REFUTED for route in judgement.routes)

    def draw_up_to(self, fraction: float) -> None:
        """Draw whole blocks, allotted anew from what was measured so far, until the fraction of the budget is spent."""
        wanted = self._plan.blocks(fraction)
        self.drawing.draw([(index, count) for index, count in enumerate(wanted) if count > self.drawing.blocks[index]])

    def looks(self, fractions: Sequence[float]) -> tuple[float, ...]:
        """Return those of the fractions of the budget at which every size has a block; draws that are fixed are looked at once."""
        return self._plan.looks(fractions)

    def points(self, exact: bool = True) -> tuple[Point, ...]:
        """Return what is known at each size, with or without the exact route."""
        made, values = [], self.exact if exact else None
        for index, (sizes, moments) in enumerate(zip(self.sizes, self.drawing.moments, strict=True)):
            value = None if values is None else values[index]
            bracket = value if isinstance(value, Bracket) else None
            estimate, counts = None, None
            if isinstance(moments, TwoSidedMoments):
                # The ends go to the judge, never their middle: an interval that does not close decides nothing.
                bracket = moments.bracket()
                if moments.count < self.drawing.draws_to_compare(index):
                    bracket = replace(bracket, flags=(TAIL_UNSEEN,))
            elif moments is not None:
                estimate, counts = self._estimate(moments, index), self._counts(moments)
            made.append(Point(sizes, estimate, value if isinstance(value, Enclosure) else None, bracket, counts))
        return tuple(made)

    def _estimate(self, moments: Any, index: int) -> Estimate:
        if isinstance(self.statement, Law):
            return squared_distance(moments.histogram, self.statement.distribution.cdf)
        estimate: Estimate = moments.estimate()
        if estimate.draws < self.drawing.draws_to_compare(index):
            return replace(estimate, flags=(*estimate.flags, TAIL_UNSEEN))
        return estimate

    def _counts(self, moments: Any) -> Counts | None:
        if not isinstance(self.statement, Law):
            return None
        shown = moments.histogram.coarser(SHOWN_BINS)
        claimed = self.statement.distribution.cdf(np.array(shown.edges))
        return Counts(shown.edges, shown.counts, tuple(float(value) for value in claimed))
