"""NNGP and NTK kernels in float64: against 30 digits from elsewhere, against a rule on the plane, and against their own limits."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import catalogue
from theoryck.theory.wide.limits import gaussian_process, jump, wide_kernels

DATA = Path(__file__).parent.parent / "data" / "nngp_ntk.csv"
INPUTS = np.array([[1, 2, -1, 0.5], [0.5, -1, 1.5, 2], [2, 0.25, -0.75, 1]])
GRAM = INPUTS @ INPUTS.T / 4


def test_the_reference_table_to_13_digits() -> None:
    rows = list(csv.DictReader(DATA.read_text().splitlines()))
    assert len(rows) == 162
    for row in rows:
        phi = {"linear": "x"}.get(row["activation"], row["activation"])
        scales = {"weight_std": float(row["W_std"]), "bias_std": float(row["b_std"])}
        kernels, at = wide_kernels(phi, GRAM, int(row["hidden_layers"]), **scales), (int(row["i"]), int(row["j"]))
        assert kernels.nngp[at] == pytest.approx(float(row["nngp_30digits"]), rel=1e-13)
        assert kernels.ntk[at] == pytest.approx(float(row["ntk_30digits"]), rel=1e-13)


def halves(phi: Activation, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights of the standard Gaussian, on panels that end at the kinks of phi(scale z)."""
    edges = np.union1d(np.linspace(-10, 10, 21), [float(kink) / scale for kink in phi.kinks])
    node, weight = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    z = (half * node + edges[:-1, None] + half).ravel()
    return z, (half * weight).ravel() * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def plane(phi: Activation, s1: float, s2: float, c: float) -> float:
    """E phi(u) phi(v): at every u a rule in v that knows where phi has kinks; written for this test alone."""
    root, slope = math.sqrt(s1), c / s1
    spread = math.sqrt(s2 - c * slope)
    z, weight = halves(phi, root)
    if not phi.kinks:
        y, share = halves(phi, spread)
        return float(weight * phi(root * z) @ (phi(slope * root * z[:, None] + spread * y) @ share))
    total = 0.0
    for point, mass in zip(root * z, weight, strict=True):
        edges = np.union1d(np.linspace(-10, 10, 11), [(float(kink) - slope * point) / spread for kink in phi.kinks])
        node, share = np.polynomial.legendre.leggauss(18)
        half = np.diff(edges)[:, None] / 2
        y = (half * node + edges[:-1, None] + half).ravel()
        density = (half * share).ravel() * np.exp(-y * y / 2) / math.sqrt(2 * math.pi)
        total += mass * float(phi(np.array([point]))[0]) * float(phi(slope * point + spread * y) @ density)
    return total


NEVER_SEEN = [
    "tanh(x) + x/3",
    "max(x/10, x)",
    "x*exp(-x**2/3) + cos(x)/2",
    "log(1 + x**2)",
    "asinh(x - 1)",
    "abs(x - 1/2) + sin(x)",
]


@pytest.mark.parametrize("name", [*catalogue, *NEVER_SEEN])
def test_one_and_two_layers_equal_a_rule_on_the_plane(name: str) -> None:
    phi, (w, b) = Activation(name), (0.8, 0.3)
    gram = np.array([[1.0, -0.4], [-0.4, 0.7]])
    nngp = ntk = b * b + w * w * gram
    for layers in (1, 2):
        pairs = [(0, 0), (0, 1), (1, 1)]
        # On the diagonal u = v: the plane's rule needs |c| < s, so that the square is averaged over a line instead.
        new, gain = np.zeros((2, 2)), np.zeros((2, 2))
        for f, out in ((phi, new), (phi.derivative(), gain)):
            for i, k in pairs:
                root = math.sqrt(nngp[i, i])
                z, weight = halves(f, root)
                line = float(weight @ f(root * z) ** 2)
                out[i, k] = out[k, i] = line if i == k else plane(f, nngp[i, i], nngp[k, k], nngp[i, k])
        nngp, ntk = b * b + w * w * new, b * b + w * w * new + w * w * gain * ntk
        found = wide_kernels(phi, gram, layers, weight_std=w, bias_std=b)
        # Series and rules are right to 1e-13 of the diagonal of each layer; he3 multiplies an error by up to 1e2.
        assert found.nngp == pytest.approx(nngp, abs=1e-11 * nngp.max())
        assert found.ntk == pytest.approx(ntk, abs=1e-11 * ntk.max())


def test_a_wrong_recursion_would_be_seen() -> None:
    kernels = wide_kernels("erf", GRAM, 2)
    below = wide_kernels("erf", GRAM, 1)
    assert not np.allclose(kernels.ntk, kernels.nngp)  # without the lower layers
    assert not np.allclose(kernels.ntk, below.ntk)


def test_the_ntk_of_a_linear_network_counts_its_layers() -> None:
    for layers in range(4):
        kernels = wide_kernels("x", GRAM, layers)
        assert kernels.nngp == pytest.approx(GRAM)
        assert kernels.ntk == pytest.approx((layers + 1) * GRAM)


def test_stacks_of_gram_matrices_and_a_jump() -> None:
    stack = np.array([GRAM, 2 * GRAM])
    # Sums of the series may run in another order.
    assert wide_kernels("tanh", stack, 2).ntk[1] == pytest.approx(wide_kernels("tanh", 2 * GRAM, 2).ntk, rel=1e-13)
    assert jump(Activation("hardtanh")) is None
    assert jump(Activation("x + heaviside(x - 1)")) == 1.0
    with pytest.raises(ValueError, match="jumps at 0"):
        wide_kernels("sign(x)", GRAM)
    with pytest.raises(ValueError, match="hidden_layers must be an integer >= 0, got"):
        wide_kernels("erf", GRAM, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bias_std must be a number >= 0, got"):
        wide_kernels("erf", GRAM, bias_std=-1)


def test_the_posterior_of_a_gaussian_process() -> None:
    kernel, y = wide_kernels("erf", GRAM, 2, bias_std=0.5).nngp, np.array([1.0, -2.0])
    inverse = np.linalg.inv(kernel[:2, :2] + 0.1 * np.eye(2))
    found = gaussian_process(kernel, y, noise=0.1)
    assert found.mean == pytest.approx(kernel[2:, :2] @ inverse @ y, rel=1e-12)
    assert found.covariance == pytest.approx(kernel[2:, 2:] - kernel[2:, :2] @ inverse @ kernel[:2, 2:], rel=1e-12)
    with pytest.raises(ValueError, match="n >= 1 targets"):
        gaussian_process(kernel, np.ones(3), noise=0.1)
    with pytest.raises(ValueError, match="noise must be a number > 0"):
        gaussian_process(kernel, y, noise=0.0)
    with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
        gaussian_process(-kernel, y, noise=0.1)
