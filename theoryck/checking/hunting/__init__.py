"""Searching a claim's structure for a counterexample, within a budget of time.

Hypothesis proposes instances (activation, depth, widths, noise, whatever the claim's ``for_all`` generates).  Each is tried on a
small part of the profile's budget; the promising quarter, by how far it measures on the wrong side of the claim, gets four times as
much, twice over.  A try decides nothing: what it finds REFUTED is only a candidate.

What is reported is decided by confirmations alone.  The k-th confirmation draws afresh, with seeds that no try has used and on all
that a check would spend on one instance, and may refute a true statement with probability ``rate / (k (k + 1))``; these sum to the
profile's declared false-refute rate.  So a hunt that finds anything in a claim that is true errs with at most that probability,
however many instances it tries.  Shrinking goes from one confirmed instance to a simpler confirmed one, each at its own rate.
A hunt that finds nothing proves nothing.

    outcome  what a hunt came to
    search   the search: tries, levels, confirmations and shrinking
"""

from theoryck.checking.hunting.outcome import Hunt, Trouble
from theoryck.checking.hunting.search import HuntError, confirmation_rate, hunt

__all__ = ["Hunt", "HuntError", "Trouble", "confirmation_rate", "hunt"]
