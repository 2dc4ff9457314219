"""Limits in tables: Richardson's extrapolation, noisy tables with and without errors, and loss laws on scattered points."""

from __future__ import annotations

import json

import numpy as np
import pytest

import theoryck as tc
from tests.calibration.tallies import at_most
from theoryck.cli import main
from theoryck.fitting.loss import fit_loss_law
from theoryck.records import Result, Verdict

H = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125]
N = [2**j for j in range(4, 12)]


def test_an_exact_second_order_table_gives_its_limit_order_and_constant():
    """Grid convergence: 1/4 + 1.5 h^2 + 0.4 h^3, rounded to 9 digits."""
    values = [round(0.25 + 1.5 * h**2 + 0.4 * h**3, 9) for h in H]
    found = tc.audit({"h": H}, values, rate="2", kind="order", limit="unknown", digits=9, rivals=["0.2501"])
    assert found.verdict is Verdict.SUPPORTED
    assert found.rivals[0].rejected
    assert found.judgement.limit.contains(0.25)
    assert found.judgement.limit.half_width < 3e-5
    assert found.exponent.contains(2.0)
    assert found.constant.contains(1.5)
    first = tc.audit({"h": H}, [0.25 + 1.5 * h for h in H], rate="2", kind="order", limit="unknown")
    assert first.verdict is Verdict.REFUTED


def test_limits_without_a_rate_are_measured_and_nothing_judged():
    found = tc.audit({"n": N}, [2 - 1.7 * n**-0.5 for n in N], limit="unknown")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("no limit is claimed")
    assert found.judgement.limit.contains(2.0)
    assert found.exponent.contains(-0.5)
    assert found.constant.contains(-1.7)
    assert Result.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_scatter_of_values_without_errors_is_their_error():
    """20 tables of noise 0.002 without errors: their intervals contain the limit."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(20):
        noisy = [2 - 1.7 * n**-0.5 + 0.002 * rng.standard_normal() for n in N]
        found = tc.audit({"n": N}, noisy, limit="2", rate="n**(-1/2)", within=0.1)
        assert found.verdict is not Verdict.REFUTED
        covered += found.judgement.limit.contains(2.0)
    assert covered >= 16  # of 20 at 95%: fewer have a chance of 3 in 1e3


def test_a_claimed_limit_stands_or_falls():
    values = [2 - 1.7 * n**-0.5 for n in N]
    assert tc.audit({"n": N}, values, 1e-4, limit=2, rate="n**(-1/2)", rivals=["1.9"]).verdict is Verdict.SUPPORTED
    assert tc.audit({"n": N}, values, 1e-4, limit="1.5", rate="n**(-1/2)").verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": "none"}, "limit must be a number, a fraction such as 1/3, or 'unknown', got 'none'"),
        ({"limit": True}, "got True"),
        ({"limit": 1, "constant": 2.0}, "constant = 2.0 is no part of a limit"),
        ({"limit": 1, "kind": "scaling"}, "a limit has no kind 'scaling'"),
        ({"limit": 1, "rivals": ["n"]}, "a rival of a limit"),
        ({"kind": "loss-law", "rate": "1/n"}, "rate = '1/n' is no part of a loss law"),
    ],
)
def test_what_makes_no_sense_is_named(options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        tc.audit({"n": N}, [1 + 1 / n for n in N], **options)


def test_a_limit_needs_one_path():
    n, d = [16, 16, 32, 32], [8, 16, 8, 16]
    with pytest.raises(ValueError, match="a limit is approached along one path, and n and d do not lie on one"):
        tc.audit({"n": n, "d": d}, [1.0, 2.0, 3.0, 4.0], limit=1)


def losses(count: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The law that Hoffmann et al. (2022) fitted, at parameters and tokens of the size of theirs."""
    parameters, tokens = 10 ** rng.uniform(7.6, 10.2, count), 10 ** rng.uniform(9, 11.5, count)
    exact = 1.69 + 406.4 * parameters**-0.34 + 410.7 * tokens**-0.28
    return parameters.round(), tokens.round(), exact * (1 + noise * rng.standard_normal(count))


def test_a_loss_law_is_found_on_scattered_points():
    n, d, loss = losses(50, 0.003, np.random.default_rng(0))
    table = {"N": n.astype(int).tolist(), "D": d.astype(int).tolist()}
    found = tc.audit(table, loss, kind="loss-law", limit="1.69", rivals=["1.5"])
    assert found.verdict is Verdict.SUPPORTED
    assert found.rivals[0].rejected
    assert found.judgement.limit.contains(1.69)
    assert found.judgement.exponents["N"].contains(-0.34)
    assert found.judgement.exponents["D"].contains(-0.28)
    assert tc.audit(table, loss, kind="loss-law", limit="1.2").verdict is Verdict.REFUTED
    assert tc.audit(table, loss, kind="loss-law").verdict is Verdict.INCONCLUSIVE


def test_intervals_of_loss_laws_cover():
    """20 tables: fewer than 15 of 20 at 95% have a chance of 3 in 1e4 for each of the three."""
    rng, hits = np.random.default_rng(1), np.zeros(3)
    for _ in range(20):
        n, d, loss = losses(20, 0.005, rng)
        found = fit_loss_law({"N": n, "D": d}, loss)
        assert not found.reason
        hits += [found.limit.contains(1.69), found.exponents["N"].contains(-0.34), found.exponents["D"].contains(-0.28)]
    assert hits.min() >= 15


def test_a_table_that_bounds_nothing_says_so():
    rng = np.random.default_rng(2)
    n, d, loss = losses(9, 0.3, rng)
    found = fit_loss_law({"N": n, "D": d}, np.abs(loss))
    assert "the table does not bound" in found.reason or found.limit.half_width > 0.3
    assert "cannot show 5 unknowns" in fit_loss_law({"N": n[:6], "D": d[:6]}, loss[:6]).reason
    assert "fewer than 3 values" in fit_loss_law({"N": [1.0, 2.0] * 5, "D": d[:1].tolist() * 10}, [1.0] * 10).reason


def test_the_command(tmp_path, capsys):
    path = tmp_path / "grids.csv"
    path.write_text("h,value\n" + "".join(f"{h},{0.25 + 1.5 * h**2:.9f}\n" for h in H))
    with pytest.raises(SystemExit) as left:
        main(["audit", str(path), "--limit", "unknown", "--kind", "order", "--rate", "2"])
    text = " ".join(capsys.readouterr().out.split())
    assert left.value.code == 0
    assert "SUPPORTED: audit/grids" in text
    assert "constant of the approach 1.5" in text


def test_a_sequence_that_diverges_has_no_limit():
    """Harmonic numbers: what curves about the declared approach is no scatter of values without errors."""
    sizes = [2**j for j in range(2, 16)]
    values = [sum(1 / k for k in range(1, n + 1)) for n in sizes]
    for options in ({"limit": "unknown", "rate": "n**(-0.1)"}, {"limit": 20, "rate": "n**(-0.1)", "rivals": ["30"]}):
        found = tc.audit({"n": sizes}, values, **options)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "growth without limit, like log(n)" in found.reason
        assert found.judgement.limit is None
        assert not any(rival.rejected for rival in found.rivals)
    measured = tc.audit({"n": sizes}, values, limit="unknown")
    assert measured.judgement.limit is None
    assert measured.exponent is None
    assert measured.constant is None
    assert "no limit is seen" in measured.reason
    with_errors = tc.audit({"n": sizes}, values, 1e-3, limit="unknown", rate="n**(-0.1)")
    assert with_errors.verdict is Verdict.INCONCLUSIVE


def test_a_rival_beyond_a_claimed_limit_is_not_rejected_where_slower_approaches_reach_it():
    """1 + 3/log n at errors of 0.1%: 1.15 with n^(-1/5) explains the values, and so does 1."""
    rng, sizes = np.random.default_rng(4), [2**j for j in range(4, 18)]
    values = [(1 + 3 / np.log(n)) * (1 + 2e-4 * rng.standard_normal()) for n in sizes]
    found = tc.audit({"n": sizes}, values, limit="1.15", rate="n**(-0.2)", rivals=["1"])
    assert found.verdict is not Verdict.SUPPORTED
    assert not found.rivals[0].rejected


def test_a_limit_that_a_slower_approach_moves_is_left_open():
    """1 + 2/log n at errors of 0.1% looks like 1.14 + A n^-0.3 (1 + ...) on 32..32768."""
    rng, n = np.random.default_rng(7), 2.0 ** np.arange(5, 16)
    noise = [1 + 1e-3 * rng.standard_normal(len(n)) for _ in range(20)]
    wrong = [tc.audit({"n": n}, (1 + 2 / np.log(n)) * each, 1e-3, limit="1.14", rate="n**(-0.3)") for each in noise]
    assert sum(found.verdict is Verdict.SUPPORTED for found in wrong) <= at_most(len(wrong), 0.025, 1e-3)  # none of 30
    assert any("as well as the rate n**(-3/10), towards another limit" in found.reason for found in wrong)
    right = [tc.audit({"n": n}, (1.14 + n**-0.3) * each, 1e-3, limit="1.14", rate="n**(-0.3)") for each in noise]
    assert sum(found.verdict is Verdict.SUPPORTED for found in right) >= 18  # 30 of 30


def test_a_rate_that_is_refuted_gives_no_limit():
    """1 + 0.64 h + 0.4 h^2: the limit is that of the values, not the one of order 2."""
    h = [2.0**-j for j in range(1, 7)]
    found = tc.audit({"h": h}, [round(1 + 0.64 * x + 0.4 * x**2, 5) for x in h], rate="2", kind="order", limit="unknown")
    assert found.verdict is Verdict.REFUTED
    assert found.judgement.limit.contains(1.0)
    assert found.constant is None


def test_few_values_without_errors_show_no_limit():
    """Noise of 1% on 1.41 + A n^-p: four parameters pass through any four values, whose scatter says nothing."""
    sizes, values = [8, 16, 32, 64, 128], [2.201, 2.132, 2.046, 1.998, 1.94]
    for count in (4, 5):
        found = tc.audit({"n": sizes[:count]}, values[:count], limit=1.41).judgement
        assert found.verdict is Verdict.INCONCLUSIVE
        assert found.limit is None
        assert f"{count} sizes without standard errors" in found.reason


LOSSES = [0.665, 0.56988, 0.50551, 0.46133, 0.42719, 0.40565, 0.38906, 0.3782, 0.36836, 0.36314, 0.35965, 0.3573]
TOKENS = [2.0**j for j in range(6, 18)]


@pytest.mark.parametrize("rate", ["1/n", "n**(-3/4)", "n**(-2)"])
@pytest.mark.parametrize("limit", ["unknown", "0.35"])
def test_a_false_rate_does_not_enlarge_errors_that_hold(rate, limit):
    """0.35 + 2.5 n^-1/2 at errors of 0.2%, which scatter as stated about that: 9 to 79 times as much about these rates."""
    errors = [0.002 * value for value in LOSSES]
    found = tc.audit({"n": TOKENS}, LOSSES, errors, rate=rate, limit=limit)
    assert found.verdict is Verdict.REFUTED
    # Errors that hold are taken at most 1.5 times as large (7 sizes: 1.1, 5 sizes: 1.4, at the error rates of a verdict).
    assert all(point.estimate.stderr <= 1.5 * error for point, error in zip(found.points, errors))
    assert tc.audit({"n": TOKENS}, LOSSES, rate=rate, limit="unknown").verdict is Verdict.REFUTED  # as without errors
    assert "Monte Carlo" not in str(found)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_errors_stated_too_small_refute_no_true_rate(power):
    """Noise of 1% said to be 0.3%: no other approach is so much likelier than the true one, and the errors are enlarged."""
    rng, sizes = np.random.default_rng(3), 2.0 ** np.arange(5, 13)
    for _ in range(5):
        values = (1 + sizes**-power) * (1 + 0.01 * rng.standard_normal(len(sizes)))
        found = tc.audit({"n": sizes}, values, 0.003 * values, rate=f"n**(-{power})", limit="unknown")
        assert found.verdict is not Verdict.REFUTED
        assert any(flag.startswith("stated errors enlarged") for flag in found.judgement.flags) or found.judgement.limit is None


def test_values_that_settle_are_said_to_have_a_limit():
    """0.35 + 2.5 n^-1/2 against n^-1/2 is REFUTED, and the way on is a limit, as it is where 0.35 is given as a floor."""
    values = [0.35 + 2.5 * n**-0.5 for n in TOKENS]
    found = tc.audit({"n": TOKENS}, values, rate="n**(-1/2)")
    assert found.verdict is Verdict.REFUTED
    assert "the local slopes die out, from -0.215 to -0.0115" in found.reason
    assert "--limit unknown" in found.reason
    floor = tc.audit({"n": TOKENS}, values, rate="n**(-1/2)", floor=0.35)
    assert floor.verdict is Verdict.INCONCLUSIVE
    assert "(--limit 0.35)" in floor.reason
    for slow in ([n**-0.1 for n in TOKENS], [1 / np.log(n) for n in TOKENS]):
        found = tc.audit({"n": TOKENS}, slow, rate="n**(-1/2)")
        assert found.verdict is Verdict.REFUTED
        assert "--limit" not in found.reason


def test_the_tolerance_of_an_approach_is_said():
    """0.35 + 2.5/n at errors of 1e-4: p in [0.87, 1.13] does not exclude what --within 0.05 calls slower than 1/n, and 0.2 does."""
    values = [0.35 + 2.5 / n for n in N]
    found = tc.audit({"n": N}, values, 1e-4, rate="1/n", limit="unknown")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "not told from what is slower than n**(-1) by more than --within 0.05" in found.reason
    assert "declare the one that is claimed" not in found.reason  # it is declared
    assert tc.audit({"n": N}, values, 1e-4, rate="1/n", limit="unknown", within=0.2).verdict is Verdict.SUPPORTED
    slow = tc.audit({"n": N}, [1 + n**-0.12 for n in N], 1e-4, rate="n**(-0.12)", limit="unknown")
    assert slow.verdict is not Verdict.REFUTED
    measured = " ".join(str(tc.audit({"n": N}, values, 1e-4, rate="1/n", limit=0.35)).split())
    assert "exponent of the approach -1.00 [" in measured


def test_a_correction_is_read_as_rates_are():
    errors = [1e-3 / n for n in N]
    written, number = (tc.audit({"n": N}, [1 / n for n in N], errors, "1/n", correction=w).judgement for w in ("1/2", 0.5))
    assert written == number
    with pytest.raises(ValueError, match="correction = 'half' is not a number"):
        tc.audit({"n": N}, [1 / n for n in N], errors, "1/n", correction="half")
