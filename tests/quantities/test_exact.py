"""Constants as quantities: values from closed forms and mpmath, identities written out, names, refusals."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
import sympy

from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.quantities import ExactQuantity, QuantityError, closed_form, gaussian_mean, kernel
from theoryck.quantities.exact import as_exact
from theoryck.records import Enclosure
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.networks.quantities import epsilon, eta0, gamma0, norm_deviation, rho, sigma


def holds(value: Enclosure, number: object, digits: int = 20) -> bool:
    """Whether the enclosure holds a number that is known to 40 digits, and is as narrow as asked."""
    gap = abs(Fraction(value.midpoint) - Fraction(str(number)))
    return gap <= Fraction(value.radius) + Fraction(1, 10**35) and value.radius <= abs(value.midpoint) * Decimal(10) ** -(
        digits - 1
    )


def erf_sigmas(depth: int) -> list:
    sigmas = [mpmath.mpf(1)]
    for _ in range(depth):
        s = sigmas[-1]
        sigmas.append(2 / mpmath.pi * mpmath.asin(2 * s / (1 + 2 * s)))
    return sigmas


def test_values_of_erf_from_its_closed_forms() -> None:
    with mpmath.workdps(45):
        s = erf_sigmas(3)
        r = [2 / mpmath.sqrt(mpmath.pi) / mpmath.sqrt(1 + 2 * s[layer]) for layer in range(3)]
        e = [s[layer + 1] - s[layer] * r[layer] ** 2 for layer in range(3)]
        expected = {
            sigma("erf", 0): 1,
            sigma("erf", 3): s[3],
            rho("erf", 1): r[0],
            rho("erf", 3): r[2],
            epsilon("erf", 2): e[1],
            eta0("erf", 3): r[0] * r[1] * r[2],
            gamma0("erf", 3): e[0] * r[1] ** 2 * r[2] ** 2 + e[1] * r[2] ** 2 + e[2],
        }
        for quantity, value in expected.items():
            assert holds(quantity.exact({}, 20), mpmath.nstr(mpmath.mpf(value), 40, strip_zeros=False)), quantity.name


def test_identities_as_a_mathematician_writes_them() -> None:
    phi = Activation("tanh")
    identities = [
        sigma(phi, 2) - rho(phi, 2) ** 2 * sigma(phi, 1) - epsilon(phi, 2),
        sigma(phi, 3) - eta0(phi, 3) ** 2 - gamma0(phi, 3),
        rho(phi, 2) - (1 - sigma(phi, 2)),
        gaussian_mean(x * phi.expression, sigma(phi, 1)) / sigma(phi, 1) - rho(phi, 2),
    ]
    for identity in identities:
        value = identity.exact({}, 25)
        assert value.rigorous
        assert value.low <= 0 <= value.high, identity.name
        assert value.radius < Decimal("1e-25")
    # The twin eps = sigma - rho (unsquared) is told apart.
    twin = (sigma(phi, 1) - rho(phi, 1) - epsilon(phi, 1)).exact({}, 25)
    assert twin.high < 0 or twin.low > 0


def test_cancellation_is_made_up_for() -> None:
    small = gaussian_mean("x**2", Fraction(10**9 + 1, 10**9)) - 1
    value = small.exact({}, 20)
    assert value.low <= Decimal("1e-9") <= value.high
    assert value.radius <= Decimal("1e-28")
    root = closed_form(sympy.sqrt(2)) - Fraction(14142135623, 10**10)
    assert root.exact({}, 30).radius <= Decimal("1e-40")


def test_kernel_and_closed_form() -> None:
    s, t, c = Fraction(1, 2), Fraction(2), Fraction(1, 3)
    value = kernel("sin", s, t, c).exact({}, 20)
    with mpmath.workdps(45):
        expected = mpmath.exp(-mpmath.mpf(5) / 4) * mpmath.sinh(mpmath.mpf(1) / 3)
        assert holds(value, mpmath.nstr(expected, 40))
    other = closed_form(sympy.exp(-(s + t) / sympy.Integer(2)) * sympy.sinh(sympy.Rational(1, 3))).exact({}, 20)
    assert value.overlaps(other)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda a, b: a - b**2 * a, "sigma_2[tanh] - rho_1[tanh]^2*sigma_2[tanh]"),
        (lambda a, b: (a - b) - (a - b), "sigma_2[tanh] - rho_1[tanh] - (sigma_2[tanh] - rho_1[tanh])"),
        (lambda a, b: (a + b) * 2 / (a * b), "(sigma_2[tanh] + rho_1[tanh])*2/(sigma_2[tanh]*rho_1[tanh])"),
        (lambda a, b: 1 - a / Fraction(1, 3), "1 - sigma_2[tanh]/(1/3)"),
        (lambda a, b: (a * b) ** -2, "(sigma_2[tanh]*rho_1[tanh])^(-2)"),
        (lambda a, b: -a, "(-1)*sigma_2[tanh]"),
    ],
)
def test_names_are_formulas_with_the_brackets_they_need(build, name) -> None:
    assert build(sigma("tanh", 2), rho("tanh", 1)).name == name


def test_parameters_are_json() -> None:
    import json

    quantity = (sigma("tanh", 2) - Fraction(1, 3)) ** 2
    assert json.loads(json.dumps(quantity.parameters))["exponent"] == 2
    assert not quantity.can_draw
    assert quantity.size_names == ()
    assert quantity.cost({}) is None


def test_there_is_no_sampler() -> None:
    with pytest.raises(QuantityError, match=r"sigma_1\[tanh\] has no Monte Carlo route"):
        sigma("tanh", 1).sampler({})


@pytest.mark.parametrize("value", [0.1, math.nan, math.inf])
def test_floats_that_are_not_what_they_show(value) -> None:
    with pytest.raises(QuantityError, match="not exactly what it shows"):
        sigma("tanh", 1) + value


def test_floats_that_are() -> None:
    assert as_exact(0.25).exact({}) == Enclosure(Decimal("0.25"), Decimal(0))
    assert (0.5 * as_exact(3)).exact({}).midpoint == Decimal("1.5")


def test_enclosures_keep_their_radius_and_their_doubt() -> None:
    doubtful = Enclosure(Decimal(1), Decimal("0.5"), rigorous=False)
    value = (as_exact(2) * doubtful).exact({}, 10)
    assert not value.rigorous
    assert value.low <= 1
    assert value.high >= 3


def test_what_cannot_be_combined() -> None:
    with pytest.raises(QuantityError, match="only exact quantities without sizes"):
        sigma("tanh", 1) - norm_deviation(DeepNetwork("tanh", 1), 2)
    with pytest.raises(TypeError):
        sigma("tanh", 1) + "1"
    with pytest.raises(QuantityError, match="integer power only"):
        sigma("tanh", 1) ** 0.5
    with pytest.raises(ExactError, match="may be zero"):
        (1 / (sigma("x", 1) - 1)).exact({}, 10)


@pytest.mark.parametrize(("build", "layer"), [(sigma, -1), (rho, 0), (epsilon, 0), (eta0, -1), (gamma0, 1.5), (sigma, True)])
def test_wrong_layers(build, layer) -> None:
    with pytest.raises(QuantityError, match="layer must be an integer >= "):
        build("tanh", layer)


def test_closed_forms_are_numbers() -> None:
    with pytest.raises(QuantityError, match="must be a number"):
        closed_form(x + 1)
    assert isinstance(closed_form(sympy.pi), ExactQuantity)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("2*pi", r"a closed form must be a number of sympy such as 2/sympy.pi, got '2\*pi'"),
        (sympy.asin(sympy.Rational(2, 3)), r"made of functions that can be enclosed, got asin\(2/3\)"),
        (sympy.Symbol("y") + 1, r"contains \['y'\]"),
    ],
)
def test_closed_forms_that_cannot_be_had_are_told_when_they_are_made(value: object, told: str) -> None:
    with pytest.raises(QuantityError, match=told):
        closed_form(value)
