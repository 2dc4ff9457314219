"""Proved values of networks.

closed_forms  Moments of the Gram chain in closed form: linear networks, one sine layer, polynomial and one-kink activations
constants     The constants of a deep network: sigma_l, rho_l, eps_l, eta_0 and gamma_0, as balls pushed through the recursion
moments       Exact moments of the Gram chain of a deep random network: norms and overlaps at finite widths
series        Expansion of moments of the Gram chain in inverse widths: graded polynomials and one exact conditional step
"""
