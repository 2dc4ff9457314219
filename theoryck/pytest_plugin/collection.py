"""Which files and objects are claims, which of them are selected, and what is said about them before the first draw."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from theoryck.pytest_plugin.items import ClaimItem, session_and_live
from theoryck.pytest_plugin.state import STATE, is_xdist_worker

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim


def _holds_claims_only(path: Path, config: pytest.Config) -> bool:
    """Whether a file is collected for its claims alone: under ``proofs``, no test module by its name, and it mentions theoryck."""
    if path.suffix != ".py" or not _in_proofs(path, config):
        return False
    from theoryck.claims.collecting import is_test_file, may_hold_claims

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
    from theoryck.claims.collecting import CollectionError, belongs, build_once

    if not belongs(claim, collector.path):
        return None
    known = collector.config.stash[STATE].claims
    where = f"{collector.nodeid}::{name}"
    other, other_where = known.setdefault(claim.id, (claim, where))
    if other_where != where:
        if other is claim or other.place == claim.place:
            return None  # the same claim under a second name, or imported a second time
        raise collector.CollectError(
            f"two claims are called {claim.id!r}: at {other.place} and at {claim.place}; rename one of them"
        )
    try:
        build_once(claim)
    except CollectionError as error:
        raise collector.CollectError(str(error)) from error
    item: ClaimItem = ClaimItem.from_parent(collector, name=name, claim=claim)
    return item


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the claims that ``--theoryck-only`` does not name."""
    pattern = config.getoption("theoryck_only")
    if pattern is None:
        return
    claims = [item for item in items if isinstance(item, ClaimItem)]
    # An id may hold the characters of a pattern: the claim that is called so is meant.
    kept = {item for item in claims if item.claim.id == pattern} or {c for c in claims if fnmatch.fnmatchcase(c.claim.id, pattern)}
    dropped = {item for item in claims if item not in kept}
    if claims and len(dropped) == len(claims) and not is_xdist_worker(config):
        from theoryck.claims.collecting import no_claim_called

        raise pytest.UsageError(f"--theoryck-only: {no_claim_called(pattern, [item.claim for item in claims])}")
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Remember that not every claim was asked for."""
    for item in items:
        if isinstance(item, ClaimItem):
            item.config.stash[STATE].chosen = True


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the selected claims, over which the session's error rate is divided, and number them in the order of a book."""
    claims = [item for item in session.items if isinstance(item, ClaimItem)]
    if not claims:
        return
    from theoryck.claims.collecting import as_in_a_book

    for place, item in enumerate(claims):
        item.place = place
    session.config.stash[STATE].order = [item.claim for item in claims]
    for index, item in enumerate(sorted(claims, key=lambda item: as_in_a_book(Path(item.claim.path)))):
        item.index = index
    session.config.stash[STATE].selected = {item.claim.id: os.path.relpath(item.claim.path) for item in claims}
    if not session.config.getoption("collectonly") and not is_xdist_worker(session.config):
        from theoryck.checking.interrupts import once_for_good

        undo = once_for_good()  # what was judged is written when SIGTERM comes, too
        session.config.add_cleanup(lambda: _restore_signals(session.config, undo))
        if session.config.getoption("theoryck_cluster") is not None:
            session_and_live(session.config)  # one that cannot be used is said before anything runs
        _warn_of_hopeless(session.config, [item.claim for item in claims])


def _restore_signals(config: pytest.Config, undo: Callable[[], None]) -> None:
    """Give signals back, unless one of them ends the process: a second one must not meet it on its way out."""
    if not config.stash[STATE].interrupted:
        undo()


def _warn_of_hopeless(config: pytest.Config, claims: list[Claim]) -> None:
    """Print a line for each claim that the budget cannot settle, before anything is drawn; no claim fails by it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.getoption("theoryck_draws") is not None:
        return
    from theoryck.checking.prospects import hopeless
    from theoryck.report.progress import looked_ahead

    session, live = session_and_live(config)
    try:
        live.show(looked_ahead(1, len(claims)))
        for number, lines in enumerate(hopeless(claims, session), 2):
            for line in lines:
                live.erase()
                reporter.write_line(f"theoryck: {line}")
            live.show(looked_ahead(min(number, len(claims)), len(claims)))
    finally:
        live.erase()
