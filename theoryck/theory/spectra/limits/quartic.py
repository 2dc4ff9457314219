"""The quartic of Pennington and Worah (2017) for one layer: its four roots, and which one is the transform.

M = Y Y^T/m (n_1 x n_1), Y = f(W X), X of n_0 x m; phi = n_0/m, psi = n_0/n_1, eta = E f(Z)^2, zeta = (E f'(Z))^2.
With t = 1/(z psi), P_phi = 1 + (P - 1) phi, P_psi = 1 + (P - 1) psi,
    P = 1 + (eta - zeta) t P_phi P_psi + t zeta P_phi P_psi/(1 - t zeta P_phi P_psi),
    G(z) = int dF(x)/(z - x) = psi P/z + (1 - psi)/z.
In the words of :mod:`theoryck.theory.spectra.limits.conjugate`, m = n, n_0 = d_0, n_1 = d_1: phi = 1/c_0, psi = c_1/c_0, and M has
the eigenvalues of K_1/c_1, with zeros added or left out.

P is lost in 1 - 1/psi as z -> 0, G is not: with r = phi/psi and B = P_phi P_psi/z = G (1 - r + r z G) the same quartic reads
    (z G - 1 - (eta - zeta) B)(1 - zeta B/psi) = zeta B,
whose coefficients stay finite.  For r > 1 the n_1 - m zeros of M would outweigh the rest; then Y^T Y/m takes the place of M, with
H = P_phi/z, z G - 1 = (z H - 1)/r and B = H (1 - 1/r + z H/r).  The root is taken in units of its size, at eta = 1 (M scales
with eta).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import Number
from theoryck.quantities.arguments import LARGEST, LEAST, positive

Complex = NDArray[np.complex128]

HALVINGS = 60
START = 1e3
"""Distance from the spectrum, relative to a bound of it, from which the root is followed: there z G = 1 + O(1e-3)."""

FAR = 1e8
"""Where |z| is this much above the bound G = 1/z + eta/z^2 is exact to (1/FAR)^2."""

POLISH = 6
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
    roots = _roots(_coefficients(_place(z), *_parameters(phi, psi, eta, zeta)))
    found[: len(roots)] = roots
    return found


def pennington_worah(z: complex, phi: Number, psi: Number, eta: Number, zeta: Number) -> complex:
    """Return G(z) = lim (1/n_1) tr (z - M)^-1 at one complex z off the real axis or real z < 0.

    The root of the quartic with P -> 1, that is G ~ 1/z, at infinity is followed down to z; all four solve it, and Im G Im z < 0
    may hold for two of them.  Raises ValueError for z on [0, oo) and as :func:`quartic_roots`, NotConverged
    where two roots could not be told apart on the way.

    >>> G = pennington_worah(-0.1 / 0.8, 1, 0.8, 0.464559054397540, 0.651470015870560**2)
    >>> round((-G.real / 0.8 - 0.2 / 0.1) / 0.8, 4)  # (1/n) tr (K_1 + 0.1)^-1 for erf, c = (1, 0.8): the companion and its zeros
    4.2044
    """
    point = _place(z)
    if point.imag == 0 and point.real >= 0:
        raise ValueError(f"z must not lie on [0, oo), got {z!r}: give it an imaginary part")
    one, two, scale, square = _parameters(phi, psi, eta, zeta)
    return complex(_follow(point / scale, (one / two, two, square / scale), 1 / one)) / scale


def quartic_transform(root: complex, z: complex, psi: float) -> complex:
    """Return G = psi P/z + (1 - psi)/z for a root P.

    Raises ValueError for z = 0.

    >>> quartic_transform(1.0, 2.0, 0.5)
    0.5
    """
    if z == 0:
        raise ValueError(f"z must not be 0, got {z!r}")
    return psi * root / z + (1 - psi) / z


def _follow(z: complex, values: tuple[float, float, float], ratio: float) -> complex:
    """Return G at eta = 1; ``values`` = (r, psi, zeta) and ``ratio`` = m/n_0."""
    r = values[0]
    # |M| <= |Y|^2/m, whose bound (1 + sqrt(n_1/m))^2 eta (1 + sqrt(m/n_0))^2 uses n_1/m = phi/psi.
    bound = (1 + r**0.5) ** 2 * (1 + ratio**0.5) ** 2
    if abs(z) > FAR * bound:
        return (1 + 1 / z) / z
    away = -1.0 if z.imag == 0 else (1j if z.imag > 0 else -1j)
    height = START * (abs(z) + bound)
    here = z + away * height
    root = _near(here, values, 1 / here)[0]
    while here != z:
        height /= 2
        there = z if height < 1e-4 * abs(z) else z + away * height
        root, here = _step(here, there, root, values, 0), there
    return root if r <= 1 else root / r + (1 - 1 / r) / z


def _step(here: complex, there: complex, root: complex, values: tuple[float, float, float], depth: int) -> complex:
    nearest, second = _near(there, values, root)
    if abs(nearest - root) <= APART * abs(second - root):
        return nearest
    if depth == HALVINGS:
        raise NotConverged(f"two roots of the quartic meet near z = {there:.6g} eta, reached from {here:.6g} eta: take another z")
    middle = (here + there) / 2
    return _step(middle, there, _step(here, middle, root, values, depth + 1), values, depth + 1)


def _near(z: complex, values: tuple[float, float, float], root: complex) -> tuple[complex, complex]:
    """Return the root G or H nearest to ``root``, polished, and the second nearest."""
    size = abs(root)
    coefficients = _polynomial(z, size, *values)
    # Roots 1e60 times as large as this one are none to take it for, and their coefficients may overflow.
    first = int(np.flatnonzero(np.abs(coefficients) > 1e-250 * np.max(np.abs(coefficients)))[0])
    coefficients = coefficients[first:]
    found = _roots(coefficients)
    found = found[np.argsort(np.abs(found - root / size))]
    best, slope = found[0], np.polyder(coefficients)
    for _ in range(POLISH):
        best = best - np.polyval(coefficients, best) / np.polyval(slope, best)
    return complex(best) * size, complex(found[1]) * size if len(found) > 1 else complex("inf")


def _polynomial(z: complex, size: float, r: float, psi: float, zeta: float) -> Complex:
    """The quartic in w = G/size (H/size for r > 1), highest power first, over k^2 with k = max(1, size); b = B/size."""
    k, q, part = max(1.0, size), min(r, 1 / r), min(1.0, 1 / r)
    b = (size / k) * np.array([q * (z * size), 1 - q, 0], dtype=np.complex128)
    first = np.polysub(part * np.array([z * (size / k), -1 / k], dtype=np.complex128), (1 - zeta) * b)
    second = np.polysub(np.array([1 / k], dtype=np.complex128), zeta / psi * b)
    return np.asarray(np.polysub(np.polymul(first, second), zeta / k * b))


def _roots(coefficients: Complex) -> Complex:
    return np.asarray(np.roots(coefficients / np.max(np.abs(coefficients))), dtype=np.complex128)


def _coefficients(z: complex, phi: float, psi: float, eta: float, zeta: float) -> Complex:
    """The quartic (P - 1 - (eta - zeta) t A)(1 - t zeta A) = t zeta A with A = P_phi P_psi, highest power first."""
    t = 1 / (z * psi)
    k = max(1.0, abs(t))  # the whole is divided by k^2
    a = t / k * np.polymul([phi, 1 - phi], [psi, 1 - psi]).astype(np.complex128)
    first = np.polysub(np.array([1, -1], dtype=np.complex128) / k, (eta - zeta) * a)
    second = np.polysub(np.array([1], dtype=np.complex128) / k, zeta * a)
    return np.asarray(np.polysub(np.polymul(first, second), zeta / k * a))


def _place(z: Any) -> complex:
    try:
        point = complex(z)
    except (TypeError, ValueError):
        raise ValueError(f"z must be one complex number, got {z!r}") from None
    if not LEAST <= abs(point) <= LARGEST:
        raise ValueError(f"z must lie between {LEAST:g} and {LARGEST:g} in size, got {z!r}: change its unit")
    return point


def _parameters(phi: Number, psi: Number, eta: Number, zeta: Number) -> tuple[float, float, float, float]:
    values = [positive(value, name) for value, name in ((phi, "phi"), (psi, "psi"), (eta, "eta"))]
    square = positive(zeta, "zeta", zero=True)
    if square > values[2]:
        raise ValueError(f"zeta = (E f')^2 must be at most eta = E f^2 (Bessel), got {zeta!r} > {eta!r}")
    return values[0], values[1], values[2], square
