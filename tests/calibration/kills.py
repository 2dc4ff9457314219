"""``kill -9`` at random moments of ``theoryck check --ledger``: every restart must finish with the bits of an undisturbed run.

    python tests/calibration/kills.py 200 [SEED]

A round is a new ledger: the check is started, killed together with its workers after a random time, and started again on the same
ledger until it finishes; then its JSON report (but for the seconds) must equal that of one undisturbed run without a ledger.
Rounds alternate between one worker and two, and go on until there were as many kills as asked for.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

CLAIMS = '''
"""A toy of which a run takes about a second and a half: blocks sleep, so that kills fall between and into them."""
import time

import theoryck as tc

PATH = tc.ScalingPath(d=tc.doubling(8, 64))


@tc.quantity(cost=lambda sizes: 2.0**14 * sizes["d"])
def spread(rng, draws, *, d):
    time.sleep(0.006)
    return (1 + rng.exponential(size=draws)) / d


@tc.conjecture("toy/open")
def undecided():
    """Q = O(1/d), with more noise than the budget can average"""
    return tc.Bound(spread, rate="1/d", along=PATH, rivals=["d**-2"])


@tc.falsehood("toy/falls")
def falls():
    """Q = O(d^-3), confirmed with a fresh seed"""
    return tc.Bound(spread, rate="d**-3", along=PATH)
'''


class Different(AssertionError):
    """A restarted run gave other bits than an undisturbed one."""


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    rounds: int = 0
    restarts: list[int] = field(default_factory=list)
    moments: Counter[str] = field(default_factory=Counter)
    reused: int = 0


def start(folder: Path, workers: int, ledger: bool) -> subprocess.Popen[str]:
    """Start a check; its report goes to report.json."""
    command = [sys.executable, "-c", "from theoryck.cli import main; main()", "check", "toy_claims.py", "--workers", str(workers)]
    command += ["--json", "report.json", *(["--ledger", "draws.ledger"] if ledger else [])]
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **output)  # type: ignore[call-overload,no-any-return]


def report(folder: Path) -> object:
    """Read a report and leave out what no two runs share."""
    data = json.loads((folder / "report.json").read_text())
    for result in data["results"]:
        del result["seconds"]
    return data


def children(process: int) -> list[int]:
    """Return the worker processes, where the system tells."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(status.parent.name))
    return found


def kill(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Kill a check and its workers, in either order."""
    victims = [*children(process.pid), process.pid]
    for victim in victims if rng.random() < 0.5 else victims[::-1]:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    process.communicate()


def when(folder: Path) -> str:
    """Say what had been reached when a check was killed."""
    ledger = folder / "draws.ledger"
    if not ledger.exists():
        return "before the ledger"
    if (folder / "draws.ledger-journal").exists() or ledger.stat().st_size == 0:
        return "while it was made"
    return "with it open" if (folder / "draws.ledger-wal").exists() else "with it closed"


def undisturbed(folder: Path) -> tuple[object, float]:
    """Return the report of a run without a ledger, and the seconds that a run with one takes."""
    process = start(folder, 1, ledger=False)
    _, errors = process.communicate()
    if process.returncode not in (0, 1):
        raise RuntimeError(errors)
    expected = report(folder)
    begun = time.monotonic()
    start(folder, 1, ledger=True).communicate()
    return expected, time.monotonic() - begun


def one_round(folder: Path, rng: random.Random, workers: int, expected: object, longest: float, tally: Tally, most: int) -> None:
    """Kill and restart until a run finishes (after ``most`` kills in all nothing is killed any more), and compare."""
    for file in folder.glob("draws.ledger*"):
        file.unlink()
    before = tally.kills
    while True:
        (folder / "report.json").unlink(missing_ok=True)
        process = start(folder, workers, ledger=True)
        try:
            _, errors = process.communicate(timeout=rng.uniform(0.3, 0.9) * longest if tally.kills < most else None)
        except subprocess.TimeoutExpired:
            tally.moments[when(folder)] += 1
            kill(process, rng)
            tally.kills += 1
            continue
        if process.returncode not in (0, 1):
            raise Different(f"a restart ended with status {process.returncode}: {errors}")
        if report(folder) != expected:
            raise Different(f"other bits after {tally.kills - before} kills with {workers} workers")
        tally.rounds += 1
        tally.restarts.append(tally.kills - before)
        tally.reused += " 0 draws reused" not in errors
        return


def run(kills: int, seed: int = 0) -> Tally:
    """Kill so many times; raises Different when a run that was killed and restarted gives other bits."""
    rng, tally = random.Random(seed), Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "toy_claims.py").write_text(CLAIMS.lstrip())
        expected, longest = undisturbed(folder)
        while tally.kills < kills:
            one_round(folder, rng, 1 + tally.rounds % 2, expected, longest, tally, kills)
    return tally


def main() -> None:
    """Print what happened."""
    kills, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    begun = time.monotonic()
    tally = run(kills, seed)
    print(
        f"{tally.kills} kills (seed {seed}) in {tally.rounds} rounds, {tally.rounds} of them with the bits of an undisturbed run; "
        f"{tally.reused} reused draws; at most {max(tally.restarts)} kills in a round; {time.monotonic() - begun:.0f} s"
    )
    print("killed " + ", ".join(f"{what}: {number}" for what, number in tally.moments.most_common()))


if __name__ == "__main__":
    main()
