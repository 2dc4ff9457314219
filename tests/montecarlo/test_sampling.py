"""Blocks: what a sampler must keep to, what is said when it does not, and that nothing finished is lost."""

import random
import sys
from fractions import Fraction

import numpy as np
import pytest

from theoryck.montecarlo import Key, Moments, SamplerError, SerialExecutor, check_block, sample

KEY = Key(0, "test", {"k": 1}, {"d": 8})


def gaussian(rng, draws):
    return rng.standard_normal(draws)


def run(sampler, draws=1000, block_draws=100, **more):
    return sample(sampler, KEY, draws=draws, block_draws=block_draws, **more)


def test_the_result_is_the_blocks_merged_left_to_right() -> None:
    parts = [Moments.of(KEY.generator(block).standard_normal(size)) for block, size in enumerate([300, 300, 300, 100])]
    expected = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    assert run(gaussian, draws=1000, block_draws=300) == expected


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_resuming_after_whole_blocks_gives_the_same_bits(cut: int) -> None:
    first = run(gaussian, draws=100 * cut)
    assert run(gaussian, draws=1000 - 100 * cut, first_block=cut, initial=first) == run(gaussian)


def test_bins_and_progress() -> None:
    seen = []
    moments = run(gaussian, draws=250, bins=[-1.0, 1.0], progress=lambda done, wanted: seen.append((done, wanted)))
    assert seen == [(100, 250), (200, 250), (250, 250)]
    assert moments.histogram is not None
    assert moments.histogram.total == 250


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, "draws must be an integer >= 1, got 0"),
        ({"block_draws": 0}, "block_draws must be an integer >= 1, got 0"),
        ({"draws": 2.5}, "draws must be an integer >= 1, got 2.5"),
        ({"first_block": -1}, "first_block must be an integer >= 0, got -1"),
    ],
)
def test_wrong_plans(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(gaussian, **arguments)


# -- a sampler that breaks its contract --------------------------------------------------------------------------------------------


def test_nan_says_how_many_where_and_how_to_repeat() -> None:
    def broken(rng, draws):
        values = rng.standard_normal(draws)
        values[7] = np.nan
        values[9] = np.inf
        return values

    with pytest.raises(
        SamplerError, match=r"2 of 100 draws that are not finite in block 0.*first is nan at\s+position 7"
    ) as caught:
        run(broken)
    assert "block_generator(0, 'test', {'k': 1}, {'d': 8}, 0)" in str(caught.value)
    assert "instead of dropping draws" in str(caught.value)


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (lambda rng, draws: rng.standard_normal((draws, 3)), r"shape \(100,\), got shape \(100, 3\).*average over every axis"),
        (lambda rng, draws: rng.standard_normal(5), r"shape \(100,\), got shape \(5,\).*use the argument draws"),
        (lambda rng, draws: rng.standard_normal(), r"got shape \(\)"),
        (lambda rng, draws: rng.standard_normal(draws) * 1j, "real numbers, got an array of dtype complex128"),
        (lambda rng, draws: np.array(["a"] * draws), "real numbers"),
        (lambda rng, draws: None, "returned None in block 0: is a return missing"),
        (lambda rng, draws: "many", "real numbers, got str 'many' in block 0"),
        (lambda rng, draws: {"draws": draws}, r"real numbers, got dict \{'draws': 100\}"),
        (lambda rng, draws: [Fraction(1, 3)] * draws, r"whose first element is Fraction Fraction\(1, 3\), in block 0"),
        (lambda rng, draws: [[1.0], [1.0, 2.0]], r"got list \[\[1\.0\], \[1\.0, 2\.0\]\] in block 0, which is no array"),
        (lambda rng, draws: np.ma.masked_less(rng.random(draws), 0.5), "returned a masked array in block 0, whose mask would be"),
        (lambda rng, draws: np.ma.array(rng.random(draws)), "returned a masked array"),
        (lambda rng, draws: sys.exit(0), "raised SystemExit in block 0: 0; a sampler must return its draws, not end the program"),
        (lambda rng, draws: sys.exit("done"), "raised SystemExit in block 0: done"),
        (lambda rng, draws: next(iter(())), "raised StopIteration in block 0"),
        (lambda rng, draws: 1 // 0, "raised ZeroDivisionError in block 0"),
        (lambda rng, draws: np.linspace(0, 1, draws), "ignores rng: block 1"),
        (lambda rng, draws: np.random.default_rng(3).random(draws), "ignores rng"),
        (lambda rng, draws: np.random.standard_normal(draws), "global random state"),  # noqa: NPY002
        (lambda rng, draws: [random.random() for _ in range(draws)], "global random state"),
    ],
)
def test_broken_samplers(sampler, message: str) -> None:
    with pytest.raises(SamplerError, match=message):
        run(sampler)


def test_a_generator_exit_is_the_samplers_error_and_ctrl_c_is_not() -> None:
    def leaving(rng, draws):
        raise GeneratorExit

    with pytest.raises(SamplerError, match="raised GeneratorExit in block 0"):
        run(leaving)

    def interrupted(rng, draws):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)


def test_lists_are_taken() -> None:
    assert run(lambda rng, draws: list(rng.random(draws))).count == 1000


def test_what_a_sampler_prints_goes_to_standard_error(capsys) -> None:
    def talking(rng, draws):
        print("drawing")
        return rng.random(draws)

    run(talking, draws=100)
    out, err = capsys.readouterr()
    assert out == ""
    assert set(err.splitlines()) == {"drawing"}


def test_one_block_is_enough_to_see_that_rng_is_ignored() -> None:
    with pytest.raises(SamplerError, match="ignores rng"):
        run(lambda rng, draws: np.random.default_rng(3).random(draws), draws=2000, block_draws=2000)


def test_a_generator_of_its_own_is_seen() -> None:
    own = np.random.default_rng(3)
    with pytest.raises(SamplerError, match="different draws for the same rng"):
        run(lambda rng, draws: own.random(draws), draws=2000, block_draws=2000)


def test_equal_blocks_by_chance_are_allowed() -> None:
    # Rare events and coins repeat themselves: not a sign of a broken sampler.
    moments = run(lambda rng, draws: rng.random(draws) < 1e-4, draws=5000, block_draws=100)
    assert moments.count == 5000
    assert run(lambda rng, draws: rng.integers(2, size=draws), draws=64, block_draws=2).count == 64


def test_constants_are_allowed_and_flagged() -> None:
    assert "constant" in run(lambda rng, draws: np.full(draws, 2)).estimate().flags


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_real_dtypes_are_taken(dtype) -> None:
    assert check_block(np.ones(3, dtype=dtype), 3, "here", "...").dtype == np.float64


# -- nothing finished is lost ------------------------------------------------------------------------------------------------------


def stopping_at(block: int, error: BaseException):
    calls = []

    def sampler(rng, draws):
        calls.append(draws)
        if calls.count(100) > block:
            raise error
        return rng.standard_normal(draws)

    return sampler


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), MemoryError()])
def test_finished_blocks_come_with_the_exception_and_can_be_resumed(error: BaseException) -> None:
    expected = (SamplerError, KeyboardInterrupt)
    with pytest.raises(expected) as caught:
        run(stopping_at(3, error))
    assert caught.value.partial == run(gaussian, draws=300)
    assert caught.value.next_block == 3
    rest = run(gaussian, draws=700, first_block=3, initial=caught.value.partial)
    assert rest == run(gaussian)


def test_an_error_in_the_first_block_has_nothing_to_give() -> None:
    with pytest.raises(SamplerError) as caught:
        run(stopping_at(0, ValueError("no")))
    assert (caught.value.partial, caught.value.next_block) == (None, 0)


def test_an_error_of_the_progress_callback_keeps_the_blocks() -> None:
    def progress(done, wanted):
        if done == 500:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError) as caught:
        run(gaussian, progress=progress)
    assert caught.value.partial == run(gaussian, draws=500)


def test_blas_runs_on_one_thread() -> None:
    from threadpoolctl import threadpool_info

    threads = []

    def sampler(rng, draws):
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return rng.standard_normal(draws)

    run(sampler, executor=SerialExecutor())
    assert set(threads) == {1}
