"""Orders of methods without noise: a scaling whose corrections are whole powers, and rates that may be given as a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theoryck.auditing.cells import TableError
from theoryck.auditing.directions import declared_headings, headings
from theoryck.auditing.points import grouped, place
from theoryck.auditing.tables import Measurements
from theoryck.rates import Rate, RateError
from theoryck.rates.parsing import to_fraction
from theoryck.rates.unknown import Unknown
from theoryck.records import Size, Toward

ORDER = "order"  # a kind of audit: the order of a method without noise, a scaling with corrections of whole powers
ORDER_WITHIN = 0.25  # half the distance between orders that are multiples of a half
ORDER_CORRECTION = 1.0
ORDER_AMPLITUDE = 1.0  # at the coarsest step corrections are at most of the size of the leading term


def without_noise(measured: Measurements) -> Measurements:
    """Return rows of which those without errors are exact; TableError if rows of equal sizes differ."""
    if measured.stderr is not None:
        return measured
    for sizes, rows in grouped(measured):
        values = measured.values[rows]
        if values.min() < values.max():
            raise TableError(
                f"an order is that of values without noise, and rows differ at {place(sizes)} ({values[0]:g} and "
                f"{values[values != values[0]][0]:g}): choose rows, or judge them as a scaling, or give standard errors"
            )
    return replace(measured, stderr=np.zeros(len(measured)))


def names_in(rate: str | None, kind: str, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the sizes that a rate names; an order that is given as a number names none.

    Raises RateError for an unknown number to the power of a column.
    """
    if rate is None or (kind == ORDER and _number(rate) is not None):
        return ()
    asked = Unknown.of(rate)
    if asked is not None and asked.name in columns and asked.size not in columns:
        raise RateError(
            f"rate {rate!r}: {asked.size} is unknown, and an unknown geometric rate is not measured: give it as a number, as in "
            f"2**(-{asked.name}), or measure an exponent, as in {asked.name}**(-alpha)"
        )
    return Rate.parse(rate).names if asked is None else tuple(sorted({*asked.known.names, asked.size}))


def beside(asked: Unknown, kind: str) -> str:
    """Return what is known beside an unknown exponent as a rate, which of an order must name a size: a number would be one."""
    known = str(asked.known)
    return f"{known}*{asked.size}**0" if kind == ORDER and _number(known) is not None else known


def _number(text: str) -> Fraction | None:
    try:
        return to_fraction(text, "an order")
    except (ValueError, RateError):
        return None


def order_rate(text: str | None, sizes: Mapping[str, Sequence[Size]], toward: Any) -> str | None:
    """Return a rate for an order that may be given as a number: order 2 is ``n**(-2)``, or ``h**2`` where h goes to 0."""
    order = None if text is None else _number(text)
    if order is None:
        return text
    if len(sizes) > 1:
        raise RateError(f"the order {text!r} may be in any of {', '.join(sizes)}: write the rate, such as n**(-{text})")
    heading, _ = headings(sizes, None, declared_headings(toward, list(sizes)))
    [(name, end)] = heading.items()
    return f"{name}**({order if end is Toward.ZERO else -order})"


def check_rival_orders(rate: str | None, rivals: Sequence[str]) -> None:
    """Raise RateError for a rival order of the sign that the claimed one has not, which any data would reject.

    >>> check_rival_orders("3", ["-2"])
    Traceback (most recent call last):
    theoryck.rates.monomials.RateError: the rival '-2' is an order of the opposite sign to the claimed 3; any data would reject
    it: write 2
    """
    claimed = None if rate is None else _number(rate)
    for rival in rivals:
        order = _number(rival)
        if order is not None and (order < 0) != (claimed is not None and claimed < 0):
            against = "that of a method" if claimed is None else f"the claimed {rate}"
            meant = f"{'-' if order > 0 else ''}{rival.strip().lstrip('+-')}"
            raise RateError(
                f"the rival {rival!r} is an order of the opposite sign to {against}; any data would reject it: write {meant}"
            )
