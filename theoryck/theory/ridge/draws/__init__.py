"""Draws of ridge.

design  Ridge regression drawn: a kernel of finitely many eigenvalues, or random features of it, on a Gaussian design
sphere  Kernel ridge regression on the sphere, drawn: n inputs, everything else integrated
"""
