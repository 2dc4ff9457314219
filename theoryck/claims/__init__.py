"""Statements as data, and the claims that produce them.

A statement says what is measured, along which sizes and what is predicted: :class:`Identity`, :class:`Bound`, :class:`Scaling`,
:class:`Limit`, :class:`Law`.  A claim is a function that returns a statement, registered by :func:`theorem`,
:func:`conjecture` or :func:`falsehood` and generalised by :func:`for_all`.  Nothing is measured here.
"""

from theoryck.claims.claim import (
    Claim,
    Reference,
    conjecture,
    describe,
    describe_instance,
    example,
    falsehood,
    for_all,
    theorem,
    written_about,
)
from theoryck.claims.statements import Bound, ClaimError, Identity, Law, Limit, Scaling, Statement

__all__ = [
    "Bound",
    "Claim",
    "ClaimError",
    "Identity",
    "Law",
    "Limit",
    "Reference",
    "Scaling",
    "Statement",
    "conjecture",
    "describe",
    "describe_instance",
    "example",
    "falsehood",
    "for_all",
    "theorem",
    "written_about",
]
