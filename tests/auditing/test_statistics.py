"""Tables whose rows are measurements of a law, of which not the mean is claimed."""

import numpy as np
import pytest
from click.testing import CliRunner

import theoryck as tc
from theoryck.auditing.tables import TableError
from theoryck.cli import main

SIZES = [16, 32, 64, 128, 256, 512, 1024]


def table(draw, rows=400, sizes=SIZES):
    """Columns of ``rows`` measurements at every size: ``draw(rng, size, rows)``."""
    rng = np.random.default_rng(0)
    return {"d": np.repeat(sizes, rows)}, np.concatenate([draw(rng, d, rows) for d in sizes])


def cauchy(rng, d, rows):
    return (1 + 0.3 * rng.standard_cauchy(rows)) / d


def normal(rng, d, rows):
    return 1 + rng.standard_normal(rows) / d


def coin(rng, d, rows):
    return (rng.random(rows) < 8 / d).astype(float)


@pytest.mark.parametrize(
    ("draw", "statistic", "rate", "wrong"),
    [
        (cauchy, "median", "1/d", "d**(-3/2)"),
        (normal, "variance", "d**(-2)", "d**(-5/2)"),
        (normal, "std", "1/d", "d**(-3/2)"),
        (coin, "probability", "1/d", "d**(-3/2)"),
    ],
)
def test_rows_are_reduced_to_what_is_claimed(draw, statistic, rate, wrong):
    sizes, values = table(draw, rows=4000)
    options = {"kind": "scaling", "statistic": statistic, "correction": 1, "within": 0.2}
    found = tc.audit(sizes, values, rate=rate, **options)
    assert (found.verdict.value, found.prediction.statistic) == ("SUPPORTED", statistic)
    assert found.statement == f"{statistic} of value ~ C * {rate}"
    assert tc.audit(sizes, values, rate=wrong, **options).verdict.value == "REFUTED"


def test_the_points_are_those_of_the_rows():
    sizes, values = table(cauchy, rows=101)
    found = tc.audit(sizes, values, rate="1/d", statistic="median", digits="exact")
    rows = values.reshape(len(SIZES), 101)
    # 101 rows: their median is the 51st of them, and bins around the quantile itself hold it alone.
    assert [point.estimate.value for point in found.points] == np.median(rows, axis=1).tolist()
    assert [point.estimate.draws for point in found.points] == [101] * len(SIZES)


def test_rows_of_zeros_and_ones_are_not_copies():
    """Every row of a coin occurs many times: of other tables that would say that the file was written so often."""
    sizes, values = {"d": np.repeat(SIZES, 40)}, np.tile(np.repeat([0.0, 1.0], 20), len(SIZES))
    found = tc.audit(sizes, values, rate="1", kind="scaling", statistic="probability")
    assert [point.estimate.value for point in found.points] == [0.5] * len(SIZES)
    assert [point.estimate.draws for point in found.points] == [40] * len(SIZES)


def test_too_few_rows_are_refused_with_the_number_that_is_needed():
    sizes, values = table(cauchy, rows=5)
    with pytest.raises(TableError, match="a median needs 6 rows of every size for an error bar, and d = 16 has 5"):
        tc.audit(sizes, values, rate="1/d", statistic="median")
    sizes, values = table(cauchy, rows=20)
    with pytest.raises(TableError, match=r"a quantile\(0.9\) needs \d\d rows"):
        tc.audit(sizes, values, rate="1/d", statistic="quantile(0.9)")
    found = tc.audit(sizes, values, rate="1/d", statistic="median")
    assert [flag for flag in found.judgement.flags if flag.startswith("few rows for a quantile at d = 16")]


def test_what_does_not_fit_is_refused():
    sizes, values = table(normal, rows=40)
    with pytest.raises(TableError, match="leave the column of errors out"):
        tc.audit(sizes, values, 0.1, rate="1", statistic="median")
    with pytest.raises(TableError, match="is not 0 or 1: a probability needs draws that are False or True"):
        tc.audit(sizes, values, rate="1", statistic="probability")
    with pytest.raises(ValueError, match="statistic must be one of mean, median"):
        tc.audit(sizes, values, rate="1", statistic="mode")
    with pytest.raises(ValueError, match="an order is that of values without noise"):
        tc.audit(sizes, values, rate="1", kind="order", statistic="median")


def test_the_command_says_median_of(tmp_path):
    sizes, values = table(cauchy)
    path = tmp_path / "runs.csv"
    path.write_text("d,error\n" + "".join(f"{d},{value!r}\n" for d, value in zip(sizes["d"], values.tolist())), encoding="utf-8")
    found = CliRunner().invoke(main, ["audit", str(path), "--rate", "1/d", "--statistic", "median", "--correction", "1"])
    assert found.exit_code == 0
    assert "median of error" in found.output
    assert "--statistic median" in found.output


def test_runs_that_did_not_end_are_large_numbers():
    """As docs/audits.md has it: a fifth of the times is 1e29, and the median is that of all."""
    sizes, values = table(lambda rng, d, rows: np.where(rng.random(rows) < 0.2, 1e29, d * rng.exponential(size=rows)), rows=2000)
    found = tc.audit(sizes, values, rate="d", kind="scaling", statistic="median", correction=1, within=0.2)
    assert found.verdict.value == "SUPPORTED"
    # P(time <= t) = 0.8 (1 - e^-t) = 1/2 at t = -log(1 - 0.5/0.8) = 0.98
    assert [point.estimate.value / point.sizes["d"] for point in found.points] == pytest.approx([0.98] * len(SIZES), rel=0.15)
