"""Proved values of wide.

kernels     The kernels of an infinitely wide network between two inputs, as enclosures
output_law  The law of the output f = a.x_L of a wide random network on one random input, a ~ N(0, I): how far it is from N(0,
            sigma_L)
"""
