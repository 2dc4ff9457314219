"""The sources of the site: what they are read as.  The site itself is built and looked at in tests/browser."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from tests.calibration.parts import PARTS, Row
from tests.calibration.tallies import Tally

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the site is not part of an installed package")


def loaded(name):
    """A module of the site's extension, by itself."""
    pytest.importorskip("docutils")
    spec = importlib.util.spec_from_file_location(f"{name}_of_the_site", DOCS / "extension" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def docstrings():
    """The module that reads docstrings for the site."""
    return loaded("docstrings")


@pytest.fixture(scope="module")
def calibration():
    """The module that reads the table of error rates for the site."""
    return loaded("calibration")


def blocks():
    """The paragraphs of all docstrings of subjects and proofs, as lines."""
    for folder in (ROOT / "theoryck" / "theory", ROOT / "proofs"):
        for path in sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                    yield from (block.splitlines() for block in re.split(r"\n[ \t]*\n", text))


def torn(lines, known):
    """Words at a line's beginning that stand off like a label and are none, with what is set in to their column below."""
    found = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        match = re.match(r"([A-Za-z][A-Za-z ]{0,28}?)(\.?) {2,}(?=\S)", line)
        hangs = match is not None and len(below) - len(below.lstrip()) == match.end() and bool(below.strip())
        alone = re.fullmatch(r"([A-Z][A-Za-z ]{0,28})\.", line)
        found += [line] if alone and below.startswith(" ") and alone.group(1) not in known else []
        stands_off = match is not None and (hangs or not match.group(2)) and match.group(1)[0].isupper()
        if stands_off and (match.group(1) not in known or not match.group(2)):
            found.append(line)
    return found


def test_a_label_is_one_of_the_known_ones(docstrings):
    assert [line for block in blocks() for line in torn(block, docstrings.LABELS)] == []
    assert torn(["Order      V = 1,", "parameters q = 2"], ["Order"])
    assert torn(["Strange.   V = 1,", "           q = 2"], ["Setting"])
    assert torn(["Strange.", "    q = 2"], ["Setting"])
    assert not torn(["Setting.   V = 1,", "           q = 2"], ["Setting"])


def test_a_label_heads_its_paragraph_and_other_words_stay_in_theirs(docstrings):
    read = [line for line in docstrings.convert("Setting.  It is one\nparagraph.\n\nNothing is said.  It goes on.") if line]
    assert read == ["**Setting.**", "It is one paragraph.", "Nothing is said. It goes on."]
    assert [line for line in docstrings.convert("Claim.\n    It is\n    below.") if line] == ["**Claim.**", "It is below."]


def test_a_table_in_a_docstring_is_a_table(docstrings):
    read = [line.strip() for line in docstrings.convert("| what | how |\n|------|-----|\n| 1    |     |") if line]
    assert read == [".. list-table::", ":header-rows: 1", "* - what", "- how", "* - 1", "-"]


def test_code_is_code_and_no_address_of_a_mail(docstrings):
    assert docstrings.help_text("declare it in ``@tc.quantity``.") == "declare it in \\ ``@tc.quantity``\\ ."
    assert docstrings.help_text("some@where and `one` back-tick") == "some\\ ``@where``\\  and \\`one\\` back-tick"


def test_formulas_of_a_help_text_are_read_and_what_is_typed_is_not(docstrings):
    read = docstrings.help_text("with --constant C it is 0 < k <= 64")
    assert "``--constant C``" in read
    assert docstrings.running("0 < k <= 64") in read
    for typed in ("--power", "./proofs", "@tc.quantity", "k<=2", "NAME=0", "\\theoryckclaim{ID}"):
        assert f"``{typed}``" in docstrings.help_text(f"before {typed} after"), typed
    assert "math" not in docstrings.help_text("Seed of the draws.  [default: 0; x>=0]")


@pytest.fixture(scope="module")
def dollars():
    """The module that reads formulas between dollars."""
    pytest.importorskip("sphinx")
    return loaded("dollars")


def between_dollars(text):
    """The formulas of a page, those of its code left out."""
    return re.findall(r"\$([^$]+)\$", re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL))


def test_every_formula_between_dollars_is_read_as_one(dollars):
    found = [tex for path in sorted(DOCS.glob("*.md")) for tex in between_dollars(path.read_text(encoding="utf-8"))]
    assert len(found) > 25
    assert all(dollars.element(tex).startswith("<math>") for tex in found)
    root = dollars.element(r"O((1 + \sqrt{n/d_{1}})/\sqrt{d})")
    assert root.count("<msqrt>") == 2
    assert "\\" not in root


@pytest.mark.parametrize(
    ("tex", "message"), [(r"a \oplus b", r"\\oplus is not known in"), ("a certain number", "is not read as one")]
)
def test_what_is_no_formula_between_dollars_is_refused(dollars, tex, message):
    with pytest.raises(ValueError, match=message):
        dollars.element(tex)


def test_rows_of_the_table_of_error_rates_are_summed_for_each_promise(calibration):
    rows = [
        *(Row("refute", text, tally, 0.01) for text, tally in (("true, within 0.05", Tally(0, 20)), ("others", Tally(1, 2)))),
        *(Row("power", text, Tally(9, 10), 0.9, least=True) for text in ("wrong", "wrong, the worst again")),
        Row("power", "wrong by 1 (no promise)", Tally(1, 2)),
        Row("digits", "nothing was drawn", Tally(0, 0), 0.93, least=True),
    ]
    refute, power = calibration.promises(map(str, rows))
    assert (refute.part, refute.sign, refute.rate, refute.rows) == ("refute", "<=", 0.01, [Tally(0, 20), Tally(1, 2)])
    assert (refute.worst, refute.outside) == (Tally(1, 2), 1)  # 1 of 2: at least 1 - .975^(1/2) = .0126
    assert (power.sign, power.rows, power.outside) == (">=", [Tally(9, 10)], 0)


def test_every_promise_of_the_printed_table_is_on_the_site(calibration):
    lines = (DOCS / "calibration.txt").read_text(encoding="utf-8").splitlines()
    printed = [line for line in lines if re.search(r"  declared [<>]= ", line) and "the worst" not in line]
    found = calibration.promises(lines)
    assert sum(len(each.rows) for each in found) == len(printed) > 0
    assert {each.part for each in found} == calibration.WHAT.keys()
    assert len(calibration.WHAT) == len(PARTS)


def rows_without_head(text):
    """Rows of tables that a line without a table stands before, and that are no heads: Markdown shows them as text."""
    lines = ["", *re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines(), ""]
    first = [at for at in range(1, len(lines) - 1) if lines[at].startswith("|") and not lines[at - 1].startswith("|")]
    return [lines[at] for at in first if not re.fullmatch(r"\|[ :|-]+\|", lines[at + 1].strip())]


def test_every_row_of_a_table_belongs_to_one():
    assert {
        path.name: rows for path in sorted(DOCS.glob("*.md")) if (rows := rows_without_head(path.read_text(encoding="utf-8")))
    } == {}
    assert rows_without_head("| a |\n| - |\n| b |\n\n| c |\n") == ["| c |"]
