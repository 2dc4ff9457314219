"""State evolution of products: level sets for one index, thresholds by Mellin transforms, drawn posteriors, small noise."""

import math

import numpy as np
import pytest

from theoryck.theory.weak_recovery import Link, StateEvolution, matrix_state_evolution, weak_recovery_threshold
from theoryck.theory.weak_recovery.limits.product_evolution import product_information
from theoryck.theory.weak_recovery.model import Monomial


@pytest.mark.parametrize(("link", "shape"), [("z**2", Monomial((2.0,), (False,))), ("sign(z)", Monomial((0.0,), (True,)))])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_one_index_by_level_sets(link, shape, q):
    """The same information by transforms along log |y|."""
    assert product_information(shape, 0.0, (q,))[0] == pytest.approx(StateEvolution(link).information(q)[0], rel=1e-8)


@pytest.mark.parametrize("link", ["z1*z2", "abs(z1*z2)", "sign(z1*z2)", "z1*z2*z3"])
def test_curves_begin_at_thresholds(link):
    """alpha(q) -> alpha_c as q -> 0, found by Mellin transforms; its slope is of order 1, or 2 or 3."""
    small = StateEvolution(link).curve(1e-8)
    assert abs(small - float(weak_recovery_threshold(link))) < 1e-6
    assert abs(small - 1.01 * float(weak_recovery_threshold(link))) > 1e-3


def test_flips_weaken_by_the_square():
    """sign(z1 z2) with labels flipped: eigenvalue times (1 - 2 e)^2."""
    flipped = StateEvolution(Link("sign(z1*z2)", flips=0.1))
    assert flipped.curve(1e-6) == pytest.approx(math.pi**2 / 4 / 0.8**2, rel=1e-5)


def drawn(q, magnitude, runs=40_000):
    """The posterior means of z1 and z2 given z1 z2 (or |z1 z2|) and omega, along the curve z1 = +-e^t: means of (E z - omega)^2 and
    their errors."""
    rng = np.random.default_rng(0)
    q = np.array(q)[:, None]
    omega = np.sqrt(q) * rng.standard_normal((2, runs))
    z = omega + np.sqrt(1 - q) * rng.standard_normal((2, runs))
    y = z[0] * z[1]
    t = np.linspace(-14, 2.4, 1200)[:, None]  # |z| up to 11; what is left of |z| < e^-14 has no weight
    first = np.concatenate([np.exp(t), -np.exp(t)])
    gains = []
    for part in range(0, runs, 2000):
        here = slice(part, part + 2000)
        sums = np.zeros((3, len(y[here])))
        for label in (y[here], -y[here]) if magnitude else (y[here],):
            points = (first, label / first)
            cost = sum((p - w) ** 2 / (2 * (1 - own)) for p, w, own in zip(points, omega[:, here], q[:, 0]))
            weight = np.exp(-cost)
            sums += [weight.sum(axis=0), *((weight * (p - w)).sum(axis=0) for p, w in zip(points, omega[:, here]))]
        gains.append((sums[1:] / sums[0]) ** 2)
    found = np.concatenate(gains, axis=1)
    return found.mean(axis=1), found.std(axis=1) / math.sqrt(runs)


@pytest.mark.parametrize("magnitude", [False, True])
@pytest.mark.parametrize("q", [(0.3, 0.3), (0.2, 0.6)])
def test_information_against_drawn_posteriors(q, magnitude):
    """Four standard errors; the other label's information would be seen."""
    mean, error = drawn(q, magnitude, 20_000)
    shapes = [Monomial((1.0, 1.0), (not hidden, not hidden)) for hidden in (magnitude, not magnitude)]
    assert np.all(np.abs(mean - product_information(shapes[0], 0.0, q)) < 4 * error)
    assert np.all(np.abs(mean - product_information(shapes[1], 0.0, q)) > 10 * error)


def test_small_noise_takes_little():
    """Noise takes from one step an amount of its own order: a tenth of it takes about a tenth."""
    start = 0.2 * np.eye(2)
    none, little, more = (matrix_state_evolution("z1*z2", 1.0, noise=n, start=start, steps=1)[1, 0, 0] for n in (0, 0.005, 0.05))
    assert 8 < (none - more) / (none - little) < 13


def test_overlaps_of_the_product():
    """Fixed points: curve and step say the same, stable ones; none below alpha_c, and everything from alpha = 2 on."""
    evolution = StateEvolution("z1*z2")
    q = evolution.fixed_point(1.0)
    assert evolution.step(q, 1.0) == pytest.approx(q, abs=1e-9)
    assert q < evolution.step(q - 0.05, 1.0) + 0.05
    assert evolution.fixed_point(0.59) == 0
    assert evolution.fixed_point(2.5) == 1
    assert evolution.full_recovery() == 2
    # One matrix and one overlap are the same thing
    path = matrix_state_evolution("z1*z2", 1.0, noise=0, start=q * np.eye(2), steps=2)
    assert np.allclose(path, q * np.eye(2), atol=1e-8)


def test_a_parity_of_signs_is_lost():
    """sign(z1 z2 z3): an informed start of 1/2 is lost at alpha = 4, kept at alpha = 12 (alpha(1/2) = 11.4)."""
    lost, kept = (matrix_state_evolution("sign(z1*z2*z3)", alpha, noise=0, start=0.5 * np.eye(3), steps=4) for alpha in (4, 12))
    assert lost[-1].max() < 1e-3
    assert kept[-1, 0, 0] > 0.5
