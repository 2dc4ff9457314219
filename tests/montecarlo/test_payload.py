"""Samplers that use a user's own modules travel to worker processes, however these modules hold each other."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from theoryck.montecarlo import PayloadError, ProcessExecutor
from theoryck.montecarlo.payload import encode

FILES = {
    "kp_pk/__init__.py": "",
    "kp_pk/leaf.py": "def g():\n    return 1.0\n",
    "kp_pk/core.py": "import kp_pk.leaf\ndef f():\n    return kp_pk.leaf.g()\n",
    "kp_pk/late.py": "def f():\n    from kp_pk.leaf import g\n    return g()\n",
    "kp_a.py": "import kp_b\nS = 2.0\ndef f():\n    return kp_b.g()\n",
    "kp_b.py": "import kp_a\ndef g():\n    return kp_a.S\n",
    "kp_space/n.py": "def g():\n    return 3.0\n",
    "kp_lock.py": "import threading\nLOCK = threading.Lock()\nS = 4.0\ndef f():\n    return S\n"
    "def locked():\n    with LOCK:\n        return S\n",
    "kp_state.py": "S = 0.0\ndef f():\n    return S\n",
}
BODY = """
import sys
from pathlib import Path
import numpy as np
{imports}
H = 5.0
def helper():
    return H
def sampler(item):
    return {value}
"""
CASES = {
    "a package with absolute imports": ("import kp_pk.core", "kp_pk.core.f()", 1.0),
    "an import inside a helper": ("import kp_pk.late", "kp_pk.late.f()", 1.0),
    "modules that import each other": ("import kp_a", "kp_a.f()", 2.0),
    "a folder without __init__": ("import kp_space.n", "kp_space.n.g()", 3.0),
    "a module that holds a lock": ("import kp_lock", "kp_lock.f()", 4.0),
    "its own module": ("", "getattr(sys.modules[__name__], 'H')", 5.0),
    "a function of its own module": ("", "getattr(sys.modules[__name__], 'helper')()", 5.0),
    "its globals": ("", "globals()['H'] + globals()['helper']()", 10.0),
    "a function with a cache": ("import functools\n@functools.lru_cache(3)\ndef cached():\n    return 9.0", "cached()", 9.0),
    "what was set since the import": ("import kp_state; kp_state.S = 6.0", "kp_state.f()", 6.0),
}


@pytest.fixture
def sampler_of(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def forget():
        for name in [name for name in sys.modules if name.startswith("kp_")]:
            del sys.modules[name]

    def make(imports, value):
        forget()
        importlib.invalidate_caches()
        # Not where a worker could import it, as a file of claims.
        (tmp_path / "hidden").mkdir(exist_ok=True)
        path = tmp_path / "hidden" / "kp_claims.py"
        path.write_text(BODY.format(imports=imports, value=value))
        spec = importlib.util.spec_from_file_location("kp_claims", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["kp_claims"] = module
        spec.loader.exec_module(module)
        return module.sampler

    yield make
    forget()


def test_users_modules_travel(sampler_of):
    # In one pair of workers, so that what an earlier payload left there shows.
    with ProcessExecutor(2) as executor:
        for case, (imports, value, expected) in CASES.items():
            sampler = sampler_of(imports, value)
            assert sampler(0) == expected
            assert list(executor.map(sampler, range(4))) == [expected] * 4, case
        for state in (7.0, 8.0):
            sampler = sampler_of(f"import kp_state; kp_state.S = {state}", "kp_state.f()")
            assert list(executor.map(sampler, range(4))) == [state] * 4


def test_what_cannot_be_sent_is_named_where_it_is_used(sampler_of):
    sampler = sampler_of("import kp_lock", "kp_lock.locked()")
    with ProcessExecutor(1) as executor, pytest.raises(AttributeError, match=r"kp_lock.locked could not be sent.*lock"):
        list(executor.map(sampler, [0]))
    with pytest.raises(PayloadError, match="one worker"):
        encode(sampler_of("from kp_lock import LOCK", "LOCK.locked()"))


def test_many_modules_in_a_chain_do_not_exhaust_the_stack(sampler_of, tmp_path):
    for number in range(400):
        (tmp_path / f"kp_m{number}.py").write_text(
            f"import kp_m{number + 1} as m\ndef f():\n    return m.f()\n"
            if number < 399
            else "def f():\n    return np_one\nnp_one = 1.0\n"
        )
    for number in reversed(range(400)):  # from the end, or importing itself would go too deep
        importlib.import_module(f"kp_m{number}")
    import kp_m0

    assert len(encode(kp_m0.f)) > 400 * 20


def test_arrays_in_modules_arrive_whole(sampler_of, tmp_path):
    (tmp_path / "kp_big.py").write_text("import numpy as np\nA = np.arange(100_000.0)\nB = A\ndef f():\n    return A\n")
    sampler = sampler_of("import kp_big", "(kp_big.f().sum(), kp_big.A is kp_big.B)")
    with ProcessExecutor(1) as executor:
        assert list(executor.map(sampler, [0])) == [(np.arange(100_000.0).sum(), True)]


def test_where_a_module_lies_is_looked_up_once_a_file(sampler_of, monkeypatch):
    encode(sampler_of("import kp_pk.core", "kp_pk.core.f()"))
    looked = []
    resolve = Path.resolve
    monkeypatch.setattr(Path, "resolve", lambda path, *more: (looked.append(path), resolve(path, *more))[1])
    sampler = sampler_of("import kp_pk.core, kp_state", "kp_state.f()")
    encode(sampler)
    encode(sampler)
    assert [path.name for path in looked] == ["kp_state.py"]


def test_packages_that_a_pth_file_names_are_installed(sampler_of, tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "kp_installed.py"
    package.parent.mkdir()
    package.write_text("def f():\n    return 1.0\n")
    monkeypatch.syspath_prepend(str(package.parent))
    module = importlib.import_module("kp_installed")
    assert b"kp_installed" in encode(module.f)
    assert b"CodeType" not in encode(module.f)
