"""``@quantity``: signatures, sizes, cost, exact routes and what is checked of the draws."""

import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from theoryck.montecarlo import Key, ProcessExecutor, SamplerError, sample
from theoryck.quantities import Quantity, QuantityError, UserQuantity, quantity
from theoryck.records import Bracket, Enclosure


@quantity
def spacing(rng, draws, *, d, scale=1):
    """Mean gap of d uniform points."""
    return np.diff(np.sort(rng.random((draws, d + 1)), axis=1), axis=1).mean(axis=1) * scale


def test_a_plain_decorator() -> None:
    assert isinstance(spacing, UserQuantity)
    assert isinstance(spacing, Quantity)
    assert (spacing.name, spacing.size_names, spacing.__doc__) == ("spacing", ("d",), "Mean gap of d uniform points.")
    assert spacing.can_draw
    assert not spacing.can_exact
    assert spacing.exact({"d": 4}) is None
    assert spacing.cost({"d": 4}) is None
    assert spacing(np.random.default_rng(0), 5, d=3).shape == (5,)


def test_sizes_it_does_not_name_are_left_out_and_defaults_may_be_given() -> None:
    rng = np.random.default_rng
    plain = spacing.draw(rng(0), 5, {"d": 3, "n": 7})
    assert np.array_equal(2 * plain, spacing.draw(rng(0), 5, {"d": 3, "scale": 2}))


def test_it_is_measured_by_any_number_of_workers() -> None:
    key = Key(0, "spacing", spacing.parameters, {"d": 9})
    alone = sample(spacing.sampler({"d": 9}), key, draws=5000, block_draws=500)
    # d + 1 points have d gaps whose mean is (max - min)/d: expectation (d/(d + 2))/d = 1/11.
    estimate = alone.estimate()
    assert abs(estimate.value - 1 / 11) < 5 * estimate.stderr
    with ProcessExecutor(2) as executor:
        assert sample(spacing.sampler({"d": 9}), key, draws=5000, block_draws=500, executor=executor) == alone


def test_arguments_of_the_decorator() -> None:
    made = quantity(
        cost=lambda sizes: sizes["d"] ** 2, exact=lambda sizes, digits: Fraction(1, sizes["d"]), name="my quantity", version=3
    )(lambda rng, draws, *, d: rng.random(draws))
    assert (made.name, made.version, made.cost({"d": 8})) == ("my quantity", 3, 64)
    assert made.exact({"d": 3}, 10).rigorous
    assert abs(float(made.exact({"d": 3}, 10)) - 1 / 3) < 1e-10
    assert quantity(cost=5)(lambda rng, draws: rng.random(draws)).cost({}) == 5


@pytest.mark.parametrize("value", [2, Fraction(1, 4), Decimal("0.5")])
def test_exact_numbers_become_enclosures(value) -> None:
    made = quantity(exact=lambda sizes, digits: value)(lambda rng, draws: rng.random(draws))
    assert made.exact({}) == Enclosure(Decimal(str(float(value))).normalize(), Decimal(0))


@pytest.mark.parametrize("value", [None, Bracket(0.0, 1.0), Enclosure(Decimal(1), Decimal("0.1"), False)])
def test_records_pass_as_they_are(value) -> None:
    assert quantity(exact=lambda sizes, digits: value)(lambda rng, draws: rng.random(draws)).exact({}) is value


def test_user_functions_neither_print_on_standard_output_nor_end_the_program(capsys) -> None:
    def talking(sizes, digits):
        print("thinking")
        return 1

    assert quantity(exact=talking)(lambda rng, draws: rng.random(draws)).exact({}).exact
    assert capsys.readouterr() == ("", "thinking\n")

    def leaving(*arguments):
        sys.exit(0)

    made = quantity(exact=leaving, cost=leaving, name="q")(lambda rng, draws: rng.random(draws))
    with pytest.raises(QuantityError, match="exact of 'q' raised SystemExit 0"):
        made.exact({})
    with pytest.raises(QuantityError, match="cost of 'q' raised SystemExit 0"):
        made.cost({})


def test_a_float_is_no_exact_value() -> None:
    made = quantity(exact=lambda sizes, digits: 0.5)(lambda rng, draws: rng.random(draws))
    with pytest.raises(QuantityError, match="a float says nothing of its error"):
        made.exact({})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rng, draws, d: 0, "the argument 'd' of the sampler '<lambda>' must be keyword-only"),
        (lambda rng: 0, "missing the argument draws"),
        (lambda: 0, "missing the argument rng and draws"),
        (lambda rng, draws, **sizes: 0, r"must name its sizes, but has the argument \*\*sizes"),
        (lambda *arguments: 0, r"must name its sizes, but has the argument \*arguments"),
        (3, "decorates a function"),
        (spacing, "decorates a function"),
        (min, r"write it as f\(rng, draws, \*, d, ...\)"),
    ],
)
def test_signatures_that_cannot_be_used(function, message) -> None:
    with pytest.raises(QuantityError, match=message):
        quantity(function)


@pytest.mark.parametrize("cost", [0, -1, "d", True])
def test_wrong_costs(cost) -> None:
    with pytest.raises(QuantityError, match="cost of"):
        quantity(cost=cost)(lambda rng, draws: rng.random(draws))


def test_a_cost_function_that_gives_nonsense() -> None:
    with pytest.raises(QuantityError, match="must be a positive number"):
        quantity(cost=lambda sizes: -1)(lambda rng, draws: rng.random(draws)).cost({})


def test_wrong_exact() -> None:
    with pytest.raises(QuantityError, match=r"exact must be a function of \(sizes, digits\), got 3"):
        quantity(exact=3)(lambda rng, draws: rng.random(draws))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"D": 4, "n": 3}, "the quantity 'spacing' needs the size 'd', the sizes given are 'D', 'n'"),
        ({"width": 4}, "needs the size 'd'"),
        ({}, "the sizes given are none"),
        ({"d": -1}, "the size 'd' of the quantity 'spacing' must be a positive number, got -1"),
        ({"d": "2"}, "must be a positive number, got '2'"),
    ],
)
def test_missing_and_wrong_sizes(sizes, message) -> None:
    with pytest.raises(QuantityError, match=message):
        spacing.sampler(sizes)


def test_a_close_match_is_offered() -> None:
    made = quantity(lambda rng, draws, *, width: rng.random(draws))
    with pytest.raises(QuantityError, match="did you mean 'widht'"):
        made.sampler({"widht": 3, "n": 2})


def test_draw_checks_what_comes_back() -> None:
    made = quantity(lambda rng, draws, *, d: rng.random((draws, d)))
    with pytest.raises(SamplerError, match=r"shape \(4,\), got shape \(4, 3\)"):
        made.draw(np.random.default_rng(0), 4, {"d": 3})


def test_blocks_of_unknown_cost_stay_small() -> None:
    blocks = [spacing.block_draws({"d": d}) for d in (1, 8, 32, 128, 4096)]
    assert blocks == [4096, 4096, 1024, 64, 64]


@pytest.mark.parametrize("cost", [lambda n: n, lambda n: 2 * n, lambda *, n: n, lambda n, m: n, lambda n: n.shape])
def test_a_cost_that_takes_a_number_is_told_that_it_receives_the_sizes(cost):
    @quantity(cost=cost)
    def drawn(rng, draws, *, n):
        return rng.standard_normal(draws)

    with pytest.raises(ValueError, match=r"receives the mapping of sizes.*write cost=lambda sizes: sizes\[\"n\"\]"):
        drawn.cost({"n": 8})
