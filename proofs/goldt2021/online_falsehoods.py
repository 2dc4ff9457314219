"""Falsified twins (Goldt et al. 2021, dynamical equations): the equations of online learning as the slides print them, and others.

Setting.   A student of K units on x = G(c), a teacher of M units on c, a fresh sample a step, t = steps/N, N -> infinity; q(rho),
           r(rho), t~(rho) by eigenvalue rho of E x x^T, as in online.py.  Each must be REFUTED.
Slips.     v^j rho r^{jm} h2 inside rho sum [...] of dr; v~^n h5/sqrt(delta) without t~^{nm}(rho) there; and eta^2 gamma v v h6 in
           dq, gamma undefined.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import generated_error, one_layer, online_means, online_order, trajectory

from . import GOLDT2021
from .online import START, TASK, TIMES, sizes, whitened

STEP = 0.02


def printed(times, *, extra_rho=False, without_overlap=False, gamma=None):
    """eg at the times by the equations with one slip of the slides, or none: Runge and Kutta's method of order 4, as they stand."""
    rho = TASK.eigenvalues

    def slope(q, r, v):
        h = online_means(TASK, *TASK.summed(q, r), v)
        dq, dr = np.zeros_like(q), np.zeros_like(r)
        for k in range(2):
            for j in range(2):
                # h3^k = h1^{kk} + h2^{kk}: the term j = k has no slip
                power = rho if extra_rho and j != k else 1.0
                dr[:, k] -= TASK.rate * v[k] * v[j] * (rho * (r[:, k].T * h.h1[k, j] + power * r[:, j].T * h.h2[k, j])).T
                dq[:, k] -= TASK.rate * v[k] * v[j] * (rho * (q[:, k].T * h.h1[k, j] + q[:, j].T * h.h2[k, j])).T
            for n in range(2):
                shared = np.ones((2, 2)) if without_overlap else TASK.overlaps[:, n]
                w = TASK.v_teacher[n]
                dr[:, k] += TASK.rate * v[k] * w * ((rho * r[:, k].T * h.h4[k, n]).T + shared * h.h5[k, n])
                dq[:, k] += TASK.rate * v[k] * w * ((rho * q[:, k].T * h.h4[k, n]).T + r[:, :, n] * h.h5[k, n])
        noise = rho if gamma is None else np.full(2, gamma)
        dq = dq + np.swapaxes(dq, 1, 2) + TASK.rate**2 * noise[:, None, None] * np.outer(v, v) * h.h6
        return dq, dr, -TASK.readout_rate * h.outputs

    state, errors = (START.q, START.r, START.v), {}
    for step in range(1, round(max(times) / STEP) + 1):
        slopes = [slope(*state)]
        for part in (0.5, 0.5, 1.0):
            slopes.append(slope(*(a + part * STEP * b for a, b in zip(state, slopes[-1]))))
        moves = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*slopes)]
        state = tuple(a + STEP * b for a, b in zip(state, moves))
        errors[round(step * STEP, 9)] = online_means(TASK, *TASK.summed(*state[:2]), state[2]).eg
    return float(np.mean([errors[time] for time in times]))


def against_runs(value, times=TIMES, rivals=()):
    measured = online_order(TASK, START, times)
    return tc.Limit(measured, sizes, value=value, rivals=rivals, tolerance=0.003, correction=1)


@tc.theorem("goldt2021/online-as-corrected", GOLDT2021)
def as_corrected():
    """The equations term by term, without a slip, by another integrator: what the falsehoods change is the slip alone"""
    return against_runs(printed(TIMES), rivals=[printed(TIMES, extra_rho=True), printed(TIMES, gamma=2.0)])


@tc.falsehood("goldt2021/online-extra-rho", GOLDT2021)
def extra_rho():
    """dr with v^j rho r^{jm} h2 inside rho sum_{j != k} [...], as the slides have it: one rho too many"""
    return against_runs(printed(TIMES, extra_rho=True))


@tc.falsehood("goldt2021/online-without-overlap", GOLDT2021)
def without_overlap():
    """dr with v~^n h5/sqrt(delta) and no t~^{nm}(rho), as the slides have it, at t = 1/2 and 1: later no fields have its Q, R"""
    return against_runs(printed((0.5, 1), without_overlap=True), (0.5, 1))


@tc.falsehood("goldt2021/online-gamma", GOLDT2021)
@tc.for_all(gamma=sampled_from([0.5, 2.0]))
def gamma_for_rho(gamma):
    """dq with eta^2 gamma v v h6, as the slides have it, gamma one number for all eigenvalues"""
    return against_runs(printed(TIMES, gamma=gamma))


@tc.falsehood("goldt2021/online-white", GOLDT2021)
def as_if_white():
    """eg depends on Q, R and T alone, whatever the spectrum of the inputs: the equations of Saad and Solla with the same start"""
    return against_runs(float(trajectory(*whitened(), TIMES).eg.mean()))


@tc.falsehood("goldt2021/online-pmse", GOLDT2021)
def whole_error():
    """eg of the equations is pmse, without 1/2"""
    return against_runs(2 * float(trajectory(TASK, START, TIMES).eg.mean()))


@tc.falsehood("goldt2021/online-generator-linear", GOLDT2021)
def generator_as_linear():
    """A student on x = 2 sin(2 F c) learns as on x = b F c: the noise c xi of the equivalent left out"""
    options = {"spread": 0.5, "aligned": (0.5, 0.2), "v": (1.0, 1.0)}
    _, b, _ = tc.dynamics.generator_coefficients("2*sin(2*x)")
    value = float(trajectory(*one_layer(f"{b!r}*x", 1.0, 0.3, units=2, **options), [1, 4]).eg.mean())
    measured = generated_error("2*sin(2*x)", (1, 4), 0.3, **options)
    return tc.Limit(measured, tc.ScalingPath(N=(8, 16, 32), D="N"), value=value, tolerance=value / 20, correction=1)
