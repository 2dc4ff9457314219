"""``theoryck constants``: certified sigma_l, rho_l, eps_l, eta_0 and gamma_0 of a deep network."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, localcontext
from typing import TYPE_CHECKING, Any

import click

from theoryck.cli.common import check_outputs, tell, write_json_data
from theoryck.cli.options import Whole

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.records import Enclosure
    from theoryck.theory.networks.proved.constants import NetworkConstants

HOW = {
    "closed form": "closed form, rounding enclosed",
    "symmetry": "symmetry",
    "trapezoid": "trapezoidal rule with a proved strip bound",
    "integral": "rigorous adaptive integration between kinks",
    "agreement": "NOT proved: ten times the largest difference of three quadratures",
}


WHY_DEPTH = "every layer costs digits, which the layers before must prove"


class _Activation(click.ParamType):
    """An activation as a formula in x or a name from the catalogue."""

    name = "activation"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Activation:
        """Parse the formula; what is wrong with it ends the program with status 2."""
        from theoryck.numerics.functions.activation import Activation

        if isinstance(value, Activation):
            return value
        try:
            return Activation(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command("constants")
@click.argument("activation", type=_Activation(), metavar="ACTIVATION")
@click.option("--depth", type=Whole(0, 200, WHY_DEPTH), default=4, show_default=True, help="Number of layers L.")
@click.option("--digits", type=Whole(1, 1000), default=30, show_default=True, help="Significant digits to prove.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write JSON to FILE; - prints it and nothing else.")
def command(activation: Activation, depth: int, digits: int, json_path: str | None) -> None:
    """Print certified constants of the network with activation ACTIVATION.

    \b
    sigma_0 = 1,  sigma_l = E phi(sqrt(sigma_{l-1}) Z)^2,  rho_l = E phi'(sqrt(sigma_{l-1}) Z),
    eps_l = sigma_l - sigma_{l-1} rho_l^2,
    eta_0 = rho_1 ... rho_L,  gamma_0 = sum_j eps_j prod_{i>j} rho_i^2.

    ACTIVATION is a formula in x ("atan(x)", "erf(x/sqrt(2))") or a name from the catalogue (tanh, relu, ...).  Every value comes
    with a radius that is proved, unless it is marked as not proved.

    \b
    Examples:
      theoryck constants "atan(x)" --depth 4 --digits 50
      theoryck constants tanh --depth 2 --json -

    Exit status: 0 all values proved or marked, 2 wrong usage (also an activation whose expectations are infinite),
    130 interrupted.
    """
    from theoryck.numerics.errors import ExactError
    from theoryck.theory.networks.proved.constants import network_constants

    check_outputs({"--json": json_path})
    tell(f"computing {digits} digits of {depth} layers; Ctrl-C stops")
    try:
        constants = network_constants(activation, depth, digits)
    except ExactError as error:
        raise click.BadParameter(str(error), param_hint="ACTIVATION") from error
    if json_path is not None:
        write_json_data(constants.to_json(), json_path)
    if json_path != "-":
        _print(constants)


def _print(constants: NetworkConstants) -> None:
    """A row per constant, however wide: no digit is wrapped."""
    click.echo(f"phi(x) = {constants.activation}, depth {constants.depth}")
    lines = [("", "value", "radius", "")]
    lines += [(label, shown(value, constants.digits), shown_radius(value), remark(value)) for label, value in rows(constants)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths)))
    for route in dict.fromkeys(constants.routes):
        layers = [str(layer) for layer, how in enumerate(constants.routes, 1) if how == route]
        click.echo(f"layer{'s' if len(layers) > 1 else ''} {_ranges(layers)}: {HOW[route]}")
    proved = sum(value.rigorous for _, value in rows(constants))
    click.echo(closing(proved, len(rows(constants)) - proved))


def closing(proved: int, unproved: int) -> str:
    """Return what the radii mean: a promise for proved values only.

    >>> closing(0, 3)
    'Values are rounded to the digits shown. Those marked "not proved" may be off by more than their radius.'
    """
    parts = ["Values are rounded to the digits shown"]
    if proved:
        which = "the true value" if not unproved else "the true value of those that are proved"
        parts[0] += f"; {which} lies within the radius of the unrounded one (--json)"
    if unproved:
        parts.append('Those marked "not proved" may be off by more than their radius')
    return ". ".join(parts) + "."


def _ranges(layers: list[str]) -> str:
    contiguous = len(layers) > 2 and int(layers[-1]) - int(layers[0]) == len(layers) - 1
    return f"{layers[0]} to {layers[-1]}" if contiguous else ", ".join(layers)


def rows(constants: NetworkConstants) -> list[tuple[str, Enclosure]]:
    """Return every constant with its label, layer by layer."""
    found = [("sigma_0", constants.sigma[0])]
    for layer, (sigma, rho, epsilon) in enumerate(zip(constants.sigma[1:], constants.rho, constants.epsilon), 1):
        found += [(f"sigma_{layer}", sigma), (f"rho_{layer}", rho), (f"eps_{layer}", epsilon)]
    return [*found, ("eta_0", constants.eta0), ("gamma_0", constants.gamma0)]


def remark(value: Enclosure) -> str:
    """Return what must be remarks of a value: that it is not proved, or that it may be 0.

    >>> from decimal import Decimal
    >>> from theoryck.records import Enclosure
    >>> remark(Enclosure(Decimal("1e-40"), Decimal("1e-39"))), remark(Enclosure(Decimal(1), Decimal("1e-9"), rigorous=False))
    ('not separated from 0', 'not proved')
    """
    remarks = [] if value.rigorous else ["not proved"]
    if abs(value.midpoint) <= value.radius != 0:
        remarks.append("not separated from 0")
    return ", ".join(remarks)


def shown(value: Enclosure, digits: int) -> str:
    """Return the value rounded to at most ``digits`` digits, all of them proved (or agreed).

    >>> from decimal import Decimal
    >>> from theoryck.records import Enclosure
    >>> shown(Enclosure(Decimal("0.123456789"), Decimal("1e-5")), 30), shown(Enclosure(Decimal("1e-40"), Decimal("1e-39")), 30)
    ('0.123', '0')
    """
    midpoint, radius = value.midpoint, value.radius
    if radius == 0:
        proved = digits
    elif abs(midpoint) <= radius:
        return "0"
    else:
        proved = min(digits, midpoint.adjusted() - radius.adjusted() - 1)
    if proved < 1:
        return "?"
    with localcontext() as context:
        context.prec = proved
        context.rounding = ROUND_HALF_EVEN
        rounded = +midpoint
        return f"{rounded:f}" if -6 <= rounded.adjusted() < digits else f"{rounded:e}"


def shown_radius(value: Enclosure) -> str:
    """Return the radius as a power of ten that is at least as large, or "exact"."""
    if value.radius == 0:
        return "exact"
    return f"< 1e{value.radius.adjusted() + 1:+03d}"
