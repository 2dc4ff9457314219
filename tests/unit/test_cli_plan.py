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
    return tc.Identity(tc.quantities.sigma(tc.Activation("x"), 1), 1)

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
