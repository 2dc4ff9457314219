"""The integrals of the generalised linear model to any number of digits, for values that floats cannot confirm.

The same trapezoidal rules as in :mod:`theoryck.theory.learning.limits.channels`, with mpmath functions.  The product of the two
matrices is computed exactly on fixed-point integers: they are cut into slices of few bits, whose products are sums of integers
below 2^53 and hence exact in floating point, and the slices are put together again as Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.trees import DECIMAL, tree_of
from theoryck.records import Enclosure
from theoryck.theory.learning.limits.channels import GaussianChannel, SignChannel

Integers = NDArray[Any]
GUARD = 20
TRIES = 4
SAFETY = 10
"""The radius is this many times the difference between two resolutions; the finer one is closer than the difference."""


@dataclass(frozen=True, slots=True)
class Precise:
    """Values of :class:`~theoryck.theory.learning.limits.channels.Integrals` as mpmath numbers."""

    psi: Any
    fisher: Any
    predicted: Any


def exact_product(left: Integers, right: Integers, bits: int) -> Integers:
    """Return (left @ right) / 2^bits of matrices of Python integers, rounded down to within a few units.

    >>> a = np.array([[3 << 60, -(1 << 70)]], dtype=object)
    >>> exact_product(a, a.T, 60)[0, 0] == (9 << 60) + (1 << 80)
    True
    """
    width = (52 - math.ceil(math.log2(left.shape[1] + 1))) // 2
    a, b = _slices(left, width), _slices(right, width)
    total = np.zeros((left.shape[0], right.shape[1]), dtype=object)
    # What is skipped is below 2^(bits - 4): less than a unit of the result.
    lowest = max(0, (bits - 70) // width)
    for level in range(len(a) + len(b) - 2, lowest - 1, -1):
        part = np.zeros(total.shape, dtype=np.int64)
        for i in range(max(0, level - len(b) + 1), min(level + 1, len(a))):
            part += (a[i] @ b[level - i]).astype(np.int64)
        total = (total << width) + part.astype(object)
    result: Integers = (total << (lowest * width)) >> bits
    return result


def gaussian_row(start: Any, step: Any, count: int, mean: Any, rate: Any, bits: int) -> list[int]:
    """Return floor(2^bits exp(-rate (x - mean)^2)) at x = start + k step, k < count, to within a few units per step from the mean.

    On a grid the values have ratios that have a constant ratio: two integer products a point, from the mean outwards so that all
    ratios are at most 1 and no error is amplified.

    >>> row = gaussian_row(mpmath.mpf(-3), mpmath.mpf(1), 7, mpmath.mpf(0), mpmath.mpf(1), 40)
    >>> [round(value / 2**40, 8) for value in row[2:5]]
    [0.36787944, 1.0, 0.36787944]
    """
    mp, row, first = mpmath.mp, [0] * count, int(mpmath.ceil((mean - start) / step))
    second = int(mp.ldexp(mp.exp(-2 * rate * step * step), bits))
    for begin, sign in ((max(0, min(first, count)), 1), (min(count, max(first, 0)) - 1, -1)):
        if not 0 <= begin < count:
            continue
        gap = abs(start + begin * step - mean)
        value = int(mp.ldexp(mp.exp(-rate * gap * gap), bits))
        ratio = int(mp.ldexp(mp.exp(-rate * step * (2 * gap + step)), bits))
        k = begin
        while 0 <= k < count and value:
            row[k] = value
            value = (value * ratio) >> bits
            ratio = (ratio * second) >> bits
            k += sign
    return row


def _slices(matrix: Integers, width: int) -> list[NDArray[np.float64]]:
    signs = np.where(matrix < 0, -1.0, 1.0)
    rest: Any = abs(matrix)
    found = []
    mask = (1 << width) - 1
    for _ in range(max(1, -(-max(int(rest.max()), 1).bit_length() // width))):
        found.append((rest & mask).astype(np.float64) * signs)
        rest = rest >> width
    return found


class PreciseGaussian:
    """The channel with Gaussian noise and a readout without kinks."""

    def __init__(self, channel: GaussianChannel, noise: Any, eta: Any, gamma: Any, level: float) -> None:
        if channel.kinks:
            raise ValueError(f"digits are given for readouts without kinks only, got {channel.readout.text}: leave digits out")
        self.channel, self.noise, self.eta, self.gamma, self.level = channel, noise, eta, gamma, level
        self.kernels: dict[float, Any] = {}
        self.tree = tree_of((channel.readout.expression,))

    def readout(self, t: Any) -> Any:
        """f(t) in mpmath."""
        return self.tree.at(DECIMAL, t)

    def at(self, r: Any, scale: float) -> Precise:
        """Return the integrals at q = r/(1 + r), the float route's steps (12 digits) divided by ``scale``."""
        mp, bits = mpmath.mp, mpmath.mp.prec
        spread2 = self.eta**2 / (1 + r) + self.gamma
        t, values, kernel, dy = self._kernel(scale, float(mp.sqrt(spread2)))
        step = t[1] - t[0]
        narrow = min(1.0, 1.5 * math.sqrt(float(spread2) / self.channel.power))
        v, weights = _normal_grid(0.4 * narrow / (self.level * scale), self.channel.symmetric)
        shrink = self.eta * mp.sqrt(r / (1 + r))
        norm, rate = int(mp.ldexp(step / mp.sqrt(2 * mp.pi * spread2), bits)), 1 / (2 * spread2)
        mixing, slope = np.zeros((len(v), len(t)), dtype=object), np.zeros((len(v), len(t)), dtype=object)
        fixed_t = np.array([int(mp.ldexp(point, bits)) for point in t], dtype=object)
        fixed_f = np.array([int(mp.ldexp(value, bits)) for value in values], dtype=object)
        predicted = mp.mpf(0)
        for i, node in enumerate(v):
            mean = shrink * node
            row = np.array(gaussian_row(t[0], step, len(t), mean, rate, bits), dtype=object)
            mixing[i] = (row * norm) >> bits
            slope[i] = (mixing[i] * (fixed_t - int(mp.ldexp(mean, bits)))) >> bits
            guess = mp.ldexp(int((mixing[i] * fixed_f).sum()), -2 * bits)
            predicted += weights[i] * guess * guess
        p, d = exact_product(mixing, kernel, bits), exact_product(slope, kernel, bits)
        psi, fisher = mp.mpf(0), mp.mpf(0)
        for i, weight in enumerate(weights):
            logs, squares = mp.mpf(0), 0
            for one, other in zip(p[i], d[i]):
                # Below this both contributions are smaller than the guard digits.
                if one >> 24:
                    value = mp.ldexp(one, -bits)
                    logs += value * mp.log(value)
                    squares += other * other // one
            psi += weight * logs
            fisher += weight * mp.ldexp(squares, -bits)
        return Precise(psi * dy, fisher * dy * (self.eta / spread2) ** 2, predicted)

    def _kernel(self, scale: float, spread: float) -> Any:
        # The float route's step in t; it changes with q by powers of 2 only.
        mp, bits = mpmath.mp, mpmath.mp.prec
        wanted = 0.6 * min(spread, math.sqrt(self.channel.noise) / max(self.channel.steepest, 1e-12))
        key = 2.0 ** math.floor(math.log2(wanted)) / (math.sqrt(self.level) * scale)
        if key not in self.kernels:
            self.kernels.clear()
            reach = _reach()
            count = math.ceil(reach * math.sqrt(self.channel.power) / key)
            t = [mp.mpf(key) * k for k in range(-count, count + 1)]
            values = [self.readout(point) for point in t]
            root = math.sqrt(self.channel.noise)
            dy = mp.mpf(0.7 * root / (self.level * scale))
            first = math.floor((float(min(values)) - reach * root) / float(dy))
            last = math.ceil((float(max(values)) + reach * root) / float(dy))
            if len(t) * (last - first) > 4_000_000:
                raise NotConverged(f"{len(t)} x {last - first} points were needed: ask for fewer digits, or for floats")
            norm, rate = int(mp.ldexp(1 / mp.sqrt(2 * mp.pi * self.noise), bits)), 1 / (2 * self.noise)
            kernel = np.zeros((len(t), last - first + 1), dtype=object)
            for i, value in enumerate(values):
                row = np.array(gaussian_row(first * dy, dy, last - first + 1, value, rate, bits), dtype=object)
                kernel[i] = (row * norm) >> bits
            self.kernels[key] = (t, values, kernel, dy)
        return self.kernels[key]

    def finish(self, values: Precise) -> tuple[Any, Any]:
        """Return (error, conditional entropy)."""
        mp = mpmath.mp
        step = 0.25 / max(1.0, mp.dps / 25)
        nodes, weights = _normal_grid(step * min(1.0, 1 / math.sqrt(self.channel.power)) / self.level, False)
        root = mp.sqrt(self.eta**2 + self.gamma)
        power = mp.fsum(w * self.readout(root * z) ** 2 for z, w in zip(nodes, weights))
        return self.noise + power - values.predicted, mp.log(2 * mp.pi * mp.e * self.noise) / 2


class PreciseSign:
    """Sign labels."""

    def __init__(self, channel: SignChannel, noise: Any, eta: Any, gamma: Any, level: float) -> None:
        self.channel, self.noise, self.eta, self.gamma, self.level = channel, noise, eta, gamma, level

    def at(self, r: Any, scale: float) -> Precise:
        """Return the integrals at q = r/(1 + r)."""
        mp = mpmath.mp
        spread2 = self.eta**2 / (1 + r) + self.gamma + self.noise
        slope = self.eta * mp.sqrt(r / (1 + r) / spread2)
        nodes, weights = _normal_grid(0.4 / (self.level * scale * max(1.0, 1.5 * float(slope))), True, max(1.0, float(slope)))
        psi, fisher = mp.mpf(0), mp.mpf(0)
        for z, weight in zip(nodes, weights):
            plus, minus = mp.ncdf(slope * z), mp.ncdf(-slope * z)
            psi += weight * (plus * mp.log(plus) + minus * mp.log(minus))
            fisher += weight * mp.npdf(slope * z) ** 2 / (plus * minus)
        square = slope**2
        return Precise(psi, self.eta**2 / spread2 * fisher, 2 / mp.pi * mp.asin(square / (1 + square)))

    def finish(self, values: Precise) -> tuple[Any, Any]:
        """Return (error, conditional entropy)."""
        mp = mpmath.mp
        if not self.noise:
            return 1 - values.predicted, mp.mpf(0)
        slope = mp.sqrt((self.eta**2 + self.gamma) / self.noise)
        nodes, weights = _normal_grid(0.2 / (max(1.0, mp.dps / 25) * max(1.0, float(slope))), True, max(1.0, float(slope)))
        pairs = ((w, mp.ncdf(slope * z), mp.ncdf(-slope * z)) for z, w in zip(nodes, weights))
        return 1 - values.predicted, -mp.fsum(w * (p * mp.log(p) + m * mp.log(m)) for w, p, m in pairs)


def _reach() -> float:
    """Where the density of N(0, 1) falls below the working precision."""
    return math.sqrt(2 * math.log(10) * (mpmath.mp.dps - GUARD // 2))


def _normal_grid(step: float, half: bool, slope: float = 1.0) -> tuple[list[Any], list[Any]]:
    mp, h = mpmath.mp, mpmath.mpf(step)
    count = math.ceil(_reach() / slope / step)
    nodes = [h * k for k in range(0 if half else -count, count + 1)]
    weights = [h * mp.npdf(z) * (2 if half and z > 0 else 1) for z in nodes]
    return nodes, weights


Solution = dict[str, Any]


def solve(alpha: Any, channel: PreciseGaussian | PreciseSign, start: Any, slope: Any, scale: float) -> tuple[Solution, Any, Any]:
    """Return all values at the fixed point near r = ``start``, r, and the slope of log(alpha E g^2) - x in x = log r.

    ``slope`` is a rough value of that slope; the secant steps improve it.
    """
    mp = mpmath.mp
    x, steepness, before = mp.log(start) if start else None, mp.mpf(slope), None
    for _ in range(12):
        values = channel.at(mp.exp(x) if x is not None else mp.mpf(0), scale)
        if x is None:
            break
        excess = mp.log(alpha * values.fisher) - x
        if before is not None and x != before[0]:
            steepness = (excess - before[1]) / (x - before[0])
        step = -excess / steepness
        # Psi is stationary at the solution, and one more secant step would gain as many digits as the last.
        if abs(step) < mp.mpf(10) ** (GUARD // 2 - mp.dps):
            break
        before, x = (x, excess), x + step
    else:
        reached = mp.dps - GUARD
        raise NotConverged(
            f"the fixed point was not reached to {reached} digits: "
            f"the last step in log r was {mp.nstr(step, 3)}; ask for fewer digits"
        )
    r = mp.exp(x) if x is not None else mp.mpf(0)
    error, conditional = channel.finish(values)
    entropy = (r / (1 + r) - mp.log1p(r)) / (2 * alpha) + values.psi
    found = {"overlap": r / (1 + r), "deficit": 1 / (1 + r), "error": error, "free_entropy": entropy}
    found["mutual_information"] = -entropy - conditional
    if isinstance(channel, PreciseSign):
        rest = channel.eta**2 / (1 + r) + channel.gamma + channel.noise
        found["misclassification"] = mp.atan2(mp.sqrt(rest), mp.sqrt(channel.eta**2 * r / (1 + r))) / mp.pi
    return found, r, steepness


def agreed(
    alpha: Any, build: Callable[[], PreciseGaussian | PreciseSign], start: float, slope: float, digits: int
) -> dict[str, Enclosure]:
    """Return Enclosures (not proved) on which two resolutions agree to ``digits`` digits; the caller sets no precision."""
    with mpmath.workdps(digits + GUARD):
        channel, scale, found, root = build(), (digits + 4) / 12, list[Solution](), mpmath.mpf(start)
        for _ in range(TRIES):
            values, root, slope = solve(alpha, channel, root, slope, scale)
            found.append(values)
            if len(found) > 1:
                radii = {name: SAFETY * abs(value - found[-2][name]) for name, value in found[-1].items()}
                sizes = {name: max(abs(value), mpmath.mpf(10) ** -digits) for name, value in found[-1].items()}
                if all(radius <= sizes[name] * mpmath.mpf(10) ** -digits for name, radius in radii.items()):
                    return {name: _record(value, radii[name], digits) for name, value in found[-1].items()}
            scale *= 1.25
        worst = max(radii, key=lambda name: radii[name] / sizes[name])
        raise NotConverged(f"{worst} was found to {mpmath.nstr(radii[worst], 3)} only: ask for fewer than {digits} digits")


def _record(value: Any, radius: Any, digits: int) -> Enclosure:
    least = abs(value) * mpmath.mpf(10) ** (-digits - 4)
    return Enclosure(Decimal(mpmath.nstr(value, digits + 6)), Decimal(mpmath.nstr(radius + least, 3)), False)
