"""``theoryck prove``: a claim at every size, by certificates that a separate program verifies; files of them verified again."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from theoryck import __version__
from theoryck.cli import INTERRUPTED
from theoryck.cli.common import (
    Line,
    Usage,
    check_outputs,
    files_of_claims,
    find_claim,
    find_claims,
    profile_option,
    seed_option,
    stdout_style,
    write_json_data,
)
from theoryck.cli.options import Whole
from theoryck.report.claims import clean, counted, instance_text

if TYPE_CHECKING:
    from theoryck.checking.session import Session
    from theoryck.claims.claim import Claim
    from theoryck.records import Proof
    from theoryck.report.proofs import Refusal

UNDECIDED = 3
FROM = Whole(1, 10**30, "the format of certificates has none beyond")
CHECKED = (
    "What a certificate says stands after the word.  Which claim it proves, and what follows along a path, theoryck prove says."
)
MOST_NAMED = 8  # claims that are left out
LONGEST = 60  # characters of a value that is echoed
LONGEST_WORD = re.compile(rf"(\S{{{LONGEST - 3}}})\S{{4,}}")
PLACE = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
SHOWS_IT = re.compile(r"['\"]|[-\d.e+]+ (is|leaves) ")  # a reason that begins with the value, perhaps rounded or cut


@click.command("prove")
@click.argument("claim", required=False)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--from",
    "start",
    type=FROM,
    metavar="D",
    help="The first size; the larger, the smaller the constant.",
)
@click.option("--json", "json_path", metavar="FILE|-", help="Write the proofs to FILE as JSON; - prints them and nothing else.")
@click.option("--latex", "latex_path", metavar="FILE|-", help="Write the derivations to FILE as LaTeX, for an appendix.")
@click.option("--check", "checked", multiple=True, metavar="FILE", help="Verify a file's certificates again, and prove nothing.")
@profile_option()
@seed_option()
@click.pass_context
def command(
    ctx: click.Context,
    claim: str | None,
    paths: tuple[str, ...],
    start: int | None,
    json_path: str | None,
    latex_path: str | None,
    checked: tuple[str, ...],
    profile: str,
    seed: int,
) -> None:
    """Prove a bound for every size, not only for those that are measured; nothing is drawn.

    CLAIM is an id, or what follows its last slash, or a file or folder of which all claims are taken whose quantities offer
    proofs.  Claims are looked for in PATH (default: ./proofs).  Each instance of the profile gets a certificate: an explicit
    constant, and the inequalities that it follows from, each proved in ball arithmetic.  What is printed has passed a second
    program that shares no code with the one that found it; --check verifies the certificates of a file by that program again
    and prints what each of them says, which need not be what the file claims of it.  Without --from the first size is the
    smallest of the path or, where growth is claimed, the smallest from which on the method applies.

    \b
    Examples:
      theoryck prove moment-control --from 1024
      theoryck prove my_lemma.py --json proofs.json --latex appendix.tex
      theoryck prove --check proofs.json

    Exit status: 0 all proved (a falsehood: not proved, as it must be), 1 a bound is broken at a size, a falsehood was proved, an
    error ended a claim (the others go on), or with --check a certificate is refused, 2 wrong usage, 3 no proof was found for an
    instance, 130 interrupted.
    """
    if checked:
        if len(checked) > 1:
            raise Usage(f"--check takes one file, got {len(checked)}: {', '.join(checked)}; verify them one after the other")
        if any(ctx.get_parameter_source(name) is not ParameterSource.DEFAULT for name in ctx.params if name != "checked"):
            raise Usage("--check FILE verifies a file and proves nothing: leave the claim and the other options out")
        _check(checked[0])
        return
    if claim is None:
        raise Usage("no claim was named: give one, such as theoryck prove moment-control, a file of claims, or a file to --check")
    for name in (claim, *paths):
        if name.endswith(".json") and Path(name).is_file():
            raise Usage(f"{name} is no file of claims: the certificates of a file are read by theoryck prove --check {name}")
    outputs = {"--json": json_path, "--latex": latex_path}
    taken = (claim, *paths) if Path(claim).exists() else paths
    check_outputs(outputs, files_of_claims(taken))
    wanted = _offering(find_claims(taken), taken) if Path(claim).exists() else [find_claim(claim, paths)]
    quiet = "-" in (json_path, latex_path)
    proofs, refused, finished = _prove(wanted, start, profile, seed, quiet)
    _write(proofs, refused, json_path, latex_path)
    if not finished:
        click.echo(f"interrupted after {len(proofs) + len(refused)} instances", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(_status(wanted, proofs, refused))


def _prove(wanted: list[Claim], start: int | None, profile: str, seed: int, quiet: bool) -> tuple[list[Proof], list[Refusal], bool]:
    """Prove every instance of every claim, and say each as it is found; the last is False where Ctrl-C ended it."""
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.session import Session
    from theoryck.records import Proof
    from theoryck.report.proofs import derivation, refusal, summary

    proofs: list[Proof] = []
    refused: list[Refusal] = []
    false = _falsehoods(wanted)
    style = stdout_style()
    try:
        with Session(profile_named(profile), seed, workers=1) as session:
            for found in _found(wanted, session, start):
                (proofs if isinstance(found, Proof) else refused).append(found)  # type: ignore[arg-type]  # by its kind
                if not quiet:
                    shown = partial(derivation, false=found.claim in false)
                    click.echo((shown(found, style) if isinstance(found, Proof) else refusal(found, style)) + "\n")
    except KeyboardInterrupt:
        return proofs, refused, False
    if not quiet:
        click.echo(summary(proofs, refused, false))
    return proofs, refused, True


def _offering(claims: list[Claim], paths: tuple[str, ...]) -> list[Claim]:
    """Return the claims of which a proof may be found, or which cannot be built; without any the program ends with status 2."""
    from theoryck.claims.collecting import build_once
    from theoryck.claims.statements import Bound, Scaling

    found: list[Claim] = []
    left: list[Claim] = []
    for claim in claims:
        try:
            provable = [each for each in build_once(claim) if isinstance(each, Bound | Scaling) and each.path() is not None]
            offers = any(each.measured().certified_sizes for each in provable)
        except (Exception, SystemExit):  # said in its turn, when its instances are made
            offers = True
        (found if offers else left).append(claim)
    if not found:
        shown = ", ".join(paths)
        raise Usage(f"no claim in {shown} is about a quantity that offers a proof for every size: theoryck check measures them")
    if left:
        named = ", ".join(claim.id for claim in left[:MOST_NAMED]) + (", ..." if len(left) > MOST_NAMED else "")
        click.echo(f"{counted(len(left), 'claim')} left out, of which no proof is known: {named}", err=True)
    return found


def _falsehoods(wanted: list[Claim]) -> set[str]:
    from theoryck.records import Status

    return {claim.id for claim in wanted if claim.status is Status.FALSEHOOD}


def _found(wanted: list[Claim], session: Session, start: int | None) -> Iterator[Proof | Refusal]:
    from theoryck.checking.interrupts import came_from_ctrl_c
    from theoryck.claims.claim import describe_instance
    from theoryck.claims.collecting import explain
    from theoryck.proving.prove import proved_or_broken
    from theoryck.quantities import NoCertificate
    from theoryck.report.proofs import Refusal

    def failed(claim: Claim, error: BaseException, instance: dict[str, Any], what: str = "") -> Refusal:
        if came_from_ctrl_c(error):
            raise KeyboardInterrupt from error
        return Refusal(claim.id, instance, what + explain(error, claim.file), failed=True)

    for claim in wanted:
        try:
            instances = session.instances(claim)
        except (Exception, SystemExit) as error:
            yield failed(claim, error, {}, "it cannot be built: ")
            continue
        for number, (parameters, statement) in enumerate(instances, 1):
            instance = describe_instance(parameters)
            with Line() as line:
                line.write(f"{claim.id} {number}/{len(instances)}: {instance_text(instance)}; Ctrl-C stops")
                try:
                    found: Proof | Refusal = proved_or_broken(statement, parameters, start=start, claim=claim)
                except NoCertificate as error:
                    found = Refusal(claim.id, instance, str(error), error.breaks)
                except (Exception, SystemExit) as error:
                    found = failed(claim, error, instance)
            yield found


def _write(proofs: list[Proof], refused: list[Refusal], json_path: str | None, latex_path: str | None) -> None:
    from theoryck.report.json import ReportFileError, write_text
    from theoryck.report.proofs import render_latex

    if json_path is not None:
        left = [
            {"claim": r.claim, "instance": dict(r.instance), "reason": r.reason, "breaks": r.breaks, "failed": r.failed}
            for r in refused
        ]
        write_json_data({"theoryck": __version__, "proofs": [proof.to_json() for proof in proofs], "refused": left}, json_path)
    try:
        if latex_path is not None:
            write_text(render_latex(proofs), latex_path)
    except ReportFileError as error:
        raise Usage(f"--latex: {error}") from error


def _status(wanted: list[Claim], proofs: list[Proof], refused: list[Refusal]) -> int:
    false = _falsehoods(wanted)
    wrong = any(each.failed or (each.breaks is not None and each.claim not in false) for each in refused)
    if wrong or any(proof.claim in false for proof in proofs):
        return 1
    return UNDECIDED if any(each.claim not in false for each in refused) else 0


# -- files that are verified again ---------------------------------------------------------------------------------------------


def _check(path: str) -> None:
    """Verify every certificate of a file by the checker, and end with status 1 where one is refused."""
    from theoryck.proving import checker

    entries = _entries(path)
    failed = 0
    for number, entry in enumerate(entries, 1):
        name = _name(entry, number)
        certificate = entry.get("certificate", entry) if isinstance(entry, dict) else entry
        try:
            click.echo(f"{name}: verified: {clean(checker.check(certificate))}")
        except checker.Refused as error:
            failed += 1
            click.echo(f"{name}: REFUSED: {_reason(str(error), certificate)}")
    click.echo(f"{len(entries) - failed} of {len(entries)} certificates verified.")
    click.echo(CHECKED)
    sys.exit(1 if failed else 0)


def _entries(path: str) -> list[Any]:
    """Return what a file holds as certificates: a file of this program, one certificate, or a list of them."""
    from theoryck.report.json import parse_strictly

    try:
        data = parse_strictly(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Usage(f"{path} is no file of certificates: it is not JSON ({error})") from error
    except ValueError as error:
        raise Usage(f"{path} is no file of certificates: {error}") from error
    entries = data.get("proofs", [data]) if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise Usage(f"{path} is no file of certificates: theoryck prove CLAIM --json FILE writes one")
    if not entries:
        raise Usage(f"{path} holds no proof: nothing is there to verify")
    return entries


def _name(entry: Any, number: int) -> str:
    """Return what a file calls an entry, on one line; in quotes where it could be read as what the program says of it."""
    claim = str(entry.get("claim", "")) if isinstance(entry, dict) else ""
    instance = entry.get("instance") if isinstance(entry, dict) else None
    shown = clean(claim) or f"certificate {number}"
    name = f"{shown} ({instance_text(instance)})" if instance and isinstance(instance, dict) else shown
    return repr(name) if ":" in name else name


def _reason(reason: str, certificate: Any) -> str:
    """Return why a certificate is refused, on one line, with the value of the field where the sentence does not show it.

    >>> _reason("constant: it is not positive", {"constant": "0"})
    'constant: it is not positive, got "0"'
    """
    from theoryck.report.json import shown

    field, _, why = reason.partition(": ")
    try:
        values = [_at(certificate, name) for name in (("quantity", "method") if field == "quantity" else (field,))]
    except (KeyError, IndexError, TypeError):  # missing, or no place of it
        values = []
    says_it = SHOWS_IT.match(why) is not None or not values
    for value in values:
        for text in (repr(value), str(value)):
            says_it |= text in why and not why.startswith("it ")
            why = why.replace(text, shown(value)) if len(text) > LONGEST else why
    got = "" if says_it else f", got {shown(values[0])}"
    return LONGEST_WORD.sub(r"\1...", clean(f"{field}: {why}{got}"))


def _at(certificate: Any, field: str) -> Any:
    """Return the value at a place such as ``proof.layers[0].slope``."""
    value = certificate
    for name, index in PLACE.findall("" if field == "certificate" else field):
        value = value[int(index)] if index else value[name]
    return value
