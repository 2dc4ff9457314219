"""Formulas for pages and papers: statements, rates and predictions as MathML or LaTeX.

A statement is the line in which a claim is made, prose and mathematics mixed; a rate is the small language of ``rate=``; a
prediction says what a claim expects of its quantity.  Nothing here raises on any text: what cannot be read as a formula is shown
as it was written, escaped.

    writing  text in, MathML or LaTeX out: the public functions, and the reader of rates
    reader   which pieces of a statement are prose and which mathematics
    parser   one formula as tokens, and the tokens as a tree
    tree     what a formula is made of
    symbols  the alphabet: letters, relations, functions
    mathml   a tree as MathML
    tex      a tree as LaTeX
"""

from theoryck.report.formula.writing import latex, mathml, prediction_latex, prediction_mathml, rate_latex, rate_mathml

__all__ = ["latex", "mathml", "prediction_latex", "prediction_mathml", "rate_latex", "rate_mathml"]
