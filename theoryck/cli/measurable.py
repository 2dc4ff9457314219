"""What ``theoryck measure`` can measure: names, formulas, and how each quantity is built from the options."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from theoryck.quantities import Quantity


@dataclass(frozen=True)
class Instance:
    """What the options say: the arguments from which a quantity is built."""

    activation: str
    widths: tuple[int, ...]
    power: int | Fraction = 2
    samples: int = 1
    noise: Fraction = Fraction(1, 2)
    readout: str = "x"
    time: Fraction = Fraction(1, 2)


@dataclass(frozen=True)
class Measurable:
    """A quantity of ``measure``: the function of theoryck.quantities that builds it, its formula, the options that belong to it."""

    function: str
    formula: str
    options: tuple[str, ...]

    @property
    def information(self) -> bool:
        """Whether it is about a student that learns from data sets."""
        return "data_sets" in self.options

    def build(self, instance: Instance) -> Quantity:
        """Return the quantity; the errors of a bad activation name its option."""
        from theoryck.theory import learning, networks

        make = getattr(learning if self.information else networks, self.function)
        quantity: Quantity
        if not self.information:
            quantity = make(_network(instance), power=instance.power)
        elif "time" in self.options:
            quantity = make(_setting(instance), time=instance.time)
        else:
            quantity = make(_setting(instance))
        return quantity


def _activation(text: str, option: str) -> Any:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.numerics.functions.expression import ExpressionError

    try:
        return Activation(text)
    except ExpressionError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def _network(instance: Instance) -> Any:
    from theoryck.theory.networks.model import DeepNetwork

    return DeepNetwork(_activation(instance.activation, "--activation"), depth=len(instance.widths) - 1, widths=instance.widths)


def _setting(instance: Instance) -> Any:
    from theoryck.theory.learning.model import TeacherStudent

    readout = _activation(instance.readout, "--readout")
    return TeacherStudent(_network(instance), samples=instance.samples, noise=instance.noise, readout=readout)


_MOMENT = ("power", "draws")
_DATA = ("samples", "noise", "readout", "data_sets")

MEASURABLE: dict[str, Measurable] = {
    "norm-deviation": Measurable("norm_deviation", "E | |x_L|^2 - sigma_L |^k", _MOMENT),
    "overlap-moment": Measurable("overlap_moment", "E | x_mu . x_nu |^k", _MOMENT),
    "free-entropy": Measurable("free_entropy", "(1/n) E log Z", _DATA),
    "free-entropy-variance": Measurable("free_entropy_variance", "Var((1/n) log Z)", _DATA),
    "mutual-information": Measurable("mutual_information", "I_n^(L) in nats", _DATA),
    "mutual-information-gap": Measurable("mutual_information_gap", "I_n^(L) - I_n^(0) in nats", _DATA),
    "generalisation-error": Measurable("generalisation_error", "E (Y_new - E[Y_new | D])^2", _DATA),
    "generalisation-gap": Measurable("generalisation_gap", "E^(L) - E^(0), Bayes errors", _DATA),
    "interpolation": Measurable("interpolation", "(1/n) E log Z_t, t = 0 the network, t = 1 the linear model", (*_DATA, "time")),
}
