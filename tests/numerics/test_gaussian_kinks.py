"""Kinks without a closed form: located, and no radius that leaves out the value.

Reference values: mpmath Gauss-Legendre at 60 digits between kinks written down by hand (arcsin, artanh, roots of erf - cos).
"""

from __future__ import annotations

import mpmath
import pytest
from click.testing import CliRunner

from theoryck.cli.constants import closing, command
from theoryck.numerics.errors import NotIntegrable
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.pieces import gates_of, located_kinks
from theoryck.numerics.proved.agreement import agreed_kernel, agreed_mean, dense_mean
from theoryck.theory.networks.proved.constants import network_constants


def spikes(*levels):
    inverse = [mpmath.asin(level) for level in levels]
    return [sign + 2 * mpmath.pi * k for a in inverse for sign in (a, mpmath.pi - a) for k in range(-3, 3)]


def split_mean(function, kinks):
    edges = sorted({mpmath.mpf(k) for k in range(-14, 15)} | {k for k in kinks if abs(k) < 14})
    return mpmath.quad(lambda z: function(z) * mpmath.npdf(z), edges, method="gauss-legendre", maxdegree=5)


THIRD = 1 / mpmath.mpf(3)
CASES = {
    "max(0,1-1000*abs(sin(x)-1/3))": (
        lambda z, t: max(mpmath.mpf(0), 1 - 1000 * abs(mpmath.sin(z) - t)),
        lambda t: spikes(t, t - mpmath.mpf("0.001"), t + mpmath.mpf("0.001")),
    ),
    "max(tanh(x),1/3)": (lambda z, t: max(mpmath.tanh(z), t), lambda t: [mpmath.atanh(t)]),
    "max(0,sin(x)-999/1000)": (
        lambda z, t: max(mpmath.mpf(0), mpmath.sin(z) - mpmath.mpf("0.999")),
        lambda t: spikes(mpmath.mpf("0.999")),
    ),
    "max(erf(x),cos(x))": (
        lambda z, t: max(mpmath.erf(z), mpmath.cos(z)),
        lambda t: [mpmath.findroot(lambda z: mpmath.erf(z) - mpmath.cos(z), 0.7), *(2 * mpmath.pi * k for k in (1, 2))],
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_sigma_lies_within_its_radius(text):
    function, kinks = CASES[text]
    value = network_constants(text, 1, digits=20).sigma[1]
    assert not value.rigorous
    assert value.radius > 0
    with mpmath.workdps(40):
        t = mpmath.mpf(1) / 3
        reference = split_mean(lambda z: function(z, t) ** 2, kinks(t))
        gap = abs(mpmath.mpf(str(value.midpoint)) - reference)
        # Between hand-made kinks the reference has 20 digits or more; erf = cos has further roots beside 2 pi k, of weight 1e-9.
        assert gap <= mpmath.mpf(str(value.radius)) + (
            mpmath.mpf("1e-9") if "erf" in text else abs(reference) * mpmath.mpf("1e-18")
        )


def test_spike_that_both_quadratures_missed():
    value = network_constants("max(0,1-1000*abs(sin(x)-1/3))", 1, digits=20)
    assert float(value.sigma[1]) == pytest.approx(2.7249477e-4, rel=1e-7)
    assert float(value.rho[0]) == pytest.approx(1.5569963e-4, rel=1e-7)


def test_kinks_between_grid_points_are_found():
    # |sin x - 1/3| < 1e-7 twice in a period: 2e-7 wide, where the grid has 1e-4.
    expression = Activation("max(0, 1 - 10000000*abs(sin(x) - 1/3))").expression
    assert len(gates_of(expression)) == 2
    with mpmath.workdps(30):
        kinks, resolved = located_kinks(expression, mpmath.mpf(1), mpmath.mpf(3))
        assert resolved
        expected = sorted(mpmath.asin((1 + k * mpmath.mpf("3e-7")) / 3) for k in (-1, 0, 1))
        near = [z for z in kinks if abs(z - expected[1]) < 1e-3]
        assert max(abs(a - b) for a, b in zip(near, expected, strict=True)) < mpmath.mpf("1e-20")


def test_what_is_zero_at_every_node_has_no_value():
    expression = Activation("max(0, sin(x) - 2)").expression
    with pytest.raises(NotIntegrable, match="is 0 at every node"):
        agreed_mean(expression, network_variance(), 15)
    with pytest.raises(NotIntegrable, match="is 0 at every node"):
        agreed_kernel(expression, 1.0, 1.0, 0.5)


def network_variance():
    from flint import arb

    return arb(1)


def test_dense_sums_see_what_they_can():
    dense = dense_mean(Activation("max(0,1-1000*abs(sin(x)-1/3))").expression, 1.0)
    assert dense.value == pytest.approx(4.0874e-4, rel=1e-2)
    smooth = dense_mean(Activation("x**2").expression, 1.0)
    assert abs(smooth.value - 1) <= smooth.error


def test_the_closing_line_promises_nothing_for_what_is_not_proved():
    text = CliRunner().invoke(command, ["max(tanh(x),1/3)", "--depth", "1", "--digits", "10"]).stdout
    assert "may be off by more than their radius" in text
    assert "the true value of those that are proved lies" in text
    assert "not proved" not in closing(3, 0)
