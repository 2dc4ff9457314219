"""Renderers of records: words are written here and nowhere else; a record is read, and nothing is measured or fitted.

claims      what became of each claim: its worst instance, how far it is from what was claimed, how sure all is
rows        one claim in one row: the words and numbers that every table of claims shows
paragraphs  one result in a paragraph
text        the terminal's text of a report
proofs      a proof for every size as a derivation, for a terminal and for an appendix
audits      the terminal's text of an audit
progress    the line of what is going on, and how an interrupted session goes on
layout      lines, columns and colours of a terminal
numbers     numbers as people read them
json        reports as JSON files, checked against schema-v1.json when they are read
targets     files that are written: none may replace what is read
markdown    a report in Markdown
latex       a report for an appendix: methods, table, sources
macros      the marks of a paper: numbers of claims for theoryck.sty
bibtex      the sources of a report
formula     statements, rates and predictions as MathML or LaTeX
html        the page, and records in a notebook
svg         pictures of a result for the page
plots       pictures by matplotlib, for papers
"""
