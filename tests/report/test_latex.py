"""What a paper takes from a report: the words of the methods paragraph, keys and entries of BibTeX, escaped text."""

from dataclasses import replace
from decimal import Decimal

import pytest

from theoryck.records import About, Contract, Enclosure, Interval, Judgement, Point, Report, Result, Rival, Route, Status, Verdict
from theoryck.report import bibtex
from theoryck.report.claims import how_sure
from theoryck.report.formula.tex import code, escape
from theoryck.report.latex import AUDIT, methods

RESULT = Result(
    claim="paper/holds",
    status=Status.THEOREM,
    instance={},
    judgement=Judgement(
        Verdict.SUPPORTED,
        "",
        exponent=Interval(-1.0, -1.1, -0.9, 0.95),
        routes=(Route("exact", Verdict.SUPPORTED, rigorous=True), Route("montecarlo", Verdict.SUPPORTED)),
        rivals=(Rival("d**-2", True),),
        assuming="on d = 8..512, assuming corrections O(d^-0.666667)",
        correction=2 / 3,
    ),
    prediction=None,
    points=(Point({"d": 16}, exact=Enclosure(Decimal("0.25"), Decimal("1e-9"))),),
    contract=Contract(within=0.15),
    false_refute_rate=0.005,
    draws=12_000,
    seconds=1.0,
    seed=0,
    reference="Someone, Else (2024), Title, arXiv:2401.00001",
)
FALSE = replace(RESULT, claim="paper/false", status=Status.FALSEHOOD, judgement=replace(RESULT.judgement, verdict=Verdict.REFUTED))


def report(*results, about=(), **changes):
    return Report(**{"profile": "quick", "seed": 7, "results": results, "version": "0.1.0", "about": about, **changes})


def cited(claim, **citation):
    return About(claim, citation=citation)


def test_the_methods_of_a_session():
    said = methods(report(RESULT, FALSE))
    for words in (
        "2 claims (2 instances; 1 of the claims declared false, to be refuted) were tested with theoryck (version 0.1.0)",
        r"\cite{theoryck}",
        "The profile was quick, the seed 7.",
        "by Monte Carlo in 2 instances (24k draws in all) and by rigorous enclosures in 2.",
        "any true claim is refuted is at most 0.01 over all instances",
        "(0.005 each, Bonferroni)",
        "declared tolerance (0.15)",
        r"level 95\%",
        "$O(d^{-2/3})$",
        "rejected 2 of 2 rival predictions",
    ):
        assert words in said
    assert r"\textbf" not in said


def test_what_is_not_well_is_said_in_the_paragraph():
    stands = replace(FALSE, judgement=RESULT.judgement)
    undecided = replace(RESULT, judgement=replace(RESULT.judgement, verdict=Verdict.INCONCLUSIVE))
    said = methods(report(stands, undecided, interrupted=True))
    assert r"\textbf{1 claim did not come out as declared}" in said
    assert "1 claim is undecided." in said
    assert "interrupted" in said


def test_an_audit_claims_no_draws():
    said = methods(report(RESULT, profile=AUDIT))
    assert "12000 given values were audited" in said
    assert "Monte Carlo" not in said
    assert "drawn" not in said


def test_nothing_tested():
    assert methods(report()) == r"No claim was tested with theoryck (version 0.1.0)~\cite{theoryck}."


def test_one_source_has_one_entry_and_its_places_stand_in_the_citations():
    source = {"authors": "Someone, Else", "year": "2024", "title": "A title", "arxiv": "2401.00001"}
    about = (cited("paper/holds", **source, note="Lemma 3"), cited("paper/false", **source))
    sources = bibtex.bibliography(report(RESULT, FALSE, about=about))
    assert [entry.key for entry in sources.entries] == ["someone2024", "theoryck"]
    assert sources.cite("paper/holds") == r"\cite[{Lemma 3}]{someone2024}"
    assert sources.cite("paper/false") == r"\cite{someone2024}"
    assert "note = {Lemma 3}" not in bibtex.render(report(RESULT, FALSE, about=about))
    assert "note = {Lemma 3}" in bibtex.render(report(RESULT, about=about))


def test_different_sources_of_one_key_are_told_apart():
    first = cited("paper/holds", authors="\u00c9l, B", year="2024", title="x")
    about = (first, cited("paper/false", authors="El", year="2024", title="y"))
    keys = [entry.key for entry in bibtex.bibliography(report(RESULT, FALSE, about=about)).entries]
    assert keys == ["el2024", "el2024b", "theoryck"]
    assert r"author = {\'{E}l and B}" in bibtex.render(report(RESULT, about=about))


def test_an_old_file_has_only_a_line_of_each_reference():
    sources = bibtex.bibliography(report(RESULT, FALSE))
    assert sources.cite("paper/holds") == sources.cite("paper/false") == r"\cite{someone2024}"
    assert "note = {Someone, Else (2024), Title, arXiv:2401.00001}" in bibtex.render(report(RESULT))


def test_a_claim_of_no_source_is_not_cited():
    assert bibtex.bibliography(report(replace(RESULT, reference=""))).cite("paper/holds") == ""


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("a--b ,, ''", "a-{}-b ,{}, '{}'"),
        ("\\end{document}", r"\textbackslash{}end\{document\}"),
        ("\u00fc \u1e9e \u6771", r"\"{u} \texttt{[U+1E9E]} \texttt{[U+6771]}"),
        ("\u03c3 \u2264 \u221e", r"\ensuremath{\sigma} \ensuremath{\le} \ensuremath{\infty}"),
        ("tab\there\x07", r"tab here\texttt{[U+0007]}"),
    ],
)
def test_text_is_escaped(text, tex):
    assert escape(text) == tex


def test_code_keeps_its_quotes():
    assert code("f'x'") == r"\texttt{f\textquotesingle{}x\textquotesingle{}}"


def test_what_is_proved_is_said_of_the_values_and_not_of_the_verdict():
    """A verdict on growth is never proved, the values behind it may be."""
    agreed = replace(RESULT, points=(Point({"d": 16}, exact=Enclosure(Decimal("0.25"), Decimal("1e-9"), rigorous=False)),))
    unproved = replace(RESULT, judgement=replace(RESULT.judgement, routes=(Route("exact", Verdict.SUPPORTED),)))
    assert "by rigorous enclosures in 1" in methods(report(unproved))
    assert "by values on whose digits two methods agreed in 1" in methods(report(agreed))


def test_how_sure_a_session_is_in_plain_text():
    said = [*map(str, how_sure([RESULT, FALSE]))]
    assert said[0] == "tolerated: 0.15 in exponents, in values what their claims declare"
    assert "any true claim is refuted with probability at most 0.01" in said[1]
    bare = replace(RESULT, judgement=replace(RESULT.judgement, rivals=()))
    assert str(how_sure([bare])[-1]) == "1 claim that holds has no rival: nothing shows that the check could have failed"
    assert how_sure([]) == []
