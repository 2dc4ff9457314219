"""How numbers are written in the cells of a table: what can be read one way only is read and said, all else is refused.

Read: plain numbers, exponents written with D, ``1.2x10^-3``, decimal commas, sizes as ``1/8`` or ``2^-3``, thousands in groups of
three, percent (every cell; as fractions), and ``0.123(4)`` or ``0.123 +/- 0.004``, whose error is taken for a standard error.  A
column is written one way: ``1,024`` may be 1024 or 1.024, and is refused unless another cell of the column says which.

A written number is known to half a unit of its last digit.  Some formats drop zeros at its end: where no cell shows one, and those
that were dropped may be no more than chance makes (one digit in ten is a zero), a cell has the digits of the longest cell of its
column, after the point or in all, whichever are fewer; so it has in a column of floats written in full.  A float has 53 bits, so
that nothing is known better than to 2**-53 of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.records.arguments import LARGEST, LEAST

Array = NDArray[np.float64]

IN_FULL = 15  # digits that a float written in full has, but for one in a hundred
CHANCE = 0.01  # what happens so rarely by chance is taken for more than chance
DECIMAL_COMMAS = "decimal commas"
CENSORED = "; a run that did not end belongs to a median: write 1e29 rather than leave it out"
FLOAT_ROUNDING = 2.0**-53
MISSING = {"", "na", "n/a", "null", "none", "-", "--", "---", "\u2013", "\u2014"}

_PARENTHESES = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))\((\d+\.?\d*|\.\d+)\)(e[+-]?\d+)?", re.IGNORECASE)
_PLUS_MINUS = re.compile(r"(\(?)(.+?)\s*(?:±|\+/-|\+-|\\pm)\s*([^()]+?)(?:\)((?:e[+-]?\d+)?))?", re.IGNORECASE)
_TIMES_TEN = re.compile(r"\s*(?:[×x·*]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[{(]?([+-]?\d+)[})]?", re.IGNORECASE)
_FRACTION = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(/|\^|\*\*)\s*[{(]?([+-]?\d+)[})]?\s*")
_D_EXPONENT = re.compile(r"(?<=[\d.])d(?=[+-]?\d)", re.IGNORECASE)
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:[ '_\u00a0\u202f\u2009]\d{3})+(?:[.,]\d*)?")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_COMMA_GROUPS_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+\.\d*(e[+-]?\d+)?", re.IGNORECASE)
_POINT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d*,\d+|\d+,|[1-9]\d{0,2}(\.\d{3})+,\d*)(e[+-]?\d+)?", re.IGNORECASE)


class TableError(ValueError):
    """A table that cannot be used; the message names the place, shows the value and says what to do."""


class ColumnReader:
    """Reads the cells of one column, chunk by chunk, and keeps how they were written and what has to be said of it.

    >>> reader = ColumnReader("t.csv, line", "loss", digits=True)
    >>> numbers, errors = reader.read(["0,250(5)", "0,125(4)"], [2, 3])
    >>> numbers.tolist(), errors.tolist(), reader.notes
    ([0.25, 0.125], [0.005, 0.004], ("column 'loss': decimal commas", "column 'loss': value(error), taken for standard errors"))
    >>> reader.rounding(numbers).tolist()
    [0.0005, 0.0005]
    """

    def __init__(self, place: str, column: str, digits: bool = False) -> None:
        self._place, self._column, self._digits = place, column, digits
        self._said: dict[str, None] = {}
        self._forms: set[str] = set()
        self._powers: list[NDArray[np.int64]] = []  # of the last digit written
        self._counts: list[NDArray[np.int64]] = []  # of digits that are written
        self._zero_shown = False
        self.doubtful = ""  # 1.000, if all points may separate thousands
        self._first = True

    @property
    def commas(self) -> bool:
        """Whether the decimals of the column follow commas."""
        return DECIMAL_COMMAS in self._said

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood that is not plain."""
        return tuple(f"column {self._column!r}: {text}" for text in self._said)

    def read(self, cells: Sequence[Any], lines: Sequence[int]) -> tuple[Array, Array | None]:
        """Return finite numbers and their errors, where the cells hold them; TableError at the first cell that is neither."""
        numbers: Array | None = None
        texts: Sequence[str] = cells
        errors: Array | None = None
        if all(type(cell) is str and "_" not in cell for cell in cells):
            try:
                numbers = np.array(cells, dtype=np.float64)
            except ValueError:
                numbers = None
        if numbers is None:
            texts, errors, scale = self._plain(cells, lines)
            numbers = scale * np.array([self._number(text, line) for text, line in zip(texts, lines)])
        else:
            self._same_form("plain", lines)
            if self._first:  # enough of a column to tell
                dotted = [text.strip() for text in cells if "." in text]
                self.doubtful = dotted[0] if dotted and all(_POINT_GROUPS.fullmatch(text) for text in dotted) else ""
        self._first = False
        # What may be infinite, NaN or rounded to zero is read again with care.
        for i in np.flatnonzero(~np.isfinite(numbers) | (numbers == 0)):
            self._number(texts[int(i)], lines[int(i)])
        if self._digits:
            self._count(texts)
        return numbers, errors

    # -- what the cells look like ----------------------------------------------------------------------------------------------

    def _plain(self, cells: Sequence[Any], lines: Sequence[int]) -> tuple[list[str], Array | None, float]:
        """Return the numbers in plain writing, their errors, and what to multiply them by."""
        texts = [cell.strip() if isinstance(cell, str) else "" if cell is None else json.dumps(cell) for cell in cells]
        for text, line in zip(texts, lines):
            if text.lower() in MISSING:
                shown = f" ({text!r})" if text else ""
                raise TableError(f"{self._where(line)}: the cell is empty{shown}: fill it in or remove the row")
        texts = [text.strip("$ ").replace("\u2212", "-") for text in texts]
        form, scale = "plain", 1.0
        percent = [text.endswith("%") for text in texts]
        if any(percent):
            if not all(percent):
                odd = percent.index(False)
                raise TableError(
                    f"{self._where(lines[odd])}: {texts[odd][:60]!r} has no % sign, others of its column have: write them alike"
                )
            texts, scale, form = [text[:-1].rstrip().removesuffix("\\") for text in texts], 0.01, "percent"
            self._said["percent, read as fractions"] = None
        if not self._digits:  # a size is exact, also where it is written as a fraction or a power
            texts = [self._written_out(text) for text in texts]
        split = [_with_error(text) for text in texts]
        errors: Array | None = None
        if any(parts is not None for parts in split):
            form += ", value(error)"
            for parts, text, line in zip(split, texts, lines):
                if parts is None:
                    raise TableError(
                        f"{self._where(line)}: {text[:60]!r} has no error, others of its column have: write them alike, "
                        "such as 0.123(4) or 0.123 +/- 0.004"
                    )
            values = self._separators([parts[0] for parts in split if parts is not None], lines)
            found = self._separators([parts[1] for parts in split if parts is not None], lines)
            errors = np.empty(len(values))
            for i, (value, error) in enumerate(zip(values, found)):
                parts = split[i]
                assert parts is not None
                unit = 10.0 ** int(last_digits([value])[0][0]) if parts[2] and "." not in error else 1.0
                errors[i] = scale * unit * self._number(error, lines[i]) * float(f"1{parts[3]}" if parts[3] else 1)
            texts = [value + (parts[3] if parts is not None else "") for value, parts in zip(values, split)]
            self._said["value(error), taken for standard errors"] = None
        else:
            texts = self._separators(texts, lines)
        self._same_form(form, lines)
        return texts, errors, scale

    def _written_out(self, text: str) -> str:
        """Return a fraction such as 1/8 or a power such as 2^-3 as a number; other texts as they are."""
        parts = _FRACTION.fullmatch(text)
        if parts is None:
            return text
        first, last = float(parts[1]), int(parts[3])
        try:
            number = first / last if parts[2] == "/" else first**last
        except (ZeroDivisionError, OverflowError):
            return text
        self._said["fractions and powers, written out"] = None
        return repr(number)

    def _same_form(self, form: str, lines: Sequence[int]) -> None:
        """A column is written one way from its first chunk of rows to its last."""
        self._forms.add(form)
        if len(self._forms) > 1:
            raise TableError(
                f"{self._where(lines[0])}: from here on the numbers are written otherwise than above: write them alike"
            )

    def _separators(self, texts: Sequence[str], lines: Sequence[int]) -> list[str]:
        """Return the texts with decimal points and without thousands separators, if the column can be read one way only."""
        found = list(texts)
        if any(_D_EXPONENT.search(text) for text in found):
            found = [_D_EXPONENT.sub("e", text) for text in found]
            self._said["exponents written with D"] = None
        if any(_TIMES_TEN.search(text) for text in found):
            found = [_TIMES_TEN.sub(r"e\1", text) for text in found]
            self._said["powers of ten written out"] = None
        if any(_GROUPS.fullmatch(text) for text in found):
            found = [re.sub(r"[ '_\u00a0\u202f\u2009]", "", text) if _GROUPS.fullmatch(text) else text for text in found]
            self._said["thousands in groups of three"] = None
        if not any("," in text for text in found):
            return found
        comma = [(i, text) for i, text in enumerate(found) if "," in text]
        thousands = [i for i, text in comma if _COMMA_GROUPS_POINT.fullmatch(text) or _is_many_groups(text)]
        decimal = [i for i, text in comma if _DECIMAL_COMMA.fullmatch(text) and not _COMMA_GROUPS.fullmatch(text)]
        other = [i for i, text in comma if i not in thousands and i not in decimal and not _COMMA_GROUPS.fullmatch(text)]
        if other:
            self._refuse(found[other[0]], lines[other[0]])
        if thousands and decimal:
            first, second = found[thousands[0]], found[decimal[0]]
            raise TableError(
                f"{self._where(lines[max(thousands[0], decimal[0])])}: {first!r} and {second!r} are in one column: "
                "write all numbers with decimal points and without thousands separators"
            )
        if thousands:
            self._said["commas between thousands"] = None
            return [text.replace(",", "") for text in found]
        if not decimal:
            i, text = comma[0]
            raise TableError(
                f"{self._where(lines[i])}: {text!r} may be {text.replace(',', '')} or {text.replace(',', '.')}: write which, "
                "with a decimal point and without thousands separators"
            )
        self._said[DECIMAL_COMMAS] = None
        for i, text in enumerate(found):
            if "." in text and not re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d*", text):
                raise TableError(
                    f"{self._where(lines[i])}: {text!r} has a decimal point, others of its column commas: write them alike"
                )
        return [text.replace(".", "").replace(",", ".") for text in found]

    # -- one number ------------------------------------------------------------------------------------------------------------

    def _where(self, line: int) -> str:
        return f"{self._place} {line}, column {self._column!r}"

    def _refuse(self, text: str, line: int) -> None:
        raise TableError(f"{self._where(line)}: {text[:60]!r} is not a number: correct or remove the row")

    def _number(self, text: str, line: int) -> float:
        text = text.strip()
        try:
            if "_" in text:
                raise ValueError
            number = float(text)
        except ValueError:
            self._refuse(text, line)
        if not math.isfinite(number):
            written = re.fullmatch(r"[+-]?[0-9.]+(e\+?[0-9]+)?", text, re.IGNORECASE)
            what = f"outside {LEAST:g}..{LARGEST:g}: rescale the column" if written else "not finite: correct or remove the row"
            what += CENSORED if "inf" in text.lower() else ""
            raise TableError(f"{self._where(line)}: {text[:60]} is {what}")
        if number == 0 and re.search("[1-9]", re.split("e", text, flags=re.IGNORECASE)[0]):
            raise TableError(f"{self._where(line)}: {text[:60]} is outside {LEAST:g}..{LARGEST:g}: rescale the column")
        return number

    # -- digits ----------------------------------------------------------------------------------------------------------------

    def _count(self, texts: Sequence[str]) -> None:
        powers, counts, zero = last_digits(texts)
        self._powers.append(powers)
        self._counts.append(counts)
        self._zero_shown = self._zero_shown or zero

    def rounding(self, numbers: Array) -> Array:
        """Return half a unit of the last digit of every number that was read, in its units."""
        powers, counts = np.concatenate(self._powers), np.concatenate(self._counts)
        shift = -2 if "percent, read as fractions" in self._said else 0
        half = 0.5 * 10.0 ** (powers + shift)
        if not self._zero_shown:
            size = np.where(numbers == 0, 0.0, np.floor(np.log10(np.where(numbers == 0, 1.0, np.abs(numbers)))))
            longest = np.maximum(0.5 * 10.0 ** (powers.min() + shift), 0.5 * 10.0 ** (size - counts.max() + 1))
            longest = np.where(numbers == 0, half, np.minimum(half, longest))
            # Each cell ends in k zeros with the probability 0.9 * 0.1**k, so that their sum follows a negative binomial law.
            dropped = round(float(np.log10(half / longest).sum()))
            if counts.max() >= IN_FULL or scipy.special.nbdtrc(dropped - 1, len(half), 0.9) >= CHANCE:
                half = longest
        return np.maximum(half, FLOAT_ROUNDING * np.abs(numbers))


def significant(numbers: Array, digits: int) -> Array:
    """Return half a unit of the last of ``digits`` significant digits.

    >>> significant(np.array([123.0, 0.0125]), 3).tolist()
    [0.5, 5e-05]
    """
    size = np.floor(np.log10(np.where(numbers == 0, 1.0, np.abs(numbers))))
    half = 0.5 * 10.0 ** (size - digits + 1)
    return np.maximum(np.where(numbers == 0, 0.0, half), FLOAT_ROUNDING * np.abs(numbers))


def is_number(text: str) -> bool:
    """Whether a cell is a plain number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def last_digits(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Return the powers of ten of the last digits written, how many digits there are, and whether a zero at the end is shown.

    That 2.0 has a zero is no sign of zeros being shown: some formats write a float so that it is not taken for an integer.

    >>> powers, counts, zero = last_digits(["1.20e-3", "0.0125", "1024", "2.0"])
    >>> powers.tolist(), counts.tolist(), zero, last_digits(["2.0"])[2]
    ([-5, -4, 0, -1], [3, 3, 4, 2], True, False)
    """
    column = np.array(texts, dtype=np.str_)
    letters = column.view(np.uint32).reshape(len(column), -1)  # (rows, characters), 0 behind the end
    places = np.arange(letters.shape[1])

    def first(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.asarray(np.where(mask.any(axis=1), mask.argmax(axis=1), letters.shape[1]))[:, None]

    end = first((letters == ord("e")) | (letters == ord("E")))
    point = np.minimum(first(letters == ord(".")), end)
    digits = (letters >= ord("0")) & (letters <= ord("9")) & (places < end)
    decimals = (digits & (places > point)).sum(axis=1)
    counts = np.maximum((digits & (places >= first(digits & (letters != ord("0"))))).sum(axis=1), 1)
    last = np.where(digits.any(axis=1), letters.shape[1] - 1 - digits[:, ::-1].argmax(axis=1), 0)
    zero = (decimals > 1) & (letters[np.arange(len(column)), last] == ord("0"))
    powers = -decimals
    scaled = np.flatnonzero(end[:, 0] < letters.shape[1])
    powers[scaled] += np.array([int(re.split("e", texts[i], flags=re.IGNORECASE)[1]) for i in scaled.tolist()], dtype=np.int64)
    return powers, counts, bool(zero.any())


def _with_error(text: str) -> tuple[str, str, bool, str] | None:
    """Return value, error, whether the error counts last digits, and a common exponent; None if the cell has no error."""
    found = _PARENTHESES.fullmatch(re.sub(r"(?<=\d),(?=\d)", ".", text))
    if found is not None:
        comma = "," in text
        value, error = (part.replace(".", ",") if comma else part for part in found.group(1, 2))
        return value, error, True, found.group(3) or ""
    found = _PLUS_MINUS.fullmatch(text)
    if found is not None and bool(found.group(1)) == (found.group(4) is not None):
        return found.group(2).strip(), found.group(3).strip(), False, found.group(4) or ""
    return None


def _is_many_groups(text: str) -> bool:
    """Whether commas stand between groups of three at least twice, as no decimal comma does."""
    return bool(_COMMA_GROUPS.fullmatch(text)) and text.count(",") > 1
