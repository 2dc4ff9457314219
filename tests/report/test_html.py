"""The page's texts: labels over two lines, how sure a session is, what its words mean."""

import pytest

from theoryck.records import Contract, Interval, Judgement, Kind, Prediction, Report, Result, Status, Tightness, Verdict
from theoryck.report.html import render
from theoryck.report.html.page import prose
from theoryck.report.html.views import overview


def made(claim, tightness, slack):
    judgement = Judgement(Verdict.SUPPORTED, "", tightness=tightness, slack=Interval(slack, slack - 0.1, slack + 0.1, 0.95))
    prediction = Prediction(Kind.BOUND, "q", base="d", rate="1/d")
    return Result(claim, Status.THEOREM, {"s": slack}, judgement, prediction, (), Contract(within=0.15), 1e-3, 0, 0.0, 0)


REPORT = Report("quick", 0, (made("a", Tightness.TIGHT, 0.0), made("a", Tightness.LOOSE, 0.5), made("b", Tightness.TIGHT, 0.0)))


def test_a_claim_that_is_not_tight_everywhere_is_not_counted_as_tight():
    assert overview(REPORT).tightness == (("tight", 1), ("mixed", 1))


def test_the_page_says_how_sure_it_is_and_what_its_words_mean():
    page = render(REPORT)
    head = page[page.index("<header>") : page.index("</header>")]
    assert "tolerated: 0.15 in exponents" in head
    assert "any true claim is refuted with probability at most 0.003" in head
    assert "2 claims that hold have no rival" in head
    for word in ("theorem, conjecture, falsehood", "tight, loose, undetermined, mixed", "error rates", "constant"):
        assert f"<dt>{word}</dt>" in page


def test_a_report_of_nothing_is_sure_of_nothing():
    assert "error rates" not in render(Report("quick", 0, ()))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Fixed      V = 1,\npoint.     m = 2,\n           E = 3.", "<b>Fixed point.</b>"),
        ("Setting.   x = 1,\n           y = 2.", "<b>Setting.</b>"),
    ],
)
def test_a_label_over_two_lines_is_one_label(text, label):
    assert label in prose(text)
