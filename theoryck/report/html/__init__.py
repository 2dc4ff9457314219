"""One page about a report: a single HTML file that needs nothing else, on paper and on a telephone, with and without its script.

:func:`render` reads records only, so an old JSON file becomes a page without measuring.  Every text of a report (names, reasons,
docstrings) is untrusted and escaped; a Content-Security-Policy in the page allows its own style sheet and its own small script by
their hashes and nothing else, so that even a text that slipped through could load and run nothing.

    page      the page: texts as markup, templates filled, its policy
    views     what the templates say of a report, a claim, an instance
    notebook  records as a notebook shows them
"""

from theoryck.report.html.page import render, write_html

__all__ = ["render", "write_html"]
