"""The user's own source files behind a function: those of its modules, and all that these import, however deep.

Import statements are read, not run: ``import a.b``, ``from . import c``, ``from a import *``, ``import_module("a.b")``, at the top
of a file or inside a function, and attributes such as ``a.b`` that are submodules.  Installed packages, the standard library and
theoryck are left out: a version stands for them.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import importlib.machinery
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

STAR = "*"
_IMPORTERS = ("import_module", "__import__")


@dataclass(frozen=True, slots=True)
class Sources:
    """``files``: path and digest of each file; ``modules``: name and digest of each module, where no folder shows."""

    files: dict[str, str] = field(default_factory=dict)
    modules: set[tuple[str, str]] = field(default_factory=set)


def sources(names: Iterable[str]) -> Sources:
    """Return the user's files behind these modules and behind all that they import; what is not a user's file is passed over.

    >>> sources(["numpy", "theoryck.records", "json"])
    Sources(files={}, modules=set())
    """
    digests: dict[str, tuple[Path, str]] = {}
    waiting = sorted(set(names))
    seen: set[str] = set()
    imported: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        file, _ = locate(name)
        if file is None or not _is_users(file):
            continue
        body = file.read_bytes()
        digests[name] = file, hashlib.sha256(body).hexdigest()
        if file.suffix == ".py":
            package = name if file.name == "__init__.py" else name.rpartition(".")[0]
            reached = {each for wanted in _wanted(body) for each in _resolved(wanted, package)}
            imported |= reached
            waiting += sorted(reached)
    # What is imported is called as its importer calls it; how a file of claims is called depends on who loaded it.
    modules = {(name if name in imported else file.name, digest) for name, (file, digest) in digests.items()}
    return Sources({str(file): digest for file, digest in digests.values()}, modules)


def locate(name: str) -> tuple[Path | None, list[str] | None]:
    """Return the file of a module and, for a package, the folders of its submodules; nothing is imported."""
    module = sys.modules.get(name)
    if module is not None:
        file, path = getattr(module, "__file__", None), getattr(module, "__path__", None)
    else:
        parent = name.rpartition(".")[0]
        folders = locate(parent)[1] if parent else None
        if parent and folders is None:
            return None, None
        spec = _spec(name, folders)
        file, path = (spec.origin if spec.has_location else None, spec.submodule_search_locations) if spec else (None, None)
    known = Path(file).resolve() if isinstance(file, str) else None
    return known if known is not None and known.is_file() else None, [str(entry) for entry in path] if path is not None else None


def _spec(name: str, folders: list[str] | None) -> importlib.machinery.ModuleSpec | None:
    # importlib.util.find_spec would import the parent.
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec: importlib.machinery.ModuleSpec | None = find(name, folders) if find is not None else None
        if spec is not None:
            return spec
    return None


def _is_users(file: Path) -> bool:
    from theoryck.montecarlo.payload import _installed_roots

    return not file.as_posix().startswith(_installed_roots())


def submodules(name: str, attributes: Iterable[str]) -> Iterator[str]:
    """Yield the submodules of a user's package that these attribute names may mean, and theirs."""
    named = set(attributes)
    file, folders = locate(name)
    if not folders or (file is not None and not _is_users(file)):
        return
    for attribute in sorted(named):
        inner = f"{name}.{attribute}"
        if locate(inner) != (None, None):
            yield inner
            yield from submodules(inner, named - {attribute})


def imported_in(code: CodeType) -> Iterator[str]:
    """Yield the names of what a code object imports: for functions without a file, such as those of a notebook."""
    module = ""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            module = str(step.argval)
            yield module
        elif step.opname == "IMPORT_FROM":
            yield f"{module}.{step.argval}"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An import as written: ``level`` dots, a module, and a name in it that may be a submodule."""

    level: int
    module: str
    name: str = ""


@functools.lru_cache(maxsize=1024)
def _wanted(body: bytes) -> tuple[_Wanted, ...]:
    """Return what a source file imports, and the attributes of what it imports."""
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError):
        return ()  # Python cannot import it either
    found: list[_Wanted] = []
    bound: dict[str, list[_Wanted]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                wanted = _Wanted(0, alias.name)
                found.append(wanted)
                top = alias.asname or alias.name.partition(".")[0]
                bound.setdefault(top, []).append(wanted if alias.asname else _Wanted(0, top))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                wanted = _Wanted(node.level, node.module or "", alias.name)
                found.append(wanted)
                bound.setdefault(alias.asname or alias.name, []).append(_Wanted(node.level, _joined(node.module, alias.name)))
        elif isinstance(node, ast.Call):
            found += _called(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = _chain(node)
            found += [_Wanted(start.level, _joined(start.module, *rest[:-1]), rest[-1]) for start in bound.get(first, ()) if rest]
    return tuple(dict.fromkeys(found))


def _joined(*parts: str | None) -> str:
    return ".".join(part for part in parts if part)


def _chain(node: ast.expr) -> list[str]:
    """Return a.b.c as its names; [""] where it does not start with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else [""]


def _called(node: ast.Call) -> list[_Wanted]:
    """Return the module of ``import_module("a.b")`` where it is written out."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    if called not in _IMPORTERS or not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
        return []
    module = first.value.lstrip(".")
    return [_Wanted(len(first.value) - len(module), module)]


def _resolved(wanted: _Wanted, package: str) -> Iterator[str]:
    """Yield the modules that an import in a module of ``package`` runs: the packages above, the module, a submodule."""
    module = wanted.module
    if wanted.level:
        above = package.split(".")
        if not package or wanted.level > len(above):
            return  # Python cannot import it either
        module = _joined(".".join(above[: len(above) - wanted.level + 1]), module)
    parts = module.split(".")
    if _installed_package(parts[0]):
        return
    yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    if wanted.name == STAR:
        yield from _listed(module)
    elif wanted.name:
        yield f"{module}.{wanted.name}"


def _installed_package(top: str) -> bool:
    file, folders = locate(top)
    return top in sys.stdlib_module_names or (file is not None and not _is_users(file)) or (file is None and not folders)


def _listed(package: str) -> Iterator[str]:
    """Yield the submodules in the ``__all__`` of a package, which ``from package import *`` imports."""
    module = sys.modules.get(package)
    listed = getattr(module, "__all__", ()) if isinstance(module, ModuleType) else ()
    yield from (f"{package}.{name}" for name in listed if isinstance(name, str))
