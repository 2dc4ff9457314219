"""``theoryck plan``: what the budget of a profile can see of a claim, before it is spent."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from theoryck.claims.collecting import build_once
from theoryck.cli.common import (
    Usage,
    built_or_usage,
    check_outputs,
    files_of_claims,
    find_claim,
    find_claims,
    profile_option,
    seed_option,
    stdout_style,
    write_json_data,
)
from theoryck.report import numbers
from theoryck.report.claims import clean, instance_text
from theoryck.report.layout import Style, fields, pad, wrap

if TYPE_CHECKING:
    from theoryck.checking.prospects import Prospect
    from theoryck.claims.claim import Claim

MOST_VIOLATION = 100.0  # an exponent; more than any rate is wrong by


@click.command("plan")
@click.argument("claim", required=False)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@profile_option()
@seed_option()
@click.option("--all", "every", is_flag=True, help="Say what checking all claims costs, folder by folder; no CLAIM is named.")
@click.option("--violation", type=float, metavar="X", help="Say what refutes a claim whose exponent is wrong by X.")
@click.option("--power", type=click.FloatRange(0.5, 0.999), default=0.9, show_default=True, help="Probability of the verdict.")
@click.option("--sharing", type=click.IntRange(1), default=1, show_default=True, help="Claims that will share the error rate.")
@click.option("--no-pilot", is_flag=True, help="Take the noise of a draw to be 1 relative to its mean.")
@click.option("--json", "as_json", is_flag=False, flag_value="-", metavar="FILE|-", help="Write the plan to FILE, or print it.")
def command(
    claim: str | None,
    paths: tuple[str, ...],
    every: bool,
    profile: str,
    seed: int,
    violation: float | None,
    power: float,
    sharing: int,
    no_pilot: bool,
    as_json: str | None,
) -> None:
    """Say what the budget of a profile can see of a claim, and what it would take to see more.

    For each instance: sizes, what a draw costs and how much it scatters (a short pilot measures it), the most draws that would be
    taken (a check stops as soon as its verdict is settled), the error of the exponent, the smallest violation that is refuted, and
    the budget that supports a true claim, all with probability --power at the least favourable corrections.  CLAIM is an id, or
    what follows its last slash; claims are looked for in PATH (default: ./proofs).  Without a pilot nothing is drawn, but a sampler
    that declares no cost is timed.  Only exponents are planned, of a Scaling or of a Bound without a constant; a Limit, a Law, an
    Identity or a Bound with a constant is answered with what to do instead.

    With --all, for each folder: the time of one core that the first look takes, about what all take if they are true, and the most.

    \b
    Examples:
      theoryck plan moment-control
      theoryck plan moment-control --violation 0.1 --profile standard
      theoryck plan spectral-gap my_conjecture.py --no-pilot --json -
      theoryck plan --all proofs --profile thorough

    Exit status: 0 the budget can settle every instance; 2 wrong usage; 3 it cannot settle some instance.
    """
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.prospects import plan_claim, predicted
    from theoryck.checking.session import Session
    from theoryck.montecarlo import SamplerError
    from theoryck.quantities import QuantityError

    if violation is not None and not 0 < violation <= MOST_VIOLATION:
        raise Usage(f"--violation must be a positive exponent of at most {MOST_VIOLATION:g}, got {violation:g}")
    if not math.isfinite(power):
        raise Usage(f"--power must lie between 0.5 and 0.999, got {power}")
    if every:
        _plan_all(tuple(path for path in (claim, *paths) if path is not None), profile, seed, as_json)
        return
    if claim is None:
        raise Usage("which claim: give its id, or --all for what checking all of them costs")
    check_outputs({"--json": as_json}, files_of_claims(paths))
    found = find_claim(claim, paths)
    with Session(profile_named(profile), seed, workers=1, claims=sharing) as session:
        with built_or_usage(found):
            build_once(found)
            predicted(found, session)  # its instances are made once, and kept
        try:
            planned = plan_claim(found, session, power=power, violation=violation, pilot=not no_pilot)
        except (SamplerError, QuantityError) as error:  # as a check would: the claim fails, the call was right
            raise click.ClickException(f"{found.id} cannot be measured: {error}") from error
    if not planned:
        raise Usage(_not_planned(found, profile, seed))
    if as_json is None:
        click.echo("\n".join(_text(planned, profile, power, stdout_style())), color=True)
    else:
        data = {"claim": found.id, "profile": profile, "seed": seed, "instances": [entry.to_json() for entry in planned]}
        write_json_data(data, as_json)
    raise SystemExit(3 if any(entry.hopeless and not entry.exact for entry in planned) else 0)


def _plan_all(paths: tuple[str, ...], profile: str, seed: int, as_json: str | None) -> None:
    """Tell what checking every claim costs, by folders; nothing is drawn."""
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.prospects import costs
    from theoryck.checking.session import Session

    check_outputs({"--json": as_json}, files_of_claims(paths))
    claims = find_claims(paths)
    with Session(profile_named(profile), seed, workers=1, claims=len(claims)) as session:
        found = list(costs(claims, session))
    if as_json is not None:
        write_json_data({"profile": profile, "seed": seed, "claims": [asdict(cost) for cost in found]}, as_json)
        return
    rows = [["folder", "claims", "first look", "if true", "at most"]]
    folders = dict.fromkeys(cost.folder for cost in found)
    for name, inside in [*((folder, [cost for cost in found if cost.folder == folder]) for folder in folders), ("in all", found)]:
        times = [math.fsum(getattr(cost, column) for cost in inside) for column in ("least", "usual", "most")]
        rows.append([clean(name), str(len(inside)), *map(numbers.duration, times)])
    style = stdout_style()
    click.echo(style.paint(f"what {profile} costs, in time of one core", "head"), color=True)
    click.echo("\n".join(_aligned(rows, names=1)))
    text = "exponents are planned at even odds, what else is drawn is taken at its most; exact values are not counted"
    click.echo("\n".join(wrap(text, style.width)))


def _not_planned(claim: Claim, profile: str, seed: int) -> str:
    """Say what the claim states, and what to do instead of planning it."""
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.session import Session
    from theoryck.records import Kind

    with Session(profile_named(profile), seed, workers=1) as session:
        statements = [statement for _, statement in session.instances(claim)]
    if not statements:
        return f"{claim.id} has no instance that meets its assumptions: widen its strategies or its assume()"
    names = {
        Kind.IDENTITY: "an identity",
        Kind.LIMIT: "a limit",
        Kind.LAW: "a law",
        Kind.BOUND: "a bound",
        Kind.SCALING: "a scaling",
    }
    first = statements[0]
    what = names[first.kind]
    if getattr(first, "constant", None) is not None and first.kind is Kind.BOUND:
        what = "a bound with a constant"
    elif not first.measured().can_draw:
        what += " of a quantity that is exact and needs no draws"
    return (
        f"{claim.id} states {what}: planned are only exponents that draws could show (of a Scaling, or a Bound without a "
        f"constant); check it, and if it is undecided its reason says how many times the draws would decide: "
        f"theoryck check {os.path.relpath(claim.file)} --only {claim.id} --profile {profile}"
    )


def _text(planned: list[Prospect], profile: str, power: float, style: Style) -> list[str]:
    first = planned[0]
    lines = [style.paint(f"{clean(first.claim)}: what the budget of {profile} can see (probability {power:g})", "head")]
    for number, entry in enumerate(planned, 1):
        title = instance_text(dict(entry.instance))
        lines += ["", *wrap(f"{number}. {title}" if title else f"{number}.", style.width, first="  ", rest="     ")]
        lines += [f"     {line}" for line in _table(entry)]
        lines += ["", *fields(_facts(entry, profile), style, indent=5)]
    return lines


def _table(entry: Prospect) -> list[str]:
    unit = "s/draw" if entry.unit == "seconds" else "numbers/draw"
    heads = [entry.base, unit, "noise/draw" if entry.noise_measured else "noise (assumed)", "draws"]
    rows = [
        [str(size), f"{cost:.3g}", f"{noise:.3g}", numbers.count(draws)]
        for size, cost, noise, draws in zip(entry.sizes, entry.cost, entry.noise, entry.draws, strict=True)
    ]
    return _aligned([heads, *rows])


def _aligned(rows: list[list[str]], names: int = 0) -> list[str]:
    """Return rows as lines of columns, numbers to the right; the first ``names`` columns are names."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(pad(text, width, right=i >= names) for i, (text, width) in enumerate(zip(row, widths))) for row in rows]


def _facts(entry: Prospect, profile: str) -> list[tuple[str, str]]:
    seen = f"the exponent to +/- {entry.stderr:.2g}; a claim wrong by {entry.violation_seen:.2g} or more is refuted"
    if math.isinf(entry.violation_seen):
        seen = "nothing: fewer than three sizes cannot tell an exponent from its corrections"
    rejected = "" if entry.rival is None else f", and its nearest rival, {entry.rival:.3g} away, rejected"
    facts = [
        ("budget", _budget(entry, entry.budget)),
        ("sees", seen),
        ("true claim", f"within {entry.within:.3g} is supported{rejected} by {_budget(entry, entry.support_budget)}"),
    ]
    if math.isinf(entry.support_budget):
        supports = f"no number of draws on these sizes supports it within {entry.within:.3g}{rejected}"
        facts[-1] = ("true claim", f"{supports}: {entry.advice}")
    if entry.violation is not None and entry.violation_budget is not None:
        text = f"is refuted by {_budget(entry, entry.violation_budget)}"
        if math.isinf(entry.violation_budget):
            small = entry.violation <= entry.within
            why = f"it is tolerated, being at most {entry.within:.3g}" if small else "take larger sizes or declare the correction"
            text = f"no number of draws on these sizes refutes it: {why}"
        facts.append((f"wrong by {entry.violation:g}", text))
    if entry.exact:
        facts.append(("exact route", "decides without draws"))
    elif entry.hopeless and math.isfinite(entry.support_budget):
        facts.append(
            (
                "warning",
                f"the budget of {profile} cannot settle this instance: {entry.support_budget / entry.budget:.2g} times could",
            )
        )
    return facts


def _budget(entry: Prospect, budget: float) -> str:
    seconds = f"about {entry.seconds(budget):.2g} s of one core"
    return seconds if entry.unit == "seconds" else f"{budget:.2g} random numbers, {seconds}"
