"""The annealing engine on a target whose normalising constant is known: a Gaussian, log r(x) = -(1/2) sum_i p_i (x_i - c_i)^2."""

import math

import numpy as np
import pytest

from theoryck.montecarlo import block_generator
from theoryck.numerics.annealing.paths import Schedule, log_mean_exp, log_weights, move
from theoryck.numerics.annealing.tuning import ladder, tune

PRECISION = np.array([4.0, 1.0, 9.0])
CENTRE = np.array([[1.0, -0.5, 0.3], [0.0, 2.0, -1.0]])
SETS = 400


class Gaussian:
    """Z = prod (1 + p)^(-1/2) exp(-p c^2 / (2 (1 + p))); the posterior is N(p c / (1 + p), 1 / (1 + p))."""

    dim, piece, costs = 3, 4096, (1e3, 1e4)

    def __init__(self, centre):
        self.centre, self.sets = centre, len(centre)

    def log_ratio(self, states):
        return -0.5 * (PRECISION * (states - self.centre[:, None]) ** 2).sum(axis=-1)

    def log_ratio_and_gradient(self, states):
        return self.log_ratio(states), -PRECISION * (states - self.centre[:, None])

    def posterior(self, rng):
        mean, deviation = PRECISION * self.centre / (1 + PRECISION), (1 + PRECISION) ** -0.5
        return mean + deviation * rng.standard_normal(self.centre.shape)

    @property
    def log_z(self):
        return (-0.5 * np.log1p(PRECISION) - 0.5 * PRECISION * self.centre**2 / (1 + PRECISION)).sum(axis=-1)


def make(rng, sets):
    target = Gaussian(CENTRE[rng.integers(2, size=sets)])
    return target, target.posterior(rng)


def weights(schedule, seed=0, sets=SETS):
    rng = block_generator(seed, "annealing", {}, {}, 0)
    target, posterior = make(rng, sets)
    return log_weights(target, posterior, schedule, rng), target.log_z


def z_score(values, expected):
    """Standard errors between the mean of iid ``values`` and ``expected``."""
    return (values.mean() - expected) / (values.std(ddof=1) / math.sqrt(len(values)))


SCHEDULES = [Schedule(4), Schedule(4, ladder(6), 0.5), Schedule(4, ladder(6), 1.0, leaps=3), Schedule(4, (0.1, 0.3, 1.0), 0.8)]


# 12 two-sided comparisons at 4.5 standard errors: one false alarm in 10^4 choices of seeds.
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_exact_identities_and_both_sides(schedule):
    found, log_z = weights(schedule)
    forward = np.exp(found.log[:, 1:] - log_z[:, None]).mean(axis=1)
    assert abs(z_score(forward, 1.0)) < 4.5
    # Exactly 1/Z with the backward path among the M.
    assert abs(z_score(np.exp(log_z - found.high), 1.0)) < 4.5
    assert z_score(found.low - log_z, 0.0) < 4.5
    assert z_score(found.high - log_z, 0.0) > -4.5
    assert found.high.mean() > found.low.mean()


@pytest.mark.parametrize("schedule", SCHEDULES[1:])
def test_backward_path_has_weight_of_mean_one_over_z(schedule):
    found, log_z = weights(schedule, seed=1, sets=4000)
    assert abs(z_score(np.exp(log_z - found.log[:, 0]), 1.0)) < 4.5


def test_more_temperatures_narrow_the_bracket():
    widths = [np.mean(w.high - w.low) for w in (weights(Schedule(2, ladder(count), 0.7), 2)[0] for count in (1, 4, 16, 64))]
    assert widths[0] > 2 * widths[2] > 4 * widths[3]


def test_a_move_leaves_its_law_invariant():
    rng = block_generator(3, "annealing", {}, {}, 0)
    b, chains = 0.6, 20000
    target = Gaussian(CENTRE[:1])
    mean, deviation = b * PRECISION * CENTRE[0] / (1 + b * PRECISION), (1 + b * PRECISION) ** -0.5
    states = mean + deviation * rng.standard_normal((1, chains, 3))
    values, gradients = target.log_ratio_and_gradient(states)
    schedule = Schedule(2, ladder(2), 0.4, leaps=2)
    moved, now, slope, share = move(target, states, values, gradients, np.full((chains, 1), b), schedule, rng)
    standard = (moved[0] - mean) / deviation
    # Means of chains: standard errors 1/sqrt(N) and sqrt(2/N); 6 comparisons at 4.5.
    assert np.abs(standard.mean(axis=0)).max() < 4.5 / math.sqrt(chains)
    assert np.abs(np.square(standard).mean(axis=0) - 1).max() < 4.5 * math.sqrt(2 / chains)
    assert 0.3 < share < 1
    assert not np.array_equal(moved, states)
    again = target.log_ratio_and_gradient(moved)
    assert np.array_equal(now, again[0])
    assert np.array_equal(slope, again[1])


def test_a_move_without_the_accept_step_is_noticed():
    # Large steps without Metropolis: the chains drift off, and what comes from above falls below what comes from below.
    broken, log_z = weights(Schedule(8, ladder(50), 0.65, metropolis=False), 4)
    assert z_score(broken.log[:, 0] - broken.low, 0.0) < -4.5
    # Without a crossing the identity for 1/R still tells, already where steps are only a little too large.
    slightly, log_z = weights(Schedule(8, ladder(50), 0.3, metropolis=False), 4)
    assert z_score(np.exp(log_z - slightly.high), 1.0) > 4.5
    for angle in (0.3, 0.65):
        sound, log_z = weights(Schedule(8, ladder(50), angle), 4)
        assert z_score(sound.log[:, 0] - sound.low, 0.0) > 0
        assert abs(z_score(np.exp(log_z - sound.high), 1.0)) < 4.5


def test_a_wrong_posterior_sample_is_noticed():
    rng = block_generator(5, "annealing", {}, {}, 0)
    target, _ = make(rng, SETS)
    wrong = rng.standard_normal((SETS, 3))
    found = log_weights(target, wrong, Schedule(4, ladder(6), 0.5), rng)
    assert z_score(np.exp(target.log_z - found.high), 1.0) > 4.5


def test_same_bits_for_the_same_generator():
    one, two = (weights(SCHEDULES[1], 6)[0] for _ in range(2))
    assert np.array_equal(one.log, two.log)


def test_pieces_do_not_change_the_law():
    rng = block_generator(7, "annealing", {}, {}, 0)
    target, posterior = make(rng, 50)
    target.piece = 60
    found = log_weights(target, posterior, Schedule(200), rng)
    assert found.log.shape == (50, 200)
    assert np.abs(found.low - target.log_z).max() < 1.0


def test_log_mean_exp_without_overflow():
    assert log_mean_exp(np.array([-1e300, 0.0])) == pytest.approx(-math.log(2))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"paths": 1}, "paths"),
        ({"paths": 4, "temperatures": (0.5,)}, "temperatures"),
        ({"paths": 4, "temperatures": (0.5, 0.5, 1.0)}, "temperatures"),
        ({"paths": 4, "temperatures": ()}, "temperatures"),
        ({"paths": 4, "angle": 2.0}, "angle"),
        ({"paths": 4, "leaps": 0}, "leaps"),
    ],
)
def test_schedules_that_make_no_sense(arguments, named):
    with pytest.raises(ValueError, match=named):
        Schedule(**arguments)


def test_posterior_of_the_wrong_shape():
    with pytest.raises(ValueError, match="posterior"):
        log_weights(Gaussian(CENTRE), np.zeros((1, 3)), Schedule(4), np.random.default_rng(0))


def test_tuning_reaches_its_aim_and_repeats():
    one, two = (tune(make, 0.01, 1e9, block_generator(8, "tuning", {}, {}, 0)) for _ in range(2))
    assert one == two
    found, _ = weights(one.schedule, 9)
    # A pilot of 32 data sets with safety factor 2: within a factor 2.
    assert 0 < (found.high - found.low).mean() < 0.02


def test_tuning_anneals_where_sampling_the_prior_is_hopeless():
    far = np.full((1, 3), 5.0)

    def make_far(rng, sets):
        target = Gaussian(np.repeat(far, sets, axis=0))
        return target, target.posterior(rng)

    tuned = tune(make_far, 0.05, 1e9, block_generator(10, "tuning", {}, {}, 0))
    assert tuned.schedule.moves > 0
    with pytest.raises(ValueError, match="gap"):
        tune(make_far, 0.0, 1e8, np.random.default_rng(0))
