"""Numbers as people read them: digits follow the uncertainty, extremes stay short, nothing is hidden.

``-0.502(8)`` means -0.502 with a half width of 0.008 in units of the last digits, as physicists write it.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext

from theoryck.records import Enclosure, Interval

MOST_DECIMALS = 6  # an exponent known better than 1e-6 is shown as known to 1e-6: rounding the uncertainty up is honest
EXACT = 3  # digits more of what is known exactly
ROUNDING = Decimal("1e-9")  # relative, of widths that are computed in floats
SYMMETRIC = 0.5  # the estimate may sit this far from the middle, in half widths, before the interval is written out


def plain(value: float | None) -> str:
    """Write a number without uncertainty in at most four significant digits.

    >>> plain(-0.5), plain(-1 / 3), plain(1e30), plain(float("nan")), plain(None)
    ('-0.5', '-0.3333', '1e+30', 'nan', '-')
    """
    return "-" if value is None else f"{value:.4g}"


def bound(value: Decimal, *, up: bool) -> str:
    """Write a number that is proved, so that what is written is proved too: rounded up, or down where it bounds from below.

    >>> bound(Decimal("0.115441"), up=True), bound(Decimal("0.115441"), up=False)
    ('0.1155', '0.1154')
    """
    return plain(float(Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR).plus(value)))


def _decimals(half: Decimal) -> int:
    """Decimals that show one digit of the uncertainty, two when the first digit is 1 or 2."""
    first = half.adjusted()
    return -first + (1 if half.scaleb(-first) < Decimal("2.95") else 0)


def uncertain(estimate: float | Decimal, half: float | Decimal, most: int = MOST_DECIMALS, *, fixed: bool = False) -> str:
    """Write ``estimate`` with its half width in parentheses, rounded up, in units of the last digits.

    Below 1e-4 a power of ten is split off, except with ``fixed``: an exponent that small is 0 to the decimals shown.

    >>> uncertain(-0.5021, 0.0079), uncertain(2, 0.118), uncertain(1.5, 0), uncertain(3e30, 4e28), uncertain(-1, 1e-9)
    ('-0.502(8)', '2.00(12)', '1.5', '3.00(4)e+30', '-1.000000(1)')
    >>> uncertain(1e-7, 2.4e-5), uncertain(1e-7, 2.4e-5, fixed=True), uncertain(5e-24, 1.4e-23), uncertain(0.5, 0.3466)
    ('0(24)e-06', '0.000000(24)', '5(14)e-24', '0.5(4)')
    >>> uncertain(Decimal(1) / 3, Decimal("1e-35"), 40)
    '0.333333333333333333333333333300000000(10)'
    """
    x, h = Decimal(str(estimate)), Decimal(str(half))
    if not (x.is_finite() and h.is_finite() and h >= 0):
        return f"{float(x):.4g} +/- {float(h):.4g}"
    if h == 0:
        return digits(x, most + EXACT)
    with localcontext() as context:
        context.prec += most
        shift, unit = _units(x, h, most, fixed)
        x, h = x.scaleb(-shift), h.scaleb(-shift)
        # A width that is a little more than a whole number by the rounding of floats is that number.
        reach = max(int((h / unit * (1 - ROUNDING)).to_integral_value(ROUND_CEILING)), 1)
        tail = f"e{shift:+03d}" if shift else ""
        return f"{x.quantize(unit, ROUND_HALF_EVEN):zf}({reach}){tail}"


def _units(x: Decimal, h: Decimal, most: int, fixed: bool) -> tuple[int, Decimal]:
    """The power of ten that is split off, and the unit of the last digit beside it."""
    top = max(x.copy_abs(), h).adjusted()
    shift = 0 if (fixed and top < 0) or -4 <= top <= 5 else top
    if shift and h > x.copy_abs():  # no digit is certain: all of them are in the parentheses
        shift = -_decimals(h)
    if not fixed and shift == 0:
        most += max(-1 - top, 0)  # zeros in front are no digits
    return shift, Decimal(1).scaleb(-min(max(_decimals(h.scaleb(-shift)), 0), most))


def digits(value: Decimal, most: int) -> str:
    """Write a number that is known exactly with at most ``most`` digits, and without zeros at its end.

    >>> digits(Decimal("123456789"), 9), digits(Decimal("0.500"), 6), digits(Decimal("1e-30"), 6), digits(Decimal(2) / 3, 6)
    ('123456789', '0.5', '1e-30', '0.666667')
    """
    if value == 0:
        return "0"
    with localcontext() as context:
        context.prec = max(most, 1)
        value = (+value).normalize()
    top = value.adjusted()
    if -5 <= top < max(most, 6):
        return f"{value:f}"
    mantissa = value.scaleb(-top).normalize()
    return f"{mantissa:f}e{top:+03d}"


def beside(claimed: Decimal, measured: Decimal | float, half: Decimal | float) -> str:
    """Write a claimed value to as many digits as the one measured is known to, so that rounding makes no difference.

    >>> beside(Decimal("1.2146948"), 1.214695, 1e-6), beside(Decimal(2), 1.9486, 0.0011), beside(Decimal("0.3183"), 0.5, 0)
    ('1.214695', '2', '0.3183')
    """
    x, h = Decimal(str(measured)), Decimal(str(half))
    if not (x.is_finite() and h.is_finite() and h > 0):
        return digits(claimed, MOST_DECIMALS + EXACT)
    shift, unit = _units(x, h, MOST_DECIMALS, False)
    unit = unit.scaleb(shift)
    known = claimed.adjusted() - unit.adjusted() + 1
    if claimed == 0 or known < 2:
        return digits(claimed, 4)
    if not -5 <= claimed.adjusted() < MOST_DECIMALS + EXACT or known > 28:
        return digits(claimed, min(known, MOST_DECIMALS + EXACT))
    shown = claimed.quantize(unit, ROUND_HALF_EVEN)
    return digits(claimed, known) if shown == claimed else f"{shown:f}"


def written_out(interval: Interval) -> str:
    """Write an interval with its ends, all to the decimals its width deserves.

    >>> written_out(Interval(-0.502, -0.5234, -0.4389, 0.95))
    '-0.50 [-0.52, -0.44]'
    """
    ends = (interval.estimate, interval.low, interval.high)
    half = interval.half_width
    if not all(math.isfinite(end) for end in ends) or half <= 0 or max(map(abs, ends)) >= 1e6 or max(map(abs, ends)) < 1e-4:
        return f"{ends[0]:.4g} [{ends[1]:.4g}, {ends[2]:.4g}]"
    decimals = min(max(_decimals(Decimal(str(half))), 0), MOST_DECIMALS)
    return "{0:z.{d}f} [{1:z.{d}f}, {2:z.{d}f}]".format(*ends, d=decimals)


def measured(interval: Interval | None) -> str:
    """Write a measured exponent: ``-0.502(8)`` with the larger of its two reaches, written out where they are very different.

    >>> measured(Interval(-0.502, -0.51, -0.494, 0.95)), measured(Interval(-0.5, -0.51, -0.4, 0.95))
    ('-0.502(8)', '-0.50 [-0.51, -0.40]')
    """
    if interval is None:
        return "-"
    half = interval.half_width
    reach = max(interval.high - interval.estimate, interval.estimate - interval.low)
    if 0 <= reach < 10.0**-MOST_DECIMALS:  # its shape is finer than the digits shown
        return uncertain(interval.estimate, reach, fixed=True)
    middle = 0.5 * interval.low + 0.5 * interval.high
    if math.isfinite(half) and abs(interval.estimate - middle) <= SYMMETRIC * half:
        return uncertain(interval.estimate, reach, fixed=True)
    return written_out(interval)


def brief(interval: Interval | None) -> str:
    """Write a measured exponent for a column: always ``-0.502(8)``, with the larger of its two reaches.

    What it says contains the whole interval; a lopsided one is written out with its ends elsewhere.

    >>> brief(Interval(-0.502, -0.51, -0.494, 0.95)), brief(Interval(-0.5, -0.51, -0.4, 0.95))
    ('-0.502(8)', '-0.50(10)')
    """
    if interval is None:
        return "-"
    reach = max(interval.high - interval.estimate, interval.estimate - interval.low)
    return uncertain(interval.estimate, reach, fixed=True)


def enclosed(value: Enclosure, most: int = MOST_DECIMALS) -> str:
    """Write a known value with its radius, with at most ``most`` decimals; an exact one has no parentheses.

    >>> from decimal import Decimal
    >>> enclosed(Enclosure(Decimal("0.46741"), Decimal("2e-30")))
    '0.467410(1)'
    """
    return uncertain(value.midpoint, value.radius, most)


def shorter(text: str) -> str:
    """Write a text that is a decimal number to 15 digits, without zeros at its end; any other text stays as it is.

    >>> shorter("0.20535287259078802434589491365807"), shorter("2.1000000000000000888178"), shorter("-1.0"), shorter("1/d")
    ('0.205352872590788', '2.1', '-1', '1/d')
    """
    try:
        value = Decimal(text)
    except ArithmeticError:
        return text
    return digits(value, 15) if value.is_finite() else text


def count(number: int) -> str:
    """Write a number of draws in at most five characters.

    >>> [count(n) for n in (0, 950, 20_000, 2_100_000, 3_000_000_000)]
    ['0', '950', '20k', '2.1M', '3G']
    """
    if number < 1000:
        return str(number)
    scaled = float(number)
    for unit in ("k", "M", "G", "T", "P", "E"):
        scaled /= 1000
        if scaled < 999.5:
            return f"{scaled:.2g}{unit}" if scaled < 99.5 else f"{scaled:.0f}{unit}"
    return f"{number:.1e}"


def seconds(value: float) -> str:
    """Write a duration in seconds, a long one in hours, in at most five characters where it can be.

    >>> [seconds(s) for s in (0.043, 1.26, 99.96, 1234.5, 40_000, float("inf"))]
    ['0.04', '1.3', '100', '1234', '11.1h', 'inf']
    """
    number, unit = _time(value)
    return number + unit.replace("s", "")


def duration(value: float, gap: str = "") -> str:
    """Write a duration with its unit.

    >>> duration(1.26), duration(40_000), duration(1.26, " ")
    ('1.3s', '11.1h', '1.3 s')
    """
    return gap.join(_time(value))


def _time(value: float) -> tuple[str, str]:
    """A duration as a number and the unit that suits it."""
    if not math.isfinite(value):
        return f"{value:g}", "s"
    if value >= 9999.5:
        return f"{value / 3600:.1f}", "h"
    if value < 0.995:
        return f"{value:.2f}", "s"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}", "s"
