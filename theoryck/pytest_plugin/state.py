"""What the parts of the plugin share: the state of this process, and where it stands among other processes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from theoryck.checking.ahead import Ahead
    from theoryck.checking.session import Session
    from theoryck.claims.claim import Claim
    from theoryck.ledger import Ledger
    from theoryck.pytest_plugin.live import Live
    from theoryck.records import Result


@dataclass
class State:
    """What this process knows: the claims met at collection, the session that measures them, and what reports said.

    ``order`` holds the claims as their items run, ``ahead`` has some of them in work before.

    ``claims`` maps an id to the claim and where it was met, ``selected`` an id to its file, in the order of the items; ``chosen``
    says that some claims were left out.  With several processes the one that prints learns both from the reports of the others.
    """

    claims: dict[str, tuple[Claim, str]] = field(default_factory=dict)
    selected: dict[str, str] = field(default_factory=dict)
    chosen: bool = False
    order: list[Claim] = field(default_factory=list)
    session: Session | None = None
    ahead: Ahead[Claim, list[Result]] | None = None
    ledger: Ledger | None = None
    live: Live | None = None
    exits: ExitStack = field(default_factory=ExitStack)
    carried: dict[int, dict[str, Any]] = field(default_factory=dict)
    introduced: bool = False
    interrupted: bool = False
    written: list[str] = field(default_factory=list)


STATE = pytest.StashKey[State]()


def is_xdist_worker(config: pytest.Config) -> bool:
    """Whether this process runs tests for another one, which prints."""
    return hasattr(config, "workerinput")


def width(config: pytest.Config) -> int:
    """The terminal's width up to that of the table; a log file gets the table's own unless COLUMNS says otherwise."""
    import sys

    from theoryck.report.layout import style_for

    return style_for(sys.__stdout__ or sys.stdout).width
