"""Scales of pictures: where a number lies on a logarithmic, symmetric-logarithmic or linear axis, and which have labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from theoryck.records import Size

FLAT = 4e-3  # of the values: the least range of an axis, for what is flat to more digits is to look flat
PAD = 0.06  # of the span, on either side of what is shown
MOST_TICKS = 6
FEWEST_TICKS = 3
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high`` in its own units, drawn from ``start`` to ``stop``.

    Units: decades for "log"; multiples of ``10**unit`` for "linear"; for "symlog" multiples of ``10**unit`` up to 1, and decades
    beyond.

    >>> scale = Scale("log", 0.0, 2.0, start=100.0, stop=300.0)
    >>> scale.place(10.0)
    200.0
    """

    kind: str
    low: float
    high: float
    unit: float = 0.0
    start: float = 0.0
    stop: float = 1.0

    def units(self, value: float) -> float:
        """Return a number in units of the axis; infinite where it has no place on it."""
        if self.kind == "log":
            return math.log10(value) if value > 0 else -math.inf
        beyond = decades(value) - self.unit
        return math.copysign(1 + beyond, value) if self.kind == "symlog" and beyond > 0 else value / 10**self.unit

    def at(self, units: float) -> float:
        """Return the coordinate of a number given in units."""
        return self.start + (units - self.low) / (self.high - self.low) * (self.stop - self.start)

    def place(self, value: float) -> float:
        """Return the coordinate of a number."""
        return self.at(self.units(value))

    def holds(self, units: float) -> bool:
        """Whether the axis reaches a number given in units."""
        return self.low - 1e-9 <= units <= self.high + 1e-9

    def drawn(self, start: float, stop: float) -> Scale:
        """Return the scale with other coordinates."""
        return replace(self, start=start, stop=stop)


def choose(
    values: Sequence[float], errors: Sequence[float] = (), soft: Iterable[float] = (), *, kind: str = "", flat: float = 0.0
) -> Scale:
    """Return the scale that shows ``values``, the ends of their ``errors``, and of ``soft`` what lies near.

    Without ``kind`` it is logarithmic for positive values, else symmetric-logarithmic around 0.  On a logarithmic axis a value
    that lies deep in its own noise does not stretch the axis.  The range is at least the share ``flat`` of the values.
    """
    shown = [value for value in values if value]
    if not shown and not errors:
        return Scale(kind if kind == "linear" else "linear", -1.0, 1.0)
    kind = kind or ("log" if len(shown) == len(values) and min(shown) > 0 else "symlog")
    scale = Scale(kind, 0.0, 1.0, _unit(kind, shown, errors))
    units = [scale.units(value) for value in (*values, *errors)]
    core = [unit for unit in units if math.isfinite(unit)] or [0.0]
    low, high = _stretched(min(core), max(core), [scale.units(value) for value in soft], kind)
    least = flat * max(abs(low), abs(high)) if kind == "linear" else flat / math.log(10)
    if high - low < least:
        low, high = 0.5 * (low + high - least), 0.5 * (low + high + least)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        reach = 0.5 if kind == "log" else 0.1 * abs(low) or 1.0
        low, high = low - reach, high + reach
    pad = PAD * (high - low)
    return replace(scale, low=low - pad, high=high + pad)


def decades(value: float) -> float:
    """Return the decimal logarithm of a magnitude; of 0 it is ``-inf``."""
    return math.log10(abs(value)) if value else -math.inf


def _unit(kind: str, shown: Sequence[float], errors: Sequence[float]) -> float:
    own, all_of = ([decades(value) for value in column if value] for column in (shown, (*shown, *errors)))
    if kind == "log" or not all_of:
        return 0.0
    return min(own or all_of) if kind == "symlog" else float(math.floor(max(all_of)))


def _stretched(low: float, high: float, soft: Sequence[float], kind: str) -> tuple[float, float]:
    """Widen a range by what lies near it: lines far away are cut, as the measured points matter most."""
    span = max(high - low, 0.7 if kind == "log" else 0.0)
    near = [unit for unit in soft if low - 0.8 * span <= unit <= high + 0.8 * span]
    return min([low, *near]), max([high, *near])


def ticks(scale: Scale, most: int = MOST_TICKS) -> list[tuple[float, str]]:
    """Return (units, label) of the numbers that are labelled, at most ``most`` of them or one more.

    >>> [label for _, label in ticks(Scale("log", -3.2, 0.1))]
    ['10⁻³', '0.01', '0.1', '1']
    """
    for number_of in (most, most + 2, 2 * most):  # from two labels nobody can tell what the axis is
        if scale.kind == "log":
            found = _log_ticks(scale, number_of, dense=number_of > most)
        elif scale.kind == "symlog" and scale.high - scale.low > 2.5:
            found = _symlog_ticks(scale, number_of)
        else:
            found = _linear_ticks(scale, number_of)
        if len(found) >= FEWEST_TICKS:
            break
    return found


def _log_ticks(scale: Scale, most: int, *, dense: bool = False) -> list[tuple[float, str]]:
    first, last = math.ceil(scale.low), math.floor(scale.high)
    if scale.high - scale.low < 0.8:
        unit = math.floor(scale.high)
        found = _nice(10 ** (scale.low - unit), 10 ** (scale.high - unit), most - 2)
        positive = [value for value in found if value > 0]
        return list(zip([math.log10(value) + unit for value in positive], _alike([value.scaleb(unit) for value in positive])))
    if last - first < 2:
        factors = (1, 2, 3, 5, 7) if dense else (1, 2, 5)
        wanted = [(power, factor) for power in range(first - 1, last + 1) for factor in factors]
        placed = [(power + math.log10(factor), number(Decimal(factor).scaleb(power))) for power, factor in wanted]
        return [(units, label) for units, label in placed if scale.holds(units)]
    step = math.ceil((last - first + 1) / most)
    return [(float(power), number(Decimal(1).scaleb(power))) for power in range(last, first - 1, -step)][::-1]


def _symlog_ticks(scale: Scale, most: int) -> list[tuple[float, str]]:
    found = [(0.0, "0")] if scale.holds(0.0) else []
    for sign, end in ((1, scale.high), (-1, -scale.low)):
        first, last = math.ceil(scale.unit), math.floor(scale.unit + end - 1)
        if end <= 1 or last < first:
            continue
        step = math.ceil((last - first + 1) / max(most // 2, 1))
        for power in range(last, first - 1, -step):
            found.append((sign * (1 + power - scale.unit), number(sign * Decimal(1).scaleb(power))))
    return sorted(found)


def _linear_ticks(scale: Scale, most: int) -> list[tuple[float, str]]:
    if scale.kind == "symlog":  # nearly all of it lies in the linear part: 1 is 10**unit, which is no round number
        unit = math.floor(scale.unit)
        factor = 10 ** (scale.unit - unit)
        inner = [value for value in _nice(-factor, factor, most) if scale.holds(float(value) / factor)]
        return list(zip([float(value) / factor for value in inner], _alike([value.scaleb(unit) for value in inner])))
    found = _nice(scale.low, scale.high, most - 1)
    return list(zip(map(float, found), _alike([value.scaleb(int(scale.unit)) for value in found])))


def _nice(low: float, high: float, most: int) -> list[Decimal]:
    """Return round numbers between two ends, at even steps of 1, 2, 2.5 or 5 times a power of ten."""
    raw = (high - low) / most
    power = math.floor(math.log10(raw))
    factors = [Decimal("1"), Decimal("2"), Decimal("2.5"), Decimal("5"), Decimal("10")]
    step = next(factor for factor in factors if float(factor) * 10.0**power >= raw * (1 - 1e-9)).scaleb(power)
    first, last = math.ceil(low / float(step) - 1e-9), math.floor(high / float(step) + 1e-9)
    return [step * index for index in range(first, last + 1)]


def _alike(values: Sequence[Decimal]) -> list[str]:
    """Write the numbers of a linear axis, all plainly or all with the power of ten of the largest."""
    power = max((value.adjusted() for value in values if value), default=0)
    if -4 < power < 5:
        return [f"{value.normalize():f}".replace("-", MINUS) if value else "0" for value in values]
    tail = f"\u00b710{str(power).translate(SUPERSCRIPTS)}"
    return [f"{value.scaleb(-power).normalize():f}".replace("-", MINUS) + tail if value else "0" for value in values]


def number(value: Decimal) -> str:
    """Write a number of an axis: plainly from 0.01 to 9999, else with a power of ten.

    >>> number(Decimal("0.250")), number(Decimal("-1e-7")), number(Decimal("2.5e30")), number(Decimal("65536"))
    ('0.25', '−10⁻⁷', '2.5·10³⁰', '65536')
    """
    if value == 0:
        return "0"
    mark, value = (MINUS, -value) if value < 0 else ("", value)
    power, digits = value.adjusted(), len(value.normalize().as_tuple().digits)
    mantissa = f"{value.scaleb(-power).normalize():f}"
    if (power > -3 or (power >= -4 and digits > 1)) and power <= (3 if digits == 1 else 4):
        text = f"{value:f}"
        return mark + (text.rstrip("0").rstrip(".") if "." in text else text)
    tail = f"10{str(power).translate(SUPERSCRIPTS)}"
    return mark + (tail if mantissa == "1" else f"{mantissa}·{tail}")


def size(value: Size, most: Size = 0) -> str:
    """Write a size, where ``most`` is the largest: plainly below a million, then as a power of two or of ten where it is one.

    Powers from 1024 on follow those beside them.

    >>> size(4096), size(2**40), size(10**9), size(3 * 10**12), size(4096, 2**40)
    ('4096', '2⁴⁰', '10⁹', '3·10¹²', '2¹²')
    """
    if value < (1024 if most >= 10**6 else 10**6) and (isinstance(value, int) or value >= 1e-4):
        return str(value) if isinstance(value, int) else f"{value:.3g}"
    if isinstance(value, int) and value & (value - 1) == 0:
        return f"2{str(value.bit_length() - 1).translate(SUPERSCRIPTS)}"
    return number(Decimal(f"{value:.2e}"))
