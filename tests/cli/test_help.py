"""Every help reads as a short manual: what it does, examples that parse, exit statuses, and lines that fit."""

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from theoryck.cli import COMMANDS, main


def commands():
    """Every command with its words, groups and their commands too, and the program itself."""
    yield (), main
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        yield (name,), command
        if isinstance(command, click.Group):
            yield from (((name, inner), command.commands[inner]) for inner in command.commands)


ALL = dict(commands())
IDS = [" ".join(("theoryck", *words)) for words in ALL]


def help_of(words, width=None):
    return CliRunner(env={"COLUMNS": width}).invoke(main, [*words, "--help"], prog_name="theoryck").output


def examples(text):
    """The commands under ``Examples:``, without what is said of them behind several spaces."""
    block = re.search(r"\n +Examples:\n(( +\S.*\n)+)", text)
    return [re.split(r" {3,}", line.strip())[0] for line in block[1].splitlines()] if block else []


@pytest.mark.parametrize("words", ALL, ids=IDS)
def test_help_is_a_manual(words):
    text = help_of(words)
    assert text.startswith(f"Usage: {' '.join(('theoryck', *words))}")
    assert len(re.split(r"\n\n", text)) >= 4  # usage, what it does, examples, options
    assert examples(text), "no example"
    assert f"theoryck {' '.join(words)}".strip() in "\n".join(examples(text))
    assert "Exit status" in text or words[:1] == ("ledger",)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("words", ALL, ids=IDS)
def test_every_option_is_explained(words):
    for parameter in ALL[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help[0].isupper() or parameter.help.startswith("phi ")
            assert parameter.help.endswith((".", "]", ")"))


@pytest.mark.parametrize("words", ALL, ids=IDS)
def test_every_example_parses(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in examples(help_of(words)):
        for part in re.split(r" \| | > ", line):
            said = shlex.split(part)
            if said[0] == "theoryck":
                parse(said[1:])
            else:
                assert said[0] in ("cat", "python") or re.fullmatch(r"[\w.-]+", said[0]), part


def parse(said):
    """Let click read the words of a call, types and all, without running it."""
    context, command = click.Context(main, info_name="theoryck"), main
    while isinstance(command, click.Group):
        command = command.get_command(context, said[0])
        assert command is not None, said
        said = said[1:]
    command.make_context(command.name, list(said), parent=context)


def test_an_example_that_does_not_parse_would_be_seen():
    with pytest.raises(click.UsageError):
        parse(["check", "proofs", "--no-such-option"])
    with pytest.raises(click.UsageError):
        parse(["hunt"])
    assert examples("Usage\n\n  Examples:\n    theoryck check proofs    all of it\n    theoryck list\n\n  End") == [
        "theoryck check proofs",
        "theoryck list",
    ]


def test_the_program_lists_its_commands_in_the_order_of_use():
    text = help_of(())
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert "..." not in text.partition("Commands:")[2]
