"""``theoryck report``: saved results rendered without measuring, and every file that it must not touch."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.report import bibtex, latex, macros, markdown
from theoryck.report.json import write_json
from theoryck.report.layout import Style
from theoryck.report.text import render

GOLDEN = Path(__file__).parents[1] / "golden" / "reports.py"


def _reports():
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GOLDEN)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].REPORTS


REPORT = _reports()["refuted"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "results.json"
    write_json(REPORT, path)
    return path


def run(*arguments, **options):
    return CliRunner().invoke(main, ["report", *map(str, arguments)], **options)


def test_the_table_is_that_of_the_run_and_the_status_is_0_whatever_it_says(saved, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # readline, which pytest loads, sets it for the processes of xdist
    done = run(saved)
    assert done.exit_code == 0
    assert done.output == render(REPORT, Style(100)) + "\n"
    assert REPORT.exit_code == 1
    assert run(saved, "-v").output == render(REPORT, Style(100), verbose=True) + "\n"


@pytest.mark.parametrize(("option", "text"), [(f.__name__.rpartition(".")[2], f.render(REPORT)) for f in (markdown, latex, bibtex)])
def test_other_forms_go_to_files_and_to_standard_output(saved, tmp_path, option, text):
    assert run(saved, f"--{option}", "-").stdout == text
    done = run(saved, f"--{option}", tmp_path / "out")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert (tmp_path / "out").read_text(encoding="utf-8") == text


def test_a_page_is_written(saved, tmp_path):
    assert run(saved, "--html", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_several_forms_at_once(saved, tmp_path):
    done = run(saved, "--latex", tmp_path / "a.tex", "--bibtex", tmp_path / "a.bib", "--markdown", "-")
    assert done.exit_code == 0
    assert done.stdout == markdown.render(REPORT)
    assert (tmp_path / "a.tex").is_file()
    assert (tmp_path / "a.bib").is_file()


def test_results_are_read_from_standard_input(saved):
    done = run("-", "--markdown", "-", input=saved.read_bytes())
    assert done.stdout == markdown.render(REPORT)


def test_the_marks_of_a_paper_name_the_record_as_it_is_found_from_them(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tex").mkdir()
    assert run("results.json", "--macros", "tex/verdicts.tex").exit_code == 0
    assert (tmp_path / "tex" / "verdicts.tex").read_text() == macros.render(REPORT, "../results.json")
    assert r"\theoryckfile{1}{}%" in run("results.json", "--macros", "-").stdout


def test_the_package_for_marks_needs_no_results(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("--sty").exit_code == 0
    assert (tmp_path / "theoryck.sty").read_text() == macros.style() == run("--sty", "-").stdout
    assert run(saved, "--sty", "tex.sty", "--markdown", "-").stdout == markdown.render(REPORT)
    assert (tmp_path / "tex.sty").is_file()


def test_a_file_of_results_is_never_taken_for_the_package(saved):
    before = saved.read_bytes()
    assert refused(run("--sty", saved), "--sty takes a file that ends in .sty", "put it after the other words")
    assert refused(run("--sty", "-", "--markdown", "-"), "--markdown and --sty", "standard output")
    assert refused(run("--sty", "--markdown", "x.md"), "Missing argument '[FILE]'")
    assert refused(run(), "Missing argument '[FILE]'")
    assert saved.read_bytes() == before


def refused(done, *words):
    assert done.exit_code == 2, done.output
    assert all(word in done.output for word in words), done.output
    return True


def test_the_file_that_is_read_is_not_overwritten(saved, tmp_path):
    before = saved.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(saved)
    for form in ("html", "markdown", "latex", "bibtex", "macros"):
        assert refused(run(saved, f"--{form}", saved), f"--{form}", "overwritten")
        assert refused(run(saved, f"--{form}", link), "overwritten")
    assert saved.read_bytes() == before


def test_two_forms_do_not_share_a_file(saved, tmp_path):
    assert refused(run(saved, "--latex", tmp_path / "x", "--markdown", tmp_path / "x"), "--markdown and --latex", "two files")
    assert refused(run(saved, "--latex", "-", "--markdown", "-"), "standard output")


def test_what_cannot_be_written_is_said_before_anything_is(saved, tmp_path):
    done = run(saved, "--markdown", tmp_path / "good.md", "--latex", tmp_path / "none" / "a.tex")
    assert refused(done, "--latex", "there is no folder")
    assert not (tmp_path / "good.md").exists()


def _changed(text, **changes):
    return json.dumps(json.loads(text) | changes)


DAMAGED = {
    "cut": (lambda text: text[:500], "is not whole JSON"),
    "list": (lambda text: "[1, 2]", "is not a report of theoryck"),
    "old": (lambda text: _changed(text, schema=0), "schema version 0"),
    "broken": (lambda text: _changed(text, results=[{"claim": 1}]), "damaged report"),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_damaged_files_are_named_with_what_is_wrong(saved, how):
    damage, said = DAMAGED[how]
    saved.write_text(damage(saved.read_text(encoding="utf-8")), encoding="utf-8")
    assert refused(run(saved), str(saved), said)
    assert refused(run("-", input=saved.read_bytes()), "standard input", said)


def test_files_that_are_not_there_or_not_text(saved, tmp_path):
    assert refused(run(tmp_path / "none.json"), "does not exist", "theoryck check PATH --json")
    saved.write_bytes(b"\xff\xfe\x00")
    assert refused(run(saved), "it is no text")
    assert refused(run("-", input=b"\xff\xfe\x00"), "standard input", "text")
    assert refused(run(tmp_path), str(tmp_path))


def test_an_old_file_without_what_was_written_about_its_claims_is_rendered(saved, tmp_path):
    data = json.loads(saved.read_text(encoding="utf-8"))
    data.pop("about", None)
    data.pop("folders", None)
    saved.write_text(json.dumps(data), encoding="utf-8")
    done = run(saved, "--latex", "-")
    assert done.exit_code == 0
    assert "note = {Camilli, Tieplova" in done.stdout
    assert run(saved, "--html", tmp_path / "old.html").exit_code == 0
