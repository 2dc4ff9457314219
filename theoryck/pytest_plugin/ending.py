"""What is said and written: letters and words of outcomes, results that travel between processes, files, the table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from theoryck.pytest_plugin.items import ClaimItem
from theoryck.pytest_plugin.live import Live
from theoryck.pytest_plugin.state import STATE, State, is_xdist_worker, width

if TYPE_CHECKING:
    from theoryck.records import Report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the results travel with the report, as text, to the process that prints the table."""
    report = yield
    if isinstance(item, ClaimItem) and call.when == "call" and item.results:
        report.theoryck = _carried(item)  # type: ignore[attr-defined]  # a report keeps what is set on it, between processes too
    return report


def _carried(item: ClaimItem) -> dict[str, Any]:
    """What a report carries; the first of a process also says which claims there are."""
    from theoryck.claims.claim import written_about

    state = item.config.stash[STATE]
    about, folders = written_about([item.claim])
    carried: dict[str, Any] = {
        "index": item.index,
        "undecided": any(result.verdict.value == "INCONCLUSIVE" for result in item.results),
        "results": json.dumps([result.to_json() for result in item.results]),
        "about": json.dumps([[each.to_json(), folders.get(each.folder, "")] for each in about]),
    }
    if not state.introduced:
        carried |= {"selected": dict(state.selected), "chosen": state.chosen}
        state.introduced = True
    return carried


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give an undecided claim that passes its own letter and word."""
    carried = getattr(report, "theoryck", None)
    if carried and carried["undecided"] and report.when == "call" and report.passed:
        return "inconclusive", "i", ("INCONCLUSIVE", {"yellow": True})
    return None


class Listener:
    """Keeps what every report carries, be it from this process or from another one, and shows how far the others are."""

    def __init__(self, config: pytest.Config, state: State) -> None:
        self.config = config
        self.state = state

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Take in a report; pytest writes about it between the line of progress and the next one."""
        self._erase()
        yield
        carried = getattr(report, "theoryck", None)
        if carried:
            self.state.carried[carried["index"]] = carried
            if "selected" in carried:
                self.state.selected, self.state.chosen = carried["selected"], carried["chosen"]
        if hasattr(report, "node"):
            self._show(done=carried)

    def _show(self, done: Mapping[str, Any] | None) -> None:
        """Count what other processes have done; what they are doing now is not known here."""
        live = self.state.live
        if live is None and self.state.selected:
            live = self.state.live = Live(self.config, len(self.state.selected))
        if live is not None and live.state is not None:
            if done:
                live.state.see({"event": "claim", "claim": ""})
            live.show()

    def _erase(self) -> None:
        if self.state.live is not None:
            self.state.live.erase()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Take the line of progress back before pytest writes."""
        self._erase()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Take the line of progress back before pytest writes."""
        self._erase()

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what another process took from the ledger and gave to it to the count of this one."""
        self._erase()
        output = getattr(node, "workeroutput", {}).get("theoryck_ledger")
        if self.state.ledger is not None and output is not None:
            self.state.ledger.reused += output["reused"]
            self.state.ledger.stored += output["stored"]
            self.state.ledger.refusals += [text for text in output["refusals"] if text not in self.state.ledger.refusals]


def _report(config: pytest.Config) -> Report:
    from theoryck import __version__
    from theoryck.records import About, Report, Result, gathered

    state = config.stash[STATE]
    carried = [state.carried[index] for index in sorted(state.carried)]
    results = tuple(Result.from_json(data) for each in carried for data in json.loads(each["results"]))
    carried_about = [(About.from_json(about), text) for each in carried for about, text in json.loads(each["about"])]
    about, folders = gathered(carried_about)
    profile, seed = config.getoption("theoryck_profile"), config.getoption("theoryck_seed")
    strict = config.getoption("theoryck_strict")
    return Report(profile, seed, results, __version__, state.interrupted, about, folders, strict)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Stop the workers and write the files that were asked for; a second Ctrl-C does not stop that."""
    from theoryck.checking.interrupts import finishing

    with finishing(lambda text: print(f"theoryck: {text}", file=sys.__stderr__, flush=True)):
        _finish(session, exitstatus)


def _finish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    state = config.stash[STATE]
    state.exits.close()
    state.interrupted = exitstatus == pytest.ExitCode.INTERRUPTED or bool(session.shouldstop or session.shouldfail)
    if is_xdist_worker(config):
        if state.ledger is not None:
            ledger = state.ledger
            counted = {"reused": ledger.reused, "stored": ledger.stored, "refusals": list(ledger.refusals)}
            config.workeroutput["theoryck_ledger"] = counted  # type: ignore[attr-defined]  # made by xdist
        return
    if not config.getoption("collectonly") and not _write_files(config):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def _write_files(config: pytest.Config) -> bool:
    """Write the files that were asked for, and keep what is to be said about them; return whether all could be written."""
    written = config.stash[STATE].written
    wanted = {kind: config.getoption(f"theoryck_{kind}") for kind in ("json", "html", "histograms")}
    if not any(wanted.values()):
        return True
    from theoryck.report.json import ReportFileError
    from theoryck.report.plots import PlotError

    report, well = _report(config), True
    for kind, path in wanted.items():
        if path is None:
            continue
        try:
            written.append(_write(kind, report, path))
        except (ReportFileError, PlotError) as error:
            written.append(f"ERROR: --theoryck-{kind}: {error}")
            well = False
    return well


def _write(kind: str, report: Report, path: str) -> str:
    if kind == "json":
        from theoryck.report.json import write_json

        write_json(report, path)
        return f"report written to {path}"
    if kind == "html":
        from theoryck.report.html import write_html

        write_html(report, path)
        return f"page written to {path}"
    from theoryck.report.plots import draw_laws

    return draw_laws(report, Path(path))


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Print the table of claims, if any were judged, and what would go on; failing ones have had their paragraphs above."""
    state = config.stash[STATE]
    if not state.carried and not (state.interrupted and state.selected and not config.getoption("collectonly")):
        return
    from theoryck.report.layout import Style
    from theoryck.report.text import render

    style = Style(width(config), bool(terminalreporter.hasmarkup))
    terminalreporter.section("theoryck")
    report = _report(config)
    terminalreporter.write_line(render(report, style, verbose=config.get_verbosity() > 0, paragraphs=False))
    if state.ledger is not None and (state.ledger.reused or state.ledger.stored or state.ledger.refusals):
        terminalreporter.write_line(state.ledger.summary())
    for line in state.written:
        terminalreporter.write_line(line)
    if state.interrupted:
        terminalreporter.write_line(_what_goes_on(config, {result.claim for result in report.results}))


def _shorter(path: str) -> str:
    """A path from here, where it is inside: without arguments pytest names its folder in full."""
    return os.path.relpath(path) if Path(path).resolve().is_relative_to(Path.cwd()) else path


def _what_goes_on(config: pytest.Config, judged: set[str]) -> str:
    """The command that checks the claims that are left as this session would have: with its share of the error rates."""
    from theoryck.report.layout import Style
    from theoryck.report.progress import advice

    selected = config.stash[STATE].selected
    left = [claim for claim in selected if claim not in judged]
    chosen = config.stash[STATE].chosen or any("::" in argument for argument in config.args)
    paths = [*dict.fromkeys(selected[claim] for claim in left)] if chosen else [_shorter(path) for path in config.args]
    options = {name: config.getoption(f"theoryck_{name}") for name in ("profile", "seed", "workers", "cluster", "draws", "ledger")}
    settings = {f"--{name}": value for name, value in options.items()} | {"--sharing": len(selected)}
    return advice(left, [claim for claim in selected if claim in judged], paths, settings, Style(width(config)), chosen=chosen)
