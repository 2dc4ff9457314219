"""Limits of learning.

channels   Output channels of the generalised linear model Y = f(eta_0 v.x + sqrt(gamma_0) xi) + sqrt(Delta) Z, and sign labels,
           on grids
glm        The replica formula of the generalised linear model: overlap, Bayes error, free entropy and mutual information in the
           limit
linear     Limits for the linear readout: information and error of the linear model, and what the depth of a linear network
           changes
nonlinear  Limits of I^(1) - I^(0) (total, nats) for one hidden layer of a nonlinear odd phi and a linear readout, n = 1 and n =
           alpha d_0
precise    The integrals of the generalised linear model to any number of digits, for values that floats cannot confirm
teacher    The limit of the generalised linear model that is equivalent to a teacher-student setting
"""
