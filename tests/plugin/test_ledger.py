"""``pytest --ledger FILE``: off by default; a second run draws nothing."""

import pytest


def test_runs_are_independent_unless_a_ledger_is_named(project):
    project.claims("supported")
    result = project.run("proofs")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("ledger *")
    assert [path.name for path in project.path.iterdir() if "ledger" in path.name] == []


def test_a_second_run_reuses_the_first(project):
    project.claims("supported", "fallen")
    for reused, drawn in ((0, 56_000), (56_000, 0)):
        result = project.run("proofs", "--ledger", "draws.ledger")
        assert result.ret == 0
        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines([f"ledger draws.ledger: {reused} draws reused, {drawn} drawn and kept"])
    assert (project.path / "draws.ledger").stat().st_size > 0
    assert not (project.path / "draws.ledger-wal").exists()


def test_a_file_that_is_no_ledger_is_refused_before_anything_runs(project):
    results = project.claims("supported")
    before = results.read_bytes()
    result = project.run("proofs", "--ledger", str(results))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --ledger: *results.py is no ledger of theoryck but another file*"])
    assert results.read_bytes() == before


def test_collecting_makes_no_ledger(project):
    project.claims("supported")
    assert project.run("proofs", "--ledger", "draws.ledger", "--collect-only").ret == 0
    assert not (project.path / "draws.ledger").exists()
