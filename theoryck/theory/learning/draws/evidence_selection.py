"""Which data sets the paths are spent on: chosen among many candidates, with weights that leave every mean as it is.

The divergence log r + 1/r - 1 of one data set is of second order in r - 1: three sets in a thousand, those with large |Y|, make
four fifths of its variance (erf, n = d = 4; its skewness is 28).  Candidates are cheap, paths are not.  So m candidates are drawn,
and one of them, i, is chosen with probability
    p_i = FLOOR / m + (1 - FLOOR) (f_i / sum f + g_i / sum g) / 2
and gets the weight w = 1/(m p_i).  Given the candidates E[w F_i] = sum_i p_i F_i / (m p_i) = (1/m) sum_i F_i for any F, so that
E[w F] = E F exactly, E w = 1, and inequalities between means stay.  p depends on X and Y alone: given these the teacher of the
chosen set is still an exact sample of the posterior.

Two guesses of the divergence are used: f = log q + 1/q - 1 of the scalar mode q, and g = e^4 for e = (Y^T C_B^(-1) Y - n)/2 > 0,
because for small fluctuations of K_W log r is quadratic in e, whatever mode fluctuates.  Because of the floor no weight exceeds
1/FLOOR: where both guesses are bad the tail is at most twice as long as before; where one is good a set counts about 1/m, as in a
mean of m sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import describe
from theoryck.theory.learning.draws.evidence_model import DataSets, Setting, draw_data, root_of_rest
from theoryck.theory.learning.draws.evidence_scalar import ScalarMode

Array = NDArray[np.float64]

FLOOR = 0.5
MOST, ENOUGH = 64, 16

CHEAP, DEAR = 4e5, 1e7
"""Nanoseconds that the candidates of one data set may take even where its paths take less: for up to MOST, for up to ENOUGH."""

MOST_NUMBERS = 1 << 22
"""Numbers in the largest array of all candidates of one data set, 32 MiB."""


def candidate_nanoseconds(setting: Setting) -> float:
    """Return about how many nanoseconds one candidate takes: weights, kernel and its eigenvalues; fitted to measurements."""
    n = setting.samples
    numbers = n * (setting.widths[0] + 2) + sum(rows * (columns + n) for rows, columns in zip(setting.widths[1:], setting.widths))
    kernel = 1000.0 + 60.0 * n * n + (0.0 if describe(setting.activation)["closed form"] else 8.0e3)
    return 2000.0 + setting.depth * kernel + 10.0 * numbers + 2.0 * n**3


def candidates(setting: Setting, nanoseconds: float) -> int:
    """Return m, the number of candidates for a data set whose paths take ``nanoseconds``: they may take half as long.

    >>> from theoryck.numerics.functions.activation import Activation
    >>> [candidates(Setting(Activation("erf(x)"), (d, d), d, 0.5, 0.65, 0.04), 1e5) for d in (4, 32, 128)]
    [64, 16, 1]
    """
    n, one = setting.samples, candidate_nanoseconds(setting)
    pairs = zip(setting.widths[1:], setting.widths[:-1])
    largest = max(n * n, n * max(setting.widths), *(rows * columns for rows, columns in pairs))
    wanted = max(max(CHEAP, 0.5 * nanoseconds) / one, min(float(ENOUGH), DEAR / one))
    return max(min(MOST, int(wanted), MOST_NUMBERS // largest), 1)


def select(setting: Setting, rng: np.random.Generator, sets: int, count: int) -> tuple[DataSets, Array]:
    """Return ``sets`` data sets, each one of ``count``, and their weights (sets,): E[w F(data)] = E F(data of a teacher)."""
    data = draw_data(setting, rng, sets * count)
    if count == 1:
        return data, np.ones(sets)
    mode = ScalarMode(data.kernel, root_of_rest(setting, data.grams), setting.widths)
    log_q, energy = mode.log_ratio(data.outputs), mode.energy(data.outputs)
    shares = [_shares(guess.reshape(sets, count)) for guess in (log_q + np.expm1(-log_q), np.maximum(energy, 0.0) ** 4)]
    chance = FLOOR / count + 0.5 * (1.0 - FLOOR) * (shares[0] + shares[1])
    steps = np.cumsum(chance, axis=1)
    # The last step is 1 up to rounding, and numbers drawn are below it.
    chosen = (steps[:, :-1] <= rng.random((sets, 1)) * steps[:, -1:]).sum(axis=1)
    rows = np.arange(sets)
    return data[rows * count + chosen], 1.0 / (count * chance[rows, chosen])


def _shares(guesses: Array) -> Array:
    """Return guesses (sets, m) >= 0 divided by their sums; where these are 0 all candidates are alike."""
    total = guesses.sum(axis=1, keepdims=True)
    return np.divide(guesses, total, out=np.full_like(guesses, 1.0 / guesses.shape[1]), where=total > 0)
