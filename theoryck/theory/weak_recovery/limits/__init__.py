"""What is known of weak recovery in the limit n = alpha d.

level_sets       Functions of one variable: the points and intervals on which they take a value
matrices         State evolution of the best algorithm, the matrix of overlaps of two indices with noise
maxima           The maximum of two indices: what is left once their sum is known
noisy            One index with Gaussian noise: sums over the indices that a label may come from
posterior        The law of what a label tells of the indices, as weighted nodes
posteriors       Which of the routes finds what a label tells
product_evolution  State evolution of products of up to three indices without noise, by transforms along log |y|
products         Monomials of Gaussians, by Mellin transforms
several          Several indices without a closed form: homogeneous links by angles, noisy ones on a grid, others by bins
spectral         The optimal spectral method: its outlier and its overlap
state_evolution  State evolution of the best algorithm, one overlap
thresholds       Thresholds alpha_c of weak recovery
"""
