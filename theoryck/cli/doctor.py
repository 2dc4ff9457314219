"""``theoryck doctor``: what is installed, what works, and what to do about what does not.

Packages are held against theoryck's own metadata, and each part is tried; no part is imported at the top, it may be missing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from theoryck.cli.common import check_outputs, write_json_data
from theoryck.report.layout import Style, fields, pad, style_for, wrap

MODULES = {"python-flint": "flint"}  # where the module is not called like its distribution
NEEDED_FOR = {
    "python-flint": "rigorous values",
    "matplotlib": "pictures in files",
    "distributed": "runs on a Dask cluster",
    "jinja2": "HTML pages",
    "pytest": "pytest proofs",
}
DISPENSABLE = ("matplotlib", "jinja2")  # asked for, but all that measures and judges works without
OPTIONAL_EXTRAS = ("cluster",)  # others are for those who work on theoryck itself


@click.command("doctor")
@click.option("--cluster", metavar="ADDRESS|FILE|local:N", help="The Dask cluster to try, instead of one process here.")
@click.option("--json", "json_path", is_flag=False, flag_value="-", metavar="FILE|-", help="Write JSON to FILE, or print it.")
def command(cluster: str | None, json_path: str | None) -> None:
    """Say what is installed, what works, and what to do about what does not.

    Packages and their versions against what theoryck asks for; the number of worker processes, the BLAS and its threads, the
    memory, the terminal; and each part tried on something small: draws, rigorous values, instances, worker processes, a Dask
    cluster, pictures, the ledger, the pytest plugin.  Please add the output to a report of a fault.

    \b
    Examples:
      theoryck doctor
      theoryck doctor --json doctor.json
      theoryck doctor --cluster tcp://host:8786

    Exit status: 0 all that is needed works, 1 something needed does not, 2 wrong usage.
    """
    check_outputs({"--json": json_path})
    found = examine(cluster)
    if json_path != "-":
        click.echo("\n".join(report_lines(found, style_for(sys.stdout))), color=True)
    if json_path is not None:
        write_json_data(found.to_json(), json_path)
    sys.exit(0 if found.ok else 1)


@dataclass(frozen=True)
class Package:
    """A distribution that theoryck asks for, and what is there; ``fault`` is empty where all is well."""

    name: str
    wanted: str
    installed: str | None
    optional: bool
    fault: str

    @property
    def ok(self) -> bool:
        """Whether theoryck can do without it, or has it."""
        return self.optional or not self.fault


@dataclass(frozen=True)
class Part:
    """A part of theoryck that was tried: what came of it, and what to do where it does not work."""

    name: str
    works: bool
    text: str
    needed: bool = True
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether theoryck can do without it, or it works."""
        return self.works or not self.needed


@dataclass(frozen=True)
class Doctor:
    """All that was found out."""

    facts: dict[str, str]
    packages: tuple[Package, ...]
    parts: tuple[Part, ...]

    @property
    def ok(self) -> bool:
        """Whether all that is needed works."""
        return all(package.ok for package in self.packages) and all(part.ok for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        packages = [{**asdict(package), "ok": package.ok} for package in self.packages]
        parts = [{**asdict(part), "ok": part.ok} for part in self.parts]
        return {"ok": self.ok, "facts": self.facts, "packages": packages, "parts": parts}


def examine(cluster: str | None = None) -> Doctor:
    """Look at everything; nothing raises.  A ``cluster`` that is named has to work."""
    return Doctor(facts(), packages(), parts(cluster))


_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")


def packages() -> tuple[Package, ...]:
    """Compare what is installed with the requirements in theoryck's own metadata."""
    try:
        requirements = [*(importlib.metadata.requires("theoryck") or []), *_asked_since()]
    except importlib.metadata.PackageNotFoundError:
        return ()
    found: dict[str, Package] = {}
    for requirement in requirements:
        matched = _REQUIREMENT.fullmatch(requirement)
        if matched is None or matched[1] in found:
            continue
        name, wanted, marker = matched[1], matched[2].replace(" ", ""), matched[3] or ""
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        if extra is None or extra[1] in OPTIONAL_EXTRAS:
            found[name] = _package(name, wanted, extra is not None)
    return tuple(found.values())


def _asked_since() -> list[str]:
    """What the source beside an editable installation asks for: its metadata are as old as the installation."""
    import tomllib

    import theoryck

    try:
        source = Path(theoryck.__file__).parents[1] / "pyproject.toml"
        project = tomllib.loads(source.read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):
        return []
    return [str(each) for each in project.get("dependencies", ())] if project.get("name") == "theoryck" else []


def _package(name: str, wanted: str, extra: bool) -> Package:
    optional = extra or name in DISPENSABLE
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Package(name, wanted, None, optional, "not installed")
    if not fulfils(installed, wanted):
        return Package(name, wanted, installed, optional, "too old")
    if extra:
        return Package(name, wanted, installed, optional, "")
    _, error = _tried(lambda: importlib.import_module(MODULES.get(name, name)))
    return Package(name, wanted, installed, optional, f"cannot be imported: {error}" if error else "")


def fulfils(installed: str, wanted: str) -> bool:
    """Whether a version is at least the one after ``>=``; other conditions are not judged here.

    >>> fulfils("1.26.4", ">=1.26"), fulfils("1.9", ">=1.26"), fulfils("2.0rc1", ">=2.0"), fulfils("5", "")
    (True, False, True, True)
    """
    least = re.search(r">=\s*([\d.]+)", wanted)
    return least is None or _numbers(installed) >= _numbers(least[1])


def _numbers(version: str) -> tuple[int, ...]:
    start = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in start[0].split(".")] if start else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _tried(function: Callable[[], Any]) -> tuple[Any, str]:
    """Return a value and no error, or None and the first line of what was raised."""
    try:
        return function(), ""
    except Exception as error:
        lines = str(error).splitlines()
        return None, f"{type(error).__name__}: {lines[0] if lines else ''}"


def facts() -> dict[str, str]:
    """Return what is known of the machine and of this run, in words."""
    import theoryck

    return {
        "theoryck": f"{theoryck.__version__} in {Path(theoryck.__file__).parent}",
        "python": f"{platform.python_version()} at {sys.executable}",
        "system": f"{platform.system()} {platform.machine()}",
        "CPUs": _cpus(),
        "BLAS": _blas(),
        "memory": _memory(),
        "terminal": _terminal(),
    }


def _cpus() -> str:
    known = os.cpu_count() or 1
    workers, error = _tried(lambda: importlib.import_module("theoryck.montecarlo").make_executor(None).workers)
    if error:
        return f"{known}; how many workers would be used cannot be told: {error}"
    return f"{known}, of which {workers} are used: {workers} worker process{'es' * (workers != 1)} unless --workers says otherwise"


def _blas() -> str:
    """Numpy's own, which is what draws use."""

    def look() -> str:
        importlib.import_module("numpy")
        info = importlib.import_module("threadpoolctl").threadpool_info()
        blas = [library for library in info if library.get("user_api") == "blas"]
        libraries = [
            f"{each['internal_api']} {each.get('version') or '(version unknown)'}, threads: {each['num_threads']}" for each in blas
        ]
        seen = "; ".join(dict.fromkeys(libraries)) or "none that threadpoolctl knows"
        return f"{seen}; one thread is used while drawing, so that results do not depend on the machine"

    text, error = _tried(look)
    return text or f"cannot be told: {error}"


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "cannot be told on this system"
    return f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB of it unused"


def _terminal() -> str:
    style = style_for(sys.stdout)
    kind = "a terminal" if sys.stdout.isatty() else "not a terminal"
    encoding = getattr(sys.stdout, "encoding", None) or "unknown encoding"
    return f"standard output is {kind}, {style.width} columns, {'with' if style.color else 'without'} colour, {encoding}"


def parts(cluster: str | None = None) -> tuple[Part, ...]:
    """Try each part of theoryck on something small."""
    reinstall = "install theoryck's requirements again: python -m pip install --upgrade theoryck"
    return (
        _part("draws", _draw, advice=reinstall),
        _part("rigorous values", _enclose, advice=reinstall),
        _part("hypothesis", _generate, advice=reinstall),
        _part("worker processes", _start_process, needed=False, advice="use --workers 1"),
        _part(
            "cluster",
            lambda: _reach(cluster or "local:1"),
            needed=cluster is not None,
            advice="python -m pip install 'theoryck[cluster]', and see that the scheduler runs and has workers",
        ),
        _part("pictures", _plot, needed=False, advice="python -m pip install matplotlib"),
        _part("HTML pages", _page, needed=False, advice="python -m pip install jinja2"),
        _part("ledger", _keep, needed=False, advice="leave out --ledger, or point TMPDIR to a local folder"),
        _part(
            "pytest plugin", _plugin, needed=False, advice="install theoryck into this Python: pytest finds it by its entry point"
        ),
    )


def _part(name: str, function: Callable[[], str], *, needed: bool = True, advice: str = "") -> Part:
    text, error = _tried(function)
    return Part(name, not error, text or error, needed, "" if not error else advice)


def _draw() -> str:
    from theoryck.montecarlo import Key, SerialExecutor, sample
    from theoryck.theory.networks.model import DeepNetwork
    from theoryck.theory.networks.quantities import norm_deviation

    moment = norm_deviation(DeepNetwork("tanh", depth=1, widths=(8, 8)), power=2)
    moments = sample(moment.sampler({}), Key(0, "doctor", {}, {}), draws=64, block_draws=64, executor=SerialExecutor())
    return f"{moments.count} drawn from a small network"


def _enclose() -> str:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.proved.constants import network_constants

    value = network_constants(Activation("tanh"), 1, 20).sigma[1]
    if not value.rigorous or not value.radius < 1e-15:
        raise ArithmeticError(f"sigma_1 of tanh came out as {value}, which is not rigorous to 15 digits")
    return f"sigma_1 of tanh = {float(value.midpoint):.10f}, proved by balls"


def _generate() -> str:
    from hypothesis.strategies import integers

    from theoryck.claims.claim import conjecture, for_all
    from theoryck.numerics.functions.activation import Activation

    @conjecture("doctor")
    @for_all(power=integers(1, 3))
    def claim(power: int) -> Any:
        from theoryck.claims.statements import Identity
        from theoryck.theory.networks.quantities import sigma

        return Identity(sigma(Activation(f"x**{power}"), 1), 1)

    return f"{len(claim.instances(2))} instances generated"


def _start_process() -> str:
    from theoryck.montecarlo.processes import ProcessExecutor

    with ProcessExecutor(1) as executor:
        answer = list(executor.map(abs, [-1, -2]))
        if answer != [1, 2]:
            raise RuntimeError(f"a worker process answered {answer!r} instead of [1, 2]")
    return "one was started, worked and left"


def _reach(where: str) -> str:
    from theoryck.montecarlo import Key, SerialExecutor, connect, sample

    def normals(rng: Any, draws: int) -> Any:
        return rng.standard_normal(draws)

    run = partial(sample, normals, Key(0, "doctor", {}, {}), draws=256, block_draws=64)
    with connect(where) as executor:
        there, threads = run(executor=executor), executor.workers
    if there != run(executor=SerialExecutor()):
        raise ArithmeticError(f"the draws of {where} are not the bits that are drawn here")
    return f"{where}, {threads} thread{'s' * (threads != 1)}, drew the same bits as this process"


def _plot() -> str:
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    figure.add_subplot().loglog([1, 2], [1, 2])
    figure.savefig(io.BytesIO(), format="svg")
    return "drawn with matplotlib"


def _page() -> str:
    from theoryck.records import Report
    from theoryck.report.html import render

    return f"one of {len(render(Report('quick', 0, ())))} characters was made"


def _keep() -> str:
    import sqlite3

    from theoryck.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "doctor.ledger"):
        return f"SQLite {sqlite3.sqlite_version}"


def _plugin() -> str:
    known = [entry.name for entry in importlib.metadata.entry_points(group="pytest11") if entry.value.startswith("theoryck.")]
    if not known:
        raise LookupError("no entry point of theoryck is known to pytest")
    return "known to pytest: pytest proofs"


def report_lines(found: Doctor, style: Style) -> list[str]:
    """Return the lines for people: what does not work first of all."""
    lines = _verdict(found, style)
    lines += ["", *fields([*found.facts.items()], style, indent=0)]
    lines += ["", style.paint("Packages", "head"), *_packages(found.packages, style)]
    lines += ["", style.paint("Parts", "head")]
    reach = max(len(part.name) for part in found.parts)
    for part in found.parts:
        lines += wrap(f"{_sign(part)} {pad(part.name, reach)}  {part.text}", style.width, first="  ", rest=" " * (reach + 6))
        if part.advice:
            lines += wrap(f"what to do: {part.advice}", style.width, first=" " * (reach + 6))
    return lines


def _verdict(found: Doctor, style: Style) -> list[str]:
    if found.ok:
        return [style.paint("All that theoryck needs works.", "good")]
    bad = [package.name for package in found.packages if not package.ok] + [part.name for part in found.parts if not part.ok]
    lines = wrap(f"NOT WELL: {', '.join(bad)}.", style.width)
    names = [f"'{package.name}{package.wanted}'" for package in found.packages if not package.ok]
    if names:
        lines += ["What to do:", f"  {sys.executable} -m pip install {' '.join(names)}"]
    return [style.paint(lines[0], "bad"), *lines[1:]]


def _packages(packages: tuple[Package, ...], style: Style) -> list[str]:
    if not packages:
        return wrap(
            "theoryck is imported from a folder, not installed: which packages it asks for is not known here. Install it with "
            "python -m pip install -e FOLDER",
            style.width,
            first="  ",
        )
    reach = max(len(package.name) for package in packages)
    lines = []
    for package in packages:
        text = f"{package.installed or '-'} (wanted {package.wanted or 'any'})"
        text += f": {package.fault}" if package.fault else ""
        text += ", optional" if package.optional else ""
        needed = NEEDED_FOR.get(package.name)
        text += f", for {needed}" if needed and package.fault else ""
        lines += wrap(f"{_sign(package)} {pad(package.name, reach)}  {text}", style.width, first="  ", rest=" " * (reach + 6))
    return lines


def _sign(each: Package | Part) -> str:
    """``ok``, ``--`` for what theoryck can do without, ``!!`` for what it cannot."""
    fine = not each.fault if isinstance(each, Package) else each.works
    return "ok" if fine else "--" if each.ok else "!!"
