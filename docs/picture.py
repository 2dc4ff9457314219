"""Make the pictures of README.md, parts of one page of real results in a browser.

``pytest proofs --theoryck-json results.json`` and then ``python docs/picture.py results.json docs``.  The browser is Chromium,
driven by playwright (in the extra [test]); CHROMIUM names its program where that is not /usr/bin/chromium.
"""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from theoryck.report.html import write_html
from theoryck.report.json import read_json

CLAIM = "camilli2025/deep-reduction-linear"  # the claim whose evidence is shown
WIDTH, HEIGHT, MARGIN = 1280, 1400, 16


def overview(page: Page, rows: int = 7) -> dict[str, float]:
    """Return the part of the page with the sums and the first rows of the table."""
    last = page.locator("#claims tbody tr").nth(rows - 1).bounding_box()
    return {"x": 0, "y": 0, "width": WIDTH, "height": last["y"] + last["height"]}


def evidence(page: Page) -> dict[str, float]:
    """Open the claim, bring it into view, and return the part of the window with its statement and its first pictures."""
    article = page.locator(f"article[data-claim='claim-{CLAIM.replace('/', '-')}']")
    article.locator("summary").first.click()
    article.evaluate("part => part.scrollIntoView()")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)  # pictures are laid out when they come into view
    top, end = article.bounding_box(), article.locator("figure").first.bounding_box()
    return {"x": 0, "y": top["y"], "width": WIDTH, "height": end["y"] + end["height"] - top["y"] + MARGIN}


def main(source: str, folder: str) -> None:
    """Write report.png and claim.png, pictures of the results in ``source``, into ``folder``."""
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        file = Path(work) / "report.html"
        write_html(read_json(source), str(file))
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(file.as_uri())
        for name, part in {"report": overview, "claim": evidence}.items():
            page.screenshot(path=Path(folder) / f"{name}.png", clip=part(page))
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
