"""What the mutual information is, and what a Bayes-optimal student must satisfy (Camilli et al. 2025).

Identity.  I_n = -E log Z + n E log P_out = -n f_n - (n/2) log(2 pi e Delta) for Gaussian noise.
Sandwich.  With linear readout Y ~ N(0, K_W + Delta) given the inner weights, so that
           E log det(1 + K_W/Delta)/2  <=  I_n  <=  E log det(1 + E[K_W | X]/Delta)/2  <=  (n/2) log(1 + sigma_L/Delta).
Nishimori. The teacher is a sample of the posterior: a statistic of posterior sample and data has the mean it has at the teacher.
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import free_entropy, mutual_information, nishimori_defect
from theoryck.theory.networks import sigma

from . import CAMILLI2025

activations = sampled_from([tc.activations.erf, tc.activations.tanh])
noises = sampled_from([0.2, 0.5, 2])


def setting(phi, width="d", samples="n", noise=0.5, depth=1):
    network = tc.DeepNetwork(phi, depth=depth, widths=(width,) * (depth + 1))
    return tc.TeacherStudent(network, samples=samples, noise=noise)


@tc.theorem("camilli2025/information-identity", CAMILLI2025)
@tc.for_all(phi=activations, noise=noises)
def information_identity(phi, noise):
    """f_n = -I_n/n - log(2 pi e Delta)/2: free entropy of drawn data against the exact information of the linear model"""
    linear_model = setting(phi, width=12, samples=18, noise=noise)
    information = float(mutual_information(linear_model, equivalent=True).exact({}, 20))
    value = -information / 18 - 0.5 * math.log(2 * math.pi * math.e * noise)
    sampler = free_entropy(linear_model, equivalent=True).sampler({})

    @tc.quantity(cost=lambda sizes: sampler.cost)
    def drawn(rng, draws):  # the route that draws data, alone: the exact one is on the right side
        return sampler(rng, draws)

    # -I_n/n without the entropy of the noise, and with log(2 pi Delta): the two ways to get the identity wrong
    wrong = [-information / 18, value + 0.5]
    return tc.Identity(drawn, value, rivals=wrong, tolerance=0.002)


@tc.theorem("camilli2025/one-sample-identity", CAMILLI2025)
@tc.for_all(phi=activations)
def one_sample_identity(phi):
    """f_1 = -I_1 - log(2 pi e Delta)/2 for one sample of a network: annealed evidence against characteristic functions"""
    network = setting(phi, width=8, samples=1)
    information = float(mutual_information(network).exact({}, 20))
    value = -information - 0.5 * math.log(math.pi * math.e)
    linear = float(mutual_information(network, equivalent=True).exact({}, 20))
    return tc.Identity(free_entropy(network), value, rivals=[value + linear], tolerance=0.005)


@tc.theorem("camilli2025/information-upper", CAMILLI2025)
@tc.for_all(phi=activations, noise=sampled_from([0.5, 2]))
def information_upper(phi, noise):
    """I_n <= (n/2) log(1 + sigma_1/Delta) at n = d: no data carry more than independent ones"""
    most = 0.5 * math.log(1 + float(sigma(phi, 1).exact({}, 20)) / noise)
    information = mutual_information(setting(phi, noise=noise))
    return tc.Bound(information, rate="n", along=tc.ScalingPath(d=(4, 8, 16), n="d"), constant=most, rivals=["n/2"])


@tc.theorem("camilli2025/information-lower", CAMILLI2025)
@tc.for_all(phi=activations)
def information_lower(phi):
    """E log det(1 + K_W/Delta)/2 <= I_n at n = d: who is told the inner weights has less to learn (to 0.05 nats)"""
    information = mutual_information(setting(phi))

    @tc.quantity(cost=lambda sizes: 2 * information.cost(sizes))
    def one_plus_difference(rng, draws, *, d, n):
        told = np.empty(draws)
        for index in range(draws):
            x = rng.standard_normal((32, d, n)) / math.sqrt(d)
            hidden = phi(rng.standard_normal((32, d, d)) @ x)
            gram = np.swapaxes(hidden, 1, 2) @ hidden / d
            told[index] = 0.5 * np.linalg.slogdet(np.eye(n) + 2 * gram)[1].mean()
        return 1 + told - information.sampler({"d": d, "n": n})(rng, draws)[:, 0]

    return tc.Bound(one_plus_difference, rate="1 + n/10**6", along=tc.ScalingPath(d=(4, 8, 12), n="d"), constant=1, rivals=["1/4"])


@tc.theorem("camilli2025/nishimori", CAMILLI2025)
@tc.for_all(phi=activations, statistic=sampled_from(["likelihood", "residual", "alignment", "power"]))
def nishimori(phi, statistic):
    """E q(theta_k; D) = E q(theta*; D) along a posterior chain from the teacher, at n = d = 8"""
    defect = nishimori_defect(setting(phi, width=8, samples=8), statistic)
    # in nats for the likelihood, whose standard deviation is near 1, in units of Y^2 for the others
    tolerance = 0.1 if statistic == "likelihood" else 0.03
    return tc.Identity(defect, 0, rivals=[-2 * tolerance, 2 * tolerance], tolerance=tolerance)
