"""What can be measured of networks.

constants  Constants of a network as exact quantities
moments    What norms and overlaps of a deep network share: the power, the activation's slope, names, costs
norms      E | |x_L|^2 - sigma_L |^k of a deep random network
overlaps   E | x_L(mu) . x_L(nu) |^k of a deep random network at two independent inputs
"""
