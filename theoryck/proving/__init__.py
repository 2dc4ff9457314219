"""Proofs for every size: certificates that hold for all d >= d_0, and what one has to trust of them.

checker       Re-verifies a certificate from its record alone; imports flint and the standard library, and the module below
expectations  Gaussian expectations of an activation in proved balls, for the checker alone
"""
