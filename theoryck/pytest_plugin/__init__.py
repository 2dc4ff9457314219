"""Claims as test items: ``pytest proofs`` measures, judges and prints the table.

Loaded by every pytest run on a machine that has theoryck, so only pytest and the standard library are imported here; the rest
comes with the first claim.  A claim fails when it is REFUTED or VACUOUS (a falsehood when it is not REFUTED); INCONCLUSIVE
has its own letter and passes, except under a profile that forbids it (thorough).

An item is decided when it ends, so each claim keeps its equal share of the session's false-refute rate (Bonferroni); ``theoryck
check`` steps down as Holm does once all claims are measured.

    collection  which files and objects are claims, which are selected, and warnings before the first draw
    ending      letters and words of outcomes, results that travel between processes, files, the table
    items       a claim as a test item, and the session of this process
    live        the line of progress beside what pytest writes
    options     the options: declared, and refused where they cannot be met
    state       what the parts share: the state of this process, and where it stands among other processes
"""

from __future__ import annotations

from theoryck.pytest_plugin.collection import (
    pytest_collect_file,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_deselected,
    pytest_pycollect_makeitem,
    pytest_pycollect_makemodule,
)
from theoryck.pytest_plugin.ending import (
    pytest_report_teststatus,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from theoryck.pytest_plugin.options import pytest_addoption, pytest_configure

__all__ = [
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_deselected",
    "pytest_pycollect_makeitem",
    "pytest_pycollect_makemodule",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
]
