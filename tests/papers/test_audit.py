"""A paper beside a record: which theorem names which claim, what no theorem names, and what is older than the record."""

from dataclasses import replace

import pytest

from theoryck.papers.audit import PaperError, audit
from theoryck.records import Contract, Interval, Judgement, Report, Result, Status, Verdict
from theoryck.report import macros
from theoryck.report.json import ReportFileError, write_json


def result(claim, exponent=-0.5, status=Status.THEOREM, verdict=Verdict.SUPPORTED, **instance):
    judgement = Judgement(verdict, "", exponent=Interval(exponent, exponent - 0.05, exponent + 0.05, 0.95))
    return Result(claim, status, instance, judgement, None, (), Contract(), 1e-3, 100, 1.0, 0)


RESULTS = (
    result("p/one"),
    result("p/two-b_c", -0.4, depth=1),
    result("p/two-b_c", -0.7, depth=2),
    result("p/three", status=Status.CONJECTURE),
    result("p/false", status=Status.FALSEHOOD, verdict=Verdict.REFUTED),
)


@pytest.fixture
def paper(tmp_path):
    """Write a paper with its record and marks; the marks are those of ``marked``, where it is another record."""

    def write(body, results=RESULTS, marked=None):
        report = Report("quick", 0, results, "0.1.0")
        (tmp_path / "tex").mkdir(exist_ok=True)
        write_json(report, tmp_path / "results.json")
        text = macros.render(replace(report, results=marked if marked is not None else results), "../results.json")
        (tmp_path / "tex" / "verdicts.tex").write_text(text, encoding="utf-8")
        preamble = "\\documentclass{article}\n\\newtheorem{thm}{Theorem}\n\\usepackage{theoryck}\n\\input{tex/verdicts}\n"
        (tmp_path / "paper.tex").write_text(f"{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n", encoding="utf-8")
        return audit(tmp_path / "paper.tex")

    return write


def claims(found):
    return [theorem.claims for theorem in found.theorems]


THM = r"\begin{thm} x \end{thm}"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (r"\begin{thm} x \theoryck{p/one}. \end{thm}", [("p/one",)]),
        (r"\begin{thm}[Main \theoryckexponent{p/one}] x \end{thm}", [("p/one",)]),
        (rf"{THM} \theoryck{{p/one}}", [("p/one",)]),
        (f"{THM}\n% why\n\\label{{a}}\n\\theoryckclaim{{p/one}} \\theoryck{{p/three}}", [("p/one", "p/three")]),
        (rf"\theoryckclaim{{p/one}} {THM} {THM}", [("p/one",), ()]),
        (rf"{THM} \theoryckclaim{{p/one}} {THM}", [("p/one",), ()]),
        (rf"{THM}{chr(10)}{chr(10)}\theoryck{{p/one}}", [()]),
        (rf"{THM} We measured \theoryck{{p/one}}.", [()]),
        (rf"Like \theoryck{{p/one}} is {THM}", [()]),
        (rf"{THM} \begin{{proof}} \theoryck{{p/one}} \end{{proof}}", [()]),
        (r"\begin{thm} \begin{thm} \theoryck{p/one} \end{thm} \theoryck{p/three} \end{thm}", [("p/three",), ("p/one",)]),
        (r"\newcommand{\tested}[1]{\hfill\theoryck{#1}} \begin{thm} x \tested{p/one} \end{thm}", [("p/one",)]),
        (r"\begin{thm} \theoryck{ p/two-b_c } \theoryckslack[depth = 1]{p/two-b_c} \end{thm}", [("p/two-b_c",)]),
        (r"\begin{thm} % \theoryck{p/one}" + "\n" + r"\verb|\theoryck{p/one}| \end{thm}", [()]),
    ],
)
def test_a_theorem_names_a_claim_inside_itself_in_its_title_or_next_to_it(paper, body, named):
    assert claims(paper(body)) == named


def test_claims_that_no_theorem_names(paper):
    found = paper(rf"\theoryck{{p/three}} says {THM} \theoryckclaim{{p/one}}")
    assert (found.unnamed, found.elsewhere, found.falsehoods) == (("p/two-b_c", "p/three"), ("p/three",), 1)
    assert found.current


def test_marks_that_show_what_the_record_has_are_current(paper):
    found = paper(r"\theoryck{p/one} \theoryckexponent[depth=2]{p/two-b_c} \theoryck{p/false} \theoryckclaim{p/one}")
    assert found.current
    assert len(found.marks) == 4


NEW = (result("p/one", -0.52), *RESULTS[1:])


def test_one_number_that_changed_is_stale_with_both(paper):
    found = paper(r"a \theoryckexponent{p/one}" + "\n" + r"\theoryck{p/one} \theoryck{p/three} \theoryckclaim{p/one}", NEW, RESULTS)
    assert not found.current
    assert [(str(each.mark), str(each.mark.place)) for each in found.stale] == [
        (r"\theoryckexponent{p/one}", "paper.tex:6"),
        (r"\theoryck{p/one}", "paper.tex:7"),
    ]
    assert found.stale[0].changes == (("exponent", "-0.50(5)", "-0.52(5)"),)
    assert found.stale[1].changes == (("measured", "-0.50(5)", "-0.52(5)"),)


def test_a_change_that_no_mark_shows_is_not_stale(paper):
    assert paper(r"\theoryck{p/three} \theoryckexponent[depth=1]{p/two-b_c}", NEW, RESULTS).current
    digits = (replace(RESULTS[0], seconds=2.0, draws=101), *RESULTS[1:])
    assert paper(r"\theoryck{p/one}", digits, RESULTS).current


def test_a_verdict_that_changed_is_stale(paper):
    found = paper(r"\theoryck{p/one}", (result("p/one", verdict=Verdict.REFUTED), *RESULTS[1:]), RESULTS)
    assert found.stale[0].changes[0] == ("verdict", "supported", r"\textbf{refuted}")


def test_a_claim_that_the_marks_lack_is_stale_however_it_is_named(paper):
    found = paper(r"\theoryck{p/one} \theoryckclaim{p/one}", RESULTS, RESULTS[1:])
    assert [each.mark.command for each in found.stale] == ["theoryck", "theoryckclaim"]


@pytest.mark.parametrize("mark", [r"\theoryck{p/on}", r"\theoryckclaim{p/on}", r"\theoryckexponent[depth=3]{p/two-b_c}"])
def test_a_mark_of_no_claim_or_instance(paper, mark):
    found = paper(mark)
    assert [str(each) for each in found.unknown] == [mark]
    assert not found.current


def test_a_mark_of_a_number_that_there_is_none_of(paper):
    found = paper(r"\theoryckvalue{p/one}")
    assert [str(each) for each in found.empty] == [r"\theoryckvalue{p/one}"]
    assert not found.current


def test_a_paper_without_marks_needs_no_record(tmp_path):
    (tmp_path / "paper.tex").write_text(r"\newtheorem{thm}{Theorem}\begin{thm}x\end{thm}")
    found = audit(tmp_path / "paper.tex")
    assert (found.record, claims(found), found.current) == (None, [()], True)


def test_marks_without_a_record_are_refused(tmp_path, paper):
    file = tmp_path / "paper.tex"
    file.write_text("a\n\\theoryck{p/one}")
    with pytest.raises(PaperError, match=r"paper.tex:2: .*theoryck report results.json --macros verdicts.tex"):
        audit(file)
    paper(r"\theoryck{p/one}")
    marks = tmp_path / "tex" / "verdicts.tex"
    marks.write_text(marks.read_text().replace("{../results.json}", "{}"))
    with pytest.raises(PaperError, match="names no record: say which, with --record"):
        audit(file)
    assert audit(file, tmp_path / "results.json").current
    (tmp_path / "results.json").unlink()
    with pytest.raises(ReportFileError, match="does not exist"):
        audit(file, tmp_path / "results.json")
    with pytest.raises(PaperError, match=r"there is no file .*none.tex: name the main file"):
        audit(tmp_path / "none.tex")


def test_marks_of_another_format_are_said(paper, tmp_path):
    paper("a")
    marks = tmp_path / "tex" / "verdicts.tex"
    marks.write_text(marks.read_text().replace(r"\theoryckfile{1}", r"\theoryckfile{2}"))
    [unread] = audit(tmp_path / "paper.tex").unread
    assert str(unread) == "paper.tex:4: tex/verdicts.tex was written by another theoryck: write it anew, with theoryck.sty"
