"""How a record shows itself in a notebook: the one arrow that goes up, from the records to what renders them.

A notebook asks an object for ``_repr_html_``, so the method must sit on the record; what it shows is made by
``theoryck.report.html``, which reads records.  A record must stay readable without any of that (DESIGN section 1), so the renderer
is named here as text and looked up when, and only when, a record is first displayed.
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
