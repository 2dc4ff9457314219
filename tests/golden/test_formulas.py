"""Awkward statements as LaTeX and as MathML, compared to a file that a person has read and seen in a browser.

The file has three lines for each statement: the statement, its LaTeX, its MathML.  After an intended change:
``THEORYCK_REGENERATE=1 pytest tests/golden``, then read the difference before committing it.
"""

import os
from pathlib import Path

import pytest

from theoryck.report.formula import latex, mathml

FILE = Path(__file__).parent / "formulas" / "statements.txt"


def _blocks():
    statements = [block.split("\n")[0] for block in FILE.read_text(encoding="utf-8").strip("\n").split("\n\n")]
    if os.environ.get("THEORYCK_REGENERATE"):
        written = ["\n".join([statement, latex(statement), mathml(statement)]) for statement in statements]
        FILE.write_text("\n\n".join(written) + "\n", encoding="utf-8")
    return [block.split("\n") for block in FILE.read_text(encoding="utf-8").strip("\n").split("\n\n")]


BLOCKS = _blocks()


def test_there_are_enough():
    assert len(BLOCKS) > 30


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0][:40])
def test_formulas_are_what_was_read(block):
    statement, as_latex, as_mathml = block
    assert latex(statement) == as_latex
    assert mathml(statement) == as_mathml
