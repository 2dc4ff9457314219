"""Statements as data, and the claims that produce them.

A statement says what is measured, along which sizes and what is predicted: :class:`Identity`, :class:`Bound`, :class:`Scaling`,
:class:`Limit`, :class:`Law`.  A claim is a function that returns a statement, registered by :func:`theorem`,
:func:`conjecture` or :func:`falsehood` and generalised by :func:`for_all`.  Nothing is measured here.

    arguments   what the arguments of statements must be: quantities, paths, rates, numbers, constants as text
    claim       claims: functions that return a statement, registered with an id and a status, generalised over instances
    collecting  finding claims in files: under a folder named ``proofs`` and in ordinary test modules
    statements  statements as data: what is measured, along which sizes, and what is predicted
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "claim": (
            "Claim",
            "Reference",
            "conjecture",
            "describe",
            "describe_instance",
            "example",
            "falsehood",
            "for_all",
            "theorem",
            "written_about",
        ),
        "statements": ("Bound", "ClaimError", "Identity", "Law", "Limit", "Scaling", "Statement"),
    },
)
