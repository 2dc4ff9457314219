"""Finding claims in files: under a folder named ``proofs`` and in ordinary test modules.

Only the standard library is imported here; a module of claims brings in the rest.  Both the command line and the pytest
plugin ask :func:`may_hold_claims` and :func:`belongs`, so that they find the same claims.
"""

from __future__ import annotations

import difflib
import fnmatch
import importlib.util
import os
import re
import sys
import traceback
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim
    from theoryck.claims.statements import Statement

PROOFS = "proofs"
TEST_FILES = ("test_*.py", "*_test.py")
LONGEST_NAMED = 100  # characters of a name in a message
MOST_NAMED = 8  # ids or folders in one message
SHORTEST_PART = 4  # of a name, that another one which holds it may be meant
_SKIPPED_FOLDERS = {"__pycache__", "build", "dist", "node_modules", "site-packages"}


class CollectionError(Exception):
    """Claims that cannot be found or built; the message names the file and the line, and says what to do."""


def is_claim(value: object) -> TypeGuard[Claim]:
    """Whether an object is a claim, asked of its type so that nothing need be imported."""
    return getattr(type(value), "__theoryck_claim__", False) is True


def is_test_file(path: Path, patterns: Iterable[str] = TEST_FILES) -> bool:
    """Whether a file is an ordinary test module by its name.

    >>> is_test_file(Path("tests/test_gap.py")), is_test_file(Path("proofs/gap.py"))
    (True, False)
    """
    # A pattern with a slash is about the whole path; any other must not match a folder's name, for * matches slashes.
    return any(fnmatch.fnmatch(str(path) if "/" in pattern else path.name, pattern) for pattern in patterns)


_SPEAKS_OF_CLAIMS = re.compile(rb"theoryck|@(\w+\.)*(theorem|conjecture|falsehood)\b")


def may_hold_claims(path: Path) -> bool:
    """Whether a Python file mentions theoryck or one of its decorators; a file that does not is never imported on its account."""
    try:
        return path.suffix == ".py" and path.name != "conftest.py" and _SPEAKS_OF_CLAIMS.search(path.read_bytes()) is not None
    except OSError:
        return False


def belongs(claim: Claim, path: Path) -> bool:
    """Whether a claim found in the file ``path`` is to be checked there.

    A claim that a file only imports is left to the file that makes it, if claims are collected from there.
    """
    made_in = claim.file
    return made_in == path.resolve() or not (PROOFS in made_in.parts[:-1] or is_test_file(made_in))


def collect(paths: Sequence[str | os.PathLike[str]], only: Sequence[str] = (), problems: list[str] | None = None) -> list[Claim]:
    """Return the claims of files and folders, in order, those whose id matches one of the patterns ``only`` (all if empty).

    Raises CollectionError for a path that does not exist or holds no claim, a file that cannot be imported, two claims of
    the same id, and patterns that match nothing.  Given a list, files that cannot be imported go to ``problems`` with the reason
    instead, unless nothing else is found.
    """
    found: dict[str, Claim] = {}
    for given in paths:
        path = Path(given)
        _check_exists(path)
        before = len(problems or ())
        claims = [claim for file in claim_files(path) for claim in _claims_or_problem(file, problems)]
        if not claims and len(problems or ()) == before:
            raise CollectionError(_nothing_in(path))
        for claim in claims:
            _add(found, claim)
    if problems and not found:
        raise CollectionError(problems.pop())
    return _select(list(found.values()), only)


def _claims_or_problem(file: Path, problems: list[str] | None) -> list[Claim]:
    try:
        return claims_in(file)
    except CollectionError as error:
        if problems is None:
            raise
        problems.append(str(error))
        return []


def _add(found: dict[str, Claim], claim: Claim) -> None:
    first = found.setdefault(claim.id, claim)
    if first is not claim and first.place != claim.place:
        raise CollectionError(f"two claims are called {claim.id!r}: at {first.place} and at {claim.place}; rename one of them")


def _select(claims: list[Claim], only: Sequence[str]) -> list[Claim]:
    if not only:
        return claims
    chosen: list[Claim] = []
    for pattern in only:
        # An id may hold the characters of a pattern: the claim that is called so comes first.
        matching = [claim for claim in claims if claim.id == pattern]
        matching = matching or [claim for claim in claims if fnmatch.fnmatchcase(claim.id, pattern)]
        if not matching:
            raise CollectionError(no_claim_called(pattern, claims))
        chosen.extend(claim for claim in matching if claim not in chosen)
    return [claim for claim in claims if claim in chosen]


def no_claim_called(name: str, claims: Sequence[Claim]) -> str:
    """Return the message for a claim that is not there, with the ids that look like it, or where to find them all."""
    ids = [claim.id for claim in claims]
    name = name if len(name) <= LONGEST_NAMED else f"{name[:LONGEST_NAMED]}..."
    groups = Counter(claim_id.rpartition("/")[0] or claim_id for claim_id in ids)
    near = difflib.get_close_matches(name.partition("/")[0], groups, n=1) if name.endswith("/*") else []
    close = [f"{group}/*" for group in near] or _alike(name, ids)
    if close:
        return f"no claim is called {name!r}; did you mean {' or '.join(close)}?"
    if len(ids) <= MOST_NAMED:
        return f"no claim is called {name!r}; there are: {', '.join(ids)}"
    among = ", ".join(f"{group} ({number})" for group, number in groups.most_common(MOST_NAMED))
    return f"no claim is called {name!r}, nor anything like it, among {len(ids)}: {among}; theoryck list names them"


def _alike(name: str, ids: Sequence[str]) -> list[str]:
    """Return at most three ids that are spelt like a name, hold it, or share a long word with it; the likeliest first."""
    tails = {claim_id.rpartition("/")[2]: claim_id for claim_id in ids}
    tail = name.rpartition("/")[2].lower().strip("*?")
    found = difflib.get_close_matches(name, ids, n=3, cutoff=0.85)  # a folder in common makes any two alike
    found += [tails[close] for close in difflib.get_close_matches(tail, tails, n=3)]
    if not found and len(tail) >= SHORTEST_PART:
        found = [claim_id for claim_id in ids if tail in claim_id.lower()]
    if not found:
        words = {word for word in re.split(r"[^a-z0-9]+", tail) if len(word) > SHORTEST_PART}
        shared = {claim_id: len(words & {*re.split(r"[^a-z0-9]+", claim_id.lower())}) for claim_id in ids}
        found = sorted((claim_id for claim_id in ids if shared[claim_id]), key=lambda claim_id: -shared[claim_id])
    return list(dict.fromkeys(found))[:3]


def _check_exists(path: Path) -> None:
    if path.exists():
        return
    folder = path.parent if path.parent.is_dir() else Path()
    names = [entry.name for entry in folder.iterdir() if entry.is_dir() or entry.suffix == ".py"]
    close = difflib.get_close_matches(path.name, names, n=3)
    hint = f"; did you mean {' or '.join(str(folder / name) for name in close)}?" if close else ""
    raise CollectionError(f"{path} does not exist{hint}")


def _nothing_in(path: Path) -> str:
    if path.is_file():
        return f"{path} makes no claim: decorate a function with @theoryck.theorem, @theoryck.conjecture or @theoryck.falsehood"
    return (
        f"no claim was found under {path}: claims are collected from files under a folder named {PROOFS!r} and from test modules "
        f"({', '.join(TEST_FILES)}); to check any other file, name it"
    )


def claim_files(path: Path) -> list[Path]:
    """Return the files in which claims are looked for: the file itself, or those of a folder, in the order of a book."""
    if path.is_file():
        return [path]
    in_proofs = PROOFS in path.resolve().parts
    return [
        file
        for file in sorted(_python_files(path), key=as_in_a_book)
        if (in_proofs or PROOFS in file.relative_to(path).parts[:-1] or is_test_file(file)) and may_hold_claims(file)
    ]


def as_in_a_book(file: Path) -> tuple[Path, bool, str]:
    """Folder by folder; what is known to be false comes last in its paper's folder."""
    return file.parent, file.stem == "falsehoods", file.name


def _python_files(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if _is_searched(Path(root, name))]
        yield from (Path(root, name) for name in files if name.endswith(".py"))


def _is_searched(folder: Path) -> bool:
    hidden = folder.name in _SKIPPED_FOLDERS or folder.name.startswith(".")
    return not hidden and not (folder / "pyvenv.cfg").exists()


def claims_in(path: Path) -> list[Claim]:
    """Return the claims of one file, in the order written."""
    return claims_of(import_file(path), path)


def claims_of(module: ModuleType, path: Path) -> list[Claim]:
    """Return the claims among the attributes of a module and of its classes that are to be checked in the file ``path``."""
    found: list[Claim] = []
    values = list(vars(module).values())
    classes = [value for value in values if isinstance(value, type) and value.__module__ == module.__name__]
    for value in [*values, *(inner for each in classes for inner in vars(each).values())]:
        if is_claim(value) and not any(value is other for other in found) and belongs(value, path):
            found.append(value)
    return found


def import_file(path: Path) -> ModuleType:
    """Import a file under its package's name, so that its relative and absolute imports work.

    Errors of the file become a CollectionError that names the file and the line.
    """
    path = path.resolve()
    packages: list[Path] = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder)
        folder = folder.parent
    for entry in (folder, *_above_proofs(path)):
        # At the end, so that a file of the user's that is called like a library hides nothing.
        if str(entry) not in sys.path:
            sys.path.append(str(entry))
    name = ""
    for package in packages:
        name = f"{name}.{package.name}".lstrip(".")
        _load(name, package / "__init__.py", path)
    if path.name == "__init__.py":
        return sys.modules[name]
    return _load(f"{name}.{path.stem}" if name else _free_name(path), path, path)


def _above_proofs(path: Path) -> list[Path]:
    """The folder that holds ``proofs``, so that ``import proofs.paper`` works."""
    return [parent.parent for parent in path.parents if parent.name == PROOFS][:1]


def is_module(name: str) -> bool:
    """Whether Python would import something else under a name.

    >>> is_module("json"), is_module("numpy"), is_module("no_such_module")
    (True, True, False)
    """
    try:
        return name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # a name that cannot be one
        return False


def _same_file(module: Any, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


def _free_name(path: Path) -> str:
    """The stem, unless another module has that name already; then one made from the path."""
    known = sys.modules.get(path.stem)
    taken = path.stem in sys.stdlib_module_names or (known is not None and not _same_file(known, path))
    return f"{path.stem}_{zlib.crc32(str(path).encode()):08x}" if taken else path.stem


def _load(name: str, path: Path, wanted: Path) -> ModuleType:
    known = sys.modules.get(name)
    if known is not None:
        if not _same_file(known, path):
            raise CollectionError(
                f"{wanted}: the package name {name!r} is taken by {getattr(known, '__file__', known)}; rename the folder"
            )
        return known
    locations = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=locations)
    if spec is None or spec.loader is None:
        raise CollectionError(f"{path} is not a Python file; claims are written in files that end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a file may raise anything, SystemExit included; all of it is said below
        del sys.modules[name]
        raise CollectionError(f"{explain(error, path)}\n(until that is mended no claim of {wanted.name} is read)") from error
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    return module


def build_once(claim: Claim) -> list[Statement]:
    """Build one instance's statements and rates, one a path, so that an unknown name is an error before anything is drawn.

    Raises CollectionError that points at the claim.
    """
    try:
        instances = claim.instances(1, 0)
        for parameters, statement in instances:
            if statement.path() is not None and getattr(statement, "rate", None) is not None:
                statement.prediction(parameters)
        return [statement for _, statement in instances]
    except (Exception, SystemExit) as error:  # a claim that calls sys.exit ends no program
        raise CollectionError(f"{claim.place}: claim {claim.id!r} cannot be built\n{explain(error, claim.file)}") from error


def explain(error: BaseException, path: Path) -> str:
    """Return ``file:line: Error: message``, with the last line of ``path`` that the error passed through."""
    from theoryck.records.arguments import text_of

    if isinstance(error, SyntaxError):
        return f"{error.filename or path}:{error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == path.resolve()
    ]
    where = f"{path}:{lines[-1]}" if lines else str(path)
    # Hypothesis notes the instance at which a claim's function failed.
    notes = [" ".join(note.split()) for note in getattr(error, "__notes__", ())]
    return "\n".join([f"{where}: {type(error).__name__}: {text_of(error)}", *notes])
