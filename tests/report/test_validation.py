"""What is wrong with a report is said with its place, and whatever is written can be read and rendered."""

import copy
import json
import math
from dataclasses import replace
from decimal import Decimal
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck.cli import main
from theoryck.records import (
    About,
    Bracket,
    Contract,
    Counts,
    Curve,
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
from theoryck.report import html, latex, markdown
from theoryck.report import text as terminal
from theoryck.report.json import ReportFileError, dumps, loads, problem, schema, write_json
from theoryck.report.svg import pictures

SCHEMA = schema()
INTERVAL = Interval(-0.5, -0.52, -0.48, 0.95)
CURVE = Curve(
    "exact", "d", (16, 32), 1, (16.0, 32.0), (0.0, 0.1), (0.2, 0.2), (-1.4, -1.7), INTERVAL, residuals={"exact": (None, 1.0)}
)
RESULT = Result(
    "paper/result",
    Status.THEOREM,
    {"phi": "tanh(x)", "widths": [1, 2]},
    Judgement(
        Verdict.SUPPORTED,
        "within 0.1",
        exponent=INTERVAL,
        claimed_exponent=-0.5,
        window=(16, 32),
        routes=(Route("exact", Verdict.SUPPORTED, INTERVAL, reason="balls"),),
        rivals=(Rival("1/d", True),),
        flags=("heavy-tail",),
        curves=(CURVE,),
    ),
    Prediction(Kind.BOUND, "q", "d", {"d": "16, 32"}, rate="d**(-1/2)", rivals=("1/d",), parameters={"k": "2"}),
    tuple(Point({"d": d}, Estimate(0.1, 0.01, 1000), Enclosure(Decimal("0.1"), Decimal(0))) for d in (16, 32)),
    Contract(),
    1e-3,
    2000,
    0.5,
    7,
)
LAW = replace(RESULT, prediction=None, points=(Point({"d": 16}, counts=Counts((0.0, 1.0), (1, 2, 1), (0.3, 0.6))),))
DATA = json.loads(dumps(Report("quick", 7, (RESULT, LAW), "1.0", about=(About("paper/result"),))))

DAMAGES = [
    (("results", 0, "points", 0, "sizes", "d"), -1, "results[0].points[0].sizes: 'd' must be a number >= 0, got -1"),
    (("results", 0, "points", 0, "sizes", "d"), True, "results[0].points[0].sizes: 'd' must be a number >= 0, got true"),
    (
        ("results", 0, "points", 0, "sizes", "d"),
        10**400,
        "results[0].points[0].sizes: 'd' must be a number >= 0 and <= 1e+300",
    ),
    (("results", 0, "points", 1, "sizes"), {"n": 16}, "results[0].points[1].sizes: 'd' is missing, which other points have"),
    (("results", 0, "points", 0, "sizes"), {"d": 16, "n": 1}, "results[0].points[1].sizes: 'n' is missing, which other"),
    (("results", 0, "prediction", "base"), "n", 'results[0].points[0].sizes: "n" is missing, the base of the prediction'),
    (("results", 0, "claim"), None, "results[0]: 'claim' must be a text that is not empty, got null"),
    (("results", 0, "reason"), None, "results[0]: 'reason' must be a text, got null"),
    (("results", 0, "flags", 0), 1, "results[0].flags: entry 0 must be a text, got 1"),
    (("results", 0, "rivals", 0, "rate"), 0, "results[0].rivals[0]: 'rate' must be a text, got 0"),
    (("results", 0, "routes", 0, "reason"), 1, "results[0].routes[0]: 'reason' must be a text, got 1"),
    (("results", 0, "claimed_exponent"), "x", 'results[0]: \'claimed_exponent\' must be a number, "inf", "-inf", "nan" or null'),
    (("results", 0, "exponent", "low"), "x", 'results[0].exponent: \'low\' must be a number, "inf", "-inf" or "nan", got "x"'),
    (("results", 0, "prediction", "rate"), 1, "results[0].prediction: 'rate' must be a text or null, got 1"),
    (("results", 0, "prediction", "parameters"), [], "results[0].prediction: 'parameters' must be an object, got a list of 0"),
    (("results", 0, "prediction", "surprise"), 1, 'results[0].prediction: there is no field "surprise" in this version'),
    (("results", 0, "assuming"), [], "results[0]: 'assuming' must be a text, got a list of 0"),
    (("results", 0, "points", 0, "exact", "value"), "x", 'exact: \'value\' must be a text such as "0.25", got "x"'),
    (("results", 0, "points", 0, "exact", "radius"), "-1", 'exact: \'radius\' must be a text such as "1E-30", got "-1"'),
    (("results", 0, "points", 0, "estimate", "stderr"), -1, 'estimate: \'stderr\' must be a number >= 0, "inf" or "nan", got -1'),
    (("results", 0, "contract", "within"), 0, "results[0].contract: 'within' must be a number > 0, got 0"),
    (("results", 0, "verdict"), "PROVED", 'results[0]: \'verdict\' must be "CERTIFIED", "SUPPORTED", "INCONCLUSIVE", "REFUTED" or'),
    (("results", 0, "instance", "widths"), json.loads("[" * 150 + "]" * 150), "'instance' holds lists within each other"),
    (("results", 1, "points", 0, "counts", "counts"), [1], "2 edges need as many claimed values and one count more, got 2 and 1"),
    (("results", 1, "points", 0, "counts", "edges"), [2, 1], "results[1].points[0].counts: 'edges' must be in increasing order"),
    (("results", 0), "x" * 99, 'results: entry 0 must be an object, got "xxx'),
    (("profile",), 5, "'profile' must be a text, got 5"),
    (("about", 0, "citation"), 5, "about[0]: 'citation' must be an object, got 5"),
]


def damaged(path, value):
    data = copy.deepcopy(DATA)
    node = data
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return data


def test_a_whole_report_has_no_problem():
    assert problem(DATA) is None


@pytest.mark.parametrize(("path", "value", "what"), DAMAGES, ids=lambda part: str(part)[:30])
def test_damage_is_named_with_its_place(path, value, what):
    assert what in problem(damaged(path, value))


def places(node, at=()):
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield (*at, key)
            yield from places(value, (*at, key))


WRONG = [None, True, 0, -1, 1, 0.5, 1e300, "", "x", "inf", "1e5", [], {}, [1], {"a": 1}]


@given(st.sampled_from(list(places(DATA))), st.sampled_from(WRONG))
def test_what_breaks_the_schema_is_said_and_nothing_else(path, value):
    data = damaged(path, value)
    ours, theirs = problem(data), jsonschema.Draft202012Validator(SCHEMA).is_valid(data)
    contradicts = ours is not None and any(word in ours for word in ("is missing", "need as many", "increasing order", "a curve"))
    assert (ours is None) == theirs or (theirs and contradicts)


@given(st.sampled_from(list(places(DATA))), st.sampled_from(WRONG))
@settings(max_examples=25)
def test_what_is_read_is_rendered(path, value):
    try:
        report = loads(json.dumps(damaged(path, value)))
    except ReportFileError:
        return
    assert terminal.render(report, verbose=True)
    assert html.render(report)
    assert latex.render(report)
    assert markdown.render(report)


@pytest.mark.parametrize("value", [1e300, -1e300, ""])
def test_extremes_anywhere_are_rendered(value):
    for path in places(DATA):
        try:
            report = loads(json.dumps(damaged(path, value)))
        except ReportFileError:
            continue
        assert terminal.render(report, verbose=True)
        assert html.render(report)


HEAD = '{"theoryck": "1.0", "schema": 1, "profile": "quick", "seed": 0, "results": '


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (HEAD + "[" * 200_000, "nested too deeply"),
        (HEAD + "9" * 5000 + "}", "a whole number has 5000 digits"),
        (HEAD + "NaN}", 'NaN is no JSON: it would be written as the text "nan"'),
        (HEAD + "-Infinity}", 'it would be written as the text "-inf"'),
        (HEAD + '[], "results": []}', 'field "results" stands twice in one object'),
        (HEAD.replace('"schema": 1', '"schema": true') + "[]}", "has schema version true"),
        (HEAD + "[]}", "'summary' is missing"),
        (HEAD + '1e999, "summary": {}}', "'results' must be a list, got Infinity"),
    ],
)
def test_files_that_no_report_would_be_are_refused_with_status_2(tmp_path, capsys, text, what):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path / "r.json")])
    assert ended.value.code == 2
    assert what in " ".join(capsys.readouterr().err.split())


def test_a_mark_at_the_beginning_of_a_file_is_no_damage():
    assert loads("\ufeff" + dumps(Report("quick", 7, (RESULT,)))).results == (RESULT,)


def test_names_that_are_no_text_are_written_and_read(tmp_path):
    report = Report("quick", 7, (replace(RESULT, repeat="theoryck check \udcff.py"),))
    write_json(report, tmp_path / "r.json")
    assert loads((tmp_path / "r.json").read_text(encoding="utf-8")) == report


# -- whatever is written can be read ------------------------------------------------------------------------------------------

ANY = st.floats()
SOME = st.floats(allow_nan=False)  # nan is equal to nothing, not even to itself when it is read again
ERRORS = st.floats(min_value=0, allow_nan=False)
RATES = st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True)
COUNTS = st.integers(0, 10**30)
TEXTS = st.text(st.characters(), max_size=8)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False) | st.sampled_from(list(map(Decimal, ["1E-999", "-3E+999", "0E-50"])))
INTERVALS = st.builds(Interval, SOME, SOME, SOME, RATES)
ENCLOSURES = st.builds(Enclosure, DECIMALS, DECIMALS.map(lambda number: number.copy_abs()), st.booleans())
FLAGS = st.lists(TEXTS, max_size=2).map(tuple)
MAPS = st.dictionaries(TEXTS, TEXTS, max_size=2)
ESTIMATES = st.builds(Estimate, SOME, ERRORS, COUNTS, FLAGS, SOME)
BRACKETS = st.builds(Bracket, SOME, SOME, ERRORS, ERRORS, FLAGS, st.just(8), SOME, SOME)
EDGES = st.lists(SOME, max_size=5).map(sorted)
LAWS = EDGES.map(lambda edges: Counts(tuple(edges), (1,) * (len(edges) + 1), (0.5,) * len(edges)))
POINTS = st.builds(
    Point,
    st.just({"d": 16}) | st.just({"d": 10**30}),
    st.none() | ESTIMATES,
    st.none() | ENCLOSURES,
    st.none() | BRACKETS,
    st.none() | LAWS,
)
PREDICTIONS = st.builds(
    Prediction,
    st.sampled_from(Kind),
    TEXTS,
    st.sampled_from([None, "d"]),
    MAPS,
    st.none() | TEXTS | st.sampled_from(["1/d", "d**(-1/2)*log(d)"]),
    st.none() | SOME,
    st.none() | SOME,
    st.none() | ENCLOSURES,
    FLAGS,
    MAPS,
    st.none() | SOME,
    st.none() | SOME,
    st.none() | TEXTS,
)
JUDGEMENTS = st.builds(
    Judgement,
    st.sampled_from(Verdict),
    TEXTS,
    tightness=st.none() | st.sampled_from(Tightness),
    exponent=st.none() | INTERVALS,
    claimed_exponent=st.none() | SOME,
    slack=st.none() | INTERVALS,
    constant=st.none() | INTERVALS,
    window=st.none() | st.just((1, 10**30)),
    routes=st.lists(st.builds(Route, TEXTS, st.sampled_from(Verdict), st.none() | INTERVALS), max_size=2).map(tuple),
    rivals=st.lists(st.builds(Rival, TEXTS, st.booleans()), max_size=2).map(tuple),
    assuming=TEXTS,
    flags=FLAGS,
    settled=st.booleans(),
    exponents=st.dictionaries(TEXTS, INTERVALS, max_size=2),
)
RESULTS = st.builds(
    Result,
    TEXTS.filter(bool),
    st.sampled_from(Status),
    st.dictionaries(TEXTS, TEXTS | COUNTS | st.booleans() | st.lists(COUNTS, max_size=2), max_size=2),
    JUDGEMENTS,
    st.none() | PREDICTIONS,
    st.lists(POINTS, max_size=3).map(tuple),
    st.builds(Contract, RATES, RATES, st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False), RATES),
    RATES,
    COUNTS,
    st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    COUNTS,
    TEXTS,
    TEXTS,
    TEXTS,
)
REPORTS = st.builds(Report, TEXTS, COUNTS, st.lists(RESULTS, max_size=1).map(tuple), TEXTS)


@given(REPORTS)
@settings(max_examples=60)
def test_whatever_is_written_is_read_and_rendered(report):
    written = dumps(report)
    written.encode()
    back = loads(written)
    assert back == report
    assert terminal.render(back, verbose=True)
    assert html.render(back)
    assert latex.render(back)
    assert markdown.render(back)
    assert all(result._repr_html_() for result in back.results)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_written_and_read(value):
    given = replace(RESULT, judgement=replace(RESULT.judgement, claimed_exponent=value))
    given = replace(given, prediction=replace(RESULT.prediction, constant=value, exponent=value, amplitude=value, correction=value))
    back = loads(dumps(Report("quick", 7, (given,)))).results[0]
    found = (back.judgement.claimed_exponent, back.prediction.constant, back.prediction.exponent, back.prediction.amplitude)
    assert list(map(repr, found)) == [repr(value)] * 4


def test_a_law_whose_claim_is_not_a_number_has_no_picture_and_is_told():
    point = Point({"d": 16}, Estimate(0.1, 0.01, 9), counts=Counts((0.0, 1.0, 2.0), (1, 2, 1, 5), (0.3, math.nan, 0.6)))
    law = replace(RESULT, prediction=replace(RESULT.prediction, kind=Kind.LAW, rate=None), points=(point,))
    assert html.render(loads(dumps(Report("quick", 7, (law,)))))
    assert not [picture for picture in pictures(law) if picture.name == "law"]


EXTREMES = {
    "the ends of the domain": [
        Point({"d": d}, exact=Enclosure(Decimal(text), Decimal(0))) for d, text in ((16, "1e30"), (32, "1e-30"))
    ],
    "huge sizes": [Point({"d": d}, Estimate(0.5, 0.1, 9)) for d in (16, 10**20, 10**30)],
    "nan": [Point({"d": d}, Estimate(math.nan, math.inf, 9)) for d in (16, 32, 64)],
    "beyond floats": [Point({"d": d}, Estimate(1.7e308, 1e308, 9)) for d in (16, 32, 64)],
}


@pytest.mark.parametrize(
    ("points", "kind", "rate"),
    [
        *((points, kind, "1/d") for points in EXTREMES for kind in Kind),
        *(("nan", Kind.BOUND, rate) for rate in (None, "exp(d)", "d**(")),
    ],
)
def test_extremes_have_pictures(points, kind, rate):
    rivals = ("nan", "1e400", "1/d")
    value = Enclosure(Decimal("1e30"), Decimal(0))
    prediction = Prediction(kind, "q", "d", rate=rate, exponent=1e300, constant=math.inf, value=value, rivals=rivals)
    judged = replace(RESULT.judgement, rivals=tuple(Rival(text, True) for text in rivals))
    given = replace(RESULT, prediction=prediction, points=tuple(EXTREMES[points]), judgement=judged)
    for picture in pictures(given):
        ElementTree.fromstring(picture.svg)
