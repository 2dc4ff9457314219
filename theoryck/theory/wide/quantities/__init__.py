"""What can be measured of wide.

kernels     Kernels of a wide network between two fixed inputs: exact at infinite width, drawn at finite width
output_law  The output f = a.x_L of a deep random network on one random input, a ~ N(0, I): its law, and how far it is from N(0,
            sigma_L)
"""
