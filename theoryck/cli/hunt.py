"""``theoryck hunt``: search a claim's structure for a counterexample within a budget of time."""

from __future__ import annotations

import ast
import math
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from theoryck.checking.interrupts import finishing
from theoryck.cli.common import (
    Line,
    Usage,
    check_outputs,
    files_of_claims,
    find_claim,
    profile_option,
    seed_option,
    stdout_style,
    workforce,
    workforce_options,
    write_json_data,
)
from theoryck.report import numbers
from theoryck.report.claims import clean, instance_text
from theoryck.report.layout import Style, fields, wrap

if TYPE_CHECKING:
    from theoryck.checking.hunting import Hunt, Trouble
    from theoryck.claims.claim import Claim

MANY_REJECTED = 10  # arguments for every instance that was tried: then the claim should be told of it
MOST_TROUBLES = 5  # told in full; the others are counted


@click.command("hunt")
@click.argument("claim")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--time",
    "seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long to search; making a find smaller may take a quarter more.  [default: 60, or no limit with --tries]",
)
@click.option("--tries", type=click.IntRange(1), help="Stop after so many instances: then the hunt can be repeated exactly.")
@profile_option()
@seed_option()
@workforce_options("verdicts")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the outcome to FILE; - prints it and nothing else.")
def command(
    claim: str,
    paths: tuple[str, ...],
    seconds: float | None,
    tries: int | None,
    profile: str,
    seed: int,
    workers: int | None,
    cluster: str | None,
    any_versions: bool,
    json_path: str | None,
) -> None:
    """Search the structure of a claim for a counterexample.

    The claim's for_all says what there is to search: activation, depth, widths, noise.  Every instance is tried on a small part of
    the profile's budget, and the promising ones on more.  What looks refuted is measured again with a fresh seed on the
    whole budget of an instance, made smaller step by step, each step confirmed too, and printed with the line that repeats it.

    The chance to find anything in a claim that is true is at most the false-refute rate of the profile, however many instances are
    tried: the k-th confirmation has the share 1/(k(k+1)) of it.  Finding nothing proves nothing.  The same --seed tries the
    same instances on the same draws until the time is over; with --tries and no --time the clock plays no part.

    CLAIM is an id, or what follows its last slash; claims are looked for in PATH (default: ./proofs).  Ctrl-C shows the smallest
    counterexample found so far.

    \b
    Examples:
      theoryck hunt spectral-gap my_conjecture.py
      theoryck hunt moment-control --time 300 --profile standard
      theoryck hunt spectral-gap my_conjecture.py --tries 50 --json hunt.json

    Exit status: 1 a counterexample was found (as it should be for a falsehood); 0 none was found; 2 wrong usage; 3 not one
    instance could be judged; 130 interrupted.
    """
    from theoryck.checking.hunting import HuntError, hunt

    check_outputs({"--json": json_path}, files_of_claims(paths))
    wanted = find_claim(claim, paths)
    with workforce(workers, cluster, any_versions) as executor, _Progress() as progress:
        options = {"profile": profile, "seed": seed, "seconds": seconds, "tries": tries}
        try:
            outcome = hunt(wanted, **options, executor=executor, progress=progress)  # type: ignore[arg-type]
        except HuntError as error:
            raise Usage(str(error)) from error
    again = _again(claim, paths, seconds, tries, profile, seed, workers)
    with finishing(lambda text: click.echo(f"theoryck: {text}", err=True)):
        if json_path is not None:
            write_json_data({**outcome.to_json(), **_how_to_repeat(outcome, wanted, again)}, json_path)
        if json_path != "-":
            click.echo("\n".join(report_lines(outcome, wanted, again, stdout_style())), color=True)
        sys.exit(outcome.exit_code)


def report_lines(outcome: Hunt, claim: Claim, again: str, style: Style) -> list[str]:
    """Return the lines that tell people of a hunt."""
    lines = _found(outcome, claim, style) if outcome.found is not None else _nothing(outcome, style)
    for trouble in outcome.troubles[:MOST_TROUBLES]:
        lines += _troubled(trouble, style)
    if len(outcome.troubles) > MOST_TROUBLES:
        lines += [f"  ... and {len(outcome.troubles) - MOST_TROUBLES} more such instances (--json names them all)"]
    return [*lines, "", *fields(_facts(outcome, again), style, indent=2, whole=("repeat",))]


def _found(outcome: Hunt, claim: Claim, style: Style) -> list[str]:
    assert outcome.found is not None
    title = instance_text(dict(outcome.found.instance))
    lines = [style.paint(f"COUNTEREXAMPLE to {clean(outcome.claim)}", "bad"), "", *wrap(title, style.width, first="  ")]
    lines += ["", *wrap(clean(outcome.found.reason), style.width, first="  ")]
    if outcome.interrupted:
        lines += wrap("Interrupted: there may be a smaller one.", style.width, first="  ")
    if outcome.status.value == "falsehood":
        lines += wrap("The claim is declared a falsehood: to find this was expected.", style.width, first="  ")
    line = _paste(outcome, claim)
    lines += ["", f"Keep it: paste this below the decorator that makes the claim ({clean(claim.place)})"]
    lines += [f"  {text}" for text in (*line.imports, line.text)]
    if line.unwritten:
        shown = ", ".join(f"{name} = {clean(outcome.found.instance.get(name))}" for name in line.unwritten)
        lines += wrap(f"where ... stands for what cannot be written as code here: {shown}", style.width, first="  ")
    return [*lines, "and measure it with", f"  {outcome.found.repeat}"]


def _nothing(outcome: Hunt, style: Style) -> list[str]:
    what = "no counterexample to" if outcome.judged else "NOTHING WAS JUDGED of"
    found = f"{what} {clean(outcome.claim)}{' was found' * bool(outcome.judged)}"
    lines = [style.paint(f"{'interrupted: ' * outcome.interrupted}{found}", "head" if outcome.judged else "open")]
    tried = f"{_plural(outcome.tried, 'instance')} tried, on small budgets" if outcome.tried else "no instance could be tried"
    sentences = [f"That {'proves' if outcome.judged else 'says'} nothing: {tried}.", _what_ended(outcome)]
    if outcome.judged:
        sentences.append("A larger --time, another --seed or a larger --profile looks further.")
    lines += wrap(" ".join(filter(None, sentences)), style.width, first="  ")
    if outcome.closest is not None:
        text = f"Nearest to a refutation: {instance_text(dict(outcome.closest[0]))}"
        lines += wrap(text, style.width, first="  ")
    if outcome.status.value == "falsehood":
        lines += wrap("The claim is declared a falsehood: a counterexample was expected.", style.width, first="  ")
    return lines


def _what_ended(outcome: Hunt) -> str:
    """Why there were no more instances, or next to none, as far as it lies at the claim."""
    if outcome.rejected > (MANY_REJECTED * (outcome.tried + 1) if outcome.judged else 0):
        return (
            f"The claim's assumptions rejected {numbers.count(outcome.rejected)} others: have the strategies generate what "
            "assume() lets through, or search longer."
        )
    return "The claim's strategies had no other instance to offer." if outcome.exhausted else ""


def _troubled(trouble: Trouble, style: Style) -> list[str]:
    title = instance_text(dict(trouble.instance))
    return ["", *wrap(f"Not judged: {title}: {clean(trouble.message)}", style.width, first="  ", rest="    ")]


def _facts(outcome: Hunt, again: str) -> list[tuple[str, str]]:
    judged = f"{outcome.supported} supported, {outcome.undecided} undecided"
    judged += f", {outcome.vacuous} vacuous" if outcome.vacuous else ""
    judged += f", {len(outcome.troubles)} that raised" if outcome.troubles else ""
    spent = sum(outcome.confirmation_rates)
    candidates = _plural(outcome.candidates, "candidate")
    confirmed = f"{outcome.candidates - outcome.unconfirmed} of {candidates}, by fresh draws or exact values"
    confirmed += f"; the smallest after {_plural(outcome.shrinks, 'step')}" if outcome.shrinks else ""
    took = f"in {numbers.seconds(outcome.seconds)}s, {numbers.count(outcome.draws)} draws"
    return [
        ("tried", f"{_plural(outcome.tried, 'instance')} {took}: {judged}"),
        ("confirmed", confirmed),
        ("error rate", f"a true claim gives a find with probability at most {outcome.rate:g} in all; {spent:.2g} of it was spent"),
        ("repeat", again),
    ]


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _paste(outcome: Hunt, claim: Claim) -> Any:
    return example_line({name: outcome.parameters[name] for name in claim.strategies or outcome.parameters})


def _how_to_repeat(outcome: Hunt, claim: Claim, again: str) -> dict[str, Any]:
    if outcome.found is None:
        return {"repeat": again}
    line = _paste(outcome, claim)
    return {"example": line.text, "imports": list(line.imports), "check": outcome.found.repeat, "repeat": again}


def _again(
    claim: str, paths: Sequence[str], seconds: float | None, tries: int | None, profile: str, seed: int, workers: int | None
) -> str:
    words = ["theoryck", "hunt", claim, *paths]
    words += ["--time", f"{seconds:g}"] if seconds is not None else []
    words += ["--tries", str(tries)] if tries is not None else []
    words += ["--profile", profile, "--seed", str(seed)]
    return shlex.join([*words, *(["--workers", str(workers)] if workers is not None else [])])


class _Progress(Line):
    last = 0.0

    def __call__(self, look: Mapping[str, Any]) -> None:
        if not self.shown or time.monotonic() - self.last < 0.1:
            return
        self.last = time.monotonic()
        left = f"{numbers.seconds(look['left'])}s left: " if look["left"] is not None else ""
        state = "smaller ones of a find" if look["found"] else f"{_plural(look['candidates'], 'candidate')}"
        self.write(clean(f"{look['tried']} tried, {state}, {left}{instance_text(dict(look['instance']))}"))


# Values of arguments as Python code: the line that a reader pastes --------------------------------------------------------------


@dataclass(frozen=True)
class PastedLine:
    """A decorator as code, the imports it needs, and the arguments that could not be written."""

    text: str
    imports: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()


def example_line(parameters: Mapping[str, Any]) -> PastedLine:
    """Return ``@tc.example(...)`` for the arguments of a claim.

    >>> example_line({"k": 4, "noise": Fraction(1, 2)})
    PastedLine(text='@tc.example(k=4, noise=Fraction(1, 2))', imports=('from fractions import Fraction',), unwritten=())
    >>> example_line({"law": object}).unwritten
    ('law',)
    """
    imports: set[str] = set()
    parts, unwritten = [], []
    for name, value in parameters.items():
        code = _code(value, imports)
        if code is None:
            unwritten.append(name)
        parts.append(f"{name}={'...' if code is None else code}")
    return PastedLine(f"@tc.example({', '.join(parts)})", tuple(sorted(imports)), tuple(unwritten))


def _code(value: Any, imports: set[str]) -> str | None:
    """Return an expression whose value it is, or None; what it needs besides ``tc`` is added to ``imports``."""
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

    if isinstance(value, Activation):
        return f'tc.Activation("{value.text}")'
    if isinstance(value, DeepNetwork):
        widths = _code(value.widths, imports)
        return (
            None
            if widths is None
            else f'tc.DeepNetwork(tc.Activation("{value.activation.text}"), depth={value.depth}, widths={widths})'
        )
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Fraction | Decimal):
        imports.add(f"from {type(value).__module__} import {type(value).__name__}")
        return repr(value)
    if isinstance(value, list | tuple):
        codes = [_code(item, imports) for item in value]
        if any(code is None for code in codes):
            return None
        inside = ", ".join(str(code) for code in codes)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(codes) == 1 else ''})"
    return _size_code(value)


def _size_code(value: Any) -> str | None:
    """A width such as ``2*d`` is a product of a size and a number."""
    from theoryck.theory.networks.model import SizeExpression

    if not isinstance(value, SizeExpression):
        return None
    try:
        tree = ast.parse(str(value), mode="eval")
    except SyntaxError:
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    whole = all(isinstance(node.value, int) for node in ast.walk(tree) if isinstance(node, ast.Constant))
    plain = isinstance(tree.body, ast.Name) or (isinstance(tree.body, ast.BinOp) and isinstance(tree.body.op, ast.Mult))
    if len(names) != 1 or not whole or not plain:
        return None
    (name,) = names
    return str(value).replace(name, f'tc.size("{name}")') if str(value).count(name) == 1 else None
