"""What a quantity is: a number that depends on sizes, and the routes by which it can be had."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import Sampler, Statistic, check_block
from theoryck.quantities.fingerprints import Fingerprint, fingerprint, kept
from theoryck.quantities.pilots import Pilot
from theoryck.records import Bracket, Enclosure
from theoryck.records.arguments import integer, positive

NUMBERS_PER_BLOCK = 2**20
"""Random numbers a block takes (about 13 ms): long enough for an overhead of at most 5%, short enough to stop soon."""

NANOSECONDS_PER_NUMBER = 1e9 / 7e7
"""Of a random number, the unit of costs."""

LARGEST_BLOCK = 2**16

MIN_COMPARED_DRAWS = 4096
"""Draws from which means are compared with exact values when nothing more is known of their law."""

Sizes = Mapping[str, Any]  # whole numbers; of a quantity without ``whole_sizes`` any positive ones


class QuantityError(ValueError):
    """A quantity was asked for something it cannot give, or built from something it cannot use; the message says what to do.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> from theoryck.theory.networks import norm_deviation
    >>> norm_deviation(DeepNetwork("tanh", depth=1), power=-2)
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: power must be a finite real number > 0, got -2
    """


class NoCertificate(QuantityError):
    """A bound has no certificate for every size: the message says which inequality fails and what would do.

    ``breaks`` is a size at which the exact value exceeds the bound, None where none is known; ``start`` the size from which the
    method would do, None where it would not; ``rate`` the exponent at which it is proved to decay, where a larger one is claimed.

    >>> raise NoCertificate("at d = 64 the value is 0.03, above 1 * d**(-1): take a larger constant", breaks=64)
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.NoCertificate: at d = 64 the value is 0.03, above 1 * d**(-1): take a larger constant
    """

    def __init__(self, message: str, *, breaks: int | None = None, start: int | None = None, rate: Fraction | None = None) -> None:
        super().__init__(message)
        self.breaks, self.start, self.rate = breaks, start, rate


def apart(one: Decimal | float, other: Decimal | float, digits: int = 10) -> tuple[str, str]:
    """Write two different numbers with as many digits, ``digits`` or more, as tell them apart.

    >>> apart(0.25, Decimal("0.2500000000001")), apart(0.5, 0.25)
    (('0.25', '0.2500000000001'), ('0.5', '0.25'))
    """
    written = ((_bare(f"{Decimal(one):.{n}g}"), _bare(f"{Decimal(other):.{n}g}")) for n in range(digits, 41))
    return next((pair for pair in written if pair[0] != pair[1]), (str(one), str(other)))


def _bare(text: str) -> str:
    number, mark, exponent = text.partition("e")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + mark + exponent


class Quantity:
    """A number that depends on sizes, offered by Monte Carlo (``sampler``), exactly (``exact``) or both.

    A quantity is a frozen dataclass: its fields are its parameters, the class is the factory, ``__post_init__`` checks arguments.
    Name, JSON-able parameters and the sizes it needs follow from the fields:

    * ``title`` is the name as a format string over the fields and ``self`` (default: class and fields, as they are written), or,
      where an instance has its own, the name itself;
    * a field that has ``parameters`` of its own (a network, a model) is replaced by them;
    * ``needs`` are the sizes of every instance, whole numbers unless ``whole_sizes`` is False; a field that has size ``names`` (a
      network) adds them.

    Its value is what ``draw_statistic`` says of the law of a draw ("mean", "median", "quantile(p)", "variance", "std" or
    "probability"); ``exact`` gives the same.  ``version`` counts changes of the sampler that change its draws.  A quantity sets
    ``can_draw`` and has :meth:`sampler`, or sets ``can_exact`` and has :meth:`exact`; a sampler alone is better written with
    ``@theoryck.quantity``.  :meth:`draw` raises SamplerError for an array of the wrong shape or with entries that are not finite,
    :meth:`sampler` QuantityError where there is none or a size is missing.

    >>> @dataclasses.dataclass(frozen=True, repr=False)
    ... class uniform_mean(Quantity):
    ...     "E (mean of d uniform numbers)^power"
    ...     power: int = 2
    ...     can_draw, can_exact, needs = True, True, ("d",)
    ...     def sampler(self, sizes):
    ...         return lambda rng, draws: rng.random((draws, sizes["d"])).mean(axis=1) ** self.power
    ...     def exact(self, sizes, digits=20):
    ...         from theoryck.numerics.proved.arithmetic import enclose
    ...         return enclose(Fraction(1, 4) + Fraction(1, 12 * sizes["d"]), digits) if self.power == 2 else None
    ...     def cost(self, sizes):
    ...         return sizes["d"]
    >>> quantity = uniform_mean(power=2)
    >>> quantity, quantity.parameters, quantity.size_names
    (<quantity uniform_mean(power=2)>, {'quantity': 'uniform_mean', 'power': 2}, ('d',))
    >>> found = quantity.draw(np.random.default_rng(0), 10_000, {"d": 4})
    >>> round(float(found.mean()), 2), round(float(quantity.exact({"d": 4})), 2)
    (0.27, 0.27)
    >>> quantity.block_draws({"d": 4}), quantity.exact_cost({"d": 4}), Quantity().exact({})
    (65536, None, None)
    >>> quantity.for_every_size(Fraction(-1))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.NoCertificate: uniform_mean(power=2) has no proof for every size: theoryck check measures it at the
    sizes of a path
    """

    title: str = ""
    needs: tuple[str, ...] = ()
    version: int = 1
    draw_statistic: str = "mean"
    can_draw: bool = False
    whole_sizes: bool = True
    can_exact: bool = False
    two_sided: bool = False
    """Whether the sampler gives (draws, 3): low, high and estimate, with E[low] <= quantity <= E[high]."""

    @property
    def _fields(self) -> dict[str, Any]:
        fields: Sequence[dataclasses.Field[Any]] = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        return {field.name: getattr(self, field.name) for field in fields}

    @property
    def name(self) -> str:
        """What people read in tables and messages."""
        if "title" in vars(self):
            return self.title
        if self.title:
            return self.title.format(self=self, **self._fields)
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._fields.items())})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        found: dict[str, Any] = {"quantity": type(self).__name__}
        for name, value in self._fields.items():
            own = getattr(value, "parameters", None)
            found |= own if isinstance(own, Mapping) else {name: _plain(value)}
        return found

    @property
    def reduction(self) -> Statistic:
        """What is made of draws; QuantityError for a ``draw_statistic`` that is none, or that draws with two ends do not have."""
        try:
            found = Statistic.parse(self.draw_statistic, "draw_statistic")
        except ValueError as error:
            raise QuantityError(f"{self.name}: {error}") from error
        if self.two_sided and found.name != "mean":
            raise QuantityError(f"{self.name}: draws with two ends have a mean only, got draw_statistic = {self.draw_statistic!r}")
        return found

    @property
    def size_names(self) -> tuple[str, ...] | None:
        """The sizes it needs, or None when it takes what it finds."""
        own = [name for value in self._fields.values() for name in getattr(value, "names", ())]
        return tuple(dict.fromkeys([*self.needs, *own]))

    def sampler(self, sizes: Sizes) -> Sampler:
        """Return the callable (rng, draws) -> array (draws,) whose mean (``draw_statistic``) is the quantity, or QuantityError."""
        raise QuantityError(f"{self.name} has no Monte Carlo route: use exact(sizes, digits)")

    def pilots(self, sizes: Sequence[Sizes]) -> Sequence[Pilot]:
        """Return what is still to be found out before samplers at these sizes can be made, the slowest first.

        It is asked again when that is kept, until there is nothing.  Who makes a sampler without finds it out in this process.
        """
        return ()

    def draw(self, rng: np.random.Generator, draws: int, sizes: Sizes) -> NDArray[np.float64]:
        """Return ``draws`` independent replicates at ``sizes``, (draws,) or two-sided, checked; SamplerError for a broken one."""
        values = self.sampler(sizes)(rng, draws)
        return check_block(values, draws, f"{self.name} at {dict(sizes)}", "the same rng", self.two_sided, self.reduction)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | Bracket | None:
        """Return the value at ``sizes`` with about ``digits`` digits, or None when it has no exact route here."""
        return None

    @property
    def certified_sizes(self) -> tuple[str, ...]:
        """The sizes, as texts in the names of a path, of whose smallest :meth:`for_every_size` speaks; () where there is none."""
        return ()

    def certificate_cost(self) -> float | None:
        """Return roughly the seconds that :meth:`for_every_size` and its check take (None where it has nothing to say)."""
        return None

    def for_every_size(
        self, rate: Fraction | None = None, *, constant: Decimal | None = None, start: int = 1, both: bool = False
    ) -> Any:
        """Return a certificate (a record) that the quantity is at most ``C d**rate`` for every d >= ``start`` and all sizes >= d.

        ``rate`` is the exponent, negative for decay, by default the one at which it decays; with a ``constant`` C is at most
        that, else the smallest that is proved.  With ``both`` it has a bound from below too, where all sizes are equal.  Raises
        NoCertificate where that is false, cannot be proved, or no proof is offered.
        """
        raise NoCertificate(f"{self.name} has no proof for every size: theoryck check measures it at the sizes of a path")

    def limiting_constant(self, ratios: Sequence[Fraction]) -> float | None:
        """Return the limit of the quantity over the rate at which it decays, with sizes ``ratios`` times d; None if not known."""
        return None

    def cost(self, sizes: Sizes) -> float | None:
        """Return the random numbers one draw takes (None when unknown)."""
        return None

    def relative_noise(self, sizes: Sizes) -> float | None:
        """Return roughly the standard deviation of a draw over its mean, for plans made without draws (None when unknown)."""
        return None

    def exact_cost(self, sizes: Sizes) -> float | None:
        """Return roughly the seconds that ``exact`` takes (None when unknown)."""
        return None

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return the draws from which the mean may be compared with an exact value: before, the tail may not have been seen.

        It must depend on nothing that is drawn: judged by what was seen, means that missed the tail would be kept.
        """
        return MIN_COMPARED_DRAWS

    def block_draws(self, sizes: Sizes) -> int:
        """Return the draws of one block at ``sizes``: a power of two that depends on the quantity and the sizes only."""
        cost = self.cost(sizes)
        if cost is None:
            # A sampler of unknown cost may hold a matrix of size x size per draw.
            largest = max([1, *sizes.values()])
            return min(max(_power_of_two_below(2**20 / largest**2), 64), 4096)
        return min(max(_power_of_two_below(NUMBERS_PER_BLOCK / max(cost, 1.0)), 1), LARGEST_BLOCK)

    def drawn_by(self) -> Mapping[str, Any]:
        """Return the user's objects that the draws are made by, by name: nothing for a quantity of this library."""
        return {} if type(self).__module__.startswith("theoryck.") else {"class": type(self), "members": dict(kept(self))}

    def fingerprint(self) -> Fingerprint:
        """Return what drew: JSON data that differs when the draws may differ; Undescribable (a TypeError) when that cannot be told.

        See :mod:`theoryck.quantities.fingerprints` for what is seen and what is not.
        """
        return fingerprint(type(self), self.version, self.drawn_by())

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<quantity {self.name}>"


def _plain(value: Any) -> Any:
    """Return a parameter as JSON-able data: numbers and texts as they are, the rest as it is written."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _power_of_two_below(number: float) -> int:
    return 1 << max(int(number).bit_length() - 1, 0)


def need_sizes(who: str, needed: Iterable[str], sizes: Sizes, whole: bool = True) -> None:
    """Raise QuantityError for a size that is missing (with a close match), no integer >= 1 or, unless ``whole``, no number >= 0."""
    for name in needed:
        if name not in sizes:
            close = difflib.get_close_matches(name, list(sizes), n=1, cutoff=0.4)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            given = ", ".join(repr(entry) for entry in sizes) or "none"
            raise QuantityError(f"{who} needs the size {name!r}, the sizes given are {given}{hint}")
        if whole:
            integer(sizes[name], f"the size {name!r} of {who}", 1, error=QuantityError)
        elif sizes[name] != 0:  # the first level of a geometric rate
            positive(sizes[name], f"the size {name!r} of {who}", error=QuantityError)
