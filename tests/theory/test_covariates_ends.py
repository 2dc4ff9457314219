"""The Gaussian covariate model at the ends of its ranges: edges of spectra, units, tiny residuals, all sizes of data, refusals."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.theory.covariates import limits
from theoryck.theory.covariates.limits import covariate_limit, error_variance_limit, separability_threshold
from theoryck.theory.covariates.model import CovariateModel

ISO, HALF = CovariateModel([1.0], [1.0], 1, 1), CovariateModel([1.0], [0.5], 1, 1)


# Marchenko-Pastur laws in closed form ----------------------------------------------------------------------------------------


def stieltjes(ratio, z):
    """<1/(x + z)> over the eigenvalues of F F^T: the positive root of c z g^2 + (z + 1 - c) g - 1 = 0."""
    b = z + 1 - ratio
    return (-b + mpmath.sqrt(b * b + 4 * ratio * z)) / (2 * ratio * z)


def random_features_error(kappa_1, kappa_star, gamma, alpha, penalty):
    """Ridge test error of random features from the Stieltjes transform at 60 digits."""
    with mpmath.workdps(60):
        k, star, gamma = mpmath.mpf(kappa_1) ** 2, mpmath.mpf(kappa_star) ** 2, mpmath.mpf(gamma)

        def inverse(kappa):  # <1/(kappa + omega)>, omega = k x + star
            return stieltjes(1 / gamma, (kappa + star) / k) / k

        # kappa (alpha - df_1) = penalty with df_1 = 1 - kappa <1/(kappa + omega)>
        def excess(u):
            kappa = mpmath.exp(u)
            return kappa * (alpha - 1 + kappa * inverse(kappa)) / penalty - 1

        low, high = mpmath.mpf(-200), mpmath.mpf(20)
        for _ in range(220):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        kappa = mpmath.exp(low)
        first, second = inverse(kappa), -mpmath.diff(inverse, kappa)
        df2 = 1 - 2 * kappa * first + kappa**2 * second
        at_zero = inverse(mpmath.mpf(0))
        residual = 1 - (1 - star * at_zero) / gamma
        # <kappa^2 t/(omega (kappa + omega)^2)>, t = omega - star, in partial fractions
        lost = kappa**2 * second - star * (at_zero - first - kappa * second)
        return float((residual + lost / gamma) / (1 - df2 / alpha))


@pytest.mark.parametrize(
    ("gamma", "kappa_star"),
    [(0.5, 0.2), (0.999, 0.2), (0.9999, 0.2), (1.0, 0.2), (1.0, 1e-2), (1.0, 1e-3), (1.0001, 1e-3), (1 - 1e-9, 1e-2), (3, 1e-6)],
)
def test_random_features_with_an_edge_near_zero(gamma, kappa_star):
    """Without penalty the lower edge of the spectrum decides: right to rounding however near it is."""
    model = CovariateModel.random_features(0.8, kappa_star, gamma)
    found = covariate_limit(model, 1.5, 1e-9).test_error
    assert found == pytest.approx(random_features_error(0.8, kappa_star, gamma, 1.5, 1e-9), rel=1e-11)
    assert len(model.omega) < 400
    # What 256 even steps gave near gamma = 1 would be seen.
    assert found != pytest.approx(random_features_error(0.8, kappa_star, gamma + 1e-3, 1.5, 1e-9), rel=1e-5)


def variance_by_stieltjes(model, alpha, penalty, what):
    """Moments <(x + lambda)^-k> as derivatives of the Stieltjes transform of omega times a Marchenko-Pastur law."""
    with mpmath.workdps(60):
        omega, r = mpmath.mpf(model.omega[0]), mpmath.mpf(model.residual)
        s = mpmath.mpf(model.diagonal[0]) / (mpmath.mpf(model.gamma) * omega**2)
        alpha, z = mpmath.mpf(alpha), mpmath.mpf(penalty)

        def g(z):
            # The p eigenvalues of V^T V/p, or the n of V V^T/p.
            return (
                stieltjes(1 / alpha, z / (alpha * omega)) / (alpha * omega)
                if what == "test_error"
                else stieltjes(alpha, z / omega) / omega
            )

        moment = [0, g(z)] + [mpmath.mpf(-1) ** k * mpmath.diff(g, z, k) / mpmath.factorial(k) for k in (1, 2, 3)]
        # (a (x + z) + d)^2 (x + z)^-4 with the numerator of either formula
        a, d = (r, z * z * s - r * z) if what == "test_error" else (s, r - s * z)
        mean = a * a * moment[2] + 2 * a * d * moment[3] + d * d * moment[4]
        return float(2 * alpha * omega**2 * mean if what == "test_error" else 2 * z**4 * mean)


@pytest.mark.parametrize("what", ["test_error", "train_loss"])
@pytest.mark.parametrize(("alpha", "penalty"), [(1, 1e-6), (1, 1e-8), (0.5, 1e-5), (0.999, 1e-4), (1e-12, 1), (2, 0.5), (30, 1e-3)])
def test_variances_near_interpolation_and_with_little_data(alpha, penalty, what):
    model = CovariateModel([2.0], [0.7], 1, 0.5)
    expected = variance_by_stieltjes(model, alpha, penalty, what)
    assert error_variance_limit(model, alpha, penalty, what=what) == pytest.approx(expected, rel=1e-10)


def test_variances_in_closed_form():
    """At alpha = 1 the test error's tends to 1/32 penalty^(-3/2); with w = 0 the training loss's is that of a chi-square."""
    assert error_variance_limit(HALF, 1, 1e-12) * 1e-18 == pytest.approx(1 / 32, rel=1e-5)
    for alpha in (1e-15, 1e-16):
        assert error_variance_limit(HALF, alpha, 1, what="train_loss") == pytest.approx(1 / 8, rel=1e-13)


# Separability ----------------------------------------------------------------------------------------------------------------


def test_separability_with_little_noise():
    """For residual r -> 0 the threshold is 1/(c sqrt(r)), c = min_s sqrt(2/pi) int Phi(w) E (Z - s w)_+^2 dw at s = 1/sqrt(2)."""

    def constant(s):
        def integrand(w):
            a = -s * w
            return mpmath.ncdf(w) * ((1 + a * a) * mpmath.ncdf(a) + a * mpmath.npdf(a))

        return mpmath.sqrt(2 / mpmath.pi) * mpmath.quad(integrand, [-12, -4, 0, 4, 20])

    least = constant(1 / mpmath.sqrt(2))
    assert least < min(constant(0.7), constant(0.714))
    for residual in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12):
        threshold = separability_threshold(CovariateModel([1.0], [1 - residual], 1, 1))
        assert threshold * math.sqrt(residual) == pytest.approx(float(1 / least), rel=max(residual, 1e-10))
    assert separability_threshold(HALF) == pytest.approx(2.695347694708, rel=1e-12)


def test_residuals_are_computed_from_the_decimals():
    assert CovariateModel([1.0], [1 - 1e-12], 1, 1).residual == 1e-12
    assert CovariateModel([0.3, 0.7], [0.09, 0.21], 0.3, 1).residual == 0
    assert CovariateModel.random_features(1, 1e-10, 1).residual == pytest.approx(1e-10, rel=1e-8)  # star^2 <1/(x + star^2)>
    mixed = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    assert CovariateModel.from_matrices(mixed @ mixed.T, mixed @ mixed.T, mixed @ mixed.T).residual == 0


# Units -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["ridge", "classification", "logistic"])
@pytest.mark.parametrize(("omega", "rho"), [(1, 1e-20), (1, 1e20), (1e-15, 1e-5), (1e19, 1e-9)])
def test_units_of_any_size(task, omega, rho):
    """Features in units of ``omega``, the teacher's field in units of ``rho``: only ridge sees the latter."""
    model = CovariateModel([omega, omega / 2], [0.3 * omega * rho, 0.1 * omega * rho], rho, 1)
    plain = covariate_limit(CovariateModel([1, 0.5], [0.3, 0.1], 1, 1), 1.7, 0.2, task, noise=0.1)
    found = covariate_limit(model, 1.7, 0.2 * omega, task, noise=0.1 * rho)
    scale, root = (rho, 1.0) if task == "ridge" else (1.0, math.sqrt(rho))
    changed = {"q": scale, "q_hat": scale, "m": scale * root, "m_hat": 1 / root, "test_error": scale, "train_loss": scale}
    for name, factor in (changed | {"V": 1, "V_hat": 1, "penalty": omega}).items():
        assert getattr(found, name) == pytest.approx(factor * getattr(plain, name), rel=1e-12), name
    assert found.residual < 1e-12


@pytest.mark.parametrize("task", ["classification", "logistic"])
@pytest.mark.parametrize("penalty", [1e12, 1e29])
def test_strong_penalties_leave_the_average_of_the_samples(task, penalty):
    """w is then sum_mu y_mu v_mu: m^2/q = (2/pi) alpha/(1 + (2/pi) alpha) for isotropic features."""
    for alpha in (1, 3):
        share = 2 / math.pi * alpha
        expected = math.acos(math.sqrt(share / (1 + share))) / math.pi
        assert covariate_limit(ISO, alpha, penalty, task).test_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("task", ["ridge", "classification"])
def test_square_losses_over_the_numeric_domain(task):
    for model in (ISO, HALF, CovariateModel([0.1, 1, 3e-9, 1e-40], [0.02, 0.1, 0, 0], 1, 2)):
        for alpha in (1e-30, 1e-8, 0.5, 1 + 1e-9, 1e8, 1e30):
            for penalty in (1e-30, 1e-5, 1, 1e29):
                point = covariate_limit(model, alpha, penalty, task)
                assert point.residual < 1e-12
                assert 0 <= point.test_error < math.inf


def test_few_samples_keep_their_digits():
    """alpha - df_1 and alpha - df_2 of size alpha: to first order in alpha, the error of ridge is known."""
    for alpha in (1e-9, 1e-30):
        point = covariate_limit(ISO, alpha, 1)
        # df_1 = 1/(1 + kappa), kappa (alpha - df_1) = 1: kappa alpha = 2 to first order, m = 1/kappa
        assert point.m == pytest.approx(alpha / 2, rel=1e-8)


# Logistic --------------------------------------------------------------------------------------------------------------------


def test_a_cold_start_reaches_what_descending_penalties_reach():
    for k in (9, 12):
        point = covariate_limit(ISO, 3, 10.0**-k, "logistic")
        fixed = limits._FixedPoint(ISO, 3.0, ISO.rho, ISO.residual)
        assert point.test_error == pytest.approx(limits._descending(fixed, 10.0**-k, 0.0).test_error, rel=1e-9)
        assert point.residual < 1e-12


def test_much_data_and_certain_labels():
    """Without residual the error falls like alpha^(-2/3) where the penalty keeps the weights: six decades are one power."""
    points = [covariate_limit(ISO, 10.0**k, 0.1, "logistic") for k in (6, 8, 10, 12)]
    assert max(point.residual for point in points) < 1e-12
    for one, two in pairwise(points):
        assert math.log(one.test_error / two.test_error) / math.log(100) == pytest.approx(2 / 3, abs=0.002)


def test_both_rules_of_quadrature_agree(monkeypatch):
    """Even steps, which are right for all arguments (finer by a fifth), and steps that are even in asinh."""
    rng = np.random.default_rng(0)

    def even(spread, slope, V):
        step = 0.8 * limits.analytic_step(spread, slope)
        nodes = step * np.arange(-math.ceil(9 / step), math.ceil(9 / step) + 1.0)
        return nodes, np.exp(-(nodes**2) / 2) * step / math.sqrt(2 * math.pi)

    shorter = 0
    for _ in range(100):
        V, q, slope = 10 ** rng.uniform(-6, 2), 10 ** rng.uniform(-4, 5), 10 ** rng.uniform(-1, 2.5)
        orders = limits.Orders(V, q, slope, 1.0)
        (first, loss, nodes), plain = limits.channel(orders, 2.0, 1.0, 1.0), None
        with monkeypatch.context() as patch:
            patch.setattr(limits, "gaussian_nodes", even)
            plain = limits.channel(orders, 2.0, 1.0, 1.0)
        assert (*first, loss) == pytest.approx((*plain[0], plain[1]), rel=1e-12)
        shorter += nodes < plain[2] / 3
    assert shorter > 20


def test_effort_is_limited_just_above_separability():
    threshold = separability_threshold(HALF)
    near = covariate_limit(HALF, threshold * (1 + 1e-3), 0, "logistic")
    assert near.residual < 1e-12
    with pytest.raises(NotConverged, match=r"became too many: 4e\+07 steps .* farther from the threshold of separability"):
        covariate_limit(HALF, threshold * (1 + 1e-6), 0, "logistic")
    with pytest.raises(NotConverged, match=r"up to alpha = inf the data are separable and .* bound; take penalty > 0$"):
        covariate_limit(ISO, 3, 0, "logistic")


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: covariate_limit(HALF, 0.5, 1e-300),
            r"penalty must lie between 1e-30 and 1e\+30, got 1e-300: change its unit",
        ),
        (lambda: covariate_limit(HALF, 0.5, 1e300, "logistic"), r"penalty must lie between .*, got 1e\+300"),
        (lambda: covariate_limit(HALF, 1e300, 1), r"alpha must lie between .*, got 1e\+300"),
        (lambda: covariate_limit(HALF, "1e400", 1), "alpha must .* got one that fits no float"),
        (lambda: covariate_limit(HALF, 1, 1, ["ridge"]), "task must be one of"),
        (lambda: CovariateModel([1e300], [1], 1, 1), r"omega must be a sequence of numbers between 0 and 1e\+30, got 1e\+300 at 0"),
        (lambda: CovariateModel([1e-300], [0], 1, 1), "the largest of omega must lie between 1e-30 and"),
        (lambda: CovariateModel([1j], [1], 1, 1), "omega must be .* got 1j at 0"),
        (lambda: CovariateModel({1.0}, [1], 1, 1), r"omega must be a sequence of numbers .*, got \{1.0\}"),
        (lambda: CovariateModel((x for x in [1]), [1], 1, 1), "omega must be .* got <generator"),
        (lambda: CovariateModel("12", [1], 1, 1), "omega must be .* got '12'"),
        (lambda: CovariateModel([1, True], [1, 0], 2, 1), "omega must be .* got True at 1"),
        (lambda: CovariateModel([10**400], [1], 1, 1), r"omega must be .* got 1000.* at 0"),
        (lambda: CovariateModel([1], [1 + 1e-9], 1, 1), "that the features explain of it, by 1e-09: no joint law"),
        (lambda: CovariateModel.from_matrices([[1]], [[1]], [[1]], [math.nan]), "theta must have finite entries"),
        (lambda: CovariateModel.from_matrices(np.ones((0, 0)), np.ones((0, 0)), np.ones((0, 0))), "must have shapes"),
        (lambda: CovariateModel.from_matrices([[1], [1, 2]], [[1]], [[1]]), "psi must be an array of numbers, got list"),
        (lambda: CovariateModel.random_features(1e300, 0.2, 1), r"kappa1 must lie between .*, got 1e\+300"),
        (lambda: error_variance_limit({}, 1, 1), "model must be a CovariateModel"),
        (lambda: error_variance_limit(ISO, 1, 0), "penalty must be a number > 0, got 0"),
        (lambda: separability_threshold(3), "model must be a CovariateModel"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_spellings_of_numbers():
    plain = covariate_limit(CovariateModel([0.5, 1], [0.25, 0.125], 1, 2), 0.5, 0.1)
    model = CovariateModel(["1/2", np.float32(1)], np.array([0.25, 0.125], dtype=np.float32), np.int64(1), "2")
    assert covariate_limit(model, "1/2", np.float32(0.1)) == plain
    assert covariate_limit(model, Fraction(1, 2), "1/10") == plain
