"""The spectral method and state evolution against values of another program, and against simulation."""

import csv
from pathlib import Path

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.weak_recovery import (
    Link,
    StateEvolution,
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
        state_evolution("z1*z2", 1.0)
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
