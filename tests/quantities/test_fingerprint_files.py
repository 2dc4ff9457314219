"""The user's files behind a sampler: whatever it imports is seen, wherever and however it is written, and nothing is run."""

import importlib.metadata
import importlib.util
import sys
import types

import pytest

import theoryck as tc
from theoryck.quantities.fingerprints import _sources

SAMPLER = """
import theoryck as tc
{imports}

@tc.quantity(cost=1)
def sampled(rng, draws, *, d):
    {inside}
    return rng.standard_normal(draws) * {value}
"""
PACKAGE = {"kk_pk/__init__.py": "", "kk_pk/n2.py": "S = 1.0\ndef g():\n    return S\n"}
DEEP = {"kk_deep.py": "S = 1.0\ndef g():\n    return S\n"}
CASES = {
    "a constant of a module's own import": (
        DEEP | {"kk_mid.py": "import kk_deep\ndef f():\n    return kk_deep.S\n"},
        ("import kk_mid", "pass", "kk_mid.f()"),
        "kk_deep.py",
    ),
    "a function of a module's own import": (
        DEEP | {"kk_mid.py": "import kk_deep\ndef f():\n    return kk_deep.g()\n"},
        ("import kk_mid", "pass", "kk_mid.f()"),
        "kk_deep.py",
    ),
    "a module of a package that imports its neighbour": (
        PACKAGE | {"kk_pk/m1.py": "from kk_pk import n2\ndef f():\n    return n2.g()\n"},
        ("from kk_pk import m1", "pass", "m1.f()"),
        "kk_pk/n2.py",
    ),
    "a relative import": (
        PACKAGE | {"kk_pk/m1.py": "from . import n2\ndef f():\n    return n2.g()\n"},
        ("from kk_pk.m1 import f", "pass", "f()"),
        "kk_pk/n2.py",
    ),
    "a relative import of a name": (
        PACKAGE | {"kk_pk/sub/__init__.py": "", "kk_pk/sub/m1.py": "from ..n2 import g as h\ndef f():\n    return h()\n"},
        ("import kk_pk.sub.m1 as m", "pass", "m.f()"),
        "kk_pk/n2.py",
    ),
    "a dotted import": (PACKAGE, ("import kk_pk.n2", "pass", "kk_pk.n2.g()"), "kk_pk/n2.py"),
    "a submodule that the package itself imports": (
        PACKAGE | {"kk_pk/__init__.py": "from . import n2\n"},
        ("import kk_pk as p", "pass", "p.n2.g()"),
        "kk_pk/n2.py",
    ),
    "all of a package": (
        PACKAGE | {"kk_pk/__init__.py": "__all__ = ['n2']\n"},
        ("from kk_pk import *", "pass", "n2.g()"),
        "kk_pk/n2.py",
    ),
    "a package's own file": (
        {"kk_pk/__init__.py": "S = 1.0\n", "kk_pk/n2.py": "def g():\n    return 1\n"},
        ("from kk_pk.n2 import g", "pass", "g()"),
        "kk_pk/__init__.py",
    ),
    "a folder without __init__": (
        {"kk_space/n2.py": "def g():\n    return 1\n"},
        ("import kk_space.n2", "pass", "kk_space.n2.g()"),
        "kk_space/n2.py",
    ),
    "an import inside the sampler": (DEEP, ("", "from kk_deep import g", "g()"), "kk_deep.py"),
    "an import inside a function that the sampler calls": (
        DEEP | {"kk_mid.py": "def f():\n    import kk_deep\n    return kk_deep.g()\n"},
        ("import kk_mid", "pass", "kk_mid.f()"),
        "kk_deep.py",
    ),
    "an import by a name that is written out": (
        DEEP,
        ("from importlib import import_module", "deep = import_module('kk_deep')", "deep.g()"),
        "kk_deep.py",
    ),
    "modules that import each other": (
        {"kk_a.py": "import kk_b\ndef f():\n    return kk_b.S\n", "kk_b.py": "import kk_a\nS = 1\n"},
        ("import kk_a", "pass", "kk_a.f()"),
        "kk_b.py",
    ),
}


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Load a text as a module, anew as in another process, next to the files in ``tmp_path``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        for name in [name for name in sys.modules if name.startswith("kk_")]:
            del sys.modules[name]

    def load(text):
        forget()
        importlib.invalidate_caches()
        path = tmp_path / "kk_claims.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("kk_claims", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["kk_claims"] = module
        spec.loader.exec_module(module)
        return module

    yield load
    forget()


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("case", CASES)
def test_a_change_in_any_file_that_is_imported_on_the_way_shows(case, loaded, tmp_path):
    files, (imports, inside, value), changed = CASES[case]
    write(tmp_path, files)
    text = SAMPLER.format(imports=imports, inside=inside, value=value)
    first = loaded(text).sampled.fingerprint()
    assert loaded(text).sampled.fingerprint() == first
    assert str(tmp_path / changed) in first.files
    (tmp_path / changed).write_text(files[changed] + "S = 2.0\n")
    assert loaded(text).sampled.fingerprint().code != first.code


def test_two_modules_of_the_same_file_name_are_told_apart(loaded, tmp_path):
    files = {
        f"kk_{p}/{file}": body for p, s in (("p", 1), ("q", 2)) for file, body in (("__init__.py", ""), ("x.py", f"S = {s}\n"))
    }
    text = SAMPLER.format(imports="import kk_p.x, kk_q.x", inside="pass", value="(kk_p.x.S - kk_q.x.S)")
    write(tmp_path, files)
    first = loaded(text).sampled.fingerprint()
    write(tmp_path, {"kk_p/x.py": files["kk_q/x.py"], "kk_q/x.py": files["kk_p/x.py"]})
    assert loaded(text).sampled.fingerprint().code != first.code


def test_the_folder_of_a_project_is_no_part_of_the_code(loaded, tmp_path):
    write(tmp_path, DEEP)
    first = loaded(SAMPLER.format(imports="import kk_deep", inside="pass", value="kk_deep.g()")).sampled.fingerprint()
    assert str(tmp_path) not in str(first.code)
    assert str(tmp_path) in str(first.files)


def test_a_file_beside_it_that_is_not_named_does_not_show(loaded, tmp_path):
    write(tmp_path, DEEP | {"kk_other.py": "S = 1\n"})
    text = SAMPLER.format(imports="import kk_deep", inside="pass", value="kk_deep.g()")
    first = loaded(text).sampled.fingerprint()
    (tmp_path / "kk_other.py").write_text("S = 2\n")
    assert loaded(text).sampled.fingerprint() == first


def test_nothing_is_run_to_find_the_files(loaded, tmp_path):
    write(tmp_path, {"kk_pk/__init__.py": "raise SystemExit(7)\n", "kk_pk/n2.py": "raise SystemExit(8)\n"})
    text = SAMPLER.format(imports="", inside="import kk_pk.n2", value="kk_pk.n2.g()")
    files = loaded(text).sampled.fingerprint().files
    assert {str(tmp_path / "kk_pk" / name) for name in ("__init__.py", "n2.py")} <= set(files)
    assert "kk_pk" not in sys.modules


def test_a_function_of_no_file_has_its_imports_read_from_its_code(loaded, tmp_path):
    write(tmp_path, DEEP)
    notebook = types.ModuleType("kk_notebook")
    code = compile(
        "def sampled(rng, draws, *, d):\n    from kk_deep import g\n    return rng.random(draws) * g()\n", "<cell>", "exec"
    )
    namespace = {"__name__": "kk_notebook"}
    function = types.FunctionType(code.co_consts[0], namespace, "sampled")
    function.__kwdefaults__ = None
    assert notebook.__name__ == function.__module__
    assert list(tc.quantity(function).fingerprint().files) == [str(tmp_path / "kk_deep.py")]


def test_installed_packages_are_told_by_their_versions(loaded):
    assert _sources(["numpy", "pytest", "theoryck", "json", "no_such_module"]) == ({}, {})
    text = SAMPLER.format(imports="import click", inside="pass", value="len(click.__name__)")
    assert loaded(text).sampled.fingerprint().code["sampler"]["packages"] == {"click": importlib.metadata.version("click")}


def test_texts_with_dots_at_their_ends_and_links_that_lead_back_come_to_an_end(loaded, tmp_path):
    write(tmp_path, {"kk_pk/__init__.py": "S = 1.0\n"})
    (tmp_path / "kk_pk" / "loop").symlink_to(tmp_path / "kk_pk", target_is_directory=True)
    imports = 'import importlib\nimport kk_pk\nENDING = ".json"\nkk_math = importlib.import_module("math")'
    text = SAMPLER.format(imports=imports, inside="(lambda: kk_pk.loop)", value="kk_pk.S")
    first = loaded(text).sampled.fingerprint()
    (tmp_path / "kk_pk" / "__init__.py").write_text("S = 2.0\n")
    assert loaded(text).sampled.fingerprint().code != first.code
