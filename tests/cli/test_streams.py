"""The program in surroundings that refuse: closed and full streams, other encodings, Ctrl-C and SIGTERM at any moment."""

import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import theoryck.checking.check
import theoryck.checking.prospects
from tests.waiting import HANG
from theoryck.checking import interrupts
from theoryck.checking.interrupts import came_from_ctrl_c, finishing, once, once_for_good
from theoryck.cli import main
from theoryck.report.json import read_json
from theoryck.report.layout import columns

CLAIMS = '''
import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])
def gap(rng, draws, *, d):
    return rng.random((draws, d)).min(axis=1)


@tc.conjecture("toy/\\u03b1")
def one():
    """E min = O(1/d)"""
    return tc.Bound(gap, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 128)), rivals=["1/d**2"])
'''
THEORYCK = [sys.executable, "-m", "theoryck"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("claims.py").write_text(CLAIMS, encoding="utf-8")
    return tmp_path


def call(*arguments, **options):
    return subprocess.run([*THEORYCK, *arguments], stderr=subprocess.PIPE, timeout=HANG, check=False, **options)


def test_a_full_place_is_said(here):
    with Path("/dev/full").open("w") as full:
        done = call("list", "claims.py", stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "Error: standard output cannot be written: no space left on device; send it to a place that takes it\n"
    )


def test_closed_streams_stop_nobody(here):
    done = call("list", "claims.py", preexec_fn=lambda: (os.close(0), os.close(1)))
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_leaves_is_no_error_and_files_are_written(here):
    reading, writing = os.pipe()
    os.close(reading)
    done = call("check", "claims.py", "--draws", "100", "--json", "r.json", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
    assert json.loads(Path("r.json").read_text())["results"]


def test_what_cannot_be_encoded_is_escaped(here):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = call("list", "claims.py", "--json", stdout=subprocess.PIPE, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["claim"] == "toy/\u03b1"


def test_a_page_in_another_encoding_has_references_to_characters(here):
    assert CliRunner().invoke(main, ["check", "claims.py", "--draws", "100", "--workers", "1", "--json", "r.json"]).exit_code < 2
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = call("report", "r.json", "--html", "-", stdout=subprocess.PIPE, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"toy/&#945;" in done.stdout
    assert b"\\u03b1" not in done.stdout


def test_a_folder_that_is_gone(here, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = call("list", here / "claims.py", stdout=subprocess.PIPE, cwd=gone, preexec_fn=lambda: gone.rmdir())
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr
    if done.returncode == 2:
        assert b"the current folder no longer exists" in done.stderr


def test_what_the_system_refuses_has_no_traceback(here):
    done = CliRunner().invoke(main, ["new", "gap", "a" * 300 + ".py"])
    assert done.exit_code == 2
    assert "file name too long: aaa" in done.output
    assert "(in new.py, line" in done.output


@pytest.fixture(autouse=True)
def _signals_are_heard():
    """Hear signals as a fresh program: a shell lets those in the background ignore Ctrl-C, a session with claims handles both."""
    fresh = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in fresh.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("arguments", [["check", "claims.py"], ["hunt", "x", "claims.py"], ["list", "claims.py"]], ids=" ".join)
def test_ctrl_c_before_anything_was_done_is_130(here, monkeypatch, arguments):
    import theoryck.cli.common

    monkeypatch.setattr(theoryck.cli.common, "collect", interrupted)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 130
    assert "interrupted: nothing was finished" in done.output


@pytest.mark.parametrize("module", [theoryck.checking.prospects, theoryck.checking.check], ids=lambda module: module.__name__)
def test_ctrl_c_at_any_moment_of_a_check_writes_and_says_what_is_left(here, monkeypatch, module):
    monkeypatch.setattr(module, "hopeless" if module is theoryck.checking.prospects else "check_claims", interrupted)
    done = CliRunner().invoke(main, ["check", "claims.py", "--json", "r.json", "--html", "r.html"])
    assert done.exit_code == 130
    assert "Interrupted with 1 of 1 claim to go" in done.output
    written = read_json("r.json")
    assert written.interrupted
    assert written.about[0].claim == "toy/\u03b1"
    assert Path("r.html").exists()


TAPS_COUNT_ONCE = "from theoryck.checking import interrupts; interrupts.DOUBLE_TAP = 1e9; from theoryck.cli import run; run()"


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT] * 2, itertools.repeat(signal.SIGINT), [signal.SIGTERM]],
    ids=["double tap", "taps to its very end", "SIGTERM"],
)
def test_signals_end_a_running_check_with_its_files(here, signals):
    arguments = ["check", "claims.py", "--draws", "1000000000", "--workers", "2", "--json", "r.json", "--html", "r.html"]
    master, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", TAPS_COUNT_ONCE, *arguments], stdout=subprocess.PIPE, stderr=terminal)
    os.close(terminal)
    seen = b""
    while b"draws" not in seen:  # the line of progress says so once it is drawing
        seen += os.read(master, 4096)
    for number in signals:
        if process.poll() is not None:
            break
        process.send_signal(number)
        time.sleep(0.05)
    out, _ = process.communicate(timeout=HANG)
    os.close(master)
    assert process.returncode == 130
    assert b"Interrupted" in out
    assert read_json("r.json").interrupted
    assert Path("r.html").exists()


@pytest.fixture
def clock(monkeypatch):
    """The clock by which a second signal is the first one again; it stands still."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(interrupts, "time", clock)
    return clock


def test_a_second_signal_is_the_first_one_again(clock):
    seen = []
    with once():
        for later in (0.0, 0.9, 0.2):
            clock.now += later
            try:
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                seen.append(clock.now)
    assert seen == [100.0, pytest.approx(101.1)]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_nothing_stops_the_last_steps():
    said = []
    with finishing(said.append):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            signal.raise_signal(number)
    assert said == ["what was judged is being written; this takes a moment"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_compiled_callback_is_no_verdict(here):
    error = SystemError("a callback failed")
    error.__cause__ = KeyboardInterrupt()
    assert came_from_ctrl_c(error)

    import theoryck as tc

    @tc.conjecture("toy/callback")
    def callback():
        """x"""
        raise error

    report = theoryck.checking.check.check_claims(callback)
    assert report.interrupted
    assert report.results == ()


class Narrow:
    def fileno(self):
        return self.terminal

    def isatty(self):
        return True


def test_a_narrow_terminal_is_narrow():
    import fcntl
    import struct
    import termios

    narrow = Narrow()
    master, narrow.terminal = pty.openpty()
    for width, wanted in ((10, 10), (40, 40), (300, 100), (1, 2)):
        fcntl.ioctl(narrow.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        assert columns(narrow) == wanted
    os.close(master)
    os.close(narrow.terminal)


def test_what_is_done_for_good_can_be_undone(clock):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    undo = once_for_good()
    try:
        with once():  # finds the signals handled and leaves them
            handled = signal.getsignal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is handled is not before[signal.SIGTERM]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        clock.now += 0.9
        signal.raise_signal(signal.SIGINT)  # within a second: the first one again
    finally:
        undo()
    assert {number: signal.getsignal(number) for number in before} == before
