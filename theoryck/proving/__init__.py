"""Proofs for every size: certificates that hold for all d >= d_0, and what one has to trust of them.

prove    A claim, a statement or a quantity at every size: its certificate, and what that says along the path
along    What a certificate in the smallest size says along a path
checker  Re-verifies a certificate from its record alone; imports flint and the standard library, nothing of theoryck
"""
