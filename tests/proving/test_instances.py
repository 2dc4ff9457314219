"""A few of the random instances; ``python -m tests.proving.instances`` has all of them."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from .instances import Instance, better, drawn, exceeding, outcome


def test_instances_are_always_the_same_and_of_many_kinds():
    instances = drawn()
    assert [*map(str, drawn(20, 60))] == [*map(str, drawn.__wrapped__(20, 60))]
    assert len(instances) == 100
    assert {instance.kind for instance in instances} == {"norm", "overlap"}
    assert {len(instance.pattern) for instance in instances} == {2, 3, 4, 5}
    assert {instance.power for instance in instances} == {*range(1, 9)}
    assert all(min(instance.pattern) == 1 for instance in instances)


@pytest.mark.parametrize("number", [0, 1, 3, 9, 23])
def test_an_instance_is_proved_and_no_exact_value_exceeds_it(number):
    found = outcome(drawn()[number])
    assert found.verdict == "proved"
    assert found.changes >= 10
    assert found.kept == ()
    assert found.seen >= 6
    assert 0 < found.share <= 1
    assert found.above == ()


def test_a_value_that_exceeds_what_is_proved_is_seen():
    instance = Instance(drawn()[1].phi, "norm", (1, 1), 2, 64)
    record = json.loads(json.dumps(instance.quantity.for_every_size(None, start=64).to_json()))
    assert exceeding(instance, record)[2] == []
    _, share, above = exceeding(instance, record | {"constant": str(Decimal(record["constant"]) / 2)})
    assert share > 1
    assert above


def test_better_numbers_are_smaller_and_bounds_from_below_larger():
    record = {"from": 200, "constant": "2", "least": "1", "proof": {"squares": ["3"], "moments": [["4"]], "cells": ["1"]}}
    made = dict(better(record))
    assert {*made} == {"constant", "least", "proof.squares.0", "proof.moments.0.0", "from"}
    assert made["from"]["from"] == 198
    assert Fraction(made["constant"]["constant"]) < 2
    assert Fraction(made["least"]["least"]) > 1
    assert Fraction(made["proof.squares.0"]["proof"]["squares"][0]) > 3
