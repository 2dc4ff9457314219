"""Draw a report as the picture of README.md: ``python docs/picture.py results.json docs/report.svg``."""

import sys
from html import escape

from theoryck.report.json import read_json
from theoryck.report.layout import Style
from theoryck.report.text import render

LINE, CHARACTER, MARGIN = 17, 7.25, 16


def picture(text: str) -> str:
    """Return lines of monospaced text as an SVG, with the colour of the verdict in each line."""
    lines = text.splitlines()
    width, height = max(map(len, lines)) * CHARACTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    rows = []
    for number, line in enumerate(lines):
        word = line.strip().split(" ")[0] if line.strip() else ""
        colour = {"CERTIFIED": "#7ee787", "SUPPORTED": "#7ee787", "refuted": "#d2a8ff", "!": "#ff7b72", "?": "#e3b341"}.get(
            word, "#c9d1d9"
        )
        rows.append(f'<text x="{MARGIN}" y="{MARGIN + (number + 0.8) * LINE:.0f}" fill="{colour}">{escape(line)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">\n'
        "<title>The report of pytest proofs/goldt2021</title>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12" xml:space="preserve"'
        ' style="white-space: pre">\n' + "\n".join(rows) + "\n</g>\n</svg>\n"
    )


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with open(target, "w", encoding="utf-8") as out:  # noqa: PTH123
        out.write(picture(render(read_json(source), Style(width=100))))
