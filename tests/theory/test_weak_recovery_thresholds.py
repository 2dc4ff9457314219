"""Thresholds of weak recovery against values of another program, closed forms, and each other's routes."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.weak_recovery import Link, bessel_eigenvalue, recovery_eigenvalue, recovery_threshold, weak_recovery_threshold
from theoryck.theory.weak_recovery.draws import TOLD
from theoryck.theory.weak_recovery.limits.level_sets import level_means, level_sets
from theoryck.theory.weak_recovery.limits.maxima import blind_threshold
from theoryck.theory.weak_recovery.limits.posteriors import posterior
from theoryck.theory.weak_recovery.limits.products import monomial_posterior
from theoryck.theory.weak_recovery.limits.several import binned_posterior, homogeneous_posterior, noisy_posterior
from theoryck.theory.weak_recovery.model import Monomial

DATA = Path(__file__).parents[1] / "data"
DIGITS = 2e-12
"""Twelve digits are promised; the reference has at least as many."""


def row(target):
    with (DATA / "weak_alpha_c.csv").open() as lines:
        [found] = [each for each in csv.DictReader(lines) if each["target"].startswith(target)]
    return found


LINKS = {
    "z^2, |z|": ["z**2", "abs(z)", "z**4", "3 - 2*z**2"],
    "z1*z2": ["z1*z2", "exp(z1*z2)", "z1**2 - z2**2", "-2*(z1*z2)**3"],
    "|z1*z2|": ["abs(z1*z2)", "(z1*z2)**2"],
    "z1*z2*z3": ["z1*z2*z3", "abs(z1*z2*z3)"],
    "sign(z1*z2)": ["sign(z1*z2)", "sign(z1**2 - z2**2)"],
    "sign(z1)*z2": ["sign(z1)*z2", "z2*abs(z1)/z1"],
    "sign(|z|": ["sign(abs(z) - 0.674489750196081743202227)"],
}


@pytest.mark.parametrize(("target", "link"), [(target, link) for target, links in LINKS.items() for link in links])
def test_the_table_of_thresholds(target, link):
    with (DATA / "weak_alpha_c.csv").open() as lines:
        [value] = [float(each["alpha_c"]) for each in csv.DictReader(lines) if each["target"].split(" (")[0].startswith(target)][:1]
    found = weak_recovery_threshold(link)
    assert abs(found.alpha / value - 1) < DIGITS
    assert found.relative_error >= abs(found.alpha / value - 1)


@pytest.mark.parametrize("r", [2, 3, 5])
def test_lengths(r):
    link = " + ".join(f"z{j}**2" for j in range(1, r + 1))
    assert abs(weak_recovery_threshold(link).alpha - r / 2) < DIGITS
    # A function of the length that is not injective tells less.
    assert weak_recovery_threshold(f"({link} - {r})**2").alpha > r / 2 * 1.01


@pytest.mark.parametrize("noise", [0.1, 0.5, 1, 4])
def test_noisy_squares(noise):
    value = float(row(f"z^2+N(0,{noise})")["alpha_c"])
    assert abs(weak_recovery_threshold("z**2", noise=noise).alpha / value - 1) < DIGITS


def test_noise_beside_kinks_and_small_noise():
    """abs(z - 1): the kink is not at 0; noise 1e-4: between that without and that of a linear preprocessing."""
    y, h = np.linspace(-3, 13, 1601, retstep=True)
    node, weight = np.polynomial.legendre.leggauss(40)
    z, dz = (np.arange(-8, 10)[:, None] + (node + 1) / 2).ravel(), np.tile(weight / 2, 18)
    kernel = np.exp(-((y[:, None] - np.abs(z - 1)) ** 2) / 0.2) * np.exp(-(z**2) / 2) * dz / np.sqrt(2 * np.pi)
    zero, one = kernel.sum(axis=1), kernel @ z
    expected = float((one[zero > 1e-30] ** 2 / zero[zero > 1e-30]).sum() * h / np.sqrt(0.2 * np.pi))
    found = weak_recovery_threshold("abs(z - 1)", noise=0.1)
    assert found.alpha == 0
    assert abs(found.eigenvalue / expected - 1) < 1e-12
    small = weak_recovery_threshold("z**2", noise=1e-4)
    assert 0.5 < small.alpha < (2 + 1e-4) / 4
    assert small.relative_error < 1e-11


def test_trivial_directions():
    found = weak_recovery_threshold("z**3 - 3*z")
    assert found.alpha == 0
    assert abs(found.eigenvalue / float(row("z^3-3z")["lambda"].split("=")[1]) - 1) < DIGITS
    largest = weak_recovery_threshold("max(z1, z2)")
    assert np.allclose(np.abs(largest.trivial @ np.array([1, 1])), 2**0.5)
    assert abs(largest.eigenvalue / float(row("max(z1,z2): (1,1)")["lambda"].split("=")[1]) - 1) < DIGITS
    assert abs(largest.rest / float(row("max(z1,z2): (1,-1)")["alpha_c"]) - 1) < 1e-11
    assert abs(blind_threshold() - 1.7620599) < 1e-7


def test_parities_have_no_threshold():
    for r in (3, 4, 6):
        link = f"sign({'*'.join(f'z{j}' for j in range(1, r + 1))})"
        assert weak_recovery_threshold(link).alpha == math.inf
        with pytest.raises(QuantityError, match="no number of samples of order d suffices"):
            recovery_threshold(link)
    assert weak_recovery_threshold("sign(z1*z2)*abs(z3)").alpha < math.inf


def test_products_lie_between_their_bounds():
    for r in range(1, 9):
        threshold = 1 / monomial_posterior(Monomial((1.0,) * r, (False,) * r)).linear_map()[0][0]
        assert r / 2 * (1 - 1e-12) <= threshold <= r * math.pi**2 / 8


def test_the_ratio_of_two_normals():
    """log|z1/z2| has the density of a logistic law, t = log u: 1/(pi cosh t), whose Fisher information is 1/2."""
    assert abs(weak_recovery_threshold("abs(z1/z2)").eigenvalue - 0.5) < 1e-12


def test_routes_agree_on_what_two_can_do():
    product = posterior(Link("z1*z2"))
    others = [homogeneous_posterior(Link("z1*z2"), 2.0), binned_posterior(Link("z1*z2"))]
    for other in others:
        assert np.allclose(product.linear_map()[0], other.linear_map()[0], rtol=max(2 * other.error, 1e-11))
    square = noisy_posterior(Link("z**2", noise=0.5)).linear_map()[0][0]
    assert abs(square - noisy_posterior(Link("z1**2", noise=0.5)).linear_map()[0][0]) < 1e-12
    assert abs(float(bessel_eigenvalue().exact()) / product.linear_map()[0][0] - 1) < 1e-12


@pytest.mark.parametrize("link", ["z1*z2 + z1**3*z2", "abs(z1) + abs(z2) + abs(z3)", "max(z1, z2)**2 - z1"])
def test_what_is_only_sorted_into_bins_says_so(link):
    found = weak_recovery_threshold(link)
    assert found.method == "points sorted into bins"
    assert 1e-6 <= found.relative_error < 0.2
    assert found.digits <= 5


def test_bins_keep_what_they_promise():
    for link in ("z1*z2", "abs(z1) + abs(z2)", "z1**2 + z2**2", "abs(z1*z2*z3)"):
        bins, true = binned_posterior(Link(link)), posterior(Link(link))
        assert abs(bins.linear_map()[0][0] / true.linear_map()[0][0] - 1) < 2 * bins.error


def test_flips():
    for flips in (0.1, 0.4):
        assert abs(weak_recovery_threshold("sign(z1*z2)", flips=flips).alpha * (1 - 2 * flips) ** 2 - math.pi**2 / 4) < 1e-12
    # Flipped signs leave |z1 z2|.
    assert abs(weak_recovery_threshold("z1*z2", flips=0.5).alpha - weak_recovery_threshold("abs(z1*z2)").alpha) < 1e-12


def test_level_means_by_hand():
    """E[z | sign z] = sign z sqrt(2/pi), and z itself is told by z: by level sets with an atom, and without."""
    z = Link("z").symbols[0]

    def gaussian(values):
        return np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi)

    import sympy

    weights, means = level_means(level_sets(sympy.sign(z), -9.0, 9.0), gaussian, [lambda x: x])
    assert np.allclose(np.sort(means[:, 0]), np.array([-1, 1]) * np.sqrt(2 / np.pi), rtol=1e-12)
    assert np.allclose(weights, 0.5, rtol=1e-12)
    relu = level_means(level_sets(sympy.Max(0, z), -9.0, 9.0), gaussian, [lambda x: x])
    assert abs(relu[0] @ relu[1][:, 0] ** 2 - (0.5 + 1 / np.pi)) < 1e-12


@pytest.mark.parametrize("link", TOLD)
def test_closed_forms_of_the_draws(link):
    """The mean of the draws is the eigenvalue: a two-sided test of level 1e-6 each."""
    quantity = recovery_eigenvalue(link)
    draws = quantity.draw(np.random.default_rng(3), 200_000, {})
    assert abs(draws.mean() - float(quantity.exact({}))) < 4.9 * draws.std() / 200_000**0.5


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("z1*w", "unknown name 'w'"),
        ("z1*z3", "does not depend on z2"),
        ("z + z1", "both z and z1"),
        ("3", "is a constant"),
        ("", "must be a text"),
        ("z1^2", "write \\*\\* for a power"),
        ("log(z)", "not a finite number"),
        ("__import__('os')", "unknown function"),
    ],
)
def test_links_that_are_none(link, message):
    with pytest.raises(QuantityError, match=message):
        weak_recovery_threshold(link)


def test_options_that_are_none():
    with pytest.raises(QuantityError, match="noise"):
        weak_recovery_threshold("z", noise=-1)
    with pytest.raises(QuantityError, match="flips must be a probability"):
        weak_recovery_threshold("z", flips=1.5)
    with pytest.raises(QuantityError, match="flips are treated for monomials"):
        weak_recovery_threshold("z1 + z2*z1", flips=0.1)


def test_poles_cut_level_sets():
    """tan: sums over z + k pi; z/(z^2 - 1): the other point is -1/z; by the trapezoidal rule, which knows no level sets."""
    u = (np.arange(400) + 0.5) * math.pi / 400
    z = u[:, None] + np.arange(-4, 4) * math.pi
    weights = np.exp(-(z**2) / 2)
    tangent = float((weights.sum(1) * ((weights * z).sum(1) / weights.sum(1)) ** 2).sum() / weights.sum())
    assert abs(tangent - 0.1491605) < 1e-7
    z = np.linspace(-12, 12, 400_001) + 1e-9
    density = np.exp(-(z**2) / 2)
    other = np.exp(-1 / (2 * z**2)) / z**2  # times the slope at z over that at -1/z
    rational = float((density * ((density * z - other / z) / (density + other)) ** 2).sum() / density.sum())
    assert abs(rational - 0.0774643) < 1e-7
    for link, value in (("tan(z)", tangent), ("z/(z**2 - 1)", rational), ("(z**2 - 1)/z", rational), ("1/tan(z)", None)):
        found = weak_recovery_threshold(link)
        assert found.alpha == 0
        assert value is None or abs(found.eigenvalue / value - 1) < found.relative_error + 1e-13


@pytest.mark.parametrize(
    ("link", "other"),
    [
        ("1/z + 1/(z - 1)**2", "1/(1/z + 1/(z - 1)**2)"),  # poles of two orders
        ("z/(z**2 - 1)**2", "(z**2 - 1)**2/z"),
        ("(z1 - z2)**(-2)", "z**2"),
        ("z1/z2 + z2/z1", "sign(z1*z2)*abs(z1*z2)/(z1**2 + z2**2)"),
        ("z1/(z1**2 - z2**2)", "(z1**2 - z2**2)/z1"),
    ],
)
def test_a_link_and_its_inverse_tell_the_same(link, other):
    one, two = (weak_recovery_threshold(each) for each in (link, other))
    assert abs(one.eigenvalue / two.eigenvalue - 1) < one.relative_error + two.relative_error


def test_small_eigenvalues_are_told_from_none():
    """Given the phase of sin b z, E[z | y] = 2 b exp(-b^2/2) sin + O(exp(-2 b^2)); of cos b z, G = -2 b^2 exp(-b^2/2) cos."""
    for b in (5, 6):
        phase = math.exp(-(b**2) / 2)
        found = weak_recovery_threshold(f"sin({b}*z)")
        assert found.alpha == 0
        assert abs(found.eigenvalue / ((2 * b * phase) ** 2 / 2) - 1) < found.relative_error + 4 * phase**2
        assert found.relative_error < 1e-4
        even = weak_recovery_threshold(f"cos({b}*z)")
        assert abs(even.eigenvalue / ((2 * b**2 * phase) ** 2 / 2) - 1) < even.relative_error + 4 * phase**2
        assert even.alpha == pytest.approx(1 / even.eigenvalue)


def test_what_is_not_told_from_zero_says_so():
    """sin 8 z has 2e-26, sin 12 z 8e-61: neither is told from a link that has none."""
    for link in ("sin(8*z)", "sin(12*z)", "cos(20*z)"):
        with pytest.raises(QuantityError, match="not told from 0"):
            weak_recovery_threshold(link)
        found = recovery_eigenvalue(link).exact({})
        assert found.low <= 0 < found.high < 1e-15
    # Zeros by symmetry are exact.
    assert weak_recovery_threshold("sign(z1*z2*z3)", noise=0.1).alpha == math.inf


def test_sums_over_signs():
    assert abs(weak_recovery_threshold("sign(z1*z2) + 3*sign(z3*z4)").alpha - math.pi**2 / 4) < 1e-12
    # y = s + noise: (2/pi) E E[s | y]^2, E[s | y] = tanh(y/noise), by steps that are fine for both; rounding is left.
    y, h = np.linspace(-9, 11, 4001, retstep=True)
    for noise in (0.5, 0.054):
        square = np.tanh(y / noise) ** 2 * np.exp(-((y - 1) ** 2) / (2 * noise)) / math.sqrt(2 * math.pi * noise)
        expected = 2 / math.pi * float(square.sum() * h)
        assert abs(weak_recovery_threshold("sign(z)", noise=noise).eigenvalue - expected) < 1e-14


def test_oscillations_that_no_grid_sees():
    for link, message in (("sin(1/z)", "turns without end at z = 0"), ("sin(1963.5*z)", "turns more often"), ("sin(40*z)", "200")):
        with pytest.raises(QuantityError, match=message):
            weak_recovery_threshold(link)


def test_what_is_left_where_nothing_is_trivial():
    with pytest.raises(QuantityError, match="no direction of which is trivial"):
        recovery_threshold("z1*z2", rest=True)
    with pytest.raises(QuantityError, match="is known for max"):
        recovery_threshold("z1 + z2**2", rest=True)
