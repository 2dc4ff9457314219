"""A new subject is a folder under theory/ and a file of proofs, and nothing else is touched: in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import theoryck
from tests.waiting import HANG

SUBJECT = {
    "__init__": '''
"""Maxima of uniform numbers: E max(u_1, ..., u_n) = n/(n + 1).

limits      What the maximum tends to
quantities  The mean of the maximum
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {"limits": ("maximum_limit",), "quantities": ("mean_maximum",)})
''',
    "limits": '''
"""What the maximum tends to."""


def maximum_limit() -> float:
    """Return the limit of the maximum as n grows, the end of the interval.

    >>> maximum_limit()
    1.0
    """
    return 1.0
''',
    "quantities": '''
"""The mean of the maximum."""

from dataclasses import dataclass
from fractions import Fraction

from theoryck.numerics.proved.arithmetic import enclose
from theoryck.quantities.base import Quantity


@dataclass(frozen=True, repr=False)
class mean_maximum(Quantity):
    """E max(u_1, ..., u_n) of uniform numbers, with both routes."""

    needs = ("n",)
    can_draw = can_exact = True

    def sampler(self, sizes):
        return lambda rng, draws: rng.random((draws, sizes["n"])).max(axis=1)

    def exact(self, sizes, digits=20):
        return enclose(Fraction(sizes["n"], sizes["n"] + 1), digits)

    def cost(self, sizes):
        return sizes["n"]
''',
}
PROOFS = '''
"""Maxima of uniform numbers."""

import theoryck as tc
from theoryck.theory.maxima import maximum_limit


@tc.theorem("toy/maximum")
def maximum():
    """E max(u_1, ..., u_n) = 1 + O(1/n)"""
    path = tc.ScalingPath(n=tc.doubling(4, 256))
    return tc.Limit(tc.maxima.mean_maximum(), along=path, value=maximum_limit(), rate="1/n", rivals=[1.01])
'''


@pytest.fixture
def copy(tmp_path):
    """A folder that Python imports the package from, with the subject in it."""
    shutil.copytree(Path(theoryck.__file__).parent, tmp_path / "theoryck", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "theoryck" / "theory" / "maxima").mkdir()
    for name, text in SUBJECT.items():
        (tmp_path / "theoryck" / "theory" / "maxima" / f"{name}.py").write_text(text.lstrip())
    (tmp_path / "maxima.py").write_text(PROOFS.lstrip())
    return tmp_path


def test_a_subject_is_a_folder_and_its_proofs(copy):
    command = [sys.executable, "-m", "theoryck", "check", "maxima.py", "--workers", "1", "--json", "-"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [result] = json.loads(done.stdout)["results"]
    assert (result["verdict"], [rival["rejected"] for rival in result["rivals"]]) == ("SUPPORTED", [True])
    assert sum(len(text.strip().splitlines()) for text in (*SUBJECT.values(), PROOFS)) < 60
