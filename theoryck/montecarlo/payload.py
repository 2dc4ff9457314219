"""How a function travels to another process: cloudpickle, with the user's own modules by value.

A claims file is loaded by pytest or by the command line under a name that another process cannot import, and importing it there
would cost seconds.  So functions of modules outside the standard library, outside the installed packages and outside theoryck are
sent by value.  These bytes are made and read by processes of one session; nothing is ever read from a file.
"""

from __future__ import annotations

import functools
import io
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class PayloadError(TypeError):
    """A function cannot be sent to another process."""


@functools.cache
def _installed_roots() -> tuple[str, ...]:
    import theoryck

    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [str(Path(folder)) for folder in theoryck.__path__]
    return tuple(Path(path).resolve().as_posix() + "/" for path in paths if path)


def _by_value(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False  # built in, frozen, or a namespace
    return not Path(file).resolve().as_posix().startswith(_installed_roots())


@contextmanager
def _users_modules_by_value() -> Iterator[None]:
    import cloudpickle

    known = cloudpickle.list_registry_pickle_by_value()
    mine = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
        and module.__name__ == name
        and name not in known
        and name != "__main__"
        and _by_value(module)
    ]
    for module in mine:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in mine:
            cloudpickle.unregister_pickle_by_value(module)


def code_from(filename: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    """Return a code object that knows its file, so that a traceback in a worker shows the user's file and line."""
    return make(*arguments).replace(co_filename=filename)


def _pickled(function: Callable[..., Any]) -> bytes:
    """Return cloudpickle's bytes with the file names of code objects, which cloudpickle leaves out."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        dispatch_table = cloudpickle.Pickler.dispatch_table.new_child()

    reduce = Pickler.dispatch_table[CodeType]
    Pickler.dispatch_table[CodeType] = lambda code: (code_from, (code.co_filename, *reduce(code)))
    with io.BytesIO() as stream:
        Pickler(stream).dump(function)
        return stream.getvalue()


def encode(function: Callable[..., Any]) -> bytes:
    """Return the bytes that :func:`decode` turns back into ``function``; raises PayloadError naming what cannot be sent."""
    try:
        with _users_modules_by_value():
            return _pickled(function)
    except (TypeError, pickle.PicklingError, AttributeError, RecursionError) as error:
        raise PayloadError(
            f"the sampler cannot be sent to another process: {error}; keep open files, locks and generators out of it (make them "
            "inside the sampler), or run with one worker"
        ) from error


def decode(payload: bytes) -> Callable[..., Any]:
    """Inverse of :func:`encode`, for bytes made by this session."""
    return pickle.loads(payload)


@functools.lru_cache(maxsize=16)
def _decoded(payload: bytes) -> Callable[..., Any]:
    return decode(payload)


def run_encoded(payload: bytes, item: Any) -> Any:
    """Return ``decode(payload)(item)``; the decoded function is kept for the next item."""
    return _decoded(payload)(item)
