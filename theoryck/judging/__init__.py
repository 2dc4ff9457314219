"""judge: a prediction and its evidence in, a verdict with its reason out.  Pure: the same records give the same verdict, always.

The error rates of the :class:`~theoryck.records.Contract` are shared equally over the routes that are judged and, where two routes
were taken at the same sizes, their comparison.  Conventions, kind by kind (e is the exponent of quantity/rate on the grid, with
corrections to scaling in its interval):

* BOUND, LAW with a rate: SUPPORTED if the upper limit of e at ``false_support_rate`` is at most ``within`` and 0 is not excluded;
  REFUTED if the lower limit at ``false_refute_rate`` exceeds ``within``.  Slack is -e; TIGHT if its interval contains 0 and lies
  in +-within, LOOSE if above, else UNDETERMINED: so also where it excludes 0 within +-within, which the reason then says.
* BOUND with a constant: size by size.  Rigorous enclosures below (above) the bound certify (refute) it; estimates must lie below
  ``(1 + tolerance) * bound`` with confidence at every size, and refute if one lies above the bound (Bonferroni over sizes).
  A quantity that is exactly 0 at every size is within any bound, and no rival of it can be rejected.
* LAW without a rate: the distance must decay, and a decay slower than d**-within does not count as one.
* SCALING: two-sided; the constant, if given, to a relative ``tolerance``.
* LIMIT: the interval of the limit must lie within ``tolerance`` of the value and, unless the tolerance was declared, not exclude
  the value itself; with a rate, that is the approach, and the signed difference is judged as a BOUND too; with a declared
  ``correction`` alone the approach is that; with neither it is any from d**-1/10 and 1/log d on that the values allow
  (:mod:`theoryck.fitting.approach`), and what is refuted is refuted under all of them.  Without a value the limit and the
  exponent of the approach are measured: SUPPORTED if the values approach their limit as fast as the rate, up to ``within``, and
  the limit is known to ``tolerance`` and excludes every rival.
* IDENTITY: enclosures; equal and exact certifies, disjoint refutes, overlapping supports if they are narrow.

``tolerance`` is the prediction's own; its default is 0.05 relative for constants, ``within`` relative to the value claimed for
limits and estimated identities (an exponent off by ``within`` moves a value by that factor over one e-fold of the size), and 1e-15
relative for identities between enclosures.

Support means that the evidence agrees with what is claimed, not only that it is near: limits that support hold their error rate at
every truth of the correction family (``decision_upper``), and if the interval at ``level`` excludes the claimed exponent itself,
be it by less than ``within``, the verdict is INCONCLUSIVE with the flag "excess established", whatever another route supports.
So it is for limits and for the constants of scalings (there at ``false_refute_rate``): the default tolerance says how narrow the
interval must be, not that another number would do.  A ``tolerance`` that is declared does say so and belongs to what is claimed;
``within`` never does, nor any tolerance of an identity, which is refuted by whatever difference is told from 0.

Monte Carlo decides nothing where a few draws carry the mean at half of the sizes (``carried`` in theoryck/judging/evidence.py): its
route is then INCONCLUSIVE, and other routes decide.  A rival that nothing could reject makes the check VACUOUS (``rival_problem``).

If two routes disagree where both were taken, the verdict is REFUTED with the flag "routes-disagree" and a reason that starts "the
two routes disagree": it means a bug in one of them, so it must fail the run, and a falsehood is not rightly refuted by it.

    evidence     measured points as one series a route; whether two routes contradict each other
    case         what is claimed, parsed once, with its evidence and its share of the error rates: what no route changes
    ratios       fits of quantity/rate, and what more draws would do to them
    decisions    the tests: numbers and declared error rates in, the side they fall on out; outcomes of routes, combined
    growth       one route of a BOUND, LAW or SCALING, and logarithms that fit as well
    logarithms   whether the logarithm of a rate can be told from none
    limits       one route of a LIMIT, claimed or measured
    approaches   the fit of an approach to a limit, what else explains the values, and which limits they exclude
    limit_words  sentences about limits
    numbers      one route of an IDENTITY or a bound of one number
    curves       what was fitted, as the record keeps it
    verdict      judge: from the prediction to the judgement
    certified    what a certificate for every size adds to a judgement
"""

from theoryck.judging.case import rival_problem, tolerated
from theoryck.judging.certified import certified
from theoryck.judging.verdict import judge

__all__ = ["certified", "judge", "rival_problem", "tolerated"]
