"""The files that ``theoryck new`` writes: one for each kind of statement, and one about a deep network.

Each runs as it is and comes out SUPPORTED with its rivals rejected, within about five seconds under the profile quick.  The
statements in words do not repeat what a line marked EDIT claims, so that after one edit they are still true of the claim.
``$name`` is the claim's id, ``$function`` for the name of its function.
"""

from __future__ import annotations

from string import Template

BOUND = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x ~ N(0, I_d / d).
"""

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def deviation(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    x = rng.standard_normal((draws, d))  # EDIT: what is random
    return abs((x**2).mean(axis=1) - 1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E | |x|^2 - 1 | decays at least like the claimed rate"""  # EDIT: the statement, as reports show it
    return tc.Bound(
        deviation,
        rate="d**(-1/2)",  # EDIT: the claimed rate; try "d**(-3/4)", which is false
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=["d**(-1)"],  # a faster rate that the same draws must reject
    )
'''

SCALING = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   z_1, ..., z_d independent, each uniform on [0, 1].
"""

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def gap(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    z = rng.random((draws, d))  # EDIT: what is random
    return 1 - z.max(axis=1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E (1 - max_i z_i) follows the claimed power of d, no faster and no slower"""  # EDIT: the statement, as reports show it
    return tc.Scaling(
        gap,
        exponent=-1,  # EDIT: the claimed power of d; try "-1/2", which is false
        constant=1,  # EDIT: the claimed factor before it; leave the line out if none is claimed
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=["-3/4", "-5/4"],  # other powers that the same draws must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

LIMIT = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x ~ N(0, I_d).
"""

import math

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def norm(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    x = rng.standard_normal((draws, d))  # EDIT: what is random
    return abs(x).mean(axis=1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E |x|_1 / d tends to the claimed value as d grows"""  # EDIT: the statement, as reports show it
    return tc.Limit(
        norm,
        value=math.sqrt(2 / math.pi),  # EDIT: the claimed limit; try 0.75, which is false
        tolerance=0.01,  # how far from the limit still counts as equal
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=[0.7, 0.9],  # other limits that the same draws must reject
    )
'''

LAW = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   e_1, ..., e_d independent, each exponential with mean 1.
"""

from scipy.stats import norm

import theoryck as tc


@tc.quantity(cost=lambda sizes: 1)  # random numbers a draw takes; EDIT: d of them, sizes["d"], for a sample of d
def sum_of_errors(rng, draws, *, d):
    """Return an array of `draws` independent numbers: their law is what the claim is about."""
    total = rng.standard_gamma(d, draws)  # EDIT: what is random; e_1 + ... + e_d itself has the law Gamma(d)
    return (total - d) / d**0.5  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """(e_1 + ... + e_d - d) / sqrt(d) tends to the claimed law, at the claimed rate"""  # EDIT: the statement, as reports show it
    return tc.Law(
        sum_of_errors,
        distribution=norm(0, 1),  # EDIT: the claimed law, any continuous one of scipy.stats
        rate="1/d",  # EDIT: of the SQUARED distance of the laws; try "1/d**2", which is false
        along=tc.ScalingPath(d=tc.doubling(8, 128)),  # the sizes that are measured
        rivals=["1/d**3"],  # a faster rate that the same draws must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

IDENTITY = '''\
"""$name: a conjecture.  EDIT: write here what the letters mean.

Setting.   Z ~ N(0, 1),  sigma_1 = E phi(Z)^2,  rho_1 = E phi'(Z).
"""

import theoryck as tc


@tc.conjecture("$name")
def $function():
    """rho_1 = 1 - sigma_1"""  # EDIT: the statement, as reports show it
    phi = tc.Activation("tanh(x)")  # EDIT: the activation, a formula in x; try "atan(x)", for which it is false
    return tc.Identity(
        tc.networks.rho(phi, 1),  # EDIT: the left-hand side
        1 - tc.networks.sigma(phi, 1),  # EDIT: the right-hand side
        rivals=[0.6],  # another value that must be excluded
    )
'''

NETWORK = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x_0 ~ N(0, I/d),  x_l = phi(W_l x_{l-1}) / sqrt(d),  entries of W_l iid N(0, 1),  l = 1, ..., depth.
"""

from hypothesis.strategies import integers, sampled_from

import theoryck as tc


@tc.conjecture("$name")
@tc.for_all(phi=sampled_from(tc.activations.smooth_odd), depth=integers(1, 3))  # EDIT: for which networks
def $function(phi, depth):
    """E (|x_L|^2 - sigma_L)^2 decays at least like the claimed rate"""  # EDIT: the statement, as reports show it
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(
        tc.norm_deviation(network, power=2),  # EDIT: the quantity; see `theoryck measure --help`
        rate="1/d",  # EDIT: the claimed rate; try "d**(-5/4)", which is false
        along=tc.ScalingPath(d=tc.doubling(16, 1024), width="d", input_dim="d"),  # the sizes that are measured
        rivals=["d**(-3/2)"],  # a faster rate that the same evidence must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

TEMPLATES = {"bound": BOUND, "scaling": SCALING, "limit": LIMIT, "law": LAW, "identity": IDENTITY, "network": NETWORK}


def filled(kind: str, name: str, function: str) -> str:
    """Return the file of a kind for a claim of that name.

    >>> [line for line in filled("law", "max-gap", "max_gap").splitlines() if "max" in line][1:]
    ['@tc.conjecture("max-gap")', 'def max_gap():']
    """
    return Template(TEMPLATES[kind]).substitute(name=name, function=function)
