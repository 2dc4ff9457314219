"""Gaussian kernels over arrays: against enclosures, against plain quadrature, and their own rules."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import DeepKernel, layer_kernel
from theoryck.numerics.proved.kernel import gaussian_kernel

# s1, s2, c with c^2 <= .95^2 s1 s2, small, large and unequal variances, exact in binary.
TRIPLES = [
    (1, 1, Fraction(1, 2)),
    (Fraction(1, 2), Fraction(9, 4), Fraction(-1)),
    (Fraction(1, 4), Fraction(1, 16), Fraction(1, 64)),
    (3, 4, Fraction(13, 4)),
]

RNG_SEED = 20261128


def grams(n: int, d: int, count: int = 3) -> np.ndarray:
    inputs = np.random.default_rng(RNG_SEED).standard_normal((count, d, n)) / math.sqrt(d)
    return np.swapaxes(inputs, 1, 2) @ inputs


def brute(phi: Activation, s1: float, s2: float, c: float) -> float:
    """E phi(u) phi(v) by a product trapezoidal rule: for phi analytic in a strip it converges geometrically."""
    z, step = np.linspace(-12, 12, 1201, retstep=True)
    weight = np.exp(-z * z / 2) * step / math.sqrt(2 * math.pi)
    v = c / math.sqrt(s1) * z[:, None] + math.sqrt(s2 - c * c / s1) * z
    return float(weight * phi(math.sqrt(s1) * z) @ (phi(v) @ weight))


@pytest.mark.parametrize(
    "name",
    [
        "tanh",
        "erf",
        "sin(2*x)",
        "x_gauss",
        "relu",
        "cos",
        "-3*abs(x)",
        "hardtanh",
        "2*x",
        "exp(-x**2/3)",
        "2*heaviside(x)",
        "sign(x)",
    ],
)
def test_entries_equal_enclosures(name: str) -> None:
    phi, kernel = Activation(name), layer_kernel(name)
    for s1, s2, c in TRIPLES:
        gram = np.array([[float(s1), float(c)], [float(c), float(s2)]])
        values = kernel(gram)
        for row, column, pair in [(0, 1, (s1, s2, c)), (0, 0, (s1, s1, s1)), (1, 1, (s2, s2, s2))]:
            exact = gaussian_kernel(phi, *pair, 15)
            size = math.sqrt(values[0, 0] * values[1, 1])
            # Rounding and RELATIVE_TAIL are below 1e-12 g; the enclosure has 15 digits.
            assert values[row, column] == pytest.approx(float(exact.midpoint), abs=1e-12 * size + 2 * float(exact.radius))


@pytest.mark.parametrize("name", ["tanh", "arctan", "gelu", "softplus", "erf_shifted", "x_over_sqrt", "he3_mix"])
def test_entries_equal_a_product_rule(name: str) -> None:
    phi, kernel = Activation(name), layer_kernel(name)
    for s1, s2, r in [(1.0, 1.0, 0.5), (0.5, 2.25, -0.9), (0.3, 0.05, 0.1), (2.0, 1.5, 0.99)]:
        c = r * math.sqrt(s1 * s2)
        assert kernel(np.array([[s1, c], [c, s2]]))[0, 1] == pytest.approx(brute(phi, s1, s2, c), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", ["hardtanh", "max(-1, min(1, x)) + abs(x)"])
def test_kinks_close_to_the_diagonal(name: str) -> None:
    # Here no table converges: the tail of the series is c_k^2 ~ k^(-5/2).
    kernel = layer_kernel(name)
    for r in ("0.98", "0.9999"):
        exact = gaussian_kernel(kernel.activation, 1, 1, Fraction(r), 12)
        value = kernel(np.array([[1.0, float(r)], [float(r), 1.0]]))[0, 1]
        assert value == pytest.approx(float(exact.midpoint), abs=1e-10 + float(exact.radius))
    # In one dimension all correlations are 1, and h = E phi(a z) phi(b z).
    inputs = np.array([[1.0, 2.0, -0.5]])
    z, weight = np.linspace(-12, 12, 480001, retstep=True)
    columns = kernel.activation(np.outer(inputs[0], z))
    wanted = (columns * np.exp(-z * z / 2)) @ columns.T * weight / math.sqrt(2 * math.pi)
    # The trapezoidal rule is off by step^2 at a kink: 2.5e-9 here.
    assert kernel(inputs.T @ inputs) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("name", ["tanh", "erf", "gelu", "relu"])
def test_shapes_crossings_and_pieces(name: str) -> None:
    kernel, gram = layer_kernel(name), grams(9, 12)
    whole = kernel(gram)
    assert whole.shape == gram.shape
    assert np.array_equal(whole, np.swapaxes(whole, 1, 2)) or np.allclose(whole, np.swapaxes(whole, 1, 2), rtol=0, atol=1e-16)
    # New inputs give the same numbers as if they had been there from the start, to the accuracy of the kernel.
    cross = kernel.cross(gram[:, :6, :6], gram[:, :6, 6:], np.diagonal(gram, axis1=1, axis2=2)[:, 6:])
    assert cross == pytest.approx(whole[:, :6, 6:], abs=1e-12)
    assert kernel.variance(np.diagonal(gram, axis1=1, axis2=2)) == pytest.approx(np.diagonal(whole, axis1=1, axis2=2), abs=0)
    assert kernel(gram[None, :, :2, :2]).shape == (1, 3, 2, 2)
    assert np.linalg.eigvalsh(whole).min() > -1e-12


def test_large_and_small_variances() -> None:
    tanh = layer_kernel("tanh")
    # tanh(u) = u - u^3/3 + ...: h = c - c(s1 + s2) + O(s^3).
    assert tanh(np.array([[1e-8, 4e-9], [4e-9, 1e-8]]))[0, 1] == pytest.approx(4e-9 * (1 - 2e-8), rel=1e-12)
    assert tanh(np.array([[0.0, 0.0], [0.0, 1.0]])).tolist()[0] == [0.0, 0.0]
    # phi(0) = log 2 for softplus, and E softplus(Z) = .806059.
    softplus = layer_kernel("softplus")(np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert softplus[0] == pytest.approx([math.log(2) ** 2, math.log(2) * 0.8060591])
    # tanh -> sign as s grows: h -> (2/pi) asin(r), the difference is O(s^(-1/2)).
    steep = tanh(np.array([[400.0, 200.0], [200.0, 400.0]]))[0, 1]
    assert steep == pytest.approx(brute(tanh.activation, 400, 400, 200), abs=2e-3)
    assert abs(steep - 1 / 3) < 0.05


def test_depth() -> None:
    # sigma_0, ..., sigma_4 of erf, to 15 digits from mpmath.
    sigma = [1, 0.464559054397540, 0.319909009680631, 0.255171840475481, 0.219432487414185]
    for depth in range(5):
        assert DeepKernel(Activation("erf"), depth)(np.eye(2))[0, 0] == pytest.approx(sigma[depth], rel=1e-14)
    deep, gram = DeepKernel(Activation("tanh"), 3), grams(6, 8)
    s = np.diagonal(gram, axis1=1, axis2=2)
    old, cross, new = deep.cross(gram[:, :4, :4], gram[:, :4, 4:], s[:, 4:])
    whole = deep(gram)
    assert old == pytest.approx(whole[:, :4, :4], abs=1e-12)
    assert cross == pytest.approx(whole[:, :4, 4:], abs=1e-12)
    assert new == pytest.approx(np.diagonal(whole, axis1=1, axis2=2)[:, 4:], abs=1e-13)


def test_a_truncated_series_would_be_seen() -> None:
    # Without its third order tanh's kernel is off by c_3^2 r^3 ~ 1e-3: the comparisons above are not vacuous.
    phi, gram = Activation("tanh"), np.array([[1.0, 0.5], [0.5, 1.0]])
    rho = 0.605705509602188  # E tanh'(Z)
    assert abs(layer_kernel(phi)(gram)[0, 1] - 0.5 * rho**2) > 1e-3


def test_pickles_and_refuses() -> None:
    kernel, gram = layer_kernel("tanh"), grams(4, 4, 1)
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(gram), kernel(gram))
    with pytest.raises(ValueError, match=r"gram must have shape"):
        kernel(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"finite numbers >= 0, got .*-1"):
        kernel(np.array([[-1.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"no Gram matrix of real vectors"):
        kernel(np.array([[1.0, 1.5], [1.5, 1.0]]))
    with pytest.raises(ValueError, match=r"cross must have shape"):
        kernel.cross(gram, np.ones((1, 3, 2)), np.ones((1, 2)))
