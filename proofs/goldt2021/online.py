"""Online learning on inputs of a generator: equations for every eigenvalue of the inputs' covariance (Goldt et al. 2021).

Setting.   A student sum_k v^k g(lambda^k) on x = G(c), a teacher sum_m v~^m g(nu^m) on c; a fresh sample a step; t = steps/N,
           delta = D/N.  Omega = E x x^T with eigenvalues rho and eigenvectors psi of norm sqrt(N), Phi = E x c^T; q(rho), r(rho),
           t~(rho) are the mean products of Gamma^k = w^k . psi/sqrt(N) and W^m = w~^m . Phi^T psi/sqrt(N).
Claim.     As N -> infinity, with h the Gaussian means of theoryck.theory.dynamics.limits,
               dr^{km}/dt = -eta v^k {rho sum_{j != k} v^j [r^{km} h1^{kj} + r^{jm} h2^{kj}] + rho v^k r^{km} h3^k
                                      - sum_n v~^n [rho r^{km} h4^{kn} + t~^{nm} h5^{kn}/sqrt(delta)]},
               dq^{kl}/dt = the same with q, and r^{ln} for t~, plus (k <-> l), plus eta^2 rho v^k v^l h6^{kl}:
           the generator enters through Omega and Phi alone.
Words changed.  The slides of Goldt et al. (2021) have v^j rho r^{jm} h2 inside rho sum [...] of dr, one rho too many; in dr they
           have v~^n h5/sqrt(delta) without t~^{nm}(rho); and eta^2 gamma v v h6 in dq, with a gamma that is not defined and must be
           rho.  eg is half of their pmse.
Measured.  Runs with two eigenvalues and Gaussian inputs; inputs of random generators of one and of two layers.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import (
    OnlineTask,
    OrderParameters,
    generated_error,
    one_layer,
    online_order,
    online_variance,
    trajectory,
)

from . import GOLDT2021

RHO = np.array([0.4, 1.6])
TEACHERS = np.array([[[0.5, 0.1], [0.1, 0.9]], [[1.5, 0.5], [0.5, 1.5]]])  # w~ w~^T in the two eigenspaces
TASK = OnlineTask(TEACHERS.mean(axis=0), [1, 1], 0.6, eigenvalues=RHO, overlaps=RHO[:, None, None] * TEACHERS)
START = OrderParameters(
    q=[[[0.3, 0.02], [0.02, 0.35]], [[0.4, 0.1], [0.1, 0.5]]],
    r=[[[0.2, -0.1], [0.0, 0.15]], [[0.3, 0.1], [-0.2, 0.25]]],
    v=[0.7, 0.5],
)
TIMES = (1, 3)
sizes = tc.ScalingPath(N=(16, 32, 64))


def whitened():
    """The task and the start with the same Q, R and T, but one eigenvalue 1."""
    Q, R = TASK.summed(START.q, START.r)
    return OnlineTask(TASK.T, [1, 1], TASK.rate), OrderParameters(Q, R, START.v)


@tc.theorem("goldt2021/online-error", GOLDT2021)
def error_on_a_spectrum():
    """eg at t = 1, 3 (mean) -> the corrected equations, two eigenvalues of the inputs, K = M = 2, both layers trained"""
    value = float(trajectory(TASK, START, TIMES).eg.mean())
    white = float(trajectory(*whitened(), TIMES).eg.mean())
    return tc.Limit(online_order(TASK, START, TIMES), sizes, value=value, rivals=[white, 2 * value], tolerance=0.003, correction=1)


@tc.theorem("goldt2021/online-order-parameters", GOLDT2021)
@tc.for_all(read=sampled_from([("Q", (0, 0)), ("Q", (0, 1)), ("R", (0, 0)), ("R", (1, 1))]))
def order_parameters_on_a_spectrum(read):
    """Q and R at t = 3 -> the corrected equations, two eigenvalues of the inputs, K = M = 2, both layers trained"""
    what, entry = read
    values = [float(getattr(trajectory(*setting, [3]), what)[(0, *entry)]) for setting in ((TASK, START), whitened())]
    measured = online_order(TASK, START, [3], what, entry)
    return tc.Limit(measured, sizes, value=values[0], rivals=[values[1]], tolerance=0.008, correction=1)


@tc.conjecture("goldt2021/online-scatter", GOLDT2021)
@tc.for_all(read=sampled_from([("R", (0, 0)), ("eg", ())]))
def scatter_on_a_spectrum(read):
    """E (order parameter of a run - equations)^2 ~ 1/N at t = 1, 3 (mean), two eigenvalues of the inputs: by N^(-1/2)"""
    return tc.Scaling(
        online_variance(TASK, START, TIMES, *read),
        tc.ScalingPath(N=tc.doubling(8, 128)),
        exponent=-1,
        rivals=["-1/2", -2],
        correction=1,
    )


@tc.theorem("goldt2021/online-generator", GOLDT2021)
@tc.for_all(generator=sampled_from([("erf(x)", 1), ("relu(x)", 1), ("2*sin(2*x)", 0.5)]))
def one_layer_generator(generator):
    """eg at t = 1, 4 (mean) -> the equations with the law of Marchenko and Pastur: x = sigma(F c), K = M = 2, an informed start"""
    sigma, delta = generator
    options = {"spread": 0.5, "aligned": (0.5, 0.2), "v": (1.0, 1.0)}
    task, start = one_layer(sigma, delta, 0.3, units=2, **options)
    values = trajectory(task, start, [0.001, 1, 4]).eg
    value, begin = float(values[1:].mean()), float(values[0])
    along = tc.ScalingPath(N=(8, 16, 32), D=f"{delta}*N")
    measured = generated_error(sigma, (1, 4), 0.3, **options)
    return tc.Limit(measured, along, value=value, rivals=[begin, 2 * value], tolerance=value / 10, correction=1)


@tc.theorem("goldt2021/online-deep-generator", GOLDT2021)
def deep_generator():
    """eg at t = 1, 4 (mean) - equations with the linearised covariances -> 0: x = erf(F_2 erf(F_1 c)), drawn generators"""
    options = {"spread": 0.5, "aligned": (1.0, 0.5), "v": (1.0, 1.0)}
    gap = generated_error("erf(x)", (1, 4), 0.3, 2, **options, against_equations=True)
    return tc.Limit(gap, tc.ScalingPath(N=(8, 16, 32), D="N"), value=0, rivals=[0.05, -0.05], tolerance=0.02, correction=1)
