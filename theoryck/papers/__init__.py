"""Papers: which of their theorems name a claim, and whether the numbers in their marks are those of the record.

scanning  LaTeX as theorems and marks are read from it: events with file and line, files that are read on the way
reading   one file of LaTeX: what means nothing to TeX taken out, arguments of commands
audit     theorems, claims and marks of a paper beside a record
"""
