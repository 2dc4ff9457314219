"""``theoryck check --ledger`` and ``theoryck ledger show|prune``."""

import json
import sys
import time

import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.ledger import Entry, Ledger

CLAIMS = '''
import theoryck as tc

PATH = tc.ScalingPath(d=tc.doubling(8, 64))


@tc.quantity
def precise(rng, draws, *, d):
    return (1 + 0.1 * rng.standard_normal(draws)) / d


@tc.theorem("toy/holds")
def holds():
    """Q = O(1/d)"""
    return tc.Bound(precise, rate="1/d", along=PATH, rivals=["d**-2"])


@tc.falsehood("toy/falls")
def falls():
    """Q = O(d^-2)"""
    return tc.Bound(precise, rate="d**-2", along=PATH)
'''
CHECK = ("check", "ledger_claims.py", "--draws", "2000", "--workers", "1", "--ledger", "draws.ledger")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "ledger_claims.py").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "ledger_claims", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file written twice in a second would be loaded from its first bytes
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def report(output):
    data = json.loads(output)
    for result in data["results"]:
        del result["seconds"]
    return data


def test_a_second_check_draws_nothing_and_says_so(folder):
    plain = call(*CHECK[:-2], "--json", "-")
    first, second = call(*CHECK, "--json", "-"), call(*CHECK, "--json", "-")
    assert (plain.exit_code, first.exit_code, second.exit_code) == (0, 0, 0)
    assert report(first.stdout) == report(second.stdout) == report(plain.stdout)
    assert first.stderr == "ledger draws.ledger: 0 draws reused, 32000 drawn and kept\n"
    assert second.stderr == "ledger draws.ledger: 32000 draws reused, 0 drawn and kept\n"


def test_show_tells_claims_draws_and_whether_the_code_is_still_there(folder):
    call(*CHECK)
    shown = call("ledger", "show", "draws.ledger")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["claim", "quantity", "instance", "sizes", "blocks", "draws", "code", "last", "block"]
    # With its confirmation, which has twice the draws; blocks hold 4096, 4096, 1024 and 256 draws.
    assert lines[1].split()[:5] == ["toy/falls", "precise", "4", "34", "24k"]
    assert lines[2].split()[:5] == ["toy/holds", "precise", "4", "12", "8k"]
    assert all("current" in line for line in lines[1:3])
    assert "blocks, 32k draws" in lines[3]
    data = json.loads(call("ledger", "show", "draws.ledger", "--json", "-").stdout)
    assert data["ledger"] == "draws.ledger"
    assert data["size"] == (folder / "draws.ledger").stat().st_size
    assert {entry["claim"]: entry["draws"] for entry in data["entries"]} == {"toy/falls": 24_000, "toy/holds": 8_000}
    assert {entry["state"] for entry in data["entries"]} == {"current"}
    source = folder / "ledger_claims.py"
    source.write_text(source.read_text() + "\n# a remark\n")
    assert call("ledger", "show", "draws.ledger").stdout.count("stale (") == 2
    source.rename(folder / "moved.py")
    assert call("ledger", "show", "draws.ledger").stdout.count("unknown (") == 2


def test_another_version_of_a_package_that_the_file_imports_is_stale(folder, monkeypatch):
    source = folder / "ledger_claims.py"
    source.write_text("import click\n" + source.read_text())
    call(*CHECK)
    monkeypatch.setattr("theoryck.ledger.contents.version_of", lambda package: f"another than of {package}")
    assert call("ledger", "show", "draws.ledger").stdout.count("stale (another click)") == 2


def test_prune_by_claim_age_and_staleness(folder):
    call(*CHECK)
    before = (folder / "draws.ledger").read_bytes()
    dry = call("ledger", "prune", "draws.ledger", "--claim", "toy/f*", "--dry-run")
    assert "would be deleted: " in dry.stdout
    assert "24k draws" in dry.stdout
    assert (folder / "draws.ledger").read_bytes() == before
    assert "deleted: 0 blocks" in call("ledger", "prune", "draws.ledger", "--older-than", "1").stdout
    assert "deleted: 0 blocks" in call("ledger", "prune", "draws.ledger", "--stale").stdout
    pruned = call("ledger", "prune", "draws.ledger", "--claim", "toy/falls")
    assert pruned.exit_code == 0
    assert "toy/falls" in pruned.stdout
    assert "toy/holds" not in pruned.stdout
    with Ledger("draws.ledger") as ledger:
        assert [entry.claim for entry in ledger.entries()] == ["toy/holds"]
    said = json.loads(call("ledger", "prune", "draws.ledger", "--all", "--json", "-").stdout)
    assert [entry["claim"] for entry in said["deleted"]] == ["toy/holds"]
    assert said["after"] < said["before"] < len(before)
    with Ledger("draws.ledger") as ledger:
        assert ledger.entries() == []


def test_prune_what_changed_code_drew(folder):
    call(*CHECK)
    source = folder / "ledger_claims.py"
    source.write_text(source.read_text().replace("0.1", "0.2"))
    sys.modules.pop("ledger_claims", None)
    again = call(*CHECK)
    assert "0 draws reused" in again.stderr
    pruned = call("ledger", "prune", "draws.ledger", "--stale")
    assert "32k draws; the file had" in pruned.stdout
    with Ledger("draws.ledger") as ledger:
        assert {entry.state for entry in ledger.entries()} == {"current"}
        assert sum(entry.draws for entry in ledger.entries()) == 32_000


def test_older_than_counts_from_the_last_block(folder, monkeypatch):
    call(*CHECK)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3 * 86_400)
    assert "deleted: 0 blocks" in call("ledger", "prune", "draws.ledger", "--older-than", "3.1").stdout
    assert "32k draws" in call("ledger", "prune", "draws.ledger", "--older-than", "2.9").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ledger", "show", "none.ledger"), "none.ledger does not exist: theoryck check PATH --ledger none.ledger makes it"),
        (("ledger", "prune", "none.ledger", "--all"), "does not exist"),
        (("ledger", "show", "ledger_claims.py"), "ledger_claims.py is no ledger of theoryck but another file"),
        (("ledger", "prune", "ledger_claims.py", "--all"), "ledger_claims.py is no ledger of theoryck but another file"),
        ((*CHECK[:-1], "ledger_claims.py"), "ledger_claims.py is no ledger of theoryck but another file"),
        ((*CHECK[:-1], "."), "the ledger . is a folder"),
        (("ledger", "prune", "ledger_claims.py"), "say what to delete: --stale, --claim GLOB, --older-than DAYS"),
        (("ledger", "prune", "ledger_claims.py", "--all", "--stale"), "say what to delete"),
    ],
)
def test_what_cannot_be_used_is_said_with_status_2(folder, arguments, message):
    before = (folder / "ledger_claims.py").read_bytes()
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert (folder / "ledger_claims.py").read_bytes() == before
    assert not [*folder.glob("*ledger"), *folder.glob("*-*")]


def test_what_is_not_kept_is_told(folder):
    source = folder / "ledger_claims.py"
    head = "@tc.quantity\ndef precise(rng, draws, *, d"
    source.write_text(CLAIMS.replace(head, f"STATE = iter([1])\n\n\n{head}").replace("0.1 *", "0.1 * bool(STATE) *"))
    assert "not kept" not in call(*CHECK).stderr  # the source says how the global is made
    source.write_text(CLAIMS.replace(head, f"{head}, state=iter([1])"))
    sys.modules.pop("ledger_claims", None)
    result = call(*CHECK)
    assert "0 drawn and kept\n  not kept: precise: a default of the function 'precise'" in result.stderr


@pytest.mark.parametrize("words", [("check", "--help"), ("ledger", "--help")])
def test_help_says_what_the_ledger_does_not_see(words):
    said = " ".join(call(*words).output.split())
    assert "declare version=" in said
    assert "environment variables" in said


@pytest.mark.parametrize("words", [["ledger", "show"], ["ledger", "prune", "--all"], ["check", "no-claims.py", "--ledger"]])
def test_no_json_is_written_over_the_ledger(tmp_path, words):
    path = tmp_path / "draws.ledger"
    Ledger(path).close()
    before = path.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(path)
    for target in (path, link):
        outcome = CliRunner().invoke(main, [*words, str(path), "--json", str(target)])
        assert outcome.exit_code == 2
        assert "would be overwritten" in outcome.output
        assert path.read_bytes() == before


def test_what_a_ledger_says_steers_no_terminal(tmp_path, monkeypatch):
    """A ledger is a file that may come from somebody else: its names are spelt out, not obeyed."""
    path = tmp_path / "its.ledger"
    with Ledger(path):
        pass
    named = "a/\x1b[8m\u202e"
    entry = Entry(named, named, {"n": named}, 0, "1", "stale", named, 1, 1, 8, 64, 0.0, ())
    monkeypatch.setattr(Ledger, "entries", lambda self: [entry])
    result = CliRunner().invoke(main, ["ledger", "show", str(path)], color=True)
    assert result.exit_code == 0, result.output
    assert all(line.isprintable() for line in result.output.splitlines())
    assert result.output.count(r"a/\x1b[8m\u202e") == 4  # claim, quantity, instance and why it is stale
