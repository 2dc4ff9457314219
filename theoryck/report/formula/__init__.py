"""Formulas for pages and papers: statements, rates and predictions as MathML or LaTeX.

A statement is the line in which a claim is made, prose and mathematics mixed; a rate is the small language of ``rate=``; a
prediction says what a claim expects of its quantity.  Nothing here raises on any text: what cannot be read as a formula is shown
as it was written, escaped.
"""

from theoryck.report.formula.writing import latex, mathml, prediction_latex, prediction_mathml, rate_latex, rate_mathml

__all__ = ["latex", "mathml", "prediction_latex", "prediction_mathml", "rate_latex", "rate_mathml"]
