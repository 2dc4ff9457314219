"""Claims as test items: ``pytest proofs`` measures, judges and prints the table.

Loaded by every pytest run on a machine that has theoryck, so only pytest and the standard library are imported here; the rest
comes with the first claim.  A claim fails when it is REFUTED or VACUOUS (a falsehood when it is not REFUTED); INCONCLUSIVE
has its own letter and passes, except under a profile that forbids it (thorough).

An item is decided when it ends, so each claim keeps its equal share of the session's false-refute rate (Bonferroni); ``theoryck
check`` steps down as Holm does once all claims are measured.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Generator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from theoryck.check import Session
    from theoryck.claims import Claim
    from theoryck.ledger import Ledger
    from theoryck.records import Report, Result


@dataclass
class _State:
    """What this process knows: the claims met at collection, the session that measures them, and what reports said."""

    claims: dict[str, tuple[Claim, str]] = field(default_factory=dict)
    session: Session | None = None
    ledger: Ledger | None = None
    selected: int = 1
    exits: ExitStack = field(default_factory=ExitStack)
    results: dict[int, list[Any]] = field(default_factory=dict)
    interrupted: bool = False
    written: str = ""


_STATE = pytest.StashKey[_State]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--theoryck-*`` options."""
    group = parser.getgroup("theoryck", "claims about high-dimensional learning (theoryck)")
    group.addoption(
        "--theoryck-profile",
        choices=("quick", "standard", "thorough"),
        default="quick",
        help="budgets and error rates: quick (about 10 s a claim), standard (2 min), thorough (20 min); default quick",
    )
    group.addoption("--theoryck-seed", type=int, default=0, metavar="N", help="seed of every draw; default 0")
    group.addoption("--theoryck-workers", type=int, metavar="N", help="worker processes; the results do not depend on it")
    group.addoption("--theoryck-draws", type=int, metavar="N", help="draws per size, instead of the profile's budget")
    group.addoption("--theoryck-only", metavar="GLOB", help="check only the claims whose id matches, such as 'camilli2025/*'")
    group.addoption("--theoryck-json", metavar="FILE", help="write the report of all claims to FILE")
    group.addoption(
        "--ledger",
        dest="theoryck_ledger",
        metavar="FILE",
        help="keep every block of draws in FILE and reuse what it holds; off by default: runs are independent",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse bad options before anything is measured."""
    config.stash[_STATE] = _State()
    if not _is_xdist_worker(config):
        config.pluginmanager.register(_Listener(config.stash[_STATE]), "theoryck-listener")
    for name, least in (("seed", 0), ("workers", 1), ("draws", 2)):
        value = config.getoption(f"theoryck_{name}")
        if value is not None and value < least:
            raise pytest.UsageError(f"--theoryck-{name} must be at least {least}, got {value}")
    path = config.getoption("theoryck_json")
    if path == "-":
        raise pytest.UsageError("--theoryck-json needs a file; for JSON on standard output use: theoryck check PATH --json -")
    if path is not None:
        from theoryck.report.json import ReportFileError, check_writable

        try:
            check_writable(path)
        except ReportFileError as error:
            raise pytest.UsageError(f"--theoryck-json: {error}") from error
    _open_ledger(config)


def _open_ledger(config: pytest.Config) -> None:
    """Open the ledger that was asked for; one that cannot be used is refused before anything is measured."""
    path = config.getoption("theoryck_ledger")
    if path is None or config.getoption("collectonly"):
        return
    from theoryck.ledger import Ledger, LedgerError

    state = config.stash[_STATE]
    config.add_cleanup(state.exits.close)
    try:
        state.ledger = state.exits.enter_context(Ledger(path))
    except LedgerError as error:
        raise pytest.UsageError(f"--ledger: {error}") from error


# Collection ------------------------------------------------------------------------------------------------------------------


def _holds_claims_only(path: Path, config: pytest.Config) -> bool:
    """Whether a file is collected for its claims alone: under ``proofs``, no test module by its name, and it mentions theoryck."""
    if path.suffix != ".py" or not _in_proofs(path, config):
        return False
    from theoryck.collecting import is_test_file, may_hold_claims

    return not is_test_file(path, config.getini("python_files")) and may_hold_claims(path)


def _in_proofs(path: Path, config: pytest.Config) -> bool:
    root = config.rootpath
    if not path.is_relative_to(root):
        return "proofs" in path.parts[:-1]
    # Folders above the root count only where no configuration file says that a project starts here.
    above = root.parts[-1:] if config.inipath else root.parts[-2:]
    return "proofs" in (*above, *path.relative_to(root).parts[:-1])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the files under ``proofs`` that pytest itself passes over."""
    if parent.session.isinitpath(file_path) or not _holds_claims_only(file_path, parent.config):
        return None
    module: ClaimModule = ClaimModule.from_parent(parent, path=file_path)
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect a file under ``proofs`` that was named on the command line for its claims alone, too."""
    if not _holds_claims_only(module_path, parent.config):
        return None
    module: ClaimModule = ClaimModule.from_parent(parent, path=module_path)
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[ClaimItem] | None:
    """Turn a claim, wherever pytest meets one, into a test item."""
    if getattr(type(obj), "__theoryck_claim__", False) is not True:
        return None
    item = _make_item(collector, name, obj)
    return [item] if item is not None else []


class ClaimModule(pytest.Module):
    """A file under ``proofs``: only its claims are collected, whatever its other functions are called."""

    def collect(self) -> Iterable[ClaimItem]:
        """Return the file's claims in the order written."""
        items = []
        for name, obj in list(vars(self.obj).items()):
            if getattr(type(obj), "__theoryck_claim__", False) is True:
                item = _make_item(self, name, obj)
                if item is not None:
                    items.append(item)
        return items


def _make_item(collector: pytest.Collector, name: str, claim: Any) -> ClaimItem | None:
    from theoryck.collecting import CollectionError, belongs, build_once, place

    if not belongs(claim, collector.path):
        return None
    known = collector.config.stash[_STATE].claims
    where = f"{collector.nodeid}::{name}"
    other, other_where = known.setdefault(claim.id, (claim, where))
    if other_where != where:
        if other is claim or place(other) == place(claim):
            return None  # the same claim under a second name, or imported a second time
        raise collector.CollectError(
            f"two claims are called {claim.id!r}: at {place(other)} and at {place(claim)}; rename one of them"
        )
    try:
        build_once(claim)
    except CollectionError as error:
        raise collector.CollectError(str(error)) from error
    item: ClaimItem = ClaimItem.from_parent(collector, name=name, claim=claim)
    return item


# Running ---------------------------------------------------------------------------------------------------------------------


class ClaimFailed(Exception):
    """A claim that is not as declared; carries its failing results, worst first."""

    def __init__(self, failing: list[Result]) -> None:
        super().__init__(", ".join(result.verdict.value for result in failing))
        self.failing = failing


class ClaimItem(pytest.Item):
    """One claim: all its instances are measured and judged when it runs."""

    def __init__(self, *, claim: Claim, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.claim = claim
        self.results: list[Result] = []
        self.index = 0
        self.extra_keyword_matches.add(claim.id)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the claim is and what it is called."""
        return Path(self.claim.path), self.claim.line - 1, self.claim.id

    def runtest(self) -> None:
        """Measure and judge every instance; raise ClaimFailed where one is not as declared."""
        from theoryck.check import check_claim, failed_result

        session = _session(self.config)
        try:
            self.results = check_claim(self.claim, session)
        except Exception as error:
            if _came_from_ctrl_c(error):
                raise KeyboardInterrupt from error
            self.results = [failed_result(self.claim, session, error)]
            self._add_properties()
            raise
        self._add_properties()
        failing = _failing(self.results, session)
        if failing:
            raise ClaimFailed(failing)

    def _add_properties(self) -> None:
        from theoryck.report.claims import ClaimSummary

        worst = ClaimSummary(self.claim.id, tuple(self.results)).worst
        properties: list[tuple[str, object]] = [("claim", self.claim.id), ("verdict", worst.verdict.value)]
        if worst.tightness is not None:
            properties.append(("tightness", worst.tightness.value))
        if worst.exponent is not None:
            properties.append(("exponent", worst.exponent.estimate))
        self.user_properties.extend(properties)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a paragraph per failing result; another exception shows a short traceback that starts in the claim's file."""
        if isinstance(excinfo.value, ClaimFailed):
            from theoryck.report.layout import Style
            from theoryck.report.text import claim_failure

            style = Style(_width(self.config))
            verbose = self.config.get_verbosity() > 0
            most = len(excinfo.value.failing) if verbose else 3
            return "\n\n".join(claim_failure(excinfo.value.failing, style, most=most))
        return self._repr_failure_py(excinfo, style="short")

    def _traceback_filter(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
        """Start in the claim's file; where the error never came there, after pytest's frames and this file's."""
        ours = excinfo.traceback.cut(path=self.claim.path)
        if len(ours) < len(excinfo.traceback):
            return ours
        return excinfo.traceback.cut(path=__file__)[1:] or excinfo.traceback


def _came_from_ctrl_c(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: a compiled callback turns KeyboardInterrupt into SystemError."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


def _failing(results: list[Result], session: Session) -> list[Result]:
    from theoryck.profiles import profile_named
    from theoryck.report.claims import Outcome, outcome, severity

    strict = profile_named(session.profile).inconclusive_fails
    bad = {Outcome.FAILED, Outcome.UNDECIDED} if strict else {Outcome.FAILED}
    return sorted((result for result in results if outcome(result) in bad), key=severity)


def _session(config: pytest.Config) -> Session:
    """Return the one session of this process; its workers stop at the end."""
    state = config.stash[_STATE]
    if state.session is None:
        from theoryck.check import Session

        workers = config.getoption("theoryck_workers")
        if workers is None and _is_xdist_worker(config):
            workers = 1
        state.session = state.exits.enter_context(
            Session(
                profile=config.getoption("theoryck_profile"),
                seed=config.getoption("theoryck_seed"),
                claims=state.selected,
                workers=workers,
                draws=config.getoption("theoryck_draws"),
                ledger=state.ledger,
            )
        )
    return state.session


def _is_xdist_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the claims that ``--theoryck-only`` does not name."""
    pattern = config.getoption("theoryck_only")
    if pattern is None:
        return
    claims = [item for item in items if isinstance(item, ClaimItem)]
    dropped = {item for item in claims if not fnmatch.fnmatchcase(item.claim.id, pattern)}
    if claims and len(dropped) == len(claims) and not _is_xdist_worker(config):
        from theoryck.collecting import no_claim_called

        raise pytest.UsageError(f"--theoryck-only: {no_claim_called(pattern, [item.claim for item in claims])}")
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the selected claims: the session's error rate is divided over them."""
    claims = [item for item in session.items if isinstance(item, ClaimItem)]
    for index, item in enumerate(claims):
        item.index = index
    session.config.stash[_STATE].selected = max(1, len(claims))
    if claims and not session.config.getoption("collectonly") and not _is_xdist_worker(session.config):
        _say_what_is_hopeless(session.config, [item.claim for item in claims])


def _say_what_is_hopeless(config: pytest.Config, claims: list[Claim]) -> None:
    """Print a line for each claim that the budget cannot settle, before anything is drawn; no claim fails by it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.getoption("theoryck_draws") is not None:
        return
    from theoryck.check import Session
    from theoryck.montecarlo import SerialExecutor
    from theoryck.prospects import hopeless

    options = {name: config.getoption(f"theoryck_{name}") for name in ("profile", "seed")}
    for line in hopeless(claims, Session(executor=SerialExecutor(), claims=len(claims), **options)):
        reporter.write_line(f"theoryck: {line}")


# Reporting -------------------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the results travel with the report, as text, to the process that prints the table."""
    report = yield
    if isinstance(item, ClaimItem) and call.when == "call" and item.results:
        undecided = any(result.verdict.value == "INCONCLUSIVE" for result in item.results)
        results = json.dumps([result.to_json() for result in item.results])
        carried = {"index": item.index, "undecided": undecided, "results": results}
        report.theoryck = carried  # type: ignore[attr-defined]  # a report keeps what is set on it, between processes too
    return report


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give an undecided claim that passes its own letter and word."""
    carried = getattr(report, "theoryck", None)
    if carried and carried["undecided"] and report.when == "call" and report.passed:
        return "inconclusive", "i", ("INCONCLUSIVE", {"yellow": True})
    return None


class _Listener:
    """Keeps the results of every report, be it from this process or from another one."""

    def __init__(self, state: _State) -> None:
        self.state = state

    def pytest_runtest_logreport(self, report: Any) -> None:
        carried = getattr(report, "theoryck", None)
        if carried:
            self.state.results[carried["index"]] = json.loads(carried["results"])


def _report(config: pytest.Config) -> Report:
    from theoryck import __version__
    from theoryck.records import Report, Result

    state = config.stash[_STATE]
    results = tuple(Result.from_json(data) for index in sorted(state.results) for data in state.results[index])
    profile, seed = config.getoption("theoryck_profile"), config.getoption("theoryck_seed")
    return Report(profile, seed, results, __version__, state.interrupted)


def _stopped_early(session: pytest.Session, exitstatus: int) -> bool:
    return exitstatus == pytest.ExitCode.INTERRUPTED or bool(session.shouldstop or session.shouldfail)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Stop the workers and write the JSON report."""
    config = session.config
    state = config.stash[_STATE]
    state.exits.close()
    state.interrupted = _stopped_early(session, exitstatus)
    path = config.getoption("theoryck_json")
    if path is not None and not _is_xdist_worker(config) and not config.getoption("collectonly"):
        from theoryck.report.json import ReportFileError, write_json

        try:
            write_json(_report(config), path)
            state.written = f"report written to {path}"
        except ReportFileError as error:
            state.written = f"ERROR: {error}"
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Print the table of claims, if any were judged; failing ones have had their paragraphs above."""
    if not config.stash[_STATE].results:
        return
    from theoryck.report.layout import Style
    from theoryck.report.text import render

    report = _report(config)
    style = Style(_width(config), bool(terminalreporter.hasmarkup))
    terminalreporter.section("theoryck")
    terminalreporter.write_line(render(report, style, verbose=config.get_verbosity() > 0, paragraphs=False))
    state = config.stash[_STATE]
    if state.ledger is not None and (state.ledger.reused or state.ledger.stored or state.ledger.refusals):
        terminalreporter.write_line(state.ledger.summary())
    if state.written:
        terminalreporter.write_line(state.written)


def _width(config: pytest.Config) -> int:
    """The terminal's width up to that of the table; a log file gets the table's own unless COLUMNS says otherwise."""
    import sys

    from theoryck.report.layout import style_for

    return style_for(sys.__stdout__ or sys.stdout).width
