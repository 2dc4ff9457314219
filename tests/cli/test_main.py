"""The program as a whole: help that reads as a manual, close matches, exit statuses, and a start that imports little."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import theoryck
from tests.waiting import HANG
from theoryck.cli import COMMANDS, main

OWN = ("check", "list", "show")


def call(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="theoryck")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_every_command_with_examples_and_exit_statuses(flag):
    result = call(flag)
    assert result.exit_code == 0
    for word in (*COMMANDS, "Examples:", "Exit status"):
        assert word in result.output


@pytest.mark.parametrize("name", OWN)
def test_help_of_a_command_is_a_short_manual(name):
    result = call(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: theoryck {name}" in result.output
    assert f"Examples:\n    theoryck {name}" in result.output
    command = main.get_command(click.Context(main), name)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_version():
    assert call("--version").output == f"theoryck, version {theoryck.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc"], "No such command 'chekc'; did you mean check?"),
        (["zzz"], "No such command 'zzz'; there are: new, check, list, show"),
        (["check"], "Missing argument 'PATH...'"),
        (["check", "proofs", "--sed", "1"], "--seed"),
        (["check", "proofs", "--profile", "quik"], "'quik' is not one of quick, standard, thorough (did you mean 'quick'?)"),
        (["check", "proofs", "--seed", "-1"], "-1 is not in the range"),
        (["check", "proofs", "--workers", "0"], "0 is not in the range"),
        (["check", "no-such-folder"], "no-such-folder does not exist"),
        (["show"], "Missing argument 'CLAIM'"),
        (["list"], "there is no folder 'proofs' here"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_help_imports_nothing_heavy():
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from theoryck.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'sympy', 'flint', 'mpmath', 'hypothesis', 'jsonschema', 'theoryck.claims',"
        " 'theoryck.checking.check'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_module_is_the_program():
    found = subprocess.run([sys.executable, "-m", "theoryck", "--version"], capture_output=True, text=True, timeout=HANG)
    assert found.stdout == f"theoryck, version {theoryck.__version__}\n"
