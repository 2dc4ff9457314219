"""planning: error rates shared over a session, looks that are paid for, draws put where they count, and what a budget can see.

Pure arithmetic: nothing is drawn here.

    allotment  draws put on the sizes so that the exponent is known best for what they cost: :func:`allocate`
    errors     the session's false-refute rate divided over claims and instances, what rejected hypotheses leave to the others
               (Holm), and the rates of a fixed schedule of looks, whose sum never exceeds what was declared (a union bound)
    power      from a budget to the smallest violation that will be refuted, and back; :func:`plan` says all of it in a sentence
"""

from __future__ import annotations

from theoryck.planning.allotment import allocate
from theoryck.planning.errors import DEFAULT_FRACTIONS, Look, holm, holm_rates, looks, share
from theoryck.planning.power import (
    Experiment,
    Plan,
    draws_needed,
    draws_to_support,
    plan,
    refuting_reach,
    rejecting_reach,
    stderr_of_exponent,
    supporting_reach,
    violation_seen,
    what_helps,
)

__all__ = [
    "DEFAULT_FRACTIONS",
    "Experiment",
    "Look",
    "Plan",
    "allocate",
    "draws_needed",
    "draws_to_support",
    "holm",
    "holm_rates",
    "looks",
    "plan",
    "refuting_reach",
    "rejecting_reach",
    "share",
    "stderr_of_exponent",
    "supporting_reach",
    "violation_seen",
    "what_helps",
]
