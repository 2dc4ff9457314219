"""``theoryck plan`` of a statement without an exponent: it says what the claim states, and what to do instead."""

import json

import pytest
from click.testing import CliRunner

from theoryck.cli import main

FILE = """
import theoryck as tc
from hypothesis import assume
from hypothesis.strategies import integers
from scipy.stats import norm

PATH = tc.ScalingPath(d=tc.doubling(16, 64))

@tc.quantity(cost=lambda sizes: sizes["d"])
def mean(rng, draws, *, d):
    return rng.standard_normal((draws, d)).mean(axis=1)

@tc.conjecture("limit")
def limit():
    return tc.Limit(mean, value=0, tolerance=0.1, along=PATH)

@tc.conjecture("law")
def law():
    return tc.Law(mean, distribution=norm(0, 1), along=PATH)

@tc.conjecture("pointwise")
def pointwise():
    return tc.Bound(mean, rate="1/d", constant=2, along=PATH)

@tc.conjecture("identity")
def identity():
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1)

@tc.conjecture("late")
@tc.for_all(k=integers(1, 9))
def late(k):
    if k > 1:
        raise ValueError("k is too large")
    return tc.Bound(mean, rate="1/d", along=PATH)

@tc.conjecture("exits")
def exits():
    raise SystemExit(0)

@tc.conjecture("nothing")
@tc.for_all(k=integers(1, 3))
def nothing(k):
    assume(False)
"""


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("limit", "limit states a limit: planned are only exponents"),
        ("law", "law states a law: planned are only exponents"),
        ("pointwise", "pointwise states a bound with a constant: planned are only exponents"),
        ("identity", "identity states an identity of a quantity that is exact and needs no draws"),
        ("limit", "theoryck check mine.py --only limit --profile standard"),
        ("nothing", "nothing has no instance that meets its assumptions"),
    ],
)
def test_what_is_not_planned_is_said(claim, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    result = CliRunner().invoke(main, ["plan", claim, "mine.py", "--profile", "standard"])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize("command", ["plan", "show"])
@pytest.mark.parametrize(("claim", "reason"), [("late", "ValueError: k is too large"), ("exits", "SystemExit: 0")])
def test_a_claim_that_cannot_be_built_is_said(command, claim, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    result = CliRunner().invoke(main, [command, claim, "mine.py"])
    assert result.exit_code == 2
    assert f"claim '{claim}' cannot be built" in result.output
    assert reason in result.output


def test_a_claim_that_exits_ends_no_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    result = CliRunner().invoke(main, ["check", "mine.py", "--only", "exits", "--workers", "1"])
    assert result.exit_code == 1
    assert "nothing was tested: SystemExit: 0" in result.output
    listed = CliRunner().invoke(main, ["list", "mine.py", "--only", "exits"])
    assert "SystemExit: 0" in listed.output


def test_what_all_claims_cost(tmp_path, monkeypatch):
    """By folder: what is exact costs nothing, an exponent at most its budget, and the rest is that of the profile."""
    folder = tmp_path / "proofs" / "mine2026"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""A setting."""\n')
    (folder / "all.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(main, ["plan", "--all", "--json", "-", "--profile", "quick"])
    assert found.exit_code == 0, found.output
    claims = {each["claim"]: each for each in json.loads(found.stdout)["claims"]}
    assert {each["folder"] for each in claims.values()} == {"mine2026"}
    assert claims["identity"]["most"] == claims["nothing"]["most"] == claims["late"]["most"] == 0
    # 6e8 random numbers at 7e7 a second; the first look takes a block of 8 to 64 numbers a draw at each size
    assert claims["limit"]["usual"] == claims["limit"]["most"] == pytest.approx(6e8 / 7e7)
    assert 0 < claims["limit"]["least"] < 1
    told = CliRunner().invoke(main, ["plan", "--all"]).output.splitlines()
    assert [line.split()[0] for line in told[1:4]] == ["folder", "mine2026", "in"]
    refused = CliRunner().invoke(main, ["plan"])
    assert (refused.exit_code, "give its id, or --all" in refused.output) == (2, True)


def test_a_claim_whose_rival_is_refused_is_refused_by_plan_as_by_check(tmp_path):
    """Its rival is minus the exponent at k = 1 only, one of the instances: the claim falls, and nothing is drawn."""
    file = tmp_path / "slip.py"
    file.write_text(
        """
import theoryck as tc
from hypothesis.strategies import sampled_from

@tc.quantity(cost=1)
def value(rng, draws, *, d):
    return rng.exponential(size=draws) / d

@tc.conjecture("toy/slip")
@tc.for_all(k=sampled_from([1, 2]))
def slip(k):
    return tc.Scaling(value, tc.ScalingPath(d=tc.doubling(16, 1024)), exponent="-k", rivals=["1"])
"""
    )
    refused = "rivals: '1' is minus the claimed exponent '-k'"
    checked = CliRunner().invoke(main, ["check", str(file), "--workers", "1"])
    assert (checked.exit_code, refused in " ".join(checked.output.split())) == (1, True), checked.output
    planned = CliRunner().invoke(main, ["plan", "slip", str(file)])
    assert (planned.exit_code, refused in " ".join(planned.output.split())) == (2, True), planned.output
    found = CliRunner().invoke(main, ["plan", "--all", str(file), "--json", "-"])
    assert found.exit_code == 0, found.output
    (cost,) = json.loads(found.stdout)["claims"]
    assert cost["least"] == cost["usual"] == cost["most"] == 0


def test_a_planned_exponent_costs_less_than_its_budget(tmp_path):
    file = tmp_path / "cheaply_drawn.py"
    file.write_text(
        """
import theoryck as tc

@tc.quantity(cost=1)
def cheap(rng, draws, *, d):
    return rng.exponential(size=draws) / d

@tc.conjecture("toy/cheap")
def bound():
    return tc.Bound(cheap, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 1024)), correction=1, amplitude=0.1)
"""
    )
    found = CliRunner().invoke(main, ["plan", "--all", str(file), "--json", "-"])
    assert found.exit_code == 0, found.output
    (cost,) = json.loads(found.stdout)["claims"]
    assert cost["claim"] == "toy/cheap"
    assert cost["least"] <= cost["usual"] < cost["most"] / 10
