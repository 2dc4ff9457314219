"""Fours and nines, 8 x 8 pixels in nine patches: what a user's own images give, and which networks learn features of them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from theoryck.theory.convolutions import (
    PatchNetwork,
    PatchRegression,
    alignment_gain,
    alignment_slope,
    channel_corrections,
    cut_patches,
    infinite_width,
    saddle_point,
)


@pytest.fixture(scope="module")
def digits():
    images, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, [4, 9])
    pixels = images[chosen].reshape(-1, 8, 8) / 16 - 0.3
    targets = np.where(labels[chosen] == 4, 1.0, -1.0)
    patches = cut_patches(pixels[:140], 4, 2)
    return PatchRegression(PatchNetwork("erf", 64), patches[:100], targets[:100], 0.1, patches[100:]), targets[100:140]


@pytest.mark.parametrize(("architecture", "numbers"), [("cnn", 45), ("lcn", 9), ("fc", 1), ("pooled", 1)])
def test_saddles_of_images(digits, architecture, numbers):
    problem = digits[0].with_network(architecture=architecture)
    found = saddle_point(problem)
    assert found.reached
    assert found.residual < 1e-12
    assert found.order.shape == (numbers,)
    assert found.matrix.shape == (9, 9)
    assert np.linalg.eigvalsh(found.matrix)[0] > (0 if architecture != "pooled" else -1e-12)
    assert 0 < found.train_loss < 1


def test_predictors_know_the_labels(digits):
    """Forty new digits, of which chance would miss twenty; the process misses at most four."""
    problem, expected = digits
    for found in (infinite_width(problem), saddle_point(problem), saddle_point(problem.with_network(architecture="lcn"))):
        assert np.count_nonzero(np.sign(found.mean) != expected) <= 4
        assert np.all(found.variance > 0)


def test_who_learns(digits):
    """N_c times the growth of alignment at 4000 and 8000 channels, extrapolated, is its slope; fc has none, an lcn far less."""
    slopes = {}
    for architecture in ("cnn", "lcn", "fc"):
        problem = digits[0].with_network(architecture=architecture)
        gains = []
        for channels in (4000, 8000):
            other = problem.with_network(channels=channels)
            gains.append(channels * alignment_gain(other, saddle_point(other).order))
        slopes[architecture] = alignment_slope(problem)
        assert 2 * gains[1] - gains[0] == pytest.approx(slopes[architecture], abs=1e-3)
    assert slopes["cnn"] > 0.5
    assert 1e-3 < abs(slopes["lcn"]) < 0.2
    assert abs(slopes["fc"]) < 1e-12


def test_diagonals_agree_to_first_order(digits):
    """The diagonal of E Q - I is that of an lcn to order 1/N_c: A at Q = I is the same."""
    cnn, lcn = (channel_corrections(digits[0].with_network(architecture=each)).order for each in ("cnn", "lcn"))
    assert np.allclose(np.diag(cnn), np.diag(lcn), rtol=1e-9)
    assert np.abs(cnn - np.diag(np.diag(cnn))).max() > 0.1
