"""What the checker accepts and what it refuses: samples that a finder made, and each of them with one field changed."""

import copy
import json
import subprocess
import sys

import mpmath
import pytest

from theoryck.proving import checker
from theoryck.proving.checker import Refused, check

from .mutations import SAMPLES, accepted, scaled, spoiled

NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))


def sample(name):
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_proved(name):
    record = sample(name)
    assert record["constant"] in check(record)


# The fast ones; `python -m tests.proving.mutations` tries all.
@pytest.mark.parametrize(
    "name",
    [
        *("norm-tanh-depth1-power2-from1", "norm-sin2-depth1-power2-from1024", "norm-tanh-depth2-power2-from1024"),
        *("overlap-tanh-depth1-power2-from4096", "two-sided-tanh-depth1-power2-from64"),
        *("expansion-tanh-depth1-power2-from64", "expansion-sin2-depth1-power4-from4096"),
    ],
)
def test_no_number_can_be_made_better_or_worse(name):
    count, names = accepted(scaled(sample(name)))
    assert count >= 30
    assert names == []


@pytest.mark.parametrize(
    "name", ["norm-tanh-depth1-power2-from1", "two-sided-tanh-depth1-power2-from64", "expansion-tanh-depth1-power2-from64"]
)
def test_no_field_can_be_spoiled(name):
    count, names = accepted(spoiled(sample(name)))
    assert count >= 400
    assert names == []


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["constant"], "0.01", r"constant: 0.01.* is not seen to be at least 0.177"),
        (["constant"], "1", r"constant: 1.0.* is too far above 0.177"),
        (["proof", "layers", 0, "slope"], "0.1", r"proof.layers\[0\].slope: 0.1.* is not seen to be at least 0.18"),
        (["proof", "layers", 0, "centre"], "1.1", r"proof.layers\[0\].centre: 1.1 is not 1.0"),
        (["proof", "layers", 0, "cells"], [1, 2], r"proof.layers\[0\].cells: 0 does not lie between them"),
        (["proof", "moments"], [["2"]], r"proof.moments: it is no list of 2 items"),
        (["proof", "range"], "0.9", "proof.range: phi² is not seen to be below it"),
        (["proof", "range"], "2", "proof.range: 2.0.* is too far above 1.0"),
        (["proof", "more"], "2", "proof.more: unknown"),
        (["activation"], "tanh(x) + y", "activation: 'y' is no formula"),
        (["activation"], "tanh(1.01*x)", r"proof.layers\[0\].slope: "),
        (["activation"], "x", "proof.range: phi² is not seen to be below it far out"),
        (["format"], 2, "format: 2 is no integer between 1 and 1"),
        (["quantity"], "overlap", "proof.overlaps: missing"),
        (["quantity"], "overlaps", "quantity: 'overlaps' by method 'comparison' is not known"),
    ],
)
def test_a_refusal_names_the_field(path, value, sentence):
    record = sample("norm-tanh-depth1-power2-from1024")
    holder = record
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(Refused, match=sentence):
        check(record)


def learning(quantity, **changes):
    """A certificate of a linear network that learns, L = 2, N = 64, Delta = 1/2: g/(g + Delta) = 2/3, g/(4 Delta) = 1/2."""
    kinds = {
        "information-gap": ("digamma", "all widths >= d", "0.67013889"),  # (2/3)(1 + 1/192)
        "free-entropy-variance": ("poincare", "samples and all widths >= d", "9.3361912"),
        "linear-model-variance": ("poincare", "samples >= d", "0.5078125"),  # 1/2 + 1/128
    }
    method, widths, constant = kinds[quantity]
    record = {"format": 1, "quantity": quantity, "method": method, "widths": widths, "activation": "x", "depth": 2, "power": 2}
    record |= {"from": 64, "constant": constant, "proof": {"noise": "1/2"}}
    return record | ({"least": "0.5"} if quantity.startswith("linear") else {}) | changes


LEARNING = ("information-gap", "free-entropy-variance", "linear-model-variance")


@pytest.mark.parametrize("quantity", LEARNING)
def test_linear_networks_that_learn(quantity):
    assert "d >= 64" in check(learning(quantity)) or "n >= 64" in check(learning(quantity))
    _, names = accepted(scaled(learning(quantity)))
    # The linear model does not know of the depth where g = 1, and 63 for 64 moves a third of 1/N by less than it may.
    assert {*names} <= ({"depth = 1", "depth = 3"} if quantity.startswith("linear") else set())
    assert accepted(spoiled(learning(quantity)))[1] == []


def test_the_bound_of_the_free_entropy_by_another_route():
    # sqrt(A B (1 + 2/N)) + ... with moments of chi-square by Gamma functions: E (chi^2_N/N)^j = (2/N)^j Gamma(N/2 + j)/Gamma(N/2).
    n, depth, g, noise = 64, 2, 1, mpmath.mpf(1) / 2

    def moment(j):
        return ((mpmath.mpf(2) / n) ** j * mpmath.gamma(mpmath.mpf(n) / 2 + j) / mpmath.gamma(mpmath.mpf(n) / 2)) ** depth

    def one(j):
        return moment(j) ** (mpmath.mpf(1) / depth)

    v = moment(8) - 2 * moment(4) + 1
    a = 1 + (moment(4) - 1 + mpmath.sqrt(v)) / 2
    b = 1 + (moment(-4) - 1 + mpmath.sqrt(moment(-8) - 2 * moment(-4) + 1)) / 2
    d = one(-2) + mpmath.sqrt(one(-4) * v)
    factors = [1 + mpmath.mpf(j) / n for j in (2, 4, 6)]
    whole = mpmath.sqrt(a * b * factors[0]) + depth * mpmath.sqrt(d * b * mpmath.fprod(factors))
    whole += (mpmath.sqrt(g / (4 * noise)) + mpmath.mpf(depth) / 4 * (1 + mpmath.mpf(1) / (3 * n))) ** 2 / n
    stated = mpmath.mpf(learning("free-entropy-variance")["constant"])
    assert whole <= stated <= whole * (1 + mpmath.mpf(10) ** -6)


@pytest.mark.parametrize(
    ("quantity", "changes", "sentence"),
    [
        ("information-gap", {"activation": "tanh(x)"}, "activation: it is no rational polynomial"),
        ("information-gap", {"activation": "x + 1"}, "activation: x \\+ 1 is not b x"),
        ("information-gap", {"activation": "x*x"}, "activation: x\\*x is not b x with b != 0"),
        ("information-gap", {"activation": "0*x"}, "activation: .* b != 0"),
        ("information-gap", {"proof": {"noise": "1/0"}}, "proof.noise: it is not positive"),
        ("information-gap", {"proof": {"noise": "1/2/3"}}, "proof.noise"),
        ("information-gap", {"depth": 0}, "depth: 0 is no integer between 1 and 8"),
        ("information-gap", {"least": "0.1"}, "least: unknown"),
        ("free-entropy-variance", {"from": 16}, "from: 16 is less than 17"),
        ("free-entropy-variance", {"widths": "all widths >= d"}, "widths: 'all widths >= d' is not 'samples and"),
        ("linear-model-variance", {"least": "0.51"}, "least: 0.51.* is not 0.5"),
        (
            "linear-model-variance",
            {"activation": "tanh(x)", "proof": {"noise": "1/2", "range": "0.9"}},
            "proof.range: phi² is not seen",
        ),
    ],
)
def test_what_is_refused_of_linear_networks(quantity, changes, sentence):
    with pytest.raises(Refused, match=sentence):
        check(learning(quantity, **changes))


@pytest.mark.parametrize("record", [None, [], "x", 3, {}, {"format": 1}, [{}]])
def test_what_is_no_certificate_is_refused(record):
    with pytest.raises(Refused):
        check(record)


def test_layers_in_another_order_are_refused():
    record = sample("norm-tanh-depth2-power2-from1024")
    record["proof"]["layers"].reverse()
    with pytest.raises(Refused, match=r"proof.layers\[0\].centre"):
        check(record)


def test_a_record_of_another_activation_or_size_is_refused():
    first, second = sample("norm-tanh-depth1-power2-from1024"), sample("norm-erf-depth1-power2-from1024")
    for key in ("activation", "constant", "proof", "from"):
        mixed = copy.deepcopy(first)
        mixed[key] = second[key] if key != "from" else 1
        with pytest.raises(Refused):
            check(mixed)


def test_the_record_is_not_changed_and_the_precision_neither():
    record = sample("norm-tanh-depth1-power2-from1")
    before, precision = copy.deepcopy(record), checker.ctx.prec
    check(record)
    assert (record, checker.ctx.prec) == (before, precision)


def test_a_file_is_checked_from_the_command_line(tmp_path):
    def run(path):
        return subprocess.run(
            [sys.executable, "-m", "theoryck.proving.checker", str(path)], capture_output=True, text=True, check=False
        )

    good = run(SAMPLES / "norm-tanh-depth1-power2-from1.json")
    assert good.returncode == 0
    assert "for every d >= 1 and all widths >= d" in good.stdout
    (tmp_path / "no.json").write_text("{")
    (tmp_path / "nan.json").write_text('{"format": NaN}')
    for path in (tmp_path / "no.json", tmp_path / "nan.json", tmp_path / "missing.json"):
        bad = run(path)
        assert bad.returncode == 1
        assert bad.stderr.startswith("refused: ")
