"""What is proved of an instance for every size, where its quantity offers a certificate and the profile allows the time.

Whether a certificate is looked for depends on its declared cost, never on the clock, so that verdicts are the same everywhere.  It
changes no draw: rivals are rejected, and the slack is measured, on the same evidence as without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theoryck.claims.statements import Statement
from theoryck.proving.prove import CertificateRefused, proved
from theoryck.quantities import NoCertificate
from theoryck.records import Prediction, Scope


@dataclass(frozen=True, slots=True)
class Certified:
    """The scope of a certificate (None where there is none) and a flag where one was found and refused."""

    scope: Scope | None = None
    flag: str = ""


def affordable(statements: Sequence[Statement], seconds: float) -> list[bool]:
    """Return of which instances of a claim the certificates may be looked for: the cheapest first, as long as the time allows.

    >>> import theoryck as tc
    >>> path = tc.ScalingPath(d=tc.doubling(16, 64), width="d", input_dim="d")
    >>> networks = [tc.DeepNetwork("tanh", depth=depth) for depth in (2, 1, 1)]
    >>> affordable([tc.Bound(tc.norm_deviation(network), rate="1/d", along=path) for network in networks], 0.5)
    [False, True, True]
    """
    costs = [statement.measured().certificate_cost() for statement in statements]
    found = [False] * len(costs)
    for cost, index in sorted((cost, index) for index, cost in enumerate(costs) if cost is not None):
        seconds -= cost
        found[index] = seconds >= 0
    return found


def certify(statement: Statement, parameters: Mapping[str, Any], prediction: Prediction) -> Certified:
    """Return what is proved of an instance; nothing where it has no certificate."""
    try:
        return Certified(proved(statement, parameters, prediction=prediction).scope)
    except CertificateRefused as error:
        return Certified(flag=f"certificate refused: {error.reason}")
    except NoCertificate:
        return Certified()
