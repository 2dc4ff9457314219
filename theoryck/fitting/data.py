"""Measurements as the fits see them: signs, log-magnitudes and log-errors, with the questions asked of them before any fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.records import Size
from theoryck.records.values import size_text

Array = NDArray[np.float64]

MIN_SIZES = 3  # distinct sizes: two determine a slope but say nothing of corrections
NOISE_FLOOR = 5.0  # values below this many stderr are flagged
ROUNDING = 4 * float(np.finfo(float).eps)
STANDS_OUT = 3.0  # and at least MIN_SIZES values must exceed this many


@dataclass(frozen=True)
class Data:
    """Measurements as signs, log-magnitudes and log-stderrs: the model is linear in them, and a ratio to a rate has no domain."""

    x: Array  # log size
    signs: Array
    log_size: Array  # log|value|, -inf for zero
    log_stderr: Array
    shown: tuple[str, ...] = ()  # the sizes as they are written

    @classmethod
    def read(cls, sizes: Any, values: Any, stderrs: Any, log_values: bool, shown: Sequence[str] = ()) -> Data:
        """Check the columns, sort them by size and take logarithms; ValueError names what is wrong.

        ``shown`` are the sizes as they are written, if that is not as the numbers given.
        """
        d, v, e = (vector(name, data) for name, data in (("sizes", sizes), ("values", values), ("stderrs", stderrs)))
        if not len(d) == len(v) == len(e):
            raise ValueError(f"sizes, values and stderrs must have the same length, got {len(d)}, {len(v)} and {len(e)}")
        if len(d) == 0:
            raise ValueError("sizes is empty: there is nothing to fit")
        require(d > 0, "sizes", d, "must be positive")
        require(e >= 0, "stderrs", e, "must not be negative")
        order = np.argsort(d, kind="stable")
        d, v, e = d[order], v[order], e[order]
        with np.errstate(divide="ignore"):  # log(0) = -inf is meant
            size = v if log_values else np.log(np.abs(v))
            stderr = size + np.log(e) if log_values else np.log(e)
        signs = np.ones_like(v) if log_values else np.sign(v)
        # The logarithm of a float is known to a few units of its last place: no datum is more exact than that.
        floor = np.log(ROUNDING * np.maximum(1.0, np.where(np.isfinite(size), np.abs(size), 0.0)))
        stderr = np.maximum(stderr, size + floor)
        names = shown or [size_text(whole(each)) for each in d.tolist()]
        return cls(np.log(d), signs, size, stderr, tuple(names[i] for i in (order if shown else range(len(d)))))

    def no_more_exact_than(self, terms: float) -> Data:
        """Return the data with errors that the arithmetic of a fit with corrections of size ``terms`` can resolve."""
        return replace(self, log_stderr=np.maximum(self.log_stderr, self.log_size + math.log(ROUNDING * max(1.0, terms))))

    @property
    def z(self) -> Array:
        """Value over stderr, signed."""
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = self.signs * np.exp(np.fmin(self.log_size - self.log_stderr, 700.0))
        return np.where(self.signs == 0, 0.0, ratio)

    @property
    def noise(self) -> float:
        """The smallest relative error, at most 1 (zeros without error do not count)."""
        kept = np.isfinite(self.log_stderr)
        relative = self.log_stderr[kept] - np.maximum(self.log_size[kept], self.log_stderr[kept])
        return math.exp(relative.min()) if kept.any() else 1.0

    @property
    def below(self) -> NDArray[np.bool_]:
        """Which values lie under the noise floor."""
        return np.abs(self.z) < NOISE_FLOOR

    @property
    def window(self) -> tuple[Size, Size]:
        """The smallest and the largest size."""
        return whole(math.exp(self.x.min())), whole(math.exp(self.x.max()))

    def flags(self) -> tuple[str, ...]:
        """Say which sizes lie under the noise floor."""
        below = [self.shown[i] for i in np.flatnonzero(self.below)]
        return (f"noise floor at {', '.join(below)}",) if below else ()

    def sign(self) -> tuple[int, str]:
        """Return the common sign, and the reason if there is none."""
        z = self.z
        if np.isneginf(self.log_stderr).any():
            zero = self.shown[int(np.argmax(np.isneginf(self.log_stderr)))]
            return 0, f"the value at size {zero} is exactly 0, which no power of the size is"
        up, down = z > STANDS_OUT + 1, z < -STANDS_OUT - 1
        if up.any() and down.any():
            where = f"{self.shown[int(np.argmax(up))]} (positive) and {self.shown[int(np.argmax(down))]} (negative)"
            return (
                0,
                f"the values change sign, at sizes {where}: no power law describes them, measure their square",
            )
        sign = 1 if z[np.argmax(np.abs(z))] >= 0 else -1
        if len(np.unique(self.x[sign * z > STANDS_OUT])) < MIN_SIZES:
            largest = f"the largest value is {np.abs(z).max():.2g} stderr"
            few = f"fewer than {MIN_SIZES} sizes stand {STANDS_OUT:g} stderr above zero ({largest})"
            return sign, f"{few}: draw more, or take sizes at which they are larger"
        return sign, ""


def whole(size: float) -> Size:
    """Return a size that was an exponential as the whole number it was, if it was one.

    >>> whole(math.exp(math.log(1000))), whole(0.125)
    (1000, 0.125)
    """
    nearest = round(size)
    return nearest if nearest and abs(size - nearest) <= 1e-12 * nearest else size


def vector(name: str, data: Any) -> Array:
    """Return ``data`` as a one-dimensional array of finite floats, or raise ValueError naming the entry."""
    try:
        column = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {data!r}"[:300]) from None
    if column.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {column.shape}")
    require(np.isfinite(column), name, column, "must be finite")
    return column


def require(good: NDArray[np.bool_], name: str, column: Array, what: str) -> None:
    """Raise ValueError naming the first entry that is not good."""
    if not good.all():
        index = int(np.argmin(good))
        raise ValueError(f"{name}[{index}] = {column[index]} {what}")
