"""On a terminal: progress is shown while it lasts and gone at the end; Ctrl-C prints what was judged and what would go on."""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest

from tests.waiting import HANG

PIECES = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|(\r)|(\n)|(\x08)|([^\x1b\r\n\x08])")


@pytest.fixture(autouse=True)
def _signals_are_heard():
    """Hear Ctrl-C in programs started here: a shell lets those in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def on_terminal(argv, folder, *, interrupt_at=None, signals=(signal.SIGINT,), **environment):
    """Run a program in a terminal of 100 columns, and return what it wrote and its exit status.

    The ``signals`` go to it and all its children, as Ctrl-C does, once ``interrupt_at`` was written.
    """
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    variables |= {"TERM": "xterm", "COLUMNS": "100", "OPENBLAS_NUM_THREADS": "1", **environment}
    with subprocess.Popen(
        argv, cwd=folder, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        written, waiting, end = b"", interrupt_at is not None, time.monotonic() + HANG
        while True:
            if time.monotonic() > end:
                process.kill()
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    data = os.read(ours, 65536)
                except OSError:  # the program has closed its end
                    break
                if not data:
                    break
                written += data
            if waiting and interrupt_at.encode() in written:
                for number in signals:
                    os.killpg(process.pid, number)
                    time.sleep(0.05)
                waiting = False
    os.close(ours)
    return written.decode(), process.returncode


def screen(written):
    """Return the lines that are left on an endless screen, as a terminal would show them.

    >>> screen("ab\\x1b[K gone\\x1b[5Dc\\x1b[K\\r\\nd")
    ['abc', 'd']
    """
    lines, column = [[]], 0
    for number, letter, back, new, backspace, text in PIECES.findall(written):
        if letter == "K":
            del lines[-1][column:]
        elif letter == "D":
            column = max(column - int(number or 1), 0)
        elif back:
            column = 0
        elif new:
            lines.append([])
            column = 0
        elif backspace:
            column = max(column - 1, 0)
        elif text:
            lines[-1] += [" "] * (column - len(lines[-1]))
            lines[-1][column : column + 1] = text
            column += 1
    return ["".join(line).rstrip() for line in lines]


SLOW = '''

@tc.quantity
def slow(rng, draws, *, d):
    import os, time

    time.sleep(float(os.environ.get("TOY_SLEEP", "0")))
    return (1 + 0.1 * rng.standard_normal(draws)) / d


@tc.theorem("toy/slow")
def slowly():
    """Q = O(1/d), slowly"""
    return tc.Bound(slow, rate="1/d", along=PATH)
'''
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--theoryck-draws", "2000", "--theoryck-workers", "1")
TAPS_COUNT_ONCE = "from theoryck.checking import interrupts\ninterrupts.DOUBLE_TAP = 1e9\n"  # however slowly they are heard
CHECK = (sys.executable, "-c", TAPS_COUNT_ONCE + "from theoryck.cli import main; main(prog_name='theoryck')", "check")


@pytest.fixture
def slow_project(project):
    head = project.claims("supported", "refuted").read_text().partition("@tc.theorem")[0]
    (project.path / "proofs/toy/later.py").write_text(head + SLOW)
    (project.path / "conftest.py").write_text(TAPS_COUNT_ONCE)
    return project


def advised(lines):
    """The command that is said to go on, as words."""
    (command,) = [line for line in lines if line.startswith("  theoryck check")]
    return shlex.split(command)


@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]], ids=["double tap", "SIGTERM"])
def test_ctrl_c_under_pytest(slow_project, signals):
    words = ["proofs/toy/results.py", "proofs/toy/later.py", "--theoryck-json", "r.json", "--theoryck-html", "r.html"]
    written, status = on_terminal(
        [*PYTEST, *words], slow_project.path, interrupt_at="3/3 toy/slow", signals=signals, TOY_SLEEP="60"
    )
    assert status == pytest.ExitCode.INTERRUPTED, written
    assert "1/3 toy/supported: exponent -" in written
    lines = screen(written)
    text = "\n".join(lines)
    assert "proofs/toy/results.py .F" in text
    assert "3/3" not in text  # the line of progress is gone
    assert "  SUPPORTED   supported" in text
    assert "! REFUTED     refuted" in text, text
    assert "Interrupted with 1 of 3 claims to go. To check it:" in lines
    paths = ["proofs/toy/results.py", "proofs/toy/later.py"]
    options = ["--profile", "quick", "--seed", "0", "--workers", "1", "--draws", "2000", "--sharing", "3"]
    assert advised(lines) == ["theoryck", "check", *paths, "--only", "toy/slow", *options]
    report = json.loads((slow_project.path / "r.json").read_text())
    assert report["summary"]["interrupted"]
    assert [about["claim"] for about in report["about"]] == ["toy/supported", "toy/refuted"]
    assert "toy/refuted" in (slow_project.path / "r.html").read_text()


def test_ctrl_c_under_check_and_the_command_that_goes_on(slow_project):
    words = ["proofs", "--workers", "1", "--draws", "2000", "--html", "r.html", "--only", "toy/s*"]
    (slow_project.path / "proofs/toy/later.py").rename(slow_project.path / "proofs/toy/a_first.py")
    written, status = on_terminal([*CHECK, *words], slow_project.path, interrupt_at="1/2 toy/slow", TOY_SLEEP="60")
    assert status == 130, written
    lines = screen(written)
    assert "1/2" not in "\n".join(lines)
    assert "Interrupted before any claim was judged." in lines
    assert "Interrupted with 2 of 2 claims to go. To check them:" in lines
    command = advised(lines)
    assert command[3:7] == ["--only", "toy/slow", "--only", "toy/supported"]
    assert (slow_project.path / "r.html").exists()
    again, status = on_terminal([*CHECK, *command[2:]], slow_project.path)
    assert status == 0, again
    assert "2/2 toy/supported: exponent -" in again
    assert "2 claims, 2 instances: 2 supported (profile quick, seed 0)." in screen(again)


@pytest.mark.parametrize(
    ("arguments", "terminal", "name", "shown"),
    [
        ([], True, "xterm", True),
        (["-v"], True, "xterm", True),
        (["-q"], True, "xterm", True),
        ([], False, "xterm", False),
        ([], True, "dumb", False),
        (["-s"], True, "xterm", False),
        (["-p", "no:terminal"], True, "xterm", False),
        (["-p", "no:capture"], True, "xterm", False),
    ],
)
def test_where_progress_is_shown(project, arguments, terminal, name, shown, monkeypatch):
    from theoryck.pytest_plugin.live import Live

    config = project.pytester.parseconfigure(*arguments)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.isatty = terminal
    monkeypatch.setenv("TERM", name)
    live = Live(config, 3)
    assert live.shown is shown
    live.erase()


class Writer:
    """What pytest's terminal writer offers, on a page that is kept."""

    def __init__(self, fullwidth, line):
        self.fullwidth, self.page = fullwidth, line
        self.width_of_current_line = len(line)

    def write_raw(self, text, *, flush=False):
        self.page += text


@pytest.mark.parametrize("line", ["", "proofs/a.py ..F", "x" * 70, "x" * 79, "x" * 90])
def test_the_line_stands_behind_what_pytest_wrote_and_leaves_no_trace(line, pytester, monkeypatch):
    from theoryck.pytest_plugin import live

    monkeypatch.setattr(live, "_can_be_shown", lambda config: True)
    shown = live.Live(pytester.parseconfigure(), 3)
    shown.capture, shown.writer = None, Writer(80, line)
    told = {"claim": "paper/claim", "instance": {}, "number": 1, "instances": 1, "draws": 5, "exponent": None, "fraction": 0.1}
    shown({"event": "instance", **told, "draws": 0})
    shown({"event": "look", **told})
    assert ("5 draws" in shown.writer.page) == (80 - len(line) % 80 > 20)
    (page,) = screen(shown.writer.page)
    assert len(page) <= max(len(line), 79 + 80 * (len(line) // 80))
    shown.show("12/275 claims")
    assert ("12/275 claims" in shown.writer.page) == (80 - len(line) % 80 > 18)
    shown.erase()
    assert screen(shown.writer.page + ".") == [line + "."]
