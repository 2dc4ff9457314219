"""Claims: what a statement accepts, which instances it is tested on, and what its errors say."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume
from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.checking.check import check_claims
from theoryck.claims.claim import describe_instance
from theoryck.claims.statements import ClaimError
from theoryck.rates.paths import PathError
from theoryck.records import Enclosure, Kind, Status


@tc.quantity(cost=lambda sizes: 1.0)
def squared_mean(rng, draws, *, d):
    return rng.standard_normal(draws) ** 2 / d


def path():
    return tc.ScalingPath(d=tc.doubling(16, 256))


def test_a_claim_knows_where_it_stands():
    @tc.theorem("demo/one", tc.Reference("Author", 2020, "Title", arxiv="2001.00001", note="Theorem 2"))
    def one():
        """E Q = O(1/d)

        The proof is left to the reader.
        """
        return tc.Bound(squared_mean, rate="1/d", along=path())

    assert (one.id, one.status, one.statement) == ("demo/one", Status.THEOREM, "E Q = O(1/d)")
    assert str(one.reference) == "Author (2020), Title, arXiv:2001.00001, Theorem 2"
    assert one.path == __file__
    assert one.line > 0
    assert one.setting.startswith("Claims:")
    [(parameters, statement)] = one.instances(5)
    assert parameters == {}
    assert statement.prediction({}).kind is Kind.BOUND


def test_instances_come_from_the_seed_alone_and_are_distinct():
    @tc.conjecture("demo/many")
    @tc.for_all(k=integers(1, 8), name=sampled_from(["a", "b"]))
    def many(k, name):
        return tc.Bound(squared_mean, rate="d**(-k/2)", along=path())

    first = [parameters for parameters, _ in many.instances(6, seed=3)]
    assert first == [parameters for parameters, _ in many.instances(6, seed=3)]
    assert first != [parameters for parameters, _ in many.instances(6, seed=4)]
    assert len({str(parameters) for parameters in first}) == len(first) == 6


def test_a_small_space_is_exhausted():
    @tc.conjecture("demo/small")
    @tc.for_all(k=integers(1, 3))
    def small(k):
        return tc.Bound(squared_mean, rate="d**(-k/2)", along=path())

    assert sorted(parameters["k"] for parameters, _ in small.instances(50)) == [1, 2, 3]


def test_explicit_examples_come_first_and_always():
    @tc.conjecture("demo/example")
    @tc.for_all(k=integers(1, 100))
    @tc.example(k=77)
    def with_example(k):
        return tc.Bound(squared_mean, rate="d**(-k/2)", along=path())

    assert with_example.instances(1)[0][0] == {"k": 77}


def test_assumptions_leave_instances_out():
    @tc.conjecture("demo/assume")
    @tc.for_all(k=integers(1, 8))
    def even_only(k):
        assume(k % 2 == 0)
        return tc.Bound(squared_mean, rate="d**(-k/2)", along=path())

    @tc.conjecture("demo/never")
    @tc.for_all(k=integers(1, 8))
    def never(k):
        assume(k > 8)

    assert {parameters["k"] for parameters, _ in even_only.instances(8)} <= {2, 4, 6, 8}
    assert never.instances(8) == []


def test_a_rival_that_is_minus_the_exponent_is_a_slip():
    with pytest.raises(ClaimError, match="'1/2' is minus the claimed exponent '-1/2'"):
        tc.Scaling(squared_mean, path(), "-1/2", rivals=["1/2"]).prediction({})


def test_parameters_are_substituted_exactly():
    statement = tc.Bound(squared_mean, rate="d**(-k/2)", along=path(), rivals=["d**(-(k+1)/2)"])
    prediction = statement.prediction({"k": 3, "phi": tc.Activation("tanh")})
    assert prediction.parameters == {"k": "3"}
    assert tc.Scaling(squared_mean, path(), "-k/3").prediction({"k": 2}).exponent == pytest.approx(-2 / 3, abs=1e-15)


def test_instances_are_described_as_json():
    described = describe_instance({"phi": tc.Activation("atan(x)"), "s": Fraction(1, 3), "widths": (1, 2), "z": Decimal("0.5")})
    assert described == {"phi": "atan(x)", "s": "1/3", "widths": [1, 2], "z": "0.5"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tc.Bound("norm", rate="1/d", along=path()), "quantity must be a quantity .* got 'norm'"),
        (lambda: tc.Bound(squared_mean, along=path()), "needs a rate along a path, or at_most"),
        (lambda: tc.Bound(squared_mean, rate="1/d", along="d"), "along must be a theoryck.ScalingPath or a list of them, got 'd'"),
        (
            lambda: tc.Bound(squared_mean, rate="1/d", along=path(), within=0),
            "within must be a positive number of at most 1, got 0",
        ),
        (
            lambda: tc.Bound(squared_mean, rate="1/d", along=path(), correction=-1),
            "correction must be a positive .* 16, got -1",
        ),
        (lambda: tc.Bound(squared_mean, rate="1/d", along=path(), within="a"), "within must be a positive number .* got 'a'"),
        (lambda: tc.Bound(squared_mean, rate="1/d", along=path(), constant=0), "constant must be a positive number, got 0"),
        (
            lambda: tc.Bound(squared_mean, rate="1/d", along=path(), share=100),
            "share must be a positive number of at most 10, got 100",
        ),
        (lambda: tc.Bound(squared_mean, rate="1/d", along=path(), constant=float("nan")), "constant must be .* got nan"),
        (lambda: tc.Bound(squared_mean, rate="1/d", along=path(), rivals="1/d"), r"rivals must be a list, got '1/d'"),
        (lambda: tc.Bound(squared_mean, rate="1/d", along=path(), rivals=None), "rivals must be a list, got None"),
        (lambda: tc.Bound(squared_mean, at_most=1), "at_most needs an exact quantity"),
        (lambda: tc.Limit(squared_mean, path(), float("nan")).prediction({}), "value must be a finite number"),
        (
            lambda: tc.Bound(squared_mean, rate="1/d", along=path()).prediction({"d": 3}),
            "d is both a size of the path",
        ),
        (lambda: tc.theorem("-x"), "does not start with '-'"),
        (lambda: tc.theorem("demo/x")(3), "must decorate a function that returns a statement, got 3"),
        (lambda: tc.theorem("demo/x")(tc.theorem("demo/y")(lambda: None)), "decorates the claim 'demo/y'"),
        (lambda: tc.for_all(k=integers())(tc.theorem("demo/y")(lambda: None)), "write for_all and example below theorem"),
        (lambda: tc.Law(squared_mean, path(), distribution="normal"), "distribution needs a method cdf"),
        (lambda: tc.theorem("with space"), "id must be a text without spaces"),
        (lambda: tc.theorem("demo/x", "Author 2020"), "reference of 'demo/x' must be a theoryck.Reference"),
        (lambda: tc.for_all(k=3), "for_all: k must be a hypothesis strategy .* got 3"),
        (lambda: tc.for_all(k=integers())(lambda d: None), "nothing is given for d; k is not an argument"),
        (lambda: tc.theorem("demo/x")(lambda n: None), r"^claim 'demo/x' on <lambda>\(n\): nothing is given for n; put for_all\("),
    ],
)
def test_errors_name_the_argument_and_show_the_value(make, message):
    with pytest.raises(ClaimError, match=message):
        make()


def test_descriptions_do_not_change_from_run_to_run():
    assert describe_instance({"readout": np.tanh, "f": describe_instance, "o": object()}) == {
        "readout": "tanh",
        "f": "describe_instance",
        "o": "<object object>",
    }


def test_a_forgotten_return_is_said():
    @tc.conjecture("demo/forgot")
    def forgot():
        tc.Bound(squared_mean, rate="1/d", along=path())

    with pytest.raises(ClaimError, match="is a return missing"):
        forgot.instances(1)


def test_a_name_that_is_no_size_and_no_parameter_is_an_error():
    statement = tc.Bound(squared_mean, rate="1/width", along=path())
    with pytest.raises(ValueError, match="width"):
        statement.prediction({})


@pytest.mark.parametrize("text", ["__import__('os').system('true')", "d.__class__", "open('x')", "(lambda: d)()"])
def test_a_rate_cannot_run_code(text):
    with pytest.raises(ValueError, match=r"."):
        tc.Bound(squared_mean, rate=text, along=path()).prediction({})


def test_sides_of_an_identity():
    identity = tc.Identity(tc.networks.sigma(tc.activations.erf, 1), Enclosure(Decimal(1), Decimal(0)))
    assert identity.prediction({}).value.midpoint == 1
    with pytest.raises(ClaimError, match="rhs must be a finite number"):
        tc.Identity(tc.networks.sigma(tc.activations.erf, 1), [1]).prediction({})
    with pytest.raises(ClaimError, match="rhs: 'one' in 'one' is not a number"):
        tc.Identity(tc.networks.sigma(tc.activations.erf, 1), "one")
    with pytest.raises(ClaimError, match="rhs must have an exact value, but squared_mean has none"):
        tc.Identity(tc.networks.sigma(tc.activations.erf, 1), squared_mean).prediction({})


def two_paths():
    return [tc.ScalingPath(d=tc.doubling(16, 256), n="d"), tc.ScalingPath(d=tc.doubling(16, 256), n="d**2")]


@tc.quantity(cost=lambda sizes: 1.0)
def two_sizes(rng, draws, *, d, n):
    return rng.standard_normal(draws) ** 2 / (d * n)


def test_a_statement_along_several_paths_is_an_instance_on_each():
    @tc.conjecture("demo/paths")
    @tc.for_all(k=integers(1, 2))
    def along_two(k):
        return tc.Bound(two_sizes, rate="(d*n)**(-k)", along=two_paths(), rivals=["(d*n)**(-k-1)"])

    instances = along_two.instances(2)
    assert [parameters for parameters, _ in instances][:2] == [
        {"k": instances[0][0]["k"], "along": "n = d, d = 16..256"},
        {"k": instances[0][0]["k"], "along": "n = d**2, d = 16..256"},
    ]
    assert len({str(parameters) for parameters, _ in instances}) == len(instances) == 4
    for parameters, statement in instances:
        prediction = statement.prediction(parameters)
        assert prediction.path["n"] == ("d" if parameters["along"].startswith("n = d,") else "d**2")
        assert prediction.parameters == {"k": str(parameters["k"])}  # names in rates are resolved
        assert describe_instance(parameters)["along"] == parameters["along"]
        assert next(sizes["n"] for sizes in statement.sizes()) in (16, 256)


def test_paths_that_differ_in_the_middle_only_have_different_names():
    paths = [tc.ScalingPath(d=(16, 32, 64)), tc.ScalingPath(d=(16, 48, 64))]

    @tc.conjecture("demo/middle")
    def middle():
        return tc.Bound(squared_mean, rate="1/d", along=paths)

    assert [parameters["along"] for parameters, _ in middle.instances(1)] == ["d = 16, 32, 64", "d = 16, 48, 64"]


def test_a_list_of_one_path_is_that_path():
    @tc.conjecture("demo/single")
    def single():
        return tc.Scaling(squared_mean, along=[path()], exponent=-1)

    [(parameters, statement)] = single.instances(1)
    assert (parameters, statement.along) == ({}, path())


def test_several_paths_are_checked_as_several_instances():
    @tc.theorem("demo/checked")
    def checked():
        return tc.Bound(two_sizes, rate="1/(d*n)", along=two_paths(), rivals=["(d*n)**(-2)"])

    report = check_claims(checked, workers=1, draws=4000)
    assert [result.instance["along"] for result in report.results] == ["n = d, d = 16..256", "n = d**2, d = 16..256"]
    assert {result.verdict.value for result in report.results} == {"SUPPORTED"}
    assert report.results[0].points[0].estimate != report.results[1].points[0].estimate
    alike = check_claims(checked, workers=1, draws=4000)
    assert [result.points for result in alike.results] == [result.points for result in report.results]


@pytest.mark.parametrize(
    ("along", "message"),
    [
        ([], "along must name at least one theoryck.ScalingPath, got an empty list"),
        ([16, 32, 64], r"of which size these are the values, such as tc\.ScalingPath\(n=\[16, 32, 64\]\)"),
        ([path(), "d"], "along must be a list of theoryck.ScalingPath only, got 'd' at position 1"),
        ([path(), path()], r"along names the path d = 16..256 twice, at positions 0 and 1"),
        (tc.ScalingPath(n=[16, 32, 64]), r"along: squared_mean needs the size 'd', the sizes given are 'n'"),
    ],
)
def test_paths_that_cannot_be_used(along, message):
    with pytest.raises(ClaimError, match=message):
        tc.Bound(squared_mean, rate="1/d", along=along)


def test_an_argument_called_along_cannot_be_had_with_several_paths():
    @tc.conjecture("demo/taken")
    @tc.for_all(along=integers(1, 2))
    def taken(along):
        return tc.Bound(two_sizes, rate="1/d", along=two_paths())

    with pytest.raises(ClaimError, match="call the argument of that name something else"):
        taken.instances(1)


@pytest.mark.parametrize("exponent", [float("nan"), float("inf"), Decimal("NaN")])
def test_an_exponent_is_a_finite_number(exponent):
    with pytest.raises(ClaimError, match="exponent must be a finite number or a text such as '-k/2', got"):
        tc.Scaling(squared_mean, along=path(), exponent=exponent)


def test_doubling_that_reaches_no_second_size():
    with pytest.raises(PathError, match=r"stop must be at least 8 for a second size, got doubling\(4, 7\)"):
        tc.doubling(4, 7)


class HalfAtZero:
    """Half of the mass at 0, the rest uniform on [0, 1]."""

    def cdf(self, x):
        return np.where(np.asarray(x) < 0, 0.0, np.minimum(0.5 + np.asarray(x) / 2, 1.0))

    def ppf(self, level):
        return np.maximum(2 * np.asarray(level) - 1, 0.0)


def test_a_law_with_an_atom_is_refused():
    @tc.quantity
    def uniform(rng, draws, *, d):
        return rng.random(draws)

    with pytest.raises(ClaimError, match=r"atom at 0.*nonzero"):
        tc.Law(uniform, tc.ScalingPath(d=(2, 4, 8)), HalfAtZero())


def test_the_folder_of_a_claim_has_its_own_setting(tmp_path):
    from theoryck.claims.collecting import collect

    folder = tmp_path / "proofs" / "somebody2020"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Symbols of the paper."""\n')
    (folder / "result.py").write_text(
        '"""The result."""\nimport theoryck as tc\n@tc.theorem("a")\ndef a():\n'
        '    """x"""\n    return tc.Identity(tc.networks.sigma("x", 0), 1)\n'
    )
    (claim,) = collect([str(folder)], ())
    assert (claim.setting, claim.folder_setting) == ("The result.", "Symbols of the paper.")
