"""The options: declared, and refused where they cannot be met, before anything is measured."""

from __future__ import annotations

import argparse

import pytest

from theoryck.pytest_plugin.state import STATE, State, is_xdist_worker


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--theoryck-*`` options."""
    group = parser.getgroup("theoryck", "claims about high-dimensional learning (theoryck)")
    group.addoption(
        "--theoryck-profile",
        type=_profile,
        metavar="NAME",
        default="quick",
        help="budgets and error rates: quick (about 10 s a claim), standard (2 min), thorough (20 min); default quick",
    )
    group.addoption("--theoryck-seed", type=int, default=0, metavar="N", help="seed of every draw; default 0")
    group.addoption("--theoryck-workers", type=int, metavar="N", help="worker processes; the results do not depend on it")
    group.addoption(
        "--theoryck-cluster", metavar="ADDRESS|FILE|local:N", help="draw on a Dask cluster, as theoryck check --cluster"
    )
    group.addoption("--theoryck-draws", type=int, metavar="N", help="draws per size, instead of the profile's budget")
    group.addoption("--theoryck-only", metavar="GLOB", help="check only the claims whose id matches, such as 'camilli2025/*'")
    group.addoption("--theoryck-strict", action="store_true", help="a claim that is undecided fails, under every profile")
    group.addoption("--theoryck-json", metavar="FILE", help="write the report of all claims to FILE")
    group.addoption("--theoryck-html", metavar="FILE", help="write one page with everything about all claims to FILE")
    group.addoption("--theoryck-histograms", metavar="FOLDER", help="draw every Law that was measured into FOLDER, as SVG")
    group.addoption(
        "--ledger",
        dest="theoryck_ledger",
        metavar="FILE",
        help="keep every block of draws in FILE and reuse what it holds; off by default: runs are independent",
    )


def _profile(name: str) -> str:
    from theoryck.checking.profiles import profile_named

    try:
        return profile_named(name).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def pytest_configure(config: pytest.Config) -> None:
    """Refuse bad options before anything is measured."""
    from theoryck.pytest_plugin.ending import Listener

    state = config.stash[STATE] = State()
    if not is_xdist_worker(config):
        config.pluginmanager.register(Listener(config, state), "theoryck-listener")
    for name, least in (("seed", 0), ("workers", 1), ("draws", 2)):
        value = config.getoption(f"theoryck_{name}")
        if value is not None and value < least:
            raise pytest.UsageError(f"--theoryck-{name} must be at least {least}, got {value}")
    if config.getoption("theoryck_cluster") is not None and config.getoption("theoryck_workers") is not None:
        raise pytest.UsageError("--theoryck-workers and --theoryck-cluster say both where to draw: leave one out")
    _check_files(config)
    folder = config.getoption("theoryck_histograms")
    if folder is not None and not config.getoption("collectonly"):
        from theoryck.report.plots import PlotError, folder_for_laws

        try:
            folder_for_laws(folder)
        except PlotError as error:
            raise pytest.UsageError(f"--theoryck-histograms: {error}") from error
    _open_ledger(config)


def _check_files(config: pytest.Config) -> None:
    """Refuse a file that cannot be written, or would overwrite what is read or what another option writes."""
    outputs = {f"--theoryck-{kind}": config.getoption(f"theoryck_{kind}") for kind in ("json", "html")}
    for option, other in (
        ("--theoryck-json", "theoryck check PATH --json -"),
        ("--theoryck-html", "theoryck report FILE --html -"),
    ):
        if outputs[option] == "-":
            raise pytest.UsageError(f"{option} needs a file; for {option[-4:].upper()} on standard output use: {other}")
    if not any(path is not None for path in outputs.values()):
        return
    from theoryck.report.json import ReportFileError
    from theoryck.report.targets import check_targets

    read = [("ledger that is read", config.getoption("theoryck_ledger"))]
    read += [("file that pytest reads", argument.partition("::")[0]) for argument in config.args]
    read += [("file of --junitxml", config.getoption("xmlpath", None))]
    try:
        check_targets(outputs, read)
    except ReportFileError as error:
        raise pytest.UsageError(str(error)) from error


def _open_ledger(config: pytest.Config) -> None:
    """Open the ledger that was asked for; one that cannot be used is refused before anything is measured."""
    path = config.getoption("theoryck_ledger")
    if path == "":
        raise pytest.UsageError("--ledger needs the name of a file, such as draws.ledger; got an empty text")
    if path is None or config.getoption("collectonly"):
        return
    from theoryck.ledger import Ledger, LedgerError

    state = config.stash[STATE]
    config.add_cleanup(state.exits.close)
    try:
        state.ledger = state.exits.enter_context(Ledger(path))
    except LedgerError as error:
        raise pytest.UsageError(f"--ledger: {error}") from error
    except OSError as error:
        from theoryck.report.targets import reason

        raise pytest.UsageError(f"--ledger cannot be used: {reason(error)}; name a file such as draws.ledger") from error
