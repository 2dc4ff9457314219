"""What drew a number, as text: so that numbers on a disk are never taken for those of another sampler.

The code of a library quantity is its class, its ``version``, theoryck's version, a digest of the source files of the rooms that
draw (models, exact, asymptotics, montecarlo, quantities) and the versions of numpy and scipy.  For a user's function there is
more: the source files of its module, of the user's other modules that it names, and of all that these import, however deep and
wherever the import is written (:mod:`theoryck.quantities.sources`); its bytecode and constants, defaults, closure, and the globals
it names (functions are followed, data are described by their values).  A changed comment changes the digest: draws are made again
rather than taken for what they are not.

Not seen, and then the author must raise ``version=`` (``@quantity(version=2)``): modules whose names are computed
(``import_module(name)``), data files that are read while drawing, environment variables, and programs outside Python.  The
processor is no part of it either: the last bits of a matrix product may differ between two.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from theoryck.quantities.sources import imported_in, sources, submodules

ROOMS = ("models", "exact", "asymptotics", "montecarlo", "quantities")
_PLAIN = (bool, int, str, bytes, type(None), type(...), Fraction, Decimal, range, np.dtype)


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
    digest = hashlib.sha256()
    for file in sorted(file for room in ROOMS for file in (root / room).rglob("*.py")):
        body = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()} {len(body)}\n".encode() + body)
    return {
        "theoryck": theoryck.__version__,
        "source": digest.hexdigest(),
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

    Raises Undescribable when one of them holds what cannot be described by its value.

    >>> fingerprint(_Describer, 1, {}).code["class"]
    'theoryck.quantities.fingerprints._Describer'
    """
    code: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}", "version": version, "library": library()}
    if not drawn_by:
        return Fingerprint(code)
    describer = _Describer()
    text = json.dumps([describer.describe(part, name) for name, part in drawn_by.items()])
    found = sources(describer.modules)
    # The folder is left out: a project may move.
    files = json.dumps(sorted(found.modules))
    sampler = {"python": platform.python_version(), "objects": _digest(text), "files": _digest(files)}
    return Fingerprint(code | {"sampler": sampler}, dict(sorted(found.files.items())))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class _Describer:
    """Turns objects into JSON data by value, following functions; collects the names of modules on its way."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no address in ``seen`` is used twice

    def describe(self, value: Any, where: str) -> Any:
        """Return JSON data for a value; Undescribable names where there is none."""
        if type(value) in _PLAIN or (isinstance(value, np.dtype) and value.fields is None):
            return [type(value).__name__, repr(value)]
        if isinstance(value, float | complex) and type(value) in (float, complex):
            return [type(value).__name__, np.array(value).tobytes().hex()]
        # Only what can hold itself is looked up: whether equal constants are one object depends on how the code was loaded.
        if not isinstance(value, tuple | frozenset):
            if id(value) in self.seen:
                return ["again", self.seen[id(value)]]
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)
        for kinds, method in _METHODS:
            if isinstance(value, kinds):
                return [type(value).__name__, method(self, value, where)]
        return self._object(value, where)

    def _function(self, function: FunctionType, where: str) -> Any:
        if _installed(function.__module__):
            return _qualified(function.__module__, function.__qualname__)
        name = f"the function {function.__qualname__!r}"
        closure = {}
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                closure[variable] = self.describe(cell.cell_contents, f"{variable!r}, which {name} closes over")
            except ValueError:  # a cell that is not filled yet
                closure[variable] = None
        return {
            "code": self._code(function.__code__, name),
            "defaults": self.describe(function.__defaults__, f"a default of {name}"),
            "keywords": self.describe(function.__kwdefaults__, f"a default of {name}"),
            "closure": closure,
            "globals": self._globals(function, name, self._file(function.__module__)),
        }

    def _globals(self, function: FunctionType, name: str, in_file: bool) -> dict[str, Any]:
        found = {}
        names = _names(function.__code__)
        for variable in sorted(names):
            if variable not in function.__globals__:
                continue
            if isinstance(module := function.__globals__[variable], ModuleType):
                self.modules.update(submodules(module.__name__, names))
            try:
                found[variable] = self.describe(function.__globals__[variable], f"the global {variable!r} of {name}")
            except Undescribable:
                # Its module's source, which is part of the fingerprint, says how it is made.
                if not in_file:
                    raise
                found[variable] = None
        return found

    def _code(self, code: CodeType, where: str) -> Any:
        self.modules.update(imported_in(code))
        constants = [
            self._code(entry, where) if isinstance(entry, CodeType) else self.describe(entry, f"a constant of {where}")
            for entry in code.co_consts
        ]
        flags = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable.hex()]
        return [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, flags]

    def _file(self, module: str | None) -> bool:
        """Note the source file of a user's module; say whether there is one."""
        file = getattr(sys.modules.get(module or ""), "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or not Path(file).is_file():
            return False
        self.modules.add(str(module))
        return True

    def _module(self, module: ModuleType, where: str) -> Any:
        if not _installed(module.__name__):
            self._file(module.__name__)
            return module.__name__
        return _qualified(module.__name__)

    def _class(self, kind: type, where: str) -> Any:
        if _installed(kind.__module__):
            return _qualified(kind.__module__, kind.__qualname__)
        in_file = self._file(kind.__module__)
        members = {}
        for base in kind.__mro__[:-1]:
            for name, member in sorted(vars(base).items()):
                function = getattr(member, "__func__", getattr(member, "fget", None) or member)
                if isinstance(function, FunctionType) and not _installed(base.__module__):
                    members[f"{base.__qualname__}.{name}"] = self.describe(function, f"{where}.{name}")
                elif not in_file and not _installed(base.__module__) and not name.startswith("__"):
                    members[f"{base.__qualname__}.{name}"] = self.describe(member, f"{where}.{name}")
        return [kind.__qualname__, [base.__qualname__ for base in kind.__mro__], members]

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.hasobject or type(array) is not np.ndarray:
            raise self._cannot(array, where)
        return [array.dtype.str, repr(array.dtype), array.shape, hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()]

    def _sequence(self, value: Any, where: str) -> Any:
        return [self._exactly(value, where), [self.describe(entry, f"{where}[{place}]") for place, entry in enumerate(value)]]

    def _set(self, value: Any, where: str) -> Any:
        # Members are described apart, so that their order, which differs from run to run, does not show.
        return sorted(json.dumps(self._apart(entry, where), sort_keys=True) for entry in value)

    def _apart(self, value: Any, where: str) -> Any:
        other = _Describer()
        other.modules = self.modules
        return other.describe(value, where)

    def _mapping(self, value: Any, where: str) -> Any:
        self._exactly(value, where)
        return [[self.describe(key, where), self.describe(entry, f"{where}[{key!r}]")] for key, entry in value.items()]

    def _exactly(self, value: Any, where: str) -> Any:
        """Return the class of a container, which must not hold more than its entries unless its code is seen."""
        kind = type(value)
        return kind.__qualname__ if _installed(kind.__module__) else self.describe(kind, where)

    def _object(self, value: Any, where: str) -> Any:
        from theoryck.numerics.functions.activation import Activation
        from theoryck.quantities.base import Quantity

        kind = type(value)
        if isinstance(value, Activation):
            return ["Activation", value.text]
        if isinstance(value, Quantity):
            parts = [self.describe(part, f"{name!r} of {where}") for name, part in value.drawn_by().items()]
            parameters = json.dumps(value.parameters, sort_keys=True, default=str)
            return ["Quantity", self.describe(kind, where), value.name, parameters, value.version, parts]
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return ["scalar", value.dtype.str, value.tobytes().hex()]
        if isinstance(value, enum.Enum):
            return ["enum", self.describe(kind, where), value.name]
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(value, functools._lru_cache_wrapper) and wrapped is not None:
            return ["cached", self.describe(wrapped, where)]
        if dataclasses.is_dataclass(value):
            named = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
            return [
                "dataclass",
                self.describe(kind, where),
                [[name, self.describe(entry, f"{where}.{name}")] for name, entry in named],
            ]
        if not _installed(kind.__module__) and hasattr(value, "__dict__") and not hasattr(kind, "__slots__"):
            members = [[name, self.describe(entry, f"{where}.{name}")] for name, entry in sorted(vars(value).items())]
            return ["object", self.describe(kind, where), members]
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(name, str) and _installed(module) and getattr(sys.modules[str(module)], name, None) is value:
            return ["installed", _qualified(str(module), name)]  # such as numpy.linalg.norm, which is no plain function
        raise self._cannot(value, where)

    @staticmethod
    def _cannot(value: Any, where: str) -> Undescribable:
        return Undescribable(f"{where} is a {type(value).__module__}.{type(value).__qualname__}, whose value cannot be told")

    def _partial(self, value: functools.partial[Any], where: str) -> Any:
        return [self.describe(part, where) for part in (value.func, value.args, value.keywords)]

    def _method(self, value: MethodType, where: str) -> Any:
        return [self.describe(value.__func__, where), self.describe(value.__self__, f"the object of {where}")]

    def _builtin(self, value: Any, where: str) -> Any:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType | type):
            raise self._cannot(value, where)
        name = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', value.__name__)}"
        return [name, owner.__name__ if owner is not None else None]


_METHODS: tuple[tuple[Any, Callable[[_Describer, Any, str], Any]], ...] = (
    (FunctionType, _Describer._function),
    (MethodType, _Describer._method),
    (functools.partial, _Describer._partial),
    ((BuiltinFunctionType, np.ufunc), _Describer._builtin),
    (ModuleType, _Describer._module),
    (type, _Describer._class),
    (np.ndarray, _Describer._array),
    ((list, tuple), _Describer._sequence),
    ((set, frozenset), _Describer._set),
    (dict, _Describer._mapping),
)


def _qualified(module: str, name: str = "") -> list[str]:
    """Return the name of something installed with the version of its package."""
    package = sys.modules.get(module.partition(".")[0])
    return [f"{module}.{name}", str(getattr(package, "__version__", ""))]


def _names(code: CodeType) -> set[str]:
    """Return the global and attribute names that a code object and those inside it mention."""
    return {*code.co_names}.union(*(_names(entry) for entry in code.co_consts if isinstance(entry, CodeType)))


@functools.cache
def _roots() -> tuple[str, ...]:
    from theoryck.montecarlo.payload import _installed_roots

    return _installed_roots()


def _installed(name: str | None) -> bool:
    """Whether a module is the standard library's, an installed package's or theoryck's own: a version stands for its code."""
    module = sys.modules.get(name or "")
    if module is None or name == "__main__":
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return name in sys.builtin_module_names or name in sys.stdlib_module_names
    return Path(file).resolve().as_posix().startswith(_roots())
