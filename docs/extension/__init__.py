"""What the site makes of the sources: nothing that a docstring, a command or a table says is written a second time.

calibration  the rows that ``python -m tests.calibration.table`` printed, summed for each promise
dollars      formulas between dollars in the pages under docs/, as MathML
docstrings   docstrings as they are written here, as reStructuredText: prose, formulas as MathML, examples
examples     commands that are run while the site is built, with what they print
pages        pages of subjects, of the engine, of commands and of claims, written before the others are read
results      the page of ``pytest proofs``, where its record is given
"""

from typing import Any

from extension import calibration, docstrings, dollars, examples, pages, results


def setup(app: Any) -> dict[str, Any]:
    """Register everything with Sphinx."""
    for module in (docstrings, dollars, pages, examples, calibration, results):
        module.setup(app)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
