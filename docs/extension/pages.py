"""Pages that are written from the package and from ``proofs/`` before the others are read, into ``docs/reference/``."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import theoryck
from extension.docstrings import PLACES, as_written, convert, displayed, help_text, running, summary
from theoryck.claims.collecting import collect
from theoryck.cli import COMMANDS, main

PACKAGE = Path(theoryck.__file__).parent
SUBJECTS = sorted(path.parent.name for path in PACKAGE.glob("theory/*/__init__.py"))
_NAMED = re.compile(r" +(?P<name>[\w-]+) {2,}(?P<text>.*)")  # a line of a table in a help text
_ORDER = ("model", "limits", "proved", "quantities")  # what is asked for first


def title(text: str, line: str = "=") -> list[str]:
    """Return a heading."""
    return ["", text, line * max(len(text), 3), ""]


def indented(lines: list[str], by: int = 3) -> list[str]:
    """Return lines set in, as the content of a directive."""
    return [" " * by + line if line.strip() else "" for line in lines]


def documented(name: str, thing: Any) -> list[str]:
    """Return the directive that documents a name with its docstring."""
    if inspect.isclass(thing):
        return ["", f".. autoclass:: {name}", "   :members:", ""]
    if callable(thing):
        return ["", f".. autofunction:: {name}", ""]
    package, _, short = name.rpartition(".")
    return ["", f".. py:data:: {short}", f"   :module: {package}", f"   :value: {thing!r}", ""]


def listed(names: list[str], things: dict[str, Any], module: str) -> list[str]:
    """Return a table of names, each with its first sentence."""
    rows = ["", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        place = PLACES.find(name, module) or name
        short = name.rpartition(".")[2]
        rows += [f"   * - :py:obj:`{short} <{place}>`", f"     - {summary(things[name], module) or short}"]
    return [*rows, ""]


def public(subject: str) -> dict[str, Any]:
    """Return the public names of a subject, each with what it stands for."""
    package = importlib.import_module(f"theoryck.theory.{subject}")
    return {name: getattr(package, name) for name in package.__all__}


def contents(package: ModuleType) -> list[str]:
    """Return the modules of a package in the order in which they are read, packages of their own before what is in them."""
    assert package.__file__
    found = sorted(path.stem for path in Path(package.__file__).parent.glob("*.py") if path.stem != "__init__")
    found += sorted(path.parent.name for path in Path(package.__file__).parent.glob("*/__init__.py"))
    known = [name for name in _ORDER if name in found]
    return [*known, *sorted(set(found) - set(known))]


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package, and those of packages within it."""
    for name in contents(package):
        module = importlib.import_module(f"{package.__name__}.{name}")
        yield module
        if hasattr(module, "__path__"):
            yield from modules(module)


def exported(package: ModuleType) -> dict[str, list[str]]:
    """Return the public names of a subject by the module in which its table of contents places them."""
    assert package.__file__
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazily"]
    return {f"{package.__name__}.{module}": sorted(names) for module, names in ast.literal_eval(tables[0].args[1]).items()}


def without_contents(text: str, package: ModuleType) -> str:
    """Return a docstring without its list of modules, which the headings of the page replace."""
    names = "|".join(re.escape(name) for name in contents(package)) if hasattr(package, "__path__") else "-"
    kept = [block for block in re.split(r"\n\s*\n", inspect.cleandoc(text)) if not re.match(rf"\s*(?:{names}) {{2,}}", block)]
    return "\n\n".join(kept)


def subject_page(subject: str) -> list[str]:
    """Return the page of a subject: its setting, its names, and the formulas and names of every module."""
    package = importlib.import_module(f"theoryck.theory.{subject}")
    things = public(subject)
    lines = title(subject.replace("_", " ").capitalize())
    lines += [f".. py:module:: {package.__name__}", "", f"In Python ``tc.{subject}``, after ``import theoryck as tc``.", ""]
    setting = without_contents(package.__doc__ or "", package)
    lines += [*convert(setting, package.__name__), *as_written(setting)]
    lines += [*title("Names", "-"), *listed(sorted(things), things, package.__name__)]
    homes = exported(package)
    for module in modules(package):
        names = homes.get(module.__name__, [])
        short = module.__name__.removeprefix(f"{package.__name__}.")
        text = without_contents(module.__doc__ or "", module)
        if hasattr(module, "__path__") and not names and "\n" not in text:
            continue
        lines += [*title(short.replace(".", ": ").replace("_", " ").capitalize(), "-"), f".. py:module:: {module.__name__}", ""]
        lines += [*convert(text, module.__name__), *as_written(text)]
        for name in names:
            lines += documented(f"{package.__name__}.{name}", things[name])
    return lines


ROOMS = (
    (
        "Claims",
        ("theorem", "conjecture", "falsehood", "for_all", "example", "Bound", "Scaling", "Limit", "Law", "Identity", "Reference"),
    ),
    ("Rates and paths", ("Rate", "ScalingPath", "doubling", "halving")),
    ("Quantities", ("quantity", "quantities", "activations", "strategies", "Activation")),
    ("Checking, auditing, proving", ("check_claims", "audit", "prove", "NoCertificate")),
    ("Results", ("Report", "Result", "Verdict", "Enclosure")),
)


def elsewhere() -> dict[str, str]:
    """Return the public names of the top that have another place, in a subject or among the quantities, with their names there."""
    by_thing = {id(thing): f"theoryck.theory.{subject}.{name}" for subject in SUBJECTS for name, thing in public(subject).items()}
    by_thing |= {id(getattr(theoryck.quantities, name)): f"theoryck.quantities.{name}" for name in theoryck.quantities.__all__}
    return {name: by_thing[id(getattr(theoryck, name))] for name in theoryck.__all__ if id(getattr(theoryck, name)) in by_thing}


def engine_page() -> list[str]:
    """Return the page of the public names of ``theoryck`` itself, by subject; a name of no group is a fault of this page."""
    things = {name: getattr(theoryck, name) for name in theoryck.__all__}
    shared = elsewhere()
    networks = sorted(name for name, place in shared.items() if place.startswith("theoryck.theory."))
    grouped = {*networks, *(name for _, names in ROOMS for name in names)}
    if missing := set(things) ^ grouped:
        raise ValueError(f"docs/extension/pages.py: ROOMS must name each public name of theoryck once, not so: {sorted(missing)}")
    lines = [*title("Names of theoryck"), "``import theoryck as tc``; every name is loaded when it is first used.", ""]
    lines += [".. py:module:: theoryck", ""]
    for heading, names in ROOMS:
        own = [name for name in names if not inspect.ismodule(things[name])]
        lines += [*title(heading, "-"), *listed(own, things, "theoryck")]
        for name in names:
            if inspect.ismodule(things[name]):
                lines += catalogue(name, things[name])
            elif name not in shared:
                lines += documented(f"theoryck.{name}", things[name])
    lines += [*title("Networks, teachers and students", "-"), "These stand on the pages of their subjects.", ""]
    return [*lines, *listed(networks, things, "theoryck"), *title("Where what stands", "-"), *rooms()]


def catalogue(name: str, module: ModuleType) -> list[str]:
    """Return a module of which a public name stands for the whole: what it documents, and the names of the values in it."""
    lines = [*title(f"tc.{name}", "~"), *convert(module.__doc__ or "", module.__name__)]
    names = getattr(module, "__all__", [each for each in dir(module) if not each.startswith("_")])
    things = {each: getattr(module, each) for each in names}
    values = [f"``{each}``" for each, thing in things.items() if getattr(type(thing), "__module__", "").startswith("theoryck")]
    if values:
        lines += ["", f"In it are {', '.join(values)}.", ""]
    for each, thing in things.items():
        own = getattr(thing, "__module__", "").startswith(module.__name__)
        if own and (inspect.isclass(thing) or inspect.isroutine(thing)):
            lines += documented(f"{module.__name__}.{each}", thing)
    return lines


def command_pages() -> Iterator[tuple[str, list[str]]]:
    """Yield the page of every command, from what the command says of itself."""
    context = click.Context(main, info_name="theoryck")
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        yield name, [*title(f"theoryck {name}"), *command_lines(command, click.Context(command, context, name))]


def command_lines(command: click.Command, context: click.Context) -> list[str]:
    """Return what one command takes: how it is called, its manual, its options; and the same of the commands within it."""
    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    lines = [".. code-block:: text", "", f"   {usage}", "", *manual(command.help or "")]
    options = [each for each in command.get_params(context) if isinstance(each, click.Option) and not each.hidden]
    lines += [f".. program:: {path}", ""]
    for option in options:
        record = option.get_help_record(context)
        if record is None:
            continue
        spelt, text = record
        lines += ["", f".. option:: {spelt.replace(' / ', ', ')}", "", *indented([help_text(text) or "\\ "]), ""]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            lines += [*title(f"{path} {name}", "-"), *command_lines(inner, click.Context(inner, context, name))]
    return lines


def manual(text: str) -> list[str]:
    r"""Return the text of a command's help: paragraphs; behind ``\b`` names in a table, formulas, or examples."""
    lines: list[str] = []
    for block in inspect.cleandoc(text).split("\n\n"):
        written = block.splitlines()[1:]
        if not block.startswith("\b"):
            lines += ["", help_text(block), ""]
        elif written[0].endswith(":"):
            lines += ["", ".. code-block:: text", "", *indented(written), ""]
        elif table := named(written):
            lines += table
        else:
            lines += [each for line in written for each in displayed(line)]
    return lines


def named(written: list[str]) -> list[str]:
    """Return lines ``name   what it is`` as a table; nothing where one is something else."""
    found = [match for line in written if (match := _NAMED.fullmatch(line))]
    rows = [line for match in found for line in (f"   * - ``{match['name']}``", f"     - {help_text(match['text'])}")]
    return ["", ".. list-table::", "   :widths: 30 70", "", *rows, ""] if rows and len(found) == len(written) else []


def rooms() -> list[str]:
    """Return what the docstring of the package says of its rooms."""
    blocks = (theoryck.__doc__ or "").strip().split("\n\n")
    return [line for block in blocks for line in (named(block.splitlines()) or (["", block, ""] if block.endswith(":") else []))]


def proof_pages(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield a page for every paper under ``proofs/``: its setting and its claims, of which none is measured."""
    claims = collect([str(folder)])
    for key in sorted({claim.id.partition("/")[0] for claim in claims}):
        module = importlib.import_module(f"proofs.{key}")
        text = "\n\n".join(block for block in (module.__doc__ or "").split("\n\n") if not block.lstrip().startswith("Contents"))
        lines = [*title(key), *convert(text), *as_written(text)]
        mine = [claim for claim in claims if claim.id.startswith(f"{key}/")]
        lines += ["", f".. list-table:: {len(mine)} claims", "   :header-rows: 1", "   :widths: 30 12 58", ""]
        lines += ["   * - claim", "     - status", "     - statement"]
        for claim in mine:
            shown = claim.id.partition("/")[2]
            lines += [f"   * - ``{shown}``", f"     - {claim.status.value}", f"     - {running(claim.statement)}"]
        yield key, lines


def index(heading: str, text: list[str], names: list[str]) -> list[str]:
    """Return a page that lists others."""
    return [*title(heading), *text, "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in names), ""]


def write(folder: Path, pages: dict[str, list[str]]) -> None:
    """Write pages below a folder: those that changed, and none that were there before and are no more."""
    for stale in set(folder.rglob("*.rst")) - {folder / f"{name}.rst" for name in pages}:
        stale.unlink()
    for name, lines in pages.items():
        file = folder / f"{name}.rst"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(lines) + "\n"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def generate(app: Any) -> None:
    """Write all pages."""
    shared = elsewhere()
    for subject in SUBJECTS:
        for name, thing in public(subject).items():
            PLACES.add(f"theoryck.theory.{subject}.{name}", thing)
    for name in theoryck.quantities.__all__:
        PLACES.add(f"theoryck.quantities.{name}", getattr(theoryck.quantities, name))
    for name in theoryck.__all__:
        if name in shared:
            PLACES.known[f"theoryck.{name}"] = shared[name]
        else:
            PLACES.add(f"theoryck.{name}", getattr(theoryck, name))
    source = Path(app.srcdir)
    pages = {f"subjects/{subject}": subject_page(subject) for subject in SUBJECTS}
    about = [f"* :doc:`subjects/{s}`: {summary(importlib.import_module(f'theoryck.theory.{s}'))}" for s in SUBJECTS]
    said = "Formulas are read from the plain text of docstrings; *As written* and *[source]* show that text, which is what counts."
    shapes = running("Behind its name stands the shape of an array, as Omega (p, p) and theta (p,): a matrix and a vector.")
    pages["subjects"] = index("Subjects: formulas and names", [said, shapes, "", *about], [f"subjects/{name}" for name in SUBJECTS])
    commands = dict(command_pages())
    lines = [f"* :doc:`theoryck {name} <commands/{name}>`: {text}" for name, text in COMMANDS.items()]
    pages |= {f"commands/{name}": page for name, page in commands.items()}
    pages["commands"] = index("Commands", [*manual(main.help or ""), "", *lines], [f"commands/{name}" for name in commands])
    papers = dict(proof_pages(source.parent / "proofs"))
    text = ["Every paper under ``proofs/``, its setting in its own words, and what is claimed; falsehoods must come out REFUTED."]
    pages |= {f"proofs/{name}": page for name, page in papers.items()}
    pages["proofs"] = index("The claims of pytest proofs", text, [f"proofs/{name}" for name in papers])
    pages["names"] = engine_page()
    write(source / "reference", pages)


def setup(app: Any) -> None:
    """Write the pages when a build begins."""
    app.connect("builder-inited", generate)
