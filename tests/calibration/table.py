"""The table of calibration: ``python -m tests.calibration.table [--part PART] [--repeats N] [--workers N] [--json FILE]``.

``coverage``  every cell of the family: 5 exponents, 25 corrections of 2 powers, 3 noises, 4 numbers of draws
``declared``  what a declared correction is worth
``refute``, ``session``  false refutation of true claims, and of sessions of them
``support``, ``power``, ``logs``  false support; a wrong claim is refuted; laws next to the claimed one
``audit``  tables with and without error bars, and with replicates
``digits``  tables without noise, printed to 3, 4, 5 and 16 digits: orders and scalings
``meshes``  orders of tables that scatter from mesh to mesh, or meet the rounding of the arithmetic
``grids``  grids of two sizes: errors that are stated too small, and rates of two terms
``misjudged``  tables whose stated errors are 2 to 10 times too small or too large
``unitless``  tables over step sizes that go to 0, tokens and operations
``limits``  slow and fast approaches to a limit, with and without the declared rate
``statistics``  medians, quantiles, variances and probabilities of draws
``evidence``  evidences of Bayesian networks, by importance weights and from both sides

``N`` data sets are simulated for a cell of coverage; the other parts take numbers in proportion: at 200, 10,000 claims for each
tolerance in ``refute``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.calibration import cells
from tests.calibration.draws import NOISES
from tests.calibration.parts import PARTS, Row

NAMES = ("coverage", "declared", *PARTS)


def coverage(noise: str, repeats: int) -> list[cells.Cell]:
    return list(cells.cells(noise, repeats))


def declared(repeats: int) -> list[Row]:
    return [Row("declared", line) for draws in cells.DRAWS for line in cells.declared(draws, repeats)]


def remeasured(found: Sequence[cells.Cell], repeats: int, worst: int = 10) -> list[cells.Cell]:
    """The cells that look worst, on ten times as many data sets and other seeds: the smallest of 3000 is small by selection."""
    chosen = sorted(found, key=lambda c: c.covered.share)[:worst]
    return [cells.cell(c.truth, c.noise, c.draws, 10 * repeats, seed=1) for c in chosen]


def part(name: str, repeats: int) -> list[Row]:
    return list(PARTS[name](repeats))


def run(names: Sequence[str], repeats: int, pool: Executor | None) -> dict[str, Any]:
    """Measure the parts named, print them, and return them as JSON data."""
    jobs: dict[str, list[Callable[[], Any]]] = {name: _jobs(name, repeats, pool) for name in names}
    data: dict[str, Any] = {}
    for name, started in jobs.items():
        begin = time.perf_counter()
        if name == "coverage":
            found = [cell for job in started for cell in job()]
            again = remeasured(found, repeats)
            print("\n".join(cells.lines(found)))
            print(f"the smallest again, on {10 * repeats} other data sets:")
            print("\n".join(f"  {cell}" for cell in again))
            data[name] = [{**vars(c.truth), **vars(c.covered), "noise": c.noise, "draws": c.draws, "width": c.width} for c in found]
        else:
            rows = [row for job in started for row in job()]
            print("\n".join(str(row) for row in rows))
            data[name] = [row.to_json() for row in rows]
        print(f"-- {name}: {time.perf_counter() - begin:.0f} s", flush=True)
    return data


def _jobs(name: str, repeats: int, pool: Executor | None) -> list[Callable[[], Any]]:
    calls: list[tuple[Any, ...]]
    if name == "coverage":
        calls = [(coverage, noise, repeats) for noise in NOISES]
    elif name == "declared":
        calls = [(declared, repeats)]
    else:
        calls = [(part, name, repeats)]
    if pool is not None:
        return [pool.submit(*call).result for call in calls]
    return [lambda call=call: call[0](*call[1:]) for call in calls]  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage, false refutation, false support and power, by simulation.")
    parser.add_argument("--part", choices=(*NAMES, "all"), default="all")
    parser.add_argument("--repeats", type=int, default=200, help="data sets in a cell of coverage")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    names = NAMES if arguments.part == "all" else (arguments.part,)
    if arguments.workers > 1:
        with ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            data = run(names, arguments.repeats, pool)
    else:
        data = run(names, arguments.repeats, None)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
