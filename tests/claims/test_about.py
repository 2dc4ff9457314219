"""What is written about a claim travels with its results."""

import json
import sys
import types
from fractions import Fraction

import jsonschema
import pytest
from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.checking.check import check_claims
from theoryck.claims.claim import written_about
from theoryck.records import About, Report
from theoryck.report.json import dumps, loads, schema

PHI = tc.Activation("tanh")
SOURCE = tc.Reference("Nobody, Noone", 2020, "On nothing", arxiv="2001.00001")


def identity(layer):
    return tc.Identity(tc.networks.sigma(PHI, layer), tc.networks.sigma(PHI, layer), rivals=[2])


@tc.theorem("about/constant", SOURCE)
@tc.for_all(k=integers(1, 1))
def constant(k):
    """sigma_k = sigma_k

    Because it is.
    """
    return identity(k)


@tc.conjecture("about/bare")
def bare():
    return identity(1)


def test_a_claim_says_what_its_author_wrote():
    about = constant.about()
    assert about.claim == "about/constant"
    assert about.setting == __doc__
    assert about.details == "Because it is."
    assert about.assumptions == {"k": "integers 1 to 1"}
    assert about.citation == {"authors": "Nobody, Noone", "year": "2020", "title": "On nothing", "arxiv": "2001.00001"}
    assert about.place.endswith(f"test_about.py:{constant.line}")
    assert bare.about().citation == {}
    assert bare.about().details == ""


def test_a_report_keeps_it_through_a_file():
    report = check_claims([constant, bare])
    assert [about.claim for about in report.about] == ["about/constant", "about/bare"]
    again = loads(dumps(report))
    assert again == report
    assert again.about_of("about/constant") == constant.about()
    assert again.about_of("about/none") is None
    jsonschema.validate(json.loads(dumps(report)), schema())


def test_an_older_file_lacks_it():
    data = json.loads(dumps(check_claims(bare)))
    for key in ("about", "folders"):
        data.pop(key, None)
    jsonschema.validate(data, schema())
    assert Report.from_json(data).about == ()


def test_a_wrong_field_is_not_valid():
    data = json.loads(dumps(check_claims(bare)))
    data["about"][0]["settings"] = ""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema())


def claim_in(folder, text, number):
    """A claim whose module says that it belongs to a package of this docstring."""
    package = types.ModuleType(f"package_{number}", text)
    sys.modules[package.__name__] = package
    module = types.ModuleType(f"package_{number}.file", "setting")
    module.__package__ = package.__name__
    sys.modules[module.__name__] = module

    def function():
        """one = one"""

    function.__module__ = module.__name__
    function.__code__ = function.__code__.replace(co_filename=str(folder / "file.py"))
    return tc.conjecture(f"folder/{number}")(function)


def test_folders_are_kept_once_and_told_apart(tmp_path):
    folder = tmp_path / "same"
    folder.mkdir()
    (folder / "file.py").touch()
    before = set(sys.modules)
    try:
        claims = [claim_in(folder, text, number) for number, text in enumerate(("one", "one", "two", "three"))]
        about, folders = written_about(claims)
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
    assert [each.folder for each in about] == ["same", "same", "same (2)", "same (3)"]
    assert folders == {"same": "one", "same (2)": "two", "same (3)": "three"}


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (integers(1, 4), "integers 1 to 4"),
        (sampled_from(["1", "d**(1/2)"]), "one of '1', 'd**(1/2)'"),
        (sampled_from((PHI, tc.Activation("x"))), "one of tanh(x), x"),
        (sampled_from([Fraction(1, 4), Fraction(2), Fraction(-3, 5)]), "one of 1/4, 2, -3/5"),
        (sampled_from([(1, 2), (2, 1)]), "one of (1, 2), (2, 1)"),
        (integers(min_value=3), "integers(min_value=3)"),
    ],
)
def test_strategies_are_written_for_people(strategy, text):
    @tc.conjecture("about/written")
    @tc.for_all(k=strategy)
    def written(k): ...

    assert written.about().assumptions == {"k": text}


def test_about_without_a_folder_names_none():
    about, folders = written_about([bare])
    assert (about[0].folder, folders) == ("", {})
    assert About("x") == About.from_json({"claim": "x"})
