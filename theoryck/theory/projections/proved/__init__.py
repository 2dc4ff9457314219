"""Proved values of projections.

radial  Exact route for aligned weights: given the length r = |c| the coordinates sigma(r u_i) are independent
series  Exact route for projections: cumulants averaged over the sphere by Mehler's formula and closed moments of inner products
"""
