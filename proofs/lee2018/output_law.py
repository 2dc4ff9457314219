"""The output of a wide network on one random input is Gaussian up to 1/width (Lee et al. 2018).

Setting.   x_0 ~ N(0, I/d_0),  x_l = phi(W_l x_{l-1})/sqrt(d_l),  f = a.x_L,  a ~ N(0, I), all widths d;  S_L = |x_L|^2.
           Its linear model is f = eta_0 v.x_0 + sqrt(gamma_0) xi (camilli2025), which has S = eta_0^2 |x_0|^2 + gamma_0.
Claim.     f -> N(0, sigma_L) in law.
Truth.     Given S_L the output is N(0, S_L), so that E f^2 - sigma_L ~ b_L/d, the excess kurtosis is 3 Var S_L/(E S_L)^2 ~
           3 v_L/(sigma_L^2 d), and int (G - F)^2 dF ~ C/d^2 with the constants of :mod:`theoryck.theory.wide.proved.output_law`.
           The linear model has 6 eta_0^4/(sigma_L^2 d): of the same order and not equal (erf, L = 1: 2.68 and 5.01).
"""

from hypothesis.strategies import integers, sampled_from
from scipy.stats import norm

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.networks import eta0, sigma
from theoryck.theory.wide import (
    norm_bias_limit,
    output,
    output_bias,
    output_cumulant,
    output_distance,
    output_distance_limit,
    output_kurtosis,
    output_kurtosis_limit,
)

from . import LEE2018

nonlinear = sampled_from([tc.activations.erf, tc.activations.tanh, tc.activations.sin, tc.activations.arctan])
any_activation = sampled_from([tc.activations.erf, tc.activations.tanh, tc.activations.relu, tc.activations.identity])


def path(first=16, last=256):
    return tc.ScalingPath(d=tc.doubling(first, last), width="d", input_dim="d")


def equal(depth):
    return (1,) * (depth + 1)


@tc.conjecture("lee2018/output-law", LEE2018)
@tc.for_all(depth=integers(2, 3))
def output_law(depth):
    """f -> N(0, 1) with squared L2 distance O(d^-2), phi(x) = x"""
    network = tc.DeepNetwork(tc.activations.identity, depth=depth)
    # S_L is a product of chi-squares: a draw costs as much at every width.  From the exact distances at d = 32 and 64, d^2 times
    # the distance is C (1 - 1.3/d) at depth 2 and C (1 - 1.9/d) at depth 3: at d = 4 within half of C.
    return tc.Law(output(network), path(4, 32), norm(), rate="d**(-2)", rivals=["d**(-4)"], correction=1, amplitude=0.5)


@tc.conjecture("lee2018/output-distance", LEE2018)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh, tc.activations.identity]))
def distance(phi):
    """int (G - F)^2 dF ~ C d^-2, G the law of f, F = N(0, sigma_1), L = 1: C = sqrt(3)/(72 pi) (B^2 - B V + 7 V^2/24)"""
    network = tc.DeepNetwork(phi, depth=1)
    constant = output_distance_limit(phi, equal(1))
    return tc.Scaling(output_distance(network), path(32, 256), exponent=-2, constant=constant, rivals=[-1, -3], correction=1)


@tc.conjecture("lee2018/output-kurtosis", LEE2018)
@tc.for_all(phi=any_activation, depth=integers(1, 3))
def kurtosis(phi, depth):
    """E f^4/(E f^2)^2 - 3 ~ 3 v_L/(sigma_L^2 d): the output of a finite network is not Gaussian to order 1/d"""
    network = tc.DeepNetwork(phi, depth=depth)
    constant = output_kurtosis_limit(phi, equal(depth))
    along = path(64, 4096)
    return tc.Scaling(output_kurtosis(network), along, exponent=-1, constant=constant, rivals=["-1/2", -2], within=0.01)


@tc.conjecture("lee2018/output-cumulant", LEE2018)
@tc.for_all(phi=any_activation, depth=integers(1, 2))
def cumulant(phi, depth):
    """E f^4 - 3 (E f^2)^2 ~ 3 v_L/d, drawn and exactly"""
    network = tc.DeepNetwork(phi, depth=depth)
    constant = float(output_kurtosis_limit(phi, equal(depth))) * float(sigma(phi, depth).exact({}, 20)) ** 2
    return tc.Scaling(output_cumulant(network), path(), exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1)


@tc.conjecture("lee2018/output-bias", LEE2018)
@tc.for_all(phi=nonlinear, depth=integers(1, 2))
def bias(phi, depth):
    """E f^2 - sigma_L ~ b_L/d, negative for these phi"""
    network = tc.DeepNetwork(phi, depth=depth)
    constant = norm_bias_limit(phi, equal(depth))
    return tc.Scaling(output_bias(network), path(16, 1024), exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1)


@tc.theorem("lee2018/output-bias-relu", LEE2018)
@tc.for_all(depth=integers(1, 3))
def no_bias_for_relu(depth):
    """E f^2 = sigma_L at every width for relu, where S -> E phi(sqrt(S) Z)^2 is linear"""
    network = tc.DeepNetwork(tc.activations.relu, depth=depth, widths=(6,) * (depth + 1))
    return tc.Identity(output_bias(network), 0, rivals=[0.01, -0.01], tolerance=0.002)


@tc.theorem("lee2018/linear-model-kurtosis", LEE2018)
@tc.for_all(phi=nonlinear, depth=integers(1, 3))
def linear_model(phi, depth):
    """The linear model has fourth cumulant 6 eta_0^4/d, drawn at d = 8"""
    network = tc.DeepNetwork(phi, depth=depth, widths=(8,) * (depth + 1))
    sampler = output_cumulant(network, equivalent=True).sampler({})

    @tc.quantity(cost=lambda sizes: 2)
    def drawn(rng, draws):  # the route that draws, alone: the exact one is on the right side
        return sampler(rng, draws)

    value = float((6 * eta0(phi, depth) ** 4 / 8).exact({}, 20))
    return tc.Identity(drawn, value, rivals=[value / 2, 2 * value], tolerance=value / 20)


@tc.conjecture("lee2018/linear-model-differs", LEE2018)
@tc.for_all(phi=nonlinear, depth=integers(1, 2))
def linear_model_differs(phi, depth):
    """Excess kurtosis of the linear model minus that of the network ~ (6 eta_0^4 - 3 v_L)/(sigma_L^2 d), which is not 0"""
    network = tc.DeepNetwork(phi, depth=depth)
    model, truth = output_kurtosis(network, equivalent=True), output_kurtosis(network)

    def difference(d):
        sizes = {"d": d, "width": d, "input_dim": d}
        return float(model.exact(sizes)) - float(truth.exact(sizes))

    name = f"kurtosis of the linear model - kurtosis, {phi.name}, depth {depth}"
    gap = formula(difference, name=name, sizes=("d",), relative_error=1e-8)
    constant = float((6 * eta0(phi, depth) ** 4 / sigma(phi, depth) ** 2).exact({}, 20)) - float(
        output_kurtosis_limit(phi, equal(depth))
    )
    return tc.Scaling(gap, path(64, 4096), exponent=-1, constant=constant, rivals=["-1/2", -2], within=0.01)
