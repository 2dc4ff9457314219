"""Spectra of kernels and targets: what the deterministic equivalents of ridge regression ask of them, and their arguments.

The equations need sum_k eta_k^a kappa^b/(eta_k + kappa)^(a + b), of shares between 0 and 1 that neither overflow nor cancel
(:func:`kernel_share`, :func:`signal_share`), and n - sum_k eta_k/(eta_k + kappa), which is small where the samples are
interpolated (:func:`remainder`).
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import exact_number

Array = NDArray[np.float64]
Values = Sequence[float] | Array

SUM_ERROR, ALLOWED_ERROR = 1e-11, 1e-6
"""Relative error of the sums of a spectrum without ``remainder``, and that of kappa above which no number is returned."""


class Spectrum(Protocol):
    """What the equations need of a kernel and a target: sums over eigenspaces, and how many eigenvalues are positive.

    A class may also have ``remainder(n, shift)``, ``kernel_share(shift, a, b)`` and ``signal_share(shift, a, b)``, as
    :class:`FiniteSpectrum` has: with them the equations are solved where n is the rank or shifts leave the range of floats.

    >>> from theoryck.theory.ridge import kernel_ridge_equivalent
    >>> class Geometric:  # eta_k = 2^-k, f_k = 0 but for the first
    ...     rank = math.inf
    ...     def kernel_sum(self, shift, power, order):
    ...         return sum(2.0 ** -(k * power) / (2.0**-k + shift) ** order for k in range(60))
    ...     def signal_sum(self, shift, power, order):
    ...         return 1 / (1 + shift) ** order
    >>> found = kernel_ridge_equivalent(Geometric(), n=50, ridge=0.1)
    >>> 0 < found.kappa < 1, found.excess_risk < 0.1
    (True, True)
    """

    @property
    def rank(self) -> float:
        """Return the number of positive eigenvalues, ``math.inf`` if there is no end of them."""

    def kernel_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order over all eigenvalues, with their multiplicities."""

    def signal_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order."""


class FiniteSpectrum:
    """Finitely many eigenspaces: ``eigenvalues`` eta_k >= 0, ``signal`` the power f_k^2 of the target in each (its sum over the
    eigenspace), ``multiplicities`` their dimensions (1 if not given), all of shape (m,).

    The eigenvalues need no order.  Raises ValueError, which names the argument, for anything else.

    >>> spectrum = FiniteSpectrum([1.0, 0.25], [1.0, 0.0], [1, 2])
    >>> spectrum.rank, spectrum.kernel_sum(0.25, 1, 1)
    (3.0, 1.8)
    """

    def __init__(self, eigenvalues: Values, signal: Values, multiplicities: Values | None = None) -> None:
        self.eigenvalues = nonnegative_array(eigenvalues, "eigenvalues")
        self.signal = nonnegative_array(signal, "signal", len(self.eigenvalues))
        if multiplicities is None:
            self.multiplicities = np.ones_like(self.eigenvalues)
        else:
            self.multiplicities = nonnegative_array(multiplicities, "multiplicities", len(self.eigenvalues))
        for array in (self.eigenvalues, self.signal, self.multiplicities):
            array.flags.writeable = False  # what sums are made of is taken from them once
        keep = (self.eigenvalues > 0) & (self.multiplicities > 0)
        if not keep.any():
            raise ValueError(
                f"eigenvalues must contain one > 0 of multiplicity > 0, got {reprlib.repr(eigenvalues)}: the kernel is zero"
            )
        self._eta, self._sizes, power = self.eigenvalues[keep], self.multiplicities[keep], self.signal > 0
        self._targets, self._powers = self.eigenvalues[power], self.signal[power]

    @property
    def rank(self) -> float:
        """The number of positive eigenvalues."""
        return float(self._sizes.sum())

    def kernel_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order, with multiplicities, over the positive eigenvalues."""
        return _sum(self._eta, self._sizes, shift, power, order)

    def signal_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order; needs shift > 0 where an eigenvalue is 0."""
        return _sum(self._targets, self._powers, shift, power, order)

    def kernel_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k eta_k^a shift^b/(eta_k + shift)^(a + b), with multiplicities, over the positive eigenvalues; shift > 0."""
        above, below = _shares(self._eta, shift)
        return float(self._sizes @ (above**a * below**b))

    def signal_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k f_k^2 eta_k^a shift^b/(eta_k + shift)^(a + b) for shift > 0."""
        above, below = _shares(self._targets, shift)
        return float(self._powers @ (above**a * below**b))

    def remainder(self, n: float, shift: float) -> float:
        """Return n - sum_k eta_k/(eta_k + shift) for shift > 0, with its digits where the two are close.

        >>> FiniteSpectrum([1.0], [1.0], [30]).remainder(30, 2.0**-100) == 30 * 2.0**-100
        True
        """
        above, below = _shares(self._eta, shift)
        large = self._eta >= shift
        # A share near 1 is written 1 - below: what is counted are integers, whose difference to n is exact.
        return float((n - self._sizes[large].sum()) + self._sizes[large] @ below[large] - self._sizes[~large] @ above[~large])


def _shares(eta: Array, shift: float) -> tuple[Array, Array]:
    """eta/(eta + shift) and shift/(eta + shift)."""
    # A quotient beyond the range of floats belongs to a share below 1e-308.
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        return 1 / (1 + shift / eta), 1 / (1 + eta / shift)


def _sum(eta: Array, weights: Array, shift: float, power: float, order: float) -> float:
    shift, power, order = nonnegative(shift, "shift"), nonnegative(power, "power"), nonnegative(order, "order")
    if shift == 0 and order and not eta.all():
        raise ValueError("shift must be > 0 where the target lies in the direction of an eigenvalue 0, got 0")
    common = min(power, order)
    with np.errstate(over="ignore", divide="ignore", under="ignore", invalid="ignore"):
        shares = (1 / (1 + shift / eta)) ** common if common else np.ones_like(eta)
        total = float(weights @ (shares * eta ** (power - common) * (eta + shift) ** (common - order)))
    return in_range(total, f"the sum at shift = {shift:g}, power = {power:g}, order = {order:g}")


# What is asked of any spectrum -------------------------------------------------------------------------------------------------


def kernel_share(spectrum: Spectrum, shift: float, a: int, b: int) -> float:
    """Return sum_k eta_k^a shift^b/(eta_k + shift)^(a + b) for shift > 0, a >= 1.

    >>> kernel_share(FiniteSpectrum([1.0], [1.0], [3]), 1.0, 1, 1)
    0.75
    """
    own = getattr(spectrum, "kernel_share", None)
    return float(own(shift, a, b) if own else _power(shift, b) * spectrum.kernel_sum(shift, a, a + b))


def signal_share(spectrum: Spectrum, shift: float, a: int, b: int) -> float:
    """Return sum_k f_k^2 eta_k^a shift^b/(eta_k + shift)^(a + b) for shift > 0.

    >>> signal_share(FiniteSpectrum([1.0, 0.0], [1.0, 2.0]), 1e-200, 0, 2)  # all that has no eigenvalue
    2.0
    """
    own = getattr(spectrum, "signal_share", None)
    return float(own(shift, a, b) if own else _power(shift, b) * spectrum.signal_sum(shift, a, a + b))


def _power(shift: float, b: int) -> float:
    if b and not 1e-300 < shift**b < 1e300:
        raise NotConverged(f"shift = {shift:g} leaves the range of floats: give the spectrum kernel_share and signal_share")
    return shift**b


def remainder(spectrum: Spectrum, n: float, shift: float) -> float:
    """Return n - sum_k eta_k/(eta_k + shift), without loss of digits where the spectrum has a method for it.

    >>> remainder(FiniteSpectrum([1.0], [1.0], [2]), 2, 1e-20)
    2e-20
    """
    own = getattr(spectrum, "remainder", None)
    return float(own(n, shift) if own else n - kernel_share(spectrum, shift, 1, 0))


def check_digits(spectrum: Spectrum, n: float, slope: float) -> None:
    """Raise NotConverged where n - sum eta/(eta + shift), of derivative ``slope`` along log shift, does not determine the shift."""
    if not hasattr(spectrum, "remainder") and SUM_ERROR * n > ALLOWED_ERROR * slope:
        raise NotConverged(
            f"the sums of the spectrum are too close to {n:g} for their difference to have digits: give the spectrum a method "
            "remainder(n, shift), or take a larger ridge"
        )


def log_trace(spectrum: Spectrum) -> float:
    """Return log sum_k eta_k.

    >>> log_trace(FiniteSpectrum([1.0], [0.0]))
    0.0
    """
    if isinstance(spectrum, FiniteSpectrum):
        largest = float(spectrum.eigenvalues.max())
        return math.log(largest) + math.log(float(spectrum.multiplicities @ (spectrum.eigenvalues / largest)))
    return math.log(spectrum.kernel_sum(1.0, 1, 0))


# Arguments ---------------------------------------------------------------------------------------------------------------------


def check_spectrum(spectrum: Any) -> None:
    """Raise ValueError for what has no sums over eigenspaces."""
    if isinstance(spectrum, type) or not all(hasattr(spectrum, name) for name in ("rank", "kernel_sum", "signal_sum")):
        raise ValueError(
            f"spectrum must be a FiniteSpectrum(eigenvalues, signal) or a PowerLaw(capacity, source), got {reprlib.repr(spectrum)}"
        )


def positive(value: Any, name: str) -> float:
    """Return a number > 0 (also a text such as "1/3") as a float; ValueError for anything else.

    >>> positive("1/4", "ridge")
    0.25
    """
    return _float(exact_number(value, name, low=0), name, value)


def nonnegative(value: Any, name: str) -> float:
    """Return a number >= 0 (also a text such as "1/3") as a float; ValueError for anything else.

    >>> nonnegative(0, "noise")
    0.0
    """
    return _float(exact_number(value, name, low=0, strict=False), name, value)


def _float(number: Any, name: str, value: Any) -> float:
    try:
        if not isinstance(number, Fraction):
            raise OverflowError
        result = float(number)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {_shown(value)}") from None
    if number and not result:
        raise ValueError(f"{name} must be 0 or a number that a float can hold, got {_shown(value)}")
    return result


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return f"{type(value).__name__} of thousands of digits"


def nonnegative_array(values: Any, name: str, length: int | None = None) -> Array:
    """Return a sequence of numbers >= 0 as an array (m,), m >= 1, of the given length; ValueError for anything else."""
    wanted = f"{name} must be a sequence of numbers >= 0, got"
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise ValueError(f"{wanted} {_shown(values)}")
    array = values.astype(float) if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" else None
    if array is None or array.ndim != 1 or not (np.isfinite(array) & (array >= 0)).all():
        entries = []
        for place, value in enumerate(values):
            try:
                entries.append(nonnegative(value, name))
            except ValueError:
                raise ValueError(f"{wanted} {_shown(value)} at {place}") from None
        array = np.array(entries, dtype=float)
    if not len(array):
        raise ValueError(f"{wanted} {_shown(values)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have one entry an eigenvalue, {length} in all, got {len(array)}")
    return array


def in_range(value: float, what: str) -> float:
    """Return a finite value; ValueError, which says ``what`` left the range of floats, for any other.

    >>> in_range(1.0, "the risk")
    1.0
    """
    if not math.isfinite(value):
        raise ValueError(f"{what} leaves the range of floats: scale the arguments")
    return value
