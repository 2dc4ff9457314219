"""The command that goes on after Ctrl-C: it checks what is left, all of it and nothing else."""

import fnmatch
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck.report.progress import advice, patterns

IDS = st.lists(
    st.builds("{}/{}".format, st.sampled_from(["a", "b2025", "b2025/part", "c[1]", "d*"]), st.sampled_from(["x", "y", "z", "*"]))
    | st.sampled_from(["alone", "b2025"]),
    unique=True,
    max_size=12,
)


def selected(pattern, claims):
    """What --only does: the claim of that name, or those that match."""
    return {c for c in claims if c == pattern} or {c for c in claims if fnmatch.fnmatchcase(c, pattern)}


@settings(max_examples=200)
@given(IDS, st.integers(0, 12))
def test_the_patterns_select_what_is_left_and_nothing_that_is_done(claims, cut):
    done, left = claims[:cut], claims[cut:]
    chosen = set().union(*(selected(pattern, claims) for pattern in patterns(left, done)))
    assert chosen == set(left)


def test_a_large_session_is_resumed_by_a_short_command():
    claims = [f"paper{2000 + number // 25}/result-{number}" for number in range(275)]
    text = advice(claims[110:], claims[:110], ["proofs"], {"--profile": "standard", "--sharing": 275})
    (command,) = [line for line in text.splitlines() if line.startswith("  theoryck")]
    assert "'paper2010/*'" in command
    assert len(command) < 700


@pytest.mark.parametrize(
    ("left", "done", "chosen", "words"),
    [
        (["a/x", "a/y"], [], False, []),  # nothing was left out: the paths say it all
        (["a/x", "a/y"], [], True, ["--only", "a/x", "--only", "a/y"]),
        (["a/y", "a/z"], ["a/x"], False, ["--only", "a/y", "--only", "a/z"]),
        (["b/y", "b/z"], ["a/x"], False, ["--only", "b/*"]),
    ],
)
def test_the_command(left, done, chosen, words):
    text = advice(left, done, ["my proofs"], {"--seed": 3, "--workers": None, "--ledger": "draws.ledger"}, chosen=chosen)
    command = text.splitlines()[1]
    assert shlex.split(command) == ["theoryck", "check", "my proofs", *words, "--seed", "3", "--ledger", "draws.ledger"]
    assert "in the ledger and will be reused" in text


def test_nothing_left():
    assert advice([], ["a"], ["proofs"], {}) == "Interrupted after the last claim was measured: nothing is left to check."
    assert advice([], [], ["proofs"], {}) == "Interrupted before any claim was found."
