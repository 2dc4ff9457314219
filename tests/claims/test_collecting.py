"""Claims are found in files, under the names their imports expect; every mistake is said with its place."""

import re
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from theoryck.claims.collecting import (
    CollectionError,
    belongs,
    build_once,
    claim_files,
    collect,
    import_file,
    is_claim,
    is_test_file,
    may_hold_claims,
    no_claim_called,
)

CLAIM = '''
import theoryck as tc

@tc.theorem("{id}")
def {name}():
    """E phi(Z)^2 = 1 for phi(x) = x"""
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1)
'''


@pytest.fixture(autouse=True)
def _imports_are_forgotten(tmp_path):
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def write(tmp_path):
    def write(file, text="", **claim):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text) + (CLAIM.format(**claim) if claim else ""))
        return path

    return write


def test_which_files_are_searched(write, tmp_path):
    wanted = [
        write("proofs/paper/a.py", "# theoryck"),
        write("proofs/paper/test_b.py", "# theoryck"),
        write("sub/proofs/c.py", "# theoryck"),
        write("tests/d_test.py", "# theoryck"),
    ]
    for name in ("lib/e.py", "proofs/.hidden/f.py", "proofs/build/g.py", "proofs/conftest.py"):
        write(name, "# theoryck")
    write("proofs/silent.py", "# no mention")
    write("proofs/env/pyvenv.cfg")
    write("proofs/env/lib.py", "# theoryck")
    assert claim_files(tmp_path) == sorted(wanted)
    assert claim_files(tmp_path / "proofs") == sorted(wanted[:2])
    assert claim_files(tmp_path / "lib" / "e.py") == [tmp_path / "lib" / "e.py"]


def test_falsehoods_come_last_in_their_folder(write, tmp_path):
    for name in ("zeta.py", "falsehoods.py", "alpha.py"):
        write(f"proofs/paper/{name}", "# theoryck")
        write(f"proofs/second/{name}", "# theoryck")
    names = [f"{path.parent.name}/{path.stem}" for path in claim_files(tmp_path)]
    assert names == [f"{paper}/{stem}" for paper in ("paper", "second") for stem in ("alpha", "zeta", "falsehoods")]


def test_a_folder_called_like_a_test_makes_no_test_file():
    assert is_test_file(Path("a/test_b.py"))
    assert not is_test_file(Path("test_folder/b.py"))
    assert is_test_file(Path("x/checks/b.py"), ["*/checks/*.py"])


def test_unreadable_and_other_files_hold_no_claims(write, tmp_path):
    assert not may_hold_claims(tmp_path / "none.py")
    assert not may_hold_claims(write("notes.txt", "theoryck"))


def test_relative_and_absolute_imports_work(write, tmp_path):
    write("proofs/paper2025/__init__.py", "VALUE = 1\n")
    write("proofs/paper2025/common.py", "from . import VALUE\n")
    write("proofs/paper2025/sub/__init__.py")
    text = """
    from .. import VALUE
    from ..common import VALUE as again
    from paper2025.common import VALUE as absolute
    from proofs.paper2025 import VALUE as from_above
    """
    write("proofs/paper2025/sub/result.py", text, id="p/deep", name="deep")
    assert [claim.id for claim in collect([tmp_path / "proofs"])] == ["p/deep"]
    assert sys.modules["paper2025.sub.result"].VALUE == 1


def test_files_of_one_name_and_of_a_library_s_name_do_not_collide(write, tmp_path):
    write("proofs/a/statistics.py", id="a/one", name="one")
    write("proofs/b/statistics.py", id="b/one", name="one")
    assert [claim.id for claim in collect([tmp_path])] == ["a/one", "b/one"]
    import statistics

    assert hasattr(statistics, "NormalDist")


def test_claims_come_in_the_order_written_and_once(write, tmp_path):
    path = write("proofs/order.py", CLAIM.format(id="z", name="z") + CLAIM.format(id="a", name="a") + "\nalias = z\n")
    assert [claim.id for claim in collect([path])] == ["z", "a"]
    assert [claim.id for claim in collect([path, path, tmp_path])] == ["z", "a"]


def test_only(write):
    path = write("proofs/only.py", "".join(CLAIM.format(id=f"paper/{name}", name=name) for name in ("one", "two", "three")))
    assert [claim.id for claim in collect([path], ["paper/t*", "*/one"])] == ["paper/one", "paper/two", "paper/three"]
    assert [claim.id for claim in collect([path], ["paper/two"])] == ["paper/two"]
    with pytest.raises(CollectionError, match="no claim is called 'paper/tow'; did you mean paper/two"):
        collect([path], ["paper/tow"])
    with pytest.raises(CollectionError, match="there are: paper/one, paper/two, paper/three"):
        collect([path], ["zzzzzz*"])


def test_close_matches_of_the_last_part(write):
    claims = collect([write("proofs/close.py", id="camilli2025/moment-control", name="c")])
    assert no_claim_called("moment-contrl", claims).endswith("did you mean camilli2025/moment-control?")


def test_where_a_claim_is_made(write, tmp_path, monkeypatch):
    path = write("proofs/made.py", id="made", name="made")
    (claim,) = collect([path])
    monkeypatch.chdir(tmp_path)
    assert claim.place == "proofs/made.py:4"
    monkeypatch.chdir("/")
    assert claim.place == f"{path}:4".lstrip("/")
    assert is_claim(claim)
    assert not is_claim(type(claim))
    assert belongs(claim, path)
    assert not belongs(claim, tmp_path / "proofs" / "importing.py")


def test_two_claims_of_one_id(write, tmp_path):
    write("proofs/first.py", id="same", name="one")
    write("proofs/second.py", id="same", name="two")
    with pytest.raises(CollectionError, match=r"two claims are called 'same': at .*first.py:4 and at .*second.py:4; rename"):
        collect([tmp_path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import theoryck\nx = 1 / 0\n", r"bad.py:2: ZeroDivisionError: division by zero"),
        ("import theoryck\ndef f(:\n", r"bad.py:2: SyntaxError: "),
        ("import theoryck\n\nimport no_such_module\n", r"bad.py:3: ModuleNotFoundError: No module named 'no_such_module'"),
        ("import theoryck\nraise SystemExit(3)\n", r"bad.py:2: SystemExit: 3"),
        ("import theoryck as tc\n\n@tc.theorem('with space')\ndef f(): ...\n", r"bad.py:3: ClaimError: id must be"),
        ("import theoryck as tc\ntc.theorm\n", r"bad.py:2: AttributeError: module 'theoryck' has no attribute 'theorm'"),
    ],
)
def test_a_file_that_cannot_be_imported(write, text, message):
    path = write("proofs/bad.py", text)
    with pytest.raises(CollectionError, match=message):
        collect([path])
    assert "bad" not in sys.modules


def test_an_error_in_an_imported_file_names_the_importing_line(write):
    write("proofs/broken/__init__.py")
    write("proofs/broken/helper.py", "x = {}['missing']\n")
    path = write("proofs/broken/result.py", "import theoryck\nfrom .helper import x\n")
    with pytest.raises(CollectionError, match=r"result.py:2: KeyError: 'missing'"):
        collect([path])


def test_a_package_whose_name_is_taken(write):
    path = write("proofs/json/result.py", id="taken", name="taken")
    write("proofs/json/__init__.py")
    with pytest.raises(CollectionError, match=r"the package name 'json' is taken by .*; rename the folder"):
        collect([path])


def test_a_file_that_is_not_python(write):
    with pytest.raises(CollectionError, match="not a Python file"):
        import_file(write("proofs/notes.txt", "theoryck"))


def test_paths_that_hold_nothing(write, tmp_path):
    write("proofs/empty.py", "# theoryck\n")
    with pytest.raises(CollectionError, match=r"does not exist; did you mean .*proofs"):
        collect([tmp_path / "proof"])
    with pytest.raises(CollectionError, match=r"empty.py makes no claim: decorate"):
        collect([tmp_path / "proofs" / "empty.py"])
    with pytest.raises(CollectionError, match=r"no claim was found under .*: claims are collected from files under"):
        collect([tmp_path])


def test_a_claim_that_cannot_be_built(write):
    text = """
    import theoryck as tc
    from hypothesis.strategies import integers

    @tc.quantity
    def q(rng, draws, *, d):
        return rng.standard_normal(draws)

    @tc.theorem("unknown")
    def unknown():
        return tc.Bound(q, rate="1/n", along=tc.ScalingPath(d=tc.doubling(8, 64)))

    @tc.theorem("silent")
    def silent():
        tc.Bound(q, rate="1/d", along=tc.ScalingPath(d=tc.doubling(8, 64)))

    @tc.theorem("generated")
    @tc.for_all(k=integers(3, 3))
    def generated(k):
        raise ValueError("no such k")
    """
    unknown, silent, generated = collect([write("proofs/unbuilt.py", text)])
    with pytest.raises(CollectionError, match=r"unbuilt.py:\d+: claim 'unknown' cannot be built\n(.|\n)*RateError: .*n"):
        build_once(unknown)
    with pytest.raises(CollectionError, match="is a return missing"):
        build_once(silent)
    with pytest.raises(CollectionError, match=r"unbuilt.py:\d+: ValueError: no such k\n.*'k': 3"):
        build_once(generated)


def test_claims_in_classes_and_in_files_that_only_use_a_decorator(tmp_path, monkeypatch):
    folder = tmp_path / "proofs"
    folder.mkdir()
    body = "def claim():\n{i}    return tc.Identity(tc.networks.sigma(tc.Activation('x'), 1), 1)\n"
    (folder / "common_of_proofs.py").write_text("import theoryck as tc\nfrom theoryck import conjecture\n")
    (folder / "via.py").write_text("from common_of_proofs import *\n\n@conjecture('via')\n" + body.format(i=""))
    inside = "import theoryck as tc\n\nclass Anything:\n    @tc.conjecture('inside[1]')\n    " + body.format(i="    ")
    (folder / "inside.py").write_text(inside)
    assert {claim.id for claim in collect([str(folder)])} == {"via", "inside[1]"}
    assert [claim.id for claim in collect([str(folder)], ["inside[1]"])] == ["inside[1]"]


MANY = [
    f"paper/{name}"
    for name in ("moment-control", "moment-widths", "spectral-gap", "law-of-outputs", "edge", "rate", "stein", "x", "y")
]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("moment-contrl", "did you mean paper/moment-control"),
        ("paper/spectralgap", "did you mean paper/spectral-gap?"),
        ("outputs", "did you mean paper/law-of-outputs?"),
        ("the-spectral-radius", "did you mean paper/spectral-gap?"),
        ("papr/*", "did you mean paper/*?"),
        ("paper/zzzzzz", "nor anything like it, among 9: paper (9); theoryck list names them"),
    ],
)
def test_a_claim_that_is_not_there_is_answered_with_its_like_and_nothing_else(name, message):
    assert message in no_claim_called(name, [SimpleNamespace(id=each) for each in MANY])


def test_a_claim_with_a_bad_id_is_named_by_its_line_and_other_files_are_read(tmp_path):
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "good_one.py").write_text(CLAIM.format(id="fine", name="fine"))
    (folder / "bad_one.py").write_text(CLAIM.format(id="my id", name="bad"))
    problems = []
    assert [claim.id for claim in collect([folder], problems=problems)] == ["fine"]
    (problem,) = problems
    assert re.search(r"bad_one\.py:4: ClaimError: id must be a text without spaces.*got 'my id'", problem)
    assert "no claim of bad_one.py is read" in problem
