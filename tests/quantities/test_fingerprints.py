"""Fingerprints of samplers: equal from process to process, different as soon as the draws may differ."""

import functools
import importlib.util
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import theoryck as tc
from theoryck.quantities import Quantity
from theoryck.quantities.fingerprints import Undescribable, library

MODULE = """
import functools
import math
from dataclasses import dataclass
from fractions import Fraction
import numpy as np
import theoryck as tc
{imports}
SCALE = {scale}
TABLE = np.arange(5) * SCALE
NAMES = {{"alpha", "beta", "gamma", "delta"}}


@dataclass(frozen=True)
class Law:
    width: float = {width}

    def spread(self, values):
        return self.width * values


def helper(values):
    {comment}
    return values * SCALE + TABLE[0] + len(NAMES)


@tc.quantity(version={version})
def sampled(rng, draws, *, d, law=Law()):
    if rng in {{"x", "y", "z"}}:
        return [math.pi ** Fraction(1, 2) for _ in range(draws)]
    return helper(law.spread(rng.standard_normal(draws))) / d
"""
PAIR = """
import os
import numpy as np
import theoryck as tc

TABLE = np.array([float(os.environ["FINGERPRINTED"])])
A_PAIR = [TABLE, object()]

@tc.quantity
def sampled(rng, draws, *, d):
    return rng.random(draws) * TABLE * len(A_PAIR)
"""
DEFAULTS = {"scale": 2, "width": 1.5, "comment": "pass", "version": 1, "imports": ""}


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the module with some of its text changed, load it, and return the fingerprint of its quantity."""

    def fingerprint(**changes):
        path = tmp_path / "fingerprinted.py"
        path.write_text(MODULE.format(**(DEFAULTS | changes)))
        monkeypatch.delitem(sys.modules, "fingerprinted", raising=False)
        return load(path, "fingerprinted").sampled.fingerprint()

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file written twice in a second would be loaded from its first bytes
    yield fingerprint
    sys.modules.pop("fingerprinted", None)


def test_the_same_code_has_the_same_fingerprint_in_any_process(written, tmp_path):
    code = written().code
    assert written().code == code
    script = "import json, fingerprinted; print(json.dumps(fingerprinted.sampled.fingerprint().code))"
    for seed in ("1", "2"):  # sets are ordered otherwise
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join([str(tmp_path), *filter(None, sys.path)])}
        said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
        assert json.loads(said.stdout) == json.loads(json.dumps(code))


@pytest.mark.parametrize(
    "change", [{"scale": 3}, {"scale": 2.0}, {"width": 1.25}, {"version": 2}, {"comment": "values = -values"}, {"comment": "..."}]
)
def test_any_change_of_the_file_shows(written, change):
    assert written(**change).code != written().code


def test_a_change_in_another_of_the_users_modules_shows(written, tmp_path):
    (tmp_path / "fingerprinted_helper.py").write_text("def helper(values):\n    return values\n")
    (tmp_path / "fingerprinted_names.py").write_text("OFFSET = 1\n")
    imports = {"imports": "import fingerprinted_names\nfrom fingerprinted_helper import helper as other\n"}
    imports |= {"comment": "return other(values) + fingerprinted_names.OFFSET"}
    first = written(**imports)
    assert {path.rpartition("/")[2] for path in first.files} == {
        "fingerprinted.py",
        "fingerprinted_helper.py",
        "fingerprinted_names.py",
    }
    for name in ("fingerprinted_helper", "fingerprinted_names"):
        path = tmp_path / f"{name}.py"
        before = path.read_text()
        path.write_text(before.replace("return values", "return -values").replace("1", "2"))
        sys.modules.pop(name)
        assert written(**imports).code != first.code
        path.write_text(before)
        sys.modules.pop(name)
    assert written(**imports).code == first.code
    for name in ("fingerprinted_helper", "fingerprinted_names"):
        sys.modules.pop(name)


def closing_over(value):
    def sampled(rng, draws, *, d):
        return value

    return tc.quantity(sampled)


@dataclass
class Pair:
    first: object
    second: object


VALUES = [
    None,
    True,
    1,
    1.0,
    -0.0,
    0.0,
    1j,
    "1",
    b"1",
    (1, 2),
    [1, 2],
    {1, 2},
    frozenset({1, 2}),
    {"a": 1},
    {"a": 2},
    Fraction(1, 2),
    np.float32(1),
    np.float64(1),
    np.arange(3),
    np.arange(3.0),
    np.arange(3)[::-1],
    np.dtype("f4"),
    np.add,
    np.linalg.norm,
    math.sin,
    math,
    Pair,
    Pair(1, 2),
    Pair(2, 1),
    functools.partial(max, 1),
    functools.partial(max, 2),
    functools.lru_cache(closing_over),
    closing_over,
    lambda x: x,
    lambda x: x + 1,
    lambda x, y=1: x,
    tc.Activation("tanh"),
    tc.Activation("sin"),
    tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2),
    tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=4),
]


def test_values_that_differ_have_fingerprints_that_differ():
    loop = [1]
    loop.append(loop)
    values = [*VALUES, loop]
    told = [json.dumps(closing_over(value).fingerprint().code) for value in values]
    assert told == [json.dumps(closing_over(value).fingerprint().code) for value in values]
    assert len({*told}) == len(told)


@pytest.mark.parametrize(
    "value",
    [object(), iter([1]), np.array([object()]), np.random.default_rng(0), [1, {"a": object()}], Pair(1, object())],
    ids=["object", "iterator", "array", "generator", "nested", "dataclass"],
)
def test_values_that_cannot_be_told_are_named(value):
    with pytest.raises(Undescribable, match=r"'value', which the function .*sampled.*closes over.* whose value cannot be told"):
        closing_over(value).fingerprint()


def test_a_function_that_names_itself_comes_to_an_end():
    @tc.quantity
    def recursive(rng, draws, *, d):
        return recursive.function(rng, draws, d=d - 1) if d else rng.random(draws)

    assert recursive.fingerprint() == recursive.fingerprint()


def test_a_quantity_of_the_library_is_its_class_version_and_the_library():
    quantity = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
    told = quantity.fingerprint()
    assert told.code == {
        "class": f"theoryck.theory.networks.quantities.{type(quantity).__name__}",
        "version": 1,
        "library": library(),
    }
    assert not told.files


def test_a_users_class_is_told_by_its_methods_and_members():
    def made(change):
        class Mine(Quantity):
            can_draw = True
            name = "mine"

            def __init__(self, scale):
                self.scale = scale

            def sampler(self, sizes):
                return (lambda rng, draws: rng.random(draws)) if change else (lambda rng, draws: -rng.random(draws))

        return Mine

    same = made(True)(1.0).fingerprint()
    assert made(True)(1.0).fingerprint() == same
    assert made(True)(2.0).fingerprint() != same
    assert made(False)(1.0).fingerprint() != same


def test_a_value_in_the_body_of_a_class_and_a_property_are_told():
    def made(number, change):
        class Mine(Quantity):
            can_draw, title, scale = True, "mine", number

            @property
            def factor(self):
                return change

            def sampler(self, sizes):
                return lambda rng, draws: rng.random(draws) * self.scale * self.factor

        return Mine().fingerprint()

    assert made(1.0, 2.0) == made(1.0, 2.0)
    assert len({json.dumps(made(*each).code) for each in ((1.0, 2.0), (2.0, 2.0), (1.0, 3.0))}) == 3


def test_what_has_no_value_beside_the_fields_of_a_dataclass_does_not_show():
    value = Pair(1, 2)
    told = closing_over(value).fingerprint()
    value.__dict__["kept"] = object()
    assert closing_over(value).fingerprint() == told


def test_what_a_global_holds_that_cannot_be_told_is_still_told_where_it_is_named_again(tmp_path, monkeypatch):
    def fingerprint(number):
        path = tmp_path / "fingerprinted_pair.py"
        path.write_text(PAIR)
        monkeypatch.setenv("FINGERPRINTED", number)
        monkeypatch.delitem(sys.modules, "fingerprinted_pair", raising=False)
        return load(path, "fingerprinted_pair").sampled.fingerprint().code

    assert fingerprint("1") == fingerprint("1")
    assert fingerprint("1") != fingerprint("2")
    sys.modules.pop("fingerprinted_pair", None)


def test_objects_inside_objects_without_end_are_refused():
    value = ()
    for _ in range(100_000):
        value = (value,)
    with pytest.raises(Undescribable, match="the sampler holds objects inside objects"):
        closing_over(value).fingerprint()


class _Reduced:
    """Its reduction, or its state, leaves out the number that its draws depend on; so do slots beside the fields of a dataclass."""

    def __init__(self, number):
        self.number = number

    def __reduce__(self):
        return (type(self), (0,))


class _Stateless(_Reduced):
    __reduce__ = object.__reduce__

    def __getstate__(self):
        return {}


@dataclass
class _Beside:
    shown: int = 0

    def __init__(self, number):
        self.number = number


@dataclass(frozen=True, slots=True)
class _Slots(Quantity):
    number: float
    can_draw = True

    def sampler(self, sizes):
        return lambda rng, draws: rng.random(draws) * self.number


def _over(held):
    @tc.quantity(cost=1)
    def sampled(rng, draws, *, d):
        return rng.random(draws) * held.number

    return sampled


@pytest.mark.parametrize("make", [_Reduced, _Stateless, _Beside])
def test_what_an_object_keeps_shows_whatever_its_reduction_leaves_out(make):
    one, other, again = (_over(make(number)).fingerprint() for number in (1.0, 2.0, 1.0))
    assert one == again
    assert one != other


def test_fields_in_slots_show():
    assert _Slots(1.0).fingerprint() == _Slots(1.0).fingerprint()
    assert _Slots(1.0).fingerprint() != _Slots(2.0).fingerprint()


def test_what_is_cached_of_the_rest_does_not_show():
    @dataclass
    class Cached:
        number: float = 3.0

        @functools.cached_property
        def square(self):
            return self.number**2

    held = Cached()
    before = _over(held).fingerprint()
    assert held.square == 9
    assert _over(held).fingerprint() == before
