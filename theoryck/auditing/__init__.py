"""Audits: what rate do measured sizes, values and error bars support?  The contract of the judge, for anyone's data."""

from theoryck.auditing.audit import DEFAULT_WITHIN, audit, audit_rows

__all__ = ["DEFAULT_WITHIN", "audit", "audit_rows"]
