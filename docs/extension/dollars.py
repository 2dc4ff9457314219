r"""Formulas between dollars in the pages under ``docs/``: TeX that GitHub shows too; MathML by what reads those of docstrings.

Of TeX they need the commands below and braces.  A formula that the reader does not take as a whole stops the build.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError

from theoryck.report.formula import mathml

COMMANDS = {
    **{"le": "<=", "ge": ">=", "to": "->", "sim": "~", "dots": "...", "infty": "oo"},
    **{name: name for name in ("log", "exp", "cos", "alpha", "sigma", "pi", "kappa")},
}
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_MATHBB = re.compile(r"\\mathbb *\{?([A-Z])\}?")
_ROOT = re.compile(r"\\sqrt\{((?:[^{}]|\{[^{}]*\})*)\}")
_FORMULAS = re.compile(r"(<math.*?</math>|[\s,;.])+", re.DOTALL)


def plain(tex: str) -> str:
    """Return TeX as docstrings would have it; ValueError names a command that is not known."""

    def command(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in COMMANDS:
            raise ValueError(f"{match.group()} is not known in ${tex}$; add it to COMMANDS in {__file__}")
        return f" {COMMANDS[name]} "

    return _COMMAND.sub(command, _ROOT.sub(r"sqrt(\1)", _MATHBB.sub(r"\1 ", tex)))


def element(tex: str, *, display: bool = False) -> str:
    """Return the MathML of a formula; ValueError where part of it is read as prose."""
    html = mathml(plain(tex).strip(), display=display)
    if not _FORMULAS.fullmatch(html):
        raise ValueError(f"the formula ${tex}$ is not read as one: {html}")
    return html


def _shown(translator: Any, node: nodes.Element) -> None:
    try:
        html = element(node.astext(), display=isinstance(node, nodes.math_block))
    except ValueError as error:
        raise ExtensionError(f"{translator.builder.current_docname}: {error}") from error
    display = isinstance(node, nodes.math_block)
    translator.body.append(f'<div class="formula" tabindex="0">{html}</div>' if display else f'<span class="whole">{html}</span>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Register the renderer, which ``html_math_renderer`` names."""
    app.add_html_math_renderer("formulas", inline_renderers=(_shown, None), block_renderers=(_shown, None))
