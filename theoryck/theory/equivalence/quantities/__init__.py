"""What can be measured of equivalence.

gaps     How far random features are from their Gaussian equivalent: second moments of the features, and test errors of ridge
         regression
readout  What a readout explains of a target when the first layer has learnt nothing of it: Var f* - E (f* - f)^2
"""
