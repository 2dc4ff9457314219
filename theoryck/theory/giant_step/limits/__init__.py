"""What the first steps of large batches do as d grows.

one_step  The overlap after one step and its 1/d term; two steps on fresh batches
reuse     Two steps on the same batch
spiked    Ridge regression with the features after one step: the complete system of equations
"""
