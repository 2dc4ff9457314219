"""What README.md and the pages of docs/ promise: examples come out as they say, commands exist, links lead somewhere."""

import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import theoryck as tc
from theoryck.auditing import DEFAULT_WITHIN
from theoryck.checking.profiles import PROFILES
from theoryck.claims.collecting import collect
from theoryck.cli import COMMANDS, main
from theoryck.report.bibtex import render as bibtex

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
}
README = PAGES["README.md"]


def blocks(language, page="README.md"):
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)


def commands(language):
    """Every command of the pages, split into words, without its comment."""
    lines = [line for page in PAGES for block in blocks(language, page) for line in block.splitlines()]
    lines = [line for line in lines if language == "sh" or line.startswith("$ ")]
    return [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]


def executed(page, number):
    names = {}
    exec(compile(blocks("python", page)[number], page, "exec"), names)
    return names


def test_all_pages_are_there():
    assert {"docs/audits.md", "docs/claims.md", "docs/index.md", "docs/papers.md", "docs/proofs.md", "docs/verdicts.md"} < set(
        PAGES
    )
    index = PAGES["docs/index.md"]
    linked = {link for link in PAGES if f"({link})" in README} | {f"docs/{name}" for name in re.findall(r"\]\((\w+\.md)", index)}
    assert sorted({*PAGES} - {"README.md"} - linked) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", PAGES[page]) if "://" not in link]
    written = ("build/site/", "reference/")  # by the build of the site, in which tests/browser/test_site.py follows every link
    assert [link for link in links if not link.startswith(written) and not (ROOT / page).parent.joinpath(link).is_file()] == []


def test_pictures_are_small_and_described():
    pictures = re.findall(r"!\[([^]]*)\]\(([^)]+)\)", README)
    assert [name for _, name in pictures] == ["docs/report.png", "docs/claim.png"]
    assert all(len(text) > 60 for text, _ in pictures)
    sizes = [(ROOT / name).stat().st_size for _, name in pictures]
    assert 0 < sum(sizes) < 300_000


def test_the_two_commands_come_first():
    assert blocks("sh")[:2] == [
        "python -m pip install -e . && pytest proofs\n",
        "python -m pip install -e '.[test]' && pytest -n 2\n",
    ]
    assert README.index("docs/report.png") < README.index("```") < 2000  # what it does and a picture, then the two commands


def test_the_conjecture_in_ten_lines(tmp_path):
    [code] = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    file = tmp_path / "median.py"
    file.write_text(code, encoding="utf-8")
    [result] = tc.check_claims(collect([str(file)]), workers=1).results
    assert (result.verdict, result.tightness) == ("SUPPORTED", "TIGHT")
    assert result.ok


def test_the_table_is_what_the_readme_says_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(blocks("csv")[0], encoding="utf-8")
    audits = [words for words in commands("sh") if words[:3] == ["theoryck", "audit", "runs.csv"]]
    assert audits[1:] == audits[:1]  # the page about audits starts with the same line
    outcome = CliRunner().invoke(main, audits[0][1:])
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.startswith("SUPPORTED, TIGHT")
    assert Path("runs.png").stat().st_size > 0


def rows(page, after):
    """The cells of the first table of a page after some words, without its head."""
    lines = PAGES[page].partition(after)[2].partition("\n|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_table_of_profiles_is_that_of_the_program():
    wanted = {
        "false-refute rate": [str(profile.false_refute_rate) for profile in PROFILES.values()],
        "false-support rate": [str(profile.false_support_rate) for profile in PROFILES.values()],
        "tolerated discrepancy": [str(profile.within) for profile in PROFILES.values()],
        "level": [str(profile.level) for profile in PROFILES.values()],
        "instances": [str(profile.instances) for profile in PROFILES.values()],
        "random numbers": [f"{profile.random_numbers:.0e}".replace("e+0", "e").replace("e+", "e") for profile in PROFILES.values()],
        "seconds": [f"{profile.seconds:g}" for profile in PROFILES.values()],
        "looks": [str(len(profile.looks)) for profile in PROFILES.values()],
        "digits": [str(profile.exact_digits) for profile in PROFILES.values()],
        "seconds of a claim's certificates": [f"{profile.certificate_seconds:g}" for profile in PROFILES.values()],
        "draws must decide": ["yes" if profile.every_route_settles else "no" for profile in PROFILES.values()],
        "undecided fails": ["yes" if profile.inconclusive_fails else "no" for profile in PROFILES.values()],
    }
    found = rows("docs/verdicts.md", "## Budgets and error rates")
    assert [cells[1:] for cells in found] == list(wanted.values())
    assert [cells[0].startswith(name) for cells, name in zip(found, wanted, strict=True)] == [True] * len(wanted)
    assert {profile.looks[0] for profile in PROFILES.values()} == {1 / 256}
    assert "| profile | quick | standard | thorough |" in PAGES["docs/verdicts.md"]
    assert list(PROFILES) == ["quick", "standard", "thorough"]


def test_what_the_readme_says_of_profiles():
    text = " ".join(README.split())
    assert (
        "tolerate a discrepancy of {}, {} and {} in an exponent".format(*(profile.within for profile in PROFILES.values())) in text
    )
    rates = {(profile.false_refute_rate, profile.false_support_rate) for profile in PROFILES.values()}
    assert rates == {(0.01, 0.025)}  # "at most 1%", "2.5%"
    assert "refutes anything true is at most 1%" in text
    assert "is supported 2.5%" in text
    assert f"`within` = {DEFAULT_WITHIN} and the same error rates" in PAGES["docs/verdicts.md"]


def test_the_audit_from_python():
    found = executed("docs/audits.md", 0)["found"]
    assert (found.verdict, found.tightness) == ("SUPPORTED", "TIGHT")
    assert found.exponent.low < -0.5 < found.exponent.high


def test_the_claim_with_instances():
    claim = executed("docs/claims.md", 0)["overlaps"]
    assert set(claim.strategies) == {"phi", "k"}
    parameters = {"phi": tc.activations.sin, "k": 3}
    prediction = claim(**parameters).prediction(parameters)
    assert (prediction.path["width"], prediction.rate, prediction.rivals) == ("2*d", "d**(-k/2)", ("d**(-(k+1)/2)",))


def test_the_median_of_a_random_walk():
    [result] = tc.check_claims(executed("docs/claims.md", 1)["exit_times"], workers=1).results
    assert (result.verdict, result.judgement.flags) == ("SUPPORTED", ())
    assert all(rival.rejected for rival in result.rivals)
    # Brownian motion leaves (-1, 1) after t with probability (4/pi) exp(-pi^2 t/8) up to 1e-3: its median is 0.7577, that of a walk
    # a whole number of the parity of d.
    assert [point.estimate.value for point in result.points] == pytest.approx([0.7577 * d**2 for d in (8, 16, 32, 64)], rel=0.05)


def test_the_learning_example_is_a_claim_that_can_be_measured():
    claim = executed("docs/proofs.md", 0)["claim"]
    assert claim.measured().two_sided
    low, high, _ = claim.measured().draw(np.random.default_rng(0), 50, claim.sizes()[0]).mean(axis=0)
    assert -0.03 < low <= high < 0  # n = d = 4: about -0.05 nats in all, so -0.012 per sample


def test_the_predictions_are_numbers():
    names = executed("docs/proofs.md", 1)
    # 0.1838 and 0.2858: tests/theory/test_covariates_limits.py holds the solver against independent references
    assert (names["logistic"].test_error, names["logistic"].train_loss) == pytest.approx((0.1838, 0.2858), abs=5e-5)
    assert names["nngp"].shape == names["ntk"].shape == (2, 2)


def test_the_threshold_of_a_link_of_ones_own():
    found = executed("docs/proofs.md", 4)["found"]
    assert (found.alpha, found.digits) == (pytest.approx(1 / (1 + (1 + 4 / np.pi**2) ** 0.5), rel=1e-12), 12)


def test_every_folder_of_proofs_is_named():
    folders = [path.name for path in (ROOT / "proofs").iterdir() if (path / "__init__.py").is_file()]
    assert len(folders) >= 8
    assert [name for name in folders if f"`{name}`" not in README] == []


def misread(words, pytestconfig):
    """What is wrong with a command: an option or a command that is not there; empty for one that can be run."""
    missing = object()
    program, *rest = words[words.index("|") + 1 :] if "|" in words else words
    if program == "pytest":
        return [word for word in rest if word.startswith("--") and pytestconfig.getoption(word, missing) is missing]
    if program != "theoryck":
        return [program]
    command = main.get_command(click.Context(main), rest[0])
    if command is None:
        return [rest[0]]
    try:  # groups parse their own options only; the first of their words is a command again
        context = command.make_context(rest[0], rest[1:])
        if isinstance(command, click.Group):
            name, inner, arguments = command.resolve_command(context, rest[1:])
            inner.make_context(name, arguments, parent=context)
    except click.UsageError as error:
        return [error.format_message()]
    return []


@pytest.mark.parametrize("words", [words for words in commands("sh") if words[0] != "python"], ids=" ".join)
def test_commands_can_be_read(words, pytestconfig):
    assert misread(words, pytestconfig) == []


@pytest.mark.parametrize(
    "line", ["theoryck audit a.csv --rates 1/d", "theoryck chek proofs", "pytest --theoryck-pdf a.pdf", "tex a"]
)
def test_a_command_that_is_not_there_would_be_seen(line, pytestconfig):
    assert misread(line.split(), pytestconfig)


@pytest.mark.parametrize("words", [words for words in commands("sh") if words[0] == "python"], ids=" ".join)
def test_set_up_is_pip_and_pytest(words):
    assert words[:5] == ["python", "-m", "pip", "install", "-e"]
    assert words[words.index("&&") + 1 :][:3] in (["pytest", "proofs"], ["pytest", "-n", "2"], ["python", "-m", "sphinx"])


@pytest.mark.parametrize("line", [line for line in "\n".join(blocks("console", "docs/proofs.md")).splitlines() if line], ids=str)
def test_commands_run(line):
    program, *words = shlex.split(line.removeprefix("$ "))
    assert (line[:2], program) == ("$ ", "theoryck")
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output


def test_commands_that_are_named_exist():
    named = set(re.findall(r"(?:`|^|\$ )theoryck ([a-z]+)", "\n".join(PAGES.values()), re.MULTILINE))
    assert named <= {*COMMANDS}
    assert {"new", "check", "hunt", "audit", "report", "plan", "doctor"} <= named


def test_the_citation_is_that_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {tc.__version__}\n" in citation
    assert "cff-version: 1.2.0\n" in citation
    [entry] = blocks("bibtex")
    assert entry.strip() == bibtex(tc.Report("quick", 0, (), tc.__version__)).strip()
    title = re.search(r'^title: "(.+)"$', citation, re.MULTILINE)[1]
    assert f"{{{{{title}}}}}" in entry
    year = re.search(r"^date-released: (\d{4})-\d\d-\d\d$", citation, re.MULTILINE)[1]
    assert f"year = {{{year}}}," in entry
