"""``theoryck audit``: anyone's table of sizes, values and error bars against a claimed rate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theoryck.cli.common import Usage, check_outputs, stdout_style, write_report
from theoryck.cli.options import Choice, Rational
from theoryck.report.claims import clean

if TYPE_CHECKING:
    from theoryck.auditing.tables import Measurements, Part, Roles
    from theoryck.records import Result


@click.command("audit")
@click.argument("data", metavar="DATA")
@click.option("--rate", metavar="RATE", help='The claimed rate, such as "d**(-1/2)"; without it the exponent is measured.')
@click.option(
    "--kind",
    type=Choice(["bound", "scaling", "order", "loss-law"]),
    default="bound",
    show_default=True,
    help="Values are at most a constant times the rate, or follow it; or errors of a method of that order, without noise; or "
    "E + A/N^a + B/D^b, a term a size.",
)
@click.option("--limit", metavar="X|unknown", help="What the values tend to; the rate is then that of the difference.")
@click.option(
    "--size", multiple=True, metavar="COL", help="Column of a size, or NAME=COL where the rate calls it NAME; repeatable."
)
@click.option(
    "--toward",
    multiple=True,
    metavar="0|inf",
    help="Where the sizes go, or NAME=0 for one of them.  [default: as their names or the rate show]",
)
@click.option(
    "--value", multiple=True, metavar="COL", help='Column of the values; repeatable.  [default: "value", else the one that is left]'
)
@click.option(
    "--stderr",
    metavar="COL",
    help='Column of the standard errors, or one number for every row; 0 is exact.  [default: "stderr", if there]',
)
@click.option("--interval", nargs=2, metavar="LOW HIGH", help='Columns of confidence limits.  [default: "ci_low", "ci_high"]')
@click.option("--interval-level", type=click.FloatRange(0.5, 0.9999), default=0.95, show_default=True, help="Their level.")
@click.option(
    "--std", nargs=2, metavar="STD COUNT", help='Columns of standard deviations and numbers of runs.  [default: "std", "count"]'
)
@click.option("--columns", metavar="A,B,...", help="Names of the columns, where DATA has no line that names them.")
@click.option("--digits", metavar="N|exact", help="Significant digits of the values.  [default: as written]")
@click.option("--floor", type=float, metavar="X", help="What no value is known better than, such as a solver's tolerance.")
@click.option("--where", multiple=True, metavar="COND", help="Rows that count: k=1, k!=1, k<3, k>=2; repeatable.")
@click.option("--from", "first", multiple=True, metavar="X", help="The smallest size that counts; NAME=X if there are several.")
@click.option("--to", "last", multiple=True, metavar="X", help="The largest size that counts; NAME=X if there are several.")
@click.option("--by", multiple=True, metavar="COL", help="A verdict for each value of this column; repeatable.")
@click.option("--replicate", multiple=True, metavar="COL", help="A column that numbers repetitions, as seed does; repeatable.")
@click.option("--against", metavar="COL", help="Judge the values over those of this column: do they decay as fast?  Rate 1.")
@click.option("--against-stderr", default="0", show_default=True, metavar="COL", help="Standard errors of that column.")
@click.option(
    "--statistic",
    default="mean",
    metavar="STAT",
    help="What rows of equal sizes say: median, quantile(p), variance, std or probability.  [default: their mean]",
)
@click.option(
    "--correction",
    type=Rational("the correction"),
    metavar="W",
    help="Relative power of the next term: A d^s (1 + B d^-W + ...); of an order 1, or 2 if all powers are even.",
)
@click.option(
    "--amplitude",
    type=float,
    metavar="A",
    help="Size of that term at the coarsest size.  [default: 2 d^-W; without a unit 0.6; for an order 1]",
)
@click.option(
    "--constant",
    type=float,
    metavar="C",
    help="The constant of the claim: a bound is then value <= C * rate, with its sign, at every size.",
)
@click.option("--rival", multiple=True, metavar="RATE", help="A faster (scaling: another) rate that must be rejected; repeatable.")
@click.option("--within", type=float, metavar="X", help="Tolerated discrepancy of an exponent.  [default: 0.05, order: 0.25]")
@click.option("--false-refute-rate", type=float, default=0.01, show_default=True, help="Chance to refute a true claim.")
@click.option("--false-support-rate", type=float, default=0.025, show_default=True, help="Chance to support one wrong by --within.")
@click.option("--format", "format_", type=Choice(["csv", "tsv", "jsonl"]), help="Format of DATA.  [default: by its ending]")
@click.option("--strict", is_flag=True, help="Exit with 1 where a verdict is INCONCLUSIVE; needs a claim.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the report to FILE; - prints it and nothing else.")
@click.option("--plot", metavar="FILE", help="Draw a picture of the first verdict into FILE (.png, .svg or .pdf).")
def command(
    data: str, rate: str | None, format_: str | None, json_path: str | None, plot: str | None, strict: bool, **options: Any
) -> None:
    """Judge a table of sizes, values and error bars against a rate, or measure its exponent.

    A bound is |value| = O(RATE), whatever the sign of the values; with --constant C it is value <= C * RATE, with the sign.  The
    constant that is shown is value/RATE at the largest size, also where values decay faster (LOOSE).

    DATA is a CSV, TSV or JSON-lines file whose first line names the columns; - reads standard input.  Either one row a size with
    its value and standard error, or a row for each replicate: rows of equal sizes without standard errors give the error
    by their scatter.  With neither, the error comes from the scatter about the fit.

    \b
    Examples:
      theoryck audit runs.csv --rate "d**(-1/2)"
      theoryck audit errors.txt --kind order --rate 2 --by method
      theoryck audit grids.txt --limit unknown --toward 0 --rate "h**2"
      theoryck audit losses.csv --kind loss-law --size N --size D --value loss
      theoryck audit runs.csv --rate "sqrt(n/d)" --kind scaling --value loss --rival "n/d"
      theoryck audit seeds.jsonl --size width --value error --where "lr<0.1" --plot error.png
      cat runs.tsv | theoryck audit - --rate 1/d --json -

    Exit status: 0 supported, undecided or only measured; 1 refuted or vacuous, or a rival that holds as well, or with --strict
    undecided; 2 wrong usage.
    """
    from theoryck import __version__
    from theoryck.rates.unknown import Unknown
    from theoryck.records import Report
    from theoryck.report.audits import render, summary

    _check_outputs(data, json_path, plot)
    try:
        claimed = rate is not None and Unknown.of(rate) is None
        judged = claimed or (rate is None and options["against"] is not None) or options["limit"] is not None
        if strict and not judged and options["kind"] != "loss-law":
            raise Usage("--strict needs --rate or --limit: where the exponent is measured nothing is decided")
        audited = _audited(data, rate, format_, options)
    except ValueError as error:
        raise Usage(str(error)) from error
    repeat = _repeat(data, rate, format_, options)
    results = tuple(replace(result, repeat=repeat) for _, result in audited)
    report = Report("audit", results[0].seed, results, __version__, strict=strict)
    if plot is not None:
        _draw(results[0], plot)
    problems = write_report(report, json_path, None)
    if json_path != "-":
        ordered = options["kind"] == "order"
        texts = [
            render(result, _rows(result, ordered), measured.notes, stdout_style(), ordered=ordered)
            for (measured, _), result in zip(audited, results)
        ]
        click.echo("\n\n".join([*texts, *([summary(results, stdout_style())] if len(results) > 1 else [])]), color=True)
    else:
        for note in dict.fromkeys(note for measured, _ in audited for note in measured.notes):
            click.echo(f"note: {clean(note)}", err=True)
    if problems:
        raise Usage("\n".join(problems))
    sys.exit(report.exit_code)


def _check_outputs(data: str, json_path: str | None, plot: str | None) -> None:
    """Say what cannot be written, or would overwrite what is read, before anything is read."""
    check_outputs({"--json": json_path, "--plot": plot}, [("table that is read", data)])
    if plot is None:
        return
    from theoryck.report.plots import PlotError, check_plot

    try:
        check_plot(plot)
    except PlotError as error:
        raise Usage(str(error)) from error


def _audited(data: str, rate: str | None, format_: str | None, options: dict[str, Any]) -> list[tuple[Measurements, Result]]:
    from theoryck.auditing.audit import audit_rows
    from theoryck.auditing.declared import default_within
    from theoryck.auditing.orders import names_in
    from theoryck.auditing.selecting import Selection
    from theoryck.auditing.tables import choose_columns, read_parts
    from theoryck.records import Contract

    within = default_within(options["kind"]) if options["within"] is None else options["within"]
    contract = Contract(options["false_refute_rate"], options["false_support_rate"], within)
    against = options["against"]
    rate = "1" if rate is None and against is not None else rate
    selection = Selection(*(options[name] for name in ("where", "by", "first", "last", "replicate")))

    def choose(header: Sequence[str]) -> list[Roles]:
        values = [name for given in options["value"] for name in ([given] if given in header else given.split(","))]
        asked = [(value, options["stderr"]) for value in values or [None]]
        if against is not None:
            values, asked = [*values, against], [*asked, (against, options["against_stderr"])]
        return [
            choose_columns(
                header,
                size=options["size"],
                value=value,
                stderr=stderr,
                needed=names_in(rate, options["kind"], header),
                source=_source(data),
                interval=options["interval"] or None,
                level=options["interval_level"],
                std=options["std"] or None,
                besides=[*selection.columns(header), *(other for other in values if other != value)],
            )
            for value, stderr in asked
        ]

    names = [name.strip() for name in (options["columns"] or "").split(",") if name.strip()]
    parts = read_parts(data, choose, format=format_, selection=selection, digits=_digits(options["digits"]), names=names)
    if against is not None:
        parts = _quotients(parts, against)
    audited = []
    for part in parts:
        result = audit_rows(
            part.measured,
            rate,
            options["kind"],
            correction=None if options["correction"] is None else float(options["correction"]),
            amplitude=options["amplitude"],
            constant=options["constant"],
            rivals=options["rival"],
            toward=_toward(options["toward"]),
            contract=contract,
            floor=options["floor"],
            statistic=options["statistic"],
            limit=options["limit"],
            name="data" if data == "-" else Path(data).stem,
        )
        audited.append((part.measured, replace(result, instance=dict(part.labels))))
    return audited


def _quotients(parts: list[Part], against: str) -> list[Part]:
    """Return each part over the one that it is compared with, which comes last among those with the same labels."""
    from theoryck.auditing.columns import over

    found, waiting = [], []
    for part in parts:
        if part.measured.value_name != against:
            waiting.append(part)
            continue
        found += [replace(each, measured=over(each.measured, part.measured)) for each in waiting]
        waiting = []
    return found


def _digits(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() else text


def _toward(given: tuple[str, ...]) -> Any:
    """Return one word for all sizes, or a mapping by name."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    pairs = [text.partition("=") for text in given]
    for name, equals, end in pairs:
        if not (equals and name.strip() and end.strip()):
            raise ValueError(f"--toward must be 0, inf or, for each of several sizes, NAME=0 or NAME=inf, got {given[0]!r}")
    return {name.strip(): end for name, _, end in pairs} or None


def _source(data: str) -> str:
    return "standard input" if data == "-" else data


def _rows(result: Result, ordered: bool) -> list[Any]:
    from theoryck.auditing.directions import local_slopes, ratios
    from theoryck.judging.case import Claimed
    from theoryck.records import Kind, Toward
    from theoryck.report.audits import Row

    if result.prediction is not None and result.prediction.kind is Kind.LIMIT:  # what is left of an unknown limit has no slope
        return [Row(point.sizes, point.estimate) for point in result.points if point.estimate is not None]
    claimed = None if result.prediction is None else Claimed.of(result.prediction).rate
    # Of an order they are positive where errors fall.
    sign = -1 if ordered and result.prediction is not None and result.prediction.toward is Toward.INFINITY else 1
    slopes = [None if slope is None else (sign * slope.exponent, slope.stderr) for slope in local_slopes(result.points, claimed)]
    return [
        Row(point.sizes, point.estimate, ratio, slope)
        for point, ratio, slope in zip(result.points, ratios(result), slopes)
        if point.estimate is not None
    ]


def _draw(result: Result, path: str) -> None:
    from theoryck.report.plots import PlotError, draw, traces

    try:
        draw(result, traces(result), path)
    except PlotError as error:
        raise Usage(str(error)) from error


_PAIRS = ("interval", "std")  # options of two columns
_NAMES = {"first": "from", "last": "to"}


def _repeat(data: str, rate: str | None, format_: str | None, options: dict[str, Any]) -> str:
    words = ["theoryck", "audit", data]
    given: list[tuple[str, Any]] = [("rate", rate), *options.items(), ("format", format_)]
    usual = {parameter.name: parameter.get_default(click.Context(command)) for parameter in command.params}
    for name, value in given:
        if name in _PAIRS:
            words += [f"--{name}", *value] if value else []
            continue
        for item in value if isinstance(value, tuple) else (value,):
            if item is not None and item != usual.get(name):
                words += [f"--{_NAMES.get(name, name).replace('_', '-')}", str(item).removesuffix(".0")]
    return shlex.join(words) + (" < FILE # FILE: the rows that were piped in, saved" if data == "-" else "")
