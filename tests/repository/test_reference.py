"""The reference: every public name says in a sentence what it is and shows it in an example that the test suite runs."""

import ast
import doctest
import functools
import importlib.util
import inspect
import pkgutil
import re
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import theoryck

PACKAGE = Path(theoryck.__file__).parent
PARSER = doctest.DocTestParser()
# Rooms that a user calls by no name: pytest calls the hooks of the plugin, a shell the commands (their help is tested with them).
NOT_CALLED = ("theoryck.pytest_plugin", "theoryck.cli")
WITHOUT_EXAMPLE = {
    "theoryck.montecarlo.WorkerDied": "it takes a process that is killed: tests/montecarlo/test_executors.py",
    "theoryck.montecarlo.WorkerError": "it takes an exception in another process that cannot be sent: same tests",
}


def rooms():
    """Every module with public names of its own, the package itself first."""
    yield theoryck
    for found in pkgutil.walk_packages(theoryck.__path__, "theoryck."):
        module = importlib.import_module(found.name)
        if hasattr(module, "__all__") and not found.name.startswith(NOT_CALLED):
            yield module


@functools.cache  # loads every room, which no other test of a session should pay for
def public():
    """Each public function or class once, by the shortest name it goes under; values such as ``DEFAULT_WITHIN`` are no subject."""
    names = {}
    for module in rooms():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing) if callable(thing) else thing):
                names.setdefault(id(thing), (f"{module.__name__}.{name}", thing))
    return dict(names.values())


def summary_problem(thing):
    """What is wrong with the first paragraph of a docstring, or an empty text."""
    text = inspect.getdoc(thing) if thing.__doc__ else ""
    if not text:
        return "no docstring"
    first = text.split("\n\n")[0]
    if not first.rstrip().endswith((".", ":")):
        return f"its first paragraph is no sentence: {first!r}"
    return "it calls itself what it is" if first.startswith(("This ", "Class ", "Function ")) else ""


def examples(thing):
    """The examples in the docstring of a function or class itself."""
    return PARSER.get_examples(thing.__doc__ or "")


def members(thing):
    """Public methods and properties that a class defines itself, by name."""
    for name, value in vars(thing).items():
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def unused_members(thing):
    """Public members of a class that occur in no example: neither its own, nor that of the class or of another member."""
    shown = "".join(example.source for each in (thing, *(f for _, f in members(thing))) for example in examples(each))
    return [name for name, _ in members(thing) if f".{name}" not in shown]


def test_every_public_name_says_what_it_is():
    problems = {name: summary_problem(thing) for name, thing in public().items()}
    assert {name: problem for name, problem in problems.items() if problem} == {}
    assert len(public()) > 250


def test_every_subject_is_covered():
    subjects = {path.parent.name for path in (PACKAGE / "theory").glob("*/__init__.py")}
    named = {name.split(".")[2] for name in public() if name.startswith("theoryck.theory.")}
    assert len(subjects) >= 10
    assert subjects <= named


def test_every_public_name_has_an_example():
    """Give an example that runs to what is listed; an entry of WITHOUT_EXAMPLE that has one is listed too."""
    assert {name for name, thing in public().items() if not examples(thing)} == set(WITHOUT_EXAMPLE)


def test_every_member_of_the_top_level_is_shown_in_use():
    classes = [thing for thing in (getattr(theoryck, name) for name in theoryck.__all__) if inspect.isclass(thing)]
    assert {thing.__name__: unused for thing in classes if (unused := unused_members(thing))} == {}


def raising(thing):
    """Whether a function, or what makes an object of a class, raises an exception itself (what it calls is not looked into)."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(thing) if callable(thing) else thing))).body[0]
    made = ("__init__", "__post_init__", "__new__")
    bodies = [n for n in tree.body if getattr(n, "name", "") in made] if isinstance(tree, ast.ClassDef) else [tree]
    raised = [n.exc for body in bodies for n in ast.walk(body) if isinstance(n, ast.Raise) and n.exc is not None]
    return any(ast.unparse(exception) != "NotImplementedError" for exception in raised)


def silent_about_errors(name, thing):
    """The names of what raises and does not say so: a function, a class, and its members (which inherit what a base says)."""
    things = {name: thing} | ({f"{name}.{member}": f for member, f in members(thing)} if inspect.isclass(thing) else {})
    said = ("aise", "Error", "NotConverged", "NotIntegrable")
    return [each for each, f in things.items() if raising(f) and not any(word in (inspect.getdoc(f) or "") for word in said)]


def test_whoever_raises_says_so():
    assert [each for name, thing in public().items() for each in silent_about_errors(name, thing)] == []


SHAPE = re.compile(r"shape|\((\.\.\.|[A-Za-z0-9]+),[^()]*\)")


def arrays_without_shape(name, thing):
    """The names of functions and methods that take arrays and name no shape, such as ``(n, d)``, ``(draws,)`` or "any shape"."""
    things = {f"{name}.{member}": f for member, f in members(thing)} if inspect.isclass(thing) else {name: inspect.unwrap(thing)}
    found = []
    for each, function in things.items():
        taken = [str(hint) for argument, hint in getattr(function, "__annotations__", {}).items() if argument != "return"]
        if any(re.search(r"\b(ArrayLike|NDArray|Array|Floats)\b", hint) for hint in taken if "Callable" not in hint):
            found += [each] if not SHAPE.search((function.__doc__ or "").partition(">>>")[0]) else []
    return found


def test_whoever_takes_arrays_names_their_shapes():
    assert [each for name, thing in public().items() for each in arrays_without_shape(name, thing)] == []


def test_examples_show_something():
    """``is not None`` and a bare ``True`` after a name say nothing of what comes out."""
    idle = [name for name, thing in public().items() for example in examples(thing) if " is not None" in example.source]
    assert idle == []


def written(source):
    """The examples in all docstrings of a module, as its text has them."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    return sum(len(PARSER.get_examples(ast.get_docstring(node) or "")) for node in nodes)


class _Collected:
    """A plugin that notes how many examples pytest collects from each file."""

    def __init__(self):
        self.counts = Counter()

    def pytest_collection_modifyitems(self, items):
        for item in items:
            self.counts[str(item.path)] += len(item.dtest.examples)


def collected(folder, tmp_path):
    """Examples a file of ``folder``, as ``pytest --doctest-modules`` collects them."""
    config, found = tmp_path / "pytest.ini", _Collected()
    config.write_text("[pytest]\n")
    options = ["--collect-only", "-qq", "--doctest-modules", "--import-mode=importlib", "-c", str(config), f"--rootdir={folder}"]
    code = pytest.main([str(folder), *options, *[f"-pno:{name}" for name in ("theoryck", "cacheprovider", "xdist")]], [found])
    assert code == 0, code
    return found.counts


def test_pytest_collects_every_example_that_is_written(tmp_path):
    expected = {str(path): written(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    counts = collected(PACKAGE, tmp_path)
    assert {path: count for path, count in expected.items() if count} == dict(counts)
    assert sum(counts.values()) > 1000


NOTHING_SHOWN = '''
"""A module."""

class Named:
    """A name."""

    def used(self):
        """Return one.

        >>> Named().used()
        1
        """
        return 1

    def idle(self):
        """Return two."""
        return 2

def hidden():
    """Return a function whose example no finder sees."""

    def inner():
        """Return three.

        >>> 1 + 2
        3
        """

    return inner

def silent(): ...

def fails(values: "ArrayLike"):
    """Return nothing."""
    raise ValueError(values)
'''


def test_what_is_missing_would_be_seen(tmp_path):
    path = tmp_path / "shown" / "nothing_shown_at_all.py"
    path.parent.mkdir()
    path.write_text(NOTHING_SHOWN)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not examples(module.Named)
    assert unused_members(module.Named) == ["idle"]
    assert summary_problem(module.silent) == "no docstring"
    assert silent_about_errors("f", module.fails) == ["f"]
    assert arrays_without_shape("f", module.fails) == ["f"]
    assert "no sentence" in summary_problem(type("X", (), {"__doc__": "words without an end"}))
    assert written(NOTHING_SHOWN) == 2
    assert sum(collected(path.parent, tmp_path).values()) == 1
