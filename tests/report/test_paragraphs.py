"""What is told of a result: no reason twice, a unit after a time, rows where nothing was drawn, one wording."""

from dataclasses import replace

from theoryck.records import Contract, Judgement, Report, Result, Route, Status, Verdict
from theoryck.report import html, latex, markdown
from theoryck.report.claims import AS_DECLARED
from theoryck.report.paragraphs import facts
from theoryck.report.text import render

JUDGED = Judgement(Verdict.SUPPORTED, "it grows like d^0")
RESULT = Result("paper/claim", Status.THEOREM, {}, JUDGED, None, (), Contract(), 1e-3, 2_000_000, 123_456.0, 7)


def told(result, label):
    return dict(facts(result))[label]


def routes(*taken):
    found = tuple(
        Route(f"route{at}", Verdict.SUPPORTED, reason=reason, decided=decided) for at, (reason, decided) in enumerate(taken)
    )
    return told(replace(RESULT, judgement=replace(JUDGED, routes=found)), "routes")


def test_the_reason_of_the_route_that_decided_is_not_told_twice():
    assert routes(("it grows", True), ("it decays", False)) == "route0 SUPPORTED; route1 SUPPORTED (it decays)"
    assert routes(("it grows", True), ("it grows", False)) == "route0 SUPPORTED; route1 SUPPORTED"
    assert routes(("it decays", False)) == "route0 SUPPORTED (it decays)"


def test_effort_has_a_unit_and_says_what_was_drawn():
    assert told(RESULT, "effort") == "2M draws, 34.3h, seed 7"
    assert told(replace(RESULT, seconds=1.5), "effort") == "2M draws, 1.5s, seed 7"
    assert told(replace(RESULT, given=True, draws=5, seconds=0.02), "effort") == "5 rows given, 0.02s"
    assert told(replace(RESULT, given=True, draws=1, seconds=0.02), "effort") == "1 row given, 0.02s"
    checked = replace(RESULT, claim="audit/mine", repeat="theoryck check mine.py")
    assert told(checked, "effort").startswith("2M draws")


def test_a_falsehood_that_fell_is_called_the_same_everywhere():
    fell = replace(RESULT, status=Status.FALSEHOOD, judgement=replace(JUDGED, verdict=Verdict.REFUTED))
    report = Report("quick", 0, (fell,))
    for shown in (render(report), html.render(report), markdown.render(report), latex.render(report)):
        assert AS_DECLARED in shown
        assert "as it should" not in shown
