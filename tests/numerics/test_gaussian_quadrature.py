"""Kernels of steep and growing activations: against enclosures, closed forms and brute force; what has no number is an error."""

import math
from fractions import Fraction

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian import quadrature as kernel_quadrature
from theoryck.numerics.gaussian.kernels import DeepKernel, layer_kernel
from theoryck.numerics.gaussian.quadrature import largest_variance, mesh, pair_mean
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.theory.wide.limits import gaussian_process, wide_kernels
from theoryck.theory.wide.proved.kernels import wide_pair


def brute(phi: Activation, s1: float, s2: float, r: float, points: int = 6001) -> float:
    """E phi(u) phi(v) by a product trapezoidal rule, which converges geometrically for analytic phi."""
    z = np.linspace(-12, 12, points)
    weight = np.exp(-z * z / 2)
    weight /= weight.sum()
    total = 0.0
    for rows in np.array_split(np.arange(points), 20):
        v = math.sqrt(s2) * (r * z[rows, None] + math.sqrt((1 - r) * (1 + r)) * z)
        total += float(weight[rows] * phi(math.sqrt(s1) * z[rows]) @ (phi(v) @ weight))
    return total


@pytest.mark.parametrize(
    ("name", "s"),
    [
        ("tanh", 1e12),
        ("1 - tanh(x)**2", 1e12),
        ("tanh(100*x)", 1.0),
        ("atan(100*x)", 1.0),
        ("tanh(50*(x - 1))", 1.0),
        ("sqrt(abs(x))", 1.0),
        ("x*exp(x)", 16.0),
        ("x*exp(x)", 30.0),
        ("exp(x**2/20)*tanh(x)", 3.0),
        ("x**2*exp(x) + cos(x)", 20.0),
        ("max(0, x - 5)", 1.0),
    ],
)
def test_variances_equal_enclosures(name: str, s: float) -> None:
    exact = float(gaussian_expectation(Activation(name).expression ** 2, Fraction(s), 18))
    assert layer_kernel(name).variance([s])[0] == pytest.approx(exact, rel=5e-13)


def test_gaussian_and_exponential_growth() -> None:
    # E exp(2 q s Z^2) = (1 - 4 q s)^(-1/2), E exp(2 sqrt(s) Z) = exp(2 s).
    for q, name, variances in ((0.2, "exp(x**2/5)", (1.0, 1.24)), (0.01, "exp(x**2/100)", (16.0,))):
        for s in variances:
            assert layer_kernel(name).variance([s])[0] == pytest.approx((1 - 4 * q * s) ** -0.5, rel=1e-13)
    for s in (16.0, 20.0, 30.0):
        assert layer_kernel("exp(x)").variance([s])[0] == pytest.approx(math.exp(2 * s), rel=1e-14)
    sinh = layer_kernel("sinh(x)")([[1.0, 0.5], [0.5, 2.0]])
    assert sinh[0] == pytest.approx([math.e * math.sinh(1), math.exp(1.5) * math.sinh(0.5)], rel=1e-14)
    assert layer_kernel("cosh(x)")([[1.0, 0.5], [0.5, 2.0]])[0, 1] == pytest.approx(math.exp(1.5) * math.cosh(0.5), rel=1e-14)
    assert layer_kernel("exp(x**2/5)")([[1.0, 0.5], [0.5, 1.0]])[0, 1] == pytest.approx((0.6**2 - 0.2**2) ** -0.5, rel=1e-14)
    for name, s in (
        ("exp(x**2/5)", 1.26),
        ("exp(x**2/20)*tanh(x)", 6.0),
        ("exp(x**2)", 1.0),
        ("exp(exp(x))", 1.0),
        ("x*exp(x)", 1e3),
    ):
        with pytest.raises(ValueError, match="infinite"):
            layer_kernel(name).variance([s])
    with pytest.raises(ValueError, match="too large for float64"):
        layer_kernel("exp(x)").variance([400.0])
    assert largest_variance(Activation("exp(x**2/5)")) == pytest.approx(1.25)


@pytest.mark.parametrize("name", ["tanh", "1 - tanh(x)**2", "atan(x)"])
@pytest.mark.parametrize("r", [0.99, -0.9995])
def test_steep_kernels_close_to_the_diagonal(name: str, r: float) -> None:
    phi, kernel = Activation(name), layer_kernel(name)
    for s1, s2 in ((100.0, 100.0), (60.0, 45.0)):
        c = r * math.sqrt(s1 * s2)
        value, size = kernel([[s1, c], [c, s2]]), math.sqrt(kernel.variance([s1])[0] * kernel.variance([s2])[0])
        assert value[0, 1] == value[1, 0] == pytest.approx(brute(phi, s1, s2, r), abs=2e-13 * size)


def test_two_ways_to_integrate_a_pair() -> None:
    # With a kink that is none the conditional mean is taken over panels, without by the trapezoidal rule.
    phi = Activation("tanh")
    ends = (mesh(phi, (), 64.0), 60.0), (mesh(phi, (), 64.0), 45.0)
    for r in (0.99, -0.9999):
        assert pair_mean(phi, (), *ends, r) == pytest.approx(pair_mean(phi, (0.0,), *ends, r), rel=1e-13)


@pytest.mark.parametrize("name", ["hardtanh", "max(0, min(x, 2))**3"])
def test_piecewise_polynomials_in_closed_form_and_by_panels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    phi = Activation(name)
    kinks = tuple(sorted(float(point) for point in phi.kinks))
    ends, pairs = ((mesh(phi, kinks, 32.0), 30.0), (mesh(phi, kinks, 32.0), 20.0)), (0.98, -0.9999, 1 - 1e-12)
    closed = [pair_mean(phi, kinks, *ends, r) for r in pairs]
    monkeypatch.setattr(kernel_quadrature, "polynomial_branches", lambda phi: None)
    assert closed == pytest.approx([pair_mean(phi, kinks, *ends, r) for r in pairs], rel=1e-13, abs=1e-14 * closed[0])


@pytest.mark.parametrize(
    ("name", "s"), [("tanh", 1e4), ("tanh", 1e12), ("tanh(100*x)", 1.0), ("atan(100*x)", 1.0), ("erf(100*x)", 1.0)]
)
def test_identical_inputs_have_equal_entries(name: str, s: float) -> None:
    nngp, ntk = wide_kernels(name, [[s, s], [s, s]])
    assert np.all(nngp == nngp[0, 0])
    assert np.all(ntk == ntk[0, 0])
    x = Fraction(s)
    exact = wide_pair(name, ((x, 0), (x, 0)), 1, weight_std=1, digits=16) if s == 1 else None
    slope = gaussian_expectation(Activation(name).derivative().expression ** 2, x, 18)
    square = gaussian_expectation(Activation(name).expression ** 2, x, 18)
    assert exact is None or exact.ntk.rigorous
    assert ntk[0, 0] == pytest.approx(float(square) + float(slope) * s, rel=1e-12)


def test_what_a_gram_matrix_may_be() -> None:
    kernel = layer_kernel("tanh")
    for gram in (np.array([[1, 0], [0, 1]]), [[1, 0], [0, 1]], np.eye(2, dtype=np.float32), [[Fraction(1), 0], [0, 1]]):
        values = kernel(gram)
        assert values.dtype == np.float64
        # E tanh(Z)^2.
        assert values.tolist() == [[pytest.approx(0.394294490397, rel=1e-11), 0.0], [0.0, pytest.approx(0.394294490397, rel=1e-11)]]
    for bad, message in (
        (np.eye(2) * 1j, "gram must hold real numbers"),
        ([["a"]], "gram must hold real numbers"),
        (np.zeros((0, 0)), "n >= 1"),
        ([[1.0, 0.5], [0.4, 1.0]], "gram must be symmetric"),
        ([[1.0, math.nan], [math.nan, 1.0]], "covariances must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel(bad)
    with pytest.raises(ValueError, match="depth must be an integer >= 0, got -1"):
        DeepKernel(Activation("tanh"), -1)


def test_what_the_kernels_of_a_wide_network_take() -> None:
    # relu halves the variance.
    for layers in (70, 190):
        assert wide_kernels("relu", [[1.0]], layers).nngp[0, 0] == 2.0**-layers
    for layers, std in ((300, 1), (100, 3)):
        with pytest.raises(ValueError, match=r"variances must be 0 or lie between 1e-60 and 1e\+60, got .*: change the unit"):
            wide_kernels("relu", [[1.0]], layers, weight_std=std)
    exact = wide_kernels("tanh", [[1.0]], weight_std=Fraction(3, 2), bias_std="1")
    assert np.array_equal(exact, wide_kernels("tanh", [[1.0]], weight_std=1.5, bias_std=1.0))
    for gram, message in (
        ([[1.0, 0.5], [0.4, 1.0]], "symmetric"),
        ([[1, 0, 1], [0, 1, 1], [1, 1, 1]], "least eigenvalue is -0.414214"),
        (np.zeros((0, 0)), "n >= 1"),
        ([[math.nan]], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            wide_kernels("tanh", gram)
    with pytest.raises(ValueError, match="weight_std must be at most"):
        wide_kernels("tanh", [[1.0]], weight_std=1e200)


def test_what_a_gaussian_process_takes() -> None:
    assert gaussian_process([[1, 0.5], [0.5, 1]], [2.0], noise="3").mean.tolist() == [0.25]
    for kernel, targets, noise, message in (
        ([[1, 2], [2, 1]], [1.0], 1, "kernel must be positive semidefinite"),
        ([[1, 0.5], [0.4, 1]], [1.0], 1, "kernel must be symmetric"),
        ([[1, 0.5], [0.5, 1]], [math.nan], 1, "targets must be finite"),
        ([[1, 0.5], [0.5, 1]], [1.0], math.inf, "noise must be a number > 0"),
    ):
        with pytest.raises(ValueError, match=message):
            gaussian_process(kernel, targets, noise)
