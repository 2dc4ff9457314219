"""Orders and scalings of printed tables keep the declared rates: some of ``python -m tests.calibration.table --part digits``."""

from __future__ import annotations

import pytest

from tests.calibration.digits import ORDER, judged, orders, rounded_off, scalings, wobbling
from tests.calibration.tallies import at_least, at_most

REFUTE, SUPPORT, COVER = 1e-2, 0.025, 0.93


@pytest.mark.parametrize(("digits", "count"), [(3, 5), (4, 7), (16, 6)])
def test_orders_of_printed_tables_keep_their_rates(digits: int, count: int) -> None:
    true = judged(orders(digits, count, 30, 11), ORDER)
    assert true.refuted.hits <= at_most(30, REFUTE)
    assert true.covered.hits >= at_least(true.covered.trials, COVER)
    assert true.supported.hits >= 27  # the check is about something
    for offset in (-0.251, 0.5):
        assert judged(orders(digits, count, 15, 12), ORDER, offset).supported.hits <= at_most(15, SUPPORT)


@pytest.mark.parametrize("digits", [3, 16])
def test_scalings_said_to_be_exact_keep_their_rates(digits: int) -> None:
    true = judged(scalings(digits, 20, 13), "scaling")
    assert true.refuted.hits <= at_most(20, REFUTE)
    assert true.covered.hits >= at_least(true.covered.trials, COVER)
    assert judged(scalings(digits, 10, 14), "scaling", 0.051).supported.hits <= at_most(10, SUPPORT)


@pytest.mark.parametrize("wobble", [0.02, 0.1])
def test_orders_that_scatter_over_five_meshes_keep_their_rates(wobble: float) -> None:
    true = judged(wobbling(wobble, 5, 20, 15), ORDER)
    assert true.refuted.hits <= at_most(20, REFUTE)
    assert true.shown.trials >= 15
    assert true.shown.hits >= at_least(true.shown.trials, COVER)
    assert judged(wobbling(wobble, 5, 10, 16), ORDER, 0.5).supported.hits <= at_most(10, SUPPORT)


@pytest.mark.parametrize("count", [8, 12])
def test_orders_that_roundings_meet_keep_their_rates(count: int) -> None:
    true = judged(rounded_off(count, 12, 17), ORDER)
    assert true.refuted.hits <= at_most(12, REFUTE)
    assert true.shown.hits >= at_least(true.shown.trials, COVER)
