"""Bayesian linear networks of finite widths exactly: reference values, other integrals, other routes, refusals."""

import csv
import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import ExactError
from theoryck.theory.renormalisation import bayesian_network, linear_posterior
from theoryck.theory.renormalisation.proved.linear import LinearData, posterior_of

DATA = Path(__file__).parents[1] / "data"
SHORT = {"4x4": 3e-21, "8x8x8x8x8x8": 4e-15}
"""Rows of the file that are known to fewer than its 25 digits: 4x4 is integrated with Bessel functions below."""


def rows(name):
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def data(name):
    return json.loads((DATA / name).read_text())


@pytest.mark.parametrize("row", rows("renorm_fc_linear_exact.csv"), ids=lambda row: row["widths"])
def test_reference(row):
    """Half a unit of the 25th digit, rows of six layers and 4x4 excepted; radii are proved."""
    given = data("renorm_fc_data.json")
    widths = [math.inf if width == "inf" else int(width) for width in row["widths"].split("x")]
    found = linear_posterior(
        given["X"], given["y"], widths=widths, temperature=given["T"], new_inputs=given["Xtest"], new_labels=given["ytest"]
    )
    pairs = {"logZ_exact": found.log_evidence, "train_exact": found.train_loss, "gibbs_test_exact": found.test_loss}
    pairs |= {"t_exact": found.scale}
    for k in (0, 1):
        pairs |= {f"mean{k + 1}_exact": found.mean[k], f"var{k + 1}_exact": found.variance[k]}
    for name, value in pairs.items():
        expected = Decimal(row[name])
        unit = Decimal(10) ** (expected.adjusted() - 24)
        assert value.rigorous
        assert value.radius < unit
        assert abs(value.midpoint - expected) <= max(unit, Decimal(SHORT.get(row["widths"], 0)))


@pytest.mark.parametrize("row", rows("kernel_renormalisation_linear_exact.csv"), ids=lambda row: row["N1"])
def test_float_reference(row):
    """Written floats of a quadrature in floats: 1e-15 absolute, and 1e-14 for E Q, which has lost a digit more."""
    given = data("kernel_renormalisation_data.json")
    found = linear_posterior(
        given["X"],
        given["y"],
        widths=int(row["N1"]),
        temperature=float(row["T"]),
        precisions=(1, float(row["l1"])),
        new_inputs=given["Xtest"],
        new_labels=given["ytest"],
    )
    assert float(found.test_loss) == pytest.approx(float(row["exact_gibbs_loss"]), abs=1.5e-15)
    assert float(found.bias2) == pytest.approx(float(row["exact_posterior_mean_mse"]), abs=1.5e-15)
    assert float(found.scale) == pytest.approx(float(row["exact_mean_Q"]), abs=1e-14)


# Other ways to the same numbers ----------------------------------------------------------------------------------------------

X, Y, HEAT = [[1, 0.5], [0.25, -1], [-0.5, 2]], [1, -2, 0.5], 0.3


def integrand(t, kernel, count=3):
    """N(y; 0, T + t K) from mpmath's own linear algebra."""
    whole = mpmath.matrix(count)
    for i in range(count):
        for j in range(count):
            whole[i, j] = t * kernel[i][j] + (mpmath.mpf("0.3") if i == j else 0)
    y = mpmath.matrix(Y)
    form = (y.T * mpmath.lu_solve(whole, y))[0]
    return mpmath.exp(-form / 2) / mpmath.sqrt(mpmath.det(2 * mpmath.pi * whole))


def kernel():
    rows = [[mpmath.mpf(value) for value in row] for row in X]
    return [[sum(a * b for a, b in zip(one, two)) / 2 for two in rows] for one in rows]


def test_one_layer_by_another_integral():
    """int N(y; 0, T + Q K) of the gamma density in Q itself, P > N_0: 18 digits."""
    with mpmath.workdps(30):
        half, table = mpmath.mpf(5) / 2, kernel()

        def density(q):
            return half**half / mpmath.gamma(half) * q ** (half - 1) * mpmath.exp(-half * q)

        value = mpmath.log(mpmath.quad(lambda q: density(q) * integrand(q, table), [0, 0.3, 1, 2, 4, 8, 16, 40]))
        found = linear_posterior(X, Y, widths=5, temperature=HEAT)
        assert abs(value - mpmath.mpf(str(found.log_evidence.midpoint))) < 1e-18


def test_two_layers_by_bessel_functions():
    """The density of the product of two chi-squares has K_{a-b}: 16 digits where the file's row of widths 4x4 has 21."""
    with mpmath.workdps(30):
        a, b, table = mpmath.mpf(4) / 2, mpmath.mpf(7) / 2, kernel()
        c = a * b

        def density(t):
            bessel = mpmath.besselk(a - b, 2 * mpmath.sqrt(c * t))
            return 2 * c * (c * t) ** ((a + b) / 2 - 1) * bessel / (mpmath.gamma(a) * mpmath.gamma(b))

        points = [0, 0.02, 0.1, 0.5, 1, 2, 5, 10, 25, 60, 150, 400]
        value = mpmath.log(mpmath.quad(lambda t: density(t) * integrand(t, table), points))
        found = linear_posterior(X, Y, widths=(4, 7), temperature=HEAT)
        assert abs(value - mpmath.mpf(str(found.log_evidence.midpoint))) < 1e-16


@pytest.mark.parametrize("widths", [(5,), (5, 4), (6, 5, 4)])
def test_zero_temperature_is_a_meijer_function(widths):
    """E t^(-n/2) e^(-A/2t) = c^(n/2)/prod Gamma(d/2) G^{L+1,0}_{0,L+1}(cA/2; 0, (d_l - n)/2), c = prod d_l/2: 15 digits."""
    x, y = [[1, 0.5, 0], [0.25, -1, 1]], [1, -2]
    with mpmath.workdps(40):
        gram = mpmath.matrix([[sum(a * b for a, b in zip(one, two)) / mpmath.mpf(3) for two in x] for one in x])
        power = (mpmath.matrix(y).T * mpmath.lu_solve(gram, mpmath.matrix(y)))[0]
        c = math.prod(mpmath.mpf(d) / 2 for d in widths)
        meijer = mpmath.meijerg([[], []], [[0] + [mpmath.mpf(d - 2) / 2 for d in widths], []], c * power / 2)
        mean = c / math.prod(mpmath.gamma(mpmath.mpf(d) / 2) for d in widths) * meijer
        value = mpmath.log(mean) - mpmath.log(mpmath.det(gram)) / 2 - mpmath.log(2 * mpmath.pi)
        found = linear_posterior(x, y, widths=widths, temperature=0)
        assert found.log_evidence.rigorous
        assert abs(value - mpmath.mpf(str(found.log_evidence.midpoint))) < 1e-15


def test_a_spectrum_and_its_data_agree():
    """Orthogonal inputs of kernel 1: the same polynomials, from matrices and from eigenvalues."""
    x, y = (2 * np.eye(4)).tolist(), [1.5, -1.5, 1.5, 1.5]
    one = linear_posterior(x, y, widths=6, temperature="1/10")
    two = posterior_of(LinearData.spectrum([1], [9], [4]), (6,), Fraction(1, 10))
    assert one.log_evidence.midpoint == two.log_evidence.midpoint
    assert one.train_loss.midpoint == two.train_loss.midpoint


def test_a_large_one_is_proved_too():
    """P = N = 256, labels far from 0: Stirling's series and the saddle's fluctuations agree to 1/N."""
    data = LinearData.spectrum([1], [256], [256])
    found = posterior_of(data, (256,), Fraction(1, 10), 10)
    assert found.log_evidence.rigorous
    assert found.log_evidence.radius < 1e-6
    saddle = bayesian_network(np.eye(256), np.ones(256), widths=256, temperature=0.1)
    assert float(found.log_evidence) == pytest.approx(saddle.one_loop, abs=0.01)


def test_draws_of_chi_squares():
    """Widths (3, 5): a mean over 400000 products of chi-squares, five standard errors."""
    rng = np.random.default_rng(3)
    t = rng.chisquare(3, 400_000) * rng.chisquare(5, 400_000) / 15
    values, vectors = np.linalg.eigh(np.array(X) @ np.array(X).T / 2)
    square = (vectors.T @ np.array(Y)) ** 2
    whole = HEAT + t[:, None] * np.maximum(values, 0)
    weights = np.exp(-(square / whole).sum(axis=1) / 2) / np.sqrt((2 * math.pi * whole).prod(axis=1))
    found = linear_posterior(X, Y, widths=(3, 5), temperature=HEAT)
    expected = math.exp(float(found.log_evidence))
    assert abs(weights.mean() - expected) < 5 * weights.std() / math.sqrt(len(t))


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0}, "temperature = 0 needs a kernel of full rank"),
        ({"temperature": -1}, "temperature must be a number >= 0"),
        ({"widths": 0}, "widths must be an integer >= 1, got 0"),
        ({"labels": [1]}, r"inputs must be \(P, N_0\) for labels \(P,\)"),
        ({"labels": [1, "a", 2]}, "an entry of labels must be a number, got 'a'"),
        ({"precisions": (1, 1, 1)}, "precisions must be one number or lambda_0"),
        ({"new_inputs": [[1]]}, "rows of one length"),
        ({"new_inputs": [[1, 1]], "new_labels": [1, 2]}, r"new_labels must be \(1,\)"),
    ],
    ids=lambda part: str(part)[:40] if isinstance(part, str) else "",
)
def test_refusals(changes, message):
    settings = {"inputs": X, "labels": Y, "widths": 3, "temperature": HEAT} | changes
    with pytest.raises(ValueError, match=message):
        linear_posterior(settings.pop("inputs"), settings.pop("labels"), **settings)
    assert issubclass(ExactError, ValueError)
