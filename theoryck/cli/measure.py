"""``theoryck measure``: one quantity at one instance, by every route it offers."""

from __future__ import annotations

import difflib
import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from theoryck.cli import INTERRUPTED
from theoryck.cli.common import check_outputs, write_json_data
from theoryck.cli.measurable import MEASURABLE, Instance, Measurable
from theoryck.cli.measured import Measured, compare, compare_ends
from theoryck.cli.options import Power, SeveralIntegers, Variance, Widths
from theoryck.cli.types import Whole, tell

if TYPE_CHECKING:
    from theoryck.montecarlo import Moments, TwoSidedMoments
    from theoryck.quantities import Quantity
    from theoryck.records import Bracket, Enclosure

MANY_NUMBERS = 2e8
"""Random numbers (about two seconds) from which starting worker processes pays; the results do not depend on it."""


def _name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value not in MEASURABLE:
        close = difflib.get_close_matches(value, MEASURABLE, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(MEASURABLE)}"
        raise click.BadParameter(f"no quantity is called {value!r}; {hint}", ctx, param)
    return value


@click.command("measure", cls=SeveralIntegers)
@click.argument("quantity", callback=_name, metavar="QUANTITY")
@click.option("--activation", required=True, help='phi as a formula in x ("atan(x)") or a name from the catalogue ("tanh").')
@click.option("--widths", required=True, type=Widths(), metavar="N...", help="Widths d_0 d_1 ... d_L, input first.")
@click.option("--power", type=Power(), default="2", show_default=True, help="Moments: the power k, 0 < k <= 64.")
@click.option("--draws", type=Whole(0), default=100_000, show_default=True, help="Moments: draws, such as 1e5; 0 for none.")
@click.option("--samples", type=Whole(1), help="Learning: the number n of training samples.")
@click.option("--noise", type=Variance("the noise"), default="1/2", show_default=True, help="Learning: the variance Delta.")
@click.option("--readout", default="x", show_default=True, help='Learning: f as a formula in x, such as "tanh(2*x)".')
@click.option("--data-sets", type=Whole(0), default=200, show_default=True, help="Learning: independent data sets; 0 for none.")
@click.option("--time", type=Variance("the time", 1), default="1/2", show_default=True, help="Interpolation: t from 0 to 1.")
@click.option("--digits", type=Whole(1, 1000), default=20, show_default=True, help="Digits of the exact value.")
@click.option("--exact/--no-exact", default=True, help="Whether to compute the exact value.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--workers", type=Whole(1), help="Worker processes; the results do not depend on it.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result to FILE as JSON; - prints it and nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    quantity: str,
    activation: str,
    widths: tuple[int, ...],
    power: int | Fraction,
    draws: int,
    samples: int | None,
    noise: Fraction,
    readout: str,
    data_sets: int,
    time: Fraction,
    digits: int,
    exact: bool,
    seed: int,
    workers: int | None,
    json_path: str | None,
) -> None:
    """Measure QUANTITY at one instance by every route it offers.

    For the random network x_0 ~ N(0, I/d_0), x_l = phi(W_l x_{l-1}) / sqrt(d_l):

    \b
      norm-deviation          E | |x_L|^2 - sigma_L |^k
      overlap-moment          E | x_mu . x_nu |^k

    and, for a student who learns Y = f(a . x_L) + sqrt(Delta) Z from n samples and knows all but the weights:

    \b
      free-entropy            (1/n) E log Z
      free-entropy-variance   Var((1/n) log Z)
      mutual-information      I_n^(L) in nats
      mutual-information-gap  I_n^(L) - I_n^(0) in nats; (0) is the equivalent linear model
      generalisation-error    E (Y_new - E[Y_new | D])^2
      generalisation-gap      E^(L) - E^(0)
      interpolation           (1/n) E log Z_t, from the network (t = 0) to the linear model (t = 1)

    The exact value is an enclosure, the other a Monte Carlo mean with its standard error; they share no code, so that a
    disagreement means a bug.  log Z of a real network is known from two sides: the bracket holds a lower and an upper end, each
    with its own standard error, and the estimate is worth as much as the bracket is narrow.

    \b
    Examples:
      theoryck measure norm-deviation --activation "atan(x)" --widths 64 128 64 --power 4
      theoryck measure overlap-moment --activation tanh --widths 32,32 --draws 1e6 --json -
      theoryck measure mutual-information-gap --activation "atan(x)" --widths 32 32 --samples 32

    Exit status: 0 the routes agree, or there is nothing to compare, 1 they disagree, 2 wrong usage, 130 interrupted.
    """
    check_outputs({"--json": json_path})
    chosen = MEASURABLE[quantity]
    _check_options(ctx, quantity, chosen)
    instance = Instance(activation, widths, power, samples or 1, noise, readout, time)
    wanted = data_sets if chosen.information else draws
    measured = _build(chosen, instance)
    tell("computing the exact value; Ctrl-C stops, --no-exact leaves it out" if exact else "the exact value is left out")
    value, without = _exact(measured, digits) if exact else (None, "not asked for (--no-exact)")
    tell(f"drawing {wanted} {'data sets' if chosen.information else 'times'}; Ctrl-C stops and shows what was drawn")
    # A draw of some quantities takes several data sets.
    replicates = math.ceil(wanted / getattr(measured, "data_sets_per_draw", 1))
    moments, interrupted = _draw(measured, quantity, replicates, seed, workers)
    found = Measured.of(quantity, chosen.formula, _instance(chosen, measured, instance), seed, value, without, moments)
    if measured.two_sided and moments is not None:
        comparison = compare_ends(found.exact, found.bracket, moments.count, measured.draws_to_compare({}))
    else:
        comparison = compare(measured, value, found.estimate)
    if json_path is not None:
        write_json_data(found.to_json(), json_path)
    if json_path != "-":
        click.echo("\n".join(found.lines(comparison)))
    if interrupted:
        click.echo(f"interrupted after {moments.count if moments else 0} of {replicates} draws", err=True)
        sys.exit(INTERRUPTED)
    if comparison.disagree:
        sys.exit(1)


def _check_options(ctx: click.Context, quantity: str, chosen: Measurable) -> None:
    """Refuse an option that says nothing about this quantity: it would be ignored in silence."""
    belong = {option for measurable in MEASURABLE.values() for option in measurable.options}
    for option in sorted(belong - set(chosen.options)):
        if ctx.get_parameter_source(option) is not ParameterSource.DEFAULT:
            takes = ", ".join(f"--{name.replace('_', '-')}" for name in chosen.options)
            raise click.UsageError(f"--{option.replace('_', '-')} does not belong to {quantity}, which takes {takes}", ctx)
    if chosen.information and ctx.params["samples"] is None:
        raise click.UsageError(f"{quantity} needs --samples N, the number of training samples", ctx)


def _build(chosen: Measurable, instance: Instance) -> Quantity:
    from theoryck.numerics.errors import ExactError

    try:
        measured = chosen.build(instance)
        if measured.can_draw:
            measured.sampler({})  # needs sigma_L, which an activation may not have: then there is nothing to measure
    except ExactError as error:
        raise click.BadParameter(str(error), param_hint="--activation") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return measured


def _exact(measured: Quantity, digits: int) -> tuple[Enclosure | Bracket | None, str]:
    """Return the exact value, or None and why there is none."""
    from theoryck.numerics.errors import ExactError
    from theoryck.theory.networks.quantities.moments import NetworkMoment

    if not measured.can_exact:
        return None, "this quantity has no exact route"
    try:
        value = measured.exact({}, digits)
    except ExactError as error:
        return None, str(error)
    reason = measured.why_not_exact({}, digits) if value is None and isinstance(measured, NetworkMoment) else None
    return value, reason or "there is no exact route for this instance"


def _draw(
    measured: Quantity, name: str, draws: int, seed: int, workers: int | None
) -> tuple[Moments | TwoSidedMoments | None, bool]:
    """Return the moments (None for no draw) and whether Ctrl-C cut them short."""
    from theoryck import montecarlo

    if draws == 0:
        return None, False
    few = draws * (measured.cost({}) or math.inf) < MANY_NUMBERS
    with montecarlo.make_executor(1 if workers is None and few else workers) as executor:
        run: Any = montecarlo.sample_two_sided if measured.two_sided else montecarlo.sample
        try:
            moments: Moments | TwoSidedMoments = run(
                measured.sampler({}),
                montecarlo.Key(seed, f"measure/{name}", measured.parameters, {}),
                draws=draws,
                block_draws=measured.block_draws({}),
                executor=executor,
            )
        except KeyboardInterrupt as error:
            return getattr(error, "partial", None), True
        except (montecarlo.SamplerError, montecarlo.WorkerDied) as error:
            raise click.UsageError(f"the draws failed: {str(error).partition(chr(10))[0]}") from error
    return moments, False


def _instance(chosen: Measurable, measured: Quantity, instance: Instance) -> dict[str, Any]:
    left_out = ("quantity", "depth", "per_sample", "noise", "samples")
    parameters: dict[str, Any] = {key: entry for key, entry in measured.parameters.items() if key not in left_out}
    parameters["widths"] = list(instance.widths)
    if chosen.information:
        parameters |= {"samples": instance.samples, "noise": float(instance.noise)}
    return parameters
