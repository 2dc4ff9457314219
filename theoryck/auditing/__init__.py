"""Audits: what rate do measured sizes, values and error bars support?  The contract of the judge, for anyone's data.

tables      measurements in CSV, TSV and JSON lines; which column is what
columns     measurements given from Python: arrays, lists, a DataFrame
points      one estimate for each set of sizes, with its error bar
directions  the path or the lines of a grid along which sizes grow, and the fit of a grid as a whole
audit       what is declared, and the verdict
"""

from theoryck.auditing.audit import DEFAULT_WITHIN, audit, audit_rows

__all__ = ["DEFAULT_WITHIN", "audit", "audit_rows"]
