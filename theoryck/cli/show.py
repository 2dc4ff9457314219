"""``theoryck show``: one claim in full."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import click

from theoryck.claims.collecting import build_once
from theoryck.cli.common import built_or_usage, find_claim, profile_option, seed_option, stdout_style
from theoryck.report import numbers
from theoryck.report.claims import clean, instance_text, measured
from theoryck.report.layout import Style, fields, wrap

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim
    from theoryck.claims.statements import Statement
    from theoryck.records import Prediction


@click.command("show")
@click.argument("claim")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@profile_option()
@seed_option()
def command(claim: str, paths: tuple[str, ...], profile: str, seed: int) -> None:
    """Show one claim in full, without measuring anything.

    Its statement and setting, what is generated, what each instance of the profile measures and predicts, its rivals, its
    reference and where it is made.  CLAIM is an id, or what follows its last slash.  Claims are looked for in PATH (default:
    ./proofs).

    \b
    Examples:
      theoryck show camilli2025/moment-control
      theoryck show moment-control --profile standard
      theoryck show spectral-gap my_conjecture.py

    Exit status: 0 shown; 2 wrong usage, or a claim that cannot be built.
    """
    found = find_claim(claim, paths)
    click.echo("\n".join(_head(found, stdout_style()) + _instances(found, profile, seed, stdout_style())))


def _head(claim: Claim, style: Style) -> list[str]:
    lines = [style.paint(f"{clean(claim.id)} ({claim.status.value})", "head")]
    lines += wrap(clean(claim.statement) or "(no docstring)", style.width, first="  ")
    more = inspect.cleandoc(claim.doc).partition("\n")[2].strip("\n")
    lines += [f"  {line}".rstrip() for line in more.splitlines()]
    generated = "; ".join(f"{name} from {clean(strategy)}" for name, strategy in claim.strategies.items())
    facts = [("reference", clean(claim.reference or "")), ("made in", claim.place), ("generated", _at_most(generated, 400))]
    lines += ["", *fields(facts, style, whole=("made in",))]
    if claim.setting:
        lines += ["", style.paint("Setting of the file", "head"), *(f"  {line}".rstrip() for line in claim.setting.splitlines())]
    if claim.folder_setting:
        text = claim.folder_setting.splitlines()
        lines += ["", style.paint("Setting of the folder", "head"), *(f"  {line}".rstrip() for line in text)]
    return lines


def _at_most(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def _instances(claim: Claim, profile: str, seed: int, style: Style) -> list[str]:
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.session import Session

    with Session(profile_named(profile), seed, workers=1) as session, built_or_usage(claim):
        build_once(claim)
        instances = claim.instances(session.profile.instances, claim.structure_seed(session.seed))
    lines = ["", style.paint(f"Instances under {profile}, seed {seed}", "head")]
    if not instances:
        return [*lines, "  none meets the assumptions: checked, the claim would be VACUOUS"]
    for number, (parameters, statement) in enumerate(instances, 1):
        lines += _instance(claim, number, parameters, statement, style)
    file = claim.place.rpartition(":")[0]
    return [*lines, "", "Check it with", f"  theoryck check {file} --only '{claim.id}' --profile {profile} --seed {seed}"]


def _instance(claim: Claim, number: int, parameters: dict[str, Any], statement: Statement, style: Style) -> list[str]:
    from theoryck.claims.claim import describe_instance

    with built_or_usage(claim):
        prediction = statement.prediction(parameters)
    title = instance_text(describe_instance(parameters))
    lines = wrap(f"{number}. {title}" if title else f"{number}.", style.width, first="  ", rest="     ")
    return lines + fields(_facts(prediction), style, indent=5)


def _facts(prediction: Prediction) -> list[tuple[str, str]]:
    path = ", ".join(f"{clean(name)} = {clean(size)}" for name, size in prediction.path.items())
    predicted = []
    if prediction.rate is not None:
        predicted.append(f"rate {_at_its_arguments(prediction.rate, prediction)}")
    if prediction.exponent is not None:
        predicted.append(f"exponent {numbers.plain(prediction.exponent)}")
    if prediction.value is not None:
        predicted.append(f"value {numbers.enclosed(prediction.value, 15)}")
    if prediction.constant is not None:
        predicted.append(f"constant {numbers.plain(prediction.constant)}")
    if prediction.tolerance is not None:
        predicted.append(f"tolerance {clean(prediction.tolerance)}")
    correction = f"next term smaller by {clean(prediction.base)}^-{prediction.correction:g}" if prediction.correction else ""
    return [
        (prediction.kind.value, measured(prediction)),
        ("predicts", ", ".join(predicted)),
        ("rivals", ", ".join(_at_its_arguments(rival, prediction) for rival in prediction.rivals)),
        ("along", path),
        ("assuming", correction),
    ]


def _at_its_arguments(rate: str, prediction: Prediction) -> str:
    """Return a rate as it was written and, where it names arguments of the claim, also with their values.

    >>> from theoryck.records import Kind, Prediction
    >>> _at_its_arguments("d**(-k/2)", Prediction(Kind.BOUND, "Q", parameters={"k": "3"}))
    'd**(-k/2) = d**(-3/2)'
    """
    from theoryck.rates import Rate

    if not set(re.findall(r"\w+", rate)) & set(prediction.parameters):
        return clean(numbers.shorter(rate))
    return f"{clean(rate)} = {Rate.parse(rate, **prediction.parameters)}"
