"""``theoryck measure``: one quantity at one instance, by every route it offers."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from theoryck.cli import INTERRUPTED
from theoryck.cli.common import check_outputs, tell, workforce, workforce_options, write_json_data
from theoryck.cli.options import Rational, SeveralIntegers, Whole, Widths

if TYPE_CHECKING:
    from theoryck.montecarlo import Executor, Moments, Statistic, TwoSidedMoments
    from theoryck.quantities import Quantity
    from theoryck.records import Bracket, Enclosure, Estimate

MANY_NUMBERS = 2e8
"""Random numbers (about two seconds) from which starting worker processes pays; the results do not depend on it."""

NEEDED = {
    "activation": '--activation F, a formula in x such as "atan(x)"',
    "widths": "--widths N..., the width of every layer from the input on",
    "samples": "--samples N, the number of training samples",
    "link": '--link F, a formula such as "z1*z2"',
    "alpha": "--alpha A, the number of samples over the dimension",
    "dimension": "--dimension D",
}
"""What is said where an option that a quantity needs is not given."""

FALSE_ALARM = 6e-5
"""Probability with which two right routes are said to disagree: 4 standard errors where the mean is Gaussian."""


@dataclass(frozen=True)
class Measurable:
    """A quantity that can be measured: its subject, what it is called there, its formula, the options that belong to it.

    Those that are ``needed`` say of what it is a quantity; the other ``options`` have defaults.
    """

    subject: str
    function: str
    formula: str
    needed: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def learns(self) -> bool:
        """Whether it is about a student that learns from data sets."""
        return "data_sets" in self.options

    def sizes(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sizes at which it is measured; those of a network are its own."""
        return {"d": options["dimension"]} if "dimension" in self.needed else {}

    def build(self, options: Mapping[str, Any]) -> Quantity:
        """Return the quantity; the errors of a bad activation name its option."""
        from theoryck.theory import learning, networks, weak_recovery

        if self.subject == "weak_recovery":
            arguments = [options[name] for name in ("link", "alpha") if name in self.needed]
            return getattr(weak_recovery, self.function)(*arguments)
        activation, widths = _activation(options["activation"], "--activation"), options["widths"]
        network = networks.DeepNetwork(activation, depth=len(widths) - 1, widths=widths)
        quantity: Quantity
        if self.learns:
            readout = _activation(options["readout"], "--readout")
            setting = learning.TeacherStudent(network, samples=options["samples"] or 1, noise=options["noise"], readout=readout)
            quantity = getattr(learning, self.function)(
                setting, **{name: options[name] for name in ("time",) if name in self.options}
            )
        else:
            quantity = getattr(networks, self.function)(network, power=options["power"])
        return quantity


def _activation(text: str, option: str) -> Any:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.numerics.functions.expression import ExpressionError

    try:
        return Activation(text)
    except ExpressionError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


_NETWORK, _STUDENT, _LINK = ("activation", "widths"), ("activation", "widths", "samples"), ("link",)
_MOMENT = ("power", "draws")
_DATA = ("noise", "readout", "data_sets")

MEASURABLE: dict[str, Measurable] = {
    "norm-deviation": Measurable("networks", "norm_deviation", "E | |x_L|^2 - sigma_L |^k", _NETWORK, _MOMENT),
    "overlap-moment": Measurable("networks", "overlap_moment", "E | x_mu . x_nu |^k", _NETWORK, _MOMENT),
    "free-entropy": Measurable("learning", "free_entropy", "(1/n) E log Z", _STUDENT, _DATA),
    "free-entropy-variance": Measurable("learning", "free_entropy_variance", "Var((1/n) log Z)", _STUDENT, _DATA),
    "mutual-information": Measurable("learning", "mutual_information", "I_n^(L) in nats", _STUDENT, _DATA),
    "mutual-information-gap": Measurable("learning", "mutual_information_gap", "I_n^(L) - I_n^(0) in nats", _STUDENT, _DATA),
    "generalisation-error": Measurable("learning", "generalisation_error", "E (Y_new - E[Y_new | D])^2", _STUDENT, _DATA),
    "generalisation-gap": Measurable("learning", "generalisation_gap", "E^(L) - E^(0), Bayes errors", _STUDENT, _DATA),
    "interpolation": Measurable(
        "learning", "interpolation", "(1/n) E log Z_t, t = 0 the network, t = 1 the linear model", _STUDENT, (*_DATA, "time")
    ),
    "recovery-threshold": Measurable("weak_recovery", "recovery_threshold", "alpha_c, 0 for a trivial direction", _LINK, ()),
    "recovery-eigenvalue": Measurable("weak_recovery", "recovery_eigenvalue", "1/alpha_c", _LINK, ("draws",)),
    "spectral-overlap": Measurable(
        "weak_recovery", "spectral_cos2", "cos^2(v, w), n = alpha d", (*_LINK, "alpha", "dimension"), ("draws",)
    ),
}


def _name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value not in MEASURABLE:
        close = difflib.get_close_matches(value, MEASURABLE, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(MEASURABLE)}"
        raise click.BadParameter(f"no quantity is called {value!r}; {hint}", ctx, param)
    return value


_POWER = Rational(
    "the power",
    least="0.001",
    most=64,
    why="no number of float64 draws sees the tail that rules a higher moment, and the cost of the exact value grows with the power",
)


@click.command("measure", cls=SeveralIntegers)
@click.argument("quantity", callback=_name, metavar="QUANTITY")
@click.option("--activation", help='phi as a formula in x ("atan(x)") or a name from the catalogue ("tanh").')
@click.option("--widths", type=Widths(), metavar="N...", help="Widths d_0 d_1 ... d_L, input first.")
@click.option("--power", type=_POWER, default="2", show_default=True, help="Moments: the power k, 0 < k <= 64.")
@click.option("--draws", type=Whole(0), default=100_000, show_default=True, help="Draws, such as 1e5; 0 for none.")
@click.option("--samples", type=Whole(1), help="Learning: the number n of training samples.")
@click.option("--noise", type=Rational("the noise"), default="1/2", show_default=True, help="Learning: the variance Delta.")
@click.option("--readout", default="x", show_default=True, help='Learning: f as a formula in x, such as "tanh(2*x)".')
@click.option("--data-sets", type=Whole(0), default=200, show_default=True, help="Learning: independent data sets; 0 for none.")
@click.option("--time", type=Rational("the time", most=1), default="1/2", show_default=True, help="Interpolation: t from 0 to 1.")
@click.option("--link", help='Weak recovery: f as a formula in z, or in z1, z2, ..., such as "sign(z1*z2)".')
@click.option("--alpha", type=float, help="Spectral method: samples over dimensions, alpha = n/d.")
@click.option("--dimension", type=Whole(1, 10_000), help="Spectral method: the dimension d.")
@click.option("--digits", type=Whole(1, 1000), default=20, show_default=True, help="Digits of the exact value.")
@click.option("--exact/--no-exact", default=True, help="Whether to compute the exact value.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of the draws.")
@workforce_options("results")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result to FILE as JSON; - prints it and nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    quantity: str,
    exact: bool,
    digits: int,
    seed: int,
    workers: int | None,
    cluster: str | None,
    any_versions: bool,
    json_path: str | None,
    **options: Any,
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

    and, for labels y = f(<w_1, x>, ..., <w_r, x>) of a multi-index model, x ~ N(0, I_d), of which n = alpha d are given:

    \b
      recovery-threshold      alpha_c, from which on the best algorithm recovers something
      recovery-eigenvalue     1/alpha_c, the largest eigenvalue of M -> E[G M G]
      spectral-overlap        cos^2 of the optimal spectral method, for links in closed form

    The exact value is an enclosure, the other a Monte Carlo mean with its standard error; they share no code, so that a
    disagreement means a bug.  log Z of a real network is known from two sides: the bracket holds a lower and an upper end, each
    with its own standard error, and the estimate is worth as much as the bracket is narrow.

    \b
    Examples:
      theoryck measure norm-deviation --activation "atan(x)" --widths 64 128 64 --power 4
      theoryck measure overlap-moment --activation tanh --widths 32,32 --draws 1e6 --json -
      theoryck measure mutual-information-gap --activation "atan(x)" --widths 32 32 --samples 32
      theoryck measure recovery-eigenvalue --link "sign(z1*z2)"

    Exit status: 0 the routes agree, or there is nothing to compare, 1 they disagree, 2 wrong usage, 130 interrupted.
    """
    check_outputs({"--json": json_path})
    chosen = MEASURABLE[quantity]
    _check_options(ctx, quantity, chosen)
    wanted = options["data_sets"] if chosen.learns else options["draws"]
    sizes = chosen.sizes(options)
    measured = _build(chosen, options)
    # A draw of some quantities takes several data sets.
    replicates = math.ceil(wanted / getattr(measured, "data_sets_per_draw", 1))
    few = workers is None and cluster is None and replicates * (measured.cost(sizes) or math.inf) < MANY_NUMBERS
    with workforce(1 if few else workers, cluster, any_versions) as executor:
        tell("computing the exact value; Ctrl-C stops, --no-exact leaves it out" if exact else "the exact value is left out")
        value, without = _exact(measured, sizes, digits) if exact else (None, "not asked for (--no-exact)")
        tell(f"drawing {wanted} {'data sets' if chosen.learns else 'times'}; Ctrl-C stops and shows what was drawn")
        moments, interrupted = _draw(measured, sizes, quantity, replicates, seed, executor)
    undrawn = "no draws asked for" if measured.can_draw else "this quantity is not drawn"
    instance = _instance(chosen, measured, options)
    found = Measured(quantity, chosen.formula, instance, seed, value, without, moments, measured.reduction, undrawn)
    disagree, comparison = compare(measured, found, sizes)
    if json_path is not None:
        write_json_data(found.to_json(), json_path)
    if json_path != "-":
        click.echo("\n".join([*found.lines(), *(["", comparison] if comparison else [])]))
    if interrupted:
        click.echo(f"interrupted after {moments.count if moments else 0} of {replicates} draws", err=True)
        sys.exit(INTERRUPTED)
    if disagree:
        sys.exit(1)


def _check_options(ctx: click.Context, quantity: str, chosen: Measurable) -> None:
    """Refuse an option that says nothing about this quantity: it would be ignored in silence."""
    belong = {option for measurable in MEASURABLE.values() for option in (*measurable.needed, *measurable.options)}
    taken = (*chosen.needed, *chosen.options)
    for option in sorted(belong - {*taken}):
        if ctx.get_parameter_source(option) is not ParameterSource.DEFAULT:
            takes = ", ".join(f"--{name.replace('_', '-')}" for name in taken)
            raise click.UsageError(f"--{option.replace('_', '-')} does not belong to {quantity}, which takes {takes}", ctx)
    for name in chosen.needed:
        if ctx.params[name] is None:
            raise click.UsageError(f"{quantity} needs {NEEDED[name]}", ctx)


def _build(chosen: Measurable, options: Mapping[str, Any]) -> Quantity:
    from theoryck.numerics.errors import ExactError

    try:
        measured = chosen.build(options)
        if measured.can_draw:
            # It needs sigma_L, which an activation may not have: then there is nothing to measure.
            measured.sampler(chosen.sizes(options))
    except ExactError as error:
        raise click.BadParameter(str(error), param_hint="--activation") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return measured


def _exact(measured: Quantity, sizes: Mapping[str, Any], digits: int) -> tuple[Enclosure | Bracket | None, str]:
    """Return the exact value, or None and why there is none."""
    from theoryck.numerics.errors import ExactError
    from theoryck.theory.networks.quantities import NetworkMoment

    if not measured.can_exact:
        return None, "this quantity has no exact route"
    try:
        value = measured.exact(sizes, digits)
    except ExactError as error:
        return None, str(error)
    reason = measured.why_not_exact(sizes, digits) if value is None and isinstance(measured, NetworkMoment) else None
    return value, reason or "there is no exact route for this instance"


def _draw(
    measured: Quantity, sizes: Mapping[str, Any], name: str, draws: int, seed: int, executor: Executor
) -> tuple[Moments | TwoSidedMoments | None, bool]:
    """Return the moments (None for no draw) and whether Ctrl-C cut them short."""
    from theoryck import montecarlo

    if draws == 0 or not measured.can_draw:
        return None, False
    options: dict[str, Any] = {} if measured.two_sided else {"statistic": measured.reduction}
    run: Any = montecarlo.sample_two_sided if measured.two_sided else montecarlo.sample
    try:
        moments: Moments | TwoSidedMoments = run(
            measured.sampler(sizes),
            montecarlo.Key(seed, f"measure/{name}", measured.parameters, dict(sizes)),
            draws=draws,
            block_draws=measured.block_draws(sizes),
            executor=executor,
            **options,
        )
    except KeyboardInterrupt as error:
        return getattr(error, "partial", None), True
    except (montecarlo.SamplerError, montecarlo.WorkerDied) as error:
        raise click.UsageError(f"the draws failed: {str(error).partition(chr(10))[0]}") from error
    return moments, False


def _instance(chosen: Measurable, measured: Quantity, options: Mapping[str, Any]) -> dict[str, Any]:
    left_out = ("quantity", "depth", "per_sample", "noise", "samples")
    parameters: dict[str, Any] = {key: entry for key, entry in measured.parameters.items() if key not in left_out}
    parameters |= chosen.sizes(options)
    if "widths" in chosen.needed:
        parameters["widths"] = list(options["widths"])
    if chosen.learns:
        parameters |= {"samples": options["samples"], "noise": float(options["noise"])}
    return parameters


@dataclass(frozen=True)
class Measured:
    """What every route gave at one instance: ``value`` (or why there is ``without``) and the ``moments`` of the draws (or why they
    are ``undrawn``)."""

    name: str
    formula: str
    instance: dict[str, Any]
    seed: int
    value: Enclosure | Bracket | None
    without: str
    moments: Moments | TwoSidedMoments | None
    statistic: Statistic
    undrawn: str = ""

    @property
    def exact(self) -> Enclosure | None:
        """The exact value, where one number is known."""
        from theoryck.records import Enclosure

        return self.value if isinstance(self.value, Enclosure) else None

    @property
    def estimate(self) -> Estimate | None:
        """What the draws say, their middles where they are brackets."""
        return None if self.moments is None else self.statistic.estimate(self.moments)

    @property
    def bracket(self) -> Bracket | None:
        """The two ends that were drawn, or are proved."""
        from theoryck.montecarlo import TwoSidedMoments
        from theoryck.records import Bracket

        if isinstance(self.moments, TwoSidedMoments):
            return self.moments.bracket()
        return self.value if isinstance(self.value, Bracket) else None

    @property
    def gap(self) -> Estimate | None:
        """How wide the brackets that were drawn are."""
        from theoryck.montecarlo import TwoSidedMoments

        return self.moments.gap.estimate() if isinstance(self.moments, TwoSidedMoments) else None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        routes = {"exact": self.exact, "estimate": self.estimate, "bracket": self.bracket}
        found = {name: None if route is None else route.to_json() for name, route in routes.items()}
        return {"quantity": self.name, "instance": self.instance, **found, "seed": self.seed}

    def lines(self) -> list[str]:
        """Return the text for people."""
        shown = (f"{key} {' '.join(map(str, entry)) if isinstance(entry, list) else entry}" for key, entry in self.instance.items())
        lines = [f"{self.name}: {self.formula}", f"  {', '.join(shown)}", ""]
        if self.exact is not None:
            lines.append(f"  exact        {exact_text(self.exact)}")
        elif self.bracket is None:
            lines.append(f"  exact        none: {self.without}")
        if self.bracket is not None:
            lines.append(f"  bracket      {self._bracket_text(self.bracket, self.gap)}")
        return [*lines, f"  Monte Carlo  {self._estimate_text(self.estimate, self.gap)}"]

    @staticmethod
    def _bracket_text(bracket: Bracket, gap: Estimate | None) -> str:
        low, high = bracket.low, bracket.high
        if gap is None:
            return f"[{low:.12g}, {high:.12g}]"
        if not math.isfinite(gap.stderr):
            return f"[{low:.6g}, {high:.6g}], {gap.value:.2g} wide (one draw has no error bar)"
        ends = f"[{low:.6g} +- {bracket.low_stderr:.2g}, {high:.6g} +- {bracket.high_stderr:.2g}]"
        return f"{ends}, {gap.value:.2g} +- {gap.stderr:.2g} wide"

    def _estimate_text(self, estimate: Estimate | None, gap: Estimate | None) -> str:
        if estimate is None:
            return f"none: {self.undrawn}"
        draws = "1 draw" if estimate.draws == 1 else f"{estimate.draws} draws"
        if not math.isfinite(estimate.stderr):
            return f"{estimate.value:.8g} ({draws}, seed {self.seed}: one draw has no error bar)"
        flags = f", {', '.join(estimate.flags)}" if estimate.flags else ""
        # The error bar is that of sampling; between the two ends the middle is a guess.
        half = "" if gap is None else f"; half of the bracket: {0.5 * gap.value:.2g}"
        return f"{estimate.value:.8g} +- {estimate.stderr:.2g} ({draws}, seed {self.seed}{flags}{half})"


def compare(measured: Quantity, found: Measured, sizes: Mapping[str, Any]) -> tuple[bool, str]:
    """Say whether the two routes disagree, and in a sentence how they compare, by the rule of the judge.

    The exact value is held against the two ends where these are drawn, else against the mean.
    """
    from theoryck.judging.evidence import compare_routes
    from theoryck.records import Point

    exact, bracket, estimate, ends = found.exact, found.bracket, found.estimate, found.gap is not None
    if found.value is None or estimate is None or (ends and exact is None):
        return False, ""
    if ends and bracket is not None and not (math.isfinite(bracket.low_stderr) and math.isfinite(bracket.high_stderr)):
        return False, ""
    if not ends and not math.isfinite(estimate.stderr):
        return False, "not compared: one draw has no error bar"
    needed = measured.draws_to_compare(sizes)
    if estimate.draws < needed:
        many = f"about {needed:.2g} draws would be needed" if needed < 1e12 else "no number of draws in reach would do"
        return False, f"not compared: so few draws may not have seen the tail ({many})"
    result = compare_routes([Point({}, None if ends else estimate, exact, bracket)], FALSE_ALARM)
    if result is None and not ends:
        return False, ""
    if result is None or (bracket is not None and result.pull <= 0):
        return False, f"the two routes agree: the {'exact value' if ends else 'estimate'} lies in the bracket"
    far = f"{result.pull:.1f} sigma {'outside the bracket' if bracket is not None else 'apart'} (limit {result.limit:.1f})"
    where = f"the exact value lies {far}" if ends else far
    if result.found:
        return True, f"THE TWO ROUTES DISAGREE: {where}; this means a bug, please report it"
    if exact is not None and not ends and says_nothing(exact):
        return False, "the comparison decides nothing: the exact value carries no information at these widths"
    return False, f"the two routes agree: {where}"


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
