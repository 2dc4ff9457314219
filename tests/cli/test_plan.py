"""``theoryck plan`` of a statement without an exponent: it says what the claim states, and what to do instead."""

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
