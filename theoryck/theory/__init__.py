"""The mathematics under study, a folder a subject: its model, its limits, its proved values, its draws, what can be measured of it.

A subject is any folder here; its public names are loaded on first use, from ``theoryck.theory.<subject>`` or
``theoryck.<subject>``.

    convolutions  Shallow convolutional and locally connected networks with finitely many channels: saddles, exact averages
    covariates    The Gaussian covariate model: errors of ridge, square-loss and logistic regression
    dynamics      Online learning in time: equations for order parameters, and runs
    equivalence   Random features and their Gaussian equivalent
    giant_step    One step with a large batch, a second one, and ridge regression with the features it leaves
    hermite       Hermite expansions of feature maps, and means of products over a Gaussian pair
    learning      Teacher and student: information, free entropy and errors of networks and of their equivalent linear model
    networks      Deep random networks: widths and sizes, constants, moments of norms and overlaps
    one_pass      One-pass SGD of a neuron: the chain of its overlaps, medians of hitting times, their limits
    projections   One-dimensional projections of generated data, and the errors of students on them
    regressogram  Regression of a Hoelder function of one variable: the regressogram from above, a prior on bumps from below
    renormalisation  Bayesian networks of finite widths: effective action, saddle and predictor; linear networks exactly
    ridge         Ridge regression with kernels and random features: deterministic equivalents, power laws, the sphere
    spectra       Spectra of Wishart matrices and conjugate kernels: laws, resolvents, deterministic equivalents
    weak_recovery  Weak recovery of multi-index models by the best algorithm: thresholds, state evolution, the spectral method
    wide          Wide networks: the kernels of infinite width (NNGP, NTK), and what a finite width adds to kernels and outputs
"""
