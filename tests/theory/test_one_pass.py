"""One-pass SGD: the chain of the overlaps against the full dimension, limits against values of another program."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
import sympy
from scipy.stats import ks_2samp

from theoryck.quantities import QuantityError
from theoryck.theory.one_pass import (
    OnePass,
    blow_up_median,
    growth_rate,
    hitting_time,
    information_exponent,
    leap,
    limiting_time,
    mean_gradient,
)
from theoryck.theory.one_pass.draws import GUARD, HittingSampler, smoothed_slope
from theoryck.theory.one_pass.limits import _gradient_of_tensors, gradient, hermite_tensor, velocity
from theoryck.theory.weak_recovery import Link

with (Path(__file__).parents[1] / "data" / "weak_sgd.csv").open() as lines:
    LIMITS = {row["target"].split(" (")[0]: row["limit"] for row in csv.DictReader(lines)}

LEAP_1 = OnePass("z1 + z1*z2", "1/2 + sqrt(2)*z", "0.2/d")
LEAP_2 = OnePass("z1*z2", "sqrt(2)*z", "0.2/d")
LATE_LEAP_2 = OnePass("z1 + z1*z2*z3", "1/2 + (3*z**2 - 3)/sqrt(6)", "0.04/d")
LEAP_3 = OnePass("z1*z2*z3", "(3*z**2 - 3)/sqrt(6)", "0.3*d**(-3/2)")


def full_dimension(sgd, d, runs, rng, budget):
    """Hitting times of vectors w on the unit sphere of R^d, a sample at a time: no chain."""
    r = sgd.link.indices
    w = rng.standard_normal((runs, d))
    w /= np.linalg.norm(w, axis=1)[:, None]
    times = np.full(runs, np.inf)
    for step in range(1, budget + 1):
        x = rng.standard_normal((runs, d))
        z = (w * x).sum(axis=1)
        g = sgd.step_at(d) * sgd.link.values(x[:, :r]) * sgd.slopes(z)
        w = w + g[:, None] * (x - z[:, None] * w)
        w /= np.linalg.norm(w, axis=1)[:, None]
        hit = np.abs(w[:, :r]).min(axis=1) >= sgd.level
        times[hit & np.isinf(times)] = step
    return times


@pytest.mark.parametrize(("sgd", "d"), [(LEAP_1, 12), (LEAP_2, 16), (LEAP_3, 10)], ids=["leap 1", "leap 2", "leap 3"])
def test_the_chain_has_the_law_of_the_full_dimension(sgd, d):
    """Kolmogorov-Smirnov at level 1e-4, on times cut off at a budget; the same test sees a step that is 20% larger."""
    budget, runs = 400, 1500
    full = np.minimum(full_dimension(sgd, d, runs, np.random.default_rng(1), budget), budget)
    chain = np.minimum(HittingSampler(sgd, d, 1.0, 10 * budget)(np.random.default_rng(2), runs), budget)
    assert ks_2samp(full, chain).pvalue > 1e-4
    faster = OnePass(sgd.target, sgd.slope, f"1.5*({sgd.step})")
    other = np.minimum(HittingSampler(faster, d, 1.0, 10 * budget)(np.random.default_rng(3), runs), budget)
    assert ks_2samp(full, other).pvalue < 1e-4


def test_limits_of_hitting_times():
    assert abs(limiting_time(LEAP_1) - float(LIMITS["z1+z1*z2"])) < 1e-9
    # The reference has four digits after the point.
    assert abs(1 / (2 * growth_rate(LEAP_2)) - 1 / (2 * (math.sqrt(2) * 0.2 - 0.04))) < 1e-6
    assert abs(1 / (2 * growth_rate(LATE_LEAP_2)) - float(LIMITS["z1+z1*z2*z3"])) < 1e-4
    square = OnePass("(z**2 - 1)/sqrt(2)", "sqrt(2)*z", "0.05/d")
    assert abs(growth_rate(square) - (2 * 0.05 - 0.05**2)) < 1e-6


@pytest.mark.parametrize(("target", "value", "start"), [("z1*z2*z3", 2.320, "uniform"), ("sign(z1*z2*z3)", 5.760, "uniform")])
def test_times_of_blow_up(target, value, start):
    """2.320(2) and 5.760(4) by Heun's method for the same equation, 10^6 runs, steps halved; Euler's adds less than 1%."""
    sgd = OnePass(target, "(3*z**2 - 3)/sqrt(6)", "0.3*d**(-3/2)", start=start)
    median, error = blow_up_median(sgd, runs=4000)
    assert abs(median - value) < 4 * error + 0.02 * value


def test_medians_in_finite_dimension():
    """n/d = 7.070(35) at d = 800, leap 1; 11.56(12) at d = 400, leap 2: four standard errors."""
    for sgd, d, value, error in ((LEAP_1, 800, 7.070, 0.035), (LEAP_2, 400, 11.56, 0.12)):
        times = hitting_time(sgd, f"{value}*d", unit="d").sampler({"d": d})(np.random.default_rng(7), 600)
        ordered = np.sort(times)
        spread = (ordered[300 + 25] - ordered[300 - 25]) / 4  # 2 standard deviations of a rank, sqrt(600)/2, on either side
        assert abs(ordered[300] - value) < 4 * (spread + error)
        arrived = 0.5 + GUARD / math.sqrt(600)  # 0.66: the block goes on until then, and ends with the steps drawn together
        assert arrived <= np.isfinite(times).mean() < arrived + 0.1


def test_exponents_and_leaps():
    links = ("z", "z**2", "abs(z)", "z**3 - 3*z", "z1*z2*z3", "sign(z1*z2*z3)")
    assert [information_exponent(link) for link in links] == [1, 2, 2, 3, 3, 3]
    assert [leap(link) for link in ("z1*z2", "z1 + z1*z2", "z1 + z1*z2*z3", "z1 + z2*z3", "sign(z1*z2*z3)")] == [2, 1, 2, 2, 3]
    first = hermite_tensor(Link("sign(z1*z2*z3)"), 3)
    assert set(first) == {(1, 1, 1)}
    assert abs(first[1, 1, 1] - (2 / math.pi) ** 1.5) < 1e-10
    with pytest.raises(QuantityError, match="no Hermite tensor"):
        information_exponent("abs(sign(z))")


def test_gradients_by_hand():
    """phi = m_1 m_2 sqrt 2 for z1 z2 and s = h_2; m_1/2 + sqrt 2 m_1 m_2 with s' = 1/2 + sqrt 2 z."""
    m = np.array([0.3, -0.5])
    assert np.allclose(gradient(Link("z1*z2"), LEAP_2, m), math.sqrt(2) * m[::-1], atol=1e-12)
    assert np.allclose(gradient(Link("z1 + z1*z2"), LEAP_1, m), [0.5 + math.sqrt(2) * m[1], math.sqrt(2) * m[0]], atol=1e-12)
    # E y^2 s'^2 = 4.5 + 2 sqrt 2 m_2 + 8 m_1^2 + 4 m_2^2.
    energy = 4.5 + 2 * math.sqrt(2) * m[1] + 8 * m[0] ** 2 + 4 * m[1] ** 2
    ascent = gradient(Link("z1 + z1*z2"), LEAP_1, m)
    assert np.allclose(velocity(LEAP_1, m), 0.2 * (ascent - m * (m @ ascent)) - 0.02 * m * energy, atol=1e-12)


def test_gradients_of_links_with_kinks():
    """The tensors give what the smooth formula gives, on a polynomial; the sign by hand; degree 6 is refused."""
    m = np.array([0.3, -0.5])
    for sgd in (LEAP_1, LEAP_2):
        assert np.allclose(_gradient_of_tensors(sgd.link, sgd, m), gradient(sgd.link, sgd, m), atol=1e-10)
    sign = OnePass("sign(z1*z2)", "sqrt(2)*z", "0.2/d")
    assert np.allclose(gradient(sign.link, sign, m), 2 / math.pi * math.sqrt(2) * m[::-1], atol=1e-9)
    with pytest.raises(QuantityError, match="degree at most 5"):
        gradient(sign.link, OnePass("sign(z1*z2)", "tanh(z)", "1/d"), m)


def test_the_mean_gradient_is_that_of_the_draws():
    for component in (1, 2):
        quantity = mean_gradient(LEAP_1, (0.3, 0.4), component)
        draws = quantity.draw(np.random.default_rng(component), 200_000, {})
        assert abs(draws.mean() - float(quantity.exact({}))) < 5 * draws.std() / 200_000**0.5


def test_smoothing_is_the_mean_over_the_sphere():
    """s_lambda(z) = E h_3((z + lambda u.x)/sqrt(1 + lambda^2)), differentiated along w by differences at fixed |x|."""
    d, radius = 12, 1.5
    rng = np.random.default_rng(0)
    x = rng.standard_normal(d)
    square = float(x @ x)

    def smoothed(z):
        rest = radius * math.sqrt(square - z**2)
        # u.x/|x_perp| is a coordinate of a uniform vector in d - 1 dimensions, of variance 1/(d - 1) and odd moments 0.
        cube = z**3 + 3 * z * rest**2 / (d - 1)
        return (cube * (1 + radius**2) ** -1.5 - 3 * z * (1 + radius**2) ** -0.5) / math.sqrt(6)

    z, h = float(x[0]), 1e-5
    difference = (smoothed(z + h) - smoothed(z - h)) / (2 * h)
    assert abs(float(smoothed_slope(np.array([z]), np.array([square]), radius, d)[0]) - difference) < 1e-8


def test_smoothed_runs():
    """n/d^1.5 = 1.047 at d = 64 (150 runs there: about 5%)."""
    sgd = OnePass("(z**3 - 3*z)/sqrt(6)", "(3*z**2 - 3)/sqrt(6)", "0.6*d**(-1/2)", 0.5, "positive", "d**(1/4)")
    times = hitting_time(sgd, "d**(3/2)", unit="d**(3/2)").sampler({"d": 64})(np.random.default_rng(0), 512)
    assert 0.85 < np.median(times) < 1.25


def test_limits_at_steps_far_from_one():
    """z, s' = 1: dm/dt = c (1 - m^2) - c^2 m/2, m = tanh(c t) for a small c; z1 z2: growth rate c - c^2/2."""
    assert limiting_time(OnePass("z", "1", "1e-9/d")) == pytest.approx(math.atanh(0.35) * 1e9, rel=1e-8)
    assert growth_rate(OnePass("z1*z2", "z", "1e-9/d")) == pytest.approx(1e-9, rel=1e-7)
    with pytest.raises(QuantityError, match=r"is followed to n/d = .* only: take a step nearer to 1/d"):
        limiting_time(OnePass("z", "1", "1e9/d"))


def test_times_of_blow_up_at_other_steps():
    """r = 1, h_3: 2.87 at c = .15 in another simulation; what never blows up, or too few runs, is refused by name."""
    third = "(3*z**2 - 3)/sqrt(6)"
    median, error = blow_up_median(OnePass("(z**3 - 3*z)/sqrt(6)", third, "0.15*d**(-3/2)", start="positive"), runs=4000)
    assert abs(median - 2.87) < 4 * error + 0.02 * 2.87
    cube = "z**3 - 3*z"
    for sgd, options, message in (
        (OnePass(cube, "z", "0.1*d**(-3/2)"), {}, r"slope must have E s'\(z\) He_2\(z\) != 0, got 'z'"),
        (OnePass(cube, third, "1000*d**(-3/2)"), {"runs": 64}, r"half of the runs .* take c nearer to 1 than 1000"),
        (OnePass(cube, third, "0.1*d**(-3/2)"), {"runs": 1}, "runs must be an integer between 64 and 100000, got 1"),
        (OnePass(cube, third, "0.1*d**(-3/2)"), {"runs": 0}, "runs must be an integer between 64 and 100000, got 0"),
        (OnePass(cube, third, "0.1*d**(-3/2)"), {"seed": -1}, "seed must be an integer >= 0, got -1"),
    ):
        with pytest.raises(QuantityError, match=message):
            blow_up_median(sgd, **options)


@pytest.mark.parametrize("target", ["sqrt(z)", "log(z)", "z1*sqrt(z2 - 3)"])
def test_targets_that_are_not_real_are_refused(target):
    with pytest.raises(QuantityError, match=r"target must be real on the whole line, got .* which is not at"):
        OnePass(target, "1", "0.1/d")
    with pytest.raises(QuantityError, match="slope must be real on the whole line, got 'log"):
        OnePass("z", "log(z)", "0.1/d")
    with pytest.raises(QuantityError, match="slope must not be 0, got 'z - z'"):
        OnePass("z", "z - z", "0.1/d")


@pytest.mark.parametrize("target", ["exp(z**2)", "exp(z**2/4)", "z1*exp(z2**2/3)", "exp(z1*z2)", "1/z"])
def test_mean_gradients_of_labels_without_mean_square_are_refused(target):
    sgd = OnePass(target, "1", "0.1/d")
    with pytest.raises(QuantityError, match="target must have a finite mean square, got"):
        mean_gradient(sgd, [0.2] * sgd.link.indices, spherical=False)
    with pytest.raises(QuantityError, match="slope must have a finite mean square, got 'exp"):
        mean_gradient(OnePass("z", "exp(z**2)", "1/d"), (0.2,))


def test_refusals():
    with pytest.raises(QuantityError, match="level must be an overlap below 1"):
        OnePass("z", "1", "0.2/d", level=1.0)
    with pytest.raises(QuantityError, match="step must be a text in d"):
        OnePass("z", "1", "0.2/n")
    with pytest.raises(QuantityError, match="smoothing is that of s = h_3"):
        OnePass("z", "1", "0.2/d", smoothing="d")
    with pytest.raises(QuantityError, match="start must be one of"):
        OnePass("z", "1", "0.2/d", start="north")
    with pytest.raises(QuantityError, match="fixed point"):
        limiting_time(LEAP_2)
    with pytest.raises(QuantityError, match="is not reached"):
        limiting_time(OnePass("z1 + z1*z2", "1/2 + sqrt(2)*z", "0.2/d", level=0.9))
    with pytest.raises(QuantityError, match="this limit needs a step of order"):
        growth_rate(LEAP_3)
    with pytest.raises(QuantityError, match="runs must be an integer between 64 and 65536, got 16"):
        hitting_time(LEAP_3, "2*d**2", runs=16)
    with pytest.raises(QuantityError, match="d must be at least 5"):
        hitting_time(LEAP_3, "2*d**2").sampler({"d": 4})
    with pytest.raises(QuantityError, match="overlaps must be 2 numbers"):
        mean_gradient(LEAP_1, (0.9, 0.9))


@pytest.mark.parametrize(
    ("link", "value"), [("tanh(4*z)", 0.747266767 / 0.96), ("z/(1 + 10*z**2)", 0.065927791 / 0.96), ("tanh(z)", 0.605705509)]
)
def test_means_of_steep_links_are_known_or_refused(link, value):
    """E f'(Z), by quadrature with other nodes."""
    found = mean_gradient(OnePass(link, "1", "1/d"), (0.0,), 1).exact({})
    slope = sympy.lambdify(sympy.Symbol("z"), sympy.diff(sympy.sympify(link), sympy.Symbol("z")))
    density = lambda z: slope(z) * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    true = scipy.integrate.quad(density, -12, 12, points=[-0.5, 0, 0.5], epsabs=1e-13, limit=200)[0]
    assert float(found) == pytest.approx(true, abs=1e-9)
    assert true == pytest.approx(value, abs=1e-8)


def test_limits_of_steep_links():
    """By quadrature in two dimensions: 2.06246; a chain at d = 60000 has 2.0504(20)."""
    assert limiting_time(OnePass("tanh(2*z)", "1 + z", "0.3/d", level=0.4)) == pytest.approx(2.06246, abs=1e-5)
    assert growth_rate(OnePass("tanh(3*z)**2", "z", "0.1/d")) == pytest.approx(0.0201, abs=1e-4)
    assert growth_rate(OnePass("tanh(3*z1)*tanh(3*z2)", "z", "0.3/d")) == pytest.approx(0.1504, abs=1e-4)


@pytest.mark.parametrize("link", ["exp(z**2)", "exp(z**2/2)", "1/z", "sqrt(z)", "abs(z - 1)", "tan(z)"])
def test_means_that_are_not_there_or_not_known_are_refused(link):
    with pytest.raises(QuantityError, match=r"Gaussian means of .* are not known to 1e-10"):
        information_exponent(link)
    with pytest.raises(QuantityError, match="Gaussian means of the slope"):
        limiting_time(OnePass("z", "exp(z**2)", "0.1/d"))
