"""How a function travels to another process: cloudpickle, with the user's own modules by value.

A claims file is loaded by pytest or by the command line under a name that another process cannot import, and importing it there
would cost seconds.  So functions of modules outside the standard library, outside the installed packages and outside theoryck are
sent by value.  These bytes are made and read by processes of one session; nothing is ever read from a file.

A module that a function names travels as an empty module, and what it holds follows entry by entry after the function: modules may
hold each other, and an entry that cannot be sent (a lock) is missed only where it is used.  It stands in the worker's
``sys.modules`` under its name.  A function that looks names up in its own module (``globals()``, ``sys.modules[__name__]``) takes
all of that module along.
"""

from __future__ import annotations

import functools
import io
import operator
import pickle
import site
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any


class PayloadError(TypeError):
    """A function cannot be sent to another process.

    >>> import threading
    >>> lock = threading.Lock()
    >>> encode(lambda: lock)
    Traceback (most recent call last):
        ...
    theoryck.montecarlo.payload.PayloadError: the sampler cannot be sent to another process: cannot pickle '_thread.lock'
    object...; keep open files, locks and generators out of it (make them inside the sampler), or run with one worker
    """


_PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages"})


@functools.cache
def _installed_roots() -> tuple[str, ...]:
    import theoryck

    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [str(Path(folder)) for folder in theoryck.__path__]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple(Path(path).resolve().as_posix() + "/" for path in paths if path)


@functools.cache
def is_installed(path: str) -> bool:
    """Whether a file is the standard library's, an installed package's or theoryck's own."""
    resolved = Path(path).resolve()
    # A folder of packages that a .pth file names stands in no list of site's; workers have it on their path as this process has.
    return f"{resolved.as_posix()}/".startswith(_installed_roots()) or not _PACKAGE_FOLDERS.isdisjoint(resolved.parts)


_seen: tuple[list[Any], list[ModuleType]] = ([], [])
"""All modules that there were, and which of them are the user's: asked at every payload, since one may be new."""


def _users_modules() -> list[ModuleType]:
    global _seen
    now = list(sys.modules.values())
    if len(now) != len(_seen[0]) or any(map(operator.is_not, now, _seen[0])):
        modules = [(name, module) for name, module in list(sys.modules.items()) if isinstance(module, ModuleType)]
        users = [module for name, module in modules if name != "__main__" and _by_value(module) and module.__name__ == name]
        _seen = now, users
    return _seen[1]


def _by_value(module: ModuleType) -> bool:
    """Whether a module is the user's."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return not is_installed(file)
    # Built in or frozen, or a package without __init__.py, which is only its folders.
    folders = [str(entry) for entry in getattr(module, "__path__", ())]
    return bool(folders) and not any(map(is_installed, folders))


@contextmanager
def _users_modules_by_value() -> Iterator[dict[int, ModuleType]]:
    import cloudpickle

    known = cloudpickle.list_registry_pickle_by_value()
    mine = [module for module in _users_modules() if module.__name__ not in known]
    for module in mine:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield {id(module): module for module in mine}
    finally:
        for module in mine:
            cloudpickle.unregister_pickle_by_value(module)


def code_from(filename: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    """Return a code object that knows its file, so that a traceback in a worker shows the user's file and line."""
    return make(*arguments).replace(co_filename=filename)


_CACHED = type(functools.lru_cache(len))
_LEFT = frozenset({"__builtins__", "__loader__", "__spec__", "__cached__"})
_LOOKUPS = frozenset({"globals", "vars", "eval", "exec"})
_MODULES = frozenset({"modules", "import_module", "__import__"})
_MISSING = "__theoryck_missing__"
_CANNOT = (TypeError, pickle.PicklingError, AttributeError, RecursionError, NotImplementedError)


def _looks_names_up(code: CodeType, module: str | None) -> bool:
    """Whether a function may find names in its module that its code does not mention."""
    names = set(code.co_names)
    itself = "__name__" in names or module in code.co_consts
    return (
        not names.isdisjoint(_LOOKUPS)
        or (itself and not names.isdisjoint(_MODULES))
        or any(_looks_names_up(entry, module) for entry in code.co_consts if isinstance(entry, CodeType))
    )


def _pickled(function: Callable[..., Any], modules: dict[int, ModuleType]) -> bytes:
    """Return cloudpickle's bytes, with the file names of code objects, which cloudpickle leaves out, then the modules' entries."""
    import cloudpickle

    waiting: list[ModuleType] = []

    class Pickler(cloudpickle.Pickler):
        dispatch_table = cloudpickle.Pickler.dispatch_table.new_child()

        def reducer_override(self, value: Any) -> Any:
            if id(value) in modules:
                if not any(value is module for module in waiting):
                    waiting.append(value)
                return _arriving, (value.__name__,)
            if isinstance(value, _CACHED) and value.__module__ in {module.__name__ for module in modules.values()}:
                return _cached, (value.__wrapped__, value.cache_parameters())  # else it would be sent by name
            if isinstance(value, FunctionType) and _looks_names_up(value.__code__, value.__module__):
                home = sys.modules.get(value.__module__ or "")
                if id(home) in modules and value.__globals__ is vars(home):
                    reduced = super().reducer_override(value)
                    return (_at_home, (home, reduced[0], reduced[1]), *reduced[2:])
            return super().reducer_override(value)

    reduce = Pickler.dispatch_table[CodeType]
    Pickler.dispatch_table[CodeType] = lambda code: (code_from, (code.co_filename, *reduce(code)))
    with io.BytesIO() as stream:
        pickler = Pickler(stream)
        pickler.dump(function)
        for module in waiting:  # which grows on the way
            entries = [(module, name, value) for name, value in _entries(module)]
            if _dump_or_undo(pickler, stream, entries) is not None:
                # Only a module that holds something that cannot be sent pays for a copy of the memo at every entry.
                for entry in entries:
                    error = _dump_or_undo(pickler, stream, [entry])
                    if error is not None:
                        pickler.dump((module, _MISSING, (entry[1], str(error))))
        return stream.getvalue()


def _dump_or_undo(pickler: Any, stream: io.BytesIO, values: Sequence[Any]) -> Exception | None:
    """Dump all values one by one; when one cannot be sent leave the stream as it was, and return why."""
    place, memory = stream.tell(), pickler.memo.copy()
    try:
        for value in values:
            pickler.dump(value)
    except _CANNOT as error:
        stream.seek(place)
        stream.truncate()
        pickler.memo = memory
        return error
    return None


def _entries(module: ModuleType) -> list[tuple[str, Any]]:
    entries = [(name, value) for name, value in vars(module).items() if name not in _LEFT]
    return [(name, list(value) if name == "__path__" else value) for name, value in entries]


def _at_home(module: ModuleType, make: Callable[..., FunctionType], arguments: tuple[Any, ...]) -> FunctionType:
    """Return the function with its module's names as its globals."""
    code, globals_sent, *others = arguments
    vars(module).update(globals_sent)
    return make(code, vars(module), *others)


def _cached(function: Callable[..., Any], parameters: dict[str, Any]) -> Callable[..., Any]:
    """Return the function with a cache of its own."""
    return functools.lru_cache(**parameters)(function)


_decoding = threading.RLock()
_made: dict[str, ModuleType] = {}


def _arriving(name: str) -> ModuleType:
    """Return the module of that name in the payload that is being read."""
    if name not in _made:
        _made[name] = ModuleType(name)
    return _made[name]


def _settle() -> None:
    """Put what arrived into ``sys.modules`` and into its packages; a module that this process imported itself stays."""
    for name, module in _made.items():
        if getattr(sys.modules.get(name), _MISSING, None) is not None or name not in sys.modules:
            sys.modules[name] = module
        _explain_what_is_missing(module)
    for name, module in _made.items():
        parent, _, child = name.rpartition(".")
        if parent in _made and child not in vars(_made[parent]):
            setattr(_made[parent], child, module)


def _explain_what_is_missing(module: ModuleType) -> None:
    missing: dict[str, str] = vars(module).setdefault(_MISSING, {})
    own = vars(module).get("__getattr__")

    def explain(name: str) -> Any:
        if name in missing:
            raise AttributeError(
                f"{module.__name__}.{name} could not be sent to another process: {missing[name]}; make it inside the sampler, or "
                "run with one worker"
            )
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = explain  # type: ignore[method-assign]


def encode(function: Callable[..., Any]) -> bytes:
    """Return the bytes that :func:`decode` turns back into ``function``; raises PayloadError naming what cannot be sent."""
    try:
        with _users_modules_by_value() as modules:
            return _pickled(function, modules)
    except _CANNOT as error:
        raise PayloadError(
            f"the sampler cannot be sent to another process: {error}; keep open files, locks and generators out of it (make them "
            "inside the sampler), or run with one worker"
        ) from error


def decode(payload: bytes) -> Callable[..., Any]:
    """Inverse of :func:`encode`, for bytes made by this session."""
    with _decoding, io.BytesIO(payload) as stream:
        _made.clear()
        unpickler = pickle.Unpickler(stream)
        function: Callable[..., Any] = unpickler.load()
        while stream.tell() < len(payload):
            module, name, value = unpickler.load()
            if name == _MISSING:
                vars(module).setdefault(_MISSING, {}).update([value])
            else:
                setattr(module, name, value)
        _settle()
        return function


@functools.lru_cache(maxsize=64)
def read_once(payload: bytes) -> Callable[..., Any]:
    """Return ``decode(payload)``, the same object for the same bytes."""
    return decode(payload)
