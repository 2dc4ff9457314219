"""``theoryck measure``: one quantity at one instance, by every route it offers."""

from __future__ import annotations

import difflib
import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theoryck.cli.types import INTERRUPTED, Whole, interruptible, tell

if TYPE_CHECKING:
    from theoryck.montecarlo import Moments
    from theoryck.quantities import Quantity
    from theoryck.records import Bracket, Enclosure, Estimate

FALSE_ALARM = 6e-5
"""Probability with which two right routes are said to disagree: 4 standard errors where the mean is Gaussian."""

MANY_NUMBERS = 2e8
"""Random numbers (about two seconds) from which starting worker processes pays; the results do not depend on it."""

LEAST_POWER = Decimal("1e-3")

_INTEGERS = re.compile(r"[0-9]+(,[0-9]+)*,?")


@dataclass(frozen=True)
class Instance:
    """What the options say: the arguments from which a quantity is built."""

    activation: str
    widths: tuple[int, ...]
    power: int | Fraction


Builder = Callable[[Instance], "Quantity"]


def _network(instance: Instance) -> Any:
    from theoryck.models import Activation, DeepNetwork, ExpressionError

    try:
        phi = Activation(instance.activation)
    except ExpressionError as error:
        raise click.BadParameter(str(error), param_hint="--activation") from error
    return DeepNetwork(phi, depth=len(instance.widths) - 1, widths=instance.widths)


def _norm_deviation(instance: Instance) -> Quantity:
    from theoryck.quantities import norm_deviation

    return norm_deviation(_network(instance), power=instance.power)


def _overlap_moment(instance: Instance) -> Quantity:
    from theoryck.quantities import overlap_moment

    return overlap_moment(_network(instance), power=instance.power)


BUILDERS: dict[str, tuple[Builder, str]] = {
    "norm-deviation": (_norm_deviation, "E | |x_L|^2 - sigma_L |^k"),
    "overlap-moment": (_overlap_moment, "E | x_mu . x_nu |^k"),
}


class _SeveralIntegers(click.Command):
    """A command whose option ``--widths`` takes all the integers that follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the integers after ``--widths`` with commas before click parses."""
        joined: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            joined.append(word)
            if word == "--":
                joined += rest
                break
            if word == "--widths" or word.startswith("--widths="):
                values = [word.partition("=")[2]] if "=" in word else []
                while rest and _INTEGERS.fullmatch(rest[0]):
                    values.append(rest.pop(0))
                if values:
                    joined[-1:] = ["--widths", ",".join(value.strip(",") for value in values)]
        return super().parse_args(ctx, joined)


class _Widths(click.ParamType):
    name = "integers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        if not _INTEGERS.fullmatch(value):
            self.fail(
                f"{value!r} is not a list of integers: write --widths 64 128 64 or --widths 64,128,64, input first", param, ctx
            )
        widths = tuple(int(part) for part in value.split(",") if part)
        if min(widths) < 1:
            self.fail(f"a width must be at least 1, got {min(widths)} in {value!r}", param, ctx)
        return widths


class _Power(click.ParamType):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Fraction:
        if isinstance(value, int | Fraction):
            return value
        from theoryck.quantities.network import LARGEST_POWER

        above, _, below = value.partition("/")
        try:
            # Compared as decimals: a Fraction of 1e-999999999 would first be written out.
            parts = [Decimal(above), Decimal(below or 1)]
            size = parts[0] / parts[1]
        except (InvalidOperation, ZeroDivisionError):
            size = Decimal("NaN")
        except Overflow:
            size = Decimal("Infinity")
        if size.is_nan():
            self.fail(f"{value!r} is not a number: write 4, 2.5 or 5/2", param, ctx)
        if not size > 0:
            self.fail(f"the power must be > 0, got {value}", param, ctx)
        if size > LARGEST_POWER:
            self.fail(
                f"the power must be at most {LARGEST_POWER}, got {value}: no number of float64 draws sees the tail that rules a "
                "higher moment, and the cost of the exact value grows with the power",
                param,
                ctx,
            )
        if size < LEAST_POWER or any(abs(part.adjusted()) > 30 for part in parts):
            self.fail(f"the power must be at least {LEAST_POWER}, got {value}", param, ctx)
        power = Fraction(parts[0]) / Fraction(parts[1])
        return int(power) if power.denominator == 1 else power


def _builder(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value not in BUILDERS:
        close = difflib.get_close_matches(value, BUILDERS, n=2, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(BUILDERS)}"
        raise click.BadParameter(f"no quantity is called {value!r}; {hint}", ctx, param)
    return value


@click.command("measure", cls=_SeveralIntegers)
@click.argument("quantity", callback=_builder, metavar="QUANTITY")
@click.option("--activation", required=True, help='phi as a formula in x ("atan(x)") or a name from the catalogue ("tanh").')
@click.option("--widths", required=True, type=_Widths(), metavar="N...", help="Widths d_0 d_1 ... d_L, input first.")
@click.option("--power", type=_Power(), default="2", show_default=True, help="The power k, 0 < k <= 64.")
@click.option("--draws", type=Whole(0), default=100_000, show_default=True, help="Monte Carlo draws, such as 1e5; 0 for none.")
@click.option("--digits", type=Whole(1, 1000), default=20, show_default=True, help="Digits of the exact value.")
@click.option("--exact/--no-exact", default=True, help="Whether to compute the exact value.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--workers", type=Whole(1), help="Worker processes; the results do not depend on it.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result to FILE as JSON; - prints it and nothing else.")
@interruptible
def command(
    quantity: str,
    activation: str,
    widths: tuple[int, ...],
    power: int | Fraction,
    draws: int,
    digits: int,
    exact: bool,
    seed: int,
    workers: int | None,
    json_path: str | None,
) -> None:
    """Measure QUANTITY, norm-deviation or overlap-moment, at one instance by every route it offers.

    norm-deviation is E | |x_L|^2 - sigma_L |^k and overlap-moment is E | x_mu . x_nu |^k, for the random network
    x_0 ~ N(0, I/d_0), x_l = phi(W_l x_{l-1}) / sqrt(d_l).  The exact value is an enclosure, the other a Monte Carlo mean with its
    standard error; they share no code, so that a disagreement means a bug.

    \b
    Examples:
      theoryck measure norm-deviation --activation "atan(x)" --widths 64 128 64 --power 4
      theoryck measure overlap-moment --activation tanh --widths 32,32 --power 2 --draws 1000000 --json -

    Exit status: 0 the routes agree, or there is nothing to compare, 1 they disagree, 2 wrong usage, 130 interrupted.
    """
    _check_writable(json_path)
    measured = _build(BUILDERS[quantity][0], Instance(activation, widths, power))
    tell("computing the exact value; Ctrl-C stops, --no-exact leaves it out" if exact else "the exact value is left out")
    value, without = _exact(measured, digits) if exact else (None, "not asked for (--no-exact)")
    tell(f"drawing {draws} times; Ctrl-C stops and shows what was drawn")
    moments, interrupted = _draw(measured, quantity, draws, seed, workers)
    estimate = None if moments is None else moments.estimate()
    comparison = _compare(measured, value, estimate)
    if json_path is not None:
        _write(json_path, _as_json(quantity, measured, widths, value, estimate, seed))
    if json_path != "-":
        click.echo("\n".join(_lines(quantity, measured, widths, value, without, estimate, seed, comparison)))
    if interrupted:
        click.echo(f"interrupted after {moments.count if moments else 0} of {draws} draws", err=True)
        sys.exit(INTERRUPTED)
    if comparison.disagree:
        sys.exit(1)


def _build(builder: Builder, instance: Instance) -> Quantity:
    from theoryck.exact.balls import ExactError

    try:
        measured = builder(instance)
        measured.sampler({})  # needs sigma_L, which an activation may not have: then there is nothing to measure
    except ExactError as error:
        raise click.BadParameter(str(error), param_hint="--activation") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return measured


def _exact(measured: Quantity, digits: int) -> tuple[Enclosure | Bracket | None, str]:
    """Return the exact value, or None and why there is none."""
    from theoryck.exact.balls import ExactError
    from theoryck.quantities.network import NetworkMoment

    if not measured.can_exact:
        return None, "this quantity has no exact route"
    try:
        value = measured.exact({}, digits)
    except ExactError as error:
        return None, str(error)
    reason = measured.why_not_exact({}, digits) if value is None and isinstance(measured, NetworkMoment) else None
    return value, reason or "there is no exact route for this instance"


def _draw(measured: Quantity, name: str, draws: int, seed: int, workers: int | None) -> tuple[Moments | None, bool]:
    """Return the moments (None for no draw) and whether Ctrl-C cut them short."""
    from theoryck.montecarlo import Key, SamplerError, WorkerDied, make_executor, sample

    if draws == 0:
        return None, False
    few = draws * (measured.cost({}) or math.inf) < MANY_NUMBERS
    with make_executor(1 if workers is None and few else workers) as executor:
        try:
            moments = sample(
                measured.sampler({}),
                Key(seed, f"measure/{name}", measured.parameters, {}),
                draws=draws,
                block_draws=measured.block_draws({}),
                executor=executor,
            )
        except KeyboardInterrupt as error:
            return getattr(error, "partial", None), True
        except (SamplerError, WorkerDied) as error:
            raise click.UsageError(f"the draws failed: {str(error).partition(chr(10))[0]}") from error
    return moments, False


@dataclass(frozen=True)
class Comparison:
    """Whether the two routes disagree, and the sentence that says so."""

    disagree: bool = False
    text: str = ""


def _compare(measured: Quantity, value: Enclosure | Bracket | None, estimate: Estimate | None) -> Comparison:
    """Compare the estimate with the exact value or the bracket, by the rule of the judge."""
    from theoryck.rates.evidence import compare_routes
    from theoryck.records import Bracket, Enclosure, Point

    if value is None or estimate is None:
        return Comparison()
    if not math.isfinite(estimate.stderr):
        return Comparison(text="not compared: one draw has no error bar")
    needed = measured.draws_to_compare({})
    if estimate.draws < needed:
        many = f"about {needed:.2g} draws would be needed" if needed < 1e12 else "no number of draws in reach would do"
        return Comparison(text=f"not compared: so few draws may not have seen the tail ({many})")
    exact = value if isinstance(value, Enclosure) else None
    bracket = value if isinstance(value, Bracket) else None
    found = compare_routes([Point({}, estimate, exact, bracket)], FALSE_ALARM)
    if found is None:
        return Comparison()
    if bracket is not None and found.pull <= 0:
        return Comparison(text="the two routes agree: the estimate lies in the bracket")
    where = f"{found.pull:.1f} sigma {'outside the bracket' if bracket is not None else 'apart'} (limit {found.limit:.1f})"
    if found.found:
        return Comparison(True, f"THE TWO ROUTES DISAGREE: {where}; this means a bug, please report it")
    if exact is not None and says_nothing(exact):
        return Comparison(text="the comparison decides nothing: the exact value carries no information at these widths")
    return Comparison(text=f"the two routes agree: {where}")


def _as_json(
    name: str, measured: Quantity, widths: tuple[int, ...], value: Enclosure | Bracket | None, estimate: Estimate | None, seed: int
) -> dict[str, Any]:
    from theoryck.records import Bracket, Enclosure

    return {
        "quantity": name,
        "instance": _instance(measured, widths),
        "exact": value.to_json() if isinstance(value, Enclosure) else None,
        "estimate": None if estimate is None else estimate.to_json(),
        "bracket": value.to_json() if isinstance(value, Bracket) else None,
        "seed": seed,
    }


def _instance(measured: Quantity, widths: tuple[int, ...]) -> dict[str, Any]:
    parameters = {key: entry for key, entry in measured.parameters.items() if key not in ("quantity", "depth")}
    return parameters | {"widths": list(widths)}


def _lines(
    name: str,
    measured: Quantity,
    widths: tuple[int, ...],
    value: Enclosure | Bracket | None,
    without: str,
    estimate: Estimate | None,
    seed: int,
    comparison: Comparison,
) -> list[str]:
    from theoryck.records import Bracket

    instance = _instance(measured, widths)
    shown = ", ".join(f"{key} {' '.join(map(str, entry)) if isinstance(entry, list) else entry}" for key, entry in instance.items())
    lines = [f"{name}: {BUILDERS[name][1]}", f"  {shown}", ""]
    if isinstance(value, Bracket):
        lines.append(f"  bracket      [{value.low:.12g}, {value.high:.12g}]")
    elif value is not None:
        lines.append(f"  exact        {exact_text(value)}")
    else:
        lines.append(f"  exact        none: {without}")
    if estimate is None:
        lines.append("  Monte Carlo  none: no draws asked for")
    elif not math.isfinite(estimate.stderr):
        lines.append(f"  Monte Carlo  {estimate.value:.8g} (1 draw, seed {seed}: one draw has no error bar)")
    else:
        flags = f", {', '.join(estimate.flags)}" if estimate.flags else ""
        lines.append(f"  Monte Carlo  {estimate.value:.8g} +- {estimate.stderr:.2g} ({estimate.draws} draws, seed {seed}{flags})")
    if comparison.text:
        lines += ["", comparison.text]
    return lines


def says_nothing(value: Enclosure) -> bool:
    """Whether the radius is larger than half of the value."""
    return 2 * value.radius > abs(value.midpoint)


def exact_text(value: Enclosure) -> str:
    """Return the value with the digits its radius allows and two digits of a radius that holds for the rounded value.

    >>> from theoryck.records import Enclosure
    >>> exact_text(Enclosure(Decimal("0.019885419738026"), Decimal("5.37E-9")))
    '0.0198854197 +- 5.5e-9 (rigorous)'
    >>> exact_text(Enclosure(Decimal("0.265625"), Decimal(0)))
    '0.265625 (exact)'
    >>> exact_text(Enclosure(Decimal("0.5"), Decimal("0.3"), rigorous=False))
    'no information at these widths (radius 0.3, midpoint 0.5)'
    """
    trust = "rigorous" if value.rigorous else "two methods agree, no proof"
    if value.radius == 0:
        return f"{value.midpoint} ({'exact' if value.rigorous else trust})"
    if says_nothing(value):
        return f"no information at these widths (radius {value.radius:.2g}, midpoint {value.midpoint:.2g})"
    with localcontext() as context:
        # enough for the digits of the midpoint and for those that the radius allows: nothing is rounded but by quantize
        digits = len(value.midpoint.as_tuple().digits) + len(value.radius.as_tuple().digits)
        context.prec = digits + abs(value.midpoint.adjusted() - value.radius.adjusted()) + 10
        rounded = value.midpoint.quantize(Decimal(1).scaleb(value.radius.adjusted() - 1))
        left = value.radius + abs(value.midpoint - rounded)
        context.prec, context.rounding = 2, ROUND_CEILING
        radius = +left
    plain = rounded.adjusted() >= -5 and value.radius.adjusted() <= 1
    return f"{rounded:{'f' if plain else 'e'}} +- {radius:e} ({trust})"


def _check_writable(path: str | None) -> None:
    if path is not None and path != "-" and (not Path(path).absolute().parent.is_dir() or Path(path).is_dir()):
        raise click.BadParameter(f"cannot write to {path!r}: name a file in a folder that exists", param_hint="--json")


def _write(path: str, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=2, allow_nan=False)
    if path == "-":
        click.echo(text)
        return
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"cannot write to {path!r}: {error.strerror}", param_hint="--json") from error
