"""Proofs: a claim at every size, with the certificate that a checker accepted and what it says along the path of the claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from theoryck._renderers import show
from theoryck.records.certificates import Certificate
from theoryck.records.plain import SPARE, Record
from theoryck.records.results import Scope


@dataclass(frozen=True, slots=True)
class Proof(Record):
    """``quantity <= scope.constant * rate`` for every ``scope.base`` >= ``scope.start``, by a certificate that was checked.

    ``claim``, ``statement`` and ``instance`` say what it is a proof of; they are empty for a quantity alone.  ``rate`` is the
    claimed one, in the sizes of the ``path``; ``claimed`` is the constant that was claimed of it, None where only growth was.
    ``seconds`` are those that it took to find the certificate, and ``checked`` those of its check.

    >>> import theoryck as tc
    >>> proof = tc.prove(tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2))
    >>> proof.scope.base, proof.scope.start, proof.rate
    ('d', 1, 'd**(-1)')
    >>> Proof.from_json(proof.to_json()) == proof
    True
    """

    quantity: str
    rate: str
    scope: Scope
    certificate: Certificate
    path: Mapping[str, str] = field(default_factory=dict, metadata=SPARE)
    claim: str = field(default="", metadata=SPARE)
    statement: str = field(default="", metadata=SPARE)
    instance: Mapping[str, Any] = field(default_factory=dict, metadata=SPARE)
    claimed: float | None = field(default=None, metadata=SPARE)
    seconds: float = field(default=0.0, metadata=SPARE)
    checked: float = field(default=0.0, metadata=SPARE)

    def __str__(self) -> str:
        return show("derivation", self)

    def _repr_html_(self) -> str:
        return show("html", self)
