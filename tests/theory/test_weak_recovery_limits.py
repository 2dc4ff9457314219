"""The spectral method and state evolution against values of another program, and against simulation."""

import csv
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.weak_recovery import (
    Link,
    StateEvolution,
    fixed_point,
    full_recovery_threshold,
    gamp_overlap,
    matrix_state_evolution,
    spectral_cos2,
    spectral_overlap,
    state_evolution,
    unfolding_error,
    weak_recovery_threshold,
)
from theoryck.theory.weak_recovery.limits.matrices import information

DATA = Path(__file__).parents[1] / "data"


def rows(name):
    with (DATA / name).open() as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", rows("weak_spectral_overlap.csv"), ids=lambda row: f"{row['target'].split()[0]}-{row['alpha']}")
def test_spectral_overlaps(row):
    found = spectral_overlap(row["target"].split()[0].replace("^", "**"), float(row["alpha"]))
    # Twelve digits are printed.
    assert abs(found.overlap - float(row["overlap2_limit (12 digits)"])) < 1e-12
    assert abs(found.outlier - float(row["lambda_star"])) < 2e-12


def test_near_the_threshold_overlaps_are_linear():
    """cos^2 = (1/alpha_c - 1/alpha)/E[G^2 (1 + G)]: /10 for z^2, times .1117646 for z1 z2."""
    for link, threshold, factor in (("z**2", 0.5, 0.1), ("z1*z2", 0.593751098222257, 0.1117646)):
        alpha = threshold * 1.0001
        expected = (1 / threshold - 1 / alpha) * factor
        assert abs(spectral_overlap(link, alpha).overlap / expected - 1) < 2e-3


def test_spectral_directions():
    along, across = (spectral_overlap("z1*z2", 2, direction=v).overlap for v in ([1, 1], [1, -1]))
    assert abs(along - across) < 1e-12
    assert spectral_overlap("z1*z2", 2, direction=[1, 0]).threshold > spectral_overlap("z1*z2", 2).threshold
    with pytest.raises(QuantityError, match=r"direction must be real numbers of shape \(2,\)"):
        spectral_overlap("z1*z2", 2, direction=[1])
    with pytest.raises(QuantityError, match="is not 0"):
        spectral_overlap("z", 2)
    assert spectral_overlap("sign(z1*z2)", 1).overlap == 0


@pytest.mark.parametrize(
    "row", [row for row in rows("weak_amp_se_z2.csv") if row["alpha"][0].isdigit()], ids=lambda row: row["alpha"]
)
def test_fixed_points_of_the_square(row):
    evolution = StateEvolution(Link("z**2"))
    assert (
        abs(evolution.fixed_point(float(row["alpha"])) - float(row[next(name for name in row if name.startswith("q_star"))]))
        < 2e-12
    )


def test_full_recovery_of_the_square():
    evolution = StateEvolution(Link("z**2"))
    assert abs(evolution.full_recovery() - 1.128471406672) < 1e-11
    assert evolution.fixed_point(0.49) == 0
    assert evolution.fixed_point(1.13) == 1


def test_state_evolution_in_one_function():
    """For z^2, mmse = E z^2 (1 - R(q z^2/(1 - q))) with R(t) = E tanh(t + sqrt t e): a formula that needs no level set."""
    z, h = np.linspace(-9, 9, 4001, retstep=True)
    e, k = np.linspace(-9, 9, 601, retstep=True)
    for q in (0.1, 0.5, 0.8):
        t = q * z**2 / (1 - q)
        r = np.tanh(t[:, None] + np.sqrt(t)[:, None] * e) @ np.exp(-(e**2) / 2) * k / np.sqrt(2 * np.pi)
        expected = float((z**2 * (1 - r) * np.exp(-(z**2) / 2)).sum() * h / np.sqrt(2 * np.pi))
        assert abs(StateEvolution(Link("z**2")).posterior_variance(q) - expected) < 1e-11


def test_signs_tell_what_a_probit_channel_tells():
    """For sign z, q^ = alpha E phi(t)^2/(Phi(t) Phi(-t)) /V, t = omega/sqrt V."""
    from scipy.special import ndtr

    q = 0.3
    v = 1 - q
    e, h = np.linspace(-9, 9, 4001, retstep=True)
    t = np.sqrt(q / v) * e
    density = np.exp(-(t**2)) / (2 * np.pi)
    information = float((density / (ndtr(t) * ndtr(-t)) * np.exp(-(e**2) / 2)).sum() * h / np.sqrt(2 * np.pi)) / v
    evolution = StateEvolution(Link("sign(z)"))
    assert abs((v - evolution.posterior_variance(q)) / v**2 - information) < 1e-9


def test_full_recovery_where_it_is_reached_at_the_end():
    """alpha(q) -> 1/(1 - p) as q -> 1, p the probability of rest: z has mmse = 0 and alpha(q) = q, relu rests half of the time."""
    assert StateEvolution("z").full_recovery() == 1
    assert StateEvolution("1/z").full_recovery() == 1
    assert StateEvolution("relu(z)").full_recovery() == 2
    edge = math.erf(0.5**0.5)  # P(|z| < 1)
    assert abs(StateEvolution("min(z, 1) - min(z, -1)").full_recovery() - 1 / edge) < 1e-12
    for link in ("sign(z)", Link("z**2", noise=0.5)):
        assert StateEvolution(link).full_recovery() == math.inf
        with pytest.raises(QuantityError, match="q < 1 at every alpha"):
            full_recovery_threshold(link)
    # Where level sets meet alpha(q) tends to its limit from above.
    assert 1 < StateEvolution("z**3 - 3*z").full_recovery() < 1.2


def test_fixed_points_near_the_ends():
    """sign z: 1 - q ~ (c/alpha)^2; relu: 2 from below; z^2 starts with slope .4 at alpha_c; trivial directions with lambda_1."""
    assert abs(StateEvolution("sign(z)").fixed_point(50) - 0.99923) < 1e-5
    one, two = (1 - StateEvolution("sign(z)").fixed_point(alpha) for alpha in (200, 400))
    assert abs(one / two - 4) < 0.02
    relu = StateEvolution("relu(z)")
    assert 1e-7 < 1 - relu.fixed_point(1.999) < 1e-6
    assert relu.fixed_point(2) == 1
    with pytest.raises(QuantityError, match="not told from 1"):
        relu.fixed_point(2 - 1e-9)
    square = StateEvolution("z**2")
    assert abs(square.fixed_point(0.5 + 1e-7) / 4e-8 - 1) < 1e-5
    with pytest.raises(QuantityError, match="not told from alpha_c"):
        square.fixed_point(0.5 * (1 + 1e-14))
    eigenvalue = weak_recovery_threshold("z**3 - 3*z").eigenvalue
    assert abs(StateEvolution("z**3 - 3*z").fixed_point(1e-6) / (1e-6 * eigenvalue) - 1) < 1e-5


def test_state_evolution_with_poles():
    """The level set of tan z is z + k pi, all of one slope: weights N(z + k pi; omega, V); 1/z tells what z tells."""
    q = 0.2
    v = 1 - q
    u, h = np.linspace(-9.2, 9.2, 921, retstep=True)
    e = u[:, None]
    points = u[:, None, None] + math.pi * np.arange(-6, 7)
    away = points - (q * u + (q * v) ** 0.5 * e)[:, :, None].swapaxes(0, 1)
    share = np.exp(-(away**2) / (2 * v))
    share /= share.sum(axis=2, keepdims=True)
    mean = (share * points).sum(axis=2)
    spread = (share * points**2).sum(axis=2) - mean**2
    mass = np.exp(-(u**2) / 2) * h / np.sqrt(2 * np.pi)
    expected = float(mass @ spread @ mass)
    assert abs(StateEvolution("tan(z)").posterior_variance(q) - expected) < 1e-12
    assert np.allclose(state_evolution("1/z", 1.0, start=0.2, steps=2), state_evolution("z", 1.0, start=0.2, steps=2), rtol=1e-14)
    # alpha/(alpha + V) after one step, as mmse = 0.
    assert abs(state_evolution("1/z", 1.0, start=0.2, steps=1)[1] - 1 / 1.8) < 1e-14
    assert abs(fixed_point("1/z", 0.5).exact({}).midpoint - Decimal("0.5")) < 1e-12


def test_what_is_told_and_what_is_left_add_up():
    """E (E[z | y, omega] - omega)^2 + E Var(z | y, omega) = 1 - q: two sums that are found apart."""
    for link in ("z**2", "relu(z)", "sign(abs(z) - 1)", "z/(z**2 - 1)", Link("abs(z - 1)", noise=0.1), Link("z**2", noise=0.5)):
        for q in (0.0, 1e-6, 0.3, 0.95, 0.9999):
            gain, left = StateEvolution(link).information(q)
            assert abs(gain + left - (1 - q)) < 1e-11 * (1 - q)


def test_noise_is_followed_to_the_end():
    """Values of another program; and as q -> 1, (1 - q - mmse)/(1 - q)^2 -> E f'^2/noise = 8 for z^2 with noise 1/2."""
    evolution = StateEvolution(Link("z**2", noise=0.5))
    assert abs(evolution.posterior_variance(0.8) - 0.12556060) < 5e-9
    # By the trapezoidal rule in z, y and omega at once, of steps .02, .15 spreads and .06 sqrt V.
    assert abs(evolution.fixed_point(1.5) - 0.573841217628287) < 1e-11
    for q in (0.9999, 0.99999):
        assert abs(evolution.information(q)[0] / (1 - q) ** 2 / 8 - 1) < 30 * (1 - q)
    # alpha(q) = 1/(8 (1 - q)) there, up to a part of 10^-4; between the last two overlaps that are looked at, and beyond them.
    assert abs((1 - evolution.fixed_point(10_000)) * 80_000 - 1) < 1e-3
    with pytest.raises(QuantityError, match="within 1e-05 of 1 at alpha = 20000"):
        evolution.fixed_point(20_000)
    with pytest.raises(QuantityError, match="followed no further"):
        evolution.posterior_variance(1 - 1e-7)
    # z: 1/(1 + noise/V).
    assert abs(StateEvolution(Link("z", noise=0.5)).posterior_variance(0.2) - 0.8 * 0.5 / 1.3) < 1e-12


def test_labels_that_are_not_real():
    for call in (
        lambda: state_evolution("log(z)", 1.0),
        lambda: spectral_overlap("sqrt(z)", 1),
        lambda: unfolding_error("log(z1)*z2*z3"),
    ):
        with pytest.raises(QuantityError, match="labels must be real for every z"):
            call()


def test_directions_that_are_told_from_none():
    with pytest.raises(QuantityError, match="is not 0 for"):
        spectral_overlap("sin(5*z)", 1)
    with pytest.raises(QuantityError, match="not told from 0"):
        spectral_overlap("cos(20*z)", 1)


def test_labels_that_no_grid_holds():
    for call, message in (
        (lambda: weak_recovery_threshold("z**2", noise=1e-12), "too small beside the labels"),
        (lambda: weak_recovery_threshold("z1*z2", noise=1e-12), "too small beside the labels"),
        (lambda: weak_recovery_threshold("exp(z**2)", noise=0.1), "too small beside the labels"),
        (lambda: weak_recovery_threshold("tan(z)", noise=0.1), "has a pole at z = "),
        (lambda: state_evolution("z + 1/z", 1.0, start=0.2, steps=1, noise=0.1), "has a pole at z = 0"),
        (lambda: state_evolution("1/z", 1.0, start=0.2, steps=1, noise=0.1), "has a pole at z = 0"),
        (lambda: matrix_state_evolution("z1/z2", 2.0, noise=0.3, start=0.1 * np.eye(2)), "infinite where z2 = 0"),
        (lambda: matrix_state_evolution("z1 + z2**2", 2.0, noise=0, start=0.1 * np.eye(2)), "noise must be > 0"),
        (lambda: matrix_state_evolution("z1*z2", 2.0, noise=0, start=np.full((2, 2), 0.1)), "start must be diagonal"),
        (lambda: matrix_state_evolution("z1*z2", 2.0, noise=0, start=0.999 * np.eye(2)), "too near to 1"),
        (
            lambda: StateEvolution("z1*z2").posterior_variance(0.99),
            r"q must be at most about 0.93 .*, got the overlaps \[0.99, 0.99\]",
        ),
        (lambda: StateEvolution("z**2").posterior_variance("a"), "q must be an overlap, at least 0 and below 1, got 'a'"),
        (lambda: StateEvolution("z**2").posterior_variance([0.1, 0.2]), "q must be an overlap"),
        (lambda: StateEvolution("z**2").posterior_variance(0.5 + 1j), "q must be an overlap"),
        (lambda: StateEvolution("z1 + z2"), "products of indices that enter alike"),
        (lambda: StateEvolution("sign(z1)*z2"), "products of indices that enter alike"),
        (lambda: StateEvolution("z1*z2").fixed_point(1.95), "not told from 1"),
    ):
        with pytest.raises(QuantityError, match=message):  # before anything is computed: these would take minutes
            call()


def test_links_that_turn_often_are_followed():
    assert np.all(state_evolution("cos(20*z)", 1.0, start=0.2, steps=2)[1:] < 1e-20)


@pytest.mark.parametrize("alpha", [float("nan"), -1, 0, "a"])
def test_numbers_of_samples_that_are_none(alpha):
    for call in (lambda: fixed_point("z**2", alpha), lambda: StateEvolution("z**2").step(0.1, alpha)):
        with pytest.raises(QuantityError, match="alpha must be"):
            call()


def test_noise_tends_to_none():
    clean, noisy = (StateEvolution(Link("z**2", noise=noise)).posterior_variance(0.4) for noise in (0, 0.05))
    assert clean < noisy < clean + 0.1
    with pytest.raises(QuantityError, match="too small"):
        StateEvolution(Link("z**2", noise=1e-6)).posterior_variance(0.4)


def test_message_passing_follows_state_evolution():
    """16 runs at d = 1500, alpha = .4, q_0 = .3, three steps: .052(4) was seen at d = 2000, against .060."""
    path = state_evolution("z**2", 0.4, start=0.3, steps=3)
    draws = gamp_overlap(0.4, start=0.3, steps=3).draw(np.random.default_rng(5), 16, {"d": 1500})
    assert abs(draws.mean() - path[3]) < 5 * draws.std(ddof=1) / 4 + 0.01


def test_the_spectral_method_in_d_dimensions():
    """d = 250, alpha = 1: .2306(47) were seen by another program; five standard errors and 1/d."""
    draws = spectral_cos2("z**2", 1.0).draw(np.random.default_rng(2), 40, {"d": 250})
    assert abs(draws.mean() - 0.2306970) < 5 * draws.std(ddof=1) / 40**0.5 + 2 / 250
    with pytest.raises(QuantityError, match="closed form"):
        spectral_cos2("z1*z2*z3", 3)


def test_unfolding():
    """n = 8 d^1.5 at d = 16: mean squared overlap .665(12)."""
    draws = unfolding_error().draw(np.random.default_rng(4), 40, {"d": 16, "n": 512})
    assert abs(1 - draws.mean() - 0.665) < 5 * (draws.std(ddof=1) / 40**0.5 + 0.012)


def test_arguments():
    with pytest.raises(QuantityError, match="one index"):
        state_evolution("z1 + z2**2", 1.0)
    with pytest.raises(QuantityError, match="start must be an overlap below 1"):
        state_evolution("z**2", 1.0, start=1.0)
    with pytest.raises(QuantityError, match="alpha"):
        spectral_overlap("z**2", 0)


@pytest.mark.parametrize("direction", ["a", [1j, 0], [[1, 0]], [np.nan, 1]])
def test_directions_that_are_none(direction):
    with pytest.raises(QuantityError, match="direction must be real numbers"):
        spectral_overlap("z1*z2", 2, direction=direction)


def test_dimensions_hold_the_indices():
    rng = np.random.default_rng(0)
    for quantity, sizes in ((spectral_cos2("z1*z2", 2), {"d": 1}), (unfolding_error(), {"d": 2, "n": 10})):
        with pytest.raises(QuantityError, match="indices, must be an integer >= "):
            quantity.draw(rng, 2, sizes)


def test_matrices_of_overlaps():
    """One index against the scalar route; two near 0 against the threshold, E g g^T = F(Q); a sign symmetry is kept."""
    link = Link("z**2", noise=0.5)
    scalar = (0.9 - StateEvolution(link).posterior_variance(0.1)) / 0.9**2
    assert abs(float(information(link, np.array([[0.1]]))[0, 0]) - scalar) < 2e-4
    product, small = Link("z1*z2", noise=0.5), 1e-3
    eigenvalue = 1 / weak_recovery_threshold("z1*z2", noise=0.5).alpha
    # Terms of order Q are left: 1% at 1e-3.
    assert abs(information(product, small * np.eye(2))[0, 0] / small / eigenvalue - 1) < 0.02
    for alpha, grows in ((0.7, False), (1.3, True)):
        path = matrix_state_evolution(product, alpha, noise=0.5, start=0.005 * np.eye(2), steps=2)
        assert (path[2, 0, 0] > 0.005) == grows
        assert abs(path[2, 0, 1]) < 1e-9
    with pytest.raises(QuantityError, match=r"start must be real numbers of shape \(2, 2\)"):
        matrix_state_evolution("z1*z2", 1.0, noise=0.5, start=[[1.0]])
    with pytest.raises(QuantityError, match="at most 2 indices"):
        matrix_state_evolution("z1*z2*z3", 1.0, noise=0.5, start=np.zeros((3, 3)))
