"""Draws of learning: samplers called as ``sampler(rng, draws)``, with their ``cost`` in units of 1/7e7 seconds.

chains             Nishimori identities of a network's posterior, tested along Markov chains that start at the teacher
deep_linear        Information and errors of deep linear networks with linear readout, and of their equivalent linear model
deep_linear_model  The deep linear teacher: its spectrum without X, its common scale without weights, data sets
evidence           Evidence of nonlinear networks with linear readout, from both sides, and the gap to the linear model
network_data       Data sets of networks with linear readout, what depends on the inputs alone, and which sets are selected
network_target     The posterior of a network's weights, readout vector integrated out, as a target of the annealing engine
readout            Evidence and Bayes errors for a readout f that is not linear, from both sides
readout_data       Data sets of networks and linear models with any readout, and their Gaussian sites
readout_target     Posteriors of networks and linear models with any readout, as targets of the annealing engine
regression         Generalisation of networks with linear readout: the base linear predictor, and the Bayes predictor
"""
