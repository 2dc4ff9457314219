"""The page in a real browser: quiet, self-contained, legible in both themes, usable by keyboard, on a telephone and on paper."""

import re
from dataclasses import replace

import pytest

from theoryck.records import Report
from theoryck.report.html import render

LEAST = 4.5  # WCAG 2.2, success criterion 1.4.3
LIGHT, DARK = "rgb(253, 253, 251)", "rgb(22, 25, 29)"


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def rows(page):
    """The ids of the claims in the rows that are shown, in their order."""
    return page.locator("#table tbody tr:visible").evaluate_all("rows => rows.map(row => row.dataset.claim)")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_awkward_report_on_one_page(visit, everything, dark):
    """No error, no request, all ids unique, all pictures described, all controls labelled, all text legible, in both themes."""
    seen = visit(everything, dark=dark).open_all()
    assert seen.complaints == []
    assert seen.requests == []
    assert seen.check("counted") > 1000  # so much text was looked at
    assert seen.check("contrast", LEAST) == []
    assert seen.check("ids") == []
    assert seen.check("pictures") == []
    assert seen.check("labels") == []
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(22, 25, 29)" if dark else "rgb(253, 253, 251)"
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(visit, everything, width):
    assert visit(everything, width=width).open_all().check("overflow") == []


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_scrolls_up_and_down_in_a_box_of_its_own(visit, everything, width):
    """A formula is a few pixels higher than the line it stands in: the line must neither scroll nor cut it."""
    seen = visit(everything, width=width).open_all()
    assert seen.check("cut") == []


BAD = """<!DOCTYPE html><html><body>
<p style="color: #777; background: #eee">pale</p>
<p id="a"></p><p id="a"></p>
<svg role="img"><text>unnamed</text></svg>
<input>
<p style="width: 2000px">wide</p>
<details><summary>closed</summary><p>hidden</p></details>
<p style="height: 1px; overflow: auto hidden">cut</p>
"""


def test_each_check_sees_what_it_looks_for(visit):
    seen = visit(BAD)
    assert [len(seen.check(name)) for name in ("ids", "pictures", "labels", "overflow", "cut", "unseen")] == [1] * 6
    assert [text.partition(" ")[0] for text in seen.check("contrast", LEAST)] == ["P.null"]


def test_contrast_is_that_of_the_standard(visit):
    """#767676 on white is the palest grey that passes (4.54), #777777 the first that does not (4.48)."""
    greys = (
        "<p style='color: #767676'>passes</p><p style='color: #777777'>fails</p><svg><text y='9' fill='#777777'>drawn</text></svg>"
    )
    found = visit(f"<!DOCTYPE html><body style='background: #fff'>{greys}").check("contrast", LEAST)
    assert [text.partition(" ")[0] for text in found] == ["P.null", "text.null"]
    assert all("4.48" in text for text in found)


def test_a_request_and_an_error_would_be_seen(visit):
    seen = visit("<img alt='' src='https://example.org/x.png'><script>console.error('said'); undefined_name</script>")
    assert seen.requests == ["https://example.org/x.png"]
    for said in ("said", "undefined_name"):
        seen.until(lambda said=said: any(said in text for text in seen.complaints))


def test_the_policy_stops_what_is_not_the_page(visit, everything):
    """Even markup that had slipped through could load nothing and run nothing."""
    slipped = (
        "<img alt='' src='https://example.org/x.png'><script>document.title = 'ran'</script><b onclick='1' style='color: red'>"
    )
    seen = visit(everything.replace("<main>", f"<main>{slipped}", 1))
    seen.until(lambda: len(seen.complaints) >= 3)
    assert seen.requests == []
    assert seen.page.title() != "ran"


def test_filter_says_how_many_are_shown(visit, everything):
    page = visit(everything).page
    every = rows(page)
    assert page.locator("#shown").inner_text() == f"{len(every)} of {len(every)} claims shown"
    page.get_by_label("Text").fill("spectral GAP")
    assert rows(page) == ["claim-spectral-gap"]
    assert page.locator("#shown").inner_text() == f"1 of {len(every)} claims shown"
    assert page.locator("article.claim:visible").count() == 1
    page.get_by_label("Text").fill("")
    page.get_by_label("Verdict", exact=True).select_option("INCONCLUSIVE")
    assert set(page.locator("#table tbody tr:visible .badge").all_inner_texts()) == {"INCONCLUSIVE"}
    page.get_by_label("Status").select_option("falsehood")
    assert rows(page) == []
    page.get_by_role("button", name="Show all").click()
    assert rows(page) == every
    page.get_by_label("Folder", exact=True).select_option("extreme")
    assert rows(page) == [name for name in every if name.startswith("claim-extreme-")]


def test_no_match_is_said(visit, golden):
    page = visit(render(golden["all-well"])).page
    assert page.locator("#none").is_hidden()
    page.get_by_label("Text").fill("no such words")
    assert page.locator("#none").inner_text() == "No claim matches these words and choices."
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#none").is_hidden()


HEARD = "() => { globalThis.jumps = 0; addEventListener('hashchange', () => { jumps += 1; }); }"  # after the page itself


def test_a_jump_lands_on_its_claim_whatever_was_opened_before(visit, golden):
    """Claims that are not seen are not laid out: heights change while the page scrolls."""
    first = golden["all-well"].results[0]
    results = tuple(replace(first, claim=f"paper/claim-{n // 3}", instance={"n": n}) for n in range(60))
    seen = visit(render(Report(profile="quick", seed=0, results=results)))
    seen.page.evaluate(HEARD)
    links = seen.page.locator("#table tbody th a")
    for count, number in enumerate((1, 9, 4, 19, 0), 1):
        link = links.nth(number)
        link.click()
        seen.until(lambda count=count: seen.page.evaluate("jumps") == count)
        body = link.get_attribute("href")
        top = seen.settle(body).page.locator(body).evaluate("body => body.getBoundingClientRect().top")
        assert 0 <= top < 300, number


def test_numbers_stay_on_one_line(visit, everything):
    page = visit(everything).page
    broken = page.locator("#table td.num").evaluate_all(
        "cells => cells.filter(c => !c.classList.contains('long')).filter(c => { const r = document.createRange();"
        " r.selectNodeContents(c); return new Set([...r.getClientRects()].map(b => Math.round(b.top))).size > 1; }).length"
    )
    assert broken == 0


SORTED = """number => {
  const head = document.querySelector("#table thead").rows[0].cells[number];
  const rows = [...document.querySelectorAll("#table tbody tr")];
  const sorted = [...document.querySelectorAll("#table th[aria-sort]")].filter(th => th.getAttribute("aria-sort") !== "none");
  return {
    sort: head.getAttribute("aria-sort"),
    numeric: head.dataset.sort === "number",
    sorted: sorted.length,
    claims: rows.map(row => row.dataset.claim),
    texts: rows.map(row => row.cells[number]).map(cell => cell.dataset.key ?? cell.firstChild.textContent),
  };
}"""


def test_every_column_sorts_both_ways_by_keyboard(visit, everything):
    page = visit(everything).page
    buttons = page.locator("#table thead button")
    before = sorted(rows(page))
    for number in range(buttons.count()):
        buttons.nth(number).focus()
        for key, sort, sign in (("Enter", "ascending", 1), ("Space", "descending", -1)):
            page.keyboard.press(key)
            found = page.evaluate(SORTED, number)
            assert (found["sort"], found["sorted"]) == (sort, 1)
            assert sorted(found["claims"]) == before
            missing = "" if found["numeric"] else "-"
            known = [text for text in found["texts"] if text != missing]
            assert found["texts"][: len(known)] == known, "what is missing comes last in both directions"
            if found["numeric"]:
                values = [float(text) * sign for text in known]
                assert values == sorted(values)
            elif len(set(known)) > 1:
                assert (known[0].lower() < known[-1].lower()) == (sign == 1)


def test_keyboard_reaches_the_table_and_opens_a_claim(visit, everything):
    page = visit(everything).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#claims') !== null")
    link = page.locator("#table tbody a").first
    link.focus()
    assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    body = page.locator(link.get_attribute("href").replace(".", "\\."))
    body.wait_for()
    assert body.evaluate("body => body.closest('details').open")
    body.get_by_role("button", name="Copy").first.press("Enter")
    assert page.evaluate("String(getSelection())") == body.locator(".repeat code").first.inner_text()


def test_without_script_all_is_there(visit, everything):
    seen = visit(everything, script=False)
    assert seen.complaints == []
    page = seen.page
    assert page.locator("#controls").is_hidden()
    assert page.locator("#table tbody tr:visible").count() == page.locator("article.claim").count()
    page.locator("article.well summary").first.click()
    seen.until(page.locator("article.well .body").first.is_visible)
    link = page.locator("#table tbody a").last
    link.click()
    seen.until(page.locator(link.get_attribute("href").replace(".", "\\.")).is_visible)


def test_hostile_texts_stay_texts(visit, golden):
    seen = visit(render(golden["hostile-names"])).open_all()
    assert seen.complaints == []
    assert seen.page.locator("body script").count() == 1  # the page's own
    assert seen.page.locator("main b:text-is('bold'), main img, main i").count() == 0
    # What a box holds is laid out some time after it is opened.
    shown = ("""just('"><img src=x onerror=alert(3)>')""", "\\x1b[31mred")
    seen.until(lambda: all(text in seen.page.locator("body").inner_text() for text in shown))
    assert "\x1b" not in seen.page.locator("body").inner_text()


HOSTILE = (
    '"><script>alert(1)</script>',
    "\u202eright to left\u202c",
    "שלום עולם",
    "a\x00b\x07\r\nc",
    "{{ 7 * 7 }}",
    "</style><svg onload=alert(1)>",
    "constructor",
)


def test_hostile_names_everywhere(visit, golden):
    first = golden["all-well"].results[0]
    hostile = [
        replace(first, claim=f"{name}/{name}", statement=name, reference=name, repeat=name, instance={name: name})
        for name in HOSTILE
    ]
    seen = visit(render(Report(profile=HOSTILE[0], seed=0, results=tuple(hostile), version=HOSTILE[0]))).open_all()
    assert seen.complaints == []
    assert seen.requests == []
    assert seen.page.locator("body script").count() == 1
    assert seen.check("ids") == []
    assert len(rows(seen.page)) == len(HOSTILE)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", seen.page.content())
    assert "49" not in seen.page.locator("#table").inner_text()
    seen.page.get_by_label("Folder", exact=True).select_option(label="constructor")
    assert rows(seen.page) == ["claim-constructor-constructor"]


SPOTS = """svg => {
  const spots = svg.dataset.spots.split(" ").map(spot => spot.split(",").map(Number));
  return spots.map(([x, y]) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM())).map(p => [p.x, p.y]);
}"""


def opened_picture(seen):
    """The first picture with marks, where it can be seen."""
    marked = "figure:has(svg[data-spots])"
    picture = seen.page.locator(marked).first
    picture.scroll_into_view_if_needed()
    seen.settle(marked)
    return picture


def test_every_mark_tells_its_row_of_the_table(visit, golden):
    seen = visit(render(golden["all-well"])).open_all()
    page = seen.page
    picture = opened_picture(seen)
    rows_of_table = picture.locator("xpath=ancestor::details[contains(@class,'instance')]").first.locator(".points tbody tr")
    spots = picture.locator("svg").evaluate(SPOTS)
    assert len(spots) >= rows_of_table.count() > 1
    tip = page.locator("[role=tooltip]")
    read = set()
    for x, y in spots:
        page.mouse.move(x, y)
        seen.settle()
        text = tip.inner_text()
        size = rows_of_table.locator("th").all_inner_texts()
        said = text.splitlines()[0].rpartition(" = ")[2]
        assert said in size
        cells = rows_of_table.nth(size.index(said)).locator("td").all_inner_texts()
        assert all(cell == "-" or cell in text for cell in cells)
        read.add(said)
        box = tip.bounding_box()
        assert 0 <= box["x"] <= 1280 - box["width"]
        assert 0 <= box["y"] <= 900 - box["height"]
    assert read == set(rows_of_table.locator("th").all_inner_texts())
    page.mouse.move(1, 1)
    seen.until(tip.is_hidden)


def test_a_picture_is_enlarged_zoomed_moved_and_put_back(visit, golden):
    seen = visit(render(golden["all-well"])).open_all()
    page = seen.page
    picture = opened_picture(seen)
    before = picture.inner_html()
    small = picture.locator("svg").bounding_box()["width"]
    picture.get_by_role("button", name="Enlarge").press("Enter")
    large = page.locator("dialog svg")
    assert large.bounding_box()["width"] > 1.5 * small
    view = "svg => { const v = svg.viewBox.baseVal; return [v.x, v.y, v.width, v.height]; }"
    whole = large.evaluate(view)
    x, y = large.evaluate(SPOTS)[0]
    page.mouse.move(x, y)
    seen.until(page.locator("[role=tooltip]").is_visible)  # above the dialog, in which it stands
    page.mouse.wheel(0, -300)
    seen.until(lambda: large.evaluate(view)[2] < whole[2])
    moved = large.evaluate(SPOTS)[0]
    assert moved == pytest.approx((x, y), abs=3)  # what is under the pointer stays there
    zoomed = large.evaluate(view)
    page.keyboard.press("ArrowRight")
    assert large.evaluate(view)[0] > zoomed[0]
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    assert large.evaluate(view)[0] == whole[0]  # never out of the picture
    for _ in range(60):
        page.keyboard.press("-")
    assert large.evaluate(view) == pytest.approx(whole)
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert large.evaluate(view) == whole
    page.keyboard.press("+")
    page.keyboard.press("Escape")
    large.wait_for(state="detached")
    assert picture.inner_html() == before
    assert seen.complaints == []


def test_paper_shows_all(visit, everything):
    seen = visit(everything, media="print")
    assert seen.check("unseen") == []
    assert seen.page.locator("#controls").is_hidden()
    assert ground(seen.page) == LIGHT
    assert seen.page.locator("figure").evaluate_all("all => all.every(one => getComputedStyle(one).breakInside === 'avoid')")


def test_a_theme_can_be_chosen(visit, everything):
    page = visit(everything).page
    button = page.get_by_role("button", name=re.compile("Theme"))
    grounds = []
    for _ in range(3):
        button.click()
        grounds.append(ground(page))
    assert grounds == [LIGHT, DARK, LIGHT]  # light, dark, and again what the system asks for


@pytest.mark.parametrize("theme", ["true", "false"], ids=["light", "dark"])
def test_records_in_a_notebook_are_legible_whatever_the_system_asks_for(visit, golden, theme):
    """JupyterLab says its theme on the body; the system may ask for the other one."""
    shown = "".join(record._repr_html_() for report in golden.values() for record in (report, *report.results[:1]))
    seen = visit(f"<!DOCTYPE html><body data-jp-theme-light='{theme}'>{shown}", dark=theme == "true")
    assert seen.complaints == []
    assert seen.requests == []
    assert seen.check("contrast", LEAST) == []
    assert seen.check("ids") == []
    assert seen.check("pictures") == []
    found = seen.page.locator(".theoryck").first.evaluate("part => getComputedStyle(part).backgroundColor")
    assert found == (LIGHT if theme == "true" else DARK)


def laid_out(page):
    """How many boxes the browser has laid out, and how many nodes the page has."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return found["LayoutObjects"], page.evaluate("document.querySelectorAll('*').length")


def test_fifty_results_are_small_and_only_what_is_seen_is_laid_out(visit, golden):
    """Five hundred may take 15 MB; a page opens as fast as it is laid out, and of a result that is not seen only its row is."""
    first = golden["all-well"].results[0]
    results = [replace(first, claim=f"paper{n // 10}/claim-{n // 2}", instance={"n": n}) for n in range(50)]
    pages = [render(Report(profile="quick", seed=0, results=tuple(results[:count]))) for count in (30, 50)]
    assert len(pages[1].encode()) < 1.5e6
    everywhere = pages[1].replace("Content-Security-Policy", "no-policy")
    everywhere = everywhere.replace("</head>", "<style>* { content-visibility: visible !important; }</style></head>")
    few, many, without = (laid_out(visit(page).page) for page in (*pages, everywhere))
    assert many[1] - few[1] > 20 * 200
    assert many[0] - few[0] < 20 * 50
    assert without[0] - many[0] > 20 * 50  # such a page would be seen


def test_without_a_browser_tests_skip_unless_it_is_required(monkeypatch, find_chromium):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("THEORYCK_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        find_chromium()
    monkeypatch.setenv("THEORYCK_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        find_chromium()
