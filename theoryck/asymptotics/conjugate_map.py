"""The spectral law of a conjugate kernel is algebraic: z and m(z) are rational functions of one variable, layer by layer.

With H the law of the population eigenvalues t of a layer, c its ratio and h(v) = int dH(t)/(t - v), Silverstein's equation says
    z = v (1 - c - c v h(v)),    m(z) = v h(v)/z = h(v)/(1 - c - c v h(v)),    v = -1/(companion transform at z),
and the next layer has t = rho^2 lambda + eps, that is  v' = rho^2 z + eps,  h(v') = m(z)/rho^2.  At the bottom all t are equal.
Going up costs a few operations; what has to be solved is z_L(v) = z for the one v at the bottom.

Which root is right needs no taste.  For Im z > 0 the companion transform is the only solution with a positive imaginary part
(Silverstein, Bai 1995), so v_L in the upper half plane, then z_(L-1) = (v_L - eps)/rho^2 in it too, and so on down: a solution
whose v_l and m_l all lie in the upper half plane is THE solution.  For z < 0 the same holds with v_l < 0 and z_l < 0, because
gamma m~ + c int t m~/(1 + t m~) dH increases in m~ > 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.asymptotics.numbers import NotConverged

Complex = NDArray[np.complex128]
Values = NDArray[Any]
"""Real or complex."""

NEWTON_STEPS = 12
SPLITS = 40
"""A step of the continuation is halved at most this often: 2^-40 of a step is below what float64 can tell apart."""

CLOSE = 1e-12
"""Residual |z(v) - z| relative to |z| + |v|: the map is a few operations of 1e-16 each, and its last Newton step is quadratic."""

REAL = 1e-11
"""Imaginary parts below this, relative, are rounding."""


@dataclass(frozen=True, slots=True)
class Level:
    """z and m of one layer with their derivatives in the variable at the bottom, and the v that they came from."""

    v: Values
    dv: Values
    z: Values
    dz: Values
    m: Values
    dm: Values
    q: Values


@dataclass(frozen=True)
class Chain:
    """Ratios (c_0, ..., c_L), and rho^2 and eps of the layers 1..L; the population eigenvalues of layer 0 are all ``bottom``."""

    ratios: tuple[float, ...]
    slopes: tuple[float, ...]
    epsilon: tuple[float, ...]
    bottom: float = 1.0

    def levels(self, v: Values) -> list[Level]:
        """Return what every layer has at ``v`` (any shape, real or complex)."""
        dv, h = np.ones_like(v), 1 / (self.bottom - v)
        dh = h * h
        found: list[Level] = []
        for index, c in enumerate(self.ratios):
            if index:
                below, slope, rest = found[-1], self.slopes[index - 1], self.epsilon[index - 1]
                v, dv, h, dh = slope * below.z + rest, slope * below.dz, below.m / slope, below.dm / slope
            q, dq = 1 - c - c * v * h, -c * (dv * h + v * dh)
            z, dz = v * q, dv * q + v * dq
            m = h / q
            dm = (dh - m * dq) / q
            found.append(Level(v, dv, z, dz, m, dm, q))
        return found

    def top(self) -> float:
        """Return a bound of the spectrum: |A B| <= |A| |B| layer by layer."""
        edge = self.bottom
        for index, c in enumerate(self.ratios):
            edge = (self.slopes[index - 1] * edge + self.epsilon[index - 1] if index else edge) * (1 + c**0.5) ** 2
        return edge

    def means(self) -> list[float]:
        """Return the mean eigenvalue of every layer."""
        means = [self.bottom]
        for slope, rest in zip(self.slopes, self.epsilon, strict=True):
            means.append(slope * means[-1] + rest)
        return means

    def far(self, z: Complex) -> Complex:
        """Return v where |z| is large: v_l = z_l - c_l E t + O(1/z), and z_(l-1) = (v_l - eps_l)/rho_l^2."""
        means = self.means()
        for index in range(len(self.ratios) - 1, -1, -1):
            z = z - self.ratios[index] * means[index]
            if index:
                z = (z - self.epsilon[index - 1]) / self.slopes[index - 1]
        return z


def solve(chain: Chain, z: Values) -> Level:
    """Return the top layer at every ``z`` (N,): Im z > 0, or z < 0 exactly, or a real z inside the spectrum as a limit from above.

    Continuation from z + i Y (from z - Y for z < 0), Y large, by Newton steps that are halved until they are accepted by the rule
    in the docstring of the module.  Raises NotConverged with the place where it stopped.
    """
    flat = np.asarray(z, dtype=np.complex128).ravel()
    away = np.where((flat.imag == 0) & (flat.real < 0), -1.0 + 0.0j, 1j)
    height = 32 * (chain.top() + np.abs(flat))
    here, v = flat + away * height, np.empty_like(flat)
    v, good = _newton(chain, chain.far(here), here)
    if not good.all():
        raise NotConverged(_stopped(chain, here[~good][0], flat[~good][0], "at the start, far from the spectrum"))
    while np.any(here != flat):
        height = height / 2
        # Where the spectrum is 1000 times wider than the distance left, one step leads to the end: it is halved where it fails.
        there = np.where(height < 1e-3 * (chain.top() + np.abs(flat)), flat, flat + away * height)
        v = _advance(chain, v, here, there)
        here = there
    return chain.levels(v)[-1]


def _advance(chain: Chain, v: Complex, here: Complex, there: Complex, splits: int = 0) -> Complex:
    derivative = chain.levels(v)[-1].dz
    found, good = _newton(chain, v + (there - here) / derivative, there)
    if not good.all():
        bad = ~good
        if splits == SPLITS:
            raise NotConverged(_stopped(chain, here[bad][0], there[bad][0], f"after {splits} halvings of a step"))
        middle = (here[bad] + there[bad]) / 2
        half = _advance(chain, v[bad], here[bad], middle, splits + 1)
        found[bad] = _advance(chain, half, middle, there[bad], splits + 1)
    return found


def _stopped(chain: Chain, here: complex, there: complex, how: str) -> str:
    layers = len(chain.ratios) - 1
    return f"the transform of layer {layers} was followed to z = {here:.6g} and not on to {there:.6g}, {how}: take another z"


def _newton(chain: Chain, v: Complex, z: Complex) -> tuple[Complex, NDArray[np.bool_]]:
    v = v.astype(np.complex128)
    with np.errstate(all="ignore"):  # a wild step is refused below, whatever it overflows to
        for _ in range(NEWTON_STEPS):
            top = chain.levels(v)[-1]
            step = (top.z - z) / top.dz
            v = v - step
            if np.all(np.abs(step) <= 1e-15 * np.abs(v)):
                break
        return v, _accepted(chain, v, z)


def _accepted(chain: Chain, v: Complex, z: Complex) -> NDArray[np.bool_]:
    levels = chain.levels(v)
    good = np.abs(levels[-1].z - z) <= CLOSE * (np.abs(z) + np.abs(levels[-1].v))
    negative = (z.imag == 0) & (z.real < 0)
    # On the real axis a real solution carries rounding for an imaginary part; the true one has sqrt(1e-16) at an edge already.
    least = np.where(z.imag == 0, REAL, 0.0)
    for level in levels:
        left = (level.v.imag == 0) & (level.v.real < 0) & (level.z.real < 0)
        good &= np.where(negative, left, (level.v.imag > least * np.abs(level.v)) & (level.m.imag > least * np.abs(level.m)))
    return np.asarray(good)
