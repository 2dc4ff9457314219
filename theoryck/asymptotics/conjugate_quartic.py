"""The quartic of Pennington and Worah (2017) for one layer: its four roots, and which one is the transform.

M = Y Y^T/m (n_1 x n_1), Y = f(W X), X of n_0 x m; phi = n_0/m, psi = n_0/n_1, eta = E f(Z)^2, zeta = (E f'(Z))^2.
With t = 1/(z psi), P_phi = 1 + (P - 1) phi, P_psi = 1 + (P - 1) psi,
    P = 1 + (eta - zeta) t P_phi P_psi + t zeta P_phi P_psi/(1 - t zeta P_phi P_psi),
    G(z) = int dF(x)/(z - x) = psi P/z + (1 - psi)/z.
In the words of :mod:`theoryck.asymptotics.conjugate`, m = n, n_0 = d_0, n_1 = d_1: phi = 1/c_0, psi = c_1/c_0, and M has the
eigenvalues of K_1/c_1, with zeros added or left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.asymptotics.conjugate import float_number
from theoryck.asymptotics.numbers import NotConverged, Number

Complex = NDArray[np.complex128]

HALVINGS = 60
START = 1e3
"""Distance from the spectrum, relative to a bound of it, from which the root is followed: there P = 1 + O(1e-3)."""

POLISH = 4
APART = 0.25
"""A step of the continuation is taken where the nearest root is this much nearer than the second."""


def quartic_roots(z: complex, phi: Number, psi: Number, eta: Number, zeta: Number) -> Complex:
    """Return all roots P (4,) of the quartic at one complex z != 0, in no order; those at infinity (zeta = 0) are nan.

    Raises ValueError unless phi, psi, eta > 0 and 0 <= zeta <= eta.

    >>> roots = quartic_roots(-1.0, 1, 1, 0.5, 0.4)
    >>> roots.shape
    (4,)
    """
    found = np.full(4, np.nan + 0j)
    roots = np.roots(_coefficients(_place(z), *_parameters(phi, psi, eta, zeta)))
    found[: len(roots)] = roots
    return found


def pennington_worah(z: complex, phi: Number, psi: Number, eta: Number, zeta: Number) -> complex:
    """Return G(z) = lim (1/n_1) tr (z - M)^-1 at one complex z off the real axis or real z < 0.

    The root P of the quartic that tends to 1 at infinity is followed down to z; all four solve it, and Im G Im z < 0 may hold for
    two of them.  Raises ValueError for z on [0, oo) and as :func:`quartic_roots`, NotConverged where two roots could not be told
    apart on the way.  Source: Pennington, Worah (2017), theorem 1.

    >>> G = pennington_worah(-0.1 / 0.8, 1, 0.8, 0.464559054397540, 0.651470015870560**2)
    >>> round((-G.real / 0.8 - 0.2 / 0.1) / 0.8, 4)  # (1/n) tr (K_1 + 0.1)^-1 for erf, c = (1, 0.8): the companion and its zeros
    4.2044
    """
    point = _place(z)
    if point.imag == 0 and point.real >= 0:
        raise ValueError(f"z must not lie on [0, oo), got {z!r}: give it an imaginary part")
    values = _parameters(phi, psi, eta, zeta)
    root = _follow(point, values)
    return quartic_transform(root, point, values[1])


def quartic_transform(root: complex, z: complex, psi: float) -> complex:
    """Return G = psi P/z + (1 - psi)/z for a root P.

    >>> quartic_transform(1.0, 2.0, 0.5)
    0.5
    """
    return psi * root / z + (1 - psi) / z


def _follow(z: complex, values: tuple[float, float, float, float]) -> complex:
    phi, psi, eta, _ = values
    # |M| <= |Y|^2/m, whose bound (1 + sqrt(n_1/m))^2 eta (1 + sqrt(m/n_0))^2 uses n_1/m = phi/psi.
    away = -1.0 if z.imag == 0 else (1j if z.imag > 0 else -1j)
    height = START * (abs(z) + eta * (1 + (phi / psi) ** 0.5) ** 2 * (1 + phi**-0.5) ** 2)
    here, root = z + away * height, 1.0 + 0.0j
    root = complex(_near(here, values, root)[0])
    while here != z:
        height /= 2
        there = z if height < 1e-4 * abs(z) else z + away * height
        root, here = _step(here, there, root, values, 0), there
    return root


def _step(here: complex, there: complex, root: complex, values: tuple[float, float, float, float], depth: int) -> complex:
    nearest, second = _near(there, values, root)
    if abs(nearest - root) <= APART * abs(second - root):
        return complex(nearest)
    if depth == HALVINGS:
        raise NotConverged(f"two roots of the quartic meet near z = {there:.6g}, reached from {here:.6g}: take another z")
    middle = (here + there) / 2
    return _step(middle, there, _step(here, middle, root, values, depth + 1), values, depth + 1)


def _near(z: complex, values: tuple[float, float, float, float], root: complex) -> tuple[complex, complex]:
    """Return the root nearest to ``root``, polished, and the second nearest."""
    coefficients = _coefficients(z, *values)
    found = np.roots(coefficients)
    found = found[np.argsort(np.abs(found - root))]
    best, slope = found[0], np.polyder(coefficients)
    for _ in range(POLISH):
        best = best - np.polyval(coefficients, best) / np.polyval(slope, best)
    return complex(best), complex(found[1])


def _coefficients(z: complex, phi: float, psi: float, eta: float, zeta: float) -> Complex:
    """The quartic (P - 1 - (eta - zeta) t A)(1 - t zeta A) = t zeta A with A = P_phi P_psi, highest power first."""
    t = 1 / (z * psi)
    a = np.polymul([phi, 1 - phi], [psi, 1 - psi]).astype(np.complex128)
    first = np.polysub(np.array([1, -1], dtype=np.complex128), (eta - zeta) * t * a)
    second = np.polysub(np.array([1], dtype=np.complex128), t * zeta * a)
    return np.asarray(np.polysub(np.polymul(first, second), t * zeta * a))


def _place(z: Any) -> complex:
    try:
        point = complex(z)
    except (TypeError, ValueError):
        raise ValueError(f"z must be one complex number, got {z!r}") from None
    if not np.isfinite(point) or point == 0:
        raise ValueError(f"z must be finite and not 0, got {z!r}")
    return point


def _parameters(phi: Number, psi: Number, eta: Number, zeta: Number) -> tuple[float, float, float, float]:
    values = [float_number(value, name, strict=True) for value, name in ((phi, "phi"), (psi, "psi"), (eta, "eta"))]
    square = float_number(zeta, "zeta", strict=False)
    if square > values[2]:
        raise ValueError(f"zeta = (E f')^2 must be at most eta = E f^2 (Bessel), got {zeta!r} > {eta!r}")
    return values[0], values[1], values[2], square
