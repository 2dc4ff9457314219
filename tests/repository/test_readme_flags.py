"""Every flag that the sources can raise is explained in docs/verdicts.md, and nothing else is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import theoryck

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (\*.+?\*) \|", PAGE[PAGE.index("## Flags") : PAGE.index("## Budgets")], re.MULTILINE)
EXPLAINED = [flag for line in LINES for flag in re.findall(r"\*(.+?)\*", line)]
ROOMS = ("auditing", "checking", "fitting", "judging", "montecarlo", "planning", "quantities", "records")
PACKAGE = Path(theoryck.__file__).parent
SOURCES = {path.as_posix(): path.read_text(encoding="utf-8") for room in ROOMS for path in (PACKAGE / room).rglob("*.py")}
MAKERS = {"flags", "_log_flags", "_hidden_log", "_likelier_log", "_told"}  # functions that return or yield flags


def texts(node: ast.AST, constants: dict[str, str]) -> Iterator[str]:
    """The flags in an expression: of a text with numbers in it, its longest piece."""
    if isinstance(node, ast.Compare):
        return  # what a flag is compared with
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        pieces = [part.value for part in node.values if isinstance(part, ast.Constant)]
        yield max(pieces, key=len, default="")
    elif isinstance(node, ast.Name) and node.id in constants:
        yield constants[node.id]
    elif isinstance(node, ast.IfExp):
        yield from (text for part in (node.body, node.orelse) for text in texts(part, constants))
    elif not isinstance(node, ast.Call):
        yield from (text for child in ast.iter_child_nodes(node) for text in texts(child, constants))


def name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions whose texts become flags."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "flags")
            added = isinstance(node.func, ast.Attribute) and node.func.attr in {"append", "add", "extend"}
            if added and name_of(node.func.value) == "flags":
                yield from node.args
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name_of(name) for target in targets for name in getattr(target, "elts", [target])]
            if node.value is not None and "flags" in names:
                yield node.value
        elif isinstance(node, ast.FunctionDef) and node.name in MAKERS:
            yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield) and each.value)


def raised(source: str, constants: dict[str, str]) -> set[str]:
    return {text.strip() for place in places(ast.parse(source)) for text in texts(place, constants) if len(text.strip()) > 3}


def constants() -> dict[str, str]:
    """Names in capitals that stand for a text, in all sources."""
    found = {}
    for source in SOURCES.values():
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                found |= {name.id: node.value.value for name in node.targets if isinstance(name, ast.Name) and name.id.isupper()}
    return found


def missing(source: str, known: dict[str, str]) -> set[str]:
    return {text for text in raised(source, known) if not any(text in flag for flag in EXPLAINED)}


def test_every_flag_of_the_sources_is_explained():
    known = constants()
    found = {path: raised(source, known) for path, source in SOURCES.items()}
    rooms = {Path(path).relative_to(PACKAGE).parts[0] for path, flags in found.items() if flags}
    assert rooms >= {"auditing", "checking", "fitting", "judging", "montecarlo"}
    assert {text for flags in found.values() for text in flags if not any(text in flag for flag in EXPLAINED)} == set()


def searched(flag: str) -> str:
    """The longest piece of an explained flag without what stands for names and numbers."""
    pieces = re.split(r" at d = 64| d = 64|\.\.\.|\d[\d, of]*|log\(d\)|twice|\^", flag)
    return max(pieces, key=len).strip(" :()")


def test_no_flag_is_explained_that_none_raises():
    assert all(len(searched(flag)) > 3 for flag in EXPLAINED)
    assert [flag for flag in EXPLAINED if not any(searched(flag) in source for source in SOURCES.values())] == []
    assert len(EXPLAINED) > 20


@pytest.mark.parametrize(
    "source",
    [
        'Judgement(flags=("brand-new",))',
        'NEW = "brand-new"\nself.flags.add(NEW)',
        'flags += ("poor-fit", f"brand-new at {size}")',
        'def _told():\n    yield f"brand-new in {size} sizes"',
    ],
)
def test_a_flag_that_is_not_explained_would_be_seen(source):
    [text] = missing(source, {"NEW": "brand-new"})
    assert text.startswith("brand-new")
