"""Error rates shared over a session, looks that are paid for, and what every function of this room asks of its arguments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theoryck.records import Contract


def probability(name: str, value: float) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def column(name: str, data: Sequence[float] | float, length: int) -> np.ndarray:
    """Return positive finite numbers, one per size; one number alone stands for all of them."""
    made = np.broadcast_to(np.asarray(data, dtype=float), (length,)) if np.ndim(data) == 0 else np.asarray(data, dtype=float)
    if made.shape != (length,):
        raise ValueError(f"{name} must be one number or one per size ({length}), got shape {made.shape}")
    if not (np.isfinite(made) & (made > 0)).all():
        raise ValueError(f"{name} must be positive and finite, got {list(made)}")
    return made


DEFAULT_FRACTIONS = (1 / 16, 1 / 4, 1.0)


def share(rate: float, among: int) -> float:
    """Return ``rate / among``: by the union bound the whole errs with probability at most ``rate``, whatever the dependence.

    Raises ValueError unless the rate lies between 0 and 1 and ``among`` is at least 1.

    >>> share(0.01, 4)
    0.0025
    """
    probability("rate", rate)
    if among < 1:
        raise ValueError(f"among must be at least 1, got {among!r}: there is nothing to share the error rate over")
    return rate / among


def holm(p_values: Sequence[float], rate: float) -> tuple[bool, ...]:
    """Return which hypotheses are rejected at family-wise error ``rate`` (Holm 1979: the i-th smallest p against rate/(m-i+1)).

    >>> holm([0.001, 0.02, 0.04, 0.5], 0.05)
    (True, False, False, False)
    """
    _rates_of(p_values)
    rejected = [False] * len(p_values)
    while True:
        rates = holm_rates(rate, [1.0] * len(p_values), rejected)
        found = [p <= allowed for p, allowed in zip(p_values, rates)]
        if found == rejected:
            return tuple(rejected)
        rejected = found


def _rates_of(p_values: Sequence[float]) -> None:
    for index, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{index}] = {p!r} must lie between 0 and 1")


def holm_rates(rate: float, weights: Sequence[float], rejected: Sequence[bool], others: float = 0.0) -> tuple[float, ...]:
    """Return the error rate at which each hypothesis may be tested, those ``rejected`` so far being out of the way.

    ``rate * w_i / (sum of the weights of all that are not rejected)``, for rejected ones at least the rate they were rejected
    at; with equal weights ``rate / (m - R)``.  ``others`` is the weight of hypotheses that are not listed and not rejected.
    Repeated until nothing more is rejected it keeps the probability of any false rejection below ``rate``, whatever the
    dependence, for tests that are nested (what is rejected at a rate is rejected at every larger one): when the first true
    hypothesis is rejected, the weights of all true ones are still in the sum, so it was tested at ``rate * w_i / (sum over true
    hypotheses)`` at most, and the union bound over these gives ``rate`` (Holm 1979).  Raises ValueError for weights that are
    not positive or another number of them.

    >>> holm_rates(0.06, [1, 1, 1], [True, False, False])
    (0.03, 0.03, 0.03)
    """
    probability("rate", rate)
    if len(weights) != len(rejected):
        raise ValueError(f"weights and rejected must have the same length, got {len(weights)} and {len(rejected)}")
    for index, weight in enumerate(weights):
        if not weight > 0:
            raise ValueError(f"weights[{index}] = {weight!r} must be positive")
    left = others + sum(weight for weight, done in zip(weights, rejected) if not done)
    return tuple(rate * weight / max(left, weight) for weight in weights)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the evidence, after ``fraction`` of the budget, with the error rates it may spend.

    >>> first, *_ = looks(Contract(false_refute_rate=0.001))
    >>> first.fraction, round(first.contract.false_refute_rate, 6)
    (0.0625, 0.00025)
    """

    fraction: float
    contract: Contract


def looks(contract: Contract, fractions: Sequence[float] = DEFAULT_FRACTIONS, *, power: float = 0.5) -> tuple[Look, ...]:
    """Return the schedule of looks: after a fraction t of the budget, ``rate * t**power`` of each error rate may have been spent.

    ``fractions`` must increase to 1.  Each look gets the increment, so the rates sum to those of ``contract``.  Raises
    ValueError for other fractions, those so close that nothing is left to spend between them, or a power that is not positive.

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
        if spent <= 0:
            raise ValueError(
                f"fractions must lie further apart, got {earlier!r} and {later!r}: nothing could be spent at the second"
            )
        rates = {"false_refute_rate": contract.false_refute_rate * spent, "false_support_rate": contract.false_support_rate * spent}
        schedule.append(Look(later, replace(contract, **rates)))
    return tuple(schedule)
