"""What can be measured of projections.

annealed   The error gap of a student with random signs, nearly without noise: the generator's average of its error is an
           integral
cumulants  How Gaussian the projections of generated data are: cumulants of the local fields lambda and nu, averaged over
           generators
errors     The prediction error of students of erf units on generated data, and its distance from the formula of Gaussian fields
"""
