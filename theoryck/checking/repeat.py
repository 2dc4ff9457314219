"""How a result is had again: the command that measures a claim with the same seed, error rates and, where it matters, draws."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from theoryck.checking.measurement import BY_THE_CLOCK
from theoryck.checking.session import Session
from theoryck.claims.claim import Claim
from theoryck.records import Point


def repeat_command(claim: Claim, session: Session, flags: Sequence[str] = (), points: Sequence[Point] = ()) -> str:
    """Return the command that measures the claim again with the same seed, error rates and, where it matters, draws.

    Where the clock set the budget the draws of each size are named: with them the same bits are drawn.
    """
    path = os.path.relpath(claim.path)
    words = ["theoryck", "check", claim.path if path.startswith("..") else path, "--only", claim.id]
    words += ["--profile", session.profile.name, "--seed", str(session.seed)]
    if session.claims > 1:
        words += ["--sharing", str(session.claims)]
    drawn = [point.estimate.draws for point in points if point.estimate is not None]
    if session.draws is not None:
        fixed = [session.draws] if isinstance(session.draws, int) else list(session.draws)
        words += ["--draws", ",".join(map(str, fixed))]
    elif BY_THE_CLOCK in flags and drawn:
        words += ["--draws", ",".join(map(str, drawn))]
    return shlex.join(words)
