"""Reports as files: they follow the published schema, come back equal, and damaged ones are refused by name."""

import copy
import json
import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import jsonschema
import pytest

from theoryck.records import (
    Bracket,
    Contract,
    Enclosure,
    Estimate,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Report,
    Result,
    Rival,
    Route,
    Status,
    Tightness,
    Verdict,
)
from theoryck.report.json import ReportFileError, check_writable, dumps, loads, read_json, schema, write_json

INTERVAL = Interval(-0.5, -0.52, -0.48, 0.95)
FULL = Result(
    claim="paper/result",
    status=Status.THEOREM,
    instance={"phi": "tanh(x)", "depth": 2, "widths": [1, 2]},
    judgement=Judgement(
        Verdict.SUPPORTED,
        "within 0.1",
        tightness=Tightness.LOOSE,
        exponent=INTERVAL,
        claimed_exponent=-0.5,
        slack=INTERVAL,
        constant=INTERVAL,
        window=(16, 4096),
        routes=(Route("exact", Verdict.SUPPORTED, INTERVAL, rigorous=True, reason="balls"),),
        rivals=(Rival("1/d", True),),
        assuming="on d = 16..4096, assuming corrections O(d^-1)",
        flags=("heavy-tail",),
    ),
    prediction=Prediction(
        Kind.LIMIT,
        "q",
        base="d",
        path={"d": "16, 32", "width": "d"},
        rate="1/d",
        constant=2.0,
        value=Enclosure(Decimal("-0.5"), Decimal("1E-30")),
        rivals=("0.4",),
        parameters={"k": "2"},
        correction=1.0,
        tolerance="1e-3",
    ),
    points=(
        Point({"d": 16}, Estimate(0.1, 0.01, 1000, ("heavy-tail",)), Enclosure(Decimal("0.1"), Decimal("0E-20"))),
        Point({"d": 32}, bracket=Bracket(0.0, math.inf)),
    ),
    contract=Contract(),
    false_refute_rate=1e-3,
    draws=2000,
    seconds=0.5,
    seed=7,
    statement="Q = O(1/d)",
    reference="Someone (2025)",
    repeat="theoryck check proofs",
)
BARE = replace(FULL, judgement=Judgement(Verdict.VACUOUS, "nothing"), prediction=None, points=(), instance={}, draws=0)
NAN = replace(FULL, judgement=replace(FULL.judgement, exponent=Interval(math.nan, -math.inf, math.inf, 0.95)))
REPORT = Report("quick", 7, (FULL, BARE, NAN), "0.1.0")


@cache
def validator():
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("report", [REPORT, Report("standard", 0, (), "0.1.0", interrupted=True)])
def test_what_is_written_follows_the_published_schema(report):
    validator().validate(json.loads(dumps(report)))


def paths(node, at=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*at, key)
            yield from paths(value, (*at, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from paths(value, (*at, index))


FREE = {"instance", "sizes", "path", "parameters"}  # mappings whose keys are the user's names


def test_the_schema_refuses_a_report_without_any_one_of_its_fields():
    whole = json.loads(dumps(Report("quick", 7, (FULL,), "0.1.0")))
    checked = 0
    for path in paths(whole):
        if FREE & set(path[:-1]):
            continue
        damaged = copy.deepcopy(whole)
        node = damaged
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]
        assert not validator().is_valid(damaged), path
        checked += 1
    assert checked > 100


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("verdict", "PROVED"),
        ("status", "lemma"),
        ("draws", -1),
        ("draws", 1.5),
        ("exponent", -0.5),
        ("tightness", "tight"),
        ("window", [1]),
    ],
)
def test_the_schema_refuses_a_wrong_value(field, value):
    data = json.loads(dumps(REPORT))
    data["results"][0][field] = value
    assert not validator().is_valid(data)


def test_every_field_of_the_schema_is_described():
    def described(node, path):
        for name, field in node.get("properties", {}).items():
            if path[-1:] != ("verdicts",):
                assert "description" in field or "$ref" in field, (*path, name)
            described(field, (*path, name))
        for name, field in node.get("$defs", {}).items():
            assert "description" in field, name
            described(field, (*path, name))

    described(schema(), ())


def test_a_report_comes_back_equal(tmp_path):
    report = replace(REPORT, results=(FULL, BARE))
    write_json(report, tmp_path / "r.json")
    assert read_json(tmp_path / "r.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_infinite_and_missing_numbers_come_back(tmp_path):
    back = loads(dumps(REPORT)).results[2].exponent
    assert math.isnan(back.estimate)
    assert (back.low, back.high) == (-math.inf, math.inf)


def test_dash_is_standard_output_and_nothing_else(capsys):
    write_json(REPORT, "-")
    out = capsys.readouterr()
    assert json.loads(out.out)["schema"] == 1
    assert out.err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a report of theoryck: it is empty"),
        ("results: none", "is not a report of theoryck: it is not JSON"),
        (dumps(REPORT)[:-40], "damaged report: it is not whole JSON"),
        ("[]", "not a report of theoryck"),
        ('{"name": "package"}', "not a report of theoryck"),
        (dumps(REPORT).replace('"schema": 1', '"schema": 2'), "schema version 2, this theoryck reads version 1"),
        (dumps(REPORT).replace('"verdict": "SUPPORTED"', '"verdict": "MAYBE"'), r"results\[0\]: 'verdict' must be \"CERT"),
        (dumps(REPORT).replace('"reason"', '"season"'), r"damaged report: results\[0\]: 'reason' is missing"),
        (dumps(REPORT).replace('"window": [', '"window": ["x", '), r"results\[0\]: 'window' must be a list of 2 or null"),
    ],
)
def test_a_file_that_is_no_report_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(ReportFileError, match=message) as caught:
        read_json(path)
    assert "old.json" in str(caught.value)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(ReportFileError, match="does not exist; write it with: theoryck check"):
        read_json(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportFileError, match="is not a report of theoryck: it is no text"):
        read_json(tmp_path / "binary.json")
    with pytest.raises(ReportFileError, match=r"is a folder; name a file in it, such as .*report\.json"):
        read_json(tmp_path)
    with pytest.raises(ReportFileError, match=r"needs the name of a file, such as .*; got an empty text"):
        read_json("")
    with pytest.raises(ReportFileError, match="cannot be read: file name too long"):
        read_json(tmp_path / ("a" * 300))
    with pytest.raises(ReportFileError, match="cannot be read: embedded null"):
        read_json("a\0b")
    with pytest.raises(ReportFileError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(ReportFileError, match=r"name a file in it, such as .*page\.html"):
        check_writable(tmp_path, "page.html")
    with pytest.raises(ReportFileError, match="there is no folder"):
        write_json(REPORT, tmp_path / "none" / "r.json")


def test_a_folder_that_takes_no_file_is_said_before_anything_is_measured(tmp_path, monkeypatch):
    def refused(**arguments):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(ReportFileError, match="read-only file system; name a file in another folder"):
        check_writable(tmp_path / "r.json")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(ReportFileError, match="No space left"):
        write_json(REPORT, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_bracket_says_what_it_was_drawn_from(tmp_path):
    point = Point({"d": 16}, bracket=Bracket(0.1, 0.2, 0.01, 0.01, ("tail-unseen",), 64, 28.0, -math.inf))
    report = Report("quick", 0, (replace(FULL, points=(point,)),))
    write_json(report, str(tmp_path / "report.json"))
    assert read_json(tmp_path / "report.json").results[0].points == (point,)
    jsonschema.Draft202012Validator(schema()).validate(json.loads((tmp_path / "report.json").read_text()))
