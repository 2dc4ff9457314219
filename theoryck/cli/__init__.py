"""The theoryck program: one module a command, loaded when it is called.

audit      judge anyone's table of sizes and values
audit_paper  theorems, claims and marks of a paper in LaTeX beside a record
check      measure and judge claims
common     what several commands share: options, how claims are found, outputs, usage errors, the line of progress
constants  certified constants of an activation
doctor     what is installed, what works, and what to do about what does not
hunt       search the structure of a claim for a counterexample
ledger     what a ledger holds, and how to make it smaller
list       what is claimed, and where
measure    one quantity at one instance, by every route it offers
new        a file with a conjecture of one's own
new_paper  a repository for one paper
options    types of options: integers written as 1e4, widths, rational numbers, draws of each size, one of several words
plan       what the budget of a profile can see of a claim
prove      a claim at every size, by certificates that a separate program verifies
report     saved results as a table, a page, or a part of a paper
show       one claim in full
streams    standard input, output and error: closed ones, those of another encoding, what the system refuses
"""

from __future__ import annotations

import difflib
import importlib
import sys
from contextlib import suppress
from typing import Any

import click

import theoryck
from theoryck.checking.interrupts import once, once_for_good
from theoryck.cli.streams import BROKEN_PIPE, discard_output, prepare, refusal

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C stopped

# Not named here: ``list``, which is the module of that command once it has been imported.
# A command's module and its line in ``theoryck --help``; the module holds the click command as ``command``.
COMMANDS = {
    "new": "Write a file with a conjecture of one's own, or a repository for a paper, which runs as it is.",
    "check": "Measure and judge the claims found in files or folders.",
    "list": "List what is claimed, and where.",
    "show": "Show one claim in full: statement, setting, rates, rivals, instances.",
    "plan": "Say what the budget of a profile can see of a claim, before it is spent.",
    "prove": "Prove a bound for every size, or verify such proofs again.",
    "hunt": "Search the structure of a claim for a counterexample.",
    "measure": "Measure one quantity at one instance by every route.",
    "audit": "Judge a table of sizes, values and error bars against a rate, or measure its exponent.",
    "report": "Show saved results as a table, a page, Markdown or LaTeX, without measuring.",
    "audit-paper": "Say which theorems of a paper name a claim, and which of its marks are stale.",
    "ledger": "Show or prune a file in which draws are kept.",
    "constants": "Print certified constants of an activation.",
    "doctor": "Say what is installed, what works, and what to do about what does not.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is called or its own help is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of use."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"theoryck.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = difflib.get_close_matches(name, COMMANDS, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program; what the system refuses is said without a traceback, with exit status 2."""
        prepare()
        try:
            try:
                return super().main(*args, **options)
            except SystemExit:
                sys.stdout.flush()  # while what cannot be written can still be said
                raise
        except OSError as error:
            message = refusal(error)
        with suppress(OSError):
            click.echo(f"Error: {message}", err=True)
        sys.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C at any moment ends it with status 130, a reader that has left with 141."""
        try:
            with once():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted: nothing was finished", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            discard_output()
            ctx.exit(BROKEN_PIPE)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(theoryck.__version__, "-V", "--version", prog_name="theoryck")
def main() -> None:
    """Verify statements of high-dimensional learning theory by measuring them.

    A claim such as "this quantity is at most C times that rate" is measured by two routes that share no code, rigorous values
    and Monte Carlo; an exponent is fitted with an honest error bar, and a verdict is given with error rates that were declared
    before anything was drawn.

    \b
    Examples:
      theoryck new spectral-gap             a conjecture of your own, which runs as it is
      theoryck check spectral_gap.py        its verdict
      theoryck check proofs                 check every claim under proofs/
      theoryck show moment-control          read one of them
      theoryck audit runs.csv --rate 1/d    measurements of your own against a rate

    "pytest proofs" runs the same engine, a claim being a test.  Exit status: 0 all well, 1 a statement fell (or a falsehood
    stood), 2 wrong usage or a file that cannot be written, 3 undecided under the profile thorough (or a hunt that judged nothing),
    130 interrupted.  "theoryck COMMAND --help" is a short manual of each command.
    """


def run() -> None:
    """Run the program as a process of its own, to whose end a Ctrl-C that is hit twice counts once."""
    once_for_good()
    main(prog_name="theoryck")
