"""What is going on, beside what pytest writes: after the cursor, on the same line, taken back before anything else is written.

Only on a terminal that can take back what was written, and not where output is not captured (``-s``): there the tests write.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from theoryck.report.progress import Progress

LEAST = 16  # columns; below that nothing is shown


class Live:
    """The line of progress; ``claims`` is how many there are in all."""

    def __init__(self, config: pytest.Config, claims: int) -> None:
        self.shown = _can_be_shown(config)
        self.writer: Any = config.get_terminal_writer() if self.shown else None
        self.capture = config.pluginmanager.get_plugin("capturemanager")
        self.written = False
        self.state: Progress | None = None
        if self.shown:
            from theoryck.report.progress import Progress

            self.state = Progress(claims, time.monotonic)

    def __call__(self, look: Mapping[str, Any]) -> None:
        """Take in what the session tells, and show it."""
        if self.state is not None:
            self.state.see(look)
            self.show()

    def show(self, text: str | None = None) -> None:
        """Write the line (or a text) after the cursor and put the cursor back; what does not fit is left out."""
        if self.state is None:
            return
        from theoryck.checking.interrupts import held
        from theoryck.report.layout import cells, shorten

        with held(), self._uncaptured():  # a captured terminal does not tell its width either
            room = self.writer.fullwidth - self.writer.width_of_current_line % self.writer.fullwidth - 2
            line = self.state.line(room) if text is None else shorten(text, room)
            text = line if room >= LEAST else ""
            if text or self.written:
                self.writer.write_raw(f"\x1b[K {text}\x1b[{cells(text) + 1}D" if text else "\x1b[K", flush=True)
                self.written = bool(text)

    def erase(self) -> None:
        """Take back what was written."""
        if self.written:  # where nothing is, the last letter of a full line would be taken back
            from theoryck.checking.interrupts import held

            with held(), self._uncaptured():
                self.writer.write_raw("\x1b[K", flush=True)
                self.written = False

    def _uncaptured(self) -> AbstractContextManager[None]:
        """While a test runs, what is written is captured, the line of progress too."""
        if self.capture is None:
            return nullcontext()
        context: AbstractContextManager[None] = self.capture.global_and_fixture_disabled()
        return context


def _can_be_shown(config: pytest.Config) -> bool:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not getattr(reporter, "isatty", False) or config.getoption("capture", "no") == "no":
        return False
    from theoryck.report.layout import is_dumb

    return not is_dumb()
