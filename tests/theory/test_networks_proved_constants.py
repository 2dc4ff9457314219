"""Network constants: reference digits, closed forms, identities, twins and awkward activations."""

from __future__ import annotations

import json
from decimal import Decimal

import mpmath
import pytest
import sympy
from mpmath import mpf
from sympy import Abs, Max, Rational, atan, erf, exp, log, sin, sqrt, tanh

from theoryck.numerics.errors import ExactError, NotIntegrable
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.records import Enclosure
from theoryck.theory.networks.proved.constants import NetworkConstants, network_constants

x = sympy.Symbol("x", real=True)


def contains(enclosure: Enclosure, reference: mpmath.mpf, slack: str = "0") -> bool:
    return bool(abs(mpf(str(enclosure.midpoint)) - reference) <= mpf(str(enclosure.radius)) + mpf(slack))


def everything(constants: NetworkConstants) -> list[Enclosure]:
    return [*constants.sigma, *constants.rho, *constants.epsilon, constants.eta0, constants.gamma0]


def assert_proved(constants: NetworkConstants, digits: int) -> None:
    for value in everything(constants):
        assert value.rigorous
        assert value.radius <= abs(value.midpoint) * Decimal(10) ** -digits


def test_reference_digits_of_erf():
    """Digits computed once with mpmath at 30 digits from the arcsine law (depth 4)."""
    constants = network_constants(erf(x), 4, digits=15)
    sigma = ["1", ".464559054397540", ".319909009680631", ".255171840475481", ".219432487414185"]
    rho = [".651470015870560", ".812410729349035"]
    epsilon = [".0401458728192", ".0132948338938"]
    for found, known, unit in (
        (constants.sigma, sigma, "1e-15"),
        (constants.rho, rho, "1e-15"),
        (constants.epsilon, epsilon, "1e-13"),
    ):
        for enclosure, digits in zip(found, known):
            # the digits are rounded: half a unit in the last place
            assert contains(enclosure, mpf(digits), slack=unit)


CLOSED = {
    "erf": (
        erf(x),
        lambda s: 2 / mpmath.pi * mpmath.asin(2 * s / (1 + 2 * s)),
        lambda s: 2 / mpmath.sqrt(mpmath.pi) / mpmath.sqrt(1 + 2 * s),
    ),
    "erf_scaled": (
        erf(x / sqrt(2)),
        lambda s: 2 / mpmath.pi * mpmath.asin(s / (1 + s)),
        lambda s: mpmath.sqrt(2 / mpmath.pi) / mpmath.sqrt(1 + s),
    ),
    "sin": (sin(2 * x), lambda s: (1 - mpmath.exp(-8 * s)) / 2, lambda s: 2 * mpmath.exp(-2 * s)),
    "x_gauss": (x * exp(-(x**2) / 2), lambda s: s * (1 + 2 * s) ** mpf("-1.5"), lambda s: (1 + s) ** mpf("-1.5")),
    "relu": (Max(x, 0), lambda s: s / 2, lambda s: mpf("0.5")),
    "he3 mixture": (
        x / 5 + 2 * (x**3 - 3 * x),
        lambda s: s / 25 + Rational(12, 5) * (s**2 - s) + 4 * (15 * s**3 - 18 * s**2 + 9 * s),
        lambda s: mpf(1) / 5 + 6 * (s - 1),
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_layer_by_layer(name):
    """MATH A, pushed through the recursion by mpmath at 80 digits; 50 digits are proved even when sigma grows or shrinks."""
    phi, g, r = CLOSED[name]
    constants = network_constants(phi, 4, digits=50)
    assert_proved(constants, 50)
    with mpmath.workdps(120):
        s, eta, gamma = mpf(1), mpf(1), mpf(0)
        for layer in range(4):
            slope, variance = r(s), mpmath.mpf(g(s)) if not isinstance(g(s), sympy.Expr) else mpmath.mpmathify(g(s).evalf(130))
            rest = variance - s * slope**2
            eta, gamma = eta * slope, gamma * slope**2 + rest
            slack = mpmath.nstr(abs(variance) * mpf("1e-90"), 5)
            assert contains(constants.rho[layer], slope, slack)
            assert contains(constants.sigma[layer + 1], variance, slack)
            assert contains(constants.epsilon[layer], rest, slack)
            s = variance
        assert contains(constants.eta0, eta, mpmath.nstr(abs(eta) * mpf("1e-90"), 5))
        assert contains(constants.gamma0, gamma, mpmath.nstr(abs(gamma) * mpf("1e-90"), 5))


def test_cubics_blow_up_and_keep_their_digits():
    constants = network_constants(x + (x**3 - 3 * x) / sqrt(6), 6, digits=30)
    assert constants.sigma[4].midpoint > 10**12
    assert_proved(constants, 30)


def test_decay_keeps_its_digits():
    constants = network_constants(x**3 / 10 + x / 5, 12, digits=30)
    assert constants.epsilon[-1].midpoint < Decimal("1e-20")
    assert_proved(constants, 30)
    constants = network_constants(tanh(x / 100), 4, digits=30)
    assert constants.epsilon[-1].midpoint < Decimal("1e-20")
    assert_proved(constants, 30)


def test_tanh_satisfies_rho_equals_one_minus_sigma():
    constants = network_constants(tanh(x), 5, digits=40)
    for sigma, rho in zip(constants.sigma[1:], constants.rho):
        assert abs(sigma.midpoint + rho.midpoint - 1) <= sigma.radius + rho.radius


@pytest.mark.parametrize(
    "phi", [tanh(x), atan(2 * x), Max(x, 0), (x**2 - 1) / sqrt(2), Abs(tanh(x)), tanh(x + 1) + Max(x - 1, 0) / 3], ids=str
)
def test_identities(phi):
    """Telescoping sigma_L = eta_0^2 + gamma_0 (sigma_0 = 1), and rho = E phi' by an expectation of its own."""
    constants = network_constants(phi, 3, digits=20)
    with mpmath.workdps(50):
        last, eta, gamma = (mpf(str(v.midpoint)) for v in (constants.sigma[-1], constants.eta0, constants.gamma0))
        assert abs(last - eta**2 - gamma) < mpf("1e-19") * (1 + abs(last))
    for before, rho in zip(constants.sigma, constants.rho):
        assert rho.overlaps(gaussian_expectation(sympy.diff(phi, x), before, digits=18))


def test_relu_and_he2_are_exact():
    constants = network_constants(Max(x, 0), 5, digits=30)
    assert [value.midpoint for value in constants.sigma] == [Decimal(2) ** -layer for layer in range(6)]
    assert all(value.exact for value in everything(constants))
    assert constants.rho[0].midpoint == Decimal("0.5")
    constants = network_constants((x**2 - 1) / sqrt(2), 3, digits=30)
    assert all(value.exact and value.midpoint == 0 for value in constants.rho)
    assert all(contains(value, mpf(1)) for value in (*constants.sigma, *constants.epsilon))


def test_epsilon_of_an_affine_activation_is_exact():
    assert all(value.exact and value.midpoint == 0 for value in network_constants(x / 3, 4).epsilon)
    assert all(value.exact and value.midpoint == 4 for value in network_constants(3 * x - 2, 2).epsilon)
    assert network_constants(x, 3).eta0.midpoint == 1


def test_epsilon_that_vanishes_without_looking_affine():
    """Abs(x) - 2 max(0, -x) is x: eps is 0 and known far below the digits asked for."""
    constants = network_constants(Abs(x) - 2 * Max(0, -x), 2, digits=20)
    assert all(abs(value.midpoint) + value.radius < Decimal("1e-20") for value in constants.epsilon)


def test_depth_zero():
    constants = network_constants(tanh(x), 0)
    assert [value.midpoint for value in constants.sigma] == [1]
    assert constants.rho == constants.epsilon == ()
    assert constants.eta0.midpoint == 1
    assert constants.gamma0.midpoint == 0


def test_more_digits_contain_fewer():
    """Enclosures at 20 and at 60 digits of the same numbers must be compatible."""
    for phi in (tanh(x), x / sqrt(1 + x**2), log(1 + exp(x)), x / (1 + Abs(x))):
        coarse, fine = network_constants(phi, 2, digits=12), network_constants(phi, 2, digits=30)
        assert all(few.overlaps(many) for few, many in zip(everything(coarse), everything(fine)))
        assert_proved(fine, 30)


def test_twins_are_disjoint():
    """eps = sigma - rho; eps without sigma_{l-1} (invisible at layer 1); rho at variance 1 in every layer; gamma_0 with i >= j."""
    constants = network_constants(tanh(x), 3, digits=30)
    sigma, rho, epsilon = ([v.midpoint for v in row] for row in (constants.sigma, constants.rho, constants.epsilon))
    reach = Decimal("1e-25")
    assert abs(epsilon[0] - (sigma[1] - rho[0])) > reach
    assert abs(epsilon[0] - (sigma[1] - rho[0] ** 2)) < reach
    assert abs(epsilon[1] - (sigma[2] - rho[1] ** 2)) > Decimal("0.1")
    assert abs(rho[1] - rho[0]) > Decimal("0.1")
    shifted = sum((epsilon[j] * rho[j] ** 2 * rho[2] ** 2 * (rho[1] ** 2 if j == 0 else 1) for j in range(2)), Decimal(0))
    assert abs(constants.gamma0.midpoint - shifted - epsilon[2] * rho[2] ** 2) > Decimal("0.001")


def test_what_cannot_be_proved_is_marked():
    constants = network_constants(sin(x) + Abs(sin(x)) / 10, 1, digits=8)
    assert not constants.sigma[1].rigorous
    assert constants.routes == ("agreement",)
    assert constants.sigma[0].exact


def test_json_is_plain_data_with_decimal_strings():
    data = json.loads(json.dumps(network_constants("tanh", 2, digits=10).to_json(), allow_nan=False))
    assert data["depth"] == 2
    assert data["digits"] == 10
    assert [len(data[key]) for key in ("sigma", "rho", "epsilon")] == [3, 2, 2]
    assert data["sigma"][0] == {"value": "1", "radius": "0", "rigorous": True}
    assert Decimal(data["eta0"]["radius"]) < Decimal("1e-10")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((tanh(x), -1), "depth must be an integer between 0 and 200, got -1"),
        ((tanh(x), 2.0), "depth must be an integer"),
        ((tanh(x), True), "depth must be an integer"),
        ((tanh(x), 1, 0), "digits must be an integer"),
        ((sympy.Symbol("t"), 1), "unknown symbol t"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ExactError, match=message):
        network_constants(*arguments)


def test_infinite_constants_are_refused():
    with pytest.raises(NotIntegrable):
        network_constants(exp(x**2 / 3), 1)
