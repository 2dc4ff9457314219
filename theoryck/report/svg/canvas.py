"""A canvas for small pictures: SVG elements as text, a style that follows the page's colours and stands alone, a legend below.

Colours are custom properties of the page (``--tk-`` followed by ink, paper, grid, data, second, fit, claim or rival) with fallbacks
for a picture that stands alone; every role has a shape of its own besides its colour.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH = 380.0
FONT = 12.0
CHARACTER = 6.7  # mean width of a character of the font
WIDTHS = {"\u2212": 10.1, ".": 3.9, "\u00b7": 4.0, **dict.fromkeys("0123456789", 7.7)}  # of DejaVu Sans, which is wide
LINE = 17.0
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Hues of Okabe and Ito (2008), darkened or lightened until each has a contrast of at least 3:1 on white and on #16191d.
STYLE = (
    ".tk-p{font:12px system-ui,sans-serif;fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}"
    ".tk-p text{fill:var(--tk-ink,#1c2024);stroke:none}"
    ".tk-bg{fill:var(--tk-paper,#fff)}"
    ".tk-g{stroke:var(--tk-grid,#dcdfda);stroke-width:1}"
    ".tk-a{stroke:var(--tk-ink,#1c2024);stroke-width:1}"
    ".tk-d{stroke:var(--tk-data,#1f7fc0)}"
    ".tk-s{stroke:var(--tk-second,#00916a)}"
    ".tk-f{stroke:var(--tk-fit,#1f7fc0)}"
    ".tk-b{fill:var(--tk-fit,#1f7fc0);fill-opacity:.22}"
    ".tk-c{stroke:var(--tk-claim,#d55e00);stroke-width:2;stroke-dasharray:7 5}"
    ".tk-r{stroke:var(--tk-rival,#b4569a);stroke-width:2;stroke-dasharray:.1 4.5}"
    ".tk-w{stroke-width:6.5}"
    ".tk-u{stroke-dasharray:none}"
    ".tk-2{stroke-dasharray:5 2.5}"
    ".tk-3{stroke-dasharray:.1 3}"
    ".tk-h{fill:var(--tk-data,#1f7fc0);fill-opacity:.35}"
    ".tk-t{fill:var(--tk-claim,#d55e00);fill-opacity:.12}"
)

Spot = tuple[float, float]


@dataclass
class Canvas:
    """Elements of a picture, in drawing order, the rows of its legend: (sample, text), and where curves have their names.

    ``spots`` are the marks, each with the row of its point in the record: what a page tells of a mark it takes from its table.
    """

    height: float
    elements: list[str] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)
    names: list[Spot] = field(default_factory=list)
    spots: list[tuple[float, float, int]] = field(default_factory=list)

    def path(self, classes: str, data: str) -> None:
        """Add a path, unless it is empty."""
        if data:
            self.elements.append(path(classes, data))

    def text(self, x: float, y: float, text: str, anchor: str = "start", room: float = math.inf) -> None:
        """Add a line of text, cut to ``room``."""
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.elements.append(f'<text x="{short(x)}" y="{short(y)}"{where}>{escape(cut(text, room))}</text>')

    def name(self, x: float, y: float, text: str, bottom: float) -> None:
        """Write the short name of a curve, below others that stand there or, above ``bottom``, to their left."""
        start = y
        while any(abs(x - there) < 16 and abs(y - level) < 13 for there, level in self.names):
            x, y = (x, y + 13) if y + 13 < bottom else (x - 17, start)
        self.names.append((x, y))
        self.text(x, y, text)

    def entry(self, sample: str, text: str) -> None:
        """Add a row to the legend."""
        if (sample, text) not in self.legend:
            self.legend.append((sample, text))

    def svg(self, title: str, description: str, name: str) -> str:
        """Return the whole picture; ``name`` makes its ids."""
        bottom = self._legend()
        own = re.sub(r"[^A-Za-z0-9_-]", "-", name)
        width, height = short(WIDTH), short(bottom)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tk-p" viewBox="0 0 {width} {height}" role="img"{self._spots()} '
            f'aria-labelledby="{own}-t {own}-d"><title id="{own}-t">{escape(title)}</title>'
            f'<desc id="{own}-d">{escape(description)}</desc><style>{STYLE}</style>'
            f'<rect class="tk-bg" width="{width}" height="{height}"/>{"".join(self.elements)}</svg>'
        )

    def _spots(self) -> str:
        """Write the marks as "x,y,row", without the row where it is the one after the row before."""
        words, following = [], 0
        for x, y, row in self.spots:
            words.append(f"{x:.0f},{y:.0f}" + (f",{row}" if row != following else ""))
            following = row + 1
        return f' data-spots="{" ".join(words)}"' if words else ""

    def _legend(self) -> float:
        """Draw the legend below the picture, in two columns where the texts are short; return where it ends."""
        half = WIDTH / 2
        x, y = 8.0, self.height + 10
        for sample, text in self.legend:
            wide = 30 + CHARACTER * len(text) > half - 8
            if wide and x > half:
                x, y = 8.0, y + LINE
            self.elements.append(f'<g transform="translate({short(x)} {short(y)})">{sample}</g>')
            self.text(x + 30, y + 4, text, room=WIDTH - 38 if wide else half - 38)
            x, y = (8.0, y + LINE) if wide or x > half else (half + 8, y)
        return y + (LINE if x > half else 0) if self.legend else self.height


def path(classes: str, data: str) -> str:
    """Return a path element."""
    return f'<path class="{classes}" d="{data}"/>'


def short(value: float) -> str:
    """Write a coordinate, rounded to 0.1.

    >>> short(12.34), short(-0.04), short(7.0)
    ('12.3', '0', '7')
    """
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"


def polyline(spots: Sequence[Spot], closed: bool = False) -> str:
    """Return the data of a line through spots, in steps from spot to spot (which are short); nothing for fewer than two.

    >>> polyline([(10.0, 5.04), (12.5, 5.0), (20.0, 7.0)])
    'M10,5l2.5,0 7.5,2'
    """
    if len(spots) < 2:
        return ""
    # Steps between rounded spots: a sum of rounded steps would drift.
    x, y = (round(end, 1) for end in spots[0])
    text, steps = f"M{short(x)},{short(y)}l", []
    for spot in spots[1:]:
        here = (round(spot[0], 1), round(spot[1], 1))
        steps.append(f"{short(here[0] - x)},{short(here[1] - y)}")
        x, y = here
    return text + " ".join(steps) + ("z" if closed else "")


def staircase(spots: Sequence[Spot], closed: bool = False) -> str:
    """Return the data of a line through spots, of which neighbours share a coordinate.

    >>> staircase([(0.0, 9.0), (0.0, 5.0), (3.0, 5.0)])
    'M0,9v-4h3'
    """
    x, y = (round(end, 1) for end in spots[0])
    text = f"M{short(x)},{short(y)}"
    for spot in spots[1:]:
        here = (round(spot[0], 1), round(spot[1], 1))
        text += f"h{short(here[0] - x)}" if here[0] != x else ""
        text += f"v{short(here[1] - y)}" if here[1] != y else ""
        x, y = here
    return text + ("z" if closed else "")


def clipped(spots: Sequence[Spot], top: float, bottom: float) -> list[list[Spot]]:
    """Return the parts of a line that lie between two heights, cut where it leaves them.

    >>> clipped([(0, 0), (10, 10), (20, 0)], 0, 5)
    [[(0, 0), (5.0, 5)], [(15.0, 5), (20, 0)]]
    """
    parts: list[list[Spot]] = [[]]
    for index, (x, y) in enumerate(spots):
        if index:
            crossed = _crossings(spots[index - 1], (x, y), top, bottom)
            if crossed and not parts[-1]:
                parts[-1].append(crossed[0])
                crossed = crossed[1:]
            if crossed:
                parts[-1].append(crossed[0])
        if top <= y <= bottom:
            parts[-1].append((x, y))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if len(part) > 1]


def _crossings(a: Spot, b: Spot, top: float, bottom: float) -> list[Spot]:
    """Return where a segment crosses the two heights, from a to b."""
    found = []
    for height in (top, bottom):
        if (a[1] - height) * (b[1] - height) < 0:
            share = (height - a[1]) / (b[1] - a[1])
            found.append((share, (a[0] + share * (b[0] - a[0]), height)))
    return [spot for _, spot in sorted(found)]


def band(upper: Iterable[Spot], lower: Iterable[Spot], top: float, bottom: float) -> str:
    """Return the data of the area between two lines, each kept between two heights."""

    def kept(spots: Iterable[Spot]) -> list[Spot]:
        return [(x, min(max(y, top), bottom)) for x, y in spots]

    return polyline([*kept(upper), *reversed(kept(lower))], closed=True)


def escape(text: str) -> str:
    """Return text that is safe in elements and quoted attributes; characters that XML does not have are left out.

    >>> escape("a<b & 'c'\\x00")
    'a&lt;b &amp; &#39;c&#39;'
    """
    text = _INVALID.sub("", text)
    for raw, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(raw, safe)
    return text


def width_of(label: str) -> float:
    """Return the width of a number as an axis writes it; superscripts are narrow.

    >>> round(width_of("0.25"), 1), round(width_of("10⁻⁷"), 1)
    (27.0, 26.0)
    """
    return sum(WIDTHS.get(character, 5.3) for character in label)


def cut(text: str, room: float) -> str:
    """Return as much of a text as fits into ``room``, with an ellipsis where it was cut.

    >>> cut("norm_deviation", 67.0)
    'norm_devi…'
    """
    most = int(room / CHARACTER) if math.isfinite(room) else len(text)
    return text if len(text) <= most else text[: max(most - 1, 1)] + "…"


def with_tail(text: str, tail: str, room: float = WIDTH - 30) -> str:
    """Return a text with something behind it that is kept where the text must be cut.

    >>> with_tail("norm_deviation", " - 1", 67.0)
    'norm_… - 1'
    """
    return cut(text, max(room - CHARACTER * len(tail), 3 * CHARACTER)) + tail
