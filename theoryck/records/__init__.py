"""Frozen leaf types that every room exchanges: values, predictions, evidence, judgements, results, reports.

Nothing here imports another room of theoryck or a numerical library, so a record can be read, judged again and rendered
again years later without measuring anything.  ``to_json`` gives plain ``dict``/``list``/``str``/``float`` data that follow the
schema ``theoryck/report/schema-v1.json``; ``from_json`` is its inverse.  Exact values travel as decimal strings.

    plain         records as JSON data, field by field
    values        verdicts and kinds, intervals, estimates, enclosures, brackets, measured points
    results       predictions, contracts, fitted curves, judgements and results of one instance
    reports       all results of a session, with what is written about their claims
    certificates  proofs of bounds for every size: the format, and what each of its inequalities asserts
    proofs        a claim at every size, with its certificate
    arguments     what functions of every room ask of their arguments; the numeric domain
"""

from theoryck.records.certificates import Certificate
from theoryck.records.proofs import Proof
from theoryck.records.reports import SCHEMA_VERSION, About, Report, gathered
from theoryck.records.results import Contract, Curve, Judgement, Prediction, Result, Rival, Route, Scope, Slope
from theoryck.records.values import (
    Bracket,
    Counts,
    Enclosure,
    Estimate,
    Interval,
    Kind,
    Point,
    Size,
    Status,
    Tightness,
    Toward,
    Verdict,
)

__all__ = [
    "SCHEMA_VERSION",
    "About",
    "Bracket",
    "Certificate",
    "Contract",
    "Counts",
    "Curve",
    "Enclosure",
    "Estimate",
    "Interval",
    "Judgement",
    "Kind",
    "Point",
    "Prediction",
    "Proof",
    "Report",
    "Result",
    "Rival",
    "Route",
    "Scope",
    "Size",
    "Slope",
    "Status",
    "Tightness",
    "Toward",
    "Verdict",
    "gathered",
]
