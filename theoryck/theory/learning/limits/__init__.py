"""Limits of learning.

channels   Output channels of the generalised linear model, and sign labels, on grids of floats
glm        The replica formula of the generalised linear model: overlap, Bayes error, free entropy, mutual information
linear     Limits for the linear readout: information and error of the linear model, and what the depth of a linear network changes
nonlinear  Limits of I^(1) - I^(0) (total, nats) for one hidden layer of a nonlinear odd phi and a linear readout
"""
