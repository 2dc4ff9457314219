"""Kernels of networks with finitely many channels (Novak et al. 2019).

Setting.   k(x, x') is the covariance of the output given the filters, (1/(N_c N_p)) sum_{c,i} phi(w_c.x_i) phi(w_c.x'_i), with all
           pairs of patches where the readout is pooled.  K is the same for infinitely many channels.
Claim.     k -> K (Novak et al. 2019).
Truth.     One layer: a mean of N_c independent terms of mean K.  Two layers on a ring of patches: E k - K = b/N_c.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.convolutions import patch_kernel, second_layer_bias

from . import NOVAK2019

PAIR = (((1, 0.5), (-0.5, 1), (0.25, -1)), ((0.5, 1), (-1, 0.75), (0.5, -0.5)))
path = tc.ScalingPath(channels=(4, 8, 16, 32, 64))
activations = sampled_from(["x", "erf(x)", "relu(x)", "tanh(2*x) + x/3"])
networks = sampled_from(["cnn", "lcn"])


@tc.theorem("novak2019/kernel-mean", NOVAK2019)
@tc.for_all(phi=activations, network=sampled_from(["cnn", "lcn", "pooled"]))
def mean(phi, network):
    """E k = K at N_c = 3 with one hidden layer, whatever is shared"""
    kernel = patch_kernel(phi, PAIR, network, power=1, about=0.0)

    @tc.quantity(cost=lambda sizes: 60, name=f"k at three channels, {network}, {phi}")
    def drawn(rng, draws):
        return kernel.draw(rng, draws, {"channels": 3})

    value = kernel.limit
    return tc.Identity(drawn, value, tolerance=abs(value) / 20, rivals=[1.2 * value, 0.8 * value])


@tc.theorem("novak2019/kernel-fluctuations", NOVAK2019)
@tc.for_all(network=networks)
def fluctuations(network):
    """E (k - K)^2 ~ V/N_c for linear units, V by Isserlis' theorem: larger where filters are shared"""
    kernel = patch_kernel("x", PAIR, network)
    value = float(kernel.exact({"channels": 1}))
    return tc.Scaling(kernel, path, exponent=-1, constant=value, rivals=["-1/2", -2], correction=1)


@tc.theorem("novak2019/kernel-fluctuations-nonlinear", NOVAK2019)
@tc.for_all(phi=sampled_from(["erf(x)", "relu(x)", "tanh(2*x) + x/3"]), network=networks)
def fluctuations_nonlinear(phi, network):
    """E (k - K)^2 = O(1/N_c), and not faster"""
    return tc.Bound(patch_kernel(phi, PAIR, network), rate="1/channels", along=path, rivals=["channels**(-3/2)"], correction=1)


@tc.theorem("novak2019/two-layers", NOVAK2019)
@tc.for_all(phi=sampled_from(["erf(x)", "relu(x)"]), width=sampled_from([1, 2]))
def two_layers(phi, width):
    """E k - K = O(1/N_c) with two convolutional layers, N_c channels in the first: not 0, and not faster"""
    bias = second_layer_bias(phi, PAIR, width)
    # Draws scatter as N_c^(-3/2): most is learnt from many channels, where the next order is small:
    # a third of the bias of relu at 8.
    along = tc.ScalingPath(channels=tc.doubling(16, 256))
    return tc.Bound(bias, rate="1/channels", along=along, rivals=["channels**(-2)"], correction=1, within=0.05)


@tc.theorem("novak2019/pooling", NOVAK2019)
@tc.for_all(phi=activations)
def pooling(phi):
    """the kernel of a pooled network is the mean over all pairs of patches (times N_p), that of a dense readout over equal ones"""
    pooled, dense = patch_kernel(phi, PAIR, "pooled", power=1, about=0.0), patch_kernel(phi, PAIR, "cnn").limit

    @tc.quantity(cost=lambda sizes: 60, name=f"k at three channels, pooled, {phi}")
    def drawn(rng, draws):
        return pooled.draw(rng, draws, {"channels": 3})

    return tc.Identity(drawn, pooled.limit, tolerance=abs(pooled.limit - dense) / 5, rivals=[dense])
