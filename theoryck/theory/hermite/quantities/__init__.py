"""What can be measured of hermite.

expansions  Hermite expansions of a feature map: coefficients, and how correlated two random directions are, degree by degree
pairs       Means of products f(u) g(v) over a Gaussian pair with correlation m, by Hermite coefficients and by drawing the pair
"""
