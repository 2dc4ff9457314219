"""The site that docs/ becomes: built without a warning, whole by itself, quiet in Chromium, and its answers within three clicks."""

import doctest
import os
import re
import subprocess
import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import theoryck
from tests.waiting import HANG
from theoryck.cli import COMMANDS
from theoryck.report.json import write_json

ROOT = Path(__file__).parents[2]
BUILT = "THEORYCK_SITE"  # where .ci/run has built it
MODULES = ("activations", "quantities", "strategies")  # names of the top that are modules: headings of the page


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site: what is not said to be there is built, every warning an error."""
    if built := os.environ.get(BUILT):
        return Path(built)
    pytest.importorskip("sphinx", reason="no Sphinx: python -m pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-d", str(folder / "doctrees"), "docs"]
    environment = {name: value for name, value in os.environ.items() if name != "THEORYCK_RESULTS"}
    done = subprocess.run(
        [*command, str(folder / "html")], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


class Links(HTMLParser):
    """Where a page leads, what it loads, and the places in it that can be led to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe", "source") and found.get("src"):
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def lead(page, link):
    """The page and the place that a link of a page leads to, or None for another site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = os.path.normpath(Path(page).parent / unquote(parts.path)) if parts.path else page
    return Path(path).as_posix(), unquote(parts.fragment)


def broken(pages, site):
    """Every link within the site that leads nowhere."""
    found = []
    for page, read in pages.items():
        for link in {*read.links, *read.loaded}:
            target = lead(page, link)
            if target is None:
                continue
            path, place = target
            there = pages[path].places if path in pages else None
            if not (site / path).is_file() or (place and there is not None and place not in there):
                found.append((page, link))
    return found


def test_every_link_leads_somewhere(pages, site):
    assert len(pages) > 60
    assert broken(pages, site) == []


def test_a_broken_link_would_be_seen(pages, site):
    made = {**pages, "made.html": Links('<a href="index.html#nowhere">a</a><a href="none.html">b</a><a href="index.html">c</a>')}
    assert sorted(link for page, link in broken(made, site) if page == "made.html") == ["index.html#nowhere", "none.html"]


def test_nothing_is_loaded_from_elsewhere(pages):
    assert [(page, link) for page, read in pages.items() for link in read.loaded if lead(page, link) is None] == []


def clicks(pages, wanted, start="index.html"):
    """How many clicks lead from the first page to a place (page, and where it begins)."""
    distance, queue = {start: 0}, deque([start])
    while queue:
        page = queue.popleft()
        for link in pages[page].links:
            target = lead(page, link)
            if target is None or target[0] not in pages:
                continue
            if target == wanted:
                return distance[page] + 1
            if target[0] not in distance:
                distance[target[0]] = distance[page] + 1
                queue.append(target[0])
    return None


@pytest.mark.parametrize(
    ("page", "place", "words"),
    [
        ("gallery.html", "step-sizes", "theoryck audit heun.csv --kind order"),
        ("start.html", "reading-a-verdict", "LOOSE (the quantity decays faster"),
        ("reference/subjects/covariates.html", "theoryck.theory.covariates.covariate_limit", "<mi>κ</mi>"),
    ],
    ids=["step sizes", "LOOSE", "the formula behind covariate_limit"],
)
def test_a_newcomer_finds_it_within_three_clicks(pages, site, page, place, words):
    assert place in pages[page].places
    assert 1 <= clicks(pages, (page, place)) <= 3
    assert words in " ".join((site / page).read_text(encoding="utf-8").split())


def test_what_is_nowhere_is_not_found(pages):
    assert clicks(pages, ("index.html", "nowhere")) is None


def test_every_subject_command_paper_room_and_public_name_has_a_place(pages, site):
    places = {place for read in pages.values() for place in read.places}
    subjects = sorted(path.parent.name for path in (Path(theoryck.__file__).parent / "theory").glob("*/__init__.py"))
    names = [f"theoryck.theory.{subject}.{name}" for subject in subjects for name in getattr(theoryck, subject).__all__]
    assert len(names) > 100
    assert [name for name in names if name not in places] == []
    papers = sorted(path.parent.name for path in (ROOT / "proofs").glob("*/__init__.py"))
    wanted = [f"reference/{kind}/{name}.html" for kind, of in (("commands", COMMANDS), ("proofs", papers)) for name in of]
    assert [page for page in wanted if page not in pages] == []
    rooms = [f'<span class="pre">{path.parent.name}</span>' for path in Path(theoryck.__file__).parent.glob("*/__init__.py")]
    names_page = (site / "reference" / "names.html").read_text(encoding="utf-8")
    assert [room for room in rooms if room not in names_page] == []
    links = {link.partition("#")[2] for link in pages["reference/names.html"].links}
    linked = {link.rpartition(".")[2] for link in links}
    assert {*theoryck.__all__} - linked <= {*MODULES}


def test_formulas_of_pages_and_of_commands_are_mathematics(site):
    def shown(page):
        return (site / page).read_text(encoding="utf-8")

    assert "<msqrt><mi>d</mi></msqrt>" in shown("proofs.html")
    assert shown("audits.html").count("<math") > 8
    measure = shown("reference/commands/measure.html")
    assert "<mi>\u03c6</mi>" in measure
    assert '<span class="pre">norm-deviation</span>' in measure  # a row of a table, and beside it its formula
    for page in sorted((site / "reference" / "commands").glob("*.html")):
        formulas = re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL)
        assert [each for each in formulas if each.count("\u2212</mo><mo") or "default" in each] == [], page.name


def test_the_tables_of_the_gallery_are_what_it_says():
    def column(name):
        return np.loadtxt(ROOT / "docs" / "tables" / name, delimiter=",", skiprows=1)

    def heun(h):
        return abs((1 + h + h**2 / 2) ** round(1 / h) - np.e)

    steps, errors = column("heun.csv").T
    assert errors == pytest.approx([heun(h) for h in steps], rel=5e-5)  # half a unit of the last of 5 digits
    matrix, ones = 2 * np.eye(8) - np.eye(8, k=1) - np.eye(8, k=-1), np.ones(8)
    solution, found, x = np.linalg.solve(matrix, ones), [], np.zeros(8)
    for _ in range(100):
        x = x + (ones - matrix @ x) / 2
        found.append(np.linalg.norm(x - solution) / np.linalg.norm(solution))
    assert column("jacobi.csv")[:, 1] == pytest.approx(found[9::10], rel=5e-7)  # half a unit of the last of 7 digits


def test_a_message_of_the_questions_is_the_one_people_meet():
    [example] = re.findall(r"```python\n(>>> .*?)```", (ROOT / "docs" / "faq.md").read_text(encoding="utf-8"), re.DOTALL)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    assert runner.run(parser.get_doctest(example, {}, "faq", None, 0)).failed == 0


def test_the_results_of_a_run_are_embedded(golden, tmp_path):
    record = tmp_path / "results.json"
    write_json(next(iter(golden.values())), record)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs')!r})\nextensions = ['myst_parser', 'extension.results']\n",
        encoding="utf-8",
    )
    (tmp_path / "small" / "index.md").write_text("# Results\n\n```{results}\n```\n", encoding="utf-8")
    environment = os.environ | {"THEORYCK_RESULTS": str(record)}
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(tmp_path / "small"), str(tmp_path / "html")]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    assert '<iframe class="report" src="_static/report.html"' in (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in (tmp_path / "html" / "_static" / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def look(browser, site):
    """A function that opens a page of the site as a file; everything else is refused, and complaints are kept."""
    contexts = []

    def opened(page_name, *, width=1280, dark=False, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", java_script_enabled=script
        )
        contexts.append(context)
        context.set_default_timeout(1000 * HANG)
        page = context.new_page()
        complaints = []

        def answer(route):
            if route.request.url.startswith(site.resolve().as_uri()):
                route.continue_()
            else:
                complaints.append(f"asked for {route.request.url}")
                route.abort()

        page.route("**/*", answer)
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{site.resolve().as_uri()}/{page_name}")
        return page, complaints

    yield opened
    for context in contexts:
        context.close()


LOOKED_AT = ("index.html", "start.html", "gallery.html", "statistics.html", "verdicts.html", "reference/names.html")
LOOKED_AT += ("reference/subjects/covariates.html", "reference/commands/audit.html", "reference/proofs/camilli2025.html")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_quiet_and_as_wide_as_the_window(look, width, dark):
    for name in LOOKED_AT:
        page, complaints = look(name, width=width, dark=dark)
        assert complaints == [], name
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == dark, name


def test_no_code_is_cut_at_the_right(look):
    """At a width of small screens every line of examples, commands and messages is seen whole; docstrings as written may scroll."""
    wide = """() => [...document.querySelectorAll("article pre")]
      .filter((box) => !box.closest("details.written") && box.scrollWidth > box.clientWidth).map((box) => box.textContent)"""
    for name in ("audits.html", "claims.html", "faq.html", "proofs.html", "papers.html", *LOOKED_AT[-3:]):
        page, _ = look(name, width=1100)
        assert page.locator("article pre").count() > 0, name
        assert page.evaluate(wide) == [], name


@pytest.mark.parametrize("words", ["covariate_limit", "LOOSE", "step sizes", "--rival"])
def test_search_works_from_a_file(look, words):
    page, complaints = look("index.html")
    page.fill("input[name=q]", words)
    page.press("input[name=q]", "Enter")
    page.locator("p.search-summary", has_text="Search finished").wait_for()  # pages come one by one
    assert complaints == []
    wanted = {"covariate_limit": "covariates", "LOOSE": "start", "step sizes": "gallery", "--rival": "audit"}[words]
    assert wanted in " ".join(page.eval_on_selector_all("#search-results li a", "all => all.map(each => each.href)"))


def test_formulas_are_there_without_a_script(look):
    page, _ = look("reference/subjects/covariates.html", script=False)
    box = page.locator("div.formula math mfrac").first.bounding_box()
    assert box["height"] > 15  # a numerator above a denominator, where text of one line is about as high as its font, 16
