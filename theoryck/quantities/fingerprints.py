"""What drew a number, as text: so that numbers on a disk are never taken for those of another sampler.

The code of a library quantity is its class, its ``version``, the versions of theoryck, numpy and scipy and a digest of the rooms
that draw.  A user's sampler adds digests of the files of its modules and of all modules of the user's that these name, the versions
of installed packages that they import, and its bytecode, defaults, closure and the globals it names, by value: two samplers of
one factory are two.  A file counts when its name stands in an import or in the code, so a changed comment, or a file beside it that
is called like an attribute, draws again: draws are made twice rather than taken for what they are not.

Not seen, and then the author must raise ``version=`` (``@quantity(version=2)``): modules whose names are computed
(``import_module(name)``), what is set in another module at run time, data files that are read while drawing, environment
variables, and programs outside Python. The processor is no part of it either: the last bits of a matrix product may differ
between two.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import platform
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from theoryck.montecarlo.payload import is_installed

ROOMS = ("montecarlo", "numerics", "quantities", "theory")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CHANGING = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
_NO_PART = {*sys.stdlib_module_names, "theoryck", "numpy", "scipy", "hypothesis", "pytest"}
"""Packages that make no draws, or whose version is told already."""


class Undescribable(TypeError):
    """A sampler that depends on something whose value cannot be told; the message says what."""


@functools.cache
def library() -> dict[str, str]:
    """Return what all samplers of this theoryck share: versions, and a digest of the source of the rooms that draw.

    >>> sorted(library())
    ['machine', 'numpy', 'scipy', 'source', 'theoryck']
    """
    import theoryck

    root = Path(theoryck.__path__[0])
    files = sorted(file for room in ROOMS for file in (root / room).rglob("*.py"))
    return {
        "theoryck": theoryck.__version__,
        "source": _digest([[file.relative_to(root).as_posix(), _digest(file.read_bytes())] for file in files]),
        "numpy": np.__version__,
        "scipy": importlib.metadata.version("scipy"),
        "machine": platform.machine(),
    }


@dataclasses.dataclass(frozen=True, slots=True)
class Fingerprint:
    """``code`` is JSON data that differs when the draws may differ; ``files`` are a user's source files and their digests."""

    code: Mapping[str, Any]
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)


def fingerprint(kind: type, version: int, drawn_by: Mapping[str, Any]) -> Fingerprint:
    """Return the fingerprint of a quantity of class ``kind``; ``drawn_by`` names the user's objects that draw (none: the library).

    Raises Undescribable where one of them holds what cannot be described by its value.
    """
    code: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}", "version": version, "library": library()}
    if not drawn_by:
        return Fingerprint(code)
    describer = _Describer(set())
    try:
        objects = [describer.describe(part, name) for name, part in drawn_by.items()]
    except RecursionError:
        raise Undescribable(f"{' and '.join(drawn_by)} holds objects inside objects, too deep for its value to be told") from None
    files, packages = _sources(describer.words)
    # Neither paths nor names: a project may move, and how a file of claims is called depends on who loaded it.
    sampler = {"objects": _digest(objects), "files": list(files.values()), "packages": packages}
    return Fingerprint(code | {"sampler": {"python": platform.python_version(), **sampler}}, files)


def _digest(data: Any) -> str:
    return hashlib.sha256(data if isinstance(data, bytes) else json.dumps(data).encode()).hexdigest()


class _Describer:
    """Turns objects into JSON data by value, following functions; ``words`` collects the names of modules and those in code."""

    def __init__(self, words: set[str]) -> None:
        self.words = words
        self.seen: dict[int, tuple[int, Any]] = {}  # with the object, so that no address is used twice

    def describe(self, value: Any, where: str) -> Any:
        """Return JSON data for a value; Undescribable names where there is none."""
        kind = type(value)
        if kind in _PLAIN:
            return [kind.__name__, _digest(value) if kind is bytes else repr(value)]
        # Only what can hold itself is looked up: whether equal constants are one object depends on how the code was loaded.
        if kind not in (tuple, frozenset):
            if id(value) in self.seen:
                return ["again", self.seen[id(value)][0]]
            self.seen[id(value)] = len(self.seen), value
        if kind in (tuple, list):
            return [kind.__name__, *(self.describe(entry, where) for entry in value)]
        if kind in (set, frozenset):  # members apart, so that their order, which differs from run to run, does not show
            return [kind.__name__, *sorted(json.dumps(_Describer(self.words).describe(entry, where)) for entry in value)]
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, ModuleType):
            module, name = value.__name__, ""
        if isinstance(module, str) and isinstance(name, str):
            self.words.update([module, *module.split(".")])
            if not name or (module in sys.modules and not _is_users(module) and _attribute(sys.modules[module], name) is value):
                return ["named", module, name]  # such as numpy.linalg.norm
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        if isinstance(value, FunctionType):
            return ["function", *self._function(value)]
        if isinstance(value, type):
            members = [(name, _functions(member)) for name, member in sorted(vars(value).items())]
            own = [pair for pair in members if isinstance(pair[1], FunctionType) or not pair[0].startswith(("__", "_abc_"))]
            described = [[name, self._or_source(member, f"{where}.{name}", value.__module__)] for name, member in own]
            return ["class", value.__qualname__, self.describe(value.__bases__, where), described]
        if hasattr(kind, "drawn_by"):
            parts = [self.describe(part, f"{name!r} of {where}") for name, part in value.drawn_by().items()]
            return ["quantity", self.describe(kind, where), value.name, str(value.parameters), value.version, parts]
        if isinstance(value, functools._lru_cache_wrapper):
            return ["cached", self.describe(value.__wrapped__, where)]
        if dataclasses.is_dataclass(value):
            fields = [self.describe(getattr(value, field.name), where) for field in dataclasses.fields(value)]
            return [self.describe(kind, where), *fields, *self._beside(value, {f.name for f in dataclasses.fields(value)}, where)]
        try:
            if kind is object or isinstance(value, _CHANGING) or hasattr(kind, "__next__"):
                raise TypeError
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            raise Undescribable(f"{where} is a {kind.__module__}.{kind.__qualname__}, whose value cannot be told") from error
        parts = [list(part) if isinstance(part, Iterator) else part for part in reduced] if isinstance(reduced, tuple) else reduced
        return ["object", self.describe(kind, where), self.describe(parts, where), *self._beside(value, set(), where)]

    def _beside(self, value: Any, known: set[str], where: str) -> Iterator[Any]:
        """Describe what a user's object keeps beside ``known``, for its reduction may leave something out that its draws depend on.

        What has no value to be told, such as a lock, is taken to be left out for that reason.
        """
        for name, member in kept(value) if _is_users(type(value).__module__) else ():
            if name not in known:
                before = dict(self.seen)
                try:
                    yield [name, self.describe(member, where)]
                except Undescribable:
                    self.seen = before

    def _function(self, function: FunctionType) -> Iterator[Any]:
        name, code = f"the function {function.__qualname__!r}", function.__code__
        yield self._code(code, name)
        yield self.describe([function.__defaults__, function.__kwdefaults__], f"a default of {name}")
        for variable, cell in zip(code.co_freevars, function.__closure__ or ()):
            try:
                yield variable, self.describe(cell.cell_contents, f"{variable!r}, which {name} closes over")
            except ValueError:  # a cell that is not filled yet
                yield variable, None
        for variable in sorted(_names(code) & function.__globals__.keys()):
            value = function.__globals__[variable]
            yield variable, self._or_source(value, f"the global {variable!r} of {name}", function.__module__)

    def _or_source(self, value: Any, where: str, module: str) -> Any:
        before = dict(self.seen)
        try:
            return self.describe(value, where)
        except Undescribable:
            # The source of the module, which is part of the fingerprint, says how it is made.
            if getattr(sys.modules.get(module), "__file__", None) is None:
                raise
            self.seen = before  # what was described on the way is not told yet
            return None

    def _code(self, code: CodeType, where: str) -> Any:
        self.words.update(_names(code))
        inner = [self._code(each, where) if isinstance(each, CodeType) else self.describe(each, where) for each in code.co_consts]
        flags = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable.hex()]
        return [code.co_code.hex(), inner, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, flags]


def kept(value: Any) -> list[tuple[str, Any]]:
    """Return by name what an object keeps in its dict and its slots, but for what it caches of the rest."""
    found = dict(getattr(value, "__dict__", {}))
    cached = set()
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, functools.cached_property):
                cached.add(name)
            elif isinstance(member, MemberDescriptorType) and hasattr(value, name):
                found[name] = getattr(value, name)
    return sorted((name, member) for name, member in found.items() if name not in cached)


def _attribute(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _functions(member: Any) -> Any:
    """Return the function behind a member of a class, where it is one."""
    match member:
        case staticmethod() | classmethod():
            return member.__func__
        case property():
            return (member.fget, member.fset)
        case functools.cached_property():
            return member.func
    return member


def _names(code: CodeType) -> set[str]:
    """Return the global and attribute names that a code object and those inside it mention, imports part by part."""
    own = {part for name in code.co_names for part in name.split(".")}
    return own.union(*(_names(entry) for entry in code.co_consts if isinstance(entry, CodeType)))


def _sources(words: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the user's files that are named, with their digests, and the installed packages, with their versions.

    ``words`` may name modules, packages and what is in these; so may the imports of each file that is found.  Nothing is run.
    """
    files: dict[str, str] = {}
    packages: dict[str, str] = {}
    waiting = [(words, words, list[Path]())]
    while waiting:
        tops, words, folders = waiting.pop()
        found = []
        for top in tops:
            places = _places(top)
            if places and not any(map(is_installed, map(str, places))):
                found += places
            elif places and (package := top.partition(".")[0]) not in _NO_PART:
                packages[package] = version_of(package)
        folders = [*folders, *(place for place in found if place.is_dir())]
        known = {folder.resolve() for folder in folders}
        for folder in folders:  # which grows
            found += [folder / "__init__.py", *(folder / f"{word}.py" for word in words)]
            inner = {(folder / word).resolve(): folder / word for word in sorted(words) if (folder / word).is_dir()}
            folders += [place for real, place in inner.items() if real not in known]  # a link may lead back
            known |= inner.keys()
        for file in found:
            if file.is_file() and str(file) not in files:
                source = file.read_bytes()
                files[str(file)] = _digest(source)
                waiting += [_imported(source, file)] if file.suffix == ".py" else []
    return dict(sorted(files.items())), dict(sorted(packages.items()))


@functools.lru_cache(maxsize=1024)
def _imported(source: bytes, file: Path) -> tuple[set[str], set[str], list[Path]]:
    """Return the top packages that a file imports, the names that may be in these, and the folders it imports from by dots."""
    tops, words, names, texts = (set[str]() for _ in range(4))
    folders: set[Path] = set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return tops, words, []  # Python cannot import it either
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                module = getattr(node, "module", None)
                named = [*(alias.name for alias in node.names), *([module] if module else [])]
                words |= {part for name in named for part in name.split(".")}
                if isinstance(node, ast.ImportFrom) and node.level:
                    folders |= {*file.parents[node.level - 1 : node.level]}
                else:
                    tops |= {name.partition(".")[0] for name in (named if module is None else [module])}
            case ast.Attribute(attr=name):
                words.add(name)
            case ast.Name(id=name):
                names.add(name)
            case ast.Constant(value=str(text)) if text.replace(".", "").isidentifier():
                texts |= {part for part in text.split(".") if part}
    words |= names if "*" in words else set()
    if {"import_module", "__import__"} & (words | names):
        tops, words = tops | texts, words | texts
    return tops, words, sorted(folders)


@functools.cache
def version_of(top: str) -> str:
    """Return the version of the installed distribution that a package belongs to, an empty text where there is none."""
    return " ".join(importlib.metadata.version(name) for name in importlib.metadata.packages_distributions().get(top, ()))


def _places(top: str) -> list[Path]:
    """Return the file of a module that is in no package, and the folders of its submodules; nothing is imported."""
    module = sys.modules.get(top)
    if module is not None:
        file, folders = getattr(module, "__file__", None), getattr(module, "__path__", None)
    else:
        spec = importlib.util.find_spec(top) if top.isidentifier() else None
        file, folders = (spec.origin if spec.has_location else None, spec.submodule_search_locations) if spec else (None, None)
    return [Path(place).resolve() for place in (file, *(folders or ())) if isinstance(place, str)]


def _is_users(module: str) -> bool:
    """Whether a module is neither the standard library's nor an installed package's nor theoryck's own."""
    places = _places(module)
    return not any(map(is_installed, map(str, places))) if places else module.partition(".")[0] not in sys.stdlib_module_names
