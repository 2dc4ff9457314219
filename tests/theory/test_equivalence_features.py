"""Random features and their Gaussian equivalents: shapes, laws of the rows, second moments."""

import math

import numpy as np
import pytest

from theoryck.theory.equivalence.draws import draw_rows
from theoryck.theory.equivalence.model import GaussianFeatures, RandomFeatures
from theoryck.theory.networks.model import size


def test_shapes_come_from_sizes():
    features = RandomFeatures("tanh", features="2*d", input_dim=size("d"))
    assert features.shape({"d": 5}) == (10, 5)
    assert features.names == ("d",)
    assert RandomFeatures("tanh", features=3, input_dim=7).shape({}) == (3, 7)
    assert RandomFeatures("tanh") == RandomFeatures("tanh") != RandomFeatures("tanh", rows="gaussian")


def test_rows_have_their_law():
    rng, d = np.random.default_rng(0), 6
    sphere, gaussian = (draw_rows(rows, rng, 2000, (4, d)) for rows in ("sphere", "gaussian"))
    assert np.allclose((sphere**2).sum(axis=2), 1.0)
    lengths = (gaussian**2).sum(axis=2)
    # |w|^2 ~ chi2_d / d: mean 1, variance 2/d.
    assert abs(lengths.mean() - 1) < 5 * math.sqrt(2 / d / 8000)
    assert abs(lengths.var() - 2 / d) < 0.1 * 2 / d
    for w in (sphere, gaussian):
        overlap = (w[:, 0] * w[:, 1]).sum(axis=1)
        assert abs((overlap**2).mean() * d - 1) < 0.2


def test_gaussian_features_have_their_second_moments():
    rng = np.random.default_rng(1)
    features = GaussianFeatures(mean=0.5, slope=0.8, noise=0.3)
    w = draw_rows("sphere", rng, 1, (3, 4))[0]
    drawn = features(rng.standard_normal((200_000, 4)) @ w.T, rng)
    expected = features.covariance(w @ w.T)
    assert np.allclose(drawn.T @ drawn / 200_000, expected, atol=0.02)
    assert not np.allclose(drawn.T @ drawn / 200_000, expected + 0.3 * np.eye(3), atol=0.02)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="rows must be one of 'sphere', 'gaussian', got 'cube'"):
        RandomFeatures("tanh", rows="cube")
    with pytest.raises(ValueError, match="features must be an integer >= 1"):
        RandomFeatures("tanh", features=0)
    with pytest.raises(ValueError, match="input_dim must be an integer >= 1"):
        RandomFeatures("tanh", input_dim=1.5)
    with pytest.raises(ValueError, match="needs a size 'd'"):
        RandomFeatures("tanh").shape({"n": 3})
    with pytest.raises(ValueError, match="noise"):
        GaussianFeatures(0.0, 1.0, -0.1)
