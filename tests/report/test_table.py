"""The table: no name is cut, no two claims look alike, what is not well stands again at the end of a long one."""

import pytest

from theoryck.records import Contract, Interval, Judgement, Report, Result, Status, Verdict
from theoryck.report import numbers
from theoryck.report.claims import summarise
from theoryck.report.layout import Style
from theoryck.report.text import render, table

LONG = "the-deterministic-equivalent-of-the-resolvent-{}-along-the-proportional-path-for-{}-activations"
NAMES = [
    f"camilli2025/{LONG.format('at-fixed-width', 'odd')}",
    f"camilli2025/{LONG.format('at-growing-width', 'odd')}",
    f"camilli2025/{LONG.format('at-growing-width', 'even')}",
    "camilli2025/short",
    "no-paper",
    f"other/{'a' * 150}",
    f"other/{'a' * 149}b",
]


def result(claim, verdict=Verdict.SUPPORTED, **instance):
    judgement = Judgement(verdict, "because", exponent=Interval(-1.0, -1.1, -0.9, 0.95), claimed_exponent=-1.0)
    return Result(claim, Status.THEOREM, instance, judgement, None, (), Contract(), 1e-3, 100, 1.0, 0)


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("several", [1, 3])
@pytest.mark.parametrize("width", [100, 80, 60])
def test_every_name_is_printed_whole_and_once(width, several, verbose):
    results = [result(name, k=k, phi="x" * 30 * k) for name in NAMES for k in range(several)]
    text = table(summarise(results), Style(width), verbose=verbose)
    words, columns = text.split(), text.startswith("  verdict")
    for name in NAMES:
        times = sum(words.count(shown) for shown in {name, name.rpartition("/")[2]})
        assert times == (several if verbose and not columns else 1)


def test_a_narrow_terminal_shows_less_of_each_claim_and_says_so():
    results = [result("paper/claim-with-a-long-name", Verdict.INCONCLUSIVE, k=k) for k in range(3)]
    heads = {width: table(summarise(results), Style(width)).splitlines()[0].split() for width in (100, 80, 70, 50)}
    assert heads[100] == ["verdict", "claim", "instance", "claimed", "measured", "tightness", "rivals", "draws", "sec"]
    assert heads[80][-2:] == ["tightness", "rivals"]
    assert "a wider terminal shows draws, sec" in " ".join(table(summarise(results), Style(80)).split())
    assert heads[70][-2:] == ["measured", "tightness"]
    assert "a wider terminal shows rivals, draws, sec" in " ".join(table(summarise(results), Style(70)).split())
    assert heads[50][:2] == ["?", "INCONCLUSIVE"]  # two lines a claim, with everything
    assert "100 draws, 1.0s" in " ".join(table(summarise(results[:1]), Style(50)).split())


def test_an_instance_is_told_in_full_where_all_are_listed():
    sigma = "[[1.0, 0.25, 0.125], [0.25, 1.0, 0.5], [0.125, 0.5, 1.0]]"
    results = [result("paper/claim", sigma=sigma, k=k) for k in range(2)]
    lines = table(summarise(results), Style(100), verbose=True).splitlines()
    assert [line for line in lines if sigma in line] == [f"  SUPPORTED     sigma={sigma}, k={k}" for k in range(2)]


def test_what_is_not_well_stands_again_below_a_table_longer_than_a_screen():
    bad = {3: Verdict.REFUTED, 4: Verdict.INCONCLUSIVE}
    many = [result(f"paper/claim-{i}", bad.get(i, Verdict.SUPPORTED)) for i in range(40)]
    blocks = render(Report("quick", 0, tuple(many)), Style(100)).split("\n\n")
    assert blocks[-2].splitlines()[0] == "Not well, 2 of 40 claims:"
    assert [line.split()[:3] for line in blocks[-2].splitlines()[3:]] == [
        ["?", "INCONCLUSIVE", "claim-4"],
        ["!", "REFUTED", "claim-3"],
    ]
    few = render(Report("quick", 0, tuple(many[:6])), Style(100))
    assert "Not well" not in few
    well = render(Report("quick", 0, tuple(many[5:])), Style(100))
    assert "Not well" not in well


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(-0.599998, -0.599998, -0.599993, 0.95), "-0.599998(5)"),
        (Interval(-0.5, -0.51, -0.4, 0.95), "-0.50(10)"),
        (Interval(1e-7, -2.4e-5, 2.4e-5, 0.95), "0.000000(25)"),
        (Interval(-1e-11, -5e-11, 5e-11, 0.95), "0.000000(1)"),
        (Interval(float("nan"), float("-inf"), float("inf"), 0.95), "nan +/- nan"),
        (Interval(-1.0, float("-inf"), -0.5, 0.95), "-1 +/- inf"),
    ],
)
def test_an_exponent_in_a_column_contains_its_interval(interval, text):
    assert numbers.brief(interval) == text
