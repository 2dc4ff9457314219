"""What a student learns: every front function against brute force with weight matrices, closed forms and the exact room.

Means are compared at 4.5 standard errors of the difference (once in 150,000 comparisons by chance; there are about sixty here).
"""

import functools
import math
import pickle
from fractions import Fraction

import cloudpickle
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from theoryck.montecarlo import block_generator
from theoryck.quantities import QuantityError
from theoryck.theory.learning import quantities as tq
from theoryck.theory.learning.draws import evidence
from theoryck.theory.learning.model import TeacherStudent
from theoryck.theory.learning.proved.linear_model import glm_information
from theoryck.theory.networks.model import DeepNetwork

SIGMAS = 4.5
D = 4


def setting(phi="erf", depth=1, n=D, noise=0.5, readout="x", d=D):
    return TeacherStudent(DeepNetwork(phi, depth, (d,) * (depth + 1)), n, noise, readout)


NETWORK, LINEAR, READOUT, MODEL = setting(), setting("x"), setting(readout="tanh(2*x)"), setting(depth=0)
FUNCTIONS = (
    "free_entropy",
    "free_entropy_variance",
    "mutual_information",
    "mutual_information_gap",
    "covariance_gap",
    "generalisation_error",
    "generalisation_gap",
    "gibbs_error",
    "linear_predictor_gap",
    "nishimori_defect",
)


def build(name, chosen, **more):
    if name.startswith("interpolation"):
        return tq.interpolation(chosen, "1/4", divergence=name.endswith("divergence"))
    return getattr(tq, name)(chosen, **more)


def rng(number=0):
    return block_generator(number, "learning", {}, {}, 0)


def error_of(values):
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))


def measure(quantity, draws, number=0, sizes=None):
    """Low end, high end, and the standard error of each; both ends are the mean where the quantity is one-sided."""
    value, error = error_of(quantity.draw(rng(number), draws, sizes or {}))
    return (value[0], value[1], error[0], error[1]) if quantity.two_sided else (value, value, error, error)


def agrees(found, value, error=0.0):
    """Whether the value is at least the low end and at most the high end, to within errors."""
    low, high, low_error, high_error = found
    return low - SIGMAS * math.hypot(low_error, error) <= value <= high + SIGMAS * math.hypot(high_error, error)


# Brute force: erf, n = d = 4, Delta = 1/2, posterior means over prior weight matrices (MATH E2, E3) ------------------------------


def condition(gram, outputs, noise):
    """log N(Y; 0, K + Delta), posterior mean and variance of one more signal: elimination of n pivots, vectorised by hand."""
    n, size = outputs.shape[-1], gram.shape[-1]
    table = np.zeros((*gram.shape[:-2], size + 1, size + 1))
    table[..., :size, :size] = gram
    table[..., :n, size] = table[..., size, :n] = outputs
    table[..., range(n), range(n)] += noise
    logs = -0.5 * n * math.log(2 * math.pi)
    for pivot in range(n):
        logs = logs - 0.5 * np.log(table[..., pivot, pivot])
        table -= table[..., :, pivot, None] * (table[..., pivot, None, :] / table[..., pivot, pivot, None, None])
    return logs + 0.5 * table[..., size, size], -table[..., n, size], table[..., n, n]


@functools.lru_cache(maxsize=1)
def brute_force(groups=8, sets=50, priors=800, n=D, noise=0.5):
    """Values of data sets: T_1 - log(Z/N(Y; 0, C_L)), T_1, E^(L) - E^(0), its linear part, -log Z.

    C_L is the arcsine kernel of erf.  log Z and products of means are corrected for the first order in 1/priors; the next order is
    below 1e-5.
    """
    eta0, gamma0 = tq.constants(NETWORK.network.activation, 1)
    generator, rows = rng(1), []
    for _ in range(groups):
        x = generator.standard_normal((sets, D, n + 1)) / math.sqrt(D)
        teacher = scipy.special.erf(generator.standard_normal((sets, D, D)) @ x[..., :n]) / math.sqrt(D)
        y = np.einsum("ci,cim->cm", generator.standard_normal((sets, D)), teacher)
        y += math.sqrt(noise) * generator.standard_normal((sets, n))
        hidden = scipy.special.erf(generator.standard_normal((sets, priors, D, D)) @ x[:, None]) / math.sqrt(D)
        logs, mean, _ = condition(hidden.swapaxes(-1, -2) @ hidden, y[:, None], noise)
        weight = np.exp(logs - logs.max(axis=1, keepdims=True))
        log_z = np.log(weight.mean(axis=1)) + logs.max(axis=1) + weight.var(axis=1) / weight.mean(axis=1) ** 2 / (2 * priors)
        weight /= weight.sum(axis=1, keepdims=True)
        centre = (weight * mean).sum(axis=1)
        scatter = (weight**2 * (mean - centre[:, None]) ** 2).sum(axis=1)
        gram = x.swapaxes(-1, -2) @ x
        norms = 1 + 2 * np.einsum("cii->ci", gram)
        kernel = 2 / math.pi * np.arcsin(2 * gram / np.sqrt(norms[:, :, None] * norms[:, None, :]))
        log_normal, linear_mean, linear_variance = condition(kernel, y, noise)
        log_base, _, base = condition(eta0**2 * gram + gamma0 * np.eye(n + 1), 0 * y, noise)
        bound = log_base - condition(kernel, 0 * y, noise)[0]
        linear = linear_variance - base
        rows.append([bound - log_z + log_normal, bound, linear - (centre - linear_mean) ** 2 + scatter, linear, -log_z])
    return np.concatenate(np.array(rows).swapaxes(1, 2))


@functools.lru_cache(maxsize=1)
def network_gap():
    return measure(tq.mutual_information_gap(NETWORK), 2048, 2)


def model_information(chosen=NETWORK):
    return float(tq.mutual_information(chosen, equivalent=True).exact({}))


def test_the_gap_of_a_network_against_brute_force():
    value, error = error_of(brute_force()[:, 0])
    assert agrees(network_gap(), value, error)
    # The check can fail: without the divergence, or with the sign of the other difference, it would be another number.
    assert not agrees(network_gap(), -value, error)
    assert network_gap()[1] - network_gap()[0] < 0.01


def test_the_bound_of_the_gap_against_brute_force():
    bound = tq.covariance_gap(NETWORK)
    value, error = error_of(brute_force()[:, 1])
    found = measure(bound, 20000, 3)
    assert agrees(found, value, error)
    # KL = T_1 - gap is .005 here, to within .0006: T_1 is above the gap by more than chance.
    assert found[0] - network_gap()[1] > SIGMAS * math.hypot(found[2], network_gap()[3])


def test_free_entropy_and_information_of_a_network_against_brute_force():
    values = brute_force()[:, [0, 1, 4]]
    # I = -E log Z - (n/2) log(2 pi e Delta); the gap's rows have less noise than -log Z, whose mean they share up to E log det C_0.
    value, error = error_of(values[:, 0])
    information = measure(tq.mutual_information(NETWORK), 500, 4)
    assert agrees(information, value + model_information(), error)
    value, error = error_of(values[:, 2])
    assert agrees(information, value - D / 2 * math.log(math.pi * math.e), error)
    low, high, low_error, high_error = measure(tq.free_entropy(NETWORK), 500, 5)
    assert agrees((-D * high, -D * low, D * high_error, D * low_error), value, error)


def test_generalisation_of_a_network_against_brute_force():
    value, error = error_of(brute_force()[:, 2])
    gap = measure(tq.generalisation_gap(NETWORK), 16, 6)
    assert agrees(gap, value, error)
    linear, linear_error = error_of(brute_force()[:, 3])
    found = measure(tq.linear_predictor_gap(NETWORK), 20000, 7)
    assert agrees(found, linear, linear_error)
    assert gap[0] < gap[1] < found[0]
    base = float(tq.generalisation_error(NETWORK, equivalent=True).exact({}))
    bayes = measure(tq.generalisation_error(NETWORK), 16, 8)
    assert agrees(bayes, base + 0.5 * (gap[0] + gap[1]), max(gap[2:]))
    # A sample of the posterior errs twice as much beyond the noise as its mean: 2 E - Delta.
    gibbs = measure(tq.gibbs_error(NETWORK), 16, 9)
    assert agrees(gibbs, bayes[0] + bayes[1] - 0.5, 2 * max(bayes[2:]))
    assert not agrees(gibbs, bayes[0] + bayes[1], 2 * max(bayes[2:]))


# Identities between quantities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chosen", "draws"), [(NETWORK, 20), (LINEAR, 50), (READOUT, 20), (MODEL, 50), (setting("x", 3), 20)])
@pytest.mark.parametrize("equivalent", [False, True])
def test_information_is_free_entropy_less_the_entropy_of_the_noise(chosen, draws, equivalent):
    information = tq.mutual_information(chosen, equivalent=equivalent).draw(rng(), draws, {})
    entropy = tq.free_entropy(chosen, equivalent=equivalent).draw(rng(), draws, {})
    # With one generator both see the same data, so that it holds draw by draw, with low and high exchanged.
    columns = [1, 0, 2] if entropy.ndim == 2 else slice(None)
    assert information == pytest.approx(-D * entropy[..., columns] - D / 2 * math.log(math.pi * math.e), abs=1e-12)


@pytest.mark.parametrize("pair", [(0.5, 0.1), (0.7, 0.3), (-1.0, 0.0)])
def test_a_gap_against_other_constants_differs_by_the_informations_of_the_models(pair):
    other = float(glm_information(*(Fraction(repr(entry)) for entry in pair), Fraction(1, 2), D, D))
    expected = model_information() - other  # I^(L) - I' = (I^(L) - I^(0)) + (I^(0) - I')
    gap = tq.mutual_information_gap(NETWORK, against=pair)
    found, own = measure(gap, 300, 10), network_gap()
    assert agrees(found, own[0] + expected, own[2]) or agrees(found, own[1] + expected, own[3])
    # Wrong constants show: the gap moves by far more than its size.
    assert not agrees(found, own[0], own[2])
    assert abs(found[0] - own[0]) > 0.02
    bound = measure(tq.covariance_gap(NETWORK, against=pair), 20000, 11)
    right = measure(tq.covariance_gap(NETWORK), 20000, 12)
    assert agrees(bound, right[0] + expected, right[2])
    assert gap.parameters["against"] == list(pair)


@pytest.mark.parametrize("chosen", [NETWORK, LINEAR])
def test_per_sample_divides_by_n(chosen):
    whole, each = tq.mutual_information_gap(chosen), tq.mutual_information_gap(chosen, per_sample=True)
    assert np.allclose(each.draw(rng(), 20, {}) * D, whole.draw(rng(), 20, {}), rtol=1e-14)
    assert each.parameters == whole.parameters | {"per_sample": True}
    assert each.name == f"{whole.name}/n"
    assert each.cost({}) == whole.cost({})
    one, two = (tq.mutual_information(MODEL, per_sample=part).exact({}) for part in (False, True))
    assert float(two) == pytest.approx(float(one) / D, rel=1e-15)


def test_linear_depth_loses_information_and_error():
    for depth, at_least in ((1, 0.01), (3, 0.04)):
        chosen = setting("x", depth)
        gap = measure(tq.mutual_information_gap(chosen), 2000, 13)
        assert gap[0] == gap[1] < -at_least
        value, _, error, _ = measure(tq.mutual_information(chosen), 4000, 14)
        assert agrees(gap, value - model_information(chosen), error)
        assert measure(tq.generalisation_gap(chosen), 1000, 15)[1] < 0


def test_the_path_from_the_network_to_the_linear_model():
    assert tq.interpolation(NETWORK, 0.5).problem({}) == tq.interpolation(NETWORK, Fraction(1, 2)).problem({})
    for chosen in (NETWORK, LINEAR, READOUT):
        start, end = tq.interpolation(chosen, 0), tq.interpolation(chosen, 1)
        assert np.array_equal(start.draw(rng(), 20, {}), tq.free_entropy(chosen).draw(rng(), 20, {}))
        assert np.array_equal(end.draw(rng(), 20, {}), tq.free_entropy(chosen, equivalent=True).draw(rng(), 20, {}))
        assert start.name != end.name != tq.interpolation(chosen, "1/2").name
    for chosen in (NETWORK, LINEAR):
        exact = float(tq.free_entropy(chosen, equivalent=True).exact({}))
        assert float(tq.interpolation(chosen, 1).exact({})) == exact
        value = measure(tq.interpolation(chosen, 0.5), 300, 16)
        low, high, low_error, high_error = measure(tq.interpolation(chosen, 0.5, divergence=True), 300, 17)
        assert agrees(value, exact + 0.5 * (low + high) / D, max(low_error, high_error) / D)
        assert low > SIGMAS * low_error
        # n (f_0 - f_1) = I^(0) - I^(L), and n (f_1 - f_1) = 0.
        low, high, low_error, high_error = measure(tq.interpolation(chosen, 0, divergence=True), 800, 18)
        gap = measure(tq.mutual_information_gap(chosen), 800, 19)
        assert agrees((-high, -low, high_error, low_error), 0.5 * (gap[0] + gap[1]), max(gap[2:]))
        assert np.abs(tq.interpolation(chosen, 1, divergence=True).draw(rng(), 20, {})).max() < 1e-14


def test_the_teacher_is_a_sample_of_the_posterior_and_a_wrong_belief_shows():
    value, _, error, _ = measure(tq.nishimori_defect(NETWORK), 1500, 20)
    assert abs(value) < SIGMAS * error
    value, _, error, _ = measure(tq.nishimori_defect(NETWORK, student_noise=0.25), 1500, 20)
    assert value < -SIGMAS * error


# Exact values --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 9])
def test_the_linear_model_has_exact_values_that_draws_meet(n):
    for chosen, equivalent in ((setting(depth=0, n=n), False), (setting(n=n), True)):
        for name in ("mutual_information", "free_entropy", "generalisation_error"):
            quantity = build(name, chosen, equivalent=equivalent)
            value = quantity.exact({})
            assert value.rigorous
            assert agrees(measure(quantity, 4000, 21), float(value)), (name, chosen)
            assert not agrees(measure(quantity, 4000, 21), 1.1 * float(value))


def test_one_sample_of_the_linear_model_by_an_integral():
    # y ~ N(0, S + Delta) with S = chi2_d/d: I = E log(1 + S/Delta)/2.
    law = scipy.stats.chi2(D)
    value = scipy.integrate.quad(lambda s: law.pdf(s) * 0.5 * math.log1p(2 * s / D), 0, 80)[0]
    assert float(tq.mutual_information(setting(depth=0, n=1)).exact({})) == pytest.approx(value, abs=1e-9)
    mean, square = (
        scipy.integrate.quad(lambda s, k=k: law.pdf(s) * (0.5 * math.log(s / D + 0.5)) ** k, 0, 80, limit=200)[0] for k in (1, 2)
    )
    variance = tq.free_entropy_variance(setting(depth=0, n=1))
    # Var log Z = Var (Z^2/2) + Var log det C / 2, Z^2/2 has variance 1/2.
    assert agrees(measure(variance, 4000, 22), 0.5 + square - mean**2)
    assert not agrees(measure(variance, 4000, 22), 0.5)


@pytest.mark.parametrize("chosen", [setting(n=1), setting("sin", n=1), setting(n=1, readout="tanh(2*x)")])
def test_one_sample_of_a_network_has_an_exact_value_that_draws_meet(chosen):
    information, gap = tq.mutual_information(chosen), tq.mutual_information_gap(chosen)
    # Control variates have a tail that few hundred draws may miss.
    draws = 1000 if chosen.linear_readout else 300
    assert agrees(measure(information, draws, 23), float(information.exact({})))
    assert agrees(measure(gap, draws, 24), float(gap.exact({})))
    assert not agrees(measure(information, draws, 23), 0.5 * float(information.exact({})))
    assert not gap.exact({}).rigorous
    only = tq.mutual_information_gap(chosen, exact_only=True)
    assert (only.can_draw, gap.can_draw, only.exact({})) == (False, True, gap.exact({}))
    with pytest.raises(QuantityError, match="exact value only: leave out exact_only"):
        only.sampler({})


def test_where_there_is_no_exact_value():
    assert tq.mutual_information_gap(NETWORK).exact({}) is None
    assert tq.free_entropy(setting("x")).exact({}) is None
    for name in ("free_entropy_variance", "covariance_gap", "gibbs_error", "nishimori_defect", "generalisation_gap"):
        quantity = build(name, NETWORK)
        assert (quantity.can_exact, quantity.exact({})) == (False, None)


def test_a_readout_that_doubles_is_a_quarter_of_the_noise():
    # Y/2 = a.x_L + sqrt(Delta/4) Z: the information is the same, by the method for readouts that are not linear.
    doubled, plain = setting(n=2, readout="2*x"), setting(n=2, noise=0.125)
    low, high, low_error, high_error = measure(tq.mutual_information(plain), 400, 25)
    found = measure(tq.mutual_information(doubled), 400, 26)
    assert agrees(found, low, low_error)
    assert agrees(found, high, high_error)
    assert not agrees(found, measure(tq.mutual_information(setting(n=2)), 400, 25)[0], low_error)


# Which method measures what ------------------------------------------------------------------------------------------------------

TWO_SIDED = {
    "network": {"free_entropy", "mutual_information", "mutual_information_gap", "generalisation_error", "generalisation_gap"}
    | {"gibbs_error", "interpolation", "interpolation_divergence"},
    "linear": set(),
    "readout": {"free_entropy", "mutual_information", "mutual_information_gap", "interpolation"}
    | {"generalisation_error", "generalisation_gap"},
}
NOWHERE = {
    "network": set(),
    "linear": {"covariance_gap", "gibbs_error", "linear_predictor_gap", "nishimori_defect"},
    "readout": {"covariance_gap", "gibbs_error", "linear_predictor_gap", "nishimori_defect", "interpolation_divergence"},
}


@pytest.mark.parametrize("where", NOWHERE)
@pytest.mark.parametrize("name", [*FUNCTIONS, "interpolation", "interpolation_divergence"])
def test_the_method_follows_from_network_and_readout(where, name):
    chosen = {"network": NETWORK, "linear": LINEAR, "readout": READOUT}[where]
    if name in NOWHERE[where]:
        with pytest.raises(QuantityError, match=r"cannot be measured for|needs an activation that is not linear"):
            build(name, chosen)
        return
    quantity = build(name, chosen)
    assert quantity.two_sided is (name in TWO_SIDED[where])
    values = quantity.draw(rng(), 5, {})
    assert values.shape == ((5, 3) if quantity.two_sided else (5,))
    assert np.isfinite(values).all()
    assert quantity.cost({}) > 0
    assert quantity.data_sets_per_draw == (8 if name == "free_entropy_variance" else 1)
    again = pickle.loads(pickle.dumps(quantity))
    assert (again.name, again.parameters, again.two_sided) == (quantity.name, quantity.parameters, quantity.two_sided)
    assert np.array_equal(again.draw(rng(), 5, {}), values)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tq.mutual_information_gap(NETWORK, per_sample=True, against=(0.5, 0.1), target_width=0.05),
        lambda: tq.mutual_information(READOUT, equivalent=True, per_sample=True),
        lambda: tq.nishimori_defect(NETWORK, "power", student_noise=0.25, moves=3),
        lambda: tq.free_entropy_variance(NETWORK, target_width=0.05),
        lambda: tq.interpolation(NETWORK, 0.25),
    ],
)
def test_pickling_keeps_every_option(make):
    quantity = make()
    again = pickle.loads(pickle.dumps(quantity))
    assert (again.name, again.parameters, again.can_draw) == (quantity.name, quantity.parameters, quantity.can_draw)
    assert again.problem({}) == quantity.problem({})
    assert np.array_equal(again.draw(rng(3), 4, {}), quantity.draw(rng(3), 4, {}))


def test_pickling_keeps_that_only_the_exact_value_was_asked_for():
    quantity = tq.mutual_information_gap(setting(n=1), exact_only=True)
    assert pickle.loads(pickle.dumps(quantity)).can_draw is False


def test_options_are_part_of_the_instance():
    quantities = [
        tq.mutual_information_gap(NETWORK),
        tq.mutual_information_gap(NETWORK, per_sample=True),
        tq.mutual_information_gap(NETWORK, against=(0.5, 0.1)),
        tq.mutual_information_gap(NETWORK, target_width=0.05),
        tq.mutual_information(NETWORK),
        tq.mutual_information(NETWORK, equivalent=True),
        tq.mutual_information(READOUT),
        tq.mutual_information(setting(noise=0.25)),
        tq.nishimori_defect(NETWORK),
        tq.nishimori_defect(NETWORK, "power"),
        tq.nishimori_defect(NETWORK, moves=8),
    ]
    assert len({quantity.name for quantity in quantities}) == len(quantities)
    assert len({str(quantity.parameters) for quantity in quantities}) == len(quantities)


def forget():
    evidence.plan.forget()
    evidence.input_plan.forget()


@pytest.mark.parametrize("name", ["mutual_information_gap", "mutual_information", "free_entropy_variance"])
def test_samplers_made_of_what_pilots_found_elsewhere_are_the_same(name):
    """Pilots travel, as to processes; the slowest are begun first, and schedules are found before what needs them."""
    chosen = TeacherStudent(DeepNetwork("tanh", 1, ("d", "d")), "n")
    sizes = [{"d": 3, "n": 2}, {"d": 4, "n": 4}, {"d": 3, "n": 2}]
    forget()
    alone = [build(name, chosen).sampler(entry) for entry in sizes]
    forget()
    quantity, rounds = build(name, chosen), []
    while pilots := quantity.pilots(sizes):
        rounds.append([getattr(pilot.arguments[0], "problem", pilot.arguments[0]) for pilot in pilots])
        for pilot in pilots:
            travelled = pickle.loads(cloudpickle.dumps(pilot))
            assert travelled == pilot
            pilot.keep(pickle.loads(pickle.dumps(travelled())))
    assert [[problem.n for problem in each] for each in rounds] == [[4, 2]] * (1 if name == "free_entropy_variance" else 2)
    assert [quantity.sampler(entry) for entry in sizes] == alone


def test_a_schedule_is_found_once_for_all_quantities_that_need_it():
    chosen, sizes = TeacherStudent(DeepNetwork("tanh", 1, ("d", "d")), "n"), [{"d": 3, "n": 3}]
    forget()
    for _ in range(2):
        for pilot in tq.mutual_information(chosen).pilots(sizes):
            pilot.keep(pilot())
    assert tq.mutual_information(chosen).pilots(sizes) == []
    [inputs] = tq.mutual_information_gap(chosen).pilots(sizes)  # of the same network: T differs, the paths do not
    assert inputs.function is evidence.input_plan
    assert tq.covariance_gap(chosen).pilots(sizes) == ()
    assert tq.mutual_information(chosen, equivalent=True).pilots(sizes) == ()


@pytest.mark.parametrize("sizes", [{"d": 2, "n": 1}, {"d": 8, "n": 16}, {"d": 512, "n": 512}])
@pytest.mark.parametrize("name", ["free_entropy", "mutual_information_gap", "free_entropy_variance", "generalisation_error"])
def test_blocks_are_powers_of_two_of_at_least_four(name, sizes):
    quantity = build(name, TeacherStudent(DeepNetwork("x", 1, ("d", "d")), "n"))
    draws = quantity.block_draws(sizes)
    assert draws >= 4
    assert draws & (draws - 1) == 0
    assert quantity.cost(sizes) > 0
    assert quantity.size_names == ("d", "n")


# What is refused -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS[:4])
def test_a_setting_is_needed(name):
    for wrong in (NETWORK.network, "tanh", None):
        with pytest.raises((QuantityError, AttributeError)) as caught:
            build(name, wrong)
        if name in ("free_entropy", "mutual_information"):
            assert "must be a theoryck.TeacherStudent" in str(caught.value)
            assert repr(wrong) in str(caught.value)
    with pytest.raises(QuantityError, match="the noise must be > 0, got 0"):
        build(name, setting(noise=0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tq.covariance_gap(LINEAR), "covariance_gap cannot be measured for a linear network; these can: free_entropy"),
        (lambda: tq.covariance_gap(READOUT), "for a readout that is not linear; these can: free_entropy"),
        (lambda: tq.gibbs_error(READOUT), "gibbs_error cannot be measured for a readout that is not linear"),
        (lambda: tq.interpolation(READOUT, "1/2", divergence=True), "interpolation_divergence cannot be measured"),
        (lambda: tq.interpolation(NETWORK, 1.5), "time must lie between 0 .* and 1 .*, got 1.5"),
        (lambda: tq.interpolation(NETWORK, -0.1), "time must lie between 0 .* and 1 .*, got -0.1"),
        (lambda: tq.interpolation(NETWORK, "late"), "time must be a number from 0 .* got 'late'"),
        (lambda: tq.interpolation(NETWORK, math.nan), "time must be a number from 0 .* got nan"),
        (lambda: tq.mutual_information_gap(NETWORK, target_width=1e-12), "target_width must be at least 1e-06 nats, got 1e-12"),
        (lambda: tq.mutual_information_gap(NETWORK, target_width=0), "target_width must be a positive number, got 0"),
        (lambda: tq.mutual_information_gap(NETWORK, target_width="wide"), "target_width must be a positive number, got 'wide'"),
        (lambda: tq.mutual_information_gap(NETWORK, target_width=math.inf), "target_width must be a positive number, got inf"),
        (
            lambda: tq.mutual_information_gap(LINEAR, target_width=0.1),
            "needs an activation that is not linear and a linear readout",
        ),
        (lambda: tq.mutual_information_gap(NETWORK, against=0.5), r"against must be the pair \(eta_0, gamma_0\) .*, got 0.5"),
        (lambda: tq.mutual_information_gap(NETWORK, against=(0, 0.1)), r"against needs eta_0 != 0 and gamma_0 >= 0, .*\(0, 0.1\)"),
        (lambda: tq.covariance_gap(NETWORK, against=(0.5, -1)), r"against needs eta_0 != 0 and gamma_0 >= 0, .*\(0.5, -1\)"),
        (lambda: tq.covariance_gap(NETWORK, against=(0.5, math.nan)), "both finite"),
        (lambda: tq.mutual_information_gap(READOUT, against=(0.5, 0.1)), "against needs an activation that is not linear"),
        (lambda: tq.nishimori_defect(NETWORK, student_noise=-1), "student_noise must be a positive number, got -1"),
        (lambda: tq.nishimori_defect(NETWORK, "entropy"), "statistic must be one of .* got 'entropy'"),
        (lambda: tq.nishimori_defect(NETWORK, None), "statistic must be one of .* got None"),
        (lambda: tq.nishimori_defect(NETWORK, moves=0), "moves must be an integer >= 1 .* got 0"),
        (lambda: tq.nishimori_defect(NETWORK, moves=2.5), "moves must be an integer >= 1 .* got 2.5"),
        (lambda: tq.nishimori_defect(LINEAR), "nishimori_defect cannot be measured for a linear network"),
        (lambda: tq.interpolation(NETWORK, True), "time must be a number from 0 .* got True"),
        (lambda: tq.mutual_information_gap("tanh"), "setting must be a theoryck.TeacherStudent .* got 'tanh'"),
        (lambda: tq.covariance_gap(None), "setting must be a theoryck.TeacherStudent .* got None"),
        (lambda: tq.free_entropy_variance(NETWORK.network), "setting must be a theoryck.TeacherStudent"),
        (lambda: tq.free_entropy_variance(NETWORK, equivalent=True, target_width=0.1), "target_width is for the evidence"),
        (lambda: tq.mutual_information_gap(setting("x**2 - 1")).sampler({}), "eta_0 = 0 .* does not see the input"),
        (lambda: tq.generalisation_gap(setting("x**2 - 1")).sampler({}), "eta_0 = 0 .* does not see the input"),
        (lambda: tq.free_entropy(setting("x**2 - 1"), equivalent=True).sampler({}), "eta_0 = 0 .* does not see the input"),
        (lambda: tq.mutual_information_gap(setting(noise="1e-9")), "the noise must lie between 1e-06 and 1e.06 .*, got 1e-09"),
        (lambda: tq.free_entropy(TeacherStudent(NETWORK.network, "n")).sampler({"N": 4}), "needs a size 'n'"),
    ],
)
def test_what_cannot_be_measured_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()
