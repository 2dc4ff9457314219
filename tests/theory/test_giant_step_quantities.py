"""Laws of the first steps against full-dimensional runs, exact means, refusals.

Statistical tests compare means at 5 standard errors: a right program fails one of them with probability 6e-7.
"""

import math

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.giant_step import (
    SpikedFeatures,
    giant_step_error,
    neuron_gradient,
    one_step_norm,
    one_step_overlap,
    reuse_overlap,
    spiked_error,
    staircase_overlap,
)

RUNS, D, N = 4000, 12, 9


def close(one, other):
    return abs(one.mean() - other.mean()) < 5 * math.sqrt(one.var() / len(one) + other.var() / len(other))


def cosine(vectors, place=0):
    return vectors[:, place] / np.linalg.norm(vectors, axis=1)


def whole_reuse(rng, g, rate, fresh):
    """cos(g_1, w*), cos(w_2, w*) of full-dimensional runs, w* = e_1, w_0 = e_2."""
    x = rng.standard_normal((RUNS, N, D))
    w = np.zeros((RUNS, D))
    w[:, 1] = 1.0
    for step in range(2):
        if fresh and step:
            x = rng.standard_normal((RUNS, N, D))
        field = np.einsum("rnd,rd->rn", x, w)
        gradient = np.einsum("rnd,rn->rd", x, g(x[:, :, 0]) * np.exp(-field * field / 2)) / N
        w = w + rate * gradient
    return cosine(gradient), cosine(w)


@pytest.mark.parametrize("fresh", [False, True])
def test_two_steps_by_their_law(fresh):
    """Means and mean squares of the two cosines at n = 9, d = 12."""
    rng, link = np.random.default_rng(0), "sin(2*x) - 2*exp(-3/2)*sin(x)"
    gradient, weights = whole_reuse(rng, reuse_overlap(link, 4).link, 4.0, fresh)
    for what, whole in (("gradient", gradient), ("weights", weights)):
        drawn = reuse_overlap(link, 4, what, fresh=fresh).draw(rng, 4 * RUNS, {"d": D, "n": N})
        assert close(drawn, whole), what
        assert close(drawn**2, whole**2), what


def test_the_other_law_would_be_seen():
    rng, link = np.random.default_rng(0), "sin(2*x) - 2*exp(-3/2)*sin(x)"
    gradient, _ = whole_reuse(rng, reuse_overlap(link, 4).link, 4.0, False)
    drawn = reuse_overlap(link, 4, fresh=True).draw(rng, 4 * RUNS, {"d": D, "n": N})
    assert not (close(drawn, gradient) and close(drawn**2, gradient**2))


def test_one_step_by_its_law():
    rng = np.random.default_rng(1)
    link = one_step_overlap("x + (x**2 - 1)/sqrt(2)")
    x = rng.standard_normal((RUNS, N, D))
    v = np.einsum("rnd,rn->rd", x, link.link(x[:, :, 0])) / N
    assert close(link.draw(rng, RUNS, {"d": D, "n": N}), cosine(v) ** 2)
    assert close(one_step_norm(link.link).draw(rng, RUNS, {"d": D, "n": N}), (v**2).sum(axis=1))
    assert np.array_equal(
        one_step_overlap("tanh", times_dimension=True).draw(np.random.default_rng(2), 5, {"d": D, "n": N}),
        D * one_step_overlap("tanh").draw(np.random.default_rng(2), 5, {"d": D, "n": N}),
    )


@pytest.mark.parametrize("link", ["sign(x)", "x", "tanh(x)"])
def test_exact_means_are_those_of_draws(link):
    rng, sizes = np.random.default_rng(3), {"d": 10, "n": 7}
    for quantity in (one_step_overlap(link), one_step_norm(link), neuron_gradient(link, "tanh")):
        exact = quantity.exact(sizes)
        if exact is None:
            assert not quantity.can_exact
            continue
        found = quantity.draw(rng, 20_000, sizes)
        assert abs(found.mean() - float(exact)) < 5 * found.std() / math.sqrt(20_000), quantity.name


def test_one_neuron_by_its_law():
    rng = np.random.default_rng(4)
    quantity = neuron_gradient("x + 1", "tanh", "cos2")
    x = rng.standard_normal((RUNS, N, D))
    gradient = np.einsum("rnd,rn->rd", x, (x[:, :, 0] + 1) * quantity.slope(x[:, :, 1])) / N
    assert close(quantity.draw(rng, RUNS, {"d": D, "n": N}), cosine(gradient) ** 2)
    assert close(neuron_gradient("x + 1", "tanh").draw(rng, RUNS, {"d": D, "n": N}), (gradient**2).sum(axis=1))


def test_the_staircase_by_its_law():
    rng = np.random.default_rng(5)

    def target(x):
        return x[..., 0] * (1 + x[..., 1])

    x = rng.standard_normal((RUNS, N, D))
    v = np.einsum("rnd,rn->rd", x, target(x))
    unit = v / np.linalg.norm(v, axis=1)[:, None]
    x = rng.standard_normal((RUNS, N, D))
    g = np.einsum("rnd,rn->rd", x, target(x) * np.einsum("rnd,rd->rn", x, unit))
    whole = {"first": cosine(v) ** 2, "second": D * cosine(v, 1) ** 2, "after": cosine(g, 1) ** 2}
    for what, values in whole.items():
        assert close(staircase_overlap(what).draw(rng, 2 * RUNS, {"d": D, "n": N}), values), what


def test_regressions_fit_what_they_can():
    """Linear features of a linear target without penalty to speak of, n > d: no error."""
    features = SpikedFeatures("x", "x", beta=2.0, spike=0.5, gamma=0.5)
    for what in ("test_error", "train_error"):
        found = spiked_error(what, 1e-9, features).draw(np.random.default_rng(6), 4, {"d": 6, "p": 12, "n": 30})
        assert found.max() < 1e-6


def test_a_step_of_size_zero_is_none():
    """eta -> 0: the errors are those of plain random features; 400 runs at d = 8."""
    sizes = {"d": 8, "p": 8, "n": 16}
    plain = spiked_error("train_error", 0.1, SpikedFeatures("tanh", "tanh", beta=1.0, spike=0.0, gamma=0.5))
    step = giant_step_error("train_error", 0.1, "tanh", "tanh", 1e-9)
    rng = np.random.default_rng(7)
    assert close(plain.draw(rng, 400, sizes), step.draw(rng, 400, {**sizes, "b": 8}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: one_step_overlap("2"), "link must depend on x"),
        (lambda: one_step_overlap("x").sampler({"d": 1, "n": 2}), "must be at least 2"),
        (lambda: reuse_overlap("x", 1.0, "angle"), "what must be one of"),
        (lambda: reuse_overlap("x", 0), "rate must be a number > 0"),
        (lambda: reuse_overlap("x", 1).sampler({"d": 3, "n": 2}), "must be at least 4"),
        (lambda: staircase_overlap("third"), "what must be one of"),
        (lambda: spiked_error("test_error", 0, None), "penalty must be a number > 0"),
        (lambda: spiked_error("test_error", 1, None), "features must be a SpikedFeatures"),
        (lambda: giant_step_error("test_error", 1, "tanh", "tanh", 0), "rate must be a number > 0"),
        (lambda: neuron_gradient("x", "tanh").sampler({"d": 4}), "needs the size 'n'"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(QuantityError, match=message):
        make()


@pytest.mark.parametrize("link", ["relu", "heaviside(x)"])
def test_gradients_of_labels_that_are_all_zero(link):
    """They count as cosines of 0, which happens with probability 2^-n: E cos^2 of one sample is 1/(2 d), and nothing is nan."""
    for quantity in (one_step_overlap(link), neuron_gradient(link, "tanh", what="cos2")):
        found = quantity.draw(np.random.default_rng(0), 40_000, {"d": 5, "n": 1})
        assert abs(found.mean() - 0.1) < 5 * found.std() / 200
        assert quantity.draw(np.random.default_rng(1), 4000, {"d": 5, "n": 2}).min() == 0
    for what in ("gradient", "weights", "square"):
        assert np.isfinite(reuse_overlap(link, rate=2, what=what).draw(np.random.default_rng(2), 4000, {"d": 5, "n": 2})).all()


def test_errors_need_two_dimensions():
    """w* and the spike have a component each."""
    features = SpikedFeatures("tanh", "tanh", beta=1.0, spike=1.0, gamma=0.5)
    for quantity in (spiked_error("test_error", 0.1, features), giant_step_error("test_error", 0.1, "tanh", "tanh", 1.0)):
        with pytest.raises(QuantityError, match=r"the size 'd' of .* must be at least 2, got 1"):
            quantity.sampler({"d": 1, "p": 4, "n": 4, "b": 4})
