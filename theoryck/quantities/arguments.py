"""Numbers as people write them: read exactly, held to the numeric domain, refused by name with a QuantityError."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import LARGEST, LEAST, exact_number

__all__ = ["LARGEST", "LEAST", "positive", "rational", "real"]


def rational(value: Any, name: str, *, low: float | None = None, strict: bool = True) -> Fraction:
    """Return a number exactly as it is written, above ``low`` (or at it, if not ``strict``); QuantityError for anything else.

    >>> rational(0.1, "shift"), rational("1/3", "alpha", low=0)
    (Fraction(1, 10), Fraction(1, 3))
    """
    try:
        number = exact_number(value, name, low=low, strict=strict)
    except ValueError as error:
        raise QuantityError(str(error)) from None
    if not isinstance(number, Fraction):
        raise QuantityError(f"{name} must be an exact number such as 0.1 or '1/10', got {value!r}")
    return number


def positive(value: Any, name: str, *, zero: bool = False, least: float = LEAST) -> float:
    """Return a number > 0 (with ``zero`` 0 is one too) of the numeric domain as a float; QuantityError for anything else.

    ``least`` is another lower end of the domain.

    >>> positive("1/4", "ridge"), positive(0, "noise", zero=True)
    (0.25, 0.0)
    >>> positive(1e40, "ridge")
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: ridge must lie between 1e-30 and 1e+30, got 1e+40: change its unit
    """
    return real(value, name, low=0.0, strict=not zero, least=least)


def real(value: Any, name: str, *, low: float | None = None, strict: bool = True, least: float = LEAST) -> float:
    """Return a number of the numeric domain, of any sign unless ``low`` is given, as a float; QuantityError for anything else.

    >>> real("-1/4", "mean")
    -0.25
    """
    try:
        exact = exact_number(value, name, low=low, strict=strict)
    except ValueError as error:
        raise QuantityError(str(error)) from None
    try:
        number = float(exact)
    except OverflowError:
        raise QuantityError(f"{name} must lie between {least:g} and {LARGEST:g}, got one that fits no float") from None
    if exact != 0 and not least <= abs(number) <= LARGEST:
        size = "" if low is not None else " in size"
        raise QuantityError(f"{name} must lie between {least:g} and {LARGEST:g}{size}, got {number:g}: change its unit")
    return number


def real_array(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return real finite numbers of a given shape as an array; QuantityError for anything else.

    >>> real_array([[1, 0], [0, 2]], "start", (2, 2)).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    >>> real_array("a", "direction", (2,))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: direction must be real numbers of shape (2,), got 'a'
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.all(np.isfinite(array)):
        raise QuantityError(f"{name} must be real numbers of shape {shape}, got {reprlib.repr(values)}")
    return array.astype(float)


def nonnegative_array(values: Any, name: str, *, length: int | None = None, most: float = math.inf) -> NDArray[np.float64]:
    """Return a sequence of finite numbers from 0 to ``most`` as an array (m,), m >= 1; QuantityError for anything else.

    >>> nonnegative_array([1, "1/2"], "eigenvalues")
    array([1. , 0.5])
    """
    wanted = f"{name} must be a sequence of numbers {'>= 0' if most == math.inf else f'between 0 and {most:g}'}, got"
    array = np.asarray(values) if hasattr(values, "__array__") else None
    listed = isinstance(values, Sequence) and not isinstance(values, str | bytes) if array is None else array.ndim == 1
    if not listed or not len(values):
        raise QuantityError(f"{wanted} {reprlib.repr(values)}")
    if array is None or array.dtype.kind not in "fiu":
        numbers = []
        for place, value in enumerate(values):
            try:
                # A float is taken as it is: its digits would be written and read.
                numbers.append(value if type(value) is float else float(rational(value, name)))
            except (ValueError, OverflowError):
                raise QuantityError(f"{wanted} {reprlib.repr(value)} at {place}") from None
        array = np.array(numbers)
    array = array.astype(float)
    wrong = np.flatnonzero(~((array >= 0) & (array <= most) & (array < math.inf)))
    if len(wrong):
        raise QuantityError(f"{wanted} {array[wrong[0]]} at {wrong[0]}")
    if length is not None and len(array) != length:
        raise QuantityError(f"{name} must have {length} entries, as many as there are eigenvalues, got {len(array)}")
    return array
