"""Several samplers at once: the bits of one call each, for any number of workers, and errors that name the culprit."""

from dataclasses import replace

import numpy as np
import pytest

from theoryck.montecarlo import (
    Key,
    ProcessExecutor,
    Request,
    SamplerError,
    SerialExecutor,
    sample,
    sample_jointly,
    sample_two_sided,
)


def normal(rng, draws):
    return rng.standard_normal(draws)


def skewed(rng, draws):
    return rng.exponential(size=draws) ** 2


def ends(rng, draws):
    middle = rng.standard_normal(draws)
    return np.column_stack([middle - 0.5, middle + 0.25, middle])


EDGES = (-1.0, 0.0, 1.0)
REQUESTS = (
    Request(normal, Key(3, "joint", {}, {"d": 8}), 1000, 128),
    Request(ends, Key(3, "joint", {}, {"d": 16}), 300, 64, two_sided=True),
    Request(skewed, Key(3, "joint", {}, {"d": 32}), 700, 700, bins=EDGES),
    Request(skewed, Key(3, "joint", {}, {"d": 64}), 5, 256),
)


def alone(request):
    common = {"draws": request.draws, "block_draws": request.block_draws}
    common |= {"first_block": request.first_block, "initial": request.initial}
    if request.two_sided:
        return sample_two_sided(request.sampler, request.key, **common)
    return sample(request.sampler, request.key, bins=request.bins, **common)


def bits(moments):
    """Everything a result says, so that two results with equal bits are equal."""
    if hasattr(moments, "bracket"):
        return tuple(bits(getattr(moments, part)) for part in ("low", "high", "middle", "gap"))
    return moments.count, moments.estimate(), moments.histogram


def test_the_bits_are_those_of_one_call_each():
    together = sample_jointly(REQUESTS)
    assert [moments.count for moments in together] == [1000, 300, 700, 5]
    assert [bits(moments) for moments in together] == [bits(alone(request)) for request in REQUESTS]
    assert together[1].bracket() == alone(REQUESTS[1]).bracket()
    # Equal because keys are equal, not because everything is: another seed gives other bits.
    other = Request(normal, Key(4, "joint", {}, {"d": 8}), 1000, 128)
    assert bits(sample_jointly([other])[0]) != bits(together[0])


@pytest.mark.parametrize("workers", [1, 2])
def test_the_bits_do_not_depend_on_the_number_of_workers(workers):
    with ProcessExecutor(workers) as executor:
        together = sample_jointly(REQUESTS, executor)
    assert [bits(moments) for moments in together] == [bits(moments) for moments in sample_jointly(REQUESTS, SerialExecutor())]


def test_the_order_of_requests_changes_nothing_but_the_order_of_results():
    backwards = sample_jointly(REQUESTS[::-1])
    assert [bits(moments) for moments in backwards[::-1]] == [bits(moments) for moments in sample_jointly(REQUESTS)]


@pytest.mark.parametrize("position", [0, 1])
def test_a_pause_changes_nothing(position):
    request = REQUESTS[position]
    first_blocks = 3
    drawn = first_blocks * request.block_draws
    begin = Request(request.sampler, request.key, drawn, request.block_draws, two_sided=request.two_sided)
    start = sample_jointly([REQUESTS[2], begin])[1]
    rest = Request(
        request.sampler,
        request.key,
        request.draws - drawn,
        request.block_draws,
        first_block=first_blocks,
        initial=start,
        two_sided=request.two_sided,
    )
    resumed = sample_jointly([rest, REQUESTS[3]])[0]
    assert bits(resumed) == bits(alone(request))
    # Without what was drawn before, or from block 0 again, it is another result.
    for change in ({"initial": None}, {"first_block": 0}):
        assert bits(sample_jointly([replace(rest, **change)])[0]) != bits(alone(request))


def test_what_was_drawn_before_is_kept_and_not_changed():
    start = sample(normal, Key(0, "a"), draws=100, block_draws=50)
    before = bits(start)
    found = sample_jointly([Request(normal, Key(0, "a"), 50, 50, first_block=2, initial=start)])[0]
    assert found.count == 150
    assert bits(start) == before


def test_bins_give_a_histogram_to_their_own_request_only():
    together = sample_jointly(REQUESTS)
    assert together[2].histogram.edges == EDGES
    assert together[2].histogram.total == 700
    # Squares of exponentials are positive; P(E^2 <= 1) = 1 - 1/e, to 4.5 binomial deviations of .0182.
    assert together[2].histogram.counts[:2] == (0, 0)
    assert abs(together[2].histogram.cdf()[2] - 0.632) < 4.5 * 0.0182
    assert together[0].histogram is None
    assert together[3].histogram is None


def test_nothing_asked_is_nothing_drawn():
    assert sample_jointly([]) == []
    assert sample_jointly((), SerialExecutor()) == []


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2)])
def test_an_error_names_the_request_that_is_wrong(executor):
    def broken(rng, draws):
        values = rng.standard_normal(draws)
        values[-1] = np.nan
        return values

    requests = [REQUESTS[0], Request(broken, Key(3, "joint", {}, {"d": 24}), 40, 20), REQUESTS[2]]
    message = "1 of 20 draws that are not finite in block 0: the first is nan at position 19"
    with executor, pytest.raises(SamplerError, match=message) as caught:
        sample_jointly(requests, executor)
    assert "'d': 24" in str(caught.value)
    assert "'d': 8" not in str(caught.value)


def test_an_exception_of_a_sampler_is_told_with_its_generator():
    def raises(rng, draws):
        raise ArithmeticError("no draws today")

    with pytest.raises(SamplerError, match=r"raised ArithmeticError in block 2: no draws today") as caught:
        sample_jointly([REQUESTS[0], Request(raises, Key(9, "culprit"), 10, 5, first_block=2)])
    assert "block_generator(9, 'culprit', {}, {}, 2)" in str(caught.value)


@pytest.mark.parametrize(
    ("sampler", "two_sided", "message"),
    [
        (ends, False, r"must return an array of shape \(100,\), got shape \(100, 3\)"),
        (normal, True, r"must return an array of shape \(100, 3\)"),
        (lambda rng, draws: np.arange(draws) + 0.5, False, "ignores rng"),
    ],
)
def test_a_broken_contract_is_found_as_in_a_call_alone(sampler, two_sided, message):
    request = Request(sampler, Key(0, "t"), 300, 100, two_sided=two_sided)
    with pytest.raises(SamplerError, match=message):
        sample_jointly([REQUESTS[0], request])
    with pytest.raises(SamplerError, match=message):
        alone(request)


def test_equal_blocks_of_different_requests_are_no_fault():
    # The same key twice gives the same draws twice: repeats are looked for within a request.
    twice = sample_jointly([REQUESTS[0], REQUESTS[0]])
    assert bits(twice[0]) == bits(twice[1])


def test_a_histogram_of_two_sided_draws_is_refused():
    with pytest.raises((SamplerError, ValueError), match="a two-sided quantity has no histogram"):
        sample_jointly([Request(ends, Key(0, "t"), 100, 100, bins=EDGES, two_sided=True)])


@pytest.mark.parametrize(
    ("field", "value"),
    [("draws", 0), ("draws", 2.5), ("draws", True), ("block_draws", 0), ("first_block", -1), ("first_block", 1.5)],
)
def test_a_plan_that_is_no_plan_is_refused(field, value):
    plan = {"draws": 10, "block_draws": 5, "first_block": 0} | {field: value}
    with pytest.raises(ValueError, match=rf"{field} must be an integer >= \d, got {value!r}"):
        sample_jointly([REQUESTS[0], Request(normal, Key(0, "t"), **plan)])


def test_ctrl_c_leaves():
    def interrupted(rng, draws):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_jointly([REQUESTS[0], Request(interrupted, Key(0, "t"), 10, 5)])
