"""Tables in: every way a table can be wrong is an error that names file, line, column and value; every right one is read."""

import io
import json
import sys

import numpy as np
import pytest

from theoryck.auditing.selecting import Selection
from theoryck.auditing.tables import TableError, choose_columns, read_measurements, read_parts


def read(tmp_path, text, name="t.csv", encoding="utf-8", **options):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    given, digits = options.pop("format", None), options.pop("digits", None)
    options = {"needed": ["d"], **options}
    return read_measurements(path, lambda header: choose_columns(header, source=name, **options), format=given, digits=digits)


def assert_rows(found, sizes=(16, 32), values=(0.25, 0.125), stderr=(0.01, 0.02)):
    assert found.sizes["d"].tolist() == list(sizes)
    assert found.values.tolist() == list(values)
    assert stderr is None or found.stderr.tolist() == list(stderr)
    assert (found.stderr is None) == (stderr is None)


ROWS = "d,value,stderr\n16,0.25,0.01\n32,0.125,0.02\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ROWS, "t.csv"),
        (ROWS, "t.txt"),
        (ROWS.rstrip("\n"), "t.csv"),
        (ROWS.replace("\n", "\r\n"), "t.csv"),
        (ROWS.replace("\n", "\r"), "t.csv"),
        ("\ufeff" + ROWS, "t.csv"),
        (ROWS.replace(",", "\t"), "t.tsv"),
        (ROWS.replace(",", "\t"), "no-ending"),
        (ROWS.replace(",", ";"), "t.csv"),
        (ROWS.replace(",", "   "), "t.dat"),
        ("# made today\n\n" + ROWS.replace("16", "# a comment, with a comma\n16") + "\n\n", "t.csv"),
        ('"d","value","stderr"\n"16","0.25","0.01"\n" 32 ","+1.25e-1",2E-2\n', "t.csv"),
        ("stderr, d ,value\n.01,16.0,0.25\n0.02,3.2e1,.125\n", "t.csv"),
        ('{"d": 16, "value": 0.25, "stderr": 0.01}\n\n{"stderr": 2e-2, "value": "0.125", "d": 32}\n', "t.jsonl"),
        ('{"d": 16, "value": 0.25, "stderr": 0.01}\n{"d": 32, "value": 0.125, "stderr": 0.02}', "no-ending"),
        ('[{"d": 16, "value": 0.25, "stderr": 0.01},\n {"d": 32, "value": 0.125, "stderr": 0.02}]', "t.json"),
    ],
)
def test_forms_of_one_table(tmp_path, text, name):
    assert_rows(read(tmp_path, text, name))


def test_format_may_be_named_against_the_ending(tmp_path):
    assert_rows(read(tmp_path, ROWS.replace(",", "\t"), "t.jsonl", format="tsv"))
    with pytest.raises(TableError, match=r"format must be one of csv, tsv, jsonl, got 'xlsx'"):
        read(tmp_path, ROWS, format="xlsx")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(("\ufeff" + ROWS).encode())))
    assert_rows(read_measurements("-", lambda header: choose_columns(header, needed=["d"])))


def test_integers_and_extremes_keep_every_digit(tmp_path):
    found = read(tmp_path, "d,value\n1,1e30\n9007199254740992,-1.0000000000000002e-30\n3,0\n4,-0.0\n")
    assert found.sizes["d"].tolist() == [1, 2**53, 3, 4]
    assert found.values.tolist() == [1e30, -1.0000000000000002e-30, 0.0, 0.0]


WRONG = [
    ("d,value\n16,0.25\n32,abc\n", "t.csv, line 3, column 'value': 'abc' is not a number"),
    ("d,value\n16,0.25\n\n# c\n32,abc\n", "t.csv, line 5, column 'value': 'abc' is not a number"),
    ("d,value\n16,nan\n", "line 2, column 'value': nan is not finite: correct or remove the row"),
    ("d,value\n16,-Infinity\n", "line 2, column 'value': -Infinity is not finite"),
    ("d,value\n16,1e400\n", "line 2, column 'value': 1e400 is outside 1e-30..1e+30: rescale the column"),
    ("d,value\n16,1e-400\n", "line 2, column 'value': 1e-400 is outside 1e-30..1e+30: rescale the column"),
    ("d,value\n16,\n", "line 2, column 'value': the cell is empty: fill it in or remove the row"),
    ("d,value\n16,NA\n", "line 2, column 'value': the cell is empty ('NA')"),
    (
        "d,value\n16,0.5,3\n",
        "line 2: 3 cells under a header of 2 ('d', 'value'): '16', '0.5', '3'; write numbers without thousands",
    ),
    ("d,value\n16,0.5\n32\n", "line 3: 1 cell under a header of 2 ('d', 'value'): '32'; fill in the missing cell"),
    ("d,value,stderr\n16,0.5,-1e-3\n", "t.csv, column 'stderr', line 2: a standard error must be >= 0 (0 means exact), got -0.001"),
    ("d,value\n-4,0.5\n", "t.csv, column 'd', line 2: a size must be a positive number, got -4"),
    ("d,value\n1e-40,0.5\n", "a size must lie between 1e-30 and 1e+30, got 1e-40: rescale the column"),
    ("", "t.csv is empty: the first line must name the columns"),
    ("# only this\n", "t.csv is empty"),
    ("# runs of May\n16,0.5\n", "if '# runs of May' names them, remove its #"),
    ("d;value\n16;1,024\n32;2,048\n", "line 2, column 'value': '1,024' may be 1024 or 1.024: write which"),
    ("d;value\n16;1,5\n32;1,024.5\n", "line 3, column 'value': '1,024.5' and '1,5' are in one column"),
    ("d;value\n16;1,5\n32;2.5\n", "line 3, column 'value': '2.5' has a decimal point, others of its column commas"),
    ("d;value\n1.000;0,25\n2.000;0,125\n", "column 'd': '1.000' may be 1000 or 1, as decimals follow commas elsewhere"),
    ("d,value\n16,5%\n32,2.5\n", "line 3, column 'value': '2.5' has no % sign, others of its column have"),
    ("d,value\n16,0.123(4)\n32,0.06\n", "line 3, column 'value': '0.06' has no error, others of its column have"),
    ("d,value,stderr\n16,0.123(4),0.1\n", "column 'value' has its errors in its cells, and another column is to hold them"),
    ("d,value,ci_low,ci_high\n16,0.5,0.6,0.7\n", "t.csv: the value 0.5 does not lie in its interval, 0.6 to 0.7"),
    ("d,value,std,count\n16,0.5,0.1,1\n", "a count of replicates must be a whole number from 2 on, got 1"),
    ("d,value\n", "t.csv has a header and no row"),
    ("16,0.5\n32,0.25\n", "t.csv, line 1: the first row holds numbers ('16', '0.5'): put a line above it that names the columns"),
    ("d,value,d\n16,0.5,1\n", "line 1: two columns are called 'd': rename one of them"),
    ("d,,value\n16,0.5,1\n", "line 1: a column of the header has no name"),
    ('d,value\n16,"0.5\n', "t.csv, line 2: unexpected end of data; check the quotation marks"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text[:24].replace("\n", "/") for text, _ in WRONG])
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(TableError) as error:
        read(tmp_path, text)
    assert message in str(error.value).replace(str(tmp_path) + "/", "")


WRONG_JSON = [
    ('{"d": 16, "value": 1}\n{"d": 32}\n', "line 2, column 'value': the cell is empty"),
    ('{"d": 16, "value": 1}\n{"d": 32, "value": null}\n', "line 2, column 'value': the cell is empty"),
    (
        '{"d": 16, "value": 1}\n{"d": 32, "value": 1, "stderr": 1}\n',
        "line 2: the key 'stderr' is not in the first object ('d', 'value')",
    ),
    ('{"d": 16, "value": NaN}\n', "line 1, column 'value': NaN is not finite"),
    ('{"d": 16, "value": 1e-400}\n', "line 1, column 'value': 1e-400 is outside 1e-30..1e+30"),
    ('{"d": 16, "value": true}\n', "line 1, column 'value': 'true' is not a number"),
    ('{"d": 16, "value": [1]}\n', "is not a number"),
    ('{"d": 16, "d": 17, "value": 1}\n', "line 1: the key 'd' occurs twice in one object"),
    ('{"d": 16, "value": 1}\n{"d": 32,\n', "line 2: not JSON (column"),
    ('{"d": 16, "value": 1}\n7\n', "line 2: '7' is not an object"),
    ('[{"d": 16, "value": 1}, {"d": 32, "value": "x"}]', "row 2, column 'value': 'x' is not a number"),
    ('[{"d": 16, "value": 1}, 3]', "row 2: '3' is not an object"),
    ("[1, 2", "not JSON (line 1, column"),
    ("[]", "holds no object"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_JSON, ids=[text[:40].replace("\n", "/") for text, _ in WRONG_JSON])
def test_what_is_wrong_in_json_is_named(tmp_path, text, message):
    with pytest.raises(TableError) as error:
        read(tmp_path, text, "t.jsonl")
    assert message in str(error.value)


def test_files_that_are_none(tmp_path):
    def choose(header):
        return choose_columns(header, needed=["d"])

    with pytest.raises(TableError, match=r"absent\.csv does not exist"):
        read_measurements(tmp_path / "absent.csv", choose)
    with pytest.raises(TableError, match=r"cannot be read: Is a directory"):
        read_measurements(tmp_path, choose)
    with pytest.raises(TableError, match=r"is not UTF-8 text .* save it as CSV in UTF-8"):
        read(tmp_path, ROWS.replace("d,", "\u00e9,"), encoding="latin-1")
    with pytest.raises(TableError, match=r"is not UTF-8 text"):
        read(tmp_path, b"\x1f\x8b\x08\x00d,value")


HEADER = ["d", "n", "loss", "value", "stderr", "seed"]


def test_columns_by_rule():
    roles = choose_columns(["d", "loss"], needed=["d"])
    assert (roles.sizes, roles.value, roles.stderr, roles.notes) == ({"d": "d"}, "loss", None, ())
    roles = choose_columns(HEADER, needed=["d", "n"])
    assert (list(roles.sizes), roles.value, roles.stderr) == (["d", "n"], "value", "stderr")
    assert roles.notes == ("column 'loss' is not used", "column 'seed' is not used")
    roles = choose_columns(HEADER, size=["n"], value="loss", stderr="seed", needed=["d"])
    assert (list(roles.sizes), roles.value, roles.stderr) == (["n", "d"], "loss", "seed")
    assert choose_columns(["width", "value"]).sizes == {"width": "width"}
    roles = choose_columns(["network width", "n", "value"], size=["d=network width"], needed=["d", "n"])
    assert (roles.sizes, roles.columns) == ({"d": "network width", "n": "n"}, ("network width", "n", "value"))
    assert choose_columns(["d", "value"], stderr="0").stderr == 0.0


def test_a_usual_name_of_a_size_is_taken_for_one_and_said():
    for header in (["Row", "N", "Linf", "L2", "H1"], ["h", "L2"], ["mesh", "L2", "EOC"]):
        roles = choose_columns(header, value="L2")
        [size] = roles.sizes
        assert size in ("N", "h", "mesh")
        assert len(header) == 2 or f"column {size!r} is taken for the size" in roles.notes
    with pytest.raises(TableError, match="the size may be any of the columns 'n', 'h'"):
        choose_columns(["n", "h", "L2"], value="L2")


def test_an_error_column_of_another_name_is_not_guessed_but_told():
    notes = choose_columns(["d", "value", "std"], needed=["d"]).notes
    assert "column 'std' is not taken for a standard error: say so with --stderr std if it is one" in notes


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        (HEADER, {}, "the size may be any of the columns 'd', 'n', 'loss', 'seed': say which with --size"),
        (["d", "a", "b"], {"needed": ["d"]}, "the value may be any of the columns 'a', 'b': say which with --value"),
        (["a", "b"], {}, "the value may be any of the columns 'a', 'b'"),
        (["D", "value"], {"needed": ["d"]}, "the rate needs a column 'd'"),
        (["D", "value"], {"needed": ["d"]}, "did you mean 'D'?"),
        (["d", "value"], {"needed": ["d"], "value": "valu"}, "the value is to be the column 'valu', which is not there"),
        (["d", "value"], {"size": ["m"]}, "a size is to be the column 'm'"),
        (["d", "value"], {"size": ["m=widht"]}, "a size is to be the column 'widht'"),
        (["w", "value"], {"needed": ["d"]}, "the rate needs a column 'd' (or say which it is: --size d=COLUMN)"),
        (["d", "value"], {"needed": ["d"], "stderr": "se"}, "the standard error is to be the column 'se'"),
        (["d", "value"], {"needed": ["d"], "stderr": "-1"}, "stderr must be a column or a number >= 0, got '-1'"),
        (["d", "value"], {"needed": ["d"], "value": "d"}, "column 'd' cannot be two things at once"),
        (["d"], {"needed": ["d"]}, "no column is left for the value"),
    ],
)
def test_a_choice_that_is_not_forced_is_an_error(header, options, message):
    with pytest.raises(TableError) as error:
        choose_columns(header, source="t.csv", **options)
    assert message in str(error.value)


def test_rows_beyond_one_chunk_are_all_read_and_counted(tmp_path):
    rows = [f"{d},{d / 7!r}" for d in range(1, 140_001)]
    found = read(tmp_path, "\n".join(["d,value", *rows]))
    assert np.array_equal(found.values, np.arange(1, 140_001) / 7)
    rows[139_998] = "139999,x"
    with pytest.raises(TableError, match=r"line 140000, column 'value': 'x'"):
        read(tmp_path, "\n".join(["d,value", *rows]))


def test_columns_that_are_not_used_may_hold_anything(tmp_path):
    found = read(tmp_path, "name,d,value\nfirst run,16,0.5\n,32,0.25\n")
    assert_rows(found, values=(0.5, 0.25), stderr=None)
    text = "\n".join(json.dumps({"d": d, "value": 1 / d, "info": {"a": [d]}}) for d in (16, 32))
    assert_rows(read(tmp_path, text, "t.jsonl"), values=(1 / 16, 1 / 32), stderr=None)


WRITTEN = [
    ("d;value\n16;0,25\n32;0,125\n", (0.25, 0.125), None, "column 'value': decimal commas"),
    ("d;value\n16;1.024,5\n32;2,5\n", (1024.5, 2.5), None, "column 'value': decimal commas"),
    ('d,value\n16,"1,024.5"\n32,"2,048"\n', (1024.5, 2048.0), None, "column 'value': commas between thousands"),
    ("d,value\n16,1 024.5\n32,12_048\n", (1024.5, 12048.0), None, "column 'value': thousands in groups of three"),
    ("d,value\n16,1.5D-03\n32,7.5d-4\n", (1.5e-3, 7.5e-4), None, "column 'value': exponents written with D"),
    ("d,value\n16,1.5x10^-3\n32,$7.5 \\times 10^{-4}$\n", (1.5e-3, 7.5e-4), None, "column 'value': powers of ten written out"),
    ("d,value\n16,12.5%\n32,6 %\n", (0.125, 0.06), None, "column 'value': percent, read as fractions"),
    ("d,value\n16,\u22120.25\n32,\u22120.125\n", (-0.25, -0.125), None, None),
    (
        "d,value\n16,0.250(4)\n32,0.125(12)\n",
        (0.25, 0.125),
        (0.004, 0.012),
        "column 'value': value(error), taken for standard errors",
    ),
    (
        "d,value\n16,2.50(4)e-1\n32,1.25(1.5)e-1\n",
        (0.25, 0.125),
        (0.004, 0.15),
        "column 'value': value(error), taken for standard errors",
    ),
    (
        "d value\n16 0.25 ± 0.004\n32 0.125 +/- 0.002\n",
        (0.25, 0.125),
        (0.004, 0.002),
        "column 'value': value(error), taken for standard errors",
    ),
    ("d;value\n16;0,250(4)\n32;0,125(2)\n", (0.25, 0.125), (0.004, 0.002), "column 'value': decimal commas"),
    (
        "d,value\n16,(2.5 +- 0.1)e-2\n32,(1.2 +- 0.1)e-2\n",
        (0.025, 0.012),
        (0.001, 0.001),
        "column 'value': value(error), taken for standard errors",
    ),
    ("d,value\n[-],[m/s]\n16,0.25\n32,0.125\n", (0.25, 0.125), None, "line 2 holds units or types, not numbers: '[-]', '[m/s]'"),
    ("d | value | EOC\n---+-----+---\n16 | 0.25 |    \n32 | 0.125 | 1.0 |\n", (0.25, 0.125), None, "column 'EOC' is not used"),
    ("+----+-------+\n| d  | value |\n+====+=======+\n| 16 | 0.25  |\n| 32 | 0.125 |\n+----+-------+\n", (0.25, 0.125), None, None),
    (
        " Row │ d      value\n     │ Int64  Float64\n─────┼────────────\n   1 │ 16 0.25\n   2 │ 32 0.125\n",
        (0.25, 0.125),
        None,
        "line 2 holds units or types, not numbers: 'Int64', 'Float64'",
    ),
    ("$d$ & value \\\\\n\\hline\n16 & $2.5 \\times 10^{-1}$ \\\\\n32 & 0.125 \\\\\n", (0.25, 0.125), None, None),
    ("$d$ & value \\\\\n\\hline\n16 & $2.5 \\times 10^{-1}$ \\\\\n32 & 0.125 \\\\\n", (0.25, 0.125), None, None),
    ("% d value\n16 0.25\n32 0.125\n", (0.25, 0.125), None, "the columns are named by the comment '% d value'"),
    ("| d | value |\n|---|------:|\n| 16 | 0.25 |\n| 32 | 0.125 |\n", (0.25, 0.125), None, None),
    ("sep=;\nd;value\n16;0.25\n32;0.125\n", (0.25, 0.125), None, None),
    ("# d value\n16 0.25\n32 0.125\n", (0.25, 0.125), None, "the columns are named by the comment '# d value'"),
    (",d,value\n0,16,0.25\n1,32,0.125\n", (0.25, 0.125), None, "the first column has no name and is not used"),
    (
        "d,value,ci_low,ci_high\n16,0.25,0.240,0.260\n32,0.125,0.115,0.130\n",
        (0.25, 0.125),
        (0.01 / 1.959964, 0.01 / 1.959964),
        "standard errors are those of the intervals ci_low to ci_high at level 0.95, whose wider side counts where the two differ",
    ),
    ("d,value,std,count\n16,0.25,0.4,16\n32,0.125,0.2,25\n", (0.25, 0.125), (0.1, 0.04), "standard errors are std/sqrt(count)"),
]


@pytest.mark.parametrize(("text", "values", "stderr", "note"), WRITTEN, ids=[text[:24].replace("\n", "/") for text, *_ in WRITTEN])
def test_what_can_be_read_one_way_only_is_read_and_said(tmp_path, text, values, stderr, note):
    for encoding in ("utf-8", "utf-16", "utf-16-le"):
        found = read(tmp_path, text, encoding=encoding)
        assert found.sizes["d"].tolist() == [16, 32]
        assert found.values.tolist() == pytest.approx(list(values), rel=1e-15)
        assert (found.stderr is None) == (stderr is None)
        assert stderr is None or found.stderr.tolist() == pytest.approx(list(stderr), rel=1e-6)
        assert note is None or note in found.notes
        assert ("read as UTF-16" in found.notes) == (encoding != "utf-8")


@pytest.mark.parametrize(
    ("cells", "half"),
    [
        # Half a unit of the last digit written, where a zero shows that none was left out, or all cells have as many digits.
        (("0.50", "0.125"), (0.005, 0.0005)),
        (("1.20e-3", "3.4e-4"), (5e-6, 5e-6)),
        (("0.123", "0.0456"), (5e-4, 5e-5)),
        (("0.1234", "0.0046"), (5e-5, 5e-5)),
        # Zeros at the end may be missing: four digits after the point for all, three digits in all where those are coarser.
        (("0.12", "0.1235"), (5e-5, 5e-5)),
        (("0.5", "0.0125"), (5e-4, 5e-5)),
        # Three zeros at the end of two cells are more than chance makes.
        (("0.5", "0.1235"), (0.05, 5e-5)),
        (("3", "100"), (0.5, 0.5)),
        (("12.5%", "6%"), (5e-4, 5e-4)),
        # A float of full length is known to 2^-53.
        (("0.30000000000000004", "0.25"), (2.0**-53 * 0.3, 2.0**-53 * 0.25)),
    ],
)
def test_a_written_number_is_known_to_half_a_unit_of_its_last_digit(tmp_path, cells, half):
    text = "d,value\n" + "".join(f"{d},{cell}\n" for d, cell in zip((16, 32), cells))
    assert read(tmp_path, text).rounding.tolist() == pytest.approx(list(half), rel=1e-9)
    assert read(tmp_path, text, digits="exact").rounding is None
    found = read(tmp_path, text, digits=3)
    assert found.rounding.tolist() == pytest.approx([0.5 * 10.0 ** (np.floor(np.log10(v)) - 2) for v in found.values], rel=1e-9)


ROWS_BY = "d,method,k,err\n" + "".join(f"{d},{m},{k},{k / d}\n" for d in (16, 32, 64) for m in ("euler", "heun") for k in (1, 2))


def select(tmp_path, text, by=(), needed=("d",), value="err", **options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    selection = Selection(by=by, **options)
    return read_parts(
        path,
        lambda header: [choose_columns(header, needed=needed, value=value, besides=selection.columns(header))],
        selection=selection,
    )


def test_rows_are_selected_and_grouped(tmp_path):
    [part] = select(tmp_path, ROWS_BY, where=("k=1", "method != heun"), first=("20",), last=("d=64",))
    assert part.measured.sizes["d"].tolist() == [32, 64]
    assert part.measured.values.tolist() == [1 / 32, 1 / 64]
    assert "2 of 12 rows: k = 1 and method != heun and d >= 20 and d <= 64" in part.measured.notes
    parts = select(tmp_path, ROWS_BY, by=("method", "k"))
    assert [part.labels for part in parts] == [{"method": m, "k": k} for m in ("euler", "heun") for k in ("1", "2")]
    assert all(len(part.measured) == 3 for part in parts)
    assert [part.labels for part in select(tmp_path, ROWS_BY, by=("method",), where=("k<2", "k>=1"))] == [
        {"method": "euler"},
        {"method": "heun"},
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "rows of equal sizes differ in the column 'method', which is not used: they are no replicates; choose some (--where"),
        ({"where": ("k=1",)}, "differ in the column 'method', which is not used"),
        ({"by": ("method",)}, "differ in the column 'k', which is not used"),
        ({"where": ("k=3",)}, "none of 12 rows meets k = 3"),
        ({"where": ("kk=3",)}, "there is no column 'kk'"),
        ({"where": ("method<euler",)}, "'euler' is not a number, and text has no order"),
        ({"where": ("k",)}, "where must be a condition such as k=1"),
        ({"by": ("m",)}, "--by m: there is no such column"),
        ({"first": ("x",)}, "--from must be a number, or NAME=number of a size (d), got 'x'"),
    ],
)
def test_rows_that_are_no_replicates_are_refused(tmp_path, options, message):
    with pytest.raises(TableError) as error:
        select(tmp_path, ROWS_BY, **options)
    assert message in str(error.value)


def test_a_table_without_a_header_is_given_its_names(tmp_path):
    path = tmp_path / "t.dat"
    path.write_text("16 0.25\n32 0.125\n")
    [part] = read_parts(path, lambda header: [choose_columns(header)], names=["n", "error"])
    assert part.measured.sizes["n"].tolist() == [16, 32]
    assert part.measured.values.tolist() == [0.25, 0.125]
    with pytest.raises(TableError, match="line 1: 2 cells under a header of 3"):
        read_parts(path, lambda header: [choose_columns(header, value="b")], names=["n", "a", "b"])
    path.write_text("n error\n16 0.25\n32 0.125\n")
    with pytest.raises(TableError, match="the table names its columns itself"):
        read_parts(path, lambda header: [choose_columns(header)], names=["n", "error"])


def test_columns_that_number_repetitions_make_replicates(tmp_path):
    text = "d,seed,run id,err,time\n" + "".join(f"{d},{s},{s},{s / d},0.1\n" for d in (16, 32, 64) for s in range(1, 5))
    [part] = select(tmp_path, text)
    assert "rows of equal sizes are replicates, numbered by 'seed'" in part.measured.notes
    text = text.replace("seed", "instance")
    with pytest.raises(TableError, match="differ in the column 'instance'"):
        select(tmp_path, text)
    assert len(select(tmp_path, text, replicate=("instance",))[0].measured) == 12
    # What was measured besides, a time, takes other values at every row: it is no factor.
    text = "d,err,time\n" + "".join(f"{d},{s / d},{0.1 * d + 0.01 * s:.3f}\n" for d in (16, 32, 64, 128) for s in range(1, 5))
    assert len(select(tmp_path, text)[0].measured) == 16
