"""Promises about the tree itself: directions of import, sizes of modules, public names, no code from text, a light start."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import theoryck

PACKAGE = Path(theoryck.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 500
MOST_NAMES = 30

# Which rooms a room may import (DESIGN section 1): an arrow may skip rooms, never turn round.
ALLOWED = {
    "_lazy": set(),
    "records": set(),
    "rates": {"records"},
    "fitting": {"records", "rates"},
    "judging": {"records", "rates", "fitting"},
    "planning": {"records", "rates", "fitting"},
    "montecarlo": {"records"},
    "numerics": {"records", "_lazy"},
    "quantities": {"records", "montecarlo", "numerics"},
    "ledger": {"montecarlo", "quantities"},
    "claims": {"records", "rates", "quantities", "numerics"},
    "curves": {"records", "rates", "fitting", "judging"},
    "auditing": {"records", "montecarlo", "rates", "fitting", "judging", "curves"},
    "theory": {"records", "montecarlo", "numerics", "quantities", "_lazy"},
    "report": {"records", "curves"},
}
ALLOWED["checking"] = {"records", "rates", "judging", "planning", "montecarlo", "quantities", "claims", "ledger"}
EVERYTHING = {*ALLOWED, "cli", "pytest_plugin"}
ALLOWED["cli"] = EVERYTHING - {"pytest_plugin"}
ALLOWED["pytest_plugin"] = EVERYTHING - {"cli", "theory", "numerics", "auditing"}
ALLOWED["__main__"] = {"cli"}
EVERYTHING |= {"__main__"}


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(tree, package):
    """Every module that a tree imports, at whatever depth, as absolute names; ``from a import b`` counts as a and as a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def rooms_imported(source, module, is_package=False):
    package = module if is_package else module.rpartition(".")[0]
    found = {room_of(name) for name in imports(ast.parse(source), package) if name.startswith("theoryck.")}
    return (found & EVERYTHING) - {room_of(module)}


def test_every_room_has_its_directions():
    assert {room_of(name_of(path)) for path in MODULES} - {""} <= EVERYTHING


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_never_turn_round(path):
    room = room_of(name_of(path))
    if not room:
        return
    wrong = rooms_imported(path.read_text(), name_of(path), path.name == "__init__.py") - ALLOWED[room]
    assert not wrong, f"{name_of(path)} imports {wrong}; {room} may import {ALLOWED[room] or 'no other room'}"


def test_a_turned_arrow_would_be_seen():
    assert rooms_imported("from theoryck.claims import Claim", "theoryck.numerics.proved.balls") == {"claims"}
    assert rooms_imported("from theoryck import judging", "theoryck.fitting.fit") == {"judging"}
    assert rooms_imported("def f():\n    from ..judging import judge", "theoryck.fitting.fit") == {"judging"}
    assert rooms_imported("import theoryck.checking.check as c", "theoryck.report.text") == {"checking"}


def test_only_the_mathematics_imports_flint():
    importers = {
        room_of(name_of(path))
        for path in MODULES
        for name in imports(ast.parse(path.read_text()), "")
        if name.split(".")[0] == "flint"
    }
    assert importers <= {"numerics", "theory"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_short(path):
    assert len(path.read_text().splitlines()) < LONGEST


def test_public_names_are_few_and_all_there():
    assert len(theoryck.__all__) <= MOST_NAMES
    for name in theoryck.__all__:
        assert getattr(theoryck, name) is not None


FORBIDDEN_NAMES = {"eval", "exec", "sympify", "parse_expr", "S"}
NAMESPACES = ("sympy", "sp", "builtins")
PICKLING = {"montecarlo"}  # between a session and the worker processes it started, never from a file


def code_from_text(source, room=""):
    """Calls that would run a text as code; a method called ``eval`` is something else, strict ``sympify`` takes no text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = called_name(node.func)
            strict = any(k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords)
            if (name in FORBIDDEN_NAMES and not (name == "sympify" and strict)) or name in ("pickle.load", "shelve.open"):
                yield f"{name} at line {node.lineno}"
        if isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                allowed = alias.name == "pickle" and room in PICKLING
                if alias.name in ("parse_expr", "sympify", "pickle", "shelve", "marshal") and not allowed:
                    yield f"import of {alias.name} at line {node.lineno}"


def called_name(called):
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        owner = called.value.id
        return called.attr if owner in NAMESPACES else f"{owner}.{called.attr}"
    return called.id if isinstance(called, ast.Name) else ""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_text_becomes_code(path):
    assert list(code_from_text(path.read_text(), room_of(name_of(path)))) == []


CODE_FROM_TEXT = """
eval("1")
exec(text)
sympy.sympify(t)
sympy.sympify(t, strict=False)
sp.parse_expr(t)
from sympy import sympify
import pickle
sympy.S("x")
pickle.load(file)
"""


@pytest.mark.parametrize("line", CODE_FROM_TEXT.split("\n")[1:-1])
def test_code_from_text_would_be_seen(line):
    assert list(code_from_text(line))
    assert line.startswith("import pickle") != bool(list(code_from_text(line, "montecarlo")))


def test_what_is_no_code_from_text():
    assert not list(code_from_text("model.eval()\nsympy.sympify(x, strict=True)"))


def swallowed(source):
    """Handlers of every exception that do nothing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
            if broad and all(isinstance(statement, ast.Pass | ast.Continue) for statement in node.body):
                yield node.lineno


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_error_is_swallowed(path):
    assert list(swallowed(path.read_text())) == []


HEAVY = (
    *("numpy", "scipy", "sympy", "mpmath", "flint", "hypothesis", "rich", "click", "cloudpickle"),
    *("theoryck.claims", "theoryck.checking.check", "theoryck.records"),
)


@pytest.mark.parametrize("module", ["theoryck", "theoryck.pytest_plugin"])
def test_loading_costs_nothing(module):
    script = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_plugin_imports_only_pytest_and_the_standard_library_at_top_level():
    parts = sorted((PACKAGE / "pytest_plugin").glob("*.py"))
    assert parts
    for part in parts:
        top = [node for node in ast.parse(part.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = imports(ast.Module(top, []), "theoryck.pytest_plugin")
        roots = {name.split(".")[0] for name in names if not name.startswith("theoryck.pytest_plugin.")}
        assert roots - sys.stdlib_module_names <= {"pytest"}


def test_the_schema_is_part_of_the_package():
    assert (PACKAGE / "report" / "schema-v1.json").is_file()


def test_this_file_finds_the_modules():
    assert textwrap.dedent(theoryck.__doc__)
    assert len(MODULES) > 20
