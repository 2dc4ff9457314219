"""A small user's project with one claim for each outcome."""

import gc
import textwrap

import hypothesis
import pytest

import theoryck.checking.check
import theoryck.claims.collecting

# The runs below share this process and forget what they import: what is imported here is imported once.
ENGINE = (hypothesis, theoryck.checking.check, theoryck.claims.collecting)
HEAD = '''
"""Setting of a toy: Q(d) = 1/d, measured with relative noise."""
import theoryck as tc
from hypothesis import assume
from hypothesis.strategies import integers

PATH = tc.ScalingPath(d=tc.doubling(8, 512))


@tc.quantity
def precise(rng, draws, *, d):
    return (1 + 0.1 * rng.standard_normal(draws)) / d


@tc.quantity
def noisy(rng, draws, *, d):
    return (1 + 500 * rng.standard_normal(draws)) / d
'''
CLAIMS = {
    "supported": '''
@tc.theorem("toy/supported")
def supported():
    """Q = O(1/d)"""
    return tc.Bound(precise, rate="1/d", along=PATH, rivals=["d**-2"])
''',
    "refuted": '''
@tc.conjecture("toy/refuted")
def refuted():
    """Q = O(d^-2)"""
    return tc.Bound(precise, rate="d**-2", along=PATH)
''',
    "inconclusive": '''
@tc.conjecture("toy/inconclusive")
def inconclusive():
    """Q = O(1/d), in the dark"""
    return tc.Bound(noisy, rate="1/d", along=PATH)
''',
    "vacuous": '''
@tc.theorem("toy/vacuous")
@tc.for_all(k=integers(1, 3))
def vacuous(k):
    """Q = O(1/d), for no k"""
    assume(False)
    return tc.Bound(precise, rate="1/d", along=PATH)
''',
    "fallen": '''
@tc.falsehood("toy/fallen")
def fallen():
    """Q = O(d^-2)"""
    return tc.Bound(precise, rate="d**-2", along=PATH)
''',
    "standing": '''
@tc.falsehood("toy/standing")
def standing():
    """Q = O(1/d)"""
    return tc.Bound(precise, rate="1/d", along=PATH)
''',
    "raising": '''
@tc.quantity
def broken(rng, draws, *, d):
    raise ZeroDivisionError("in the user's sampler")


@tc.theorem("toy/raising")
def raising():
    """Q = O(1/d), by a broken sampler"""
    return tc.Bound(broken, rate="1/d", along=PATH)
''',
    "interrupting": '''
@tc.quantity
def stopped(rng, draws, *, d):
    raise KeyboardInterrupt


@tc.theorem("toy/interrupting")
def interrupting():
    """Q = O(1/d), until Ctrl-C"""
    return tc.Bound(stopped, rate="1/d", along=PATH)
''',
    "interrupting_compiled_code": '''
@tc.quantity
def stopped_within(rng, draws, *, d):
    raise SystemError("a compiled function returned a result with an exception set") from KeyboardInterrupt()


@tc.theorem("toy/interrupting-compiled-code")
def interrupting_compiled_code():
    """Q = O(1/d), until Ctrl-C"""
    return tc.Bound(stopped_within, rate="1/d", along=PATH)
''',
    "unknown_name": '''
@tc.theorem("toy/unknown-name")
def unknown_name():
    """Q = O(1/n), but the path has no n"""
    return tc.Bound(precise, rate="1/n", along=PATH)
''',
}
QUICKLY = ("-p", "no:cacheprovider", "--theoryck-draws", "2000", "--theoryck-workers", "1")


@pytest.fixture(scope="session", autouse=True)
def _what_is_there_stays():
    """Each run inside this process collects garbage many times over: what other tests have loaded is left out of that."""
    gc.freeze()
    yield
    gc.unfreeze()


class Project:
    """A folder with claims, and pytest runs in it."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())
        return path

    def claims(self, *names, file="proofs/toy/results.py"):
        return self.write(file, HEAD + "\n".join(CLAIMS[name] for name in names))

    def run(self, *args, **how):
        return self.pytester.runpytest_inprocess(*QUICKLY, *args, **how)

    def run_apart(self, *args):
        return self.pytester.runpytest_subprocess(*QUICKLY, *args)


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")  # the width of a terminal that has one
    return Project(pytester)
