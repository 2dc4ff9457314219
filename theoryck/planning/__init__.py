"""planning: error rates shared over a session, looks that are paid for, draws put where they count, and what a budget can see.

Everything here is pure arithmetic done before a single draw:

* :func:`share`, :func:`share_over` and :func:`holm` divide the session's false-refute rate over claims and instances; power is not
  divided;
* :func:`looks` splits the error rates of a contract over a fixed schedule of looks (alpha spending with a union bound, so that the
  sum over looks never exceeds what was declared, whatever the dependence between looks);
* :func:`allocate` puts blocks of draws on the sizes so that the exponent is known best per second;
* :func:`violation_seen` and :func:`draws_needed` are inverse to each other: budget to smallest violation that will be refuted with
  probability ``power``, and back; :func:`plan` says all of it in a sentence.
"""

from theoryck.planning.allotment import allocate
from theoryck.planning.errors import DEFAULT_FRACTIONS, Look, holm, looks, share, share_over
from theoryck.planning.power import Plan, draws_needed, draws_to_support, plan, stderr_of_exponent, violation_seen

__all__ = [
    "DEFAULT_FRACTIONS",
    "Look",
    "Plan",
    "allocate",
    "draws_needed",
    "draws_to_support",
    "holm",
    "looks",
    "plan",
    "share",
    "share_over",
    "stderr_of_exponent",
    "violation_seen",
]
