"""Docstrings of theoryck as reStructuredText.

They are plain text: paragraphs in which prose and formulas are mixed, lines that are set in (formulas, or what hangs under a
label), lists, and examples.  Formulas become MathML by what renders them on the page of a report, so that a browser
shows them without any script; a role that names something without a place on the site becomes its name.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from html import escape, unescape
from typing import Any

from docutils import nodes
from docutils.utils import unescape as without_escapes

from theoryck.report.formula import mathml

# What stays as it is beside formulas: code, names of objects, links, words in quotation marks.
_KEPT = re.compile(r"``(?P<code>[^`]+)``|:(?P<role>\w+):`(?P<target>[^`]+)`|(?P<text>\"[^\"\n]{1,60}\")")
# What is typed in a help text (options, files, lists after a dot, NAME=X and k<=2, TeX), and what stands of an option at its end.
_TYPED = re.compile(
    rf"{_KEPT.pattern}|(?P<default>\[[^\]]*\]$)"
    r"|(?P<typed>--[a-z][\w-]*(?: [A-Z]\b)?|(?<!\S)\.+/\w+|@\w+(?:\.\w+)*|\b\w+(?:[<>!]=|[<>=])\w+|\\\w+(?:\{\w+\})?)"
)
_ITEM = re.compile(r"(?:\*|-|\d\.) +")
# What heads a part of a docstring: a line "Setting.   n samples ...", and what is set in to its column.
LABELS = (
    *("Setting", "Order parameters", "Fixed point", "Claim", "Truth", "Words changed", "Theorem", "Identity", "Formula"),
    *("Sandwich", "Kernels", "NNGP", "NTK", "Output", "Data", "Radius", "Taylor", "Laws", "Gaussian inputs", "Generated inputs"),
    *("Square loss", "Logistic loss", "Quadrature", "Fluctuations", "Predictor", "Saddle", "Uniqueness", "Evidence", "Information"),
    *("One step", "Two steps on the same batch", "Base", "Scalar mode", "Selection", "Bayes", "Scale", "Spectrum", "Steps"),
    *("Errors", "Standard error", "Bins", "Error of the bins", "Scaling", "Merging", "Notation"),
    *("Measured", "Source", "Columns", "Drawn", "Constants", "Limits", "Level", "Leap", "Depth", "Learning", "Slips", "Method"),
    *("Note", "UNDETERMINED", "Best algorithm", "Directions"),
)
_LABEL = re.compile(rf"(?:{'|'.join(LABELS)})\.(?: {{2,}}(?=\S)| (?=\S)|$)")
_PUNCTUATED = re.compile(r"<math[^>]*>(?:(?!</math>).)*</math>[,.;:)]+", re.DOTALL)
_ARRAY = "<math><mi>Q</mi></math> "
_SPECIAL = re.compile(r"([\\*`|_<>\[\]@])")


class Places:
    """Where a name of the package stands on the site: the names under which it is documented, by every name it may be called."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def add(self, name: str, thing: Any) -> None:
        """Document ``thing`` as ``name``."""
        home = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        for each in (name, home):
            self.known.setdefault(each, name)

    def find(self, target: str, module: str) -> str | None:
        """Return the documented name for what a role in ``module`` names, or None."""
        last = target.rpartition(".")[2]
        package = module.rpartition(".")[0]
        tries = [target, f"{module}.{target}", f"{package}.{target}", f"theoryck.{target}"]
        return next((self.known[each] for each in tries if each in self.known), None) or (
            self.known.get(f"theoryck.{last}") if target.startswith("theoryck.") else None
        )


PLACES = Places()


def escaped(text: str) -> str:
    """Return text in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", text)


def _raw(html: str) -> str:
    """HTML within a paragraph, by a role that passes it through."""
    return "\\ :formula:`" + html.replace("\\", "\\\\").replace("`", "&#96;") + "`\\ "


def running(text: str, module: str = "", kept: re.Pattern[str] = _KEPT) -> str:
    """Return one paragraph of prose and formulas as the markup of a paragraph; ``kept`` is what no formula is read in."""
    text = " ".join(text.split())
    found: list[str] = []
    at = 0
    behind = False
    for match in kept.finditer(text):
        found += [_formulas(text[at : match.start()], behind), _kept(match, module)]
        at, behind = match.end(), match["code"] is not None
    found.append(_formulas(text[at:], behind))
    return "".join(found).removeprefix("\\ ").strip()


def help_text(text: str) -> str:
    """Return one paragraph of a command's help as the markup of a paragraph: what is typed as code, formulas as MathML."""
    return running(text, kept=_TYPED)


def _kept(match: re.Match[str], module: str) -> str:
    found = match.groupdict()
    if (code := found["code"] or found.get("typed")) is not None:
        return f"\\ ``{code}``\\ "
    if (words := found["text"] or found.get("default")) is not None:
        return escaped(words)
    shown = match["target"].lstrip("~")
    last = shown.rpartition(".")[2] if match["target"].startswith("~") else shown
    place = PLACES.find(shown, module)
    return f"\\ ``{last}``\\ " if place is None else f"\\ :py:obj:`{last} <{place}>`\\ "


def _formulas(text: str, behind_code: bool = False) -> str:
    """Prose escaped and formulas as MathML, a formula and the punctuation behind it on one line.

    Behind code, the name of an array perhaps, parentheses are read as behind a letter: they may have its shape.
    """
    if not text.strip():
        return text
    before, after = (text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :])
    html = mathml(text.strip())
    if behind_code and text.startswith(" (") and (read := mathml(f"Q {text.strip()}")).startswith(_ARRAY):
        html = read.removeprefix(_ARRAY)
    html = _PUNCTUATED.sub(r'<span class="whole">\g<0></span>', html)
    parts = re.split(r'(<span class="whole">.*?</span>|<math.*?</math>)', html, flags=re.DOTALL)
    shown = [_raw(part) if at % 2 else escaped(unescape(part)) for at, part in enumerate(parts)]
    return before + "".join(shown) + after


def displayed(line: str) -> list[str]:
    """Return a line that stands for itself as a directive: formulas large, its columns apart."""
    columns = re.split(r" {3,}", line.strip())
    html = "&emsp;".join(mathml(column, display=True) for column in columns)
    return ["", ".. raw:: html", "", f'   <div class="formula" tabindex="0">{html}</div>', ""]


def convert(text: str, module: str = "") -> list[str]:
    """Return the lines of a docstring as lines of reStructuredText."""
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", inspect.cleandoc(text)):
        if block.strip():
            lines += ["", *_block(block, module), ""]
    return lines


def _block(block: str, module: str) -> list[str]:
    written = textwrap.dedent(block).splitlines()
    if written[0].startswith(">>>") or block.startswith("Traceback"):
        return [".. code-block:: pycon", "", *(f"   {line}" for line in written)]
    if len(written) > 1 and re.fullmatch(r"[|: -]+", written[1]) and all(line.startswith("|") for line in written):
        return _table(written, module)
    lines: list[str] = []
    prose: list[str] = []

    def finish() -> None:
        if prose:
            lines.extend(["", running(" ".join(prose), module), ""])
            prose.clear()

    at = 0
    while at < len(written):
        line = written[at]
        if line.startswith(">>>"):  # an example behind the prose of its paragraph
            finish()
            return [*lines, "", *_block("\n".join(written[at:]), module)]
        deeper = at + 1
        while deeper < len(written) and written[deeper].startswith(" "):
            deeper += 1
        hanging = written[at + 1 : deeper]
        if _ITEM.match(line):
            finish()
            item = running(" ".join([_ITEM.sub("", line, count=1), *hanging]), module)
            lines += [f"* {item}"]
            at = deeper
        elif (label := _LABEL.match(line)) and (label.group().endswith(("  ", ".")) or _hangs(hanging, label.end())):
            finish()
            column = label.end()
            lines += ["", f"**{escaped(label.group().strip())}**", ""]
            if not hanging:  # the paragraph goes on below the label
                written[at] = line[column:]
                continue
            inside = textwrap.dedent("\n".join([" " * column + line[column:], *hanging]))
            lines += [*_block(inside, module), ""]
            at = deeper
        else:
            prose.append(line.strip())
            if hanging:
                finish()
                for each in hanging:
                    lines += displayed(each)
            at = deeper
    finish()
    return lines


def _table(written: list[str], module: str) -> list[str]:
    """Return a table whose rows are lines between bars, the second of them a rule below the heads."""
    lines = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in (line for line in written if line.strip("|-: ")):
        cells = [running(cell, module) for cell in row.strip().strip("|").split("|")]
        lines += [f"   {'* -' if at == 0 else '  -'} {cell}" for at, cell in enumerate(cells)]
    return [*lines, ""]


def _hangs(lines: list[str], column: int) -> bool:
    """Whether lines are set in to a column, as what belongs to a label is."""
    return bool(lines) and all(len(line) - len(line.lstrip()) == column for line in lines)


def as_written(text: str) -> list[str]:
    """Return a docstring that has formulas once more, to be opened: as it stands in the source, which decides where both differ."""
    html = (
        f"<details class='written'><summary>As written in the source</summary><pre>{escape(inspect.cleandoc(text))}</pre></details>"
    )
    lines = html.splitlines()
    return ["", ".. raw:: html", "", *(f"   {line}" for line in lines), ""] if "<math" in mathml(text) else []


def summary(thing: Any, module: str = "") -> str:
    """Return the first paragraph of a docstring, as one line."""
    text = inspect.getdoc(thing) or ""
    return running(text.split("\n\n")[0], module) if text else ""


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Convert what autodoc has read."""
    del app, what, options
    home = getattr(thing, "__module__", None) or name.rpartition(".")[0]
    lines[:] = convert("\n".join(lines), str(home))


def formula_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[nodes.Node], list[Any]]:
    """Pass the HTML of a formula through; a format other than HTML has no formula there."""
    del name, lineno, inliner, options, content
    return [nodes.raw(rawtext, without_escapes(text), format="html")], []


def plain_types(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Types in signatures that have no page of their own are shown as they are; in prose such a name is a mistake."""
    del app, env
    parent = node.parent
    while parent is not None:
        if parent.tagname in ("desc_signature", "desc_parameterlist"):
            return contnode
        parent = parent.parent
    return None


def setup(app: Any) -> None:
    """Register the role and what rewrites docstrings."""
    app.add_role("formula", formula_role)
    app.connect("autodoc-process-docstring", process)
    app.connect("missing-reference", plain_types)
