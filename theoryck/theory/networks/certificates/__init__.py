"""Bounds of moments of norms that are proved for every size: the search for the numbers of a certificate, and their proofs.

The format, with the lemmas that lead from one number to the next, is that of :mod:`theoryck.records.certificates`.

bounds       Norm deviations: by which method, from one side or from both
cells        The variance map of a layer as power series on cells that cover the half-line, and inequalities proved on all of them
decimals     Decimal numbers of a certificate, rounded up
envelopes    How fast the square of an activation grows, and what follows
expansions   Norm deviations to the second order
layers       The numbers of one layer: searched in floats, proved in balls
moments      From the numbers of the layers to bounds of moments
norms        Certificates of norm deviations
overlaps     Certificates of overlaps of two inputs
polynomials  Norm deviations of polynomial activations, exactly
products     Norm deviations of activations with two slopes, such as relu
ranges       How large the square of an activation is: a bound for every real x
refusals     Why a bound has no certificate: where the exact value exceeds it, from where on the method would do
two_sided    Norm deviations from both sides
"""
