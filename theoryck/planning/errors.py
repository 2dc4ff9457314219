"""Error rates shared over a session, and looks that are paid for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theoryck.planning.arguments import probability
from theoryck.records import Contract

DEFAULT_FRACTIONS = (1 / 16, 1 / 4, 1.0)


def share(rate: float, among: int) -> float:
    """Return ``rate / among``: by the union bound the whole errs with probability at most ``rate``, whatever the dependence.

    >>> share(0.01, 4)
    0.0025
    """
    probability("rate", rate)
    if among < 1:
        raise ValueError(f"among must be at least 1, got {among!r}: there is nothing to share the error rate over")
    return rate / among


def share_over(rate: float, instances: Mapping[str, int]) -> dict[str, float]:
    """Return for each claim the error rate of one of its instances: ``rate / claims / instances of the claim``.

    >>> share_over(0.01, {"a": 1, "b": 5})
    {'a': 0.005, 'b': 0.001}
    """
    each = share(rate, len(instances))
    return {claim: share(each, count) for claim, count in instances.items()}


def holm(p_values: Sequence[float], rate: float) -> tuple[bool, ...]:
    """Return which hypotheses are rejected at family-wise error ``rate`` (Holm 1979: the i-th smallest p against rate/(m-i+1)).

    >>> holm([0.001, 0.02, 0.04, 0.5], 0.05)
    (True, False, False, False)
    """
    probability("rate", rate)
    for index, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{index}] = {p!r} must lie between 0 and 1")
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] > rate / (len(p_values) - rank):
            break
        rejected[index] = True
    return tuple(rejected)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the evidence, after ``fraction`` of the budget, with the error rates it may spend."""

    fraction: float
    contract: Contract


def looks(contract: Contract, fractions: Sequence[float] = DEFAULT_FRACTIONS, *, power: float = 0.5) -> tuple[Look, ...]:
    """Return the schedule of looks: after a fraction t of the budget, ``rate * t**power`` of each error rate may have been spent.

    ``fractions`` must increase to 1.  Each look gets the increment, so the rates sum to those of ``contract``.

    >>> [round(look.contract.false_refute_rate, 6) for look in looks(Contract(false_refute_rate=0.001))]
    [0.00025, 0.00025, 0.0005]
    """
    steps = [0.0, *fractions]
    if len(steps) < 2 or any(later <= earlier for earlier, later in itertools.pairwise(steps)) or steps[-1] != 1:
        raise ValueError(f"fractions must increase and end at 1, got {list(fractions)}")
    if not power > 0:
        raise ValueError(f"power must be positive, got {power!r}")
    schedule = []
    for earlier, later in itertools.pairwise(steps):
        spent = later**power - earlier**power
        rates = {"false_refute_rate": contract.false_refute_rate * spent, "false_support_rate": contract.false_support_rate * spent}
        schedule.append(Look(later, replace(contract, **rates)))
    return tuple(schedule)
