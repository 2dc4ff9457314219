"""Audits: what rate do measured sizes, values and error bars support?  The contract of the judge, for anyone's data.

tables      measurements in CSV, TSV, Markdown and JSON; which column is what
rows        the header and the rows of cells in a stream of text
cells       how numbers are written, and to how many digits they are known
selecting   which rows are meant, and which of them are replicates
columns     measurements given from Python: arrays, lists, a DataFrame
points      one estimate for each set of sizes, with its error bar
floors      where values without noise stop falling
directions  the path or the lines of a grid along which sizes grow, and the fit of a grid as a whole
grids       what the lines of a grid share: one factor in stated errors, and the constants of a rate with several terms
limits      limits of one size, claimed or unknown, and loss laws of several
orders      what is special about orders of methods without noise
declared    what is declared before the data are looked at
audit       the verdict
"""

from theoryck.auditing.audit import audit, audit_rows
from theoryck.auditing.declared import DEFAULT_WITHIN

__all__ = ["DEFAULT_WITHIN", "audit", "audit_rows"]
