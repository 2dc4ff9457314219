"""One Chromium for all tests of pages; each test sees its page alone, and everything that the page asked for or complained of."""

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.waiting import HANG, until
from theoryck.records import Report
from theoryck.report.html import render

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
LIMIT = 1000 * HANG  # Playwright counts in milliseconds
MISSING = "no Chromium: apt-get install chromium (or put chromium, chromium-browser or google-chrome on PATH)"
REQUIRED = "THEORYCK_BROWSER"  # "required" (as .ci/run sets it) turns a missing browser from a skip into a failure


def reports():
    """The reports made by hand for the golden files, loaded as those tests load them."""
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE.parent / "golden" / "reports.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].REPORTS


def together(found):
    """One report with everything that the others hold."""
    about = {each.claim: each for report in found.values() for each in report.about}
    folders = {name: text for report in found.values() for name, text in report.folders.items()}
    results = tuple(result for report in found.values() for result in report.results)
    return Report(
        profile="quick", seed=0, results=results, version="0.1.0", interrupted=True, about=tuple(about.values()), folders=folders
    )


def chromium():
    """Return the path of a browser; without one skip, or fail where a browser is required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        (pytest.fail if os.environ.get(REQUIRED) == "required" else pytest.skip)(MISSING)
    return found


OPEN = """() => Promise.all([...document.querySelectorAll("details:not([open])")].map((box) => new Promise((heard) => {
  box.addEventListener("toggle", heard, { once: true });
  box.open = true;
})).map((each) => each.then(() => null)))"""
STAY = """async (selector) => {
  const place = () => selector === null ? 0 : document.querySelector(selector).getBoundingClientRect().top;
  for (let still = 0, last = NaN; still < 12; still += 1) {
    await new Promise(requestAnimationFrame);
    if (place() !== last) still = 0;
    last = place();
  }
}"""


@dataclass
class Visit:
    """A page that was opened, with what it said on the console and what it asked for besides itself."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open_all(self):
        """Open every box, and wait until the page has heard of each."""
        self.page.evaluate(OPEN)
        return self.settle()

    def settle(self, still=None):
        """Wait for some frames: with them comes what the pointer did, and what ``still`` selects has then stayed where it is."""
        self.page.evaluate(STAY, still)
        return self

    def until(self, holds):
        """Wait until ``holds()`` is true: the page's policy keeps Playwright's own predicates out of it."""
        until(holds, pause=lambda seconds: self.page.wait_for_timeout(1000 * seconds))

    def check(self, name, *arguments):
        """Run a check of checks.js in the page."""
        self.page.evaluate((HERE / "checks.js").read_text(encoding="utf-8"))
        return self.page.evaluate(f"(given) => checks.{name}(...given)", list(arguments))


@pytest.fixture(scope="session")
def find_chromium():
    return chromium


@pytest.fixture(scope="module")
def browser():
    """One browser for a module, closed before the next: while Playwright runs, its event loop is the running one of the thread,
    in which the notebooks' tests could not start theirs."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, headless=True, args=list(ARGUMENTS), timeout=LIMIT)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser, tmp_path):
    """A function that opens a text of HTML from a file, in a context of its own, with every other request refused."""
    contexts = []

    def open_page(html, *, dark=False, width=1280, script=True, media=None):
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", java_script_enabled=script
        )
        contexts.append(context)
        context.set_default_timeout(LIMIT)
        page = context.new_page()
        seen = Visit(page)

        def answer(route):
            if route.request.url.split("#")[0] == file.as_uri():
                route.continue_()
            else:
                seen.requests.append(route.request.url)
                route.abort()

        page.route("**/*", answer)
        page.on("console", lambda said: seen.complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        if media:
            page.emulate_media(media=media)
        page.goto(file.as_uri())
        return seen

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def golden():
    return reports()


@pytest.fixture(scope="session")
def everything(golden):
    """The page of one report that holds every awkward case at once."""
    return render(together(golden))
