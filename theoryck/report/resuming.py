"""The command that goes on where a session was interrupted: what is left of it, said as shortly as it can be."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from theoryck.report.layout import Style, wrap

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
        words += [option, str(value)] if value is not None else []
    what, whose = ("it", "its") if len(left) == 1 else ("them", "their")
    kept = (
        f"({whose} draws so far are in the ledger and will be reused)"
        if settings.get("--ledger") is not None
        else f"({whose} draws so far are lost: with --ledger FILE they are kept and reused)"
    )
    first = f"Interrupted with {len(left)} of {total} {'claim' if total == 1 else 'claims'} to go. To check {what}:"
    return "\n".join([*wrap(first, style.width), f"  {shlex.join(words)}", *wrap(kept, style.width)])
