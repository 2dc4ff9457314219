"""The strategies keep their promises, by proof where the properties can prove and by values where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck.numerics.functions.activation import Activation
from theoryck.theory.networks.model import SizeExpression
from theoryck.theory.networks.strategies import ASSUMPTIONS, activations_missing, smooth_odd_activations, width_patterns

POINTS = np.linspace(-40, 40, 4001)


@settings(max_examples=60)
@given(smooth_odd_activations())
def test_smooth_odd_activations_satisfy_the_theorem(phi: Activation) -> None:
    p = phi.properties
    for found in (p.odd, p.smooth, p.bounded_first_derivative, p.bounded_second_derivative):
        assert found.value is True, str(found)
        assert found.symbolic, str(found)
    values = phi(POINTS)
    # Oddness in floating point: a few roundings at the size of the largest term.
    np.testing.assert_allclose(values, -values[::-1], atol=1e-13 * (1 + np.abs(values).max()))
    assert np.isfinite(phi(np.array([-1e4, 1e4]))).all()
    # The pool has |a| <= 2 (two terms), b <= 2 and compositions of these: |phi'| <= 2*2*2*2 and |phi''| stay below 200.
    assert np.abs(phi.derivative()(POINTS)).max() < 50
    assert np.abs(phi.derivative(2)(POINTS)).max() < 200
    assert Activation(phi.text) == phi


@settings(max_examples=60)
@given(st.sampled_from(ASSUMPTIONS).flatmap(lambda name: st.tuples(st.just(name), activations_missing(name))))
def test_missing_one_assumption(pair: tuple[str, Activation]) -> None:
    name, phi = pair
    p = phi.properties
    assert not phi.satisfies_main_theorem
    if name == "odd":
        assert p.odd.value is False
        assert p.smooth
        assert p.bounded_first_derivative
        assert p.bounded_second_derivative
    elif name == "bounded_derivative":
        assert p.odd
        assert p.smooth
        assert p.bounded_first_derivative.value is False
    elif name == "smooth":
        assert p.odd
        assert p.bounded_first_derivative
        assert p.smooth.value is False
    else:
        assert phi.zero_mean_at(1).value is False


@settings(max_examples=30)
@given(st.integers(0, 5).flatmap(lambda depth: st.tuples(st.just(depth), width_patterns(depth))))
def test_width_patterns(pair: tuple[int, tuple[SizeExpression, ...]]) -> None:
    depth, pattern = pair
    assert len(pattern) == depth + 1
    assert all(1 <= width.value({"d": 1}) <= 4 for width in pattern)


def test_errors() -> None:
    with pytest.raises(ValueError, match="did you mean 'zero_mean'"):
        activations_missing("zeromean")
    with pytest.raises(ValueError, match="depth must be"):
        width_patterns(-1)
