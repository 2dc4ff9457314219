"""planning: error rates shared over a session, looks that are paid for, draws put where they count, and what a budget can see.

Pure arithmetic, in three parts:

* errors: :func:`share` divides the session's false-refute rate over claims and instances (power is not divided),
  :func:`holm_rates` gives what rejected hypotheses leave to the others, :func:`looks` splits the error rates of a contract over a
  fixed schedule of looks (alpha spending with a union bound: the sum over looks never exceeds what was declared, whatever the
  dependence between looks);
* allotment: :func:`allocate` puts draws on the sizes so that the exponent is known best for what they cost;
* power: :func:`violation_seen` and :func:`draws_needed` are inverse to each other: budget to smallest violation that will be
  refuted with probability ``power``, and back; :func:`plan` says all of it in a sentence.
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
    "share",
    "stderr_of_exponent",
    "supporting_reach",
    "violation_seen",
    "what_helps",
]
