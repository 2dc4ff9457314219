"""Files of proofs/: a reader who has only one of them can name its paper."""

import ast
import importlib
from pathlib import Path

import pytest

from theoryck import Reference

PROOFS = Path(__file__).parents[2] / "proofs"
FILES = sorted(PROOFS.glob("*/*.py"))


def papers(file):
    """The papers whose claims a file makes: the references that it imports of its folder, or all that the folder has."""
    folder = importlib.import_module(f"proofs.{file.parent.name}")
    known = {name: value for name, value in vars(folder).items() if isinstance(value, Reference)}
    tree = ast.parse(file.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level for alias in node.names}
    return [known[name] for name in names & known.keys()] or list(known.values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_first_line_names_the_paper(file):
    """The first author's name, or that of a talk's speaker, and the year."""
    first = (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0]
    assert any(paper.authors.split(",")[0] in first and str(paper.year) in first for paper in papers(file)), first


def test_files_are_found_and_a_wrong_paper_is_seen():
    assert len(FILES) > 100
    (paper,) = papers(PROOFS / "abbe2023" / "leaps.py")
    assert (paper.authors.split(",")[0], paper.year) == ("Abbe", 2023)
    assert [paper.year for paper in papers(PROOFS / "benarous2021" / "smoothing.py")] == [2023]  # Damian et al. for smoothed losses
