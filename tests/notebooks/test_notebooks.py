"""Every notebook runs, says what it found by assertions of its own, warns of nothing, and is committed as source alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import nbformat
import pytest

from tests.notebooks.tidy import tidied, untidy

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [
    *("01_first_steps", "02_main_theorem", "03_your_own_table", "04_a_false_conjecture", "05_how_verdicts_are_made"),
    *("06_learning_in_time", "07_which_networks_learn_features"),
]


def executed(source, folder):
    """Run a notebook in ``folder`` and return it with its outputs, and what the program wrote where it failed."""
    target = folder / "executed.ipynb"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    environment["MPLCONFIGDIR"] = matplotlib.get_cachedir()
    command = [sys.executable, str(Path(__file__).with_name("execute.py")), str(source), str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return nbformat.read(target, as_version=4), done.stderr if done.returncode else ""


def complaints(book):
    """What cells wrote to standard error: warnings above all."""
    return [
        f"cell {number}: {output.text}"
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


def of_cells(folder, *sources):
    path = folder / "written.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), path)
    return path


@pytest.fixture(scope="module", autouse=True)
def fonts():
    """Matplotlib's list of fonts is made once a machine, with a warning that takes its time: before any notebook."""
    import matplotlib.font_manager  # noqa: F401


def test_all_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_warns_of_nothing(path, tmp_path):
    book, failure = executed(path, tmp_path)
    assert not failure, failure
    assert complaints(book) == []
    last = [cell for cell in book.cells if cell.cell_type == "code"][-1]
    assert "assert " in last.source  # what was found is asserted, so that running it is a test


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_source_alone(path):
    text = path.read_text(encoding="utf-8")
    assert untidy(text) == [], f"run: python tests/notebooks/tidy.py {path.name}"
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_a_cell_that_raises_or_warns_would_be_seen(tmp_path):
    warns, says = "import warnings\nwarnings.warn('odd')", "import sys\nprint(sys.executable)"
    book, failure = executed(of_cells(tmp_path, warns, says), tmp_path)
    assert not failure
    [complaint] = complaints(book)
    assert "odd" in complaint
    assert book.cells[1].outputs[0].text.strip() == sys.executable  # the kernel is the Python under test
    _, failure = executed(of_cells(tmp_path, "slack = 0\nassert slack > 0, 'no slack'"), tmp_path)
    assert "CellExecutionError" in failure
    assert "no slack" in failure


def test_what_is_not_source_would_be_seen():
    text = NOTEBOOKS[0].read_text(encoding="utf-8")
    code = next(number for number, cell in enumerate(json.loads(text)["cells"]) if cell["cell_type"] == "code")

    def changed(change):
        book = json.loads(text)
        change(book)
        return json.dumps(book, indent=1, ensure_ascii=False) + "\n"

    outputs = [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]
    cases = {
        "outputs": lambda book: book["cells"][code].update(outputs=outputs),
        "execution_count": lambda book: book["cells"][code].update(execution_count=3),
        "metadata": lambda book: book["cells"][code].update(metadata={"editable": True}),
        "metadata {": lambda book: book["metadata"]["language_info"].update(version="3.11.7"),
        "another way": lambda book: book["cells"][0].update(id="4f0e-9c"),
    }
    for what, change in cases.items():
        spoilt = changed(change)
        [complaint] = untidy(spoilt)
        assert what in complaint
        assert tidied(spoilt) == text
