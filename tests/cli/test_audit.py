"""``theoryck audit`` from the command line: text, JSON, picture, exit codes, mistakes."""

import json
import os
import shlex
import subprocess
import sys

import jsonschema
import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.records import Verdict
from theoryck.report.json import read_json, schema

SIZES = (16, 32, 64, 128, 256, 512, 1024)


def run(*arguments, **options):
    return CliRunner().invoke(main, ["audit", *map(str, arguments)], **options)


@pytest.fixture
def table(tmp_path):
    """2 / sqrt(d) with errors of 0.1%, met exactly."""
    path = tmp_path / "runs.csv"
    rows = [f"{d},{2 * d**-0.5!r},{2e-3 * d**-0.5!r},1" for d in SIZES]
    path.write_text("\n".join(["d,value,stderr,seed", *rows]))
    return path


def test_a_supported_bound_is_told_in_full(table):
    done = run(table, "--rate", "d**(-1/2)", "--rival", "1/d", "--correction", 1)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "SUPPORTED, TIGHT: audit/runs"
    assert "value = O(d**(-1/2))" in lines[1]
    assert "exponent -0.500" in done.output
    assert "slack 0.000" in done.output
    assert "rivals     1/d: rejected" in done.output
    assert "notes      column 'seed' is not used" in done.output
    # Where the line breaks depends on the terminal, and on how many processes run the tests.
    assert "declared: false refutation 0.01, false support 0.025, within 0.05" in " ".join(done.output.split())
    assert lines[-9].split() == ["d", "value", "ratio", "to", "rate", "local", "slope"]
    # 2/sqrt(16) = 0.5 with an error of 0.0005, the ratio is 2.000 with 0.002; the slope between exact powers is -1/2.
    assert lines[-8].split() == ["16", "0.5000(5)", "2.0000(20)", "-"]
    # The slope has the standard error sqrt(2) 0.001/log 2 = 0.00204, and a last digit is rounded up.
    assert lines[-7].split() == ["32", "0.3536(4)", "2.0000(20)", "-0.5000(21)"]
    assert all(len(line) <= 100 or line.startswith("  repeat ") for line in lines)


@pytest.mark.parametrize(
    ("options", "code", "first"),
    [
        (["--rate", "d**(-1/2)", "--correction", 1], 0, "SUPPORTED, TIGHT"),
        (["--rate", "d**(-1/2)", "--correction", "3/4"], 0, "SUPPORTED, TIGHT"),
        (["--rate", "d**(-1/4)", "--correction", 1], 0, "SUPPORTED, LOOSE"),
        (["--rate", "1/d"], 1, "REFUTED: audit/runs"),
        (["--rate", "d**(-1/2)", "--kind", "scaling", "--correction", 1], 0, "SUPPORTED: audit/runs"),
        (["--rate", "1/d", "--kind", "scaling"], 1, "REFUTED: audit/runs"),
        (["--rate", "d**(-1/2)", "--within", 1e-4], 0, "INCONCLUSIVE: audit/runs"),
        (["--rate", "d**(-1/2)", "--constant", 2.2], 0, "SUPPORTED, TIGHT"),
        (["--rate", "d**(-1/2)", "--constant", 1.9], 1, "REFUTED"),
        (["--rate", "d**(-1/2)", "--correction", 1, "--rival", "d**(-0.501)"], 1, "SUPPORTED, but a rival was not rejected"),
        (["--rate", "d**(-1/2)", "--rival", "1"], 1, "VACUOUS: nothing was tested"),
        (["--size", "d", "--correction", 1], 0, "MEASURED: audit/runs: exponent -0.5"),
    ],
)
def test_verdicts_and_exit_codes(table, options, code, first):
    done = run(table, *options)
    assert done.exit_code == code, done.output
    assert done.output.startswith(first)


def test_json_is_a_report_of_the_schema_and_alone_on_standard_output(table, tmp_path):
    done = run(table, "--rate", "1/d", "--json", "-")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema())
    assert found["results"][0]["verdict"] == "REFUTED"
    assert "column 'seed' is not used" in done.stderr
    target = tmp_path / "report.json"
    done = run(table, "--size", "d", "--json", target)
    assert done.exit_code == 0
    assert done.output.startswith("MEASURED")
    result = read_json(target).results[0]
    assert result.verdict is Verdict.INCONCLUSIVE
    assert len(result.points) == 7
    jsonschema.validate(json.loads(target.read_text()), schema())


def test_the_command_that_repeats_gives_the_same_judgement(table):
    first = json.loads(
        run(table, "--rate", "d**(-1/2)", "--correction", 1, "--rival", "1/d", "--rival", "d**-2", "--json", "-").stdout
    )
    words = shlex.split(first["results"][0]["repeat"])
    assert words[:2] == ["theoryck", "audit"]
    again = json.loads(run(*words[2:], "--json", "-").stdout)
    for report in (first, again):
        report["results"][0].pop("seconds")
    assert again == first


def test_standard_input_in_any_format(table):
    for text in (table.read_text(), table.read_text().replace(",", "\t")):
        done = run("-", "--rate", "d**(-1/2)", "--correction", 1, input=text)
        assert done.exit_code == 0
        assert done.output.startswith("SUPPORTED, TIGHT: audit/data")
    lines = "\n".join(json.dumps({"n": n, "loss": 3 / n, "sem": 0.003 / n}) for n in SIZES)
    done = run("-", "--rate", "1/n", "--stderr", "sem", "--correction", 1, input=lines)
    assert done.output.startswith("SUPPORTED, TIGHT"), done.output
    # What was piped in is gone: the line says what to put in its place.
    [repeat] = [line.strip() for line in done.output.splitlines() if line.startswith("  repeat ")]
    assert repeat.endswith("audit - --rate 1/n --stderr sem --correction 1 < FILE # FILE: the rows that were piped in, saved")


def test_a_column_may_have_another_name_than_the_rate_gives_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("network width,error\n" + "".join(f"{d},{3 / d!r}\n" for d in SIZES))
    done = run(path, "--rate", "1/d", "--size", "d=network width", "--stderr", "0", "--correction", 1)
    assert done.output.startswith("SUPPORTED, TIGHT"), done.output
    assert "error = O(1/d)" in done.output
    bad = tmp_path / "bad.csv"
    bad.write_text("network width,error\n16,1\n-1.5,2\n")
    assert "column 'network width', line 3: a size must be" in " ".join(
        run(bad, "--rate", "1/d", "--size", "d=network width").output.split()
    )


def test_long_format_has_a_column_of_rows(tmp_path):
    path = tmp_path / "seeds.tsv"
    spread = (-2, -1, 0, 1, 2)
    path.write_text("d\tvalue\n" + "".join(f"{d}\t{(1 + 0.001 * z) / d!r}\n" for d in SIZES for z in spread))
    done = run(path, "--rate", "1/d", "--correction", 1)
    assert done.output.startswith("SUPPORTED, TIGHT"), done.output
    assert "35 rows, 7 values of d" in done.output
    assert "5 replicates a size: their spread is pooled over 7 sizes" in " ".join(done.output.split())
    # The error is 0.001 sqrt(10/4/5)/16, times 1.11 for few replicates: 4.9e-5.
    assert done.output.splitlines()[-8].split()[:3] == ["16", "0.06250(5)", "5"]


def test_a_grid_and_a_long_table_are_shown_by_their_ends(tmp_path):
    path = tmp_path / "grid.csv"
    rows = [f"{d},{n},{d**-0.5 / n!r},{1e-4 * d**-0.5 / n!r}" for d in SIZES for n in (8, 32, 128, 512, 2048)]
    path.write_text("\n".join(["d,n,value,stderr", *rows]))
    done = run(path, "--rate", "d**(-1/2)/n", "--correction", 1, "--plot", tmp_path / "grid.png")
    assert done.exit_code == 0, done.output
    assert "12 lines of the grid" in done.output
    assert "(11 more)" in done.output
    assert (tmp_path / "grid.png").stat().st_size > 10_000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(table, tmp_path, ending):
    target = tmp_path / f"picture.{ending}"
    done = run(table, "--rate", "d**(-1/2)", "--correction", 1, "--plot", target)
    assert done.exit_code == 0, done.output
    magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert target.read_bytes().startswith(magic)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rate", "d**(-1/2"], "d**(-1/2"),
        (["--rate", "tanh(d)"], "unknown function 'tanh'"),
        (["--rate", "1/D"], "did you mean 'd'?"),
        (["--rate", "1/d", "--value", "valu"], "the columns are 'd', 'value', 'stderr', 'seed'; did you mean 'value'?"),
        (["--rate", "1/d", "--stderr", "-1"], "stderr must be a column or a number >= 0, got '-1'"),
        (["--rate", "1/d", "--kind", "law"], "is not one of bound, scaling"),
        (["--rate", "1/d", "--plot", "picture.jpg"], "must end in one of .png, .svg, .pdf"),
        (["--rate", "1/d", "--plot", "absent/picture.png"], "there is no folder absent"),
        (["--rate", "1/d", "--json", "absent/report.json"], "there is no folder absent"),
        (["--rate", "1/d", "--within", "-1"], "within must be a positive exponent"),
        (["--rate", "1/d", "--within", "2"], "within must be at most 1"),
        (["--rate", "1/d", "--false-refute-rate", "1e-300"], "false_refute_rate must lie between 1e-12 and 0.5"),
        (["--rate", "1/d", "--false-support-rate", "1e-20"], "false_support_rate must lie between 1e-12 and 0.5"),
        (["--rate", "1/d", "--correction", "100"], "correction must lie between 0.05 and 16"),
        (["--rate", "1/d", "--size", "d=d", "--size", "d=stderr"], "the size 'd' cannot be two columns, 'd' and 'stderr'"),
        (["--rate", "1/d", "--constant", "0"], "constant must be positive"),
        (["--rate", "1/d", "--correction", "0"], "correction must be a positive number"),
        (["--size", "d", "--rival", "1/d"], "needs a rate"),
    ],
)
def test_mistakes_end_with_status_two_and_say_what_to_do(table, options, message):
    done = run(table, *options)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.output.split())
    assert "Traceback" not in done.output


@pytest.mark.parametrize("option", ["--json", "--plot"])
@pytest.mark.parametrize("linked", [False, True])
def test_the_table_is_never_overwritten(table, tmp_path, option, linked):
    source = table.rename(tmp_path / "runs.png")
    written, before = source, source.read_bytes()
    if linked:
        written = tmp_path / "link.png"
        written.symlink_to(source)
    done = run(source, "--rate", "1/d", "--format", "csv", option, written)
    assert done.exit_code == 2
    assert "is the table that is read: it would be overwritten" in " ".join(done.output.split())
    assert source.read_bytes() == before


def test_report_and_picture_are_two_files(table, tmp_path):
    target = tmp_path / "out.png"
    done = run(table, "--rate", "1/d", "--json", target, "--plot", tmp_path / "." / "out.png")
    assert done.exit_code == 2
    assert "--json and --plot would both be written to" in done.output
    assert not target.exists()


def test_one_number_is_the_error_of_every_row(table, tmp_path):
    done = run(table, "--rate", "1/d", "--stderr", "0.01", "--json", "-")
    assert {point["estimate"]["stderr"] for point in json.loads(done.stdout)["results"][0]["points"]} == {0.01}


def test_bad_tables_end_with_status_two(table, tmp_path):
    assert "absent.csv does not exist" in run("absent.csv", "--rate", "1/d").output
    table.write_text(table.read_text().replace("0.5,", "nan,"))
    done = run(table, "--rate", "1/d")
    assert done.exit_code == 2
    assert "line 2, column 'value': nan is not finite" in " ".join(done.output.split())


def test_two_sizes_zeros_and_changing_signs_are_told(tmp_path):
    path = tmp_path / "few.csv"
    for values, reason in (
        ([0.5, 0.25], "2 sizes cannot show an exponent"),
        ([0, 0, 0, 0], "exactly 0 at every size"),
        ([1, -1, 1, -1], "the values change sign"),
        ([-1, -0.5, -0.25, -0.125], "on d = 16..128"),
    ):
        path.write_text("d,value\n" + "".join(f"{d},{v}\n" for d, v in zip(SIZES, values)))
        done = run(path, "--rate", "1/d", "--stderr", "0", "--digits", "exact", "--plot", tmp_path / "few.png")
        assert done.exit_code in (0, 1)
        assert reason in " ".join(done.output.split())
        assert (tmp_path / "few.png").stat().st_size > 5_000


# -- orders, groups, several values --------------------------------------------------------------------------------------------


def orders(tmp_path):
    path = tmp_path / "errors.csv"
    rows = [
        f"{n},{m},{n ** -float(p):.3e},{n ** -(p + 1.0):.3e}" for m, p in (("heun", 2), ("euler", 1)) for n in (4, 8, 16, 32, 64)
    ]
    path.write_text("\n".join(["n,method,l2,aux", *rows]))
    return path


def test_an_order_is_shown_pair_by_pair_with_its_sign(tmp_path):
    done = run(orders(tmp_path), "--kind", "order", "--rate", 2, "--where", "method=heun", "--value", "l2", "--rival", "3/2")
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert done.output.startswith("SUPPORTED: audit/errors")
    assert "5 of 10 rows: method = heun" in text
    assert "column 'n' is taken for the size" in text
    assert "within 0.25" in text
    lines = done.output.splitlines()
    assert lines[-7].split() == ["n", "l2", "ratio", "to", "rate", "order"]
    # Half a unit of 1.562e-2, over sqrt(3), is 2.9e-6: 1.6e-4 of it, and the order has sqrt(2) of that over log 2 as its error.
    assert lines[-5].split()[-1].startswith("2.000")
    grows = tmp_path / "grows.csv"
    grows.write_text("n,error\n" + "".join(f"{n},{n * 1e-3:.4e}\n" for n in (4, 8, 16, 32, 64)))
    done = run(grows, "--kind", "order", "--rate", 1)
    assert done.exit_code == 1
    assert done.output.splitlines()[-2].split()[-1].startswith("-1.000")


def test_a_verdict_for_each_group_and_value_and_one_table_of_them(tmp_path):
    path = orders(tmp_path)
    done = run(path, "--kind", "order", "--rate", "n**-2", "--by", "method", "--value", "l2,aux", "--json", tmp_path / "r.json")
    assert done.exit_code == 1
    tail = [line.split() for line in done.output.splitlines()[-5:]]
    assert tail[0] == ["method", "value", "verdict", "exponent"]
    assert [line[:3] for line in tail[1:]] == [
        ["heun", "l2", "SUPPORTED"],
        ["heun", "aux", "REFUTED"],
        ["euler", "l2", "REFUTED"],
        ["euler", "aux", "SUPPORTED"],
    ]
    results = read_json(tmp_path / "r.json").results
    assert [dict(result.instance) for result in results[:2]] == [
        {"method": "heun", "value": "l2"},
        {"method": "heun", "value": "aux"},
    ]
    words = shlex.split(results[0].repeat)[2:]
    assert words[words.index("--value") :][:2] == ["--value", "l2,aux"]
    assert run(*words).output.split()[-16:] == done.output.split()[-16:]
    assert run(path, "--rate", "1/n", "--value", "l2").exit_code == 2


def test_options_of_rows_and_errors_are_repeated(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{d},{k},{2 / d!r},{1.9 / d!r},{2.1 / d!r}" for d in SIZES for k in (1, 2)]
    path.write_text("\n".join(["d,k,v,lo,hi", *rows]))
    options = ["--interval", "lo", "hi", "--interval-level", 0.9, "--where", "k=1", "--from", 32, "--to", "d=512", "--digits", 4]
    done = run(path, "--rate", "1/d", "--value", "v", "--correction", 1, *options, "--json", "-")
    assert done.exit_code == 0, done.output
    [result] = json.loads(done.stdout)["results"]
    assert len(result["points"]) == 5
    for words in ("--interval lo hi", "--interval-level 0.9", "--where k=1", "--from 32", "--to d=512", "--digits 4"):
        assert words in result["repeat"]
    # The half-width 0.1/32 at level 0.9 is 1.645 standard errors; half a unit of the fourth digit of 0.0625 adds next to nothing.
    assert result["points"][0]["estimate"]["stderr"] == pytest.approx(0.1 / 32 / 1.644854, rel=1e-3)


def test_an_audit_of_a_small_table_takes_less_than_a_second(tmp_path):
    before = os.times()
    words = ["audit", str(orders(tmp_path)), "--kind", "order", "--rate", "2", "--value", "l2", "--where", "method=heun"]
    subprocess.run([sys.executable, "-m", "theoryck", *words], check=True, capture_output=True)
    after = os.times()
    # CPU time; on the machines of CI one takes 0.6 s, and no test depends on how fast it is: ten times that is a loop gone wrong.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 6


def test_one_column_is_judged_against_another_for_every_group(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(m, d, 3 / d if m == "good" else 3 / d**0.5, 2 / d) for m in ("good", "bad") for d in SIZES]
    path.write_text("method,d,a,b\n" + "".join(f"{m},{d},{a!r},{b!r}\n" for m, d, a, b in rows))
    done = run(path, "--value", "a", "--against", "b", "--by", "method", "--size", "d", "--stderr", "1e-6")
    assert "SUPPORTED, TIGHT: audit/t (method = good" in done.output
    assert "REFUTED: audit/t (method = bad" in done.output
    assert "a/b = O(1)" in done.output
    assert done.exit_code == 1


def test_sizes_that_go_to_0_are_said_or_declared(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("h,error\n" + "".join(f"{2.0**-k},{2.0 ** (-2 * k)}\n" for k in range(3, 12)))
    for options in ([], ["--toward", "0"], ["--toward", "h=0"]):
        done = run(path, "--rate", "h**2", "--stderr", "1e-9", "--correction", 1, *options)
        assert done.output.startswith("SUPPORTED, TIGHT"), done.output
        assert ("h goes to 0, as its name suggests" in done.output) is (not options)
    assert "--toward must be 0, inf or" in run(path, "--rate", "h**2", "--toward", "0", "--toward", "inf").output


def test_a_strict_audit_ends_with_1_where_nothing_is_decided(table):
    """Three sizes with errors of 5% decide nothing; without a rate nothing could be decided."""
    few = table.parent / "few.csv"
    few.write_text("d,value,stderr\n16,0.25,0.0125\n32,0.18,0.009\n64,0.125,0.006\n", encoding="utf-8")
    assert run(few, "--rate", "d**(-1/2)").exit_code == 0
    assert run(few, "--rate", "d**(-1/2)", "--strict").exit_code == 1
    for rate in ((), ("--rate", "d**p")):
        unrated = run(few, *rate, "--strict")
        assert unrated.exit_code == 2
        assert "--strict needs --rate or --limit" in unrated.stderr
