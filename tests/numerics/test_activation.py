"""Activations as numbers: against mpmath formulas written by hand, finite differences, and the rules of arrays."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
import mpmath as mp
import numpy as np
import pytest

from theoryck.numerics.functions import catalogue as activations
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import catalogue, relu, smooth_odd, tanh
from theoryck.numerics.functions.compiled import Program

POINTS = [-1e4, -40.0, -6.5, -3.0, -1.0, -0.3, -1e-5, 0.0, 1e-3, 0.2, 0.5, 1.1, 2.0, 5.0, 37.0, 1e4]
BY_HAND: dict[str, Callable[[Any], Any]] = {
    "identity": lambda v: v,
    "tanh": mp.tanh,
    "tanh2": lambda v: mp.tanh(2 * v),
    "erf": mp.erf,
    "erf_scaled": lambda v: mp.erf(v / mp.sqrt(2)),
    "sin": mp.sin,
    "sin2": lambda v: mp.sin(2 * v),
    "arctan": mp.atan,
    "asinh": mp.asinh,
    "x_gauss": lambda v: v * mp.exp(-v * v / 2),
    "x_over_sqrt": lambda v: v / mp.sqrt(1 + v * v),
    "relu": lambda v: max(v, mp.mpf(0)),
    "abs": abs,
    "softsign": lambda v: v / (1 + abs(v)),
    "hardtanh": lambda v: min(max(v, mp.mpf(-1)), mp.mpf(1)),
    "he2": lambda v: (v * v - 1) / mp.sqrt(2),
    "he3": lambda v: (v**3 - 3 * v) / mp.sqrt(6),
    "he3_mix": lambda v: v / 2 + (v**3 - 3 * v) / 10,
    "gelu": lambda v: v * mp.erfc(-v / mp.sqrt(2)) / 2,
    "softplus": lambda v: mp.log(1 + mp.exp(v)),
    "cos": mp.cos,
    "erf_shifted": lambda v: mp.erf(v + mp.mpf(1) / 2),
    "relu_centred": lambda v: max(v, mp.mpf(0)) - 1 / mp.sqrt(2 * mp.pi),
}


def test_the_table_covers_the_catalogue() -> None:
    assert set(BY_HAND) == set(catalogue)


@pytest.mark.parametrize("name", BY_HAND)
def test_values_agree_with_mpmath(name: str) -> None:
    with mp.workdps(40):
        exact = np.array([float(BY_HAND[name](mp.mpf(point))) for point in POINTS])
    phi = catalogue[name]
    values = phi(np.array(POINTS))
    # At most eight roundings of size 2^-53 each, relative to max(1, |phi|) (cancellation inside gelu and he3 is at scale 1).
    np.testing.assert_allclose(values, exact, rtol=8 * 2**-53, atol=8 * 2**-53)
    single = phi(np.array(POINTS, dtype=np.float32))
    assert single.dtype == np.float32
    with mp.workdps(40):
        exact = np.array([float(BY_HAND[name](mp.mpf(float(np.float32(point))))) for point in POINTS])
    # float32 has unit roundoff 2^-24; a phase of 2e4 in sin(2x) is exact (a doubling), so no further loss.
    np.testing.assert_allclose(single, exact, rtol=16 * 2**-24, atol=16 * 2**-24)


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_agree_with_mpmath_differentiation(name: str, order: int) -> None:
    points = [-3.3, -0.7, 0.2, 1.6, 4.1]
    with mp.workdps(50):
        exact = [float(mp.diff(BY_HAND[name], mp.mpf(point), order)) for point in points]
    values = catalogue[name].derivative(order)(np.array(points))
    # mp.diff at 50 digits is exact here; the formula is a handful of roundings at scale max(1, |value|).
    np.testing.assert_allclose(values, exact, rtol=1e-13, atol=1e-13)


def test_derivatives_at_kinks_are_the_mean_of_the_sides() -> None:
    assert relu.derivative().text == "heaviside(x)"
    np.testing.assert_array_equal(relu.derivative()(np.array([-1.0, 0.0, 2.0])), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(catalogue["abs"].derivative()(np.array([-1.0, 0.0, 2.0])), [-1.0, 0.0, 1.0])
    assert relu.derivative(2).expression == 0
    np.testing.assert_array_equal(relu.derivative(2)(np.ones(3)), np.zeros(3))
    with pytest.raises(ValueError, match="order must be"):
        relu.derivative(-1)


@pytest.mark.parametrize(
    "text",
    [
        "log(cosh(x))",
        "cosh(x)*exp(-x**2)",
        "sinh(x)/cosh(x)**2",
        "log(exp(x) + exp(-x))",
        "exp(x)/(1 + exp(x))",
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_intermediate_overflow_does_not_show(text: str, dtype: type) -> None:
    exact: dict[str, Callable[[Any], Any]] = {
        "log(cosh(x))": lambda v: mp.log(mp.cosh(v)),
        "cosh(x)*exp(-x**2)": lambda v: mp.cosh(v) * mp.exp(-v * v),
        "sinh(x)/cosh(x)**2": lambda v: mp.sinh(v) / mp.cosh(v) ** 2,
        "log(exp(x) + exp(-x))": lambda v: mp.log(mp.exp(v) + mp.exp(-v)),
        "exp(x)/(1 + exp(x))": lambda v: mp.exp(v) / (1 + mp.exp(v)),
    }
    points = np.array([-1e4, -800, -100, -1, 0, 2, 90, 720, 1e4], dtype=dtype)
    expected = [float(exact[text](mp.mpf(float(point)))) for point in points]
    # log cosh near its tail rounds at the size of x; 4 roundings.
    np.testing.assert_allclose(Activation(text)(points), expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


def test_true_overflow_is_infinite_without_a_warning() -> None:
    assert Activation("sinh(x)")(np.array([-1e4, 1e4])).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("name", ["tanh", "x_gauss", "x_over_sqrt", "erf_scaled", "gelu", "he3_mix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_into_overwrites_any_layout(name: str, dtype: type) -> None:
    phi = catalogue[name]
    # More than two blocks, so that block ends matter.
    source = np.random.default_rng(3).standard_normal((300, 401)).astype(dtype)
    expected = phi(source)
    for buffer in (source.copy(), np.asfortranarray(source), np.repeat(source, 2, axis=1)[:, ::2]):
        phi.into(buffer)
        np.testing.assert_array_equal(buffer, expected)
    whole = source.copy()
    phi.into(whole[:, 10:20])
    np.testing.assert_array_equal(whole[:, 10:20], expected[:, 10:20])
    np.testing.assert_array_equal(whole[:, 20:], source[:, 20:])
    np.testing.assert_array_equal(source.ravel()[:5], source.copy().ravel()[:5])


def test_shapes_and_types() -> None:
    assert tanh(np.zeros((0, 3))).shape == (0, 3)
    assert tanh(0.5).shape == ()
    assert float(catalogue["x_gauss"](2)) == pytest.approx(2 * np.exp(-2), rel=1e-15)
    assert tanh(np.array([1, 2])).dtype == np.float64
    assert tanh([0.0, 1.0]).shape == (2,)
    before = np.array([1.0, 2.0])
    tanh(before)
    np.testing.assert_array_equal(before, [1.0, 2.0])
    for bad in (np.array([1j]), np.array(["a"])):
        with pytest.raises(TypeError, match="real numbers"):
            tanh(bad)
    for buffer in (np.array([1, 2]), np.zeros(2, dtype=np.float16), [1.0]):
        with pytest.raises(TypeError, match="buffer must be"):
            tanh.into(buffer)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "operations", "temporaries"), [
    ("tanh(x)", 1, 0), ("sin(x)", 1, 0), ("erf(x)", 1, 0), ("atan(x)", 1, 0), ("relu(x)", 1, 0),
    ("erf(x/sqrt(2))", 2, 0), ("(x**2 - 1)/sqrt(2)", 3, 0), ("x*exp(-x**2/2)", 4, 1), ("x/sqrt(1 + x**2)", 4, 1),
    ("x/2 + (x**3 - 3*x)/10", 4, 1),
])  # fmt: skip
def test_programs_are_as_short_as_by_hand(text: str, operations: int, temporaries: int) -> None:
    program = Program(Activation(text).expression)
    assert (len(program.code), program.registers - 1) == (operations, temporaries)
    assert not any(program.fragile.values())


def test_identity_equality_hash_and_immutability() -> None:
    assert Activation("x*exp(-x**2/2)") == Activation("exp(-0.5*x**2)*x") == catalogue["x_gauss"]
    assert len({Activation("atan(x)"), Activation("arctan(x)"), Activation("arctan")}) == 1
    assert Activation("tanh(x)") != Activation("tanh(2*x)")
    assert Activation("tanh(x)") != "tanh(x)"
    with pytest.raises(AttributeError, match="cannot be changed"):
        tanh.text = "sin(x)"
    assert Activation(tanh) == tanh


@pytest.mark.parametrize("name", BY_HAND)
def test_names_texts_and_pickles(name: str) -> None:
    phi = catalogue[name]
    phi(np.zeros(3))
    assert phi.name == name
    assert str(phi) == phi.text
    assert Activation(name) == Activation(phi.text) == phi
    for pickler in (pickle, cloudpickle):
        copy = pickle.loads(pickler.dumps(phi.derivative()))
        assert copy == phi.derivative()
        assert hash(copy) == hash(phi.derivative())
        np.testing.assert_array_equal(copy(np.array(POINTS)), phi.derivative()(np.array(POINTS)))


def test_names_of_the_catalogue() -> None:
    assert activations.tanh is catalogue["tanh"]
    with pytest.raises(AttributeError, match="did you mean softplus"):
        _ = activations.softpluss
    assert all(phi.satisfies_main_theorem for phi in smooth_odd)
    assert {phi.name for phi in catalogue.values() if phi.satisfies_main_theorem} == {phi.name for phi in smooth_odd}
