"""A budget that cannot settle a claim is said at collection, and fails nothing."""

CLAIMS = '''
import theoryck as tc


@tc.quantity(cost=lambda sizes: 1.0)
def inverse(rng, draws, *, d):
    return (1 + 0.5 * rng.standard_normal(draws)) / d


@tc.conjecture("toy/short")
def short():
    """Q = O(1/d), on a window too narrow"""
    return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=(4, 8, 16)))


@tc.conjecture("toy/long")
def long():
    """Q = O(1/d)"""
    return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 1024)))
'''


def test_hopeless_claims_are_named_before_the_first_draw(project):
    project.write("proofs/toy/results.py", CLAIMS)
    result = project.pytester.runpytest_inprocess("proofs", "-p", "no:cacheprovider", "--theoryck-workers", "1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["theoryck: toy/short: the budget of quick cannot settle it*nor can a larger one: take larger sizes*", "*results.py i.*"]
    )
    assert "toy/long: the budget" not in result.stdout.str()


def test_nothing_is_said_where_draws_are_fixed_or_only_collected(project):
    project.write("proofs/toy/results.py", CLAIMS)
    assert "cannot settle it" not in project.run("proofs").stdout.str()
    assert "cannot settle it" not in project.run("proofs", "--collect-only").stdout.str()
