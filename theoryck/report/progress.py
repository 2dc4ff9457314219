"""What is going on, in one line (claims done, the current one, draws, time left), and how an interrupted session goes on.

Nothing here writes or measures: a state is fed with what ``theoryck.checking.session.Session`` tells, and asked for a line of a
given width.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from theoryck.report import numbers
from theoryck.report.claims import clean, instance_text
from theoryck.report.layout import Style, cells, shorten, wrap

ENOUGH_CLAIMS = 3  # done, before their mean duration says anything about the others
ENOUGH_SECONDS = 2.0
LEAST_INSTANCE = 12  # columns, for the beginning of an instance to be worth showing


@dataclass
class Progress:
    """The state of a session that measures ``claims`` claims.

    >>> ticks = iter(range(0, 1000, 4))
    >>> progress = Progress(2, lambda: float(next(ticks)))
    >>> event = {"claim": "paper/claim", "instance": {"k": 2}, "number": 1, "instances": 4, "draws": 0, "exponent": None}
    >>> progress.see({"event": "instance", **event, "fraction": 0.0})
    >>> progress.line(79)
    '1/2 paper/claim (1 of 4: k=2)'
    >>> progress.see({"event": "look", **event, "fraction": 0.25, "draws": 20000})
    >>> progress.line(79)
    '1/2 paper/claim (1 of 4: k=2): 20k draws, at most about 60 s for this claim'
    """

    claims: int
    clock: Callable[[], float]
    done: int = 0
    _look: Mapping[str, Any] | None = None
    _claim_began: float = 0.0
    _instance_began: float = 0.0
    _now: float = 0.0
    _last_end: float | None = None
    _whole: float | None = None  # seconds that the whole budget of the instance takes, at the pace until its last look
    _spent: list[float] = field(default_factory=list)

    def see(self, look: Mapping[str, Any]) -> None:
        """Take in what the session tells: that an instance begins, draws, a look, or that a claim is done."""
        self._now = self.clock()
        claim = str(look["claim"]).removesuffix("#confirmation")
        if look["event"] == "claim":
            self._end_claim()
            return
        if look["event"] == "draws" and self._look is not None:
            self._look = {**self._look, "draws": look["draws"]}
            return
        if self._look is None or self._look["claim"] != claim:
            self._claim_began = self._instance_began = self._now
        elif look["event"] == "instance":
            self._instance_began = self._now
        self._look = {**look, "claim": claim}
        spent = self._now - self._instance_began
        self._whole = spent / look["fraction"] if look["fraction"] and spent >= ENOUGH_SECONDS else None

    def _end_claim(self) -> None:
        # What is judged again when all is measured (Holm) is sent once more, and is done already.
        self.done = min(self.done + 1, self.claims)
        if self._look is not None:
            self._spent.append(self._now - self._claim_began)
        elif self._last_end is not None:  # done elsewhere: what counts is how often claims are done
            self._spent.append(self._now - self._last_end)
        self._look, self._last_end = None, self._now

    def line(self, width: int) -> str:
        """Return what is going on in at most ``width`` columns; what matters least is left out first."""
        look = self._look
        if look is None:
            counted = f"{self.done}/{self.claims} claims done"
            left = self.left()
            text = f"{counted}, {left}" if left else counted
            return shorten(text if cells(text) <= width else counted, width)
        position = f"{min(self.done + 1, self.claims)}/{self.claims}"
        claim = f"{position} {clean(look['claim'])}"
        several = f"{look['number']} of {look['instances']}" if look["instances"] > 1 else ""
        exponent = f"exponent {numbers.brief(look['exponent'])}" if look["exponent"] is not None else ""
        draws = f"{numbers.count(look['draws'])} draws" if look["draws"] else ""
        known = [fact for fact in (exponent, draws, self.left()) if fact]
        without_draws = [fact for fact in known if fact != draws]
        for head in (claim, position):
            for facts in (known, without_draws, without_draws[-1:]):
                text = _sentence(head, several, facts)
                if cells(text) <= width:
                    return self._with_instance(head, several, facts, width - cells(text))
        return shorten(claim, width, middle=True)

    def _with_instance(self, claim: str, several: str, facts: list[str], room: int) -> str:
        instance = instance_text(self._look["instance"]) if self._look is not None else ""
        room -= 2 if several else 3  # ": ", or " (" and ")"
        if instance and (room >= cells(instance) or room >= LEAST_INSTANCE):
            instance = shorten(instance, room)
            several = f"{several}: {instance}" if several else instance
        return _sentence(claim, several, facts)

    def left(self) -> str:
        """Return about how long it will take, from what was done; nothing while there is nothing to go by."""
        waiting = self.claims - self.done - (self._look is not None)
        if len(self._spent) >= ENOUGH_CLAIMS and sum(self._spent) >= ENOUGH_SECONDS:
            mean = sum(self._spent) / len(self._spent)
            return f"about {duration(waiting * mean + self._rest_of_claim(mean))} left"
        bound = self._bound()
        return "" if bound is None else f"at most about {duration(bound)} for this claim"

    def _rest_of_claim(self, mean: float) -> float:
        """Seconds until the current claim is done: it is like the others until it has taken longer than they did.

        From then on it may as well take as long again as it has, but no longer than its budget.
        """
        if self._look is None:
            return 0.0
        spent = self._now - self._claim_began
        bound = self._bound()
        return mean - spent if spent < mean else min(spent, bound if bound is not None else spent)

    def _bound(self) -> float | None:
        """Seconds until the budget of the current claim is spent, all of whose instances have the same share of it."""
        look, whole = self._look, self._whole
        if look is None or whole is None:
            return None
        left = whole * (1 + look["instances"] - look["number"]) - (self._now - self._instance_began)
        return float(left) if left > 0 else None


def looked_ahead(number: int, claims: int) -> str:
    """Return the line that is shown while what a budget can settle is worked out, before the first draw.

    >>> looked_ahead(12, 275)
    '12/275 claims: can the budget settle them?'
    """
    return f"{number}/{claims} claims: can the budget settle them?"


def _sentence(claim: str, several: str, facts: list[str]) -> str:
    head = f"{claim} ({several})" if several else claim
    return f"{head}: {', '.join(facts)}" if facts else head


def duration(seconds: float) -> str:
    """Write a duration as roughly as it is known.

    >>> [duration(s) for s in (0, 7.2, 43, 100, 500, 5000, 50000)]
    ['1 s', '7 s', '45 s', '2 min', '8 min', '83 min', '14 h']
    """
    if seconds < 10:
        return f"{max(round(seconds), 1)} s"
    if seconds < 88:
        return f"{5 * round(seconds / 5)} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{round(seconds / 3600)} h"


_SPECIAL = re.compile(r"[*?\[]")


def patterns(left: Sequence[str], done: Iterable[str]) -> list[str]:
    """Return the patterns that match the claims ``left`` and none of those ``done``: a whole paper is one pattern.

    >>> patterns(["a/two", "b/one", "b/two", "c"], done=["a/one"])
    ['a/two', 'b/*', 'c']
    """
    others = set(done)
    found: dict[str, None] = {}
    for claim in left:
        paper = claim.rpartition("/")[0]
        whole = f"{_SPECIAL.sub('?', paper)}/*"
        several = sum(other.startswith(f"{paper}/") for other in left) > 1
        # A claim may be called like the pattern: then the pattern means that claim alone.
        clear = whole not in left and not any(fnmatch.fnmatchcase(other, whole) for other in others)
        if paper and several and clear:
            found[whole] = None
        else:
            found[claim] = None
    return list(found)


def advice(
    left: Sequence[str],
    done: Sequence[str],
    paths: Sequence[str],
    settings: Mapping[str, object],
    style: Style | None = None,
    *,
    chosen: bool = False,
) -> str:
    """Return what an interrupted session has to say at its end: how many claims are left, and the command that checks them.

    ``settings`` are the options of ``theoryck check`` that give the same draws and error rates; None leaves one out.  With
    ``chosen`` the paths hold claims that were not asked for, and each claim that is left is named.

    >>> print(advice(["a/two"], ["a/one"], ["proofs"], {"--seed": 0, "--sharing": 2, "--ledger": None}))
    Interrupted with 1 of 2 claims to go. To check it:
      theoryck check proofs --only a/two --seed 0 --sharing 2
    (its draws so far are lost: with --ledger FILE they are kept and reused)
    """
    style = style or Style()
    total = len(left) + len(done)
    if not left:
        whole = "Interrupted after the last claim was measured: nothing is left to check."
        return whole if total else "Interrupted before any claim was found."
    words = ["theoryck", "check", *paths]
    for pattern in left if chosen else patterns(left, done) if done else ():
        words += ["--only", pattern]
    for option, value in settings.items():
        words += [] if value is None else [option] if value is True else [option, str(value)]
    what, whose = ("it", "its") if len(left) == 1 else ("them", "their")
    kept = (
        f"({whose} draws so far are in the ledger and will be reused)"
        if settings.get("--ledger") is not None
        else f"({whose} draws so far are lost: with --ledger FILE they are kept and reused)"
    )
    first = f"Interrupted with {len(left)} of {total} {'claim' if total == 1 else 'claims'} to go. To check {what}:"
    return "\n".join([*wrap(first, style.width), f"  {shlex.join(words)}", *wrap(kept, style.width)])
