"""Draws of learning.

covariance           The covariances' part of the information gap: an upper bound of it, at any size, from kernels of the inputs
                     alone
deep_linear          Samplers of information quantities of deep linear networks with linear readout, and of their equivalent
                     linear model
deep_linear_errors   Samplers of generalisation errors of deep linear networks with linear readout, and of students who assume
                     another model
deep_linear_model    The deep linear teacher as plain numbers, and batches of data sets drawn from it in the eigenbasis of X^T X
deep_linear_scale    The law of the common scale t = prod_l chi^2_{d_l}/d_l of a deep linear network, on a grid of log t that
                     integrates exactly
deep_linear_spectra  The spectrum of X^T X without X: random bidiagonal matrices, pivots and eigenvalues, in O(min(n, d_0))
                     random numbers
evidence             Evidence of nonlinear networks with linear readout, from both sides: free entropy, mutual information, and
                     the gap to the GLM
evidence_model       Networks with linear readout: data sets, the Gaussian base measure N(Y; 0, C_B), and what depends on the
                     inputs alone
evidence_scalar      The scalar mode of a network, a guess of its density relative to N(Y; 0, C_B) that costs no path
evidence_selection   Which data sets the paths are spent on: chosen among many candidates, with weights that leave every mean as
                     it is
evidence_target      The posterior of a network's weights given its data, readout vector integrated out, as a target of the
                     annealing engine
readout              Samplers of what a student learns through a readout f that is not linear: evidence from both sides, and
                     differences of it
readout_data         Data sets of networks and linear models with any readout, drawn together from the same inputs, normals and
                     noise
readout_errors       Bayes errors E (Y_new - E[Y_new | D, x_new])^2 for any readout, from below and from above, by posterior
                     chains
readout_model        A teacher with any readout f as plain numbers: the network, the equivalent linear model, and the path
                     between them
readout_sites        Gaussian sites: for every sample a Gaussian in z that stands in for N(Y; f(z), Delta), from expectation
                     propagation
readout_target       Posteriors of networks and linear models with any readout f, as targets of the annealing engine
regression           Generalisation of networks with linear readout: the base linear predictor, against the equivalent
                     generalised linear model
regression_bayes     E (m_L - m_B)^2: how far the Bayes predictor of a network is from its base linear predictor, from both
                     sides
regression_chains    Nishimori identities of a network's posterior, tested along Markov chains that start at the teacher
"""
