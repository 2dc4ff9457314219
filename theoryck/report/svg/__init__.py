"""Pictures of a result as compact SVG, rendered from its record alone: nothing is measured and nothing fitted.

marks   what is shown: marks of every route, curves and lines along one path
growth  values against sizes, their ratio to the claimed rate, residuals
values  numbers beside the number that is claimed, and values that approach it
laws    the histogram of a statistic beside the claimed law
words   labels, and sentences that say what is seen
frame   axes, ticks, marks and curves within them
scales  where a number lies on an axis, and which have labels
canvas  SVG elements, their style and the legend
"""

from __future__ import annotations

from dataclasses import dataclass

from theoryck.records import Result
from theoryck.report.claims import clean, instance_text
from theoryck.report.svg import growth, laws, marks, values, words
from theoryck.report.svg.canvas import Canvas

__all__ = ["Picture", "pictures"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by ``name`` ("scaling", "ratio", "residuals", "limit", "law", "values"), in words (``alt``) and as ``svg``.

    >>> picture = Picture("ratio", "Measured divided by claimed rate", "between 1.9 at d = 16 and 2.1 at d = 64", "<svg></svg>")
    >>> picture.name, picture.alt
    ('ratio', 'between 1.9 at d = 16 and 2.1 at d = 64')
    """

    name: str
    title: str
    alt: str
    svg: str


def pictures(result: Result, prefix: str = "") -> list[Picture]:
    """Return the pictures of a result; ``prefix`` keeps their ids apart from those of other results on a page.

    There is none where nothing was measured.  Everything that comes from the result is escaped, and nothing raises.

    >>> from theoryck.auditing import audit
    >>> sizes, values = [16, 32, 64, 128], [0.9, 0.6, 0.45, 0.3]
    >>> made = pictures(audit({"d": sizes}, values, [0.01] * 4, rate="d**(-1/2)"), prefix="r1-")
    >>> [picture.name for picture in made]
    ['scaling', 'ratio', 'residuals']
    >>> print(made[1].alt[:62])
    value divided by the claimed rate, against d on a linear axis:
    """
    found, settling = marks.growth(result), marks.approach(result)
    made: list[Picture] = []

    def add(name: str, title: str, drawn: tuple[Canvas, str] | None) -> None:
        if drawn is not None:
            canvas, alt = drawn
            canvas.legend = [(sample, words.in_place(text, result)) for sample, text in canvas.legend]
            alt = words.in_place(alt, result)
            instance = instance_text(result.instance)
            whole = f"{title}: {clean(result.claim)}{f' ({instance})' if instance else ''}"
            made.append(Picture(name, title, alt, canvas.svg(whole, alt, f"{prefix}{name}")))

    if settling is not None and settling.traces:
        title = "Measured values and their limit" if settling.subtracted is None else "Measured against claimed limit"
        add("limit", title, values.limit(result, settling))
    if found is not None and found.traces:
        add("scaling", "Measured against claimed rate" if found.claims else "Measured values", growth.scaling(result, found))
        if found.claims:
            add("ratio", "Measured divided by claimed rate", growth.ratio(result, found))
    if values.compares(result):
        add("values", "Measured against claimed value", values.values(result))
    add("law", "Measured against claimed law", laws.law(result))
    rest = found if found is not None and found.traces else settling
    if rest is not None:
        add("residuals", "Residuals of the fit", growth.residuals(rest))
    return made
