"""Certificates of linear networks that learn: their inequalities against other programs, and values against what they prove."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import theoryck as tc
from theoryck.quantities import NoCertificate
from theoryck.theory.learning.certificates import free_entropy_variance, information_gap, linear_model_variance
from theoryck.theory.learning.proved.linear_model import glm_information
from theoryck.theory.learning.proved.one_sample import one_sample_gap

HALF = Fraction(1, 2)
LINEAR = tc.Activation("x")


def setting(phi, *widths, samples, noise=HALF):
    return tc.TeacherStudent(tc.DeepNetwork(phi, depth=len(widths) - 1, widths=widths), samples=samples, noise=noise)


# -- the lemmas -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 10, 1000, 10**6, 10**9])
def test_the_mean_logarithm_of_chi_square_lies_below_binets_bound(d):
    with mpmath.workdps(40):
        value = mpmath.log(mpmath.mpf(d) / 2) - mpmath.digamma(mpmath.mpf(d) / 2)
        bound = mpmath.mpf(1) / d + mpmath.mpf(1) / (3 * mpmath.mpf(d) ** 2)
        assert 0 < value < bound
        assert bound - value < mpmath.mpf(2) / d**4 + 0.07 * (d == 1)  # the next term of the series is -2/(15 d^4)


def _mean(function, n):
    """E f(chi^2_n/n) by quadrature on three pieces."""
    density = stats.chi2(n, scale=1 / n).pdf
    pieces = ((1e-9, 1), (1, 3), (3, np.inf))
    return sum(integrate.quad(lambda t: function(t) * density(t), *ends, limit=200)[0] for ends in pieces)


@pytest.mark.parametrize("start", [17, 20, 64, 1024])
def test_the_moments_of_the_variance_bound_means_that_quadrature_finds(start):
    """E max(1, t)^4, E max(1, 1/t)^4 and E max(1, t)^4/t^2 for t = chi^2_N/N, and that they decrease in N."""
    m = {j: float(np.prod([1 + 2 * i / start for i in range(j)])) for j in (4, 8)}
    i = {j: float(np.prod([1 / (1 - 2 * k / start) for k in range(1, j + 1)])) for j in (2, 4, 8)}
    v = m[8] - 2 * m[4] + 1
    bounds = [
        1 + (m[4] - 1 + v**0.5) / 2,
        1 + (i[4] - 1 + (i[8] - 2 * i[4] + 1) ** 0.5) / 2,
        i[2] + (i[4] * v) ** 0.5,
    ]
    functions = [lambda t: max(1, t) ** 4, lambda t: max(1, 1 / t) ** 4, lambda t: max(1, t) ** 4 / t**2]
    for bound, function in zip(bounds, functions, strict=True):
        found, later = (_mean(function, n) for n in (start, start + 1))
        assert later < found < bound


def test_the_gradient_of_log_det_is_what_the_lemma_says():
    """|grad log det(I + c G^T G)|^2 = 4 c sum mu/(1 + mu)^2 <= c min(n, d), by central differences of step 1e-5."""
    rng, c, step = np.random.default_rng(0), 0.3, 1e-5
    g = rng.standard_normal((3, 5))

    def value(matrix):
        return np.linalg.slogdet(np.eye(5) + c * matrix.T @ matrix)[1]

    found = 0.0
    for index in np.ndindex(*g.shape):
        change = np.zeros_like(g)
        change[index] = step
        found += ((value(g + change) - value(g - change)) / (2 * step)) ** 2
    mu = c * np.linalg.eigvalsh(g.T @ g)
    assert found == pytest.approx(4 * c * float((mu / (1 + mu) ** 2).sum()), rel=1e-7)
    assert found <= c * 3


# -- values -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "noise", "d"), [(1, HALF, 8), (1, Fraction(2), 512), (2, Fraction(2), 64)])
def test_no_gap_of_one_sample_exceeds_its_certificate(depth, noise, d):
    """The gap of one sample by quadrature, whose grids agree to far less than the room that is left."""
    found = information_gap(LINEAR, depth, noise, start=d)
    gap = one_sample_gap("x", (d,) * (depth + 1), noise)
    assert -float(found.constant) / d <= float(gap) <= 1e-9


@pytest.mark.parametrize(("widths", "samples"), [((4, 4), 4), ((16, 16), 16), ((8, 4, 12), 32), ((16, 8), 2)])
def test_no_gap_of_many_samples_exceeds_its_certificate(widths, samples):
    """1000 data sets: the mean lies below the bound by far more than five standard errors."""
    smallest = min(widths[1:])
    gap = tc.learning.mutual_information_gap(setting("x", *widths, samples=samples), per_sample=True)
    draws = gap.draw(np.random.default_rng(0), 1000, {})
    bound = float(gap.for_every_size(start=smallest).constant) / smallest
    assert -bound < draws.mean() - 5 * draws.std() / 1000**0.5
    assert draws.mean() < 0


@pytest.mark.parametrize(("widths", "samples"), [((17, 17), 17), ((32, 32), 32), ((20, 32, 24), 40), ((64, 17), 64)])
def test_no_variance_exceeds_its_certificate(widths, samples):
    """400 draws of eight data sets each; the certificate is loose by (1 + L)/(1/2 + L m_1^2/2), and more at small sizes."""
    smallest = min(samples, *widths[1:])
    variance = tc.learning.free_entropy_variance(setting("x", *widths, samples=samples))
    draws = variance.draw(np.random.default_rng(1), 400, {})
    bound = float(variance.for_every_size(start=smallest).constant) / smallest
    assert draws.mean() + 5 * draws.std() / 400**0.5 < bound


@pytest.mark.parametrize(("phi", "d", "samples"), [("x", 1, 1), ("x", 16, 4), ("x", 8, 64), ("erf", 16, 16), ("tanh", 4, 32)])
def test_the_variance_of_the_linear_model_lies_between_its_two_sides(phi, d, samples):
    """2000 draws of eight data sets each: both sides within five standard errors."""
    variance = tc.learning.free_entropy_variance(setting(phi, d, d, samples=samples), equivalent=True)
    draws = variance.draw(np.random.default_rng(2), 2000, {})
    found = variance.for_every_size(start=samples)
    assert found.least == "0.5"
    error = 5 * draws.std() / 2000**0.5
    assert 0.5 / samples - error < draws.mean() < float(found.constant) / samples + error


def test_constants_tend_to_those_of_the_lemmas():
    """L/2 g/(g + Delta), 1 + L and 1/2."""
    far = 10**12
    assert float(information_gap(LINEAR, 3, HALF, far).constant) == pytest.approx(1.0, rel=1e-6)
    assert float(information_gap(tc.Activation("x/2"), 1, HALF, far).constant) == pytest.approx(0.5 * 0.25 / 0.75, rel=1e-6)
    assert float(free_entropy_variance(LINEAR, 2, HALF, far).constant) == pytest.approx(3.0, rel=1e-4)
    assert float(linear_model_variance(LINEAR, 1, HALF, far).constant) == pytest.approx(0.5, rel=1e-6)


def test_the_information_of_the_linear_model_is_the_one_that_is_bounded():
    """I^(0) of one sample in the limit of large d: log(1 + g/Delta)/2."""
    assert float(glm_information(1, 0, HALF, 1, 2000)) == pytest.approx(0.5 * np.log(3), rel=1e-3)


# -- refusals ---------------------------------------------------------------------------------------------------------------------


def test_what_has_no_certificate_says_why():
    with pytest.raises(NoCertificate, match=r"needs a linear phi, such as 'x', and depth >= 1, got tanh\(x\) at depth 1"):
        information_gap(tc.Activation("tanh"), 1, HALF)
    with pytest.raises(NoCertificate, match=r"infinite at d = 16.*take d >= 17") as refused:
        free_entropy_variance(LINEAR, 1, HALF, start=16)
    assert refused.value.start == 17
    variance = tc.learning.free_entropy_variance(setting("x", "d", "d", samples="n"))
    with pytest.raises(NoCertificate, match=r"proved to decay like d\*\*\(-1\), not like d\*\*\(-2\); take the rate"):
        variance.for_every_size(Fraction(-2), start=64)
    words = r"not proved from d = 64 on, where 3\.93\d+ is the least constant that is: from d = 128 on 3\.9 is proved"
    with pytest.raises(NoCertificate, match=words):
        variance.for_every_size(constant=Decimal("3.9"), start=64)
    assert variance.for_every_size(constant=Decimal("3.94"), start=64).constant.startswith("3.93")
    assert tc.learning.free_entropy_variance(setting("tanh", "d", "d", samples="n")).certified_sizes == ()
