"""Which data sets the paths are spent on: chosen among many candidates, with weights that leave every mean as it is.

The divergence log r + 1/r - 1 of one data set is of second order in r - 1: three sets in a thousand, those with large |Y|, make
four fifths of its variance (erf, n = d = 4; its skewness is 28).  Candidates are cheap, paths are not.  So m candidates are drawn,
and one of them, i, is chosen with probability
    p_i = FLOOR / m + (1 - FLOOR) f_i / sum f,     f = log q + 1/q - 1 of the scalar mode q of candidate i,
and gets the weight w = 1/(m p_i).  Given the candidates E[w F_i] = sum_i p_i F_i / (m p_i) = (1/m) sum_i F_i for any F, so that
E[w F] = E F exactly, E w = 1, and inequalities between means stay.  p depends on X and Y alone: given these the teacher of the
chosen set is still an exact sample of the posterior.  Because of the floor no weight exceeds 1/FLOOR, so that data for which q is
a bad guess of r do no more harm than before, twice; those for which it is a good one count 1/m each, as in a mean of m sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.evidence_model import DataSets, Setting, draw_data, root_of_rest
from theoryck.quantities.evidence_scalar import ScalarMode

Array = NDArray[np.float64]

CANDIDATES = 32
FLOOR = 0.5

MOST_NUMBERS = 1 << 22
"""Numbers in the largest array of all candidates of one data set: 32 MiB.  Where they would be more, there are fewer candidates."""


def candidates(setting: Setting) -> int:
    """Return m, the number of candidates for each data set."""
    n = setting.samples
    pairs = zip(setting.widths[1:], setting.widths[:-1])
    largest = max(n * n, n * max(setting.widths), *(rows * columns for rows, columns in pairs))
    return min(max(MOST_NUMBERS // largest, 1), CANDIDATES)


def select(setting: Setting, rng: np.random.Generator, sets: int) -> tuple[DataSets, Array]:
    """Return ``sets`` data sets and their weights w (sets,): E[w F(data)] = E F(data of a teacher) for every F."""
    count = candidates(setting)
    data = draw_data(setting, rng, sets * count)
    if count == 1:
        return data, np.ones(sets)
    log_q = ScalarMode(data.kernel, root_of_rest(setting, data.grams), setting.widths).log_ratio(data.outputs)
    guess = (log_q + np.expm1(-log_q)).reshape(sets, count)
    total = guess.sum(axis=1, keepdims=True)
    # Where nothing is expected of any candidate (tau = 1: q = 1) all are alike.
    share = np.divide(guess, total, out=np.full_like(guess, 1.0 / count), where=total > 0)
    chance = FLOOR / count + (1.0 - FLOOR) * share
    steps = np.cumsum(chance, axis=1)
    # The last step is 1 up to rounding, and numbers drawn are below it.
    chosen = (steps[:, :-1] <= rng.random((sets, 1)) * steps[:, -1:]).sum(axis=1)
    rows = np.arange(sets)
    return data[rows * count + chosen], 1.0 / (count * chance[rows, chosen])
