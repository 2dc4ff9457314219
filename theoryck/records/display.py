"""How a record shows itself in a notebook and to print(): the one arrow that goes up, from the records to what renders them.

A notebook asks an object for ``_repr_html_`` and print() for ``__str__``, so these methods must sit on the record; what they
show is made by ``theoryck.report``, which reads records.  A record must stay readable without any of that, so the renderers are
named here as text and looked up when, and only when, a record is first displayed.
"""

from __future__ import annotations

import importlib

RENDERER = "theoryck.report.html.notebook"


def html(record: object) -> str:
    """Return a record as a small piece of HTML for a notebook, with its own style and everything in it escaped.

    >>> from theoryck.records import Report
    >>> "No claim was checked" in html(Report(profile="quick", seed=0, results=()))
    True
    """
    shown: str = importlib.import_module(RENDERER).html(record)
    return shown


def paragraph(result: object) -> str:
    """Return what the terminal would say of one result: verdict, claimed and measured, the reason, how to repeat it."""
    shown: str = importlib.import_module("theoryck.report.paragraphs").paragraph(result)
    return shown


def table(report: object) -> str:
    """Return what the terminal would say of a report: its table, what fell in full, and the sum.

    >>> from theoryck.records import Report
    >>> print(Report(profile="quick", seed=0, results=()))
    No claim was checked.
    """
    shown: str = importlib.import_module("theoryck.report.text").render(report)
    return shown
