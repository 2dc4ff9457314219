"""What is proved of an instance for every size, where its quantity offers a certificate and the profile allows the time.

Whether a certificate is looked for depends on its declared cost, never on the clock, so that verdicts are the same everywhere.  It
changes no draw: rivals are rejected, and the slack is measured, on the same evidence as without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theoryck.claims.statements import Statement
from theoryck.proving.prove import CertificateRefused, proved
from theoryck.quantities import NoCertificate
from theoryck.records import Prediction, Proof, Scope


@dataclass(frozen=True, slots=True)
class Certified:
    """The scope of a certificate (None where there is none) and a flag where one was found and refused."""

    scope: Scope | None = None
    flag: str = ""


def certify(statement: Statement, parameters: Mapping[str, Any], prediction: Prediction, seconds: float) -> Certified:
    """Return what is proved of an instance in about so many seconds; nothing where it needs more or has no certificate."""
    cost = statement.measured().certificate_cost()
    if cost is None or cost > seconds:
        return Certified()
    try:
        return Certified(_from_the_first(statement, parameters, prediction).scope)
    except CertificateRefused as error:
        return Certified(flag=f"certificate refused: {error.reason}")
    except NoCertificate:
        return Certified()


def _from_the_first(statement: Statement, parameters: Mapping[str, Any], prediction: Prediction) -> Proof:
    """Prove from the smallest size of the path on, or from where the method would do: growth is claimed of large sizes."""
    try:
        return proved(statement, parameters, prediction=prediction)
    except NoCertificate as error:
        if error.start is None or prediction.constant is not None:
            raise
        return proved(statement, parameters, prediction=prediction, start=error.start)
