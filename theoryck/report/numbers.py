"""Numbers as people read them: digits follow the uncertainty, extremes stay short, nothing is hidden.

``-0.502(8)`` means -0.502 with a half width of 0.008 in units of the last digits, as physicists write it.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from theoryck.records import Enclosure, Interval
from theoryck.records.values import wide

MOST_DECIMALS = 6  # an exponent known better than 1e-6 is shown as known to 1e-6: rounding the uncertainty up is honest
SYMMETRIC = 0.5  # the estimate may sit this far from the middle, in half widths, before the interval is written out


def plain(value: float | None) -> str:
    """Write a number without uncertainty in at most four significant digits.

    >>> plain(-0.5), plain(-1 / 3), plain(1e300), plain(float("nan")), plain(None)
    ('-0.5', '-0.3333', '1e+300', 'nan', '-')
    """
    return "-" if value is None else f"{value:.4g}"


def _decimals(half: Decimal) -> int:
    """Decimals that show one digit of the uncertainty, two when the first digit is 1 or 2."""
    first = half.adjusted()
    return -first + (1 if half.scaleb(-first) < Decimal("2.95") else 0)


@wide()
def uncertain(estimate: float | Decimal, half: float | Decimal, most: int = MOST_DECIMALS, *, fixed: bool = False) -> str:
    """Write ``estimate`` with its half width in parentheses, in units of the last digits.

    Below 1e-4 a power of ten is split off, except with ``fixed``: an exponent that small is 0 to the decimals shown.

    >>> uncertain(-0.5021, 0.0079), uncertain(2, 0.118), uncertain(1.5, 0), uncertain(3e300, 4e298), uncertain(-1, 1e-9)
    ('-0.502(8)', '2.00(12)', '1.5', '3.00(4)e+300', '-1.000000(1)')
    >>> uncertain(1e-7, 2.4e-5), uncertain(1e-7, 2.4e-5, fixed=True), uncertain(5e-84, 1.4e-83)
    ('0(24)e-06', '0.000000(24)', '5(14)e-84')
    """
    x, h = Decimal(str(estimate)), Decimal(str(half))
    if not (x.is_finite() and h.is_finite()):
        return f"{float(x):.4g} +/- {float(h):.4g}"
    if h == 0:
        return "0" if x == 0 else f"{float(x):.6g}"
    top = max(x.copy_abs(), h).adjusted()
    shift = 0 if (fixed and top < 0) or -4 <= top <= 5 else top
    if shift and h > x.copy_abs():  # no digit is certain: all of them are in the parentheses
        shift = -_decimals(h)
    x, h = x.scaleb(-shift), h.scaleb(-shift)
    unit = Decimal(1).scaleb(-min(max(_decimals(h), 0), most))
    digits = max(int((h / unit).to_integral_value(ROUND_HALF_UP)), 1)
    tail = f"e{shift:+03d}" if shift else ""
    return f"{x.quantize(unit, ROUND_HALF_EVEN):zf}({digits}){tail}"


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
    """Write a text that is a long decimal number to 15 digits; any other text stays as it is.

    >>> shorter("0.20535287259078802434589491365807"), shorter("d**(-3/2)")
    ('0.205352872590788', 'd**(-3/2)')
    """
    try:
        value = Decimal(text)
    except ArithmeticError:
        return text
    return text if len(text) <= 20 or not value.is_finite() else f"{value:.15g}"


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
    """Write a duration in seconds, a long one in hours, in at most five characters.

    >>> [seconds(s) for s in (0.043, 1.26, 99.96, 1234.5, 40_000)]
    ['0.04', '1.3', '100', '1234', '11.1h']
    """
    if value >= 9999.5:
        return f"{value / 3600:.1f}h"
    if value < 0.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
