"""Pictures of results: well-formed, in the right place, small, safe, and honest about what they leave out."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from decimal import Decimal

import pytest

from theoryck.auditing import audit
from theoryck.judging import judge
from theoryck.records import (
    Bracket,
    Contract,
    Counts,
    Enclosure,
    Estimate,
    Judgement,
    Kind,
    Point,
    Prediction,
    Result,
    Rival,
    Status,
    Verdict,
)
from theoryck.report import numbers
from theoryck.report.svg import pictures
from theoryck.report.svg.canvas import STYLE, clipped
from theoryck.report.svg.marks import growth
from theoryck.report.svg.scales import Scale, ticks

SIZES = (16, 32, 64, 128, 256, 512)
SVG = "{http://www.w3.org/2000/svg}"
PLACES = 0.11  # coordinates are rounded to 0.1


def judged(prediction, points, claim="a/claim"):
    contract = Contract()
    try:
        found = judge(prediction, points, contract)
    except ValueError as error:
        found = Judgement(Verdict.INCONCLUSIVE, str(error), rivals=tuple(Rival(rival, False) for rival in prediction.rivals))
    return Result(claim, Status.THEOREM, {"k": 2}, found, prediction, tuple(points), contract, 1e-3, 0, 0.1, 0)


def bound(**options):
    return Prediction(Kind.BOUND, **{"quantity": "q", "base": "d", "rate": "1/d", "rivals": ("d**-2",), **options})


def drawn(value, error=0.01, sizes=SIZES):
    return [Point({"d": d}, Estimate(value(d), error * abs(value(d)), 1000)) for d in sizes]


def both(d):
    return Point({"d": d}, Estimate(1.01 / d, 0.02 / d, 1000), Enclosure(1 / Decimal(d), Decimal("1e-40")))


def picture(result, name):
    (found,) = [picture for picture in pictures(result) if picture.name == name]
    return found


def parsed(svg):
    return ElementTree.fromstring(svg)


def paths(svg, classes):
    return [element.get("d") for element in parsed(svg).iter(f"{SVG}path") if element.get("class") == classes]


def dots(svg):
    """The centres of the filled marks of Monte Carlo estimates."""
    found = [re.findall(r"M([\d.]+),([\d.]+)h0", data) for data in paths(svg, "tk-d tk-w")]
    return [(float(x), float(y)) for x, y in found[0]] if found else []


def labels(svg, anchor):
    """The labels of an axis with their coordinates: those of sizes are centred, those of values end at the axis."""
    return {
        element.text: (float(element.get("x")), float(element.get("y")))
        for element in parsed(svg).iter(f"{SVG}text")
        if element.get("text-anchor") == anchor
    }


RESULT = judged(bound(), drawn(lambda d: 3 / d))


def test_positions_follow_from_the_labels_of_the_axes():
    """Between the labels 0.1 and 0.01, and between those of two sizes, everything is linear in logarithms."""
    svg = picture(RESULT, "scaling").svg
    across, up = labels(svg, "middle"), labels(svg, "end")
    spots = dots(svg)
    assert len(spots) == len(SIZES)
    top, decade = up["0.1"][1] - 4, up["0.01"][1] - up["0.1"][1]  # texts stand 4 below their line
    for (x, y), size in zip(spots, SIZES):
        assert x == pytest.approx(across[str(size)][0], abs=PLACES)
        assert y == pytest.approx(top - decade * math.log10(3 / size / 0.1), abs=2 * PLACES)
    gaps = [b - a for (a, _), (b, _) in itertools.pairwise(spots)]
    assert max(gaps) - min(gaps) < 2 * PLACES


def test_error_bars_end_one_standard_error_away():
    svg = picture(judged(bound(), drawn(lambda d: 3 / d, 0.2)), "scaling").svg
    up = labels(svg, "end")
    top, decade = up["0.1"][1] - 4, up["0.01"][1] - up["0.1"][1]
    (data,) = [data for data in paths(svg, "tk-d") if "V" in data and not data.startswith("M10-6")]
    ends = [(float(a), float(b)) for a, b in re.findall(r"M[\d.]+,([\d.]+)V([\d.]+)", data)]
    for (high, low), size in list(zip(ends, SIZES))[:-1]:  # the last one ends at the axis
        assert high == pytest.approx(top - decade * math.log10(1.2 * 3 / size / 0.1), abs=2 * PLACES)
        assert low == pytest.approx(top - decade * math.log10(0.8 * 3 / size / 0.1), abs=2 * PLACES)


def test_in_the_ratio_the_claim_is_flat_and_points_are_values_over_the_rate():
    svg = picture(RESULT, "ratio").svg
    (claim,) = [data for data in paths(svg, "tk-c") if not data.startswith("M0")]
    steps = [float(step.split(",")[1]) for step in claim.split("l")[1].split()]
    assert steps == [0.0] * len(steps)
    up = labels(svg, "end")
    (first, y0), (second, y1) = [(float(text), place[1] - 4) for text, place in list(up.items())[:2]]
    for _, y in dots(svg):
        assert first + (y - y0) / (y1 - y0) * (second - first) == pytest.approx(3.0, abs=2e-3)


def test_every_picture_speaks():
    for result in (RESULT, LIMIT, IDENTITY, LAW):
        for found in pictures(result, "p7-"):
            root = parsed(found.svg)
            assert root.get("role") == "img"
            names = root.get("aria-labelledby").split()
            texts = {element.get("id"): element.text for element in root if element.get("id")}
            assert [texts[name] for name in names][1] == found.alt
            assert "a/claim (k=2)" in texts[names[0]]
            assert all(name.startswith("p7-") for name in names)
            assert found.title
    ids = re.findall(r'id="([^"]+)"', "".join(p.svg for i, r in enumerate((RESULT, LIMIT)) for p in pictures(r, f"r{i}-")))
    assert len(ids) == len(set(ids)) > 8


def test_words_have_the_numbers_of_the_record():
    alt = picture(RESULT, "scaling").alt
    assert numbers.written_out(RESULT.exponent) in alt
    assert "6 Monte Carlo means, from 0.1875(19) at d = 16 to 0.00586(6) at 512" in alt
    assert "the claimed rate 1/d" in alt
    assert "the rival d^-2, rejected" in alt
    assert numbers.written_out(RESULT.constant) in picture(RESULT, "ratio").alt
    assert "the fitted limit minus the claimed one is" in picture(LIMIT, "limit").alt.lower()
    assert "exact 0.5" in picture(IDENTITY, "values").alt


def test_both_routes_have_marks_of_their_own():
    svg = picture(judged(bound(), [both(d) for d in SIZES]), "scaling").svg
    diamonds = [data for data in paths(svg, "tk-s") if data.count("l5 5-5 5-5-5z") == len(SIZES)]
    assert len(diamonds) == 1
    assert len(dots(svg)) == len(SIZES)
    for text in ("exact route", "Monte Carlo", "fit of exact, 95% band"):
        assert text in svg


def test_values_in_the_noise_are_hollow_and_named():
    points = [Point({"d": d}, Estimate(1 / d, 0.01, 1000)) for d in SIZES]  # 16 is above 5 standard errors, 32 on is not
    found = picture(judged(bound(), points), "scaling")
    (hollow,) = [data for data in paths(found.svg, "tk-d") if data.count("a3.2 3.2") == 2 * 5]
    assert hollow
    assert len(dots(found.svg)) == 1
    assert "(below 5 standard errors at 32, 64, 128, 256, 512)" in found.alt
    assert "below 5 stderr" in found.svg


def test_signs_that_differ_have_an_axis_with_zero():
    points = [Point({"d": d}, Estimate((-1) ** i / d, 0.001 / d, 9)) for i, d in enumerate(SIZES)]
    svg = picture(judged(bound(), points), "scaling").svg
    up = labels(svg, "end")
    zero = up["0"][1] - 4
    heights = [y for _, y in dots(svg)]
    assert [y < zero for y in heights] == [True, False] * 3
    assert heights[0] < heights[2] < heights[4] < zero < heights[5] < heights[3] < heights[1]


def test_negative_values_are_drawn_as_magnitudes_and_said_so():
    svg = picture(judged(bound(), drawn(lambda d: -3 / d)), "scaling").svg
    assert "\u2212 q" in svg
    assert dots(svg) == dots(picture(RESULT, "scaling").svg)


def test_a_claim_far_away_is_said_to_be_beyond_the_axis():
    svg = picture(judged(bound(constant=1e9), drawn(lambda d: 3 / d)), "scaling").svg
    assert "claimed 1/d (beyond the axis)" in svg
    assert "beyond" not in picture(RESULT, "scaling").svg


# -- limits, numbers, laws -----------------------------------------------------------------------------------------------------

VALUE = Enclosure(Decimal("0.5"), Decimal(0))
LIMIT = judged(
    Prediction(Kind.LIMIT, "m", base="d", value=VALUE, tolerance="0.02", rivals=("0.6",)), drawn(lambda d: 0.5 + 1 / d, 1e-3)
)
IDENTITY = judged(
    Prediction(Kind.IDENTITY, "value", value=VALUE, rivals=("0.52", "0.9"), tolerance="0.01"),
    [Point({}, Estimate(0.501, 0.002, 1000), Enclosure(Decimal("0.5"), Decimal("1e-30")))],
)


def law(edges, counts, claimed):
    points = [Point({"d": d}, Estimate(0.1 / d, 0.01 / d, 100), counts=Counts(edges, counts, claimed)) for d in (4, 8, 16)]
    return judged(Prediction(Kind.LAW, "statistic", base="d"), points)


LAW = law((-1.0, 0.0, 1.0, 3.0), (10, 30, 40, 10, 10), (0.2, 0.5, 0.8, 0.9))


def test_a_limit_has_its_value_as_a_line_and_its_interval_at_infinity():
    svg = picture(LIMIT, "limit").svg
    up, across = labels(svg, "end"), labels(svg, "middle")
    (first, y0), (second, y1) = [(float(text), place[1] - 4) for text, place in list(up.items())[:2]]
    (claim,) = [re.fullmatch(r"M[\d.]+,([\d.]+)H[\d.]+", data) for data in paths(svg, "tk-c") if data != "M0 0H22"]
    assert first + (float(claim.group(1)) - y0) / (y1 - y0) * (second - first) == pytest.approx(0.5, abs=1e-3)
    assert across["\u221e"][0] > across["512"][0]
    assert "rival 0.6, rejected" in svg


def test_numbers_are_where_the_axis_says_and_far_rivals_are_pointed_to():
    svg = picture(IDENTITY, "values").svg
    across = labels(svg, "middle")
    marks = sorted((float(text.replace("\u2212", "-")), place[0]) for text, place in across.items())
    (low, x0), (high, x1) = marks[0], marks[-1]
    ((x, _),) = dots(svg)
    shown = low + (x - x0) / (x1 - x0) * (high - low)
    assert shown in (pytest.approx(0.501, abs=1e-3), pytest.approx(0.001, abs=1e-3))
    assert "rival 2: 0.9, rejected (beyond the axis)" in svg
    assert "rival 1: 0.52, rejected" in svg


def test_a_bound_of_one_number_is_drawn():
    result = judged(Prediction(Kind.BOUND, "one", constant=2.0, rivals=("0.5",), rate="1"), [Point({}, Estimate(1.0, 0.1, 100))])
    assert "claimed at most 2" in picture(result, "values").svg


def test_a_histogram_has_the_densities():
    found = picture(LAW, "law")
    (bars,) = [data for data in paths(found.svg, "tk-h") if data != "M0-5H22V5H0z"]
    moves = re.findall(r"([hv])(-?[\d.]+)", bars)
    widths = [float(step) for kind, step in moves if kind == "h"][:3]
    assert widths[2] == pytest.approx(2 * widths[0], abs=2 * PLACES)
    rises = list(itertools.accumulate(float(step) for kind, step in moves if kind == "v"))
    # Of 100 draws 30, 40 and 10 in bins of width 1, 1 and 2: densities as 0.3 : 0.4 : 0.05.
    assert [rise / rises[1] for rise in rises[:3]] == pytest.approx([0.75, 1, 0.125], abs=0.02)
    assert "differ most, by -0.1, at -1." in found.alt


def test_a_law_over_decades_has_a_logarithmic_axis():
    edges = tuple(0.002 * 10 ** (i / 20) for i in range(63))
    found = picture(law(edges, (100,) * 64, tuple((i + 1) / 64 for i in range(63))), "law")
    assert "density per decade" in found.svg
    assert "logarithmic axis" in found.alt
    assert "density per decade" not in picture(LAW, "law").svg


# -- whatever comes ------------------------------------------------------------------------------------------------------------

KNOWN = {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
HOSTILE = "<script>alert(\"1\")</script> & 'q' \x00\x1b[31m \ud800 ]]>"


def test_names_are_escaped():
    prediction = bound(quantity=HOSTILE, rivals=(), path={"d": "16, 32", "n": HOSTILE[:20]})
    result = judged(prediction, drawn(lambda d: 1 / d), claim=HOSTILE)
    for found in pictures(replace(result, instance={HOSTILE: HOSTILE}), prefix='"><b onload="x'):
        root = parsed(found.svg.encode("utf-8"))
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= KNOWN
        assert "<script" not in found.svg
        assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)


EDGES = [
    judged(bound(), drawn(lambda d: 1e-27 / d)),
    judged(bound(), drawn(lambda d: 1e30 / d)),
    judged(bound(), drawn(lambda d: 1e-30)),
    judged(bound(), [Point({"d": d}, Estimate(0.0, 0.0, 9)) for d in SIZES]),
    judged(bound(), drawn(lambda d: math.nan if d > 64 else 1 / d)),
    judged(bound(), drawn(lambda d: math.inf if d > 64 else 1 / d)),
    judged(bound(), [Point({"d": d}, Estimate(1 / d, math.nan, 1)) for d in SIZES]),
    judged(bound(), drawn(lambda d: 1 / d, sizes=[16])),
    judged(bound(), drawn(lambda d: 1 / d, sizes=[2**60, 2**61, 2**62])),
    judged(bound(), [Point({"d": d}, bracket=Bracket(0.9 / d, 1.1 / d, 0.01 / d, 0.01 / d)) for d in SIZES]),
    judged(bound(), [Point({"d": d}, exact=Enclosure(Decimal(d) ** -10, Decimal(d) ** -40)) for d in SIZES]),
    judged(replace(LIMIT.prediction, value=Enclosure(Decimal("-1e30"), Decimal(0))), drawn(lambda d: 1e30 / d)),
    judged(replace(LIMIT.prediction, value=Enclosure(Decimal(0), Decimal(0)), rivals=()), drawn(lambda d: 1e30 / d)),
    judged(replace(LIMIT.prediction, rivals=()), drawn(lambda d: 0.5, sizes=[16])),
    judged(replace(IDENTITY.prediction, rivals=()), [Point({"d": d}, Estimate(0.5 + 1 / d, 0.1, 9)) for d in range(2, 40)]),
    judged(
        Prediction(Kind.IDENTITY, "v", value=Enclosure(Decimal("1e-30"), Decimal(0)), rivals=("1",)),
        [Point({}, exact=Enclosure(Decimal("1.1e-30"), Decimal("1e-50")))],
    ),
    law((0.0, 0.0, 1.0), (1, 2, 3, 4), (0.2, 0.5, 0.9)),
    law((-1e6, -1.0, 0.0, 1.0, 2.0, 3.0, 1e6), (1, 1, 1, 1, 1, 1, 1, 1), (0.02, 0.1, 0.4, 0.5, 0.6, 0.7, 0.98)),
    law((0.5,), (1, 2), (0.2,)),
    replace(RESULT, prediction=None),
    replace(RESULT, prediction=bound(rate="((", rivals=("((",))),
    replace(RESULT, prediction=bound(base="other")),
]


@pytest.mark.parametrize("result", EDGES, ids=range(len(EDGES)))
def test_whatever_comes_there_is_a_picture_within_its_frame(result):
    result = Result.from_json(result.to_json())
    found = pictures(result)
    assert found
    for made in found:
        root = parsed(made.svg)
        _, _, width, height = map(float, root.get("viewBox").split())
        for element in root.iter(f"{SVG}path"):
            assert not re.search("nan|inf|e", element.get("d"))
            for x, y in re.findall(r"M(-?[\d.]+),(-?[\d.]+)", element.get("d")):
                assert -1 <= float(x) <= width + 1
                assert -1 <= float(y) <= height + 1
        for element in root.iter(f"{SVG}text"):
            assert 0 <= float(element.get("x")) <= width
        assert made.alt.strip().endswith(".")
        assert len(made.svg.encode()) < 8000


def test_nothing_measured_has_no_picture():
    assert pictures(judged(bound(), [])) == []


def test_pictures_are_small():
    assert max(len(p.svg.encode()) for p in pictures(RESULT)) < 5000
    assert max(len(p.svg.encode()) for p in pictures(judged(bound(), [both(d) for d in SIZES]))) < 6000


# -- parts ---------------------------------------------------------------------------------------------------------------------


def contrast(one, other):
    def luminance(color):
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_of_a_picture_that_stands_alone_can_be_told_from_light_and_dark():
    found = dict(re.findall(r"var\(--tk-(\w+),(#[0-9a-f]{6})\)", STYLE))
    assert {"ink", "data", "second", "fit", "claim", "rival"} <= set(found)
    for name in ("data", "second", "fit", "claim", "rival"):
        assert contrast(found[name], "#ffffff") >= 3
        assert contrast(found[name], "#16191d") >= 3
    assert contrast(found["ink"], "#ffffff") >= 4.5
    assert contrast("#ffff00", "#ffffff") < 3  # the measure tells


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Scale("log", -0.1, 0.9), ["1", "2", "5"]),
        (Scale("log", -7.5, 3.2), ["10\u207b\u2077", "10\u207b\u2075", "10\u207b\u00b3", "0.1", "10", "1000"]),
        (Scale("linear", 0.9, 1.1, 0.0), ["0.9", "0.95", "1", "1.05", "1.1"]),
        (Scale("linear", -2.0, 2.0, -7.0), ["\u22122\u00b710\u207b\u2077", "\u22121\u00b710\u207b\u2077", "0"]),
        (Scale("symlog", -2.5, 3.5, -2.0), ["\u22120.1", "\u22120.01", "0", "0.01", "0.1", "1"]),
    ],
)
def test_ticks_are_round_numbers(scale, expected):
    found = ticks(scale)
    assert set(expected) <= {label for _, label in found}
    assert all(scale.low - 1e-9 <= units <= scale.high + 1e-9 for units, _ in found)
    assert len(found) <= 9


def test_lines_are_cut_where_they_leave():
    assert clipped([(0, -10), (10, 10), (20, 30)], 0, 20) == [[(5.0, 0), (10, 10), (15.0, 20)]]
    assert clipped([(0, -10), (10, 30)], 0, 20) == [[(2.5, 0), (7.5, 20)]]
    assert clipped([(0, -10), (10, -20)], 0, 20) == []


@pytest.mark.parametrize(("constant", "beyond"), [(1e-5, True), (1.0, False)])
def test_the_alternative_text_says_what_is_beyond_the_axis_and_which_constant_is_claimed(constant, beyond):
    result = judged(bound(constant=constant), drawn(lambda d: 0.9 / d))
    alt = picture(result, "scaling").alt
    place = ", beyond the axis" if beyond else ""
    assert f"the claimed rate 1/d, with its constant {numbers.plain(constant)}{place}. Dotted" in alt


def test_the_constant_of_a_scaling_is_not_called_a_ratio_at_the_largest_size():
    claim = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, constant=1.0)
    alts = [picture(judged(one, drawn(lambda d: 1 / d)), "ratio").alt for one in (claim, bound())]
    assert ["The fitted constant is" in alt for alt in alts] == [True, False]
    assert ["At the largest size the fitted ratio is" in alt for alt in alts] == [False, True]


def test_axes_say_what_they_are_and_have_three_labels():
    for low, high in ((0.0, 1.0), (0.31, 1.62), (0.55, 1.95), (-3.2, 0.1), (0.2, 0.6), (0.9, 1.05), (-0.45, 1.1)):
        for kind in ("log", "linear"):
            assert len(ticks(Scale(kind, low, high))) >= 3, (kind, low, high)
    sizes = [16, 32, 64, 128]
    made = {p.name: p for p in pictures(audit({"d": sizes}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)"))}
    assert "value, log axis" in made["scaling"].svg
    assert "linear axis" in made["ratio"].svg
    assert "on a linear axis" in made["ratio"].alt
    assert "d, log axis" in made["ratio"].svg


def test_residuals_of_exact_values_are_not_drawn():
    found = audit({"d": [16, 32, 64, 128]}, [1.0, 0.5, 0.25, 0.125], 0.001, rate="1/d")
    exact = tuple(Point(p.sizes, exact=Enclosure(Decimal(str(p.estimate.value)), Decimal("1e-12"))) for p in found.points)
    assert "residuals" in [p.name for p in pictures(found)]
    assert "residuals" not in [p.name for p in pictures(replace(found, points=exact))]


def test_a_fit_whose_error_bars_cannot_be_trusted_has_no_band():
    found = audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], 0.01, rate="d**(-1/2)")
    said = replace(found.judgement, curves=tuple(replace(curve, trusted=False) for curve in found.judgement.curves))
    (sure, *_), (bare, *_) = pictures(found), pictures(replace(found, judgement=said))
    assert 'class="tk-b"' in sure.svg.partition("<g ")[0]
    assert 'class="tk-b"' not in bare.svg
    assert "no band" in bare.svg


def test_values_that_were_given_are_not_called_monte_carlo():
    for stderr in (0.01, 0.0):
        for picture in pictures(audit({"d": [16, 32, 64, 128]}, [0.9, 0.6, 0.45, 0.3], stderr, rate="d**(-1/2)")):
            assert "Monte Carlo" not in picture.alt + picture.svg


def rows_of_spots(svg):
    """The rows of the record that the marks of a picture name, as the page reads them: left out is the one after the last."""
    rows = []
    for spot in re.search(r'data-spots="([^"]*)"', svg).group(1).split(" "):
        _, _, *own = map(int, spot.split(","))
        rows += own or [rows[-1] + 1 if rows else 0]
    return rows


def test_a_mark_names_the_row_of_its_point_in_the_record():
    pairs = [(n, d) for n in (16, 32, 64, 128) for d in (2, 4, 8)]
    values, errors = ([size * n**-0.5 / d for n, d in pairs] for size in (3, 0.01))
    found = audit({"n": [n for n, _ in pairs], "d": [d for _, d in pairs]}, values, errors, rate="n**(-1/2)/d")
    [(name, size)] = growth(found).fixed.items()
    assert name == "n"
    for points in (found.points, found.points[::-1], found.points[::2] + found.points[1::2]):
        made = pictures(replace(found, points=points))
        assert [picture.name for picture in made] == ["scaling", "ratio", "residuals"]
        line = [row for row, point in enumerate(points) if point.sizes["n"] == size]
        for picture in made:  # from left to right
            assert rows_of_spots(picture.svg) == sorted(line, key=lambda row: points[row].sizes["d"])
