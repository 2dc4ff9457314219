"""Promises about the tree itself: sizes of modules, maps of folders, public names, no code from text, a light start."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import theoryck

PACKAGE = Path(theoryck.__file__).parent
LONGEST = 650  # past 600 lines ask whether two subjects live there
MOST_NAMES = 33


@functools.cache
def modules():
    """Text and tree of every module, by its name; each is read and parsed once."""
    paths = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    assert len(texts) > 100
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module):
    return module.partition(".")[2].partition(".")[0]


def test_modules_are_short():
    lengths = {name: len(text.splitlines()) for name, (text, _) in modules().items()}
    assert {name: length for name, length in lengths.items() if length >= LONGEST} == {}


MAPPED = re.compile(r"^ {0,4}([a-z][a-z0-9_]*) {2,}\S", re.MULTILINE)


def map_problems(folder):
    """What a folder's docstring says wrong of its modules and folders: (missing, named though not there, named twice)."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = MAPPED.findall(text)
    inside = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    there = {path.stem for path in inside if not path.name.startswith("_")}
    missing = set() if folder.name == "theory" else there - {*named}  # a subject is added by its folder alone
    return sorted(missing), sorted({*named} - there), sorted({name for name in named if named.count(name) > 1})


def test_every_folder_has_a_map():
    """The docstring of a folder names each of its modules and folders in a line, ``name  what it is``, and no other."""
    problems = {name_of(path): map_problems(path.parent) for path in sorted(PACKAGE.rglob("__init__.py"))}
    assert {name: found for name, found in problems.items() if any(found)} == {}


def test_a_map_that_is_not_true_would_be_seen(tmp_path):
    for name in ("here", "unnamed", "_private"):
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "__init__.py").write_text('"""A room.\n\n    here  A file\n    gone  Another\n    here  Once more\n    on\n"""')
    assert map_problems(tmp_path) == (["unnamed"], ["gone"], ["here"])


def test_public_names_are_few_and_all_there():
    assert len(theoryck.__all__) <= MOST_NAMES
    for name in theoryck.__all__:
        assert getattr(theoryck, name) is not None


FORBIDDEN_NAMES = {"eval", "exec", "sympify", "parse_expr", "S"}
NAMESPACES = ("sympy", "sp", "builtins")
PICKLING = {"montecarlo"}  # between a session and the worker processes it started, never from a file


def code_from_text(tree, room=""):
    """Calls that would run a text as code; a method called ``eval`` is something else, strict ``sympify`` takes no text."""
    for node in ast.walk(tree):
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


def test_no_text_becomes_code():
    assert [(name, found) for name, (_, tree) in modules().items() for found in code_from_text(tree, room_of(name))] == []


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


def test_code_from_text_would_be_seen():
    for line in CODE_FROM_TEXT.strip().splitlines():
        tree = ast.parse(line)
        assert list(code_from_text(tree)), line
        assert line.startswith("import pickle") != bool(list(code_from_text(tree, "montecarlo"))), line
    assert not list(code_from_text(ast.parse("model.eval()\nsympy.sympify(x, strict=True)")))


def swallowed(tree):
    """Handlers of every exception that do nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
            if broad and all(isinstance(statement, ast.Pass | ast.Continue) for statement in node.body):
                yield node.lineno


def test_no_error_is_swallowed():
    assert [(name, line) for name, (_, tree) in modules().items() for line in swallowed(tree)] == []
    assert list(swallowed(ast.parse("try:\n    f()\nexcept Exception:\n    pass"))) == [3]


HEAVY = (
    *("numpy", "scipy", "sympy", "mpmath", "flint", "hypothesis", "jsonschema", "jinja2", "click", "cloudpickle"),
    *("theoryck.claims", "theoryck.checking.check", "theoryck.records"),
)


@pytest.mark.parametrize("module", ["theoryck", "theoryck.pytest_plugin"])
def test_loading_costs_nothing(module):
    script = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def imported(statement):
    """The modules that an import statement of the plugin names, those of the plugin itself as ``theoryck.pytest_plugin``."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return ["theoryck.pytest_plugin" if statement.level else statement.module]


def test_the_plugin_imports_only_pytest_and_the_standard_library_at_top_level():
    parts = [tree for name, (_, tree) in modules().items() if name.startswith("theoryck.pytest_plugin")]
    top = [node for tree in parts for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name for node in top for name in imported(node) if not name.startswith("theoryck.pytest_plugin")}
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names <= {"pytest"}
    assert "pytest" in names


def test_the_schema_is_part_of_the_package():
    assert (PACKAGE / "report" / "schema-v1.json").is_file()
