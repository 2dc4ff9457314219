"""Runs of online gradient descent: the chain of order parameters against whole networks, exact means, refusals.

Statistical tests compare means at 5 standard errors: a right program fails one of them with probability 6e-7.
"""

import math

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.dynamics import (
    OnlineTask,
    OrderParameters,
    generated_error,
    linear_error,
    one_layer,
    online_bias,
    online_order,
    online_variance,
    trajectory,
)

RHO = np.array([0.5, 1.5])
GRAM = np.array([[[0.5, 0.1, 0.2], [0.1, 0.6, -0.1], [0.2, -0.1, 0.8]], [[0.4, 0.0, 0.1], [0.0, 0.5, 0.3], [0.1, 0.3, 1.2]]])
"""Inner products of (w^1, w^2, w~) in the two blocks, over their size."""

TASK = OnlineTask(1.0, 1, 0.8, eigenvalues=RHO, overlaps=RHO[:, None, None] * GRAM[:, 2:, 2:])
START = OrderParameters(GRAM[:, :2, :2], np.sqrt(RHO)[:, None, None] * GRAM[:, :2, 2:], [0.7, -0.3])


def whole_runs(rng, runs, n, steps):
    """Q, R, v after whole runs: vectors of n/2 coordinates in each block with the given Gram matrix, and x drawn whole."""
    half = n // 2
    weights = np.concatenate([np.linalg.cholesky(gram) @ np.eye(3, half) * math.sqrt(half) for gram in GRAM], axis=1)
    student, teacher = np.repeat(weights[None, :2], runs, axis=0), weights[2]
    scale = np.repeat(np.sqrt(RHO), half)
    v = np.repeat(START.v[None], runs, axis=0)
    g, slope = TASK.student, TASK.student.derivative()
    for _ in range(steps):
        c = rng.standard_normal((runs, n))
        x = scale * c
        local, taught = np.einsum("bki,bi->bk", student, x) / math.sqrt(n), c @ teacher / math.sqrt(n)
        delta = (v * g(local)).sum(axis=1) - g(taught)
        move = -TASK.rate / math.sqrt(n) * v * delta[:, None] * slope(local)
        v = v - TASK.readout_rate / n * delta[:, None] * g(local)
        student = student + move[:, :, None] * x[:, None, :]
    q = np.einsum("bki,i,bli->bkl", student, scale**2, student) / n
    return {"Q": q[:, 0, 1], "R": (student * scale) @ teacher / n, "v": v[:, 1]}


def test_the_chain_is_the_algorithm():
    """Means and variances of the chain are those of whole networks at N = 12, after 30 steps."""
    rng, runs, n, steps = np.random.default_rng(0), 20_000, 12, 30
    whole = whole_runs(rng, runs, n, steps)
    whole["R"] = whole["R"][:, 0]
    for what, entry in (("Q", (0, 1)), ("R", (0, 0)), ("v", (1,))):
        chain = online_order(TASK, START, [steps / n], what, entry).draw(rng, runs, {"N": n})
        for power in (1, 2):
            a, b = whole[what] ** power, chain**power
            assert abs(a.mean() - b.mean()) < 5 * math.sqrt((a.var() + b.var()) / runs), (what, power)


def test_the_default_overlaps_are_those_of_the_chain():
    """rho = .5, 1.5, no overlaps given: 400 runs at N = 1000 have the error of the equations."""
    task = OnlineTask(1, 1, 0.1, eigenvalues=RHO)
    start = OrderParameters(q=[[[0.3]], [[0.6]]], r=[[[0.1]], [[0.3]]], v=0.8)
    found = online_order(task, start, [1]).draw(np.random.default_rng(3), 400, {"N": 1000})
    # The mean is off by about 1/N.
    assert abs(found.mean() - trajectory(task, start, [1]).eg[0]) < 5 * found.std() / 20 + 1e-3


def test_a_chain_with_another_rate_would_be_seen():
    rng, runs, n = np.random.default_rng(0), 20_000, 12
    other = OnlineTask(1.0, 1, 0.9, eigenvalues=RHO, overlaps=TASK.overlaps)
    a = whole_runs(rng, runs, n, 30)["R"][:, 0]
    b = online_order(other, START, [30 / n], "R", (0, 0)).draw(rng, runs, {"N": n})
    assert abs(a.mean() - b.mean()) > 5 * math.sqrt((a.var() + b.var()) / runs)


def test_runs_scatter_around_the_equations():
    """At N = 400 the mean of 256 runs is within 5 standard errors of the equations, and 1/N, about one of these, more."""
    for what, entry in (("eg", ()), ("R", (1, 0)), ("Q", (1, 1)), ("v", (0,))):
        found = online_bias(TASK, START, [1, 3], what, entry).draw(np.random.default_rng(1), 256, {"N": 400})
        assert abs(found.mean()) < 6 * found.std() / 16


def test_two_times_are_their_mean():
    rng = [np.random.default_rng(2) for _ in range(3)]
    both, first, second = (
        online_order(TASK, START, times, "v", (0,)).draw(generator, 64, {"N": 8})
        for generator, times in zip(rng, ([1, 2], [1], [2]))
    )
    assert np.allclose(both, (first + second) / 2)


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_linear_error_at_every_size(rate):
    task, start = OnlineTask(1, 1, rate, "x", readout_rate=0), OrderParameters(0.5, 0.2, 0.8)
    eg = online_order(task, start, [0.5, 1])
    for n in (4, 16):
        found = eg.draw(np.random.default_rng(3), 20_000, {"N": n})
        assert abs(found.mean() - float(eg.exact({"N": n}))) < 5 * found.std() / math.sqrt(20_000)
    assert float(eg.exact({"N": 2**20})) == pytest.approx(trajectory(task, start, [0.5, 1]).eg.mean(), rel=1e-5)


def test_only_linear_students_have_an_exact_error():
    assert online_order(TASK, START, [1]).exact({"N": 8}) is None
    assert not online_order(OnlineTask(1, 1, 0.5, "x"), OrderParameters(0.5, 0.2, 0.8), [1]).can_exact


def test_a_generator_at_the_start():
    """At t = 0 eg of one layer is that of its limit, up to 1/N: 400 runs at N = 16."""
    options = {"spread": 0.5, "aligned": (0.5, 0.2), "v": (1.0, 1.0)}
    found = generated_error("erf(x)", [0], 0.3, **options).draw(np.random.default_rng(4), 400, {"N": 16, "D": 16})
    limit = trajectory(*one_layer("erf(x)", 1.0, 0.3, units=2, **options), [0]).eg[0]
    assert abs(found.mean() - limit) < 5 * found.std() / math.sqrt(400) + 1 / 16


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: online_order(TASK, START, [1], "Q", (0, 2)), "entry must be 2 indices"),
        (lambda: online_order(TASK, START, [1], "M"), "what must be one of"),
        (lambda: online_order(TASK, START, [2, 1]), "times must increase"),
        (lambda: online_order(TASK, None, [1]), "task and start must be"),
        (lambda: online_order(OnlineTask(1, 1, 0.5, "tanh"), OrderParameters(0.5, 0.2, 1), [1]), "eg is read off for erf"),
        (lambda: online_order(OnlineTask(1, 1, 0.5, overlaps=1, delta=2), OrderParameters(0.5, 0.2, 1), [1]), "delta = 1"),
        (lambda: online_order(OnlineTask(2, 1, 0.5, overlaps=1), OrderParameters(0.5, 0.2, 1), [1]), "T = <overlaps/eigenvalues>"),
        (lambda: generated_error("erf", [1], -1), "rate must be a number > 0"),
        (lambda: generated_error("erf", [1], 0.3, student="sign(x)"), "student must be continuous, got 'sign"),
        (lambda: linear_error(math.nan, 1), "rate must be a number >= 0"),
        (lambda: linear_error(-1, 1), "rate must be a number >= 0"),
        (lambda: linear_error(3, 1e4), "time must be shorter at the rate 3"),
        (lambda: online_variance(TASK, START, [1]).sampler({"N": 9}), "N = 9 must hold every eigenvalue"),
        (lambda: online_variance(TASK, START, [1]).sampler({"N": 4}), "every eigenvalue needs 3 coordinates"),
        (lambda: online_variance(TASK, START, [1]).sampler({"M": 4}), "needs the size 'N'"),
        (lambda: generated_error("erf", [1], 0.3, depth=0), "depth must be an integer >= 1"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(QuantityError, match=message):
        make()
